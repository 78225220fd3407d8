"""Working sets of rows: which to start with, which to add, so that few passes settle what only few rows decide.

A separating halfspace by linear programming (HiGHS): the widest margin in the L1 norm.

    maximise t    subject to    yᵢ w·xᵢ ≥ t for all rows,    |wⱼ| ≤ 1/sⱼ for all columns but the virtual one

with sⱼ the size of column j, rounded to a power of two, so that units do not matter. The rows are separable if and
only if t > 0 at the optimum, and then w/t solves yᵢ w·xᵢ ≥ 1. Otherwise the multipliers of the rows show why:
Σ λᵢ yᵢ xᵢ = 0, λ ≥ 0, on at most p + 1 rows.

The program is solved on a working set of rows; a pass over all rows then finds those that its w gets wrong, and the
worst of them join. Cost: one pass a step, and a linear program of a few hundred rows more than columns. HiGHS works to
1e-9 or so: a t below that decides nothing.
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
from separatrix.solvers.base import Needs, Step


def rows_within(p: int, entries: int, least: int) -> int:
    """Return how many rows of p columns have so many entries, but at least so many rows."""
    return max(least, entries // p)


def spread_rows(y: Floats, wanted: int) -> Indices:
    """Return rows of either sign, evenly spread, about so many; all of them if there are no more."""
    if len(y) <= wanted:
        return np.arange(len(y))
    groups = [np.flatnonzero(y > 0.0), np.flatnonzero(y < 0.0)]
    return np.sort(np.concatenate([group[:: max(1, -(-2 * len(group) // wanted))] for group in groups]))


def lowest_rows(margins: Floats, group: Bools, inside: Indices, most: int) -> Indices:
    """Return the lowest rows of a group, at most so many, that lie below all of those that are in the set."""
    own = inside[group[inside]]
    ceiling = float(margins[own].min()) if len(own) else np.inf
    below = np.flatnonzero(group & (margins < ceiling))
    return below if len(below) <= most else below[np.argpartition(margins[below], most)[:most]]


FIRST_ENTRIES = 2**16  # of the first working set, at most, but for FIRST_ROWS
FIRST_ROWS = 256
JOINING_ENTRIES = 2**14  # of the rows that join at a step, at most, but for JOINING_ROWS
JOINING_ROWS = 128
SPARSE = 0.25  # of the entries: with fewer nonzeros, a program is stored sparse
ROWS_AT_ONCE = 256  # rows made dense at a time
FEASIBLE = 1e-10  # HiGHS's tolerances, the least it takes


@dataclass(frozen=True)
class HalfspaceProgram:
    """The linear program of halfspaces, on working sets of rows."""

    needs: ClassVar[Needs] = Needs(
        target=frozenset({"labels"}),
        random_rows=True,
        no_penalty=True,
        otherwise={"random_rows": "Hold the rows in memory, as an array or a sparse matrix."},
    )

    def steps(self, problem: Problem, start: None = None) -> Iterator[Step]:  # noqa: ARG002  # it has only one start
        """Walk, a pass a step; facts: t on the working set, rows wrong of all, whether no more rows can join."""
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


@dataclass(frozen=True)
class Program:
    """A linear program solved: the weights, t in columns of equal size, and a multiplier a row."""

    coef: Floats
    margin: float
    multipliers: Floats


def solve_program(design: Design, y: Floats, rows: Indices) -> Program:
    """Solve the program of some rows, in columns of equal size and, if a virtual one makes up for it, centred."""
    p, virtual = design.shape[1], int(design.virtual)
    matrix, frame = _constraints(design, y, rows)
    bounds = [*[(None, None)] * virtual, *[(-1.0, 1.0)] * (p - virtual), (None, None)]
    options: Any = {"primal_feasibility_tolerance": FEASIBLE, "dual_feasibility_tolerance": FEASIBLE}
    cost = np.append(np.zeros(p), -1.0)
    program = {"A_ub": matrix, "b_ub": np.zeros(len(rows)), "bounds": bounds, "options": options}
    found: Any = scipy.optimize.linprog(cost, method="highs-ds", **program)
    if found.x is None:
        return Program(np.zeros(p), 0.0, np.zeros(len(rows)))
    coef = found.x[:-1] / frame.sizes
    coef[:virtual] -= frame.centre @ coef
    return Program(coef, float(found.x[-1]), np.maximum(-found.ineqlin.marginals, 0.0))


class _Frame(NamedTuple):
    """What is taken off each column (0 off the virtual one), and what it is divided by."""

    centre: Floats
    sizes: Floats


def _constraints(design: Design, y: Floats, rows: Indices) -> tuple[Any, _Frame]:
    """Return (−yᵢ xᵢ, 1) of some rows, x in its frame: centred or, if most entries are zeros, sparse."""
    first = design.take(rows[:ROWS_AT_ONCE])[:, int(design.virtual) :]
    if np.count_nonzero(first) < SPARSE * first.size:
        sparse, frame = _sparse_rows(design, rows)
        ones = sp.csr_array(np.ones((len(rows), 1)))
        return sp.hstack([sp.diags_array(-y[rows]) @ sparse, ones], format="csr"), frame
    dense, frame = _dense_rows(design, rows)
    return np.column_stack([-y[rows, np.newaxis] * dense, np.ones(len(rows))]), frame


def _sparse_rows(design: Design, rows: Indices) -> tuple[Any, _Frame]:
    chunks = [rows[first : first + ROWS_AT_ONCE] for first in range(0, len(rows), ROWS_AT_ONCE)]
    matrix: Any = sp.vstack([sp.csr_array(design.take(chunk)) for chunk in chunks], format="csr")
    squares = np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel()
    frame = _Frame(np.zeros(design.shape[1]), _sizes(squares, int(design.virtual)))
    return matrix @ sp.diags_array(1.0 / frame.sizes), frame


def _dense_rows(design: Design, rows: Indices) -> tuple[Floats, _Frame]:
    dense, virtual = design.take(rows), int(design.virtual)
    mean = dense.mean(axis=0) if virtual else np.zeros(design.shape[1])
    sizes = _sizes(np.square(dense - mean).mean(axis=0), virtual)
    centre = np.round(mean / sizes) * sizes  # to so few digits that differences are exact more often than not
    centre[:virtual] = 0.0
    return (dense - centre) / sizes, _Frame(centre, sizes)


def _sizes(squares: Floats, virtual: int) -> Floats:
    """Return the roots of mean squares, rounded to powers of two; 1 for a column of zeros and for the virtual one."""
    sizes = np.exp2(np.round(0.5 * np.log2(np.where(squares > 0.0, squares, 1.0))))
    sizes[:virtual] = 1.0
    return np.asarray(sizes)
