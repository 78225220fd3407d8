"""Logistic regression as fits: two classes, several by softmax, or each against the rest.

At strength 0 it is the maximum likelihood estimate, which separable classes do not have: the fit then stops as soon
as that is certain and says so. The intercept is never penalised.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates import OptimalityCertificate
from separatrix.design import Design
from separatrix.fit.convex import ConvexFit, ConvexOptions, fit_convex
from separatrix.fit.existence import Existence, judge_existence, separation_bound
from separatrix.fit.linear import linear_result
from separatrix.fit.result import FitResult
from separatrix.fit.run import Watch
from separatrix.fit.stopping import AtMost, Status
from separatrix.losses import Logistic, Loss, Softmax
from separatrix.problem import Problem

__all__ = ["LogisticFit", "fit_logistic", "logistic_problem"]

Floats = NDArray[np.float64]


class LogisticFit(NamedTuple):
    """A result, and at strength 0 the verdict on whether a maximum exists."""

    result: FitResult
    existence: Existence | None


def logistic_problem(
    design: Design, y: NDArray[Any], labels: tuple[Any, ...], weights: Floats | None = None
) -> Problem:
    """Return the problem, without a penalty yet, of signs ±1 (two labels) or of places of several classes."""
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
) -> LogisticFit:
    """Fit signs ±1 (labels: negative, positive) or places of several classes (labels: all)."""
    unpenalised = bool(problem.free.all())
    rules = (AtMost("objective", separation_bound(problem), Status.SEPARATED),) if unpenalised else ()
    fit = fit_convex(problem, options, start=start, watch=watch, extra_rules=rules)
    existence = _existence(fit) if unpenalised else None
    result = linear_result(problem, fit, options, labels=labels)
    if isinstance(result.certificate, OptimalityCertificate):
        result = replace(result, certificate=replace(result.certificate, class_weights=class_weights))
    return LogisticFit(result if existence is None else _with_doubt(result, existence), existence)


def _existence(fit: ConvexFit) -> Existence:
    if not fit.walk.status.reached_goal:
        return Existence("undecided", "the fit was stopped before it could be told", decided=False)
    return judge_existence(fit.walked, fit.walk.coef, fit.walk.facts["objective"])


def _with_doubt(result: FitResult, existence: Existence) -> FitResult:
    """Return a result that says in its message and provenance whether its maximum is known to exist."""
    provenance = {**result.provenance, "existence": existence.verdict}
    doubt = f"; {existence.reason}" if existence.verdict == "undecided" else ""
    return replace(result, message=result.message + doubt, provenance=provenance)
