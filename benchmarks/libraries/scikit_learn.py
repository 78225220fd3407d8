"""scikit-learn, told to do the same work: the same order of rows, as many epochs as asked, no tolerance to stop at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.linear_model import Perceptron

from measure import Contender
from problems import Problem

__all__ = ["FIRST_ANSWER", "perceptron"]

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
