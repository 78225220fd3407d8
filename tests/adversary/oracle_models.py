"""Oracles of least squares, of Firth's bias reduction, and of Gaussian classes with shared variances.

    Firth: ℓ*(w) = Σ sᵢ log σ(yᵢ w·xᵢ) + ½ log det I(w),  I(w) = Σ sᵢ vᵢ xᵢxᵢᵗ,  vᵢ = πᵢ(1 − πᵢ)
    Gaussian classes: wₖⱼ = μₖⱼ/σⱼ², bₖ = ln πₖ − Σⱼ μₖⱼ²/(2σⱼ²), variances divided by n, sums over the classes 0

Least squares and the moments of the classes are rational, the rest has 110 digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from oracle_objectives import mp, real
from oracle_rational import Vector, dot, null_space, rank, rational_rows, rationals, solve
from oracle_separability import positive_rows, signs_of

MOST_STEPS = 500
NEGLIGIBLE = mp.mpf("1e-75")


class LeastSquares(NamedTuple):
    """The least (weighted) sum of squared residuals, a solution, the rank, and a basis of the relations of columns.

    A relation is a vector v with Xv = 0 (intercept first); a column is aliased if it occurs in one.
    """

    rss: Fraction
    coef: Vector
    rank: int
    relations: list[Vector]
    aliased: tuple[int, ...]


def least_squares(X: Any, y: Any, fit_intercept: bool = True, weights: Any = None) -> LeastSquares:
    """Return the exact least squares fit; rows of weight 0 are left out, aliased columns may be dropped."""
    kept = positive_rows(weights, len(np.asarray(y)))
    every, targets = rational_rows(X, intercept=fit_intercept), rationals(np.asarray(y, dtype=np.float64).tolist())
    sizes = [Fraction(1)] * len(every) if weights is None else rationals(np.asarray(weights, dtype=np.float64))
    rows, y_, s = [every[i] for i in kept], [targets[i] for i in kept], [sizes[i] for i in kept]
    width = len(rows[0])
    relations = null_space(rows, width)
    free = {max(j for j, value in enumerate(vector) if value) for vector in relations}
    columns = [j for j in range(width) if j not in free]
    chosen = [[row[j] for j in columns] for row in rows]
    weighted = [[si * x for x in row] for si, row in zip(s, chosen, strict=True)]
    left, right = (list(zip(*matrix, strict=True)) for matrix in (chosen, weighted))
    gram = [[dot(a, b) for b in right] for a in left]
    reduced = solve(gram, [dot(column, y_) for column in right]) if columns else []
    coef = [Fraction(0)] * width
    for j, value in zip(columns, reduced, strict=True):
        coef[j] = value
    rss = residual_sum(X, y, coef, fit_intercept, weights)
    aliased = tuple(j for j in range(width) if any(vector[j] for vector in relations))
    return LeastSquares(rss, coef, len(columns), relations, aliased)


def residual_sum(X: Any, y: Any, coef: Any, fit_intercept: bool = True, weights: Any = None) -> Fraction:
    """Return the exact (weighted) sum of squared residuals at some coefficients."""
    rows, values = rational_rows(X, intercept=fit_intercept), rationals(coef)
    sizes = [Fraction(1)] * len(rows) if weights is None else rationals(np.asarray(weights, dtype=np.float64))
    targets = rationals(np.asarray(y, dtype=np.float64))
    residuals = [target - dot(row, values) for row, target in zip(rows, targets, strict=True)]
    return sum((size * r * r for size, r in zip(sizes, residuals, strict=True)), Fraction(0))


class FirthPoint(NamedTuple):
    """ℓ, ℓ* and ½ ∇ᵗ I⁻¹ ∇ of ℓ* at some coefficients, and whether ℓ* is strictly concave there."""

    coef: list[Any]
    loglik: Any
    penalised: Any
    distance: Any
    concave: bool


class _Firth(NamedTuple):
    rows: list[list[Any]]
    signs: list[int]
    weights: list[Any]

    def point(self, coef: Sequence[Any]) -> tuple[FirthPoint, list[list[Any]], list[list[Any]], list[Any]]:
        """Return the point, I, the Hessian of ℓ* and its gradient."""
        width = len(coef)
        etas = [mp.fsum(x * w for x, w in zip(row, coef, strict=True)) for row in self.rows]
        shares = [1 / (1 + mp.exp(-eta)) for eta in etas]
        v = [1 / (2 + mp.exp(eta) + mp.exp(-eta)) for eta in etas]
        information = self._sum_of_squares([s * vi for s, vi in zip(self.weights, v, strict=True)])
        inverse_rows = [solve(information, row) for row in self.rows]  # I⁻¹ xᵢ
        products = [[mp.fsum(a * b for a, b in zip(x, z, strict=True)) for z in inverse_rows] for x in self.rows]
        first = [s * vi * (1 - 2 * p) for s, vi, p in zip(self.weights, v, shares, strict=True)]
        second = [s * vi * (1 - 6 * vi) for s, vi in zip(self.weights, v, strict=True)]
        gradient = [mp.mpf(0)] * width
        for i, row in enumerate(self.rows):
            own = 1 / (1 + mp.exp(self.signs[i] * etas[i]))
            slope = self.signs[i] * self.weights[i] * own + first[i] * products[i][i] / 2
            gradient = [g + slope * x for g, x in zip(gradient, row, strict=True)]
        count = range(len(self.rows))
        halves = [second[i] * products[i][i] / 2 - self.weights[i] * v[i] for i in count]
        hessian = self._sum_of_squares(halves)
        mixed = [[first[i] * first[j] * products[i][j] ** 2 / 2 for j in count] for i in count]
        inner = [[mp.fsum(mixed[i][j] * self.rows[j][k] for j in count) for k in range(width)] for i in count]
        for a in range(width):
            for b in range(width):
                hessian[a][b] -= mp.fsum(self.rows[i][a] * inner[i][b] for i in count)
        loglik = -mp.fsum(
            s * mp.log1p(mp.exp(-sign * eta)) for s, sign, eta in zip(self.weights, self.signs, etas, strict=True)
        )
        step = solve(information, gradient)
        distance = mp.fsum(g * d for g, d in zip(gradient, step, strict=True)) / 2
        determinant, _ = _pivots(information)
        point = FirthPoint(
            list(coef),
            loglik,
            loglik + mp.log(determinant) / 2,
            distance,
            _pivots([[-h for h in row] for row in hessian])[1],
        )
        return point, information, hessian, gradient

    def _sum_of_squares(self, sizes: Sequence[Any]) -> list[list[Any]]:
        width = len(self.rows[0])
        total = [[mp.mpf(0)] * width for _ in range(width)]
        for size, row in zip(sizes, self.rows, strict=True):
            for a in range(width):
                for b in range(width):
                    total[a][b] += size * row[a] * row[b]
        return total


def _pivots(matrix: Sequence[Sequence[Any]]) -> tuple[Any, bool]:
    """Return the product of the pivots of a symmetric matrix, and whether all are positive (positive definite)."""
    rows, product, positive = [list(row) for row in matrix], mp.mpf(1), True
    for k in range(len(rows)):
        pivot = rows[k][k]
        if not pivot > 0:
            return product, False
        product *= pivot
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / pivot
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return product, positive


def _firth(X: Any, y: Any, fit_intercept: bool, weights: Any) -> _Firth:
    rows = rational_rows(X, intercept=fit_intercept)
    kept = positive_rows(weights, len(rows))
    sizes = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    if rank([rows[i] for i in kept]) < len(rows[0]):
        raise ValueError("the columns are linearly dependent, so the information is singular")
    signs = signs_of(np.asarray(y)[kept])
    return _Firth([[real(x) for x in rows[i]] for i in kept], signs, [mp.mpf(float(sizes[i])) for i in kept])


def firth_point(X: Any, y: Any, coef: Any, fit_intercept: bool = True, weights: Any = None) -> FirthPoint:
    """Return ℓ, ℓ* and the distance ½ ∇ᵗ I⁻¹ ∇ at some coefficients (the intercept first)."""
    values = [value if hasattr(value, "_mpf_") else real(Fraction(float(value))) for value in coef]
    return _firth(X, y, fit_intercept, weights).point(values)[0]


def firth(X: Any, y: Any, fit_intercept: bool = True, weights: Any = None, start: Any = None) -> FirthPoint:
    """Return a stationary point of ℓ* to 60 digits, a local maximum if it is `concave`; uphill from `start` or 0.

    Newton steps where ℓ* is concave, else scoring steps I⁻¹∇, both halved until ℓ* grows.
    """
    problem = _firth(X, y, fit_intercept, weights)
    coef = [mp.mpf(0)] * len(problem.rows[0]) if start is None else [mp.mpf(float(value)) for value in start]
    point, information, hessian, gradient = problem.point(coef)
    for _ in range(MOST_STEPS):
        matrix = [[-h for h in row] for row in hessian] if point.concave else information
        step = solve(matrix, gradient)
        length = mp.mpf(1)
        while True:
            trial = [w + length * d for w, d in zip(point.coef, step, strict=True)]
            reached, *derivatives = problem.point(trial)
            if point.distance < NEGLIGIBLE or reached.penalised > point.penalised:
                break
            length /= 2
            if length < 1e-60:
                raise ArithmeticError("the line search of Newton's method failed")
        if point.distance < NEGLIGIBLE:
            return reached
        point, (information, hessian, gradient) = reached, derivatives
    raise ArithmeticError(f"Newton's method took more than {MOST_STEPS} steps")


class Generative(NamedTuple):
    """Weights, means and shared variances of the classes in sorted order, exact; coefficients exact, intercepts mpf.

    Of two classes: one row of coefficients, of the second against the first. Of several: one per class, sums 0.
    """

    counts: Vector
    means: list[Vector]
    variances: Vector
    coef: list[Vector]
    intercept: list[Any]


def generative(X: Any, y: Any, weights: Any = None, priors: Any = None) -> Generative:
    """Return the Gaussian classes with shared variances; priors are the class frequencies unless given."""
    rows, labels = rational_rows(X), np.asarray(y)
    kept = positive_rows(weights, len(rows))
    sizes = [Fraction(1)] * len(rows) if weights is None else rationals(np.asarray(weights, dtype=np.float64))
    members = [[i for i in kept if labels[i] == label] for label in np.unique(labels[kept])]
    counts = [sum((sizes[i] for i in group), Fraction(0)) for group in members]
    columns = range(len(rows[0]))
    means = [
        [sum((sizes[i] * rows[i][j] for i in group), Fraction(0)) / count for j in columns]
        for group, count in zip(members, counts, strict=True)
    ]
    variances = [
        sum(
            (sizes[i] * (rows[i][j] - mean[j]) ** 2 for group, mean in zip(members, means, strict=True) for i in group),
            Fraction(0),
        )
        / sum(counts)
        for j in columns
    ]
    if not all(variances):
        raise ValueError(f"column {variances.index(Fraction(0))} has no variance inside the classes")
    shares = [count / sum(counts) for count in counts] if priors is None else rationals(priors)
    scores = [[mean / variance for mean, variance in zip(own, variances, strict=True)] for own in means]
    biases = [mp.log(real(share)) - real(dot(own, w)) / 2 for share, own, w in zip(shares, means, scores, strict=True)]
    if len(members) == 2:
        coef = [[b - a for a, b in zip(*scores, strict=True)]]
        return Generative(counts, means, variances, coef, [biases[1] - biases[0]])
    centre = [sum(column, Fraction(0)) / len(members) for column in zip(*scores, strict=True)]
    middle = mp.fsum(biases) / len(members)
    coef = [[w - c for w, c in zip(own, centre, strict=True)] for own in scores]
    return Generative(counts, means, variances, coef, [bias - middle for bias in biases])
