"""Several classes in pairs: one certificate per pair of classes, on the rows of these two classes only.

`OneVsOneCertificate` combines certificates of any kind (of fits), `PairsCertificate` verdicts on separability. Either
claims that all of its parts hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.certificates.base import (
    Certificate,
    Check,
    PartsCertificate,
    Verification,
    certificate_from_dict,
    register,
)
from separatrix.certificates.data import weighted_rows
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.kernel_matrix import by_rows
from separatrix.errors import DataError


@register
@dataclass(frozen=True)
class OneVsOneCertificate(PartsCertificate):
    """Pairs of labels, and one part per pair; with `square`, X is a kernel matrix and is cut on both axes."""

    kind: ClassVar[str] = "one-vs-one"
    pairs: tuple[tuple[Any, Any], ...]
    parts: tuple[Certificate, ...]
    square: bool = False

    def part_names(self) -> Iterable[str]:
        return (f"{first!r} and {second!r}" for first, second in self.pairs)

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        rows, labels, checks = by_rows(X), np.asarray(y), list[Check]()
        if rows.shape[0] != len(labels):
            raise DataError(f"X has {rows.shape[0]} rows and y has {len(labels)} labels")
        for pair, part in zip(self.pairs, self.parts, strict=True):
            own = np.flatnonzero(np.logical_or(*(labels == label for label in pair)))
            selected = rows[own][:, own] if self.square else rows[own]
            weights = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)[own]}
            checks += part.verify(selected, labels[own], **weights).checks
        return Verification(tuple(checks))

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        pairs = tuple((first, second) for first, second in content["pairs"])
        parts = tuple(certificate_from_dict(part) for part in content["parts"])
        return cls(pairs, parts, bool(content["square"]))


@register
@dataclass(frozen=True)
class PairsCertificate(PartsCertificate):
    """One verdict on separability per pair of classes."""

    kind: ClassVar[str] = "pairs"
    parts: tuple[SeparabilityCertificate, ...]

    def part_names(self) -> Iterable[str]:
        return (f"{part.classes[0]!r} and {part.classes[1]!r}" for part in self.parts)

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        labels = np.asarray(y)
        counted = weighted_rows(sample_weight, len(labels))
        own = [counted & np.logical_or(*(labels == label for label in part.classes)) for part in self.parts]
        parts = zip(self.parts, own, strict=True)
        return Verification(tuple(check for part, rows in parts for check in part.verify(X, y, rows).checks))

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        return cls(tuple(SeparabilityCertificate.from_content(part["content"]) for part in content["parts"]))
