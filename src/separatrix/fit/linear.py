"""From a convex fit to a result: coefficients in the user's layout, status in words, certificate, trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.certificates import OptimalityCertificate
from separatrix.errors import counted
from separatrix.fit.convex import ConvexFit, ConvexOptions, measured
from separatrix.fit.result import FitResult
from separatrix.fit.stopping import Status
from separatrix.fit.trace import Trace
from separatrix.problem import Problem

__all__ = ["linear_result"]


def linear_result(
    problem: Problem,
    fit: ConvexFit,
    options: ConvexOptions,
    *,
    labels: tuple[Any, ...] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> FitResult:
    """Return the result of a fit: coef (p,) and a number, or (K, p) and (K,) of a softmax."""
    fit = measured(fit, options)
    design, virtual = problem.design, int(problem.design.virtual)
    coef = fit.coef
    intercept = coef[0] if virtual else np.zeros(coef.shape[1:])
    return FitResult(
        coef=coef[virtual:].T if coef.ndim == 2 else coef[virtual:],
        intercept=np.asarray(intercept),
        status=fit.walk.status,
        message=_message(fit, options),
        objective=fit.bound.primal,
        passes=fit.walk.passes,
        seconds=fit.walk.seconds,
        certificate=OptimalityCertificate.of(
            problem, coef, fit.bound, labels=labels, tolerance=options.tol, dual=fit.dual
        ),
        trace=Trace(fit.walk.steps),
        facts={"gap": fit.bound.gap, "relative_gap": fit.bound.relative_gap, "rows": design.shape[0]},
        provenance={"names": list(design.names), "solver": fit.reason, **problem.penalty.options, **(provenance or {})},
    )


def _message(fit: ConvexFit, options: ConvexOptions) -> str:
    passes = counted(round(fit.walk.passes), "pass")
    gap = f"relative gap {fit.bound.relative_gap:.2g}"
    if fit.walk.status is Status.OPTIMAL:
        return f"optimal: {gap}, certified, after {passes}"
    if fit.walk.status is Status.SEPARATED:
        return f"stopped after {passes}: the classes are completely separated, so no finite maximum exists"
    limit = {
        Status.MAX_PASSES: f"max_passes={options.max_passes:,}",
        Status.STALLED: f"{passes}, as floats can go no further",
    }[fit.walk.status]
    return f"stopped at {limit} with a {gap}, where tol={options.tol:g} was asked for"
