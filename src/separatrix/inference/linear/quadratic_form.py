"""Wald's quadratic form, in columns of equal scale."""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats


def wald_statistic(coef: Floats, matrix: Floats) -> float | None:
    """Return b·V⁻¹·b; None if V is singular."""
    scale = np.sqrt(np.diag(matrix))
    if not (np.isfinite(scale).all() and scale.all()):
        return None
    try:
        factor = scipy.linalg.cholesky(matrix / np.outer(scale, scale), lower=True)
    except scipy.linalg.LinAlgError:
        return None
    if np.diag(factor).min() <= math.sqrt(len(coef) * np.finfo(np.float64).eps):
        return None
    root = scipy.linalg.solve_triangular(factor, coef / scale, lower=True)
    return float(root @ root)
