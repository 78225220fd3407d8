"""How well a regression predicts rows that it was not fitted on; e is observed less predicted.

    RMSE  √(mean e²), its interval the root of that of mean e² on the log scale
    R²    1 − mean e² / mean (y − ȳ)², its interval from that of 1 − R² on the log scale, each row's effect on it being
          e²/v − (1 − R²) (y − ȳ)²/v with v = mean (y − ȳ)²
    MAE   mean |e|;   bias   mean (predicted − observed)

Cost: one pass. On the rows of the fit the numbers are too good. R² is below 0 where ȳ would predict better.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from separatrix.errors import DataError
from separatrix.inference.evaluation.estimate import ALIKE, Estimate, mean_estimate, positive_estimate
from separatrix.inference.evaluation.rows import checked_weights, real_numbers
from separatrix.inference.level import require_level
from separatrix.inference.table import json_values

REGRESSOR_MEASURES = ("r_squared", "rmse", "mean_absolute_error", "bias")


@dataclass(frozen=True)
class RegressorEvaluation:
    """The measures of a regression with their intervals; `spread` is the RMSE of always predicting the mean."""

    rows: int
    level: float
    r_squared: Estimate
    rmse: Estimate
    mean_absolute_error: Estimate
    bias: Estimate
    spread: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON values."""
        values = {name: asdict(getattr(self, name)) for name in REGRESSOR_MEASURES}
        told: dict[str, Any] = json_values({"rows": self.rows, "level": self.level, **values, "spread": self.spread})
        return told


def evaluate_regressor(
    observed: Any, predicted: Any, weights: Any = None, *, level: float = 0.95
) -> RegressorEvaluation:
    """Return how well rows were predicted, with intervals: observed (n,), predicted (n,), how much each counts (n,).

    Examples
    --------
    >>> found = evaluate_regressor([1.0, 2.0, 3.0, 5.0], [1.5, 2.0, 2.5, 5.5])
    >>> round(found.r_squared.value, 4), round(found.rmse.value, 4)
    (0.9143, 0.433)
    """
    require_level(level)
    truth, told = real_numbers(observed, "observed"), real_numbers(predicted, "predicted")
    if truth.ndim != 1 or not len(truth) or told.shape != truth.shape:
        raise DataError(f"observed has shape {truth.shape} and predicted {told.shape}; give both as (n,), n at least 1")
    counted = checked_weights(weights, len(truth))
    kept = counted > 0.0
    truth, told, counted = truth[kept], told[kept], counted[kept]
    total, errors = counted.sum(), told - truth
    squares = errors**2
    mean_square = float(counted @ squares / total)
    around = (truth - counted @ truth / total) ** 2
    variance = float(counted @ around / total)
    return RegressorEvaluation(
        rows=len(truth),
        level=level,
        r_squared=_r_squared(squares / variance, around / variance, counted, level) if variance > 0.0 else _constant(),
        rmse=_root(positive_estimate(mean_square, squares - mean_square, counted, level)),
        mean_absolute_error=mean_estimate(np.abs(errors), counted, level, least=0.0),
        bias=mean_estimate(errors, counted, level),
        spread=math.sqrt(variance),
    )


def _r_squared(squares: Any, around: Any, weights: Any, level: float) -> Estimate:
    """Return R² from errors and deviations squared, both in units of the variance."""
    unexplained = float(weights @ squares / weights.sum())
    found = positive_estimate(unexplained, squares - unexplained * around, weights, level)
    if found.lower is None or found.upper is None:
        return Estimate(1.0 - unexplained, absent=found.absent or ALIKE)
    return Estimate(1.0 - unexplained, found.standard_error, 1.0 - found.upper, 1.0 - found.lower)


def _constant() -> Estimate:
    return Estimate(None, absent="the target is the same in every row, so that there is nothing to explain")


def _root(square: Estimate) -> Estimate:
    value = math.sqrt(square.value or 0.0)
    if square.lower is None or square.upper is None or square.standard_error is None:
        return Estimate(value, absent=square.absent)
    error = square.standard_error / (2.0 * value)
    return Estimate(value, error, math.sqrt(square.lower), math.sqrt(square.upper))
