"""Infeasible subsystems: few rows that no w gets all right, with the multipliers that show it, exactly.

    Σ λᵢ yᵢ xᵢ = 0,    λ > 0:        a w with all yᵢ w·xᵢ > 0 would have 0 = w·Σ λᵢ yᵢ xᵢ > 0

A linear program's multipliers are rounded; but the rows of a vertex are independent but for one relation, so that the
exact λ is the one null vector of a small integer matrix. Where floats chose the rows wrongly, a simplex walk in
rationals (Bland's rule) decides. Cost: O(p k²) operations on integers that grow to some k times their length.

The fewest mistakes that any halfspace makes: a minimum hitting set of infeasible subsystems (HiGHS).

A set of rows can be dropped to make the rest separable if and only if it hits every infeasible subsystem. So, in turns:
an integer program finds a smallest set that hits all subsystems known (its bound is a lower bound on the mistakes), and
a linear program either separates the other rows, which is then the least, or shows subsystems that were not known. Of
each of these a row is dropped and the next looked for, until the rest is separable: a halfspace and an upper bound.

A score of exactly 0 counts as a mistake. The problem is NP-hard: the bounds close on small or nearly separable data,
and elsewhere in time that no one can wait for; every step has both. Cost of a step: one linear program of all rows and,
every so often, an integer program over the rows in subsystems, limited to `patience` seconds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp

from separatrix.arrays import EPSILON, Bools, Floats, Indices
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.halfspace_lp import HalfspaceProgram


class Subsystem(NamedTuple):
    """Rows that cannot all be right, and their multipliers, positive integers."""

    rows: tuple[int, ...]
    multipliers: tuple[int, ...]


def exact_subsystem(points: Floats, rows: Sequence[int]) -> Subsystem | None:
    """Return a minimal infeasible subsystem among some rows yᵢ xᵢ (k, p); None if they can all be right."""
    columns = _integer_columns(points)
    multipliers = _only_null_vector(columns)
    if multipliers is None or min(multipliers) <= 0:
        multipliers = _vertex(columns)
    if multipliers is None:
        return None
    kept = [place for place, value in enumerate(multipliers) if value]
    common = math.gcd(*(multipliers[place] for place in kept))
    return Subsystem(tuple(int(rows[place]) for place in kept), tuple(multipliers[place] // common for place in kept))


def _integer_columns(points: Floats) -> list[list[int]]:
    """Return the points' columns (p, k) as integers: each times a power of 2, which changes no relation."""
    columns = []
    for column in points.T.tolist():
        ratios = [value.as_integer_ratio() for value in column]
        shared = max(bottom for _, bottom in ratios)
        whole = [top * (shared // bottom) for top, bottom in ratios]
        common = math.gcd(*whole)
        if common:
            columns.append([value // common for value in whole])
    return columns


def _only_null_vector(matrix: list[list[int]]) -> list[int] | None:
    """Return the null vector, its sum above 0, of a matrix (p, k) that has just one; else None. (Bareiss)"""
    rows, k = [row[:] for row in matrix], len(matrix[0]) if matrix else 1
    pivots: list[int] = []
    before, free = 1, -1
    for column in range(k):
        rank = len(pivots)
        place = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if place is None:
            if free >= 0:
                return None
            free = column
            continue
        rows[rank], rows[place] = rows[place], rows[rank]
        pivot = rows[rank]
        for i in range(len(rows)):
            if i != rank:
                factor = rows[i][column]
                rows[i] = [(pivot[column] * a - factor * b) // before for a, b in zip(rows[i], pivot, strict=True)]
        before = pivot[column]
        pivots.append(column)
    if free < 0:
        return None
    vector = [0] * k
    vector[free] = before
    for rank, column in enumerate(pivots):
        vector[column] = -rows[rank][free]
    return vector if sum(vector) > 0 else [-value for value in vector]


def _vertex(columns: list[list[int]]) -> list[int] | None:
    """Return λ ≥ 0, not 0, with Σ λᵢ zᵢ = 0, on independent rows but for one relation; None if there is none."""
    k = len(columns[0]) if columns else 1
    table = [[Fraction(value) for value in column] + [Fraction(0)] for column in columns]
    table.append([Fraction(1)] * (k + 1))
    basis = [-1] * len(table)  # −1: still the artificial variable of its row
    while True:
        gains = [sum(row[j] for row, owner in zip(table, basis, strict=True) if owner < 0) for j in range(k)]
        entering = next((j for j in range(k) if gains[j] > 0 and j not in basis), None)
        if entering is None:
            break
        ratios = [(row[k] / row[entering], basis[i], i) for i, row in enumerate(table) if row[entering] > 0]
        leaving = min(ratios)[2]
        _pivot(table, leaving, entering)
        basis[leaving] = entering
    if any(owner < 0 and row[k] for row, owner in zip(table, basis, strict=True)):
        return None
    shares = [Fraction(0)] * k
    for row, owner in zip(table, basis, strict=True):
        if owner >= 0:
            shares[owner] = row[k]
    common = math.lcm(*(share.denominator for share in shares))
    return [int(share * common) for share in shares]


def _pivot(table: list[list[Fraction]], leaving: int, entering: int) -> None:
    head = table[leaving][entering]
    table[leaving] = [value / head for value in table[leaving]]
    for i, row in enumerate(table):
        factor = row[entering]
        if i != leaving and factor:
            table[i] = [a - factor * b for a, b in zip(row, table[leaving], strict=True)]


FOUND_A_STEP = 40  # subsystems looked for before the next integer program
RETURNED = 200  # rows that a halfspace gets wrong, of which each is tried to be got right
NO_MARGIN = 1e-9  # in columns of equal size: what HiGHS cannot tell from 0
CARRIES = 1e-9  # of the largest: multipliers below this are rounding
WHOLE = 1e-6  # a bound this little above a whole number is that number
EXACT_ENTRIES = 20_000  # of rows that rationals are asked about, where floats were wrong


@dataclass
class FewestMistakesState:
    """What is known: the best weights with their mistakes, the subsystems, and the bound that they put on any weights.

    `doubt` is set where floats could neither separate rows nor show why not.
    """

    coef: Floats
    wrong: Bools | None = None
    lower: int = 0
    subsystems: list[Subsystem] = field(default_factory=list)
    doubt: bool = False

    @property
    def upper(self) -> int:
        """The mistakes of the best weights."""
        assert self.wrong is not None
        return int(self.wrong.sum())


class Cover(NamedTuple):
    """Rows that hit every subsystem, and a lower bound on the size of any such set."""

    rows: Bools
    bound: int


@dataclass(frozen=True)
class FewestMistakes:
    """Minimum hitting sets of infeasible subsystems, a linear program a step."""

    patience: float = 10.0

    needs: ClassVar[Needs] = Needs(
        target=frozenset({"labels"}),
        random_rows=True,
        no_penalty=True,
        otherwise={"random_rows": "Hold the rows in memory, as an array or a sparse matrix."},
    )

    def steps(self, problem: Problem, start: FewestMistakesState) -> Iterator[Step]:
        """Walk from weights in a state that is kept up to date; facts: both bounds, how many subsystems are known."""
        search = _Search(problem, start)
        search.consider(start.coef)
        for steps, _ in enumerate(search.programs(self.patience), start=1):
            facts = {"steps": steps, "lower": start.lower, "upper": start.upper, "gap": start.upper - start.lower}
            facts |= {"subsystems": len(start.subsystems), "stalled": int(start.doubt)}
            yield Step(start.coef, facts)


def smallest_cover(systems: Sequence[Sequence[int]], n: int, seconds: float) -> Cover:
    """Return a smallest set of n rows that hits every subsystem, or the best found in so many seconds."""
    chosen = np.zeros(n, dtype=bool)
    if not systems:
        return Cover(chosen, 0)
    rows, places = np.unique(np.concatenate([np.asarray(system) for system in systems]), return_inverse=True)
    owners = np.repeat(np.arange(len(systems)), [len(system) for system in systems])
    matrix = sp.csr_array((np.ones(len(places)), (owners, places)), shape=(len(systems), len(rows)))
    found = scipy.optimize.milp(
        np.ones(len(rows)),
        integrality=np.ones(len(rows), dtype=np.int64),
        bounds=scipy.optimize.Bounds(0, 1),
        constraints=scipy.optimize.LinearConstraint(matrix, lb=1.0),
        options={"time_limit": seconds},
    )
    bound = getattr(found, "mip_dual_bound", None)
    if found.x is None:
        chosen[rows] = True
    else:
        chosen[rows[found.x > 0.5]] = True
    return Cover(chosen, math.ceil(bound - WHOLE) if bound is not None and math.isfinite(bound) else 1)


class _Search:
    """The rows, and what is done with them: separate some, or show why not; keep the best weights."""

    def __init__(self, problem: Problem, state: FewestMistakesState) -> None:
        self.problem, self.state = problem, state
        norms = np.sqrt(problem.design.squared_norms())
        self.unsure = (problem.design.shape[1] + 2) * EPSILON * norms
        self.known = {system.rows for system in state.subsystems}

    def consider(self, coef: Floats) -> Bools:
        """Keep some weights if they make fewer mistakes than the best so far, and return these; a score of 0 is one."""
        margins = self.problem.y * self.problem.design.matvec(coef)
        wrong = ~(margins > self.unsure * float(np.linalg.norm(coef)))
        if self.state.wrong is None or wrong.sum() < self.state.upper:
            self.state.coef, self.state.wrong = coef, wrong
        return np.asarray(wrong)

    def programs(self, patience: float) -> Iterator[None]:
        """Go on for ever, a program a step."""
        yield from self._pack()
        yield from self._improve()
        while True:
            cover = smallest_cover([system.rows for system in self.state.subsystems], len(self.problem.y), patience)
            self.state.lower = min(max(self.state.lower, cover.bound), self.state.upper)
            yield
            yield from self._refute(cover.rows)

    def _pack(self) -> Iterator[None]:
        """Find disjoint subsystems until the rest is separable: as many mistakes must be made."""
        kept = np.ones(len(self.problem.y), dtype=bool)
        while (found := self._separate(kept)) is not None:
            kept[list(found.rows)] = False
            self.state.lower += 1
            yield
        yield

    def _improve(self) -> Iterator[None]:
        """Try for each row that the best weights get wrong whether it and all that are right can be right."""
        assert self.state.wrong is not None
        kept = ~self.state.wrong
        for row in np.flatnonzero(self.state.wrong)[:RETURNED].tolist():
            trial = kept.copy()
            trial[row] = True
            if not kept[row] and self._separate(trial) is None:
                kept = trial | ~self.state.wrong
            yield

    def _refute(self, dropped: Bools) -> Iterator[None]:
        """Find subsystems among the rows left, dropping a row of each, until the rest is separable."""
        kept = ~dropped
        for _ in range(FOUND_A_STEP):
            found = self._separate(kept)
            yield
            if found is None:
                return
            kept[self._row_to_drop(found)] = False

    def _row_to_drop(self, found: Subsystem) -> int:
        """Return a row that the best weights get wrong or, where there is none, the one of most subsystems."""
        assert self.state.wrong is not None
        wrong = [row for row in found.rows if self.state.wrong[row]]
        frequency = {row: sum(row in system.rows for system in self.state.subsystems) for row in wrong or found.rows}
        return max(frequency, key=lambda row: (frequency[row], -row))

    def _separate(self, kept: Bools) -> Subsystem | None:
        """Separate some rows, and consider the weights; or return a subsystem of them, and know it."""
        rows = np.flatnonzero(kept)
        if not len(rows):
            return None
        coef, multipliers = self._program(kept)
        if multipliers is None and not self.consider(coef)[rows].any():
            return None
        carrying = rows if multipliers is None else rows[multipliers > CARRIES * multipliers.max()]
        found = self._subsystem(carrying) or self._subsystem(rows)
        if found is None:
            self.state.doubt = True
            return None
        if found.rows not in self.known:
            self.known.add(found.rows)
            self.state.subsystems.append(found)
        return found

    def _program(self, kept: Bools) -> tuple[Floats, Floats | None]:
        """Return weights that get some rows right in floats, and None; or weights, and multipliers that say why not."""
        design, y = self.problem.design.select(kept), self.problem.y[kept]
        if design.virtual and abs(float(y.sum())) == len(y):
            return np.append(y[0], np.zeros(design.shape[1] - 1)), None
        for step in HalfspaceProgram().steps(Problem(design, y, self.problem.loss)):
            assert step.dual is not None
            if step.facts["margin"] <= NO_MARGIN:
                return step.coef, step.dual
            if step.facts["wrong"] == 0 or step.facts["stalled"]:
                return step.coef, None
        raise AssertionError("a walk has no end of its own")

    def _subsystem(self, rows: Indices) -> Subsystem | None:
        """Return a subsystem of some rows, in rationals; None if there is none, or the rows are too many to ask."""
        if len(rows) * self.problem.design.shape[1] > EXACT_ENTRIES:
            return None
        points = self.problem.design.take(rows) * self.problem.y[rows, np.newaxis]
        return exact_subsystem(points, rows.tolist())
