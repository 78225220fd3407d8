"""Base classes of the estimators: validation of data and weights, classifiers, regressors, penalties.

Arrays, frames and sparse matrices are validated by scikit-learn. Rows that are mapped, on disk or on a cluster are not
arrays: their columns and length are checked here, their entries when they are first read.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    check_random_state,
    column_or_1d,
    validate_data,
)

from separatrix.arrays import Floats, Indices, Ints
from separatrix.certificates.base import Certificate
from separatrix.design.base import Design
from separatrix.design.build import make_design
from separatrix.design.mapped import MappedRows
from separatrix.design.row_source import RowSource, as_row_source, is_dask
from separatrix.errors import ConvergenceWarning, DataError, OptionError, require_choice, require_count
from separatrix.fit.convex import ConvexOptions
from separatrix.fit.labels import Classes, find_classes, real_targets
from separatrix.fit.result import FitResult, Trace
from separatrix.loops.online import Tie
from separatrix.penalties import make_penalty
from separatrix.perceptron_rule import predicted_signs
from separatrix.problem import Problem
from separatrix.selection.cross_validation import CrossValidation, StrengthChoice, assign_folds, cross_validate
from separatrix.theory.halfspace import Halfspace

# Accepted input of every estimator, as options of scikit-learn's `validate_data`.
ACCEPTED: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}
WeightKind = Literal["precision", "frequency"]


def checked_rows(estimator: Any, X: Any, *, reset: bool = False, finite: bool = True) -> Any:
    """Return X, validated; with `reset` the estimator stores its columns, else they must be the stored ones."""
    if isinstance(X, MappedRows):
        return MappedRows(checked_rows(estimator, X.X, reset=reset, finite=finite), X.map)
    source = as_row_source(X)
    if source is not None:
        _check_columns(estimator, source, reset)
        return source
    return validate_data(estimator, X, reset=reset, **ACCEPTED, ensure_all_finite=finite)


def checked_rows_and_targets(
    estimator: Any, X: Any, y: Any, *, reset: bool = True, numeric: bool = False
) -> tuple[Any, Any]:
    """Return X and y, validated and of equal length; X is checked for finite entries when it is first read."""
    if isinstance(X, MappedRows):
        rows, y = checked_rows_and_targets(estimator, X.X, y, reset=reset, numeric=numeric)
        return MappedRows(rows, X.map), y
    source, y = as_row_source(X), vector_of(y)
    if source is not None:
        _check_columns(estimator, source, reset)
        y = column_or_1d(y, dtype=np.float64 if numeric else None, warn=True)
        check_consistent_length(source, y)
        return source, y
    checked: tuple[Any, Any] = validate_data(
        estimator, X, y, reset=reset, y_numeric=numeric, **ACCEPTED, ensure_all_finite=False
    )
    return checked


def vector_of(values: Any) -> Any:
    """Return per-row values; a Dask array or series is computed."""
    return np.asarray(values.compute()) if is_dask(values) else values


def _check_columns(estimator: Any, rows: RowSource, reset: bool) -> None:
    """Store the number and names of the columns, or require them to be the stored ones."""
    width, names = rows.shape[1], rows.names
    if reset:
        estimator.n_features_in_ = width
        if names is not None:
            estimator.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return
    if width != estimator.n_features_in_:
        raise DataError(f"X has {width} columns, but the fit was of {estimator.n_features_in_}; give the same columns")
    known = getattr(estimator, "feature_names_in_", None)
    if names is not None and known is not None and list(known) != list(names):
        place = next(k for k, (a, b) in enumerate(zip(known, names, strict=True)) if a != b)
        raise DataError(f"column {place + 1} is {names[place]!r}, but in the fit it was {known[place]!r}; reorder them")


def seed_of(random_state: Any) -> int | None:
    """Return scikit-learn's `random_state` as a seed: None, the integer itself, or one drawn from the generator."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return random_state if random_state is None else int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


class WeightedRows(NamedTuple):
    """Rows of positive weight, their labels, weights (None: all 1), and indices among all rows (None: all)."""

    design: Design
    labels: NDArray[Any]
    weights: Floats | None
    places: Ints | None = None


def drop_weightless(design: Design, labels: NDArray[Any], weights: Floats | None) -> WeightedRows:
    """Return the rows of positive weight."""
    if weights is None or weights.all():
        return WeightedRows(design, labels, weights)
    positive = weights > 0.0
    return WeightedRows(design.select(positive), labels[positive], weights[positive], np.flatnonzero(positive))


def apply_class_weight(
    class_weight: Any, labels: NDArray[Any], weights: Floats | None
) -> tuple[Floats | None, dict[Any, float] | None]:
    """Return sample weights times class weights, and the class weights by label; None if there are none."""
    if class_weight is None:
        return weights, None
    classes = find_classes(labels)
    by_class = compute_class_weight(class_weight, classes=classes.values, y=labels, sample_weight=weights)
    if not (np.isfinite(by_class).all() and (by_class >= 0.0).all()):
        raise OptionError(
            f"class_weight={class_weight!r} has numbers below 0 or not finite; give weights of at least 0"
        )
    rows = by_class[classes.codes] if weights is None else by_class[classes.codes] * weights
    return np.asarray(rows), dict(zip(classes.plain, by_class.tolist(), strict=True))


class LinearModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Base class of all estimators, with the fitted `result_`, `certificate_` and `trace_`."""

    fit_intercept: bool
    result_: FitResult
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def certificate_(self) -> Certificate:
        """The evidence for the fit, which `verify(X, y)` re-checks from the data."""
        check_is_fitted(self)
        return self.result_.certificate

    @property
    def trace_(self) -> Trace:
        """The convergence of the fit: one column per fact, one entry per step."""
        check_is_fitted(self)
        return self.result_.trace

    def _as_design(self, X: Any) -> Design:
        names = getattr(self, "feature_names_in_", None)
        return make_design(X, intercept=bool(self.fit_intercept), names=None if names is None else list(names))

    def _weights(self, sample_weight: Any, X: Any) -> Floats | None:
        """Return the sample weights, validated; None if there are none."""
        if sample_weight is None:
            return None
        weights = np.asarray(
            _check_sample_weight(
                vector_of(sample_weight), as_row_source(X) or X, dtype=np.float64, ensure_non_negative=True
            )
        )
        if getattr(self, "weight_kind", "precision") == "frequency" and (weights % 1.0).any():
            row = int(np.flatnonzero(weights % 1.0)[0])
            raise DataError(
                f"sample_weight has {weights[row]:g} in row {row}, which is no number of repetitions; give whole"
                ' numbers, or weight_kind="precision"'
            )
        return weights

    def _warn(self, result: FitResult, frames: int = 0) -> None:
        """Warn if the fit was stopped early, `frames` further out than the caller of `fit`'s helper."""
        if not result.status.reached_goal:
            warnings.warn(result.message, ConvergenceWarning, stacklevel=4 + frames)


class ScoreClassifier(ClassifierMixin, LinearModel):  # type: ignore[misc]  # scikit-learn is untyped
    """A classifier by scores: by the sign of one, or by the highest of one per class."""

    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> Floats:
        """Return the scores: (n,) for two classes, positive for the second; (n, K) for more."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            codes = (predicted_signs(scores, self._tie_side()) > 0.0).astype(np.intp)
        else:
            codes = scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def _tie_side(self) -> Tie:
        """Return the class predicted by a score of exactly 0."""
        return "positive"


class LinearClassifier(ScoreClassifier):
    """A classifier by linear scores."""

    coef_: Floats
    intercept_: Floats

    @property
    def halfspace_(self) -> Halfspace:
        """The fitted halfspace of a binary classifier, for distances and the like."""
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise AttributeError(f"{len(self.classes_)} classes have a halfspace each: see result_.parts")
        return Halfspace(self.coef_[0], float(self.intercept_[0]), self._tie_side())

    def decision_function(self, X: Any) -> Floats:
        """Return the scores: (n,) for two classes, positive for the second; (n, K) for more."""
        design = self._design(X, reset=False)
        scores = np.asarray(self._scores(design))
        return scores.ravel() if len(self.classes_) == 2 else scores

    def _scores(self, design: Design) -> Floats:
        """Return the scores of a design's rows, (n, 1) for two classes, (n, K) for more."""
        weights = self.coef_.T
        if design.virtual:
            weights = np.vstack([self.intercept_, weights])
        return design.matvec(weights)

    def _design(self, X: Any, *, reset: bool) -> Design:
        if not reset:
            check_is_fitted(self)
        return self._as_design(checked_rows(self, X, reset=reset, finite=not reset))

    def _design_and_labels(self, X: Any, y: Any, *, reset: bool = True) -> tuple[Design, NDArray[Any]]:
        rows, y = checked_rows_and_targets(self, X, y, reset=reset)
        check_classification_targets(y)
        return self._as_design(rows), y

    def _classes(self, y: NDArray[Any]) -> Classes:
        classes = find_classes(y)
        self.classes_ = classes.values
        return classes

    def _store(self, result: FitResult, frames: int = 0) -> Self:
        """Store a result, and warn if the fit was stopped early."""
        self.result_ = result
        self.coef_ = np.atleast_2d(result.coef)
        self.intercept_ = np.atleast_1d(result.intercept)
        self._warn(result, frames)
        return self


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

    def _store(self, result: FitResult) -> Self:
        """Store a result, and warn if the fit was stopped early."""
        self.result_ = result
        self.coef_ = result.coef
        self.intercept_ = float(result.intercept)
        self._warn(result)
        return self


class ClassTask(NamedTuple):
    """An unpenalised problem of a classifier, the labels of its targets, and their class weights."""

    problem: Problem
    labels: tuple[Any, ...]
    class_weights: tuple[float, ...] | None


class PenalisedProblem(NamedTuple):
    """A problem with its penalty, and its initial coefficients (None: the solver's choice)."""

    problem: Problem
    start: Floats | None


class Penalised:
    """Base class of estimators with a `strength`; `cv_` is the cross-validation that chose it, if any."""

    strength: float | Literal["cv"]
    l1_ratio: float
    cv: int
    cv_choice: StrengthChoice
    strengths: Any
    random_state: Any
    cv_: CrossValidation | None

    def problems(self, X: Any, y: Any, sample_weight: Any = None) -> list[Problem]:
        """Return the unpenalised problems: one, or one per class against the rest."""
        raise NotImplementedError

    def _penalise(
        self, problems: Sequence[Problem], options: ConvexOptions, starts: Sequence[Floats | None]
    ) -> list[PenalisedProblem]:
        """Return the problems with the given or cross-validated penalty, and their initial coefficients."""
        strength: Any = self.strength
        require_choice("weight_kind", getattr(self, "weight_kind", "precision"), get_args(WeightKind))
        self.cv_ = None
        if isinstance(strength, str):
            if strength != "cv":
                raise OptionError(f'strength={strength!r} is not known; give a number of at least 0, or "cv"')
            self.cv_ = self._cross_validate(problems, options)
            strength = self.cv_.strength
            starts = [path.coefs[self.cv_.place] for path in self.cv_.paths]
        self.strength_ = float(strength) if isinstance(strength, int | float | np.number) else strength
        penalty = make_penalty(strength, self.l1_ratio)
        pairs = zip(problems, starts, strict=True)
        return [PenalisedProblem(replace(problem, penalty=penalty), start) for problem, start in pairs]

    def _origin(self) -> dict[str, Any]:
        """Return the kind of weights and of cross-validation, for a result's provenance."""
        kind = {"weight_kind": self.weight_kind} if hasattr(self, "weight_kind") else {}
        return kind if self.cv_ is None else {**kind, "cv": len(self.cv_.fold_losses), "cv_choice": self.cv_.choice}

    def _cross_validate(self, problems: Sequence[Problem], options: ConvexOptions) -> CrossValidation:
        first, seed = problems[0], seed_of(self.random_state)
        classes = None if first.loss.target == "numbers" else _strata(problems)
        folds = assign_folds(len(first.y), require_count("cv", self.cv), seed, classes)
        return cross_validate(
            problems, self.l1_ratio, folds, choice=self.cv_choice, strengths=self.strengths, options=options
        )


def _strata(problems: Sequence[Problem]) -> Indices:
    """Return the class of each row: its code, its sign, or the one-vs-rest problem in which it is positive."""
    if problems[0].loss.target == "classes":
        return np.asarray(problems[0].y, dtype=np.intp)
    if len(problems) == 1:
        return (problems[0].y > 0.0).astype(np.intp)
    return np.asarray(np.argmax([problem.y for problem in problems], axis=0))
