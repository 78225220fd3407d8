"""The result of a fit: coefficients in the user's units, status, cost, certificate and trace; and the stopping rules.

Stopping rules compare the named numbers of a step with bounds and end a fit with a status from a closed list. The trace
has columns of numbers with one row per step (the solver's facts, passes and seconds), and for mistake-driven fits one
row per stored update: its number, visit, row and score, and `weights` after the updates `weight_updates`. A long run
is thinned evenly under a memory limit; `complete` and `stride` say whether and how much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.certificates.base import Certificate
from separatrix.problem import Problem
from separatrix.solvers.visits import UpdateRecord


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


class AtLeast(NamedTuple):
    """End a fit with `status` once a fact is at least `bound`."""

    fact: str
    bound: float
    status: Status

    def met(self, facts: Mapping[str, float]) -> bool:
        return facts[self.fact] >= self.bound


class AtMost(NamedTuple):
    """End a fit with `status` once a fact is at most `bound`."""

    fact: str
    bound: float
    status: Status

    def met(self, facts: Mapping[str, float]) -> bool:
        return facts[self.fact] <= self.bound


Rule = AtLeast | AtMost


def separation_rule(problem: Problem) -> Rule:
    """Return the rule that ends a logistic or softmax fit with total loss below log 2: every row is correct."""
    least = 1.0 if problem.weights is None else float(problem.weights[problem.weights > 0.0].min())
    return AtMost("objective", math.log(2.0) * least / problem.total_weight, Status.SEPARATED)


def first_met(rules: Sequence[Rule], facts: Mapping[str, float]) -> Status | None:
    """Return the status of the first rule that a step meets, or None to continue."""
    return next((rule.status for rule in rules if rule.met(facts)), None)


@dataclass(frozen=True)
class Updates:
    """The updates of a mistake-driven fit, in columns."""

    number: Ints
    visit: Ints
    row: Ints
    score: Floats
    weights: Floats
    weight_updates: Ints
    start: Floats
    stride: int
    weight_stride: int

    @property
    def complete(self) -> bool:
        """Whether every update is present, with its weights."""
        return self.stride == 1 and self.weight_stride == 1

    @classmethod
    def from_record(cls, record: UpdateRecord) -> Updates:
        """Read the columns off a solver's record."""
        table, weights = record.updates.rows(), record.snapshots.rows()
        stride, weight_stride = record.updates.stride, record.snapshots.stride
        return cls(
            number=stride * np.arange(1, len(table) + 1),
            visit=table[:, 0].astype(np.int64),
            row=table[:, 1].astype(np.int64),
            score=table[:, 2],
            weights=weights,
            weight_updates=weight_stride * np.arange(1, len(weights) + 1),
            start=record.start,
            stride=stride,
            weight_stride=weight_stride,
        )


@dataclass(frozen=True)
class Trace:
    """The steps of a fit, its updates if it is mistake-driven, and its iterates if requested.

    `coefs` has the coefficients at each step in the user's units, the intercept, if there is one, first: (steps, p) or,
    for a softmax, (steps, K, p). It is None unless `keep_iterates` was given.
    """

    steps: Mapping[str, Floats]
    updates: Updates | None = None
    coefs: Floats | None = None

    def __len__(self) -> int:
        return len(self.steps["passes"])


@dataclass
class StepLog:
    """Collects the facts of steps into columns and, if `keep_iterates`, copies of their coefficients."""

    keep_iterates: bool = False
    columns: dict[str, list[float]] = field(default_factory=dict)
    coefs: list[Floats] = field(default_factory=list)

    def add(self, facts: Mapping[str, float], coef: Floats) -> None:
        """Append a step."""
        for name, value in facts.items():
            self.columns.setdefault(name, []).append(float(value))
        if self.keep_iterates:
            self.coefs.append(np.array(coef))

    def arrays(self) -> dict[str, Floats]:
        """Return the columns as arrays."""
        return {name: np.asarray(values) for name, values in self.columns.items()}

    def iterates(self) -> Floats | None:
        """Return the coefficients of all steps, the first axis; None if they were not stored."""
        return np.stack(self.coefs) if self.keep_iterates else None


@dataclass(frozen=True)
class FitResult:
    """A fit: `coef` (p,) and `intercept` of one linear predictor, or (K, p) and (K,) with one predictor per class.

    `overlap` proves that no halfspace separates the rows, if the fit was stopped for that reason.
    """

    coef: Floats
    intercept: Floats
    status: Status
    message: str
    objective: float
    passes: float
    seconds: float
    certificate: Certificate
    trace: Trace
    facts: Mapping[str, float] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[FitResult, ...] = ()
    overlap: Certificate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values, with the certificate and without the trace."""
        overlap = {} if self.overlap is None else {"overlap": self.overlap.to_dict()}
        return {
            "coef": self.coef.tolist(),
            "intercept": self.intercept.tolist(),
            "status": str(self.status),
            **{name: getattr(self, name) for name in ("message", "objective", "passes", "seconds")},
            "facts": dict(self.facts),
            "provenance": dict(self.provenance),
            "certificate": self.certificate.to_dict(),
            **overlap,
        }
