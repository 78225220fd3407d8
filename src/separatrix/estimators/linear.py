"""What may be inferred from a fitted linear regression: its table, tests, and intervals of its predictions.

The rows stay with a fitted model, not copied, so that robust covariances can read them again; saving or copying the
model leaves them behind, and with them all that needs them.

Linear regression as a scikit-learn regressor: least squares, ridge, lasso and elastic net.
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
from separatrix.inference.covariance import Covariance, choose_covariance
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
from separatrix.inference.table import InferenceTable, refused_table, require_level
from separatrix.losses.squared import Squared
from separatrix.problem import Problem
from separatrix.selection.cross_validation import CrossValidation, StrengthChoice


class _Carried(NamedTuple):
    """What a saved model keeps of its rows."""

    facts: LinearFacts
    frame: OrthonormalBasis


class LinearInference(LinearRegressor):
    """A linear regression that tells what may be inferred from it."""

    least_squares_: LeastSquaresFit | None
    strength_: float
    cv_: CrossValidation | None
    solver: str
    weight_kind: WeightKind
    _problem: Problem | None
    _carried: _Carried | None = None

    def summary(
        self, covariance: str = "classical", groups: Any = None, lag: int | None = None, level: float = 0.95
    ) -> InferenceTable:
        """Return every coefficient with its standard error, t, p-value and interval, and measures of the fit.

        Numbers that may not be given are absent, with the reason and what to do. Prints as text, shows as a table in a
        notebook; `to_dict`, `to_json`.

        Parameters
        ----------
        covariance : "classical"; "HC0" … "HC4" where errors differ in variance; "clustered" (or "clustered_HC0",
            without the correction for few groups) where they are related within groups; "newey_west" in a series
        groups : (n,) a label for each row, for "clustered"
        lag : over how many rows errors are related, for "newey_west"
        level : of the intervals

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
            require_choice("covariance", covariance, get_args(Covariance))
            return refused_table("linear", names, [(None, coef)], rows, objection, require_level(level))
        facts = self._facts(fit)
        return table_of(facts, fit, self._covariance(fit, facts, covariance, groups, lag), level)

    def wald_test(
        self, names: Sequence[str], covariance: str = "classical", groups: Any = None, lag: int | None = None
    ) -> WaldTest:
        """Test that the coefficients named are all 0, as χ² and as F, by a covariance as in `summary`."""
        fit = self._require_fit()
        facts = self._facts(fit)
        return linear_wald_test(facts, fit, self._covariance(fit, facts, covariance, groups, lag), names)

    def outline(self) -> TestedModel:
        """Return what tests of nested models and the analysis of variance need of this one."""
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
        """Return the score w·x + b of each row, (n,), or its interval.

        Parameters
        ----------
        interval : None, "confidence" (of the mean at x) or "prediction" (of a new observation there); then `mean`,
            `standard_error` of the mean, `lower` and `upper` are returned
        level : of the interval
        weights : of new observations, whose variance is σ² / weight; 1 if None
        """
        if interval is None:
            return super().predict(X)
        kind: IntervalKind = require_choice("interval", interval, get_args(IntervalKind))
        fit = self._require_fit()
        design = self._new_design(X)
        facts, frame = self._to_carry(fit)
        checked = None if weights is None else _positive(weights, design.shape[0])
        return prediction_interval(design, LinearPredictor(fit, facts, frame), kind, require_level(level), checked)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if state.get("_problem") is not None:
            fit = self.least_squares_
            state |= {"_problem": None, "_carried": None if fit is None else self._to_carry(fit)}
        return state

    def _eligible_fit(self) -> tuple[LeastSquaresFit | None, str]:
        """Return the least squares fit, or None and why nothing may be inferred."""
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
        return self._to_carry(fit).facts

    def _to_carry(self, fit: LeastSquaresFit) -> _Carried:
        """Return what intervals need of the rows; a pass or two while they are here."""
        if self._problem is not None:
            return _Carried(linear_facts(self._problem, fit, self.weight_kind), make_basis(self._problem, fit))
        if self._carried is None:
            raise DataError(eligibility.no_rows_kept("inference"))
        return self._carried

    def _covariance(
        self, fit: LeastSquaresFit, facts: LinearFacts, covariance: str, groups: Any, lag: int | None
    ) -> CoefficientCovariance:
        if self._problem is not None:
            choice = choose_covariance(covariance, self._problem, groups, lag)
            return find_covariance(self._problem, fit, facts, choice)
        if covariance == "classical" and groups is None and lag is None:
            return classical_covariance(fit, facts)
        raise DataError(f'{eligibility.no_rows_kept(f"covariance={covariance!r}")}, or use covariance="classical"')


def _positive(weights: Any, n: int) -> Floats:
    numbers = np.asarray(weights, dtype=np.float64)
    if numbers.ndim == 0:
        numbers = np.full(n, float(numbers))
    if numbers.shape != (n,) or not (numbers > 0.0).all():
        raise DataError(f"weights of new observations must be {n} numbers above 0, or one; got shape {numbers.shape}")
    return numbers


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
