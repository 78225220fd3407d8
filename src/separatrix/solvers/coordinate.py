"""Coordinate descent for L1 and elastic net, with working sets and a duality gap at every step.

    P(w) = Σ sᵢ loss(xᵢ·w, yᵢ) / Σ sᵢ + Σⱼ weightⱼ · ( absolute·|wⱼ| + quadratic/2 · wⱼ² )

A quadratic loss with few columns is reduced to its covariances, which serve a whole path of strengths. Other losses
with a curvature use proximal Newton steps on working sets (`working_set`). Both minimise an L1-penalised quadratic
(`l1_quadratic`). Where Gram matrices have too few digits, Newton steps on the nonzero coefficients end the descent
(`active_set`). Without any penalty it still descends, but there is no dual point, so `excess` is inf.

Covariances, after eliminating the free coefficients, and the gap at the dual point t·α, α the slopes at w:

    loss(w) = loss(0) + g·w + ½ wᵗ G w,        G = Σ sᵢ xᵢ xᵢᵗ / Σ sᵢ,        v = −(g + G w)
    gap(t) = (1 − t)² loss(w) + penalty(w) + penalty*(t·v) − t·w·v

The rounding error of the gradient, at most ε (Σⱼ |wⱼ| √Gⱼⱼ)² before the elimination, is added to the gap. If it is too
large, or the loss is far below loss(0), working sets continue from the data.

Cost: p² products per row once, then O(p) per changed coordinate. Fails for losses without curvature, and on designs
that are only streamed.
References: Friedman, Hastie and Tibshirani, Regularization paths for generalized linear models via coordinate descent
(2010); Lee, Sun and Saunders, Proximal Newton-type methods (2014); Johnson and Guestrin, Blitz (2015).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from separatrix.arrays import EPSILON, Bools, Floats
from separatrix.design.build import row_radius
from separatrix.design.columns import ColumnStore, column_store
from separatrix.loops.coordinate import L1Penalty
from separatrix.problem import Problem
from separatrix.solvers.active_set import newton_steps
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.l1_quadratic import Elimination, GramModel, pseudo_inverse, violation
from separatrix.solvers.working_set import (
    INSIDE,
    GramCache,
    WorkingSetDescent,
    WorkingSetProgress,
    has_constant_curvature,
)

REDUCTION = 0.001  # violation at the end of a step, relative to its start
SMALL_LOSS = 1e-5  # relative to the loss at 0: a smaller loss has too few digits
SMALL_ROUNDING = 1e-10  # relative to the objective: the largest rounding error of the gap
STALLED = 2  # steps without progress, after which other steps are tried
LONG = 100  # steps, after which other steps are tried
COVARIANCE_COLUMNS = 1500  # up to which the Gram matrix of all columns is computed


@dataclass(frozen=True)
class Covariances:
    """A quadratic loss after eliminating the free coefficients, which are `free_coef` if the others are 0.

    `lengths` are the root mean squares of the other columns before that, which the rounding errors are relative to.
    """

    eliminated: Elimination
    loss: float
    free_coef: Floats
    penalised: Bools
    lengths: Floats

    @cached_property
    def spectrum(self) -> tuple[Floats, Floats]:
        """The eigenvalues and eigenvectors of the quadratic, from which a ridge of any strength follows."""
        values, vectors = np.linalg.eigh(self.eliminated.gram)
        return np.maximum(values, 0.0), vectors

    def ridge_coef(self, quadratic: float) -> Floats:
        """Return the penalised coefficients that minimise the quadratic with a ridge."""
        values, vectors = self.spectrum
        return np.asarray(-vectors @ ((vectors.T @ self.eliminated.gradient) / (values + quadratic)))

    @classmethod
    def of(cls, problem: Problem, store: ColumnStore) -> Covariances:
        penalised = problem.penalty_weights > 0.0
        share = problem.shares
        columns, free = store.take(np.arange(len(penalised))), store.take(np.flatnonzero(~penalised))
        _, slope, curvature = problem.loss.expand(np.zeros(len(share)), problem.y, 2)
        inverse = pseudo_inverse(free.gram(share * curvature))
        free_coef = -inverse @ free.transposed_times(share * slope)
        value, slope, curvature = problem.loss.expand(free.times(free_coef), problem.y, 2)
        gradient = store.correlate(share * slope, columns.indices)
        gram = columns.gram(share * curvature)
        if not np.isfinite(np.diag(gram)).all():
            row_radius(problem.design)  # raises an error that names the entry that is not finite
        eliminated = Elimination.of(gram, gradient, ~penalised)
        lengths = np.sqrt(np.diag(gram)[penalised])
        return cls(eliminated, float(share @ value), free_coef, penalised, lengths)

    def all_coef(self, coef: Floats) -> Floats:
        """Return all coefficients, given the penalised ones: the free ones are optimal."""
        joined = np.empty(len(self.penalised))
        joined[self.penalised] = coef
        joined[~self.penalised] = self.free_coef + self.eliminated.free_change(coef)
        return joined


def covariance_steps(problem: Problem, covariances: Covariances, start: Floats) -> Generator[Step, None, Floats]:
    """Yield the iterates of descent on the covariances; return the last one when rounding errors become too large."""
    eliminated, weights = covariances.eliminated, problem.penalty_weights[covariances.penalised]
    absolute, quadratic = problem.penalty.absolute, problem.penalty.quadratic
    l1 = L1Penalty(absolute * weights, quadratic * weights, weights * (absolute if absolute > 0.0 else 1.0))
    direct = quadratic > 0.0 and absolute == 0.0
    coef = covariances.ridge_coef(quadratic) if direct else start[covariances.penalised]
    gradient, progress = eliminated.gradient + eliminated.gram @ coef, WorkingSetProgress()
    while True:
        loss = covariances.loss + 0.5 * float((eliminated.gradient + gradient) @ coef)
        value = float(l1.threshold @ np.abs(coef)) + 0.5 * float(l1.ridge @ (coef * coef))
        all_coef = covariances.all_coef(coef)
        rounding, objective = EPSILON * float(np.abs(coef) @ covariances.lengths) ** 2, loss + value
        if loss < SMALL_LOSS * covariances.loss or rounding > SMALL_ROUNDING * objective:
            return all_coef
        excess = _gap(problem, l1, coef, gradient, loss, value) + rounding
        yield Step(all_coef, progress.facts(objective, excess, int(np.count_nonzero(coef))))
        tolerance = REDUCTION * float(violation(coef, gradient, l1).max())
        GramModel(eliminated.gram, gradient, coef, l1).minimise(tolerance)


def _gap(problem: Problem, l1: L1Penalty, coef: Floats, gradient: Floats, loss: float, value: float) -> float:
    """Return the least gap over scales of the dual point; inf without a penalty."""
    absolute, quadratic = problem.penalty.absolute, problem.penalty.quadratic
    product = -float(coef @ gradient)
    slope = np.abs(gradient + l1.ridge * coef if quadratic > 0.0 else gradient)
    ratio = float((slope / l1.scale).max(initial=0.0)) if absolute > 0.0 else 0.0
    feasible = INSIDE / ratio if ratio > 0.0 else 1.0
    if quadratic == 0.0:
        scale = min(feasible, 1.0 + product / (2.0 * loss) if loss > 0.0 else 1.0)
        return max((1.0 - scale) ** 2 * loss + value - scale * product, 0.0) if absolute > 0.0 else np.inf
    gaps = []
    for scale in {1.0, min(feasible, 1.0)}:
        excess = np.maximum(scale * np.abs(gradient) - l1.threshold, 0.0)
        conjugate = 0.5 * float(np.sum(excess * (excess / l1.ridge)))
        gaps.append((1.0 - scale) ** 2 * max(loss, 0.0) + value + conjugate - scale * product)
    return max(min(gaps), 0.0)


class _DataFacts:
    """Results that depend on the data only, computed once: columns, their covariances, norms, cached products."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.store = problem, column_store(problem.design)
        self.gram = GramCache(self.store)

    @cached_property
    def covariances(self) -> Covariances:
        return Covariances.of(self.problem, self.store)

    @cached_property
    def column_norms(self) -> Floats:
        return np.sqrt(self.store.squares(self.problem.shares))


class Memory:
    """The facts of the last data, shared by runs with different penalties on them."""

    def __init__(self) -> None:
        self._facts: _DataFacts | None = None

    def facts(self, problem: Problem) -> _DataFacts:
        known = self._facts and self._facts.problem
        same = known and all(
            getattr(known, name) is getattr(problem, name) for name in ("design", "y", "loss", "weights")
        )
        if self._facts is None or not same:
            self._facts = _DataFacts(problem)
        return self._facts


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
        """Yield one step per working set, or per descent on the covariances, from a start (None: zeros).

        Where these stall or take long, Newton steps on the nonzero coefficients follow.
        """
        facts = (self.memory or Memory()).facts(problem)
        coef = problem.zero_coef() if start is None else np.array(start, dtype=np.float64)
        for number, step in enumerate(_descents(problem, facts, coef)):
            if step.facts["stalled"] >= STALLED or number == LONG:
                yield from newton_steps(problem, facts.column_norms, step.coef)
            yield step


def _descents(problem: Problem, facts: _DataFacts, coef: Floats) -> Iterator[Step]:
    """Yield the steps of descent on the covariances, if they serve, and then of working sets."""
    if has_constant_curvature(problem.loss) and len(coef) <= COVARIANCE_COLUMNS:
        coef = yield from covariance_steps(problem, facts.covariances, coef)
    yield from WorkingSetDescent(problem, facts.store, coef, facts.column_norms, facts.gram).descend()
