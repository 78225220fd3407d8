"""The linear support vector machine as a scikit-learn classifier."""

from __future__ import annotations

from separatrix.arrays import Ints
from separatrix.estimators.base import LinearClassifier, WeightedFit
from separatrix.families.options import SVMOptions


class LinearSVM(SVMOptions, WeightedFit, LinearClassifier):
    """The linear support vector machine with a soft margin; with more than two classes, each against the rest.

    Minimises ``Σ loss(y (w·x + b)) / n + strength/2 ‖w‖²``; the intercept is not penalised. C of scikit-learn and
    liblinear is 1 / (n · strength). If several intercepts minimise the hinge loss, the middle one is used.

    {parameters}

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    strength_, cv_ : the strength used; for "cv" the held-out losses along the path, else None
    support_ : indices of the rows on or inside the margin, the support vectors
    result_, certificate_, trace_ : status and gap; the certificate of optimality; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LinearSVM(strength=0.01).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.predict([[1.9], [2.1]]).tolist(), model.result_.status.value
    ([0, 1], 'optimal')

    Reference: Cortes and Vapnik, Support-vector networks (1995).
    """

    support_: Ints
