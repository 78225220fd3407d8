"""A centre whose squared distance tells two classes apart, if any does.

A sphere b + c ‖x − μ‖² = 0 is a hyperplane in the columns (x, ‖x − m‖²) for any m: with weights w and c there,
μ = m − w / 2c. So the widest margin in those columns gives a sphere that separates the rows, if one exists; where they
overlap, a logistic fit gives a likely one. Cost: a fit of p + 1 columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.base import Design
from separatrix.design.build import make_design
from separatrix.design.mapped import MappedRows
from separatrix.design.maps import SquaredDistanceMap
from separatrix.errors import DataError, OverlapError
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.labels import binary_signs
from separatrix.fit.max_margin import MarginOptions, fit_max_margin
from separatrix.losses.margin import Logistic
from separatrix.penalties import make_penalty
from separatrix.problem import Problem

MARGIN = MarginOptions(tol=1e-6, max_passes=200)
LIKELY = ConvexOptions(tol=1e-8)
STRENGTH = 1e-9  # of the ridge that keeps the logistic weights finite where rows overlap in part
FLAT = 1e-9  # of the weights, by what the columns spread: a sphere flatter than that is a plane


def find_centre(X: Any, y: Any) -> Floats:
    """Return the centre (p,) of a sphere that separates two classes or, where none does, of a likely one.

    >>> find_centre([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 1, 0]).tolist()
    [2.0]
    """
    signs, labels = binary_signs(y)
    plain = make_design(X, intercept=False)
    middle = plain.rmatvec(np.ones(plain.shape[0])) / plain.shape[0]
    design = make_design(MappedRows(X, SquaredDistanceMap(middle, keep=True)), intercept=True)
    if len(signs) != design.shape[0]:
        raise DataError(f"X has {design.shape[0]} rows and y {len(signs)} labels; give one label a row")
    weights = _weights(design, signs, labels)
    spread = np.sqrt(plain.squared_norms().mean() - middle @ middle)
    slope, bend = weights[:-1], float(weights[-1])
    if abs(bend) * spread <= FLAT * float(np.linalg.norm(slope)):
        raise DataError(
            "no sphere tells the classes apart better than a hyperplane, so there is no centre to find;"
            ' use the columns as they are, or centre="mean"'
        )
    return np.asarray(middle - slope / (2.0 * bend))


def _weights(design: Design, signs: Floats, labels: tuple[Any, Any]) -> Floats:
    """Return the weights of a hyperplane in the lifted columns, without intercept."""
    try:
        return fit_max_margin(design, signs, MARGIN, labels=labels).coef
    except OverlapError:
        return fit_convex(Problem(design, signs, Logistic(), make_penalty(STRENGTH, 0.0)), LIKELY).coef[1:]
