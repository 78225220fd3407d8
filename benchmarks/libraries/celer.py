"""celer: working sets by dual extrapolation for L1 and elastic net, without an intercept.

The columns that it wants one after another are laid out before the timer starts, in its favour.
"""

from __future__ import annotations

import numpy as np
from celer import LogisticRegression, celer_path
from scipy import sparse

from objective import Answer, Method, Task

__all__ = ["NAME", "PACKAGE", "methods"]

NAME, PACKAGE = "celer", "celer"
LADDER = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
MAX_ITER = 100


def methods(task: Task) -> list[Method]:
    """Return its solver of sparse logistic fits, or of paths of the squared loss, none for smooth penalties."""
    if task.l1_ratio == 0.0 or task.intercept:
        return []
    X = sparse.csc_matrix(task.problem.X) if sparse.issparse(task.problem.X) else np.asfortranarray(task.problem.X)
    if task.loss == "logistic":
        return [Method(f"{NAME} prox-newton", lambda tolerance: _logistic(task, X, tolerance), LADDER)]
    return [Method(f"{NAME} path", lambda tolerance: _path(task, X, tolerance), LADDER)]


def _logistic(task: Task, X: object, tolerance: float) -> Answer:
    # It sums the losses and weighs them by C, the penalty by 1.
    model = LogisticRegression(C=task.C, tol=tolerance, max_iter=MAX_ITER).fit(X, task.problem.y)
    return Answer.of(model.coef_)


def _path(task: Task, X: object, tolerance: float) -> Answer:
    alphas = np.array(task.strengths)
    _, coefs, _ = celer_path(
        X, task.problem.y, "lasso", alphas=alphas, l1_ratio=task.l1_ratio, tol=tolerance, max_iter=MAX_ITER
    )
    return Answer.path(coefs.T)
