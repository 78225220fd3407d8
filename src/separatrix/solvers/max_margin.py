"""The widest margin: the point of a convex hull nearest to 0 (Wolfe 1976), by constraint generation.

    γ = max_{‖w‖ = 1} minᵢ yᵢ w·xᵢ = min_{λ ≥ 0, Σλ = 1} ‖Σ λᵢ yᵢ xᵢ‖

The hull is that of the rows yᵢ xᵢ or, if the norm excludes the virtual column (`paired`), half the difference of the
two classes' hulls: then also Σ λᵢ yᵢ = 0. Every step has both bounds: the point u = Σ λᵢ yᵢ xᵢ gives w = u/‖u‖, whose
margin is a lower bound on γ, and ‖u‖, an upper bound. They agree at the optimum. If the hull contains 0, the upper
bound tends to 0: no w separates with a margin. A step finds the nearest point of the hull of a working set, in memory;
one pass over all rows then finds those with smaller margins, of which the lowest join the set.

Wolfe's algorithm keeps a corral: affinely independent vertices whose hull has the nearest point so far in its interior.
The vertex with the smallest product with that point enters, the point moves to the nearest point of the corral's affine
hull, and vertices met on the way are dropped. A QR factorisation of the columns (s, v), s the size of the vertices, is
updated as vertices come and go, and solves min ‖Σ aᵢ vᵢ‖² + s²(1 − Σ aᵢ)² over weights a.

Cost: one pass per step, and seldom more than ten steps; O(p k) for each vertex that enters a corral of k ≤ p + 1. For
designs of some thousand columns; wider ones are slow. It stalls, and says so, where floats no longer distinguish an
entering vertex from those in the corral.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import ClassVar

import numpy as np
import scipy.linalg

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.base import one_blas_thread
from separatrix.problem import Problem
from separatrix.solvers.base import IN_MEMORY, Needs, Step
from separatrix.solvers.halfspace_lp import lowest_rows, rows_within, spread_rows

WEIGHT_FLOOR = 1e-14  # smaller hull weights count as 0
INDEPENDENT = 1e-13  # relative to a new column: its least distance from the span of the others
REFRESH = 2000  # updates of a factorisation after which it is recomputed
CLOSED = 1e-15  # relative: a vertex with a product this little below the point's is optimal
VANISHED = 1e-15  # relative to the vertices: a point this near to 0 is 0
FIRST_ENTRIES, FIRST_ROWS = 2**18, 64  # of the first working set: most entries and fewest rows
JOINING_ENTRIES, JOINING_ROWS = 2**16, 64  # the same, of the rows that join per step
WITHOUT_PROGRESS = 4  # vertices that bring the point no nearer, at most
MAX_ENTERING = 100_000  # vertices tried on one working set


@dataclass
class Corral:
    """Vertices, their hull weights and the factorisation of their columns."""

    scale: float
    labels: list[Hashable] = field(default_factory=list)
    vertices: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    weights: Floats = field(default_factory=lambda: np.zeros(0))
    q: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    r: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    changes: int = 0

    @property
    def point(self) -> Floats:
        return np.asarray(self.weights @ self.vertices)

    def enter(self, label: Hashable, vertex: Floats) -> bool:
        """Add a vertex and move to the hull's nearest point; False, with no change, if rounding prevents it."""
        if not self.labels:
            self.labels, self.vertices, self.weights = [label], vertex[np.newaxis].copy(), np.ones(1)
            self._factor()
            return True
        if label in self.labels or len(self.labels) > len(vertex) or not self._append(vertex):
            return False
        self.labels.append(label)
        self.vertices = np.vstack([self.vertices, vertex])
        self.weights = np.append(self.weights, 0.0)
        self._move_to_nearest()
        return True

    def _move_to_nearest(self) -> None:
        """Move to the nearest point of the affine hull, dropping the vertices whose weights reach 0."""
        while True:
            target = self._affine_weights()
            vanishing = target <= WEIGHT_FLOOR
            if len(target) == 1 or not vanishing.any():
                self.weights = target
                return
            ratios = self.weights[vanishing] / np.maximum(self.weights[vanishing] - target[vanishing], WEIGHT_FLOOR)
            moved = self.weights + min(1.0, float(ratios.min())) * (target - self.weights)
            leaving = vanishing & (moved <= WEIGHT_FLOOR)
            leaving[np.flatnonzero(vanishing)[int(ratios.argmin())]] = True
            self._drop(leaving, moved)

    def _affine_weights(self) -> Floats:
        """Return weights, with sum 1 and any signs, of the affine hull's nearest point; refined once."""
        weights = self._solve(self.scale * self.q[0])
        residual = np.append(self.scale * (1.0 - weights.sum()), -(weights @ self.vertices))
        weights = weights + self._solve(self.q.T @ residual)
        return np.asarray(weights / weights.sum())

    def _solve(self, right: Floats) -> Floats:
        return np.asarray(scipy.linalg.solve_triangular(self.r, right, check_finite=False))

    def _append(self, vertex: Floats) -> bool:
        """Add a column to the factorisation, unless it depends on the others."""
        column = np.append(self.scale, vertex)
        inside = self.q.T @ column
        rest = column - self.q @ inside
        again = self.q.T @ rest
        rest -= self.q @ again
        length = float(np.linalg.norm(rest))
        if length <= INDEPENDENT * float(np.linalg.norm(column)):
            return False
        k = len(self.labels)
        r = np.zeros((k + 1, k + 1))
        r[:k, :k], r[:k, k], r[k, k] = self.r, inside + again, length
        self.q, self.r = np.column_stack([self.q, rest / length]), r
        self.changes += 1
        return True

    def _drop(self, leaving: Bools, weights: Floats) -> None:
        staying = np.flatnonzero(~leaving)
        for place in np.flatnonzero(leaving)[::-1].tolist():
            q, r = scipy.linalg.qr_delete(self.q, self.r, place, which="col", overwrite_qr=True)
            self.q, self.r = (
                np.asarray(q[:, : r.shape[1]], dtype=np.float64),
                np.asarray(r[: r.shape[1]], dtype=np.float64),
            )
            self.changes += 1
        self.labels = [self.labels[place] for place in staying]
        self.vertices, self.weights = self.vertices[staying], weights[staying] / weights[staying].sum()
        if self.changes > REFRESH:
            self._factor()

    def _factor(self) -> None:
        columns = np.column_stack([np.full(len(self.labels), self.scale), self.vertices])
        self.q, self.r = np.linalg.qr(columns.T)
        self.changes = 0


@dataclass(frozen=True)
class MaxMargin:
    """Wolfe's nearest-point algorithm on working sets of rows, each times its label.

    With `paired` the margin is measured without the virtual column, whose weight is free.
    """

    paired: bool = False

    needs: ClassVar[Needs] = IN_MEMORY

    def steps(self, problem: Problem, start: None = None) -> Iterator[Step]:  # noqa: ARG002  # it has only one start
        """Yield one step per pass; facts: the bounds on γ, their relative gap, whether no more rows can join."""
        design, y = problem.design, problem.y
        first = spread_rows(y, rows_within(design.shape[1], FIRST_ENTRIES, FIRST_ROWS))
        with one_blas_thread():
            hull = _Hull(problem, first, paired=self.paired)
        for steps in count(1):
            with one_blas_thread():
                hull.descend()
            point = hull.corral.point
            upper = float(np.linalg.norm(point))
            margins = y * design.matvec(hull.coef(point, 0.0))
            least, offset = hull.least_margin(margins)
            lower = least / upper if upper > 0.0 else 0.0
            gap = (upper - lower) / upper if upper > 0.0 else 0.0
            joining = hull.lowest(margins, rows_within(design.shape[1], JOINING_ENTRIES, JOINING_ROWS))
            facts = {"steps": steps, "lower": lower, "upper": upper, "gap": gap, "rows": len(hull.rows)}
            facts["stalled"] = int(not len(joining))
            yield Step(hull.coef(point, offset), facts, hull.row_weights(len(y)))
            if len(joining):
                hull.join(joining, problem)


class _Hull:
    """The polytope of a working set: the hull of the rows times their labels or, paired, of half the differences."""

    def __init__(self, problem: Problem, first: Indices, *, paired: bool) -> None:
        self.y, self.paired, self.leading = problem.y, paired, int(paired and problem.design.virtual)
        self.rows, self.points = first, self._points(first, problem)
        norms = np.einsum("ij,ij->i", self.points, self.points)
        self.corral = Corral(float(np.sqrt(norms.max())) or 1.0)
        self.corral.enter(*self._vertex(norms))

    def join(self, rows: Indices, problem: Problem) -> None:
        self.points = np.vstack([self.points, self._points(rows, problem)])
        self.rows = np.append(self.rows, rows)

    def _points(self, rows: Indices, problem: Problem) -> Floats:
        return np.asarray(problem.design.take(rows)[:, self.leading :] * self.y[rows, np.newaxis])

    def descend(self) -> None:
        nearest, idle = np.inf, 0
        for _ in range(MAX_ENTERING):
            point = self.corral.point
            square = float(point @ point)
            idle = 0 if square < nearest else idle + 1
            nearest = min(nearest, square)
            if idle == WITHOUT_PROGRESS:
                return
            label, vertex = self._vertex(self.points @ point)
            if square - float(vertex @ point) <= CLOSED * square or square <= (VANISHED * self.corral.scale) ** 2:
                return
            if not self.corral.enter(label, vertex):
                return

    def _vertex(self, products: Floats) -> tuple[tuple[int, ...], Floats]:
        """Return the vertex with the least product, after its places in the working set, given the rows' products."""
        if not self.paired:
            place = int(products.argmin())
            return (place,), self.points[place]
        positive = self.y[self.rows] > 0.0
        pair = (int(np.where(positive, products, np.inf).argmin()), int(np.where(positive, np.inf, products).argmin()))
        return pair, 0.5 * (self.points[pair[0]] + self.points[pair[1]])

    def coef(self, point: Floats, offset: float) -> Floats:
        """Return a point as coefficients, with the virtual column's offset first if the norm excludes it."""
        return np.append(np.full(self.leading, offset), point)

    def least_margin(self, margins: Floats) -> tuple[float, float]:
        """Return the least margin, paired at the best offset, and that offset."""
        if not self.paired:
            return float(margins.min()), 0.0
        positive = self.y > 0.0
        above, below = float(margins[positive].min()), float(margins[~positive].min())
        return 0.5 * (above + below), 0.5 * (below - above)

    def lowest(self, margins: Floats, most: int) -> Indices:
        """Return at most `most` rows with margins below all of the working set's, per label if paired."""
        groups = [self.y > 0.0, self.y < 0.0] if self.paired else [np.ones(len(margins), dtype=bool)]
        return np.concatenate([lowest_rows(margins, group, self.rows, most // len(groups)) for group in groups])

    def row_weights(self, n: int) -> Floats:
        """Return λ, one weight per row, with sum 1."""
        weights = np.zeros(n)
        for label, weight in zip(self.corral.labels, self.corral.weights.tolist(), strict=True):
            places = np.asarray(label)
            weights[self.rows[places]] += weight / len(places)
        return weights
