"""The perceptron in a kernel's space as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.arrays import Floats
from separatrix.design.build import make_design
from separatrix.design.kernel_matrix import KernelRows
from separatrix.estimators.base import seed_of
from separatrix.estimators.kernel_base import KernelClassifier
from separatrix.families.base import binary_targets, join_results
from separatrix.families.kernel import KernelPerceptronOptions, fit_kernel_perceptron
from separatrix.families.perceptron import PerceptronOptions
from separatrix.fit.labels import find_classes
from separatrix.loops.online import Tie
from separatrix.separability.kernel import settle_kernel


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
        self.classes_, self.kernel_ = classes.values, settle_kernel(kernel, X)
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
