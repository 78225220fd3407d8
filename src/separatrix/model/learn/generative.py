"""Gaussian generative classifier with variances shared by the classes, the counterpart of logistic regression."""

from __future__ import annotations

from typing import ClassVar

from separatrix.errors import OptionError
from separatrix.families.generative import fit_generative
from separatrix.fit.run import Watch
from separatrix.model.decision_rule import DecisionRule
from separatrix.model.learn.base import Fitted, Learner, LearnOptions, TrainingRows, as_matrix


class GenerativeLearner(Learner):
    """Weights in closed form, from the means and variances of the classes."""

    name: ClassVar[str] = "generative"
    title: ClassVar[str] = "Gaussian generative classifier"

    def learn(self, rows: TrainingRows, options: LearnOptions, watch: Watch | None = None) -> Fitted:  # noqa: ARG002
        assert rows.classes is not None  # a classification
        if not options.intercept:
            raise OptionError("a generative classifier always has an intercept, which its priors and means decide")
        result = fit_generative(rows.design(intercept=True), rows.classes)
        coef, intercept = as_matrix(result.coef, result.intercept)
        if len(rows.labels) == 2 and rows.positive == 0:
            coef, intercept = -coef, -intercept
        return Fitted(
            result,
            coef,
            intercept,
            DecisionRule("softmax" if len(rows.labels) > 2 else "sigmoid"),
            {},
            no_covariance="no errors are told of a generative classifier's weights",
        )
