"""The hard margin as a fit: the widest margin found, certified from both sides; rows that overlap refused with proof.

The weights are those of least norm with all yᵢ(w·xᵢ + b) ≥ 1, so that ‖w‖ = B = 1/γ. Cost: a few passes; where the
hull comes so near to 0 that no margin shows, the separability of the rows is settled first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.margin import MarginCertificate, margin_bounds
from separatrix.design.base import Design
from separatrix.design.build import row_radius
from separatrix.errors import counted
from separatrix.fit.overlap import float_separator, judge_signs, refuse_overlap
from separatrix.fit.result import FitResult
from separatrix.fit.run import Run, Watch, run
from separatrix.fit.stopping import AtLeast, AtMost, Rule, Status
from separatrix.fit.trace import Trace
from separatrix.losses.margin import Perceptron as PerceptronLoss
from separatrix.problem import Problem
from separatrix.solvers.max_margin import MaxMargin

NO_MARGIN = 1e-9  # of the radius: a hull this near to 0 has no margin that floats can be trusted to show


@dataclass(frozen=True)
class MarginOptions:
    """The relative gap between the two bounds on the margin to reach, and the passes over the rows to make at most."""

    tol: float = 1e-10
    max_passes: int = 1000


def fit_max_margin(
    design: Design,
    signs: Floats,
    options: MarginOptions,
    *,
    labels: tuple[Any, Any] = (-1, 1),
    watch: Watch | None = None,
) -> FitResult:
    """Fit the halfspace of widest margin; rows that none separates raise an OverlapError with the proof."""
    row_radius(design)
    problem, centre = Problem(design, signs, PerceptronLoss()).centred()
    solver = MaxMargin(paired=design.virtual)
    radius = row_radius(problem.design)
    vanishing = AtMost("upper", NO_MARGIN * radius, Status.INFEASIBLE)
    walk = run(problem, solver, (vanishing, *_rules(options)), watch=watch)
    if walk.status is not Status.INFEASIBLE:
        result = _certified(design, signs, walk, centre, labels, options)
        if result is not None:
            return result
    found = judge_signs(design, signs, labels)
    separator = float_separator(design, signs, found)
    if separator is None:
        raise refuse_overlap(labels, found)
    walk = run(problem, solver, _rules(options), watch=watch)
    result = _certified(design, signs, walk, centre, labels, options)
    if result is None:
        walk = replace(walk, status=Status.STALLED)
        result = margin_result(design, signs, separator, walk, labels, options)
    if result is None:
        raise refuse_overlap(labels, found)
    return result


def _rules(options: MarginOptions) -> tuple[Rule, ...]:
    return (
        AtMost("gap", options.tol, Status.OPTIMAL),
        AtLeast("stalled", 1, Status.STALLED),
        AtLeast("steps", options.max_passes, Status.MAX_PASSES),
    )


def _certified(
    design: Design, signs: Floats, walk: Run, centre: Floats, labels: tuple[Any, Any], options: MarginOptions
) -> FitResult | None:
    """Return the result of a walk in the user's units, or None if its weights do not separate the rows exactly."""
    coef = walk.coef.copy()
    if len(centre):
        coef[0] -= centre @ coef[1:]
    least = float((signs * design.matvec(coef)).min())
    return margin_result(design, signs, coef / least, walk, labels, options) if least > 0.0 else None


def margin_result(
    design: Design, signs: Floats, coef: Floats, walk: Run, labels: tuple[Any, Any], options: MarginOptions
) -> FitResult | None:
    """Return weights and multipliers as a certified result; None if the weights do not separate the rows exactly."""
    assert walk.dual is not None
    rows = np.flatnonzero(walk.dual)
    lower, upper = margin_bounds(design, signs, coef, rows, walk.dual[rows])
    if not (lower > 0.0 and np.isfinite(coef).all()):
        return None
    certificate = MarginCertificate(
        coef=coef,
        lower=lower,
        upper=upper,
        rows=rows,
        multipliers=walk.dual[rows],
        fit_intercept=design.virtual,
        labels=labels,
        n_rows=design.shape[0],
        tolerance=options.tol,
    )
    status = _status(walk.status, certificate)
    virtual = int(design.virtual)
    return FitResult(
        coef=coef[virtual:],
        intercept=np.asarray(coef[0] if virtual else 0.0),
        status=status,
        message=_message(status, certificate, walk, options),
        objective=float(np.linalg.norm(coef[virtual:])),
        passes=walk.passes,
        seconds=walk.seconds,
        certificate=certificate,
        trace=Trace(walk.steps),
        facts={"gap": certificate.gap, "relative_gap": certificate.relative_gap, "margin": lower, "wrong": 0}
        | {"support": len(rows), "rows": design.shape[0]},
        provenance={"names": list(design.names), "tol": options.tol, "max_passes": options.max_passes},
    )


def _status(reached: Status, certificate: MarginCertificate) -> Status:
    """Return how a fit ended: optimal only if what is certified is."""
    if certificate.verdict == "widest margin":
        return Status.OPTIMAL
    return Status.STALLED if reached is Status.OPTIMAL else reached


def _message(status: Status, certificate: MarginCertificate, walk: Run, options: MarginOptions) -> str:
    passes = counted(round(walk.passes), "pass")
    margin = f"margin {certificate.lower:.6g}"
    if status is Status.OPTIMAL:
        return f"optimal: {margin}, the widest there is (relative gap {certificate.relative_gap:.2g}), after {passes}"
    if status is Status.CONVERGED:
        return f"every row is right after {passes}: {margin}; the widest is at most {certificate.upper:.6g}"
    limit = "floats can go no further" if status is Status.STALLED else f"max_passes={options.max_passes:,} was reached"
    return (
        f"stopped after {passes}, as {limit}: {margin}, and the widest is at most {certificate.upper:.6g}"
        f" (relative gap {certificate.relative_gap:.2g}, where tol={options.tol:g} was asked for)"
    )
