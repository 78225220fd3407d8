"""Several classes two at a time: a fit of each pair on its own rows, joined; the class with most votes wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.certificates.parts import OneVsOneCertificate
from separatrix.fit.labels import Classes
from separatrix.fit.one_vs_rest import BinaryTarget, join_results
from separatrix.fit.result import FitResult


class Pair(NamedTuple):
    """Two classes: the rows that they have, and what to fit on those."""

    rows: Ints
    target: BinaryTarget


def pairs_of(classes: Classes) -> list[Pair]:
    """Return every two classes, the first of them negative."""
    plain, pairs = classes.plain, []
    for first, second in combinations(range(len(plain)), 2):
        rows = np.flatnonzero((classes.codes == first) | (classes.codes == second))
        signs = np.where(classes.codes[rows] == second, 1.0, -1.0)
        pairs.append(Pair(rows, BinaryTarget(signs, (plain[first], plain[second]))))
    return pairs


def join_pairs(parts: Sequence[FitResult], pairs: Sequence[Pair], n: int, square: bool) -> FitResult:
    """Return fits of pairs as one: coefficients (pairs, n) of all rows, intercepts (pairs,)."""
    labels = tuple(pair.target.labels for pair in pairs)
    wide = []
    for part, pair in zip(parts, pairs, strict=True):
        coef = np.zeros(n)
        coef[pair.rows] = part.coef
        wide.append(replace(part, coef=coef))
    joined = join_results(wide, [f"{first} against {second}" for first, second in labels])
    certificate = OneVsOneCertificate(labels, tuple(part.certificate for part in parts), square)
    message = "; ".join(f"{a!r} and {b!r}: {part.message}" for (a, b), part in zip(labels, parts, strict=True))
    return replace(joined, certificate=certificate, message=message)


def pair_votes(scores: Floats, n_classes: int) -> Floats:
    """Return each class's votes, (n, K), from the scores of all pairs; of equal votes the surer class has more.

    A sum of scores s, as s / (3 (|s| + 1)), is below a third of a vote, so it only ever breaks ties.
    """
    votes, sums = np.zeros((2, len(scores), n_classes))
    for column, (first, second) in enumerate(combinations(range(n_classes), 2)):
        positive = scores[:, column] >= 0.0
        votes[positive, second] += 1.0
        votes[~positive, first] += 1.0
        sums[:, second] += scores[:, column]
        sums[:, first] -= scores[:, column]
    return np.asarray(votes + sums / (3.0 * (np.abs(sums) + 1.0)))
