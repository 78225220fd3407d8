"""The evaluation of a fitted model on rows: asks it for what it can tell, and judges that."""

from __future__ import annotations

from typing import Any

from separatrix.errors import OptionError
from separatrix.inference.evaluation.classifier import ClassifierEvaluation, evaluate_classifier
from separatrix.inference.evaluation.regressor import RegressorEvaluation, evaluate_regressor


def evaluate(
    model: Any, X: Any, y: Any, weights: Any = None, *, level: float = 0.95
) -> ClassifierEvaluation | RegressorEvaluation:
    """Return how well a fitted model predicts rows, with intervals; give rows that it was not fitted on.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = sx.load_demo("breast-cancer")
    >>> found = sx.evaluate(sx.GaussianGenerativeClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> found.rows, round(found.auc.value, 3)
    (284, 0.986)
    """
    if not hasattr(model, "predict"):
        raise OptionError(f"{model!r} predicts nothing; give a fitted model")
    predicted = model.predict(X)
    if not hasattr(model, "classes_"):
        return evaluate_regressor(y, predicted, weights, level=level)
    told = {"predicted": predicted, "level": level}
    if hasattr(model, "predict_proba"):
        return evaluate_classifier(y, model.predict_proba(X), model.classes_, weights, **told)
    return evaluate_classifier(y, None, model.classes_, weights, scores=model.decision_function(X), **told)
