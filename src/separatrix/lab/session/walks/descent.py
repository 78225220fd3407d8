"""Learners that go down an objective a step at a time: gradient descent, Newton's method, the SVM's interior points.

Each frame is a `Step` of the library's own solver. The rules that end a walk are the library's too, over the facts of a
step, but for separable data: a logistic fit stops there, since no maximum exists, where the lab goes on to show how the
weights run off.
"""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import counted
from separatrix.fit.lms import rate_limits
from separatrix.fit.stopping import AtLeast, AtMost, Rule, Status, first_met
from separatrix.lab.session.history import Ending, Frame, Frames
from separatrix.lab.session.setting import Setting
from separatrix.solvers import Gradient, InteriorPoint, Newton, Solver, check_needs
from separatrix.solvers.descent import DIVERGING_RISES

__all__ = ["RUN_AWAY", "descent_solver", "descent_walk", "gradient_rate", "rate_of"]

Floats = NDArray[np.float64]
RUN_AWAY = 1e50  # a weight beyond is on its way to infinity
NEAR = 1e-10  # of the loss of scores of 0: an excess that no picture shows


def rate_of(setting: Setting) -> float:
    """Return the rate of a pane, where none is given the learner's own: safe for its loss and rows."""
    if setting.pane.rate is not None:
        return float(setting.pane.rate)
    if setting.pane.step_unit in {"visit", "pass"}:
        return rate_limits(setting.design).automatic("stochastic")
    return gradient_rate(setting)


def gradient_rate(setting: Setting) -> float:
    """Return 1/L, L the largest curvature that the objective can have; 1 if all rows are 0."""
    largest = float(np.linalg.eigvalsh(setting.problem.bounding_hessian())[-1])
    return 1.0 / largest if largest > 0.0 else 1.0


def descent_solver(setting: Setting) -> Solver:
    """Return the solver that a pane asks for."""
    if setting.pane.learner == "logistic_newton":
        return Newton()
    return InteriorPoint() if setting.pane.learner == "svm" else Gradient(rate_of(setting))


def descent_walk(setting: Setting) -> Frames:
    """Walk with a frame a step of the solver."""
    pane, problem, solver = setting.pane, setting.problem, descent_solver(setting)
    check_needs(solver, problem)
    start = None if pane.learner == "svm" else setting.start(np.random.default_rng(pane.seed))
    before: Floats | None = None
    status: Status | None = None
    rules = _rules(setting)
    rate = solver.rate if isinstance(solver, Gradient) else None
    for number, step in enumerate(islice(solver.steps(problem, start), pane.max_steps + 1)):
        facts = {**step.facts, "steps": number}
        coef = np.array(step.coef)
        if not np.abs(coef).max() < RUN_AWAY:
            status = Status.DIVERGED
            break
        change = None if before is None else coef - before
        yield Frame(number, coef, change=change, rate=rate, updates=number, facts=facts)
        before, status = coef, first_met(rules, facts)
        if status is not None:
            break
    return _ending(setting, status or Status.MAX_STEPS, facts)


def _rules(setting: Setting) -> tuple[Rule, ...]:
    smooth = setting.pane.learner not in {"svm", "logistic_newton"}
    null = setting.problem.value(setting.problem.zero_coef())
    excess = AtMost("excess", NEAR * null, Status.CONVERGED)
    stalled = AtLeast("stalled", 2, Status.STALLED)
    return (excess, AtLeast("rises", DIVERGING_RISES, Status.DIVERGED), stalled) if smooth else (excess, stalled)


def _ending(setting: Setting, status: Status, facts: dict[str, float]) -> Ending:
    steps, value = counted(int(facts["steps"]), "step"), facts["objective"]
    words = f"after {steps}, objective {value:.6g}"
    if status is Status.DIVERGED or not math.isfinite(value):
        below = _largest_rate(setting)
        advice = f"the rate {rate_of(setting):g} is too large: it converges below {below:.4g}"
        return Ending(str(Status.DIVERGED), f"diverged after {steps}: {advice}", advice)
    if setting.no_maximum:
        return Ending(
            str(Status.SEPARATED), f"no finite maximum: {words}, and the weights go on to grow", setting.no_maximum
        )
    if status is Status.CONVERGED:
        return Ending(str(status), f"converged {words}", f"the excess is {facts['excess']:.3g} at most, by estimate")
    if status is Status.STALLED:
        return Ending(str(status), f"converged {words}", "floats can go no further")
    return Ending(str(status), f"stopped {words}", "more steps may be asked for, or a larger rate")


def _largest_rate(setting: Setting) -> float:
    """Return 2/L: below it gradient descent converges."""
    return 2.0 * gradient_rate(setting)
