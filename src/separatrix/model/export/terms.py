"""A model as a sum of terms, one per column, which every export writes in its own language.

    score_k = intercept_k + Σ over columns of the contribution of its cell to score k

A term has the contribution of a cell: `weight` times its number, or the weights of its level. `gap` is that of a
missing cell, None if a row with a missing cell has no score. Weights are tuples of K numbers, one per score. Columns
must have their types: an export parses no text into numbers or dates, and cleans words as `tables.formats.clean_word`
does. Scores agree with `predict` to 1e-12 of the sum of the absolute contributions: these are added in another order,
so the last bits of a large score differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.encode.base import ColumnEncoding
from separatrix.design.encode.columns import (
    BooleanEncoding,
    CategoryEncoding,
    DateEncoding,
    FilledEncoding,
    PresenceEncoding,
)
from separatrix.design.encode.text import TextEncoding
from separatrix.errors import OptionError, counted
from separatrix.model.record import Model

Weights = tuple[float, ...]


@dataclass(frozen=True)
class ScoreTerm:
    """The contribution of a column to the scores."""

    name: str
    gap: Weights | None
    kind: ClassVar[str]


@dataclass(frozen=True)
class NumberTerm(ScoreTerm):
    """`weight` · (number − origin); `centre` is a typical value of the cells. Infinite numbers count as missing."""

    weight: Weights
    centre: float
    origin: int = 0
    kind: ClassVar[str] = "number"


@dataclass(frozen=True)
class DateTerm(NumberTerm):
    """`weight` · (days since 1970-01-01 − origin)."""

    kind: ClassVar[str] = "date"


@dataclass(frozen=True)
class BooleanTerm(NumberTerm):
    """`weight` for the second of two words, 0 for the first."""

    words: tuple[str, str] = ("", "")
    kind: ClassVar[str] = "boolean"


@dataclass(frozen=True)
class LevelTerm(ScoreTerm):
    """The weights of each level, and `other` for an unknown level."""

    levels: Mapping[str, Weights]
    other: Weights
    kind: ClassVar[str] = "word"


@dataclass(frozen=True)
class TextTerm(ScoreTerm):
    """The weights (q, K) of the words of an encoding."""

    encoding: TextEncoding
    weights: tuple[Weights, ...]
    kind: ClassVar[str] = "text"


def terms_of(model: Model) -> tuple[ScoreTerm, ...]:
    """Return the terms of a model, without columns that contribute nothing, also if their cell is missing."""
    if model.kernel is not None:
        raise OptionError(
            f"the scores of {model.estimator} are kernel values of {counted(model.kernel.support, 'support vector')},"
            " not a sum over columns that could be exported; use its model file, or fit a linear model"
        )
    imputes, kinds = model.encoding.missing == "impute", model.kinds
    places = zip(model.encoding.columns, model.encoding.places, strict=True)
    parts = [(column, model.coef[:, place]) for column, place in places]
    return tuple(
        _term(column, coef, imputes, kinds[column.name]) for column, coef in parts if not imputes or coef.any()
    )


def column_types(terms: Sequence[ScoreTerm], types: Mapping[str, str]) -> list[str]:
    """Return sentences that say which columns are expected in which type, by the kind of their terms."""
    names = {kind: [ascii(term.name) for term in terms if term.kind == kind] for kind in types}
    return [f"{types[kind]}: {', '.join(columns)}" for kind, columns in names.items() if columns]


def _term(column: ColumnEncoding, coef: Floats, imputes: bool, kind: str) -> ScoreTerm:
    """Return the term of a column whose q features have the coefficients (K, q)."""
    name, first, gap = column.name, _tuple(coef[:, 0]), None
    if isinstance(column, FilledEncoding) and imputes:
        gap = _tuple(column.fill * coef[:, 0] + (coef[:, 1] if column.indicator else 0.0))
    match column:
        case BooleanEncoding():
            return BooleanTerm(name, gap, first, column.fill, words=column.words)
        case DateEncoding():
            return DateTerm(name, gap, first, column.fill + column.origin, column.origin)
        case FilledEncoding():
            return NumberTerm(name, gap, first, column.fill)
        case PresenceEncoding():
            return _presence_term(name, first if imputes else None, (0.0,) * len(coef), column.value, kind)
        case CategoryEncoding():
            levels = {word: _at(coef, place) for word, place in sorted(column.places.items())}
            gap = _at(coef, column.missing_place) if imputes else None
            return LevelTerm(name, gap, levels, _at(coef, column.other_place))
        case TextEncoding():
            q = len(column.seen)
            gap = _at(coef, q if column.indicator else -1) if imputes else None
            return TextTerm(name, gap, column, tuple(map(_tuple, coef[:, :q].T)))
    raise NotImplementedError(f"no term for {column.kind}")


def _presence_term(name: str, gap: Weights | None, nothing: Weights, value: str, kind: str) -> ScoreTerm:
    """Return the term of a column of which only missing cells contribute."""
    if kind in {"number", "date"}:
        return (NumberTerm if kind == "number" else DateTerm)(name, gap, nothing, 0.0)
    return LevelTerm(name, gap, {value: nothing}, nothing)


def _at(coef: Floats, place: int) -> Weights:
    """Return the coefficients of a feature, zeros if there is none."""
    return _tuple(coef[:, place] if place >= 0 else np.zeros(len(coef)))


def _tuple(numbers: Floats) -> Weights:
    return tuple(numbers.tolist())
