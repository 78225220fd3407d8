"""The linear support vector machine as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Literal, Self

from separatrix.errors import require_choice, require_count, require_number
from separatrix.estimators.base import LinearClassifier
from separatrix.fit import ConvexOptions, binary_targets, fit_convex, join_results, linear_result
from separatrix.losses import Hinge, SquaredHinge
from separatrix.penalties import make_penalty
from separatrix.problem import Problem

__all__ = ["LinearSVM"]

LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}


class LinearSVM(LinearClassifier):
    """The soft-margin support vector machine with a linear score; more than two classes, each against the rest.

    Minimises ``Σ loss(y (w·x + b)) / n + strength/2 ‖w‖²``, the intercept never penalised. scikit-learn's and
    liblinear's C is 1 / (n · strength).

    Parameters
    ----------
    strength : of the penalty, above 0
    loss : "hinge" or "squared_hinge"
    fit_intercept : whether scores have a constant
    tol : the relative duality gap to reach; max_passes : over the rows, at most

    Attributes
    ----------
    coef_, intercept_, classes_ : (1, p) for two classes or (K, p)
    result_, certificate_, trace_ : status and gap; the certificate of optimality; the way there

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LinearSVM(strength=0.01).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.predict([[1.9], [2.1]]).tolist(), model.result_.status.value
    ([0, 1], 'optimal')

    Reference: Cortes and Vapnik, Support-vector networks (1995).
    """

    def __init__(
        self,
        *,
        strength: float = 1e-3,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_passes: int = 10_000,
    ) -> None:
        self.strength = strength
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_passes = max_passes

    def fit(self, X: Any, y: Any) -> Self:
        """Fit from X (n, p) dense or sparse and y (n,) labels."""
        loss = LOSSES[require_choice("loss", self.loss, LOSSES)]
        penalty = make_penalty(require_number("strength", self.strength, above=0.0), 0.0)
        passes = require_count("max_passes", self.max_passes)
        options = ConvexOptions(require_number("tol", self.tol, above=0.0), passes)
        design, labels = self._design_and_labels(X, y)
        results = []
        for target in binary_targets(self._classes(labels)):
            problem = Problem(design, target.signs, loss, penalty)
            fit = fit_convex(problem, options)
            provenance = {"strength": self.strength, "loss": self.loss}
            results.append(linear_result(problem, fit, options, labels=target.labels, provenance=provenance))
        result = join_results(results, self.classes_.tolist())
        self.n_iter_ = max(1, round(result.passes))
        return self._keep(result)
