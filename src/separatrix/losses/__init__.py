"""Losses: what a prediction costs, as functions of `(eta, y)`; `ALL` holds one instance of each.

>>> [loss.name for loss in ALL if not loss.has_curvature]
['zero-one', 'perceptron', 'hinge']
"""

from __future__ import annotations

from separatrix.losses.base import Loss, ScalarLoss
from separatrix.losses.hinge import Hinge
from separatrix.losses.logistic import Logistic
from separatrix.losses.perceptron import Perceptron
from separatrix.losses.softmax import Softmax
from separatrix.losses.squared import Squared
from separatrix.losses.squared_hinge import SquaredHinge
from separatrix.losses.zero_one import ZeroOne

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
