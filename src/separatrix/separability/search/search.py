"""Directions that can be read off the columns: a column that some class never has.

If a column is 0 in every row of some classes, and elsewhere of one sign s, then raising its weight by s in the scores
of the classes A that have it moves no row of A back and sets it apart from every class outside A. Indicators of rare
categories and words of texts are such columns; taking them first leaves a smaller problem.

Cost: two passes, and one for each time that columns of both signs have to be dropped.

The face of all rays, by the few that matter: solve some, look at all, take in those that object.

A sample of rays is solved exactly (`small`). A vector found is tried on every ray still there: rays with a product
below 0 join the sample, and without such the rays above 0 are separated and the search goes on with those at 0. A
proof of overlap needs no other ray but for its relations between columns, which every ray must obey; those that do not
join the sample. Signs are exact throughout, so whatever comes out is true. Too many columns to solve a sample are left
to `wide`, which may find no more than that some rays can be separated and others cannot. A watch is told of each round,
and may have the search stop there, with what was separated so far.

Cost: a pass a round, some ten rounds; a small problem each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from separatrix.arrays import Bools, Floats, Indices, Signs
from separatrix.certificates.overlap import OverlapProof, PairOverlap
from separatrix.certificates.rays import Rays, Relation
from separatrix.design.base import Block, add_each
from separatrix.fit.run import Watch
from separatrix.separability.search.dense import separate_dense
from separatrix.separability.search.wide import WideSeparation, overlap_of_pair, separate_wide, separation_from_fit

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


ROUNDS = 200
RAYS_A_COLUMN = 6
FEWEST_RAYS = 400
ADDED_A_COLUMN = 2
FEWEST_ADDED = 60
DENSE_ENTRIES = 20_000_000  # of a sample of rays, beyond which it is not solved
TOO_WIDE = "{:,} columns are too many to decide it where neither all rows nor none can be separated"
STOPPED = "the search was stopped before it was over"
LARGER = 16  # by how much a factor that is too small is raised


@dataclass(frozen=True)
class Separation:
    """A vector ≥ 0 on all rays, None if it would be 0 on all; the places it is 0 on; the proof that these overlap.

    `clashes` show of some of these, of all if they are as many, that no vector separates them. `reason` says why there
    is neither a proof nor a clash although rays are left: the face is then not known.
    """

    direction: tuple[Fraction, ...] | None
    left: Indices
    proof: OverlapProof | None = None
    reason: str | None = None
    clashes: tuple[PairOverlap, ...] = ()


def find_separation(rays: Rays, places: Indices, hint: Floats | None = None, watch: Watch | None = None) -> Separation:
    """Return the face of the rays in some places; `hint` is a vector, as a fit's last, near which to look."""
    if _is_stopped(rays, watch):
        return Separation(None, places, reason=STOPPED)
    wide = separate_wide(rays, places, watch) if rays.design.row_visits and _too_wide(rays, places) else None
    if wide is not None and wide.direction is not None:
        return _of_wide(rays, wide)
    stages: list[_Stage] = []
    left = places
    while (found := absent_columns_direction(rays, left)) is not None:
        stages.append(_Stage(found[0], left[found[1] > 0]))
        left = left[found[1] == 0]
    if wide is not None and _too_wide(rays, left):
        clash = overlap_of_pair(rays, left, wide.ahead) if stages else None
        if clash is not None:
            return Separation(_combined(rays, places, stages), left, clashes=(clash,))
        wide = separation_from_fit(rays, places, wide, watch)
        if wide.direction is not None:
            return _of_wide(rays, wide)
    found_proof: OverlapProof | None = None
    reason: str | None = None
    sample = _first_sample(rays, left, hint)
    while len(left) and found_proof is None and reason is None:
        stage, found_proof, sample, reason = _search(rays, left, sample, watch)
        if stage is not None:
            stages.append(stage)
            left = np.setdiff1d(left, stage.separated, assume_unique=True)
            sample = _first_sample(rays, left, hint, sample)
    return Separation(_combined(rays, places, stages), left, found_proof, reason)


@dataclass(frozen=True)
class _Stage:
    """A vector that is ≥ 0 on the rays that were there, and the places where it is above 0."""

    weights: list[Fraction]
    separated: Indices


def _too_wide(rays: Rays, places: Indices) -> bool:
    """Tell whether a first sample of some rays would have too many entries to be solved."""
    count = _sample_size(rays)
    return (len(places) if len(places) <= 2 * count else count) * rays.width > DENSE_ENTRIES


def _of_wide(rays: Rays, wide: WideSeparation) -> Separation:
    """Return the face of a direction that separates all rays but those of equal rows."""
    assert wide.direction is not None
    return Separation(tuple(wide.direction), wide.equal.places(rays), clashes=wide.equal.clashes)


def _is_stopped(rays: Rays, watch: Watch | None) -> bool:
    return watch is not None and watch({"passes": rays.design.passes}) is True


def _search(
    rays: Rays, left: Indices, sample: Indices, watch: Watch | None
) -> tuple[_Stage | None, OverlapProof | None, Indices, str | None]:
    """Return a vector that separates some of the rays left, or the proof that they overlap; and the last sample."""
    too_wide = len(sample) * rays.width > 2 * DENSE_ENTRIES
    for _ in range(ROUNDS):
        if _is_stopped(rays, watch):
            return None, None, sample, STOPPED
        if too_wide:
            return None, None, sample, TOO_WIDE.format(rays.width)
        face = separate_dense(rays.take(sample), partial(violating_rows, rays, left))
        if face is None:
            break
        if face.strangers is not None:
            sample = np.union1d(sample, face.strangers)
        elif face.weights is not None:
            signs = rays.signs(face.weights, left)
            against = left[signs < 0]
            if not len(against):
                return _Stage(face.weights, left[signs > 0]), None, sample, None
            sample = _joined(rays, sample, against, face.weights)
        else:
            assert face.proof is not None
            against = violating_rows(rays, left, face.proof.relations)
            if not len(against):
                return None, _in_places(face.proof, sample), sample, None
            sample = np.union1d(sample, against)
    reason = f"{len(sample):,} rows lie so that floats cannot tell, and are too many for rationals"
    return None, None, sample, reason


def _combined(rays: Rays, places: Indices, stages: list[_Stage]) -> tuple[Fraction, ...] | None:
    """Return one vector for all stages: each outweighs those after it on the rays that it separates."""
    if not stages:
        return None
    total, separated = stages[-1].weights, stages[-1].separated
    for stage in reversed(stages[:-1]):
        separated = np.union1d(separated, stage.separated)
        total = _outweigh(rays, stage, total, separated)
    return _plain(rays, places, total) if len(separated) == len(places) else tuple(total)


def _outweigh(rays: Rays, stage: _Stage, total: list[Fraction], separated: Indices) -> list[Fraction]:
    """Return a multiple of a stage's vector plus another, above 0 on all rays that either separates."""
    own, other = _near_one(stage.weights), _near_one(total)
    gains, losses = (rays.products(rays.from_exact(weights))[0][stage.separated] for weights in (own, other))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = float((-losses / gains).max())
    factor = Fraction(2) ** max(0, math.frexp(ratio)[1])
    while True:
        weights = [factor * a + b for a, b in zip(own, other, strict=True)]
        if (rays.signs(weights, separated) > 0).all():
            return weights
        factor *= LARGER


def _near_one(weights: list[Fraction]) -> list[Fraction]:
    """Return weights times a power of 2, the largest near 1."""
    size = max(abs(weight) for weight in weights)
    scale = Fraction(2) ** (size.denominator.bit_length() - size.numerator.bit_length())
    return [weight * scale for weight in weights]


def _plain(rays: Rays, places: Indices, weights: list[Fraction]) -> tuple[Fraction, ...]:
    """Return a separator of all rays rounded to floats, if it still is one."""
    rounded = tuple(Fraction(x) for x in rays.from_exact(weights).tolist())
    return rounded if (rays.signs(rounded, places) > 0).all() else tuple(weights)


def _first_sample(rays: Rays, places: Indices, hint: Floats | None, before: Indices | None = None) -> Indices:
    """Return rays to begin with: some evenly spread, those near the hint's boundary, and those that served before."""
    count = _sample_size(rays)
    if len(places) <= 2 * count:
        return places
    chosen = [places[:: -(-len(places) // count)]]
    if before is not None:
        chosen.append(np.intersect1d(before, places))
    if hint is not None:
        products, sizes = (part[places] for part in rays.products(hint))
        nearest = np.argpartition(products / np.where(sizes > 0.0, sizes, 1.0), count // 2)[: count // 2]
        chosen.append(places[nearest])
    return np.unique(np.concatenate(chosen))


def _sample_size(rays: Rays) -> int:
    return max(FEWEST_RAYS, RAYS_A_COLUMN * rays.width)


def _joined(rays: Rays, sample: Indices, against: Indices, weights: list[Fraction]) -> Indices:
    """Return the sample with the rays most against some weights, and some others against them."""
    count = max(FEWEST_ADDED, ADDED_A_COLUMN * rays.width)
    if len(against) > 2 * count:
        products, sizes = (part[against] for part in rays.products(rays.from_exact(weights)))
        worst = np.argpartition(products / np.where(sizes > 0.0, sizes, 1.0), count)[:count]
        against = np.concatenate([against[worst], against[:: -(-len(against) // count)]])
    return np.union1d(sample, against)


def violating_rows(rays: Rays, places: Indices, relations: tuple[Relation, ...]) -> Indices:
    """Return rays that break relations between columns, a few for each."""
    found = rays.breaking(relations, places, FEWEST_ADDED)
    return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *found]))


def _in_places(proof: OverlapProof, sample: Indices) -> OverlapProof:
    """Return a proof whose places number all rays, not those of the sample."""
    places = tuple(sample[list(proof.places)].tolist())
    return OverlapProof(places, proof.multipliers, proof.columns, proof.relations)
