"""Several classes by any binary classifier: one fit per class against the rest; the highest score wins."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from separatrix.arrays import Floats
from separatrix.certificates.base import OneVsRestCertificate
from separatrix.estimators.base import LinearModel, checked_rows, checked_rows_and_targets
from separatrix.families.base import binary_targets
from separatrix.fit.labels import find_classes


class OneVsRest(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """One-vs-rest classification by any binary classifier of this library.

    Parameters
    ----------
    estimator : a classifier, cloned for each class and fitted to the labels False (the rest) and True (the class)

    Attributes
    ----------
    classes_ : the classes
    estimators_ : the fitted classifiers, one per class, or a single one for two classes
    certificate_ : one certificate per class

    Examples
    --------
    >>> import separatrix as sx
    >>> X = [[0, 6], [1, 7], [6, -3], [7, -3], [-6, -3], [-7, -4]]
    >>> model = sx.OneVsRest(sx.LogisticRegression(strength=0.1)).fit(X, ["n", "n", "e", "e", "w", "w"])
    >>> model.predict([[0, 5], [5, 0], [-5, 0]]).tolist()
    ['n', 'e', 'w']

    Reference: Rifkin and Klautau, In defense of one-vs-all classification (2004).
    """

    def __init__(self, estimator: LinearModel) -> None:
        self.estimator = estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = get_tags(self.estimator).input_tags.pairwise
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Fit one clone per class to X (n, p), dense or sparse, and labels y (n,) of two or more classes."""
        X, y = checked_rows_and_targets(self, X, y)
        check_classification_targets(y)
        classes = find_classes(y)
        self.classes_ = classes.values
        targets = binary_targets(classes)
        self.estimators_ = [clone(self.estimator).fit(X, target.signs > 0.0) for target in targets]
        return self

    @property
    def certificate_(self) -> OneVsRestCertificate:
        """The certificates of the fits, by class."""
        check_is_fitted(self)
        parts = tuple(fitted.certificate_ for fitted in self.estimators_)
        return OneVsRestCertificate(tuple(self.classes_.tolist()[-len(parts) :]), parts, indicators=True)

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the classifiers: (n,) for two classes, (n, K) for more."""
        check_is_fitted(self)
        X = checked_rows(self, X)
        scores = np.column_stack([fitted.decision_function(X) for fitted in self.estimators_])
        return scores[:, 0] if len(self.estimators_) == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: of two by the classifier itself, of more by the highest score."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            X = checked_rows(self, X)
            return np.asarray(self.classes_[self.estimators_[0].predict(X).astype(np.intp)])
        return np.asarray(self.classes_[scores.argmax(axis=1)])
