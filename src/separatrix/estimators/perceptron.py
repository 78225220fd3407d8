"""The perceptron family as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate
from separatrix.design.build import make_design
from separatrix.estimators.base import LinearClassifier, UnweightedFit, checked_rows
from separatrix.families import perceptron
from separatrix.families.options import PerceptronOptions


class Perceptron(PerceptronOptions, UnweightedFit, LinearClassifier):
    """The perceptron of Rosenblatt in all its variants, its mistakes counted against their bound.

    Each mistake moves the weights towards the row: ``w ← w + rate · y · x``. If a hyperplane separates the rows, it
    makes at most (R/γ)² updates and stops at the n-th consecutive correct visit; otherwise it stops at a limit, with a
    warning, and returns the weights that `keep` selects. With more than two classes, each is fitted against the rest.

    {parameters}

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    n_updates_, n_iter_ : number of updates over all classes; passes over the rows, rounded up
    result_, certificate_, trace_ : status and message; the mistake bound, re-checkable; the convergence
    overlap_ : the proof of overlap that stopped the fit, re-checkable; None if there was none

    Examples
    --------
    >>> import separatrix as sx
    >>> X = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]]
    >>> y = [1, 1, -1, -1, -1]
    >>> model = sx.Perceptron(fit_intercept=False).fit(X, y)
    >>> model.coef_, model.n_updates_, round(model.certificate_.bound)
    (array([[5., 1.]]), 5, 17)

    Reference: Rosenblatt, The perceptron (1958); Novikoff (1962); Gallant (1990); Freund and Schapire (1999).
    """

    def partial_fit(self, X: Any, y: Any, classes: Sequence[Any] | None = None) -> Self:
        """Continue with one pass over these rows; the first call needs all `classes`."""
        options = self._options()
        rows, first = self._partial_rows(X, y, classes)
        states = [] if first else self.fitted_.details["states"]
        return self._keep(perceptron.fit(rows, options, states=states))

    @property
    def n_updates_(self) -> int:
        return int(self.result_.facts["updates"])

    @property
    def overlap_(self) -> Certificate | None:
        """The proof that the classes overlap, if it stopped the fit; with several classes, one for each stopped fit."""
        return self.fitted_.result.overlap

    @property
    def votes_(self) -> list[tuple[Floats, Floats]]:
        """The voters of each halfspace, if `keep` is "vote": weights (T + 1, p), and the visits that each survived."""
        if self.fitted_.options.keep != "vote":
            raise AttributeError("votes_ exists after a fit with keep='vote'")
        return [state.ballot() for state in self.fitted_.details["states"]]

    def _scores(self, X: Any) -> Floats:
        fitted = self.fitted_
        if fitted.options.keep != "vote":
            return super()._scores(X)
        design = make_design(checked_rows(self, X), intercept=self.fit_intercept)
        states, tie = fitted.details["states"], fitted.options.tie
        return np.column_stack([perceptron.row_scores(design, state, tie) for state in states])
