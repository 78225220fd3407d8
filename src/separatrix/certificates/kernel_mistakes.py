"""The mistake bound of a perceptron run in a kernel's space, re-checked by replaying the run on the kernel matrix.

With K the kernel (plus 1 for an intercept), R² = max Kᵢᵢ and a separator w* = Σ cᵢ φ(xᵢ) of margin γ, from w = 0:

    w*·w_t ≥ γ‖w*‖ Σ η_k        ‖w_t‖² ≤ R² Σ η_k² + 2 m Σ η_k        so T ≤ (R/γ)² at a constant rate, m = 0

The scores of the rows updated on are all that a replay needs: each update must have been a mistake, both inequalities
must hold after it, and the coefficients must come out as claimed. A run that forgets rows has no bound.
Cost: the kernel matrix of the rows updated on (up to a stated number), and a kernel row for each in the separator.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from separatrix.arrays import EPSILON, Floats, Ints
from separatrix.certificates.base import Certificate, Check, Verification, register
from separatrix.certificates.kernel_data import check_inner_product, kernel_among, kernel_data, score_rounding
from separatrix.certificates.mistakes import NoMistakeError, ProofStep, update_limit
from separatrix.design.kernel_matrix import training_scores
from separatrix.design.kernels import Kernel, kernel_from_dict
from separatrix.errors import DataError, counted
from separatrix.perceptron_rule import UpdateRule

SLACK = 1e-9  # relative: what rounding may cost in sums over a run
MAX_REPLAYED = 4000  # rows updated on, beyond which their kernel matrix is not formed
AT_ZERO = np.zeros(1)
ANY_SEPARATOR = np.ones(1)


@register
@dataclass(frozen=True)
class KernelMistakesCertificate(Certificate):
    """A run of T updates inside radius R of the kernel's space, and the bound that a separator of margin γ puts on T.

    `coef` and `separator` are coefficients of all rows; `history` the row of each update, None where it was thinned.
    """

    kind: ClassVar[str] = "kernel-mistakes"
    kernel: Kernel
    updates: int
    radius: float
    rule: UpdateRule
    coef: Floats
    converged: bool
    fit_intercept: bool
    labels: tuple[Any, Any]
    shape: tuple[int, int]
    margin: float | None = None
    separator: Floats | None = None
    history: Ints | None = None
    budget: int | None = None

    @property
    def bound(self) -> float | None:
        """The most updates that the run can make, (R/γ)²; None while no separator is known, or under a budget."""
        if self.margin is None or self.separator is None or self.margin <= 0.0 or self.budget is not None:
            return None
        return update_limit(self.rule, self.radius, self.margin, self.shape[0], AT_ZERO, ANY_SEPARATOR)

    @property
    def verdict(self) -> str:
        """'within bound', 'no separator known', or 'no guarantee' under a budget."""
        if self.budget is not None:
            return "no guarantee"
        if self.bound is None:
            return "no separator known"
        return "within bound" if self.updates <= self.bound * (1.0 + SLACK) else "bound broken"

    @property
    def claim(self) -> str:
        """What is claimed, in words."""
        run = (
            f"{counted(self.updates, 'update')} within radius {self.radius:.6g} in the space of the {self.kernel.name}"
        )
        if self.budget is not None:
            return f"{run} kernel; a budget of {self.budget:,} rows forgets some, which loses the guarantee"
        if self.bound is None:
            return f"{run} kernel; no separator is known, so there is no bound"
        how = "(R/γ)²" if self.is_textbook else "the bound"
        return (
            f"{run} kernel; a separator of margin γ = {self.margin:.6g} there allows {how} = {self.bound:.6g} at most"
        )

    @property
    def is_textbook(self) -> bool:
        """Whether the bound is (R/γ)²: updates at a constant rate, without a margin asked for."""
        return not (self.rule.inverse or self.rule.margin)

    def proof(self, X: Any, y: Any) -> list[ProofStep]:
        """Return both inequalities of the proof after every update, replayed on the kernel matrix."""
        rows, signs, kernel = kernel_data(X, y, self.labels, self.shape, self.kernel)
        unknown = self._check_history()
        if unknown is not None:
            raise DataError(f"this run has no proof to show: {unknown.detail}")
        try:
            return [step for step, _ in self._replay(rows, signs, kernel, self._separate(kernel, rows).scores)]
        except NoMistakeError as refusal:
            raise DataError(f"these are not the data of the run: {refusal}") from None

    def verify(self, X: Any, y: Any) -> Verification:
        """Re-check radius, margin, bound, zero mistakes and the run, from the data, the kernel computed anew."""
        try:
            rows, signs, kernel = kernel_data(X, y, self.labels, self.shape, self.kernel)
        except DataError as problem:
            return Verification((Check("data", False, str(problem)),))
        return Verification(tuple(self._checks(rows, signs, kernel)))

    def _scores(self, kernel: Kernel, X: Any, coef: Floats) -> Floats:
        return training_scores(kernel, X, coef) + (float(coef.sum()) if self.fit_intercept else 0.0)

    def _separate(self, kernel: Kernel, X: Any) -> _Separating:
        """Return the scores of the separator, made one of length 1."""
        if self.separator is None or self.margin is None:
            return _Separating(None, 1.0)
        scores = self._scores(kernel, X, self.separator)
        length = math.sqrt(max(float(self.separator @ scores), np.finfo(np.float64).tiny))
        return _Separating(scores / length, length)

    def _checks(self, X: Any, signs: Floats, kernel: Kernel) -> Iterator[Check]:
        yield from check_inner_product(kernel, X)
        radius = math.sqrt(float(kernel.diagonal(X).max()) + float(self.fit_intercept))
        same = math.isclose(radius, self.radius, rel_tol=SLACK)
        yield Check("radius", same, f"the longest row measures {radius:.17g}, claimed {self.radius:.17g}")
        scores, length = self._separate(kernel, X)
        if scores is not None and self.separator is not None and self.margin is not None:
            unsure = score_rounding(self.separator, radius, self.shape[1]) / length
            measured = float((signs * scores).min()) - unsure
            held = 0.0 < self.margin <= measured * (1.0 + SLACK)
            yield Check("margin", held, f"the nearest row is at {measured:.17g} at least; claimed {self.margin:.17g}")
        if self.bound is not None:
            held = self.updates <= self.bound * (1.0 + SLACK)
            yield Check("bound", held, f"T = {self.updates:,} against {self.bound}")
        if self.converged:
            yield self._check_converged(self._scores(kernel, X, self.coef), signs)
        yield self._check_history() or self._check_run(self._replay(X, signs, kernel, scores))

    def _check_converged(self, scores: Floats, signs: Floats) -> Check:
        rounding = score_rounding(self.coef, self.radius, self.shape[1])
        wrong = self.rule.mistaken(scores, signs) & (np.abs(signs * scores - self.rule.margin) > rounding)
        place = f"row {int(np.flatnonzero(wrong)[0])} is a mistake" if wrong.any() else "no row is a mistake"
        return Check("converged", not wrong.any(), f"at the last coefficients {place}")

    def _check_history(self) -> Check | None:
        """Return why the run cannot be replayed; None if it can."""
        if self.budget is not None:
            return Check("run", None, "not replayed: a budget forgets rows")
        if self.history is None:
            return Check("run", None, "not replayed, so T is not checked: the record of updates was thinned")
        if len(self.history) != self.updates:
            return Check("run", False, f"the history has {len(self.history):,} updates, claimed {self.updates:,}")
        rows = np.unique(self.history)
        if len(rows) and not 0 <= rows[0] <= rows[-1] < self.shape[0]:
            return Check("run", False, f"the history names rows {rows[0]} to {rows[-1]} of {self.shape[0]:,}")
        if len(rows) > MAX_REPLAYED:
            return Check("run", None, f"not replayed: {len(rows):,} rows were updated on, above {MAX_REPLAYED:,}")
        return None

    def _check_run(self, replay: Iterator[tuple[ProofStep, Floats]]) -> Check:
        """Go through the updates: each a mistake, the proof's inequalities after each, the coefficients as claimed."""
        coef = np.zeros(self.shape[0])
        try:
            for step, coef in replay:  # noqa: B007  # the last coefficients are compared below
                if not step.holds:
                    return Check("run", False, f"the inequalities of the proof fail after update {step.t}")
        except NoMistakeError as refusal:
            return Check("run", False, str(refusal))
        slack = SLACK * max(1.0, float(np.abs(self.coef).max(initial=0.0)))
        if float(np.abs(coef - self.coef).max(initial=0.0)) > slack:
            return Check("run", False, "replayed, the updates lead to other coefficients than claimed")
        return Check("run", True, f"all {self.updates:,} updates replayed; the proof's inequalities hold after each")

    def _replay(
        self, X: Any, signs: Floats, kernel: Kernel, separator: Floats | None
    ) -> Iterator[tuple[ProofStep, Floats]]:
        """Yield both inequalities and the coefficients after each update; `separator` are the scores of a unit one."""
        rows, places = np.unique(np.asarray(self.history), return_inverse=True)
        matrix = kernel_among(kernel, X, rows) + float(self.fit_intercept)
        scores, coef = np.zeros(len(rows)), np.zeros(self.shape[0])
        squared = total = squares = ahead = 0.0
        for t, place in enumerate(places.tolist(), start=1):
            row, rate = int(rows[place]), self.rule.rate_of(t)
            reached = signs[row] * scores[place] - self.rule.margin
            if reached > (self.shape[0] + t) * EPSILON * self.radius**2 * max(total, 1.0):
                raise NoMistakeError(f"update {t} was made on row {row}, which was no mistake")
            squared += 2.0 * rate * signs[row] * scores[place] + rate**2 * matrix[place, place]
            total, squares = total + rate, squares + rate**2
            ahead += 0.0 if separator is None else rate * signs[row] * float(separator[row])
            scores += rate * signs[row] * matrix[place]
            coef[row] += rate * signs[row]
            ceiling = self.radius**2 * squares + 2.0 * self.rule.margin * total
            floor = 0.0 if separator is None else (self.margin or 0.0) * total
            yield ProofStep(t, float(squared), ceiling, ahead, floor), coef

    def content(self) -> dict[str, Any]:
        """Return all that the claim rests on, as JSON values."""
        lists = {"coef": self.coef, "separator": self.separator, "history": self.history}
        return {
            "kernel": self.kernel.to_dict(),
            "updates": self.updates,
            "radius": self.radius,
            "margin": self.margin,
            "rule": vars(self.rule).copy(),
            "converged": self.converged,
            "fit_intercept": self.fit_intercept,
            "labels": list(self.labels),
            "shape": list(self.shape),
            "budget": self.budget,
            **{name: None if array is None else array.tolist() for name, array in lists.items()},
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a certificate from its content."""
        (negative, positive), (n, p) = content["labels"], content["shape"]
        history, separator, budget = content["history"], content["separator"], content["budget"]
        return cls(
            kernel=kernel_from_dict(content["kernel"]),
            updates=int(content["updates"]),
            radius=float(content["radius"]),
            rule=UpdateRule(**content["rule"]),
            coef=np.asarray(content["coef"], dtype=np.float64),
            converged=bool(content["converged"]),
            fit_intercept=bool(content["fit_intercept"]),
            labels=(negative, positive),
            shape=(int(n), int(p)),
            margin=None if content["margin"] is None else float(content["margin"]),
            separator=None if separator is None else np.asarray(separator, dtype=np.float64),
            history=None if history is None else np.asarray(history, dtype=np.int64),
            budget=None if budget is None else int(budget),
        )


class _Separating(NamedTuple):
    scores: Floats | None
    length: float
