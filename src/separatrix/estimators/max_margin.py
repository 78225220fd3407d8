"""The hard margin as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.arrays import Ints
from separatrix.certificates.margin import MarginCertificate
from separatrix.design.base import Design
from separatrix.estimators.separating import OnOverlap, SeparatingClassifier
from separatrix.families.base import BinaryTarget
from separatrix.fit.result import FitResult
from separatrix.separability.margin import MarginOptions, fit_max_margin

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
