"""A separating halfspace by linear programming as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

from separatrix.design.base import Design
from separatrix.estimators.separating import OnOverlap, SeparatingClassifier
from separatrix.families.base import BinaryTarget
from separatrix.families.margin import fit_halfspace
from separatrix.fit.result import FitResult
from separatrix.separability.margin import MarginOptions


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
