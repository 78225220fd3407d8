"""A likelihood with some columns left out: the rows that it tells something of, its space, and its supremum.

If the likelihood of all columns has a maximum, so has that of fewer. If it has none, that of fewer columns may have
one, or may separate fewer rows: that is decided anew, from the remaining columns. The pairs of a row and another class
that the remaining columns separate drop out, for all values of the coefficients left out. On the others, the likelihood
with the coefficients left out held at any values has a maximum, so that differences of suprema are those of maxima,
and their degrees of freedom are differences of ranks on these rows.

Cost: a pass for the ranks and one for each step of a fit; without a maximum, a copy of the remaining columns and a
search for a separating direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.design.build import make_design
from separatrix.design.rank import aliases_of_triangle, row_triangle
from separatrix.errors import DataError, SeparationError
from separatrix.inference.basis import count_passes
from separatrix.inference.eligibility import Refusal
from separatrix.inference.likelihood import LikelihoodFit
from separatrix.inference.mle import (
    LogLikelihood,
    Maximum,
    independent_columns,
    information_rank,
    limit_log_likelihood,
    maximise,
)
from separatrix.problem import Problem
from separatrix.separability.check import check_existence

MOST_ENTRIES = 2**26  # of columns that are copied


@dataclass(frozen=True)
class Restriction:
    """The likelihood on the rows that the kept columns do not separate, in the layout of the fit.

    `space` is a basis (m, k) of independent kept columns, `rank` that of all columns on these rows.
    """

    log_likelihood: LogLikelihood
    space: Floats
    rank: int

    @property
    def degrees_of_freedom(self) -> int:
        """The number of coefficients that the columns left out add."""
        return int(self.rank - self.space.shape[1])

    @cached_property
    def maximum(self) -> Maximum:
        """The maximum over the kept columns."""
        return maximise(self.log_likelihood, np.zeros(len(self.space)), self.space)


def restrict(fit: LikelihoodFit, dropped: Sequence[int]) -> Restriction | None:
    """Leave some columns, by index, out of a fit; None if the others separate the classes completely."""
    p, size = fit.problem.design.shape[1], len(fit.coef)
    kept = np.setdiff1d(np.arange(p), np.asarray(dropped, dtype=np.intp))
    centred, centre = fit.problem.centred()
    if fit.has_maximum:
        log_likelihood, columns, rank = LogLikelihood(centred), _independent(centred, centre, kept), fit.free
        flat = (np.arange(size // p)[:, np.newaxis] * p + columns).ravel()
    else:
        remaining = _remaining(fit, centred, kept)
        if remaining is None:
            return None
        log_likelihood, flat = remaining
        rank = information_rank(log_likelihood)
    restriction = Restriction(log_likelihood, embedding(flat, size, p, centre), rank)
    if not fit.has_maximum and information_rank(log_likelihood, restriction.space) < len(flat):
        raise DataError(Refusal.NEARLY_DEPENDENT())
    count_passes(fit.problem, centred.design)
    return restriction


def _independent(centred: Problem, centre: Floats, kept: Indices) -> Indices:
    """Return a maximal set of independent columns among those kept."""
    if not len(kept):
        return kept
    p = centred.design.shape[1]
    triangle = row_triangle(centred.design, centred.weights) @ embedding(kept, p, p, centre)
    with_ones = centred.design.virtual and kept[0] == 0
    return kept[aliases_of_triangle(triangle, centred.design.shape[0], bool(with_ones)).retained]


def _remaining(fit: LikelihoodFit, centred: Problem, kept: Indices) -> tuple[LogLikelihood, Indices] | None:
    """Return the likelihood on the rows that the kept columns do not separate, and independent flat coefficients."""
    design, p = fit.problem.design, fit.problem.design.shape[1]
    virtual = int(design.virtual and 0 in kept)
    if len(kept) == virtual:  # the intercept separates no classes
        return LogLikelihood(centred), np.arange(len(fit.coef)).reshape(-1, p)[:, kept].ravel()
    if design.shape[0] * len(kept) > MOST_ENTRIES:
        raise DataError(Refusal.TOO_LARGE(rows=design.shape[0], columns=len(kept)))
    columns = design.matvec(np.eye(p)[:, kept[virtual:]])
    own = replace(fit.problem, design=make_design(columns, intercept=bool(virtual)))
    existence = check_existence(own, tuple(range(len(fit.classes))))
    if existence.verdict == "separable":
        return None
    if existence.proof is None or existence.verdict == "undecided":
        raise SeparationError(Refusal.MAXIMUM_NOT_SHOWN())
    width = len(kept) * (len(fit.coef) // p)
    flat = independent_columns(existence.relations, width, len(kept), np.zeros(0))
    return limit_log_likelihood(centred, own, existence), flat // len(kept) * p + kept[flat % len(kept)]


def embedding(flat: Indices, size: int, p: int, centre: Floats) -> Floats:
    """Return some of the user's flat coefficients as directions of those of centred columns, (size, k)."""
    directions = np.zeros((size, len(flat)))
    directions[flat, np.arange(len(flat))] = 1.0
    if len(centre):
        for place, index in enumerate(flat.tolist()):
            intercept, column = index - index % p, index % p
            if column and intercept not in flat:  # with the intercept, the span is the same
                directions[intercept, place] = centre[column - 1]
    return directions
