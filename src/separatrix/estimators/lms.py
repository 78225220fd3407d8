"""Least mean squares as a scikit-learn classifier and regressor."""

from __future__ import annotations

from separatrix.estimators.base import LinearClassifier, LinearRegressor, WeightedFit
from separatrix.families.options import LMSClassifierOptions, LMSOptions


class LMSClassifier(LMSClassifierOptions, WeightedFit, LinearClassifier):
    """Least mean squares (Widrow-Hoff) on targets ±1; the sign of the score is the class.

    Minimises ``½ mean (w·x + b − t)²``, t = ±1, by ``w ← w − rate · mean (w·x − t) x`` (batch) or one row at a time. It
    converges to least squares whether or not the classes overlap, but least squares may misclassify rows of separable
    classes: a row far on its own side costs as much as one far on the wrong side. With more than two classes, each is
    fitted against the rest.

    {parameters}

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    n_iter_ : passes over the rows
    result_, certificate_, trace_ : status and message; the distance from least squares; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LMSClassifier().fit([[0], [1], [2], [3]], ["no", "no", "yes", "yes"])
    >>> model.coef_.round(3), model.intercept_.round(3), str(model.result_.status)
    (array([[0.8]]), array([-1.2]), 'converged')

    Reference: Widrow and Hoff, Adaptive switching circuits (1960).
    """


class LMSRegressor(LMSOptions, WeightedFit, LinearRegressor):
    """Least mean squares (Widrow-Hoff): gradient descent to the least squares line.

    Minimises ``½ mean (w·x + b − y)²`` by ``w ← w − rate · mean (w·x − y) x`` (batch) or one row at a time.

    {parameters}

    Attributes
    ----------
    coef_, intercept_ : (p,) and a number
    n_iter_ : passes over the rows
    result_, certificate_, trace_ : status and message; the distance from least squares; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LMSRegressor().fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
    >>> model.coef_.round(3), round(model.intercept_, 3)
    (array([1.162]), 1.108)

    Reference: Widrow and Hoff, Adaptive switching circuits (1960).
    """
