"""scikit-learn-intelex: scikit-learn's classes over oneDAL, for dense logistic and softmax fits by L-BFGS."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearnex.linear_model import LogisticRegression

from libraries.scikit_learn import MAX_ITER
from objective import Answer, Method, Task

__all__ = ["NAME", "PACKAGE", "methods"]

NAME, PACKAGE = "scikit-learn-intelex", "scikit-learn-intelex"
LADDER = (1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


def methods(task: Task) -> list[Method]:
    """Return its solver for dense logistic fits with an L2 penalty; elsewhere it hands over to scikit-learn."""
    if task.loss not in {"logistic", "softmax"} or sparse.issparse(task.problem.X) or task.l1_ratio != 0.0:
        return []

    def run(tolerance: float) -> Answer:
        model = LogisticRegression(C=task.C, fit_intercept=task.intercept, tol=tolerance, max_iter=MAX_ITER)
        model.fit(task.problem.X, task.problem.y)
        return Answer.of(model.coef_, model.intercept_, exhausted=bool(np.max(model.n_iter_) >= MAX_ITER))

    return [Method(f"{NAME} lbfgs", run, LADDER)]
