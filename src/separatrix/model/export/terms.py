"""A model as a sum of terms, one per column, which every export writes in its own language.

    score_k = intercept_k + Σ over columns of the contribution of its cell to score k

Weights are tuples of K numbers, one per score. Columns must have their types: an export parses no text into numbers or
dates, and cleans words as `tables.formats.clean_word` does. Scores agree with `predict` to 1e-12 of the sum of the
absolute contributions: these are added in another order, so the last bits of a large score differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.encode.base import ColumnEncoding
from separatrix.design.encode.columns import CategoryEncoding, FilledEncoding, PresenceEncoding
from separatrix.design.encode.text import TextEncoding
from separatrix.errors import OptionError, counted
from separatrix.model.record import Model

Weights = tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class ScoreTerm:
    """The contribution of a column, by the kind of its cells; `gap` is that of a missing cell, None if it has no score.

        number     weight · number; infinite numbers are missing
        date       weight · (days since 1970-01-01 − origin)
        boolean    weight for the second of two `words`, 0 for the first
        word       the weights of its level; `weight` if it is unknown
        text       Σ over buckets of words of the tf-idf, by `idf`, times the weights of the bucket

    `centre` is a typical number.
    """

    name: str
    kind: Literal["number", "date", "boolean", "word", "text"]
    gap: Weights | None
    weight: Weights = ()
    centre: float = 0.0
    origin: int = 0
    words: tuple[str, ...] = ()
    levels: Mapping[Any, Weights] = field(default_factory=dict)
    idf: Mapping[int, float] = field(default_factory=dict)
    buckets: int = 0


def terms_of(model: Model) -> tuple[ScoreTerm, ...]:
    """Return the terms of a model, without columns that contribute nothing, also if their cell is missing."""
    if model.kernel is not None:
        raise OptionError(
            f"the scores of {model.estimator} are kernel values of {counted(model.kernel.support, 'support vector')},"
            " not a sum over columns that could be exported; use its model file, or fit a linear model"
        )
    imputes, kinds = model.encoding.missing != "error", model.kinds
    places = zip(model.encoding.columns, model.encoding.places, strict=True)
    parts = [(column, model.coef[:, place]) for column, place in places]
    return tuple(
        _term(column, coef, imputes, kinds[column.name]) for column, coef in parts if not imputes or coef.any()
    )


def column_types(terms: Sequence[ScoreTerm], types: Mapping[str, str]) -> list[str]:
    """Return sentences that say which columns are expected in which type, by the kind of their terms."""
    names = {kind: [ascii(term.name) for term in terms if term.kind == kind] for kind in types}
    return [f"{types[kind]}: {', '.join(columns)}" for kind, columns in names.items() if columns]


def _term(column: ColumnEncoding, coef: Floats, imputes: bool, kind: Any) -> ScoreTerm:
    """Return the term of a column of some kind in training, whose q features have the coefficients (K, q)."""

    def weights(place: int) -> Weights:
        return tuple((coef[:, place] if place >= 0 else np.zeros(len(coef))).tolist())

    def made(kind: Any, gap: Weights, **parts: Any) -> ScoreTerm:
        return ScoreTerm(name=column.name, kind=kind, gap=gap if imputes else None, **parts)

    match column:
        case FilledEncoding():
            gap = column.fill * coef[:, 0] + (coef[:, 1] if column.indicator else 0.0)
            origin, words = getattr(column, "origin", 0), getattr(column, "words", ())
            parts = {"centre": column.fill + origin, "origin": origin, "words": words}
            return made(column.kind, tuple(gap.tolist()), weight=weights(0), **parts)
        case PresenceEncoding():  # only missing cells contribute
            if kind in {"number", "date"}:
                return made(kind, weights(0), weight=weights(-1))
            return made("word", weights(0), weight=weights(-1), levels={column.value: weights(-1)})
        case CategoryEncoding():
            levels = {word: weights(place) for word, place in sorted(column.places.items())}
            return made("word", weights(column.missing_place), weight=weights(column.other_place), levels=levels)
        case TextEncoding():
            buckets = {bucket: weights(place) for place, bucket in enumerate(column.seen)}
            idf = dict(zip(column.seen, column.idf, strict=True))
            missing = weights(len(buckets) if column.indicator else -1)
            return made("text", missing, levels=buckets, idf=idf, buckets=column.buckets)
    raise NotImplementedError(f"no term for {column.kind}")
