"""A linear support vector machine of a table; of several classes each against the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from separatrix.families.base import binary_targets, join_results
from separatrix.families.svm import fit_svm
from separatrix.fit.run import Watch
from separatrix.losses.margin import Hinge
from separatrix.model.decision_rule import DecisionRule
from separatrix.model.learn.base import Fitted, Learner, LearnOptions, TrainingRows, one_row_each
from separatrix.model.learn.penalty import choose_strength, divided, penalised
from separatrix.problem import Problem


class SVMLearner(Learner):
    """The soft margin, by the hinge loss and a squared penalty."""

    name: ClassVar[str] = "svm"
    title: ClassVar[str] = "Support vector machine"

    def learn(self, rows: TrainingRows, options: LearnOptions, watch: Watch | None = None) -> Fitted:
        """Fit the rows."""
        assert rows.classes is not None  # a classifier's rows
        scaled, scales = penalised(rows, options.intercept)
        design, targets = scaled.design(options.intercept), binary_targets(rows.classes, rows.positive)
        problems = [Problem(design, signs, Hinge()) for signs, _ in targets]
        asked = replace(options, l1_ratio=0.0)
        problems, strength, words = choose_strength(problems, asked, rows.classes.codes)
        fits = [
            fit_svm(problem, options.convex, labels=target.labels, watch=watch)
            for problem, target in zip(problems, targets, strict=True)
        ]
        result = join_results(fits, rows.classes.plain)
        coef, intercept = one_row_each(result.coef, result.intercept)
        return Fitted(
            result,
            coef / scales,
            intercept,
            DecisionRule(),
            {"strength": strength, "loss": "hinge", "intercept": options.intercept},
            no_covariance="a support vector machine has no likelihood, so nothing is inferred from it",
            scales=None if (scales == 1.0).all() else scales,
            sentences=(words, *divided(scales)),
        )
