"""A fit in a neutral record, for text, JSON or a page: what was fitted, on what, how it ended, and the evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates.base import Certificate
from separatrix.certificates.mistakes import MistakesCertificate
from separatrix.design.build import INTERCEPT
from separatrix.fit.result import FitResult

Label = str | int | float | bool
NO_OPTIONS = {"names", "storage"}  # what a result's provenance has beside the options


@dataclass(frozen=True)
class TrainingData:
    """What was fitted on: the labels (n,), the names of the columns, and the classes, of two the positive one last."""

    source: str
    target: str
    names: tuple[str, ...]
    classes: tuple[Label, ...]
    labels: NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    """What the fit says of the rows it was fitted on: labels (n,), how many lie on a boundary, and words of advice."""

    predicted: NDArray[Any]
    on_boundary: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClassCount:
    """A class, its rows, and its sign, where there are two."""

    label: Label
    rows: int
    sign: int | None


@dataclass(frozen=True)
class Evidence:
    """A certificate in short; `radius`, `margin` and `bound` where it is about mistakes."""

    kind: str
    verdict: str
    claim: str
    radius: float | None = None
    margin: float | None = None
    bound: float | None = None
    textbook: bool = False  # whether the bound is (R/γ)²


@dataclass(frozen=True)
class Predictor:
    """One linear score: the class it is for and the one it is against (None: all others), and its weights by name."""

    positive: Label
    negative: Label | None
    status: str
    reached_goal: bool
    message: str
    updates: int
    coefficients: tuple[tuple[str, float], ...]
    evidence: Evidence


@dataclass(frozen=True)
class Summary:
    """A fit at a glance."""

    title: str
    source: str
    target: str
    rows: int
    columns: tuple[str, ...]
    classes: tuple[ClassCount, ...]
    status: str
    reached_goal: bool
    message: str
    updates: int
    passes: float
    seconds: float
    wrong: int
    accuracy: float
    on_boundary: int
    notes: tuple[str, ...]
    options: Mapping[str, Any]
    predictors: tuple[Predictor, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as JSON values."""
        return asdict(self)


def summarise(result: FitResult, data: TrainingData, outcome: Outcome, *, title: str) -> Summary:
    """Return the summary of a classifier's fit on some data."""
    rows = len(data.labels)
    wrong = int(np.sum(outcome.predicted != data.labels))
    return Summary(
        title=title,
        source=data.source,
        target=data.target,
        rows=rows,
        columns=data.names,
        classes=_counts(data),
        status=str(result.status),
        reached_goal=result.status.reached_goal,
        message=result.message,
        updates=int(result.facts["updates"]),
        passes=float(result.passes),
        seconds=float(result.seconds),
        wrong=wrong,
        accuracy=1.0 - wrong / rows,
        on_boundary=outcome.on_boundary,
        notes=outcome.notes,
        options={name: value for name, value in result.provenance.items() if name not in NO_OPTIONS},
        predictors=_predictors(result, data),
    )


def _counts(data: TrainingData) -> tuple[ClassCount, ...]:
    signs: Sequence[int | None] = (-1, 1) if len(data.classes) == 2 else [None] * len(data.classes)
    counts = [int(np.sum(data.labels == label)) for label in data.classes]
    return tuple(ClassCount(*entry) for entry in zip(data.classes, counts, signs, strict=True))


def _predictors(result: FitResult, data: TrainingData) -> tuple[Predictor, ...]:
    if len(data.classes) == 2:
        negative, positive = data.classes
        return (_predictor(result, data.names, positive, negative),)
    pairs = zip(result.parts, data.classes, strict=True)
    return tuple(_predictor(part, data.names, label, None) for part, label in pairs)


def _predictor(part: FitResult, names: tuple[str, ...], positive: Label, negative: Label | None) -> Predictor:
    fitted = len(part.provenance["names"]) > len(names)
    intercept = [(INTERCEPT, float(part.intercept))] if fitted else []
    return Predictor(
        positive=positive,
        negative=negative,
        status=str(part.status),
        reached_goal=part.status.reached_goal,
        message=part.message,
        updates=int(part.facts["updates"]),
        coefficients=(*intercept, *zip(names, part.coef.tolist(), strict=True)),
        evidence=_evidence(part.certificate),
    )


def _evidence(certificate: Certificate) -> Evidence:
    kind, verdict, claim = certificate.kind, certificate.verdict, certificate.claim
    if not isinstance(certificate, MistakesCertificate) or certificate.bounded != certificate.updates:
        return Evidence(kind, verdict, claim)  # what is bounded is not the mistakes: its claim says what is
    radius, margin, bound = certificate.radius, certificate.margin, certificate.bound
    if margin is None or bound is None or math.isinf(bound):
        return Evidence(kind, verdict, claim, radius, margin)
    return Evidence(kind, verdict, claim, radius, margin, bound, certificate.is_textbook)
