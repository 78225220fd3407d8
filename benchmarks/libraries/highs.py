"""HiGHS, by SciPy: the linear program that tells whether rows can be separated, without proof."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import linprog

from measure import Contender
from problems import Problem

__all__ = ["separates"]

ENDED = 0  # the status of a program solved to its end


def separates(problem: Problem, seconds: float) -> Contender:
    """Return the program max Σ z·w subject to z·w ≥ 0 and |w| ≤ 1, z = y (1, x): 0 only for rows that overlap."""
    rays = np.column_stack([np.ones(problem.n), problem.X]) * problem.y[:, np.newaxis]

    def solve() -> Mapping[str, Any]:
        solved = linprog(
            -rays.sum(axis=0),
            A_ub=-rays,
            b_ub=np.zeros(problem.n),
            bounds=(-1.0, 1.0),
            method="highs",
            options={"time_limit": seconds},
        )
        return {"ended": solved.status == ENDED, "value": None if solved.fun is None else -float(solved.fun)}

    return solve
