"""What all classifiers share: scikit-learn's border on one side, a design and signs on the other."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, check_random_state

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate
from separatrix.design.base import Design
from separatrix.design.build import make_design
from separatrix.design.row_source import rows_of
from separatrix.errors import ConvergenceWarning, DataError
from separatrix.estimators.border import checked_rows, checked_rows_and_targets, vector_of
from separatrix.fit.labels import Classes, find_classes
from separatrix.fit.result import FitResult, Trace
from separatrix.loops.online import Tie
from separatrix.perceptron_rule import predicted_signs
from separatrix.theory.halfspace import Halfspace


class LinearModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A fitted linear score; `result_`, `certificate_` and `trace_` tell how it came to be."""

    fit_intercept: bool
    result_: FitResult
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def certificate_(self) -> Certificate:
        """The evidence for the fit, which `verify(X, y)` re-checks from the data."""
        check_is_fitted(self)
        return self.result_.certificate

    @property
    def trace_(self) -> Trace:
        """The way of the fit, in columns."""
        check_is_fitted(self)
        return self.result_.trace

    def _as_design(self, X: Any) -> Design:
        names = getattr(self, "feature_names_in_", None)
        return make_design(X, intercept=bool(self.fit_intercept), names=None if names is None else list(names))

    def _weights(self, sample_weight: Any, X: Any) -> Floats | None:
        """Return the rows' weights, checked; None where none are given."""
        if sample_weight is None:
            return None
        weights = np.asarray(
            _check_sample_weight(vector_of(sample_weight), rows_of(X) or X, dtype=np.float64, ensure_non_negative=True)
        )
        if getattr(self, "weight_kind", "precision") == "frequency" and (weights % 1.0).any():
            row = int(np.flatnonzero(weights % 1.0)[0])
            raise DataError(
                f"sample_weight has {weights[row]:g} in row {row}, which is no number of repetitions; give whole"
                ' numbers, or weight_kind="precision"'
            )
        return weights

    def _warn(self, result: FitResult, frames: int = 0) -> None:
        """Warn of a fit that was stopped before it was done, `frames` further out than the caller of `fit`'s helper."""
        if not result.status.reached_goal:
            warnings.warn(result.message, ConvergenceWarning, stacklevel=4 + frames)


class ScoreClassifier(ClassifierMixin, LinearModel):  # type: ignore[misc]  # scikit-learn is untyped
    """A classifier by scores: the sign of one, or the highest of one a class."""

    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> Floats:
        """Return the scores: (n,) for two classes, positive for the second; (n, K) for more."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            codes = (predicted_signs(scores, self._tie_side()) > 0.0).astype(np.intp)
        else:
            codes = scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def _tie_side(self) -> Tie:
        """Return which class a score of exactly 0 predicts."""
        return "positive"


class LinearClassifier(ScoreClassifier):
    """A classifier by linear scores."""

    coef_: Floats
    intercept_: Floats

    @property
    def halfspace_(self) -> Halfspace:
        """The fitted halfspace of a two-class fit, for distances and the like."""
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise AttributeError(f"{len(self.classes_)} classes have a halfspace each: see result_.parts")
        return Halfspace(self.coef_[0], float(self.intercept_[0]), self._tie_side())

    def decision_function(self, X: Any) -> Floats:
        """Return the scores: (n,) for two classes, positive for the second; (n, K) for more."""
        design = self._design(X, reset=False)
        scores = np.asarray(self._scores(design))
        return scores.ravel() if len(self.classes_) == 2 else scores

    def _scores(self, design: Design) -> Floats:
        """Return the scores of a design's rows, (n, 1) for two classes, (n, K) for more."""
        weights = self.coef_.T
        if design.virtual:
            weights = np.vstack([self.intercept_, weights])
        return design.matvec(weights)

    def _design(self, X: Any, *, reset: bool) -> Design:
        if not reset:
            check_is_fitted(self)
        return self._as_design(checked_rows(self, X, reset=reset, finite=not reset))

    def _design_and_labels(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Design, NDArray[Any]]:
        rows, y = checked_rows_and_targets(self, X, y, reset=reset)
        check_classification_targets(y)
        return self._as_design(rows), y

    def _classes(self, y: NDArray[Any]) -> Classes:
        classes = find_classes(y)
        self.classes_ = classes.values
        return classes

    def _keep(self, result: FitResult, frames: int = 0) -> Self:
        """Take over a result, and warn if the fit was stopped before it was done."""
        self.result_ = result
        self.coef_ = np.atleast_2d(result.coef)
        self.intercept_ = np.atleast_1d(result.intercept)
        self._warn(result, frames)
        return self


def seed_of(random_state: Any) -> int | None:
    """Return scikit-learn's `random_state` as a seed: None, the integer itself, or one drawn from a generator."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return random_state if random_state is None else int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
