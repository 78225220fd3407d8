"""An upper bound on the suboptimality of coefficients from the curvature of the objective, with rounding included.

With g the gradient at w, H a lower bound on the Hessian there and any square matrix T, let zᵢ = Tᵗxᵢ and

    σ² ≤ λ_min(TᵗHT),      λ ≥ ‖Tᵗg‖ / σ,      √κ ≥ max ‖zᵢ‖ / σ over the rows that have curvature,      ν = √κ λ.

If σ > 0 and (for the logistic and softmax losses) ν < 1, the objective has a minimum, exactly one, and

    P(w) − min P ≤ ½λ² (1 + ν / (3 (1 − ν))),          |wⱼ − w*ⱼ| ≤ λ ‖Tⱼ‖ / ((1 − ν) σ).

Proof. |ℓ‴| ≤ ℓ″ gives ℓ(η + δ) ≥ ℓ + ℓ′δ + ℓ″ (e^{−|δ|} + |δ| − 1), so that with d² = hᵗHh and t = √κ d the objective
at w + h is at least P(w) − λd + (e^{−t} + t − 1)/κ, which increases without bound; its least value over d is the bound.
σ > 0 makes T regular and H positive definite. On separable rows ν ≥ 1 everywhere, so nothing is claimed of them. Rows
that are almost separated may be left out of H, which makes κ smaller.

For the squared loss ν counts as 0. For the squared hinge H has the rows whose margins fall short of 1 by τ or more, and
λ ≤ τ/(2√κ) is needed: along a shorter step these rows keep their curvature. A penalty adds its curvature to H and its
slope to g; of a slope that jumps (L1 at 0, a coefficient on its bound) the value nearest to −g is taken. A softmax is
written in the scores relative to the first class. Its ridge, least over a constant added to the scores of a column, is
there qⱼ (I − 11ᵗ/K), and the gap gains Σⱼ qⱼ (Σₖ wⱼₖ)² / 2K.

T is a product of two matrices. The first removes the dependence of the columns (the inverse of a triangle of their QR
factorisation), the second is the inverse of a Cholesky factor of H in these coordinates. Four attempts, each tighter:

    plain         the columns as they are, or some of them, in one pass
    orthogonal    rows in the coordinates of a QR factorisation, in two passes
    compensated   the same with dot products in twice the working precision, for few rows
    refined       the same in coordinates that have the second factor too, for penalties next to 0

Columns far from 0 are centred. Columns may be left out: the bound is then over the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats, Indices
from separatrix.certificates.base import Check
from separatrix.certificates.data import Whole
from separatrix.certificates.enclosures import OUTWARD, SPARE, TINY, UNIT, enclose_loss, gamma, outward, value_rounding
from separatrix.certificates.rays import Relation, broken_relation
from separatrix.codec import Items
from separatrix.design.base import Block, Design
from separatrix.design.moments import Moments, ResidualSums, triangle
from separatrix.design.sweeps import block_hessian
from separatrix.losses.base import Loss
from separatrix.losses.margin import Logistic
from separatrix.numerics import column_norms, compensated_dots, two_product, two_sum
from separatrix.problem import Problem, shift_intercept

MAX_WIDTH = 3000  # coefficients: beyond, the Hessian is not formed
CAREFUL = 2**22  # products of a pass up to which dot products are compensated
SHORTFALLS = (2.0**-6, 2.0**-20)  # values of τ that are tried for the squared hinge
LEAST_CURVATURE = 2.0**-24  # smaller ones, of rows that are almost separated, make κ large
STATED_SLACK = 3.0  # times the rounding errors: what fits state, so that another machine proves it too
SMALL_PIVOT = 2.0**-13  # of a Cholesky factor in columns of equal scale: some may be dependent
MOST_NAMES = 10  # aliased or held columns that a claim names
CURVED = ("logistic", "softmax", "squared", "squared hinge")


Columns = Annotated[tuple[Whole, ...], Items(distinct=True)]


class Conditions(NamedTuple):
    """What an objective may have besides its loss and penalty: offsets of the scores, penalty factors, and bounds."""

    offset: Floats | None = None  # (n,), or (n, K)
    factors: Floats | None = None  # (p,), of the penalty of each coefficient; the intercept's is not used
    lower: Floats | None = None  # (p,)
    upper: Floats | None = None  # (p,)

    @property
    def bounded(self) -> bool:
        """Whether some coefficient may have bounds."""
        return self.lower is not None or self.upper is not None

    def allows(self, coef: Floats) -> bool:
        """Tell whether coefficients are within the bounds."""
        above = self.lower is None or bool((coef >= self.lower).all())
        return above and (self.upper is None or bool((coef <= self.upper).all()))


PLAIN = Conditions()


@dataclass(frozen=True)
class GapBound:
    """The objective at some coefficients with a bound on its error, and upper bounds on the suboptimality.

    `scale` is a lower bound on the value that gaps are relative to, if it is larger than the objective. `radii` bound
    the distance of each coefficient from the unique minimiser; None if that is not proved to exist. `rounded` says
    whether rounding errors or nearly dependent columns make the gap large, so that a tighter enclosure may help.
    `tol` is the requested relative gap, which is stated where the bound is slightly within it.
    """

    objective: float
    error: float
    gap: float
    scale: float
    radii: Floats | None = None
    rounded: bool = True
    tol: float = math.inf

    @property
    def primal(self) -> float:
        """An upper bound on the objective."""
        return (self.objective + self.error) * (1.0 + 4 * UNIT)

    @property
    def dual(self) -> float:
        """A lower bound on the minimum."""
        return max((self.objective - self.error - self.gap) * (1.0 - 4 * UNIT), 0.0)

    @property
    def floor(self) -> float:
        """A lower bound on what the gap is relative to: the larger of objective and scale."""
        return max((self.objective - self.error) * (1.0 - 4 * UNIT), self.scale)

    @property
    def relative_gap(self) -> float:
        """The gap relative to the larger of the objective and `scale`, rounded up."""
        return OUTWARD * self.gap / self.floor if self.gap else 0.0

    @property
    def stated_gap(self) -> float:
        """The relative gap as fits state it."""
        stated = outward(self.relative_gap)
        return min(stated, self.tol) if SPARE * self.relative_gap <= self.tol else stated

    def or_better(self, other: GapBound | None) -> GapBound:
        """Return the better of two bounds, with the smaller radius of each coefficient."""
        if other is None:
            return self
        gap, sharper = min(self.gap, other.gap), self if self.error <= other.error else other
        radii = [each.radii for each in (self, other) if each.radii is not None]
        least = np.minimum.reduce(radii) if radii else None
        return replace(sharper, gap=gap, radii=least, rounded=self.rounded and other.rounded)

    @property
    def stated(self) -> dict[str, Any]:
        """The numbers as fits state them."""
        gap = min(outward(self.gap), self.primal)
        radii = None if self.radii is None else np.vectorize(outward, otypes=[np.float64])(self.radii)
        return {"primal": self.primal, "gap": gap, "relative_gap": self.stated_gap, "radii": radii}


Enough = Callable[[GapBound], bool]  # tells whether a bound is as small as needed


def trivial_bound(problem: Problem, objective: float, error: float) -> GapBound:
    """Return the bound that always holds: losses and penalties are never negative."""
    return GapBound(objective, error, (objective + error) * (1.0 + 4 * UNIT), problem.least_scale)


def is_zero(problem: Problem, coef: Floats) -> bool:
    """Tell whether the objective is exactly 0: a squared loss whose targets equal the intercept, and no slopes."""
    virtual = int(problem.design.virtual)
    if problem.loss.name != "squared" or coef[virtual:].any():
        return False
    different = problem.y != (coef[0] if virtual else 0.0)
    return not (different if problem.weights is None else problem.weights[different]).any()


@dataclass(frozen=True)
class Dependence:
    """Columns of a fit that depend on others: exactly, with their relations, or so nearly that they are held."""

    aliased: tuple[int, ...] = ()
    relations: tuple[Relation, ...] = ()
    held: tuple[int, ...] = ()

    def varying(self, count: int) -> Indices:
        """Return the columns that are neither aliased nor held."""
        return np.setdiff1d(np.arange(count), (*self.aliased, *self.held))

    def ray_relations(self, count: int, outputs: int) -> tuple[Relation, ...]:
        """Return the relations as vectors over the scores of several outputs, class by class; they vanish on rays."""
        return tuple(
            {output * count + j: value for j, value in {column: Fraction(-1), **relation}.items()}
            for output in range(outputs)
            for column, relation in zip(self.aliased, self.relations, strict=True)
        )


INDEPENDENT = Dependence()


def held_clause(certificate: Any) -> str:
    """Return which columns a claim is about, if some are held; else an empty text."""
    return (
        f" over the other columns, with {listed_columns(certificate.data.names, certificate.held)} held"
        if certificate.held
        else ""
    )


def dependence_clause(certificate: Any) -> str:
    """Return the clause of a claim about aliased and held columns."""
    if certificate.held:
        return held_clause(certificate)
    if certificate.aliased:
        combined = "is a combination" if len(certificate.aliased) == 1 else "are combinations"
        aliased = listed_columns(certificate.data.names, certificate.aliased)
        return f", and the minimiser is not unique, as {aliased} {combined} of other columns"
    if certificate.radii is not None and certificate.radii.ndim == 2:  # of a softmax
        return ", and the minimiser is unique up to constants added to all classes"
    return "" if certificate.radii is None else ", and the minimiser is unique"


def listed_columns(names: Sequence[str], columns: Sequence[int]) -> str:
    """Return the names of some columns, at most ten of them."""
    listed = ", ".join(repr(names[column]) for column in columns[:MOST_NAMES])
    return listed if len(columns) <= MOST_NAMES else f"{listed} and {len(columns) - MOST_NAMES:,} more"


def require_dependence(dependence: Dependence, count: int) -> None:
    """Raise a ValueError unless each aliased column is written by columns that are neither aliased nor held."""
    dependent = {*dependence.aliased, *dependence.held}
    if len(dependent) < len(dependence.aliased) + len(dependence.held) or max(dependent, default=-1) >= count:
        raise ValueError(f"aliased and held columns are distinct, and below {count}")
    if len(dependence.relations) != len(dependence.aliased):
        raise ValueError(f"{len(dependence.relations)} relations are given for {len(dependence.aliased)} columns")
    for relation in dependence.relations:
        if any(column in dependent or not 0 <= column < count for column in relation):
            raise ValueError("a relation has columns that are themselves aliased or held")


def relation_check(design: Design, dependence: Dependence) -> Check | None:
    """Check that each aliased column is its combination of others on every row, exactly; None without such columns."""
    if not dependence.aliased:
        return None
    vectors = [
        {**relation, column: Fraction(-1)}
        for column, relation in zip(dependence.aliased, dependence.relations, strict=True)
    ]
    row = broken_relation(design, vectors)
    return Check("aliases", row is None, "exact on every row" if row is None else f"row {row} breaks a relation")


class _Point(NamedTuple):
    """Where the sums of a pass are taken, and in which coordinates; None: those of the columns.

    `error` is that of all scores. `careful` means dot products in twice the working precision, `jumps` that the
    penalty or bounds have slopes that jump.
    """

    coef: Floats
    loss: Loss
    weighted: bool
    offset: bool
    error: float = 0.0
    coordinates: Floats | None = None
    careful: bool = False
    threshold: float = 0.0
    jumps: bool = False


class _Sums(NamedTuple):
    """Sums over rows, weighted: `depth` roundings at most were made in each.

    Of the coordinates z: the gradient Σ ℓ′z, Σ θ|z| and Σ |ℓ′||z| with θ the error of ℓ′, Σ θ, Σ |ℓ′|, the Hessian,
    the trace of the curvatures, and the largest |z|; of the columns the largest |x|.
    """

    depth: float
    value: float
    value_error: float
    gradient: Floats
    slope_errors: Floats
    slope_sizes: Floats
    total_error: Floats
    total_size: Floats
    hessian: Floats
    mass: float
    relative_error: float
    largest: Floats
    largest_entries: Floats
    column_gradient: Floats


_LARGEST = ("relative_error", "largest", "largest_entries")


def join_sums(a: Sequence[Any], b: Sequence[Any]) -> _Sums:
    """Add the sums of two blocks; largest values are compared."""
    first, second = _Sums(*a), _Sums(*b)
    joined = {
        name: np.maximum(a[place], b[place]) if name in _LARGEST else a[place] + b[place]
        for place, name in enumerate(_Sums._fields)
    }
    return _Sums(**joined)._replace(depth=max(first.depth, second.depth) + 1.0)


def curvature_bound(
    problem: Problem,
    coef: Floats,
    *,
    columns: Indices | None = None,
    conditions: Conditions = PLAIN,
    enough: Enough = bool,
    slack: float = 1.0,
    brief: bool = False,
) -> GapBound | None:
    """Return the bound over some columns (None: all) that is enough, or the best; None if nothing is proved.

    `slack` multiplies the rounding errors. `brief` makes no further attempt where the gap is not one of rounding.
    """
    if problem.loss.name not in CURVED or not width(problem, coef) <= MAX_WIDTH or not conditions.allows(coef):
        return None
    if coef.ndim == 2 and problem.penalty.absolute:  # slopes of |w| of classes are not those of differences
        return None
    if columns is not None and not len(columns):  # the objective is the same for all coefficients of the others
        fixed = None if problem.penalty.strength else loss_bound(problem, coef, slack=slack)
        return fixed and replace(fixed, gap=0.0, radii=np.zeros_like(coef))
    best: GapBound | None = None
    for attempt in _attempts(problem.normalised, coef, columns, conditions, slack):
        bound = attempt.bound()
        best = bound if best is None else best.or_better(bound)
        hopeless = brief and bound is not None and not bound.rounded and attempt.point.threshold == 0.0
        if hopeless or (best is not None and enough(best)):
            break
    return best


def never(_: GapBound) -> bool:
    """Tell that no bound is enough, so that every attempt is made."""
    return False


def moment_bound(
    problem: Problem, coef: Floats, sums: Moments, start: Floats, residuals: ResidualSums, *, slack: float = 1.0
) -> GapBound | None:
    """Return the plain bound for the squared loss without a pass, from sums over the centred rows.

    `residuals` are the sums at other coefficients of the centred rows, `start`. The sums over rows that a pass would
    take are bounded by the lengths of the columns and of the residuals (Cauchy–Schwarz), so that it proves no more.
    """
    centred, centre = problem.centred()
    moved, error = centred_coef(coef, centre)
    total, step, depth = problem.total_weight, moved - start, sums.depth + len(coef)
    lengths = np.sqrt(np.diag(sums.gram)) * OUTWARD
    length = OUTWARD * (math.sqrt(residuals.squares) + float(lengths @ np.abs(step)))
    score_error = gamma(len(coef) + 8.0) * float(lengths @ (np.abs(start) + np.abs(moved))) + 2 * UNIT * length
    score_error = OUTWARD * (score_error + math.sqrt(total) * error)
    along = sums.gram @ step
    value = 0.5 * max(residuals.squares - float(step @ (2.0 * residuals.cross - along)), 0.0)
    bounded = _Sums(
        depth=depth,
        value=value,
        value_error=(length + score_error) * score_error + gamma(depth + 8.0) * length * length,
        gradient=along - residuals.cross,
        slope_errors=lengths * score_error,
        slope_sizes=2.0 * lengths * length,
        total_error=np.asarray(math.sqrt(total) * score_error),
        total_size=np.asarray(math.sqrt(total) * length),
        hessian=sums.gram,
        mass=total,
        relative_error=0.0,
        largest=lengths,
        largest_entries=lengths,
        column_gradient=np.zeros(0),
    )
    point = _Point(moved, problem.loss, problem.weights is not None, False, error)
    with np.errstate(all="ignore"):
        return _Attempt(centred, point, PLAIN, slack, centre)._bound(bounded)


def loss_bound(problem: Problem, coef: Floats, *, slack: float = 1.0) -> GapBound:
    """Return the mean loss with a bound on its error, which bounds the suboptimality too; one pass."""
    problem, (n, p) = problem.normalised, problem.design.shape
    point = _Point(coef, problem.loss, problem.weights is not None, False, careful=n * p <= CAREFUL)
    with np.errstate(all="ignore"):
        sums = problem.design.fold(
            _sums, point._replace(coordinates=np.zeros((p, 0))), rows=problem.rows, combine=join_sums
        )
    value, error = _value(_Sums(*sums), problem.total_weight, coef.size // len(coef))
    return trivial_bound(problem, value, slack * error + TINY)


def _value(sums: _Sums, total: float, scores: int) -> tuple[float, float]:
    """Return the mean loss, and a bound on its error."""
    error = sums.value_error + (gamma(sums.depth + 8.0) + value_rounding(scores)) * sums.value
    return sums.value / total, OUTWARD * error / total


def width(problem: Problem, coef: Floats) -> int:
    """Return the number of unknowns of the Hessian."""
    outputs = coef.shape[1] - 1 if coef.ndim == 2 else 1
    return problem.design.shape[1] * outputs


def _attempts(problem: Problem, coef: Floats, columns: Indices | None, conditions: Conditions, slack: float) -> Any:
    """Yield the attempts in the order of their cost."""
    all_columns = np.arange(problem.design.shape[1])
    used = all_columns if columns is None else columns
    free = problem.design.virtual and 0 in used and _is_unbounded(conditions)
    centred, centre = problem.centred() if free else (problem, np.zeros(0))
    moved, error = centred_coef(coef, centre)
    thresholds = _thresholds(problem)
    point = _Point(moved, problem.loss, problem.weights is not None, conditions.offset is not None, error)
    point = point._replace(jumps=coef.ndim == 1 and (conditions.bounded or problem.penalty.absolute > 0.0))
    for threshold in thresholds:
        own = point._replace(threshold=threshold)
        chosen = None if len(used) == len(all_columns) else np.eye(len(all_columns))[:, used]
        yield _Attempt(centred, own._replace(coordinates=chosen), conditions, slack, centre)
        to_rows = orthogonal_coordinates(centred, used, penalties(centred, conditions)[1])
        if to_rows is None:
            continue
        yield _Attempt(centred, own._replace(coordinates=to_rows), conditions, slack, centre)
        if problem.design.shape[0] * to_rows.size <= CAREFUL:
            to_rows = shift_intercept(to_rows, centre, -1.0)
            uncentred = own._replace(coef=coef, error=0.0, coordinates=to_rows, careful=True)
            yield (attempt := _Attempt(problem, uncentred, conditions, slack, np.zeros(0)))
            if attempt.metric is not None and coef.ndim == 1:
                refined = uncentred._replace(coordinates=to_rows @ attempt.metric)
                yield _Attempt(problem, refined, conditions, slack, np.zeros(0))


def _thresholds(problem: Problem) -> tuple[float, ...]:
    """Return the values of τ to try; for the logistic loss and a softmax, curvatures below count as 0."""
    if problem.loss.name == "squared hinge":
        return SHORTFALLS
    return (0.0,) if problem.loss.name == "squared" else (0.0, LEAST_CURVATURE)


def _is_unbounded(conditions: Conditions) -> bool:
    """Tell whether the intercept has no bounds."""
    bounds = (conditions.lower, conditions.upper)
    return all(bound is None or not np.isfinite(bound[0]) for bound in bounds)


def centred_coef(coef: Floats, centre: Floats) -> tuple[Floats, float]:
    """Return the coefficients of centred rows, and a bound on the error of the intercept, which is rounded once."""
    if not len(centre):
        return coef, 0.0
    moved, by_class = coef.copy(), np.atleast_2d(coef.T)
    high, low = two_product(by_class[:, 1:], centre)
    sums = [
        math.fsum([*a, *b, c]) for a, b, c in zip(high.tolist(), low.tolist(), by_class[:, 0].tolist(), strict=True)
    ]
    moved[0] = sums if coef.ndim == 2 else sums[0]
    return moved, 2 * UNIT * float(np.abs(sums).max()) + TINY


def orthogonal_coordinates(problem: Problem, columns: Indices, quadratic: Floats) -> Floats | None:
    """Return T (p, d) that makes the weighted rows Tᵗx and those of the penalty orthonormal, up to rounding.

    None if columns are dependent.
    """
    design, count = problem.design, len(columns)
    if not count:
        return None
    factor = triangle(design, np.zeros(design.shape[0]), problem.weights)[:, :-1][:, columns]
    if quadratic.any():
        factor = np.vstack([factor, np.diag(np.sqrt(problem.total_weight * quadratic[columns]))])
    if len(factor) < count or not np.isfinite(factor).all():
        return None
    exponents = np.frexp(np.abs(factor).max(axis=0, initial=0.0))[1]
    upper = np.asarray(np.linalg.qr(np.ldexp(factor, -exponents), mode="r"))[:count]
    if not np.diag(upper).all():
        return None
    inverse = np.asarray(scipy.linalg.lapack.dtrtri(upper)[0]) * math.sqrt(problem.total_weight)
    coordinates = np.zeros((design.shape[1], count))
    with np.errstate(over="ignore"):
        coordinates[columns] = np.ldexp(inverse, -exponents[:, np.newaxis])
    return coordinates if np.isfinite(coordinates).all() else None


@dataclass
class _Attempt:
    """One pass in some coordinates, and the bound that follows from its sums."""

    problem: Problem
    point: _Point
    conditions: Conditions
    slack: float
    centre: Floats
    metric: Floats | None = None

    def bound(self) -> GapBound | None:
        """Return the bound; None if the matrix in these coordinates is not proved to be positive definite."""
        with np.errstate(all="ignore"):
            return self._bound(_Sums(*self.problem.design.fold(_sums, self.point, rows=self._rows, combine=join_sums)))

    @property
    def _rows(self) -> tuple[Any, ...]:
        return (*self.problem.rows, *(() if self.conditions.offset is None else (self.conditions.offset,)))

    def _bound(self, sums: _Sums) -> GapBound | None:
        problem, point, total = self.problem, self.point, self.problem.total_weight
        outputs = point.coef.shape[1] - 1 if point.coef.ndim == 2 else 1
        count = sums.gradient.size
        penalty = _PenaltyTerms.of(problem, point, self.conditions)
        hessian = sums.hessian / total + penalty.hessian
        rounding = self.slack * (gamma(sums.depth + 8.0) + gamma(2.0 * count + 8.0) + sums.relative_error)
        root = _inverse_root(hessian)
        if root is None:
            return None
        metric, pivot = root
        self.metric = metric
        lengths = column_norms(metric.T) * OUTWARD
        errors = self.slack * self._coordinate_errors(sums)
        by_column = np.linalg.norm(lengths.reshape(-1, outputs), axis=1)
        error = float(errors @ by_column) * OUTWARD
        root_sum = float(np.sqrt(np.diag(hessian)) @ lengths)
        deviation = float(np.linalg.norm(_congruence(hessian, metric) - np.eye(count)))
        deviation *= 1.0 + gamma(count * count)
        square = 1.0 - OUTWARD * deviation - OUTWARD * rounding * root_sum * root_sum
        if not square > 0.0:
            return None
        sigma = math.sqrt(square) / OUTWARD - OUTWARD * math.sqrt(sums.mass / total) * error
        if not sigma > 0.0:
            return None
        gradient, gradient_error = self._gradient(sums, errors, penalty)
        length, length_error = (
            float(np.linalg.norm(part)) for part in (gradient @ metric, gradient_error @ np.abs(metric))
        )
        decrement = (
            OUTWARD * (length + length_error + gamma(count + 4.0) * float(np.abs(gradient) @ lengths)) / sigma + TINY
        )
        longest = float(sums.largest @ by_column) * (1.0 if outputs == 1 else 2.0)
        factors = None if self.point.threshold else self._factors(decrement, OUTWARD * (longest + 2.0 * error) / sigma)
        if factors is None:  # some rows may have no curvature
            by_output = metric.reshape(-1, outputs, count)
            longest = self.problem.design.fold(_longest, self.point, by_output, rows=self._rows, combine=max)
            factors = self._factors(decrement, OUTWARD * (longest + 2.0 * error) / sigma)
        if factors is None:
            return None
        gap = 0.5 * decrement * decrement * factors[0] * OUTWARD + TINY + self._gauge_gap(penalty)
        loss, loss_error = _value(sums, total, outputs)
        objective = loss + penalty.value
        objective_error = self.slack * (loss_error + gamma(penalty.terms) * penalty.value + TINY)
        reach = decrement * factors[1] / sigma * OUTWARD
        radii = self._radii(metric, lengths, reach, outputs)
        primal = (objective + objective_error) * (1.0 + 4 * UNIT)
        if not (math.isfinite(gap) and math.isfinite(primal)):
            return None
        rounded = length <= 4.0 * length_error or pivot < SMALL_PIVOT or self.point.coordinates is not None
        return GapBound(objective, objective_error, min(gap, primal), self.problem.least_scale, radii, rounded)

    def _coordinate_errors(self, sums: _Sums) -> Floats:
        """Return a bound on the error of each coordinate of a row."""
        coordinates, terms = self.point.coordinates, self.problem.design.shape[1] + 4.0
        if coordinates is None or _selects(coordinates):
            return UNIT * sums.largest if len(self.centre) else np.zeros(len(sums.largest))
        sizes = sums.largest_entries @ np.abs(coordinates)
        if self.point.careful:
            return 2 * UNIT * sums.largest + 4.0 * gamma(2.0 * terms) ** 2 * sizes + TINY
        return gamma(terms) * sizes + TINY

    def _gradient(self, sums: _Sums, errors: Floats, penalty: _PenaltyTerms) -> tuple[Floats, Floats]:
        """Return the gradient in the coordinates, and a bound on the error of each of its entries."""
        total = self.problem.total_weight
        gradient = sums.gradient / total + penalty.gradient.reshape(sums.gradient.shape)
        by_column = errors.reshape(-1, *[1] * (sums.gradient.ndim - 1))
        rounding = sums.slope_errors + by_column * (sums.total_error + sums.total_size)
        rounding = (rounding + gamma(sums.depth + 8.0) * sums.slope_sizes) / total
        rounding = self.slack * OUTWARD * (rounding + penalty.gradient_error.reshape(gradient.shape)) + TINY
        if self.point.jumps:
            jumping, to_rows = self._jumping_slopes(sums.column_gradient / total), self.point.coordinates
            if to_rows is None:
                return gradient + jumping, rounding
            rounding += self.slack * gamma(len(jumping) + 4.0) * (np.abs(jumping) @ np.abs(to_rows))
            gradient = gradient + jumping @ to_rows
        return gradient.reshape(-1), rounding.reshape(-1)

    def _jumping_slopes(self, gradient: Floats) -> Floats:
        """Return the slopes of an L1 penalty or of bounds that are nearest to minus the gradient of the rest."""
        coef, (absolute, quadratic) = self.point.coef, penalties(self.problem, self.conditions)
        low, high = absolute * np.sign(coef), absolute * np.sign(coef)
        low, high = np.where(coef == 0.0, -absolute, low), np.where(coef == 0.0, absolute, high)
        if self.conditions.lower is not None:
            low = np.where(coef == self.conditions.lower, -np.inf, low)
        if self.conditions.upper is not None:
            high = np.where(coef == self.conditions.upper, np.inf, high)
        return np.asarray(np.clip(-gradient - quadratic * coef, low, high))

    def _factors(self, decrement: float, radius: float) -> tuple[float, float] | None:
        """Return the factors of ½λ² in the gap, and of λ in the distance; None if the step is too long to tell."""
        loss = self.point.loss.name
        if loss == "squared":
            return 1.0, 1.0
        if loss == "squared hinge":
            return (1.0, 1.0) if OUTWARD * 2.0 * radius * decrement <= self.point.threshold else None
        share = OUTWARD * radius * decrement
        if not share < 1.0:
            return None
        rest = (1.0 - share) / OUTWARD
        return 1.0 + OUTWARD * share / (3.0 * rest), OUTWARD / rest

    def _gauge_gap(self, penalty: _PenaltyTerms) -> float:
        """Return the excess objective of a softmax with a ridge whose scores do not sum to 0 over the classes."""
        coef = self.point.coef
        if coef.ndim == 1 or not penalty.quadratic.any():
            return 0.0
        sums = np.abs(coef.sum(axis=1)) + gamma(coef.shape[1]) * np.abs(coef).sum(axis=1)
        return float(OUTWARD * (penalty.quadratic @ (sums * sums)) / (2.0 * coef.shape[1]))

    def _radii(self, metric: Floats, lengths: Floats, reach: float, outputs: int) -> Floats:
        """Return a bound on the distance of each coefficient from the minimiser, in the shape of the coefficients."""
        coordinates, rows = self.point.coordinates, lengths
        if coordinates is not None:
            by_output = metric.reshape(-1, outputs, metric.shape[1])
            product = np.einsum("jk,kom->jom", coordinates, by_output)
            size = np.einsum("jk,ko->jo", np.abs(coordinates), lengths.reshape(-1, outputs))
            rows = column_norms(product.reshape(-1, product.shape[2]).T).reshape(size.shape)
            rows = (rows + gamma(len(coordinates) + 4.0) * size).reshape(-1) * OUTWARD
        rows = rows.reshape(-1, outputs)
        radii = np.where(rows > 0.0, OUTWARD * reach * rows + TINY, 0.0)  # 0: columns that do not vary
        if len(self.centre):
            radii[0] += OUTWARD * (np.abs(self.centre) @ radii[1:] + self.point.error)
        return radii[:, 0] if self.point.coef.ndim == 1 else np.column_stack([np.zeros(len(radii)), radii])


class _PenaltyTerms(NamedTuple):
    """Value, gradient and Hessian of the penalty in some coordinates; `terms` counts the roundings of the value."""

    value: float
    gradient: Floats
    gradient_error: Floats
    hessian: Any
    quadratic: Floats
    terms: float

    @classmethod
    def of(cls, problem: Problem, point: _Point, conditions: Conditions) -> _PenaltyTerms:
        """Return the terms at a point; the slope of the L1 part is left out."""
        absolute, quadratic = penalties(problem, conditions)
        coef, coordinates = point.coef, point.coordinates
        by_class = coef.reshape(len(coef), -1)
        sizes = absolute[:, np.newaxis] * np.abs(by_class) + 0.5 * quadratic[:, np.newaxis] * by_class * by_class
        value, terms = float(sizes.sum()), coef.size + 8.0
        outputs = by_class.shape[1] - 1 if coef.ndim == 2 else 1
        count = len(coef) if coordinates is None else coordinates.shape[1]
        if not quadratic.any():
            zeros = np.zeros(count * outputs)
            return cls(value, zeros, zeros, 0.0, quadratic, terms)
        slopes, classes = by_class, np.eye(1)
        if coef.ndim == 2:
            slopes = by_class[:, 1:] - by_class.mean(axis=1, keepdims=True)
            classes = np.eye(outputs) - 1.0 / (outputs + 1)
        slopes = quadratic[:, np.newaxis] * slopes
        slope_sizes = quadratic[:, np.newaxis] * (
            np.abs(by_class[:, -outputs:]) + np.abs(by_class).mean(axis=1, keepdims=True)
        )
        to_rows = np.eye(len(coef)) if coordinates is None else coordinates
        gradient = to_rows.T @ slopes
        rounding = gamma(len(coef) + by_class.shape[1] + 8.0) * (np.abs(to_rows).T @ slope_sizes)
        hessian = np.kron((to_rows.T * quadratic) @ to_rows, classes)
        return cls(value, gradient.reshape(-1), rounding.reshape(-1), hessian, quadratic, terms)


def penalties(problem: Problem, conditions: Conditions) -> tuple[Floats, Floats]:
    """Return the factors of |wⱼ| and of wⱼ²/2."""
    weights = problem.penalty_weights if conditions.factors is None else problem.penalty_weights * conditions.factors
    return problem.penalty.absolute * weights, problem.penalty.quadratic * weights


def _selects(coordinates: Floats) -> bool:
    """Tell whether coordinates are some of the columns, which are not rounded."""
    ones = int((coordinates == 1.0).sum())
    return ones == coordinates.shape[1] and ones == int(np.count_nonzero(coordinates))


def _congruence(matrix: Floats, root: Floats) -> Floats:
    """Return MᵗAM for an upper triangular M."""
    return np.asarray(scipy.linalg.blas.dtrmm(1.0, root, scipy.linalg.blas.dtrmm(1.0, root, matrix, side=1), trans_a=1))


def _inverse_root(matrix: Floats) -> tuple[Floats, float] | None:
    """Return an upper triangular M with MᵗAM = I, up to rounding, and the least pivot of A in equal scales.

    None if that is not possible, or if entries may have lost digits.
    """
    if not (np.isfinite(matrix).all() and (np.diag(matrix) >= TINY).all()):
        return None
    scale = np.sqrt(np.diag(matrix))
    factor, failed = scipy.linalg.lapack.dpotrf(matrix / scale / scale[:, np.newaxis], lower=1, clean=1)
    if failed or not len(factor):
        return None
    inverse = np.asarray(scipy.linalg.lapack.dtrtri(factor, lower=1)[0]).T / scale[:, np.newaxis]
    return (inverse, float(np.diag(factor).min())) if np.isfinite(inverse).all() else None


def _sums(block: Block, *arguments: Any) -> _Sums:
    """Return the sums of a block."""
    y, *others, point = arguments
    weights = others[0] if point.weighted else None
    absolute = type(block)(abs(block.values), block.virtual, block.start)
    offset = others[-1] if point.offset else None
    if point.careful and point.loss.name == "squared" and offset is None:
        offset, y = -y, np.zeros(len(y))  # residuals in place of scores, so that they are rounded once
    eta, error = _scores(block, absolute, point, offset)
    value, slope, slope_error, curvature, relative = enclose_loss(point.loss, eta, error, y, point.threshold)
    rows = block if point.coordinates is None else _in_coordinates(block, point)
    sizes = absolute if point.coordinates is None else Block(np.abs(rows.values), False, block.start)
    if eta.ndim == 2:
        slope, slope_error, curvature = slope[:, 1:], slope_error[:, 1:], curvature[:, 1:, 1:]
    if weights is not None:
        value, slope, slope_error, curvature = ((weights * part.T).T for part in (value, slope, slope_error, curvature))
    slope_size, largest = np.abs(slope), _largest(absolute)
    per_row = (slope_size + slope_error).reshape(len(y), -1).sum(axis=1)  # of a softmax: more than half of Σₖ |slopeₖ|
    return _Sums(
        depth=float(len(y)) + 4.0,
        value=float(value.sum()),
        value_error=float(per_row @ error) * (1.0 if eta.ndim == 1 else 2.0),
        gradient=rows.rmatvec(slope),
        slope_errors=sizes.rmatvec(slope_error),
        slope_sizes=sizes.rmatvec(slope_size),
        total_error=slope_error.sum(axis=0),
        total_size=slope_size.sum(axis=0),
        hessian=block_hessian(rows, curvature),
        mass=float(curvature.sum() if curvature.ndim == 1 else np.trace(curvature, axis1=1, axis2=2).sum()),
        relative_error=relative,
        largest=largest if sizes is absolute else _largest(sizes),
        largest_entries=largest,
        column_gradient=block.rmatvec(slope) if point.jumps else np.zeros(0),
    )


def _scores(block: Block, absolute: Block, point: _Point, offset: Floats | None) -> tuple[Floats, Floats]:
    """Return the scores of a block, and a bound on the error of each row's."""
    terms, sizes = len(point.coef) + 8.0, absolute.matvec(np.abs(point.coef))
    sizes = sizes if offset is None else sizes + np.abs(offset)
    if point.careful:
        dense = block.dense()
        parts = [compensated_dots(dense, column) for column in np.atleast_2d(point.coef.T)]
        high, low = (np.stack(part, axis=-1).reshape(sizes.shape) for part in zip(*parts, strict=True))
        if offset is not None:
            high, rest = two_sum(high, offset)
            low = low + rest
        eta = high + low
        error = 2 * UNIT * np.abs(eta) + 4.0 * gamma(2.0 * terms) ** 2 * sizes
    else:
        eta = block.matvec(point.coef)
        eta = eta if offset is None else eta + offset
        error = gamma(terms) * sizes
    error = error if error.ndim == 1 else error.max(axis=1)
    return eta, OUTWARD * (error + point.error) + TINY


def careful_scores(block: Block, *arguments: Any) -> Floats:
    """Return the scores of a block by compensated dot products, and in a last column a bound on each row's error."""
    *offset, coef = arguments
    absolute = type(block)(abs(block.values), block.virtual, block.start)
    point = _Point(coef, Logistic(), False, bool(offset), careful=True)
    return np.column_stack(_scores(block, absolute, point, offset[0] if offset else None))


def _in_coordinates(block: Block, point: _Point) -> Block:
    """Return the rows of a block in the coordinates."""
    coordinates = point.coordinates
    assert coordinates is not None
    if not point.careful or not coordinates.shape[1]:
        return Block(block.matvec(coordinates), False, block.start)
    dense = block.dense()
    values = [high + low for high, low in (compensated_dots(dense, column) for column in coordinates.T)]
    return Block(np.column_stack(values), False, block.start)


def _longest(block: Block, *arguments: Any) -> float:
    """Return the largest ‖Mᵗz‖ over the rows that have curvature, rounded up; of a softmax, over pairs of classes."""
    y, *others, point, metric = arguments
    absolute = type(block)(abs(block.values), block.virtual, block.start)
    eta, error = _scores(block, absolute, point, others[-1] if point.offset else None)
    curvature = enclose_loss(point.loss, eta, error, y, point.threshold).curvature
    curved = (curvature if curvature.ndim == 1 else np.trace(curvature, axis1=1, axis2=2)) > 0.0
    rows = (block if point.coordinates is None else _in_coordinates(block, point)).dense()[curved]
    longest, rounding = 0.0, gamma(len(metric) + 4.0)
    for part in np.moveaxis(metric, 1, 0):
        lengths = np.linalg.norm(np.abs(rows @ part) + rounding * (np.abs(rows) @ np.abs(part)), axis=1)
        longest = max(longest, float(lengths.max(initial=0.0)))
    return OUTWARD * longest * (1.0 if eta.ndim == 1 else 2.0)


def _largest(absolute: Block) -> Floats:
    """Return the largest entry of each column of a block of absolute values."""
    largest = absolute.values.max(axis=0) if absolute.values.shape[1] else np.zeros(0)
    stored = np.asarray(largest.toarray() if hasattr(largest, "toarray") else largest, dtype=np.float64).ravel()
    return np.concatenate([[1.0], stored]) if absolute.virtual else stored
