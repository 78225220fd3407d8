"""Linear regression: least squares with inference, or with a penalty if requested or needed."""

from __future__ import annotations

import time
from typing import ClassVar

import numpy as np

from separatrix.errors import counted
from separatrix.fit.build_result import least_squares_result, linear_result
from separatrix.fit.convex import fit_convex
from separatrix.fit.least_squares import can_solve_directly, fit_least_squares
from separatrix.fit.run import Watch
from separatrix.inference.linear import classical_covariance, linear_facts, linear_table
from separatrix.inference.prediction import Covariance
from separatrix.inference.table import estimates_only_table
from separatrix.losses.squared import Squared
from separatrix.model.decision_rule import DecisionRule
from separatrix.model.learn.base import Fitted, Learner, LearnOptions, TrainingRows, as_matrix, with_intercept
from separatrix.model.learn.penalty import (
    choose_strength,
    may_be_unpenalised,
    no_inference_reason,
    scale_quantities,
    scaling_note,
)
from separatrix.model.record import Task
from separatrix.problem import Problem


class LinearLearner(Learner):
    """Least squares, ridge, lasso and elastic net."""

    name: ClassVar[str] = "linear"
    title: ClassVar[str] = "Linear regression"
    tasks: ClassVar[tuple[Task, ...]] = ("regression",)

    def learn(self, rows: TrainingRows, options: LearnOptions, watch: Watch | None = None) -> Fitted:
        """Fit the rows; strength "auto" means least squares if there are more rows than columns."""
        n, p = rows.shape
        design = rows.design(options.intercept)
        if not may_be_unpenalised(options):
            return _penalised(rows, options, watch, "")
        if options.strength == "auto" and (n <= p + 1 or not can_solve_directly(design)):
            return _penalised(rows, options, watch, f"{counted(n, 'row')} cannot tell {counted(p, 'column')} apart")
        began = time.perf_counter()
        problem = Problem(design, rows.targets(), Squared())
        fit = fit_least_squares(problem)
        result = least_squares_result(problem, fit, time.perf_counter() - began)
        facts = linear_facts(problem, fit, "precision")
        covariance = classical_covariance(fit, facts)
        matrix = covariance.matrix if options.intercept else with_intercept(covariance.matrix)
        objection = covariance.objection or (
            "" if fit.estimable.all() else "some coefficients cannot be told from the data"
        )
        variance = fit.rss / covariance.degrees_of_freedom if covariance.degrees_of_freedom > 0.0 else None
        return Fitted(
            result,
            *as_matrix(result.coef, result.intercept),
            DecisionRule(),
            {"strength": 0.0, "l1_ratio": 0.0, "intercept": options.intercept},
            linear_table(problem, fit),
            None if objection else Covariance(matrix, covariance.degrees_of_freedom, variance),
            objection,
            sentences=("no penalty: least squares, to the last digit",),
        )


def _penalised(rows: TrainingRows, options: LearnOptions, watch: Watch | None, reason: str) -> Fitted:
    scaled, scales = scale_quantities(rows, options.intercept)
    problem = Problem(scaled.design(options.intercept), rows.targets(), Squared())
    (problem,), strength, strength_note = choose_strength([problem], options, None)
    result = linear_result(problem, fit_convex(problem, options.convex, watch=watch), options.convex)
    coef, intercept = as_matrix(result.coef / scales, result.intercept)
    no_inference = no_inference_reason(options, strength, reason)
    coefficients = np.concatenate([intercept, coef[0]]) if options.intercept else coef[0]
    penalty_note = f"a penalty is used: {reason}" if reason else "a penalty is used, as asked for"
    return Fitted(
        result,
        coef,
        intercept,
        DecisionRule(),
        {"strength": strength, "l1_ratio": options.l1_ratio, "intercept": options.intercept},
        estimates_only_table(
            "linear", problem.design.names, [(None, coefficients)], float(rows.shape[0]), no_inference
        ),
        None,
        no_inference,
        None if (scales == 1.0).all() else scales,
        (penalty_note, strength_note, *scaling_note(scales)),
    )
