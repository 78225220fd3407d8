"""The widest margin through the origin: the nearest point to 0 of the convex hull of the rows yᵢ xᵢ (Wolfe 1976).

    γ = max_{‖w‖ = 1} minᵢ yᵢ w·xᵢ = min_{λ ≥ 0, Σλ = 1} ‖Σ λᵢ yᵢ xᵢ‖

Every step has both sides: the point u = Σ λᵢ yᵢ xᵢ gives w = u/‖u‖, whose margin is a lower bound on γ, and ‖u‖, an
upper bound. They meet at the optimum. If the hull holds 0 the upper bound goes to 0: no w separates with a margin.

Cost: one pass a step; a small dense system of the rows that support u. Usually a few steps more than support rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step

__all__ = ["MaxMargin"]

Floats = NDArray[np.float64]
WEIGHT_FLOOR = 1e-12  # a hull weight below this is none


@dataclass(frozen=True)
class MaxMargin:
    """Wolfe's nearest-point algorithm on the rows, each times its label."""

    needs: ClassVar[Needs] = Needs(
        target=frozenset({"labels"}),
        random_rows=True,
        no_penalty=True,
        otherwise={"random_rows": "Hold the rows in memory, as an array or a sparse matrix."},
    )

    def steps(self, problem: Problem, start: None = None) -> Iterator[Step]:  # noqa: ARG002  # it has only one start
        """Walk, a pass a step; facts: the bounds on γ, their relative gap, whether floats go no further."""
        design, y = problem.design, problem.y
        support = np.array([int(np.argmin(design.squared_norms()))])
        corral = design.take(support) * y[support, np.newaxis]
        hull_weights = np.ones(1)
        for steps in count(1):
            point = hull_weights @ corral
            margins = y * design.matvec(point)
            norm = float(np.linalg.norm(point))
            entering = int(np.argmin(margins))
            lower = float(margins[entering]) / norm if norm > 0.0 else 0.0
            gap = (norm - lower) / norm if norm > 0.0 else 0.0
            stalled = int(steps > 1 and entering in support)
            yield Step(point, {"steps": steps, "lower": lower, "upper": norm, "gap": gap, "stalled": stalled})
            if entering not in support:
                support = np.append(support, entering)
                corral = np.vstack([corral, design.take([entering]) * y[entering]])
                hull_weights = np.append(hull_weights, 0.0)
            kept, hull_weights = _nearest_in_hull(corral, hull_weights)
            support, corral = support[kept], corral[kept]


def _nearest_in_hull(corral: Floats, weights: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Return which rows stay and their weights, at the point of their hull nearest to 0 (Wolfe's minor cycle)."""
    kept = np.arange(len(corral))
    while True:
        affine = _nearest_in_affine_hull(corral[kept])
        if (affine > WEIGHT_FLOOR).all() or len(kept) == 1:
            return kept, affine
        falling = affine <= WEIGHT_FLOOR
        steps = weights[falling] / np.maximum(weights[falling] - affine[falling], WEIGHT_FLOOR)
        weights = weights + min(1.0, float(steps.min())) * (affine - weights)
        staying = weights > WEIGHT_FLOOR
        if staying.all():
            staying[np.flatnonzero(falling)[np.argmin(steps)]] = False
        kept, weights = kept[staying], weights[staying] / weights[staying].sum()


def _nearest_in_affine_hull(corral: Floats) -> Floats:
    """Return weights of sum 1 (any sign) of the point nearest to 0 in the affine hull of the rows."""
    base, rest = corral[0], corral[1:] - corral[0]
    if not len(rest):
        return np.ones(1)
    free = np.linalg.lstsq(rest.T, -base, rcond=None)[0]
    return np.concatenate([[1.0 - free.sum()], free])
