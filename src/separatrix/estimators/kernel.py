"""Kernel perceptron and kernel support vector machine as scikit-learn classifiers, with scores by support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from separatrix.arrays import Floats, Ints
from separatrix.design.build import make_design
from separatrix.design.kernel_matrix import KernelRows, by_rows, kernel_scores, select_rows
from separatrix.design.kernels import Kernel, Precomputed, make_kernel, require_gamma
from separatrix.design.row_source import as_array
from separatrix.errors import DataError, OptionError, require_choice, require_count, require_number
from separatrix.estimators.base import ScoreClassifier, apply_class_weight, seed_of
from separatrix.families.base import BinaryTarget, binary_targets, class_pairs, join_pairs, join_results, pair_votes
from separatrix.families.kernel import (
    KernelPerceptronOptions,
    KernelSVMOptions,
    RowWeights,
    fit_kernel_perceptron,
    fit_kernel_svm,
)
from separatrix.families.perceptron import PerceptronOptions
from separatrix.fit.labels import Classes, find_classes
from separatrix.fit.result import FitResult
from separatrix.loops.online import Tie
from separatrix.separability.kernel import with_scale

ACCEPTED: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
FOLDS = 5  # of the calibration
CALIBRATIONS = {"True": "sigmoid", "sigmoid": "sigmoid", "isotonic": "isotonic"}


class KernelClassifier(ScoreClassifier):
    """Base class of classifiers with scores Σ cⱼ k(x, xⱼ) + b over support vectors xⱼ."""

    DEFAULTS: ClassVar[dict[str, Any]] = {"gamma": "scale", "degree": 3, "offset": None}

    kernel: Any
    gamma: Any
    degree: Any
    offset: Any
    cache_mb: float
    kernel_: Kernel

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        return tags

    def decision_function(self, X: Any) -> Floats:
        """Return the scores: (n,) for two classes, positive for the second; (n, K) for more."""
        check_is_fitted(self)
        X = validate_data(self, as_array(X), reset=False, **ACCEPTED)
        scores = kernel_scores(self.kernel_, by_rows(X), self.support_vectors_, self.support_, self.dual_coef_)
        scores += self.intercept_
        return scores.ravel() if len(self.classes_) == 2 else self._scores_of_classes(scores)

    def _scores_of_classes(self, scores: Floats) -> Floats:
        """Return one score per class from one score per fit."""
        return scores

    def _make_kernel(self) -> Kernel:
        """Return the kernel; parameters of other kernels must have their default values."""
        parameters = {"gamma": self.gamma, "degree": self.degree, "offset": self.offset}
        if not isinstance(self.kernel, str):
            changed = [name for name, value in parameters.items() if value not in (None, self.DEFAULTS[name])]
            if changed:
                raise OptionError(f"kernel={self.kernel!r:.60} takes no {changed} here; give them to the kernel itself")
            return make_kernel(self.kernel)
        known = {field.name for field in fields(make_kernel(self.kernel))}  # type: ignore[arg-type]  # dataclasses
        if self.gamma != "scale":
            require_gamma(self.gamma)
        return make_kernel(self.kernel, **{k: v for k, v in parameters.items() if k in known and v is not None})

    def _rows_and_labels(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        require_number("cache_mb", self.cache_mb, above=0.0)
        X, y = validate_data(self, as_array(X), y, **ACCEPTED, ensure_all_finite=False)
        check_classification_targets(y)
        return by_rows(X), y

    def _store_fits(self, result: FitResult, X: Any, places: Ints, steps: Sequence[float]) -> Self:
        """Store the support vectors among the rows `places`, and warn if the fit was stopped early."""
        coefs = np.atleast_2d(result.coef)
        support = np.flatnonzero(coefs.any(axis=0))
        self.result_ = result
        self.support_ = places[support]
        self.dual_coef_ = np.asarray(coefs[:, support])
        self.intercept_ = np.atleast_1d(result.intercept)
        self.support_vectors_ = np.empty((0, 0)) if isinstance(self.kernel_, Precomputed) else X[support]
        self.n_iter_ = max(1, int(np.ceil(max(steps))))
        self._warn(result, frames=1)
        return self


class KernelPerceptron(KernelClassifier):
    """The perceptron in its dual form: linear in the feature space of a kernel, its mistakes counted against the bound.

    A mistake on row i adds ``rate · yᵢ`` to its coefficient cᵢ; the score of x is ``Σ cⱼ (k(x, xⱼ) + 1)``. With the
    linear kernel it equals Perceptron, update for update. If some function of the kernel's feature space separates the
    rows with margin γ, and R is their radius there, it converges after at most (R/γ)² updates. With more than two
    classes, each is fitted against the rest.

    Parameters
    ----------
    kernel : "rbf", "linear", "polynomial", "sigmoid", "precomputed" (X is then the kernel matrix), one of sx.kernels,
        or a function of two matrices (n, p) and (m, p) that returns (n, m)
    gamma, degree, offset : parameters of the named kernel: exp(−gamma ‖a − b‖²), (gamma a·b + offset)^degree or
        tanh(gamma a·b + offset); gamma "scale" is 1 / (p · variance of all entries); offset None is 1 (polynomial) or
        0 (sigmoid)
    order, rate, schedule, tie, margin, fit_intercept, max_updates, max_passes, random_state : as in Perceptron
    keep : "last" coefficients; "best", with the fewest training mistakes; "average" over all visits
    budget : largest number of support vectors, None for any number; beyond it each update removes one, and convergence
        is no longer guaranteed
    forget : with a budget, the support vector to remove: the "oldest", updated the longest time ago, or the
        "smallest" in |c|
    cache_mb : memory in MB for kernel rows of 8 n bytes each, the least recently used being replaced; at least two rows
        are cached

    Attributes
    ----------
    alpha_ : number of updates on each training row, times the rate: (n,), or (K, n) for K classes
    support_, support_vectors_ : indices and features of the support vectors
    dual_coef_, intercept_ : their signed coefficients, and the constant
    kernel_ : the kernel with all its parameters
    n_updates_, n_iter_ : number of updates over all classes; passes over the rows
    result_, certificate_, trace_ : status and message; the mistake bound in the feature space; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    >>> model = sx.KernelPerceptron(kernel="rbf", gamma=1.0).fit(X, y)
    >>> model.predict(X).tolist(), model.result_.status.value, model.certificate_.verdict
    ([0, 0, 1, 1], 'converged', 'within bound')

    Reference: Aizerman, Braverman and Rozonoer (1964); Freund and Schapire (1999); Crammer, Kandola and Singer (2003).
    """

    def __init__(  # noqa: PLR0913  # scikit-learn wants every option here
        self,
        *,
        kernel: Any = "rbf",
        gamma: float | Literal["scale"] = "scale",
        degree: int = 3,
        offset: float | None = None,
        order: Literal["cyclic", "random", "shuffled"] = "cyclic",
        rate: float = 1.0,
        schedule: Literal["constant", "inverse"] = "constant",
        tie: Tie = "positive",
        keep: Literal["last", "best", "average"] = "last",
        margin: float = 0.0,
        fit_intercept: bool = True,
        max_updates: int = 1_000_000,
        max_passes: int = 10_000,
        budget: int | None = None,
        forget: Literal["oldest", "smallest"] = "oldest",
        cache_mb: float = 200.0,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.offset = offset
        self.order = order
        self.rate = rate
        self.schedule = schedule
        self.tie = tie
        self.keep = keep
        self.margin = margin
        self.fit_intercept = fit_intercept
        self.max_updates = max_updates
        self.max_passes = max_passes
        self.budget = budget
        self.forget = forget
        self.cache_mb = cache_mb
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p), dense or sparse, or a kernel matrix (n, n) if precomputed, and labels y (n,)."""
        options, kernel = self._options(), self._make_kernel()
        X, labels = self._rows_and_labels(X, y)
        classes = find_classes(labels)
        self.classes_, self.kernel_ = classes.values, with_scale(kernel, X)
        design = make_design(X, intercept=False)
        rows = KernelRows(self.kernel_, X, self.cache_mb, constant=float(bool(self.fit_intercept)))
        parts = [fit_kernel_perceptron(rows, design, target, options) for target in binary_targets(classes)]
        result = join_results(parts, self.classes_.tolist())
        self.n_updates_ = int(result.facts["updates"])
        passes = [part.facts["visits"] / part.facts["rows"] for part in parts]
        return self._store_fits(result, X, np.arange(X.shape[0]), passes)

    @property
    def alpha_(self) -> Floats:
        """The absolute coefficient of each training row: at rate 1, its number of updates."""
        check_is_fitted(self)
        return np.asarray(np.abs(self.result_.coef))

    def _options(self) -> KernelPerceptronOptions:
        options = PerceptronOptions(
            order=self.order,
            rate=self.rate,
            schedule=self.schedule,
            tie=self.tie,
            keep=self.keep,
            margin=self.margin,
            max_updates=self.max_updates,
            max_passes=self.max_passes,
            seed=seed_of(self.random_state),
        )
        return KernelPerceptronOptions(options, self.budget, self.forget)

    def _tie_side(self) -> Tie:
        return "negative" if self.tie == "negative" else "positive"


def _calibrates(self: KernelSVM) -> bool:
    if self.probability is False:
        raise AttributeError("predict_proba needs probability=True (Platt's sigmoid) or probability='isotonic'")
    return True


class _Rows(NamedTuple):
    """Rows of positive weight, their labels and weights, and their indices among all rows."""

    X: Any
    labels: NDArray[Any]
    weights: RowWeights
    places: Ints


class KernelSVM(KernelClassifier):
    """The kernel support vector machine, with a soft margin to a certified gap, or with a hard margin.

    Minimises ``Σ sᵢ max(0, 1 − yᵢ f(xᵢ)) / Σ sᵢ + strength/2 ‖w‖²`` over functions ``f(x) = w·φ(x) + b``; the intercept
    is not penalised. C of scikit-learn and LIBSVM is 1 / (n · strength). With `hard_margin`, the margin is maximised
    without mistakes; if the rows are not separable in the feature space, an OverlapError with the proof is raised.

    Parameters
    ----------
    kernel, gamma, degree, offset : as in KernelPerceptron
    strength : strength of the penalty, above 0
    hard_margin : whether to allow no mistakes; strength is then not used
    multiclass : "one_vs_one", with a fit for each pair of classes, or "one_vs_rest"
    tol : relative duality gap to reach; with a hard margin, relative gap between its two bounds
    max_steps : largest number of blocks of rows to solve
    cache_mb : memory in MB for kernel rows of 8 n bytes each, the least recently used being replaced; at least two rows
        are cached
    probability : True or "sigmoid" (Platt), or "isotonic": probabilities by calibration on the scores of 5 folds, which
        takes six more fits
    class_weight : None, "balanced", or a weight for each class; multiplied with the sample weights

    Attributes
    ----------
    support_, support_vectors_ : indices and features of the support vectors of all fits
    dual_coef_, intercept_ : yα of each, (fits, support), and (fits,): one fit for two classes, else K or K(K − 1)/2
    kernel_ : the kernel with all its parameters
    margin_ : the widest margin of each fit, if hard
    result_, certificate_, trace_ : status and gap; the evidence, which `verify(X, y)` re-checks; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    >>> model = sx.KernelSVM(kernel="rbf", gamma=1.0, strength=0.01).fit(X, y)
    >>> model.predict(X).tolist(), model.support_.tolist(), model.certificate_.verdict
    ([0, 0, 1, 1], [0, 1, 2, 3], 'optimal')

    Reference: Cortes and Vapnik (1995); Platt (1998, 1999); Joachims (1999); Fan, Chen and Lin (2005).
    """

    fit_intercept = True

    def __init__(  # noqa: PLR0913  # scikit-learn wants every option here
        self,
        *,
        kernel: Any = "rbf",
        gamma: float | Literal["scale"] = "scale",
        degree: int = 3,
        offset: float | None = None,
        strength: float = 1e-3,
        hard_margin: bool = False,
        multiclass: Literal["one_vs_one", "one_vs_rest"] = "one_vs_one",
        tol: float = 1e-3,
        max_steps: int = 2_000,
        cache_mb: float = 200.0,
        probability: bool | Literal["sigmoid", "isotonic"] = False,
        class_weight: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.offset = offset
        self.strength = strength
        self.hard_margin = hard_margin
        self.multiclass = multiclass
        self.tol = tol
        self.max_steps = max_steps
        self.cache_mb = cache_mb
        self.probability = probability
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), dense or sparse, or a kernel matrix (n, n) if precomputed, and labels y (n,)."""
        options = self._options(sample_weight)
        rows = self._rows(X, y, sample_weight)
        classes = find_classes(rows.labels)
        self.classes_ = classes.values
        parts, result = self._fit_classes(rows, classes, options)
        self._store_fits(result, rows.X, rows.places, [float(len(part.trace)) for part in parts])
        if self.probability is not False:
            self._calibrate(X, np.asarray(y).ravel(), sample_weight)
        return self

    @property
    def margin_(self) -> Any:
        """The widest margin in the feature space: a number, or one per fit; NaN for a soft margin."""
        check_is_fitted(self)
        margins = np.array([part.facts.get("margin", np.nan) for part in self.result_.parts or (self.result_,)])
        return float(margins[0]) if len(margins) == 1 else margins

    @available_if(_calibrates)  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    def predict_proba(self, X: Any) -> Floats:
        """Return the calibrated probability of each class, (n, K)."""
        check_is_fitted(self)
        return np.asarray(self.calibration_.predict_proba(X))

    def _options(self, sample_weight: Any) -> KernelSVMOptions:
        strength = require_number("strength", self.strength, above=0.0)
        tol = require_number("tol", self.tol, above=0.0)
        require_choice("multiclass", self.multiclass, ("one_vs_one", "one_vs_rest"))
        if self.probability is not False:
            require_choice("probability", str(self.probability), CALIBRATIONS)
        if self.hard_margin and not (sample_weight is None and self.class_weight is None):
            raise OptionError("hard_margin=True counts every row alike; leave weights out, or drop rows")
        return KernelSVMOptions(None if self.hard_margin else strength, tol, require_count("max_steps", self.max_steps))

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> _Rows:
        """Return the rows of positive weight; the scale of the kernel is determined by them."""
        kernel = self._make_kernel()
        X, labels = self._rows_and_labels(X, y)
        checked = self._weights(sample_weight, X)
        weights = np.ones(len(labels)) if checked is None else checked
        places = np.flatnonzero(weights)
        own, by_label = apply_class_weight(self.class_weight, labels[places], weights[places])
        own = np.asarray(own)
        places, own = places[own > 0.0], own[own > 0.0]
        if len(places) < len(labels):
            X = select_rows(kernel, X, places)
        find_classes(labels[places])
        self.kernel_ = with_scale(kernel, X)
        by_class = None if by_label is None else tuple(by_label.items())
        return _Rows(X, labels[places], RowWeights(own, by_class, checked is not None), places)

    def _fit_classes(
        self, rows: _Rows, classes: Classes, options: KernelSVMOptions
    ) -> tuple[list[FitResult], FitResult]:
        """Fit two classes, each against the rest with one kernel cache, or each pair on its own rows."""
        X, weights = rows.X, rows.weights
        if len(classes.values) == 2 or self.multiclass == "one_vs_rest":
            kernel_rows = KernelRows(self.kernel_, X, self.cache_mb)
            design = make_design(X, intercept=False)
            targets = binary_targets(classes)
            parts = [fit_kernel_svm(kernel_rows, design, target, options, weights) for target in targets]
            return parts, join_results(parts, self.classes_.tolist())
        pairs = class_pairs(classes)
        parts = [self._fit_pair(rows, pair.rows, pair.target, options) for pair in pairs]
        square = isinstance(self.kernel_, Precomputed)
        return parts, join_pairs(parts, pairs, len(rows.labels), square)

    def _fit_pair(self, rows: _Rows, own: Ints, target: BinaryTarget, options: KernelSVMOptions) -> FitResult:
        some = select_rows(self.kernel_, rows.X, own)
        weights = rows.weights._replace(rows=rows.weights.rows[own])
        kernel_rows = KernelRows(self.kernel_, some, self.cache_mb)
        return fit_kernel_svm(kernel_rows, make_design(some, intercept=False), target, options, weights)

    def _scores_of_classes(self, scores: Floats) -> Floats:
        return pair_votes(scores, len(self.classes_)) if self.multiclass == "one_vs_one" else scores

    def _calibrate(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Fit probabilities to the scores of held-out rows."""
        counts = np.unique(y, return_counts=True)[1]
        if counts.min() < FOLDS:
            raise DataError(
                f"probability={self.probability!r} needs {FOLDS} rows of each class; one has {counts.min()}: give more,"
                " or probability=False"
            )
        plain = clone(self).set_params(probability=False)
        method = CALIBRATIONS[str(self.probability)]
        self.calibration_ = CalibratedClassifierCV(plain, method=method, cv=FOLDS, ensemble=False)
        self.calibration_.fit(X, y, sample_weight=sample_weight)
