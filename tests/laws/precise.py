"""References of 420 digits, enough for log(1 + exp(-800)), and distances to them in units in the last place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

DIGITS = 420
ONE = Decimal(1)
HALF = Decimal("0.5")


def precisely(formula: Callable[..., Decimal], *arguments: float) -> Decimal:
    """Return the formula at float arguments, evaluated with 420 digits."""
    with localcontext() as context:
        context.prec = DIGITS
        return formula(*map(Decimal, arguments))


def ulps(computed: Any, reference: Decimal) -> float:
    """Return how far a float is from the reference, in units in the last place of the reference."""
    with localcontext() as context:
        context.prec = DIGITS
        return float(abs(Decimal(float(computed)) - reference) / Decimal(math.ulp(float(reference))))


def worst_ulps(computed: Iterable[Any], references: Iterable[Decimal]) -> float:
    """Return the largest distance of floats from their references."""
    return max(ulps(number, reference) for number, reference in zip(computed, references, strict=True))


def ulps_between(a: Any, b: Any) -> float:
    """Return the largest distance between two float arrays, in units in the last place of the first."""
    return float(np.max(np.abs(np.asarray(a) - b) / np.spacing(np.maximum(np.abs(a), np.finfo(float).tiny))))


def softplus(x: Decimal) -> Decimal:
    return (ONE + x.exp()).ln()


def sigmoid(x: Decimal) -> Decimal:
    return ONE / (ONE + (-x).exp())


def sigmoid_slope(x: Decimal) -> Decimal:
    return sigmoid(x) * sigmoid(-x)


def entropy_term(q: Decimal) -> Decimal:
    return q * q.ln() if q else Decimal(0)


def binary_entropy(q: Decimal) -> Decimal:
    return entropy_term(q) + entropy_term(ONE - q)


def log_sum_exp(*eta: Decimal) -> Decimal:
    return sum((entry.exp() for entry in eta), Decimal(0)).ln()


def softmax(*eta: Decimal) -> list[Decimal]:
    weights = [entry.exp() for entry in eta]
    return [weight / sum(weights) for weight in weights]
