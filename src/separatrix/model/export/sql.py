"""A model as one SELECT in portable SQL: the encoding, scores, probabilities and labels of the rows of a table.

Portable SQL only: CASE, CAST, TRIM, SUBSTR, LENGTH, LOWER, EXP, ABS, ROW_NUMBER; tested in DuckDB and SQLite. The
innermost SELECT has the cells as text, the next one their values as `predict` reads them, the next one the scores. Sums
are balanced trees, since SQLite limits the depth of an expression to 1,000. EXP needs SQLite 3.35 with its mathematical
functions; without probabilities it is not used. Text columns, and names with a NUL character, raise an error.

The functions `…_cell` return the expression that reads a cell, of any database type, as `predict` reads that of a file:
NULL if the cell is missing. Whether a text is a number or a date is decided by trimming digits off its ends, since
portable SQL has neither patterns nor a CAST that may fail. Numbers are 12, -1.5 or 2e-3, or with the thousands
separators, signs and decimal comma of the training table. Dates are dates, timestamps with or without a time zone, or
text such as 2026-01-31, with a time such as 12:30 or 12:30:15.5 and an offset from UTC such as Z, +02, +0530 or -05:30,
or in the training table's format, also with 1:30 PM. Not read: categorical codes that the database stores as floats
(7.0 is not 007), time zones by name, and the seconds of a historical offset that a database omits in the text of a
timestamp.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import singledispatch
from itertools import combinations
from typing import NamedTuple

from separatrix.design.encode.retype import boolean_words
from separatrix.errors import DataError, OptionError
from separatrix.model.export.terms import BooleanTerm, DateTerm, LevelTerm, NumberTerm, ScoreTerm, TextTerm, terms_of
from separatrix.model.record import Label, Model
from separatrix.tables.connection import identifier, literal
from separatrix.tables.formats import BLANKS, FORMATS, MISSING_ANYWHERE, clean_word

DIGITS = literal("0123456789")
MONTHS = (
    *("JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE"),
    *("JULY", "AUGUST", "SEPTEMBER", "OCTOBER", "NOVEMBER", "DECEMBER"),
)
DAYS_TO_1970 = 719527  # since the year 0, by the formula of `_days`
DAYS_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
DAYS_OF_MONTH = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
IN_ORDER, IN_DIGITS = "%Y-%m-%d", re.compile("%[Ymd](.)%[md]\\1%[Yymd]")
EXPONENTS = literal("||e|e+|e-|E|E+|E-|")  # the text before the last digits of a number
CENTURY_TURNS = 69  # 68 is 2068, and 69 is 1969
DAY_CHARACTERS = literal("0123456789-/.")
TIME_CHARACTERS = literal("0123456789:.")
BARRIER = "row_number_"  # a window function makes SQLite compute the values of a SELECT once, not at each use
_BARRIER = f"ROW_NUMBER() OVER () AS {BARRIER}"
OWN_NAME = re.compile(rf"(raw|text|time|cell|score)_\d+_|{BARRIER}", re.IGNORECASE)
MOST_EXACT = 900  # numeric columns that may need two SQL columns each: SQLite allows 2,000
ROWS = "source_rows"  # the table's alias


class Cell(NamedTuple):
    """The SQL names of a cell's original value and of its trimmed text.

    For a date, `text` is the day, `time` the time, and `after` the offset, AM or PM that follows.
    """

    raw: str
    text: str
    time: str
    after: str


def to_sql(model: Model, table: str = "data", *, keep: Sequence[str] = (), probabilities: bool = True) -> str:
    """Return a SELECT over a table: the columns to `keep`, then those of `Predictions.columns`, except intervals.

    A row with a missing cell has NULL if the model leaves such rows out or rejects them.
    """
    terms, names = terms_of(model), _names(model)
    scores = [
        _balanced_sum([_number(float(intercept)), *_parts(terms, k)]) for k, intercept in enumerate(model.intercept)
    ]
    reserved = {"prediction", *names.values()}
    if clashes := [name for name in keep if name in reserved or OWN_NAME.fullmatch(name)]:
        raise OptionError(f"keep={clashes[0]!r} is the name of a result; rename that column first")
    kept = [identifier(_nul_free(name)) for name in keep]
    inner = [*kept, *(f"{score} AS {_score(k)}" for k, score in enumerate(scores))]
    inner += [_BARRIER] * (model.classes is not None)
    rows = f"SELECT {_columns(inner)}\nFROM (\n{_cells(table, kept, terms)}\n) AS {ROWS}"
    if model.classes is None:
        return f"SELECT {_columns([*kept, f'{_score(0)} AS prediction'])}\nFROM (\n{rows}\n) AS scored\n"
    return _classify(model, rows, kept, names if probabilities else {k: names[k] for k in names if k.startswith("s")})


def _names(model: Model) -> dict[str, str]:
    """Return the names of the results by key: p0, p1, … for probabilities and s0, s1, … for scores."""
    if model.classes is None:
        return {}
    single = {"s0": "score"} if len(model.coef) == 1 else {}
    scores = single or {f"s{k}": f"score_{label}" for k, label in enumerate(model.classes)}
    if model.rule.link == "none":
        return scores
    return {**{f"p{k}": f"probability_{label}" for k, label in enumerate(model.classes)}, **scores}


def _classify(model: Model, rows: str, kept: list[str], names: dict[str, str]) -> str:
    """Return the outer SELECT of a classifier."""
    classes, multiclass = model.classes or (), len(model.coef) > 1
    score_names = [_score(k) for k in range(len(model.coef))]
    label = _highest_label(score_names, [_label(each) for each in classes]) if multiclass else _two_labels(model)
    results = [*kept, f"{label} AS prediction"]
    results += [
        f"{probability} AS {identifier(_nul_free(names[f'p{k}']))}"
        for k, probability in enumerate(_probabilities(model, score_names))
        if f"p{k}" in names
    ]
    results += [f"{score_names[k]} AS {identifier(_nul_free(names[f's{k}']))}" for k in range(len(score_names))]
    return f"SELECT {_columns(results)}\nFROM (\n{rows}\n) AS scored\n"


def _probabilities(model: Model, scores: list[str]) -> list[str]:
    """Return expressions of the probabilities of the classes that do not overflow."""
    if model.rule.link == "sigmoid":
        small = f"EXP(-ABS({scores[0]}))"
        return [f"CASE WHEN {scores[0]} {sign} 0 THEN {small} ELSE 1e0 END / (1e0 + {small})" for sign in (">=", "<")]
    if model.rule.link == "one_vs_rest":
        sigmoids = [_sigmoid(score) for score in scores]
        return [f"{sigmoid} / ({' + '.join(sigmoids)})" for sigmoid in sigmoids]
    return [f"1e0 / (1e0 + {' + '.join(_odds(scores, k))})" for k in range(len(scores))]


def _odds(scores: list[str], k: int) -> list[str]:
    """Return the odds of the other classes against class k."""
    gaps = [f"{other} - {scores[k]}" for other in scores if other != scores[k]]
    return [f"CASE WHEN {gap} > 7e2 THEN 1e304 ELSE EXP({gap}) END" for gap in gaps]


def _sigmoid(score: str) -> str:
    return f"(CASE WHEN {score} >= 0 THEN 1e0 ELSE EXP(-ABS({score})) END / (1e0 + EXP(-ABS({score}))))"


def _two_labels(model: Model) -> str:
    first, second = (_label(label) for label in model.classes or ())
    sign, score = ">=" if model.rule.tie == "positive" else ">", _score(0)
    boundary = _number(model.rule.boundary)
    return f"CASE WHEN {score} IS NULL THEN NULL WHEN {score} {sign} {boundary} THEN {second} ELSE {first} END"


def _highest_label(scores: Sequence[str], labels: Sequence[str]) -> str:
    """Return the label of the highest score, the first one on ties."""
    conditions: dict[int, list[str]] = {k: [] for k in range(len(scores))}
    for k, j in combinations(range(len(scores)), 2):
        conditions[k].append(f"{scores[k]} >= {scores[j]}")
    last = len(scores) - 1
    cases = " ".join(f"WHEN {' AND '.join(conditions[k])} THEN {labels[k]}" for k in range(last))
    return f"CASE WHEN {scores[0]} IS NULL THEN NULL {cases} ELSE {labels[last]} END"


def _cells(table: str, kept: list[str], terms: Sequence[ScoreTerm]) -> str:
    """Return the SELECT of the columns to keep and of the terms' cells, as `predict` reads them."""
    exact = sum(_kind(term) == "number" for term in terms) <= MOST_EXACT
    names = [
        (f"raw_{j}_" if exact else f"text_{j}_", f"text_{j}_", f"time_{j}_", f"after_{j}_") for j in range(len(terms))
    ]
    cells = [Cell(*each) for each in names]
    inner = [f"{ROWS}.{name} AS {name}" for name in kept]
    for term, cell in zip(terms, cells, strict=True):
        # Qualified by the table: SQLite takes an unknown quoted name for a string.
        raw = f"{ROWS}.{identifier(_nul_free(term.name))}"
        inner += [f"{text} AS {name}" for name, text in _cell_texts(term, raw, cell).items()]
    outer = [
        *kept,
        *(f"{_read(term, cell)} AS {_cell(j)}" for j, (term, cell) in enumerate(zip(terms, cells, strict=True))),
    ]
    rows = f"SELECT {_columns([*inner, _BARRIER])}\nFROM {identifier(_nul_free(table))} AS {ROWS}"
    return f"SELECT {_columns([*outer, _BARRIER])}\nFROM (\n{rows}\n) AS {ROWS}"


def _cell_texts(term: ScoreTerm, raw: str, cell: Cell) -> dict[str, str]:
    """Return the expressions from which a term's cell is read, by their names in `cell`."""
    if _kind(term) == "date":
        return dict(zip((cell.text, cell.time, cell.after), date_texts(raw, term.format), strict=True))
    return ({cell.raw: raw} if _kind(term) == "number" or _has_unclean_word(term) else {}) | {cell.text: text_of(raw)}


def _kind(term: ScoreTerm) -> str:
    """Return as what a cell is read: number, date or word."""
    if isinstance(term, (BooleanTerm, LevelTerm)):
        return "word"
    return "date" if isinstance(term, DateTerm) or term.kind == "date" else term.kind


def _has_unclean_word(term: ScoreTerm) -> bool:
    """Return whether cleaning would change a word of the term, so that cells are first compared as they are."""
    words: Iterable[str] = _value(term)
    if isinstance(term, (BooleanTerm, LevelTerm)):
        words = term.words if isinstance(term, BooleanTerm) else (word for word, _ in term.levels)
    return any(clean_word(word) != word for word in words)


@singledispatch
def _read(term: ScoreTerm, cell: Cell) -> str:
    """Return the expression of a term's cell, NULL if it is missing."""
    if term.kind == "number":
        return number_cell(cell, term.format)
    return date_cell(cell, term.format, 0) if term.kind == "date" else word_cell(cell, _value(term))


@_read.register
def _(term: NumberTerm, cell: Cell) -> str:
    return number_cell(cell, term.format)


@_read.register
def _(term: BooleanTerm, cell: Cell) -> str:
    return boolean_cell(cell, (_nul_free(term.words[0]), _nul_free(term.words[1])))


@_read.register
def _(term: DateTerm, cell: Cell) -> str:
    return date_cell(cell, term.format, term.origin)


@_read.register
def _(term: LevelTerm, cell: Cell) -> str:
    return word_cell(cell, [_nul_free(word) for word, _ in term.levels])


@_read.register
def _(term: TextTerm, _cell: Cell) -> str:
    raise OptionError(f"column {term.name!r} is text, and its words have no SQL; export to python, or fit without it")


def _value(term: ScoreTerm) -> list[str]:
    return [] if term.value is None else [_nul_free(term.value)]


def _parts(terms: Sequence[ScoreTerm], k: int) -> list[str]:
    """Return the contributions of the terms to score k."""
    return [_part(term, _cell(place), _gap(term, k), k) for place, term in enumerate(terms)]


@singledispatch
def _part(_term: ScoreTerm, cell: str, gap: str, _k: int) -> str:
    """Return the contribution of a cell to score k."""
    return f"CASE WHEN {cell} IS NULL THEN {gap} ELSE 0e0 END"


@_part.register
def _(term: NumberTerm, cell: str, gap: str, k: int) -> str:
    # x − x is 0 only for finite numbers: NULL and infinity take the other branch.
    return f"CASE WHEN {cell} - {cell} = 0 THEN {_number(term.weight[k])} * {cell} ELSE {gap} END"


@_part.register
def _(term: LevelTerm, cell: str, gap: str, k: int) -> str:
    # Levels with the weight of unknown levels need no branch.
    levels = [(word, weights[k]) for word, weights in term.levels if weights[k] != term.other[k]]
    cases = " ".join(f"WHEN {literal(_nul_free(word))} THEN {_number(value)}" for word, value in levels)
    inner = f"CASE {cell} {cases} ELSE {_number(term.other[k])} END" if levels else _number(term.other[k])
    return f"CASE WHEN {cell} IS NULL THEN {gap} ELSE {inner} END"


def _balanced_sum(parts: list[str]) -> str:
    """Return a sum as a balanced tree."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return f"({_balanced_sum(parts[:half])}\n + {_balanced_sum(parts[half:])})"


def _cell(place: int) -> str:
    return f"cell_{place}_"


def _gap(term: ScoreTerm, k: int) -> str:
    return "NULL" if term.gap is None else _number(term.gap[k])


def _number(value: float) -> str:
    """Return a number with all its digits and an exponent, which makes it a float in every SQL dialect."""
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if value < 0.0 else text


def _label(label: Label) -> str:
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, int):
        return str(label)
    return _number(label) if isinstance(label, float) else literal(_nul_free(label))


def _nul_free(text: str) -> str:
    if "\0" in text:
        raise DataError(f"{text!r} has a NUL character, which SQL cannot write; rename it in the table")
    return text


def _score(k: int) -> str:
    return f"score_{k}_"


def _columns(parts: Sequence[str]) -> str:
    return ",\n  ".join(parts)


# The expressions that read the cells


def text_of(raw: str) -> str:
    """Return the expression of a cell's text without blanks around it."""
    return f"TRIM({_varchar(raw)}, {literal(BLANKS)})"


def date_texts(raw: str, form: str) -> tuple[str, str, str]:
    """Return the texts of a cell's date, of the time after it (NULL if there is none), and of the remainder."""
    whole = _numbered(text_of(raw), form)
    rest = f"LTRIM({whole}, {DAY_CHARACTERS})"
    day = f"SUBSTR({whole}, 1, LENGTH({whole}) - LENGTH({rest}))"
    clock = f"LTRIM({rest}, ' T')"
    after = f"LTRIM({clock}, {TIME_CHARACTERS})"
    time = f"SUBSTR({clock}, 1, LENGTH({clock}) - LENGTH({after}))"
    return day, f"CASE WHEN {rest} = '' THEN NULL WHEN {clock} LIKE '_:%' THEN '0' || {time} ELSE {time} END", after


def word_cell(cell: Cell, levels: Collection[str] = ()) -> str:
    """Return a cell's string; a level matches exactly, even if it has blanks around it or means "missing"."""
    gaps = {word: "NULL" for word in MISSING_ANYWHERE if word not in levels}  # a CASE: DuckDB makes a join of a long IN
    word = f"CASE {cell.text} {_cases(gaps)} ELSE {cell.text} END"
    return _exact_first(cell, {level: literal(level) for level in levels}, word)


def boolean_cell(cell: Cell, words: tuple[str, str]) -> str:
    """Return 0 or 1 by the two words, else by these and the usual ones in any case."""
    exact, caseless = ({word: f"{truth:.0f}e0" for word, truth in each.items()} for each in boolean_words(words))
    trimmed = {word: truth for word, truth in exact.items() if caseless.get(word.lower()) != truth}
    value = f"CASE LOWER({cell.text}) {_cases(caseless)} END"
    value = f"CASE {cell.text} {_cases(trimmed)} ELSE {value} END" if trimmed else value
    return _exact_first(cell, exact, value)


def number_cell(cell: Cell, form: str) -> str:
    """Return a cell's number; NULL or infinity if it is no finite number.

    If the text has no blanks, the cell itself is cast: the text of a float may lack digits.
    """
    text = cell.text
    as_is = f"CASE WHEN {_varchar(cell.raw)} = {text} THEN {_float(cell.raw)} ELSE {_float(text)} END"
    plain = f"WHEN {_spells_number(text)} THEN {as_is}"
    if form not in FORMATS:
        return f"CASE {plain} END"
    bare = _bare(text, form)
    return f"CASE {plain} WHEN {_spells_number(bare)} THEN {_float(bare)} END"


def date_cell(cell: Cell, form: str, origin: int) -> str:
    """Return the days from an origin, in days since 1970-01-01, to a date and time in UTC."""
    own = _in_digits(form)
    forms = {IN_ORDER: f"UPPER({cell.after}) NOT LIKE '%M'"}
    if IN_DIGITS.fullmatch(own) and own != IN_ORDER:
        forms[own] = f"({cell.after} = '' OR UPPER({cell.after}) LIKE '%M')"
    days = f"CASE {' '.join(_dated(cell.text, each, known) for each, known in forms.items())} END"
    return f"({days} - {origin + DAYS_TO_1970} + {_part_of_day(cell)})"


def _exact_first(cell: Cell, exact: Mapping[str, str], otherwise: str) -> str:
    """Return the value of a cell that equals a word which cleaning would change, else another expression."""
    unclean = {word: value for word, value in exact.items() if clean_word(word) != word}
    return f"CASE {_varchar(cell.raw)} {_cases(unclean)} ELSE {otherwise} END" if unclean else otherwise


def _cases(values: Mapping[str, str]) -> str:
    return " ".join(f"WHEN {literal(word)} THEN {value}" for word, value in values.items())


def _varchar(raw: str) -> str:
    return f"CAST({raw} AS VARCHAR)"


def _float(text: str) -> str:
    return f"CAST({text} AS DOUBLE PRECISION)"


def _spells_number(text: str) -> str:
    """Return the condition that a text is an optional sign, digits with an optional point, and an optional exponent.

    No expression occurs twice: DuckDB's search for common ones among those of all columns would be slow.
    """
    rest = f"RTRIM(LTRIM(LTRIM(LTRIM(LTRIM({text}, '+-'), {DIGITS}), '.'), {DIGITS}), {DIGITS})"
    return (
        f"REPLACE({EXPONENTS}, '|' || {rest} || '|', '') <> {EXPONENTS} AND RTRIM({text}, 'eE+-') = {text}"
        f" AND REPLACE({DIGITS}, SUBSTR(LTRIM({text}, '+-.'), 1, 1), '') <> {DIGITS}"
        f" AND {text} NOT LIKE '%.%.%' AND {text} NOT LIKE '_-%' AND {text} NOT LIKE '_+%'"
    )


def _bare(text: str, form: str) -> str:
    """Return a text without the thousands separators and signs of a format, with a decimal point."""
    number_format = FORMATS[form]
    for sign in number_format.left_off:
        text = f"REPLACE({text}, {literal(sign)}, '')"
    text = f"REPLACE(TRIM({text}), '−', '-')"
    return text if number_format.decimal == "." else f"REPLACE({text}, ',', '.')"


def _in_digits(form: str) -> str:
    """Return a format with the month as a number, as `_numbered` writes it."""
    return re.sub(r"(%d.)%[bB].|%[bB] %d, ", lambda named: "%d.%m." if named[1] else "%m.%d.", form)


def _numbered(text: str, form: str) -> str:
    """Return a text with the month as a number, if the format has its name."""
    month_pattern = re.search(r"(.?)%([bB])(.)", form)
    if month_pattern is None:
        return text
    before, kind, after = month_pattern.groups()
    upper = f"REPLACE(UPPER({text}), ', ', '.')" if "," in form else f"UPPER({text})"
    cases = []
    for number, month in enumerate(MONTHS, start=1):  # branches, since nested calls are too deep for SQLite
        name, mark = before + (month if kind == "B" else month[:3]) + after, "." if before else ""
        cases.append(f"WHEN {upper} LIKE '%{name}%' THEN REPLACE({upper}, '{name}', '{mark}{number:02}.')")
    return f"CASE {' '.join(cases)} ELSE {text} END"


def _dated(text: str, form: str, condition: str) -> str:
    """Return the branch of a CASE for texts of three numbers in the order of a format: its condition and the days.

    Trimming digits off an end removes the first or last number; the middle one is between the separators.
    """
    sign, order = form[2], [form[1], form[4], form[7]]
    between = f"TRIM({text}, {DIGITS})"
    middle = f"TRIM({between}, '{sign}')"
    first = f"SUBSTR({text}, 1, LENGTH({text}) - LENGTH(LTRIM({text}, {DIGITS})))"
    last = f"SUBSTR({text}, LENGTH(RTRIM({text}, {DIGITS})) + 1)"
    part = dict(zip((key.lower() for key in order), (first, middle, last), strict=True))
    digits = [f"LENGTH({part['y']}) = {4 if 'Y' in order else 2}"]
    digits += [f"LENGTH({part[key]}) BETWEEN 1 AND 2" for key in "md"]
    signs = f"{between} = '{sign}' || {middle} || '{sign}' AND TRIM({middle}, {DIGITS}) = ''"
    year, month, day = (f"CAST({part[key]} AS INTEGER)" for key in "ymd")
    if "y" in order:
        year = f"({year} + CASE WHEN {year} < {CENTURY_TURNS} THEN 2000 ELSE 1900 END)"
    matches = f"{condition} AND {signs} AND {' AND '.join(digits)}"
    month_length = " ".join(f"WHEN {m} THEN {days}" for m, days in enumerate(DAYS_OF_MONTH, start=1))
    leap = f"{month} = 2 AND ({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
    month_length = f"CASE {month} {month_length} ELSE 0 END + CASE WHEN {leap} THEN 1 ELSE 0 END"
    days = f"CASE WHEN {day} BETWEEN 1 AND {month_length} THEN {_days(year, month, day)} END"
    return f"WHEN {matches} THEN {days}"


def _days(year: str, month: str, day: str) -> str:
    """Return the days from the year 0 to a date.

    Years count 365 days; leap days are counted up to the last February, with divisions that leave no remainder.
    """
    last = f"({year} - CASE WHEN {month} <= 2 THEN 1 ELSE 0 END)"
    leaps = " + ".join(f"{sign} * ({last} - {last} % {span}) / {span}" for sign, span in ((1, 4), (-1, 100), (1, 400)))
    months = " ".join(f"WHEN {m} THEN {days}" for m, days in enumerate(DAYS_BEFORE_MONTH, start=1))
    return f"365 * {year} + {leaps} + CASE {month} {months} END + {day} - 1"


def _part_of_day(cell: Cell) -> str:
    """Return a time such as 12:30 or 12:30:15.5 as a fraction of the day in UTC; 0 if absent, NULL if malformed."""
    time = cell.time
    hour, minute, second = f"SUBSTR({time}, 1, 2)", f"SUBSTR({time}, 4, 2)", f"SUBSTR({time}, 7)"
    digits = f"TRIM({hour} || {minute}, {DIGITS}) = '' AND SUBSTR({time}, 3, 1) = ':'"
    digits += f" AND {hour} < '24' AND {minute} < '60'"
    minutes = f"({_float(hour)} * 3600e0 + {_float(minute)} * 60e0 + {_shift(cell.after, hour)}"
    short = f"WHEN LENGTH({time}) = 5 AND {digits} THEN {minutes}) / 86400e0"
    seconds = f"{digits} AND SUBSTR({time}, 6, 1) = ':' AND {_spells_number(second)} AND {second} < '60'"
    return f"CASE WHEN {time} IS NULL THEN 0e0 {short} WHEN {seconds} THEN {minutes} + {_float(second)}) / 86400e0 END"


def _shift(after: str, hour: str) -> str:
    """Return the seconds to add for the offset from UTC, AM or PM that may follow a time."""
    plain = f"REPLACE({after}, ':', '')"
    shapes = {
        3: f"{plain} = {after}",
        5: f"({plain} = {after} OR {after} LIKE '___:__')",
        7: f"{after} LIKE '___:__:__'",
    }
    offset = " OR ".join(f"LENGTH({plain}) = {size} AND {shape}" for size, shape in shapes.items())
    offset = f"TRIM(SUBSTR({plain}, 2), {DIGITS}) = '' AND ({offset})"
    parts = zip((2, 4, 6), (3600, 60, 1), strict=True)  # hours, minutes and seconds, or the first of them
    seconds = " + ".join(_float(f"'0' || SUBSTR({plain}, {at}, 2)") + f" * {unit}e0" for at, unit in parts)
    noon = f"CASE WHEN {hour} = '12' THEN -43200e0 ELSE 0e0 END"
    halves = {" AM": noon, " PM": f"43200e0 + {noon}"}
    half = " ".join(
        f"WHEN UPPER({after}) = '{word}' AND {hour} BETWEEN '01' AND '12' THEN {add}" for word, add in halves.items()
    )
    signs = " ".join(
        f"WHEN SUBSTR({after}, 1, 1) = '{sign}' AND {offset} THEN {direction} * ({seconds})"
        for sign, direction in (("+", "-1e0"), ("-", "1e0"))
    )
    return f"CASE WHEN {after} IN ('', 'Z') THEN 0e0 {half} {signs} END"
