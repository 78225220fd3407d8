"""Coordinate descent for L1 and elastic net, with working sets and a duality gap at every step.

    P(w) = Σ sᵢ loss(xᵢ·w, yᵢ) / Σ sᵢ + Σⱼ weightⱼ · ( absolute·|wⱼ| + quadratic/2 · wⱼ² )

A quadratic loss with few columns is held by its covariances (`covariance`): one pass for all of a path of strengths.
Any other loss with a curvature, one score a row or one a class, goes by proximal Newton steps on working sets
(`working_set`). Both minimise the same kind of quadratic with kinks (`kinked`). Columns' units do not matter to the
steps, only to the penalty. Without any penalty it still descends, but there is no dual point, so `excess` is inf.

References: Friedman, Hastie and Tibshirani, Regularization paths for generalized linear models via coordinate descent
(2010); Lee, Sun and Saunders, Proximal Newton-type methods (2014); Johnson and Guestrin, Blitz (2015).
Cost: see there. Fails for losses without curvature, and on designs that only stream.

Coordinate descent on a quadratic loss by its covariances: one pass for the Gram matrix, none after.

    loss(w) = loss(0) + g·w + ½ wᵗ G w,        G = Σ sᵢ xᵢ xᵢᵗ / Σ sᵢ        (coefficients of weight 0 eliminated)

Objective and gap follow from G, g and w alone. With the dual point t·α, α the slopes at w and v = −(g + G w):

    gap(t) = (1 − t)² loss(w) + penalty(w) + penalty*(t·v) − t·w·v

What the gradient loses by rounding, at most ε (Σⱼ |wⱼ| √Gⱼⱼ)², is added to the gap. Where that is too much, or the loss
so far below loss(0) that their difference has few digits, the walk ends, and another must go on from the data.

Cost: p² products a row, once; then O(p) a coordinate changed. Memory p².
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from separatrix.arrays import EPSILON, Bools, Floats
from separatrix.design.build import row_radius
from separatrix.design.columns import ColumnStore, column_store
from separatrix.loops.coordinate import L1Penalty
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.iterate import row_shares
from separatrix.solvers.l1_quadratic import Elimination, GramModel, pseudo_inverse, violation
from separatrix.solvers.working_set import INSIDE, GramCache, WorkingSetProgress, WorkingSetWalk, has_constant_curvature

EASING = 0.001  # of the violation at the start of a step: what is left when it ends
SMALL_LOSS = 1e-5  # of the loss at 0: too small for a difference
SMALL_ROUNDING = 1e-10  # of the objective: what rounding may add to the gap


@dataclass(frozen=True)
class Covariances:
    """A quadratic loss: at coefficients 0 but for the free ones, which are at their best there (`settled`)."""

    eliminated: Elimination
    loss: float
    settled: Floats
    penalised: Bools

    @classmethod
    def of(cls, problem: Problem, store: ColumnStore) -> Covariances:
        """Compute them, in two passes."""
        penalised = problem.penalty_weights > 0.0
        share = row_shares(problem)
        columns, free = store.take(np.arange(len(penalised))), store.take(np.flatnonzero(~penalised))
        _, slope, curvature = problem.loss.expand(np.zeros(len(share)), problem.y, 2)
        inverse = pseudo_inverse(free.gram(share * curvature))
        settled = -inverse @ free.transposed_times(share * slope)
        value, slope, curvature = problem.loss.expand(free.times(settled), problem.y, 2)
        gradient = store.correlate(share * slope, columns.indices)
        gram = columns.gram(share * curvature)
        if not np.isfinite(np.diag(gram)).all():
            row_radius(problem.design)  # refuses data that are not finite, with their place
        eliminated = Elimination.of(gram, gradient, ~penalised)
        return cls(eliminated, float(share @ value), settled, penalised)

    def whole(self, coef: Floats) -> Floats:
        """Return all coefficients for those that are penalised: the free ones at their best."""
        joined = np.empty(len(self.penalised))
        joined[self.penalised] = coef
        joined[~self.penalised] = self.settled + self.eliminated.follow_up(coef)
        return joined


def covariance_walk(problem: Problem, covariances: Covariances, start: Floats) -> Generator[Step, None, Floats]:
    """Yield where descent stands, and go on, for as long as asked; return where digits begin to lack."""
    eliminated, weights = covariances.eliminated, problem.penalty_weights[covariances.penalised]
    absolute, quadratic = problem.penalty.absolute, problem.penalty.quadratic
    kinks = L1Penalty(absolute * weights, quadratic * weights, weights * (absolute if absolute > 0.0 else 1.0))
    coef = start[covariances.penalised]
    gradient, progress = eliminated.gradient + eliminated.gram @ coef, WorkingSetProgress()
    spread = np.sqrt(np.diag(eliminated.gram))
    while True:
        loss = covariances.loss + 0.5 * float((eliminated.gradient + gradient) @ coef)
        value = float(kinks.threshold @ np.abs(coef)) + 0.5 * float(kinks.ridge @ (coef * coef))
        whole = covariances.whole(coef)
        rounding, objective = EPSILON * float(np.abs(coef) @ spread) ** 2, loss + value
        if loss < SMALL_LOSS * covariances.loss or rounding > SMALL_ROUNDING * objective:
            return whole
        excess = _gap(problem, kinks, coef, gradient, loss, value) + rounding
        yield Step(whole, progress.facts(objective, excess, int(np.count_nonzero(coef))))
        tolerance = EASING * float(violation(coef, gradient, kinks).max())
        GramModel(eliminated.gram, gradient, coef, kinks).minimise(tolerance)


def _gap(problem: Problem, kinks: L1Penalty, coef: Floats, gradient: Floats, loss: float, value: float) -> float:
    """Return the least gap over scales of the dual point; inf without a penalty."""
    absolute, quadratic = problem.penalty.absolute, problem.penalty.quadratic
    agreement = -float(coef @ gradient)
    slope = np.abs(gradient + kinks.ridge * coef if quadratic > 0.0 else gradient)
    ratio = float((slope / kinks.scale).max(initial=0.0)) if absolute > 0.0 else 0.0
    fitting = INSIDE / ratio if ratio > 0.0 else 1.0
    if quadratic == 0.0:
        scale = min(fitting, 1.0 + agreement / (2.0 * loss) if loss > 0.0 else 1.0)
        return max((1.0 - scale) ** 2 * loss + value - scale * agreement, 0.0) if absolute > 0.0 else np.inf
    gaps = []
    for scale in {1.0, min(fitting, 1.0)}:
        beyond = np.maximum(scale * np.abs(gradient) - kinks.threshold, 0.0)
        conjugate = 0.5 * float(np.sum(beyond * (beyond / kinks.ridge)))
        gaps.append((1.0 - scale) ** 2 * max(loss, 0.0) + value + conjugate - scale * agreement)
    return max(min(gaps), 0.0)


Fact = TypeVar("Fact")
COVARIANCE_COLUMNS = 1500  # up to which the Gram matrix of all columns is formed


class Memory:
    """What one run learns of its data that the next, of another penalty on the same data, need not learn again."""

    def __init__(self) -> None:
        self._data: tuple[Any, ...] = ()
        self._facts: dict[str, Any] = {}

    def store(self, problem: Problem) -> ColumnStore:
        """Return the columns of the design."""
        return self._recall(problem, "store", lambda: column_store(problem.design))

    def covariances(self, problem: Problem) -> Covariances:
        """Return the covariances of a quadratic loss."""
        store = self.store(problem)
        return self._recall(problem, "covariances", lambda: Covariances.of(problem, store))

    def column_norms(self, problem: Problem) -> Floats:
        """Return the root of the weighted mean of each column's squares."""
        store = self.store(problem)
        return self._recall(problem, "norms", lambda: np.sqrt(store.squares(row_shares(problem))))

    def gram(self, problem: Problem) -> GramCache:
        """Return the products of columns met so far."""
        store = self.store(problem)
        return self._recall(problem, "gram", lambda: GramCache(store))

    def _recall(self, problem: Problem, name: str, learn: Callable[[], Fact]) -> Fact:
        data = (problem.design, problem.y, problem.loss, problem.weights)
        if len(self._data) != len(data) or any(old is not new for old, new in zip(self._data, data, strict=True)):
            self._data, self._facts = data, {}
        if name not in self._facts:
            self._facts[name] = learn()
        fact: Fact = self._facts[name]
        return fact


@dataclass(frozen=True)
class Coordinate:
    """Coordinate descent; runs that share a `memory` compute Gram matrix and column norms once."""

    memory: Memory | None = field(default=None, compare=False, repr=False)

    needs: ClassVar[Needs] = Needs(
        curvature=True,
        column_access=True,
        otherwise={
            "curvature": "Use a loss that has one: SquaredHinge, Logistic.",
            "column_access": "Hold the data in memory, as an array or a sparse matrix (CSC; CSR is rearranged once).",
        },
    )

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        """Walk from a start (zeros if None): a working set, or a descent by covariances, a step."""
        memory = self.memory or Memory()
        coef = problem.zero_coef() if start is None else np.array(start, dtype=np.float64)
        if has_constant_curvature(problem.loss) and len(coef) <= COVARIANCE_COLUMNS:
            coef = yield from covariance_walk(problem, memory.covariances(problem), coef)
        store, norms, gram = memory.store(problem), memory.column_norms(problem), memory.gram(problem)
        yield from WorkingSetWalk(problem, store, coef, norms, gram).walk()
