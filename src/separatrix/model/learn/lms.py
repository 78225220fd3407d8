"""Least mean squares (Widrow and Hoff), for numbers or for classes as targets ±1; it converges to least squares."""

from __future__ import annotations

from typing import ClassVar

from separatrix.families.base import binary_targets, join_results
from separatrix.families.lms import LMSOptions, fit_lms
from separatrix.fit.run import Watch
from separatrix.model.decision_rule import DecisionRule
from separatrix.model.learn.base import Fitted, Learner, LearnOptions, TrainingRows, as_matrix
from separatrix.model.learn.penalty import scale_quantities, scaling_note
from separatrix.model.record import Task

OPTIONS = LMSOptions(max_passes=1000)  # `linear` finds the limit directly


class LMSLearner(Learner):
    """The batch rule, on standardised columns, so that one rate suits all."""

    name: ClassVar[str] = "lms"
    title: ClassVar[str] = "Least mean squares"
    tasks: ClassVar[tuple[Task, ...]] = ("classification", "regression")

    def learn(self, rows: TrainingRows, options: LearnOptions, watch: Watch | None = None) -> Fitted:
        scaled, scales = scale_quantities(rows, options.intercept)
        design = scaled.design(options.intercept)
        if rows.classes is None:
            result = fit_lms(design, rows.targets(), OPTIONS, watch=watch)
        else:
            fits = [
                fit_lms(design, signs, OPTIONS, labels=labels, watch=watch)
                for signs, labels in binary_targets(rows.classes, rows.positive)
            ]
            result = join_results(fits, rows.classes.plain)
        coef, intercept = as_matrix(result.coef, result.intercept)
        return Fitted(
            result,
            coef / scales,
            intercept,
            DecisionRule(),
            {"intercept": options.intercept},
            no_covariance="the steps of LMS come with no errors; use linear or logistic for those",
            scales=None if (scales == 1.0).all() else scales,
            sentences=scaling_note(scales),
        )
