"""Variance inflation: how much larger a coefficient's variance is than if its column had nothing to do with the others.

    GVIF of a term = det R_term · det (R⁻¹)_term,        R the correlations of the coefficients, intercept apart

which for one column is VIF = 1 / (1 − R²) of that column on the others. The root GVIF^(1/(2·columns)) compares terms
of several columns: it is the factor by which an interval is wider. Cost: O(p³), no pass over the rows.

Reference: Fox and Monette, Generalized collinearity diagnostics (1992).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import OptionError, did_you_mean
from separatrix.fit.least_squares import LeastSquaresFit

Terms = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Inflation:
    """A term, the names of its columns, its GVIF (VIF, of one column) and the factor by which intervals are wider."""

    term: str
    columns: tuple[str, ...]
    factor: float | None
    wider: float | None
    absent: str = ""


def variance_inflation(
    fit: LeastSquaresFit, names: Sequence[str], *, virtual: bool, terms: Terms | None = None
) -> tuple[Inflation, ...]:
    """Return the inflation of each term; a column that no term claims is a term of its own."""
    places = {name: place for place, name in enumerate(names) if place >= int(virtual)}
    grouped = _terms(places, terms or {})
    kept = [place for place in places.values() if place not in fit.aliased]
    if len(grouped) < 2 or not kept:
        return ()
    inverse = fit.inverse_gram[np.ix_(kept, kept)]
    spread = np.sqrt(np.diag(inverse))
    correlations = inverse / np.outer(spread, spread)
    inverted = np.linalg.inv(correlations)
    found = {place: at for at, place in enumerate(kept)}
    return tuple(
        _inflation(term, columns, [found.get(places[column]) for column in columns], correlations, inverted)
        for term, columns in grouped.items()
    )


def _inflation(
    term: str, columns: tuple[str, ...], places: list[int | None], correlations: Floats, inverted: Floats
) -> Inflation:
    kept = [place for place in places if place is not None]
    if len(kept) < len(places):
        lost = next(column for column, place in zip(columns, places, strict=True) if place is None)
        reason = f"{lost!r} depends on other columns, so that its coefficient has no variance; drop the column"
        return Inflation(term, columns, None, None, reason)
    own = np.ix_(kept, kept)
    factor = float(np.linalg.det(correlations[own]) * np.linalg.det(inverted[own]))
    return Inflation(term, columns, factor, factor ** (0.5 / len(kept)))


def _terms(places: Mapping[str, int], terms: Terms) -> dict[str, tuple[str, ...]]:
    """Return all terms in the order of their first columns, and refuse unknown columns and those claimed twice."""
    owner: dict[str, str] = {}
    for term, columns in terms.items():
        for column in columns:
            if column not in places:
                raise OptionError(f"terms[{term!r}] has {column!r}, which is no column{did_you_mean(column, places)}")
            if column in owner:
                raise OptionError(f"terms has {column!r} in {owner[column]!r} and in {term!r}; give it to one of them")
            owner[column] = term
    grouped: dict[str, tuple[str, ...]] = {}
    for column in places:
        term = owner.get(column, column)
        grouped.setdefault(term, tuple(terms[term]) if column in owner else (column,))
    return grouped
