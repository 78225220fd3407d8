"""Separating halfspaces: any that classifies every row correctly, that of widest margin, or that of fewest mistakes.

The first two need separable classes: otherwise an OverlapError with the proof is raised or, with on_overlap="soft", a
soft margin takes their place and the fit says so.

`fit_halfspace` solves a linear program. Its weights satisfy yᵢ(w·xᵢ + b) ≥ 1 exactly for every row: they are those of
the program, scaled by a power of two. If no halfspace separates the rows, an OverlapError has the proof.

`fit_zero_one` searches between a lower and an upper bound on the number of mistakes, starting from a logistic fit. The
lower bound comes from an integer program in floating point; the certificate claims only the part that its infeasible
subsystems prove exactly, which is all of it unless there are very many. Cost: exponential in the worst case, so the
search has a time limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

from separatrix.arrays import Floats, Ints
from separatrix.certificates.data import data_of
from separatrix.certificates.fewest_mistakes import (
    InfeasibleRows,
    ZeroOneCertificate,
    hitting_set_needs,
    mistaken_rows,
    packing_bound,
)
from separatrix.certificates.margin import MarginCertificate, least_margin_bound
from separatrix.design.base import Design
from separatrix.design.build import make_design, row_radius
from separatrix.errors import OverlapError, counted
from separatrix.families.base import Fitted, TrainingRows, join_results, weigh
from separatrix.families.options import HalfspaceOptions, MaxMarginOptions, ZeroOneOptions
from separatrix.families.svm import fit_svm, inside_margin
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.labels import binary_signs
from separatrix.fit.result import AtLeast, AtMost, FitResult, Status
from separatrix.fit.run import Run, Watch, run
from separatrix.losses import Logistic, PerceptronLoss, SquaredHinge, ZeroOne
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.separability.check import check_signs, float_separator, overlap_error
from separatrix.separability.margin import MarginOptions, fit_max_margin, margin_result
from separatrix.solvers.fewest_mistakes import FewestMistakes, FewestMistakesState
from separatrix.solvers.halfspace_lp import HalfspaceProgram

NO_MARGIN = 1e-9  # in columns of equal scale: 0 within the tolerance of HiGHS
PROGRAM_SECONDS = 10.0  # time limit of one integer program
START_OPTIONS = ConvexOptions(tol=1e-4, max_passes=50)
START_STRENGTH = 1e-6
LARGEST_DENOMINATOR = 10_000  # of the weights of a packing
SOFT_OPTIONS = ConvexOptions(tol=1e-6, max_passes=10_000)
SOFT_STRENGTH = 1e-3
NO_INFERENCE = "a separating halfspace has no likelihood"


def fit(
    rows: TrainingRows, options: HalfspaceOptions | MaxMarginOptions | ZeroOneOptions, watch: Watch | None = None
) -> Fitted:
    """Fit two classes, or each of several against the rest."""
    weighted = weigh(rows.ordered(options.positive), intercept=options.fit_intercept)
    problems, design = weighted.binary_problems(PerceptronLoss()), weighted.design
    fits = [_fit_problem(problem, options, watch) for problem in problems]
    parts, softened = [part for part, _ in fits], tuple(message for _, message in fits if message)
    details: dict[str, Any] = {}
    if isinstance(options, MaxMarginOptions):
        supports = [
            part.certificate.rows
            if isinstance(part.certificate, MarginCertificate)
            else np.flatnonzero(inside_margin(problem, part))
            for part, problem in zip(parts, problems, strict=True)
        ]
        support = np.unique(np.concatenate(supports))
        details = {"support": support, "support_vectors": design.take(support)[:, int(design.virtual) :]}
    return Fitted(
        options,
        join_results(parts, weighted.labels),
        weighted.class_targets.values,
        sentences=softened,
        warnings=softened,
        no_inference=NO_INFERENCE,
        details=details,
    )


def _fit_problem(
    problem: Problem, options: HalfspaceOptions | MaxMarginOptions | ZeroOneOptions, watch: Watch | None
) -> tuple[FitResult, str]:
    """Return a fit, and why its margin is soft; empty if it is not."""
    if isinstance(options, ZeroOneOptions):
        return fit_zero_one(problem, options, options.watch or watch), ""
    limits = MarginOptions(options.tol, options.max_passes, options.keep_iterates)
    try:
        if isinstance(options, MaxMarginOptions):
            return fit_max_margin(problem.design, problem.y, limits, labels=problem.labels, watch=watch), ""
        return fit_halfspace(problem, limits, watch), ""
    except OverlapError as overlap:
        if options.on_overlap == "raise":
            raise
        soft = SOFT_OPTIONS._replace(keep_iterates=options.keep_iterates)
        problem = replace(problem, loss=SquaredHinge(), penalty=make_penalty(SOFT_STRENGTH, 0.0))
        return fit_svm(problem, soft, watch), f"a soft margin instead: {overlap}"


def fit_halfspace(problem: Problem, options: MarginOptions, watch: Watch | None = None) -> FitResult:
    """Fit a halfspace that separates the rows; if there is none, raise an OverlapError with the proof."""
    design, signs, labels = problem.design, problem.y, problem.labels
    row_radius(design)
    rules = (
        AtMost("margin", NO_MARGIN, Status.INFEASIBLE),
        AtMost("wrong", 0, Status.CONVERGED),
        AtLeast("stalled", 1, Status.STALLED),
        AtLeast("steps", options.max_passes, Status.MAX_PASSES),
    )
    walk = run(problem, HalfspaceProgram(), rules, watch=watch, keep_iterates=options.keep_iterates)
    result = _verified(problem, walk.coef, walk, options) if walk.status is Status.CONVERGED else None
    if result is not None:
        return result
    certificate = check_signs(design, signs, labels, walk.coef if walk.coef.any() else None)
    separator = float_separator(design, signs, certificate)
    if separator is not None:
        result = _verified(problem, separator, replace(walk, status=Status.CONVERGED), options)
    if result is None:
        raise overlap_error(labels, certificate)
    return result


def _verified(problem: Problem, coef: Floats, walk: Run, options: MarginOptions) -> FitResult | None:
    """Return the result of weights scaled to yᵢ(w·xᵢ + b) ≥ 1; None if they do not separate the rows exactly."""
    least = least_margin_bound(problem.design, problem.y, coef)
    if least <= 0:
        return None
    exponent = least.denominator.bit_length() - least.numerator.bit_length()
    exponent += least * Fraction(2) ** exponent < 1
    scaled = np.ldexp(coef, exponent)
    if not (np.isfinite(scaled).all() and scaled.any()):
        return None
    walk = walk.with_iterates(lambda each: np.ldexp(each, exponent))
    return margin_result(problem.design, problem.y, scaled, walk, problem.labels, options)


def fit_zero_one(problem: Problem, options: ZeroOneOptions, watch: Watch | None = None) -> FitResult:
    """Search for the halfspace with the fewest mistakes on rows of signs ±1."""
    design = problem.design
    row_radius(design)
    virtual = int(design.virtual)
    values = design.take(np.arange(design.shape[0]))[:, virtual:]
    factors = np.ldexp(1.0, -np.frexp(np.abs(values).max(axis=0))[1])  # powers of 2, so that units do not matter
    rescaled, scale = make_design(values * factors, intercept=design.virtual), np.append(np.ones(virtual), factors)
    state = FewestMistakesState(_start(rescaled, problem.y))
    rules = (
        AtMost("gap", 0, Status.OPTIMAL),
        AtLeast("stalled", 1, Status.STALLED),
        AtLeast("seconds", options.time_limit, Status.TIME_LIMIT),
        AtLeast("steps", options.max_steps, Status.MAX_STEPS),
    )
    solver = FewestMistakes(min(PROGRAM_SECONDS, options.time_limit))
    task = Problem(rescaled, problem.y, ZeroOne())
    walk = run(task, solver, rules, start=state, watch=watch, keep_iterates=options.keep_iterates)
    state.coef = state.coef * scale
    certificate = _certify(problem, state)
    status = walk.status
    if status is Status.OPTIMAL and certificate.lower < certificate.upper:
        status = Status.STALLED
    return FitResult(
        coef=state.coef[virtual:],
        intercept=np.asarray(state.coef[0] if virtual else 0.0),
        status=Status.OPTIMAL if certificate.verdict == "minimum" else status,
        message=_message(certificate, status, walk, options),
        objective=certificate.upper / design.shape[0],
        passes=walk.passes,
        seconds=walk.seconds,
        certificate=certificate,
        trace=walk.with_iterates(lambda each: each * scale).ending_at(state.coef).trace(),
        facts={"gap": certificate.upper - certificate.lower, "lower": certificate.lower, "wrong": certificate.upper}
        | {"subsystems": len(state.subsystems), "rows": design.shape[0]},
        provenance={"names": list(design.names), "time_limit": options.time_limit, "max_steps": options.max_steps},
    )


def _start(design: Design, signs: Floats) -> Floats:
    """Return the weights of a logistic fit or of the majority class, whichever makes fewer mistakes."""
    if abs(float(signs.sum())) == len(signs):
        return np.zeros(design.shape[1])
    scale = max(float(design.squared_norms().mean()), 1.0)
    problem = Problem(design, signs, Logistic(), make_penalty(START_STRENGTH * scale, 0.0))
    fitted = fit_convex(problem, START_OPTIONS).coef
    constant = np.zeros(design.shape[1])
    constant[: int(design.virtual)] = 1.0 if signs.sum() >= 0.0 else -1.0
    wrong = [int(np.sum(signs * design.matvec(coef) <= 0.0)) for coef in (fitted, constant)]
    return fitted if wrong[0] <= wrong[1] else constant


def _certify(problem: Problem, state: FewestMistakesState) -> ZeroOneCertificate:
    design = problem.design
    sets = [system.rows for system in state.subsystems]
    packing = _packing(sets)
    lower = packing_bound(sets, packing)
    while lower < state.lower and hitting_set_needs(sets, lower + 1):
        lower += 1
    systems = (InfeasibleRows(system.rows, tuple(map(Fraction, system.multipliers))) for system in state.subsystems)
    wrong = mistaken_rows(design, problem.y, state.coef)
    data = data_of(design, problem.labels, problem.y)
    found: dict[str, Any] = {"subsystems": tuple(systems), "packing": packing}
    return ZeroOneCertificate(data=data, upper=len(wrong), lower=lower, coef=state.coef, **found)


def _packing(sets: Sequence[Sequence[int]]) -> tuple[Fraction, ...]:
    """Return a maximal fractional packing: rational weights of the sets that sum to at most 1 on every row."""
    if not sets:
        return ()
    rows, indices = np.unique(np.concatenate([np.asarray(each) for each in sets]), return_inverse=True)
    owners = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    incidence: Any = sp.csr_array((np.ones(len(indices)), (indices, owners)), shape=(len(rows), len(sets)))
    solution = scipy.optimize.linprog(-np.ones(len(sets)), A_ub=incidence, b_ub=np.ones(len(rows)), method="highs")
    if solution.x is None:
        return (Fraction(0),) * len(sets)
    weights = [Fraction(max(float(value), 0.0)).limit_denominator(LARGEST_DENOMINATOR) for value in solution.x]
    totals = dict.fromkeys(rows.tolist(), Fraction(0))
    for members, weight in zip(sets, weights, strict=True):
        for row in members:
            totals[row] += weight
    heaviest = max(totals.values(), default=Fraction(0))
    return tuple(weight / max(heaviest, Fraction(1)) for weight in weights)


def _message(certificate: ZeroOneCertificate, status: Status, walk: Run, options: ZeroOneOptions) -> str:
    mistakes = f"{counted(certificate.upper, 'mistake')} on {counted(certificate.data.rows, 'row')}"
    if certificate.verdict == "minimum":
        proof = counted(len(certificate.subsystems), "infeasible subsystem")
        return f"optimal: {mistakes}, the fewest of any halfspace, shown by {proof} in {walk.seconds:.2g} s"
    reason = {
        Status.TIME_LIMIT: f"time_limit={options.time_limit:g} s was reached",
        Status.MAX_STEPS: f"max_steps={options.max_steps:,} was reached",
        Status.STALLED: "floats can go no further",
        Status.INTERRUPTED: "it was interrupted",
    }[status]
    return f"stopped, as {reason}: {mistakes}; every halfspace makes at least {certificate.lower:,}"


@dataclass(frozen=True)
class Removals:
    """`rows` whose removal makes the others separable by a halfspace; at least `lower` removals are necessary.

    `exact` if `rows` are that few. `coef` and `intercept` separate the other rows; `certificate` proves both bounds.
    """

    rows: Ints
    lower: int
    coef: Floats
    intercept: float
    certificate: ZeroOneCertificate

    @property
    def exact(self) -> bool:
        """Whether no smaller set of rows suffices."""
        return self.lower == len(self.rows)

    def __str__(self) -> str:
        listed = ", ".join(map(str, self.rows[:10].tolist())) + (", …" if len(self.rows) > 10 else "")
        removals = f"{counted(len(self.rows), 'row')} to remove" + (f" ({listed})" if len(self.rows) else "")
        return f"{removals}, {'the fewest' if self.exact else f'at least {self.lower:,} are needed'}"


def fewest_removals(
    X: Any, y: Any, fit_intercept: bool = True, *, time_limit: float = 60.0, watch: Watch | None = None
) -> Removals:
    """Return the fewest rows to remove so that a halfspace strictly separates the others, with a proof.

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    y : labels of two classes (n,)
    fit_intercept : whether the hyperplane need not pass through the origin
    time_limit : seconds, after which the best rows so far are returned, with a lower bound
    watch : called with the facts of each step: `lower`, `upper`, `subsystems`, `seconds`

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = sx.load_demo("five-points-overlap")
    >>> removals = sx.fewest_removals(X, y)
    >>> print(removals, bool(removals.certificate.verify(X, y)))
    1 row to remove (2), the fewest True

    Reference: Amaldi, Pfetsch and Trotter, On the maximum feasible subsystem problem, IISs and IIS-hypergraphs (2003).
    """
    design = make_design(X, intercept=fit_intercept)
    signs, labels = binary_signs(y, design.shape[0])
    problem = Problem(design, signs, PerceptronLoss(), labels=labels)
    result = fit_zero_one(problem, ZeroOneOptions(time_limit=time_limit).checked(), watch)
    certificate = result.certificate
    assert isinstance(certificate, ZeroOneCertificate)
    wrong = mistaken_rows(design, signs, certificate.coef)
    return Removals(wrong, certificate.lower, result.coef, float(result.intercept), certificate)
