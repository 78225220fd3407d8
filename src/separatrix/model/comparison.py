"""Perceptron, LMS and logistic regression on the same two classes: one shape of update, three errors.

    w ← w − rate · error · x        perceptron  sign(s) − y        LMS  s − y        logistic  σ(s) − (y + 1)/2

with the score s = w·x (+ b) and the label y = ±1. Each is fitted to its end: the perceptron by its rule, LMS at its
limit, which is least squares on the labels, logistic regression at its maximum, where it has one. Every loss is then
measured at every one's weights. Cost: three fits and three passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import losses
from separatrix.design import Design
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.linear import linear_result
from separatrix.fit.logistic import fit_logistic, logistic_problem
from separatrix.fit.perceptron import PerceptronOptions, fit_perceptron
from separatrix.fit.result import FitResult
from separatrix.losses import Squared
from separatrix.problem import Problem
from separatrix.rule import predicted_signs

__all__ = ["Compared", "compare_learners"]

Floats = NDArray[np.float64]
Labels = tuple[Any, Any]
MEASURED = ("perceptron", "squared", "logistic")


@dataclass(frozen=True)
class Compared:
    """A learner: the error of its update, its fit, the rows it has wrong, and the mean of each loss at its weights."""

    learner: str
    error: str
    result: FitResult
    mistakes: int
    losses: Mapping[str, float]


def compare_learners(design: Design, signs: Floats, labels: Labels, *, max_passes: int = 10_000) -> list[Compared]:
    """Fit the three learners to signs ±1 that stand for labels (negative, positive), and measure each."""
    fits: dict[str, tuple[str, Callable[[], FitResult]]] = {
        "perceptron": ("sign(s) − y", lambda: _perceptron(design, signs, labels, max_passes)),
        "LMS": ("s − y", lambda: _least_squares(design, signs, labels)),
        "logistic": ("σ(s) − (y + 1)/2", lambda: _logistic(design, signs, labels)),
    }
    return [_measure(name, error, fit(), design, signs) for name, (error, fit) in fits.items()]


def _perceptron(design: Design, signs: Floats, labels: Labels, max_passes: int) -> FitResult:
    options = PerceptronOptions(keep="best", max_passes=max_passes)
    return fit_perceptron(design, signs, options, labels=labels).result


def _least_squares(design: Design, signs: Floats, labels: Labels) -> FitResult:
    problem, options = Problem(design, signs, Squared()), ConvexOptions()
    return linear_result(problem, fit_convex(problem, options), options, labels=labels)


def _logistic(design: Design, signs: Floats, labels: Labels) -> FitResult:
    return fit_logistic(logistic_problem(design, signs, labels), ConvexOptions(), labels=labels).result


def _measure(learner: str, error: str, result: FitResult, design: Design, signs: Floats) -> Compared:
    weights = np.concatenate([[float(result.intercept)], result.coef]) if design.virtual else result.coef
    scores = design.matvec(weights)
    known = {loss.name: loss for loss in losses.ALL}
    means = {name: float(np.mean(known[name].value(scores, signs))) for name in MEASURED}
    mistakes = int(np.sum(predicted_signs(scores, "positive") != signs))
    return Compared(learner, error, result, mistakes, means)
