"""Statistics of the assumptions of least squares, each with its degrees of freedom and p-value.

    RESET            F test of the squares and cubes of the fitted values as further columns
    Breusch–Pagan    how much of the squared residuals the columns explain: ½ ESS / σ̂⁴, studentised n R²; χ²
    Jarque–Bera      n (S² + K²/4) / 6 of the residuals' skewness S and excess kurtosis K; χ²
    outlier          the largest studentised residual, its p-value times the rows (Bonferroni)

Precisions scale the residuals by their roots, repetitions make a row as many. Cost: RESET and Breusch–Pagan two to
four passes each, the others none.

References: Ramsey (1969), Breusch and Pagan (1979), Koenker (1981), Jarque and Bera (1980).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.special

from separatrix.arrays import Floats
from separatrix.fit.least_squares import fit_least_squares
from separatrix.inference.diagnosis.fitted_rows import FittedRows
from separatrix.inference.diagnosis.influence import Influence

NEGLIGIBLE = 1e-10  # of a column's length: what is left of it, if it depends on the others


class Tested(NamedTuple):
    """A statistic, its degrees of freedom (the second None for χ²), and its p-value."""

    statistic: float
    freedom: float
    second: float | None
    p_value: float


class BreuschPagan(NamedTuple):
    """Both forms of the test: the studentised one does not need normal errors."""

    studentised: Tested
    original: Tested


class JarqueBera(NamedTuple):
    """The test, and the two numbers it is made of."""

    test: Tested
    skewness: float
    excess_kurtosis: float


class Outlier(NamedTuple):
    """The row with the largest studentised residual, and the p-value of one so large among so many."""

    row: int
    studentised: float
    p_value: float


def reset(rows: FittedRows) -> Tested | None:
    """Return the F test of squares and cubes of the fitted values; None where the columns already hold them."""
    powers = _powers(rows)
    weights = rows.counts * rows.roots**2
    left = rows.project_off(powers)
    lengths, before = (np.sqrt(weights @ (columns * columns)) for columns in (left, powers))
    left = left[:, lengths > NEGLIGIBLE * before]
    added = np.asarray(np.sqrt(weights)[:, np.newaxis] * left)
    basis, triangle = np.linalg.qr(added / np.linalg.norm(added, axis=0)) if added.size else (added, added)
    basis = basis[:, np.abs(np.diag(triangle)) > NEGLIGIBLE]
    count, freedom = basis.shape[1], rows.degrees_of_freedom - basis.shape[1]
    if not count or freedom <= 0.0:
        return None
    residuals = np.sqrt(rows.counts) * rows.scaled
    explained = basis.T @ residuals
    rest = residuals - basis @ explained
    statistic = float(explained @ explained) / count / (float(rest @ rest) / freedom)
    return Tested(statistic, count, freedom, float(scipy.special.fdtrc(count, freedom, statistic)))


def _powers(rows: FittedRows) -> Floats:
    """Return squares and cubes of the fitted values, taken about their mean where a constant makes that the same."""
    fitted = rows.fitted
    centre = float(fitted.mean()) if rows.problem.design.virtual else 0.0
    apart = fitted - centre
    scale = float(np.abs(apart).max()) or 1.0
    return np.column_stack([(apart / scale) ** 2, (apart / scale) ** 3])


def breusch_pagan(rows: FittedRows) -> BreuschPagan | None:
    """Return the test of the columns (and a constant) as explaining the squared residuals; None without a column."""
    squares = rows.scaled**2
    mean = rows.rss / rows.seen
    about = squares - mean
    plain = _unweighted(rows)
    left, freedom = _beside_constant(plain, about)
    explained = about - left
    if not freedom or not about.any():
        return None
    gain = float(rows.counts @ (explained * explained))
    studentised = rows.seen * gain / float(rows.counts @ (about * about))
    return BreuschPagan(*(_chi_squared(value, freedom) for value in (studentised, 0.5 * gain / mean**2)))


def _unweighted(rows: FittedRows) -> FittedRows:
    """Return rows that all count as much as another: those of precisions are fitted anew, for their columns' sake."""
    if rows.repeated or rows.problem.weights is None:
        return rows
    problem = replace(rows.problem, weights=None)
    return FittedRows(problem, fit_least_squares(problem), rows.places)


def _beside_constant(rows: FittedRows, about: Floats) -> tuple[Floats, int]:
    """Return what the columns and a constant leave of a vector, and how many columns there are beside the constant."""
    rank = rows.fit.rank
    if rows.problem.design.virtual:
        return rows.project_off(about[:, np.newaxis])[:, 0], rank - 1
    left, ones = rows.project_off(np.column_stack([about, np.ones_like(about)])).T
    length = float(rows.counts @ (ones * ones))
    if length <= (NEGLIGIBLE * NEGLIGIBLE) * rows.seen:
        return left, rank - 1
    return left - ones * (float(rows.counts @ (ones * left)) / length), rank


def jarque_bera(rows: FittedRows) -> JarqueBera:
    """Return the test of normal residuals."""
    about = rows.scaled - float(rows.counts @ rows.scaled) / rows.seen
    squares = about * about
    second, third, fourth = (float(rows.counts @ part) / rows.seen for part in (squares, squares * about, squares**2))
    skewness, excess = third / second**1.5, fourth / second**2 - 3.0
    test = _chi_squared(rows.seen * (skewness**2 + excess**2 / 4.0) / 6.0, 2)
    return JarqueBera(test, skewness, excess)


def outlier(influence: Influence) -> Outlier | None:
    """Return the row farthest from what the others say of it; None where they cannot say."""
    sizes = np.abs(influence.studentised)
    if np.isnan(sizes).all():
        return None
    row = int(np.nanargmax(sizes))
    rows = influence.rows
    tail = 2.0 * float(scipy.special.stdtr(rows.degrees_of_freedom - 1.0, -float(sizes[row])))
    return Outlier(row, float(influence.studentised[row]), min(1.0, rows.seen * tail))


def _chi_squared(statistic: float, freedom: int) -> Tested:
    p_value = float(scipy.special.chdtrc(freedom, statistic)) if math.isfinite(statistic) else math.nan
    return Tested(statistic, freedom, None, p_value)
