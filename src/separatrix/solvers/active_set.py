"""Newton steps on the nonzero coefficients with fixed signs, for the last digits of a fit with an L1 penalty.

A Gram matrix of nearly dependent columns squares their dependence, and models by it stop far from the optimum. On the
coefficients S that are not 0, with their signs s, the objective is smooth. Its Newton step is taken in coordinates in
which the Hessian is the identity, from the rows themselves:

    [√curvatureᵢ xᵢ; √ridge] = Q R on S,    T = R⁻¹,    h = Tᵗ (∇loss + threshold·s + ridge·w),    w ← w − T h

The step ends at the first change of a sign, and that coefficient leaves S. When ½‖h‖², the excess on S, is negligible,
the column whose slope exceeds its threshold most enters S with the sign that decreases the objective.

Cost: the rows in dense form; a step takes n·|S|² operations on them, with K classes K times as many.
Reference: Osborne, Presnell and Turlach, A new approach to variable selection in least squares problems (2000).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.arrays import EPSILON, Bools, Floats, Indices
from separatrix.design.rank import column_exponents, find_aliases
from separatrix.loops.coordinate import L1Penalty
from separatrix.problem import Problem
from separatrix.solvers.base import Step
from separatrix.solvers.coordinates import careful_scores, inverse_of_columns
from separatrix.solvers.iterate import Iterate, expand_at
from separatrix.solvers.newton import PROGRESS, ROUNDING, line_search

MOST_ENTRIES = 2**22  # of the dense rows, times the classes
MOST_WORK = 2e9  # operations of a step
SETTLED = 1e-12  # excess on the nonzero coefficients, relative to the objective, below which others may enter
IDLE_STEPS = 4  # without progress, after which it has stalled
NOISE = 4.0 * EPSILON  # of a slope, relative to the root mean squares of its factors


def newton_steps(problem: Problem, lengths: Floats, coef: Floats) -> Iterator[Step]:
    """Yield the steps from some coefficients, given the root mean squares of the columns; none if they cost much."""
    entries = len(problem.y) * coef.size
    if problem.penalty.absolute > 0.0 and problem.design.random_rows and entries <= MOST_ENTRIES:
        weights = np.repeat(problem.penalty_weights, coef.size // len(coef))
        l1 = L1Penalty(problem.penalty.absolute * weights, problem.penalty.quadratic * weights, np.ones(coef.size))
        rows = problem.design.take(np.arange(len(problem.y)))
        yield from _ActiveSet(problem, l1, lengths, rows).descend(coef)


class _Face(NamedTuple):
    """Coordinates of the coefficients at some places: T, and the rows and the gradient in them."""

    places: Indices
    transform: Floats
    gradient: Floats

    @property
    def decrement(self) -> float:
        return float(self.gradient @ self.gradient)


@dataclass(frozen=True)
class _ActiveSet:
    """Newton steps on an active set; `l1` and the places of coefficients are raveled over the classes."""

    problem: Problem
    l1: L1Penalty
    lengths: Floats  # root mean square of each column, (p,)
    rows: Floats  # dense, (n, p)

    def descend(self, coef: Floats) -> Iterator[Step]:
        """Yield the steps from some coefficients, until one is too large."""
        here, signs, least, idle = self._at(coef), np.sign(coef).reshape(-1), (math.inf, math.inf), 0
        moving = (signs != 0.0) | (self.l1.threshold == 0.0)
        while self._work(moving) <= MOST_WORK:
            face = self._face(here, signs, np.flatnonzero(moving))
            entering = self._entering(here, moving) if face.decrement <= SETTLED * abs(here.value) else None
            rest = math.inf if entering is None or entering.size else face.decrement / 2.0
            excess = rest + ROUNDING * abs(here.value)
            idle = 0 if here.value < least[0] or excess < PROGRESS * least[1] else idle + 1
            least = min(here.value, least[0]), min(excess, least[1])
            facts = {"objective": here.value, "excess": excess, "active": float(np.count_nonzero(here.coef))}
            yield Step(here.coef, {**facts, "stalled": 2.0 if idle > IDLE_STEPS else 0.0})
            if entering is not None and entering.size:
                signs[entering] = -np.sign(self._slopes(here)[entering])
                moving[entering] = True
                continue
            here, left = self._step(here, face, signs)
            moving[left] = False

    def _at(self, coef: Floats) -> Iterate:
        self.problem.design.count_visits(len(self.rows))
        return expand_at(self.problem, coef, careful_scores(self.rows, coef))

    def _work(self, moving: Bools) -> float:
        return float(len(self.rows)) * len(moving) / len(self.lengths) * np.count_nonzero(moving) ** 2

    def _face(self, here: Iterate, signs: Floats, places: Indices) -> _Face:
        """Return the coordinates of the coefficients at some places, without those that are dependent to rounding."""
        rows, weighted = self._weighted(here, places)
        ridge = self.l1.ridge[places]
        exponents = column_exponents(weighted)
        parts = np.ldexp(weighted, -exponents), np.diag(np.ldexp(np.sqrt(ridge), -exponents))
        triangle = np.asarray(np.linalg.qr(np.vstack(parts), mode="r"))
        retained = find_aliases(triangle, len(weighted)).retained
        transform = np.zeros((len(places), len(retained)))
        transform[retained] = inverse_of_columns(triangle[:, retained])
        transform = np.ldexp(transform, -exponents[:, np.newaxis])
        penalty = self.l1.threshold[places] * signs[places] + ridge * here.coef.reshape(-1)[places]
        gradient = (rows @ transform).T @ here.weighted_slope.reshape(-1) + transform.T @ penalty
        return _Face(places, transform, gradient)

    def _weighted(self, here: Iterate, places: Indices) -> tuple[Floats, Floats]:
        """Return the rows of the scores, one per class, and these times a root of the curvature."""
        curvature, outputs = here.weighted_curvature, len(self.l1.ridge) // len(self.lengths)
        features, classes = np.divmod(places, outputs)
        rows = self.rows[:, features]
        if outputs == 1:
            return rows, np.sqrt(curvature)[:, np.newaxis] * rows
        by_class = rows[:, np.newaxis, :] * (classes == np.arange(outputs)[:, np.newaxis])
        values, vectors = np.linalg.eigh(curvature)
        roots = np.sqrt(np.maximum(values, 0.0))[:, :, np.newaxis] * vectors.transpose(0, 2, 1)
        return by_class.reshape(-1, len(places)), (roots @ by_class).reshape(-1, len(places))

    def _slopes(self, here: Iterate) -> Floats:
        return np.asarray(self.rows.T @ here.weighted_slope).reshape(-1)

    def _entering(self, here: Iterate, moving: Bools) -> Indices:
        """Return the place of the coefficient of 0 that gains most, in columns of equal size; none if none gains."""
        lengths = np.repeat(self.lengths, len(moving) // len(self.lengths))
        noise = NOISE * math.sqrt(float(np.sum(self.problem.shares * (here.slope * here.slope).T)))
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = (np.abs(self._slopes(here)) - self.l1.threshold) / lengths - noise
        gains = np.where(moving | (lengths == 0.0), 0.0, gains)
        return np.flatnonzero(gains == gains.max(initial=0.0))[:1] if (gains > 0.0).any() else np.zeros(0, np.intp)

    def _step(self, here: Iterate, face: _Face, signs: Floats) -> tuple[Iterate, Indices]:
        """Return the iterate after a step, up to the first change of a sign, and the places that are 0 then."""
        coef, change, places = here.coef.reshape(-1)[face.places], -face.transform @ face.gradient, face.places
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where((self.l1.threshold[places] > 0.0) & (signs[places] * change < 0.0), -coef / change, np.inf)
        length = min(1.0, float(reach.min(initial=math.inf)))
        ended = reach <= length

        def moved(t: float) -> Iterate:
            target = here.coef.copy().reshape(-1)
            target[places] = np.where(ended & (t == 1.0), 0.0, coef + t * length * change)
            return self._at(target.reshape(here.coef.shape))

        resolution = float((EPSILON * (self.lengths @ np.abs(here.coef))).max() ** 2)
        taken, there = line_search(moved, here, -length * face.decrement, resolution)
        return there, places[ended & (taken == 1.0)]
