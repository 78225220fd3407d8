"""Whether an unpenalised logistic or softmax likelihood has a maximum, proved from the rows, and where it runs off to.

A fit's total loss below log 2 has every row right: its coefficients are themselves the proof that the classes are
separated. Otherwise the face of the rows is searched (`fit.separability`), near the boundary of the fit.

Of quasi-separated classes some coefficients run off and others stay. The ones that stay tend to their maximum over the
rows that are left, which overlap: these are fitted by themselves. Of several classes a row may be left with some only:
the fit is then gone on with from so far along the direction that what it separates counts for nothing.

Cost: a few passes, and a fit of the rows left.

Rows that a fit needs separated, and are not: refused with the proof.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.certificates.base import Certificate, OneVsRestCertificate
from separatrix.certificates.margin import least_margin_below
from separatrix.certificates.rays import make_rays
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Design
from separatrix.errors import OverlapError
from separatrix.fit.convex import ConvexFit, ConvexOptions, candidates, fit_convex
from separatrix.fit.result import Status
from separatrix.fit.run import Watch
from separatrix.problem import Problem
from separatrix.separability.check import certify_separation, judge_rows
from separatrix.solvers.newton import Newton

INFINITE = {"+inf": math.inf, "-inf": -math.inf}
FAR = 45.0  # log-odds beyond which a class has no share in a sum of floats
WIDEST = 1e7  # times the nearest, how far rows may stand from what separates them for the nearest to be got that far
NAMED = 5  # columns that a message lists


def judge_existence(
    problem: Problem, labels: tuple[Any, ...], fit: ConvexFit | None = None, watch: Watch | None = None
) -> SeparabilityCertificate:
    """Return the certificate of rows: signs ±1 of two labels (None: the rest), or places of several.

    A fit of them, where there is one, tells where to look.
    """
    design, classes = problem.design, labels if labels[0] is not None else (False, True)
    several = problem.loss.target == "classes"
    codes = problem.y if several else (problem.y > 0.0).astype(np.intp)
    kept = np.ones(design.shape[0], dtype=np.bool_)
    if fit is None:
        return judge_rows(design, codes, classes, kept, watch=watch)
    weights = (fit.coef[:, 1:] - fit.coef[:, :1]).T.ravel() if several else fit.coef
    if fit.walk.status is Status.SEPARATED:
        separated = certify_separation(design, codes, classes, kept, tuple(map(Fraction, weights.tolist())))
        if separated is not None:
            return separated
    return judge_rows(design, codes, classes, kept, weights, watch)


def describe_divergence(existence: SeparabilityCertificate) -> str:
    """Return in words which coefficients run off, and where to; nothing where that is not known."""
    diverging = {name: status for name, status in existence.coefficient_status.items() if status in INFINITE}
    if not diverging:
        return ""
    words = [f"{name} to {status.replace('inf', '∞').replace('-', '−')}" for name, status in diverging.items()]
    more = len(words) - NAMED
    return f"; running off: {', '.join(words[:NAMED])}" + (f" and {more:,} more" if more > 0 else "")


def coefficient_limits(
    problem: Problem, coef: Floats, existence: SeparabilityCertificate, options: ConvexOptions
) -> dict[str, float]:
    """Return what each coefficient of a fit tends to: a number, ±inf, or nan where the data do not tell.

    Of several classes they are those of each class less the first's.
    """
    statuses, several = existence.coefficient_status, problem.loss.target == "classes"
    if existence.weights is None:
        finite = (coef[:, 1:] - coef[:, :1]).T.ravel()[: len(statuses)] if several else coef[: len(statuses)]
    elif "finite" in statuses.values():
        finite = (_limits_of_several if several else _finite_limits)(problem, existence, options)
    else:
        finite = np.zeros(len(statuses))
    return {
        name: float(number) if status == "finite" else INFINITE.get(status, math.nan)
        for (name, status), number in zip(statuses.items(), finite, strict=True)
    }


def _limits_of_several(problem: Problem, existence: SeparabilityCertificate, options: ConvexOptions) -> Floats:
    """Return each class's coefficients less the first's, far along the direction; nan where floats do not reach."""
    weights, start = existence.weights, problem.zero_coef()
    unknown = np.full(start[:, 1:].size, np.nan)
    if not any(isinstance(solver, Newton) for solver in candidates(problem)):
        return unknown
    assert weights is not None  # of quasi-separated classes
    largest = max(map(abs, weights))
    start[:, 1:] = np.asarray([float(weight / largest) for weight in weights]).reshape(-1, len(start)).T
    scores = problem.design.matvec(start)
    ahead = np.take_along_axis(scores, problem.y[:, np.newaxis], axis=1) - scores
    apart = ahead[ahead > np.abs(scores).max() / WIDEST]
    if not len(apart):
        return unknown
    start *= FAR / float(apart.min())
    coef = fit_convex(problem, options._replace(solver=Newton()), start=start).coef
    return (coef[:, 1:] - coef[:, :1]).T.ravel()


def _finite_limits(problem: Problem, existence: SeparabilityCertificate, options: ConvexOptions) -> Floats:
    left = _left(problem, existence)
    weights = None if problem.weights is None else problem.weights[left]
    rest = Problem(problem.design.select(left), problem.y[left], problem.loss, problem.penalty, weights)
    return fit_convex(rest, options).coef


def _left(problem: Problem, existence: SeparabilityCertificate) -> Bools:
    """Return the rows that the direction leaves at 0."""
    assert existence.weights is not None  # of quasi-separated classes
    rays = make_rays(problem.design, (problem.y > 0.0).astype(np.intp), 2)
    return np.asarray(rays.signs(existence.weights, np.arange(rays.count)) == 0)


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


def overlap_error(labels: tuple[Any, Any], found: SeparabilityCertificate) -> OverlapError:
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
