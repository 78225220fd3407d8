"""What all regressors share: scikit-learn's border on one side, a design and numbers on the other."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from separatrix.arrays import Floats
from separatrix.design.base import Design
from separatrix.estimators.base import LinearModel
from separatrix.estimators.border import checked_rows, checked_rows_and_targets
from separatrix.fit.labels import real_targets
from separatrix.fit.result import FitResult


class LinearRegressor(RegressorMixin, LinearModel):  # type: ignore[misc]  # scikit-learn is untyped
    """A regressor by a linear score."""

    coef_: Floats
    intercept_: float

    def predict(self, X: Any) -> Floats:
        """Return the score w·x + b of each row, (n,)."""
        design = self._new_design(X)
        weights = np.concatenate([[self.intercept_], self.coef_]) if design.virtual else self.coef_
        return design.matvec(weights)

    def _new_design(self, X: Any) -> Design:
        check_is_fitted(self)
        return self._as_design(checked_rows(self, X))

    def _design_and_targets(self, X: Any, y: Any) -> tuple[Design, Floats]:
        X, y = checked_rows_and_targets(self, X, y, numeric=True)
        return self._as_design(X), real_targets(y)

    def _keep(self, result: FitResult) -> Self:
        """Take over a result, and warn if the fit was stopped before it was done."""
        self.result_ = result
        self.coef_ = result.coef
        self.intercept_ = float(result.intercept)
        self._warn(result)
        return self
