"""The linear classifiers of two classes side by side: what each corrects, what it minimises, and how it does.

    w ← w − rate · error · x        perceptron  sign(s) − y        LMS  s − y        logistic  σ(s) − (y + 1)/2

with the score s = w·x (+ b) and the label y = ±1. Each is fitted to its end: the perceptron by its rule, LMS at its
limit, which is least squares on the labels, logistic regression at its maximum, where it has one, the support vector
machine at strength 1/n, the widest margin where there is one, the generative classifier in closed form. Every loss is
then measured at every one's weights. Cost: six fits and six passes, twice with rows kept apart.
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
from separatrix.model.learn.base import LearnOptions, TrainingRows, one_row_each
from separatrix.perceptron_rule import predicted_signs
from separatrix.problem import Problem
from separatrix.separability.margin import MarginOptions, fit_max_margin

MOST_PASSES = 1000  # of the perceptron, which may never end
MEASURED = ("perceptron", "hinge", "squared", "logistic")


class LinearFit(NamedTuple):
    """A fit, and its weights (p,) and intercept in the units of the rows."""

    result: FitResult
    coef: Floats
    intercept: float

    def scores(self, rows: TrainingRows) -> Floats:
        """Return the score of each row, (n,)."""
        return np.asarray(rows.X @ self.coef + self.intercept)


@dataclass(frozen=True)
class LearnerRow:
    """A learner: its update, what it minimises, its fit, the rows it has wrong, its margin, and the losses there.

    `margin` is the distance of the nearest row from the boundary, None where a row is on the wrong side. `apart` is how
    many rows kept apart a fit of the others has wrong.
    """

    learner: str
    error: str
    minimises: str
    fit: LinearFit
    mistakes: int
    margin: float | None
    losses: Mapping[str, float]
    apart: int | None = None


class RefusedLearner(NamedTuple):
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
) -> tuple[list[LearnerRow], list[RefusedLearner]]:
    """Fit each learner to rows of two classes, and measure it; `split` is (rows to fit, rows kept apart)."""
    compared, refused = [], []
    for entry in _entries(intercept, max_passes, watch):
        try:
            fit = entry.fit(rows)
            apart = None if split is None else _wrong(entry.fit(split[0]), split[1])
        except OverlapError:
            refused.append(RefusedLearner(entry.learner, "no halfspace separates the rows, which is proved"))
        except SeparatrixError as problem:
            refused.append(RefusedLearner(entry.learner, str(problem)))
        else:
            compared.append(_measured(entry, fit, rows, apart))
    if not compared:
        raise DataError("; ".join(dict.fromkeys(each.reason for each in refused)))
    return compared, refused


def _entries(intercept: bool, max_passes: int, watch: Watch | None) -> Iterator[_Entry]:
    options = LearnOptions(intercept=intercept)

    def perceptron(rows: TrainingRows) -> LinearFit:
        asked = PerceptronOptions(keep="best", max_passes=max_passes)
        fitted = fit_perceptron(rows.design(intercept), rows.targets(), asked, labels=_labels(rows), watch=watch)
        return _weighed(fitted.result)

    def least_squares(rows: TrainingRows) -> LinearFit:
        problem, asked = Problem(rows.design(intercept), rows.targets(), Squared()), ConvexOptions()
        fitted = fit_convex(problem, asked, watch=watch)
        return _weighed(linear_result(problem, fitted, asked, labels=_labels(rows)))

    def logistic(rows: TrainingRows) -> LinearFit:
        problem = logistic_problem(rows.design(intercept), rows.targets(), rows.labels)
        return _weighed(fit_logistic(problem, ConvexOptions(), labels=rows.labels, watch=watch).result)

    def widest(rows: TrainingRows) -> LinearFit:
        design = rows.design(intercept)
        return _weighed(fit_max_margin(design, rows.targets(), MarginOptions(), labels=_labels(rows), watch=watch))

    def learned(name: str) -> Callable[[TrainingRows], LinearFit]:
        def fit(rows: TrainingRows) -> LinearFit:
            found = LEARNERS[name].learn(rows, options, watch)
            return LinearFit(found.result, found.coef[0], float(found.intercept[0]))

        return fit

    yield _Entry("perceptron", "sign(s) − y", "max(0, −y·s)", perceptron)
    yield _Entry("LMS", "s − y", "(s − y)²/2", least_squares)
    yield _Entry("logistic", "σ(s) − (y + 1)/2", "ln(1 + e^(−y·s))", logistic)
    yield _Entry("SVM", "−y where y·s < 1", "max(0, 1 − y·s) + ‖w‖²/2n", learned("svm"))
    yield _Entry("widest margin", "none: all rows at once", "‖w‖ with every y·s ≥ 1", widest)
    if intercept:
        yield _Entry("generative", "none: closed form", "−ln p(x, y), Gaussian", learned("generative"))


def _labels(rows: TrainingRows) -> tuple[object, object]:
    negative, positive = rows.labels
    return negative, positive


def _weighed(result: FitResult) -> LinearFit:
    coef, intercept = one_row_each(result.coef, result.intercept)
    return LinearFit(result, coef[0], float(intercept[0]))


def _wrong(fit: LinearFit, rows: TrainingRows) -> int:
    return int(np.sum(predicted_signs(fit.scores(rows), "positive") != rows.targets()))


def _measured(entry: _Entry, fit: LinearFit, rows: TrainingRows, apart: int | None) -> LearnerRow:
    scores, signs, length = fit.scores(rows), rows.targets(), float(np.linalg.norm(fit.coef))
    known = {loss.name: loss for loss in losses.ALL}
    means = {name: float(np.mean(known[name].value(scores, signs))) for name in MEASURED}
    least = float((signs * scores).min())
    margin = least / length if least > 0.0 and length > 0.0 else None
    return LearnerRow(entry.learner, entry.error, entry.minimises, fit, _wrong(fit, rows), margin, means, apart)
