"""A model as one SELECT in portable SQL: scores, probabilities and labels of the rows of a table, encoding included.

Portable SQL only: CASE, CAST, TRIM, SUBSTR, LENGTH, LOWER, EXP, ABS, ROW_NUMBER; tested in DuckDB and SQLite. The
innermost SELECT has the cells as text, the next one as `predict` reads them (`sql_cells`), the next one the scores.
Sums are written as balanced trees, since SQLite limits the depth of an expression to 1,000. EXP needs SQLite 3.35 with
its mathematical functions; without probabilities it is not used. Texts have no SQL, and a NUL character no literal:
both are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import singledispatch
from itertools import combinations

from separatrix.errors import DataError, OptionError
from separatrix.model.export.sql_cells import Cell, date_cell, date_texts, number_cell, text_of, truth_cell, word_cell
from separatrix.model.export.terms import DateTerm, LevelTerm, NumberTerm, Term, TextTerm, TruthTerm, terms_of
from separatrix.model.predictions import Label
from separatrix.model.record import Model
from separatrix.tables.connection import identifier, literal
from separatrix.tables.formats import clean_word

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


def _cells(table: str, kept: list[str], terms: Sequence[Term]) -> str:
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


def _texts(term: Term, raw: str, cell: Cell) -> dict[str, str]:
    """Return the expressions that a term's cell is read from, by the names that it knows them by."""
    if _kind(term) == "date":
        return dict(zip((cell.text, cell.time, cell.after), date_texts(raw, term.format), strict=True))
    return ({cell.raw: raw} if _kind(term) == "number" or _is_odd(term) else {}) | {cell.text: text_of(raw)}


def _kind(term: Term) -> str:
    """Return what a cell is read as: number, date or word."""
    if isinstance(term, (TruthTerm, LevelTerm)):
        return "word"
    return "date" if isinstance(term, DateTerm) or term.kind == "date" else term.kind


def _is_odd(term: Term) -> bool:
    """Tell whether a term has a word that cleaning would change, so that cells are to be taken as they are first."""
    words: Iterable[str] = _value(term)
    if isinstance(term, (TruthTerm, LevelTerm)):
        words = term.words if isinstance(term, TruthTerm) else (word for word, _ in term.levels)
    return any(clean_word(word) != word for word in words)


@singledispatch
def _read(term: Term, cell: Cell) -> str:
    """Return a term's cell, NULL where it is missing."""
    if term.kind == "number":
        return number_cell(cell, term.format)
    return date_cell(cell, term.format, 0) if term.kind == "date" else word_cell(cell, _value(term))


@_read.register
def _(term: NumberTerm, cell: Cell) -> str:
    return number_cell(cell, term.format)


@_read.register
def _(term: TruthTerm, cell: Cell) -> str:
    return truth_cell(cell, (_plain(term.words[0]), _plain(term.words[1])))


@_read.register
def _(term: DateTerm, cell: Cell) -> str:
    return date_cell(cell, term.format, term.origin)


@_read.register
def _(term: LevelTerm, cell: Cell) -> str:
    return word_cell(cell, [_plain(word) for word, _ in term.levels])


@_read.register
def _(term: TextTerm, _cell: Cell) -> str:
    raise OptionError(f"column {term.name!r} is text, and its words have no SQL; export to python, or fit without it")


def _value(term: Term) -> list[str]:
    return [] if term.value is None else [_plain(term.value)]


def _parts(terms: Sequence[Term], k: int) -> list[str]:
    """Return what the terms add to score k."""
    return [_part(term, _cell(place), _gap(term, k), k) for place, term in enumerate(terms)]


@singledispatch
def _part(_term: Term, cell: str, gap: str, _k: int) -> str:
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
