"""Gradient descent, or ascent, on a user's function.

    x ← x − η ∇J(x)        until η‖∇J(x)‖ ≤ tol (rule "gradient"), or no entry of x changes by more than tol ("change")

The rate η is a number, or a function η(k) of the step number k = 0, 1, …

It finds a local minimum, the global one of a convex function, if the rate is small enough: below 2/L with L the largest
curvature of J. A rate that is too large is recognised by growing values, and reported.

Cost: one value and one gradient per step.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Expansion
from separatrix.errors import ConvergenceWarning, DataError, counted, require_choice, require_number
from separatrix.fit.result import AtLeast, AtMost, Status, StepLog, first_met
from separatrix.solvers.gradient import DIVERGING_RISES, STOPPING_FACTS, DescentProgress, KnownRate, descend

TRACED = ("step_length", "change", "curvature")


@dataclass(frozen=True)
class Minimum:
    """The end of a descent: `x`, J there, status and message, the number of steps; `trace` has one number per step.

    `iterates` has the points of all steps, the start first; None unless requested.
    """

    x: Floats
    value: float
    status: Status
    message: str
    steps: int
    trace: Mapping[str, Floats]
    iterates: Floats | None = None


def minimise(  # noqa: PLR0913  # a function, its start, and the descent's options
    J: Callable[[Floats], Any],
    gradient: Callable[[Floats], Any],
    start: Any,
    *,
    rate: KnownRate,
    tol: float = 1e-6,
    rule: Literal["gradient", "change"] = "gradient",
    maximise: bool = False,
    max_steps: int = 10_000,
    keep_iterates: bool = False,
) -> Minimum:
    """Minimise J by gradient descent from a start or, with `maximise`, maximise it by gradient ascent.

    Parameters: `J` and `gradient`, functions of an array shaped like `start`; `rate`, the η above; `tol` and `rule`,
    when to stop: the next step would be no longer than `tol` ("gradient"), or the last one changed no entry by more
    ("change"); `max_steps`, when to give up; `keep_iterates`, whether to keep the point of every step, in 8 bytes per
    entry and step. Ends as "converged", "max_steps" or "diverged", the latter two with a warning.

    Reference: Cauchy, Méthode générale pour la résolution des systèmes d'équations simultanées (1847).

    >>> import numpy as np
    >>> minimum = minimise(lambda x: (x[0] - 3) ** 2 + 1, lambda x: 2 * (x - 3), [0.0], rate=0.25)
    >>> print(minimum.status, minimum.x.round(5), round(minimum.value, 9))
    converged [3.] 1.0
    >>> slowing = minimise(np.square, lambda x: 2 * x, 4.0, rate=lambda k: 0.25 / (k + 1), tol=0.3, keep_iterates=True)
    >>> slowing.iterates.tolist()
    [4.0, 2.0, 1.5]
    """
    tol, limit = require_number("tol", tol, least=0.0), int(require_number("max_steps", max_steps, least=1))
    rate = rate if callable(rate) else require_number("rate", rate, above=0.0)
    fact = STOPPING_FACTS[require_choice("rule", rule, STOPPING_FACTS)]
    rules = (
        AtLeast("rises", DIVERGING_RISES, Status.DIVERGED),
        AtMost(fact, tol, Status.CONVERGED),
        AtLeast("steps", limit, Status.MAX_STEPS),
    )
    sign, log = -1.0 if maximise else 1.0, StepLog(keep_iterates)

    def expand(x: Floats) -> Expansion:
        value, slopes = np.asarray(J(x), dtype=np.float64), np.asarray(gradient(x), dtype=np.float64)
        if value.size != 1:
            raise DataError(f"J returned an array of shape {value.shape}; it must return one number")
        if slopes.shape != x.shape:
            raise DataError(f"gradient returned shape {slopes.shape}, but the start has shape {x.shape}")
        return Expansion(sign * float(value.reshape(())), sign * slopes)

    for step in descend(DescentProgress(expand), np.array(start, dtype=np.float64), rate):
        facts, value = step.facts, sign * step.facts["objective"]
        log.add({"value": value, **{name: facts[name] for name in TRACED}}, step.coef)
        status = first_met(rules, facts)
        if status is not None:
            message = _message(facts, status, sign)
            if not status.reached_goal:
                warnings.warn(message, ConvergenceWarning, stacklevel=2)
            return Minimum(step.coef, value, status, message, int(facts["steps"]), log.arrays(), log.iterates())
    raise AssertionError("a descent never stops yielding steps")


def _message(facts: Mapping[str, float], status: Status, sign: float) -> str:
    after, value = f"after {counted(int(facts['steps']), 'step')}", sign * facts["objective"]
    if status is Status.CONVERGED:
        return f"converged {after}: J = {value:.6g}, the next step has length {facts['step_length']:.3g}"
    if status is Status.MAX_STEPS:
        steps = (
            f"the last step changed an entry by {facts['change']:.3g}, the next has length {facts['step_length']:.3g}"
        )
        return f"stopped {after}: J = {value:.6g}; {steps}; raise max_steps, or the rate if J changes slowly"
    direction, bound = ("decreases", "minimum") if sign > 0.0 else ("increases", "maximum")
    if facts["objective"] == -math.inf:
        return f"diverged {after}: J {direction} without bound, so it has no {bound}"
    curvature, hint = facts["curvature"], "try a smaller one"
    if 0.0 < curvature < math.inf:
        hint = f"at the last curvature, {curvature:.3g}, it must be below {2.0 / curvature:.3g}"
    away = f"J has gone to {value:.3g}, away from its {bound}"
    return f"diverged {after}: {away}: rate {facts['rate']:g} is too large; {hint}"
