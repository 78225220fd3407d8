"""The perceptron; one against the rest for several classes."""

from __future__ import annotations

from dataclasses import asdict
from typing import ClassVar

from separatrix.errors import OptionError
from separatrix.families.base import binary_targets, join_results
from separatrix.families.perceptron import PerceptronOptions, fit_perceptron
from separatrix.fit.run import Watch
from separatrix.model.decision_rule import DecisionRule, Side
from separatrix.model.learn.base import Fitted, Learner, LearnOptions, TrainingRows, as_matrix


class PerceptronLearner(Learner):
    """The mistake-driven rule, with its mistake bound."""

    name: ClassVar[str] = "perceptron"
    title: ClassVar[str] = "Perceptron"

    def learn(self, rows: TrainingRows, options: LearnOptions, watch: Watch | None = None) -> Fitted:
        assert rows.classes is not None  # a classification
        perceptron = options.perceptron or PerceptronOptions(keep="best")
        if perceptron.keep == "vote":
            raise OptionError("keep='vote' is a vote of many predictors, no single one; use 'average' or 'best'")
        design = rows.design(options.intercept)
        fits = [
            fit_perceptron(design, signs, perceptron, labels=labels, watch=watch)
            for signs, labels in binary_targets(rows.classes, rows.positive)
        ]
        result = join_results([fit.result for fit in fits], rows.classes.plain)
        tie: Side = "negative" if perceptron.tie == "negative" else "positive"
        settings = {name: value for name, value in asdict(perceptron).items() if isinstance(value, str | int | float)}
        return Fitted(
            result,
            *as_matrix(result.coef, result.intercept),
            DecisionRule(tie=tie),
            {**settings, "intercept": options.intercept},
            no_covariance="a perceptron has no likelihood, so nothing is inferred from it",
        )
