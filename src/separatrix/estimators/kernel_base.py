"""What the classifiers in a kernel's space share: the kernel by name, and scores from support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from separatrix.arrays import Floats, Ints
from separatrix.design.kernel_matrix import by_rows, kernel_scores
from separatrix.design.kernels import Kernel, Precomputed, make_kernel, require_gamma
from separatrix.design.row_source import array_of
from separatrix.errors import OptionError, require_number
from separatrix.estimators.base import ScoreClassifier
from separatrix.fit.result import FitResult

ACCEPTED: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class KernelClassifier(ScoreClassifier):
    """A classifier by scores Σ cⱼ k(x, xⱼ) + b over its support vectors."""

    DEFAULTS: ClassVar[dict[str, Any]] = {"gamma": "scale", "degree": 3, "offset": None}

    kernel: Any
    gamma: Any
    degree: Any
    offset: Any
    cache_mb: float
    kernel_: Kernel

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        return tags

    def decision_function(self, X: Any) -> Floats:
        """Return the scores: (n,) for two classes, positive for the second; (n, K) for more."""
        check_is_fitted(self)
        X = validate_data(self, array_of(X), reset=False, **ACCEPTED)
        scores = kernel_scores(self.kernel_, by_rows(X), self.support_vectors_, self.support_, self.dual_coef_)
        scores += self.intercept_
        return scores.ravel() if len(self.classes_) == 2 else self._scores_of_classes(scores)

    def _scores_of_classes(self, scores: Floats) -> Floats:
        """Return a score for each class from one for each fit."""
        return scores

    def _make_kernel(self) -> Kernel:
        """Return the kernel asked for; parameters that it does not have must be left as they are."""
        given = {"gamma": self.gamma, "degree": self.degree, "offset": self.offset}
        if not isinstance(self.kernel, str):
            changed = [name for name, value in given.items() if value is not None and value != self.DEFAULTS[name]]
            if changed:
                raise OptionError(f"kernel={self.kernel!r:.60} takes no {changed} here; give them to the kernel itself")
            return make_kernel(self.kernel)
        known = {field.name for field in fields(make_kernel(self.kernel))}  # type: ignore[arg-type]  # dataclasses
        if self.gamma != "scale":
            require_gamma(self.gamma)
        return make_kernel(self.kernel, **{k: v for k, v in given.items() if k in known and v is not None})

    def _rows_and_labels(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        require_number("cache_mb", self.cache_mb, above=0.0)
        X, y = validate_data(self, array_of(X), y, **ACCEPTED, ensure_all_finite=False)
        check_classification_targets(y)
        return by_rows(X), y

    def _keep_fits(self, result: FitResult, X: Any, places: Ints, steps: Sequence[float]) -> Self:
        """Take over coefficients (K, n) of the rows `places` as support vectors, and warn of a fit cut short."""
        coefs = np.atleast_2d(result.coef)
        support = np.flatnonzero(coefs.any(axis=0))
        self.result_ = result
        self.support_ = places[support]
        self.dual_coef_ = np.asarray(coefs[:, support])
        self.intercept_ = np.atleast_1d(result.intercept)
        self.support_vectors_ = np.empty((0, 0)) if isinstance(self.kernel_, Precomputed) else X[support]
        self.n_iter_ = max(1, int(np.ceil(max(steps))))
        self._warn(result, frames=1)
        return self
