"""Directions that can be read off the columns: a column that some class never has.

If a column is 0 in every row of some classes, and elsewhere of one sign s, then raising its weight by s in the scores
of the classes A that have it moves no row of A back and sets it apart from every class outside A. Indicators of rare
categories and words of texts are such columns; taking them first leaves a smaller problem.

Cost: two passes, and one for each time that columns of both signs have to be dropped.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from separatrix.arrays import Bools, Floats, Indices, Signs
from separatrix.certificates.rays import Rays
from separatrix.design.base import Block, add_each

COLUMN_ROUNDS = 20
DROPPING_ROWS, DROPPING_ENTRIES = 1000, 10_000_000  # looked at a round, at most


def absent_columns_direction(rays: Rays, places: Indices) -> tuple[list[Fraction], Signs] | None:
    """Return a vector made of all such columns, and its signs on the rays in some places; None if there is none."""
    marks = np.zeros(len(rays.codes), dtype=np.bool_)
    marks[rays.rows_of(places)] = True
    classes, rows = max(2, rays.classes), (rays.codes, marks)
    squares, sums = rays.design.fold(_squares_and_sums, classes, rows=rows, combine=add_each)
    present = squares > 0.0
    usable = present.any(axis=1) & ~present.all(axis=1)
    scores = np.where(present & usable[:, np.newaxis], np.sign(sums.sum(axis=1))[:, np.newaxis], 0.0)
    for _ in range(COLUMN_ROUNDS):
        if not scores.any():
            return None
        weights = [Fraction(x) for x in rays.from_scores(scores).tolist()]
        signs = rays.signs(weights, places)
        against = rays.rows_of(places[signs < 0])
        if not len(against):
            return (weights, signs) if signs.any() else None
        _drop(rays, scores, np.unique(against)[: max(1, min(DROPPING_ROWS, DROPPING_ENTRIES // len(scores)))])
    return None


def _drop(rays: Rays, scores: Floats, rows: Indices) -> None:
    """Take out the columns that move some rows of their own classes back."""
    entries = rays.design.take(rows)
    wrong = (entries * scores.T[rays.codes[rows]] < 0.0).any(axis=0)
    scores[wrong] = 0.0


def _squares_and_sums(block: Block, codes: Indices, marks: Bools, classes: int) -> tuple[Floats, Floats]:
    """Return the columns' sums of squares, and sums, over the marked rows of each class."""
    members = np.zeros((len(codes), classes))
    members[np.arange(len(codes)), codes] = marks
    return block.column_squares(members), block.rmatvec(members)
