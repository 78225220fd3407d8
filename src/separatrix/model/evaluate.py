"""Evaluation of a model of any kind: an estimator on X and y, a formula on its data, a table's model on a table.

`evaluated_fit` joins a model to the rows that it was fitted on, as a report needs them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from separatrix.errors import OptionError
from separatrix.families.base import order_classes
from separatrix.inference.evaluation import evaluate_classifier, evaluate_regressor
from separatrix.model.adopt import arrays_of, is_formula, open_for, rows_of, table_model
from separatrix.model.record import LEVEL, Model
from separatrix.model.train import Evaluation, TrainedModel, evaluate_predictions, predict_source
from separatrix.tables.table import TableSource


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
        rows, targets = arrays_of(model, X, y)
        return _evaluate_estimator(model.model if is_formula(model) else model, rows, targets, weights, level)
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


def evaluated_fit(model: Model, source: TableSource) -> TrainedModel:
    """Return a model with its fit and its evaluation on the rows that it was fitted on."""
    if model.fitted is None:
        raise OptionError(
            "a model that was read from a file has no record of its fit; report the model that sx.train returned, or"
            " use separatrix fit --report"
        )
    known, target, _ = rows_of(model, source, model.encoding.missing)
    if target.classes is not None:
        positive = model.classes[1] if model.classes is not None and len(model.classes) == 2 else None
        target = replace(target, classes=order_classes(target.classes, positive))
    predictions = predict_source(model, known)
    decisions = (target.reason, *model.fitted.sentences, *model.encoding.decisions())
    own = evaluate_predictions(predictions, target)
    return TrainedModel(model, model.fitted, target, decisions, own, None, "", predictions)
