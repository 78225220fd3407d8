"""scikit-learn, told to do the same work.

A perceptron takes the rows in the same order, makes as many epochs as asked and has no tolerance to stop at. A convex
task is given to each of its solvers that can do it and is not known to be far behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, Ridge, enet_path
from sklearn.svm import LinearSVC

from measure import Contender
from objective import Answer, Method, Task
from problems import Problem

__all__ = ["FIRST_ANSWER", "LBFGS_LADDER", "MAX_ITER", "NAME", "PACKAGE", "least_squares", "methods", "perceptron"]

NAME, PACKAGE = "scikit-learn", "scikit-learn"
MAX_ITER = 1000
LBFGS_LADDER = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
SOFTMAX_LADDER = (2e-5, 1e-5, 5e-6)  # looser ones are known to stop far off, after a minute
NEWTON_LADDER = (1e-2, 1e-4, 1e-6, 1e-8)
LIBLINEAR_LADDER = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
PATH_LADDER = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)

FIRST_ANSWER = """
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Perceptron
X, y = load_breast_cancer(return_X_y=True)
print(Perceptron().fit(X, y).score(X, y))
"""


def perceptron(problem: Problem, epochs: int) -> Contender:
    """Return fits of the perceptron that make exactly so many epochs."""

    def fit() -> Mapping[str, Any]:
        model = Perceptron(max_iter=epochs, tol=None, shuffle=False).fit(problem.X, problem.y)
        return {"epochs": model.n_iter_}

    return fit


def least_squares(problem: Problem, *, cholesky: bool) -> Contender:
    """Return fits without inference: by LAPACK's singular values or, of hardly any ridge, by Cholesky."""

    def fit() -> Mapping[str, Any]:
        model = Ridge(alpha=1e-10, solver="cholesky") if cholesky else LinearRegression()
        return {"coef": model.fit(problem.X, problem.y).coef_}

    return fit


def methods(task: Task) -> list[Method]:
    """Return its solvers of a task."""
    if task.loss == "hinge":
        return [Method(f"{NAME} LinearSVC", lambda tolerance: _svm(task, tolerance), LIBLINEAR_LADDER)]
    if task.loss == "squared":
        X = sparse.csc_matrix(task.problem.X) if sparse.issparse(task.problem.X) else np.asfortranarray(task.problem.X)
        return [Method(f"{NAME} enet_path", lambda tolerance: _path(task, X, tolerance), PATH_LADDER)]
    return [_logistic(task, solver, ladder) for solver, ladder in _solvers(task).items()]


def _solvers(task: Task) -> dict[str, tuple[float, ...]]:
    """Return the solvers of a logistic or softmax task with the tolerances to try."""
    if task.l1_ratio > 0.0:
        return {"liblinear": LIBLINEAR_LADDER}
    if task.loss == "softmax":
        return {"lbfgs": SOFTMAX_LADDER}
    if sparse.issparse(task.problem.X):
        return {"liblinear": LIBLINEAR_LADDER, "newton-cg": NEWTON_LADDER, "lbfgs": LBFGS_LADDER}
    return {"lbfgs": LBFGS_LADDER, "newton-cholesky": NEWTON_LADDER}


def _logistic(task: Task, solver: str, ladder: tuple[float, ...]) -> Method:
    def run(tolerance: float) -> Answer:
        model = LogisticRegression(
            C=task.C,
            l1_ratio=task.l1_ratio,
            fit_intercept=task.intercept,
            solver=solver,
            tol=tolerance,
            max_iter=MAX_ITER,
        ).fit(task.problem.X, task.problem.y)
        return Answer.of(model.coef_, model.intercept_, exhausted=bool(np.max(model.n_iter_) >= MAX_ITER))

    return Method(f"{NAME} {solver}", run, ladder)


def _svm(task: Task, tolerance: float) -> Answer:
    model = LinearSVC(
        C=task.C,
        loss="hinge",
        dual=True,
        fit_intercept=task.intercept,
        tol=tolerance,
        max_iter=MAX_ITER,
        random_state=0,
    ).fit(task.problem.X, task.problem.y)
    return Answer.of(model.coef_, model.intercept_, exhausted=model.n_iter_ >= MAX_ITER)


def _path(task: Task, X: Any, tolerance: float) -> Answer:
    alphas = np.array(task.strengths)
    _, coefs, _ = enet_path(
        X, task.problem.y, l1_ratio=task.l1_ratio, alphas=alphas, tol=tolerance, max_iter=100 * MAX_ITER
    )
    return Answer.path(coefs.T)
