"""Logistic regression as a scikit-learn classifier: two classes, softmax, or each class against the rest."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from separatrix.design import Design
from separatrix.errors import (
    OptionError,
    SeparationError,
    SeparationWarning,
    require_choice,
    require_count,
    require_number,
)
from separatrix.estimators.base import LinearClassifier
from separatrix.estimators.probability import log_probabilities, probabilities
from separatrix.fit import (
    SOLVERS,
    Classes,
    ConvexOptions,
    Existence,
    FitResult,
    LogisticFit,
    LogisticOptions,
    binary_targets,
    find_classes,
    fit_logistic,
    join_results,
)
from separatrix.numerics import softplus

__all__ = ["LogisticRegression"]

Floats = NDArray[np.float64]


class LogisticRegression(LinearClassifier):
    """Logistic regression: P(second class) = σ(w·x + b), or a softmax of one score a class.

    Minimises the mean loss plus ``strength · ((1 − l1_ratio)/2 ‖w‖² + l1_ratio ‖w‖₁)``; the intercept is never
    penalised. At strength 0, the default, it is the maximum likelihood estimate, in any units of the columns. Whether
    that exists is judged from the data: `existence_` says 'overlap' (it does), 'separable' (it does not) or
    'undecided', and a SeparationWarning is given unless it was shown to exist.

    Parameters
    ----------
    strength : of the penalty; 0 for none. scikit-learn's C is 1 / (n · strength)
    l1_ratio : 0 for L2, 1 for L1, between for elastic net
    multiclass : "softmax" or "one_vs_rest", for more than two classes
    reference : a class whose softmax scores are 0, so that the others' weights are log-odds against it; None for
        weights that sum to 0 over the classes
    solver : "auto", or the name of one, as "newton"
    on_separation : "warn", "raise" or "ignore" where strength is 0 and no maximum is shown to exist
    class_weight : None, "balanced", or a weight for each class; multiplies the rows' weights
    threshold : of the probability at which the second of two classes is predicted
    fit_intercept : whether scores have a constant
    tol : the relative duality gap to reach; max_passes : over the rows, at most
    warm_start : start at the last fit's coefficients, if their shape is the same

    Attributes
    ----------
    coef_, intercept_, classes_ : (1, p) for two classes or (K, p)
    existence_ : the verdict at strength 0, one a fit; None with a penalty
    result_, certificate_, trace_ : status and gap; the certificate of optimality; the way there

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LogisticRegression().fit([[0], [1], [2], [3]], [0, 1, 0, 1])
    >>> model.coef_.round(4), model.intercept_.round(4)
    (array([[0.9082]]), array([-1.3623]))
    >>> model.existence_[0].verdict
    'overlap'

    Reference: Cox, The regression analysis of binary sequences (1958); Albert and Anderson (1984) on existence.
    """

    def __init__(  # noqa: PLR0913  # scikit-learn wants every option here
        self,
        *,
        strength: float = 0.0,
        l1_ratio: float = 0.0,
        multiclass: Literal["softmax", "one_vs_rest"] = "softmax",
        reference: Any = None,
        solver: str = "auto",
        on_separation: Literal["warn", "raise", "ignore"] = "warn",
        class_weight: Any = None,
        threshold: float = 0.5,
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_passes: int = 1000,
        warm_start: bool = False,
    ) -> None:
        self.strength = strength
        self.l1_ratio = l1_ratio
        self.multiclass = multiclass
        self.reference = reference
        self.solver = solver
        self.on_separation = on_separation
        self.class_weight = class_weight
        self.threshold = threshold
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_passes = max_passes
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit from X (n, p) dense or sparse and y (n,) labels; rows of weight 0 do not count at all."""
        last = self._start() if self.warm_start and hasattr(self, "coef_") else None
        design, labels = self._design_and_labels(X, y)
        design, labels, weights = _with_weight(design, labels, self._weights(sample_weight, X))
        weights, self._class_weights = self._all_weights(labels, weights)
        design, labels, weights = _with_weight(design, labels, weights)
        classes = self._classes(labels)
        start = last if last is not None and last.shape == self._shape(design) else None
        fits = self._fits(design, classes, self._options(weights), start)
        self.existence_ = [fit.existence for fit in fits if fit.existence is not None] or None
        self._judge(self.existence_ or [])
        result = join_results([fit.result for fit in fits], self.classes_.tolist())
        self.n_iter_ = max(1, round(result.passes))
        return self._keep(self._refer(result))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of each class's probability, (n, K), finite wherever the scores are."""
        return log_probabilities(self._log_odds(X))

    def predict_proba(self, X: Any) -> Floats:
        """Return each class's probability, (n, K); each against the rest, they are made to sum to 1."""
        return probabilities(self._log_odds(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: of two, the second if its probability reaches the threshold."""
        check_is_fitted(self)
        threshold = require_number("threshold", self.threshold, above=0.0, most=1.0)
        if threshold == 0.5 or len(self.classes_) > 2:
            return super().predict(X)
        return np.asarray(self.classes_[(self.predict_proba(X)[:, 1] >= threshold).astype(np.intp)])

    def _log_odds(self, X: Any) -> Floats:
        """Return scores whose sigmoid or softmax is the probability: each against the rest, log-probabilities."""
        scores = self.decision_function(X)
        return scores if scores.ndim == 1 or self.multiclass == "softmax" else -np.asarray(softplus(-scores))

    def _options(self, weights: Floats | None) -> LogisticOptions:
        require_choice("multiclass", self.multiclass, ("softmax", "one_vs_rest"))
        require_choice("on_separation", self.on_separation, ("warn", "raise", "ignore"))
        tol = require_number("tol", self.tol, above=0.0)
        passes = require_count("max_passes", self.max_passes)
        name = require_choice("solver", self.solver, ("auto", *SOLVERS))
        solver = None if name == "auto" else SOLVERS[name]
        return LogisticOptions(self.strength, self.l1_ratio, ConvexOptions(tol, passes, solver), weights)

    def _fits(
        self, design: Design, classes: Classes, options: LogisticOptions, start: Floats | None
    ) -> list[LogisticFit]:
        if len(classes.values) > 2 and self.multiclass == "softmax":
            weights = self._by_label(classes.plain)
            return [
                fit_logistic(
                    design, classes.codes, options, labels=tuple(classes.plain), start=start, class_weights=weights
                )
            ]
        return [
            fit_logistic(
                design,
                target.signs,
                options,
                labels=target.labels,
                start=None if start is None else start[:, k],
                class_weights=None if target.labels[0] is None else self._by_label(target.labels),
            )
            for k, target in enumerate(binary_targets(classes))
        ]

    def _by_label(self, labels: Sequence[Any]) -> tuple[float, ...] | None:
        """Return the classes' weights in the order of some labels."""
        return None if self._class_weights is None else tuple(self._class_weights[label] for label in labels)

    def _all_weights(
        self, labels: NDArray[Any], weights: Floats | None
    ) -> tuple[Floats | None, dict[Any, float] | None]:
        """Return the rows' weights times their classes', and the classes' by label; None where there are none."""
        if self.class_weight is None:
            return weights, None
        found = find_classes(labels)
        each = compute_class_weight(self.class_weight, classes=found.values, y=labels, sample_weight=weights)
        if not (np.isfinite(each).all() and (each >= 0.0).all()):
            raise OptionError(
                f"class_weight={self.class_weight!r} has numbers below 0 or not finite; give weights of at least 0"
            )
        rows = each[found.codes] if weights is None else each[found.codes] * weights
        return np.asarray(rows), dict(zip(found.plain, each.tolist(), strict=True))

    def _shape(self, design: Design) -> tuple[int, int]:
        """Return the shape of the coefficients as columns, one a score."""
        return design.shape[1], 1 if len(self.classes_) == 2 else len(self.classes_)

    def _start(self) -> Floats:
        """Return the last fit's coefficients as columns, one a score; a fit of another shape starts anew."""
        return np.vstack([self.intercept_, self.coef_.T]) if self.fit_intercept else self.coef_.T

    def _refer(self, result: FitResult) -> FitResult:
        """Return softmax coefficients with the reference's taken off, or centred over the classes."""
        if result.coef.ndim == 1 or self.multiclass != "softmax":
            return result
        if self.reference is None:
            return replace(
                result,
                coef=result.coef - result.coef.mean(axis=0),
                intercept=result.intercept - result.intercept.mean(),
            )
        places = np.flatnonzero(self.classes_ == self.reference)
        if not len(places):
            raise OptionError(f"reference={self.reference!r} is not among classes {self.classes_.tolist()}")
        place = int(places[0])
        return replace(
            result, coef=result.coef - result.coef[place], intercept=result.intercept - result.intercept[place]
        )

    def _judge(self, verdicts: list[Existence]) -> None:
        doubts = [verdict for verdict in verdicts if verdict.verdict != "overlap" and verdict.decided]
        if not doubts or self.on_separation == "ignore":
            return
        message = (
            f"no maximum of the likelihood was shown to exist: {doubts[0].reason};"
            " the coefficients say where the fit stopped, not what they converge to. Use strength > 0"
        )
        if self.on_separation == "raise":
            raise SeparationError(message)
        warnings.warn(message, SeparationWarning, stacklevel=3)


def _with_weight(
    design: Design, labels: NDArray[Any], weights: Floats | None
) -> tuple[Design, NDArray[Any], Floats | None]:
    """Return the rows that have a weight above 0."""
    if weights is None or weights.all():
        return design, labels, weights
    kept = weights > 0.0
    return design.select(kept), labels[kept], weights[kept]
