"""Interior-point method for the hinge loss: few columns, in any units, with or without a penalty.

    minimise ½ wᵗΛw + Σ sᵢ ξᵢ    subject to    tᵢ = yᵢ xᵢ·w − 1 + ξᵢ ≥ 0,  ξᵢ ≥ 0        (s sums to 1, Λ the penalty's)

With the multipliers q of the first constraints and 1 − q of the second, a solution has Λw = Σ sᵢ qᵢ yᵢ xᵢ, q·t = 0 and
(1 − q)·ξ = 0. Newton's method follows the central path q·t = (1 − q)·ξ = μ as μ decreases to 0 (Mehrotra's predictor
and corrector). Eliminating all unknowns except w leaves

    (Λ + Σ sᵢ cᵢ xᵢ xᵢᵗ) Δw = …,        c = 1 / (t/q + ξ/(1 − q))

one weighted Gram matrix per step (Ferris and Munson 2002). It is affine invariant except for the penalty. The
multipliers are a dual point, so the duality gap is known.

Cost: five passes per step, one of them with n·p² operations, and p³ for the solve; 15 to 45 steps on any data. Not for
many columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Block, add_each
from separatrix.design.build import row_radius
from separatrix.numerics import semidefinite_solver
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step

INSIDE = 1.0  # distance of the first point from the boundary, in margins
PATIENCE = 10  # steps without a smaller gap, which need not decrease far from the solution
FLOOR = 1e-24  # of μ, in margins, where rounding stops further progress
BOUNDARY = 0.995  # share of the distance to the boundary that a step may take


@dataclass(frozen=True)
class InteriorPoint:
    """Mehrotra's predictor-corrector method on the hinge's quadratic program."""

    needs: ClassVar[Needs] = Needs(
        target=frozenset({"labels"}),
        losses=frozenset({"hinge"}),
        smooth_penalty=True,
        otherwise={
            "target": "Use Newton or LBFGS.",
            "losses": "Use Newton, or LBFGS.",
            "smooth_penalty": "Use an L2 penalty.",
        },
    )

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        """Yield the best iterate so far, every five passes; facts: its duality gap as excess."""
        path = _CentralPath(problem, problem.zero_coef() if start is None else np.array(start, dtype=np.float64))
        best, stalled = path.step(), 0
        while True:
            yield replace(best, facts={**best.facts, "stalled": max(stalled - PATIENCE, 0)})
            path.advance()
            if path.excess < best.facts["excess"]:
                best, stalled = path.step(), 0
            else:
                stalled += 1


class _Change(NamedTuple):
    """A step of the coefficients, the margins, the multipliers, and the shortfalls ξ."""

    coef: Floats
    margins: Floats
    q: Floats
    shortfall: Floats

    @property
    def slack(self) -> Floats:
        return np.asarray(self.margins + self.shortfall)


class _CentralPath:
    """An interior point: t and ξ positive, q between 0 and 1."""

    def __init__(self, problem: Problem, coef: Floats) -> None:
        self.problem, self.coef, self.y = problem, coef, problem.y
        self.shares = problem.shares
        self.penalty = problem.penalty.curvature(problem.penalty_weights)
        self.margins = self.y * problem.design.matvec(coef)
        if not np.isfinite(self.margins).all():
            row_radius(problem.design)  # raises an error that names the entry that is not finite
        self.shortfall = np.maximum(1.0 - self.margins, 0.0) + INSIDE
        self.q = np.full(len(self.y), 0.5)
        self.rest = 1.0 - self.q  # stored separately, since it would lose digits where q is near 1
        self.dual_coef = problem.dual_coef(-self.y * self.q)

    def step(self) -> Step:
        return Step(self.coef, {"objective": self.value, "excess": self.excess}, -self.y * np.minimum(self.q, 1.0))

    @property
    def slack(self) -> Floats:
        """The slacks t: each margin plus its shortfall, less 1."""
        return np.asarray(self.margins - 1.0 + self.shortfall)

    @property
    def centrality(self) -> float:
        """The mean of q·t and (1 − q)·ξ, which all equal μ on the path."""
        return float(self.shares @ (self.q * self.slack + self.rest * self.shortfall)) / 2.0

    @property
    def value(self) -> float:
        loss = float(self.shares @ np.maximum(1.0 - self.margins, 0.0))
        return loss + self.problem.penalty.value(self.coef, self.problem.penalty_weights)

    @property
    def excess(self) -> float:
        """The gap: that of the rows, of penalty and conjugate, and of the free columns."""
        rows = float(self.shares @ (np.maximum(1.0 - self.margins, 0.0) - self.q * (1.0 - self.margins)))
        free = self.problem.free
        mismatch = (self.penalty * self.coef - self.dual_coef)[~free]
        free_error = float(np.abs(self.dual_coef[free] * self.coef[free]).sum())
        return max(rows, 0.0) + float((mismatch * mismatch / self.penalty[~free]).sum()) / 2.0 + free_error

    def advance(self) -> None:
        """Take one step: the predictor, which aims at μ = 0, gives the next μ and the second-order correction."""
        if self.centrality < FLOOR or self.slack.min() <= 0.0:  # rounding errors have left the interior
            return
        c = 1.0 / (self.slack / self.q + self.shortfall / self.rest)
        residual_margins, centring = 1.0 - self.margins, 1.0 / self.q - 1.0 / self.rest
        rows = (self.shares * c, self.y * residual_margins)
        gram, weighted_sum = self.problem.design.fold(_newton_sums, rows=rows, combine=add_each)
        residual, solve = self.penalty * self.coef - self.dual_coef, semidefinite_solver(gram + np.diag(self.penalty))
        predicted = self._change(solve(weighted_sum - residual), c, residual_margins, -self.shortfall)
        target = self._target(predicted)
        second_order = predicted.q * predicted.shortfall / self.rest
        residual_margins = residual_margins - predicted.q * predicted.slack / self.q - second_order + target * centring
        right = self.problem.design.rmatvec(self.shares * c * self.y * residual_margins) - residual
        shortfall_change = second_order - self.shortfall + target / self.rest
        self._take(self._change(solve(right), c, residual_margins, shortfall_change))

    def _change(self, coef: Floats, c: Floats, residual_margins: Floats, shortfall_change: Floats) -> _Change:
        """Complete a change of the coefficients: the margins in one pass, q from them, the shortfalls from q."""
        margins = self.y * self.problem.design.matvec(coef)
        q = c * (residual_margins - margins)
        return _Change(coef, margins, q, shortfall_change + self.shortfall * q / self.rest)

    def _target(self, predicted: _Change) -> float:
        """Return the next μ: the cube of the share that the predictor would leave of the present mean."""
        length = self._longest(predicted)
        q, slack = self.q + length * predicted.q, self.slack + length * predicted.slack
        shortfall = self.shortfall + length * predicted.shortfall
        predicted_mean = float(self.shares @ (q * slack + (self.rest - length * predicted.q) * shortfall)) / 2.0
        return self.centrality * (predicted_mean / self.centrality) ** 3

    def _longest(self, change: _Change) -> float:
        """Return the share of a step, at most 1, that stays in the interior."""
        return min(
            1.0,
            _reach(self.slack, change.slack),
            _reach(self.shortfall, change.shortfall),
            _reach(self.q, change.q),
            _reach(self.rest, -change.q),
        )

    def _take(self, change: _Change) -> None:
        length = BOUNDARY * self._longest(change)
        self.coef = self.coef + length * change.coef
        self.margins = self.margins + length * change.margins
        self.q, self.rest = self.q + length * change.q, self.rest - length * change.q
        self.shortfall = self.shortfall + length * change.shortfall
        self.dual_coef = self.problem.dual_coef(-self.y * self.q)  # updating it by the change would accumulate rounding


def _reach(values: Floats, change: Floats) -> float:
    """Return how many times `change` can be added before an entry is 0."""
    decreasing = change < 0.0
    return float((-values[decreasing] / change[decreasing]).min(initial=np.inf))


def _newton_sums(block: Block, weights: Floats, residual_margins: Floats) -> tuple[Floats, ...]:
    return block.gram(weights), block.rmatvec(weights * residual_margins)
