"""The measures of an evaluation by name, in the order that they are read in."""

from __future__ import annotations

from collections.abc import Iterator

from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.evaluation_curves import Estimate
from separatrix.model.train import Evaluation

LARGE, LARGEST = 1e4, 1e15  # between which a number is told in full


def measures_of(found: Evaluation) -> Iterator[tuple[str, Estimate]]:
    """Yield each measure that there is, with its interval where it has one."""
    if not isinstance(found, ClassifierEvaluation):
        yield "R²", found.r_squared
        yield "RMSE", found.rmse
        yield "mean absolute error", found.mean_absolute_error
        return
    yield "accuracy", found.accuracy
    yield "of always the commonest", Estimate(found.baseline_accuracy)
    yield "AUC", found.auc
    if found.log_loss.value is not None:
        yield "log loss", found.log_loss
    if found.reliability is not None:
        yield "calibration error", Estimate(found.reliability.error)


def with_interval(found: Estimate) -> str:
    """Return a value with its interval, four digits each, large numbers in full.

    >>> with_interval(Estimate(0.25, lower=0.123456, upper=0.4)), with_interval(Estimate(12345.6))
    ('0.25 (0.1235 to 0.4)', '12,346')
    """
    if found.lower is None or found.upper is None:
        return "—" if found.value is None else _digits(found.value)
    return f"{_digits(found.value or 0.0)} ({_digits(found.lower)} to {_digits(found.upper)})"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if LARGE <= abs(value) < LARGEST else f"{value:.4g}"
