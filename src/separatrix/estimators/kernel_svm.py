"""The support vector machine in a kernel's space as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from separatrix.arrays import Floats, Ints
from separatrix.design.build import make_design
from separatrix.design.kernel_matrix import KernelRows, select_rows
from separatrix.design.kernels import Precomputed
from separatrix.errors import DataError, OptionError, require_choice, require_count, require_number
from separatrix.estimators.kernel_base import KernelClassifier
from separatrix.estimators.weights import apply_class_weight
from separatrix.families.base import BinaryTarget, binary_targets, join_pairs, join_results, pair_votes, pairs_of
from separatrix.families.kernel import KernelSVMOptions, RowWeights, fit_kernel_svm
from separatrix.fit.labels import Classes, find_classes
from separatrix.fit.result import FitResult
from separatrix.separability.kernel import settle_kernel

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
        self.kernel_ = settle_kernel(kernel, X)
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
