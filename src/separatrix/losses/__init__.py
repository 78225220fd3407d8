"""Losses: what a prediction costs, as functions of `(eta, y)`; `ALL` holds one instance of each.

>>> [loss.name for loss in ALL if not loss.has_curvature]
['zero-one', 'perceptron', 'hinge']
"""

from __future__ import annotations

from separatrix.losses.base import Loss, ScalarLoss
from separatrix.losses.margin import Hinge, Logistic, Perceptron, SquaredHinge, ZeroOne
from separatrix.losses.softmax import Softmax
from separatrix.losses.squared import Squared

__all__ = [
    "ALL",
    "Hinge",
    "Logistic",
    "Loss",
    "Perceptron",
    "ScalarLoss",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "ZeroOne",
]

ALL: tuple[Loss, ...] = (ZeroOne(), Perceptron(), Hinge(), SquaredHinge(), Logistic(), Squared(), Softmax())
