"""The linear support vector machine; one against the rest for several classes."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from separatrix.families.base import binary_targets, join_results
from separatrix.families.svm import fit_svm
from separatrix.fit.run import Watch
from separatrix.losses.margin import Hinge
from separatrix.model.decision_rule import DecisionRule
from separatrix.model.learn.base import Fitted, Learner, LearnOptions, TrainingRows, as_matrix
from separatrix.model.learn.penalty import choose_strength, scale_quantities, scaling_note
from separatrix.problem import Problem


class SVMLearner(Learner):
    """The soft margin: hinge loss and L2 penalty."""

    name: ClassVar[str] = "svm"
    title: ClassVar[str] = "Support vector machine"

    def learn(self, rows: TrainingRows, options: LearnOptions, watch: Watch | None = None) -> Fitted:
        assert rows.classes is not None  # a classification
        scaled, scales = scale_quantities(rows, options.intercept)
        design, targets = scaled.design(options.intercept), binary_targets(rows.classes, rows.positive)
        problems = [Problem(design, signs, Hinge()) for signs, _ in targets]
        ridge = replace(options, l1_ratio=0.0)
        problems, strength, strength_note = choose_strength(problems, ridge, rows.classes.codes)
        fits = [
            fit_svm(problem, options.convex, labels=target.labels, watch=watch)
            for problem, target in zip(problems, targets, strict=True)
        ]
        result = join_results(fits, rows.classes.plain)
        coef, intercept = as_matrix(result.coef, result.intercept)
        return Fitted(
            result,
            coef / scales,
            intercept,
            DecisionRule(),
            {"strength": strength, "loss": "hinge", "intercept": options.intercept},
            no_covariance="a support vector machine has no likelihood, so nothing is inferred from it",
            scales=None if (scales == 1.0).all() else scales,
            sentences=(strength_note, *scaling_note(scales)),
        )
