"""The fewest mistakes that any halfspace makes: a minimum hitting set of infeasible subsystems (HiGHS).

An infeasible subsystem is a small set of rows that no w classifies all correctly, proved exactly by multipliers:

    Σ λᵢ yᵢ xᵢ = 0,    λ > 0:        a w with all yᵢ w·xᵢ > 0 would have 0 = w·Σ λᵢ yᵢ xᵢ > 0

Dropping a set of rows makes the rest separable if and only if the set hits every infeasible subsystem. So two programs
alternate: an integer program finds a smallest set that hits all known subsystems (its bound is a lower bound on the
mistakes), and a linear program either separates the other rows, which is then optimal, or finds new subsystems. One
row of each is dropped until the rest is separable, which gives a halfspace and an upper bound.

The exact λ of the rows that a linear program chose is found by a simplex method on integers; if floating point chose
them wrongly, it is applied to all rows.

A score of exactly 0 counts as a mistake. The problem is NP-hard: the bounds close on small or nearly separable data and
may not elsewhere. Cost of a step: one linear program of all rows and, occasionally, an integer program over the rows in
subsystems, limited to `patience` seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp

from separatrix.arrays import EPSILON, Bools, Floats, Indices
from separatrix.numerics import integer_columns, integer_simplex
from separatrix.problem import Problem
from separatrix.solvers.base import IN_MEMORY, Needs, Step
from separatrix.solvers.halfspace_lp import HalfspaceProgram

SUBSYSTEMS_PER_STEP = 40  # searched before the next integer program
RETRIED = 200  # misclassified rows, each of which is tried to be classified correctly
NO_MARGIN = 1e-9  # in columns of equal size: HiGHS does not distinguish smaller margins from 0
NEGLIGIBLE = 1e-9  # relative to the largest: smaller multipliers are rounding errors
INTEGRAL = 1e-6  # a bound this little above an integer is that integer
EXACT_ENTRIES = 20_000  # of rows decided in rational arithmetic


class Subsystem(NamedTuple):
    """Rows that cannot all be classified correctly, and their multipliers, positive integers."""

    rows: tuple[int, ...]
    multipliers: tuple[int, ...]


def exact_subsystem(points: Floats, rows: Sequence[int]) -> Subsystem | None:
    """Return a minimal infeasible subsystem among some rows yᵢ xᵢ (k, p); None if they are separable.

    Its multipliers are a vertex of λ ≥ 0, Σ λᵢ = 1, Σ λᵢ yᵢ xᵢ = 0, which the simplex method finds by minimising the
    sum of one artificial variable per equation.
    """
    k, p = points.shape
    tableau = np.zeros((p + 2, k + 1), dtype=object)
    tableau[:p, :k] = integer_columns(points)[0].T
    tableau[p] = 1
    tableau[-1] = -tableau[:-1].sum(axis=0)
    tableau, basis, _ = integer_simplex(tableau, list(range(-p - 1, 0)))
    if tableau[-1, -1]:
        return None
    support = sorted((place, tableau[i, -1]) for i, place in enumerate(basis) if place >= 0 and tableau[i, -1])
    common = math.gcd(*(value for _, value in support))
    return Subsystem(tuple(int(rows[place]) for place, _ in support), tuple(value // common for _, value in support))


@dataclass
class FewestMistakesState:
    """The best weights with their mistakes, the known subsystems, and the lower bound that they imply for any weights.

    `doubt` is set if floating point could neither separate rows nor prove them inseparable.
    """

    coef: Floats
    wrong: Bools | None = None
    lower: int = 0
    subsystems: list[Subsystem] = field(default_factory=list)
    doubt: bool = False

    @property
    def upper(self) -> int:
        assert self.wrong is not None
        return int(self.wrong.sum())


@dataclass(frozen=True)
class FewestMistakes:
    """Minimum hitting sets of infeasible subsystems, one linear program per step."""

    patience: float = 10.0

    needs: ClassVar[Needs] = IN_MEMORY

    def steps(self, problem: Problem, start: FewestMistakesState) -> Iterator[Step]:
        """Yield one step per program, and update the state; facts: both bounds, the number of known subsystems."""
        search = _Search(problem, start)
        search.consider(start.coef)
        for steps, _ in enumerate(search.programs(self.patience), start=1):
            facts = {"steps": steps, "lower": start.lower, "upper": start.upper, "gap": start.upper - start.lower}
            facts |= {"subsystems": len(start.subsystems), "stalled": int(start.doubt)}
            yield Step(start.coef, facts)


def smallest_cover(systems: Sequence[Sequence[int]], n: int, seconds: float) -> tuple[Bools, int]:
    """Return a smallest set of n rows that hits every subsystem, or the best found in time, and a bound on its size."""
    chosen = np.zeros(n, dtype=bool)
    if not systems:
        return chosen, 0
    rows, places = np.unique(np.concatenate([np.asarray(system) for system in systems]), return_inverse=True)
    owners = np.repeat(np.arange(len(systems)), [len(system) for system in systems])
    matrix = sp.csr_array((np.ones(len(places)), (owners, places)), shape=(len(systems), len(rows)))
    solved = scipy.optimize.milp(
        np.ones(len(rows)),
        integrality=np.ones(len(rows), dtype=np.int64),
        bounds=scipy.optimize.Bounds(0, 1),
        constraints=scipy.optimize.LinearConstraint(matrix, lb=1.0),
        options={"time_limit": seconds},
    )
    bound = getattr(solved, "mip_dual_bound", None)
    if solved.x is None:
        chosen[rows] = True
    else:
        chosen[rows[solved.x > 0.5]] = True
    return chosen, math.ceil(bound - INTEGRAL) if bound is not None and math.isfinite(bound) else 1


class _Search:
    """Separates subsets of the rows or finds their infeasible subsystems, and stores the best weights."""

    def __init__(self, problem: Problem, state: FewestMistakesState) -> None:
        self.problem, self.state = problem, state
        norms = np.sqrt(problem.design.squared_norms())
        self.rounding = (problem.design.shape[1] + 2) * EPSILON * norms
        self.known = {system.rows for system in state.subsystems}

    def consider(self, coef: Floats) -> Bools:
        """Return the mistakes of some weights, and store the weights if they make fewer than the best so far."""
        margins = self.problem.y * self.problem.design.matvec(coef)
        wrong = ~(margins > self.rounding * float(np.linalg.norm(coef)))
        if self.state.wrong is None or wrong.sum() < self.state.upper:
            self.state.coef, self.state.wrong = coef, wrong
        return np.asarray(wrong)

    def programs(self, patience: float) -> Iterator[None]:
        """Solve programs without end, one per step."""
        yield from self._pack()
        yield from self._improve()
        while True:
            systems = [system.rows for system in self.state.subsystems]
            cover, bound = smallest_cover(systems, len(self.problem.y), patience)
            self.state.lower = min(max(self.state.lower, bound), self.state.upper)
            yield
            yield from self._refute(cover)

    def _pack(self) -> Iterator[None]:
        """Find disjoint subsystems until the rest is separable: each costs at least one mistake."""
        remaining = np.ones(len(self.problem.y), dtype=bool)
        while (subsystem := self._separate(remaining)) is not None:
            remaining[list(subsystem.rows)] = False
            self.state.lower += 1
            yield
        yield

    def _improve(self) -> Iterator[None]:
        """Try for each misclassified row whether it and all correctly classified rows are separable."""
        assert self.state.wrong is not None
        correct = ~self.state.wrong
        for row in np.flatnonzero(self.state.wrong)[:RETRIED].tolist():
            trial = correct.copy()
            trial[row] = True
            if not correct[row] and self._separate(trial) is None:
                correct = trial | ~self.state.wrong
            yield

    def _refute(self, dropped: Bools) -> Iterator[None]:
        """Find subsystems among the remaining rows, dropping a row of each, until the rest is separable."""
        remaining = ~dropped
        for _ in range(SUBSYSTEMS_PER_STEP):
            subsystem = self._separate(remaining)
            yield
            if subsystem is None:
                return
            remaining[self._row_to_drop(subsystem)] = False

    def _row_to_drop(self, subsystem: Subsystem) -> int:
        """Return the row in most subsystems, among those misclassified by the best weights if there are any."""
        assert self.state.wrong is not None
        rows = [row for row in subsystem.rows if self.state.wrong[row]] or subsystem.rows
        frequency = {row: sum(row in system.rows for system in self.state.subsystems) for row in rows}
        return max(frequency, key=lambda row: (frequency[row], -row))

    def _separate(self, chosen: Bools) -> Subsystem | None:
        """Separate some rows and consider the weights, or return a new or known subsystem of them."""
        rows = np.flatnonzero(chosen)
        if not len(rows):
            return None
        coef, multipliers = self._program(chosen)
        if multipliers is None and not self.consider(coef)[rows].any():
            return None
        support = rows if multipliers is None else rows[multipliers > NEGLIGIBLE * multipliers.max()]
        subsystem = self._subsystem(support) or self._subsystem(rows)
        if subsystem is None:
            self.state.doubt = True
            return None
        if subsystem.rows not in self.known:
            self.known.add(subsystem.rows)
            self.state.subsystems.append(subsystem)
        return subsystem

    def _program(self, chosen: Bools) -> tuple[Floats, Floats | None]:
        """Return weights, and None if they separate some rows in floating point, else the multipliers of the rows."""
        design, y = self.problem.design.select(chosen), self.problem.y[chosen]
        if design.virtual and abs(float(y.sum())) == len(y):
            return np.append(y[0], np.zeros(design.shape[1] - 1)), None
        for step in HalfspaceProgram().steps(Problem(design, y, self.problem.loss)):
            assert step.dual is not None
            if step.facts["margin"] <= NO_MARGIN:
                return step.coef, step.dual
            if step.facts["wrong"] == 0 or step.facts["stalled"]:
                return step.coef, None
        raise AssertionError("solvers yield steps without end")

    def _subsystem(self, rows: Indices) -> Subsystem | None:
        """Return an exact subsystem of some rows; None if there is none, or the rows are too many."""
        if len(rows) * self.problem.design.shape[1] > EXACT_ENTRIES:
            return None
        points = self.problem.design.take(rows) * self.problem.y[rows, np.newaxis]
        return exact_subsystem(points, rows.tolist())
