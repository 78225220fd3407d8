"""Tests of the assumptions of least squares: RESET, Durbin–Watson, Breusch–Pagan, Jarque–Bera, and outliers.

    RESET            F test of squares and cubes of the fitted values as additional columns
    Durbin–Watson    d = Σ (rᵢ − rᵢ₋₁)² / Σ rᵢ²,       P(d < c) = P(Σⱼ (λⱼ − c) zⱼ² < 0)
    Breusch–Pagan    the squared residuals explained by the columns, ½ ESS / σ̂⁴, studentised n R²; χ²
    Jarque–Bera      n (S² + K²/4) / 6 with skewness S and excess kurtosis K of the residuals; χ²
    outliers         the largest studentised residual, its p-value multiplied by the number of rows (Bonferroni)

Each returns measures, its own first, or the reason why there are none.

For d, z is standard normal; λ are the eigenvalues of A, the matrix of squared differences, restricted to the residual
space. By Imhof, the probability is ½ − ∫ Im φ(u) du / (π u), where φ is the characteristic function of the sum. No
eigenvalue is needed: the cosine transform diagonalises A, with entries aⱼ, and φ is the product of (1 − iu(aⱼ − c))^−½
times det(Qᵗ diag(1/(1 − iu(aⱼ − c))) Q)^−½, where Q is an orthonormal basis of the transformed columns. The eigenvalues
of that matrix have positive real parts, so that the root is unambiguous. The trapezoid rule in s, with
u ∝ exp(s − exp(−s)), gains digits with every halving of the step.

Cost: a few passes; for d some 100 products of size n × p × p, or with many columns the eigenvalues, O(n³). For larger
data, the normal approximation with the first two moments of d (one pass with as many products as a Gram matrix).

References: Ramsey (1969); Durbin and Watson (1971); Imhof, Computing the distribution of quadratic forms in normal
variables (1961); Breusch and Pagan (1979); Koenker (1981); Jarque and Bera (1980).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy.linalg
from scipy.special import ndtr, stdtr

from separatrix.arrays import Floats
from separatrix.design.base import one_blas_thread
from separatrix.fit.least_squares import fit_least_squares
from separatrix.inference.eligibility import Refusal
from separatrix.inference.influence import Influence
from separatrix.inference.table import Measure, chi2_probability, f_test

MIN_FREEDOM = 2  # degrees of freedom below which Durbin–Watson does not depend on the targets
NEGLIGIBLE = 1e-10  # residual of a dependent column, relative to its length
EXACT_ROWS = 2000  # up to which the exact distribution is used
FEW_COLUMNS = 60  # up to which determinants are cheaper than eigenvalues
CHUNK = 4096  # rows per block
TAIL = 1e-18  # |φ| beyond which the integral is cut off
AGREEMENT = 1e-13  # of successive trapezoid sums
HALVINGS = 7
RESOLUTION = 1e-13  # smallest p-value distinguished from 0
FIRST_POINT, LAST_POINT = -3.75, 90.0  # range of s; below it u is less than 1e-19 of its unit


def durbin_watson(rows: Influence) -> tuple[Measure, Measure, Measure] | str:
    """Return the test of the residuals in row order, two-sided, against positive and against negative correlation.

    Precision weights scale rows and residuals by their roots.
    """
    if rows.repeated and rows.problem.weights is not None:
        return Refusal.REPEATED_ROWS()
    if rows.degrees_of_freedom < MIN_FREEDOM:
        return Refusal.ONE_DEGREE()
    scaled = rows.scaled
    steps = np.diff(scaled)
    statistic = float(steps @ steps) / float(scaled @ scaled)
    if len(scaled) <= EXACT_ROWS:
        with one_blas_thread():
            below = _exact_probability(rows, statistic)
        p_values, how = (max(below, RESOLUTION), max(1.0 - below, RESOLUTION)), "exact"
    else:
        mean, deviation = _moments(rows)
        distance = (statistic - mean) / deviation
        p_values, how = (float(ndtr(distance)), float(ndtr(-distance))), "normal approximation"
    two_sided = Measure("Durbin–Watson", statistic, min(1.0, 2.0 * min(p_values)), how)
    positive, negative = (
        Measure(f"against {sign} correlation", statistic, p_value, f"one-sided, {how}")
        for sign, p_value in zip(("positive", "negative"), p_values, strict=True)
    )
    return two_sided, positive, negative


def _exact_probability(rows: Influence, statistic: float) -> float:
    """Return P(d < statistic) by Imhof's integral."""
    n = len(rows.places)
    independent = [j for j in range(len(rows.fit.coef)) if j not in rows.fit.aliased]
    columns = rows.problem.design.take(np.arange(n))[:, independent] * rows.roots[:, np.newaxis]
    basis, sizes = _diagonalise(columns / np.linalg.norm(columns, axis=0))
    return min(1.0, max(0.0, 0.5 - _imhof(basis, sizes - statistic) / math.pi))


def _diagonalise(columns: Floats) -> tuple[Floats, Floats]:
    """Return Q and a; with many columns an empty Q, and the eigenvalues λ."""
    n, p = columns.shape
    if p > FEW_COLUMNS:
        steps = np.diff(np.asarray(scipy.linalg.qr(columns)[0])[:, p:], axis=0)
        return np.zeros((n - p, 0)), np.asarray(scipy.linalg.eigvalsh(steps.T @ steps))
    basis = np.asarray(scipy.linalg.qr(columns, mode="economic")[0], dtype=np.float64)
    from scipy.fft import dct  # noqa: PLC0415  # slow to import, and rarely needed

    transformed: Floats = dct(basis, type=2, norm="ortho", axis=0)
    return transformed, 2.0 - 2.0 * np.cos(math.pi * np.arange(n) / n)


def _imhof(basis: Floats, shifts: Floats) -> float:
    """Return ∫ Im φ(u) du / u, by the trapezoid rule in s, where u = unit · exp(s − exp(−s))."""
    unit = 1.0 / float(np.linalg.norm(shifts))

    def integrand(point: float) -> complex:
        return _characteristic(basis, shifts, unit * math.exp(point - math.exp(-point))) * (1.0 + math.exp(-point))

    first, last = FIRST_POINT, 0.0
    while abs(integrand(last)) > TAIL and last < LAST_POINT:
        last += 1.0
    step, points = 0.25, np.arange(first, last, 0.25)
    total = step * math.fsum(integrand(point).imag for point in points)
    for _ in range(HALVINGS):
        between = points + step / 2.0
        finer = total / 2.0 + step / 2.0 * math.fsum(integrand(point).imag for point in between)
        step, points, change = step / 2.0, np.concatenate([points, between]), abs(finer - total)
        total = finer
        if change < AGREEMENT:
            break
    return total


def _characteristic(basis: Floats, shifts: Floats, u: float) -> complex:
    """Return φ(u)."""
    factors = 1.0 - 1j * u * shifts
    inverse = 1.0 / factors
    inner = (basis.T * inverse.real) @ basis + 1j * ((basis.T * inverse.imag) @ basis)
    logarithm = np.log(factors).sum() + np.log(np.linalg.eigvals(inner)).sum()
    return complex(np.exp(-0.5 * logarithm))


def _moments(rows: Influence) -> tuple[float, float]:
    """Return mean and standard deviation of d for independent errors."""
    n, freedom = len(rows.places), rows.degrees_of_freedom
    if not rows.problem.design.random_rows:
        return 2.0, 2.0 / math.sqrt(n)  # their limits
    once, twice = _difference_grams(rows)
    inverse = rows.fit.inverse_gram
    product = once @ inverse
    first = 2.0 * (n - 1) - float(np.trace(product))
    second = 2.0 * (3 * n - 4) - 2.0 * float(np.vdot(twice, inverse)) + float(np.vdot(product, product.T))
    mean = first / freedom
    variance = 2.0 / (freedom * (freedom + 2.0)) * (second - first * mean)
    return mean, math.sqrt(variance)


def _difference_grams(rows: Influence) -> tuple[Floats, Floats]:
    """Return XᵗAX and XᵗA²X of rows scaled by the roots of their precisions, in one pass."""
    design, n = rows.problem.design, len(rows.places)
    p = design.shape[1]
    once, twice = np.zeros((p, p)), np.zeros((p, p))
    for start in range(0, n, CHUNK):
        indices = np.arange(max(start - 1, 0), min(start + CHUNK + 1, n))
        scaled = design.take(indices) * rows.roots[indices, np.newaxis]
        steps = np.diff(scaled, axis=0, prepend=scaled[:1], append=scaled[-1:])  # 0 before the first and after the last
        inner = slice(start - indices[0], min(start + CHUNK, n) - indices[0])
        after, before = steps[1:][inner], steps[:-1][inner]
        once += before.T @ before
        second_differences = before - after
        twice += second_differences.T @ second_differences
    design.count_visits(n)
    return once, twice


def reset(rows: Influence) -> tuple[Measure] | str:
    """Return the F test of squares and cubes of the fitted values, which the columns must not span."""
    deviations = rows.fitted - (float(rows.fitted.mean()) if rows.problem.design.virtual else 0.0)  # the same test
    deviations = deviations / (float(np.abs(deviations).max()) or 1.0)
    powers, weights = np.column_stack([deviations**2, deviations**3]), rows.counts * rows.roots**2
    new = rows.project_off(powers)
    lengths, before = (np.sqrt(weights @ (columns * columns)) for columns in (new, powers))
    new = new[:, lengths > NEGLIGIBLE * before]
    added = np.asarray(np.sqrt(weights)[:, np.newaxis] * new)
    basis, triangle = np.linalg.qr(added / np.linalg.norm(added, axis=0)) if added.size else (added, added)
    basis = basis[:, np.abs(np.diag(triangle)) > NEGLIGIBLE]
    count, freedom = basis.shape[1], rows.degrees_of_freedom - basis.shape[1]
    if not count or freedom <= 0.0:
        return Refusal.POWERS_SPANNED()
    residuals = np.sqrt(rows.counts) * rows.scaled
    explained = basis.T @ residuals
    remainder = residuals - basis @ explained
    statistic = float(explained @ explained) / count / (float(remainder @ remainder) / freedom)
    return (f_test("RESET F", statistic, count, freedom),)


def breusch_pagan(rows: Influence) -> tuple[Measure, Measure] | str:
    """Return the test that the columns do not explain the squared residuals.

    The studentised form comes first; the original one assumes normal errors.
    """
    squares = rows.scaled**2
    mean = rows.rss / rows.n
    deviations = squares - mean
    if not rows.repeated and rows.problem.weights is not None:  # the basis depends on the weights
        problem = replace(rows.problem, weights=None)
        unweighted = Influence(problem, fit_least_squares(problem), rows.places)
    else:
        unweighted = rows
    unexplained, freedom = _project_off_columns(unweighted, deviations)
    explained = deviations - unexplained
    if not freedom or not deviations.any():
        return Refusal.NO_COLUMN()
    gain = float(rows.counts @ (explained * explained))
    studentised = rows.n * gain / float(rows.counts @ (deviations * deviations))
    original = _chi2_test("original Breusch–Pagan", 0.5 * gain / mean**2, freedom)
    return _chi2_test("studentised Breusch–Pagan", studentised, freedom), original


def _project_off_columns(rows: Influence, values: Floats) -> tuple[Floats, int]:
    """Return the residuals of a vector on the columns and a constant, and the rank without the constant."""
    rank = rows.fit.rank
    if rows.problem.design.virtual:
        return rows.project_off(values[:, np.newaxis])[:, 0], rank - 1
    residuals, ones = rows.project_off(np.column_stack([values, np.ones_like(values)])).T
    length = float(rows.counts @ (ones * ones))
    if length <= (NEGLIGIBLE * NEGLIGIBLE) * rows.n:
        return residuals, rank - 1
    return residuals - ones * (float(rows.counts @ (ones * residuals)) / length), rank


def jarque_bera(rows: Influence) -> tuple[Measure, Measure, Measure]:
    """Return the test that the residuals are normal, their skewness and their excess kurtosis."""
    deviations = rows.scaled - float(rows.counts @ rows.scaled) / rows.n
    squares = deviations * deviations
    powers = squares, squares * deviations, squares**2
    variance, third, fourth = (float(rows.counts @ power) / rows.n for power in powers)
    skewness, excess = third / variance**1.5, fourth / variance**2 - 3.0
    test = _chi2_test("Jarque–Bera", rows.n * (skewness**2 + excess**2 / 4.0) / 6.0, 2)
    return test, Measure("skewness", skewness), Measure("excess kurtosis", excess)


def outlier(rows: Influence) -> tuple[int, Measure] | None:
    """Return the largest studentised residual, its row first, with Bonferroni's p-value; None if there are none."""
    sizes = np.abs(rows.studentised)
    if np.isnan(sizes).all():
        return None
    row = int(np.nanargmax(sizes))
    p_value = min(1.0, rows.n * 2.0 * float(stdtr(rows.degrees_of_freedom - 1.0, -float(sizes[row]))))
    label = f"{rows.name(row)}; Bonferroni p"
    return row, Measure("largest studentised residual", float(rows.studentised[row]), p_value, label)


def _chi2_test(name: str, statistic: float, df: int) -> Measure:
    p_value = chi2_probability(statistic, df) if math.isfinite(statistic) else math.nan
    return Measure(name, statistic, p_value, f"on {df} degrees of freedom")
