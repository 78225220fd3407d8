"""Find a separating direction of labelled rows, or a proof that they overlap, by constraint generation.

A ray z is a row times its sign or, with several classes, a difference of two classes' scores for a row: v separates a
row if z·v > 0. `find_separation` returns v with z·v ≥ 0 on all rays and > 0 on as many as possible, and a proof that
no vector separates the remaining ones.

A sample of rays is solved exactly (`dense`), and its solution is tested on all remaining rays. Rays with a negative
product join the sample. If there are none, the rays with a positive product are separated, and the search continues
with those at 0. Rays that violate the linear relations of a proof of overlap join the sample too. All signs are exact.

Absent columns come first: a column that is 0 in every row of some classes, and of one sign s in the others, separates
all rows that have it. Indicators of rare categories and words of texts are such columns. Samples with too many
entries are left to `wide`.

Cost: one pass per round and about ten rounds, with a small problem each; two passes for the absent columns, and one
more each time that columns have to be dropped. The search fails, with a reason, if the data are too wide or if
floating point fails on more rows than rational arithmetic can decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from separatrix.arrays import Bools, Floats, Indices, Signs
from separatrix.certificates.overlap import OverlapProof, PairOverlap
from separatrix.certificates.rays import Rays, Relation
from separatrix.design.base import Block, add_each
from separatrix.fit.run import Watch, is_stopped
from separatrix.separability.search.dense import DENSE_ENTRIES, sample_size, separate_dense
from separatrix.separability.search.wide import WideSeparation, overlap_of_pair, separate_wide, separation_from_fit

ROUNDS = 200
ADDED_PER_COLUMN, LEAST_ADDED = 2, 60  # violated rays that join a sample in one round
OUTWEIGH_FACTOR = 16  # growth of a stage's weight that is too small
COLUMN_ROUNDS = 20
DROPPING_ROWS, DROPPING_ENTRIES = 1000, 10_000_000  # read in one round of dropping columns, at most
TOO_WIDE = "{:,} columns are too many to decide it where neither all rows nor none can be separated"
STOPPED = "the search was stopped before it was over"


@dataclass(frozen=True)
class Separation:
    """A direction ≥ 0 on all rays (None if it would be 0 on all), and the proof that the `remaining` rays overlap.

    `remaining` are the places of the rays on which the direction is 0. `pair_overlaps` prove of some of them, or of
    all, that no vector separates them. `reason` says why there is neither kind of proof although rays remain.
    """

    direction: tuple[Fraction, ...] | None
    remaining: Indices
    proof: OverlapProof | None = None
    reason: str | None = None
    pair_overlaps: tuple[PairOverlap, ...] = ()


def find_separation(rays: Rays, places: Indices, hint: Floats | None = None, watch: Watch | None = None) -> Separation:
    """Return the separation of the rays in some places; `hint` is a vector near the boundary, such as a fit's."""
    if is_stopped(watch, rays.design.passes):
        return Separation(None, places, reason=STOPPED)
    wide = separate_wide(rays, places, watch) if rays.design.row_visits and _too_wide(rays, places) else None
    if wide is not None and wide.direction is not None:
        return _from_wide(rays, wide)
    stages: list[_Stage] = []
    remaining = places
    while (absent := absent_columns_direction(rays, remaining)) is not None:
        weights, signs = absent
        stages.append(_Stage(weights, remaining[signs > 0]))
        remaining = remaining[signs == 0]
    if wide is not None and _too_wide(rays, remaining):
        pair = overlap_of_pair(rays, remaining, wide) if stages else None
        if pair is not None:
            return Separation(_combined(rays, places, stages), remaining, pair_overlaps=(pair,))
        wide = separation_from_fit(rays, places, wide, watch)
        if wide.direction is not None:
            return _from_wide(rays, wide)
    sample = _first_sample(rays, remaining, hint)
    while len(remaining):
        result, sample = _search(rays, remaining, sample, watch)
        if not isinstance(result, _Stage):
            proof, reason = (result, None) if isinstance(result, OverlapProof) else (None, result)
            return Separation(_combined(rays, places, stages), remaining, proof, reason)
        stages.append(result)
        remaining = np.setdiff1d(remaining, result.separated, assume_unique=True)
        sample = _first_sample(rays, remaining, hint, sample)
    return Separation(_combined(rays, places, stages), remaining)


def violating_rays(rays: Rays, places: Indices, relations: tuple[Relation, ...]) -> Indices:
    """Return rays that violate linear relations between columns, a few for each relation."""
    violations = rays.violating(relations, places, LEAST_ADDED)
    return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *violations]))


class _Stage(NamedTuple):
    """A vector ≥ 0 on the rays that remained, and the places where it is > 0."""

    weights: list[Fraction]
    separated: Indices


def _search(
    rays: Rays, remaining: Indices, sample: Indices, watch: Watch | None
) -> tuple[_Stage | OverlapProof | str, Indices]:
    """Return a stage of some remaining rays, the proof that they overlap or why there is neither; the last sample."""
    if len(sample) * rays.width > 2 * DENSE_ENTRIES:
        return TOO_WIDE.format(rays.width), sample
    for _ in range(ROUNDS):
        if is_stopped(watch, rays.design.passes):
            return STOPPED, sample
        solved = separate_dense(rays.take(sample), partial(violating_rays, rays, remaining))
        if solved is None:
            break
        if solved.violating is not None:
            sample = np.union1d(sample, solved.violating)
        elif solved.weights is not None:
            signs = rays.signs(solved.weights, remaining)
            violated = remaining[signs < 0]
            if not len(violated):
                return _Stage(solved.weights, remaining[signs > 0]), sample
            sample = _with_violated(rays, sample, violated, solved.weights)
        else:
            assert solved.proof is not None
            violated = violating_rays(rays, remaining, solved.proof.relations)
            if not len(violated):
                places = tuple(sample[list(solved.proof.places)].tolist())  # among all rays
                return replace(solved.proof, places=places), sample
            sample = np.union1d(sample, violated)
    return f"{len(sample):,} rows are undecided in floating point, and are too many for rational arithmetic", sample


def _from_wide(rays: Rays, wide: WideSeparation) -> Separation:
    assert wide.direction is not None
    return Separation(tuple(wide.direction), wide.equal.places(rays), pair_overlaps=wide.equal.pair_overlaps)


def _too_wide(rays: Rays, places: Indices) -> bool:
    """Tell whether a first sample would have too many entries to be solved."""
    count = sample_size(rays.width)
    return (len(places) if len(places) <= 2 * count else count) * rays.width > DENSE_ENTRIES


def _first_sample(rays: Rays, places: Indices, hint: Floats | None, previous: Indices | None = None) -> Indices:
    """Return rays to start with: evenly spaced ones, those nearest to the hint's boundary, the previous sample's."""
    count = sample_size(rays.width)
    if len(places) <= 2 * count:
        return places
    chosen = [places[:: -(-len(places) // count)]]
    if previous is not None:
        chosen.append(np.intersect1d(previous, places))
    if hint is not None:
        chosen.append(_lowest(rays, places, hint, count // 2))
    return np.unique(np.concatenate(chosen))


def _lowest(rays: Rays, places: Indices, weights: Floats, count: int) -> Indices:
    """Return the places with the least products, relative to the sizes of the rays."""
    products, sizes = (part[places] for part in rays.products(weights))
    return places[np.argpartition(products / np.where(sizes > 0.0, sizes, 1.0), count)[:count]]


def _with_violated(rays: Rays, sample: Indices, violated: Indices, weights: list[Fraction]) -> Indices:
    """Return the sample with violated rays added: the most violated ones, and evenly spaced others."""
    count = max(LEAST_ADDED, ADDED_PER_COLUMN * rays.width)
    if len(violated) > 2 * count:
        worst = _lowest(rays, violated, rays.from_exact(weights), count)
        violated = np.concatenate([worst, violated[:: -(-len(violated) // count)]])
    return np.union1d(sample, violated)


def _combined(rays: Rays, places: Indices, stages: list[_Stage]) -> tuple[Fraction, ...] | None:
    """Return one vector for all stages: each outweighs the later ones on the rays that it separates."""
    if not stages:
        return None
    total, separated = stages[-1].weights, stages[-1].separated
    for stage in reversed(stages[:-1]):
        separated = np.union1d(separated, stage.separated)
        total = _outweigh(rays, stage, total, separated)
    rounded = tuple(Fraction(x) for x in rays.from_exact(total).tolist())  # shorter, if it still separates all rays
    separates = len(separated) == len(places) and (rays.signs(rounded, places) > 0).all()
    return rounded if separates else tuple(total)


def _outweigh(rays: Rays, stage: _Stage, total: list[Fraction], separated: Indices) -> list[Fraction]:
    """Return a multiple of a stage's vector plus another vector, > 0 on all rays that either separates."""
    own, other = _near_one(stage.weights), _near_one(total)
    gains, losses = (rays.products(rays.from_exact(weights))[0][stage.separated] for weights in (own, other))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = float((-losses / gains).max())
    factor = Fraction(2) ** max(0, math.frexp(ratio)[1])
    while True:
        weights = [factor * a + b for a, b in zip(own, other, strict=True)]
        if (rays.signs(weights, separated) > 0).all():
            return weights
        factor *= OUTWEIGH_FACTOR


def _near_one(weights: list[Fraction]) -> list[Fraction]:
    """Return weights times a power of 2, the largest near 1."""
    size = max(abs(weight) for weight in weights)
    scale = Fraction(2) ** (size.denominator.bit_length() - size.numerator.bit_length())
    return [weight * scale for weight in weights]


def absent_columns_direction(rays: Rays, places: Indices) -> tuple[list[Fraction], Signs] | None:
    """Return a vector made of the absent columns and its signs on the rays in some places; None if there are none."""
    marks = np.zeros(len(rays.codes), dtype=np.bool_)
    marks[rays.rows_of(places)] = True
    rows = (rays.codes, marks)
    squares, sums = rays.design.fold(_squares_and_sums, rays.classes, rows=rows, combine=add_each)
    present = squares > 0.0
    usable = present.any(axis=1) & ~present.all(axis=1)
    scores = np.where(present & usable[:, np.newaxis], np.sign(sums.sum(axis=1))[:, np.newaxis], 0.0)
    for _ in range(COLUMN_ROUNDS):
        if not scores.any():
            return None
        weights = [Fraction(x) for x in rays.from_scores(scores).tolist()]
        signs = rays.signs(weights, places)
        violated = rays.rows_of(places[signs < 0])
        if not len(violated):
            return (weights, signs) if signs.any() else None
        read = np.unique(violated)[: max(1, min(DROPPING_ROWS, DROPPING_ENTRIES // len(scores)))]
        mixed = (rays.design.take(read) * scores.T[rays.codes[read]] < 0.0).any(axis=0)
        scores[mixed] = 0.0
    return None


def _squares_and_sums(block: Block, codes: Indices, marks: Bools, classes: int) -> tuple[Floats, Floats]:
    """Return the columns' sums of squares, and sums, over the marked rows of each class."""
    members = np.zeros((len(codes), classes))
    members[np.arange(len(codes)), codes] = marks
    return block.column_squares(members), block.rmatvec(members)
