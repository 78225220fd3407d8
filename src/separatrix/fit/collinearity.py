"""Exact relations between linearly dependent columns.

`design.rank` finds the columns that depend on others to rounding. Here each is written as Σ shareⱼ xⱼ with rational
shares over the retained columns, checked in exact arithmetic on every row of positive weight:

    the simplest fractions near the shares in floats; if these fail, the solution of as many rows as columns

A column with such a relation is aliased: leaving it out changes no fit. A column without one is only nearly dependent,
within rounding; a fit holds its coefficient fixed.

Cost: one pass, some operations on integers or error-free sums per entry of a relation; with few retained columns one
more pass, and c³ operations on rationals for the c columns of the system.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import scipy.linalg

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.curvature import INDEPENDENT, Dependence
from separatrix.certificates.exact import exact_sign_rows, exact_solutions
from separatrix.certificates.rays import Relation
from separatrix.design.base import Block, Design
from separatrix.design.moments import dense_parts
from separatrix.design.rank import Aliases, column_exponents, dependent_columns
from separatrix.numerics import simplest_near

SOLVED = 40  # retained columns up to which a system is solved in rational arithmetic
SIMPLIFIED = 10_000  # shares of all columns for which simple fractions are sought
SOLVED_WORK = 500_000  # operations on rationals for all columns
SAMPLED = 2**18  # entries of the rows among which the independent ones are chosen
FEW = 100  # rows on which a solution is tried first: one that only rounding suggests fails there
LONGEST = 14_000  # bits of a share: 4,200 digits
ENTRIES_AT_ONCE = 2**17  # of the rows on which relations are checked


def find_collinearity(design: Design, weights: Floats | None) -> Dependence:
    """Return the dependent columns of a design on the rows of positive weight; one pass if there are none."""
    return exact_relations(design, weights, dependent_columns(design, weights))


def exact_relations(design: Design, weights: Floats | None, aliases: Aliases) -> Dependence:
    """Return an exact relation for each dependent column that has one; the others are held."""
    columns = aliases.aliased.tolist()
    if not columns:
        return INDEPENDENT
    simple = _simple_relations(columns, aliases)
    found = dict(_exact(design, weights, list(simple), list(simple.values())))
    rest = [column for column in columns if column not in found]
    solvable = len(aliases.retained) <= SOLVED and len(rest) * len(aliases.retained) ** 3 <= SOLVED_WORK
    if rest and solvable and design.random_rows:
        solved = _solved_relations(design, weights, aliases.retained, rest)
        found |= dict(_exact(design, weights, list(solved), list(solved.values())))
    aliased = tuple(column for column in columns if column in found)
    held = tuple(column for column in columns if column not in found)
    return Dependence(aliased, tuple(found[column] for column in aliased), held)


def _simple_relations(columns: Sequence[int], aliases: Aliases) -> dict[int, Relation]:
    """Return relations with the simplest fractions near the shares in floats, of columns with few shares first."""
    relations: dict[int, Relation] = {}
    total = 0
    for column, shares in sorted(zip(columns, aliases.relations(), strict=True), key=lambda pair: len(pair[1])):
        total += len(shares)
        if total > SIMPLIFIED:
            break
        relations[column] = {j: simplest_near(share) for j, share in shares.items()}
    return relations


def _exact(
    design: Design, weights: Floats | None, columns: Sequence[int], relations: Sequence[Relation]
) -> list[tuple[int, Relation]]:
    """Return the columns with relations that hold on every row of positive weight."""
    if not columns:
        return []
    terms = [{**relation, column: Fraction(-1)} for column, relation in zip(columns, relations, strict=True)]
    counted = np.ones(design.shape[0], dtype=np.bool_) if weights is None else weights > 0.0
    broken = design.fold(_broken, terms, rows=(counted,), combine=np.logical_or)
    pairs = zip(columns, relations, broken.tolist(), strict=True)
    return [(column, relation) for column, relation, fails in pairs if not fails]


def _broken(block: Block, counted: Bools, relations: Sequence[Relation]) -> Bools:
    """Return which relations fail on a row of a block."""
    broken = np.zeros(len(relations), dtype=np.bool_)
    for part, rows in dense_parts(block, ENTRIES_AT_ONCE):
        weighted = rows[counted[part]]
        for place in np.flatnonzero(~broken).tolist():
            relation = relations[place]
            broken[place] = not (_vanishes(weighted[:1], relation) and _vanishes(weighted, relation))
    return broken


def _vanishes(rows: Floats, relation: Relation) -> bool:
    columns = list(relation)
    return not exact_sign_rows(rows[:, columns], [relation[j] for j in columns]).any()


def _solved_relations(
    design: Design, weights: Floats | None, retained: Indices, columns: Sequence[int]
) -> dict[int, Relation]:
    """Return the shares that hold on as many rows as there are retained columns, chosen to be independent."""
    counted = np.arange(design.shape[0]) if weights is None else np.flatnonzero(weights)
    rows = design.take(counted[:: max(1, len(counted) * design.shape[1] // SAMPLED)])
    scaled = np.ldexp(rows[:, retained], -column_exponents(rows[:, retained]))
    chosen = rows[scipy.linalg.qr(scaled.T, mode="r", pivoting=True)[1][: len(retained)]]
    rights = [[Fraction(entry) for entry in chosen[:, column].tolist()] for column in columns]
    solutions = exact_solutions(chosen[:, retained], rights) if len(chosen) == len(retained) else None
    relations: dict[int, Relation] = {}
    for column, shares in zip(columns, solutions or (), strict=False):
        if max(max(abs(x.numerator), x.denominator).bit_length() for x in shares) > LONGEST:
            continue
        relation = {int(j): share for j, share in zip(retained, shares, strict=True) if share}
        if _vanishes(rows[:FEW], {**relation, column: Fraction(-1)}):
            relations[column] = relation
    return relations
