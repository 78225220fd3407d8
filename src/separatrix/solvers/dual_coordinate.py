"""Dual coordinate descent: support vector machines, and logistic regression, under an L2 penalty.

    D(q) = −Σ sᵢ loss*(−yᵢ qᵢ) / Σ sᵢ − strength/2 · ‖w(q)‖²,      w(q) = Σ sᵢ yᵢ qᵢ xᵢ / (strength · Σ sᵢ)

A pass visits the rows in a new random order and optimises each multiplier q = −y·slope in turn (Hsieh et al. 2008; Yu,
Huang and Lin 2011). Rows whose multiplier stays at a bound are skipped until the end of a step.

An unpenalised coefficient b (the virtual column) requires Σ sᵢ yᵢ qᵢ = 0, which no change of one multiplier preserves.
It gets a small penalty about a centre, τ/2·(b − c)², so that b = c + Σ sᵢ yᵢ qᵢ / (τ · Σ sᵢ), and after each step the
centre moves to b: the proximal point method on b (Rockafellar 1976). A move leaves τ/(τ + curvature in b) of the error.
A run without progress moves the centre only when the penalised problem is nearly solved, which always converges. The
reported gap is that of the given problem, at feasible multipliers: those of the heavier class are scaled down.

Momentum: after a pass, the step Σₖ cₖ·(Δqₖ, Δwₖ) over the last three movements minimises the model of minus the dual,

    ½⟨w, w⟩ + Σ sᵢ φ(qᵢ),        φ the conjugate of the loss, ⟨u, v⟩ in the penalty's curvatures

clipped to the box, with an exact line search: conjugate gradients preconditioned by a random Gauss–Seidel pass. On the
1,675 free multipliers of a text's hinge, 40 passes reduce the error by 2e-5 instead of 0.2.

Cost: a step is one pass over the active rows (several, if they are few), and one pass over all rows to compute the gap,
two with a free coefficient. Slow if the penalty is weak compared with ‖x‖²/n, as in columns of large or different
units: use Newton's method or, for the hinge, interior points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix.arrays import EPSILON, Bools, Floats, Ints
from separatrix.design.base import Block
from separatrix.design.build import row_radius
from separatrix.jit import WorkGate
from separatrix.loops import dual
from separatrix.loops.dual import MEMORY, Conjugate, DualRows, Metric
from separatrix.losses.base import Loss
from separatrix.losses.margin import Hinge, Logistic, SquaredHinge
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.visits import Seed, by_blocks

TAU = 3.0  # relative to strength / mean ‖x‖²
LARGEST_TAU = 0.02  # a tenth of the curvature in b that a loss has near margin 0
TINY = 1e-300
FIXED_WORK = 30  # scalar operations of a visit, besides those of its entries
SINGULAR = 1e-10  # relative ridge, so that dependent movements count as one
MOST_CLIPPED = 0.2  # share of the active rows, beyond which the step is not worth its reads
STEP_COST = 8  # of a step per coefficient, in entries read by a pass
STEP_WORK = 12  # scalar operations per coefficient
NOISE = 16.0 * EPSILON
LARGEST = 1e4  # sum of the factors of a step
_EMPTY = np.empty(0)
CONJUGATES: dict[type[Loss], Conjugate] = {
    Hinge: Conjugate(1.0, 0.0, 0),
    SquaredHinge: Conjugate(math.inf, 0.5, 0),
    Logistic: Conjugate(1.0, 0.0, 1),
}
FIRST_PASSES = 3  # before the gap is first computed
MOST_PASSES = 20  # per step
STEP_VISITS = 2  # passes over all rows, the largest cost of repeated passes over few active rows
SLOW = 0.3  # ratio of successive gaps, beyond which a step makes more passes
NEGLIGIBLE = 0.01  # share of the mean gap of a row, below which rows are skipped
DRIFT = 1e-12  # relative rounding error of w, beyond which it is recomputed from the multipliers
PATIENCE = 10  # steps without a smaller gap
STRICT = 0.1  # share of the gap at which the centre moves if there is no progress


class Multipliers:
    """The multipliers and coefficients of one run on one problem."""

    def __init__(self, problem: Problem, conjugate: Conjugate) -> None:
        self.problem, self.conjugate = problem, conjugate
        self.rows = problem.design.stored_rows()
        self.n, self.virtual = problem.design.shape[0], self.rows.virtual
        self.gate = WorkGate(("dual", self.rows.values.dtype.str, self.rows.columns.dtype.str))
        self.row_entries = int(self.rows.values.size) // self.n + 1
        self.row_work = 2 * self.row_entries + FIXED_WORK
        self.shares = problem.shares
        squares = problem.design.gather(_row_squares)
        if not math.isfinite(float(squares.sum())):
            row_radius(problem.design)  # raises an error that names the entry that is not finite
        strength, spread = problem.penalty.quadratic, float(self.shares @ squares)
        self.tau = min(TAU * strength / spread, LARGEST_TAU) if spread > 0.0 else LARGEST_TAU
        self.metric = Metric(1.0 / strength, 1.0 / self.tau)
        reaches = self.shares * (squares / strength + self.virtual / self.tau)
        self.weighted = DualRows(np.array(problem.y, dtype=np.float64), self.shares, reaches)
        self.q, self.coef, self.centre = np.zeros(self.n), np.zeros(problem.design.shape[1]), 0.0

    def sweep(self, order: Ints, bound: float) -> tuple[Ints, float]:
        """Visit rows in order; return those that are not at a bound, and the largest gradient of those that moved."""
        visit = self.gate.choose(dual.dual_pass, len(order) * self.row_work)
        point = (self.q, self.coef)
        arguments = (self.weighted, order, self.conjugate, self.metric, bound, point)
        active, largest = self.problem.design.visit(visit, *arguments, changed=(order, *point))
        self.problem.design.count_visits(len(order))
        return order[:active], largest

    def effect(self, indices: Ints, changes: Floats) -> Floats:
        """Return the change of the coefficients by changes of some multipliers."""
        factors, change = changes * self.shares[indices] * self.weighted.labels[indices], np.zeros_like(self.coef)
        add = self.gate.choose(dual.add_rows, len(indices) * self.row_work)
        self.problem.design.visit(add, indices, factors, change, changed=(change,))
        self.problem.design.count_visits(len(indices))
        return self._in_metric(change)

    def inner(self, left: Floats, right: Floats) -> Any:
        """Return the inner product of changes of coefficients in the penalty's curvatures, τ for a free one."""
        v, strength = self.virtual, self.problem.penalty.quadratic
        return strength * (left[..., v:] @ right[v:]) + (self.tau * left[..., 0] * right[0] if v else 0.0)

    def start_from(self, coef: Floats) -> float:
        """Start at the loss's slopes at some coefficients if the dual is better there; return the objective."""
        problem, y, free = self.problem, self.weighted.labels, slice(self.virtual)
        eta = problem.design.matvec(coef)
        values, slopes = map(np.asarray, problem.loss.expand(eta, y, 1))
        dual_coef = problem.dual_coef(slopes) * self.metric.stored
        shift = float(self.shares @ slopes) / self.tau
        if self._dual(slopes, dual_coef) > self._dual(self.q, self.coef):
            self.q, self.coef, self.centre = np.abs(slopes), dual_coef, coef[0] + shift
        else:
            self.centre = float(coef[0])
        self.coef[free] = coef[free]
        return float(problem.mean(values)) + problem.penalty.value(coef, problem.penalty_weights)

    def refresh(self) -> None:
        """Recompute the coefficients from the multipliers, in one pass."""
        self.coef = self._in_metric(self.problem.dual_coef(-self.weighted.labels * self.q))
        self.coef[: self.virtual] += self.centre

    def duality_gap(self) -> tuple[float, float, Floats, Floats, Floats]:
        """Return P, D, the slopes of its point, and each row's margin and part of the gap, in one or two passes.

        The parts of the gap are those of the problem in which b has the penalty τ/2·(b − centre)²: loss + conjugate +
        q·margin, each at least 0. D is the dual of the given problem.
        """
        problem, y, slopes = self.problem, self.weighted.labels, -self.weighted.labels * self.q
        margins = y * problem.design.matvec(self.coef)
        losses, conjugates = problem.loss.of_margin(margins), problem.loss.conjugate(slopes, y)
        w = self.coef[self.virtual :]
        penalty = 0.5 * problem.penalty.quadratic * float(w @ w)
        primal, dual_value = float(self.shares @ losses) + penalty, -float(self.shares @ conjugates) - penalty
        if self.virtual:  # the slopes of the heavier class are scaled down until their weighted sum is 0
            up, down = (float(self.shares @ np.maximum(side, 0.0)) for side in (slopes, -slopes))
            scales = np.where(slopes > 0.0, min(up, down) / max(up, TINY), min(up, down) / max(down, TINY))
            slopes = slopes * np.minimum(scales, 1.0)
            dual_value = self._dual(slopes, problem.dual_coef(slopes) * self.metric.stored)
        return primal, dual_value, slopes, margins, self.shares * (losses + conjugates + self.q * margins)

    def _in_metric(self, total: Floats) -> Floats:
        """Return the coefficients of a weighted sum of rows, without the centre."""
        coef = total * self.metric.stored
        coef[: self.virtual] = total[: self.virtual] * self.metric.virtual
        return coef

    def _dual(self, slopes: Floats, dual_coef: Floats) -> float:
        problem = self.problem
        conjugate = problem.mean(problem.loss.conjugate(slopes, self.weighted.labels))
        return float(-conjugate - problem.penalty.value(dual_coef, problem.penalty_weights))


def _row_squares(block: Block) -> Floats:
    return block.stored_squared_norms()


class Momentum:
    """Extrapolates the passes over active rows.

    Its model of minus the dual has the inner products ⟨·, ·⟩ of the movements and w, w last, and φ, φ′ and φ″ of the
    rows.
    """

    def __init__(self, state: Multipliers) -> None:
        self.state = state
        self.movements = np.zeros((MEMORY, state.coef.size))
        self.before = np.zeros_like(state.coef)
        self.active = self.members = np.empty(0, dtype=np.int64)
        self.q_movements, self.q_before, self.shares = np.zeros((MEMORY, 0)), _EMPTY, _EMPTY
        self.count = self.read = 0
        self.rounding = 0.0  # relative error of w accumulated by steps

    def begin(self, members: Ints) -> None:
        """Set the active rows; rows of a stored movement remain members."""
        self.read = 0
        if members is not self.active:
            self._set_members(members)

    def before_pass(self) -> None:
        """Store the point before a pass, unless several passes make up one movement."""
        if not self.read:
            np.copyto(self.before, self.state.coef)
            self.q_before = self.state.q[self.members]

    def after_pass(self, visits: int) -> None:
        """Extrapolate after a pass, if the passes since the last step cost as much as a step."""
        state, slot = self.state, self.count % MEMORY
        self.read += visits * state.row_entries
        if self.read < STEP_COST * state.coef.size:
            return
        self.read = 0
        self.count += 1
        q = state.q[self.members]
        np.subtract(q, self.q_before, out=self.q_movements[slot])
        products, (conjugate, slope, curvature) = self._products(slot), self._conjugate(q)
        factors, correction, length = self._best_factors(products, slope, curvature), _EMPTY, 1.0
        q_step = factors @ self.q_movements
        inside = np.clip(q + q_step, 0.0, state.conjugate.upper)
        clipped = np.flatnonzero(inside != q + q_step)
        if len(clipped) > MOST_CLIPPED * len(q):
            return
        if len(clipped):
            correction = state.effect(self.members[clipped], (inside - q - q_step)[clipped])
            q_step = inside - q
        if len(clipped) or state.conjugate.curved:
            along, square = self._along(products, factors, correction)
            rows_along, rows_square = float(slope @ q_step), float(curvature @ (q_step * q_step))
            length = min(1.0, max(0.0, -(along + rows_along)) / max(square + rows_square, TINY))
            if state.conjugate.curved:
                change = self._conjugate(q + length * q_step)[0] - conjugate
                length *= change + length * along + 0.5 * length**2 * square < 0.0
        take = state.gate.choose(dual.take_step, STEP_WORK * state.coef.size)
        take(factors, correction, length, self.movements, slot, state.coef)
        state.q[self.members] = np.clip(q + length * q_step, 0.0, state.conjugate.upper)
        self.q_movements[slot] += length * q_step

    def _set_members(self, members: Ints) -> None:
        moved = self.q_movements.any(axis=0)
        rows, movements = self.members[moved], self.q_movements[:, moved]
        united = np.zeros(self.state.n, dtype=bool)
        united[members] = united[rows] = True
        self.active, self.members = members, np.flatnonzero(united)
        self.shares = self.state.shares[self.members]
        self.q_movements = np.zeros((MEMORY, len(self.members)))
        self.q_movements[:, np.searchsorted(self.members, rows)] = movements

    def _products(self, slot: int) -> Floats:
        state, products = self.state, np.zeros((MEMORY + 1, MEMORY + 1))
        measure = state.gate.choose(dual.measure_movements, STEP_WORK * state.coef.size)
        measure(state.coef, self.before, self.movements, slot, products)
        products *= state.problem.penalty.quadratic
        if state.virtual:
            free = np.append(self.movements[:, 0], state.coef[0])
            products += (state.tau - state.problem.penalty.quadratic) * np.outer(free, free)
        return products

    def _conjugate(self, q: Floats) -> tuple[float, Floats, Floats]:
        """Return Σ sᵢ φ(qᵢ), and sᵢ φ′(qᵢ) and sᵢ φ″(qᵢ)."""
        if self.state.conjugate.curved:
            rest = 1.0 - q
            up, down = np.log(np.maximum(q, TINY)), np.log(np.maximum(rest, TINY))
            value = float(self.shares @ (q * up + rest * down))
            return value, self.shares * (up - down), self.shares / np.maximum(q * rest, TINY)
        curvature = self.state.conjugate.ridge * self.shares
        return 0.0, curvature * q - self.shares, curvature

    def _best_factors(self, products: Floats, slope: Floats, curvature: Floats) -> Floats:
        """Return the factors of the movements that minimise the model; 0 if the decrease is within rounding.

        A movement of w has the rounding error of w: the slope along it is known only to ε⟨w, w⟩, and a large factor
        would separate w from its multipliers.
        """
        matrix = products[:-1, :-1] + (self.q_movements * curvature) @ self.q_movements.T
        vector = products[:-1, -1] + self.q_movements @ slope
        sizes = np.sqrt(np.maximum(np.diag(matrix), TINY))
        scaled = matrix / np.outer(sizes, sizes) + SINGULAR * np.eye(MEMORY)
        factors = np.asarray(-np.linalg.solve(scaled, vector / sizes) / sizes)
        size = float(np.abs(factors).sum())
        if size > LARGEST or -float(vector @ factors) <= NOISE * products[-1, -1] * size:
            return np.zeros(MEMORY)
        self.rounding += EPSILON * size
        return factors

    def _along(self, products: Floats, factors: Floats, correction: Floats) -> tuple[float, float]:
        """Return ⟨w, step⟩ and ⟨step, step⟩ of a step of the coefficients."""
        state = self.state
        along, square = float(products[:-1, -1] @ factors), float(factors @ products[:-1, :-1] @ factors)
        if correction.size:
            along += state.inner(state.coef, correction)
            cross = float(factors @ state.inner(self.movements, correction))
            square += 2.0 * cross + state.inner(correction, correction)
        return along, square


@dataclass(frozen=True)
class DualCoordinate:
    """Dual coordinate descent; `seed` seeds the orders of visits."""

    seed: Seed = 0

    needs: ClassVar[Needs] = Needs(
        target=frozenset({"labels"}),
        losses=frozenset(loss.name for loss in CONJUGATES),
        row_visits=True,
        smooth_penalty=True,
        quadratic_penalty=True,
        otherwise={
            "target": "Use Newton or LBFGS.",
            "losses": "Use Stochastic.",
            "row_visits": "Use InteriorPoint or LBFGS, whose passes run on the cluster, or visit the rows on"
            " one machine with sx.blocked(X).",
            "smooth_penalty": "Use Coordinate, which takes an L1 penalty.",
            "quadratic_penalty": "Give a strength above 0, or use InteriorPoint, Newton or LBFGS, which need none.",
        },
    )

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        """Yield one step per pass, or few passes, over the active rows; facts: the gap as excess, the active rows."""
        descent = _DualDescent(problem, np.random.default_rng(self.seed))
        if start is not None and np.any(start):
            descent.coef, descent.passes = np.array(start, dtype=np.float64), 1
            descent.primal = descent.state.start_from(descent.coef)
        while True:
            yield descent.step()


class _DualDescent:
    """One run: the multipliers, the active rows, and the best primal and dual points so far."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.rng = rng
        self.state = Multipliers(problem, CONJUGATES[type(problem.loss)])
        self.momentum = Momentum(self.state)
        self.weighted_rows = np.flatnonzero(self.state.shares > 0.0)
        self.active, self.bound = self.weighted_rows, math.inf
        self.passes, self.inner_gap, self.idle = FIRST_PASSES, math.inf, 0
        self.primal, self.coef = math.inf, self.state.coef
        self.dual, self.slopes = -math.inf, self.state.q

    def step(self) -> Step:
        """Make passes over the active rows, then compute the gap of all rows."""
        self._sweep()
        if self.momentum.rounding > DRIFT:
            self.state.refresh()
            self.momentum.rounding = 0.0
        primal, dual_value, slopes, margins, gaps = self.state.duality_gap()
        before = self.primal - self.dual
        if primal < self.primal:
            self.primal, self.coef = primal, self.state.coef.copy()
        if dual_value > self.dual:
            self.dual, self.slopes = dual_value, slopes
        gap = self.primal - self.dual
        self.idle = 0 if gap < before else self.idle + 1
        self._plan(primal - dual_value, margins, gaps)
        facts = {
            "objective": self.primal,
            "excess": max(gap, 0.0),
            "active": len(self.active),
            "stalled": max(self.idle - PATIENCE, 0),
        }
        return Step(self.coef, facts, self.slopes)

    def _sweep(self) -> None:
        """Make the planned passes of a step, and more if few rows are active."""
        order, visits = self.active, 0
        self.momentum.begin(order)
        for number in range(MOST_PASSES):
            enough = number >= self.passes and visits + len(order) >= STEP_VISITS * self.state.n
            if enough or not len(order):
                break
            self.momentum.before_pass()
            visited = len(order)
            drawn = by_blocks(self.rng.permutation(order), self.state.problem.design.block_rows, self.rng)
            order, largest = self.state.sweep(drawn, self.bound)
            self.bound = largest if largest > 0.0 else math.inf
            self.momentum.after_pass(visited)
            visits += visited

    def _plan(self, gap: float, margins: Floats, gaps: Floats) -> None:
        """Choose the active rows and the passes of the next step; move the centre to b if the rows allow it."""
        state, inner_gap = self.state, float(gaps.sum())
        self.passes = min(2 * self.passes, MOST_PASSES) if inner_gap > SLOW * self.inner_gap else 1
        self.inner_gap = inner_gap
        active = self._active_rows(margins[self.weighted_rows], gaps[self.weighted_rows])
        self.active = self.weighted_rows if active.all() else self.weighted_rows[active]
        share = 1.0 if self.idle < PATIENCE // 2 else STRICT
        if state.virtual and inner_gap <= share * gap:
            state.centre, state.coef[0] = state.coef[0], 2.0 * state.coef[0] - state.centre

    def _active_rows(self, margins: Floats, gaps: Floats) -> Bools:
        """Return the rows to visit: neither firmly at a bound nor with a negligible part of the gap."""
        q, (upper, ridge, curved) = self.state.q[self.weighted_rows], self.state.conjugate
        if curved:
            active = gaps >= NEGLIGIBLE * gaps.mean()
            return np.asarray(active if 2 * active.sum() < len(active) else np.ones(len(active), dtype=bool))
        gradient, low, high = margins - 1.0 + ridge * q, q == 0.0, q == upper
        outside = np.where(low, np.minimum(gradient, 0.0), np.where(high, np.maximum(gradient, 0.0), gradient))
        self.bound = float(np.abs(outside).max())
        return np.asarray(~((low & (gradient > self.bound)) | (high & (gradient < -self.bound))))
