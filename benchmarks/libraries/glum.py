"""glum: generalised linear models by iteratively reweighted least squares, for dense data of not too many columns."""

from __future__ import annotations

from glum import GeneralizedLinearRegressor
from scipy import sparse

from objective import Answer, Method, Task

__all__ = ["NAME", "PACKAGE", "methods"]

NAME, PACKAGE = "glum", "glum"
LADDER = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
MAX_ITER = 300


def methods(task: Task) -> list[Method]:
    """Return its solver for dense logistic fits with an L2 penalty; its Hessian is too large for a text."""
    if task.loss != "logistic" or sparse.issparse(task.problem.X) or task.l1_ratio != 0.0:
        return []
    y = (task.problem.y > 0.0).astype(float)

    def run(tolerance: float) -> Answer:
        model = GeneralizedLinearRegressor(
            alpha=task.strength,
            family="binomial",
            fit_intercept=task.intercept,
            gradient_tol=tolerance,
            max_iter=MAX_ITER,
        ).fit(task.problem.X, y)
        return Answer.of(model.coef_, model.intercept_, exhausted=model.n_iter_ >= MAX_ITER)

    return [Method(f"{NAME} irls", run, LADDER)]
