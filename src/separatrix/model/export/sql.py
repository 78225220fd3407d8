"""A model as one SELECT in portable SQL: scores, probabilities and labels of the rows of a table, encoding included.

Portable SQL only: CASE, CAST, TRIM, SUBSTR, LENGTH, LOWER, EXP, ABS, ROW_NUMBER; tested in DuckDB and SQLite. The
innermost SELECT has the cells as text, the next one as `predict` reads them (`sql_cells`), the next one the scores.
Sums are written as balanced trees, since SQLite limits the depth of an expression to 1,000. EXP needs SQLite 3.35 with
its mathematical functions; without probabilities it is not used. Texts have no SQL, and a NUL character no literal:
both are refused.

Cells of a database in SQL, read as `predict` reads those of a file, whatever type the database has them in.

Each function makes an expression of a cell: NULL where `predict` would take the cell as missing. That a text spells a
number or a date is told by trimming digits off its ends: portable SQL has neither patterns nor a CAST that may fail.
Numbers are taken as 12, -1.5 or 2e-3, with the thousands, signs and decimal comma of the training table; dates as
dates, timestamps with or without a time zone, or text such as 2026-01-31, with a time such as 12:30 or 12:30:15.5 and
an offset from UTC such as Z, +02, +0530 or -05:30, or as in the training table, also with 1:30 PM. A category's code
that the database keeps as a float is no level any more: 7.0 is not 007. Time zones by name are not read, nor are the
seconds of an old offset that a database leaves off its text of a timestamp.
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
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
)
DAYS_TO_1970 = 719527  # from the year 0, by the formula of `_days`
DAYS_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
DAYS_OF_MONTH = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
IN_ORDER, IN_DIGITS = "%Y-%m-%d", re.compile("%[Ymd](.)%[md]\\1%[Yymd]")
EXPONENTS = literal("||e|e+|e-|E|E+|E-|")  # what a number may have before its last digits and after all others
CENTURY_TURNS = 69  # 68 is 2068, and 69 is 1969
OF_A_DAY = literal("0123456789-/.")  # the signs of a date without a time
OF_A_TIME = literal("0123456789:.")


class Cell(NamedTuple):
    """The names of a cell as the database has it, and of its text without blanks around it.

    Of a date, the text is that of the day, `time` that of the time, `after` that of the offset, AM or PM after it.
    """

    raw: str
    text: str
    time: str
    after: str


def text_of(raw: str) -> str:
    """Return a cell as text without blanks around it."""
    return f"TRIM({_written(raw)}, {literal(BLANKS)})"


def date_texts(raw: str, form: str) -> tuple[str, str, str]:
    """Return the text of a cell's date, of the time after it (NULL if there is none), and of what follows that."""
    whole = _numbered(text_of(raw), form)
    rest = f"LTRIM({whole}, {OF_A_DAY})"
    day = f"SUBSTR({whole}, 1, LENGTH({whole}) - LENGTH({rest}))"
    clock = f"LTRIM({rest}, ' T')"
    after = f"LTRIM({clock}, {OF_A_TIME})"
    time = f"SUBSTR({clock}, 1, LENGTH({clock}) - LENGTH({after}))"
    return day, f"CASE WHEN {rest} = '' THEN NULL WHEN {clock} LIKE '_:%' THEN '0' || {time} ELSE {time} END", after


def word_cell(cell: Cell, levels: Collection[str] = ()) -> str:
    """Return a cell's word; a level stands for itself also where it has blanks around it, or says missing."""
    gaps = {word: "NULL" for word in MISSING_ANYWHERE if word not in levels}  # a CASE: DuckDB makes a join of a long IN
    word = f"CASE {cell.text} {_cases(gaps)} ELSE {cell.text} END"
    return _exact_first(cell, {level: literal(level) for level in levels}, word)


def boolean_cell(cell: Cell, words: tuple[str, str]) -> str:
    """Return 0 or 1 by two words, else by these and others whatever the capitals."""
    exact, caseless = ({word: f"{truth:.0f}e0" for word, truth in each.items()} for each in boolean_words(words))
    trimmed = {word: truth for word, truth in exact.items() if caseless.get(word.lower()) != truth}
    found = f"CASE LOWER({cell.text}) {_cases(caseless)} END"
    found = f"CASE {cell.text} {_cases(trimmed)} ELSE {found} END" if trimmed else found
    return _exact_first(cell, exact, found)


def number_cell(cell: Cell, form: str) -> str:
    """Return a cell's number; NULL, or infinity, where it spells no finite one.

    The cell itself is cast where its text has no blanks: a float's text may lack digits.
    """
    text = cell.text
    as_is = f"CASE WHEN {_written(cell.raw)} = {text} THEN {_float(cell.raw)} ELSE {_float(text)} END"
    plain = f"WHEN {_spells_number(text)} THEN {as_is}"
    if form not in FORMATS:
        return f"CASE {plain} END"
    bare = _bare(text, form)
    return f"CASE {plain} WHEN {_spells_number(bare)} THEN {_float(bare)} END"


def date_cell(cell: Cell, form: str, origin: int) -> str:
    """Return the days from an origin, itself counted from 1970-01-01, to a date and time in UTC."""
    own = _in_digits(form)
    forms = {IN_ORDER: f"UPPER({cell.after}) NOT LIKE '%M'"}
    if IN_DIGITS.fullmatch(own) and own != IN_ORDER:
        forms[own] = f"({cell.after} = '' OR UPPER({cell.after}) LIKE '%M')"
    days = f"CASE {' '.join(_dated(cell.text, each, known) for each, known in forms.items())} END"
    return f"({days} - {origin + DAYS_TO_1970} + {_part_of_day(cell)})"


def _exact_first(cell: Cell, exact: Mapping[str, str], otherwise: str) -> str:
    """Return the value of a cell that is, sign by sign, a word which cleaning would change, else another expression."""
    odd = {word: value for word, value in exact.items() if clean_word(word) != word}
    return f"CASE {_written(cell.raw)} {_cases(odd)} ELSE {otherwise} END" if odd else otherwise


def _cases(values: Mapping[str, str]) -> str:
    return " ".join(f"WHEN {literal(word)} THEN {value}" for word, value in values.items())


def _written(raw: str) -> str:
    return f"CAST({raw} AS VARCHAR)"


def _float(text: str) -> str:
    return f"CAST({text} AS DOUBLE PRECISION)"


def _spells_number(text: str) -> str:
    """Return the condition that a text is a sign or none, digits with a point or none, and an exponent or none.

    No expression is there twice: DuckDB would look for such among those of all columns, which takes long.
    """
    rest = f"RTRIM(LTRIM(LTRIM(LTRIM(LTRIM({text}, '+-'), {DIGITS}), '.'), {DIGITS}), {DIGITS})"
    return (
        f"REPLACE({EXPONENTS}, '|' || {rest} || '|', '') <> {EXPONENTS} AND RTRIM({text}, 'eE+-') = {text}"
        f" AND REPLACE({DIGITS}, SUBSTR(LTRIM({text}, '+-.'), 1, 1), '') <> {DIGITS}"
        f" AND {text} NOT LIKE '%.%.%' AND {text} NOT LIKE '_-%' AND {text} NOT LIKE '_+%'"
    )


def _bare(text: str, form: str) -> str:
    """Return a text without the thousands and signs of a format, with a decimal point."""
    written = FORMATS[form]
    for sign in written.left_off:
        text = f"REPLACE({text}, {literal(sign)}, '')"
    text = f"REPLACE(TRIM({text}), '−', '-')"
    return text if written.decimal == "." else f"REPLACE({text}, ',', '.')"


def _in_digits(form: str) -> str:
    """Return a format with the number of a month for its name, as `_numbered` writes it."""
    return re.sub(r"(%d.)%[bB].|%[bB] %d, ", lambda named: "%d.%m." if named[1] else "%m.%d.", form)


def _numbered(text: str, form: str) -> str:
    """Return a text with the number of a month for its name, if the format has one."""
    found = re.search(r"(.?)%([bB])(.)", form)
    if found is None:
        return text
    before, kind, after = found.groups()
    large = f"REPLACE(UPPER({text}), ', ', '.')" if "," in form else f"UPPER({text})"
    cases = []
    for number, month in enumerate(MONTHS, start=1):  # branches, since SQLite's parser takes no calls so deep
        name, mark = before + (month if kind == "B" else month[:3]) + after, "." if before else ""
        cases.append(f"WHEN {large} LIKE '%{name}%' THEN REPLACE({large}, '{name}', '{mark}{number:02}.')")
    return f"CASE {' '.join(cases)} ELSE {text} END"


def _dated(text: str, form: str, known: str) -> str:
    """Return the branch of a CASE for texts of three numbers in the order of a format: its condition, and the days.

    The first and the last number are what trimming digits off an end takes away; the middle one is between the signs.
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
    shaped = f"{known} AND {signs} AND {' AND '.join(digits)}"
    longest = " ".join(f"WHEN {m} THEN {days}" for m, days in enumerate(DAYS_OF_MONTH, start=1))
    leap = f"{month} = 2 AND ({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
    longest = f"CASE {month} {longest} ELSE 0 END + CASE WHEN {leap} THEN 1 ELSE 0 END"
    days = f"CASE WHEN {day} BETWEEN 1 AND {longest} THEN {_days(year, month, day)} END"
    return f"WHEN {shaped} THEN {days}"


def _days(year: str, month: str, day: str) -> str:
    """Return the days from the year 0 to a date.

    Whole years count 365 days; leap days are counted to the last February, without a division that leaves a rest.
    """
    last = f"({year} - CASE WHEN {month} <= 2 THEN 1 ELSE 0 END)"
    leaps = " + ".join(f"{sign} * ({last} - {last} % {span}) / {span}" for sign, span in ((1, 4), (-1, 100), (1, 400)))
    months = " ".join(f"WHEN {m} THEN {days}" for m, days in enumerate(DAYS_BEFORE_MONTH, start=1))
    return f"365 * {year} + {leaps} + CASE {month} {months} END + {day} - 1"


def _part_of_day(cell: Cell) -> str:
    """Return the part of a day, in UTC, at a time such as 12:30 or 12:30:15.5; 0 for none, NULL for anything else."""
    time = cell.time
    hour, minute, second = f"SUBSTR({time}, 1, 2)", f"SUBSTR({time}, 4, 2)", f"SUBSTR({time}, 7)"
    digits = f"TRIM({hour} || {minute}, {DIGITS}) = '' AND SUBSTR({time}, 3, 1) = ':'"
    digits += f" AND {hour} < '24' AND {minute} < '60'"
    minutes = f"({_float(hour)} * 3600e0 + {_float(minute)} * 60e0 + {_shift(cell.after, hour)}"
    short = f"WHEN LENGTH({time}) = 5 AND {digits} THEN {minutes}) / 86400e0"
    seconds = f"{digits} AND SUBSTR({time}, 6, 1) = ':' AND {_spells_number(second)} AND {second} < '60'"
    return f"CASE WHEN {time} IS NULL THEN 0e0 {short} WHEN {seconds} THEN {minutes} + {_float(second)}) / 86400e0 END"


def _shift(after: str, hour: str) -> str:
    """Return the seconds to add for what follows a time: an offset from UTC, AM or PM, or nothing."""
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
        f"WHEN SUBSTR({after}, 1, 1) = '{sign}' AND {offset} THEN {way} * ({seconds})"
        for sign, way in (("+", "-1e0"), ("-", "1e0"))
    )
    return f"CASE WHEN {after} IN ('', 'Z') THEN 0e0 {half} {signs} END"


BARRIER = "row_number_"  # with a window function in a SELECT, SQLite works its values out once, not at each mention
_BARRIER = f"ROW_NUMBER() OVER () AS {BARRIER}"
OWN_NAME = re.compile(rf"(raw|text|time|cell|score)_\d+_|{BARRIER}", re.IGNORECASE)
MOST_EXACT = 900  # columns of numbers that are read from their text and the cell itself: SQLite has 2,000 columns
ROWS = "source_rows"  # what the table is called in the statement


def to_sql(model: Model, table: str = "data", *, keep: Sequence[str] = (), probabilities: bool = True) -> str:
    """Return a SELECT over a table: the columns to `keep`, then what `Predictions.columns` has, but for intervals.

    A row with a missing cell has NULL where the model leaves such rows out or refuses them.
    """
    terms, names = terms_of(model), _names(model)
    scores = [_sum([_number(float(b)), *_parts(terms, k)]) for k, b in enumerate(model.intercept)]
    taken = {"prediction", *names.values()}
    if own := [name for name in keep if name in taken or OWN_NAME.fullmatch(name)]:
        raise OptionError(f"keep={own[0]!r} is the name of a result; rename that column first")
    kept = [identifier(_plain(name)) for name in keep]
    inner = [*kept, *(f"{score} AS {_score(k)}" for k, score in enumerate(scores))]
    inner += [_BARRIER] * (model.classes is not None)
    rows = f"SELECT {_list(inner)}\nFROM (\n{_cells(table, kept, terms)}\n) AS {ROWS}"
    if model.classes is None:
        return f"SELECT {_list([*kept, f'{_score(0)} AS prediction'])}\nFROM (\n{rows}\n) AS scored\n"
    return _classify(model, rows, kept, names if probabilities else {k: names[k] for k in names if k.startswith("s")})


def _names(model: Model) -> dict[str, str]:
    """Return the names of the results, by what they are: p0, p1, … and s0, s1, …"""
    if model.classes is None:
        return {}
    single = {"s0": "score"} if len(model.coef) == 1 else {}
    scores = single or {f"s{k}": f"score_{label}" for k, label in enumerate(model.classes)}
    if model.rule.link == "none":
        return scores
    return {**{f"p{k}": f"probability_{label}" for k, label in enumerate(model.classes)}, **scores}


def _classify(model: Model, rows: str, kept: list[str], names: dict[str, str]) -> str:
    """Return the statement around the scores of a classifier."""
    classes, several = model.classes or (), len(model.coef) > 1
    own = [_score(k) for k in range(len(model.coef))]
    label = _highest(own, [_label(each) for each in classes]) if several else _two_labels(model)
    results = [*kept, f"{label} AS prediction"]
    results += [
        f"{chance} AS {identifier(_plain(names[f'p{k}']))}"
        for k, chance in enumerate(_probabilities(model, own))
        if f"p{k}" in names
    ]
    results += [f"{own[k]} AS {identifier(_plain(names[f's{k}']))}" for k in range(len(own))]
    return f"SELECT {_list(results)}\nFROM (\n{rows}\n) AS scored\n"


def _probabilities(model: Model, scores: list[str]) -> list[str]:
    """Return the probabilities of the classes, by expressions in which nothing overflows."""
    if model.rule.link == "sigmoid":
        small = f"EXP(-ABS({scores[0]}))"
        return [f"CASE WHEN {scores[0]} {sign} 0 THEN {small} ELSE 1e0 END / (1e0 + {small})" for sign in (">=", "<")]
    if model.rule.link == "one_vs_rest":
        sigmoids = [_sigmoid(score) for score in scores]
        return [f"{own} / ({' + '.join(sigmoids)})" for own in sigmoids]
    return [f"1e0 / (1e0 + {' + '.join(_odds(scores, k))})" for k in range(len(scores))]


def _odds(scores: list[str], k: int) -> list[str]:
    """Return the odds of every other class against class k."""
    gaps = [f"{other} - {scores[k]}" for other in scores if other != scores[k]]
    return [f"CASE WHEN {gap} > 7e2 THEN 1e304 ELSE EXP({gap}) END" for gap in gaps]


def _sigmoid(score: str) -> str:
    return f"(CASE WHEN {score} >= 0 THEN 1e0 ELSE EXP(-ABS({score})) END / (1e0 + EXP(-ABS({score}))))"


def _two_labels(model: Model) -> str:
    first, second = (_label(label) for label in model.classes or ())
    sign, score = ">=" if model.rule.tie == "positive" else ">", _score(0)
    boundary = _number(model.rule.boundary)
    return f"CASE WHEN {score} IS NULL THEN NULL WHEN {score} {sign} {boundary} THEN {second} ELSE {first} END"


def _highest(scores: Sequence[str], answers: Sequence[str]) -> str:
    """Return the answer of the highest score, of equals the first."""
    above: dict[int, list[str]] = {k: [] for k in range(len(scores))}
    for k, j in combinations(range(len(scores)), 2):
        above[k].append(f"{scores[k]} >= {scores[j]}")
    last = len(scores) - 1
    cases = " ".join(f"WHEN {' AND '.join(above[k])} THEN {answers[k]}" for k in range(last))
    return f"CASE WHEN {scores[0]} IS NULL THEN NULL {cases} ELSE {answers[last]} END"


def _cells(table: str, kept: list[str], terms: Sequence[ScoreTerm]) -> str:
    """Return the SELECT of the columns to keep and of the terms' cells, as `predict` reads them."""
    exact = sum(_kind(term) == "number" for term in terms) <= MOST_EXACT
    names = [
        (f"raw_{j}_" if exact else f"text_{j}_", f"text_{j}_", f"time_{j}_", f"after_{j}_") for j in range(len(terms))
    ]
    cells = [Cell(*each) for each in names]
    inner = [f"{ROWS}.{name} AS {name}" for name in kept]
    for term, cell in zip(terms, cells, strict=True):
        # The table's name before it: SQLite would take an unknown name in quotes for a text.
        raw = f"{ROWS}.{identifier(_plain(term.name))}"
        inner += [f"{text} AS {name}" for name, text in _texts(term, raw, cell).items()]
    outer = [
        *kept,
        *(f"{_read(term, cell)} AS {_cell(j)}" for j, (term, cell) in enumerate(zip(terms, cells, strict=True))),
    ]
    rows = f"SELECT {_list([*inner, _BARRIER])}\nFROM {identifier(_plain(table))} AS {ROWS}"
    return f"SELECT {_list([*outer, _BARRIER])}\nFROM (\n{rows}\n) AS {ROWS}"


def _texts(term: ScoreTerm, raw: str, cell: Cell) -> dict[str, str]:
    """Return the expressions that a term's cell is read from, by the names that it knows them by."""
    if _kind(term) == "date":
        return dict(zip((cell.text, cell.time, cell.after), date_texts(raw, term.format), strict=True))
    return ({cell.raw: raw} if _kind(term) == "number" or _is_odd(term) else {}) | {cell.text: text_of(raw)}


def _kind(term: ScoreTerm) -> str:
    """Return what a cell is read as: number, date or word."""
    if isinstance(term, (BooleanTerm, LevelTerm)):
        return "word"
    return "date" if isinstance(term, DateTerm) or term.kind == "date" else term.kind


def _is_odd(term: ScoreTerm) -> bool:
    """Tell whether a term has a word that cleaning would change, so that cells are to be taken as they are first."""
    words: Iterable[str] = _value(term)
    if isinstance(term, (BooleanTerm, LevelTerm)):
        words = term.words if isinstance(term, BooleanTerm) else (word for word, _ in term.levels)
    return any(clean_word(word) != word for word in words)


@singledispatch
def _read(term: ScoreTerm, cell: Cell) -> str:
    """Return a term's cell, NULL where it is missing."""
    if term.kind == "number":
        return number_cell(cell, term.format)
    return date_cell(cell, term.format, 0) if term.kind == "date" else word_cell(cell, _value(term))


@_read.register
def _(term: NumberTerm, cell: Cell) -> str:
    return number_cell(cell, term.format)


@_read.register
def _(term: BooleanTerm, cell: Cell) -> str:
    return boolean_cell(cell, (_plain(term.words[0]), _plain(term.words[1])))


@_read.register
def _(term: DateTerm, cell: Cell) -> str:
    return date_cell(cell, term.format, term.origin)


@_read.register
def _(term: LevelTerm, cell: Cell) -> str:
    return word_cell(cell, [_plain(word) for word, _ in term.levels])


@_read.register
def _(term: TextTerm, _cell: Cell) -> str:
    raise OptionError(f"column {term.name!r} is text, and its words have no SQL; export to python, or fit without it")


def _value(term: ScoreTerm) -> list[str]:
    return [] if term.value is None else [_plain(term.value)]


def _parts(terms: Sequence[ScoreTerm], k: int) -> list[str]:
    """Return what the terms add to score k."""
    return [_part(term, _cell(place), _gap(term, k), k) for place, term in enumerate(terms)]


@singledispatch
def _part(_term: ScoreTerm, cell: str, gap: str, _k: int) -> str:
    """Return what a cell adds to score k."""
    return f"CASE WHEN {cell} IS NULL THEN {gap} ELSE 0e0 END"


@_part.register
def _(term: NumberTerm, cell: str, gap: str, k: int) -> str:
    # x − x is 0 for finite numbers only: NULL and infinity take the other branch.
    return f"CASE WHEN {cell} - {cell} = 0 THEN {_number(term.weight[k])} * {cell} ELSE {gap} END"


@_part.register
def _(term: LevelTerm, cell: str, gap: str, k: int) -> str:
    # Levels that add as much as any other need no branch of their own.
    levels = [(word, weights[k]) for word, weights in term.levels if weights[k] != term.other[k]]
    cases = " ".join(f"WHEN {literal(_plain(word))} THEN {_number(value)}" for word, value in levels)
    inner = f"CASE {cell} {cases} ELSE {_number(term.other[k])} END" if levels else _number(term.other[k])
    return f"CASE WHEN {cell} IS NULL THEN {gap} ELSE {inner} END"


def _sum(parts: list[str]) -> str:
    """Return a sum as a balanced tree."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return f"({_sum(parts[:half])}\n + {_sum(parts[half:])})"


def _cell(place: int) -> str:
    return f"cell_{place}_"


def _gap(term: ScoreTerm, k: int) -> str:
    return "NULL" if term.gap is None else _number(term.gap[k])


def _number(value: float) -> str:
    """Return a number with all its digits and an exponent, which makes it a float in every dialect."""
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if value < 0.0 else text


def _label(label: Label) -> str:
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, int):
        return str(label)
    return _number(label) if isinstance(label, float) else literal(_plain(label))


def _plain(text: str) -> str:
    if "\0" in text:
        raise DataError(f"{text!r} has a NUL character, which SQL cannot write; rename it in the table")
    return text


def _score(k: int) -> str:
    return f"score_{k}_"


def _list(parts: Sequence[str]) -> str:
    return ",\n  ".join(parts)
