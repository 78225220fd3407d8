"""The fit loop: only here is a fit timed, traced and stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.fit.result import Rule, Status, StepLog, Trace, Updates, first_met
from separatrix.problem import Problem
from separatrix.solvers.base import Solver, Step, check_needs

# Called with the facts of each step, including `passes` and `seconds`; the fit stops if it returns True. The search for
# a separation passes `passes` only.
Watch = Callable[[Mapping[str, float]], bool | None]


def is_stopped(watch: Watch | None, passes: float) -> bool:
    """Return whether the watch, called with the passes, ends a search."""
    return watch is not None and watch({"passes": passes}) is True


@dataclass(frozen=True)
class Run:
    """A finished run: the last iterate, the status, the work done and, on request, the coefficients of every step.

    `passes` are those that a limit of passes counts; `reads` are all passes over the rows, including measurements.
    """

    coef: Floats
    status: Status
    facts: Mapping[str, float]
    steps: Mapping[str, Floats]
    passes: float
    seconds: float
    reads: float
    dual: Floats | None = None
    iterates: Floats | None = None

    def with_iterates(self, change: Callable[[Floats], Floats]) -> Run:
        """Return the run with each of its iterates, if any were stored, changed as the final coefficients were."""
        return self if self.iterates is None else replace(self, iterates=np.stack([*map(change, self.iterates)]))

    def ending_at(self, coef: Floats) -> Run:
        """Return the run with the last of its iterates, if any were stored, replaced."""
        return self if self.iterates is None else replace(self, iterates=np.stack([*self.iterates[:-1], coef]))

    def after(self, previous: Run) -> Run:
        """Return the run with the cost of the one that it continues."""
        steps = {**self.steps, "passes": previous.passes + self.steps["passes"]}
        own = {cost: getattr(previous, cost) + getattr(self, cost) for cost in ("passes", "seconds", "reads")}
        return replace(self, steps=steps, **own)

    def at_cost(self, later: Run) -> Run:
        """Return the run with the cost and the status of a later one that did not improve on it."""
        passes = np.append(self.steps["passes"][:-1], later.passes)
        steps = {**self.steps, "passes": passes}
        return replace(
            self, steps=steps, status=later.status, passes=later.passes, seconds=later.seconds, reads=later.reads
        )

    def trace(self, updates: Updates | None = None) -> Trace:
        """Return the trace of the run; the coefficients of several classes have one row per class, as in a result."""
        return Trace(self.steps, updates, None if self.iterates is None else np.moveaxis(self.iterates, 1, -1))


def run(  # noqa: PLR0913  # the rules, the observer and the counter of a fit
    problem: Problem,
    solver: Solver,
    rules: Sequence[Rule],
    *,
    start: Any = None,
    watch: Watch | None = None,
    confirm: Callable[[Step], bool] | None = None,
    keep_iterates: bool = False,
    counts: str = "",
) -> Run:
    """Iterate a solver until the first of the rules is met; an optimal end must also pass `confirm`.

    `keep_iterates` copies the coefficients of every step: 8 bytes per coefficient and step. `counts` names the fact
    that counts the passes of a rule that visits rows, whose evaluations in between are no passes of its own; by default
    all passes over the rows count.
    """
    check_needs(solver, problem)
    log, began, passes_before = StepLog(keep_iterates), time.perf_counter(), problem.design.passes

    def cost(step: Step) -> tuple[float, float, float]:
        reads = problem.design.passes - passes_before
        return float(step.facts[counts]) if counts else reads, time.perf_counter() - began, reads

    for step in solver.steps(problem, start):
        passes, seconds, _ = cost(step)
        facts = dict(step.facts)
        if "excess" in facts:
            facts["relative_excess"] = facts["excess"] / max(abs(facts["objective"]), problem.least_scale)
        facts |= {"passes": passes, "seconds": seconds}
        log.add(facts, step.coef)
        stop = watch is not None and watch(facts) is True
        status = Status.INTERRUPTED if stop else first_met(rules, facts)
        if status is Status.OPTIMAL and confirm is not None and not confirm(replace(step, facts=facts)):
            status = first_met([rule for rule in rules if rule.status is not Status.OPTIMAL], facts)
        if status is not None:
            ending = cost(step)
            log.columns["passes"][-1] = ending[0]  # a confirmation belongs to the last step
            return Run(step.coef, status, facts, log.arrays(), *ending, step.dual, log.iterates())
    raise AssertionError(f"{type(solver).__name__} ran out of steps before a rule was met")
