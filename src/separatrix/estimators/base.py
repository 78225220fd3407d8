"""What all classifiers share: scikit-learn's border on one side, a design and signs on the other.

Where data come in: arrays, frames and sparse matrices are checked by scikit-learn, other rows by what they are.

Rows read through a map, from disk or on a cluster are no arrays: of those the columns and the length are checked here,
and their cells when they are first read.

What all regressors share: scikit-learn's border on one side, a design and numbers on the other.

The strength of a penalty as users give it: a number, or "cv" for one that cross-validation chooses.

How much rows count: their own weights times their classes', and rows of weight 0 left out.
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
from separatrix.design.row_source import RowSource, is_dask, rows_of
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

# What every estimator takes, in scikit-learn's words.
ACCEPTED: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


def checked_rows(estimator: Any, X: Any, *, reset: bool = False, finite: bool = True) -> Any:
    """Return X, checked; `reset` has the estimator learn its columns, else they must be those it knows."""
    if isinstance(X, MappedRows):
        return MappedRows(checked_rows(estimator, X.X, reset=reset, finite=finite), X.map)
    source = rows_of(X)
    if source is not None:
        _check_columns(estimator, source, reset)
        return source
    return validate_data(estimator, X, reset=reset, **ACCEPTED, ensure_all_finite=finite)


def checked_rows_and_targets(
    estimator: Any, X: Any, y: Any, *, reset: bool = True, numeric: bool = False
) -> tuple[Any, Any]:
    """Return X and y, checked, of equal length; whether X is finite shows as it is first read."""
    if isinstance(X, MappedRows):
        rows, y = checked_rows_and_targets(estimator, X.X, y, reset=reset, numeric=numeric)
        return MappedRows(rows, X.map), y
    source, y = rows_of(X), vector_of(y)
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
    """Return one entry a row as it was given; a Dask array or series computed."""
    return np.asarray(values.compute()) if is_dask(values) else values


def _check_columns(estimator: Any, rows: RowSource, reset: bool) -> None:
    """Learn the number and the names of the columns, or refuse others than those known."""
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


class LinearModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A fitted linear score; `result_`, `certificate_` and `trace_` tell how it came to be."""

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
        """The way of the fit, in columns."""
        check_is_fitted(self)
        return self.result_.trace

    def _as_design(self, X: Any) -> Design:
        names = getattr(self, "feature_names_in_", None)
        return make_design(X, intercept=bool(self.fit_intercept), names=None if names is None else list(names))

    def _weights(self, sample_weight: Any, X: Any) -> Floats | None:
        """Return the rows' weights, checked; None where none are given."""
        if sample_weight is None:
            return None
        weights = np.asarray(
            _check_sample_weight(vector_of(sample_weight), rows_of(X) or X, dtype=np.float64, ensure_non_negative=True)
        )
        if getattr(self, "weight_kind", "precision") == "frequency" and (weights % 1.0).any():
            row = int(np.flatnonzero(weights % 1.0)[0])
            raise DataError(
                f"sample_weight has {weights[row]:g} in row {row}, which is no number of repetitions; give whole"
                ' numbers, or weight_kind="precision"'
            )
        return weights

    def _warn(self, result: FitResult, frames: int = 0) -> None:
        """Warn of a fit that was stopped before it was done, `frames` further out than the caller of `fit`'s helper."""
        if not result.status.reached_goal:
            warnings.warn(result.message, ConvergenceWarning, stacklevel=4 + frames)


class ScoreClassifier(ClassifierMixin, LinearModel):  # type: ignore[misc]  # scikit-learn is untyped
    """A classifier by scores: the sign of one, or the highest of one a class."""

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
        """Return which class a score of exactly 0 predicts."""
        return "positive"


class LinearClassifier(ScoreClassifier):
    """A classifier by linear scores."""

    coef_: Floats
    intercept_: Floats

    @property
    def halfspace_(self) -> Halfspace:
        """The fitted halfspace of a two-class fit, for distances and the like."""
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

    def _keep(self, result: FitResult, frames: int = 0) -> Self:
        """Take over a result, and warn if the fit was stopped before it was done."""
        self.result_ = result
        self.coef_ = np.atleast_2d(result.coef)
        self.intercept_ = np.atleast_1d(result.intercept)
        self._warn(result, frames)
        return self


def seed_of(random_state: Any) -> int | None:
    """Return scikit-learn's `random_state` as a seed: None, the integer itself, or one drawn from a generator."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return random_state if random_state is None else int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


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


WeightKind = Literal["precision", "frequency"]


class ClassTask(NamedTuple):
    """A classifier's problem without its penalty, the labels that its targets stand for, and those classes' weights."""

    problem: Problem
    labels: tuple[Any, ...]
    class_weights: tuple[float, ...] | None


class PenalisedProblem(NamedTuple):
    """A problem with its penalty, and where to start it (None: anywhere)."""

    problem: Problem
    start: Floats | None


class Penalised:
    """What estimators with a `strength` share; `cv_` holds the cross-validation where there was one, else None."""

    strength: float | Literal["cv"]
    l1_ratio: float
    cv: int
    cv_choice: StrengthChoice
    strengths: Any
    random_state: Any
    cv_: CrossValidation | None

    def problems(self, X: Any, y: Any, sample_weight: Any = None) -> list[Problem]:
        """Return what is to be minimised, without a penalty: one problem, or one a class against the rest."""
        raise NotImplementedError

    def _penalise(
        self, problems: Sequence[Problem], options: ConvexOptions, starts: Sequence[Floats | None]
    ) -> list[PenalisedProblem]:
        """Return the problems with the penalty asked for or, by cross-validation, chosen, then with where to start."""
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
        """Return where the strength came from and what weights mean, for a result's provenance."""
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
    """Return the class of each row: its place, its sign, or the problem in which it is the one against the rest."""
    if problems[0].loss.target == "classes":
        return np.asarray(problems[0].y, dtype=np.intp)
    if len(problems) == 1:
        return (problems[0].y > 0.0).astype(np.intp)
    return np.asarray(np.argmax([problem.y for problem in problems], axis=0))


class WeightedRows(NamedTuple):
    """Rows that count, their labels, weights (None: all 1), and their places among all rows (None: all are here)."""

    design: Design
    labels: NDArray[Any]
    weights: Floats | None
    places: Ints | None = None


def drop_weightless(design: Design, labels: NDArray[Any], weights: Floats | None) -> WeightedRows:
    """Return the rows that have a weight above 0."""
    if weights is None or weights.all():
        return WeightedRows(design, labels, weights)
    kept = weights > 0.0
    return WeightedRows(design.select(kept), labels[kept], weights[kept], np.flatnonzero(kept))


def apply_class_weight(
    class_weight: Any, labels: NDArray[Any], weights: Floats | None
) -> tuple[Floats | None, dict[Any, float] | None]:
    """Return the rows' weights times their classes', and the classes' by label; None where there are none."""
    if class_weight is None:
        return weights, None
    found = find_classes(labels)
    each = compute_class_weight(class_weight, classes=found.values, y=labels, sample_weight=weights)
    if not (np.isfinite(each).all() and (each >= 0.0).all()):
        raise OptionError(
            f"class_weight={class_weight!r} has numbers below 0 or not finite; give weights of at least 0"
        )
    rows = each[found.codes] if weights is None else each[found.codes] * weights
    return np.asarray(rows), dict(zip(found.plain, each.tolist(), strict=True))
