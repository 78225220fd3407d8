"""Dual coordinate descent: support vector machines, and logistic regression, under an L2 penalty.

    D(q) = −Σ sᵢ loss*(−yᵢ qᵢ) / Σ sᵢ − strength/2 · ‖w(q)‖²,      w(q) = Σ sᵢ yᵢ qᵢ xᵢ / (strength · Σ sᵢ)

A pass visits the rows in a new random order and moves each multiplier to its best place (Hsieh et al. 2008; Yu, Huang
and Lin 2011). Rows whose multiplier sits firmly at a bound are left out until all rows are looked at again, at the end
of a step. After a pass the best point in the span of this pass's movement and the last ones' is taken (`Momentum`):
conjugate gradients with a random sweep as their preconditioner, which on the free multipliers of a text's hinge needs
a fifth of the sweeps.

A coefficient of weight 0 (the virtual column) asks Σ sᵢ yᵢ qᵢ = 0, which no move of one multiplier keeps. It is given a
small penalty about a centre, τ/2·(b − c)², and after each step the centre moves to where b is: the proximal point
method on b, in the dual the method of multipliers. Of the ways to do it this one leaves the passes as they are (pairs
of multipliers would read two rows a move, and minimising over b in turn with w stops short where the hinge has its
kinks). τ is such that the column weighs about as much as a row's others, so passes converge as they would without it,
and a move of the centre leaves τ/(τ + curvature in b) of the error, a thousandth where τ is of the order of 1/n. A run
that does not get on moves the centre only when the penalised problem is nearly solved, which always converges
(Rockafellar 1976). The gap reported is that of the problem as given, at multipliers made feasible: the heavier class's
are scaled until the equality holds.

Cost: a step is a pass over the rows in play (several, where they are few) and a pass over all to know the gap, two
with a free coefficient. Slow where the penalty is weak against ‖x‖²/n, as it is in columns of large or unlike units:
then Newton's method or, for the hinge, interior points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.loops.dual import Conjugate
from separatrix.losses.base import Loss
from separatrix.losses.margin import Hinge, Logistic, SquaredHinge
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.momentum import Momentum
from separatrix.solvers.multipliers import Look, Multipliers
from separatrix.solvers.visits import by_blocks

CONJUGATES: dict[type[Loss], Conjugate] = {
    Hinge: Conjugate(1.0, 0.0, 0),
    SquaredHinge: Conjugate(math.inf, 0.5, 0),
    Logistic: Conjugate(1.0, 0.0, 1),
}
FIRST_PASSES = 3  # before the gap is worth knowing
MOST_PASSES = 20  # a step
STEP_VISITS = 2  # passes over all rows, under which a step stays: few rows in play are swept over several times
SLOW = 0.3  # a gap that falls by less a step is worth more passes a step
NEGLIGIBLE = 0.01  # of the mean: a row's part of the gap; rows below it hold no more than this share together
DRIFT = 1e-12  # relative: by how much w may part from what the multipliers make of it
PATIENCE = 10  # steps without a smaller gap
STRICT = 0.1  # of the gap: what the rows may hold of it when the centre moves, of a run that does not get on


@dataclass(frozen=True)
class DualCoordinate:
    """Dual coordinate descent; `seed` feeds the orders."""

    seed: int | np.random.Generator | None = 0

    needs: ClassVar[Needs] = Needs(
        target=frozenset({"labels"}),
        losses=frozenset(loss.name for loss in CONJUGATES),
        row_visits=True,
        smooth_penalty=True,
        quadratic_penalty=True,
        otherwise={
            "target": "Use Newton or LBFGS.",
            "losses": "Use Stochastic.",
            "row_visits": "Use InteriorPoint or LBFGS, which stream, or hold the rows in memory.",
            "smooth_penalty": "Use Coordinate, which takes an L1 penalty.",
            "quadratic_penalty": "Give a strength above 0, or use InteriorPoint, Newton or LBFGS, which need none.",
        },
    )

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        """Walk, a pass or a few over the rows in play a step; facts: the gap as excess, the rows in play."""
        walk = _Walk(problem, np.random.default_rng(self.seed))
        if start is not None and np.any(start):
            walk.start_from(np.array(start, dtype=np.float64))
        while True:
            yield walk.step()


class _Walk:
    """One run: the multipliers, the rows in play, and the best that both sides have shown so far."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.rng = rng
        self.state = Multipliers(problem, CONJUGATES[type(problem.loss)])
        self.momentum = Momentum(self.state)
        self.in_use = np.flatnonzero(self.state.shares > 0.0)
        self.active, self.bound = self.in_use, math.inf
        self.passes, self.inner_gap, self.idle = FIRST_PASSES, math.inf, 0
        self.primal, self.coef = math.inf, self.state.coef
        self.dual, self.slopes = -math.inf, self.state.q

    def start_from(self, coef: Floats) -> None:
        """Begin near some coefficients, which stay the best until better ones are found."""
        self.primal, self.coef, self.passes = self.state.start_from(coef), coef, 1

    def step(self) -> Step:
        """Sweep over the rows in play, then look at all."""
        self._sweep()
        if self.momentum.rounding > DRIFT:
            self.state.refresh()
            self.momentum.rounding = 0.0
        look, before = self.state.look(), self.primal - self.dual
        if look.primal < self.primal:
            self.primal, self.coef = look.primal, self.state.coef.copy()
        if look.dual > self.dual:
            self.dual, self.slopes = look.dual, look.slopes
        gap = self.primal - self.dual
        self.idle = 0 if gap < before else self.idle + 1
        self._plan(look)
        facts = {
            "objective": self.primal,
            "excess": max(gap, 0.0),
            "active": len(self.active),
            "stalled": max(self.idle - PATIENCE, 0),
        }
        return Step(self.coef, facts, self.slopes)

    def _sweep(self) -> None:
        """Make the passes of a step: as many as planned, and more while they are over few rows."""
        order, visits = self.active, 0
        self.momentum.begin(order)
        for number in range(MOST_PASSES):
            enough = number >= self.passes and visits + len(order) >= STEP_VISITS * self.state.n
            if enough or not len(order):
                break
            self.momentum.watch()
            now = len(order)
            drawn = by_blocks(self.rng.permutation(order), self.state.problem.design.together, self.rng)
            order, largest = self.state.sweep(drawn, self.bound)
            self.bound = largest if largest > 0.0 else math.inf
            self.momentum.carry_on(now)
            visits += now

    def _plan(self, look: Look) -> None:
        """Choose the rows in play and the passes of the next step; let the centre follow."""
        inner_gap = float(look.gaps.sum())
        self.passes = min(2 * self.passes, MOST_PASSES) if inner_gap > SLOW * self.inner_gap else 1
        self.inner_gap = inner_gap
        unsettled = self._unsettled(look)
        self.active = self.in_use if unsettled.all() else self.in_use[unsettled]
        share = 1.0 if self.idle < PATIENCE // 2 else STRICT
        if self.state.virtual and inner_gap <= share * (look.primal - look.dual):
            self.state.move_centre()

    def _unsettled(self, look: Look) -> Bools:
        """Return the rows to sweep over: not those safely at a bound, nor those that hold next to none of the gap."""
        q, (upper, ridge, curved) = self.state.q[self.in_use], self.state.conjugate
        gaps, margins = look.gaps[self.in_use], look.margins[self.in_use]
        if curved:
            held = gaps >= NEGLIGIBLE * gaps.mean()
            return np.asarray(held if 2 * held.sum() < len(held) else np.ones(len(held), dtype=bool))
        gradient, low, high = margins - 1.0 + ridge * q, q == 0.0, q == upper
        outside = np.where(low, np.minimum(gradient, 0.0), np.where(high, np.maximum(gradient, 0.0), gradient))
        self.bound = float(np.abs(outside).max())
        return np.asarray(~((low & (gradient > self.bound)) | (high & (gradient < -self.bound))))
