"""Several classes by any binary classifier: one fit per class against the rest; the highest score wins."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from separatrix.arrays import Floats
from separatrix.design.build import as_row_source
from separatrix.errors import OptionError
from separatrix.estimators.base import FitAttributes, LinearModel, checked_rows, checked_rows_and_targets
from separatrix.families.base import Fitted, join_fitted
from separatrix.fit.labels import find_classes
from separatrix.model.predictions import DecisionRule, linear_scores

LINEAR = ("coef_", "intercept_")  # of linear classifiers, joined to be scored in one product


class OneVsRest(FitAttributes, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """One-vs-rest classification by any binary classifier of this library.

    Parameters
    ----------
    estimator : a classifier, cloned for each class and fitted to the labels False (the rest) and True (the class)

    Attributes
    ----------
    classes_ : the classes
    estimators_ : the fitted classifiers, one per class, or a single one for two classes
    fitted_ : the fits as one, with a score per class
    result_, certificate_, trace_ : the joined result; one certificate per class; the convergence of the worst fit

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit one clone per class to X (n, p), dense or sparse, and labels y (n,) of two or more classes.

        Weights (n,) are passed on to classifiers that take them, and refused for others.
        """
        for name in ("positive", "reference_class"):
            label = getattr(self.estimator, name, None)
            if label is not None:
                raise OptionError(f"{name}={label!r} is no option of one-vs-rest, where each class is positive in turn")
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if weights and not has_fit_parameter(self.estimator, "sample_weight"):
            raise OptionError(f"{type(self.estimator).__name__} takes no sample_weight; leave it out")
        source = as_row_source(X)
        rows = X if source is None else source
        _, y = checked_rows_and_targets(self, rows, y)
        check_classification_targets(y)
        classes = find_classes(y)
        codes = (1,) if len(classes.values) == 2 else range(len(classes.values))
        self.classes_ = classes.values
        self.estimators_ = [clone(self.estimator).fit(rows, classes.codes == code, **weights) for code in codes]
        return self

    @property
    def fitted_(self) -> Fitted:
        """The fits as one, with a score per class, or one score for two classes."""
        check_is_fitted(self)
        return join_fitted([each.fitted_ for each in self.estimators_], self.classes_)

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the classifiers: (n,) for two classes, (n, K) for more."""
        check_is_fitted(self)
        if len(self.estimators_) == 1:
            return np.asarray(self.estimators_[0].decision_function(X))
        first = self.estimators_[0]
        if not hasattr(first, "coef_") or getattr(first, "keep", None) == "vote":
            return np.column_stack([each.decision_function(X) for each in self.estimators_])
        coef, intercept = (np.concatenate([getattr(each, name) for each in self.estimators_]) for name in LINEAR)
        return linear_scores(checked_rows(self, X), coef, intercept)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: of two by the classifier itself, of more by the highest score."""
        check_is_fitted(self)
        if len(self.estimators_) == 1:
            return np.asarray(self.classes_[self.estimators_[0].predict(X).astype(np.intp)])
        return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, (n, K): those of the classifiers, normalised to sum to 1."""
        scores, fitted = self.decision_function(X), self.fitted_
        rule = DecisionRule(fitted.link, fitted.tie)
        return np.asarray(rule.probabilities(scores.reshape(len(scores), -1)))
