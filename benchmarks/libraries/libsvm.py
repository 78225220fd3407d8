"""LIBSVM as scikit-learn has it: SVC on one core, its tolerance the only way to ask for precision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.svm import SVC

from measure import Contender
from separatrix.certificates.optimality import KernelPoint, kernel_bound
from separatrix.certificates.spaces import KernelSpace
from separatrix.design.kernel_matrix import training_scores
from separatrix.design.kernels import RBF
from separatrix.solvers.kernel_dual import middle_intercept

__all__ = ["LADDER", "NAME", "fits", "worst_gap"]

NAME = "scikit-learn SVC"
LADDER = (1e-2, 1e-3, 1e-4)  # 1e-3 is its own


def fits(X: np.ndarray, y: np.ndarray, gamma: float, C: float, tolerance: float, cache_mb: float) -> Contender:
    """Return fits to a tolerance, the model among their facts."""

    def fit() -> Mapping[str, Any]:
        model = SVC(C=C, gamma=gamma, tol=tolerance, cache_size=cache_mb).fit(X, y)
        return {"model": model}

    return fit


def worst_gap(model: SVC, X: np.ndarray, y: np.ndarray) -> float:
    """Return the largest relative duality gap of its fits of two classes, each with the best intercept."""
    return max(_gap(X[rows], signs, coef, model) for rows, signs, coef in _pairs(model, y))


def _pairs(model: SVC, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the rows, signs and coefficients of each two classes; of more than two, its first class is positive."""
    classes, support = model.classes_, model.support_
    several = len(classes) > 2
    for first, second in combinations(range(len(classes)), 2):
        rows = np.flatnonzero((y == classes[first]) | (y == classes[second]))
        signs = np.where(y[rows] == classes[first if several else second], 1.0, -1.0)
        coef = np.zeros(len(y))
        for own, line in ((first, second - 1), (second, first)):
            mine = y[support] == classes[own]
            coef[support[mine]] = model.dual_coef_[line, mine]
        yield rows, signs, coef[rows]


def _gap(X: np.ndarray, signs: np.ndarray, coef: np.ndarray, model: SVC) -> float:
    caps, scores = np.full(len(signs), model.C), training_scores(RBF(model.gamma), X, coef)
    intercept = middle_intercept(signs - scores, caps, float(caps[signs > 0.0].sum()))
    space, strength = KernelSpace(RBF(model.gamma), X), 1.0 / float(caps.sum())
    support = np.flatnonzero(coef)
    point = KernelPoint(support, coef[support], intercept)
    return kernel_bound(space, signs, np.ones(len(signs)), strength, point).relative_gap
