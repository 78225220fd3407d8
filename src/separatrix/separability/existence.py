"""Whether an unpenalised logistic or softmax likelihood has a maximum, proved from the rows, and its limits otherwise.

A fit whose total loss is below log 2 classifies every row correctly: its coefficients are the proof of complete
separation. Otherwise a separating direction is searched near the boundary of the fit.

With quasi-separated classes some coefficients diverge. The others tend to their maximum over the remaining rows, which
overlap, so these are fitted by themselves. With several classes a row may remain for some classes only: the fit is then
continued from a point so far along the direction that separated classes have no weight.

A fit that needs separable rows, such as the hard margin, raises the `overlap_error`, which contains the proof.

Cost: a few passes, and a fit of the remaining rows.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.certificates.base import Certificate, OneVsRestCertificate
from separatrix.certificates.margin import least_margin_bound
from separatrix.certificates.rays import make_rays
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Design
from separatrix.errors import OverlapError
from separatrix.fit.convex import ConvexFit, ConvexOptions, candidates, fit_convex
from separatrix.fit.result import Status
from separatrix.fit.run import Watch
from separatrix.problem import Problem
from separatrix.separability.check import certify_rows, certify_separation
from separatrix.solvers.newton import Newton

INFINITE = {"+inf": math.inf, "-inf": -math.inf}
FAR = 45.0  # log-odds beyond which a class has no weight in a sum of floats
WIDEST = 1e7  # ratio of the largest to the least distance from the separator at which the least can be scaled to FAR
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


def check_existence(
    problem: Problem, labels: tuple[Any, ...], fit: ConvexFit | None = None, watch: Watch | None = None
) -> SeparabilityCertificate:
    """Return the separability certificate of rows: targets ±1 of two labels (None: the rest), or codes of several.

    If given, a fit of the rows tells where to search.
    """
    design, classes = problem.design, labels if labels[0] is not None else (False, True)
    several = problem.loss.target == "classes"
    codes = problem.y if several else (problem.y > 0.0).astype(np.intp)
    used = np.ones(design.shape[0], dtype=np.bool_)
    if fit is None:
        return certify_rows(design, codes, classes, used, watch=watch)
    weights = (fit.coef[:, 1:] - fit.coef[:, :1]).T.ravel() if several else fit.coef
    if fit.walk.status is Status.SEPARATED:
        separated = certify_separation(design, codes, classes, used, tuple(map(Fraction, weights.tolist())))
        if separated is not None:
            return separated
    return certify_rows(design, codes, classes, used, weights, watch)


def describe_divergence(existence: SeparabilityCertificate) -> str:
    """Return a clause that names the diverging coefficients and their limits; empty if they are not known."""
    diverging = {name: status for name, status in existence.coefficient_status.items() if status in INFINITE}
    if not diverging:
        return ""
    limits = [f"{name} to {status.replace('inf', '∞').replace('-', '−')}" for name, status in diverging.items()]
    more = len(limits) - NAMED
    return f"; running off: {', '.join(limits[:NAMED])}" + (f" and {more:,} more" if more > 0 else "")


def coefficient_limits(
    problem: Problem, coef: Floats, existence: SeparabilityCertificate, options: ConvexOptions
) -> dict[str, float]:
    """Return the limit of each coefficient of a fit: a number, ±inf, or nan if it is not identified.

    With several classes they are the differences from the first class.
    """
    statuses, several = existence.coefficient_status, problem.loss.target == "classes"
    if existence.weights is None:
        finite = (coef[:, 1:] - coef[:, :1]).T.ravel()[: len(statuses)] if several else coef[: len(statuses)]
    elif "finite" in statuses.values():
        finite = (_multiclass_limits if several else _finite_limits)(problem, existence, options)
    else:
        finite = np.zeros(len(statuses))
    return {
        name: float(number) if status == "finite" else INFINITE.get(status, math.nan)
        for (name, status), number in zip(statuses.items(), finite, strict=True)
    }


def _multiclass_limits(problem: Problem, existence: SeparabilityCertificate, options: ConvexOptions) -> Floats:
    """Return each class's coefficients less the first's, far along the direction; nan beyond the range of floats."""
    weights, start = existence.weights, problem.zero_coef()
    unknown = np.full(start[:, 1:].size, np.nan)
    if not any(isinstance(solver, Newton) for solver in candidates(problem)):
        return unknown
    assert weights is not None  # of quasi-separated classes
    largest = max(map(abs, weights))
    start[:, 1:] = np.asarray([float(weight / largest) for weight in weights]).reshape(-1, len(start)).T
    scores = problem.design.matvec(start)
    margins = np.take_along_axis(scores, problem.y[:, np.newaxis], axis=1) - scores
    separated = margins[margins > np.abs(scores).max() / WIDEST]
    if not len(separated):
        return unknown
    start *= FAR / float(separated.min())
    coef = fit_convex(problem, options._replace(solver=Newton()), start=start).coef
    return (coef[:, 1:] - coef[:, :1]).T.ravel()


def _finite_limits(problem: Problem, existence: SeparabilityCertificate, options: ConvexOptions) -> Floats:
    remaining = _remaining_rows(problem, existence)
    weights = None if problem.weights is None else problem.weights[remaining]
    rest = Problem(problem.design.select(remaining), problem.y[remaining], problem.loss, problem.penalty, weights)
    return fit_convex(rest, options).coef


def _remaining_rows(problem: Problem, existence: SeparabilityCertificate) -> Bools:
    """Return the rows on which the direction is 0."""
    assert existence.weights is not None  # of quasi-separated classes
    rays = make_rays(problem.design, (problem.y > 0.0).astype(np.intp), 2)
    return np.asarray(rays.signs(existence.weights, np.arange(rays.count)) == 0)


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
