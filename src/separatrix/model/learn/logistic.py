"""Logistic regression: maximum likelihood with inference if a maximum exists, else with a penalty."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.errors import counted
from separatrix.families.logistic import LogisticFit, fit_logistic, logistic_problem
from separatrix.fit.run import Watch
from separatrix.inference.covariance import CovarianceChoice
from separatrix.inference.likelihood import LikelihoodFit
from separatrix.inference.logistic import LogisticModel, SampleRows
from separatrix.inference.prediction import Covariance
from separatrix.inference.table import estimates_only_table
from separatrix.model.decision_rule import DecisionRule
from separatrix.model.learn.base import Fitted, Learner, LearnOptions, TrainingRows, as_matrix, with_intercept
from separatrix.model.learn.penalty import (
    choose_strength,
    may_be_unpenalised,
    no_inference_reason,
    scale_quantities,
    scaling_note,
)
from separatrix.problem import Problem
from separatrix.separability.existence import check_existence, describe_divergence

ROWS_PER_COEFFICIENT = 10  # below, maximum likelihood is unreliable
MOST_COEFFICIENTS = 1500  # above, a covariance is computed only for strength 0


class LogisticLearner(Learner):
    """Logistic regression, with a softmax for several classes."""

    name: ClassVar[str] = "logistic"
    title: ClassVar[str] = "Logistic regression"

    def learn(self, rows: TrainingRows, options: LearnOptions, watch: Watch | None = None) -> Fitted:
        """Fit the rows; strength "auto" means maximum likelihood if it exists, else a penalty with a reason."""
        if not may_be_unpenalised(options):
            return _penalised(rows, options, watch, "")
        reason = _too_few(rows) if options.strength == "auto" else ""
        if reason:
            return _penalised(rows, options, watch, reason)
        problem, existence = logistic_problem(rows.design(options.intercept), rows.targets(), rows.labels), None
        if options.strength == "auto":
            existence = check_existence(problem, rows.labels, watch=watch)
            if existence.verdict != "overlap":
                return _penalised(rows, options, watch, _no_maximum(existence))
        fit = fit_logistic(problem, options.convex, labels=rows.labels, watch=watch, existence=existence)
        return _unpenalised(rows, problem, fit, options)


def _too_few(rows: TrainingRows) -> str:
    n, p = rows.shape
    coefficients = (p + 1) * max(1, len(rows.labels) - 1)
    if coefficients > MOST_COEFFICIENTS:
        return f"{coefficients:,} coefficients are too many to tell one by one"
    if n < ROWS_PER_COEFFICIENT * coefficients:
        return f"{counted(n, 'row')} are few for {counted(coefficients, 'coefficient')}"
    return ""


def _no_maximum(existence: SeparabilityCertificate) -> str:
    """Return why the likelihood has no maximum; checking this first is cheaper than a fit that diverges."""
    if existence.verdict == "undecided":
        return "it is not known whether the likelihood has a maximum"
    kind = "completely" if existence.verdict == "separable" else "quasi-completely"
    return f"the classes are {kind} separated, so that the likelihood has no maximum{describe_divergence(existence)}"


def _unpenalised(rows: TrainingRows, problem: Problem, fit: LogisticFit, options: LearnOptions) -> Fitted:
    result, multiclass = fit.result, len(rows.labels) > 2
    coef, intercept = as_matrix(result.coef, result.intercept)
    if multiclass:
        coef, intercept = coef - coef.mean(axis=0), intercept - intercept.mean()
    table, covariance, no_covariance = _inference(rows, problem, fit, coef, intercept)
    return Fitted(
        result,
        coef,
        intercept,
        DecisionRule("softmax" if multiclass else "sigmoid"),
        {"strength": 0.0, "l1_ratio": 0.0, "intercept": options.intercept},
        table,
        covariance,
        no_covariance,
        sentences=(_no_penalty(fit.existence),),
    )


def _no_penalty(existence: SeparabilityCertificate | None) -> str:
    """Return why there is no penalty, and whether the maximum is proved and unique."""
    if existence is None or existence.verdict != "overlap":
        return "no penalty, as asked for"
    others = ", and no other coefficients reach it"
    if "aliased" in existence.coefficient_status.values():
        others = "; other coefficients reach it too, as some columns are made of others"
    return f"no penalty: the likelihood has a maximum, proved{others}"


def _inference(
    rows: TrainingRows, problem: Problem, fit: LogisticFit, coef: Floats, intercept: Floats
) -> tuple[Any, Covariance | None, str]:
    """Return the table, and the covariance of the coefficients (two classes) or why there is none."""
    if fit.existence is None:
        return None, None, "the fit was stopped before it was known whether a maximum exists"
    coefficients = np.column_stack([intercept, coef]) if problem.design.virtual else coef
    flat = (coefficients[1:] - coefficients[0]).ravel() if len(rows.labels) > 2 else coefficients[0]
    likelihood = LikelihoodFit(problem, fit.existence, flat, rows.labels)
    model = LogisticModel((likelihood,), rows.labels, SampleRows(rows.shape[0], None))
    table = model.table("classical", None, 0.95)
    if len(rows.labels) > 2:
        return table, None, "intervals of probabilities are of two classes"
    errors = likelihood.errors(CovarianceChoice("classical"))
    mle, m = likelihood.mle, len(flat)
    if fit.existence.verdict != "overlap" or errors.covariance is None or mle is None:
        return table, None, errors.absent or "the likelihood has no maximum"
    if not mle.all_estimable or len(mle.kept) < m:
        return table, None, "some coefficients cannot be told from the data"
    transform = np.vstack([mle.row({place: 1}) for place in range(m)])
    matrix = transform @ errors.covariance @ transform.T
    return table, Covariance(matrix if problem.design.virtual else with_intercept(matrix)), ""


def _penalised(rows: TrainingRows, options: LearnOptions, watch: Watch | None, reason: str) -> Fitted:
    scaled, scales = scale_quantities(rows, options.intercept)
    assert rows.classes is not None  # a classification
    problem = logistic_problem(scaled.design(options.intercept), rows.targets(), rows.labels)
    (problem,), strength, strength_note = choose_strength([problem], options, rows.classes.codes)
    result = fit_logistic(problem, options.convex, labels=rows.labels, watch=watch).result
    coef, intercept = as_matrix(result.coef / scales, result.intercept)
    no_inference = no_inference_reason(options, strength, reason)
    outputs = [None] if len(coef) == 1 else list(rows.labels)
    coefficients = np.column_stack([intercept, coef]) if options.intercept else coef
    table = estimates_only_table(
        "logistic" if len(rows.labels) == 2 else "softmax",
        problem.design.names,
        list(zip(outputs, coefficients, strict=True)),
        float(rows.shape[0]),
        no_inference,
    )
    penalty_note = f"a penalty is used: {reason}" if reason else "a penalty is used, as asked for"
    return Fitted(
        result,
        coef,
        intercept,
        DecisionRule("softmax" if len(rows.labels) > 2 else "sigmoid"),
        {"strength": strength, "l1_ratio": options.l1_ratio, "intercept": options.intercept},
        table,
        None,
        no_inference,
        None if (scales == 1.0).all() else scales,
        (penalty_note, strength_note, *scaling_note(scales)),
    )
