"""Several classes by a binary fit: each class against the rest, the highest score wins; of two classes, one fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.base import OneVsRestCertificate
from separatrix.fit.labels import Classes
from separatrix.fit.result import FitResult
from separatrix.fit.stopping import Status

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
