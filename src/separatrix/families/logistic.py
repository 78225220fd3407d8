"""Logistic regression: two classes, several by softmax, or one-vs-rest.

At strength 0 the fit is the maximum likelihood estimate, which does not exist for separable classes: the fit then stops
as soon as that is certain and says so. The intercept is never penalised.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.certificates.optimality import LikelihoodCertificate, OptimalityCertificate
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Design
from separatrix.errors import counted
from separatrix.fit.build_result import linear_result
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.result import FitResult, Status, separation_rule
from separatrix.fit.run import Watch
from separatrix.losses.base import Loss
from separatrix.losses.margin import Logistic
from separatrix.losses.softmax import Softmax
from separatrix.problem import Problem
from separatrix.separability.existence import check_existence, coefficient_limits


class LogisticFit(NamedTuple):
    """A result and, at strength 0, the certificate of existence of a maximum and the limits of the coefficients.

    The limits are by name; for several classes they are those of differences from the first class.
    """

    result: FitResult
    existence: SeparabilityCertificate | None
    limits: dict[str, float]


def logistic_problem(
    design: Design, y: NDArray[Any], labels: tuple[Any, ...], weights: Floats | None = None
) -> Problem:
    """Return the problem, without a penalty, of signs ±1 (two labels) or of class codes (several labels)."""
    loss: Loss = Logistic() if len(labels) == 2 else Softmax()
    return Problem(design, y, loss, weights=weights)


def fit_logistic(
    problem: Problem,
    options: ConvexOptions,
    *,
    labels: tuple[Any, ...],
    start: Floats | None = None,
    watch: Watch | None = None,
    class_weights: tuple[float, ...] | None = None,
    existence: SeparabilityCertificate | None = None,
) -> LogisticFit:
    """Fit signs ±1 (labels: negative, positive) or class codes (labels: all classes).

    The existence of a maximum is decided after the fit, unless `existence` is given.
    """
    unpenalised = bool(problem.free.all())
    rules = (separation_rule(problem),) if unpenalised else ()
    fit = fit_convex(problem, options, start=start, watch=watch, extra_rules=rules)
    result = linear_result(problem, fit, options, labels=labels)
    certificate = replace(_optimality(result), class_weights=class_weights)
    if not unpenalised:
        return LogisticFit(replace(result, certificate=certificate), None, {})
    existence = existence or check_existence(problem, labels, fit, watch)
    result = replace(
        _with_existence(result, existence, options), certificate=LikelihoodCertificate(certificate, existence)
    )
    limits = coefficient_limits(problem, fit.coef, existence, options)
    return LogisticFit(result, existence, limits)


def _optimality(result: FitResult) -> OptimalityCertificate:
    assert isinstance(result.certificate, OptimalityCertificate)
    return result.certificate


def _with_existence(result: FitResult, existence: SeparabilityCertificate, options: ConvexOptions) -> FitResult:
    """Return the result with the existence of its maximum in status, message and provenance."""
    provenance = {**result.provenance, "existence": existence.verdict}
    if existence.verdict == "overlap":
        return replace(result, provenance=provenance)
    passes, reached = counted(round(result.passes), "pass"), result.facts["relative_gap"] <= options.tol
    if existence.verdict == "undecided":
        return replace(result, message=f"{result.message}; {existence.claim}", provenance=provenance)
    kind = "completely" if existence.verdict == "separable" else "quasi-completely"
    bound = f" (the objective is within {result.facts['relative_gap']:.2g} of its bound)" if reached else ""
    message = f"stopped after {passes}: the classes are {kind} separated, so no finite maximum exists{bound}"
    return replace(result, status=Status.SEPARATED, message=message, provenance=provenance)
