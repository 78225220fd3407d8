"""The fit loop: only here is a fit timed, traced and stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from separatrix.arrays import Floats
from separatrix.fit.result import Rule, Status, StepLog, first_met
from separatrix.problem import Problem
from separatrix.solvers.base import Solver, Step, check_needs

# Called with the facts of each step, including `passes` and `seconds`; the fit stops if it returns True. The search for
# a separation passes `passes` only.
Watch = Callable[[Mapping[str, float]], bool | None]


@dataclass(frozen=True)
class Run:
    """A finished run: the last iterate, the status, and the work done."""

    coef: Floats
    status: Status
    facts: Mapping[str, float]
    steps: Mapping[str, Floats]
    passes: float
    seconds: float
    dual: Floats | None = None


def run(
    problem: Problem,
    solver: Solver,
    rules: Sequence[Rule],
    *,
    start: Any = None,
    watch: Watch | None = None,
    confirm: Callable[[Step], bool] | None = None,
) -> Run:
    """Iterate a solver until the first of the rules is met; an optimal end must also pass `confirm`."""
    check_needs(solver, problem)
    log, began, passes_before = StepLog(), time.perf_counter(), problem.design.passes
    for step in solver.steps(problem, start):
        passes, seconds = problem.design.passes - passes_before, time.perf_counter() - began
        facts = {**_relative(step.facts, problem), "passes": passes, "seconds": seconds}
        log.add(facts)
        stop = watch is not None and watch(facts) is True
        status = Status.INTERRUPTED if stop else first_met(rules, facts)
        if status is Status.OPTIMAL and confirm is not None and not confirm(replace(step, facts=facts)):
            status = first_met([rule for rule in rules if rule.status is not Status.OPTIMAL], facts)
        if status is not None:
            passes, seconds = problem.design.passes - passes_before, time.perf_counter() - began
            return Run(step.coef, status, facts, log.arrays(), passes, seconds, step.dual)
    raise AssertionError(f"{type(solver).__name__} ran out of steps before a rule was met")


def _relative(facts: Mapping[str, float], problem: Problem) -> Mapping[str, float]:
    """Add the excess relative to the objective, if the step has both."""
    if "excess" not in facts:
        return facts
    size = max(abs(facts["objective"]), problem.least_scale)
    return {**facts, "relative_excess": facts["excess"] / size}
