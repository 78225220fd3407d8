"""A model as one SELECT in portable SQL: scores, probabilities and labels of the rows of a table, encoding included.

Standard SQL only: CASE, CAST, SUBSTR, LENGTH, EXP, ABS and, of several classes, ROW_NUMBER; tested in DuckDB and
SQLite. Sums are written as balanced trees, since SQLite limits the depth of an expression to 1,000. EXP needs SQLite
3.35 with its mathematical functions; without probabilities it is not used. Numbers must be stored as numbers; dates as
dates, timestamps, or text such as 2026-01-31 or 2026-01-31 12:30:00. Texts have no SQL, and a NUL character no
literal: both are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from itertools import combinations

from separatrix.errors import DataError, OptionError
from separatrix.model.export.terms import DateTerm, LevelTerm, NumberTerm, Term, TextTerm, TruthTerm, terms_of
from separatrix.model.predictions import Label
from separatrix.model.record import Model
from separatrix.tables.sql import identifier, literal

__all__ = ["to_sql"]

BARRIER = "row_number_"  # with a window function in it, SQLite works out each score once, not at every mention
ROWS = "source_rows"  # what the table is called in the statement
DAYS_TO_1970 = 719527  # from the year 0, by the formula of `_days`
DAYS_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
TRUE_WORDS, FALSE_WORDS = ("true", "1", "1.0"), ("false", "0", "0.0")  # as databases write truth values as text


def to_sql(model: Model, table: str = "data", *, keep: Sequence[str] = (), probabilities: bool = True) -> str:
    """Return a SELECT over a table: the columns to `keep`, then what `Predictions.columns` has, but for intervals.

    A row with a missing cell has NULL where the model leaves such rows out or refuses them.
    """
    terms = terms_of(model)
    names = _names(model)
    scores = [_sum([_number(float(b)), *(_write(term, k) for term in terms)]) for k, b in enumerate(model.intercept)]
    if taken := set(keep) & {"prediction", *names.values(), BARRIER, *(_score(k) for k in range(len(scores)))}:
        raise OptionError(f"keep has {sorted(taken)[0]!r}, which is the name of a result; rename that column first")
    kept = [identifier(_plain(name)) for name in keep]
    inner = [f"{ROWS}.{name} AS {name}" for name in kept]
    inner += [f"{score} AS {_score(k)}" for k, score in enumerate(scores)]
    inner += [f"ROW_NUMBER() OVER () AS {BARRIER}"] * (len(scores) > 1)
    rows = f"SELECT {_list(inner)}\nFROM {identifier(_plain(table))} AS {ROWS}"
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


@singledispatch
def _write(term: Term, k: int) -> str:
    """Return what a term adds to score k."""
    return f"CASE WHEN {_cell(term)} IS NULL THEN {_gap(term, k)} ELSE 0e0 END"


@_write.register
def _(term: NumberTerm, k: int) -> str:
    # x − x is 0 for finite numbers only: NULL, NaN and infinity take the other branch.
    cell = _cell(term)
    return f"CASE WHEN {cell} - {cell} = 0 THEN {_number(term.weight[k])} * {cell} ELSE {_gap(term, k)} END"


@_write.register
def _(term: TruthTerm, k: int) -> str:
    values = dict.fromkeys(FALSE_WORDS, 0.0) | dict.fromkeys(TRUE_WORDS, term.weight[k])
    values |= {term.words[0]: 0.0, term.words[1]: term.weight[k]}
    return _cases(term, list(values.items()), _gap(term, k))


@_write.register
def _(term: DateTerm, k: int) -> str:
    days = f"({_days(_text(term))} - {term.origin + DAYS_TO_1970})"
    return f"CASE WHEN {_cell(term)} IS NULL THEN {_gap(term, k)} ELSE {_number(term.weight[k])} * {days} END"


@_write.register
def _(term: LevelTerm, k: int) -> str:
    # Levels that add as much as any other need no branch of their own.
    levels = [(word, weights[k]) for word, weights in term.levels if weights[k] != term.other[k]]
    other = _number(term.other[k])
    inner = _cases(term, levels, other) if levels else other
    return f"CASE WHEN {_cell(term)} IS NULL THEN {_gap(term, k)} ELSE {inner} END"


@_write.register
def _(term: TextTerm, _k: int) -> str:
    raise OptionError(f"column {term.name!r} is text, and its words have no SQL; export to python, or fit without it")


def _cases(term: Term, values: Iterable[tuple[str, float]], otherwise: str) -> str:
    cases = " ".join(f"WHEN {literal(_plain(word))} THEN {_number(value)}" for word, value in values)
    return f"CASE {_text(term)} {cases} ELSE {otherwise} END"


def _days(text: str) -> str:
    """Return the days from the year 0 to a date written year-month-day, and the part of a day where a time follows.

    Whole years count 365 days; leap days are counted to the last February, without a division that leaves a rest.
    """
    year = f"CAST(SUBSTR({text}, 1, 4) AS INTEGER)"
    month = f"SUBSTR({text}, 6, 2)"
    last = f"({year} - CASE WHEN {month} IN ('01', '02') THEN 1 ELSE 0 END)"
    leaps = " + ".join(f"{sign} * ({last} - {last} % {span}) / {span}" for sign, span in ((1, 4), (-1, 100), (1, 400)))
    months = " ".join(f"WHEN '{m:02d}' THEN {days}" for m, days in enumerate(DAYS_BEFORE_MONTH, start=1))
    clock = [f"CAST(SUBSTR({text}, {start}) AS DOUBLE PRECISION)" for start in ("12, 2", "15, 2", "18")]
    seconds = f"({clock[0]} * 3600e0 + {clock[1]} * 60e0 + {clock[2]}) / 86400e0"
    time = f"CASE WHEN LENGTH({text}) >= 19 THEN {seconds} ELSE 0e0 END"
    day = f"CAST(SUBSTR({text}, 9, 2) AS INTEGER) - 1"
    return f"(365 * {year} + {leaps} + CASE {month} {months} END + {day} + {time})"


def _sum(parts: list[str]) -> str:
    """Return a sum as a balanced tree."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return f"({_sum(parts[:half])}\n + {_sum(parts[half:])})"


def _cell(term: Term) -> str:
    # The table's name before it: SQLite would take an unknown name in quotes for a text.
    return f"{ROWS}.{identifier(_plain(term.name))}"


def _text(term: Term) -> str:
    return f"CAST({_cell(term)} AS VARCHAR)"


def _gap(term: Term, k: int) -> str:
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
