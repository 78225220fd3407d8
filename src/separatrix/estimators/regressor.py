"""What all regressors share: scikit-learn's border on one side, a design and numbers on the other."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from separatrix.design import Design
from separatrix.errors import DataError
from separatrix.estimators.base import LinearModel
from separatrix.estimators.border import checked_rows, checked_rows_and_targets
from separatrix.fit import FitResult

__all__ = ["LinearRegressor"]

LARGEST = 1e150  # a target beyond this has a square that leaves the range of a float
SMALLEST = 1e-130  # targets all below this have squared residuals that do


class LinearRegressor(RegressorMixin, LinearModel):  # type: ignore[misc]  # scikit-learn is untyped
    """A regressor by a linear score."""

    coef_: NDArray[np.float64]
    intercept_: float

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the score w·x + b of each row, (n,)."""
        design = self._new_design(X)
        weights = np.concatenate([[self.intercept_], self.coef_]) if design.virtual else self.coef_
        return design.matvec(weights)

    def _new_design(self, X: Any) -> Design:
        check_is_fitted(self)
        return self._as_design(checked_rows(self, X))

    def _design_and_targets(self, X: Any, y: Any) -> tuple[Design, NDArray[np.float64]]:
        X, y = checked_rows_and_targets(self, X, y, numeric=True)
        targets = np.asarray(y, dtype=np.float64)
        usable = np.abs(targets) <= LARGEST
        if not usable.all():
            row = int(np.flatnonzero(~usable)[0])
            remedy = (
                "divide all by a number as large" if np.isfinite(targets[row]) else "drop the rows without a target"
            )
            raise DataError(
                f"y has {targets[row]:g} in row {row} (NaN, inf and squares that overflow are refused); {remedy}"
            )
        largest = float(np.abs(targets).max())
        if 0.0 < largest < SMALLEST:
            raise DataError(
                f"y is nowhere larger than {largest:g}, and squares of its residuals vanish; multiply all by a number"
                " as large as that is small"
            )
        return self._as_design(X), targets

    def _keep(self, result: FitResult) -> Self:
        """Take over a result, and warn if the fit was stopped before it was done."""
        self.result_ = result
        self.coef_ = result.coef
        self.intercept_ = float(result.intercept)
        self._warn(result)
        return self
