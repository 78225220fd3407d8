"""Build the result of a convex or least-squares fit: the user's layout, message, certificate and trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.linalg

from separatrix.certificates.least_squares import LeastSquaresCertificate
from separatrix.certificates.optimality import OptimalityCertificate
from separatrix.certificates.overlap import rank_modulo
from separatrix.errors import counted
from separatrix.fit.convex import ConvexFit, ConvexOptions, with_measured_objective
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.fit.result import FitResult, Status, Trace
from separatrix.problem import Problem

PROVED = 200  # columns, up to which independent rows are searched to prove full column rank
SAMPLED = 8  # rows per column among which they are searched


def linear_result(
    problem: Problem,
    fit: ConvexFit,
    options: ConvexOptions,
    *,
    labels: tuple[Any, ...] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> FitResult:
    """Return the result of a fit: coef (p,) and a scalar intercept, or (K, p) and (K,) for a softmax."""
    fit = with_measured_objective(fit, options)
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


def least_squares_result(
    problem: Problem, fit: LeastSquaresFit, seconds: float, *, provenance: Mapping[str, Any] | None = None
) -> FitResult:
    """Return the result of a least-squares fit: coef (p,) and a scalar intercept."""
    design, virtual = problem.design, int(problem.design.virtual)
    certificate = LeastSquaresCertificate(
        fit_intercept=design.virtual,
        coef=fit.coef,
        n_rows=design.shape[0],
        rss=fit.rss,
        relative_excess=fit.relative_excess,
        aliased=fit.aliased,
        relations=fit.relations,
        independent=_independent_rows(problem, fit),
        weighted=problem.weights is not None,
    )
    objective = fit.rss / (2.0 * problem.total_weight)
    return FitResult(
        coef=fit.coef[virtual:],
        intercept=np.asarray(fit.coef[0] if virtual else 0.0),
        status=Status.OPTIMAL if certificate.verdict == "optimal" else Status.STALLED,
        message=f"{certificate.claim}; {fit.method}",
        objective=objective,
        passes=design.passes,
        seconds=seconds,
        certificate=certificate,
        trace=Trace({"passes": np.asarray([design.passes]), "objective": np.asarray([objective])}),
        facts={"relative_gap": fit.relative_excess, "rows": design.shape[0], "condition": fit.condition},
        provenance={"names": list(design.names), "solver": fit.method, **problem.penalty.options, **(provenance or {})},
    )


def _independent_rows(problem: Problem, fit: LeastSquaresFit) -> tuple[int, ...] | None:
    """Return rows that prove the columns that are not aliased independent; None if none are found."""
    design, count = problem.design, fit.rank
    if not 0 < count <= PROVED or not design.random_rows:
        return None
    columns = np.setdiff1d(np.arange(design.shape[1]), fit.aliased)
    weighted = np.arange(design.shape[0]) if problem.weights is None else np.flatnonzero(problem.weights)
    few = weighted[:: max(1, len(weighted) // count)][:count]
    if rank_modulo(design.take(few)[:, columns]) == count:
        return tuple(few.tolist())
    sample = weighted[:: max(1, len(weighted) // (SAMPLED * count))]
    rows = design.take(sample)[:, columns]
    lengths = np.abs(rows).max(axis=0, initial=0.0)
    order = scipy.linalg.qr((rows / np.where(lengths > 0.0, lengths, 1.0)).T, mode="r", pivoting=True)[1][:count]
    return tuple(sample[np.sort(order)].tolist()) if rank_modulo(rows[order]) == count else None


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
        Status.INTERRUPTED: f"{passes}, on request,",
    }[fit.walk.status]
    return f"stopped at {limit} with a {gap}, where tol={options.tol:g} was asked for"
