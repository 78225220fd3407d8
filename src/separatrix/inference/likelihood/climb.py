"""Climbing a log-likelihood, plain or penalised, in the whole space of its coefficients or in a part of it.

A step is Newton's where the information is minus the Hessian, else that of L-BFGS with the information as first guess;
it is halved until the height rises. The same in any units of the columns. Cost: one look a step, rarely more.

Fails to move, and so ends, where the information is singular in the part of the space that is climbed in.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import one_blas_thread

DECREMENT_TOLERANCE = 1e-18  # of ½ ∇ᵗI⁻¹∇, in units of the log-likelihood: nine digits of a standard error
MOST_STEPS = 200
ROUNDING = 1e-11  # relative: a rise of the log-likelihood that floats may not see
FLATTER = 0.9  # of the slope: what a step that floats cannot see must bring it down to
MEMORY = 10
LARGEST_CHANGE = 5.0  # of a score in one step, where the curvature is a guess
HALVINGS = 30


class Outlook(NamedTuple):
    """At some coefficients: the height, its gradient, and the information."""

    height: float
    gradient: Floats
    information: Floats


class Hill(Protocol):
    """A log-likelihood of some coefficients, (m,)."""

    @property
    def exact(self) -> bool:
        """Whether the information is minus the Hessian."""

    def look(self, coef: Floats) -> Outlook | None:
        """Return the outlook at coefficients; None so far out that there is no information."""

    def largest_score(self, change: Floats) -> float:
        """Return the largest change of a score that a change of the coefficients makes."""


class Climb(NamedTuple):
    """Where a climb ended, and the height at each step of it."""

    coef: Floats
    outlook: Outlook
    heights: list[float]


def climb(hill: Hill, coef: Floats, basis: Floats | None = None, tolerance: float = DECREMENT_TOLERANCE) -> Climb:
    """Maximise a height over coef plus the range of a basis, (m, k), within the tolerance or as far as floats see.

    Without a basis, in the whole space.
    """
    with one_blas_thread():
        return _climb(hill, coef, basis, tolerance)


def _climb(hill: Hill, coef: Floats, basis: Floats | None, tolerance: float) -> Climb:
    here = hill.look(coef)
    if here is None:
        raise ArithmeticError("there is no information at the start of a climb")
    heights, secants = [here.height], list[tuple[Floats, Floats]]()
    for _ in range(MOST_STEPS if basis is None or basis.shape[1] else 0):
        gradient, information = _restricted(here, basis)
        change = _quasi_newton(gradient, information, [] if hill.exact else secants)
        gain = 0.0 if change is None else float(gradient @ change)
        if change is None or not gain > tolerance:
            break
        step = change if basis is None else basis @ change
        moved = _rise(hill, coef, here, step, gain)
        if moved is None:
            break
        length, there = moved
        fall = here.gradient - there.gradient
        secants.append((length * change, fall if basis is None else basis.T @ fall))
        coef, here = coef + length * step, there
        heights.append(here.height)
    return Climb(coef, here, heights)


def _restricted(outlook: Outlook, basis: Floats | None) -> tuple[Floats, Floats]:
    """Return the gradient and the information in the coordinates of a basis."""
    if basis is None:
        return outlook.gradient, outlook.information
    return np.asarray(basis.T @ outlook.gradient), np.asarray(basis.T @ outlook.information @ basis)


def _quasi_newton(gradient: Floats, information: Floats, secants: list[tuple[Floats, Floats]]) -> Floats | None:
    """Return the step of L-BFGS whose first guess at minus the Hessian is the information; None if it is singular."""
    kept = [(step, fall) for step, fall in secants[-MEMORY:] if float(step @ fall) > 0.0]
    left, parts = gradient, []
    for step, fall in reversed(kept):
        part = float(step @ left) / float(step @ fall)
        parts.append(part)
        left = left - part * fall
    try:
        change = solve_scaled(information, left)
    except np.linalg.LinAlgError:
        return None
    for (step, fall), part in zip(kept, reversed(parts), strict=True):
        change = change + (part - float(fall @ change) / float(step @ fall)) * step
    return np.asarray(change)


def solve_scaled(information: Floats, right: Floats) -> Floats:
    """Return I⁻¹ times a vector, computed in columns of equal scale; a singular I raises a LinAlgError."""
    scale = np.sqrt(np.maximum(np.diag(information), np.finfo(np.float64).tiny))
    return np.asarray(np.linalg.solve(information / np.outer(scale, scale), right / scale) / scale)


def _rise(hill: Hill, coef: Floats, here: Outlook, change: Floats, gain: float) -> tuple[float, Outlook] | None:
    """Return the first length of 1, ½, ¼, … at which it is higher; where floats cannot see that, the slope flatter."""
    blind = gain <= ROUNDING * abs(here.height)
    length = 1.0 if hill.exact else LARGEST_CHANGE / max(hill.largest_score(change), LARGEST_CHANGE)
    for _ in range(1 if blind else HALVINGS):
        there = hill.look(coef + length * change)
        if there is not None:
            flatter = abs(float(there.gradient @ change)) < FLATTER * gain
            if flatter if blind else there.height > here.height:
                return length, there
        length /= 2.0
    return None
