"""NumPy and SciPy, for the floor: no pass over the data is shorter than reading them, nor than their scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from measure import Contender
from problems import Problem

__all__ = ["gram", "read_once", "scores"]


def read_once(problem: Problem) -> Contender:
    """Return sums of all entries: X.sum()."""

    def read() -> Mapping[str, Any]:
        problem.X.sum()
        return {}

    return read


def gram(problem: Problem) -> Contender:
    """Return products of all columns with each other: X.T @ X."""

    def multiply() -> Mapping[str, Any]:
        problem.X.T @ problem.X
        return {}

    return multiply


def scores(problem: Problem, times: int) -> Contender:
    """Return so many products with a weight vector: X @ w."""
    w = np.random.default_rng(0).standard_normal(problem.X.shape[1])

    def multiply() -> Mapping[str, Any]:
        for _ in range(times):
            problem.X @ w
        return {}

    return multiply
