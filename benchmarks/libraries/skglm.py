"""skglm: working sets and proximal Newton steps, compiled by Numba at each first call of a process.

The columns that it wants one after another are laid out before the timer starts, in its favour.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from skglm import ElasticNet, Lasso, SparseLogisticRegression

from objective import Answer, Method, Task

__all__ = ["COMPILES", "NAME", "PACKAGE", "methods"]

NAME, PACKAGE = "skglm", "skglm"
COMPILES = True  # for some 15 s at a first call, whatever the size of the data
LADDER = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
MAX_ITER = 100
TALL = 20  # rows a column


def methods(task: Task) -> list[Method]:
    """Return its solver of sparse logistic fits, or of paths of the squared loss, none for smooth penalties.

    A LookupError says that it is left out of a tall dense path, which took it minutes at the loosest tolerance.
    """
    if task.l1_ratio == 0.0 or task.intercept:
        return []
    rows, columns = task.problem.X.shape
    if task.loss == "squared" and rows > TALL * columns and not sparse.issparse(task.problem.X):
        raise LookupError("a path of tall dense data took it minutes at its loosest tolerance")
    X = sparse.csc_matrix(task.problem.X) if sparse.issparse(task.problem.X) else np.asfortranarray(task.problem.X)
    if task.loss == "logistic":
        return [Method(f"{NAME} prox-newton", lambda tolerance: _logistic(task, X, tolerance), LADDER)]
    return [Method(f"{NAME} path", lambda tolerance: _path(task, X, tolerance), LADDER)]


def _logistic(task: Task, X: object, tolerance: float) -> Answer:
    model = SparseLogisticRegression(
        alpha=task.strength, l1_ratio=task.l1_ratio, tol=tolerance, max_iter=MAX_ITER, fit_intercept=False
    ).fit(X, task.problem.y)
    return Answer.of(model.coef_, exhausted=model.n_iter_ >= MAX_ITER)


def _path(task: Task, X: object, tolerance: float) -> Answer:
    alphas = np.array(task.strengths)
    options = {"tol": tolerance, "max_iter": MAX_ITER, "fit_intercept": False}
    model = Lasso(**options) if task.l1_ratio == 1.0 else ElasticNet(l1_ratio=task.l1_ratio, **options)
    coefs = model.path(X, task.problem.y, alphas, return_n_iter=False)[1]
    return Answer.path(coefs.T)
