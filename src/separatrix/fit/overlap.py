"""Rows that a fit needs separated, and are not: refused with the proof."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate, OneVsRestCertificate
from separatrix.certificates.margin import least_margin_below
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Design
from separatrix.errors import OverlapError
from separatrix.fit.separability import judge_rows

REASONS = {
    "quasi": "rows of both classes lie on every hyperplane that has none on the wrong side",
    "overlap": "every hyperplane that misses some row has rows on the wrong side",
}
THIN = "the rows are separable, but by so little that no floats tried separate them"
MULTIPLES = 32  # of a rational direction that are tried: rounded, some may separate where others do not
REMEDY = (
    "LinearSVM allows mistakes at a price, ZeroOneClassifier makes fewest, on_overlap='soft' falls back on the former"
)


def judge_signs(
    design: Design, signs: Floats, labels: tuple[Any, Any], hint: Floats | None = None
) -> SeparabilityCertificate:
    """Return whether rows of signs ±1 can be separated; against the rest, of labels False and True."""
    classes = labels if labels[0] is not None else (False, True)
    codes = (signs > 0.0).astype(np.intp)
    return judge_rows(design, codes, classes, np.ones(len(signs), dtype=np.bool_), hint)


def float_separator(design: Design, signs: Floats, found: SeparabilityCertificate) -> Floats | None:
    """Return weights in floats that separate the rows exactly, as the rational ones found do; None if none do."""
    if found.verdict != "separable" or found.weights is None:
        return None
    largest = max(abs(value) for value in found.weights)
    for multiple in range(1, 2 * MULTIPLES, 2):
        coef = np.array([float(multiple * value / largest) for value in found.weights])
        if least_margin_below(design, signs, coef) > 0:
            return coef
    return None


def refuse_overlap(labels: tuple[Any, Any], found: SeparabilityCertificate) -> OverlapError:
    """Return the error of rows that cannot be separated, with the proof."""
    negative, positive = labels
    if found.verdict == "separable":
        found = replace(found, reason=THIN)
    proof: Certificate = found
    between = f"{negative!r} and {positive!r}"
    if negative is None:
        between = f"class {positive!r} and the rest"
        proof = OneVsRestCertificate((positive,), (found,), indicators=True)
    if found.verdict == "undecided":
        return OverlapError(f"no halfspace was found that separates {between}: {found.reason}; {REMEDY}", proof)
    return OverlapError(
        f"no halfspace separates {between}: {REASONS[found.verdict]} (error.certificate proves it); {REMEDY}", proof
    )
