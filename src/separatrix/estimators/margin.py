"""Separating classifiers (linear programming, widest, soft margin, fewest mistakes) as scikit-learn estimators.

HalfspaceLP and MaxMarginClassifier need separable classes: otherwise the fit raises an error with the proof.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.estimators.base import LinearClassifier, UnweightedFit, WeightedFit
from separatrix.families.options import HalfspaceOptions, MaxMarginOptions, SVMOptions, ZeroOneOptions
from separatrix.fit.result import FitResult


def widest_margins(result: FitResult) -> Any:
    """Return the margin of a fit, or one per fit of several classes, (K,); NaN for a soft margin."""
    margins = np.array([part.facts.get("margin", np.nan) for part in result.parts or (result,)])
    return float(margins[0]) if len(margins) == 1 else margins


class HalfspaceLP(HalfspaceOptions, UnweightedFit, LinearClassifier):
    """A separating halfspace, found by linear programming (HiGHS) and verified in exact arithmetic.

    Solves ``y (w·x + b) ≥ 1`` for all rows, whatever the units of the columns. If the classes are not separable, an
    OverlapError with the proof is raised. With more than two classes, each must be separable from the rest.

    {parameters}

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    result_, certificate_, trace_ : status; the margin and an upper bound on all margins, re-checkable; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> X = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]]
    >>> y = [1, 1, -1, -1, -1]
    >>> model = sx.HalfspaceLP(fit_intercept=False).fit(X, y)
    >>> bool((y * model.decision_function(X) >= 1).all()), bool(model.certificate_.verify(X, y))
    (True, True)

    Reference: Shalev-Shwartz and Ben-David, Understanding machine learning (2014), 9.1.1; Mangasarian (1965).
    """


class MaxMarginClassifier(MaxMarginOptions, UnweightedFit, LinearClassifier):
    """The halfspace of widest margin: the hard-margin support vector machine.

    Minimises ``‖w‖`` subject to ``y (w·x + b) ≥ 1`` for every row; the intercept is not part of ``‖w‖``, and the margin
    ``γ = 1/‖w‖`` is certified from both sides. If the classes are not separable, an OverlapError with the proof is
    raised at once. With more than two classes, each must be separable from the rest.

    {parameters}

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    margin_, B_ : γ, the distance of the nearest row, and B = ‖w‖ = 1/γ, NaN for a soft margin; (K,) for several classes
    support_, support_vectors_ : indices and features of the rows on the margins
    result_, certificate_, trace_ : status and gap; both bounds on the margin, re-checkable; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> X = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]]
    >>> model = sx.MaxMarginClassifier(fit_intercept=False).fit(X, [1, 1, -1, -1, -1])
    >>> model.coef_, model.margin_, model.B_, model.support_.tolist()
    (array([[1., 0.]]), 1.0, 1.0, [0, 1])

    Reference: Vapnik, Estimation of dependences based on empirical data (1982); Wolfe, Finding the nearest point in a
    polytope (1976).
    """

    support_: Ints
    support_vectors_: Floats

    @property
    def margin_(self) -> Any:
        return widest_margins(self.fitted_.result)

    @property
    def B_(self) -> Any:  # noqa: N802  # the notes' name
        return 1.0 / self.margin_


class ZeroOneClassifier(ZeroOneOptions, UnweightedFit, LinearClassifier):
    """The halfspace with the fewest training mistakes: the minimum of the 0-1 loss, with a proof.

    Minimises ``#{i : yᵢ (w·xᵢ + b) ≤ 0}``: a score of exactly 0 counts as a mistake. This is NP-hard: for small or
    nearly separable data the minimum is reached and proved, otherwise the search ends with a lower and an upper bound.
    With more than two classes, each is fitted against the rest.

    {parameters}

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    result_, certificate_, trace_ : status and bounds; the mistakes and the proof of the bound; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = sx.load_demo("five-points-overlap")
    >>> model = sx.ZeroOneClassifier().fit(X, y)
    >>> print(model.certificate_.claim)
    1 mistake on 5 rows, and no halfspace makes fewer, where a score of 0 is a mistake

    Reference: Amaldi, Pfetsch and Trotter, On the maximum feasible subsystem problem, IISs and IIS-hypergraphs (2003).
    """

    _counts_steps = True


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
