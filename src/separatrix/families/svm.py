"""Support vector machines: a convex fit, then the middle of the optimal intercepts.

For fixed w, a loss with one kink at margin k that is flat beyond it changes its slope in b only where the margin of a
row passes k, at b = k·yᵢ − w·xᵢ, each time by the weight of that row. The optimal intercepts are therefore where the
weights passed add up to the weight of the positive rows: one of these points, or an interval between two of them. The
middle does not depend on the path of the solver, so that a weight of 2 is equivalent to a repeated row.

Cost: that of the fit, one pass and a sort.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.arrays import Bools
from separatrix.certificates.curvature import STATED_SLACK
from separatrix.certificates.dual import gap_bound
from separatrix.families.base import Fitted, TrainingRows, convex_options, join_results, weigh
from separatrix.families.options import SVMOptions
from separatrix.families.penalised import penalise, scale_rows
from separatrix.fit.convex import ConvexFit, ConvexOptions, fit_convex, linear_result
from separatrix.fit.result import FitResult
from separatrix.fit.run import Watch
from separatrix.losses.margin import Hinge, SquaredHinge
from separatrix.problem import Problem
from separatrix.solvers.kernel_dual import middle_intercept

EQUAL_OBJECTIVE = 1e-12  # relative difference of objectives that is rounding error
MARGIN_TOLERANCE = 1e-6  # rows this little outside the margin still are support vectors
LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}
NO_INFERENCE = "a support vector machine has no likelihood"


def fit(rows: TrainingRows, options: SVMOptions, watch: Watch | None = None) -> Fitted:
    """Fit two classes, or each of several against the rest."""
    scaled = scale_rows(rows.ordered(options.positive), options.scaling)
    weighted = weigh(scaled.rows, intercept=options.fit_intercept, class_weight=options.class_weight)
    penalised = penalise(scaled, weighted.binary_problems(LOSSES[options.loss]), options)
    convex, indices = convex_options(options), weighted.sample.indices
    parts = [fit_svm(problem, convex, watch) for problem in penalised.problems]
    pairs = zip(penalised.problems, parts, strict=True)
    support = np.flatnonzero(np.any([inside_margin(problem, part) for problem, part in pairs], axis=0))
    result = join_results(parts, weighted.labels)
    return Fitted(
        options,
        penalised.in_units(result, options),
        weighted.class_targets.values,
        **penalised.facts,
        no_inference=NO_INFERENCE,
        details={"support": support if indices is None else indices[support]},
    )


def problems(rows: TrainingRows, options: SVMOptions) -> list[Problem]:
    """Return the unpenalised problems: one, or one per class against the rest."""
    weighted = weigh(rows, intercept=options.fit_intercept, class_weight=options.class_weight)
    return weighted.binary_problems(LOSSES[options.loss])


def inside_margin(problem: Problem, part: FitResult) -> Bools:
    """Return which rows are on or inside the margin of a score, in one pass."""
    coef = np.append(np.full(int(problem.design.virtual), float(part.intercept)), part.coef)
    return np.asarray(problem.y * problem.design.matvec(coef) <= 1.0 + MARGIN_TOLERANCE)


def fit_svm(problem: Problem, options: ConvexOptions, watch: Watch | None = None) -> FitResult:
    """Fit signs ±1."""
    fit = fit_convex(problem, options, watch=watch)
    if problem.design.virtual and not problem.loss.has_curvature:
        fit = _with_middle_intercept(problem, fit)
    provenance = {"strength": problem.penalty.quadratic, "loss": problem.loss.name}
    return linear_result(problem, fit, options, provenance)


def _with_middle_intercept(original: Problem, fit: ConvexFit) -> ConvexFit:
    """Return the fit with the middle of the optimal intercepts, unless rounding makes that worse."""
    problem, coef = fit.walked, fit.walk.coef.copy()
    coef[0] = 0.0
    scores = problem.design.matvec(coef)
    weights, (kink,) = problem.row_weights, problem.loss.kinks
    intercept = middle_intercept(kink * problem.y - scores, weights, float(weights[problem.y > 0.0].sum()))
    moved = fit.coef.copy()
    moved[0] += intercept - fit.walk.coef[0]
    bound = replace(gap_bound(original, moved, fit.dual, slack=STATED_SLACK), tol=fit.bound.tol)
    worse = bound.gap > fit.bound.gap + EQUAL_OBJECTIVE * bound.objective
    if worse or bound.stated_gap > max(fit.bound.stated_gap, fit.bound.tol):
        return fit
    return replace(fit, coef=moved, bound=bound, walk=fit.walk.ending_at(moved))
