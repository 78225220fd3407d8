"""Designs with collinear columns: a few independent ones, and others that are combinations of these, to rounding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from separatrix.arrays import Floats


class CollinearDesign(NamedTuple):
    """Columns (n, p); those that R retains besides a constant; and one that is in no relation, without effect."""

    X: Floats
    retained: list[int]
    null: int
    score: Floats  # of which targets are made, (n,)


def temperatures(rng: np.random.Generator, rows: int) -> CollinearDesign:
    """Return °C with °F, and kg with lb, beside two columns of their own."""
    other, null = rng.normal(size=(2, rows))
    celsius, kg = rng.normal(15.0, 8.0, rows), rng.normal(70.0, 12.0, rows)
    X = np.column_stack([other, celsius, null, celsius * 1.8 + 32.0, kg, kg * 2.2046226218])
    return CollinearDesign(X, [0, 1, 2, 4], 2, 0.6 * other + 0.05 * (celsius - 15.0))


def shares(rng: np.random.Generator, rows: int) -> CollinearDesign:
    """Return shares that sum to 1, but for the last place."""
    parts, other, null = rng.dirichlet([2.0, 3.0, 4.0], size=rows), rng.normal(size=rows), rng.normal(size=rows)
    return CollinearDesign(np.column_stack([parts, other, null]), [0, 1, 3, 4], 4, 2.0 * parts[:, 0] + 0.5 * other)


def totals(rng: np.random.Generator, rows: int) -> CollinearDesign:
    """Return two amounts in cents, their total, and others."""
    first, second = np.round(rng.gamma(2.0, 5.0, size=(2, rows)), 2)
    other, null = rng.normal(size=(2, rows))
    X = np.column_stack([other, first, second, null, first + second])
    return CollinearDesign(X, [0, 1, 2, 3], 3, 0.5 * other + 0.05 * (first - 10.0))


def years(rng: np.random.Generator, rows: int) -> CollinearDesign:
    """Return a year, the age in that year in years and in weeks, and others."""
    year, (other, null) = rng.integers(1950, 2000, rows).astype(float), rng.normal(size=(2, rows))
    X = np.column_stack([null, year, 2024.0 - year, other, (2024.0 - year) / 7.0])
    return CollinearDesign(X, [0, 1, 3], 0, 0.5 * other + 0.02 * (year - 1975.0))


def random_combinations(rng: np.random.Generator, rows: int) -> CollinearDesign:
    """Return columns of any scale with one to three combinations of the first ones, the combinations last."""
    p = int(rng.integers(3, 6))
    own = rng.normal(size=(rows, p)) * 10.0 ** rng.integers(-3, 4, p)
    shares = rng.normal(size=(p - 1, int(rng.integers(1, 4)))) / np.abs(own[:, :-1]).max(axis=0)[:, np.newaxis]
    X = np.column_stack([own, own[:, :-1] @ shares + rng.normal(size=shares.shape[1])])
    return CollinearDesign(X, list(range(p)), p - 1, 0.8 * own[:, 0] / own[:, 0].std())


ALL = (temperatures, shares, totals, years, random_combinations)
