"""A model as one SELECT in portable SQL: the scores, probabilities and labels of the rows of a table.

Portable SQL only: CASE, CAST, TRIM, SUBSTR, LENGTH, LOWER, EXP, ABS, ROW_NUMBER; tested in DuckDB and SQLite. The
innermost SELECT has the cells as `predict` reads them, NULL where missing, the next one the scores. Sums are balanced
trees, since SQLite limits the depth of an expression to 1,000. EXP needs SQLite 3.35 with its mathematical functions;
without probabilities it is not used. Text columns, and names with a NUL character, raise an error.

Columns must have their types. Numbers are cast to a float. Dates are DATE or TIMESTAMP columns, or text as these are
written (2026-01-31, 2026-01-31 12:30:15.5, SQLite's own form), also with an offset from UTC; other text is missing.
Categories that the database stores as floats are not recognised: 7.0 is not '7'.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from separatrix.errors import DataError, OptionError
from separatrix.model.export.terms import ScoreTerm, column_types, terms_of
from separatrix.model.predictions import Label
from separatrix.model.record import Model
from separatrix.tables.connection import identifier, literal
from separatrix.tables.formats import boolean_words, clean_sql

TYPES = {
    "number": "numbers",
    "date": "dates or timestamps, in UTC if without a time zone",
    "boolean": "binary values, or words as in training",
    "word": "words as in training, blanks around them ignored",
}
DAYS_TO_1970 = 719468  # since 0000-03-01
TIME_CHARACTERS = literal("0123456789.")
BARRIER = "row_number_"  # a window function makes SQLite compute the values of a SELECT once, not at each use
_BARRIER = f"ROW_NUMBER() OVER () AS {BARRIER}"
OWN_NAME = re.compile(rf"(cell|score)_\d+_|{BARRIER}", re.IGNORECASE)
ROWS = "source_rows"  # the table's alias


def to_sql(model: Model, table: str = "data", *, keep: Sequence[str] = (), probabilities: bool = True) -> str:
    """Return a SELECT over a table: the columns to `keep`, then those of `Predictions.columns`, except intervals.

    A row with a missing cell has NULL if the model leaves such rows out or rejects them.
    """
    terms, (prediction, columns) = terms_of(model), _results(model)
    if clashes := [name for name in keep if name in {"prediction", *columns} or OWN_NAME.fullmatch(name)]:
        raise OptionError(f"keep={clashes[0]!r} is the name of a result; rename that column first")
    kept = [identifier(_nul_free(name)) for name in keep]
    # Qualified by the table: SQLite takes an unknown quoted name for a string.
    raw = [f"{ROWS}.{identifier(_nul_free(term.name))}" for term in terms]
    cells = [f"{_cell(*each)} AS cell_{j}_" for j, each in enumerate(zip(terms, raw, strict=True))]
    rows = _select([*(f"{ROWS}.{name} AS {name}" for name in kept), *cells, _BARRIER], identifier(_nul_free(table)))
    scores = [
        _balanced_sum([_number(float(intercept)), *(_part(term, f"cell_{j}_", k) for j, term in enumerate(terms))])
        for k, intercept in enumerate(model.intercept)
    ]
    scored = _select([*kept, *(f"{score} AS score_{k}_" for k, score in enumerate(scores)), _BARRIER], f"(\n{rows}\n)")
    shown = {name: value for name, value in columns.items() if probabilities or not name.startswith("probability_")}
    results = [f"{prediction} AS prediction", *(f"{shown[name]} AS {identifier(_nul_free(name))}" for name in shown)]
    notes = [f"Predicts {model.target!a}. Columns in their types:", *column_types(terms, TYPES)]
    return "".join(f"-- {note}\n" for note in notes) + _select([*kept, *results], f"(\n{scored}\n)") + "\n"


def _select(columns: Sequence[str], source: str) -> str:
    return "SELECT " + ",\n  ".join(columns) + f"\nFROM {source} AS {ROWS}"


def _results(model: Model) -> tuple[str, dict[str, str]]:
    """Return the prediction and, for classes, their probabilities and scores by the names of their columns."""
    if model.classes is None:
        return "score_0_", {}
    labels, scores = [_label(each) for each in model.classes], [f"score_{k}_" for k in range(len(model.coef))]
    probabilities = zip(model.classes, _probabilities(model, scores), strict=False)  # of some links there are none
    named = {f"probability_{label}": value for label, value in probabilities}
    if len(scores) > 1:
        by_class = {f"score_{label}": score for label, score in zip(model.classes, scores, strict=True)}
        return _highest_label(scores, labels), {**named, **by_class}
    above = f"score_0_ {'>=' if model.rule.tie == 'positive' else '>'} {_number(model.rule.boundary)}"
    label = f"CASE WHEN score_0_ IS NULL THEN NULL WHEN {above} THEN {labels[1]} ELSE {labels[0]} END"
    return label, {**named, "score": "score_0_"}


def _probabilities(model: Model, scores: list[str]) -> list[str]:
    """Return expressions of the probabilities of the classes that do not overflow; none if the link has none."""
    if model.rule.link == "none":
        return []
    if model.rule.link == "sigmoid":
        small = f"EXP(-ABS({scores[0]}))"
        return [f"CASE WHEN {scores[0]} {sign} 0 THEN {small} ELSE 1e0 END / (1e0 + {small})" for sign in (">=", "<")]
    if model.rule.link == "one_vs_rest":
        sigmoids = [
            f"(CASE WHEN {score} >= 0 THEN 1e0 ELSE EXP(-ABS({score})) END / (1e0 + EXP(-ABS({score}))))"
            for score in scores
        ]
        return [f"{sigmoid} / ({' + '.join(sigmoids)})" for sigmoid in sigmoids]
    probabilities = []
    for score in scores:
        gaps = [f"{other} - {score}" for other in scores if other != score]
        odds = [f"CASE WHEN {gap} > 7e2 THEN 1e304 ELSE EXP({gap}) END" for gap in gaps]
        probabilities.append(f"1e0 / (1e0 + {' + '.join(odds)})")
    return probabilities


def _highest_label(scores: Sequence[str], labels: Sequence[str]) -> str:
    """Return the label of the highest score, the first one on ties."""
    cases = ""
    for place, score in enumerate(scores[:-1]):
        highest = " AND ".join(f"{score} >= {other}" for other in scores[place + 1 :])
        cases += f" WHEN {highest} THEN {labels[place]}"
    return f"CASE WHEN {scores[0]} IS NULL THEN NULL{cases} ELSE {labels[-1]} END"


def _cell(term: ScoreTerm, raw: str) -> str:
    """Return the expression of a term's cell, NULL if it is missing."""
    text = f"CAST({raw} AS VARCHAR)"
    match term.kind:
        case "boolean":
            exact, lower = (_cases(words) for words in boolean_words([_nul_free(word) for word in term.words]))
            word = clean_sql(text, levels=boolean_words(term.words)[0])
            return f"CASE {word} {exact} ELSE CASE LOWER({word}) {lower} END END"
        case "date":
            return _days(text)
        case "number":
            return f"CAST({raw} AS DOUBLE PRECISION)"
        case "word":
            return clean_sql(text, levels=term.levels)
    raise OptionError(f"column {term.name!r} is text, and its words have no SQL; export to python, or fit without it")


def _cases(values: Mapping[str, float]) -> str:
    return " ".join(f"WHEN {literal(word)} THEN {_number(value)}" for word, value in values.items())


def _days(text: str) -> str:
    """Return the days from 1970-01-01 to a date and time, which is text of the form 2026-01-31 12:30:15.5+02:00.

    Years begin in March, so that leap days come last; the divisions leave no remainder.
    """
    year, month, day = (f"CAST(SUBSTR({text}, {at}, {size}) AS INTEGER)" for at, size in ((1, 4), (6, 2), (9, 2)))
    early = f"CASE WHEN {month} <= 2 THEN 1 ELSE 0 END"
    march_year, months = f"({year} - {early})", f"(153 * ({month} - 3 + 12 * {early}) + 2)"
    leaps = " + ".join(f"{sign} * {_whole(march_year, span)}" for sign, span in ((1, 4), (-1, 100), (1, 400)))
    days = f"365 * {march_year} + {leaps} + {_whole(months, 5)} + {day} - 1 - {DAYS_TO_1970}"
    after = f"LTRIM(SUBSTR({text}, 18), {TIME_CHARACTERS})"
    second = f"SUBSTR({text}, 18, LENGTH(SUBSTR({text}, 18)) - LENGTH({after}))"
    time = _seconds(f"SUBSTR({text}, 12, 2)", f"SUBSTR({text}, 15, 2)", second)
    offset = _seconds(*(f"SUBSTR({after}, {at}, 2)" for at in (2, 5, 8)))
    sign = f"CASE SUBSTR({after}, 1, 1) WHEN '+' THEN -1 WHEN '-' THEN 1 ELSE 0 END"
    return f"CASE WHEN {text} LIKE '____-__-__%' THEN {days} + ({time} + {sign} * {offset}) / 86400e0 END"


def _whole(number: str, span: int) -> str:
    """Return the whole part of a quotient."""
    return f"({number} - {number} % {span}) / {span}"


def _seconds(hours: str, minutes: str, seconds: str) -> str:
    """Return the seconds of a time in digits, of which the last may be absent."""
    parts = zip((hours, minutes, seconds), (3600, 60, 1), strict=True)
    return "(" + " + ".join(f"CAST('0' || {part} AS DOUBLE PRECISION) * {unit}e0" for part, unit in parts) + ")"


def _part(term: ScoreTerm, cell: str, k: int) -> str:
    """Return the contribution of a cell to score k."""
    gap, weight = "NULL" if term.gap is None else _number(term.gap[k]), _number(term.weight[k])
    if term.kind != "word":
        # x − x is 0 only for finite numbers: NULL and infinity take the other branch.
        value = cell if not term.origin else f"({cell} - {term.origin})"
        return f"CASE WHEN {cell} - {cell} = 0 THEN {weight} * {value} ELSE {gap} END"
    # Levels with the weight of unknown levels need no branch.
    levels = {_nul_free(word): weights[k] for word, weights in term.levels.items() if weights[k] != term.weight[k]}
    inner = f"CASE {cell} {_cases(levels)} ELSE {weight} END" if levels else weight
    return f"CASE WHEN {cell} IS NULL THEN {gap} ELSE {inner} END"


def _balanced_sum(parts: list[str]) -> str:
    """Return a sum as a balanced tree."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return f"({_balanced_sum(parts[:half])}\n + {_balanced_sum(parts[half:])})"


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
