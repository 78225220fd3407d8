"""Evaluation of a model of any kind: an estimator on X and y, a formula on its data, a table's model on a table."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np

from separatrix.errors import OptionError
from separatrix.inference.eligibility import Refusal
from separatrix.inference.evaluation import (
    ClassifierEvaluation,
    RegressorEvaluation,
    evaluate_classifier,
    evaluate_regressor,
)
from separatrix.inference.evaluation_curves import Estimate
from separatrix.model.adopt import arrays_of, is_formula, open_for, rows_of, table_model
from separatrix.model.predictions import Predictions, join_predictions
from separatrix.model.record import LEVEL, Model
from separatrix.model.target import Target
from separatrix.tables.table import TableSource

Evaluation = ClassifierEvaluation | RegressorEvaluation
MOST_EVALUATED = 1_000_000  # rows that a model is evaluated on: more would not change a digit shown


def evaluate(model: Any, X: Any, y: Any = None, weights: Any = None, *, level: float = LEVEL) -> Evaluation:
    """Evaluate a fitted model on rows that it was not fitted on, with intervals.

    Parameters
    ----------
    model : a fitted estimator, also of scikit-learn; a model by formula; or a model of a table
    X : rows; data of a formula; or a table, frame or path that has the target
    y : targets of an estimator
    weights : (n,) sample weights; a table has them in the column that the fit was weighted by, if it is there
    level : of the intervals

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = sx.load_demo("breast-cancer")
    >>> evaluation = sx.evaluate(sx.GaussianGenerativeClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> evaluation.rows, round(evaluation.auc.value, 3)
    (284, 0.986)
    >>> sx.evaluate(sx.train("demo:iris"), "demo:iris").accuracy.value
    0.9733333333333334
    """
    own = table_model(model)
    if own is None:
        return _evaluate_estimator(model.model if is_formula(model) else model, *arrays_of(model, X, y), weights, level)
    if weights is not None:
        raise OptionError("weights are for arrays; a table has them in a column")
    with open_for(own, X, y) as source:
        known, target, _ = rows_of(own, source, weighted=own.data.get("weights") in source.names)
        return evaluate_predictions(predict_source(own, known), target, level=level)


def _evaluate_estimator(model: Any, X: Any, y: Any, weights: Any, level: float) -> Evaluation:
    if not hasattr(model, "predict"):
        raise OptionError(f"{model!r} predicts nothing; give a fitted model")
    predicted = model.predict(X)
    if not hasattr(model, "classes_"):
        return evaluate_regressor(y, predicted, weights, level=level)
    options = {"predicted": predicted, "level": level}
    if hasattr(model, "predict_proba"):
        return evaluate_classifier(y, model.predict_proba(X), model.classes_, weights, **options)
    return evaluate_classifier(y, None, model.classes_, weights, scores=model.decision_function(X), **options)


def evaluate_predictions(
    predictions: Predictions, target: Target, *, seed: int = 0, level: float = LEVEL
) -> Evaluation:
    """Return how well predictions fit the target of their rows, on a random sample if there are very many."""
    y, weights, used = target.y, target.weights, predictions
    if used.left_out or is_sampled(used):
        rows = np.flatnonzero(used.kept)
        if is_sampled(used):
            drawn = np.random.default_rng(seed).choice(len(rows), MOST_EVALUATED, replace=False, shuffle=False)
            rows = rows[np.sort(drawn)]
        y, weights, used = y[rows], None if weights is None else weights[rows], used.take(rows)
    if used.classes is None:
        return evaluate_regressor(y, used.scores, weights, level=level)
    options: dict[str, Any] = {"scores": used.scores, "predicted": used.labels, "level": level}
    return evaluate_classifier(y, used.probabilities, used.classes, weights, **options)


def without_intervals(evaluation: Evaluation) -> Evaluation:
    """Return an evaluation on the rows of the fit without intervals, which hold for models given beforehand."""
    measures = {each.name: getattr(evaluation, each.name) for each in fields(evaluation)}
    own: dict[str, Any] = {name: _bare(value) for name, value in measures.items() if isinstance(value, Estimate)}
    if isinstance(evaluation, ClassifierEvaluation):
        own["rankings"] = tuple(replace(each, auc=_bare(each.auc)) for each in evaluation.rankings)
    return replace(evaluation, **own)


def _bare(measure: Estimate) -> Estimate:
    return Estimate(measure.value, absent=measure.absent if measure.value is None else Refusal.TRAINING_ROWS())


def predict_source(model: Model, source: TableSource) -> Predictions:
    """Return a model's predictions for all rows of an opened table, without intervals."""
    return join_predictions([model.predict(block, intervals=False) for block in source.blocks()])


def is_sampled(predictions: Predictions) -> bool:
    """Return whether there are so many predictions that a sample of them is evaluated."""
    return len(predictions) - predictions.left_out > MOST_EVALUATED
