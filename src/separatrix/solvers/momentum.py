"""Momentum for dual coordinate descent: after a sweep, the best point in the span of the last movements.

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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.loops.momentum import MEMORY, measure_movements, take_step
from separatrix.numerics import logit
from separatrix.solvers.multipliers import Multipliers

__all__ = ["Momentum"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
SINGULAR = 1e-10  # relative: movements as dependent as this count as one
MOST_CLIPPED = 0.2  # of the rows in play, beyond which the step is not worth its reads
STEP_COST = 8  # a coefficient, in entries read by a sweep
STEP_WORK = 12  # scalar operations a coefficient
NOISE = 16.0 * float(np.finfo(np.float64).eps)
TINY = 1e-300
ALMOST_ONE = 1.0 - 2.0**-53
_NOTHING = np.empty(0)


class _Model(NamedTuple):
    """Minus the dual about a point: ⟨·, ·⟩ of the movements, of each with w, and of w; φ′ and φ″ of the rows."""

    gram: Floats
    along: Floats
    square: float
    slope: Floats
    curvature: Floats


class Momentum:
    """Watches sweeps over some rows, and carries each one on."""

    def __init__(self, state: Multipliers) -> None:
        self.state = state
        self.movements = np.zeros((MEMORY, state.coef.size))
        self.before = np.zeros_like(state.coef)
        self.in_play = self.members = np.empty(0, dtype=np.int64)
        self.q_movements, self.q_before, self.shares = np.zeros((MEMORY, 0)), np.zeros(0), np.zeros(0)
        self.count = self.read = 0

    def watch(self, members: Indices) -> None:
        """Note where the rows in play stand before a sweep; other rows stay while a movement remembered has them."""
        if members is not self.in_play:
            self._adopt(members)
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
        factors = self._best_factors(model)
        q_step, extra = factors @ self.q_movements, _NOTHING
        inside = np.clip(q + q_step, 0.0, state.conjugate.upper)
        clipped = np.flatnonzero(inside != q + q_step)
        if len(clipped) > MOST_CLIPPED * len(q):
            return
        if len(clipped):
            extra = np.zeros_like(state.coef)
            state.add(self.members[clipped], (inside - q - q_step)[clipped], extra)
            q_step = inside - q
        if len(clipped) or state.conjugate.curved:
            length = self._length(model, factors, extra, q, q_step)
            factors, extra, q_step = length * factors, length * extra, length * q_step
        take = state.gate.choose(take_step, STEP_WORK * state.coef.size)
        take(factors, extra, self.movements, slot, state.coef)
        state.q[self.members] = np.clip(q + q_step, 0.0, state.conjugate.upper)
        self.q_movements[slot] += q_step

    def _adopt(self, members: Indices) -> None:
        moved = self.q_movements.any(axis=0)
        rows, movements = self.members[moved], self.q_movements[:, moved]
        united = np.zeros(self.state.n, dtype=bool)
        united[members] = united[rows] = True
        self.in_play, self.members, self.read = members, np.flatnonzero(united), 0
        self.shares = self.state.shares[self.members]
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
        slope, curvature = self._derivatives(q)
        return _Model(products[:-1, :-1], products[:-1, -1], float(products[-1, -1]), slope, curvature)

    def _derivatives(self, q: Floats) -> tuple[Floats, Floats]:
        """Return sᵢ φ′(qᵢ) and sᵢ φ″(qᵢ)."""
        if self.state.conjugate.curved:
            curvature = self.shares / np.maximum(q * (1.0 - q), TINY)
            return self.shares * logit(np.clip(q, TINY, ALMOST_ONE)), curvature
        ridge = self.state.conjugate.ridge
        return self.shares * (ridge * q - 1.0), self.shares * ridge

    def _value(self, q: Floats) -> float:
        """Return Σ sᵢ φ(qᵢ)."""
        return float(self.shares @ self.state.problem.loss.conjugate(-q, 1.0))

    def _best_factors(self, model: _Model) -> Floats:
        """Return the factors of the movements at which the model is least; 0 if that is not below by more than noise.

        A movement of w carries the rounding of w itself, so along it the slope is known to ε⟨w, w⟩ and no better.
        """
        matrix = model.gram + (self.q_movements * model.curvature) @ self.q_movements.T
        vector = model.along + self.q_movements @ model.slope
        sizes = np.sqrt(np.maximum(np.diag(matrix), TINY))
        scaled = matrix / np.outer(sizes, sizes) + SINGULAR * np.eye(MEMORY)
        factors = np.asarray(-np.linalg.solve(scaled, vector / sizes) / sizes)
        noise = NOISE * model.square * float(np.abs(factors).sum())
        return factors if -float(vector @ factors) > noise else np.zeros(MEMORY)

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
        change = self._value(q + length * q_step) - self._value(q)
        return length if change + length * along + 0.5 * length**2 * bend < 0.0 else 0.0
