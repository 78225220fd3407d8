"""What the classifiers that separate share: every class must be separable, or the fit refuses with the proof.

A separating halfspace by linear programming as a scikit-learn classifier.

The hard margin as a scikit-learn classifier.

The fewest training mistakes as a scikit-learn classifier.
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


class SeparatingClassifier(LinearClassifier):
    """A classifier that gets every training row right, or says why that cannot be."""

    tol: float
    max_passes: int
    on_overlap: OnOverlap

    @abstractmethod
    def _separate(self, design: Design, target: BinaryTarget, options: MarginOptions) -> FitResult:
        """Fit one class against the other, or the rest; rows that overlap raise an OverlapError."""

    def _fit_separately(self, design: Design, y: Any) -> tuple[Self, list[BinaryTarget]]:
        """Fit each class against the rest, of two one against the other; return the targets too."""
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
        return self._keep(result, frames=1), targets


def _soft(design: Design, target: BinaryTarget) -> FitResult:
    problem = Problem(design, target.signs, SquaredHinge(), make_penalty(SOFT_STRENGTH, 0.0))
    return fit_svm(problem, SOFT, labels=target.labels)


class HalfspaceLP(SeparatingClassifier):
    """A halfspace that gets every row right, found by linear programming (HiGHS) and verified exactly.

    Solves ``y (w·x + b) ≥ 1`` for all rows; units of the columns do not matter. Rows that no halfspace separates raise
    an OverlapError, which has the proof. Of more than two classes each must be separable from the rest.

    Parameters
    ----------
    fit_intercept : whether the halfspace may miss the origin
    tol : the relative gap up to which its margin is called the widest, should it be so
    max_passes : over the rows, at most
    on_overlap : "raise", or "soft": a class that cannot be gets LinearSVM(loss="squared_hinge"), with a warning

    Attributes
    ----------
    coef_, intercept_, classes_ : (1, p) for two classes or (K, p)
    result_, certificate_, trace_ : status; the margin reached and an upper bound on any, re-checkable; the way there

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
        """Fit from X (n, p) dense or sparse and y (n,) labels."""
        design, labels = self._design_and_labels(X, y)
        self._fit_separately(design, labels)
        return self

    def _separate(self, design: Design, target: BinaryTarget, options: MarginOptions) -> FitResult:
        return fit_halfspace(design, target.signs, options, labels=target.labels)


ON_THE_MARGIN = 1e-6  # relative: of a soft margin, rows this little beyond it still support it


class MaxMarginClassifier(SeparatingClassifier):
    """The halfspace of widest margin: the support vector machine that allows no mistake.

    Minimises ``‖w‖`` subject to ``y (w·x + b) ≥ 1`` for every row, so that the margin is ``γ = 1/‖w‖``, certified from
    both sides. Rows that no halfspace separates raise an OverlapError at once, which has the proof. Of more than two
    classes each must be separable from the rest.

    Parameters
    ----------
    fit_intercept : whether the halfspace may miss the origin; the intercept is no part of ‖w‖
    tol : the relative gap between the margin and its upper bound to reach; max_passes : over the rows, at most
    on_overlap : "raise", or "soft": a class that cannot be gets LinearSVM(loss="squared_hinge"), with a warning

    Attributes
    ----------
    coef_, intercept_, classes_ : (1, p) for two classes or (K, p)
    margin_, B_ : γ, the distance of the nearest row, and B = ‖w‖ = 1/γ; for more than two classes one each, (K,)
    support_, support_vectors_ : the rows that pin the halfspaces, and their features
    result_, certificate_, trace_ : status and gap; both bounds on the margin, re-checkable; the way there

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
        """Fit from X (n, p) dense or sparse and y (n,) labels."""
        design, labels = self._design_and_labels(X, y)
        _, targets = self._fit_separately(design, labels)
        support = [_support(part, design, target) for part, target in zip(self._parts(), targets, strict=True)]
        self.support_ = np.unique(np.concatenate(support))
        self.support_vectors_ = design.take(self.support_)[:, int(design.virtual) :]
        return self

    @property
    def margin_(self) -> Any:
        """The widest margin γ: a number or, for more than two classes, (K,); NaN where a soft margin was taken."""
        check_is_fitted(self)
        margins = np.array([part.facts.get("margin", np.nan) for part in self._parts()])
        return float(margins[0]) if len(self.classes_) == 2 else margins

    @property
    def B_(self) -> Any:  # noqa: N802  # the notes' name
        """The least norm B of weights with y (w·x + b) ≥ 1, which is 1/γ."""
        return 1.0 / self.margin_

    def _separate(self, design: Design, target: BinaryTarget, options: MarginOptions) -> FitResult:
        return fit_max_margin(design, target.signs, options, labels=target.labels)

    def _parts(self) -> tuple[FitResult, ...]:
        return self.result_.parts or (self.result_,)


def _support(part: FitResult, design: Design, target: BinaryTarget) -> Ints:
    """Return the rows that pin a halfspace."""
    if isinstance(part.certificate, MarginCertificate):
        return part.certificate.rows
    coef = np.append(np.full(int(design.virtual), float(part.intercept)), part.coef)
    return np.flatnonzero(target.signs * design.matvec(coef) <= 1.0 + ON_THE_MARGIN)


class ZeroOneClassifier(LinearClassifier):
    """The halfspace that makes the fewest mistakes on the training rows: the 0-1 loss itself, with a proof.

    Minimises ``#{i : yᵢ (w·xᵢ + b) ≤ 0}``: a score of exactly 0 counts as a mistake. That is NP-hard: on small or
    nearly separable data the minimum is reached and proved, elsewhere the search ends with a lower and an upper bound.
    More than two classes: each against the rest.

    Parameters
    ----------
    fit_intercept : whether the halfspace may miss the origin
    time_limit : seconds of search for each class, at most
    max_steps : linear programs for each class, at most; unlike a time limit it ends the same way everywhere
    watch : called with the facts of each step: `lower`, `upper`, `subsystems`, `seconds`

    Attributes
    ----------
    coef_, intercept_, classes_ : (1, p) for two classes or (K, p)
    result_, certificate_, trace_ : status and bounds; the mistakes and the proof of the bound; the way there

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
        """Fit from X (n, p) dense or sparse and y (n,) labels."""
        options = ZeroOneOptions(self.time_limit, self.max_steps)
        design, labels = self._design_and_labels(X, y)
        results = [
            fit_zero_one(design, target.signs, options, labels=target.labels, watch=self.watch)
            for target in binary_targets(self._classes(labels))
        ]
        result = join_results(results, self.classes_.tolist())
        self.n_iter_ = max(len(part.trace) for part in results)
        return self._keep(result)
