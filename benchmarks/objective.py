"""The one objective, for everybody: what a contender is asked to minimise, its answer, and how far off that is.

    P(w, b) = mean loss(x·w + b, y) + strength · ((1 − l1_ratio)/2 ‖w‖² + l1_ratio ‖w‖₁),      b never penalised

Written in NumPy alone, apart from every library it judges. The gap of an answer is (P − lower) / P with a lower bound
of min P that a certificate gave; over several strengths, the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems import Problem

__all__ = ["Answer", "Method", "Task", "values", "worst_gap"]

Floats = NDArray[np.float64]
ROUNDING = 1e-12  # relative: by how much a value may lie below a lower bound before one of them must be wrong


@dataclass(frozen=True)
class Task:
    """Rows, a loss ('logistic', 'softmax', 'hinge' or 'squared'), a penalty at one strength or at each of a path."""

    problem: Problem
    loss: str
    strengths: tuple[float, ...]
    l1_ratio: float = 0.0
    intercept: bool = True

    @property
    def strength(self) -> float:
        """The only strength, or the largest."""
        return self.strengths[0]

    @property
    def C(self) -> float:  # noqa: N802  # the name it has elsewhere
        """The strength as scikit-learn and liblinear count it: 1 / (n · strength)."""
        return 1.0 / (self.problem.n * self.strength)


@dataclass(frozen=True)
class Answer:
    """Coefficients (m, p), or (m, K, p) of K classes, and intercepts (m,) or (m, K): one a strength; the passes made.

    `exhausted` says that a limit of iterations ended the fit, so that no smaller tolerance would change it.
    """

    coefs: Floats
    intercepts: Floats
    passes: float | None = None
    exhausted: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, coef: Any, intercept: Any = 0.0, **more: Any) -> Answer:
        """Make the answer of one strength, from coefficients (p,), (1, p) or (K, p) and intercepts to match."""
        coef = np.asarray(coef, dtype=np.float64)
        coef = coef[0] if coef.ndim == 2 and len(coef) == 1 else coef
        intercepts = np.broadcast_to(np.asarray(intercept, dtype=np.float64).ravel(), coef.shape[:-1] or (1,))
        return cls(coef[np.newaxis], intercepts.reshape(1, *coef.shape[:-1]), **more)

    @classmethod
    def path(cls, coefs: Any, **more: Any) -> Answer:
        """Make the answer of a path without an intercept, from coefficients (m, p)."""
        coefs = np.asarray(coefs, dtype=np.float64)
        return cls(coefs, np.zeros(len(coefs)), **more)


@dataclass(frozen=True)
class Method:
    """A way to do a task: its name, what runs it at a tolerance, and the tolerances to try, the loosest first."""

    name: str
    run: Callable[[float], Answer]
    ladder: Sequence[float]


def values(task: Task, answer: Answer) -> Floats:
    """Return the objective at each strength, (m,)."""
    pairs = zip(task.strengths, answer.coefs, answer.intercepts, strict=True)
    return np.array([_value(task, strength, coef, intercept) for strength, coef, intercept in pairs])


def worst_gap(values: Floats, lowers: Floats) -> float:
    """Return the largest relative gap; raise an ArithmeticError where a value is below its lower bound."""
    below = values < lowers - ROUNDING * np.abs(lowers)
    if below.any():
        place = int(np.flatnonzero(below)[0])
        raise ArithmeticError(f"an objective of {values[place]:.17g} is below its lower bound {lowers[place]:.17g}")
    return float(np.max(np.maximum(values - lowers, 0.0) / np.abs(values)))


def _value(task: Task, strength: float, coef: Floats, intercept: Floats) -> float:
    eta = np.asarray(task.problem.X @ coef.T) + intercept
    loss = LOSSES[task.loss](eta, task.problem.y)
    absolute, squares = float(np.abs(coef).sum()), float((coef * coef).sum())
    return loss + strength * ((1.0 - task.l1_ratio) / 2.0 * squares + task.l1_ratio * absolute)


def _logistic(eta: Floats, y: Floats) -> float:
    return float(np.logaddexp(0.0, -y * eta).mean())


def _softmax(eta: Floats, y: Floats) -> float:
    top = eta.max(axis=1)
    total = np.log(np.exp(eta - top[:, np.newaxis]).sum(axis=1)) + top
    return float((total - eta[np.arange(len(y)), y.astype(np.intp)]).mean())


def _hinge(eta: Floats, y: Floats) -> float:
    return float(np.maximum(0.0, 1.0 - y * eta).mean())


def _squared(eta: Floats, y: Floats) -> float:
    return float(0.5 * ((eta - y) ** 2).mean())


LOSSES: dict[str, Callable[[Floats, Floats], float]] = {
    "logistic": _logistic,
    "softmax": _softmax,
    "hinge": _hinge,
    "squared": _squared,
}
