"""How far a support vector machine in a kernel's space is from optimal, from its multipliers and the data alone.

    P = strength · ( ½‖w‖² + Σ Cᵢ max(0, 1 − yᵢ(fᵢ + b)) ),   D = strength · ( Σ|βᵢ| − ½‖w‖² ),   Cᵢ = sᵢ/(strength·Σs)

with f = Kβ, ‖w‖² = β·f, 0 ≤ yᵢβᵢ ≤ Cᵢ and Σβ = 0. D is at most the least P. What rounding leaves of Σβ costs at most
|Σβ| times the intercepts, one of which, an optimum's, is at most 1 + R‖w‖. The gap is summed row by row, where nothing
cancels: P − D = strength · Σ Cᵢ max(0, 1 − mᵢ) − |βᵢ|(1 − mᵢ), m = y(f + b). A score of k terms, each a kernel of p
columns, is off by at most ε(k + p) Kᵢᵢ^½ Σ|βⱼ| Kⱼⱼ^½, which counts in the rows where m is not clearly on the side that
their multipliers say. So a gap is never told smaller than it is. `verify` computes the kernel anew. Cost: a kernel row
for each support vector.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import EPSILON, Floats, Ints
from separatrix.certificates.base import Certificate, Check, Verification, register
from separatrix.certificates.bounds import DualBound
from separatrix.certificates.kernel_data import check_inner_product, kernel_data
from separatrix.design.kernel_matrix import by_rows, select_rows, training_scores
from separatrix.design.kernels import Kernel, kernel_from_dict
from separatrix.errors import DataError

SLACK = 1e-9  # relative: what recomputing the kernel may change
BALANCED = 1e-9  # relative to Σ|β|: a sum that floats can be said to have made 0
FEASIBLE = 1.0 + 1e-12


def caps_of(strength: float, weights: Floats) -> Floats:
    """Return C of each row, its weight over strength times the total."""
    return np.asarray(weights / (strength * float(weights.sum())))


class KernelTask(NamedTuple):
    """What is fitted: signs, caps C and lengths Kᵢᵢ^½ of the rows, (n,) each; the columns of X; the strength."""

    signs: Floats
    caps: Floats
    lengths: Floats
    columns: int
    strength: float

    def rounding(self, coef: Floats) -> Floats:
        """Return how far each score Σ βⱼ k(x, xⱼ) in floats can be from the truth, (n,)."""
        terms = int(np.count_nonzero(coef)) + self.columns
        return np.asarray(EPSILON * terms * float(np.abs(coef) @ self.lengths) * self.lengths)


def kernel_bound(task: KernelTask, scores: Floats, coef: Floats, intercept: float) -> DualBound:
    """Return objective and lower bound of multipliers, from the scores Kβ that they make in floats."""
    signs, caps, sizes = task.signs, task.caps, np.abs(coef)
    short, unsure = 1.0 - signs * (scores + intercept), task.rounding(coef)
    primal = 0.5 * max(float(coef @ scores), 0.0) + float(caps @ np.maximum(short, 0.0))
    gap = caps * np.maximum(short, 0.0) - sizes * short
    slopes = np.where(short > unsure, caps - sizes, np.where(short < -unsure, sizes, np.maximum(sizes, caps - sizes)))
    unbalanced = abs(math.fsum(coef.tolist()))
    reach = 1.0 + float(task.lengths.max()) * math.sqrt(2.0 * primal) + abs(intercept)
    dual = primal - float((gap + slopes * unsure).sum()) - unbalanced * reach
    residual = unbalanced / max(float(sizes.sum()), np.finfo(np.float64).tiny)
    strength = task.strength
    return DualBound(strength * primal, strength * max(dual, 0.0), float(np.finfo(np.float64).tiny), residual)


@register
@dataclass(frozen=True)
class KernelOptimalityCertificate(Certificate):
    """Multipliers β of some rows (0 elsewhere), the intercept, and the gap that they show.

    `class_weights` are (label, weight) of each class, None where all are 1; rows' own weights are given to `verify`.
    Rows without weight are not counted.
    """

    kind: ClassVar[str] = "kernel-optimality"
    kernel: Kernel
    strength: float
    rows: Ints
    multipliers: Floats
    intercept: float
    primal: float
    dual: float
    labels: tuple[Any, Any]
    shape: tuple[int, int]
    tolerance: float
    class_weights: tuple[tuple[Any, float], ...] | None = None
    weighted: bool = False

    @property
    def gap(self) -> float:
        """How far from optimal the fit can be, at most."""
        return max(self.primal - self.dual, 0.0)

    @property
    def relative_gap(self) -> float:
        """The gap relative to the objective."""
        return self.gap / max(self.primal, float(np.finfo(np.float64).tiny))

    @property
    def verdict(self) -> str:
        """'optimal' (within the tolerance) or 'not optimal'."""
        return "optimal" if self.relative_gap <= self.tolerance else "not optimal"

    @property
    def claim(self) -> str:
        """What is claimed, in words."""
        return (
            f"with the {self.kernel.name} kernel the objective is {self.primal:.10g}, and at least {self.dual:.10g}"
            f" for any weights: a relative gap of {self.relative_gap:.2g}; {len(self.rows):,} support vectors"
        )

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Re-check multipliers, objective and bound from the data, the kernel computed anew."""
        try:
            labels = np.asarray(y)
            weights = self._weights(labels, sample_weight)
            counted = np.flatnonzero(weights > 0.0)
            rows = X if len(counted) == len(labels) else select_rows(self.kernel, by_rows(X), counted)
            rows, signs, kernel = kernel_data(rows, labels[counted], self.labels, self.shape, self.kernel)
            coef = self._coef()
        except (DataError, IndexError) as problem:
            return Verification((Check("data", False, str(problem)),))
        caps = caps_of(self.strength, weights[counted])
        return Verification(tuple(self._checks(rows, signs, kernel, caps, coef)))

    def _weights(self, y: NDArray[Any], sample_weight: Any) -> Floats:
        n = len(y)
        if (sample_weight is not None) != self.weighted:
            raise DataError(
                "the fit had sample weights; give them" if self.weighted else "the fit had no sample_weight"
            )
        weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if weights.shape != (n,) or not (np.isfinite(weights).all() and (weights >= 0.0).all() and weights.any()):
            raise DataError(f"sample_weight must be {n} finite numbers of at least 0, not all of them 0")
        for label, weight in self.class_weights or ():
            weights = np.where(y == label, weight * weights, weights)
        return weights

    def _coef(self) -> Floats:
        coef = np.zeros(self.shape[0])
        coef[self.rows] = self.multipliers
        return coef

    def _checks(self, X: Any, signs: Floats, kernel: Kernel, caps: Floats, coef: Floats) -> Iterator[Check]:
        yield from check_inner_product(kernel, X)
        alpha = signs * coef
        worst = int(np.argmax(np.maximum(-alpha, alpha - FEASIBLE * caps)))
        inside = bool(((alpha >= 0.0) & (alpha <= FEASIBLE * caps)).all() and np.isfinite(coef).all())
        yield Check("multipliers", inside, f"row {worst} has {alpha[worst]:.6g} between 0 and {caps[worst]:.6g}")
        lengths = np.sqrt(np.maximum(kernel.diagonal(X), 0.0))
        task, scores = KernelTask(signs, caps, lengths, self.shape[1], self.strength), training_scores(kernel, X, coef)
        found = kernel_bound(task, scores, coef, self.intercept)
        unsure = self.strength * float(task.rounding(coef) @ (caps + np.abs(coef)))
        yield Check(
            "balance", found.residual <= BALANCED, f"the multipliers add up to {found.residual:.2g} of their sizes"
        )
        same = math.isclose(found.primal, self.primal, rel_tol=SLACK, abs_tol=unsure)
        yield Check("objective", same, f"the objective is {found.primal:.17g}; claimed {self.primal:.17g}")
        held = self.dual <= found.dual + SLACK * found.primal + unsure
        yield Check("bound", held, f"no objective is below {found.dual:.17g}; claimed {self.dual:.17g}")

    def content(self) -> dict[str, Any]:
        """Return all that the claim rests on, as JSON values."""
        return {
            "kernel": self.kernel.to_dict(),
            "strength": self.strength,
            "rows": self.rows.tolist(),
            "multipliers": self.multipliers.tolist(),
            "intercept": self.intercept,
            "primal": self.primal,
            "dual": self.dual,
            "labels": list(self.labels),
            "shape": list(self.shape),
            "tolerance": self.tolerance,
            "class_weights": None if self.class_weights is None else [list(pair) for pair in self.class_weights],
            "weighted": self.weighted,
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a certificate from its content."""
        (negative, positive), (n, p), weights = content["labels"], content["shape"], content["class_weights"]
        return cls(
            kernel=kernel_from_dict(content["kernel"]),
            strength=float(content["strength"]),
            rows=np.asarray(content["rows"], dtype=np.int64),
            multipliers=np.asarray(content["multipliers"], dtype=np.float64),
            intercept=float(content["intercept"]),
            primal=float(content["primal"]),
            dual=float(content["dual"]),
            labels=(negative, positive),
            shape=(int(n), int(p)),
            tolerance=float(content["tolerance"]),
            class_weights=None if weights is None else tuple((label, float(weight)) for label, weight in weights),
            weighted=bool(content["weighted"]),
        )
