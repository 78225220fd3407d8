"""A model as a sum of terms, one per column, which every export writes in its own language.

    score_k = intercept_k + Σ over columns of the contribution of its cell to score k

A term has the contribution of a cell: `weight` times its number, or the weights of its level. `gap` is that of a
missing cell, None if a row with a missing cell has no score. Weights are tuples of K numbers, one per score. Every
export cleans strings as `tables.formats.clean_word` does. Scores agree with `predict` to 1e-12 of the sum of the
absolute contributions: these are added in another order, so the last bits of a large score differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import singledispatch

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
    """The contribution of a column to the scores; in this base class, only that of a missing cell.

    `value` is the only level of the column, which never counts as missing. `kind` and `format` are those of the column
    in the training table.
    """

    name: str
    gap: Weights | None
    value: str | None = field(default=None, kw_only=True)
    kind: str = field(default="category", kw_only=True)
    format: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class NumberTerm(ScoreTerm):
    """`weight` · (number − origin); `centre` is a typical value of the cells."""

    weight: Weights
    centre: float
    origin: int = 0


@dataclass(frozen=True)
class BooleanTerm(NumberTerm):
    """`weight` for the second of two words, 0 for the first."""

    words: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class DateTerm(NumberTerm):
    """`weight` · (days since 1970-01-01 − origin)."""


@dataclass(frozen=True)
class LevelTerm(ScoreTerm):
    """The weights of each level, and `other` for an unknown level."""

    levels: tuple[tuple[str, Weights], ...]
    other: Weights


@dataclass(frozen=True)
class TextTerm(ScoreTerm):
    """The weights (q, K) of the words of an encoding."""

    encoding: TextEncoding
    weights: tuple[Weights, ...]


def terms_of(model: Model) -> tuple[ScoreTerm, ...]:
    """Return the terms of a model, without columns that contribute nothing, also if their cell is missing."""
    if model.kernel is not None:
        raise OptionError(
            f"the scores of {model.estimator} are kernel values of {counted(model.kernel.support, 'support vector')},"
            " not a sum over columns that could be exported; use its model file, or fit a linear model"
        )
    imputes = model.encoding.missing == "impute"
    kinds, formats = model.kinds, model.formats
    parts = zip(model.encoding.columns, model.encoding.places, strict=True)
    return tuple(
        replace(
            _term(column, model.coef[:, place], imputes), kind=kinds[column.name], format=formats.get(column.name, "")
        )
        for column, place in parts
        if not imputes or model.coef[:, place].any()
    )


@singledispatch
def _term(column: ColumnEncoding, coef: Floats, imputes: bool) -> ScoreTerm:
    """Return the term of a column whose q features have the coefficients (K, q)."""
    raise NotImplementedError(f"no term for {column.kind}")


@_term.register
def _(column: FilledEncoding, coef: Floats, imputes: bool) -> ScoreTerm:
    return NumberTerm(column.name, _gap(column, coef, imputes), _tuple(coef[:, 0]), column.fill)


@_term.register
def _(column: BooleanEncoding, coef: Floats, imputes: bool) -> ScoreTerm:
    return BooleanTerm(column.name, _gap(column, coef, imputes), _tuple(coef[:, 0]), column.fill, words=column.words)


@_term.register
def _(column: DateEncoding, coef: Floats, imputes: bool) -> ScoreTerm:
    gap, centre = _gap(column, coef, imputes), column.fill + column.origin
    return DateTerm(column.name, gap, _tuple(coef[:, 0]), centre, column.origin)


@_term.register
def _(column: PresenceEncoding, coef: Floats, imputes: bool) -> ScoreTerm:
    return ScoreTerm(column.name, _tuple(coef[:, 0]) if imputes else None, value=column.value)


@_term.register
def _(column: CategoryEncoding, coef: Floats, imputes: bool) -> ScoreTerm:
    levels = tuple((word, _at(coef, place)) for word, place in sorted(column.places.items()))
    gap = _at(coef, column.missing_place) if imputes else None
    return LevelTerm(column.name, gap, levels, _at(coef, column.other_place))


@_term.register
def _(column: TextEncoding, coef: Floats, imputes: bool) -> ScoreTerm:
    q = len(column.seen)
    gap = _at(coef, q if column.indicator else -1) if imputes else None
    return TextTerm(column.name, gap, column, tuple(map(_tuple, coef[:, :q].T)))


def _gap(column: FilledEncoding, coef: Floats, imputes: bool) -> Weights | None:
    if not imputes:
        return None
    return _tuple(column.fill * coef[:, 0] + (coef[:, 1] if column.indicator else 0.0))


def _at(coef: Floats, place: int) -> Weights:
    """Return the coefficients of a feature, zeros if there is none."""
    return _tuple(coef[:, place] if place >= 0 else np.zeros(len(coef)))


def _tuple(numbers: Floats) -> Weights:
    return tuple(numbers.tolist())
