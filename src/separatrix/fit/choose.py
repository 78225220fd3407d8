"""Which registered solvers can work on a problem, in order of preference, and why the others cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from separatrix.errors import NeedsError
from separatrix.problem import Problem
from separatrix.solvers.base import Solver, check_needs


class Choice(NamedTuple):
    """The solver chosen, and the reason in a sentence."""

    solver: Solver
    reason: str


def choose(problem: Problem, candidates: Sequence[Solver]) -> Choice:
    """Return the first candidate whose needs the problem meets; raise a NeedsError with every reason if none does."""
    return suitable(problem, candidates)[0]


def suitable(problem: Problem, candidates: Sequence[Solver]) -> list[Choice]:
    """Return the candidates whose needs the problem meets, in order; raise a NeedsError if none does."""
    refusals: list[str] = []
    found: list[Choice] = []
    for solver in candidates:
        try:
            check_needs(solver, problem)
        except NeedsError as refusal:
            refusals.append(str(refusal))
        else:
            passed = f"; {' '.join(refusals)}" if refusals else ""
            found.append(Choice(solver, f"{type(solver).__name__} fits the {problem.loss.name} loss{passed}"))
    if not found:
        raise NeedsError(f"no solver fits: {' '.join(refusals)}")
    return found
