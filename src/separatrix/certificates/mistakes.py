"""The mistake bound of a perceptron run: of linear weights, or in the space of a kernel.

Theorem (Novikoff 1962). With rates η_k, S = Σ η_k, rows of norm at most R, a required margin m, and a unit separator
w* of margin γ, the weights after each update satisfy

    w*·w_t ≥ w*·w₀ + γ S        ‖w_t‖² ≤ ‖w₀‖² + R² Σ η_k² + 2 m S

so that (w*·w₀ + γ S)² ≤ ‖w₀‖² + R² Σ η_k² + 2 m S, which bounds S and so the number of updates T. From w₀ = 0, at a
constant rate and with m = 0, this is T ≤ (R/γ)². For rates η/k, S ≥ η ln(T + 1) and Σ η_k² ≤ η² π²/6. A batch update
sums at most n mistakes, so n R² takes the place of R². Any separator gives a bound; the widest margin gives the best.

`MistakesCertificate`: `verify` replays the run from the data. Each updated row was a mistake, both inequalities hold
after each update, and the final weights are the claimed ones. Cost: one read of a row per update.

`KernelMistakesCertificate`: the same in the space of a kernel K (plus 1 for an intercept), from w = 0, with
R² = max Kᵢᵢ and a separator w* = Σ cᵢ φ(xᵢ). Cost: the kernel matrix of the updated rows (up to a limit), and one
kernel row for each row of the separator.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from separatrix.arrays import EPSILON, Floats, Ints
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, Verification, certified_coef, register
from separatrix.certificates.data import check_inner_product, kernel_among, kernel_data, score_rounding, signs_of
from separatrix.certificates.exact import least_margin, rounding_bound
from separatrix.codec import Fields
from separatrix.design.base import Design, add_each
from separatrix.design.build import make_design, row_radius
from separatrix.design.kernel_matrix import training_scores
from separatrix.design.kernels import Kernel, kernel_from_dict
from separatrix.errors import CertificateError, DataError, counted
from separatrix.loops.online import TIE_CODES, Tie
from separatrix.perceptron_rule import UpdateRule, batch_update

SLACK = 1e-9  # relative rounding error of sums over a run
LARGEST_EXPONENT = 700.0  # beyond, exp overflows
REPLAY_ROWS = 4096  # rows read at a time in a replay
MAX_REPLAYED = 4000  # updated rows beyond which their kernel matrix is not formed


class ProofStep(NamedTuple):
    """The two inequalities of the proof after update t: `squared_norm ≤ ceiling` and `progress ≥ floor`."""

    t: int
    squared_norm: float
    ceiling: float
    progress: float
    floor: float

    @property
    def holds(self) -> bool:
        """Whether both inequalities hold, up to rounding."""
        slack = SLACK * max(self.ceiling, abs(self.floor), abs(self.progress))
        return self.squared_norm <= self.ceiling + slack and self.progress >= self.floor - slack


@dataclass(frozen=True, kw_only=True)
class RunCertificate(Certificate):
    """A run of T updates on rows of norm at most R, and the bound that a separator of margin γ puts on T.

    `margin` is the margin of `separator`, a lower bound on the widest margin; both are None if no separator is known.
    `history` lists the row of each update; it is None if the record was thinned, and for the batch rule.
    """

    updates: int
    radius: float
    rule: UpdateRule
    coef: Floats
    converged: bool
    fit_intercept: bool
    labels: tuple[Any, Any]
    margin: float | None = None
    separator: Floats | None = None
    history: Ints | None = None

    @property
    def bound(self) -> float | None:
        """An upper bound on the number of updates, (R/γ)² from start 0; None if no separator is known."""
        if self.margin is None or self.separator is None or self.margin <= 0.0:
            return None
        return self._limit(self.margin, self.separator)

    @property
    def verdict(self) -> str:
        """'within bound', 'no separator known' or 'bound broken'."""
        if self.bound is None:
            return "no separator known"
        return "within bound" if self.updates <= self.bound * (1.0 + SLACK) else "bound broken"

    @property
    def claim(self) -> str:
        run = f"{counted(self.updates, 'update')} {self._where}"
        if self.bound is None:
            return f"{run}; no separator is known, so there is no bound"
        formula = "(R/γ)²" if self.is_textbook else "the bound"
        return f"{run}; a separator of margin γ = {self.margin:.6g} allows {formula} = {self.bound:.6g} at most"

    @property
    def is_textbook(self) -> bool:
        """Whether the bound is (R/γ)²: single updates at a constant rate, from 0, without a required margin."""
        return not (self.rule.inverse or self.rule.margin) and self.rule.update == "single"

    def verify(self, X: Any, y: Any) -> Verification:
        """Re-check radius, margin, bound and convergence from the data and, if every update is recorded, the run."""
        return Verification(tuple(self._checks(self._data(X, y))))

    def proof(self, X: Any, y: Any) -> list[ProofStep]:
        """Return both inequalities of the proof after every update, replayed from the data; needs a separator."""
        data, refusal = self._data(X, y), self._check_history()
        if refusal is not None:
            raise DataError(f"this run has no proof to show: {refusal.detail}")
        try:
            return [step for step, _ in self._replay(data)]
        except NoMistakeError as error:
            raise DataError(f"these are not the data of the run: {error}") from None

    def _checks(self, data: Any) -> Iterator[Check]:
        radius = data.radius
        same = math.isclose(radius, self.radius, rel_tol=SLACK)
        yield Check("radius", same, f"the longest row measures {radius:.17g}, claimed {self.radius:.17g}")
        if self.separator is not None and self.margin is not None:
            measured, detail = self._measured_margin(data, self.separator)
            holds = 0.0 < self.margin <= measured * (1.0 + SLACK)
            yield Check("margin", holds, f"{detail}; claimed {self.margin:.17g}")
            holds = self.bound is not None and self.updates <= self.bound * (1.0 + SLACK)
            yield Check("bound", holds, f"T = {self.updates:,} against {self.bound}")
        if self.converged:
            scores, rounding = data.scores(self.coef), data.rounding(self.coef)
            wrong = self.rule.mistaken(scores, data.signs) & (np.abs(data.signs * scores - self.rule.margin) > rounding)
            place = f"row {int(np.flatnonzero(wrong)[0])} is a mistake" if wrong.any() else "no row is a mistake"
            yield Check("converged", not wrong.any(), f"at the last weights {place}")
        yield self._check_history() or self._check_run(self._replay(data))

    def _check_history(self) -> Check | None:
        """Return the check that says why the run cannot be replayed; None if it can."""
        if self.history is None:
            return Check("run", None, "not replayed, so T is not checked: the record of updates was thinned")
        if len(self.history) != self.updates:
            return Check("run", False, f"the history has {len(self.history):,} updates, claimed {self.updates:,}")
        return None

    def _check_run(self, replay: Iterator[tuple[ProofStep, Floats]]) -> Check:
        """Check that each update was on a mistake, both inequalities after it, and the final weights."""
        weights = self._start
        try:
            for step, weights in replay:  # noqa: B007  # the last weights are compared below
                if not step.holds:
                    return Check("run", False, f"the inequalities of the proof fail after update {step.t}: {step}")
        except NoMistakeError as error:
            return Check("run", False, str(error))
        slack = SLACK * (float(np.abs(self.coef).max(initial=0.0)) or 1.0)
        if float(np.abs(weights - self.coef).max(initial=0.0)) > slack:
            return Check("run", False, "replayed, the updates lead to other weights than claimed")
        return Check("run", True, f"all {self.updates:,} updates replayed; the proof's inequalities hold after each")

    @property
    @abstractmethod
    def _where(self) -> str:
        """The space of the run and the radius of its rows, in words."""

    @property
    @abstractmethod
    def _start(self) -> Floats:
        """The weights before the first update."""

    @abstractmethod
    def _limit(self, margin: float, separator: Floats) -> float:
        """Return the bound of a separator."""

    @abstractmethod
    def _data(self, X: Any, y: Any) -> _LinearRows | _KernelRows:
        """Return the rows of the run; other data raise a DataError."""

    @abstractmethod
    def _measured_margin(self, data: Any, separator: Floats) -> tuple[float, str]:
        """Return the margin of the separator, and a sentence about it."""

    @abstractmethod
    def _replay(self, data: Any) -> Iterator[tuple[ProofStep, Floats]]:
        """Yield both inequalities and the weights after each update."""

    @classmethod
    def _shared_fields(cls, fields: Fields, rows: int, size: int) -> dict[str, Any]:
        """Read what all runs have, of some rows and weights."""
        return {
            "updates": fields.whole("updates"),
            "radius": fields.within("radius"),
            "rule": _rule(Fields(fields.value("rule"), "content.rule")),
            "coef": fields.numbers("coef", size),
            "converged": fields.flag("converged"),
            "fit_intercept": fields.flag("fit_intercept"),
            "labels": fields.two_labels(),
            "margin": fields.or_none("margin", fields.number),
            "separator": fields.or_none("separator", lambda key: fields.numbers(key, size)),
            "history": fields.or_none("history", lambda key: fields.places(key, rows)),
        }


class _LinearRows(NamedTuple):
    design: Design
    signs: Floats
    radius: float

    def scores(self, coef: Floats) -> Floats:
        return self.design.matvec(coef)

    def rounding(self, coef: Floats) -> float:
        return float(rounding_bound(self.radius, coef))


@register
@dataclass(frozen=True, kw_only=True)
class MistakesCertificate(RunCertificate):
    """A run with linear weights; one that continues an earlier run starts at its weights, after `earlier` updates."""

    kind: ClassVar[str] = "mistakes"
    start: Floats
    n_rows: int
    earlier: int = 0

    @property
    def _where(self) -> str:
        return f"on rows within radius {self.radius:.6g}"

    @property
    def _start(self) -> Floats:
        return self.start

    @property
    def is_textbook(self) -> bool:
        return super().is_textbook and not self.start.any()

    def _limit(self, margin: float, separator: Floats) -> float:
        limits = self.rule, self.radius, margin, self.n_rows
        return update_limit(*limits, self.start, separator, earlier=self.earlier)

    def _data(self, X: Any, y: Any) -> _LinearRows:
        design = make_design(X, intercept=self.fit_intercept)
        signs = signs_of(y, self.labels, design.shape[0], whose="run")
        if design.shape != (self.n_rows, self.coef.size):
            raise DataError(
                f"X has shape {design.shape}, virtual column included; the run had {self.n_rows, self.coef.size}"
            )
        return _LinearRows(design, signs, row_radius(design))

    def _measured_margin(self, data: _LinearRows, separator: Floats) -> tuple[float, str]:
        least, row = least_margin(data.design, data.signs, separator)
        measured = least / float(np.linalg.norm(separator))
        return measured, f"row {row} is nearest, at {measured:.17g}"

    def _check_history(self) -> Check | None:
        return None if self.history is None and self.rule.update == "batch" else super()._check_history()

    def _replay(self, data: _LinearRows) -> Iterator[tuple[ProofStep, Floats]]:
        unit = None if self.separator is None else self.separator / np.linalg.norm(self.separator)
        gamma = self.margin or 0.0
        weights = self.start.copy()
        ceiling = float(weights @ weights)
        floor = 0.0 if unit is None else float(unit @ weights)
        for t, (mistakes, step) in enumerate(self._changes(data.design, data.signs, weights), start=1):
            rate = self.rule.rate_of(self.earlier + t) * mistakes
            weights += step
            ceiling += (rate * self.radius) ** 2 + 2.0 * self.rule.margin * rate
            floor += gamma * rate
            progress = 0.0 if unit is None else float(unit @ weights)
            yield ProofStep(t, float(weights @ weights), ceiling, progress, floor), weights

    def _changes(self, design: Design, signs: Floats, weights: Floats) -> Iterator[tuple[int, Floats]]:
        """Yield the mistakes and the step of each update; `weights` are the current ones, changed by the caller."""
        if self.rule.update == "batch":
            for t in range(1, self.updates + 1):
                mistakes, total = design.fold(batch_update, weights, self.rule, rows=(signs,), combine=add_each)
                yield mistakes, self.rule.rate_of(self.earlier + t) * total
            return
        assert self.history is not None
        for first in range(0, len(self.history), REPLAY_ROWS):
            chosen = self.history[first : first + REPLAY_ROWS]
            for k, (row, x) in enumerate(zip(chosen.tolist(), design.take(chosen), strict=True)):
                excess = signs[row] * float(x @ weights) - self.rule.margin
                if excess > rounding_bound(float(np.linalg.norm(x)), weights):
                    raise NoMistakeError(f"update {first + k + 1} was made on row {row}, which was no mistake")
                factor = self.rule.rate * signs[row]
                yield 1, (factor / (self.earlier + first + k + 1) if self.rule.inverse else factor) * x

    def certified(self) -> CertifiedCoef:
        """Return the last weights, which are also the best ones if no row was a mistake any more."""
        kept = ("last", "best") if self.converged and self.rule.margin == 0.0 else ("last",)
        return certified_coef(self.coef, self.labels, fit_intercept=self.fit_intercept, kept=kept)

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        fields = Fields(content)
        n_rows, size = fields.whole("n_rows"), len(fields.numbers("coef"))
        shared = cls._shared_fields(fields, n_rows, size)
        return cls(n_rows=n_rows, start=fields.numbers("start", size), earlier=fields.whole("earlier"), **shared)


def _rule(fields: Fields) -> UpdateRule:
    return UpdateRule(
        update="batch" if fields.text("update", ("single", "batch")) == "batch" else "single",
        tie=cast("Tie", fields.text("tie", TIE_CODES)),
        margin=fields.within("margin"),
        rate=fields.within("rate", above=True),
        inverse=fields.flag("inverse"),
    )


class NoMistakeError(Exception):
    """A recorded update on a row that was no mistake."""


def update_limit(
    rule: UpdateRule, radius: float, margin: float, n: int, start: Floats, separator: Floats, *, earlier: int = 0
) -> float:
    """Return the bound on the number of updates of a run; infinite if it overflows."""
    squared_radius = n * radius**2 if rule.update == "batch" else radius**2
    alignment, norm = float(separator @ start) / float(np.linalg.norm(separator)), float(np.linalg.norm(start))
    linear = 2.0 * rule.margin - 2.0 * alignment * margin
    constant = norm**2 - alignment**2
    if not rule.inverse:
        return _positive_root(margin**2, linear + squared_radius * rule.rate, constant) / rule.rate
    squares = squared_radius * (n if rule.update == "batch" else 1) * (math.pi * rule.rate) ** 2 / 6.0
    total = _positive_root(margin**2, linear, constant + squares) / rule.rate
    return (earlier + 1) * math.expm1(total) if total < LARGEST_EXPONENT else math.inf


def _positive_root(square: float, linear: float, constant: float) -> float:
    """Return the larger root s of square·s² − linear·s − constant = 0, constant ≥ 0."""
    return (linear + math.hypot(linear, 2.0 * math.sqrt(square * max(constant, 0.0)))) / (2.0 * square)


@dataclass(frozen=True)
class _KernelRows:
    """The rows of a run in the space of a kernel (plus 1 for an intercept)."""

    X: Any
    signs: Floats
    kernel: Kernel
    intercept: bool
    separator: Floats | None

    @cached_property
    def radius(self) -> float:
        return math.sqrt(float(self.kernel.diagonal(self.X).max()) + float(self.intercept))

    def scores(self, coef: Floats) -> Floats:
        return training_scores(self.kernel, self.X, coef) + (float(coef.sum()) if self.intercept else 0.0)

    def rounding(self, coef: Floats) -> float:
        return score_rounding(coef, self.radius, self.X.shape[1])

    @cached_property
    def unit_separator(self) -> tuple[Floats, float]:
        """The scores of the separator scaled to norm 1, and its norm."""
        assert self.separator is not None
        scores = self.scores(self.separator)
        length = math.sqrt(max(float(self.separator @ scores), np.finfo(np.float64).tiny))
        return scores / length, length


@register
@dataclass(frozen=True, kw_only=True)
class KernelMistakesCertificate(RunCertificate):
    """A run in the space of a kernel; `coef` and `separator` have one coefficient per row."""

    kind: ClassVar[str] = "kernel-mistakes"
    kernel: Kernel
    shape: tuple[int, int]

    @property
    def _where(self) -> str:
        return f"within radius {self.radius:.6g} in the space of the {self.kernel.name} kernel"

    @property
    def _start(self) -> Floats:
        return np.zeros(self.shape[0])

    def _limit(self, margin: float, separator: Floats) -> float:  # noqa: ARG002  # a start of 0 is aligned with none
        return update_limit(self.rule, self.radius, margin, self.shape[0], np.zeros(1), np.ones(1))

    def _data(self, X: Any, y: Any) -> _KernelRows:
        data = kernel_data(X, y, self.labels, self.shape, self.kernel)
        return _KernelRows(*data, self.fit_intercept, self.separator)

    def _checks(self, data: _KernelRows) -> Iterator[Check]:
        yield from check_inner_product(data.kernel, data.X)
        yield from super()._checks(data)

    def _measured_margin(self, data: _KernelRows, separator: Floats) -> tuple[float, str]:
        scores, length = data.unit_separator
        measured = float((data.signs * scores).min()) - data.rounding(separator) / length
        return measured, f"the nearest row is at {measured:.17g} at least"

    def _check_history(self) -> Check | None:
        if (refusal := super()._check_history()) is not None:
            return refusal
        rows = np.unique(np.asarray(self.history))
        if len(rows) and not 0 <= rows[0] <= rows[-1] < self.shape[0]:
            return Check("run", False, f"the history names rows {rows[0]} to {rows[-1]} of {self.shape[0]:,}")
        if len(rows) > MAX_REPLAYED:
            return Check("run", None, f"not replayed: {len(rows):,} rows were updated on, above {MAX_REPLAYED:,}")
        return None

    def _replay(self, data: _KernelRows) -> Iterator[tuple[ProofStep, Floats]]:
        signs, known = data.signs, self.separator is not None and self.margin is not None
        separator = data.unit_separator[0] if known else None
        rows, places = np.unique(np.asarray(self.history), return_inverse=True)
        matrix = kernel_among(data.kernel, data.X, rows) + float(self.fit_intercept)
        scores, coef = np.zeros(len(rows)), np.zeros(self.shape[0])
        squared_norm = total = squares = progress = 0.0
        for t, place in enumerate(places.tolist(), start=1):
            row, rate = int(rows[place]), self.rule.rate_of(t)
            excess = signs[row] * scores[place] - self.rule.margin
            if excess > (self.shape[0] + t) * EPSILON * self.radius**2 * max(total, 1.0):
                raise NoMistakeError(f"update {t} was made on row {row}, which was no mistake")
            squared_norm += 2.0 * rate * signs[row] * scores[place] + rate**2 * matrix[place, place]
            total, squares = total + rate, squares + rate**2
            progress += 0.0 if separator is None else rate * signs[row] * float(separator[row])
            scores += rate * signs[row] * matrix[place]
            coef[row] += rate * signs[row]
            ceiling = self.radius**2 * squares + 2.0 * self.rule.margin * total
            floor = 0.0 if separator is None else (self.margin or 0.0) * total
            yield ProofStep(t, float(squared_norm), ceiling, progress, floor), coef

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        if (budget := content.get("budget")) is not None:
            raise CertificateError(
                f"the run had a budget of {budget} support vectors, which is no longer an option; fit again without one"
            )
        fields = Fields(content)
        n, p = fields.places("shape").tolist()
        return cls(kernel=kernel_from_dict(content["kernel"]), shape=(n, p), **cls._shared_fields(fields, n, n))
