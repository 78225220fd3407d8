"""The fewest training mistakes as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

from separatrix.estimators.base import LinearClassifier
from separatrix.families.base import binary_targets, join_results
from separatrix.families.margin import ZeroOneOptions, fit_zero_one
from separatrix.fit.run import Watch


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
