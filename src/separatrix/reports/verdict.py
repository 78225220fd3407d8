"""Whether classes can be separated, in a neutral record: the verdict of each question asked, its proof re-checked.

Several classes ask several questions: each class against the rest, or each pair. Each has the certificate, every check
of it on the data, and the least margin of its direction with the rows that pin it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate, OneVsRestCertificate, Verification
from separatrix.certificates.parts import PairsCertificate
from separatrix.certificates.separability import SeparabilityCertificate

Separability = SeparabilityCertificate | OneVsRestCertificate | PairsCertificate


@dataclass(frozen=True)
class Question:
    """One question of separability: who is set against whom, the answer, its checks, and the margin where there is one.

    Of `rows`, `left` cannot be separated; `pinned` are those that have the least margin, counted from 0.
    """

    title: str
    certificate: SeparabilityCertificate
    verification: Verification
    rows: int
    left: int
    margin: float | None
    pinned: tuple[int, ...]


@dataclass(frozen=True)
class Verdict:
    """All questions asked of a table: the certificate whole, and each part of it."""

    source: str
    target: str
    classes: tuple[tuple[Any, int], ...]
    columns: int
    intercept: bool
    certificate: Certificate
    questions: tuple[Question, ...]

    @property
    def decided(self) -> bool:
        """Whether every question has an answer whose proof holds."""
        return all(asked.certificate.reason is None and asked.verification.holds for asked in self.questions)


def make_verdict(source: str, target: str, certificate: Separability, X: Floats, y: Any) -> Verdict:
    """Return the record of a certificate on its data, verified."""
    labels, counts = np.unique(y, return_counts=True)
    questions = tuple(_questions(certificate, X, np.asarray(y)))
    return Verdict(
        source=source,
        target=target,
        classes=tuple(zip(labels.tolist(), counts.tolist(), strict=True)),
        columns=X.shape[1],
        intercept=questions[0].certificate.fit_intercept,
        certificate=certificate,
        questions=questions,
    )


def with_names(certificate: Separability, names: tuple[str, ...]) -> Separability:
    """Return a certificate whose columns have these names, the intercept's included."""
    if isinstance(certificate, SeparabilityCertificate):
        return replace(certificate, names=names)
    parts = tuple(replace(part, names=names) for part in certificate.parts if isinstance(part, SeparabilityCertificate))
    return replace(certificate, parts=parts)


def verdict_dict(verdict: Verdict) -> dict[str, Any]:
    """Return the record as JSON values, the certificate whole."""
    return {
        "source": verdict.source,
        "target": verdict.target,
        "classes": [{"label": label, "rows": rows} for label, rows in verdict.classes],
        "columns": verdict.columns,
        "intercept": verdict.intercept,
        "verdict": verdict.certificate.verdict,
        "decided": verdict.decided,
        "questions": [_question_dict(asked) for asked in verdict.questions],
        "certificate": verdict.certificate.to_dict(),
    }


def _question_dict(asked: Question) -> dict[str, Any]:
    checks = [{"name": check.name, "holds": check.holds, "detail": check.detail} for check in asked.verification.checks]
    return {
        "title": asked.title,
        "verdict": asked.certificate.verdict,
        "claim": asked.certificate.claim,
        "margin": asked.margin,
        "pinned": list(asked.pinned),
        "rows": asked.rows,
        "left": asked.left,
        "coefficients": asked.certificate.coefficient_status,
        "directions": asked.certificate.divergence_dim,
        "verified": asked.verification.holds,
        "checks": checks,
    }


def _questions(certificate: Separability, X: Floats, y: NDArray[Any]) -> Iterator[Question]:
    if isinstance(certificate, SeparabilityCertificate):
        yield _question(" against ".join(map(str, certificate.classes[::-1])), certificate, X, y, None)
    elif isinstance(certificate, OneVsRestCertificate):
        for label, part in zip(certificate.classes, certificate.parts, strict=True):
            assert isinstance(part, SeparabilityCertificate)
            yield _question(f"{label} against the rest", part, X, y == label, None)
    else:
        for part in certificate.parts:
            own = np.logical_or(*(y == label for label in part.classes))
            yield _question(f"{part.classes[1]} against {part.classes[0]}", part, X, y, own)


def _question(title: str, certificate: SeparabilityCertificate, X: Floats, y: NDArray[Any], own: Any) -> Question:
    verification = certificate.verify(X, y, own)
    margin, pinned, left = None, (), 0
    if certificate.reason is None and verification.holds:
        left = len(certificate.left_rows(X, y, own))
        if certificate.weights is not None:
            margin, nearest = certificate.least_margin(X, y, own)
            pinned = tuple(nearest.tolist())
    rows = len(y) if own is None else int(own.sum())
    return Question(title, certificate, verification, rows, left, margin, pinned)
