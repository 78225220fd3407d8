"""Separating classifiers (linear programming, widest margin, fewest mistakes) as scikit-learn estimators.

HalfspaceLP and MaxMarginClassifier need separable classes: otherwise the fit raises an error with the proof.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.arrays import Ints
from separatrix.certificates.margin import MarginCertificate
from separatrix.design.base import Design
from separatrix.errors import OverlapError, SeparationWarning, require_choice, require_count, require_number
from separatrix.estimators.base import LinearClassifier
from separatrix.families.base import BinaryTarget, binary_targets, join_results
from separatrix.families.margin import ZeroOneOptions, fit_halfspace, fit_zero_one
from separatrix.families.svm import fit_svm
from separatrix.fit.convex import ConvexOptions
from separatrix.fit.result import FitResult
from separatrix.fit.run import Watch
from separatrix.losses.margin import SquaredHinge
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.separability.margin import MarginOptions, fit_max_margin

OnOverlap = Literal["raise", "soft"]
SOFT = ConvexOptions(tol=1e-6, max_passes=10_000)
SOFT_STRENGTH = 1e-3  # LinearSVM's own
MARGIN_TOLERANCE = 1e-6  # relative: rows this little outside a soft margin still are its support vectors


class SeparatingClassifier(LinearClassifier):
    """Base class of classifiers without training mistakes, which refuse classes that overlap."""

    tol: float
    max_passes: int
    on_overlap: OnOverlap

    @abstractmethod
    def _separate(self, design: Design, target: BinaryTarget, options: MarginOptions) -> FitResult:
        """Fit one class against the other, or the rest; raise an OverlapError if they overlap."""

    def _fit_separately(self, design: Design, y: Any) -> tuple[Self, list[BinaryTarget]]:
        """Fit each class against the rest, or two against each other; return the targets too."""
        soft = require_choice("on_overlap", self.on_overlap, ("raise", "soft")) == "soft"
        tol, passes = require_number("tol", self.tol, least=0.0), require_count("max_passes", self.max_passes)
        targets = binary_targets(self._classes(y))
        results = []
        for target in targets:
            try:
                results.append(self._separate(design, target, MarginOptions(tol, passes)))
            except OverlapError as overlap:
                if not soft:
                    raise
                warnings.warn(f"a soft margin instead: {overlap}", SeparationWarning, stacklevel=3)
                results.append(_soft(design, target))
        result = join_results(results, self.classes_.tolist())
        self.n_iter_ = max(1, round(result.passes))
        return self._store(result, frames=1), targets


def _soft(design: Design, target: BinaryTarget) -> FitResult:
    problem = Problem(design, target.signs, SquaredHinge(), make_penalty(SOFT_STRENGTH, 0.0))
    return fit_svm(problem, SOFT, labels=target.labels)


class HalfspaceLP(SeparatingClassifier):
    """A separating halfspace, found by linear programming (HiGHS) and verified in exact arithmetic.

    Solves ``y (w·x + b) ≥ 1`` for all rows, whatever the units of the columns. If the classes are not separable, an
    OverlapError with the proof is raised. With more than two classes, each must be separable from the rest.

    Parameters
    ----------
    fit_intercept : whether scores have a constant, so that the boundary may miss the origin
    tol : relative gap up to which the margin counts as the widest
    max_passes : largest number of passes over the rows
    on_overlap : "raise", or "soft": fit LinearSVM(loss="squared_hinge") to a class that is not separable, and warn

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    result_, certificate_, trace_ : status; the margin and an upper bound on all margins, re-checkable; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> X = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]]
    >>> y = [1, 1, -1, -1, -1]
    >>> model = sx.HalfspaceLP(fit_intercept=False).fit(X, y)
    >>> bool((y * model.decision_function(X) >= 1).all()), bool(model.certificate_.verify(X, y))
    (True, True)

    Reference: Shalev-Shwartz and Ben-David, Understanding machine learning (2014), 9.1.1; Mangasarian (1965).
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-10,
        max_passes: int = 1000,
        on_overlap: OnOverlap = "raise",
    ) -> None:
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_passes = max_passes
        self.on_overlap = on_overlap

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p), dense or sparse, and labels y (n,)."""
        design, labels = self._design_and_labels(X, y)
        self._fit_separately(design, labels)
        return self

    def _separate(self, design: Design, target: BinaryTarget, options: MarginOptions) -> FitResult:
        return fit_halfspace(design, target.signs, options, labels=target.labels)


class MaxMarginClassifier(SeparatingClassifier):
    """The halfspace of widest margin: the hard-margin support vector machine.

    Minimises ``‖w‖`` subject to ``y (w·x + b) ≥ 1`` for every row; the margin ``γ = 1/‖w‖`` is certified from both
    sides. If the classes are not separable, an OverlapError with the proof is raised at once. With more than two
    classes, each must be separable from the rest.

    Parameters
    ----------
    fit_intercept : whether scores have a constant, which is not part of ‖w‖
    tol : relative gap to reach between the margin and its upper bound
    max_passes : largest number of passes over the rows
    on_overlap : "raise", or "soft": fit LinearSVM(loss="squared_hinge") to a class that is not separable, and warn

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    margin_, B_ : γ, the distance of the nearest row, and B = ‖w‖ = 1/γ; (K,) for more than two classes
    support_, support_vectors_ : indices and features of the rows on the margins
    result_, certificate_, trace_ : status and gap; both bounds on the margin, re-checkable; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> X = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]]
    >>> model = sx.MaxMarginClassifier(fit_intercept=False).fit(X, [1, 1, -1, -1, -1])
    >>> model.coef_, model.margin_, model.B_, model.support_.tolist()
    (array([[1., 0.]]), 1.0, 1.0, [0, 1])

    Reference: Vapnik, Estimation of dependences based on empirical data (1982); Wolfe, Finding the nearest point in a
    polytope (1976).
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-10,
        max_passes: int = 1000,
        on_overlap: OnOverlap = "raise",
    ) -> None:
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_passes = max_passes
        self.on_overlap = on_overlap

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p), dense or sparse, and labels y (n,)."""
        design, labels = self._design_and_labels(X, y)
        _, targets = self._fit_separately(design, labels)
        support = [_support(part, design, target) for part, target in zip(self._parts(), targets, strict=True)]
        self.support_ = np.unique(np.concatenate(support))
        self.support_vectors_ = design.take(self.support_)[:, int(design.virtual) :]
        return self

    @property
    def margin_(self) -> Any:
        """The widest margin γ: a number, or (K,) for more than two classes; NaN for a soft margin."""
        check_is_fitted(self)
        margins = np.array([part.facts.get("margin", np.nan) for part in self._parts()])
        return float(margins[0]) if len(self.classes_) == 2 else margins

    @property
    def B_(self) -> Any:  # noqa: N802  # the notes' name
        """The least norm B = 1/γ of weights with y (w·x + b) ≥ 1."""
        return 1.0 / self.margin_

    def _separate(self, design: Design, target: BinaryTarget, options: MarginOptions) -> FitResult:
        return fit_max_margin(design, target.signs, options, labels=target.labels)

    def _parts(self) -> tuple[FitResult, ...]:
        return self.result_.parts or (self.result_,)


def _support(part: FitResult, design: Design, target: BinaryTarget) -> Ints:
    """Return the indices of a halfspace's support vectors."""
    if isinstance(part.certificate, MarginCertificate):
        return part.certificate.rows
    coef = np.append(np.full(int(design.virtual), float(part.intercept)), part.coef)
    return np.flatnonzero(target.signs * design.matvec(coef) <= 1.0 + MARGIN_TOLERANCE)


class ZeroOneClassifier(LinearClassifier):
    """The halfspace with the fewest training mistakes: the minimum of the 0-1 loss, with a proof.

    Minimises ``#{i : yᵢ (w·xᵢ + b) ≤ 0}``: a score of exactly 0 counts as a mistake. This is NP-hard: for small or
    nearly separable data the minimum is reached and proved, otherwise the search ends with a lower and an upper bound.
    With more than two classes, each is fitted against the rest.

    Parameters
    ----------
    fit_intercept : whether scores have a constant, so that the boundary may miss the origin
    time_limit : longest search for each class, in seconds
    max_steps : largest number of linear programs for each class; unlike a time limit, it gives reproducible results
    watch : function called with the facts of each step: `lower`, `upper`, `subsystems`, `seconds`

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    result_, certificate_, trace_ : status and bounds; the mistakes and the proof of the bound; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = sx.load_demo("five-points-overlap")
    >>> model = sx.ZeroOneClassifier().fit(X, y)
    >>> print(model.certificate_.claim)
    1 mistake on 5 rows, and no halfspace makes fewer

    Reference: Amaldi, Pfetsch and Trotter, On the maximum feasible subsystem problem, IISs and IIS-hypergraphs (2003).
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        time_limit: float = 60.0,
        max_steps: int = 1_000_000,
        watch: Watch | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.time_limit = time_limit
        self.max_steps = max_steps
        self.watch = watch

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p), dense or sparse, and labels y (n,)."""
        options = ZeroOneOptions(self.time_limit, self.max_steps)
        design, labels = self._design_and_labels(X, y)
        results = [
            fit_zero_one(design, target.signs, options, labels=target.labels, watch=self.watch)
            for target in binary_targets(self._classes(labels))
        ]
        result = join_results(results, self.classes_.tolist())
        self.n_iter_ = max(len(part.trace) for part in results)
        return self._store(result)
