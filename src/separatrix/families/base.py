"""Several classes by a binary fit: each class against the rest, the highest score wins; of two classes, one fit.

Several classes two at a time: a fit of each pair on its own rows, joined; the class with most votes wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.certificates.base import OneVsRestCertificate
from separatrix.certificates.parts import OneVsOneCertificate
from separatrix.fit.labels import Classes
from separatrix.fit.result import FitResult, Status

ADDED = ("updates", "visits", "gap")  # facts of the parts that add up to a fact of the whole


class BinaryTarget(NamedTuple):
    """A binary problem: signs ±1, and the labels (negative, positive) that they stand for; None stands for the rest."""

    signs: Floats
    labels: tuple[Any, Any]


def binary_targets(classes: Classes, positive: int = 1) -> list[BinaryTarget]:
    """Return what to fit: the class in place `positive` against the other, of more than two each against the rest."""
    plain = classes.plain
    if len(plain) == 2:
        return [BinaryTarget(classes.signs(positive), (plain[1 - positive], plain[positive]))]
    return [BinaryTarget(classes.signs(code), (None, label)) for code, label in enumerate(plain)]


def join_results(parts: Sequence[FitResult], classes: Sequence[Any]) -> FitResult:
    """Return one fit as it is, and the fits of each class against the rest as one: coef (K, p), intercept (K,)."""
    if len(parts) == 1:
        return parts[0]
    worst = min(parts, key=lambda part: (part.status.reached_goal, part.status is not Status.INFEASIBLE))
    messages = [f"{label!r} against the rest: {part.message}" for label, part in zip(classes, parts, strict=True)]
    facts = {name: sum(part.facts[name] for part in parts) for name in ADDED if name in parts[0].facts}
    return FitResult(
        coef=np.vstack([part.coef for part in parts]),
        intercept=np.asarray([float(part.intercept) for part in parts]),
        status=worst.status,
        message="; ".join(messages),
        objective=float(np.mean([part.objective for part in parts])),
        passes=sum(part.passes for part in parts),
        seconds=sum(part.seconds for part in parts),
        certificate=OneVsRestCertificate(tuple(classes), tuple(part.certificate for part in parts)),
        trace=worst.trace,
        facts=facts,
        provenance=worst.provenance,
        parts=tuple(parts),
        overlap=_join_overlaps(parts, classes),
    )


def _join_overlaps(parts: Sequence[FitResult], classes: Sequence[Any]) -> OneVsRestCertificate | None:
    """Return the proofs of the classes that cannot be separated from the rest, None if there are none."""
    proofs = {label: part.overlap for label, part in zip(classes, parts, strict=True) if part.overlap is not None}
    return OneVsRestCertificate(tuple(proofs), tuple(proofs.values()), indicators=True) if proofs else None


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
