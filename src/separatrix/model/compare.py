"""Linear classifiers for two classes side by side: the update of each, its objective, and its performance.

    w ← w − rate · error · x        perceptron  sign(s) − y        LMS  s − y        logistic  σ(s) − (y + 1)/2

with the score s = w·x (+ b) and the label y = ±1. Each is fitted to convergence: the perceptron by its rule, LMS at its
limit, which is least squares on the labels, logistic regression at its maximum if there is one, the support vector
machine at strength 1/n, the widest margin if there is one, the generative classifier in closed form. Every loss is then
evaluated at the weights of every learner. Cost: six fits and six passes, twice that with held-out rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix import losses
from separatrix.arrays import Floats
from separatrix.errors import DataError, OverlapError, SeparatrixError
from separatrix.families.logistic import fit_logistic, logistic_problem
from separatrix.families.perceptron import PerceptronOptions, fit_perceptron
from separatrix.fit.build_result import linear_result
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.result import FitResult
from separatrix.fit.run import Watch
from separatrix.losses.squared import Squared
from separatrix.model.learn import LEARNERS
from separatrix.model.learn.base import LearnOptions, TrainingRows, as_matrix
from separatrix.perceptron_rule import predicted_signs
from separatrix.problem import Problem
from separatrix.separability.margin import MarginOptions, fit_max_margin

MOST_PASSES = 1000  # of the perceptron, which may never converge
LOSSES = ("perceptron", "hinge", "squared", "logistic")


class LinearFit(NamedTuple):
    """A fit, with its weights (p,) and intercept in the units of the rows."""

    result: FitResult
    coef: Floats
    intercept: float

    def scores(self, rows: TrainingRows) -> Floats:
        """Return the score of each row, (n,)."""
        return np.asarray(rows.X @ self.coef + self.intercept)


@dataclass(frozen=True)
class LearnerRow:
    """A learner: its update, its objective, its fit, its number of mistakes, its margin, and all losses at its weights.

    `margin` is the distance of the nearest row from the boundary, None if a row is misclassified. `held_out` is the
    number of mistakes on held-out rows by a fit to the others.
    """

    learner: str
    error: str
    minimises: str
    fit: LinearFit
    mistakes: int
    margin: float | None
    losses: Mapping[str, float]
    held_out: int | None = None


class FailedLearner(NamedTuple):
    """A learner that could not be fitted, and why."""

    learner: str
    reason: str


class _Entry(NamedTuple):
    learner: str
    error: str
    minimises: str
    fit: Callable[[TrainingRows], LinearFit]


def compare_learners(
    rows: TrainingRows,
    *,
    intercept: bool = True,
    split: tuple[TrainingRows, TrainingRows] | None = None,
    max_passes: int = MOST_PASSES,
    watch: Watch | None = None,
) -> tuple[list[LearnerRow], list[FailedLearner]]:
    """Fit each learner to rows of two classes and measure it; `split` is (rows to fit, held-out rows)."""
    compared, failed = [], []
    for entry in _entries(intercept, max_passes, watch):
        try:
            fit = entry.fit(rows)
            held_out = None if split is None else _mistakes(entry.fit(split[0]), split[1])
        except OverlapError:
            failed.append(FailedLearner(entry.learner, "no halfspace separates the rows, which is proved"))
        except SeparatrixError as problem:
            failed.append(FailedLearner(entry.learner, str(problem)))
        else:
            compared.append(_learner_row(entry, fit, rows, held_out))
    if not compared:
        raise DataError("; ".join(dict.fromkeys(each.reason for each in failed)))
    return compared, failed


def _entries(intercept: bool, max_passes: int, watch: Watch | None) -> Iterator[_Entry]:
    learn_options = LearnOptions(intercept=intercept)

    def perceptron(rows: TrainingRows) -> LinearFit:
        options = PerceptronOptions(keep="best", max_passes=max_passes)
        fitted = fit_perceptron(rows.design(intercept), rows.targets(), options, labels=_labels(rows), watch=watch)
        return _linear_fit(fitted.result)

    def least_squares(rows: TrainingRows) -> LinearFit:
        problem, options = Problem(rows.design(intercept), rows.targets(), Squared()), ConvexOptions()
        fitted = fit_convex(problem, options, watch=watch)
        return _linear_fit(linear_result(problem, fitted, options, labels=_labels(rows)))

    def logistic(rows: TrainingRows) -> LinearFit:
        problem = logistic_problem(rows.design(intercept), rows.targets(), rows.labels)
        return _linear_fit(fit_logistic(problem, ConvexOptions(), labels=rows.labels, watch=watch).result)

    def widest_margin(rows: TrainingRows) -> LinearFit:
        design = rows.design(intercept)
        return _linear_fit(fit_max_margin(design, rows.targets(), MarginOptions(), labels=_labels(rows), watch=watch))

    def registered(name: str) -> Callable[[TrainingRows], LinearFit]:
        def fit(rows: TrainingRows) -> LinearFit:
            fitted = LEARNERS[name].learn(rows, learn_options, watch)
            return LinearFit(fitted.result, fitted.coef[0], float(fitted.intercept[0]))

        return fit

    yield _Entry("perceptron", "sign(s) − y", "max(0, −y·s)", perceptron)
    yield _Entry("LMS", "s − y", "(s − y)²/2", least_squares)
    yield _Entry("logistic", "σ(s) − (y + 1)/2", "ln(1 + e^(−y·s))", logistic)
    yield _Entry("SVM", "−y where y·s < 1", "max(0, 1 − y·s) + ‖w‖²/2n", registered("svm"))
    yield _Entry("widest margin", "none: all rows at once", "‖w‖ with every y·s ≥ 1", widest_margin)
    if intercept:
        yield _Entry("generative", "none: closed form", "−ln p(x, y), Gaussian", registered("generative"))


def _labels(rows: TrainingRows) -> tuple[object, object]:
    negative, positive = rows.labels
    return negative, positive


def _linear_fit(result: FitResult) -> LinearFit:
    coef, intercept = as_matrix(result.coef, result.intercept)
    return LinearFit(result, coef[0], float(intercept[0]))


def _mistakes(fit: LinearFit, rows: TrainingRows) -> int:
    return int(np.sum(predicted_signs(fit.scores(rows), "positive") != rows.targets()))


def _learner_row(entry: _Entry, fit: LinearFit, rows: TrainingRows, held_out: int | None) -> LearnerRow:
    scores, signs, length = fit.scores(rows), rows.targets(), float(np.linalg.norm(fit.coef))
    known = {loss.name: loss for loss in losses.ALL}
    means = {name: float(np.mean(known[name].value(scores, signs))) for name in LOSSES}
    smallest = float((signs * scores).min())
    margin = smallest / length if smallest > 0.0 and length > 0.0 else None
    return LearnerRow(entry.learner, entry.error, entry.minimises, fit, _mistakes(fit, rows), margin, means, held_out)
