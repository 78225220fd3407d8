"""Linear regression as a scikit-learn regressor (least squares, ridge, lasso, elastic net); least mean squares.

A fitted model refers to its rows, without a copy, so that robust covariances can read them again. Pickling or copying
the model drops them; classical inference remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.build import make_design
from separatrix.errors import DataError
from separatrix.estimators.base import LinearClassifier, LinearRegressor, WeightedFit, checked_rows
from separatrix.families.options import LinearOptions, LMSClassifierOptions, LMSOptions
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference.hypotheses import TestedModel, WaldTest
from separatrix.inference.prediction import IntervalKind, PredictionInterval
from separatrix.inference.table import InferenceTable
from separatrix.problem import Problem


class LinearRegression(LinearOptions, WeightedFit, LinearRegressor):
    """Linear regression y ≈ w·x + b: least squares, ridge, lasso and elastic net.

    Minimises ``Σ ½ (w·x + b − y)² / n + strength · ((1 − l1_ratio)/2 ‖w‖² + l1_ratio ‖w‖₁)``; the intercept is not
    penalised. Strength 0, the default, is least squares, at least as accurate as by a QR factorisation; if columns are
    collinear, the coefficients have the least norm. With a penalty, l1_ratio 0 is ridge regression and 1 the lasso.

    {parameters}

    Attributes
    ----------
    coef_, intercept_ : (p,) and a number
    strength_, cv_ : the strength used; for "cv" the held-out losses along the path, else None
    least_squares_ : for least squares the rank, the aliases of columns, the estimable coefficients and the condition
        number; None with a penalty or with another solver
    result_, certificate_, trace_ : status and gap; the certificate of optimality; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LinearRegression().fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
    >>> model.coef_.round(4), round(model.intercept_, 4)
    (array([1.1622]), 1.1081)

    Reference: Zou and Hastie, Regularization and variable selection via the elastic net (2005).
    """

    _counts_steps = True

    @property
    def least_squares_(self) -> LeastSquaresFit | None:
        return self.fitted_.details.get("least_squares")

    def summary(
        self, covariance: str = "classical", groups: Any = None, lag: int | None = None, level: float = 0.95
    ) -> InferenceTable:
        """Return the table of coefficients: standard errors, t, p-values and intervals, and measures of the fit.

        Numbers that are not valid are absent, with the reason and a remedy. The table prints as text and is shown as
        HTML in a notebook; see also its `to_dict` and `to_json`.

        Parameters
        ----------
        covariance : "classical"; "HC0" … "HC4" for errors of unequal variance; "clustered" (or "clustered_HC0",
            without the correction for few groups) for errors correlated within groups; "CR2" for either, with degrees
            of freedom for few rows or groups; "newey_west" for time series
        groups : (n,) group of each row, for "clustered" and, unless rows are independent, "CR2"
        lag : number of rows over which errors are correlated, for "newey_west"
        level : confidence level of the intervals

        Examples
        --------
        >>> import separatrix as sx
        >>> model = sx.LinearRegression().fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
        >>> term = model.summary().term("x1")
        >>> round(term.standard_error, 4), round(term.p_value, 4)
        (0.1351, 0.0033)
        """
        return self._inference().table(covariance, groups, level, lag)

    def wald_test(
        self, names: Sequence[str], covariance: str = "classical", groups: Any = None, lag: int | None = None
    ) -> WaldTest:
        """Test that the named coefficients are all 0, by χ² and F, with a covariance as in `summary`."""
        return self._inference().wald_test(names, covariance, groups, lag)

    def tested_model(self) -> TestedModel:
        """Return the facts that tests of nested models and the analysis of variance need."""
        return self._inference().tested_model()

    @overload
    def predict(self, X: Any, interval: None = None, level: float = 0.95, weights: Any = None) -> Floats: ...

    @overload
    def predict(
        self, X: Any, interval: IntervalKind, level: float = 0.95, weights: Any = None
    ) -> PredictionInterval: ...

    def predict(
        self, X: Any, interval: IntervalKind | None = None, level: float = 0.95, weights: Any = None
    ) -> Floats | PredictionInterval:
        """Return the prediction w·x + b for each row, (n,), or its interval.

        Parameters
        ----------
        interval : None, "confidence" (for the mean at x) or "prediction" (for a new observation at x); the latter two
            return `mean`, its `standard_error`, `lower` and `upper`
        level : confidence level of the interval
        weights : weights of new observations, whose variance is σ² / weight; 1 if None
        """
        if interval is None:
            return super().predict(X)
        inference = self._inference()
        design = make_design(checked_rows(self, X), intercept=self.fit_intercept)
        checked, n = None, design.shape[0]
        if weights is not None:
            numbers = np.asarray(weights, dtype=np.float64)
            if numbers.shape not in {(), (n,)} or not (numbers > 0.0).all():
                wanted = f"{n} numbers above 0, or one"
                raise DataError(f"weights of new observations must be {wanted}; got shape {numbers.shape}")
            checked = np.broadcast_to(numbers, n)
        intervals: PredictionInterval = inference.predictions(design, interval, level, weights=checked)
        return intervals

    @property
    def _problem(self) -> Problem | None:
        """The rows of the fit, which diagnostics read; None after pickling."""
        return getattr(self._inference(), "problem", None)


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
