"""Linear classifiers for two classes side by side: the update of each, its objective, and its performance.

    w ← w − rate · error · x      perceptron  (sign(s) − y)/2      LMS  s − y      logistic  σ(s) − (y + 1)/2

with the score s = w·x (+ b) and the label y = ±1. Each is fitted to convergence: the perceptron by its rule, LMS at its
limit, which is least squares on the labels, logistic regression at its maximum if there is one, the support vector
machine at strength 1/n, the widest margin if there is one, the generative classifier in closed form. Every loss is then
evaluated at the weights of every learner. Cost: six fits and six passes, twice that with held-out rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from separatrix import losses
from separatrix.arrays import Bools, Floats
from separatrix.errors import DataError, OptionError, OverlapError, SeparatrixError
from separatrix.families.base import Fitted, TrainingRows, fit_family
from separatrix.families.options import (
    FAMILIES,
    GenerativeOptions,
    LinearOptions,
    LogisticOptions,
    MaxMarginOptions,
    Options,
    PerceptronOptions,
    SVMOptions,
)
from separatrix.fit.result import FitResult
from separatrix.fit.run import Watch
from separatrix.model.predictions import linear_scores
from separatrix.model.record import Model
from separatrix.perceptron_rule import predicted_signs
from separatrix.tables.table import Table

MOST_PASSES = 1000  # of the perceptron, which may never converge
LOSSES = ("perceptron", "hinge", "squared", "logistic")


@dataclass(frozen=True)
class LearnerRow:
    """A learner: its update, its objective, its fit, its number of mistakes, its margin, and all losses at its weights.

    `weights` are by column, those of a kernel machine none. `margin` is the distance of the nearest row from the
    boundary, None if a row is misclassified. `held_out` is the number of mistakes on held-out rows by a fit to the
    others. A model from a file does not know its `passes` and `seconds`.
    """

    learner: str
    error: str
    minimises: str
    weights: Mapping[str, float]
    intercept: float | None
    ending: FitEnding
    mistakes: int
    margin: float | None
    losses: Mapping[str, float]
    held_out: int | None = None


class FitEnding(NamedTuple):
    """How a fit ended: its status, message, evidence and cost."""

    status: str
    message: str
    verdict: str
    claim: str
    passes: float | None = None
    seconds: float | None = None


class FailedLearner(NamedTuple):
    """A learner that could not be fitted, and why."""

    learner: str
    reason: str


def compare_learners(
    rows: TrainingRows,
    *,
    intercept: bool = True,
    split: tuple[TrainingRows, TrainingRows] | None = None,
    watch: Watch | None = None,
) -> tuple[list[LearnerRow], list[FailedLearner]]:
    """Fit each learner to rows of two classes and measure it; `split` is (rows to fit, held-out rows)."""
    compared, failed = [], []
    for options, learner, error, minimises in _learners(intercept):
        try:
            fit, scores = _fit(options, rows, rows, watch)
            held_out = None if split is None else _mistakes(_fit(options, *split, watch)[1], split[1])
        except OverlapError:
            failed.append(FailedLearner(learner, "no halfspace separates the rows (proved)"))
        except SeparatrixError as problem:
            failed.append(FailedLearner(learner, str(problem)))
        else:
            weights = dict(zip(rows.names or (), fit.coef[0].tolist(), strict=True))
            constant, ending, mistakes = float(fit.intercept[0]), _ending(fit.result), _mistakes(scores, rows)
            margin, means = _margin_and_losses(scores, rows, fit.coef)
            row = learner, error, minimises, weights, constant, ending, mistakes, margin, means, held_out
            compared.append(LearnerRow(*row))
    if not compared:
        raise DataError("; ".join(dict.fromkeys(each.reason for each in failed)))
    return compared, failed


def _learners(intercept: bool) -> Iterator[tuple[Options, str, str, str]]:
    """Yield the options of each learner, its name, its error and its objective."""
    perceptron = PerceptronOptions(keep="best", max_passes=MOST_PASSES, fit_intercept=intercept)
    yield perceptron, "perceptron", "(sign(s) − y)/2", "max(0, −y·s)"
    yield LinearOptions(fit_intercept=intercept), "LMS", "s − y", "(s − y)²/2"
    yield LogisticOptions(fit_intercept=intercept), "logistic", "σ(s) − (y + 1)/2", "ln(1 + e^(−y·s))"
    svm = SVMOptions(scaling="spread", fit_intercept=intercept)
    yield svm, "SVM", "−y where y·s < 1", "max(0, 1 − y·s) + Σ(σⱼwⱼ)²/2n"
    widest = MaxMarginOptions(fit_intercept=intercept)
    yield widest, "widest margin", "none: all rows at once", "‖w‖ with every y·s ≥ 1"
    if intercept:
        yield GenerativeOptions(), "generative", "none: closed form", "−ln p(x, y), Gaussian"


def _fit(options: Options, rows: TrainingRows, scored: TrainingRows, watch: Watch | None) -> tuple[Fitted, Floats]:
    """Fit rows, and return the scores of others; a regression fits the signs ±1."""
    if "classification" not in options.tasks:
        rows = replace(rows, y=rows.class_targets.signs(), classes=None)
    fit = fit_family(rows, options.checked(), watch)
    return fit, linear_scores(scored.X, fit.coef, fit.intercept)[:, 0]


def _mistakes(scores: Floats, rows: TrainingRows) -> int:
    return int(np.sum(predicted_signs(scores, "positive") != rows.class_targets.signs()))


def model_row(name: str, model: Model, table: Table, rows: TrainingRows, kept: Bools) -> LearnerRow:
    """Measure a model of two classes by its own coefficients; `kept` are the rows of the table that `rows` are."""
    labels = rows.labels
    if model.classes is None or len(labels) != 2 or set(model.classes) != set(labels):
        classes = "numbers" if model.classes is None else f"the classes {list(model.classes)}"
        raise OptionError(f"{name} is of {classes}; compare models of the two classes {list(labels)}")
    predictions = model.predict(table, intervals=False).take(np.flatnonzero(kept))
    flip = 1.0 if model.classes[1] == labels[1] else -1.0
    title = FAMILIES[model.estimator].title if model.estimator in FAMILIES else model.estimator
    weights: dict[str, float] = {}
    if model.kernel is None:
        weights = dict(zip(model.encoding.feature_names, (flip * model.coef[0]).tolist(), strict=True))
    constant = None if model.kernel is not None else flip * float(model.intercept[0])
    if model.fitted is None:
        verdict = (model.certificate or {}).get("verdict", "—")
        ending = FitEnding(model.status, model.message, verdict, model.claim)
    else:
        ending = _ending(model.fitted.result)
    mistakes = int(np.sum((predictions.labels == labels[1]) != (rows.class_targets.codes == 1)))
    margin, means = _margin_and_losses(flip * predictions.scores, rows, model.coef)
    return LearnerRow(name, "as fitted", title, weights, constant, ending, mistakes, margin, means)


def _margin_and_losses(scores: Floats, rows: TrainingRows, coef: Floats) -> tuple[float | None, dict[str, float]]:
    """Return the least distance to the boundary, None if a row is misclassified or it is not known, and the losses."""
    signs, known = rows.class_targets.signs(), {loss.name: loss for loss in losses.ALL}
    smallest, length = float((signs * scores).min()), float(np.linalg.norm(coef))
    margin = smallest / length if smallest > 0.0 and length > 0.0 else None
    return margin, {name: float(np.mean(known[name].value(scores, signs))) for name in LOSSES}


def _ending(result: FitResult) -> FitEnding:
    evidence, cost = result.certificate, (float(result.passes), float(result.seconds))
    return FitEnding(result.status.value, result.message, evidence.verdict, evidence.claim, *cost)
