"""The one fit loop: only here is a fit timed, traced and stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.fit.stopping import Rule, Status, first_met
from separatrix.fit.trace import StepLog
from separatrix.problem import Problem
from separatrix.solvers import Solver, check_needs

__all__ = ["Run", "Watch", "run"]

# Told of each step while a fit runs: the facts of the step, with `passes` and `seconds`.
Watch = Callable[[Mapping[str, float]], None]


@dataclass(frozen=True)
class Run:
    """A walk that has ended: where, how, after how much work."""

    coef: NDArray[np.float64]
    status: Status
    facts: Mapping[str, float]
    steps: Mapping[str, NDArray[np.float64]]
    passes: float
    seconds: float


def run(
    problem: Problem, solver: Solver, rules: Sequence[Rule], *, start: Any = None, watch: Watch | None = None
) -> Run:
    """Walk a problem with a solver until the first of the rules is met."""
    check_needs(solver, problem)
    log, began, passes_before = StepLog(), time.perf_counter(), problem.design.passes
    for step in solver.steps(problem, start):
        passes, seconds = problem.design.passes - passes_before, time.perf_counter() - began
        facts = {**step.facts, "passes": passes, "seconds": seconds}
        log.add(facts)
        if watch is not None:
            watch(facts)
        status = first_met(rules, facts)
        if status is not None:
            return Run(step.coef, status, facts, log.arrays(), passes, seconds)
    raise AssertionError(f"{type(solver).__name__} ran out of steps before a rule was met")
