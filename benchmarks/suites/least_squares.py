"""Least squares with full inference, beside one product of the columns with each other and beside the peers."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import problems
from libraries import numpy_floor, ours, scikit_learn
from measure import Contender, Timing, once, take_turns
from report import Measurement, Row, Target

__all__ = ["MEASUREMENTS", "PACKAGES"]

OURS = "separatrix"
PACKAGES = ("scikit-learn", "scikit-learn-intelex", "statsmodels")
ROWS, COLUMNS, QUICK_ROWS = 1_000_000, 100, 50_000
FLOOR_RATIO = 1.5  # the fit with its table takes at most so many products of the columns
AGREE = 1e-6  # how near the coefficients of all must be


def full_table(quick: bool) -> Measurement:
    """1,000,000 × 100: the fit, its table, robust standard errors; others with and without inference."""
    problem = problems.regression(QUICK_ROWS if quick else ROWS, COLUMNS)
    works: dict[str, tuple[str, str, Contender]] = {
        "floor": ("NumPy", "X.T @ X, the products of the columns", numpy_floor.gram(problem)),
        "ours": (OURS, "fit and summary(): SE, t, p, intervals, F, AIC", ours.least_squares(problem, "classical")),
        "robust": (OURS, 'fit and summary(covariance="HC3")', ours.least_squares(problem, "HC3")),
        "ridge": ("scikit-learn", "Ridge, Cholesky; no inference", scikit_learn.least_squares(problem, cholesky=True)),
    }
    found = Measurement("least-squares-1m", f"Least squares on {problem.about}.", "to X.T @ X, best to best", notes=[])
    if (intelex := _library("intelex", found)) is not None:
        works["intelex"] = (intelex.NAME, "LinearRegression; no inference", intelex.least_squares(problem))
    timings = take_turns({name: work for name, (_, _, work) in works.items()}, repeats=3 if quick else 9)
    slow = {
        "scikit-learn": (
            "scikit-learn",
            "LinearRegression; no inference",
            scikit_learn.least_squares(problem, cholesky=False),
        )
    }
    if (statsmodels := _library("statsmodels", found)) is not None:
        slow |= {
            method: (statsmodels.NAME, f"OLS, {method}, and summary()", statsmodels.least_squares(problem, method))
            for method in ("pinv", "qr")
        }
    timings |= {name: once(work) for name, (_, _, work) in slow.items()}
    floor = timings["floor"].best
    for name, (library, work, _) in (works | slow).items():
        found.rows.append(
            Row.of(library, work, timings[name], passes=_passes(timings[name]), ratio=timings[name].best / floor)
        )
    ratio = timings["ours"].best / floor
    found.targets.append(Target(f"≤ {FLOOR_RATIO} × X.T @ X, table included", f"{ratio:.2f} ×", ratio <= FLOOR_RATIO))
    found.notes.append(_agreement(timings))
    return found


def _passes(timing: Timing) -> float | None:
    return timing.facts[0].get("passes")


def _agreement(timings: dict[str, Timing]) -> str:
    """Return in words how far the coefficients are apart."""
    coefs = {name: timing.facts[0]["coef"] for name, timing in timings.items() if "coef" in timing.facts[0]}
    apart = max(float(np.abs(coef - coefs["ours"]).max()) for coef in coefs.values())
    if apart > AGREE:
        raise AssertionError(f"coefficients differ by {apart:g}: not the same work was done")
    return f"the coefficients of all agree to {apart:.1g}"


def _library(name: str, found: Measurement) -> Any:
    """Return a peer's module, or None, noted, where it is not installed."""
    try:
        return import_module(f"libraries.{name}")
    except ImportError as absent:
        found.notes.append(f"skipped: {name} ({absent})")
        return None


MEASUREMENTS: dict[str, Callable[[bool], Measurement]] = {"least-squares-1m": full_table}
