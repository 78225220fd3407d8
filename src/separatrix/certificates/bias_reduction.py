"""Firth's bias reduction: the logistic likelihood times Jeffreys' prior, and the certificate of a local maximum.

    ℓ*(w) = Σ sᵢ log σ(yᵢ w·xᵢ) + ½ log det I(w),          I(w) = Σ sᵢ cᵢ xᵢ xᵢᵗ,  cᵢ = πᵢ(1 − πᵢ),  πᵢ = σ(w·xᵢ)
    ∇ℓ*(w) = Σ (sᵢ (tᵢ − πᵢ) + sᵢ cᵢ qᵢ (½ − πᵢ)) xᵢ       qᵢ = xᵢᵗ I⁻¹ xᵢ,  tᵢ = 1 for yᵢ = 1, else 0

On data of full rank ℓ* has a maximum, separated or not; ℓ* need not be concave, so only a local one is proved.

**Theorem.** Let ‖∇ℓ*(w)‖ ≤ λ in the norm of I⁻¹, κ ≥ max qᵢ, −∇²ℓ*(w) ⪰ μI, mₖ ≥ Σ sᵢ cᵢ qᵢ^(k/2) for k = 3, 4, 5, and
for some radius d, with t = √κ d ≤ ½ and δ = d exp(t), δm₃ < 1,

    c = max{ exp(−t) − κ/2,   μ − δ(m₃ + m₃m₄ + m₄^(3/2) + (m₃m₄ + m₅) / (2(1 − δm₃))) } > 0,        λ < cd.

Then exactly one point with ‖h‖ = (hᵗIh)^½ ≤ d from w is stationary. It is a local maximum, ‖h‖ ≤ λ/c there, and ℓ* is
at most λ²/(2c) higher than at w.

*Proof.* Choose coordinates z of the rows x with I(w) = 1, so that qᵢ = ‖zᵢ‖². In the ball the score of row i changes by
at most tᵢ = √qᵢ d ≤ t. The first three derivatives of c are at most c, so c, c′, c″ change by (exp(tᵢ) − 1)cᵢ ≤ δ√qᵢcᵢ
at most, I by δm₃ and q by the factor 1/(1 − δm₃). Along u with ‖u‖ = 1,

    −∇²ℓ*[u, u] = Σ s c (z·u)² − ½ Σ s c″ (z·u)² q + ½ ‖K‖²_F,      K = I^(−½) (Σ s c′ (z·u) zzᵗ) I^(−½).

c″ = c(1 − 6c) ≤ c gives the first bound: exp(−t)(1 − κexp(t)/2). For the second, the first term falls by at most δm₃,
the second by the fraction. By Cauchy and Schwarz Σ s c |z·u| |zᵗSz| ≤ √m₄ ‖S‖_F for symmetric S, and √q times as much
m₄: ‖K‖_F ≤ √m₄ at w, and Σ s c′ (z·u) zzᵗ changes by at most δm₄, so that the third term falls by δ(m₃m₄ + m₄^(3/2)).
So −∇²ℓ* ⪰ c in the ball. On its sphere the outward slope is at most λ − cd < 0: the maximum over the ball is inside,
stationary, and unique by strict concavity; its distance h has ch² ≤ λh, and the gain is at most λh − ch²/2. ∎

**Rounding.** For any triangular float matrix T let z = Tᵗx and ω ≥ ‖TᵗIT − 1‖ < 1. Then qᵢ lies in ‖zᵢ‖²/(1 ± ω),
λ ≤ ‖Tᵗ∇ℓ*‖/(1 − ω)^½, and log det I differs from −2 Σ log |T_kk| by at most pω/(1 − ω). With |ηᵢ − η̂ᵢ| ≤ εᵢ, each of c,
c′, c″ errs by at most ρᵢcᵢ, ρ = exp(ε)(1 + 128u) − 1; each sum carries these errors, those of z, and γ of its number of
terms. Columns are centred only where this is exact, and scaled by powers of two. T is the inverse of a triangle R of a
QR factorisation of the root of I. For few rows scores and z are dot products in twice the working precision, and a
second triangular factor of T removes the rounding of the first.

Cost: three or four passes, p² per row; one more of p³ per row if κ is not small.
Reference: Firth, Bias reduction of maximum likelihood estimates (1993).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats
from separatrix.certificates.base import OPTIMAL_GAP, Certificate, CertifiedCoef, Check, Stated, register
from separatrix.certificates.data import BeyondLimitsError, Data, MatchedRows, require_work
from separatrix.certificates.enclosures import OUTWARD, TINY, UNIT, gamma, lower_claim, outward, shown_up
from separatrix.codec import Range, Shape
from separatrix.design.base import Block, Design, add_each, with_ones
from separatrix.numerics import compensated_dots, exact_dot, sigmoid, sigmoid_slope, softplus

MAX_COLUMNS = 3000
MAX_PRODUCTS = 10**10  # of the third derivatives: rows times the cube of the columns
ELEMENTS_AT_ONCE = 2**18  # of a dense part of a block
CAREFUL = 2**20  # rows times the square of the columns, up to which dot products are compensated
MAX_EXPONENT = 1000  # of a power of two that is a float, and its inverse
HALVINGS = 60  # of the radius t, from ½


class UnprovedError(Exception):
    """Nothing can be said about ℓ* at some coefficients; the message has the reason."""


class ExactColumns(NamedTuple):
    """How the stored columns are centred, and scaled by a power of two, both exactly: (x − centre) / 2^exponent."""

    centre: Floats
    exponents: Any

    def parts(self, block: Block, columns: int = 1) -> Iterator[tuple[slice, Floats]]:
        """Yield the rows of a block, the intercept included, in dense parts of a few rows."""
        count = block.stop - block.start
        step, factors = max(1, ELEMENTS_AT_ONCE // max(len(self.centre), columns)), np.ldexp(1.0, -self.exponents)
        for start in range(0, count, step):
            rows = slice(start, min(start + step, count))
            yield rows, with_ones((block.dense_stored(rows) - self.centre) * factors, block.virtual)

    def user_rows(self, virtual: bool) -> Floats:
        """Return the coefficients of the user's columns as combinations of those of these columns, exactly: (p, p)."""
        slopes = np.diag(np.ldexp(1.0, -self.exponents))
        if not virtual:
            return slopes
        intercept = -np.ldexp(self.centre, -self.exponents)
        return np.block([[np.ones((1, 1)), intercept[np.newaxis]], [np.zeros((len(slopes), 1)), slopes]])


def exact_columns(design: Design) -> ExactColumns:
    """Return centres and scales of the columns, in one pass; a column is centred if x/2 ≤ centre ≤ 2x (Sterbenz)."""
    least, largest = design.fold(_extremes, combine=_wider)
    centre = least / 2.0 + largest / 2.0
    size = np.abs(centre)
    exact = (size <= 2.0 * np.minimum(np.abs(least), np.abs(largest))) & (np.sign(least) * np.sign(largest) > 0.0)
    exact &= np.maximum(np.abs(least), np.abs(largest)) <= 2.0 * size
    centre = np.where(exact & design.virtual, centre, 0.0)
    exponents = np.frexp(np.maximum(np.abs(least - centre), np.abs(largest - centre)))[1]
    return ExactColumns(centre, np.clip(exponents, -MAX_EXPONENT, MAX_EXPONENT))


def _extremes(block: Block) -> tuple[Floats, Floats]:
    width = block.values.shape[1]
    unscaled, first = ExactColumns(np.zeros(width), np.zeros(width, dtype=np.intp)), int(block.virtual)
    parts = [(rows[:, first:].min(axis=0), rows[:, first:].max(axis=0)) for _, rows in unscaled.parts(block)]
    return np.min([part[0] for part in parts], axis=0), np.max([part[1] for part in parts], axis=0)


def _wider(a: tuple[Floats, Floats], b: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])


class Point(NamedTuple):
    """Coefficients of the centred and scaled columns; the intercept is known to within `intercept_error`."""

    columns: ExactColumns
    coef: Floats
    intercept_error: float

    @classmethod
    def of(cls, columns: ExactColumns, coef: Floats, virtual: bool) -> Point:
        """Return the coefficients of the user's columns as those of others; the slopes exactly, or UnprovedError."""
        slopes = coef[int(virtual) :]
        scaled = np.ldexp(slopes, columns.exponents)
        if not (np.ldexp(scaled, -columns.exponents) == slopes).all():
            raise UnprovedError("a coefficient is beyond the range of floats in columns of equal scale")
        if not virtual:
            return cls(columns, scaled, 0.0)
        try:
            intercept = float(exact_dot([1.0, *columns.centre], coef))
        except OverflowError:
            raise UnprovedError("the intercept of centred columns is beyond the range of floats") from None
        return cls(columns, np.concatenate([[intercept], scaled]), UNIT * abs(intercept) + TINY)

    def triangle(self, design: Design, rows: tuple[Floats, ...]) -> Floats:
        """Return the triangle R of a QR factorisation of the root of I, in one pass: RᵗR = I up to rounding."""
        return np.asarray(design.fold(_triangle, self, rows=rows, combine=_join_triangles))


def _triangle(block: Block, _: Floats, weights: Floats, point: Point) -> Floats:
    triangle = np.zeros((0, len(point.coef)))
    for part, rows in point.columns.parts(block):
        roots = np.sqrt(weights[part] * sigmoid_slope(rows @ point.coef))
        triangle = _join_triangles(triangle, roots[:, np.newaxis] * rows)
    return triangle


def _join_triangles(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.linalg.qr(np.vstack([above, below]), mode="r"))


class InformationCoordinates(NamedTuple):
    """A point, and a matrix T of two triangular factors; `careful` dot products have twice the working precision."""

    point: Point
    first: Floats
    second: Floats
    careful: bool

    def products(self, rows: Floats, matrix: Floats) -> tuple[Floats, Floats]:
        """Return rows times a matrix (p, k), and bounds on the errors."""
        sizes = np.abs(rows) @ np.abs(matrix)
        lost = TINY * (1.0 + np.abs(matrix).sum(axis=0))
        if not self.careful:
            return rows @ matrix, OUTWARD * (gamma(len(matrix) + 2) * sizes + lost)
        values = np.column_stack([np.add(*compensated_dots(rows, column)) for column in matrix.T])
        return values, OUTWARD * (2 * UNIT * np.abs(values) + 4.0 * gamma(2 * len(matrix) + 8) ** 2 * sizes + lost)

    def row_terms(self, rows: Floats) -> RowTerms:
        """Return the factors of the sums over some rows."""
        first, first_error = self.products(rows, self.first)
        z, sizes = first @ self.second, np.abs(self.second)
        z_error = OUTWARD * (first_error @ sizes + gamma(len(sizes) + 2) * (np.abs(first) @ sizes)) + TINY
        eta, score_error = (each[:, 0] for each in self.products(rows, self.point.coef[:, np.newaxis]))
        score_error = score_error + OUTWARD * self.point.intercept_error
        norm, error = _row_norms(z), OUTWARD * _row_norms(z_error)
        longest = OUTWARD * (norm * (1.0 + gamma(z.shape[1] + 4)) + error) + TINY
        curvature, growth = sigmoid_slope(eta), np.exp(score_error)
        curvature_error = OUTWARD * (curvature * (np.expm1(score_error) + 128 * UNIT * growth) + TINY * growth)
        return RowTerms(z, z_error, norm, error, longest, eta, score_error, curvature, curvature_error)


def _row_norms(rows: Floats) -> Floats:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)))


class RowTerms(NamedTuple):
    """The rows z = Tᵗx of a part, with factors of the sums and bounds on their errors."""

    z: Floats
    z_error: Floats  # of each entry
    norm: Floats  # of z in floats
    error: Floats  # the norm of the errors of z
    longest: Floats  # upper bounds on the exact norms
    eta: Floats
    score_error: Floats
    curvature: Floats  # c
    curvature_error: Floats  # ρc, also of c′ and c″


def find_coordinates(design: Design, rows: tuple[Floats, Floats], point: Point) -> InformationCoordinates:
    """Return coordinates in which the information is 1 up to rounding; an UnprovedError if it is singular."""
    count, width = design.shape
    first, second = _inverse(point.triangle(design, rows)), np.eye(width)
    careful = count * width**2 <= CAREFUL
    coordinates = InformationCoordinates(point, first, second, careful)
    if not careful:
        return coordinates
    factor, failed = scipy.linalg.lapack.dpotrf(design.fold(_information, coordinates, rows=rows), clean=1)
    return coordinates if failed else coordinates._replace(second=_inverse(factor))


def _inverse(triangle: Floats) -> Floats:
    """Return the inverse of an upper triangular matrix; an UnprovedError if that is singular."""
    if len(triangle) == triangle.shape[1] and np.isfinite(triangle).all():
        inverse, singular = scipy.linalg.lapack.dtrtri(triangle)
        if not singular and np.isfinite(inverse).all():
            return np.triu(inverse)
    raise UnprovedError("the information is singular, or beyond the range of floats")


def _information(block: Block, _: Floats, weights: Floats, coordinates: InformationCoordinates) -> Floats:
    total = np.zeros_like(coordinates.first)
    for part, rows in coordinates.point.columns.parts(block):
        terms = coordinates.row_terms(rows)
        total += (terms.z * (weights[part] * terms.curvature)[:, np.newaxis]).T @ terms.z
    return total


class Sums(NamedTuple):
    """Sums over the rows of the loss, the information and the gradient, with bounds on their errors.

    `leverage_error` is multiplied by ω/(1 − ω). `largest` bounds the largest ‖z‖².
    """

    loss: float
    loss_error: float
    information: Floats
    trace: float
    information_error: float
    gradient: Floats
    gradient_error: Floats
    leverage_error: Floats
    largest: float


def _sums(block: Block, signs: Floats, weights: Floats, coordinates: InformationCoordinates, count: int) -> Sums:
    parts = (
        _part_sums(coordinates.row_terms(rows), signs[part], weights[part], count)
        for part, rows in coordinates.point.columns.parts(block)
    )
    total = next(parts)
    for part in parts:
        total = _add_sums(total, part)
    return total


def _add_sums(a: Sums, b: Sums) -> Sums:
    return Sums(*add_each(a, b))._replace(largest=max(a.largest, b.largest))


def _part_sums(terms: RowTerms, signs: Floats, weights: Floats, count: int) -> Sums:
    z, curvature, spread = terms.z, terms.curvature, terms.curvature_error
    rounding = gamma(count + 16)
    upward = OUTWARD * (1.0 + rounding) * weights  # of sums of errors
    loss = softplus(-signs * terms.eta)
    residual = signs * sigmoid(-signs * terms.eta)
    residual_error = np.minimum(spread, 1.0) + 16 * UNIT * np.abs(residual)
    loss_error = terms.score_error * (np.abs(residual) + residual_error) + (32 * UNIT + rounding) * loss + TINY
    growth = 2.0 * terms.longest * terms.error  # of ‖z‖², at most, by the errors of z
    information_error = spread * terms.longest**2 + curvature * growth
    slope = 0.5 - sigmoid(terms.eta)  # of ½ log c
    square = terms.norm**2
    factors = residual + curvature * square * slope
    sizes = np.abs(residual) + 0.5 * curvature * square
    leverage = 0.5 * curvature * (growth + gamma(z.shape[1] + 4) * square)
    leverage += 0.5 * spread * terms.longest**2 + curvature * square * (np.minimum(spread, 1.0) + 16 * UNIT)
    by_bias = 0.5 * (curvature + spread) * terms.longest**2
    highest = np.abs(z) + terms.z_error
    return Sums(
        float(weights @ loss),
        float(upward @ loss_error),
        (z * (weights * curvature)[:, np.newaxis]).T @ z,
        float(weights @ (curvature * square)),
        float(upward @ information_error),
        z.T @ (weights * factors),
        highest.T @ (upward * (residual_error + leverage + rounding * sizes)) + terms.z_error.T @ (upward * sizes),
        highest.T @ (upward * by_bias),
        float((terms.longest**2).max()),
    )


class ThirdSums(NamedTuple):
    """Σ s c″ ‖z‖² zzᵗ (p, p) and Σ s c′ z⊗z⊗z (p, p²), bounds on their errors, and on Σ s c ‖z‖ᵏ for k = 3, 4, 5."""

    fourth: Floats
    third: Floats
    fourth_error: float
    third_error: float
    moments: Floats


def _third_sums(block: Block, _: Floats, weights: Floats, coordinates: InformationCoordinates, count: int) -> ThirdSums:
    width = len(coordinates.first)
    parts = (
        _third_part(coordinates.row_terms(rows), weights[part], count)
        for part, rows in coordinates.point.columns.parts(block, width * width)
    )
    total = next(parts)
    for part in parts:
        total = ThirdSums(*add_each(total, part))
    return total


def _third_part(terms: RowTerms, weights: Floats, count: int) -> ThirdSums:
    z, curvature, longest = terms.z, terms.curvature, terms.longest
    rounding = gamma(count + z.shape[1] + 16)
    upward = OUTWARD * (1.0 + rounding) * weights  # of sums of errors
    skew = curvature * (1.0 - 2.0 * sigmoid(terms.eta))  # c′
    bend = curvature * (1.0 - 6.0 * curvature) * terms.norm**2  # c″ ‖z‖²
    squares = (z[:, :, np.newaxis] * z[:, np.newaxis, :]).reshape(len(z), -1)
    relative = terms.curvature_error + rounding * curvature
    third = relative * longest**3 + 3.0 * terms.error * curvature * longest**2
    fourth = relative * longest**4 + 4.0 * terms.error * curvature * longest**3
    return ThirdSums(
        (z * (weights * bend)[:, np.newaxis]).T @ z,
        (z * (weights * skew)[:, np.newaxis]).T @ squares,
        float(upward @ fourth),
        float(upward @ third),
        np.array([upward @ ((curvature + terms.curvature_error) * power) for power in _powers(longest)]),
    )


def _powers(x: Floats) -> Iterator[Floats]:
    """Yield the third, fourth and fifth powers."""
    cube = x * x * x
    yield from (cube, cube * x, cube * x * x)


class Bounds(NamedTuple):
    """What is proved of ℓ* at some coefficients.

    `penalised` is a lower bound on ℓ*, `uncertainty` below its float. `excess` and `radii` (p,) bound how much higher a
    local maximum is, and how far away each of its coefficients; infinite if none is proved.
    """

    penalised: float
    uncertainty: float
    excess: float
    radii: Floats


def bound(design: Design, signs: Floats, weights: Floats | None, coef: Floats, *, local_maximum: bool = True) -> Bounds:
    """Return the bounds proved at some coefficients, about a local maximum only on request.

    An UnprovedError says that nothing is, a BeyondLimitsError that it would take too much work.
    """
    width = design.shape[1]
    require_work("columns", width, MAX_COLUMNS)
    rows = (signs, np.ones(len(signs)) if weights is None else weights)
    point = Point.of(exact_columns(design), coef, design.virtual)
    coordinates = find_coordinates(design, rows, point)
    sums = design.fold(_sums, coordinates, len(signs), rows=rows, combine=_add_sums)
    deviation = float(np.linalg.norm(sums.information - np.eye(width)))
    omega = OUTWARD * (deviation + gamma(len(signs) + 16) * sums.trace + sums.information_error) + TINY
    if not omega < 1.0:
        raise UnprovedError("columns are collinear to rounding, or some weights too different in size")
    bias = OUTWARD * omega / (1.0 - omega)
    error = np.linalg.norm(sums.gradient_error + bias * sums.leverage_error)
    gradient = OUTWARD * float((np.linalg.norm(sums.gradient) + error) / math.sqrt(1.0 - omega)) + TINY
    kappa = OUTWARD * sums.largest / (1.0 - omega)
    concavity = _concavity(gradient, kappa) if local_maximum else 0.0
    if local_maximum and not concavity > 0.5:
        require_work("products of third derivatives", float(len(signs)) * width**3, MAX_PRODUCTS)
        thirds = ThirdSums(*design.fold(_third_sums, coordinates, len(signs), rows=rows, combine=add_each))
        moments = OUTWARD * thirds.moments / np.cumprod(np.full(5, math.sqrt(1.0 - omega)))[2:]
        curvature = _least_curvature(thirds, omega, sums.largest)
        concavity = max(concavity, _concavity(gradient, kappa, curvature, moments))
    penalised, uncertainty = _value(sums, coordinates, omega)
    if not concavity > 0.0:
        return Bounds(penalised, uncertainty, math.inf, np.full(width, math.inf))
    radii = _row_lengths(coordinates, design.virtual) * (gradient / (concavity * math.sqrt(1.0 - omega)))
    return Bounds(penalised, uncertainty, OUTWARD * gradient**2 / (2.0 * concavity), OUTWARD * radii + TINY)


def _concavity(gradient: float, kappa: float, curvature: float | None = None, moments: Floats | None = None) -> float:
    """Return the largest c of the theorem with some d; from μ and the moments if given, 0 if it does not apply."""
    t = np.ldexp(1.0, -np.arange(1, 1 + HALVINGS))
    radius = t / (OUTWARD * math.sqrt(kappa))
    if curvature is None or moments is None:
        concavity = np.exp(-t) / OUTWARD - OUTWARD * kappa / 2.0
    else:
        third, fourth, fifth = moments
        delta = OUTWARD * radius * np.exp(t)
        rest = np.maximum(1.0 - OUTWARD * delta * third, TINY)
        loss = third + third * fourth + fourth * math.sqrt(fourth) + (third * fourth + fifth) / (2.0 * rest)
        concavity = curvature - OUTWARD * delta * loss
    applies = OUTWARD * gradient < concavity * radius
    return float(concavity[applies].max(initial=0.0))


def _least_curvature(sums: ThirdSums, omega: float, largest: float) -> float:
    """Return a lower bound μ on −∇²ℓ* relative to I, 0 if none is positive.

    With G = TᵗIT replaced by 1, −∇²ℓ* in these coordinates is G − ½ Σ s c″ ‖z‖² zzᵗ + ½ ‖Σ s c′ (z·u) zzᵗ‖²_F. That
    changes the terms by ω, ½κω(1 + ω)/(1 − ω) and ½κω(2 + ω) at most, κ the largest ‖z‖².
    """
    width, size = len(sums.third), float(np.linalg.norm(sums.third))
    half = (sums.third @ sums.third.T - sums.fourth) / 2.0
    half = (half + half.T) / 2.0
    changed = omega + largest * omega * ((1.0 + omega) / (1.0 - omega) + 2.0 + omega) / 2.0
    errors = sums.fourth_error / 2.0 + sums.third_error * size + gamma(width**2 + 8) * size**2
    least = 1.0 + _least_eigenvalue(half) - OUTWARD * (changed + errors + 8 * UNIT * (1.0 + np.linalg.norm(half)))
    return max(float(least) / (OUTWARD * (1.0 + omega)), 0.0)


def _least_eigenvalue(matrix: Floats) -> float:
    """Return a lower bound on the eigenvalues of a symmetric matrix M of floats: VᵗMV and VᵗV are near diagonal."""
    if not np.isfinite(matrix).all():
        return -math.inf
    _, vectors = scipy.linalg.eigh(matrix)
    width, size = len(matrix), float(np.linalg.norm(vectors))
    rotated, overlaps = vectors.T @ matrix @ vectors, vectors.T @ vectors - np.eye(len(matrix))
    diagonal = np.diag(rotated)
    error = np.linalg.norm(rotated - np.diag(diagonal)) + gamma(2 * width + 4) * size**2 * np.linalg.norm(matrix)
    skew = OUTWARD * (np.linalg.norm(overlaps) + gamma(width + 4) * size**2)
    least = float(diagonal.min()) - OUTWARD * float(error)
    if not skew < 1.0:
        return -math.inf
    return least / float(1.0 + skew if least > 0.0 else 1.0 - skew) - 4 * UNIT * abs(least)


def _value(sums: Sums, coordinates: InformationCoordinates, omega: float) -> tuple[float, float]:
    """Return a lower bound on ℓ*, and how far above it ℓ* in floats is."""
    diagonal = np.abs(np.concatenate([np.diag(coordinates.first), np.diag(coordinates.second)]))
    logarithms = [*(-np.log(diagonal)).tolist(), *(math.log(2.0) * coordinates.point.columns.exponents).tolist()]
    value = math.fsum([-sums.loss, *logarithms])
    determinant_error = len(coordinates.first) * omega / (1.0 - omega) / 2.0 + 16 * UNIT * math.fsum(
        map(abs, logarithms)
    )
    error = OUTWARD * (sums.loss_error + determinant_error + 2 * UNIT * abs(value)) + TINY
    return value - error, error


def _row_lengths(coordinates: InformationCoordinates, virtual: bool) -> Floats:
    """Return ‖Tᵗv‖ (p,), rounded up, for the v by which each coefficient of the user's columns is a combination."""
    combinations = coordinates.point.columns.user_rows(virtual)
    rounding, sizes = gamma(2 * len(combinations) + 4), np.abs(combinations) @ np.abs(coordinates.first)
    products = np.abs(combinations @ coordinates.first @ coordinates.second)
    products += OUTWARD * rounding * (sizes @ np.abs(coordinates.second))
    scale = products.max(axis=1, keepdims=True)  # squares of small numbers underflow
    return np.asarray(OUTWARD * scale[:, 0] * np.linalg.norm(products / scale, axis=1))


@register
@dataclass(frozen=True, kw_only=True)
class BiasReductionCertificate(Certificate):
    """Coefficients (the intercept first) near a local maximum of ℓ*.

    `penalised` is a lower bound on ℓ* there, `excess` an upper bound on how much higher the maximum is, `radii` (p,) on
    how far each of its coefficients is. The last two are None if no maximum is proved, all three if nothing is.
    """

    kind: ClassVar[str] = "bias-reduction"
    penalised: Stated[float | None]
    excess: Stated[Annotated[float, Range(0.0)] | None]
    radii: Stated[Annotated[Floats, Shape(None), Range(0.0)] | None]
    coef: Annotated[Floats, Shape(None)]

    def __post_init__(self) -> None:
        self.data.require_labels("two", "rest")
        if len(self.coef) != self.data.n_scores:
            raise ValueError(f"{len(self.coef)} weights are given for {self.data.n_scores} columns")
        if (self.excess is None) != (self.radii is None) or (self.excess is not None and self.penalised is None):
            raise ValueError("excess and radii are given both, beside the value, or not at all")
        if self.radii is not None and len(self.radii) != len(self.coef):
            raise ValueError(f"{len(self.radii)} radii are given for {len(self.coef)} weights")

    @property
    def verdict(self) -> str:
        """'stationary' (a local maximum at most 1e-6 higher is proved) or 'stopped'."""
        return "stationary" if self.excess is not None and self.excess <= OPTIMAL_GAP else "stopped"

    @property
    def claim(self) -> str:
        if self.penalised is None:
            return "nothing is proved about these coefficients"
        value = Context(prec=10, rounding=ROUND_FLOOR).create_decimal_from_float(self.penalised)
        without = f"{self.data.without}, " if self.data.without else ""
        sentence = f"{without}the penalised log-likelihood (Firth) is at least {value:g}"
        if self.excess is None:
            return f"{sentence}; no local maximum is proved"
        excess = Context(prec=3, rounding=ROUND_CEILING).create_decimal_from_float(self.excess)
        return (
            f"{sentence}; it has a local maximum at most {excess:g} higher, each coefficient within its stated radius"
        )

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        if self.penalised is None:
            return
        try:
            proved = bound(
                rows.finite_design, rows.signs, rows.weights, self.coef, local_maximum=self.excess is not None
            )
        except UnprovedError as error:
            yield Check("value", False, str(error))
            return
        numbers = f"it is {lower_claim(self.penalised, proved.penalised)}"
        yield Check("value", bool(proved.penalised >= self.penalised), numbers)
        if self.excess is None or self.radii is None:
            return
        numbers = f"proved {shown_up(proved.excess, 3)}, claimed {shown_up(self.excess, 3)}"
        yield Check("local maximum", bool(proved.excess <= self.excess), numbers)
        wide = np.flatnonzero(~(proved.radii <= self.radii))
        place = int(wide[0]) if len(wide) else 0
        numbers = f"proved {proved.radii[place]:.3g} for {self.data.names[place]!r}, claimed {self.radii[place]:.3g}"
        yield Check("radii", not len(wide), numbers if len(wide) else "each is within its stated radius")

    def certified(self) -> CertifiedCoef:
        return self.certified_coef(self.coef)


def certify(
    data: Data, design: Design, signs: Floats, weights: Floats | None, coef: Floats
) -> BiasReductionCertificate:
    """Return the certificate of a fit, with its numbers rounded outward."""
    try:
        with np.errstate(all="ignore"):  # comparisons with NaN fail
            proved = _bound_within_limits(design, signs, weights, coef)
    except (UnprovedError, BeyondLimitsError):
        return BiasReductionCertificate(data=data, penalised=None, excess=None, radii=None, coef=coef)
    penalised = proved.penalised - 3.0 * proved.uncertainty  # on another machine, rounding may lose this much
    if not proved.excess < math.inf:
        return BiasReductionCertificate(data=data, penalised=penalised, excess=None, radii=None, coef=coef)
    excess, radii = outward(proved.excess), np.array([outward(float(radius)) for radius in proved.radii])
    return BiasReductionCertificate(data=data, penalised=penalised, excess=excess, radii=radii, coef=coef)


def _bound_within_limits(design: Design, signs: Floats, weights: Floats | None, coef: Floats) -> Bounds:
    """Return the proved bounds; only the value of ℓ* where a local maximum takes too much work."""
    try:
        return bound(design, signs, weights, coef)
    except BeyondLimitsError:
        return bound(design, signs, weights, coef, local_maximum=False)
