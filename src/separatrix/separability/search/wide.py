"""Separate rows with too many columns for a dense solver: scores found row by row, made exact.

With more columns than rows, nearly all rows can be separated. Three tools do it:

1. A multiclass passive-aggressive perceptron. A row of class y whose score is not larger by 1 than that of every other
   class moves the two nearest classes just far enough: w_y += τ x, w_k −= τ x, τ = (1 − (w_y − w_k)·x) / 2‖x‖². Its
   scores are rounded to integers and tested exactly.
2. Equal rows of different classes, which no scores separate: with n_a and n_b of them, the multipliers 1/n_a and 1/n_b
   cancel exactly, a `PairOverlap`. Rows that are 0 in all columns overlap with every class. The scores of the two
   classes must be equal on such rows; `equalise_scores` solves for one weight per row exactly.
3. For classes that overlap, rows of two classes near their boundary are peeled: rows that some direction separates are
   dropped until the rest cancel, which proves that not all rows can be separated.

Cost: tens of reads of the data, and K numbers per column of memory; peeling solves a dense problem in the columns of
two classes. Rows are compared by their stored entries, so a stored zero and an omitted zero differ.

Reference: Crammer and others, Online passive-aggressive algorithms (2006).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from hashlib import blake2b
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.exact import exact_sign_rows
from separatrix.certificates.overlap import OverlapProof, PairOverlap
from separatrix.certificates.rays import Rays
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.result import separation_rule
from separatrix.fit.run import Watch, is_stopped
from separatrix.loops.rows import Rows
from separatrix.losses.margin import Logistic
from separatrix.losses.softmax import Softmax
from separatrix.problem import Problem
from separatrix.separability.search.dense import DENSE_ENTRIES, sample_size, separate_dense

BITS = (8, 12, 16, 24, 36, 50)  # of the largest weight, tried in turn: fewer bits make a shorter proof
SEPARATION_PASSES = 200  # of the fit that may separate all rows
BOUNDARY_PASSES = 60  # of the fit that finds the rows near the boundary
SWEEPS = 120
VISITS = 1_500_000  # of rows; the sweep that exceeds it is the last
TRIAL = 3  # sweeps before the perceptron may give up
HOPEFUL = 0.02  # share of the rows that are violated, above which the perceptron gives up
FALLING = 0.8  # unless they are a smaller share than this of the last sweep's
REVISITS = 8  # of the updated rows, after each sweep
CLEAR = 1e-3  # of the target margin: rows with a smaller margin count as violated
PAIRS = 4  # of classes, the most often confused first, whose rows are peeled
EqualScores = tuple[int, tuple[int, int]]  # a constraint: a row, and two classes that must have equal scores on it


class EqualRows(NamedTuple):
    """The overlaps of equal rows of different classes, and the constraints that they put on scores."""

    pair_overlaps: tuple[PairOverlap, ...]
    constraints: tuple[EqualScores, ...]

    def places(self, rays: Rays) -> Indices:
        """Return the sorted places of the rays that overlap."""
        places = (overlap.places(rays) for overlap in self.pair_overlaps)
        return np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *places]))


class WideSeparation(NamedTuple):
    """A direction that separates all rays except those of equal rows, if found; the equal rows; the last scores.

    The scores are (p, K). The margins (n,) are the own class's score less the largest other one, infinite without
    others.
    """

    direction: list[Fraction] | None
    equal: EqualRows
    scores: Floats
    margins: Floats


def separate_wide(rays: Rays, places: Indices, watch: Watch | None = None) -> WideSeparation:
    """Return a direction that separates all rays except those of equal rows of different classes, if one is found."""
    equal = equal_rows(rays, places)
    others = np.setdiff1d(places, equal.places(rays), assume_unique=True)
    scores, margins = passive_aggressive(rays, others, equal.constraints, watch)
    return WideSeparation(_exact_direction(rays, others, scores, margins, equal), equal, scores, margins)


def separation_from_fit(
    rays: Rays, places: Indices, wide: WideSeparation, watch: Watch | None = None
) -> WideSeparation:
    """Do as `separate_wide`, by a logistic or softmax fit: slower, but it also converges on similar columns."""
    others = np.setdiff1d(places, wide.equal.places(rays), assume_unique=True)
    if not len(others):
        return wide
    coef = _fit(rays, rays.rows_of(others), SEPARATION_PASSES, watch)
    scores = np.column_stack([np.zeros(len(coef)), coef]) if rays.classes == 2 else coef
    scores = np.pad(scores, ((0, 0), (0, rays.classes - scores.shape[1])))  # classes without a fitted row
    margins = class_margins(rays, scores, rival_classes(rays, others))
    return WideSeparation(_exact_direction(rays, others, scores, margins, wide.equal), wide.equal, scores, margins)


def _fit(rays: Rays, rows: Indices, passes: int, watch: Watch | None = None) -> Floats:
    """Return the coefficients of a logistic or softmax fit after some passes, or once it separates all rows."""
    fitted = np.zeros(len(rays.codes), dtype=np.bool_)
    fitted[rows] = True
    codes, binary = rays.codes[fitted], rays.classes == 2
    targets = np.where(codes == 1, 1.0, -1.0) if binary else codes
    problem = Problem(rays.design.select(fitted), targets, Logistic() if binary else Softmax())
    rules = (separation_rule(problem),)
    return np.nan_to_num(fit_convex(problem, ConvexOptions(max_passes=passes), watch=watch, extra_rules=rules).coef)


def _exact_direction(
    rays: Rays, others: Indices, scores: Floats, margins: Floats, equal: EqualRows
) -> list[Fraction] | None:
    """Return scores rounded to few bits that still separate, equal on equal rows, as an exact vector."""
    if not margins.min() > 0.0 or not len(others):
        return None
    rivals, largest = rival_classes(rays, others), float(np.abs(scores).max())
    for bits in BITS:
        rounded = np.rint(np.ldexp(scores, bits - int(np.frexp(largest)[1])))
        if class_margins(rays, rounded, rivals).min() <= 0.0:
            continue
        exact = equalise_scores(rays, rounded.astype(np.int64).astype(object), equal.constraints)
        if exact is None:
            return None
        weights = [Fraction(weight) for weight in rays.from_scores(exact).tolist()]
        if (rays.signs(weights, others) > 0).all():
            return weights
    return None


def passive_aggressive(
    rays: Rays, places: Indices, constraints: tuple[EqualScores, ...], watch: Watch | None = None
) -> tuple[Floats, Floats]:
    """Return scores that separate the rays in some places, if a few sweeps find such, and their margins."""
    perceptron = _PassiveAggressive(rays, places)
    rng = np.random.default_rng(0)
    rows = np.unique(rays.rows_of(places))
    previous = len(rows)
    for sweep in range(1, SWEEPS + 1):
        updated = perceptron.visit(rng.permutation(rows))
        for _ in range(REVISITS):
            updated = perceptron.visit(rng.permutation(updated))
        for constraint in constraints:
            perceptron.equalise(*constraint)
        margins = class_margins(rays, perceptron.scores, perceptron.rivals)
        violated = int((margins <= CLEAR).sum())
        hopeless = sweep >= TRIAL and violated > max(HOPEFUL * len(rows), FALLING * previous)
        if not violated or hopeless or is_stopped(watch, rays.design.passes) or perceptron.visits > VISITS:
            break
        previous = violated
    return perceptron.scores, margins


def class_margins(rays: Rays, scores: Floats, rivals: Bools) -> Floats:
    """Return each row's own score less the largest score of its rival classes, in one pass."""
    values = rays.design.matvec(scores)
    own = np.take_along_axis(values, rays.codes[:, np.newaxis], axis=1)
    return np.asarray(np.where(rivals, own - values, np.inf).min(axis=1))


def rival_classes(rays: Rays, places: Indices) -> Bools:
    """Return the classes that each row's own class must outscore, (n, K), by the places of the rays."""
    rivals = np.zeros((len(rays.codes), rays.classes), dtype=np.bool_)
    rivals[rays.rows_of(places), rays.other_class(places)] = True
    return rivals


class _PassiveAggressive:
    """The scores (p, K) as they change, the rows, and the rival classes of each."""

    def __init__(self, rays: Rays, places: Indices) -> None:
        self.rows, self.own, self.norms = rays.design.stored_rows(), rays.codes, rays.design.squared_norms()
        self.scores = np.zeros((rays.design.shape[1], rays.classes))
        self.rivals = rival_classes(rays, places)
        self.visits = 0

    def visit(self, order: Indices) -> Indices:
        """Visit rows in turn; update on, and return, those with a margin below 1."""
        updated = []
        self.visits += len(order)
        for i in order.tolist():
            columns, values = self._row(i)
            scores = np.asarray(values @ self.scores[columns])
            margins = np.where(self.rivals[i], scores[self.own[i]] - scores, np.inf)
            nearest = int(margins.argmin())
            if margins[nearest] < 1.0:
                self._update(i, (int(self.own[i]), nearest), 1.0 - float(margins[nearest]))
                updated.append(i)
        return np.array(updated, dtype=np.intp)

    def equalise(self, i: int, pair: tuple[int, int]) -> None:
        """Update the scores of two classes to be equal on a row."""
        columns, values = self._row(i)
        scores = values @ self.scores[columns]
        self._update(i, pair, float(scores[pair[1]] - scores[pair[0]]))

    def _update(self, i: int, pair: tuple[int, int], difference: float) -> None:
        columns, values = self._row(i)
        step = difference / (2.0 * self.norms[i]) * values if self.norms[i] > 0.0 else 0.0 * values
        self.scores[columns, pair[0]] += step
        self.scores[columns, pair[1]] -= step

    def _row(self, i: int) -> tuple[Any, Floats]:
        """Return the columns and entries of a row, the virtual column included."""
        entries, virtual = _entries(self.rows, i), self.rows.virtual
        values = np.concatenate([np.ones(virtual), self.rows.values[entries]])
        if not self.rows.starts.size:
            return slice(None), values
        return np.concatenate([np.zeros(virtual), self.rows.columns[entries] + virtual]).astype(np.intp), values


def _entries(rows: Rows, i: int) -> slice:
    """Return where the entries of a row are stored."""
    if not rows.starts.size:
        return slice(i * rows.width, (i + 1) * rows.width)
    return slice(int(rows.starts[i]), int(rows.starts[i + 1]))


def equal_rows(rays: Rays, places: Indices) -> EqualRows:
    """Return the overlaps of equal rows of different classes, among the rays in some places."""
    multipliers: dict[tuple[int, int], dict[int, Fraction]] = defaultdict(dict)
    constraints: list[EqualScores] = []
    for group in _groups(rays, np.unique(rays.rows_of(places))):
        codes = rays.codes[group]
        empty = not rays.design.virtual and not rays.design.take(group[:1]).any()
        present = list(range(rays.classes)) if empty else np.unique(codes).tolist()
        for pair in combinations(present, 2):
            for code in pair:
                own = group[codes == code].tolist()
                multipliers[pair].update({row: Fraction(1, len(own)) for row in own})
        constraints += [] if empty else [(int(group[0]), (present[0], other)) for other in present[1:]]
    overlaps = (
        PairOverlap(pair, OverlapProof(tuple(own), tuple(own.values()), ())) for pair, own in multipliers.items() if own
    )
    return EqualRows(tuple(overlaps), tuple(constraints))


def _groups(rays: Rays, rows: Indices) -> list[Indices]:
    """Return groups of equal rows; groups of one class are omitted unless their rows may be empty."""
    stored = rays.design.stored_rows()
    by_digest: dict[bytes, list[int]] = defaultdict(list)
    for i in rows.tolist():
        entries = _entries(stored, i)
        content = stored.values[entries].tobytes() + (stored.columns[entries].tobytes() if stored.starts.size else b"")
        by_digest[blake2b(content, digest_size=16).digest()].append(i)
    groups = (np.array(group, dtype=np.intp) for group in by_digest.values())
    return [group for group in groups if not rays.design.virtual or len(np.unique(rays.codes[group])) > 1]


def equalise_scores(rays: Rays, scores: NDArray[Any], constraints: tuple[EqualScores, ...]) -> NDArray[Any] | None:
    """Return exact scores (p, K), integers or fractions, changed so that all constraints hold.

    Each constraint changes a weight that no earlier constraint involves; None if there is no such weight.
    """
    rows = {row: rays.design.take([row])[0] for row, _ in constraints}
    changed = scores.copy()
    for number, (row, (first, second)) in enumerate(constraints):
        x = rows[row]
        fixed = [rows[earlier] != 0.0 for earlier, pair in constraints[:number] if second in pair]
        free = np.flatnonzero(~np.any([x == 0.0, *fixed], axis=0))
        if not len(free):
            return None
        column = int(free[np.argmin(np.abs(np.abs(x[free]) - 1.0))])
        support = np.flatnonzero(x)
        gaps = changed[support, first] - changed[support, second]
        difference = sum(Fraction(value) * gap for value, gap in zip(x[support].tolist(), gaps, strict=True))
        changed[column, second] += difference / Fraction(x[column].item())
    return changed


def overlap_of_pair(rays: Rays, places: Indices, wide: WideSeparation) -> PairOverlap | None:
    """Return an overlap of two classes, tried for the most often confused ones; None if none is found."""
    if rays.classes == 2:
        return None
    violated = np.flatnonzero(wide.margins <= 0.0)
    values = rays.design.select(wide.margins <= 0.0).matvec(wide.scores) if len(violated) else wide.scores[:0]
    own = rays.codes[violated]
    values[np.arange(len(own)), own] = -np.inf
    pairs, counts = np.unique(np.sort(np.column_stack([own, values.argmax(axis=1)])), axis=0, return_counts=True)
    confused = pairs[np.argsort(-counts, kind="stable")][:PAIRS].tolist()
    overlaps = (_peel(rays, places, (first, second)) for first, second in confused)
    return next((overlap for overlap in overlaps if overlap is not None), None)


def _peel(rays: Rays, places: Indices, pair: tuple[int, int]) -> PairOverlap | None:
    """Return an overlap of two classes among the rows nearest to their boundary."""
    rows = np.unique(rays.rows_of(places))
    rows = rows[np.isin(rays.codes[rows], pair)]
    signed = Rays(rays.design, (rays.codes == pair[1]).astype(np.intp), 2)
    rows = _nearest(signed, rows)
    while len(rows):
        sample = signed.take(rows)
        solved = separate_dense(sample)
        if solved is None:
            return None
        if solved.proof is not None:
            chosen = tuple(rows[list(solved.proof.places)].tolist())
            return PairOverlap(pair, replace(solved.proof, places=chosen)) if chosen else None
        assert solved.weights is not None
        rows = rows[exact_sign_rows(sample, solved.weights) == 0]
    return None


def _nearest(signed: Rays, rows: Indices) -> Indices:
    """Return as many rows as can be solved: those with the smallest margins of a logistic fit.

    If these would be little more than the misclassified rows, which may be separable by themselves: evenly spaced rows.
    """
    most = min(sample_size(signed.width), max(1, DENSE_ENTRIES // signed.width))
    products = signed.products(_fit(signed, rows, BOUNDARY_PASSES))[0][rows]
    if 2 * int((products <= 0.0).sum()) > most:
        return rows[:: -(-len(rows) // most)]
    return rows[np.sort(np.argsort(products, kind="stable")[:most])]
