"""Linear regression as a scikit-learn regressor: least squares, ridge, lasso and elastic net."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from separatrix.errors import require_choice, require_count, require_number
from separatrix.estimators.regressor import LinearRegressor
from separatrix.fit import SOLVERS, ConvexOptions, fit_convex, linear_result
from separatrix.losses import Squared
from separatrix.penalties import make_penalty
from separatrix.problem import Problem

__all__ = ["LinearRegression"]


class LinearRegression(LinearRegressor):
    """Linear regression: y ≈ w·x + b.

    Minimises ``Σ ½ (w·x + b − y)² / n + strength · ((1 − l1_ratio)/2 ‖w‖² + l1_ratio ‖w‖₁)``, the intercept never
    penalised: least squares at strength 0, ridge at l1_ratio 0, the lasso at 1.

    Parameters
    ----------
    strength : of the penalty; scikit-learn's Lasso alpha is this number, its Ridge alpha n times it
    l1_ratio : 0 for L2, 1 for L1, between for elastic net
    solver : "auto", or the name of one, as "newton"
    fit_intercept : whether there is a constant
    tol : the relative duality gap to reach; max_passes : over the rows, at most
    warm_start : start at the last fit's coefficients

    Attributes
    ----------
    coef_, intercept_ : (p,) and a number
    result_, certificate_, trace_ : status and gap; the certificate of optimality; the way there

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LinearRegression().fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
    >>> model.coef_.round(4), round(model.intercept_, 4)
    (array([1.1622]), 1.1081)

    Reference: Zou and Hastie, Regularization and variable selection via the elastic net (2005).
    """

    def __init__(
        self,
        *,
        strength: float = 0.0,
        l1_ratio: float = 0.0,
        solver: str = "auto",
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_passes: int = 1000,
        warm_start: bool = False,
    ) -> None:
        self.strength = strength
        self.l1_ratio = l1_ratio
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_passes = max_passes
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit X (n, p) dense or sparse to numbers y (n,); rows count by their weights."""
        start = None
        if self.warm_start and hasattr(self, "coef_"):
            start = np.concatenate([[self.intercept_], self.coef_]) if self.fit_intercept else self.coef_
        design, targets = self._design_and_targets(X, y)
        weights = self._weights(sample_weight, X)
        problem = Problem(design, targets, Squared(), make_penalty(self.strength, self.l1_ratio), weights)
        name = require_choice("solver", self.solver, ("auto", *SOLVERS))
        options = ConvexOptions(
            tol=require_number("tol", self.tol, above=0.0),
            max_passes=require_count("max_passes", self.max_passes),
            solver=None if name == "auto" else SOLVERS[name],
        )
        fit = fit_convex(problem, options, start=start)
        provenance = {"strength": self.strength, "l1_ratio": self.l1_ratio}
        self.n_iter_ = max(1, len(fit.walk.steps["passes"]))
        return self._keep(linear_result(problem, fit, options, provenance=provenance))
