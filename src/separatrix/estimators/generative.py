"""The Gaussian generative model as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.estimators.base import LinearClassifier, drop_weightless
from separatrix.families.generative import fit_generative
from separatrix.model.decision_rule import log_probabilities, probabilities


class GaussianGenerativeClassifier(LinearClassifier):
    """Gaussian naive Bayes with variances shared by the classes: logistic weights in closed form.

    Bayes' rule turns ``P(xⱼ | k) = N(μₖⱼ, σⱼ²)`` and the priors πₖ into P(second class) = σ(w·x + b) with
    ``w = (μ₁ − μ₀)/σ²`` and ``b = ln(π₁/π₀) + Σ (μ₀² − μ₁²)/(2σ²)``; for more than two classes, into a softmax with one
    score per class. If the classes are such Gaussians, it needs fewer rows than logistic regression for the same
    accuracy; otherwise it is biased.

    Parameters
    ----------
    priors : the probability of each class, in the order of `classes_`; None for their shares of the rows

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients (1, p) for two classes, or (K, p) with zero sum over the classes
    means_ : (K, p) means of the columns in each class
    variances_ : (p,) variances of the columns within the classes, with divisor n
    result_, certificate_, trace_ : the fit; the certificate that the weights satisfy the formula; its single step

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.GaussianGenerativeClassifier().fit([[0], [2], [4], [6]], [0, 0, 1, 1])
    >>> model.coef_, model.intercept_, model.predict_proba([[3]])
    (array([[4.]]), array([-12.]), array([[0.5, 0.5]]))

    Reference: Efron, The efficiency of logistic regression compared to normal discriminant analysis (1975).
    """

    fit_intercept = True

    def __init__(self, *, priors: Any = None) -> None:
        self.priors = priors

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit in one pass to X (n, p), dense or sparse, and labels y (n,) of two or more classes."""
        design, labels, weights, _ = drop_weightless(*self._design_and_labels(X, y), self._weights(sample_weight, X))
        result = fit_generative(design, self._classes(labels), self.priors, weights)
        self.means_ = np.asarray(result.provenance["means"])
        self.variances_ = np.asarray(result.provenance["variances"])
        return self._store(result)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, (n, K)."""
        return probabilities(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class, (n, K), finite wherever the scores are."""
        return log_probabilities(self.decision_function(X))
