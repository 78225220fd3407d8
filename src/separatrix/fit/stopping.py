"""When a fit ends: rules over the named numbers of a step, and the closed list of statuses they end in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from separatrix.problem import Problem


class Status(StrEnum):
    """How a fit ended."""

    CONVERGED = "converged"
    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    PARTIAL = "partial"
    MAX_UPDATES = "max_updates"
    MAX_PASSES = "max_passes"
    MEMORY_CAP = "memory_cap"
    MAX_STEPS = "max_steps"
    TIME_LIMIT = "time_limit"
    STALLED = "stalled"
    SEPARATED = "separated"
    DIVERGED = "diverged"
    INTERRUPTED = "interrupted"

    @property
    def reached_goal(self) -> bool:
        """Whether the fit ended because it was done, not because it was stopped."""
        return self in {Status.CONVERGED, Status.OPTIMAL, Status.INFEASIBLE, Status.PARTIAL, Status.SEPARATED}


@dataclass(frozen=True)
class AtLeast:
    """Ends a fit with `status` once a fact has reached a bound."""

    fact: str
    bound: float
    status: Status

    def met(self, facts: Mapping[str, float]) -> bool:
        """Tell whether the rule is met by a step's facts."""
        return facts[self.fact] >= self.bound


@dataclass(frozen=True)
class AtMost:
    """Ends a fit with `status` once a fact has fallen to a bound."""

    fact: str
    bound: float
    status: Status

    def met(self, facts: Mapping[str, float]) -> bool:
        """Tell whether the rule is met by a step's facts."""
        return facts[self.fact] <= self.bound


Rule = AtLeast | AtMost


def separation_rule(problem: Problem) -> Rule:
    """Return the rule that ends a logistic or softmax fit once its total loss is below log 2: every row is right."""
    least = 1.0 if problem.weights is None else float(problem.weights[problem.weights > 0.0].min())
    return AtMost("objective", math.log(2.0) * least / problem.total_weight, Status.SEPARATED)


def first_met(rules: Sequence[Rule], facts: Mapping[str, float]) -> Status | None:
    """Return the status of the first rule that a step meets, or None to go on."""
    return next((rule.status for rule in rules if rule.met(facts)), None)
