"""What follows from a verdict of separability: diverging coefficients, separators in floats, and the error of overlap.

A fit that needs separable rows, such as the hard margin, raises the `overlap_error`, which contains the proof.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate, OneVsRestCertificate
from separatrix.certificates.margin import least_margin_bound
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Design
from separatrix.errors import OverlapError
from separatrix.separability.check import certify_rows

LIMITS = {"+inf": "+∞", "-inf": "−∞"}
NAMED = 5  # columns listed in a message
REASONS = {
    "quasi": "rows of both classes lie on every hyperplane that has none on the wrong side",
    "overlap": "every hyperplane that misses some row has rows on the wrong side",
}
THIN = "the rows are separable, but by so little that no floats tried separate them"
MULTIPLES = 32  # of a rational direction that are tried, since rounding decides which of them separate
REMEDY = (
    "LinearSVM allows mistakes at a price, ZeroOneClassifier makes fewest, on_overlap='soft' falls back on the former"
)


def describe_divergence(existence: SeparabilityCertificate) -> str:
    """Return a clause that names the diverging coefficients and their limits; empty if they are not known."""
    limits = [f"{name} → {LIMITS[own]}" for name, own in existence.coefficient_status.items() if own in LIMITS]
    if not limits:
        return ""
    more = len(limits) - NAMED
    return f"; no finite estimate: {', '.join(limits[:NAMED])}" + (f" and {more:,} more" if more > 0 else "")


def check_signs(
    design: Design, signs: Floats, labels: tuple[Any, Any], hint: Floats | None = None
) -> SeparabilityCertificate:
    """Return whether rows of signs ±1 can be separated; one class against the rest has labels False and True."""
    classes = labels if labels[0] is not None else (False, True)
    codes = (signs > 0.0).astype(np.intp)
    return certify_rows(design, codes, classes, np.ones(len(signs), dtype=np.bool_), hint)


def float_separator(design: Design, signs: Floats, certificate: SeparabilityCertificate) -> Floats | None:
    """Return floats that separate the rows exactly, near the certificate's rational weights; None if none do."""
    if certificate.verdict != "separable" or certificate.weights is None:
        return None
    largest = max(abs(value) for value in certificate.weights)
    for multiple in range(1, 2 * MULTIPLES, 2):
        coef = np.array([float(multiple * value / largest) for value in certificate.weights])
        if least_margin_bound(design, signs, coef) > 0:
            return coef
    return None


def overlap_error(labels: tuple[Any, Any], certificate: SeparabilityCertificate) -> OverlapError:
    """Return the error for rows that cannot be separated, with the proof."""
    negative, positive = labels
    if certificate.verdict == "separable":
        certificate = replace(certificate, reason=THIN)
    proof: Certificate = certificate
    between = f"{negative!r} and {positive!r}"
    if negative is None:
        between = f"class {positive!r} and the rest"
        proof = OneVsRestCertificate((positive,), (certificate,), indicators=True)
    if certificate.verdict == "undecided":
        return OverlapError(f"no halfspace was found that separates {between}: {certificate.reason}; {REMEDY}", proof)
    return OverlapError(
        f"no halfspace separates {between}: {REASONS[certificate.verdict]} (error.certificate proves it); {REMEDY}",
        proof,
    )
