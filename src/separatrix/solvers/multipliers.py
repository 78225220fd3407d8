"""Multipliers q, one a row, and the coefficients that they make: the state of dual coordinate descent.

    w = Σ sᵢ yᵢ qᵢ xᵢ / (strength · Σ sᵢ),      b = centre + Σ sᵢ yᵢ qᵢ / (τ · Σ sᵢ) of a free virtual column

q = −y·slope of the loss. `look` reads all rows once: the objective P at (w, b), the gap of the problem in which b has
the penalty τ/2·(b − centre)² (a sum over rows of loss + conjugate + q·margin, each at least 0), and the dual of the
problem as given. That needs Σ sᵢ yᵢ qᵢ = 0: the heavier class is scaled down, which takes one pass more.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.design.build import row_radius
from separatrix.jit import WorkGate
from separatrix.loops.dual import Conjugate, Metric, Weighted, add_rows, dual_pass, row_squares
from separatrix.problem import Problem

TAU = 3.0  # relative to strength / mean ‖x‖²
LARGEST_TAU = 0.02  # a tenth of the curvature in b that a loss has about margin 0
TINY = 1e-300
FIXED_WORK = 30  # scalar operations of a visit, beside those of its entries


class Look(NamedTuple):
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

    def look(self) -> Look:
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
        return Look(primal, dual, slopes, margins, self.shares * (losses + conjugates + self.q * margins))

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
