"""Whether an unpenalised logistic or softmax fit has a maximum to find, decided from the data at the fit's end.

*Separable*: once the total loss is below log 2 every row is right, so the classes are separated and the maximum is at
infinity. *Overlap*: with slopes λᵢ > 0, zᵢ = yᵢ xᵢ and r = Σ λᵢ zᵢ ≈ 0, a w with all zᵢ·w ≥ 0 would have ‖ΛZw‖ ≤ r·w,
so none exists if the least singular value of ΛZ exceeds ‖r‖ (in columns of equal scale, on the space that the rows
span): the maximum is attained. Anything else is *undecided* here: some coefficients may run off while others stay
(quasi-separation).

Cost: two passes and a Gram matrix.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from separatrix.problem import Problem

__all__ = ["Existence", "judge_existence", "separation_bound"]

Floats = NDArray[np.float64]
SAFETY = 100.0  # how much larger the singular value must be than the residual, for rounding
RANK_TOLERANCE = 1e-13  # relative to the largest, of eigenvalues in columns of equal scale, to count as 0
ROUNDING = 1e-12  # relative to the largest: what forming a Gram matrix may cost an eigenvalue
MAX_COEFFICIENTS = 3000


@dataclass(frozen=True)
class Existence:
    """The verdict on a maximum: 'separable' (none), 'overlap' (it exists) or 'undecided', and why.

    `decided` is False where the fit was stopped too early to tell anything.
    """

    verdict: str
    reason: str
    decided: bool = True


def separation_bound(problem: Problem) -> float:
    """Return the mean loss below which every row with a weight must be right."""
    least = 1.0 if problem.weights is None else float(problem.weights[problem.weights > 0.0].min())
    return math.log(2.0) * least / problem.total_weight


def judge_existence(problem: Problem, coef: Floats, objective: float) -> Existence:
    """Return whether the maximum of an unpenalised logistic or softmax likelihood is attained."""
    if objective < separation_bound(problem):
        return Existence("separable", "the classes are completely separated: every row is right at the last weights")
    if coef.size > MAX_COEFFICIENTS:
        return Existence("undecided", f"{coef.size:,} coefficients are too many to decide it here")
    least, residual = _least_singular_value(problem, coef)
    if least > SAFETY * residual:
        return Existence("overlap", "the classes overlap: no direction has every row on its own side")
    return Existence("undecided", "some coefficients may have no finite maximum: the classes may be quasi-separated")


def _least_singular_value(problem: Problem, coef: Floats) -> tuple[float, float]:
    """Return σ_min(ΛZ) on the rows' span and ‖r‖, both in columns of equal scale."""
    eta = problem.design.matvec(coef)
    slopes = np.asarray(problem.loss.slope(eta, problem.y))
    if slopes.ndim == 1:
        gram = problem.mean_hessian(slopes * slopes)
    else:
        gram = problem.mean_hessian(_pair_weights(slopes, problem.y))
    residual = problem.dual_coef(slopes).reshape(-1)
    scale = np.sqrt(np.maximum(np.repeat(problem.column_squares, coef.size // len(coef)), np.finfo(np.float64).tiny))
    span = scipy.linalg.eigh(_span(problem, coef, scale))
    kept = span[1][:, span[0] > RANK_TOLERANCE * span[0][-1]]
    inner = kept.T @ (gram / np.outer(scale, scale)) @ kept
    values = scipy.linalg.eigh(inner, eigvals_only=True)
    least = float(values[0]) - ROUNDING * float(values[-1])
    total = problem.total_weight
    return math.sqrt(max(least, 0.0) / total), float(np.linalg.norm(residual / scale))


def _pair_weights(slopes: Floats, y: NDArray[np.intp]) -> Floats:
    """Return Σ over other classes k of λₖ² (e_y − e_k)(e_y − e_k)ᵗ for each row, (n, K, K)."""
    squares = slopes * slopes
    rows = np.arange(len(y))
    squares[rows, y] = 0.0
    matrix = np.zeros((*slopes.shape, slopes.shape[1]))
    diagonal = np.arange(slopes.shape[1])
    matrix[:, diagonal, diagonal] = squares
    matrix[rows, :, y] -= squares
    matrix[rows, y, :] -= squares
    matrix[rows, y, y] = squares.sum(axis=1)
    return matrix


def _span(problem: Problem, coef: Floats, scale: Floats) -> Floats:
    """Return a matrix whose range is what the rows (and differences of classes) span, in columns of equal scale."""
    outputs = coef.size // len(coef)
    gram = problem.mean_hessian(np.ones(problem.design.shape[0]))
    centring = np.eye(outputs) - 1.0 / outputs if outputs > 1 else np.eye(1)
    return np.asarray(np.kron(gram, centring) / np.outer(scale, scale))
