"""Designs under a true null for logistic regression: columns and classes, of rare events or nearly separated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Drawn = tuple[np.ndarray, np.ndarray]


def near_separation(rng: np.random.Generator, n: int) -> Drawn:
    """A strong column leaves few rows on the wrong side; the null column is correlated with it."""
    strong = rng.normal(size=n)
    null = 0.5 * strong + rng.normal(size=n)
    y = 6.0 * strong + rng.logistic(size=n) > 0.0
    return np.column_stack([strong, null]), y.astype(int)


def near_separation_of_a_level(rng: np.random.Generator, n: int) -> Drawn:
    """A level has nearly one class only; the null column is a number."""
    level = (rng.random(n) < 0.2).astype(float)
    y = 4.0 * level - 1.0 + rng.logistic(size=n) > 0.0
    return np.column_stack([level, rng.exponential(size=n)]), y.astype(int)


def rare_events(rng: np.random.Generator, n: int) -> Drawn:
    """One row of twelve has the event; the null column is normal, beside another without effect."""
    return rng.normal(size=(n, 2)), (rng.random(n) < 1.0 / 12.0).astype(int)


def rare_events_of_a_level(rng: np.random.Generator, n: int) -> Drawn:
    """One row of twelve has the event; the null column marks a tenth of the rows, beside a number with an effect."""
    x, null = rng.normal(size=n), (rng.random(n) < 0.1).astype(float)
    y = x - 2.7 + rng.logistic(size=n) > 0.0
    return np.column_stack([x, null]), y.astype(int)


def rare_and_skewed(rng: np.random.Generator, n: int) -> Drawn:
    """One row of twelve has the event; the null column has a heavy tail, beside three others."""
    columns = rng.normal(size=(n, 4))
    columns[:, 0] = np.exp(1.5 * columns[:, 0])
    return columns, (rng.random(n) < 1.0 / 12.0).astype(int)


DESIGNS: dict[Callable[[np.random.Generator, int], Drawn], tuple[str, ...]] = {  # and their columns without an effect
    near_separation: ("x2",),
    near_separation_of_a_level: ("x2",),
    rare_events: ("x1", "x2"),
    rare_events_of_a_level: ("x2",),
    rare_and_skewed: ("x1",),
}
