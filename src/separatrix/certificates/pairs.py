"""Separability of several classes pair by pair: a certificate for each two of them, on their own rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.certificates.base import Certificate, Verification, register
from separatrix.certificates.separability import SeparabilityCertificate, kept_rows


@register
@dataclass(frozen=True)
class PairsCertificate(Certificate):
    """One certificate a pair of classes, each on the rows of its two classes only."""

    kind: ClassVar[str] = "pairs"
    parts: tuple[SeparabilityCertificate, ...]

    @property
    def claim(self) -> str:
        """What is claimed, pair by pair."""
        return "; ".join(f"{part.classes[0]!r} and {part.classes[1]!r}: {part.claim}" for part in self.parts)

    @property
    def verdict(self) -> str:
        """The verdict shared by all pairs, or 'mixed'."""
        verdicts = {part.verdict for part in self.parts}
        return verdicts.pop() if len(verdicts) == 1 else "mixed"

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Re-check each part on the rows of its own two classes."""
        labels = np.asarray(y)
        kept = kept_rows(sample_weight, len(labels))
        own = [kept & np.logical_or(*(labels == label for label in part.classes)) for part in self.parts]
        parts = zip(self.parts, own, strict=True)
        return Verification(tuple(check for part, rows in parts for check in part.verify(X, y, rows).checks))

    def content(self) -> dict[str, Any]:
        """Return the parts as JSON values."""
        return {"parts": [part.to_dict() for part in self.parts]}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a certificate from its content."""
        return cls(tuple(SeparabilityCertificate.from_content(part["content"]) for part in content["parts"]))
