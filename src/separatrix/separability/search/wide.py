"""Rows that are the same in every column but not in their class: no scores can put both classes ahead.

Of equal rows of the classes a and b, n_a and n_b of them, the multipliers 1/n_a and 1/n_b cancel exactly: a clash
(`certificates.clashes`). Rows that are 0 in all columns clash with every class. Scores that are to separate all others
must have these level, exactly: `levelled` solves for one weight a clash.

Cost: a read of the data. Rows are found equal by what is stored, so that a zero stored and one left out differ.

Scores that have every row's own class ahead, found row by row: a passive-aggressive perceptron of several classes.

A row whose class y is not ahead of another class k by 1 moves both just so far that it is,

    w_y += τ x,  w_k −= τ x,  τ = (1 − (w_y − w_k)·x) / 2‖x‖²

for the k that is nearest, and rows that cannot be told apart are moved so that the two are level. Where there are more
columns than rows some tens of sweeps do, on few rows each; where the classes overlap, the first few sweeps show it.

Cost: a read of the row a visit; memory K numbers a column. Fails, with some rows behind, when the sweeps are used up.
Reference: Crammer and others, Online passive-aggressive algorithms (2006).

The face of rows with too many columns to be solved densely: scores found row by row, and the rows that forbid them.

With more columns than rows nearly all can be separated: what a perceptron of several classes finds (`ahead`) is rounded
to whole numbers, and equal rows of different classes, which no scores separate, are made level exactly (`equal_rows`).
Where the classes overlap, rows of two of them, near their boundary, are peeled: those that some direction separates are
dropped until the rest cancel, which shows that not all can be separated. Nothing is believed before it holds exactly.

Cost: some tens of reads of the data, and memory K numbers a column; for a peel, a problem of two classes' columns.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from hashlib import blake2b
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.exact import exact_sign_rows
from separatrix.certificates.overlap import OverlapProof, PairOverlap
from separatrix.certificates.rays import Rays, make_rays
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.result import separation_rule
from separatrix.fit.run import Watch
from separatrix.losses.margin import Logistic
from separatrix.losses.softmax import Softmax
from separatrix.problem import Problem
from separatrix.separability.search.dense import separate_dense


class EqualScores(NamedTuple):
    """A row on which two classes must be level."""

    row: int
    pair: tuple[int, int]


class EqualRows(NamedTuple):
    """The clashes of equal rows, and what must be level for them."""

    clashes: tuple[PairOverlap, ...]
    levels: tuple[EqualScores, ...]

    def places(self, rays: Rays) -> Indices:
        """Return the places of the rays that clash, in order."""
        return np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *(clash.places(rays) for clash in self.clashes)]))


def equal_rows(rays: Rays, places: Indices) -> EqualRows:
    """Return the clashes between rows that are the same, of those whose rays are in some places."""
    multipliers: dict[tuple[int, int], dict[int, Fraction]] = defaultdict(dict)
    levels: list[EqualScores] = []
    for group in _groups(rays, np.unique(rays.rows_of(places))):
        codes = rays.codes[group]
        empty = not rays.design.virtual and not rays.design.take(group[:1]).any()
        present = list(range(rays.classes)) if empty else np.unique(codes).tolist()
        for pair in combinations(present, 2):
            for code in pair:
                own = group[codes == code].tolist()
                multipliers[pair].update({row: Fraction(1, len(own)) for row in own})
        levels += [] if empty else [EqualScores(int(group[0]), (present[0], other)) for other in present[1:]]
    clashes = (
        PairOverlap(pair, OverlapProof(tuple(own), tuple(own.values()), ())) for pair, own in multipliers.items() if own
    )
    return EqualRows(tuple(clashes), tuple(levels))


def _groups(rays: Rays, rows: Indices) -> list[Indices]:
    """Return rows in groups of equal ones, those of one class left out but where they may be empty."""
    stored = rays.design.stored_rows()
    found: dict[bytes, list[int]] = defaultdict(list)
    for i in rows.tolist():
        digest = blake2b(digest_size=16)
        for part in _parts(stored, i):
            digest.update(part.tobytes())
        found[digest.digest()].append(i)
    groups = (np.array(group, dtype=np.intp) for group in found.values())
    return [group for group in groups if not rays.design.virtual or len(np.unique(rays.codes[group])) > 1]


def _parts(stored: Any, i: int) -> list[Any]:
    if stored.starts.size == 0:
        return [stored.values[i * stored.width : (i + 1) * stored.width]]
    entries = slice(int(stored.starts[i]), int(stored.starts[i + 1]))
    return [stored.columns[entries], stored.values[entries]]


def equalise_scores(
    rays: Rays, scores: NDArray[Any], levels: tuple[EqualScores, ...]
) -> dict[tuple[int, int], Fraction] | None:
    """Return weights, by column and class, that replace those of scores so that all levels hold exactly.

    Each level changes a weight that no level before it has; None where there is no such weight.
    """
    rows = {level.row: rays.design.take([level.row])[0] for level in levels}
    changed: dict[tuple[int, int], Fraction] = {}
    for number, (row, (first, second)) in enumerate(levels):
        x = rows[row]
        fixed = [rows[level.row] != 0.0 for level in levels[:number] if second in level.pair]
        free = np.flatnonzero((x != 0.0) & ~np.any([x == 0.0, *fixed], axis=0))
        if not len(free):
            return None
        column = int(free[np.argmin(np.abs(np.abs(x[free]) - 1.0))])
        lead = Fraction(0)
        for j in np.flatnonzero(x).tolist():
            own, other = (changed.get((j, c), Fraction(scores[j, c].item())) for c in (first, second))
            lead += Fraction(x[j].item()) * (own - other)
        now = changed.get((column, second), Fraction(scores[column, second].item()))
        changed[column, second] = now + lead / Fraction(x[column].item())
    return changed


SWEEPS = 120
VISITS = 1_500_000  # of rows, after which a sweep is the last
TRIAL = 3  # sweeps after which it must look hopeful
HOPEFUL, FALLING = 0.02, 0.8  # of the rows, and of those behind a sweep before: with more behind, it is given up
REVISITS = 8  # of the rows that moved something, after each sweep
CLEAR = 1e-3  # of the margin aimed at: rows are ahead if they are by more


class Leads(NamedTuple):
    """Scores (p, K) and by how much each row's class is ahead of the nearest one that counts, infinite without any."""

    scores: Floats
    leads: Floats


def passive_aggressive(
    rays: Rays, places: Indices, levels: tuple[EqualScores, ...], watch: Watch | None = None
) -> Leads:
    """Return scores that have rows ahead in the rays of some places, if they can be had soon."""
    walk = _Walk(rays, places)
    rng = np.random.default_rng(0)
    rows = np.unique(rays.rows_of(places))
    before = len(rows)
    for sweep in range(1, SWEEPS + 1):
        active = walk.visit(rng.permutation(rows))
        for _ in range(REVISITS):
            active = walk.visit(rng.permutation(active))
        for level in levels:
            walk.level(level)
        ahead = leads(rays, walk.scores, walk.counts)
        behind = int((ahead <= CLEAR).sum())
        hopeless = sweep >= TRIAL and behind > max(HOPEFUL * len(rows), FALLING * before)
        stopped = watch is not None and watch({"passes": rays.design.passes}) is True
        if not behind or hopeless or stopped or walk.visits > VISITS:
            break
        before = behind
    return Leads(walk.scores, ahead)


def leads(rays: Rays, scores: Floats, counts: Bools) -> Floats:
    """Return by how much each row's class is ahead of the nearest class that counts for it; one pass."""
    values = rays.design.matvec(scores)
    own = np.take_along_axis(values, _own(rays)[:, np.newaxis], axis=1)
    return np.asarray(np.where(counts, own - values, np.inf).min(axis=1))


def _own(rays: Rays) -> Indices:
    """Return the places of rows' own classes among the scores; of one class only, that is the second of two."""
    return np.asarray(rays.codes + max(0, 2 - rays.classes))


class _Walk:
    """The scores as they move, the rows, and which classes count for each."""

    def __init__(self, rays: Rays, places: Indices) -> None:
        self.rows, self.own, self.norms = rays.design.stored_rows(), _own(rays), rays.design.squared_norms()
        self.scores = np.zeros((rays.design.shape[1], max(2, rays.classes)))
        self.counts = counted_classes(rays, places)
        self.visits = 0

    def visit(self, order: Indices) -> Indices:
        """Visit rows in turn, and return those that were not ahead by the margin."""
        moved = []
        self.visits += len(order)
        for i in order.tolist():
            columns, values = self._row(i)
            scores = np.asarray(values @ self.scores[columns])
            lead = np.where(self.counts[i], scores[self.own[i]] - scores, np.inf)
            nearest = int(lead.argmin())
            if lead[nearest] < 1.0:
                self._move(i, (int(self.own[i]), nearest), 1.0 - float(lead[nearest]))
                moved.append(i)
        return np.array(moved, dtype=np.intp)

    def level(self, level: EqualScores) -> None:
        """Move the scores of two classes so that a row has them level."""
        columns, values = self._row(level.row)
        scores = values @ self.scores[columns]
        self._move(level.row, level.pair, float(scores[level.pair[1]] - scores[level.pair[0]]))

    def _move(self, i: int, pair: tuple[int, int], by: float) -> None:
        columns, values = self._row(i)
        step = by / (2.0 * self.norms[i]) * values if self.norms[i] > 0.0 else 0.0 * values
        self.scores[columns, pair[0]] += step
        self.scores[columns, pair[1]] -= step

    def _row(self, i: int) -> tuple[Any, Floats]:
        """Return the columns and entries of a row, its virtual one included."""
        rows, virtual = self.rows, self.rows.virtual
        if rows.starts.size == 0:
            columns: Any = slice(None)
            values = rows.values[i * rows.width : (i + 1) * rows.width]
        else:
            entries = slice(int(rows.starts[i]), int(rows.starts[i + 1]))
            columns, values = rows.columns[entries].astype(np.intp) + virtual, rows.values[entries]
            columns = np.concatenate([[0], columns]) if virtual else columns
        return columns, np.concatenate([[1.0], values]) if virtual else np.asarray(values, dtype=np.float64)


def counted_classes(rays: Rays, places: Indices) -> Bools:
    """Return which classes each row's own is to be ahead of, (n, K), by the places of the rays."""
    counts = np.zeros((len(rays.codes), max(2, rays.classes)), dtype=np.bool_)
    rows = rays.rows_of(places)
    counts[rows, rays.other_class(places)] = True
    return counts


BITS = (8, 12, 16, 24, 36, 50)  # of the largest weight, tried in turn: fewer make a shorter proof
PAIRS = 4  # of classes, the most often confused first, whose rows are peeled
RAYS_A_COLUMN = 6
FEWEST_RAYS = 400
DENSE_ENTRIES = 20_000_000  # of rays to be peeled
FACE_PASSES = 200  # of the fit that may separate all rows
FIT_PASSES = 60  # of the fit that tells which rows lie near the boundary


class WideSeparation(NamedTuple):
    """A direction that separates all rays but those of equal rows, None without; the equal rows; the last scores."""

    direction: list[Fraction] | None
    equal: EqualRows
    ahead: Leads


def separate_wide(rays: Rays, places: Indices, watch: Watch | None = None) -> WideSeparation:
    """Return a direction that separates all rays but those of equal rows of different classes, if one is found."""
    equal = equal_rows(rays, places)
    others = np.setdiff1d(places, equal.places(rays), assume_unique=True)
    ahead = passive_aggressive(rays, others, equal.levels, watch)
    return WideSeparation(_exact_direction(rays, others, ahead, equal), equal, ahead)


def separation_from_fit(
    rays: Rays, places: Indices, wide: WideSeparation, watch: Watch | None = None
) -> WideSeparation:
    """Return what `wide_face` does, by the logistic or softmax fit itself: slower, but for columns alike it gets on."""
    others = np.setdiff1d(places, wide.equal.places(rays), assume_unique=True)
    kept = np.zeros(rays.design.shape[0], dtype=np.bool_)
    kept[rays.rows_of(others)] = True
    codes, binary = rays.codes[kept], rays.classes <= 2
    targets = np.where(codes == rays.classes - 1, 1.0, -1.0) if binary else codes
    problem = Problem(rays.design.select(kept), targets, Logistic() if binary else Softmax())
    coef = np.nan_to_num(_fit(problem, FACE_PASSES, watch))
    scores = np.column_stack([np.zeros(len(coef)), coef]) if binary else coef
    scores = np.pad(scores, ((0, 0), (0, rays.classes - scores.shape[1])))  # classes of which no row was fitted
    ahead = Leads(scores, leads(rays, scores, counted_classes(rays, others)))
    return WideSeparation(_exact_direction(rays, others, ahead, wide.equal), wide.equal, ahead)


def _fit(problem: Problem, passes: int, watch: Watch | None = None) -> Floats:
    """Return where a fit is after some passes, or once all its rows are right."""
    rules = (separation_rule(problem),)
    return fit_convex(problem, ConvexOptions(max_passes=passes), watch=watch, extra_rules=rules).coef


def _exact_direction(rays: Rays, others: Indices, ahead: Leads, equal: EqualRows) -> list[Fraction] | None:
    """Return scores rounded to few bits that still separate, with equal rows level, as an exact vector."""
    if not ahead.leads.min() > 0.0 or not len(others):
        return None
    counts, largest = counted_classes(rays, others), float(np.abs(ahead.scores).max())
    for bits in BITS:
        rounded = np.rint(np.ldexp(ahead.scores, bits - int(np.frexp(largest)[1])))
        if leads(rays, rounded, counts).min() <= 0.0:
            continue
        changed = equalise_scores(rays, rounded, equal.levels)
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


def overlap_of_pair(rays: Rays, places: Indices, ahead: Leads) -> PairOverlap | None:
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


def _peel(rays: Rays, places: Indices, pair: tuple[int, int]) -> PairOverlap | None:
    """Return rows of two classes that cancel, among those nearest to the boundary of the two."""
    rows = np.unique(rays.rows_of(places))
    rows = rows[np.isin(rays.codes[rows], pair)]
    signed = make_rays(rays.design, (rays.codes == pair[1]).astype(np.intp), 2)
    rows = _nearest(signed, rows)
    while len(rows):
        taken = signed.take(rows)
        face = separate_dense(taken)
        if face is None:
            return None
        if face.proof is not None:
            chosen, found = rows[list(face.proof.places)], face.proof
            proof = OverlapProof(tuple(chosen.tolist()), found.multipliers, found.columns, found.relations)
            return PairOverlap(pair, proof) if len(chosen) else None
        assert face.weights is not None
        rows = rows[exact_sign_rows(taken, face.weights) == 0]
    return None
