"""A model as the source of one Python function that needs nothing but the standard library.

`predict(row)` takes a mapping from column names to cells: numbers, truth values, words, dates (also as text in ISO
8601), None or NaN where missing; a column that is not there raises a KeyError. Names and levels are written as ASCII
literals, so whatever they contain is data, never code.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import NamedTuple

from separatrix.design.encode.cells import MORE_TRUTHS
from separatrix.model.export.terms import DateTerm, LevelTerm, NumberTerm, Term, TextTerm, TruthTerm, terms_of
from separatrix.model.record import Model

__all__ = ["to_python"]

HEAD = '''
import math


def _number(cell):
    """Return a finite number, or None."""
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _word(cell):
    """Return a cell as the word that a table would have for it, or None."""
    if cell is None or cell != cell:
        return None
    if isinstance(cell, float) and cell == int(cell):
        return str(int(cell))
    return str(cell).lower() if isinstance(cell, bool) else str(cell)
'''
DATES = '''

import datetime


def _days(cell):
    """Return a date, a datetime or its ISO text as days since 1970-01-01, or None."""
    try:
        moment = datetime.datetime.fromisoformat(cell.strip() if isinstance(cell, str) else cell.isoformat())
    except (AttributeError, ValueError):
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return (moment - datetime.datetime(1970, 1, 1)).total_seconds() / 86400.0
'''
TEXTS = '''

import re
import zlib


def _tf_idf(cell, buckets, idf):
    """Return {bucket: weight} of the words of a text, of length 1."""
    counts = {}
    for word in re.findall(r"\\w+", str(cell).casefold()):
        bucket = zlib.crc32(word.encode("utf-8", "surrogatepass")) % buckets
        if bucket in idf:
            counts[bucket] = counts.get(bucket, 0) + 1
    values = {bucket: count * idf[bucket] for bucket, count in counts.items()}
    length = math.sqrt(math.fsum(value * value for value in values.values()))
    return {bucket: value / length for bucket, value in values.items()}


def _weigh(values, weights, count):
    """Return the sums of the weights of buckets, times their values, one a score."""
    return [math.fsum(value * weights[bucket][k] for bucket, value in values.items()) for k in range(count)]
'''
TAIL = '''

def predict(row):
    """Return what the model says of a row, a mapping from column names to cells."""
    values = scores(row)
    if values is None:
        return {"prediction": None, "probabilities": None, "scores": None}
    if CLASSES is None:
        return {"prediction": values[0], "probabilities": None, "scores": values}
    if len(values) == 1:
        place = int(values[0] >= BOUNDARY if TIE_IS_SECOND else values[0] > BOUNDARY)
    else:
        place = max(range(len(values)), key=lambda k: (values[k], -k))
    return {"prediction": CLASSES[place], "probabilities": probabilities(values), "scores": values}


def probabilities(values):
    """Return the probability of each class, or None where a score is no probability."""
    if LINK == "none":
        return None
    if LINK == "softmax":
        highest = max(values)
        powers = [math.exp(value - highest) for value in values]
    elif LINK == "one_vs_rest":
        powers = [sigmoid(value) for value in values]
    else:
        powers = [sigmoid(-values[0]), sigmoid(values[0])]
    total = 1.0 if LINK == "sigmoid" else math.fsum(powers)
    return {label: power / total for label, power in zip(CLASSES, powers)}


def sigmoid(value):
    """Return 1 / (1 + exp(-value)), also far out."""
    small = math.exp(-abs(value))
    return (1.0 if value >= 0.0 else small) / (1.0 + small)
'''
NEEDS = ((DateTerm, DATES), (TextTerm, TEXTS))


def to_python(model: Model) -> str:
    """Return the source of a module with `predict(row)`."""
    terms = terms_of(model)
    parts = [f'"""Predicts {_words(model.target)} from one row of a table; needs only the standard library."""\n', HEAD]
    parts += [source for kind, source in NEEDS if any(isinstance(term, kind) for term in terms)]
    parts.append(_constants(model))
    parts.append(_scores(terms))
    parts.append(TAIL)
    return "".join(parts)


def _words(name: str) -> str:
    """Return a name that can stand in a docstring."""
    return ascii(name).replace("\\", "/").replace('"', "'")


def _constants(model: Model) -> str:
    values = {
        "CLASSES": None if model.classes is None else list(model.classes),
        "LINK": model.rule.link,
        "BOUNDARY": model.rule.boundary,
        "TIE_IS_SECOND": model.rule.tie == "positive",
        "INTERCEPT": model.intercept.tolist(),
    }
    return "\n\n" + "".join(f"{name} = {value!a}\n" for name, value in values.items())


class _Written(NamedTuple):
    """A term in Python: the constant it needs, its cell (None where missing or of no use), and what the cell adds."""

    constant: str
    cell: str
    part: str


def _scores(terms: Iterable[Term]) -> str:
    """Return the function that adds up the terms; None stands for a row that has no score."""
    written = [(term, _write(term, f"TERM_{place}")) for place, term in enumerate(terms)]
    constants = "".join(f"TERM_{place} = {own.constant}\n" for place, (_, own) in enumerate(written))
    body = "".join(f"    {line}\n" for term, own in written for line in _lines(term, own))
    head = '\n\ndef scores(row):\n    """Return the linear scores of a row, or None."""\n    parts = [INTERCEPT]\n'
    return f"{constants}{head}{body}    return [math.fsum(column) for column in zip(*parts)]\n"


def _lines(term: Term, own: _Written) -> list[str]:
    """Return the statements that add a term's part of a row."""
    missing = "return None" if term.gap is None else f"parts.append({list(term.gap)!a})"
    return [f"cell = {own.cell}", "if cell is None:", f"    {missing}", "else:", f"    parts.append({own.part})"]


@singledispatch
def _write(term: Term, _table: str) -> _Written:
    """Return a term in Python, its constant to be called `table`."""
    return _Written("None", f"_word(row[{term.name!a}])", "[0.0] * len(INTERCEPT)")


@_write.register
def _(term: NumberTerm, table: str) -> _Written:
    return _Written(ascii(list(term.weight)), f"_number(row[{term.name!a}])", f"[weight * cell for weight in {table}]")


@_write.register
def _(term: TruthTerm, table: str) -> _Written:
    truths = {**MORE_TRUTHS, **{word: float(place) for place, word in enumerate(term.words)}}
    cell = f"{table}[0].get(_word(row[{term.name!a}]))"
    return _Written(ascii((truths, list(term.weight))), cell, f"[weight * cell for weight in {table}[1]]")


@_write.register
def _(term: DateTerm, table: str) -> _Written:
    part = f"[weight * (cell - {term.origin!a}) for weight in {table}]"
    return _Written(ascii(list(term.weight)), f"_days(row[{term.name!a}])", part)


@_write.register
def _(term: LevelTerm, table: str) -> _Written:
    levels = {word: list(weights) for word, weights in term.levels}
    return _Written(ascii(levels), f"_word(row[{term.name!a}])", f"{table}.get(cell, {list(term.other)!a})")


@_write.register
def _(term: TextTerm, table: str) -> _Written:
    seen = term.encoding.seen
    idf = dict(zip(seen, term.encoding.idf, strict=True))
    constant = ascii((idf, dict(zip(seen, map(list, term.weights), strict=True))))
    words = f"_tf_idf(cell, {term.encoding.buckets!a}, {table}[0])"
    part = f"_weigh({words}, {table}[1], len(INTERCEPT))"
    return _Written(constant, f"_word(row[{term.name!a}])", part)
