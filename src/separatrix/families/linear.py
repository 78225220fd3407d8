"""Linear regression: least squares with inference, or ridge, lasso and elastic net.

Strength "auto" means least squares if there are more rows than columns, else a penalty with a reason. Least squares is
solved by a factorisation, unless another solver is given or there are too many columns.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import counted
from separatrix.families.aliased import reduced_columns
from separatrix.families.base import Fitted, TrainingRows, convex_options, refused_inference
from separatrix.families.options import LinearOptions
from separatrix.families.penalised import penalise, scale_rows
from separatrix.fit.convex import fit_convex, linear_result
from separatrix.fit.least_squares import can_solve_directly, fit_least_squares, least_squares_result
from separatrix.fit.run import Watch
from separatrix.inference import eligibility
from separatrix.inference.fitted import LinearInference
from separatrix.losses.squared import Squared
from separatrix.problem import Problem


def fit(rows: TrainingRows, options: LinearOptions, watch: Watch | None = None, start: Floats | None = None) -> Fitted:
    """Fit numbers; `start` has the initial coefficients, the intercept first, in one column."""
    start = None if start is None else start[:, 0]
    n, p = rows.shape
    (problem,) = problems(rows, options)
    needed = ""
    if options.strength == "auto" and (n <= p + 1 or not can_solve_directly(problem.design)):
        needed = f"{counted(n, 'row')} do not identify {counted(p, 'column')}"
    if needed or not options.may_be_unpenalised:
        return _fit_penalised(rows, options, watch, start, needed)
    columns = reduced_columns(problem.design, problem.weights) if options.aliased == "drop" else None
    if columns is None:
        return _fit_unpenalised(problem, options, watch, start)
    (smaller,) = problems(columns.rows(rows), options)
    return columns.fitted(_fit_unpenalised(smaller, options, watch, columns.start(start)))


def problems(rows: TrainingRows, options: LinearOptions) -> list[Problem]:
    """Return the unpenalised problem, as a list of one."""
    y = np.asarray(rows.y, dtype=np.float64)
    return [Problem(rows.design(options.fit_intercept), y, Squared(), weights=rows.weights)]


def _fit_unpenalised(problem: Problem, options: LinearOptions, watch: Watch | None, start: Floats | None) -> Fitted:
    if options.solver == "auto" and can_solve_directly(problem.design):
        return _fit_least_squares(problem, options)
    convex = convex_options(options)
    solution, kind = fit_convex(problem, convex, start=start, watch=watch), {"weight_kind": options.weight_kind}
    fitted = Fitted(options, linear_result(problem, solution, convex, kind), strength=0.0)
    reason = eligibility.not_factored(options.solver)
    fitted.inference = refused_inference(fitted, problem.design, reason)
    return fitted


def _fit_least_squares(problem: Problem, options: LinearOptions) -> Fitted:
    began = time.perf_counter()
    solution, kind = fit_least_squares(problem), {"weight_kind": options.weight_kind}
    result = least_squares_result(problem, solution, time.perf_counter() - began, provenance=kind)
    if options.keep_iterates:
        result = replace(result, trace=replace(result.trace, coefs=solution.coef[np.newaxis]))
    return Fitted(
        options,
        result,
        strength=0.0,
        sentences=("no penalty: least squares",),
        inference=LinearInference(problem, solution, options.weight_kind),
        details={"least_squares": solution},
    )


def _fit_penalised(
    rows: TrainingRows, options: LinearOptions, watch: Watch | None, start: Floats | None, needed: str
) -> Fitted:
    """Fit with a penalty; `needed` is the reason for one that was not requested."""
    scaled, convex = scale_rows(rows, options.scaling), convex_options(options)
    penalised = penalise(scaled, problems(scaled.rows, options), options, needed)
    (problem,), (begin,) = penalised.problems, penalised.starts([scaled.start(start)])
    result = linear_result(problem, fit_convex(problem, convex, start=begin, watch=watch), convex)
    fitted = Fitted(options, penalised.in_units(result, options), **penalised.facts)
    fitted.inference = penalised.no_inference(fitted)
    return fitted
