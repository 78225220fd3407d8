"""The dual of a support vector machine in a kernel's feature space, by blocks of rows solved densely.

    min ½ βᵀKβ − y·β     over Σβ = 0,  0 ≤ yᵢβᵢ ≤ Cᵢ,      Cᵢ = sᵢ / (strength · Σs), infinite for a hard margin

A step takes the most violated rows, and those of the last block that are inside their bounds. Their kernel rows are
computed together, the block is solved pair by pair, and the gradient Kβ − y of all rows is updated. With the best
intercept b every step knows its gap, row by row and without cancellation: P − D = Σ Cᵢ max(0, 1 − mᵢ) − |βᵢ|(1 − mᵢ),
m = y(Kβ + b); for a hard margin, bounds on the widest margin from both sides. Once kernel rows no longer fit the cache,
rows firmly at their bounds are left out (shrinking); no gap is reported before all rows have been checked again.

Cost: a step computes at most `block` kernel rows, and reads as many. It stalls, and says so, where rounding errors
decide which pair to move. A kernel that is not an inner product raises an error that names two rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from separatrix.arrays import EPSILON, Floats, Ints
from separatrix.design.kernel_matrix import KernelRows
from separatrix.errors import DataError
from separatrix.jit import WorkGate
from separatrix.loops.dual import add_kernel_rows, solve_block
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step

INNER_STEPS = 100  # per row of a block, at most
INNER_PART = 0.1  # share of a block's violation that may remain
EVEN = 1e-12  # relative to the total weight: sums of weights that are equal up to rounding
ENDED = 64 * EPSILON  # relative to the gradient: smaller violations are rounding errors
NEGATIVE = 1e-6  # relative to the diagonal: more negative squared distances are no rounding errors
SHRINK_EVERY = 8  # steps


class KernelDualState:
    """The state of a run: the kernel rows, the point β (n,) with its bounds, and the gradient Kβ − y."""

    def __init__(self, rows: KernelRows, signs: Floats, caps: Floats) -> None:
        self.rows, self.signs, self.caps = rows, signs, caps
        self.low, self.high = np.where(signs > 0.0, 0.0, -caps), np.where(signs > 0.0, caps, 0.0)
        self.point = np.zeros(len(signs))
        self.gradient = -signs
        self.intercept = 0.0


class KernelIterate(NamedTuple):
    """The objective (times strength) of a point, its relative gap, and lower and upper bounds on the margin."""

    objective: float
    gap: float
    lower: float
    upper: float


def middle_intercept(places: Floats, weights: Floats, wanted: float) -> float:
    """Return the middle of the intercepts that minimise a weighted sum of hinges with kinks at `places`.

    The slope in the intercept changes at each place by its weight; it is 0 once the weights passed are `wanted`.
    """
    order = np.argsort(places)
    passed = np.cumsum(weights[order])
    slack = EVEN * passed[-1]
    first, last = np.searchsorted(passed, wanted - slack), np.searchsorted(passed, wanted + slack, side="right")
    ends = order[np.minimum([first, last], len(order) - 1)]
    return float(places[ends].mean())


@dataclass(frozen=True)
class KernelDual:
    """Blocks of at most `block` rows; the start contains the kernel."""

    block: int = 512

    needs: ClassVar[Needs] = Needs(target=frozenset({"labels"}), losses=frozenset({"hinge"}), random_rows=True)

    def steps(self, problem: Problem, start: KernelDualState) -> Iterator[Step]:
        descent = _BlockDescent(self.block, problem, start)
        while True:
            yield descent.step()


class _BlockDescent:
    def __init__(self, block: int, problem: Problem, state: KernelDualState) -> None:
        self.state, self.problem = state, problem
        self.strength = problem.penalty.quadratic
        self.hard = not np.isfinite(state.caps).all()
        self.size = min(block, len(state.signs), state.rows.capacity)
        self.active: Ints | None = None  # None: all
        self.previous: Ints = np.empty(0, dtype=np.int64)
        self.gate = WorkGate(("kernel dual",))
        self.check_distances = not state.rows.kernel.is_inner_product
        self.count, self.iterate = 0, KernelIterate(np.inf, np.inf, 0.0, np.inf)

    def step(self) -> Step:
        """Solve a block; if the remaining rows are solved after shrinking, restore the others."""
        computed, state = self.state.rows.computed, self.state
        self.count += 1
        if state.rows.full and self.active is None and self.count % SHRINK_EVERY == 0:
            self._shrink()
        moved = self._solve(self._next_block())
        if self.active is not None and (not moved or self._local_gap() <= self.iterate.gap * INNER_PART):
            self._unshrink()
            moved = True
        if self.active is None:
            self.iterate = self._measure()
        self.problem.design.count_visits((state.rows.computed - computed > 0) * len(state.signs))
        facts = {**self.iterate._asdict(), "stalled": int(not moved), "steps": self.count}
        facts |= {"support": int(np.count_nonzero(state.point)), "kernel_rows": state.rows.computed}
        return Step(state.point, facts, dual=state.point)

    def _next_block(self) -> Ints:
        """Return the rows of the next block: the most violated ones, then those of the last inside their bounds."""
        state, active = self.state, self.active
        own = np.arange(len(state.signs)) if active is None else active
        point, gradient = state.point[own], state.gradient[own]
        rising, falling = own[point < state.high[own]], own[point > state.low[own]]
        if len(own) <= self.size:
            return own
        part = max(1, self.size // 4)
        up = _first(rising, gradient[point < state.high[own]], part)
        down = _first(falling, -gradient[point > state.low[own]], part)
        last = self.previous[np.isin(self.previous, own)]
        support = last[state.point[last] != 0.0]
        inside = (state.point[support] > state.low[support]) & (state.point[support] < state.high[support])
        return _distinct([up, down, support[inside], support[~inside], last], self.size)

    def _solve(self, working: Ints) -> bool:
        """Solve a block, and tell whether anything changed."""
        state, rows = self.state, self.state.rows
        slots = rows.fetch(working)
        matrix = rows.table[np.ix_(slots, rows.position(working))]
        if self.check_distances:
            self._refuse_negative(matrix, working)
        point, gradient = state.point[working], state.gradient[working]
        low, high = state.low[working], state.high[working]
        rising, falling = gradient[point < high], gradient[point > low]
        violation = float(falling.max() - rising.min()) if len(rising) and len(falling) else 0.0
        if violation <= ENDED * max(1.0, float(np.abs(gradient).max())):
            return False
        size = len(working)
        solve = self.gate.choose(solve_block, INNER_STEPS * size * size)
        solve(matrix, gradient, point, low, high, INNER_PART * violation, INNER_STEPS * size)
        change = point - state.point[working]
        state.point[working] = point
        whole = state.gradient if rows.columns is None else state.gradient[rows.columns]
        add = self.gate.choose(add_kernel_rows, size * len(whole))
        add(rows.table, slots, change, whole)
        if rows.columns is not None:
            state.gradient[rows.columns] = whole
        self.previous = working
        return bool(change.any())

    def _measure(self) -> KernelIterate:
        """Return the objective and the gap of the point, given all gradients."""
        state, signs = self.state, self.state.signs
        scores = state.gradient + signs
        squared = max(float(state.point @ scores), 0.0)
        if self.hard:
            return self._measure_margin(scores, squared)
        state.intercept = middle_intercept(signs - scores, state.caps, float(state.caps[signs > 0.0].sum()))
        shortfall = 1.0 - signs * (scores + state.intercept)
        primal = 0.5 * squared + float(state.caps @ np.maximum(shortfall, 0.0))
        gap = float((state.caps * np.maximum(shortfall, 0.0) - np.abs(state.point) * shortfall).sum())
        relative = max(gap, 0.0) / max(primal, np.finfo(np.float64).tiny)
        return KernelIterate(self.strength * primal, relative, 0.0, np.inf)

    def _measure_margin(self, scores: Floats, squared: float) -> KernelIterate:
        """Return the bounds on the margin: the point's own halfspace, and the distance of its hulls."""
        positive, total = self.state.signs > 0.0, float(np.abs(self.state.point).sum())
        above, below = float(scores[positive].min()), float(scores[~positive].max())
        self.state.intercept = -(above + below) / 2.0
        norm = float(np.sqrt(squared))
        if not (norm > 0.0 and total > 0.0):
            return KernelIterate(np.inf, np.inf, 0.0, 0.0 if total > 0.0 else np.inf)
        lower, upper = (above - below) / 2.0 / norm, norm / total
        objective = 1.0 / lower if lower > 0.0 else np.inf
        return KernelIterate(objective, max(upper - lower, 0.0) / upper, lower, upper)

    def _local_gap(self) -> float:
        state, own = self.state, self.active
        if self.hard:
            return np.inf
        point, gradient = state.point[own], state.gradient[own]
        rising, falling = gradient[point < state.high[own]], gradient[point > state.low[own]]
        shortfall = -state.signs[own] * (gradient - (rising.min() + falling.max()) / 2.0)
        gap = float((state.caps[own] * np.maximum(shortfall, 0.0) - np.abs(point) * shortfall).sum())
        return gap * self.strength / self.iterate.objective

    def _shrink(self) -> None:
        state = self.state
        rising, falling = state.point < state.high, state.point > state.low
        least, most = state.gradient[rising].min(), state.gradient[falling].max()
        stays = (~rising & (state.gradient < least)) | (~falling & (state.gradient > most))
        if stays.any() and not stays.all():
            self.active = np.flatnonzero(~stays)
            state.rows.restrict(self.active)
            self.previous = self.previous[~stays[self.previous]]

    def _unshrink(self) -> None:
        """Restore the rows left out, with recomputed gradients."""
        state, left_out = self.state, np.ones(len(self.state.signs), dtype=bool)
        left_out[self.active] = False
        restored = np.flatnonzero(left_out)
        state.gradient[restored] = state.rows.times(state.point, restored) - state.signs[restored]
        state.rows.restrict(None)
        self.active, self.count = None, self.count + 1

    def _refuse_negative(self, matrix: Floats, working: Ints) -> None:
        """Raise an error for a block in which two rows have a negative squared distance."""
        diagonal = np.diag(matrix)
        sizes = np.abs(diagonal)[:, np.newaxis] + np.abs(diagonal)
        squares = np.add.outer(diagonal, diagonal) - 2.0 * matrix
        place = int(np.argmin(squares + NEGATIVE * sizes))
        i, j = divmod(place, len(working))
        if squares[i, j] < -NEGATIVE * sizes[i, j]:
            raise DataError(
                f"the kernel is not an inner product: rows {working[i]} and {working[j]} are at the squared distance"
                f" {squares[i, j]:.6g}; choose other parameters, or a kernel that is positive semidefinite"
            )


def _first(rows: Ints, sizes: Floats, count: int) -> Ints:
    """Return the `count` rows of least size."""
    if len(rows) <= count:
        return rows
    return rows[np.argpartition(sizes, count)[:count]]


def _distinct(groups: list[Ints], count: int) -> Ints:
    """Return the first `count` distinct rows, group by group."""
    every = np.concatenate(groups)
    _, first = np.unique(every, return_index=True)
    return every[np.sort(first)][:count]
