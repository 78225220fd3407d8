"""Linear classifiers for two classes side by side: the update of each, its objective, and its performance.

    w ← w − rate · error · x        perceptron  sign(s) − y        LMS  s − y        logistic  σ(s) − (y + 1)/2

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
from separatrix.model.decision_rule import linear_scores
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


class _Entry(NamedTuple):
    learner: str
    error: str
    minimises: str
    options: Options


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
    for entry in _entries(intercept, max_passes):
        try:
            fit = _fit(entry, rows, watch)
            held_out = None if split is None else _mistakes(_fit(entry, split[0], watch), split[1])
        except OverlapError:
            failed.append(FailedLearner(entry.learner, "no halfspace separates the rows, which is proved"))
        except SeparatrixError as problem:
            failed.append(FailedLearner(entry.learner, str(problem)))
        else:
            compared.append(_learner_row(entry, fit, rows, held_out))
    if not compared:
        raise DataError("; ".join(dict.fromkeys(each.reason for each in failed)))
    return compared, failed


def _entries(intercept: bool, max_passes: int) -> Iterator[_Entry]:
    perceptron = PerceptronOptions(keep="best", max_passes=max_passes, fit_intercept=intercept)
    yield _Entry("perceptron", "sign(s) − y", "max(0, −y·s)", perceptron)
    yield _Entry("LMS", "s − y", "(s − y)²/2", LinearOptions(fit_intercept=intercept))
    yield _Entry("logistic", "σ(s) − (y + 1)/2", "ln(1 + e^(−y·s))", LogisticOptions(fit_intercept=intercept))
    svm = SVMOptions(scaling="spread", fit_intercept=intercept)
    yield _Entry("SVM", "−y where y·s < 1", "max(0, 1 − y·s) + ‖w‖²/2n", svm)
    widest = MaxMarginOptions(fit_intercept=intercept)
    yield _Entry("widest margin", "none: all rows at once", "‖w‖ with every y·s ≥ 1", widest)
    if intercept:
        yield _Entry("generative", "none: closed form", "−ln p(x, y), Gaussian", GenerativeOptions())


def _fit(entry: _Entry, rows: TrainingRows, watch: Watch | None) -> Fitted:
    """Fit rows by the family of an entry; a regression fits the signs ±1."""
    if "classification" not in entry.options.tasks:
        rows = replace(rows, y=_signs(rows), classes=None)
    fitted: Fitted = fit_family(rows, entry.options.checked(), watch)
    return fitted


def _signs(rows: TrainingRows) -> Floats:
    assert rows.classes is not None  # two classes are compared
    return rows.classes.signs()


def _scores(fit: Fitted, rows: TrainingRows) -> Floats:
    return linear_scores(rows.X, fit.coef, fit.intercept)[:, 0]


def _mistakes(fit: Fitted, rows: TrainingRows) -> int:
    return int(np.sum(predicted_signs(_scores(fit, rows), "positive") != _signs(rows)))


def _learner_row(entry: _Entry, fit: Fitted, rows: TrainingRows, held_out: int | None) -> LearnerRow:
    scores, signs = _scores(fit, rows), _signs(rows)
    names = rows.names or ()
    return LearnerRow(
        *entry[:3],
        dict(zip(names, fit.coef[0].tolist(), strict=True)),
        float(fit.intercept[0]),
        _ending(fit.result),
        _mistakes(fit, rows),
        _margin(scores, signs, fit.coef),
        _losses(scores, signs),
        held_out,
    )


def model_row(name: str, model: Model, table: Table, rows: TrainingRows, kept: Bools) -> LearnerRow:
    """Measure a model of two classes by its own coefficients; `kept` are the rows of the table that `rows` are."""
    labels, signs = rows.labels, _signs(rows)
    if model.classes is None or len(labels) != 2 or set(model.classes) != set(labels):
        classes = "numbers" if model.classes is None else f"the classes {list(model.classes)}"
        raise OptionError(f"{name} is of {classes}; compare models of the two classes {list(labels)}")
    predictions = model.predict(table, intervals=False).take(np.flatnonzero(kept))
    flip = 1.0 if model.classes[1] == labels[1] else -1.0
    coef = [] if model.kernel is not None else (flip * model.coef[0]).tolist()
    return LearnerRow(
        name,
        "as fitted",
        FAMILIES[model.estimator].title if model.estimator in FAMILIES else model.estimator,
        dict(zip(model.encoding.feature_names if coef else (), coef, strict=True)),
        None if model.kernel is not None else flip * float(model.intercept[0]),
        _model_ending(model),
        int(np.sum((predictions.labels == labels[1]) != (signs > 0.0))),
        _margin(flip * predictions.scores, signs, model.coef),
        _losses(flip * predictions.scores, signs),
    )


def _margin(scores: Floats, signs: Floats, coef: Floats) -> float | None:
    """Return the least distance to the boundary, None if a row is misclassified or distances are not known."""
    smallest, length = float((signs * scores).min()), float(np.linalg.norm(coef))
    return smallest / length if smallest > 0.0 and length > 0.0 else None


def _losses(scores: Floats, signs: Floats) -> dict[str, float]:
    known = {loss.name: loss for loss in losses.ALL}
    return {name: float(np.mean(known[name].value(scores, signs))) for name in LOSSES}


def _ending(result: FitResult) -> FitEnding:
    evidence = result.certificate
    cost = float(result.passes), float(result.seconds)
    return FitEnding(result.status.value, result.message, evidence.verdict, evidence.claim, *cost)


def _model_ending(model: Model) -> FitEnding:
    if model.fitted is not None:
        return _ending(model.fitted.result)
    return FitEnding(model.status, model.message, (model.certificate or {}).get("verdict", "—"), model.claim)
