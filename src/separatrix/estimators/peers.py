"""Other libraries' fitted models in the words of the one objective: loss, strength, coefficients, and what differs.

    C           strength = 1/(Σ sᵢ C), sᵢ the class weights
    alpha       strength = alpha/n for Ridge, alpha for Lasso, ElasticNet, SGDClassifier and Perceptron

A model is known by the name of its class, so that no library but scikit-learn is ever imported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, OptionError, did_you_mean
from separatrix.estimators.weights import apply_class_weight
from separatrix.losses.base import Loss
from separatrix.losses.margin import Hinge, Logistic, Perceptron, SquaredHinge
from separatrix.losses.softmax import Softmax
from separatrix.losses.squared import Squared


@dataclass(frozen=True)
class PeerModel:
    """A fitted model: coefficients as columns, (p + 1, K) with the intercept's first where it has one.

    `per_class` says that each column is a fit of its class against the rest.
    """

    name: str
    loss: Loss
    strength: float
    l1_ratio: float
    coef: Floats
    fit_intercept: bool
    classes: NDArray[Any] | None
    weights: Floats | None
    penalises_intercept: bool
    per_class: bool

    @property
    def penalised(self) -> bool:
        """Whether it has a penalty."""
        return self.strength > 0.0


def read_peer(model: Any, y: NDArray[Any], sample_weight: Any = None) -> PeerModel:
    """Return a fitted model of scikit-learn, or results of statsmodels, in our words."""
    name = type(model).__name__
    name = name if name in READERS else type(getattr(model, "model", None)).__name__
    if type(model).__module__.startswith("separatrix."):
        raise OptionError(f"{type(model).__name__} of separatrix brings its evidence along: see its certificate_")
    if name not in READERS:
        asked = type(model).__name__
        raise OptionError(
            f"{asked} is not known to audit{did_you_mean(asked, READERS)}; known are {', '.join(READERS)}"
        )
    return READERS[name](model, y, sample_weight)


def _scikit_learn(
    model: Any, y: NDArray[Any], sample_weight: Any, loss: Loss, strength: float, **more: Any
) -> PeerModel:
    if not hasattr(model, "coef_"):
        raise DataError(f"{type(model).__name__} is not fitted yet; fit it before the audit")
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64)).T
    intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), coef.shape[1:])
    fit_intercept = bool(model.fit_intercept)
    options = {"l1_ratio": 0.0, "penalises_intercept": False, **more}
    return PeerModel(
        name=f"scikit-learn's {type(model).__name__}",
        loss=loss,
        strength=strength,
        coef=np.vstack([intercept, coef]) if fit_intercept else coef,
        fit_intercept=fit_intercept,
        classes=getattr(model, "classes_", None),
        weights=_weights(model, y, sample_weight),
        per_class=coef.shape[1] > 1 and loss.target != "classes",
        **options,
    )


def _weights(model: Any, y: NDArray[Any], sample_weight: Any) -> Floats | None:
    """Return the rows' weights times their classes', None where all are 1."""
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return apply_class_weight(getattr(model, "class_weight", None), y, weights)[0]


def _strength_of_c(model: Any, y: NDArray[Any], sample_weight: Any) -> float:
    weights = _weights(model, y, sample_weight)
    total = float(len(y) if weights is None else weights.sum())
    return 0.0 if math.isinf(model.C) else 1.0 / (total * float(model.C))


def _logistic(model: Any, y: NDArray[Any], sample_weight: Any) -> PeerModel:
    several = len(getattr(model, "classes_", ())) > 2
    liblinear = model.solver == "liblinear"
    penalty = getattr(model, "penalty", "deprecated")
    mixed = float(getattr(model, "l1_ratio", None) or 0.0)
    ratios = {"l1": 1.0, "l2": 0.0, "elasticnet": mixed, "deprecated": mixed}
    strength = 0.0 if penalty is None else _strength_of_c(model, y, sample_weight)
    loss = Softmax() if several and not liblinear else Logistic()
    held = liblinear and bool(model.fit_intercept) and strength > 0.0
    ratio = ratios.get(penalty, 0.0)
    return _scikit_learn(model, y, sample_weight, loss, strength, l1_ratio=ratio, penalises_intercept=held)


def _linear_svc(model: Any, y: NDArray[Any], sample_weight: Any) -> PeerModel:
    loss: Loss = Hinge() if model.loss == "hinge" else SquaredHinge()
    ratio, held = float(model.penalty == "l1"), bool(model.fit_intercept)
    strength = _strength_of_c(model, y, sample_weight)
    return _scikit_learn(model, y, sample_weight, loss, strength, l1_ratio=ratio, penalises_intercept=held)


def _sgd(model: Any, y: NDArray[Any], sample_weight: Any) -> PeerModel:
    losses: dict[str, Loss] = {"hinge": Hinge(), "squared_hinge": SquaredHinge(), "log_loss": Logistic()}
    losses["perceptron"] = Perceptron()
    if model.loss not in losses:
        raise OptionError(f"the loss {model.loss!r} is not one of separatrix; known are {', '.join(losses)}")
    ratio = {"l1": 1.0, "elasticnet": float(model.l1_ratio or 0.0)}.get(model.penalty, 0.0)
    strength = float(model.alpha) if model.penalty else 0.0
    return _scikit_learn(model, y, sample_weight, losses[model.loss], strength, l1_ratio=ratio)


def _least_squares(strength: Callable[[Any, float], float]) -> Callable[[Any, NDArray[Any], Any], PeerModel]:
    def read(model: Any, y: NDArray[Any], sample_weight: Any) -> PeerModel:
        total = float(len(y) if sample_weight is None else np.sum(sample_weight))
        ratio = {"Lasso": 1.0, "ElasticNet": float(getattr(model, "l1_ratio", 0.0) or 0.0)}
        l1_ratio = ratio.get(type(model).__name__, 0.0)
        return _scikit_learn(model, y, sample_weight, Squared(), strength(model, total), l1_ratio=l1_ratio)

    return read


def _statsmodels(results: Any, y: NDArray[Any], sample_weight: Any) -> PeerModel:
    """Read results whose columns are all in X, the constant's too: nothing is penalised, nothing is added."""
    kind = type(results.model).__name__
    family = type(getattr(results.model, "family", None)).__name__
    if kind == "GLM" and family not in {"Binomial", "Gaussian"}:
        raise OptionError(f"a GLM of family {family} is not one of separatrix; Binomial and Gaussian are")
    params = np.asarray(results.params, dtype=np.float64).reshape(np.shape(results.params)[0], -1)
    loss: Loss = Squared() if kind in {"OLS", "WLS"} or family == "Gaussian" else Logistic()
    if kind == "MNLogit":
        loss, params = Softmax(), np.column_stack([np.zeros(len(params)), params])
    return PeerModel(
        name=f"statsmodels' {kind}",
        loss=loss,
        strength=0.0,
        l1_ratio=0.0,
        coef=params,
        fit_intercept=False,
        classes=None if loss.target == "numbers" else np.unique(y),
        weights=None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64),
        penalises_intercept=False,
        per_class=False,
    )


READERS: Mapping[str, Callable[[Any, NDArray[Any], Any], PeerModel]] = {
    "LogisticRegression": _logistic,
    "LinearSVC": _linear_svc,
    "SGDClassifier": _sgd,
    "Perceptron": _sgd,
    "LinearRegression": _least_squares(lambda model, total: 0.0),  # noqa: ARG005  # no penalty, whatever the rows
    "Ridge": _least_squares(lambda model, total: float(model.alpha) / total),
    "Lasso": _least_squares(lambda model, total: float(model.alpha)),  # noqa: ARG005
    "ElasticNet": _least_squares(lambda model, total: float(model.alpha)),  # noqa: ARG005
    "Logit": _statsmodels,
    "MNLogit": _statsmodels,
    "GLM": _statsmodels,
    "OLS": _statsmodels,
    "WLS": _statsmodels,
}
