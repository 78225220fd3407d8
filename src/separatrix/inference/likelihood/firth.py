"""Firth's bias-reduced logistic regression, with intervals by the profile of its likelihood.

The likelihood times Jeffreys' prior, ℓ* (certificates/bias_reduction), has a maximum also where the classes are
separated. Its profile has the prior always of all coefficients (Heinze and Schemper 2002).

Cost: two passes a step, some 10 steps a fit; an interval some 10 such fits.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.bias_reduction import BiasReductionCertificate, JeffreysPoint, jeffreys_point
from separatrix.errors import DataError, counted
from separatrix.fit.convex import shift_intercept
from separatrix.fit.result import FitResult
from separatrix.fit.stopping import Status
from separatrix.fit.trace import Trace
from separatrix.inference.likelihood.climb import DECREMENT_TOLERANCE, Climb, Outlook, climb
from separatrix.inference.likelihood.profile import Interval, Peak, profile_interval
from separatrix.inference.likelihood.summit import uncentring
from separatrix.problem import Problem


@dataclass(frozen=True)
class FirthFit:
    """A bias-reduced fit, and an interval at a level for each coefficient, the intercept's first."""

    result: FitResult
    intervals: tuple[Interval, ...]
    level: float


@dataclass(frozen=True)
class _FirthHill:
    """ℓ* of a problem; the information is only a guess at minus its Hessian."""

    problem: Problem
    exact: ClassVar[bool] = False

    def look(self, coef: Floats) -> Outlook | None:
        """Return ℓ*, its gradient and the information; None so far out that the information is singular."""
        try:
            point = jeffreys_point(self.problem, coef)
        except DataError:
            return None
        return Outlook(point.penalised, point.gradient, point.information)

    def largest_score(self, change: Floats) -> float:
        """Return the largest change of a score."""
        return float(np.abs(self.problem.design.matvec(change)).max())


def fit_firth(problem: Problem, labels: tuple[Any, Any], *, level: float = 0.95) -> FirthFit:
    """Fit an unpenalised logistic problem of full rank, and profile every coefficient."""
    passes_before, began = problem.design.passes, time.perf_counter()
    near, centre = problem.centred()
    hill, space = _FirthHill(near), np.eye(len(near.zero_coef()))
    jeffreys_point(near, near.zero_coef())  # refuses columns that depend on others, by name
    top = climb(hill, near.zero_coef(), space)
    point = jeffreys_point(near, top.coef)
    intervals = _intervals(Peak(hill, top.outlook.height, top, space), near, centre, point, level)
    if near.design is not problem.design:
        problem.design.passes += near.design.passes
    result = _result(problem, top, point, shift_intercept(top.coef, centre, -1.0), labels)
    passes, seconds = problem.design.passes - passes_before, time.perf_counter() - began
    return FirthFit(replace(result, passes=passes, seconds=seconds), intervals, level)


def _intervals(
    peak: Peak, problem: Problem, centre: Floats, point: JeffreysPoint, level: float
) -> tuple[Interval, ...]:
    to_users = uncentring(len(peak.space), centre)
    errors = np.sqrt(np.diag(to_users @ point.covariance @ to_users.T))
    return tuple(
        profile_interval(peak, row, str(name), float(error), level)
        for row, name, error in zip(to_users, problem.design.names, errors, strict=True)
    )


def _result(problem: Problem, top: Climb, point: JeffreysPoint, coef: Floats, labels: tuple[Any, Any]) -> FitResult:
    virtual = int(problem.design.virtual)
    certificate = BiasReductionCertificate(
        coef=coef,
        fit_intercept=problem.design.virtual,
        loglik=point.loglik,
        penalised=point.penalised,
        distance=point.distance,
        tolerance=max(DECREMENT_TOLERANCE, 1e-14 * abs(point.penalised)),
        labels=labels,
    )
    converged = certificate.verdict == "stationary"
    words = "converged" if converged else "stopped before it was done"
    return FitResult(
        coef=coef[virtual:],
        intercept=np.asarray(coef[0] if virtual else 0.0),
        status=Status.CONVERGED if converged else Status.STALLED,
        message=f"bias-reduced (Firth): {words} after {counted(len(top.heights) - 1, 'step')}",
        objective=-point.penalised,
        passes=0.0,
        seconds=0.0,
        certificate=certificate,
        trace=Trace({"penalised_loglik": np.asarray(top.heights)}),
        facts={"loglik": point.loglik, "penalised_loglik": point.penalised, "rows": problem.design.shape[0]},
        provenance={"names": list(problem.design.names), "solver": "Newton on Firth's penalised likelihood"},
    )
