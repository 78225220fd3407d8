"""The perceptron family as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import check_is_fitted

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate
from separatrix.design.base import Design
from separatrix.errors import DataError
from separatrix.estimators.base import LinearClassifier, seed_of
from separatrix.families.base import binary_targets, join_results
from separatrix.families.perceptron import Ballot, PerceptronFit, PerceptronOptions, fit_perceptron
from separatrix.fit.labels import Classes
from separatrix.loops.online import Tie
from separatrix.solvers.perceptron import PerceptronState


class Perceptron(LinearClassifier):
    """The perceptron of Rosenblatt in all its variants, its mistakes counted against their bound.

    Each mistake moves the weights towards the row: ``w ← w + rate · y · x``. If a hyperplane separates the rows, it
    makes at most (R/γ)² updates and stops at the n-th consecutive correct visit; otherwise it stops at a limit, with a
    warning, and returns the weights that `keep` selects. With more than two classes, each is fitted against the rest.

    Parameters
    ----------
    update : "single" corrects each mistake as it is made; "batch", all mistakes of a pass at once
    order : order of the visits: "cyclic"; "random", with replacement; "shuffled", a new permutation each pass
    rate : learning rate, above 0; from a zero start it only scales the weights
    schedule : "constant", or "inverse": rate / k for the k-th update
    start : None for zeros, "random" for small random numbers, or the weights, intercept first (if fitted)
    tie : meaning of a score of exactly 0: "positive" (predicts the second class), "negative" (the first), "mistake"
        (for either class), "correct" (for either class)
    keep : weights to use: the "last"; the "best", with the fewest training mistakes (pocket algorithm); the "average"
        over all visits; the "vote" of all
    margin : a visit with y·score below this margin is corrected too
    fit_intercept : whether scores have a constant, so that the boundary may miss the origin
    max_updates, max_passes : limits at which it stops, with a status and a warning
    random_state : seed of "random" and "shuffled" orders and of a random start
    on_overlap : "run" to a limit, or "stop" once it is proved that no weights classify all rows correctly, which is
        checked once, after ten passes and 2,000 visits or at a limit; a partial fit does not stop

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

    def __init__(  # noqa: PLR0913  # scikit-learn wants every option here
        self,
        *,
        update: Literal["single", "batch"] = "single",
        order: Literal["cyclic", "random", "shuffled"] = "cyclic",
        rate: float = 1.0,
        schedule: Literal["constant", "inverse"] = "constant",
        start: Any = None,
        tie: Tie = "positive",
        keep: Literal["last", "best", "average", "vote"] = "last",
        margin: float = 0.0,
        fit_intercept: bool = True,
        max_updates: int = 1_000_000,
        max_passes: int = 10_000,
        random_state: Any = None,
        on_overlap: Literal["run", "stop"] = "run",
    ) -> None:
        self.update = update
        self.order = order
        self.rate = rate
        self.schedule = schedule
        self.start = start
        self.tie = tie
        self.keep = keep
        self.margin = margin
        self.fit_intercept = fit_intercept
        self.max_updates = max_updates
        self.max_passes = max_passes
        self.random_state = random_state
        self.on_overlap = on_overlap

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to X (n, p), dense or sparse, and labels y (n,) of two or more classes."""
        options = self._options()
        design, labels = self._design_and_labels(X, y)
        return self._store_fits(self._fit_classes(design, self._classes(labels), options, None))

    def partial_fit(self, X: Any, y: Any, classes: Sequence[Any] | None = None) -> Self:
        """Continue with one pass over these rows; the first call needs all `classes`."""
        first = _check_partial_fit_first_call(self, classes)
        options = self._options()
        design, labels = self._design_and_labels(X, y, reset=first)
        self._require_known_labels(labels)
        codes = np.searchsorted(self.classes_, labels)
        states = self._new_states(design.shape[1], options) if first else [fit.state for fit in self._fits]
        return self._store_fits(self._fit_classes(design, Classes(self.classes_, codes), options, states))

    @property
    def overlap_(self) -> Certificate | None:
        """The proof that the classes overlap, if it stopped the fit; with several classes, one for each stopped fit."""
        check_is_fitted(self)
        return self.result_.overlap

    @property
    def votes_(self) -> list[Ballot]:
        """The voters of each halfspace, if `keep` is "vote": their weights, and the visits that each survived."""
        ballots = [fit.ballot for fit in self._fits if fit.ballot is not None]
        if not ballots:
            raise AttributeError("votes_ exists after a fit with keep='vote'")
        return ballots

    def _options(self) -> PerceptronOptions:
        return PerceptronOptions(
            update=self.update,
            order=self.order,
            rate=self.rate,
            schedule=self.schedule,
            start=self.start,
            tie=self.tie,
            keep=self.keep,
            margin=self.margin,
            max_updates=self.max_updates,
            max_passes=self.max_passes,
            seed=seed_of(self.random_state),
            on_overlap=self.on_overlap,
        )

    def _new_states(self, p: int, options: PerceptronOptions) -> list[PerceptronState]:
        rng = np.random.default_rng(options.seed)
        count = 1 if len(self.classes_) == 2 else len(self.classes_)
        return [PerceptronState(options.start_weights(p, rng), options.keep) for _ in range(count)]

    def _fit_classes(
        self, design: Design, classes: Classes, options: PerceptronOptions, states: list[PerceptronState] | None
    ) -> list[PerceptronFit]:
        """Fit the second class against the first or, for more than two, each against the rest."""
        return [
            fit_perceptron(design, target.signs, options, labels=target.labels, state=states[k] if states else None)
            for k, target in enumerate(binary_targets(classes))
        ]

    def _store_fits(self, fits: list[PerceptronFit]) -> Self:
        self._fits = fits
        results = [fit.result for fit in fits]
        result = join_results(results, self.classes_.tolist())
        self.n_updates_ = int(result.facts["updates"])
        self.n_iter_ = int(np.ceil(max(part.facts["visits"] / part.facts["rows"] for part in results)))
        return self._store(result, frames=1)

    def _require_known_labels(self, labels: NDArray[Any]) -> None:
        unknown = ~np.isin(labels, self.classes_)
        if unknown.any():
            row = int(np.flatnonzero(unknown)[0])
            raise DataError(
                f"row {row} has label {labels[row].item()!r}, which is not among classes {self.classes_.tolist()}"
            )

    def _tie_side(self) -> Tie:
        return "negative" if self.tie == "negative" else "positive"

    def _scores(self, design: Design) -> Floats:
        if self._fits[0].ballot is None:
            return super()._scores(design)
        return np.column_stack([fit.scores(design) for fit in self._fits])
