"""What the classifiers in a kernel's space share: the kernel by name, and scores from support vectors.

The perceptron in a kernel's space as a scikit-learn classifier.

The support vector machine in a kernel's space as a scikit-learn classifier.
"""

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
from separatrix.design.row_source import array_of
from separatrix.errors import DataError, OptionError, require_choice, require_count, require_number
from separatrix.estimators.base import ScoreClassifier, apply_class_weight, seed_of
from separatrix.families.base import BinaryTarget, binary_targets, join_pairs, join_results, pair_votes, pairs_of
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


class KernelClassifier(ScoreClassifier):
    """A classifier by scores Σ cⱼ k(x, xⱼ) + b over its support vectors."""

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
        X = validate_data(self, array_of(X), reset=False, **ACCEPTED)
        scores = kernel_scores(self.kernel_, by_rows(X), self.support_vectors_, self.support_, self.dual_coef_)
        scores += self.intercept_
        return scores.ravel() if len(self.classes_) == 2 else self._scores_of_classes(scores)

    def _scores_of_classes(self, scores: Floats) -> Floats:
        """Return a score for each class from one for each fit."""
        return scores

    def _make_kernel(self) -> Kernel:
        """Return the kernel asked for; parameters that it does not have must be left as they are."""
        given = {"gamma": self.gamma, "degree": self.degree, "offset": self.offset}
        if not isinstance(self.kernel, str):
            changed = [name for name, value in given.items() if value is not None and value != self.DEFAULTS[name]]
            if changed:
                raise OptionError(f"kernel={self.kernel!r:.60} takes no {changed} here; give them to the kernel itself")
            return make_kernel(self.kernel)
        known = {field.name for field in fields(make_kernel(self.kernel))}  # type: ignore[arg-type]  # dataclasses
        if self.gamma != "scale":
            require_gamma(self.gamma)
        return make_kernel(self.kernel, **{k: v for k, v in given.items() if k in known and v is not None})

    def _rows_and_labels(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        require_number("cache_mb", self.cache_mb, above=0.0)
        X, y = validate_data(self, array_of(X), y, **ACCEPTED, ensure_all_finite=False)
        check_classification_targets(y)
        return by_rows(X), y

    def _keep_fits(self, result: FitResult, X: Any, places: Ints, steps: Sequence[float]) -> Self:
        """Take over coefficients (K, n) of the rows `places` as support vectors, and warn of a fit cut short."""
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
    """The perceptron in its dual form: a line in a kernel's space, a curve here, its mistakes against their bound.

    A mistake on row i adds ``rate · yᵢ`` to its coefficient cᵢ; the score of x is ``Σ cⱼ (k(x, xⱼ) + 1)``. With the
    linear kernel it is Perceptron, update for update. Rows that some function of the kernel's space separates with
    margin γ, inside radius R there, are learned in at most (R/γ)² updates. Of more than two classes, one against the
    rest.

    Parameters
    ----------
    kernel : "rbf", "linear", "polynomial", "sigmoid", "precomputed" (X is then the matrix), one of sx.kernels, or a
        function of two matrices (n, p), (m, p) that returns (n, m)
    gamma, degree, offset : of the kernel named: exp(−gamma ‖a − b‖²), (gamma a·b + offset)^degree, tanh(gamma a·b +
        offset); gamma "scale" is 1 / (p · variance of all entries); offset None is 1 (polynomial) or 0 (sigmoid)
    order, rate, schedule, tie, margin, fit_intercept, max_updates, max_passes, random_state : as Perceptron's
    keep : "last" coefficients; "best", with fewest training mistakes; "average" over all visits
    budget : how many rows may count at most, None for any number; beyond it one is forgotten at each update, which
        loses the guarantee to converge
    forget : with a budget, the row that goes: "oldest", its last update longest ago, or "smallest" in size |c|
    cache_mb : memory for kernel rows, the ones used longest ago making way; 8 bytes a row, and two rows at least

    Attributes
    ----------
    alpha_ : updates made on each training row, times the rate: (n,) or, of K classes, (K, n)
    support_, support_vectors_, dual_coef_, intercept_ : rows that count, their features, signed coefficients, constant
    kernel_ : the kernel with every parameter known; n_updates_ : T of all classes together; n_iter_ : passes
    result_, certificate_, trace_ : status and message; the mistake bound in the kernel's space; the way there

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
        """Fit from X (n, p) dense or sparse (of a precomputed kernel (n, n)) and y (n,) labels."""
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
        return self._keep_fits(result, X, np.arange(X.shape[0]), passes)

    @property
    def alpha_(self) -> Floats:
        """The size of each training row's coefficient: at rate 1 a count of its updates."""
        check_is_fitted(self)
        return np.asarray(np.abs(self.result_.coef))

    def _options(self) -> KernelPerceptronOptions:
        asked = PerceptronOptions(
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
        return KernelPerceptronOptions(asked, self.budget, self.forget)

    def _tie_side(self) -> Tie:
        return "negative" if self.tie == "negative" else "positive"


FOLDS = 5  # of the calibration
CALIBRATIONS = {"True": "sigmoid", "sigmoid": "sigmoid", "isotonic": "isotonic"}


def _calibrates(self: KernelSVM) -> bool:
    if self.probability is False:
        raise AttributeError("predict_proba needs probability=True (Platt's sigmoid) or probability='isotonic'")
    return True


class _Rows(NamedTuple):
    """Rows that have a weight above 0, their labels and weights, and their places among all."""

    X: Any
    labels: NDArray[Any]
    weights: RowWeights
    places: Ints


class KernelSVM(KernelClassifier):
    """The support vector machine in a kernel's space: a soft margin to a certified gap, or a hard one.

    Minimises ``Σ sᵢ max(0, 1 − yᵢ f(xᵢ)) / Σ sᵢ + strength/2 ‖w‖²`` over functions ``f(x) = w·φ(x) + b``, the intercept
    never penalised; scikit-learn's and LIBSVM's C is 1 / (n · strength). With `hard_margin` the margin is the widest
    there is, and rows that no function of the space separates raise an OverlapError, which has the proof.

    Parameters
    ----------
    kernel, gamma, degree, offset : as KernelPerceptron's
    strength : of the penalty, above 0
    hard_margin : whether no mistake is allowed at all; strength is not used then
    multiclass : "one_vs_one", a fit on the rows of each two classes, or "one_vs_rest"
    tol : the relative duality gap to reach (of a hard margin, that of its two bounds); max_steps : blocks of rows to
        solve at most
    cache_mb : memory for kernel rows, the ones used longest ago making way; 8 bytes a row, and two rows at least
    probability : True or "sigmoid" (Platt), or "isotonic": probabilities by calibration on scores of 5 folds, at the
        price of six more fits
    class_weight : None, "balanced", or a weight for each class; multiplies the rows' weights

    Attributes
    ----------
    support_, support_vectors_ : the rows that some fit rests on, and their features
    dual_coef_, intercept_ : yα of each, (fits, support), and (fits,): one fit of two classes, K or K(K − 1)/2 of more
    kernel_ : the kernel with every parameter known; margin_ : of a hard margin, the widest, one for each fit
    result_, certificate_, trace_ : status and gap; the evidence, which `verify(X, y)` re-checks; the way there

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
        """Fit from X (n, p) dense or sparse (of a precomputed kernel (n, n)), y (n,) labels and rows' weights."""
        options = self._options(sample_weight)
        rows = self._rows(X, y, sample_weight)
        classes = find_classes(rows.labels)
        self.classes_ = classes.values
        parts, result = self._fit_classes(rows, classes, options)
        self._keep_fits(result, rows.X, rows.places, [float(len(part.trace)) for part in parts])
        if self.probability is not False:
            self._calibrate(X, np.asarray(y).ravel(), sample_weight)
        return self

    @property
    def margin_(self) -> Any:
        """The widest margin in the kernel's space: a number or, of several fits, one each; of a soft margin, NaN."""
        check_is_fitted(self)
        margins = np.array([part.facts.get("margin", np.nan) for part in self.result_.parts or (self.result_,)])
        return float(margins[0]) if len(margins) == 1 else margins

    @available_if(_calibrates)  # type: ignore[untyped-decorator]  # scikit-learn is untyped
    def predict_proba(self, X: Any) -> Floats:
        """Return each class's probability by the calibration asked for, (n, K)."""
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
        """Return the rows that count, with the kernel settled on them."""
        kernel = self._make_kernel()
        X, labels = self._rows_and_labels(X, y)
        given = self._weights(sample_weight, X)
        weights = np.ones(len(labels)) if given is None else given
        places = np.flatnonzero(weights)
        own, by_label = apply_class_weight(self.class_weight, labels[places], weights[places])
        own = np.asarray(own)
        places, own = places[own > 0.0], own[own > 0.0]
        if len(places) < len(labels):
            X = select_rows(kernel, X, places)
        find_classes(labels[places])
        self.kernel_ = with_scale(kernel, X)
        by_class = None if by_label is None else tuple(by_label.items())
        return _Rows(X, labels[places], RowWeights(own, by_class, given is not None), places)

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
        pairs = pairs_of(classes)
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
        """Fit probabilities to scores that each row got from a fit without it."""
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
