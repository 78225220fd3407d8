"""Firth's bias reduction: the logistic likelihood times Jeffreys' prior, and the certificate of a stationary point.

    ℓ*(w) = Σ sᵢ log σ(yᵢ w·xᵢ) + ½ log det I(w),          I(w) = Σ sᵢ πᵢ(1 − πᵢ) xᵢ xᵢᵗ,  πᵢ = σ(w·xᵢ)
    ∇ℓ*(w) = Σ (sᵢ (tᵢ − πᵢ) + hᵢ (½ − πᵢ)) xᵢ             hᵢ = sᵢ πᵢ(1 − πᵢ) xᵢᵗ I⁻¹ xᵢ,  tᵢ = 1 for yᵢ = 1, else 0

On data of full rank ℓ* has a maximum, separated or not, where its gradient is 0. The certificate states ½ ∇ᵗ I⁻¹ ∇:
to second order the distance from a stationary point in units of the log-likelihood, whatever the units of the columns.
It does not state that the point is the global maximum: ℓ* need not be concave.

Cost: two passes per point. Fails on columns that are linearly dependent, with a DataError that names them.
Reference: Firth, Bias reduction of maximum likelihood estimates (1993).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats
from separatrix.certificates.base import OPTIMAL_GAP, Certificate, CertifiedCoef, Check, Stated, register
from separatrix.certificates.data import MatchedRows
from separatrix.codec import Range, Shape
from separatrix.design.base import Block
from separatrix.errors import DataError
from separatrix.losses.margin import Logistic
from separatrix.numerics import sigmoid
from separatrix.problem import Problem, shift_intercept

SLACK = 1e-8  # relative rounding error of a sum over many rows
MAX_LISTED = 5  # columns that an error names
RANK_TOLERANCE = 1e-13  # relative to the diagonal, columns of equal scale: smaller pivots count as 0


class JeffreysPoint(NamedTuple):
    """ℓ, ℓ*, the gradient of ℓ*, the information I and a root R of its inverse (RᵗR = I⁻¹) at some coefficients."""

    loglik: float
    penalised: float
    gradient: Floats
    information: Floats
    root: Floats

    @property
    def covariance(self) -> Floats:
        return np.asarray(self.root.T @ self.root)

    @property
    def distance(self) -> float:
        half = self.root @ self.gradient
        return 0.5 * float(half @ half)


def jeffreys_point(problem: Problem, coef: Floats) -> JeffreysPoint:
    """Return ℓ* and its derivatives at some coefficients of an unpenalised logistic problem, in two passes."""
    expansion = problem.expand(coef, 2)
    assert expansion.gradient is not None
    assert expansion.hessian is not None
    information = problem.total_weight * expansion.hessian
    scale = np.sqrt(np.maximum(np.diag(information), np.finfo(np.float64).tiny))
    factor = _factor(information / np.outer(scale, scale), problem.design.names)
    log_det = 2.0 * float(np.log(np.diag(factor)).sum() + np.log(scale).sum())
    root = np.asarray(scipy.linalg.lapack.dtrtri(factor, lower=1)[0]) / scale
    leverage = problem.design.fold(_leverage_sums, coef, root, rows=problem.rows)
    loglik = -problem.total_weight * expansion.value
    gradient = -problem.total_weight * expansion.gradient + leverage
    return JeffreysPoint(loglik, loglik + 0.5 * log_det, gradient, information, root)


def _factor(matrix: Floats, names: Any) -> Floats:
    """Return the lower Cholesky factor; linearly dependent columns raise a DataError that names them."""
    factor, failed = scipy.linalg.lapack.dpotrf(matrix, lower=1, clean=1)
    if failed == 0 and float(np.diag(factor).min()) ** 2 > RANK_TOLERANCE:
        return np.asarray(factor)
    _, pivots, rank, _ = scipy.linalg.lapack.dpstrf(matrix, tol=RANK_TOLERANCE, lower=1)
    aliased = [str(names[place - 1]) for place in sorted(pivots[rank:].tolist())]
    listed = ", ".join(map(repr, aliased[:MAX_LISTED])) + (", …" if len(aliased) > MAX_LISTED else "")
    raise DataError(
        f"the information is singular: {listed or 'some column'} can be made of other columns, or its probabilities are"
        " all 0 or 1; bias reduction needs columns that are independent, so drop it"
    )


def _leverage_sums(block: Block, *arguments: Any) -> Floats:
    """Return Σ hᵢ (½ − πᵢ) xᵢ over a block."""
    _, *weights, coef, root = arguments
    probability = np.asarray(sigmoid(block.matvec(coef)))
    squares = (block.matvec(root.T) ** 2).sum(axis=1)
    leverage = probability * (1.0 - probability) * squares * (weights[0] if weights else 1.0)
    return np.asarray(block.rmatvec(leverage * (0.5 - probability)))


def stated_distance(point: JeffreysPoint) -> float:
    """Return the distance that a fit states: twice the measured one, and no less than rounding makes it elsewhere."""
    return max(2.0 * point.distance, SLACK * SLACK * max(abs(point.penalised), 1.0))


@register
@dataclass(frozen=True, kw_only=True)
class BiasReductionCertificate(Certificate):
    """Coefficients (the intercept first) at which ℓ* is stationary; `distance` is ½ ∇ᵗ I⁻¹ ∇ there."""

    kind: ClassVar[str] = "bias-reduction"
    loglik: Stated[float]
    penalised: Stated[float]
    distance: Stated[Annotated[float, Range(0.0)]]
    coef: Annotated[Floats, Shape(None)]

    def __post_init__(self) -> None:
        self.data.require_labels("two", "rest")
        if len(self.coef) != self.data.n_scores:
            raise ValueError(f"{len(self.coef)} weights are given for {self.data.n_scores} columns")

    @property
    def verdict(self) -> str:
        """'stationary' (a distance of at most 1e-6) or 'stopped'."""
        return "stationary" if self.distance <= OPTIMAL_GAP else "stopped"

    @property
    def claim(self) -> str:
        near = f"½ gᵗI⁻¹g of its gradient g is at most {self.distance:.2g}"
        return f"the likelihood times Jeffreys' prior has logarithm {self.penalised:.10g}; {near}"

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        problem = Problem(rows.design, rows.signs, Logistic(), weights=rows.weights)
        problem, centre = problem.centred()
        point = jeffreys_point(problem, shift_intercept(self.coef, centre, 1.0))
        same = math.isclose(point.loglik, self.loglik, rel_tol=SLACK, abs_tol=SLACK)
        same = same and math.isclose(point.penalised, self.penalised, rel_tol=SLACK, abs_tol=SLACK)
        yield Check("likelihood", same, f"measured {point.penalised:.17g}, claimed {self.penalised:.17g}")
        stationary = point.distance <= self.distance
        yield Check("stationary", stationary, f"½ gᵗI⁻¹g is {point.distance:.3g}, claimed {self.distance:.3g}")

    def certified(self) -> CertifiedCoef:
        return self.certified_coef(self.coef)
