"""The perceptron of a table; of several classes each against the rest."""

from __future__ import annotations

from dataclasses import asdict
from typing import ClassVar

from separatrix.errors import OptionError
from separatrix.families.base import binary_targets, join_results
from separatrix.families.perceptron import PerceptronOptions, fit_perceptron
from separatrix.fit.run import Watch
from separatrix.model.decision_rule import DecisionRule, Side
from separatrix.model.learn.base import Fitted, Learner, LearnOptions, TrainingRows, one_row_each


class PerceptronLearner(Learner):
    """The mistake-driven rule of the notes, with its bound."""

    name: ClassVar[str] = "perceptron"
    title: ClassVar[str] = "Perceptron"

    def learn(self, rows: TrainingRows, options: LearnOptions, watch: Watch | None = None) -> Fitted:
        """Fit the rows."""
        assert rows.classes is not None  # a classifier's rows
        asked = options.perceptron or PerceptronOptions(keep="best")
        if asked.keep == "vote":
            raise OptionError("keep='vote' is a vote of many predictors, no single one; use 'average' or 'best'")
        design = rows.design(options.intercept)
        fits = [
            fit_perceptron(design, signs, asked, labels=labels, watch=watch)
            for signs, labels in binary_targets(rows.classes, rows.positive)
        ]
        result = join_results([fit.result for fit in fits], rows.classes.plain)
        tie: Side = "negative" if asked.tie == "negative" else "positive"
        settings = {name: value for name, value in asdict(asked).items() if isinstance(value, str | int | float)}
        return Fitted(
            result,
            *one_row_each(result.coef, result.intercept),
            DecisionRule(tie=tie),
            {**settings, "intercept": options.intercept},
            no_covariance="a perceptron has no likelihood, so nothing is inferred from it",
        )
