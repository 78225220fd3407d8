"""Base classes of the estimators: validation of data and weights, classifiers, regressors.

Arrays, frames and sparse matrices are validated by scikit-learn. Rows that are mapped, on disk or on a cluster are not
arrays: their columns and length are checked here, their entries when they are first read.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate
from separatrix.design.build import RowSource, as_floats, as_row_source, is_dask, require_entries, require_exact
from separatrix.design.mapped import MappedRows
from separatrix.errors import ConvergenceWarning, DataError, SeparationWarning
from separatrix.families.base import Fitted, TrainingRows, checked_weights, fit_family, seeded
from separatrix.families.familiar import naming_options
from separatrix.families.options import Options
from separatrix.fit.labels import Classes, as_numbers, find_classes, real_targets, require_one_type
from separatrix.fit.result import FitResult, Trace
from separatrix.inference.fitted import Inference
from separatrix.model.predictions import DecisionRule, linear_scores
from separatrix.numerics import refuse_masked
from separatrix.selection import CrossValidation
from separatrix.theory.halfspace import Halfspace

# Accepted input of every estimator, as options of scikit-learn's `validate_data`.
ACCEPTED: dict[str, Any] = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}
# Details of a fit that are attributes, if it has them.
DETAILS = ("kernel", "support", "support_vectors", "dual_coef", "means", "variances")
FEW_CLASSES = 20  # more may be numbers
NOT_A_NUMBER = "could not convert string to float"  # NumPy's message
SMALL_COPY = 2**26  # bytes, up to which a column-major array is copied


def checked_rows(estimator: Any, X: Any, *, reset: bool = False) -> Any:
    """Return X, validated; with `reset` the estimator stores its columns, else they must be the stored ones."""
    if isinstance(X, MappedRows):
        return MappedRows(checked_rows(estimator, X.X, reset=reset), X.map)
    if _is_plain(estimator, X) and not reset and X.shape[1] == estimator.n_features_in_ and np.isfinite(X.sum()):
        return _by_rows(X)
    source = as_row_source(X)
    if source is not None:
        _check_columns(estimator, source, reset)
        return source
    return _by_rows(_validated(estimator, X, reset=reset))


def _is_plain(estimator: Any, X: Any) -> bool:
    """Tell whether X is an array of floats in which the validation by scikit-learn finds no fault."""
    floats = type(X) is np.ndarray and X.ndim == 2 and X.dtype in (np.float64, np.float32)
    wide = floats and len(X) > 0 and X.shape[1] >= max(1, getattr(estimator, "least_columns", 1))
    return wide and not hasattr(estimator, "feature_names_in_")


def _are_plain(X: Any, y: Any, *, numeric: bool) -> bool:
    """Tell whether y has one finite number, or one label that is an integer or binary, for each row of X."""
    if type(y) is not np.ndarray or y.shape != X.shape[:1]:
        return False
    return bool(y.dtype == np.float64 and np.isfinite(y.sum())) if numeric else y.dtype.kind in "biu"


def checked_rows_and_targets(
    estimator: Any, X: Any, y: Any, *, reset: bool = True, numeric: bool = False
) -> tuple[Any, Any]:
    """Return X and y, validated and of equal length; X is checked for finite entries when it is first read.

    The estimator stores the number of rows, `n_rows_`, to which those of a partial fit are added.
    """
    if isinstance(X, MappedRows):
        rows, y = checked_rows_and_targets(estimator, X.X, y, reset=reset, numeric=numeric)
        return MappedRows(rows, X.map), y
    if reset and _is_plain(estimator, X) and _are_plain(X, y, numeric=numeric):
        estimator.n_features_in_, estimator.n_rows_ = X.shape[1], len(y)
        return _by_rows(X), y
    rows, y = as_row_source(X), vector_of(y)
    _refuse_transposed(X, y)
    if not numeric:
        require_one_type(y)
    elif y is not None:
        y = as_numbers(y, "y")
    if rows is not None:
        _check_columns(estimator, rows, reset)
        y = column_or_1d(y, dtype=np.float64 if numeric else None, warn=True)
        check_consistent_length(rows, y)
    else:
        X, y = _validated(estimator, X, y, reset=reset, y_numeric=numeric, ensure_all_finite=False)
        rows = _by_rows(X)
    estimator.n_rows_ = len(y) + (0 if reset else estimator.n_rows_)
    return rows, y


def _validated(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """Return X, or X and y, by scikit-learn's validation; no integer of X may become another number."""
    require_entries(X)
    try:
        least = getattr(estimator, "least_columns", 1)
        result = validate_data(estimator, X, *y, **ACCEPTED, ensure_min_features=least, **options)
    except OverflowError:
        as_floats(X, None)  # names the integer beyond every float
        raise
    except ValueError as problem:
        if NOT_A_NUMBER not in str(problem):
            raise
        text = str(problem).partition(": ")[2].removeprefix("np.str_(").removesuffix(")")
        raise DataError(
            f"X has the text {text}, where an estimator needs numbers; sx.train reads text and categories from a table,"
            " and sx.from_formula from a data frame"
        ) from None
    require_exact(X, result[0] if y else result, named_columns(estimator))
    return result


def _refuse_transposed(X: Any, y: Any) -> None:
    """Raise a DataError for rows with one column for each target."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    count = len(y) if hasattr(y, "__len__") else 0
    known = len(shape) == 2 and all(isinstance(each, int) for each in shape)  # rows of a cluster may be uncounted
    if known and shape[0] != count == shape[1]:
        raise DataError(
            f"X has {shape[0]:,} rows and {shape[1]:,} columns, and y has {count:,} entries: X seems to be features by"
            " rows; give X.T"
        )


def _by_rows(X: Any) -> Any:
    """Return a small column-major array, as frames are, row by row: the last bits of a fit depend on the layout."""
    small = isinstance(X, np.ndarray) and X.nbytes <= SMALL_COPY
    return np.ascontiguousarray(X) if small else X


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


def named_columns(estimator: Any) -> tuple[str, ...] | None:
    """Return the names of the columns that an estimator was fitted on, None if they had none."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else tuple(names)


class FitAttributes:
    """The attributes of a fit that every estimator has."""

    fitted_: Any

    @property
    def result_(self) -> FitResult:
        """The result of the fit."""
        result: FitResult = self.fitted_.result
        return result

    @property
    def certificate_(self) -> Certificate:
        """The evidence for the fit, which `verify(X, y)` re-checks from the data."""
        return self.result_.certificate

    @property
    def trace_(self) -> Trace:
        """The convergence of the fit: one column per fact, one entry per step."""
        return self.result_.trace


class LinearModel(FitAttributes, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Base class of all estimators: validation, and a family's fit."""

    fit_intercept: bool
    checked: Any  # of the options that every estimator inherits
    _rows: Any  # of classifiers and regressors: validated rows with their targets and weights
    n_features_in_: int
    n_iter_: int
    classes_: NDArray[Any]
    coef_: Floats
    intercept_: Any
    _fitted: Fitted
    _counts_steps = False  # whether `n_iter_` is the number of steps, not of passes over the rows

    def __init_subclass__(cls, **facts: Any) -> None:
        """Have an estimator answer options of other libraries with the name of its own."""
        super().__init_subclass__(**facts)
        if issubclass(cls, Options) and "__init__" not in vars(cls):
            cls.__init__ = naming_options(cls.__init__, cls.family)  # type: ignore[method-assign]  # same signature

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def fitted_(self) -> Fitted:
        """The fit of the family, from which all attributes are read."""
        check_is_fitted(self)
        return self._fitted

    @property
    def strength_(self) -> float:
        """The strength of the penalty that was used."""
        strength = self.fitted_.strength
        if strength is None:
            raise AttributeError(f"{type(self).__name__} has no strength_")
        return strength

    @property
    def cv_(self) -> CrossValidation | None:
        """The held-out losses along the path of strengths, if the strength was cross-validated."""
        return self.fitted_.cv

    def _inference(self) -> Inference:
        """Return the inference of the fit."""
        inference = self.fitted_.inference
        assert inference is not None  # of families with a likelihood
        return inference

    def _options(self) -> Any:
        """Return the checked options, with a seed in place of a generator."""
        return seeded(self.checked())

    def _last_coef(self) -> Floats:
        """Return the coefficients of the last fit to start from, one column per score, intercepts first."""
        coef = np.atleast_2d(self.coef_).T
        return np.vstack([self.intercept_, coef]) if self.fit_intercept else coef

    def _weights(self, sample_weight: Any, X: Any) -> Floats | None:
        """Return the sample weights, validated; None if there are none."""
        if sample_weight is None:
            return None
        refuse_masked(sample_weight, "sample_weight")
        rows = as_row_source(X) or X
        checked = _check_sample_weight(vector_of(sample_weight), rows, dtype=np.float64, ensure_non_negative=True)
        return checked_weights(np.asarray(checked), self)

    def _scores(self, X: Any) -> Floats:
        """Return the scores of validated rows, (n, K), computed as a saved model computes them."""
        coef, intercept = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        return linear_scores(checked_rows(self, X), coef, intercept)

    def _keep(self, fitted: Fitted, n_iter: float | None = None) -> Self:
        """Store a fit, and warn if it was stopped early or the classes are not as it needs them."""
        self._fitted, result = fitted, fitted.result
        if fitted.classes is None:
            self.coef_, self.intercept_ = result.coef, float(result.intercept)
        else:
            self.classes_, self.intercept_ = fitted.classes, fitted.intercept
            if "dual_coef" not in fitted.details:
                self.coef_ = fitted.coef
        for name in DETAILS:
            if name in fitted.details:
                setattr(self, f"{name}_", fitted.details[name])
        parts = result.parts or (result,)
        if n_iter is None and self._counts_steps:
            n_iter = max(len(part.trace) for part in parts)
        elif n_iter is None and "reads" in parts[0].facts:
            n_iter = max(part.passes for part in parts)
        self.n_iter_ = max(1, math.ceil(round(result.passes) if n_iter is None else n_iter))
        for message in fitted.warnings:
            warnings.warn(message, SeparationWarning, stacklevel=3)  # over fit
        if not result.status.reached_goal:
            warnings.warn(result.message, ConvergenceWarning, stacklevel=3)
        return self


class WeightedFit(LinearModel):
    """A fit with sample weights."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), dense or sparse, and targets y (n,), with weights (n,); rows of weight 0 are ignored."""
        warm = getattr(self, "warm_start", False) and hasattr(self, "coef_")
        start: dict[str, Any] = {"start": self._last_coef()} if warm else {}
        return self._keep(fit_family(self._rows(X, y, sample_weight), self._options(), **start))


class UnweightedFit(LinearModel):
    """A fit in which every row counts alike."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p), dense or sparse, and labels y (n,) of two or more classes."""
        return self._keep(fit_family(self._rows(X, y), self._options()))


class ScoreClassifier(ClassifierMixin, LinearModel):  # type: ignore[misc]  # scikit-learn is untyped
    """A classifier by scores: by the sign of one, or by the highest of one per class."""

    def decision_function(self, X: Any) -> Floats:
        """Return the scores: (n,) for two classes, positive for the second; (n, K) for more."""
        check_is_fitted(self)
        scores = self._scores(X)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        scores = self.decision_function(X)
        return np.asarray(self.classes_[self._rule().classes(scores.reshape(len(scores), -1))])

    def _rows(self, X: Any, y: Any, sample_weight: Any = None, *, reset: bool = True) -> TrainingRows:
        """Return validated rows with their classes and weights."""
        rows, y = checked_rows_and_targets(self, X, y, reset=reset)
        if y.dtype.kind not in "bi":
            check_classification_targets(y)
        classes = find_classes(y)
        if len(classes.values) > FEW_CLASSES:
            check_classification_targets(y)  # which warns of very many
        return TrainingRows(rows, y, classes, self._weights(sample_weight, X), named_columns(self))

    def _rule(self) -> DecisionRule:
        """Return the rule from scores to classes and probabilities."""
        fitted = self.fitted_
        return DecisionRule(fitted.link, fitted.tie, getattr(self, "threshold", 0.5))


class LinearClassifier(ScoreClassifier):
    """A classifier by linear scores."""

    @property
    def halfspace_(self) -> Halfspace:
        """The fitted halfspace of a binary classifier, for distances and the like."""
        check_is_fitted(self)
        if len(self.classes_) > 2:
            raise AttributeError(f"{len(self.classes_)} classes have a halfspace each: see result_.parts")
        return Halfspace(self.coef_[0], float(self.intercept_[0]), self.fitted_.tie)

    def _partial_rows(self, X: Any, y: Any, classes: Sequence[Any] | None) -> tuple[TrainingRows, bool]:
        """Return validated rows of a partial fit, whose classes are those of the first one, and whether it is that."""
        if classes is not None:
            require_one_type(classes, "classes")
        first = _check_partial_fit_first_call(self, classes)
        rows, labels = checked_rows_and_targets(self, X, y, reset=first)
        unknown = ~np.isin(labels, self.classes_)
        if unknown.any():
            row = int(np.flatnonzero(unknown)[0])
            label = labels[row].item()
            raise DataError(f"row {row} has label {label!r}, which is not among classes {self.classes_.tolist()}")
        known = np.sort(self.classes_)
        codes = Classes(known, np.searchsorted(known, labels))
        return TrainingRows(rows, labels, codes, None, named_columns(self)), first


class ProbabilityMixin:
    """Probabilities of the classes by the link of the fit."""

    decision_function: Any
    _rule: Any

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, (n, K); with one-vs-rest, they are normalised to sum to 1."""
        scores = self.decision_function(X)
        return np.asarray(self._rule().probabilities(scores.reshape(len(scores), -1)))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class, (n, K), finite wherever the scores are."""
        scores = self.decision_function(X)
        return np.asarray(self._rule().log_probabilities(scores.reshape(len(scores), -1)))


class LinearRegressor(RegressorMixin, LinearModel):  # type: ignore[misc]  # scikit-learn is untyped
    """A regressor by a linear score."""

    def predict(self, X: Any) -> Floats:
        """Return the score w·x + b of each row, (n,)."""
        check_is_fitted(self)
        return self._scores(X)[:, 0]

    def _rows(self, X: Any, y: Any, sample_weight: Any = None) -> TrainingRows:
        """Return validated rows with their targets and weights."""
        rows, y = checked_rows_and_targets(self, X, y, numeric=True)
        return TrainingRows(rows, real_targets(y), weights=self._weights(sample_weight, X), names=named_columns(self))
