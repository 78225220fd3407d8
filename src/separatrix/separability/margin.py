"""The hard margin as a fit, and the perceptron's mistake bound (R/γ)², which rests on the same margin γ.

Wolfe's nearest-point algorithm bounds the widest margin from below by a separator and from above by a point of the
hull. The fit returns the weights of least norm with all yᵢ(w·xᵢ + b) ≥ 1, so that ‖w‖ = 1/γ, certified from both sides.
Rows that overlap are refused with a proof. If the hull comes so near to 0 that no margin shows, separability is decided
first. The mistake bound has the radius R, the best margin found, and `exact` if both bounds agree.

Cost: a few passes more than there are support vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.certificates.data import data_of
from separatrix.certificates.exact import least_margin
from separatrix.certificates.margin import MarginCertificate, margin_bounds
from separatrix.design.base import Design
from separatrix.design.build import make_design, row_radius
from separatrix.errors import OptionError, counted
from separatrix.fit.labels import binary_signs
from separatrix.fit.result import AtLeast, AtMost, FitResult, Rule, Status
from separatrix.fit.run import Run, Watch, run
from separatrix.losses.margin import PerceptronLoss
from separatrix.problem import Problem, shift_intercept
from separatrix.separability.check import check_signs, float_separator, overlap_error
from separatrix.solvers.max_margin import MaxMargin

NO_MARGIN = 1e-9  # relative to the radius: a hull this near to 0 has no margin that floats show reliably
RELATIVE_GAP = 1e-10  # between the two bounds of an exact margin
ROUNDING = 64 * float(np.finfo(np.float64).eps)  # relative to the radius: a hull this near to 0 may contain 0
MAX_STEPS = 10_000


@dataclass(frozen=True)
class MarginOptions:
    """The relative gap to reach between the two bounds on the margin, the largest number of passes, and the trace."""

    tol: float = 1e-10
    max_passes: int = 1000
    keep_iterates: bool = False


def fit_max_margin(
    design: Design,
    signs: Floats,
    options: MarginOptions,
    *,
    labels: tuple[Any, Any] = (-1, 1),
    watch: Watch | None = None,
) -> FitResult:
    """Fit the halfspace of widest margin; rows that overlap raise an OverlapError with the proof."""
    row_radius(design)
    problem, centre = Problem(design, signs, PerceptronLoss()).centred()
    solver, radius = MaxMargin(paired=design.virtual), row_radius(problem.design)
    vanishing = AtMost("upper", NO_MARGIN * radius, Status.INFEASIBLE)
    kept = options.keep_iterates
    finished = run(problem, solver, (vanishing, *_rules(options)), watch=watch, keep_iterates=kept)
    vanished = finished.status is Status.INFEASIBLE
    result = None if vanished else _certified(design, signs, finished, centre, labels, options)
    if result is not None:
        return result
    certificate = check_signs(design, signs, labels)
    separator = float_separator(design, signs, certificate)
    if separator is not None:
        finished = run(problem, solver, _rules(options), watch=watch, keep_iterates=kept)
        stalled = replace(finished, status=Status.STALLED)
        result = _certified(design, signs, finished, centre, labels, options)
        result = result or margin_result(design, signs, separator, stalled, labels, options)
    if result is None:
        raise overlap_error(labels, certificate)
    return result


def _rules(options: MarginOptions) -> tuple[Rule, ...]:
    return (
        AtMost("gap", options.tol, Status.OPTIMAL),
        AtLeast("stalled", 1, Status.STALLED),
        AtLeast("steps", options.max_passes, Status.MAX_PASSES),
    )


def _certified(
    design: Design, signs: Floats, finished: Run, centre: Floats, labels: tuple[Any, Any], options: MarginOptions
) -> FitResult | None:
    """Return the result of a finished run in the user's units; None if its weights do not separate the rows exactly."""
    coef = shift_intercept(finished.coef, centre, -1.0)
    least = float((signs * design.matvec(coef)).min())
    if least <= 0.0:
        return None
    finished = finished.with_iterates(lambda each: shift_intercept(each, centre, -1.0) / least)
    return margin_result(design, signs, coef / least, finished, labels, options)


def margin_result(
    design: Design, signs: Floats, coef: Floats, finished: Run, labels: tuple[Any, Any], options: MarginOptions
) -> FitResult | None:
    """Return weights and multipliers as a certified result; None if the weights do not separate the rows exactly."""
    assert finished.dual is not None
    rows = np.flatnonzero(finished.dual)
    lower, upper = margin_bounds(design, signs, coef, rows, finished.dual[rows])
    if not (lower > 0.0 and np.isfinite(coef).all()):
        return None
    data, multipliers = data_of(design, labels, signs), finished.dual[rows]
    certificate = MarginCertificate(
        data=data, coef=coef, lower=lower, upper=max(lower, upper), rows=rows, multipliers=multipliers
    )
    optimal = certificate.relative_gap <= options.tol
    reached = Status.STALLED if finished.status is Status.OPTIMAL else finished.status
    status = Status.OPTIMAL if optimal else reached
    virtual = int(design.virtual)
    return FitResult(
        coef=coef[virtual:],
        intercept=np.asarray(coef[0] if virtual else 0.0),
        status=status,
        message=_message(status, certificate, finished, options),
        objective=float(np.linalg.norm(coef[virtual:])),
        passes=finished.passes,
        seconds=finished.seconds,
        certificate=certificate,
        trace=finished.ending_at(coef).trace(),
        facts={"gap": certificate.gap, "relative_gap": certificate.relative_gap, "margin": lower, "wrong": 0}
        | {"support": len(rows), "rows": design.shape[0]},
        provenance={"names": list(design.names), "tol": options.tol, "max_passes": options.max_passes},
    )


def _message(status: Status, certificate: MarginCertificate, finished: Run, options: MarginOptions) -> str:
    passes = counted(round(finished.passes), "pass")
    margin = f"margin {certificate.lower:.6g}"
    if status is Status.OPTIMAL:
        return f"optimal: {margin}, the widest there is (relative gap {certificate.relative_gap:.2g}), after {passes}"
    if status is Status.CONVERGED:
        return f"every row is right after {passes}: {margin}; the widest is at most {certificate.upper:.6g}"
    reasons = {Status.STALLED: "floats can go no further", Status.INTERRUPTED: "it was interrupted"}
    reason = reasons.get(status, f"max_passes={options.max_passes:,} was reached")
    return (
        f"stopped after {passes}, as {reason}: {margin}, and the widest is at most {certificate.upper:.6g}"
        f" (relative gap {certificate.relative_gap:.2g}; tol={options.tol:g})"
    )


@dataclass(frozen=True)
class MistakeBound:
    """The largest number of mistakes a perceptron can make on some data: `bound` = (radius / margin)².

    `margin` is that of `separator`, and no separator has a margin above `margin_ceiling`; `exact` if the two agree.
    Without a separator, margin and bound are None, and `exact` if the ceiling is 0 up to rounding.
    """

    radius: float
    margin: float | None
    bound: float | None
    separator: Floats | None
    margin_ceiling: float
    exact: bool

    def __str__(self) -> str:
        if self.margin is None:
            kind = "with a margin" if self.exact else f"found (none has a margin above {self.margin_ceiling:.3g})"
            return f"radius {self.radius:.6g}, no separator {kind}: no bound"
        kind = "the widest margin" if self.exact else "a lower bound on the widest margin"
        return f"radius {self.radius:.6g}, margin {self.margin:.6g} ({kind}), at most {self.bound:.6g} mistakes"


class Separator(NamedTuple):
    """The best separator found: its weights, its margin (the widest if OPTIMAL), and the ceiling on all margins."""

    weights: Floats | None
    margin: float
    ceiling: float
    status: Status


def find_separator(
    design: Design, y: NDArray[Any], radius: float, *, max_steps: int = MAX_STEPS, watch: Watch | None = None
) -> Separator:
    """Search the widest margin through the origin; the returned separator is checked with exact signs."""
    problem = Problem(design, y, PerceptronLoss())
    vanishing = AtMost("upper", NO_MARGIN * radius, Status.INFEASIBLE)
    finished = run(problem, MaxMargin(), (vanishing, *_rules(MarginOptions(RELATIVE_GAP, max_steps))), watch=watch)
    least, _ = least_margin(design, y, finished.coef)
    norm, ceiling = float(np.linalg.norm(finished.coef)), finished.facts["upper"]
    weights, margin = (finished.coef / norm, least / norm) if least > 0.0 else (None, 0.0)
    return Separator(weights, margin, ceiling, finished.status)


def mistake_bound(
    X: Any, y: Any, fit_intercept: bool = False, *, separator: Any = None, watch: Watch | None = None
) -> MistakeBound:
    """Return R, γ and (R/γ)² of labelled rows: the most mistakes that a perceptron started at 0 can make on them.

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    y : labels of two classes (n,)
    fit_intercept : whether to prepend a column of ones, which counts in R and γ like any other column
    separator : weights (p,) or, with the intercept first, (p + 1,), whose margin is used instead of the widest one
    watch : called with the facts of each step of the search for the widest margin

    Examples
    --------
    >>> import separatrix as sx
    >>> X = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]]
    >>> print(sx.mistake_bound(X, [1, 1, -1, -1, -1]))
    radius 4.12311, margin 1 (the widest margin), at most 17 mistakes

    Reference: Novikoff, On convergence proofs for perceptrons (1962).
    """
    design = make_design(X, intercept=fit_intercept)
    signs, _ = binary_signs(y, design.shape[0])
    radius = row_radius(design)
    if separator is None:
        weights, margin, ceiling, status = find_separator(design, signs, radius, watch=watch)
    else:
        weights, margin, ceiling, status = _measured(design, signs, radius, np.asarray(separator, dtype=np.float64))
    if weights is None:
        return MistakeBound(radius, None, None, None, ceiling, exact=ceiling <= ROUNDING * radius)
    return MistakeBound(radius, margin, (radius / margin) ** 2, weights, ceiling, status is Status.OPTIMAL)


def _measured(design: Design, signs: Floats, radius: float, weights: Floats) -> Separator:
    if weights.shape != (design.shape[1],) or not np.any(weights) or not np.isfinite(weights).all():
        raise OptionError(
            f"separator={weights.tolist()} cannot be one; give {design.shape[1]} finite weights, not all 0"
        )
    weights = weights / np.abs(weights).max()
    norm = float(np.linalg.norm(weights))
    least, _ = least_margin(design, signs, weights)
    return Separator(weights / norm if least > 0.0 else None, least / norm, radius, Status.STALLED)
