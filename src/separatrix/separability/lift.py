"""Columns in which two classes become separable: a centre for the squared distance, or a polynomial degree.

A sphere b + c ‖x − μ‖² = 0 is a hyperplane in the columns (x, ‖x − m‖²) for any m: with weights w and c there,
μ = m − w / 2c. The widest margin in those columns gives a sphere that separates the rows, if one exists; if they
overlap, a logistic fit gives a likely one. Cost: a fit of p + 1 columns.

Polynomial degree k has all products of at most k columns, C(p + k, k) − 1 of them. Distinct rows can always be
separated at some degree (n − 1 at the latest), equal rows of different classes at none. The proofs are about the
products as floats. Cost: one separability verdict per degree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate
from separatrix.design.base import Design
from separatrix.design.build import largest_entry, make_design
from separatrix.design.mapped import MappedRows
from separatrix.design.maps import PolynomialMap, SquaredDistanceMap, count_products
from separatrix.errors import DataError, OverlapError, counted, require_count
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.labels import binary_signs
from separatrix.losses.margin import Logistic
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.separability.kernel import certify_mapped
from separatrix.separability.margin import MarginOptions, fit_max_margin

MARGIN = MarginOptions(tol=1e-6, max_passes=200)
LIKELY = ConvexOptions(tol=1e-8)
STRENGTH = 1e-9  # of the ridge that keeps the logistic weights finite where rows are quasi-separated
FLAT = 1e-9  # curvature per standard deviation, relative to the other weights: a flatter sphere is a plane
MAX_FEATURES = 2000
SMALLEST, LARGEST = 1e-150, 1e150  # products of columns, whose own products must be floats too
COMPARED = 2**24  # entries up to which equal rows of different classes are searched


def find_centre(X: Any, y: Any) -> Floats:
    """Return the centre (p,) of a sphere that separates two classes or, where none does, of a likely one.

    >>> find_centre([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 1, 0]).tolist()
    [2.0]
    """
    plain = make_design(X, intercept=False)
    signs, labels = binary_signs(y, plain.shape[0])
    middle = plain.rmatvec(np.ones(plain.shape[0])) / plain.shape[0]
    design = make_design(MappedRows(X, SquaredDistanceMap(middle, keep=True)), intercept=True)
    try:
        weights = fit_max_margin(design, signs, MARGIN, labels=labels).coef
    except OverlapError:
        weights = fit_convex(Problem(design, signs, Logistic(), make_penalty(STRENGTH, 0.0)), LIKELY).coef[1:]
    spread = np.sqrt(plain.squared_norms().mean() - middle @ middle)
    slope, curvature = weights[:-1], float(weights[-1])
    if abs(curvature) * spread <= FLAT * float(np.linalg.norm(slope)):
        raise DataError(
            "no sphere tells the classes apart better than a hyperplane, so there is no centre to find;"
            ' use the columns as they are, or centre="mean"'
        )
    return np.asarray(middle - slope / (2.0 * curvature))


@dataclass(frozen=True)
class LiftStep:
    """A degree, its number of products, and the verdict with its proof."""

    degree: int
    features: int
    certificate: Certificate

    @property
    def verdict(self) -> str:
        """'separable', 'quasi', 'overlap' or 'undecided'."""
        return self.certificate.verdict


@dataclass(frozen=True)
class Lift:
    """The smallest degree that separates the rows (None: no tried one does), the steps up to it, and why it ended."""

    degree: int | None
    steps: tuple[LiftStep, ...]
    message: str

    @property
    def certificate(self) -> Certificate:
        return self.steps[-1].certificate

    def __str__(self) -> str:
        lines = [f"degree {s.degree}: {counted(s.features, 'feature')}, {s.verdict}" for s in self.steps]
        return "\n".join([*lines, self.message])


def lift(X: Any, y: Any, *, max_degree: int = 6, max_features: int = MAX_FEATURES, fit_intercept: bool = True) -> Lift:
    """Return the smallest polynomial degree at which the classes can be separated, with one certificate per degree.

    >>> import separatrix as sx
    >>> found = sx.lift([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> print(found)
    degree 1: 2 features, overlap
    degree 2: 5 features, separable
    the classes are separable at degree 2, and at no smaller one
    >>> bool(found.certificate.verify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]))
    True
    """
    last, most = require_count("max_degree", max_degree), require_count("max_features", max_features)
    design = make_design(X, intercept=False)
    columns, size = design.shape[1], largest_entry(design)
    steps: list[LiftStep] = []
    for degree in range(1, last + 1):
        features = count_products(columns, degree)
        if steps and features > most:
            reason = f"degree {degree} would have {features:,} features and max_features={most:,}; raise it to go on"
            return _failure(steps, reason)
        if steps and not SMALLEST <= size**degree <= LARGEST:
            reason = f"of entries up to {size:.3g} the products of degree {degree} leave the range of floats"
            return _failure(steps, f"{reason}; rescale the columns so that their values are nearer 1")
        certificate = certify_mapped(X, y, PolynomialMap(columns, degree), fit_intercept)
        steps.append(LiftStep(degree, features, certificate))
        if certificate.verdict == "separable":
            unsure = [step.degree for step in steps if step.verdict == "undecided"]
            rest = f"; of degree {unsure} it is not known" if unsure else ", and at no smaller one" if steps[1:] else ""
            return Lift(degree, tuple(steps), f"the classes are separable at degree {degree}{rest}")
        equal = _equal_rows(design, y) if degree == 1 else None
        if equal is not None:
            return _failure(steps, f"rows {equal[0]} and {equal[1]} are equal, their classes not: no degree will do")
    return _failure(steps, f"max_degree={last} was reached; raise it to go on")


def _failure(steps: list[LiftStep], reason: str) -> Lift:
    return Lift(None, tuple(steps), f"not separable up to degree {steps[-1].degree}: {reason}")


def _equal_rows(design: Design, y: Any) -> tuple[int, int] | None:
    """Return two equal rows of different labels; None if there are none or too many rows to compare."""
    if design.shape[0] * design.shape[1] > COMPARED:
        return None
    seen: dict[bytes, int] = {}
    labels = np.asarray(y)
    for row, values in enumerate(design.take(np.arange(design.shape[0])) + 0.0):  # −0 is 0
        first = seen.setdefault(values.tobytes(), row)
        if labels[first] != labels[row]:
            return first, row
    return None
