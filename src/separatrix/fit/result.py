"""What a fit returns: the answer in the user's units, how it ended, what it cost, and the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate
from separatrix.fit.stopping import Status
from separatrix.fit.trace import Trace


@dataclass(frozen=True)
class FitResult:
    """A fit: `coef` (p,) and `intercept` of one linear predictor, or (K, p) and (K,) of one a class.

    `overlap` proves that no halfspace separates the rows, of a fit that was stopped by it.
    """

    coef: Floats
    intercept: Floats
    status: Status
    message: str
    objective: float
    passes: float
    seconds: float
    certificate: Certificate
    trace: Trace
    facts: Mapping[str, float] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[FitResult, ...] = ()
    overlap: Certificate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values; the trace stays behind, the certificate goes along."""
        overlap = {} if self.overlap is None else {"overlap": self.overlap.to_dict()}
        return {
            "coef": self.coef.tolist(),
            "intercept": self.intercept.tolist(),
            "status": str(self.status),
            "message": self.message,
            "objective": self.objective,
            "passes": self.passes,
            "seconds": self.seconds,
            "facts": dict(self.facts),
            "provenance": dict(self.provenance),
            "certificate": self.certificate.to_dict(),
            **overlap,
        }
