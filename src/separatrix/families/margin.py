"""A separating halfspace by linear programming as a fit: verified exactly, or refused with the proof that none exists.

The weights satisfy yᵢ(w·xᵢ + b) ≥ 1 for every row, exactly: those of the program, times a power of two.

The fewest mistakes as a fit: a search between two bounds, and of what it found the part that can be re-checked.

The search starts from a logistic fit. Its lower bound comes from an integer program in floats; the certificate claims
no more than its subsystems show exactly, which is the same unless there are very many.
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
from separatrix.certificates.fewest_mistakes import (
    InfeasibleRows,
    ZeroOneCertificate,
    cover_needs,
    exactly_wrong,
    packing_bound,
)
from separatrix.certificates.margin import least_margin_below
from separatrix.design.base import Design
from separatrix.design.build import make_design, row_radius
from separatrix.errors import DataError, counted, require_count, require_number
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.labels import binary_signs
from separatrix.fit.result import AtLeast, AtMost, FitResult, Status, Trace
from separatrix.fit.run import Run, Watch, run
from separatrix.losses.margin import Logistic, PerceptronLoss
from separatrix.losses.margin import ZeroOne as ZeroOneLoss
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.separability.existence import float_separator, judge_signs, overlap_error
from separatrix.separability.margin import MarginOptions, margin_result
from separatrix.solvers.fewest_mistakes import FewestMistakes, FewestMistakesState
from separatrix.solvers.halfspace_lp import HalfspaceProgram

NO_MARGIN = 1e-9  # in columns of equal size: what HiGHS cannot tell from 0


def fit_halfspace(
    design: Design,
    signs: Floats,
    options: MarginOptions,
    *,
    labels: tuple[Any, Any] = (-1, 1),
    watch: Watch | None = None,
) -> FitResult:
    """Fit a halfspace that gets every row right; where none does, raise an OverlapError with the proof."""
    row_radius(design)
    rules = (
        AtMost("margin", NO_MARGIN, Status.INFEASIBLE),
        AtMost("wrong", 0, Status.CONVERGED),
        AtLeast("stalled", 1, Status.STALLED),
        AtLeast("steps", options.max_passes, Status.MAX_PASSES),
    )
    walk = run(Problem(design, signs, PerceptronLoss()), HalfspaceProgram(), rules, watch=watch)
    result = _exact(design, signs, walk.coef, walk, labels, options) if walk.status is Status.CONVERGED else None
    if result is not None:
        return result
    found = judge_signs(design, signs, labels, walk.coef if walk.coef.any() else None)
    separator = float_separator(design, signs, found)
    ended = replace(walk, status=Status.CONVERGED)
    result = None if separator is None else _exact(design, signs, separator, ended, labels, options)
    if result is None:
        raise overlap_error(labels, found)
    return result


def _exact(
    design: Design, signs: Floats, coef: Floats, walk: Run, labels: tuple[Any, Any], options: MarginOptions
) -> FitResult | None:
    """Return weights scaled to yᵢ(w·xᵢ + b) ≥ 1 as a result; None if they do not separate the rows exactly."""
    least = least_margin_below(design, signs, coef)
    if least <= 0:
        return None
    exponent = least.denominator.bit_length() - least.numerator.bit_length()
    scaled = np.ldexp(coef, exponent if least * Fraction(2) ** exponent >= 1 else exponent + 1)
    if not (np.isfinite(scaled).all() and scaled.any()):
        return None
    return margin_result(design, signs, scaled, walk, labels, options)


PATIENCE = 10.0  # seconds of one integer program, at most
START = ConvexOptions(tol=1e-4, max_passes=50)
START_STRENGTH = 1e-6
DENOMINATOR = 10_000  # of a packing's weights


@dataclass(frozen=True)
class ZeroOneOptions:
    """Seconds after which, and linear programs after which, the search ends with what it has."""

    time_limit: float = 60.0
    max_steps: int = 1_000_000

    def __post_init__(self) -> None:
        require_number("time_limit", self.time_limit, above=0.0)
        require_count("max_steps", self.max_steps)


def fit_zero_one(
    design: Design,
    signs: Floats,
    options: ZeroOneOptions,
    *,
    labels: tuple[Any, Any] = (-1, 1),
    watch: Watch | None = None,
) -> FitResult:
    """Search for the halfspace of fewest mistakes on rows of signs ±1."""
    row_radius(design)
    near, scale = _equal_columns(design)
    problem = Problem(near, signs, ZeroOneLoss())
    state = FewestMistakesState(_start(near, signs))
    rules = (
        AtMost("gap", 0, Status.OPTIMAL),
        AtLeast("stalled", 1, Status.STALLED),
        AtLeast("seconds", options.time_limit, Status.TIME_LIMIT),
        AtLeast("steps", options.max_steps, Status.MAX_STEPS),
    )
    solver = FewestMistakes(min(PATIENCE, float(options.time_limit)))
    walk = run(problem, solver, rules, start=state, watch=watch)
    state.coef = state.coef * scale
    certificate = _certify(design, signs, state, labels)
    status = walk.status
    if status is Status.OPTIMAL and certificate.lower < certificate.upper:
        status = Status.STALLED
    virtual = int(design.virtual)
    return FitResult(
        coef=state.coef[virtual:],
        intercept=np.asarray(state.coef[0] if virtual else 0.0),
        status=Status.OPTIMAL if certificate.verdict == "minimum" else status,
        message=_message(certificate, status, walk, options),
        objective=certificate.upper / design.shape[0],
        passes=walk.passes,
        seconds=walk.seconds,
        certificate=certificate,
        trace=Trace(walk.steps),
        facts={"gap": certificate.upper - certificate.lower, "lower": certificate.lower, "wrong": certificate.upper}
        | {"subsystems": len(state.subsystems), "rows": design.shape[0]},
        provenance={"names": list(design.names), "time_limit": options.time_limit, "max_steps": options.max_steps},
    )


def _equal_columns(design: Design) -> tuple[Design, Floats]:
    """Return the design with each column times a power of 2, so that units do not matter, and the factors."""
    virtual = int(design.virtual)
    values = design.take(np.arange(design.shape[0]))[:, virtual:]
    factors = np.ldexp(1.0, -np.frexp(np.abs(values).max(axis=0))[1])
    return make_design(values * factors, intercept=design.virtual), np.append(np.ones(virtual), factors)


def _start(design: Design, signs: Floats) -> Floats:
    """Return the weights of a logistic fit, or of the larger class for all rows: few mistakes if not the fewest."""
    if abs(float(signs.sum())) == len(signs):
        return np.zeros(design.shape[1])
    scale = max(float(design.squared_norms().mean()), 1.0)
    problem = Problem(design, signs, Logistic(), make_penalty(START_STRENGTH * scale, 0.0))
    fitted = fit_convex(problem, START).coef
    constant = np.zeros(design.shape[1])
    constant[: int(design.virtual)] = 1.0 if signs.sum() >= 0.0 else -1.0
    wrong = [int(np.sum(signs * design.matvec(coef) <= 0.0)) for coef in (fitted, constant)]
    return fitted if wrong[0] <= wrong[1] else constant


def _certify(design: Design, signs: Floats, state: FewestMistakesState, labels: tuple[Any, Any]) -> ZeroOneCertificate:
    sets = [system.rows for system in state.subsystems]
    packing = _packing(sets)
    lower = packing_bound(sets, packing)
    while lower < state.lower and cover_needs(sets, lower + 1):
        lower += 1
    systems = (InfeasibleRows(system.rows, tuple(map(Fraction, system.multipliers))) for system in state.subsystems)
    wrong = exactly_wrong(design, signs, state.coef)
    return ZeroOneCertificate(
        state.coef, wrong, lower, tuple(systems), packing, design.virtual, labels, design.shape[0]
    )


def _packing(sets: Sequence[Sequence[int]]) -> tuple[Fraction, ...]:
    """Return weights of the sets, as large in all as may be with at most 1 on any row, rounded down to rationals."""
    if not sets:
        return ()
    rows, places = np.unique(np.concatenate([np.asarray(each) for each in sets]), return_inverse=True)
    owners = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    loads: Any = sp.csr_array((np.ones(len(places)), (places, owners)), shape=(len(rows), len(sets)))
    found = scipy.optimize.linprog(-np.ones(len(sets)), A_ub=loads, b_ub=np.ones(len(rows)), method="highs")
    if found.x is None:
        return (Fraction(0),) * len(sets)
    weights = [Fraction(max(float(value), 0.0)).limit_denominator(DENOMINATOR) for value in found.x]
    totals = dict.fromkeys(rows.tolist(), Fraction(0))
    for members, weight in zip(sets, weights, strict=True):
        for row in members:
            totals[row] += weight
    heaviest = max(totals.values(), default=Fraction(0))
    return tuple(weight / max(heaviest, Fraction(1)) for weight in weights)


def _message(certificate: ZeroOneCertificate, status: Status, walk: Run, options: ZeroOneOptions) -> str:
    made = f"{counted(certificate.upper, 'mistake')} on {counted(certificate.n_rows, 'row')}"
    if certificate.verdict == "minimum":
        shown = counted(len(certificate.subsystems), "infeasible subsystem")
        return f"optimal: {made}, the fewest of any halfspace, shown by {shown} in {walk.seconds:.2g} s"
    reason = {
        Status.TIME_LIMIT: f"time_limit={options.time_limit:g} s was reached",
        Status.MAX_STEPS: f"max_steps={options.max_steps:,} was reached",
        Status.STALLED: "floats can go no further",
    }[status]
    return f"stopped, as {reason}: {made}; every halfspace makes at least {certificate.lower:,}"


@dataclass(frozen=True)
class Removals:
    """Rows whose removal lets a halfspace separate the others: `rows`; no fewer than `lower` will do.

    `exact` if there are just so many. `coef` and `intercept` separate the others; `certificate` proves it all.
    """

    rows: Ints
    lower: int
    coef: Floats
    intercept: float
    certificate: ZeroOneCertificate

    @property
    def exact(self) -> bool:
        """Whether no fewer rows will do."""
        return self.lower == len(self.rows)

    def __str__(self) -> str:
        named = ", ".join(map(str, self.rows[:10].tolist())) + (", …" if len(self.rows) > 10 else "")
        what = f"{counted(len(self.rows), 'row')} to remove" + (f" ({named})" if len(self.rows) else "")
        return f"{what}, {'the fewest' if self.exact else f'at least {self.lower:,} are needed'}"


def fewest_removals(
    X: Any, y: Any, fit_intercept: bool = True, *, time_limit: float = 60.0, watch: Watch | None = None
) -> Removals:
    """Return the fewest rows to remove so that a halfspace separates the others, strictly, with the proof.

    Parameters
    ----------
    X : array or sparse matrix (n, p); y : labels of two classes (n,)
    fit_intercept : whether the halfspace may miss the origin
    time_limit : seconds, after which the best rows found are returned, with a lower bound
    watch : called with the facts of each step: `lower`, `upper`, `subsystems`, `seconds`

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = sx.load_demo("five-points-overlap")
    >>> found = sx.fewest_removals(X, y)
    >>> print(found, bool(found.certificate.verify(X, y)))
    1 row to remove (2), the fewest True

    Reference: Amaldi, Pfetsch and Trotter, On the maximum feasible subsystem problem, IISs and IIS-hypergraphs (2003).
    """
    design = make_design(X, intercept=fit_intercept)
    signs, labels = binary_signs(y)
    if len(signs) != design.shape[0]:
        raise DataError(f"X has {design.shape[0]} rows and y has {len(signs)} labels; give one label a row")
    result = fit_zero_one(design, signs, ZeroOneOptions(time_limit), labels=labels, watch=watch)
    certificate = result.certificate
    assert isinstance(certificate, ZeroOneCertificate)
    return Removals(certificate.wrong, certificate.lower, result.coef, float(result.intercept), certificate)
