"""Support vector machines: a convex fit, then the middle of the optimal intercepts.

For fixed w, a loss with one kink at margin k that is flat beyond it changes its slope in b only where the margin of a
row passes k, at b = k·yᵢ − w·xᵢ, each time by the weight of that row. The optimal intercepts are therefore where the
weights passed add up to the weight of the positive rows: one of these points, or an interval between two of them. The
middle does not depend on the path of the solver, so that a weight of 2 is equivalent to a repeated row.

Cost: that of the fit, one pass and a sort.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.bounds import DualBound
from separatrix.certificates.optimality import OptimalityCertificate
from separatrix.fit.build_result import linear_result
from separatrix.fit.convex import ConvexFit, ConvexOptions, fit_convex
from separatrix.fit.result import FitResult
from separatrix.fit.run import Watch
from separatrix.problem import Problem
from separatrix.solvers.kernel_dual import middle_intercept

EQUAL_OBJECTIVE = 1e-12  # relative difference of objectives that is rounding error


def fit_svm(
    problem: Problem,
    options: ConvexOptions,
    *,
    labels: tuple[Any, Any],
    class_weights: tuple[float, ...] | None = None,
    watch: Watch | None = None,
) -> FitResult:
    """Fit signs ±1 (labels: negative, positive)."""
    fit = fit_convex(problem, options, watch=watch)
    if problem.design.virtual and not problem.loss.has_curvature:
        fit = _with_middle_intercept(fit)
    provenance = {"strength": problem.penalty.quadratic, "loss": problem.loss.name}
    result = linear_result(problem, fit, options, labels=labels, provenance=provenance)
    assert isinstance(result.certificate, OptimalityCertificate)
    return replace(result, certificate=replace(result.certificate, class_weights=class_weights))


def _with_middle_intercept(fit: ConvexFit) -> ConvexFit:
    """Return the fit with the middle of the optimal intercepts, unless rounding makes that worse."""
    problem, coef = fit.walked, fit.walk.coef.copy()
    coef[0] = 0.0
    scores = problem.design.matvec(coef)
    intercept = _middle_intercept(problem, scores)
    loss = problem.mean(problem.loss.value(scores + intercept, problem.y))
    primal = loss + problem.penalty.value(coef, problem.penalty_weights)
    moved = fit.coef.copy()
    moved[0] += intercept - fit.walk.coef[0]
    bound = DualBound(primal, fit.bound.dual, fit.bound.scale, fit.bound.residual)
    return replace(fit, coef=moved, bound=bound) if bound.gap <= fit.bound.gap + EQUAL_OBJECTIVE * primal else fit


def _middle_intercept(problem: Problem, scores: Floats) -> float:
    """Return the middle of the intercepts that minimise the loss at fixed coefficients."""
    weights = np.ones(len(scores)) if problem.weights is None else problem.weights
    (kink,) = problem.loss.kinks
    return middle_intercept(kink * problem.y - scores, weights, float(weights[problem.y > 0.0].sum()))
