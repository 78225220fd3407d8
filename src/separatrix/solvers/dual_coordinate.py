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

Multipliers q, one a row, and the coefficients that they make: the state of dual coordinate descent.

    w = Σ sᵢ yᵢ qᵢ xᵢ / (strength · Σ sᵢ),      b = centre + Σ sᵢ yᵢ qᵢ / (τ · Σ sᵢ) of a free virtual column

q = −y·slope of the loss. `look` reads all rows once: the objective P at (w, b), the gap of the problem in which b has
the penalty τ/2·(b − centre)² (a sum over rows of loss + conjugate + q·margin, each at least 0), and the dual of the
problem as given. That needs Σ sᵢ yᵢ qᵢ = 0: the heavier class is scaled down, which takes one pass more.

Momentum for dual coordinate descent: after a sweep, the best point in the span of the last movements.

From (q, w) the step Σₖ cₖ·(Δqₖ, Δwₖ), over this sweep's movement and the ones before, is taken that minimises the
quadratic model of minus the dual,

    ½⟨w, w⟩ + Σ sᵢ φ(qᵢ),        φ the conjugate of the loss, ⟨u, v⟩ in the penalty's curvatures

clipped to the box, with an exact line search along what the clipping leaves. On one face of the box that is conjugate
gradients with a random Gauss–Seidel sweep as preconditioner; since the sweep changes each time, two movements do not
suffice as memory, three do. On the 1,675 free multipliers of a text's hinge 40 sweeps lower the error by 2e-5, where
plain sweeps lower it by 0.2.

Cost: two walks over four vectors of p, a few over the rows in play; rows that are clipped are read once more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from separatrix.arrays import EPSILON, Bools, Floats, Ints
from separatrix.design.build import row_radius
from separatrix.jit import WorkGate
from separatrix.loops.dual import (
    MEMORY,
    Conjugate,
    Metric,
    Weighted,
    add_rows,
    dual_pass,
    measure_movements,
    row_squares,
    take_step,
)
from separatrix.losses.base import Loss
from separatrix.losses.margin import Hinge, Logistic, SquaredHinge
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.visits import by_blocks

TAU = 3.0  # relative to strength / mean ‖x‖²
LARGEST_TAU = 0.02  # a tenth of the curvature in b that a loss has about margin 0
TINY = 1e-300
FIXED_WORK = 30  # scalar operations of a visit, beside those of its entries


class PrimalDual(NamedTuple):
    """What all rows show: both objectives, the slopes of the dual's, and each row's margin and part of the gap."""

    primal: float
    dual: float
    slopes: Floats
    margins: Floats
    gaps: Floats


class Multipliers:
    """The multipliers and coefficients of one run over one problem."""

    def __init__(self, problem: Problem, conjugate: Conjugate) -> None:
        self.problem, self.conjugate = problem, conjugate
        self.rows = problem.design.stored_rows()
        self.n, self.virtual = problem.design.shape[0], self.rows.virtual
        self.gate = WorkGate(("dual", self.rows.values.dtype.str, self.rows.columns.dtype.str))
        self.row_entries = int(self.rows.values.size) // self.n + 1
        self.row_work = 2 * self.row_entries + FIXED_WORK
        shares = np.ones(self.n) if problem.weights is None else problem.weights
        self.shares = shares / problem.total_weight
        squares = self._row_squares()
        strength, spread = problem.penalty.quadratic, float(self.shares @ squares)
        self.tau = min(TAU * strength / spread, LARGEST_TAU) if spread > 0.0 else LARGEST_TAU
        self.metric = Metric(1.0 / strength, 1.0 / self.tau)
        reaches = self.shares * (squares / strength + self.virtual / self.tau)
        self.weighted = Weighted(np.array(problem.y, dtype=np.float64), self.shares, reaches)
        self.q, self.coef, self.centre = np.zeros(self.n), np.zeros(problem.design.shape[1]), 0.0

    def sweep(self, order: Ints, bound: float) -> tuple[Ints, float]:
        """Visit rows in order; return those still in play, and the largest gradient of those that moved."""
        visit = self.gate.choose(dual_pass, len(order) * self.row_work)
        point = (self.q, self.coef)
        given = (self.weighted, order, self.conjugate, self.metric, bound, point)
        kept, largest = self.problem.design.visit(visit, *given, changed=(order, *point))
        self.problem.design.count_visits(len(order))
        return order[:kept], largest

    def add(self, indices: Ints, changes: Floats, coef: Floats) -> None:
        """Add to coefficients, in place, what changes of some multipliers make of them."""
        factors = changes * self.shares[indices] * self.weighted.labels[indices]
        add = self.gate.choose(add_rows, len(indices) * self.row_work)
        self.problem.design.visit(add, indices, factors, self.metric, coef, changed=(coef,))
        self.problem.design.count_visits(len(indices))

    def inner(self, left: Floats, right: Floats) -> Any:
        """Return the inner product of changes of coefficients in the penalty's curvatures, τ for a free one."""
        v, strength = self.virtual, self.problem.penalty.quadratic
        return strength * (left[..., v:] @ right[v:]) + (self.tau * left[..., 0] * right[0] if v else 0.0)

    def start_from(self, coef: Floats) -> float:
        """Begin at the multipliers that the loss has at some coefficients, if the dual is better there; return P."""
        problem, y, free = self.problem, self.weighted.labels, slice(self.virtual)
        eta = problem.design.matvec(coef)
        slopes = np.asarray(problem.loss.slope(eta, y))
        made = problem.dual_coef(slopes) * self.metric.stored
        pull = float(self.shares @ slopes) / self.tau
        if self._dual(slopes, made) > self._dual(self.q, self.coef):
            self.q, self.coef, self.centre = np.abs(slopes), made, coef[0] + pull
        else:
            self.centre = float(coef[0])
        self.coef[free] = coef[free]
        loss = float(problem.mean(problem.loss.value(eta, y)))
        return loss + problem.penalty.value(coef, problem.penalty_weights)

    def refresh(self) -> None:
        """Compute the coefficients anew from the multipliers, in one pass."""
        made = self.problem.dual_coef(-self.weighted.labels * self.q)
        self.coef = made * self.metric.stored
        if self.virtual:
            self.coef[0] = self.centre + made[0] * self.metric.virtual

    def look(self) -> PrimalDual:
        """Read all rows: P, D, and what each row adds to the gap."""
        problem, y, slopes = self.problem, self.weighted.labels, -self.weighted.labels * self.q
        margins = y * problem.design.matvec(self.coef)
        losses, conjugates = problem.loss.of_margin(margins), problem.loss.conjugate(slopes, y)
        w = self.coef[self.virtual :]
        penalty = 0.5 * problem.penalty.quadratic * float(w @ w)
        primal, dual = float(self.shares @ losses) + penalty, -float(self.shares @ conjugates) - penalty
        if self.virtual:
            slopes = self._balanced(slopes)
            dual = self._dual(slopes, problem.dual_coef(slopes) * self.metric.stored)
        return PrimalDual(primal, dual, slopes, margins, self.shares * (losses + conjugates + self.q * margins))

    def move_centre(self) -> None:
        """Let the penalty of the free coefficient be about where that now is."""
        shift = self.coef[0] - self.centre
        self.centre += shift
        self.coef[0] += shift

    def _balanced(self, slopes: Floats) -> Floats:
        """Return slopes whose weighted sum is 0: those of the heavier class scaled down."""
        up, down = (float(self.shares @ np.maximum(side, 0.0)) for side in (slopes, -slopes))
        lighter = min(up, down)
        scales = np.where(slopes > 0.0, lighter / max(up, TINY), lighter / max(down, TINY))
        return np.asarray(slopes * np.minimum(scales, 1.0))

    def _dual(self, slopes: Floats, made: Floats) -> float:
        problem = self.problem
        conjugate = problem.mean(problem.loss.conjugate(slopes, self.weighted.labels))
        return float(-conjugate - problem.penalty.value(made, problem.penalty_weights))

    def _row_squares(self) -> Floats:
        squares, design = np.empty(self.n), self.problem.design
        fill = self.gate.choose(row_squares, self.n * self.row_work)
        design.count_visits(self.n)
        if not design.visit(fill, squares, changed=(squares,)):
            squares = design.squared_norms() - self.virtual
        if not math.isfinite(float(squares.sum())):
            row_radius(design)  # refuses data that are not finite, with their place
        return squares


SINGULAR = 1e-10  # relative: movements as dependent as this count as one
MOST_CLIPPED = 0.2  # of the rows in play, beyond which the step is not worth its reads
STEP_COST = 8  # a coefficient, in entries read by a sweep
STEP_WORK = 12  # scalar operations a coefficient
NOISE = 16.0 * EPSILON
LARGEST = 1e4  # sum of the factors of a step
_NOTHING = np.empty(0)


class _Model(NamedTuple):
    """Minus the dual about a point: ⟨·, ·⟩ of the movements, of each with w, and of w; φ, φ′ and φ″ of the rows."""

    gram: Floats
    along: Floats
    square: float
    conjugate: float
    slope: Floats
    curvature: Floats


class Momentum:
    """Watches sweeps over some rows, and carries each one on."""

    def __init__(self, state: Multipliers) -> None:
        self.state = state
        self.movements = np.zeros((MEMORY, state.coef.size))
        self.before, self.extra = np.zeros_like(state.coef), np.zeros_like(state.coef)
        self.in_play = self.members = np.empty(0, dtype=np.int64)
        self.q_movements, self.q_before, self.shares = np.zeros((MEMORY, 0)), _NOTHING, _NOTHING
        self.scaled = _NOTHING, _NOTHING
        self.count = self.read = 0
        self.rounding = 0.0  # relative, that steps may have brought into w

    def begin(self, members: Ints) -> None:
        """Say which rows are in play; others stay while a movement that is remembered has them."""
        self.read = 0
        if members is not self.in_play:
            self._adopt(members)

    def watch(self) -> None:
        """Note where the rows stand before a sweep, unless a movement is already under way."""
        if not self.read:
            np.copyto(self.before, self.state.coef)
            self.q_before = self.state.q[self.members]

    def carry_on(self, visits: int) -> None:
        """Step on from where a sweep of some visits has come, if sweeps since the last step cost as much as one."""
        state, slot = self.state, self.count % MEMORY
        self.read += visits * state.row_entries
        if self.read < STEP_COST * state.coef.size:
            return
        self.read = 0
        self.count += 1
        q = state.q[self.members]
        np.subtract(q, self.q_before, out=self.q_movements[slot])
        model = self._model(q, slot)
        factors, extra, length = self._best_factors(model), _NOTHING, 1.0
        q_step = factors @ self.q_movements
        inside = np.clip(q + q_step, 0.0, state.conjugate.upper)
        clipped = np.flatnonzero(inside != q + q_step)
        if len(clipped) > MOST_CLIPPED * len(q):
            return
        if len(clipped):
            extra = self.extra
            extra.fill(0.0)
            state.add(self.members[clipped], (inside - q - q_step)[clipped], extra)
            q_step = inside - q
        if len(clipped) or state.conjugate.curved:
            length = self._length(model, factors, extra, q, q_step)
        take = state.gate.choose(take_step, STEP_WORK * state.coef.size)
        take(factors, extra, length, self.movements, slot, state.coef)
        state.q[self.members] = np.clip(q + length * q_step, 0.0, state.conjugate.upper)
        self.q_movements[slot] += length * q_step

    def _adopt(self, members: Ints) -> None:
        moved = self.q_movements.any(axis=0)
        rows, movements = self.members[moved], self.q_movements[:, moved]
        united = np.zeros(self.state.n, dtype=bool)
        united[members] = united[rows] = True
        self.in_play, self.members = members, np.flatnonzero(united)
        self.shares = self.state.shares[self.members]
        self.scaled = -self.shares, self.state.conjugate.ridge * self.shares
        self.q_movements = np.zeros((MEMORY, len(self.members)))
        self.q_movements[:, np.searchsorted(self.members, rows)] = movements

    def _model(self, q: Floats, slot: int) -> _Model:
        state, products = self.state, np.zeros((MEMORY + 1, MEMORY + 1))
        measure = state.gate.choose(measure_movements, STEP_WORK * state.coef.size)
        measure(state.coef, self.before, self.movements, slot, products)
        products *= state.problem.penalty.quadratic
        if state.virtual:
            free = np.append(self.movements[:, 0], state.coef[0])
            products += (state.tau - state.problem.penalty.quadratic) * np.outer(free, free)
        conjugate, slope, curvature = self._conjugate(q)
        return _Model(products[:-1, :-1], products[:-1, -1], float(products[-1, -1]), conjugate, slope, curvature)

    def _conjugate(self, q: Floats) -> tuple[float, Floats, Floats]:
        """Return Σ sᵢ φ(qᵢ), and sᵢ φ′(qᵢ) and sᵢ φ″(qᵢ)."""
        if self.state.conjugate.curved:
            rest = 1.0 - q
            up, down = np.log(np.maximum(q, TINY)), np.log(np.maximum(rest, TINY))
            value = float(self.shares @ (q * up + rest * down))
            return value, self.shares * (up - down), self.shares / np.maximum(q * rest, TINY)
        ridge, (slope, bend) = self.state.conjugate.ridge, self.scaled
        return 0.0, slope + bend * q if ridge else slope, bend

    def _best_factors(self, model: _Model) -> Floats:
        """Return the factors of the movements at which the model is least; 0 if that is not below by more than noise.

        A movement of w carries the rounding of w itself: along it the slope is known to ε⟨w, w⟩ and no better, and a
        large factor would part w from what the multipliers make of it.
        """
        matrix = model.gram + (self.q_movements * model.curvature) @ self.q_movements.T
        vector = model.along + self.q_movements @ model.slope
        sizes = np.sqrt(np.maximum(np.diag(matrix), TINY))
        scaled = matrix / np.outer(sizes, sizes) + SINGULAR * np.eye(MEMORY)
        factors = np.asarray(-np.linalg.solve(scaled, vector / sizes) / sizes)
        size = float(np.abs(factors).sum())
        if size > LARGEST or -float(vector @ factors) <= NOISE * model.square * size:
            return np.zeros(MEMORY)
        self.rounding += EPSILON * size
        return factors

    def _length(self, model: _Model, factors: Floats, extra: Floats, q: Floats, q_step: Floats) -> float:
        """Return the part of a step, at most all, at which the model is least; 0 if minus the dual does not fall."""
        state = self.state
        along, bend = float(model.along @ factors), float(factors @ model.gram @ factors)
        if extra.size:
            along += state.inner(state.coef, extra)
            bend += 2.0 * float(factors @ state.inner(self.movements, extra)) + state.inner(extra, extra)
        fall = along + float(model.slope @ q_step)
        if not fall < 0.0:
            return 0.0
        length = min(1.0, -fall / max(bend + float(model.curvature @ (q_step * q_step)), TINY))
        if not state.conjugate.curved:
            return length
        change = self._conjugate(q + length * q_step)[0] - model.conjugate
        return length if change + length * along + 0.5 * length**2 * bend < 0.0 else 0.0


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

    def _plan(self, look: PrimalDual) -> None:
        """Choose the rows in play and the passes of the next step; let the centre follow."""
        inner_gap = float(look.gaps.sum())
        self.passes = min(2 * self.passes, MOST_PASSES) if inner_gap > SLOW * self.inner_gap else 1
        self.inner_gap = inner_gap
        unsettled = self._unsettled(look)
        self.active = self.in_use if unsettled.all() else self.in_use[unsettled]
        share = 1.0 if self.idle < PATIENCE // 2 else STRICT
        if self.state.virtual and inner_gap <= share * (look.primal - look.dual):
            self.state.move_centre()

    def _unsettled(self, look: PrimalDual) -> Bools:
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
