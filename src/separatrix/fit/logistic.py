"""Logistic regression as fits: two classes, several by softmax, or each against the rest.

At strength 0 it is the maximum likelihood estimate, which separable classes do not have: the fit then stops as soon
as that is certain and says so. The intercept is never penalised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.design import Design
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.existence import Existence, judge_existence, separation_bound
from separatrix.fit.linear import linear_result
from separatrix.fit.result import FitResult
from separatrix.fit.run import Watch
from separatrix.fit.stopping import AtMost, Status
from separatrix.losses import Logistic, Loss, Softmax
from separatrix.penalties import make_penalty
from separatrix.problem import Problem

__all__ = ["LogisticFit", "LogisticOptions", "fit_logistic"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LogisticOptions:
    """The penalty, the row weights, and how to minimise."""

    strength: float = 0.0
    l1_ratio: float = 0.0
    convex: ConvexOptions = ConvexOptions()  # noqa: RUF009  # a named tuple
    weights: Floats | None = None


class LogisticFit(NamedTuple):
    """A result, and at strength 0 the verdict on whether a maximum exists."""

    result: FitResult
    existence: Existence | None


def fit_logistic(
    design: Design,
    y: NDArray[Any],
    options: LogisticOptions,
    *,
    labels: tuple[Any, ...],
    start: Floats | None = None,
    watch: Watch | None = None,
) -> LogisticFit:
    """Fit signs ±1 (labels: negative, positive) or places of several classes (labels: all)."""
    loss: Loss = Logistic() if len(labels) == 2 else Softmax()
    problem = Problem(design, y, loss, make_penalty(options.strength, options.l1_ratio), options.weights)
    unpenalised = options.strength == 0.0
    rules = (AtMost("objective", separation_bound(problem), Status.SEPARATED),) if unpenalised else ()
    fit = fit_convex(problem, options.convex, start=start, watch=watch, extra_rules=rules)
    existence = judge_existence(fit.walked, fit.walk.coef, fit.walk.facts["objective"]) if unpenalised else None
    provenance = {"strength": options.strength, "l1_ratio": options.l1_ratio}
    result = linear_result(problem, fit, options.convex, labels=labels, provenance=provenance)
    return LogisticFit(result, existence)
