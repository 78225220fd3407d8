"""The face of rows with too many columns to be solved densely: scores found row by row, and the rows that forbid them.

With more columns than rows nearly all can be separated: what a perceptron of several classes finds (`ahead`) is rounded
to whole numbers, and equal rows of different classes, which no scores separate, are made level exactly (`equal_rows`).
Where the classes overlap, rows of two of them, near their boundary, are peeled: those that some direction separates are
dropped until the rest cancel, which shows that not all can be separated. Nothing is believed before it holds exactly.

Cost: some tens of reads of the data, and memory K numbers a column; for a peel, a problem of two classes' columns.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.certificates.exact import exact_sign_rows
from separatrix.certificates.overlap import Clash, OverlapProof
from separatrix.certificates.rays import Rays, make_rays
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.faces.ahead import Ahead, counted_classes, leads, put_ahead
from separatrix.fit.faces.equal_rows import EqualRows, equal_rows, levelled
from separatrix.fit.faces.small import small_face
from separatrix.fit.run import Watch
from separatrix.fit.stopping import separation_rule
from separatrix.losses.margin import Logistic
from separatrix.losses.softmax import Softmax
from separatrix.problem import Problem

BITS = (8, 12, 16, 24, 36, 50)  # of the largest weight, tried in turn: fewer make a shorter proof
PAIRS = 4  # of classes, the most often confused first, whose rows are peeled
RAYS_A_COLUMN = 6
FEWEST_RAYS = 400
DENSE_ENTRIES = 20_000_000  # of rays to be peeled
FACE_PASSES = 200  # of the fit that may separate all rows
FIT_PASSES = 60  # of the fit that tells which rows lie near the boundary


class WideFace(NamedTuple):
    """A direction that separates all rays but those of equal rows, None without; the equal rows; the last scores."""

    direction: list[Fraction] | None
    equal: EqualRows
    ahead: Ahead


def wide_face(rays: Rays, places: Indices, watch: Watch | None = None) -> WideFace:
    """Return a direction that separates all rays but those of equal rows of different classes, if one is found."""
    equal = equal_rows(rays, places)
    others = np.setdiff1d(places, equal.places(rays), assume_unique=True)
    ahead = put_ahead(rays, others, equal.levels, watch)
    return WideFace(_exact_direction(rays, others, ahead, equal), equal, ahead)


def fitted_face(rays: Rays, places: Indices, wide: WideFace, watch: Watch | None = None) -> WideFace:
    """Return what `wide_face` does, by the logistic or softmax fit itself: slower, but for columns alike it gets on."""
    others = np.setdiff1d(places, wide.equal.places(rays), assume_unique=True)
    kept = np.zeros(rays.design.shape[0], dtype=np.bool_)
    kept[rays.rows_of(others)] = True
    codes, binary = rays.codes[kept], rays.classes <= 2
    targets = np.where(codes == rays.classes - 1, 1.0, -1.0) if binary else codes
    problem = Problem(rays.design.select(kept), targets, Logistic() if binary else Softmax())
    coef = np.nan_to_num(_fit(problem, FACE_PASSES, watch))
    scores = np.column_stack([np.zeros(len(coef)), coef]) if binary else coef
    ahead = Ahead(scores, leads(rays, scores, counted_classes(rays, others)))
    return WideFace(_exact_direction(rays, others, ahead, wide.equal), wide.equal, ahead)


def _fit(problem: Problem, passes: int, watch: Watch | None = None) -> Floats:
    """Return where a fit is after some passes, or once all its rows are right."""
    rules = (separation_rule(problem),)
    return fit_convex(problem, ConvexOptions(max_passes=passes), watch=watch, extra_rules=rules).coef


def _exact_direction(rays: Rays, others: Indices, ahead: Ahead, equal: EqualRows) -> list[Fraction] | None:
    """Return scores rounded to few bits that still separate, with equal rows level, as an exact vector."""
    if not ahead.leads.min() > 0.0 or not len(others):
        return None
    counts, largest = counted_classes(rays, others), float(np.abs(ahead.scores).max())
    for bits in BITS:
        rounded = np.rint(np.ldexp(ahead.scores, bits - int(np.frexp(largest)[1])))
        if leads(rays, rounded, counts).min() <= 0.0:
            continue
        changed = levelled(rays, rounded, equal.levels)
        if changed is None:
            return None
        weights = _exact_scores(rays, rounded, changed)
        if (rays.signs(weights, others) > 0).all():
            return weights
    return None


def _exact_scores(rays: Rays, scores: Floats, changed: dict[tuple[int, int], Fraction]) -> list[Fraction]:
    """Return scores of whole numbers, some of them replaced, as a vector of rays."""
    weights = [Fraction(int(x)) for x in rays.from_scores(scores).tolist()]
    for (column, code), value in changed.items():
        single = np.zeros_like(scores)
        single[column, code] = 1.0
        for place in np.flatnonzero(unit := rays.from_scores(single)).tolist():
            weights[place] += Fraction(int(unit[place])) * (value - Fraction(scores[column, code].item()))
    return weights


def clash_of_two(rays: Rays, places: Indices, ahead: Ahead) -> Clash | None:
    """Return rows of two classes that cancel, of the classes most often confused; None where none are found."""
    if rays.classes <= 2:
        return None
    behind = np.flatnonzero(ahead.leads <= 0.0)
    values = rays.design.select(ahead.leads <= 0.0).matvec(ahead.scores) if len(behind) else ahead.scores[:0]
    own = rays.codes[behind]
    values[np.arange(len(own)), own] = -np.inf
    pairs, counts = np.unique(np.sort(np.column_stack([own, values.argmax(axis=1)])), axis=0, return_counts=True)
    for pair in pairs[np.argsort(-counts, kind="stable")][:PAIRS].tolist():
        found = _peel(rays, places, (pair[0], pair[1]))
        if found is not None:
            return found
    return None


def _nearest(signed: Rays, rows: Indices) -> Indices:
    """Return as many of some rows as can be solved: those least on their side of a logistic fit's boundary.

    Where that would be little more than the rows on the wrong side, which by themselves may be separable: any rows.
    """
    most = min(max(FEWEST_RAYS, RAYS_A_COLUMN * signed.width), max(1, DENSE_ENTRIES // signed.width))
    kept = np.zeros(signed.count, dtype=np.bool_)
    kept[rows] = True
    problem = Problem(signed.design.select(kept), np.where(signed.codes[kept] > 0, 1.0, -1.0), Logistic())
    products = signed.products(np.nan_to_num(_fit(problem, FIT_PASSES)))[0][rows]
    if 2 * int((products <= 0.0).sum()) > most:
        return rows[:: -(-len(rows) // most)]
    return rows[np.sort(np.argsort(products, kind="stable")[:most])]


def _peel(rays: Rays, places: Indices, pair: tuple[int, int]) -> Clash | None:
    """Return rows of two classes that cancel, among those nearest to the boundary of the two."""
    rows = np.unique(rays.rows_of(places))
    rows = rows[np.isin(rays.codes[rows], pair)]
    signed = make_rays(rays.design, (rays.codes == pair[1]).astype(np.intp), 2)
    rows = _nearest(signed, rows)
    while len(rows):
        taken = signed.take(rows)
        face = small_face(taken)
        if face is None:
            return None
        if face.proof is not None:
            chosen, found = rows[list(face.proof.places)], face.proof
            proof = OverlapProof(tuple(chosen.tolist()), found.multipliers, found.columns, found.relations)
            return Clash(pair, proof) if len(chosen) else None
        assert face.weights is not None
        rows = rows[exact_sign_rows(taken, face.weights) == 0]
    return None
