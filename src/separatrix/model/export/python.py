"""A model as the source of a Python function that needs only the standard library.

`predict(row)` takes a mapping from column names to cells: numbers, booleans, strings and dates, also as text in the
format of the training table or in ISO 8601; None, NaN or a word for missing values. Blanks around a word are ignored.
An absent column raises a KeyError. Names and levels are written as ASCII literals, so whatever they contain is data,
never code.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import NamedTuple

from separatrix.design.encode.retype import boolean_words
from separatrix.model.export.terms import BooleanTerm, DateTerm, LevelTerm, NumberTerm, ScoreTerm, TextTerm, terms_of
from separatrix.model.record import Model
from separatrix.tables.formats import BLANKS, FORMATS, ISO, MISSING_ANYWHERE, TIMES

HEAD = '''
import math


def _number(cell, form=None):
    """Return a finite number, or None; `form` says what is left off a text, and what its decimal point is."""
    if isinstance(cell, str):
        cell = cell.strip(BLANKS)
        if form is not None:
            left_off, point = form
            cell = "".join(sign for sign in cell.replace("\\u2212", "-") if sign not in left_off)
            cell = cell.strip(BLANKS).replace(point, ".")
        if not set(cell) <= set("0123456789.eE+-"):
            return None
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _word(cell, levels=()):
    """Return a cell as the word that a table would have for it, or None where it says that it is missing."""
    if cell is None or cell != cell:
        return None
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2.0**53:
        cell = int(cell)
    word = str(cell).lower() if isinstance(cell, bool) else str(cell)
    if word in levels:
        return word
    word = word.strip(BLANKS)
    return None if word in MISSING and word not in levels else word


def _truth(cell, exact, caseless):
    """Return 0.0 or 1.0 by a cell's word, or None."""
    word = _word(cell, exact)
    return None if word is None else exact.get(word, caseless.get(word.lower()))
'''
DATES = '''

import datetime
import re


def _days(cell, forms=()):
    """Return a date, a datetime or its text, in one of some forms or ISO 8601, as days since 1970-01-01, or None."""
    moment = _moment(cell.strip(BLANKS), forms) if isinstance(cell, str) else _moment(_iso(cell), ())
    if moment is None:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return (moment - datetime.datetime(1970, 1, 1)).total_seconds() / 86400.0


def _iso(cell):
    return cell.isoformat() if hasattr(cell, "isoformat") else ""


def _moment(text, forms):
    for form in forms:
        try:
            return datetime.datetime.strptime(text, form)
        except ValueError:
            pass
    found = re.fullmatch(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?![0-9])(.*)", text)
    if found is None:
        return None
    year, month, day, time = found.groups()
    try:
        return datetime.datetime.fromisoformat(year + "-" + month.zfill(2) + "-" + day.zfill(2) + time)
    except ValueError:
        return None
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


def to_python(model: Model) -> str:
    """Return the source of a module with `predict(row)`."""
    terms = terms_of(model)
    target = _docstring_name(model.target)
    parts = [f'"""Predicts {target} from one row of a table; needs only the standard library."""\n', HEAD]
    parts += [DATES] if any(term.kind == "date" for term in terms) else []
    parts += [TEXTS] if any(isinstance(term, TextTerm) for term in terms) else []
    parts.append(_constants(model))
    parts.append(_scores(terms))
    parts.append(TAIL)
    return "".join(parts)


def _docstring_name(name: str) -> str:
    """Return a name that is safe in a docstring."""
    return ascii(name).replace("\\", "/").replace('"', "'")


def _constants(model: Model) -> str:
    values = {
        "BLANKS": BLANKS,
        "MISSING": sorted(MISSING_ANYWHERE),
        "CLASSES": None if model.classes is None else list(model.classes),
        "LINK": model.rule.link,
        "BOUNDARY": model.rule.boundary,
        "TIE_IS_SECOND": model.rule.tie == "positive",
        "INTERCEPT": model.intercept.tolist(),
    }
    return "\n\n" + "".join(f"{name} = {value!a}\n" for name, value in values.items())


class _TermCode(NamedTuple):
    """A term in Python: its constant, the expression of its cell (None if missing), and that of its contribution."""

    constant: str
    cell: str
    part: str


def _scores(terms: Iterable[ScoreTerm]) -> str:
    """Return the function that sums the terms, or returns None for a row without scores."""
    written = [(term, _write(term, f"TERM_{place}")) for place, term in enumerate(terms)]
    constants = "".join(f"TERM_{place} = {code.constant}\n" for place, (_, code) in enumerate(written))
    body = "".join(f"    {line}\n" for term, code in written for line in _lines(term, code))
    head = '\n\ndef scores(row):\n    """Return the linear scores of a row, or None."""\n    parts = [INTERCEPT]\n'
    return f"{constants}{head}{body}    return [math.fsum(column) for column in zip(*parts)]\n"


def _lines(term: ScoreTerm, code: _TermCode) -> list[str]:
    """Return the statements that append the contribution of a term."""
    missing = "return None" if term.gap is None else f"parts.append({list(term.gap)!a})"
    return [f"cell = {code.cell}", "if cell is None:", f"    {missing}", "else:", f"    parts.append({code.part})"]


@singledispatch
def _write(term: ScoreTerm, _table: str) -> _TermCode:
    """Return a term in Python; `table` is the name of its constant."""
    readers = {"number": _number_call, "date": _date_call}
    cell = readers[term.kind](term) if term.kind in readers else f"_word(row[{term.name!a}], ({term.value!a},))"
    return _TermCode("None", cell, "[0.0] * len(INTERCEPT)")


@_write.register
def _(term: NumberTerm, table: str) -> _TermCode:
    return _TermCode(ascii(list(term.weight)), _number_call(term), f"[weight * cell for weight in {table}]")


@_write.register
def _(term: BooleanTerm, table: str) -> _TermCode:
    cell = f"_truth(row[{term.name!a}], {table}[0], {table}[1])"
    constant = ascii((*boolean_words(term.words), list(term.weight)))
    return _TermCode(constant, cell, f"[weight * cell for weight in {table}[2]]")


@_write.register
def _(term: DateTerm, table: str) -> _TermCode:
    part = f"[weight * (cell - {term.origin!a}) for weight in {table}]"
    return _TermCode(ascii(list(term.weight)), _date_call(term), part)


@_write.register
def _(term: LevelTerm, table: str) -> _TermCode:
    levels = {word: list(weights) for word, weights in term.levels}
    return _TermCode(ascii(levels), f"_word(row[{term.name!a}], {table})", f"{table}.get(cell, {list(term.other)!a})")


@_write.register
def _(term: TextTerm, table: str) -> _TermCode:
    seen = term.encoding.seen
    idf = dict(zip(seen, term.encoding.idf, strict=True))
    constant = ascii((idf, dict(zip(seen, map(list, term.weights), strict=True))))
    words = f"_tf_idf(cell, {term.encoding.buckets!a}, {table}[0])"
    part = f"_weigh({words}, {table}[1], len(INTERCEPT))"
    return _TermCode(constant, f"_word(row[{term.name!a}])", part)


def _number_call(term: ScoreTerm) -> str:
    """Return the call that parses a number, with the training table's format."""
    form = FORMATS.get(term.format)
    format_argument = "" if form is None else f", {(form.left_off, form.decimal)!a}"
    return f"_number(row[{term.name!a}]{format_argument})"


def _date_call(term: ScoreTerm) -> str:
    """Return the call that parses a date, with the training table's format and the times that may follow."""
    forms = () if term.format in {"", ISO} else tuple(term.format + time for time in TIMES)
    return f"_days(row[{term.name!a}]{f', {forms!a}' if forms else ''})"
