"""Least mean squares as a scikit-learn classifier and regressor."""

from __future__ import annotations

from typing import Any, Literal, Self

from separatrix.estimators.base import LinearClassifier, LinearRegressor, drop_weightless, seed_of
from separatrix.families.base import binary_targets, join_results
from separatrix.families.lms import LMSOptions, fit_lms, rate_limits
from separatrix.fit.result import FitResult


class _LMS:
    """The options of both estimators."""

    def __init__(  # noqa: PLR0913  # scikit-learn wants every option here
        self,
        *,
        update: Literal["batch", "stochastic"] = "batch",
        rate: float | None = None,
        schedule: Literal["constant", "inverse"] = "constant",
        order: Literal["cyclic", "random", "shuffled"] = "cyclic",
        start: Any = None,
        keep: Literal["last", "average"] = "last",
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_passes: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.update = update
        self.rate = rate
        self.schedule = schedule
        self.order = order
        self.start = start
        self.keep = keep
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_passes = max_passes
        self.random_state = random_state

    def _options(self) -> LMSOptions:
        return LMSOptions(
            update=self.update,
            rate=self.rate,
            schedule=self.schedule,
            order=self.order,
            start=self.start,
            keep=self.keep,
            tol=self.tol,
            max_passes=self.max_passes,
            seed=seed_of(self.random_state),
        )


def _steps(*results: FitResult) -> int:
    return max(1, *(round(result.facts["visits"] / result.facts["rows"]) for result in results))


class LMSClassifier(_LMS, LinearClassifier):
    """Least mean squares (Widrow-Hoff) on targets ±1; the sign of the score is the class.

    Minimises ``½ mean (w·x + b − t)²``, t = ±1, by ``w ← w − rate · mean (w·x − t) x`` (batch) or one row at a time. It
    converges to least squares whether or not the classes overlap, but least squares may misclassify rows of separable
    classes: a row far on its own side costs as much as one far on the wrong side. With more than two classes, each is
    fitted against the rest.

    Parameters
    ----------
    update : "batch", all rows at once, or "stochastic", one row at a time
    rate : None for half the largest rate that converges: 1/λmax (batch), λ the eigenvalues of XᵗX/n, or 1/R²
        (stochastic), R the largest ‖x‖. Texts that sum over the rows use this rate divided by n
    schedule : stochastic rate: "constant", or "inverse", rate/(1 + rate·λmin·k) after k visits, which converges
    order : order of stochastic visits: "cyclic"; "random", with replacement; "shuffled", a new permutation each pass
    start : None for zeros, "random" for small random numbers, or the weights, intercept first
    keep : stochastic weights to use: the "last", or the "average" over the second half of the run
    fit_intercept : whether scores have a constant
    tol : excess over the least squares objective to reach, relative to that of the best constant
    max_passes : largest number of passes over the rows
    random_state : seed of the order and of a random start

    Attributes
    ----------
    coef_, intercept_, classes_ : coefficients, (1, p) for two classes or (K, p)
    n_iter_ : passes over the rows
    result_, certificate_, trace_ : status and message; the distance from least squares; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LMSClassifier().fit([[0], [1], [2], [3]], ["no", "no", "yes", "yes"])
    >>> model.coef_.round(3), model.intercept_.round(3), str(model.result_.status)
    (array([[0.8]]), array([-1.2]), 'converged')

    Reference: Widrow and Hoff, Adaptive switching circuits (1960).
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), dense or sparse, and labels y (n,) of two or more classes, with weights (n,)."""
        options = self._options()
        design, labels, weights, _ = drop_weightless(*self._design_and_labels(X, y), self._weights(sample_weight, X))
        classes, limits = self._classes(labels), rate_limits(design, weights)
        results = [
            fit_lms(design, target.signs, options, labels=target.labels, limits=limits, weights=weights)
            for target in binary_targets(classes)
        ]
        self.n_iter_ = _steps(*results)
        return self._store(join_results(results, self.classes_.tolist()))


class LMSRegressor(_LMS, LinearRegressor):
    """Least mean squares (Widrow-Hoff): gradient descent to the least squares line.

    Minimises ``½ mean (w·x + b − y)²`` by ``w ← w − rate · mean (w·x − y) x`` (batch) or one row at a time.

    Parameters
    ----------
    As of `LMSClassifier`.

    Attributes
    ----------
    coef_, intercept_ : (p,) and a number
    n_iter_ : passes over the rows
    result_, certificate_, trace_ : status and message; the distance from least squares; the convergence

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LMSRegressor().fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
    >>> model.coef_.round(3), round(model.intercept_, 3)
    (array([1.162]), 1.108)

    Reference: Widrow and Hoff, Adaptive switching circuits (1960).
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X (n, p), dense or sparse, and numbers y (n,), with weights (n,)."""
        options = self._options()
        design, targets, weights, _ = drop_weightless(*self._design_and_targets(X, y), self._weights(sample_weight, X))
        result = fit_lms(design, targets, options, weights=weights)
        self.n_iter_ = _steps(result)
        return self._store(result)
