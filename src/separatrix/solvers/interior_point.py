"""An interior-point method for the hinge loss: few columns, in any units, with or without a penalty.

    minimise ½ wᵗΛw + Σ sᵢ ξᵢ    subject to    tᵢ = yᵢ xᵢ·w − 1 + ξᵢ ≥ 0,  ξᵢ ≥ 0        (s sums to 1, Λ the penalty's)

With the multipliers q of the first constraints and 1 − q of the second, a solution has Λw = Σ sᵢ qᵢ yᵢ xᵢ, q·t = 0 and
(1 − q)·ξ = 0. Newton's method is followed along q·t = (1 − q)·ξ = μ as μ falls to 0 (Mehrotra's predictor and
corrector); eliminating all but w leaves

    (Λ + Σ sᵢ cᵢ xᵢ xᵢᵗ) Δw = …,        c = 1 / (t/q + ξ/(1 − q))

one weighted Gram matrix a step (Ferris and Munson 2002). Affine invariant but for the penalty: units of columns and
collinear rows, on which coordinate descent creeps, cost nothing. The multipliers are a dual point, so the gap is known.

Cost: five passes a step, one of them of n·p² operations, and p³ for the solve; 15 to 45 steps, whatever the data.
Not for many columns.
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

INSIDE = 1.0  # how far the first point lies inside, in margins
PATIENCE = 10  # steps without a smaller gap: far from the solution it need not fall
FLOOR = 1e-24  # of μ, in margins: below, floats go no further
BOUNDARY = 0.995  # of the way to the boundary that a step may go


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
        """Walk, five passes a step, each at the best point so far; facts: the gap there as excess."""
        path = _Path(problem, problem.zero_coef() if start is None else np.array(start, dtype=np.float64))
        best, stalled = path.step(), 0
        while True:
            yield replace(best, facts={**best.facts, "stalled": max(stalled - PATIENCE, 0)})
            path.advance()
            if path.excess < best.facts["excess"]:
                best, stalled = path.step(), 0
            else:
                stalled += 1


class _Change(NamedTuple):
    """A step: of the coefficients, the margins, the multipliers, and the shortfalls ξ."""

    coef: Floats
    margins: Floats
    q: Floats
    shortfall: Floats

    @property
    def slack(self) -> Floats:
        """The change of t."""
        return np.asarray(self.margins + self.shortfall)


class _Path:
    """A point inside: t and ξ above 0, q between 0 and 1."""

    def __init__(self, problem: Problem, coef: Floats) -> None:
        self.problem, self.coef, self.y = problem, coef, problem.y
        weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
        self.shares = weights / problem.total_weight
        self.penalty = problem.penalty.curvature(problem.penalty_weights)
        self.margins = self.y * problem.design.matvec(coef)
        if not np.isfinite(self.margins).all():
            row_radius(problem.design)  # refuses data that are not finite, with their place
        self.shortfall = np.maximum(1.0 - self.margins, 0.0) + INSIDE
        self.q = np.full(len(self.y), 0.5)
        self.rest = 1.0 - self.q  # kept beside q, so that its digits are not lost where q is near 1
        self.made = problem.dual_coef(-self.y * self.q)

    def step(self) -> Step:
        """Return the coefficients and multipliers as they are, with the objective and the gap."""
        return Step(self.coef, {"objective": self.value, "excess": self.excess}, -self.y * np.minimum(self.q, 1.0))

    @property
    def slack(self) -> Floats:
        """How far each margin and its shortfall together are above 1."""
        return np.asarray(self.margins - 1.0 + self.shortfall)

    @property
    def centrality(self) -> float:
        """The mean of q·t and (1 − q)·ξ, which are all μ on the path."""
        return float(self.shares @ (self.q * self.slack + self.rest * self.shortfall)) / 2.0

    @property
    def value(self) -> float:
        """P at the coefficients."""
        loss = float(self.shares @ np.maximum(1.0 - self.margins, 0.0))
        return loss + self.problem.penalty.value(self.coef, self.problem.penalty_weights)

    @property
    def excess(self) -> float:
        """The gap: what each row adds, what coefficients and multipliers disagree by, and what free columns are off."""
        rows = float(self.shares @ (np.maximum(1.0 - self.margins, 0.0) - self.q * (1.0 - self.margins)))
        free = self.problem.free
        apart = (self.penalty * self.coef - self.made)[~free]
        off = float(np.abs(self.made[free] * self.coef[free]).sum())
        return max(rows, 0.0) + float((apart * apart / self.penalty[~free]).sum()) / 2.0 + off

    def advance(self) -> None:
        """Take one step: where μ = 0 would lead tells how far to lower μ, and what Newton's method leaves out."""
        if self.centrality < FLOOR or self.slack.min() <= 0.0:  # rounding has taken it outside
            return
        c = 1.0 / (self.slack / self.q + self.shortfall / self.rest)
        towards, centring = 1.0 - self.margins, 1.0 / self.q - 1.0 / self.rest
        rows = (self.shares * c, self.y * towards)
        gram, pulled = self.problem.design.fold(_newton_sums, rows=rows, combine=add_each)
        residual, solve = self.penalty * self.coef - self.made, semidefinite_solver(gram + np.diag(self.penalty))
        predicted = self._change(solve(pulled - residual), c, towards, -self.shortfall)
        target = self._target(predicted)
        bent = predicted.q * predicted.shortfall / self.rest
        towards = towards - predicted.q * predicted.slack / self.q - bent + target * centring
        right = self.problem.design.rmatvec(self.shares * c * self.y * towards) - residual
        short = bent - self.shortfall + target / self.rest
        self._take(self._change(solve(right), c, towards, short))

    def _change(self, coef: Floats, c: Floats, towards: Floats, short: Floats) -> _Change:
        """Complete a change of the coefficients: the margins in a pass, q from them, the shortfalls from q."""
        margins = self.y * self.problem.design.matvec(coef)
        q = c * (towards - margins)
        return _Change(coef, margins, q, short + self.shortfall * q / self.rest)

    def _target(self, predicted: _Change) -> float:
        """Return the μ to aim at: the cube of what the predictor would leave of the mean of q·t and (1 − q)·ξ."""
        length = self._longest(predicted)
        q, slack = self.q + length * predicted.q, self.slack + length * predicted.slack
        shortfall = self.shortfall + length * predicted.shortfall
        then = float(self.shares @ (q * slack + (self.rest - length * predicted.q) * shortfall)) / 2.0
        return self.centrality * (then / self.centrality) ** 3

    def _longest(self, change: _Change) -> float:
        """Return the part of a step, at most all, that stays inside."""
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
        self.made = self.problem.dual_coef(-self.y * self.q)  # not from the change, which rounding parts from it


def _reach(here: Floats, by: Floats) -> float:
    """Return how many times `by` can be added before an entry is 0."""
    falling = by < 0.0
    return float((-here[falling] / by[falling]).min(initial=np.inf))


def _newton_sums(block: Block, weights: Floats, towards: Floats) -> tuple[Floats, ...]:
    return block.gram(weights), block.rmatvec(weights * towards)
