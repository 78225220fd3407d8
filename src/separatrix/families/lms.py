"""Least mean squares (Widrow and Hoff 1960): gradient descent on ½ mean (w·x − t)², in batches or row by row.

    batch        w ← w − η mean (w·xᵢ − tᵢ) xᵢ          converges for η < 2/λmax, λ the eigenvalues of XᵗX/n
    stochastic   w ← w − η_k (w·xᵢ − tᵢ) xᵢ             stays bounded for η < 2/R², R the largest ‖xᵢ‖

The batch rule and the stochastic rule with the inverse schedule converge to least squares; at a constant rate the
stochastic rule circles it at a distance. Sample weights make every mean a weighted mean, and scale the step of a visit.
Without a rate, half the largest that does not diverge is used; a rate that diverges is reported with that limit. The
excess over least squares is bounded at every step by ‖∇‖²/(2λmin), λmin the smallest nonzero eigenvalue; with many
columns it is estimated. A fit has converged if its certificate, whose bound includes rounding errors, is within the
tolerance.

Cost: one pass per step, two for the stochastic rule; one Gram matrix or, with many columns, some thirty passes. Slow on
columns of different scales: the batch rule needs about ln(1/tol)·λmax/λmin passes, few if columns are standardised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import EPSILON, Floats
from separatrix.certificates.curvature import MAX_WIDTH, STATED_SLACK, GapBound
from separatrix.certificates.dual import gap_bound
from separatrix.certificates.optimality import OptimalityCertificate
from separatrix.design.base import Design
from separatrix.errors import counted
from separatrix.families.base import Fitted, TrainingRows, join_results, weigh
from separatrix.families.options import LMSOptions
from separatrix.families.penalised import scale_rows
from separatrix.families.perceptron import start_weights
from separatrix.fit.result import AtLeast, AtMost, FitResult, Status
from separatrix.fit.run import Run, Watch, run
from separatrix.losses.squared import Squared
from separatrix.problem import Problem
from separatrix.solvers.gradient import Gradient, extreme_eigenvalues, visit_radius
from separatrix.solvers.stochastic import Stochastic

POLISH = 0.5  # of the tolerance, to which a run goes on, so that the bound of the certificate is within it
NO_INFERENCE = "standard errors are not available for LMS; use linear or logistic regression for those"


class RateLimits(NamedTuple):
    """R, and the largest and smallest nonzero eigenvalue of XᵗX/n (`least` 0: unknown), which limit the rate."""

    radius: float
    largest: float
    least: float

    def below(self, update: str) -> float:
        """Return the supremum of the rates that do not diverge; infinite if all rows are 0."""
        steepest = self.largest if update == "batch" else self.radius**2
        return 2.0 / steepest if steepest > 0.0 else math.inf


def rate_limits(design: Design, weights: Floats | None = None) -> RateLimits:
    """Return the limits of the rate, in two passes or, with more than a thousand columns, some thirty."""
    return RateLimits(visit_radius(design, weights), *extreme_eigenvalues(design, weights))


def fit(rows: TrainingRows, options: LMSOptions, watch: Watch | None = None) -> Fitted:
    """Fit numbers, two classes as targets ±1, or each of several classes against the rest."""
    rows = rows if rows.classes is None else rows.ordered(getattr(options, "positive", None))
    scaled = scale_rows(rows, options.scaling)
    weighted = weigh(scaled.rows, intercept=options.fit_intercept)
    if isinstance(options.start, Sequence | np.ndarray) and not isinstance(options.start, str):
        given = start_weights(options.start, weighted.design.shape[1], np.random.default_rng())
        options = replace(options, start=scaled.start(given))
    limits, classes = rate_limits(weighted.design, weighted.weights), weighted.classes
    if classes is None:
        result = fit_lms(weighted.problem(Squared(), np.asarray(weighted.y, dtype=np.float64)), options, limits, watch)
    else:
        parts = [fit_lms(problem, options, limits, watch) for problem in weighted.binary_problems(Squared())]
        result = join_results(parts, weighted.labels)
    return Fitted(
        options,
        scaled.in_units(result),
        None if classes is None else classes.values,
        scales=scaled.scales,
        sentences=scaled.sentences,
        no_inference=NO_INFERENCE,
    )


def fit_lms(problem: Problem, options: LMSOptions, limits: RateLimits, watch: Watch | None = None) -> FitResult:
    """Fit numbers, or signs ±1, by LMS."""
    design = problem.design
    rng = np.random.default_rng(options.random_state)
    start = start_weights(options.start, design.shape[1], rng)
    rate, limit = options.rate, limits.below(options.update)
    if rate is None:
        rate = limit / 2.0 if limit < math.inf else 1.0
    visits: dict[str, Any] = {"schedule": options.schedule, "order": options.order, "keep": options.keep}
    solver: Gradient | Stochastic = Stochastic(rate, **visits, seed=rng, least_curvature=limits.least)
    if options.update == "batch":
        solver = Gradient(rate, limits.least)
    rules = (
        AtMost("relative_excess", options.tol * POLISH, Status.CONVERGED),
        AtLeast("rises", solver.most_rises, Status.DIVERGED),
        AtLeast("stalled", 2, Status.STALLED),
        AtLeast("steps", options.max_passes, Status.MAX_PASSES),
    )
    kept = options.keep_iterates
    walk = run(problem, solver, rules, start=start, watch=watch, keep_iterates=kept, counts="steps")
    coef = start if walk.status is Status.DIVERGED else walk.coef
    bound = replace(gap_bound(problem, coef, slack=STATED_SLACK), tol=max(options.tol, EPSILON))
    certificate = OptimalityCertificate.of(problem, coef, bound)
    status = _status(walk.status, bound)
    virtual, n, steps = int(design.virtual), design.shape[0], walk.facts["steps"]
    facts = {name: walk.facts[name] for name in ("excess", "change", "step_length")}
    facts |= {"updates": walk.facts.get("visits", steps), "visits": walk.facts.get("visits", n * steps)}
    facts["reads"] = walk.reads
    return FitResult(
        coef=coef[virtual:],
        intercept=np.asarray(coef[0] if virtual else 0.0),
        status=status,
        message=_message(replace(walk, status=status), options, rate, limits, certificate),
        objective=bound.objective,
        passes=walk.passes,
        seconds=walk.seconds,
        certificate=certificate,
        trace=walk.trace(),
        facts={**facts, "rate": rate, "rows": n, **limits._asdict(), "gap": certificate.gap},
        provenance={**options.plain(), "names": list(design.names), "storage": type(design).__name__},
    )


def _status(ended: Status, bound: GapBound) -> Status:
    """Return the status of a run that ended with a bound; it may end by rounding, or by an estimate of the excess."""
    if ended is not Status.DIVERGED and bound.stated_gap <= bound.tol:
        return Status.CONVERGED
    return Status.STALLED if ended is Status.CONVERGED else ended


def _message(
    walk: Run, options: LMSOptions, rate: float, limits: RateLimits, certificate: OptimalityCertificate
) -> str:
    after = f"after {counted(int(walk.facts['steps']), 'step')} at rate {rate:.3g}"
    if walk.status is Status.DIVERGED:
        rule, bound = ("batch", "2/λmax") if options.update == "batch" else ("stochastic", "2/R²")
        below = limits.below(options.update)
        cause = f"rate {rate:g} is too large: {rule} LMS {'converges' if rule == 'batch' else 'stays bounded'}"
        return f"diverged {after}: {cause} below {below:.4g} ({bound}); the start is kept"
    objective = walk.facts["objective"]  # itself an excess at most, since no objective is below 0
    above = f"objective {objective:.6g}, {certificate.gap:.3g} above least squares"
    if walk.status is Status.CONVERGED:
        return f"converged {after}: {above}"
    advice = "raise max_passes, or standardise the columns"
    if options.update == "stochastic" and options.schedule == "constant":
        advice = Stochastic(keep=options.keep).remedy
    elif walk.status is Status.STALLED and len(certificate.coef) > MAX_WIDTH:
        estimate = f"{min(walk.facts['excess'], objective):.3g} by estimate"
        advice = f"it is {estimate}, and {len(certificate.coef):,} coefficients are too many to bound it"
    elif walk.status is Status.STALLED:
        advice = "floats can go no further"
    elif options.update == "batch" and limits.least > 0.0:
        ratio = f"the eigenvalues of XᵗX/n differ by a factor of {limits.largest / limits.least:.2g}"
        advice = f"{ratio}, and it takes about as many passes; standardise the columns, or raise max_passes"
    return f"stopped {after}: {above}; {advice}"
