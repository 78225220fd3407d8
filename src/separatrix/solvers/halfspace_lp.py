"""A separating halfspace by linear programming (HiGHS) with constraint generation: the widest margin in the L1 norm.

    find w        subject to    yᵢ w·xᵢ ≥ 1 for all rows                     (`separation_program`)
    maximise t    subject to    yᵢ w·xᵢ ≥ t for all rows,    |wⱼ| ≤ 1/sⱼ for all columns except the virtual one

The second program is the one that is solved, since it also has an answer if the first has none. There sⱼ is the size of
column j, rounded to a power of two, so that units do not matter. The rows are separable if and only if t > 0 at the
optimum, and then w/t solves the first program. Otherwise the multipliers of the rows prove overlap: Σ λᵢ yᵢ xᵢ = 0,
λ ≥ 0, on at most p + 1 rows.

Constraint generation: a working set of rows is solved, a pass finds the violated rows, and the worst of them join.

Cost: one pass per step, and a linear program of a few hundred rows more than columns. HiGHS is accurate to about 1e-9:
a smaller t decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.base import Design
from separatrix.problem import Problem
from separatrix.solvers.base import IN_MEMORY, Needs, Step

FIRST_ENTRIES, FIRST_ROWS = 2**16, 256  # of the first working set: most entries and fewest rows
JOINING_ENTRIES, JOINING_ROWS = 2**14, 128  # the same, of the rows that join per step
SPARSE = 0.25  # share of nonzero entries below which a program is stored sparse
ROWS_AT_ONCE = 256  # made dense at a time
FEASIBLE = 1e-10  # HiGHS's tolerances, the smallest that it accepts


def rows_within(p: int, entries: int, least: int) -> int:
    """Return the number of rows of p columns with this many entries, and at least `least`."""
    return max(least, entries // p)


def spread_rows(y: Floats, wanted: int) -> Indices:
    """Return about `wanted` evenly spaced rows of both signs; all rows if there are no more."""
    if len(y) <= wanted:
        return np.arange(len(y))
    groups = [np.flatnonzero(y > 0.0), np.flatnonzero(y < 0.0)]
    return np.sort(np.concatenate([group[:: max(1, -(-2 * len(group) // wanted))] for group in groups]))


def lowest_rows(margins: Floats, group: Bools, inside: Indices, most: int) -> Indices:
    """Return at most `most` rows of a group with the lowest margins, all below those of the working set."""
    own = inside[group[inside]]
    ceiling = float(margins[own].min()) if len(own) else np.inf
    below = np.flatnonzero(group & (margins < ceiling))
    return below if len(below) <= most else below[np.argpartition(margins[below], most)[:most]]


@dataclass(frozen=True)
class HalfspaceProgram:
    """The linear program of halfspaces, on working sets of rows."""

    needs: ClassVar[Needs] = IN_MEMORY

    def steps(self, problem: Problem, start: None = None) -> Iterator[Step]:  # noqa: ARG002  # it has only one start
        """Yield one step per pass; facts: t on the working set, misclassified rows, whether no more rows can join."""
        design, y = problem.design, problem.y
        rows = spread_rows(y, rows_within(design.shape[1], FIRST_ENTRIES, FIRST_ROWS))
        for steps in count(1):
            program = solve_program(design, y, rows)
            margins = y * design.matvec(program.coef)
            everywhere = np.ones(len(y), dtype=bool)
            most = rows_within(design.shape[1], JOINING_ENTRIES, JOINING_ROWS)
            joining = lowest_rows(margins, everywhere, rows, most)
            facts = {"steps": steps, "margin": program.margin, "wrong": int((margins <= 0.0).sum())}
            facts |= {"rows": len(rows), "stalled": int(not len(joining))}
            multipliers = np.zeros(len(y))
            multipliers[rows] = program.multipliers
            yield Step(program.coef, facts, multipliers)
            rows = np.append(rows, joining)


class SolvedProgram(NamedTuple):
    """A solved linear program: the weights, t in columns of equal size, and one multiplier per row."""

    coef: Floats
    margin: float
    multipliers: Floats


class LinearProgram(NamedTuple):
    """Minimise c·w subject to A_ub w ≤ b_ub and bounds: the arguments of `scipy.optimize.linprog`, by their names."""

    c: Floats
    A_ub: Any
    b_ub: Floats
    bounds: list[tuple[float | None, float | None]]


def separation_program(rows: Any, y: Floats) -> LinearProgram:
    """Return the program of the weights with yᵢ w·xᵢ ≥ 1 for all rows, (n, p), dense or sparse; its objective is 0."""
    n, p = rows.shape
    signed = -y[:, np.newaxis] * rows if isinstance(rows, np.ndarray) else sp.diags_array(-y) @ rows
    return LinearProgram(np.zeros(p), signed, -np.ones(n), [(None, None)] * p)


def _widest(program: LinearProgram, virtual: int) -> LinearProgram:
    """Return the program with a variable t in place of the 1, to maximise, and weights within ±1."""
    n, p = program.A_ub.shape
    ones = np.ones((n, 1))
    dense = isinstance(program.A_ub, np.ndarray)
    matrix = np.hstack([program.A_ub, ones]) if dense else sp.hstack([program.A_ub, sp.csr_array(ones)], format="csr")
    bounds = [*program.bounds[:virtual], *[(-1.0, 1.0)] * (p - virtual), (None, None)]
    return LinearProgram(np.append(program.c, -1.0), matrix, program.b_ub + 1.0, bounds)


def solve_program(design: Design, y: Floats, rows: Indices) -> SolvedProgram:
    """Solve the program of some rows, in columns of equal size, centred if there is a virtual column."""
    p, virtual = design.shape[1], int(design.virtual)
    scaled, centre, sizes = _scaled_rows(design, rows)
    program = _widest(separation_program(scaled, y[rows]), virtual)
    options: Any = {"primal_feasibility_tolerance": FEASIBLE, "dual_feasibility_tolerance": FEASIBLE}
    solved: Any = scipy.optimize.linprog(*program[:3], bounds=program.bounds, method="highs-ds", options=options)
    if solved.x is None:
        return SolvedProgram(np.zeros(p), 0.0, np.zeros(len(rows)))
    coef = solved.x[:-1] / sizes
    coef[:virtual] -= centre @ coef
    return SolvedProgram(coef, float(solved.x[-1]), np.maximum(-solved.ineqlin.marginals, 0.0))


def _scaled_rows(design: Design, rows: Indices) -> tuple[Any, Floats, Floats]:
    """Return some rows, scaled, and centred unless most entries are zeros, with centre and divisor of each column."""
    first = design.take(rows[:ROWS_AT_ONCE])[:, int(design.virtual) :]
    few = np.count_nonzero(first) < SPARSE * first.size
    return _sparse_rows(design, rows) if few else _dense_rows(design, rows)


def _sparse_rows(design: Design, rows: Indices) -> tuple[Any, Floats, Floats]:
    chunks = [rows[first : first + ROWS_AT_ONCE] for first in range(0, len(rows), ROWS_AT_ONCE)]
    matrix: Any = sp.vstack([sp.csr_array(design.take(chunk)) for chunk in chunks], format="csr")
    squares = np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel()
    sizes = _sizes(squares, int(design.virtual))
    return matrix @ sp.diags_array(1.0 / sizes), np.zeros(design.shape[1]), sizes


def _dense_rows(design: Design, rows: Indices) -> tuple[Floats, Floats, Floats]:
    dense, virtual = design.take(rows), int(design.virtual)
    mean = dense.mean(axis=0) if virtual else np.zeros(design.shape[1])
    sizes = _sizes(np.square(dense - mean).mean(axis=0), virtual)
    centre = np.round(mean / sizes) * sizes  # few digits, so that most differences are exact
    centre[:virtual] = 0.0
    return (dense - centre) / sizes, centre, sizes


def _sizes(squares: Floats, virtual: int) -> Floats:
    """Return the root mean squares, rounded to powers of two; 1 for a column of zeros and for the virtual one."""
    sizes = np.exp2(np.round(0.5 * np.log2(np.where(squares > 0.0, squares, 1.0))))
    sizes[:virtual] = 1.0
    return np.asarray(sizes)
