"""Losses, the cost of a prediction, as functions of `(eta, y)`; `ALL` has one instance of each.

>>> [loss.name for loss in ALL if not loss.has_curvature]
['zero-one', 'perceptron', 'hinge']
"""

from __future__ import annotations

from typing import Any

from separatrix.errors import renamed
from separatrix.losses.base import Loss, ScalarLoss
from separatrix.losses.margin import Hinge, Logistic, PerceptronLoss, SquaredHinge, ZeroOne
from separatrix.losses.softmax import Softmax
from separatrix.losses.squared import Squared

__all__ = [
    "ALL",
    "Hinge",
    "Logistic",
    "Loss",
    "PerceptronLoss",
    "ScalarLoss",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "ZeroOne",
]

ALL: tuple[Loss, ...] = (ZeroOne(), PerceptronLoss(), Hinge(), SquaredHinge(), Logistic(), Squared(), Softmax())


def __getattr__(name: str) -> Any:
    return renamed(__name__, {"Perceptron": PerceptronLoss}, name)
