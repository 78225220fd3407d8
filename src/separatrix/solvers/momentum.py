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

from separatrix.arrays import EPSILON, Floats, Ints
from separatrix.loops.dual import MEMORY, measure_movements, take_step
from separatrix.solvers.multipliers import Multipliers

SINGULAR = 1e-10  # relative: movements as dependent as this count as one
MOST_CLIPPED = 0.2  # of the rows in play, beyond which the step is not worth its reads
STEP_COST = 8  # a coefficient, in entries read by a sweep
STEP_WORK = 12  # scalar operations a coefficient
NOISE = 16.0 * EPSILON
LARGEST = 1e4  # sum of the factors of a step
TINY = 1e-300
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
