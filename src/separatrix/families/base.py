"""Several classes from binary fits: one-vs-rest, where the highest score wins, or one-vs-one, where most votes win.

One-vs-rest makes one fit for two classes and one per class for more; one-vs-one fits each pair of classes on its rows.
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

ADDITIVE_FACTS = ("updates", "visits", "gap")  # facts that are summed over the fits


class BinaryTarget(NamedTuple):
    """The target of a binary fit: signs ±1, and the labels (negative, positive); None is the rest."""

    signs: Floats
    labels: tuple[Any, Any]


def binary_targets(classes: Classes, positive: int = 1) -> list[BinaryTarget]:
    """Return one target for two classes, where code `positive` is +1, or one per class against the rest."""
    plain = classes.plain
    if len(plain) == 2:
        return [BinaryTarget(classes.signs(positive), (plain[1 - positive], plain[positive]))]
    return [BinaryTarget(classes.signs(code), (None, label)) for code, label in enumerate(plain)]


def join_results(parts: Sequence[FitResult], classes: Sequence[Any]) -> FitResult:
    """Return a single fit unchanged, or one-vs-rest fits as one result: coef (K, p), intercept (K,)."""
    if len(parts) == 1:
        return parts[0]
    worst = min(parts, key=lambda part: (part.status.reached_goal, part.status is not Status.INFEASIBLE))
    messages = [f"{label!r} against the rest: {part.message}" for label, part in zip(classes, parts, strict=True)]
    facts = {name: sum(part.facts[name] for part in parts) for name in ADDITIVE_FACTS if name in parts[0].facts}
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
    """Return the proofs for the classes that cannot be separated from the rest; None if there are none."""
    proofs = {label: part.overlap for label, part in zip(classes, parts, strict=True) if part.overlap is not None}
    return OneVsRestCertificate(tuple(proofs), tuple(proofs.values()), indicators=True) if proofs else None


class Pair(NamedTuple):
    """Two classes: their rows, and the target of the fit on these."""

    rows: Ints
    target: BinaryTarget


def class_pairs(classes: Classes) -> list[Pair]:
    """Return all pairs of classes, the first of each negative."""
    plain, pairs = classes.plain, []
    for first, second in combinations(range(len(plain)), 2):
        rows = np.flatnonzero((classes.codes == first) | (classes.codes == second))
        signs = np.where(classes.codes[rows] == second, 1.0, -1.0)
        pairs.append(Pair(rows, BinaryTarget(signs, (plain[first], plain[second]))))
    return pairs


def join_pairs(parts: Sequence[FitResult], pairs: Sequence[Pair], n: int, square: bool) -> FitResult:
    """Return the fits of pairs as one result: coef (pairs, n) over all rows, intercept (pairs,)."""
    labels = tuple(pair.target.labels for pair in pairs)
    padded = []
    for part, pair in zip(parts, pairs, strict=True):
        coef = np.zeros(n)
        coef[pair.rows] = part.coef
        padded.append(replace(part, coef=coef))
    joined = join_results(padded, [f"{first} against {second}" for first, second in labels])
    certificate = OneVsOneCertificate(labels, tuple(part.certificate for part in parts), square)
    message = "; ".join(f"{a!r} and {b!r}: {part.message}" for (a, b), part in zip(labels, parts, strict=True))
    return replace(joined, certificate=certificate, message=message)


def pair_votes(scores: Floats, n_classes: int) -> Floats:
    """Return the votes for each class, (n, K), from the scores of all pairs; ties are broken by the sum of scores.

    A sum s adds s / (3 (|s| + 1)), less than a third of a vote, so that it only breaks ties.
    """
    votes, sums = np.zeros((2, len(scores), n_classes))
    for column, (first, second) in enumerate(combinations(range(n_classes), 2)):
        positive = scores[:, column] >= 0.0
        votes[positive, second] += 1.0
        votes[~positive, first] += 1.0
        sums[:, second] += scores[:, column]
        sums[:, first] -= scores[:, column]
    return np.asarray(votes + sums / (3.0 * (np.abs(sums) + 1.0)))
