"""Linear regression as a scikit-learn regressor: least squares, ridge, lasso and elastic net."""

from __future__ import annotations

import time
from typing import Any, Literal, Self

import numpy as np

from separatrix.estimators.inference import LinearInference
from separatrix.estimators.strength import Penalised, WeightKind
from separatrix.fit.build_result import least_squares_result, linear_result
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.least_squares import can_solve_directly, fit_least_squares
from separatrix.losses.squared import Squared
from separatrix.problem import Problem
from separatrix.selection.cross_validation import StrengthChoice


class LinearRegression(Penalised, LinearInference):
    """Linear regression: y ≈ w·x + b.

    At strength 0, the default, it is least squares, to as many digits as a QR factorisation gives or more; where
    columns depend on others, the coefficients of least norm.

    Minimises ``Σ ½ (w·x + b − y)² / n + strength · ((1 − l1_ratio)/2 ‖w‖² + l1_ratio ‖w‖₁)``, the intercept never
    penalised: least squares at strength 0, ridge at l1_ratio 0, the lasso at 1.

    Parameters
    ----------
    strength : of the penalty; "cv" for one chosen by cross-validation. scikit-learn's Lasso alpha is this number, its
        Ridge alpha n times it
    l1_ratio : 0 for L2, 1 for L1, between for elastic net
    solver : "auto" (at strength 0 a factorisation), or the name of one, as "newton"
    weight_kind : what sample_weight means: "precision" (how much a row counts, relative to the others) or "frequency"
        (how often it was seen, a whole number); the coefficients are the same, but not what may be inferred from them
    fit_intercept : whether there is a constant
    tol : the relative duality gap to reach; max_passes : over the rows, at most
    warm_start : start at the last fit's coefficients
    cv, cv_choice, strengths, random_state : for strength "cv": the folds; "one_standard_error" (the largest strength
        that is as good as the best, as far as the folds can tell) or "best"; how many strengths to try, or which; the
        draw of the folds, None for the same one each time

    Attributes
    ----------
    coef_, intercept_ : (p,) and a number
    strength_, cv_ : the strength used; for "cv" the held-out losses along the path, else None
    least_squares_ : of plain least squares the rank, which columns are aliased with which, which coefficients are
        estimable, the condition of the columns; None with a penalty, or where another solver was asked for
    result_, certificate_, trace_ : status and gap; the certificate of optimality; the way there

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LinearRegression().fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
    >>> model.coef_.round(4), round(model.intercept_, 4)
    (array([1.1622]), 1.1081)

    Reference: Zou and Hastie, Regularization and variable selection via the elastic net (2005).
    """

    def __init__(  # noqa: PLR0913  # scikit-learn wants every option here
        self,
        *,
        strength: float | Literal["cv"] = 0.0,
        l1_ratio: float = 0.0,
        solver: str = "auto",
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_passes: int = 10_000,
        warm_start: bool = False,
        cv: int = 5,
        cv_choice: StrengthChoice = "one_standard_error",
        strengths: Any = 100,
        weight_kind: WeightKind = "precision",
        random_state: Any = None,
    ) -> None:
        self.strength = strength
        self.l1_ratio = l1_ratio
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_passes = max_passes
        self.warm_start = warm_start
        self.cv = cv
        self.cv_choice = cv_choice
        self.strengths = strengths
        self.weight_kind = weight_kind
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit X (n, p) dense or sparse to numbers y (n,); rows count by their weights."""
        options, began = ConvexOptions.named(self.solver, self.tol, self.max_passes), time.perf_counter()
        last = None
        if self.warm_start and hasattr(self, "coef_"):
            last = np.concatenate([[self.intercept_], self.coef_]) if self.fit_intercept else self.coef_
        problem, start = self._penalise(self.problems(X, y, sample_weight), options, [last])[0]
        self._problem, self.least_squares_ = problem, None
        if options.solver is None and problem.free.all() and can_solve_directly(problem.design):
            self.least_squares_, self.n_iter_ = fit_least_squares(problem), 1
            seconds = time.perf_counter() - began
            return self._keep(least_squares_result(problem, self.least_squares_, seconds, provenance=self._origin()))
        fit = fit_convex(problem, options, start=start)
        self.n_iter_ = max(1, len(fit.walk.steps["passes"]))
        return self._keep(linear_result(problem, fit, options, provenance=self._origin()))

    def problems(self, X: Any, y: Any, sample_weight: Any = None) -> list[Problem]:
        """Return what is to be minimised, without a penalty: one problem."""
        design, targets = self._design_and_targets(X, y)
        return [Problem(design, targets, Squared(), weights=self._weights(sample_weight, X))]
