"""Linear regression as a scikit-learn regressor (least squares, ridge, lasso, elastic net), and its inference.

A fitted model refers to its rows, without a copy, so that robust covariances can read them again. Pickling or copying
the model drops them; classical inference remains.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Self, get_args, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.arrays import Floats
from separatrix.errors import DataError, OptionError, require_choice
from separatrix.estimators.base import LinearRegressor, Penalised, WeightKind
from separatrix.fit.build_result import least_squares_result, linear_result
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.least_squares import LeastSquaresFit, can_solve_directly, fit_least_squares
from separatrix.inference import eligibility
from separatrix.inference.basis import OrthonormalBasis, make_basis
from separatrix.inference.covariance import CovarianceKind, choose_covariance
from separatrix.inference.hypotheses import TestedModel, WaldTest, linear_wald_test
from separatrix.inference.linear import (
    CoefficientCovariance,
    LinearFacts,
    classical_covariance,
    find_covariance,
    linear_facts,
    table_of,
)
from separatrix.inference.prediction import IntervalKind, LinearPredictor, PredictionInterval, prediction_interval
from separatrix.inference.table import InferenceTable, estimates_only_table, require_level
from separatrix.losses.squared import Squared
from separatrix.problem import Problem
from separatrix.selection.cross_validation import CrossValidation, StrengthChoice


class _PredictionFacts(NamedTuple):
    """Facts about the rows that intervals need, stored with a pickled model."""

    facts: LinearFacts
    basis: OrthonormalBasis


class LinearInference(LinearRegressor):
    """Inference for a fitted linear regression: table, tests, and intervals of predictions."""

    least_squares_: LeastSquaresFit | None
    strength_: float
    cv_: CrossValidation | None
    solver: str
    weight_kind: WeightKind
    _problem: Problem | None
    _stored_facts: _PredictionFacts | None = None

    def summary(
        self, covariance: str = "classical", groups: Any = None, lag: int | None = None, level: float = 0.95
    ) -> InferenceTable:
        """Return the table of coefficients: standard errors, t, p-values and intervals, and measures of the fit.

        Numbers that are not valid are absent, with the reason and a remedy. The table prints as text and is shown as
        HTML in a notebook; see also its `to_dict` and `to_json`.

        Parameters
        ----------
        covariance : "classical"; "HC0" … "HC4" for errors of unequal variance; "clustered" (or "clustered_HC0",
            without the correction for few groups) for errors correlated within groups; "newey_west" for time series
        groups : (n,) group of each row, for "clustered"
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
        check_is_fitted(self)
        fit, objection = self._eligible_fit()
        if fit is None:
            names, rows = self.result_.provenance["names"], self.result_.facts["rows"]
            coef = np.concatenate([[self.intercept_], self.coef_]) if len(names) > len(self.coef_) else self.coef_
            require_choice("covariance", covariance, get_args(CovarianceKind))
            return estimates_only_table("linear", names, [(None, coef)], rows, objection, require_level(level))
        facts = self._facts(fit)
        return table_of(facts, fit, self._covariance(fit, facts, covariance, groups, lag), level)

    def wald_test(
        self, names: Sequence[str], covariance: str = "classical", groups: Any = None, lag: int | None = None
    ) -> WaldTest:
        """Test that the named coefficients are all 0, by χ² and F, with a covariance as in `summary`."""
        fit = self._require_fit()
        facts = self._facts(fit)
        return linear_wald_test(facts, fit, self._covariance(fit, facts, covariance, groups, lag), names)

    def tested_model(self) -> TestedModel:
        """Return the facts that tests of nested models and the analysis of variance need."""
        check_is_fitted(self)
        fit, objection = self._eligible_fit()
        if fit is None:
            return TestedModel("linear", tuple(self.result_.provenance["names"]), 0, np.nan, objection=objection)
        facts = self._facts(fit)
        objection = facts.objection(fit)
        height = np.nan if objection else facts.log_likelihood(fit)
        return TestedModel("linear", facts.names, fit.rank, height, self._problem, objection, fit, facts)

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
        kind: IntervalKind = require_choice("interval", interval, get_args(IntervalKind))
        fit = self._require_fit()
        design = self._new_design(X)
        facts, basis = self._prediction_facts(fit)
        checked = None if weights is None else _positive(weights, design.shape[0])
        return prediction_interval(design, LinearPredictor(fit, facts, basis), kind, require_level(level), checked)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if state.get("_problem") is not None:
            fit = self.least_squares_
            state |= {"_problem": None, "_stored_facts": None if fit is None else self._prediction_facts(fit)}
        return state

    def _eligible_fit(self) -> tuple[LeastSquaresFit | None, str]:
        """Return the least squares fit, or None and the reason why there is no inference."""
        if self.cv_ is not None:
            return None, eligibility.chosen_by_cross_validation(self.strength_)
        if self.least_squares_ is None:
            penalised = self.strength_ > 0.0
            return None, eligibility.penalised(self.strength_) if penalised else eligibility.not_factored(self.solver)
        return self.least_squares_, ""

    def _require_fit(self) -> LeastSquaresFit:
        check_is_fitted(self)
        fit, objection = self._eligible_fit()
        if fit is None:
            raise OptionError(objection)
        return fit

    def _facts(self, fit: LeastSquaresFit) -> LinearFacts:
        if self._problem is not None:
            return linear_facts(self._problem, fit, self.weight_kind)
        return self._prediction_facts(fit).facts

    def _prediction_facts(self, fit: LeastSquaresFit) -> _PredictionFacts:
        """Return the facts that intervals need: computed in one or two passes, or stored."""
        if self._problem is not None:
            return _PredictionFacts(linear_facts(self._problem, fit, self.weight_kind), make_basis(self._problem, fit))
        if self._stored_facts is None:
            raise DataError(eligibility.rows_not_saved("inference"))
        return self._stored_facts

    def _covariance(
        self, fit: LeastSquaresFit, facts: LinearFacts, covariance: str, groups: Any, lag: int | None
    ) -> CoefficientCovariance:
        if self._problem is not None:
            choice = choose_covariance(covariance, self._problem, groups, lag)
            return find_covariance(self._problem, fit, facts, choice)
        if covariance == "classical" and groups is None and lag is None:
            return classical_covariance(fit, facts)
        raise DataError(f'{eligibility.rows_not_saved(f"covariance={covariance!r}")}, or use covariance="classical"')


def _positive(weights: Any, n: int) -> Floats:
    numbers = np.asarray(weights, dtype=np.float64)
    if numbers.ndim == 0:
        numbers = np.full(n, float(numbers))
    if numbers.shape != (n,) or not (numbers > 0.0).all():
        raise DataError(f"weights of new observations must be {n} numbers above 0, or one; got shape {numbers.shape}")
    return numbers


class LinearRegression(Penalised, LinearInference):
    """Linear regression y ≈ w·x + b: least squares, ridge, lasso and elastic net.

    Minimises ``Σ ½ (w·x + b − y)² / n + strength · ((1 − l1_ratio)/2 ‖w‖² + l1_ratio ‖w‖₁)``; the intercept is not
    penalised. Strength 0, the default, is least squares, at least as accurate as by a QR factorisation; if columns are
    collinear, the coefficients have the least norm. With a penalty, l1_ratio 0 is ridge regression and 1 the lasso.

    Parameters
    ----------
    strength : strength of the penalty; "cv" to choose it by cross-validation. alpha of scikit-learn's Lasso is this
        number, alpha of its Ridge n times it
    l1_ratio : 0 for L2, 1 for L1, between for elastic net
    solver : "auto" (at strength 0, a factorisation), or the name of a solver, such as "newton"
    weight_kind : meaning of sample_weight: "precision" (importance relative to the other rows) or "frequency" (number
        of observations, an integer); the coefficients are the same, but not standard errors and tests
    fit_intercept : whether there is a constant
    tol : relative duality gap to reach
    max_passes : largest number of passes over the rows
    warm_start : whether to start at the coefficients of the last fit
    cv : number of folds for strength "cv"
    cv_choice : "one_standard_error" (the largest strength within one standard error of the best) or "best"
    strengths : number of strengths to try, or the strengths themselves
    random_state : seed of the folds; None gives the same folds each time

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
        """Fit to X (n, p), dense or sparse, and numbers y (n,), with weights (n,)."""
        options, began = ConvexOptions.named(self.solver, self.tol, self.max_passes), time.perf_counter()
        last = None
        if self.warm_start and hasattr(self, "coef_"):
            last = np.concatenate([[self.intercept_], self.coef_]) if self.fit_intercept else self.coef_
        problem, start = self._penalise(self.problems(X, y, sample_weight), options, [last])[0]
        self._problem, self.least_squares_ = problem, None
        if options.solver is None and problem.free.all() and can_solve_directly(problem.design):
            self.least_squares_, self.n_iter_ = fit_least_squares(problem), 1
            seconds = time.perf_counter() - began
            return self._store(least_squares_result(problem, self.least_squares_, seconds, provenance=self._origin()))
        fit = fit_convex(problem, options, start=start)
        self.n_iter_ = max(1, len(fit.walk.steps["passes"]))
        return self._store(linear_result(problem, fit, options, provenance=self._origin()))

    def problems(self, X: Any, y: Any, sample_weight: Any = None) -> list[Problem]:
        """Return the unpenalised problem, as a list of one."""
        design, targets = self._design_and_targets(X, y)
        return [Problem(design, targets, Squared(), weights=self._weights(sample_weight, X))]
