"""A separating halfspace by linear programming as a fit: verified exactly, or refused with the proof that none exists.

The weights satisfy yᵢ(w·xᵢ + b) ≥ 1 for every row, exactly: those of the program, times a power of two.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.margin import least_margin_below
from separatrix.design.base import Design
from separatrix.design.build import row_radius
from separatrix.fit.max_margin import MarginOptions, margin_result
from separatrix.fit.overlap import float_separator, judge_signs, refuse_overlap
from separatrix.fit.result import FitResult
from separatrix.fit.run import Run, Watch, run
from separatrix.fit.stopping import AtLeast, AtMost, Status
from separatrix.losses.margin import Perceptron as PerceptronLoss
from separatrix.problem import Problem
from separatrix.solvers.halfspace_lp import HalfspaceLP

NO_MARGIN = 1e-9  # in columns of equal size: what HiGHS cannot tell from 0


def fit_halfspace(
    design: Design,
    signs: Floats,
    options: MarginOptions,
    *,
    labels: tuple[Any, Any] = (-1, 1),
    watch: Watch | None = None,
) -> FitResult:
    """Fit a halfspace that gets every row right; where none does, raise an OverlapError with the proof."""
    row_radius(design)
    rules = (
        AtMost("margin", NO_MARGIN, Status.INFEASIBLE),
        AtMost("wrong", 0, Status.CONVERGED),
        AtLeast("stalled", 1, Status.STALLED),
        AtLeast("steps", options.max_passes, Status.MAX_PASSES),
    )
    walk = run(Problem(design, signs, PerceptronLoss()), HalfspaceLP(), rules, watch=watch)
    result = _exact(design, signs, walk.coef, walk, labels, options) if walk.status is Status.CONVERGED else None
    if result is not None:
        return result
    found = judge_signs(design, signs, labels, walk.coef if walk.coef.any() else None)
    separator = float_separator(design, signs, found)
    ended = replace(walk, status=Status.CONVERGED)
    result = None if separator is None else _exact(design, signs, separator, ended, labels, options)
    if result is None:
        raise refuse_overlap(labels, found)
    return result


def _exact(
    design: Design, signs: Floats, coef: Floats, walk: Run, labels: tuple[Any, Any], options: MarginOptions
) -> FitResult | None:
    """Return weights scaled to yᵢ(w·xᵢ + b) ≥ 1 as a result; None if they do not separate the rows exactly."""
    least = least_margin_below(design, signs, coef)
    if least <= 0:
        return None
    exponent = least.denominator.bit_length() - least.numerator.bit_length()
    scaled = np.ldexp(coef, exponent if least * Fraction(2) ** exponent >= 1 else exponent + 1)
    if not (np.isfinite(scaled).all() and scaled.any()):
        return None
    return margin_result(design, signs, scaled, walk, labels, options)
