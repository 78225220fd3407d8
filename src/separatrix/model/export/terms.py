"""A model as a sum of terms, one a column, which every export writes down in its own language.

    score_k = intercept_k + Σ over columns of (what its cell adds to score k)

A term holds what a cell adds: `weight` times its number, or the weights of its level; `gap` is what a missing cell
adds, None where a row with a missing cell has no score. Weights are tuples of K numbers, one a score. Every language
cleans words as `tables.missing.clean_word` does. A score equals that of `predict` to 1e-12 of the sum of the sizes of
its parts: they are added in another order, so the last bits of a large score differ.
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
from separatrix.model.record import Model

Weights = tuple[float, ...]


@dataclass(frozen=True)
class ScoreTerm:
    """What a column adds to the scores; of this class itself, only whether it is missing: its `value` is not.

    `kind` is that of the column in the training table, `format` how its numbers or dates were written there.
    """

    name: str
    gap: Weights | None
    value: str | None = field(default=None, kw_only=True)
    kind: str = field(default="category", kw_only=True)
    format: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class NumberTerm(ScoreTerm):
    """`weight` · (number − origin); `centre` is a number near which the cells are."""

    weight: Weights
    centre: float
    origin: int = 0


@dataclass(frozen=True)
class BooleanTerm(NumberTerm):
    """`weight` for the second of two words, nothing for the first."""

    words: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class DateTerm(NumberTerm):
    """`weight` · (days since 1970-01-01 − origin)."""


@dataclass(frozen=True)
class LevelTerm(ScoreTerm):
    """The weights of each level, and `other` of a level that is not among them."""

    levels: tuple[tuple[str, Weights], ...]
    other: Weights


@dataclass(frozen=True)
class TextTerm(ScoreTerm):
    """The weights (q, K) of the words of an encoding."""

    encoding: TextEncoding
    weights: tuple[Weights, ...]


def terms_of(model: Model) -> tuple[ScoreTerm, ...]:
    """Return the terms of a model; columns that add nothing are left out, if a missing cell adds nothing either."""
    fills = model.encoding.missing == "impute"
    kinds, formats = model.kinds, model.formats
    parts = zip(model.encoding.columns, model.encoding.places, strict=True)
    return tuple(
        replace(
            _term(column, model.coef[:, place], fills), kind=kinds[column.name], format=formats.get(column.name, "")
        )
        for column, place in parts
        if _counts(model, place)
    )


def _counts(model: Model, place: slice) -> bool:
    return model.encoding.missing != "impute" or bool(model.coef[:, place].any())


@singledispatch
def _term(column: ColumnEncoding, coef: Floats, fills: bool) -> ScoreTerm:
    """Return the term of a column whose features have coefficients (K, its features)."""
    raise NotImplementedError(f"no term for {column.kind}")


@_term.register
def _(column: FilledEncoding, coef: Floats, fills: bool) -> ScoreTerm:
    return NumberTerm(column.name, _gap(column, coef, fills), _tuple(coef[:, 0]), column.fill)


@_term.register
def _(column: BooleanEncoding, coef: Floats, fills: bool) -> ScoreTerm:
    return BooleanTerm(column.name, _gap(column, coef, fills), _tuple(coef[:, 0]), column.fill, words=column.words)


@_term.register
def _(column: DateEncoding, coef: Floats, fills: bool) -> ScoreTerm:
    gap, centre = _gap(column, coef, fills), column.fill + column.origin
    return DateTerm(column.name, gap, _tuple(coef[:, 0]), centre, column.origin)


@_term.register
def _(column: PresenceEncoding, coef: Floats, fills: bool) -> ScoreTerm:
    return ScoreTerm(column.name, _tuple(coef[:, 0]) if fills else None, value=column.value)


@_term.register
def _(column: CategoryEncoding, coef: Floats, fills: bool) -> ScoreTerm:
    levels = tuple((word, _at(coef, place)) for word, place in sorted(column.places.items()))
    gap = _at(coef, column.missing_place) if fills else None
    return LevelTerm(column.name, gap, levels, _at(coef, column.other_place))


@_term.register
def _(column: TextEncoding, coef: Floats, fills: bool) -> ScoreTerm:
    q = len(column.seen)
    gap = _at(coef, q if column.indicator else -1) if fills else None
    return TextTerm(column.name, gap, column, tuple(map(_tuple, coef[:, :q].T)))


def _gap(column: FilledEncoding, coef: Floats, fills: bool) -> Weights | None:
    if not fills:
        return None
    return _tuple(column.fill * coef[:, 0] + (coef[:, 1] if column.indicator else 0.0))


def _at(coef: Floats, place: int) -> Weights:
    """Return the coefficients of a feature, zeros for none."""
    return _tuple(coef[:, place] if place >= 0 else np.zeros(len(coef)))


def _tuple(numbers: Floats) -> Weights:
    return tuple(numbers.tolist())
