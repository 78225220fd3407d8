"""A fit by maximum likelihood: whether a maximum exists, and how near to it the coefficients are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.certificates.base import Certificate, CertifiedCoef, Verification, certificate_from_dict, register
from separatrix.certificates.optimality import OptimalityCertificate
from separatrix.certificates.separability import SeparabilityCertificate, kept_rows
from separatrix.design.row_source import rows_where


@register
@dataclass(frozen=True)
class LikelihoodCertificate(Certificate):
    """`existence` is of the rows that have a weight, `optimality` of the coefficients.

    Where one class was fitted against the rest, existence knows the labels False and True.
    """

    kind: ClassVar[str] = "likelihood"
    optimality: OptimalityCertificate
    existence: SeparabilityCertificate

    @property
    def verdict(self) -> str:
        """Where a maximum exists, 'optimal' or 'stopped'; otherwise 'separable', 'quasi' or 'undecided'."""
        return self.optimality.verdict if self.existence.verdict == "overlap" else self.existence.verdict

    @property
    def claim(self) -> str:
        """What is claimed, in words."""
        return f"{self.existence.claim}; {self.optimality.claim}"

    @property
    def gap(self) -> float:
        """How far above its least value, attained or not, the objective can be, at most."""
        return self.optimality.gap

    @property
    def relative_gap(self) -> float:
        """The gap relative to the objective."""
        return self.optimality.relative_gap

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Re-check both parts from the data, with the row weights of the fit if it had any."""
        found = self.optimality.verify(X, y, sample_weight)
        if not found:
            return found
        labels, kept = np.asarray(y), kept_rows(sample_weight, len(np.asarray(y)))
        labels_known, weights = self.optimality.labels, self.optimality.class_weights
        if labels_known is not None and weights is not None:
            weightless = [label for label, weight in zip(labels_known, weights, strict=True) if weight == 0.0]
            kept &= ~np.isin(labels, weightless)
        if labels_known is not None and labels_known[0] is None:
            labels = labels == labels_known[1]
        if not kept.all():
            X, labels = rows_where(X, kept), labels[kept]
        return Verification((*found.checks, *self.existence.verify(X, labels).checks))

    def weighed(self, class_weights: tuple[float, ...] | None) -> Self:
        """Return the certificate of a fit whose classes had weights."""
        return replace(self, optimality=replace(self.optimality, class_weights=class_weights))

    def certified(self) -> CertifiedCoef:
        """Return the coefficients that the optimality is of."""
        return self.optimality.certified()

    def content(self) -> dict[str, Any]:
        """Return both parts as JSON values."""
        return {"optimality": self.optimality.to_dict(), "existence": self.existence.to_dict()}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a certificate from its content."""
        optimality, existence = (certificate_from_dict(content[name]) for name in ("optimality", "existence"))
        if not isinstance(optimality, OptimalityCertificate) or not isinstance(existence, SeparabilityCertificate):
            raise TypeError(f"its parts are {optimality.kind} and {existence.kind}, not optimality and separability")
        return cls(optimality, existence)
