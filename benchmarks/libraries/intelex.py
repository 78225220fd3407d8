"""scikit-learn-intelex: scikit-learn's classes over oneDAL, for dense fits: least squares, logistic and softmax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearnex.linear_model import LinearRegression, LogisticRegression

from libraries.scikit_learn import MAX_ITER
from measure import Contender
from objective import Answer, Method, Task
from problems import Problem

__all__ = ["NAME", "PACKAGE", "least_squares", "methods"]

NAME, PACKAGE = "scikit-learn-intelex", "scikit-learn-intelex"
LADDER = (1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


def least_squares(problem: Problem) -> Contender:
    """Return fits without inference, by the normal equations."""

    def fit() -> Mapping[str, Any]:
        return {"coef": LinearRegression().fit(problem.X, problem.y).coef_}

    return fit


def methods(task: Task) -> list[Method]:
    """Return its solver for dense logistic fits with an L2 penalty; elsewhere it hands over to scikit-learn."""
    if task.loss not in {"logistic", "softmax"} or sparse.issparse(task.problem.X) or task.l1_ratio != 0.0:
        return []

    def run(tolerance: float) -> Answer:
        model = LogisticRegression(C=task.C, fit_intercept=task.intercept, tol=tolerance, max_iter=MAX_ITER)
        model.fit(task.problem.X, task.problem.y)
        return Answer.of(model.coef_, model.intercept_, exhausted=bool(np.max(model.n_iter_) >= MAX_ITER))

    return [Method(f"{NAME} lbfgs", run, LADDER)]
