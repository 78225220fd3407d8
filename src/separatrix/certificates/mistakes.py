"""The mistake bound of a perceptron run: of linear weights, or in the space of a kernel.

Theorem (Novikoff 1962). With rates η_k, S = Σ η_k, rows of norm at most R, a required margin m, and a unit separator
w* of margin γ, the weights after each update satisfy

    w*·w_t ≥ w*·w₀ + γ S        ‖w_t‖² ≤ ‖w₀‖² + R² Σ η_k² + 2 (m + ρ) S

where ρ = c R (‖w₀‖ + R S) bounds the rounding errors of scores: a run in floats may update on a row that is right by up
to ρ. If (w*·w₀ + γ S)² exceeds the ceiling after t updates, and both sides' difference increases from there, no run
makes t updates. From w₀ = 0, at a constant rate and with m = 0, this gives the bound (R/γ)². For rates η/k, S is at
least η ln(t + 1) and Σ η_k² at most η² π²/6. A batch update sums at most n mistakes, so n R² takes the place of R². Any
separator gives a bound; the widest margin gives the best.

A certificate states, as far as it is known,

    the bound    on the updates of any run by this rule from this start
    the updates  that were made: each of them, replayed from the data, was made on a mistake, up to the rounding error
                 of its score, and together they lead to the last weights
    convergence  no row is a mistake at the last weights, exactly

Cost: a pass or two, and one read of a row per update; for a kernel, the matrix of the updated rows, and one kernel row
for each row of the separator.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from separatrix.arrays import Bools, Floats, Ints
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, Stated, register
from separatrix.certificates.data import MatchedRows, Whole, match, require_work
from separatrix.certificates.enclosures import BOUND_FACTORS, OUTWARD, SHOWN_DIGITS, TINY, UNIT, gamma, upper_claim
from separatrix.certificates.exact import exact_margins, float_margins, rounded_down_root, rounded_up_root, squared_norm
from separatrix.certificates.margin import MAX_EXACT, PositiveFloat, least_margin_bound, margin_fault
from separatrix.certificates.spaces import KernelSpace, kernel_words
from separatrix.codec import MAX_WHOLE, Range, Shape
from separatrix.design.base import Design, add_each
from separatrix.design.kernels import Kernel
from separatrix.errors import DataError, counted
from separatrix.perceptron_rule import UpdateRule, batch_update

REPLAY_ROWS = 4096  # rows read at a time in a replay
MAX_REPLAYED = 4000  # updated rows up to which their kernel matrix is formed
MAX_BATCH_WORK = 1e11  # updates times entries
MAX_UPDATES = 2.0**40  # beyond, rounding errors are not bounded


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
        slack = gamma(8 * self.t + 64) * max(self.ceiling, abs(self.floor), abs(self.progress))
        return self.squared_norm <= self.ceiling + slack and self.progress >= self.floor - slack


class Start(NamedTuple):
    """The norm of the weights before the first update, and a lower bound on their product with the unit separator."""

    norm: float = 0.0
    alignment: float = 0.0


class Limits(NamedTuple):
    """What bounds the updates of a run: its rule, R, γ, the number of rows and columns, and earlier updates."""

    rule: UpdateRule
    radius: float
    margin: float
    rows: int
    columns: int
    earlier: int = 0

    def holds(self, bound: float, start: Start) -> bool:
        """Return whether no run makes more updates than a bound."""
        if not bound < MAX_UPDATES:
            return False
        t, rule, radius, margin = math.floor(bound) + 1, self.rule, self.radius, self.margin
        summed = self.rows if rule.update == "batch" else 1
        rounding = gamma(self.columns + 4) + gamma(self.earlier + t + summed + 4)
        total, linear, constant = rule.rate * t, radius * radius * rule.rate * summed, start.norm * start.norm + TINY
        if rule.inverse:
            total = rule.rate * math.log1p(t / (self.earlier + 1))
            linear, constant = 0.0, constant + (reach := radius * summed * rule.rate * math.pi) * reach / 6.0
        progress = start.alignment + margin * total
        linear += 2.0 * rule.margin + 2.0 * rounding * radius * start.norm + TINY
        square = 2.0 * rounding * radius * radius
        ceiling = constant + (linear + square * total) * total
        rising = 2.0 * margin * progress > (linear + 2.0 * square * total) * OUTWARD**2
        rising = rising and margin * margin > square * OUTWARD + TINY  # and so for every larger S
        return progress > 0.0 and rising and progress * progress > ceiling * OUTWARD**4

    def least(self, start: Start) -> float | None:
        """Return a bound that holds, as small as the theorem gives; None if rounding leaves none."""
        guess = self._root(start)
        if not math.isfinite(guess):
            return None
        candidates = (guess, float(math.ceil(guess)), *(guess * factor + 1.0 for factor in BOUND_FACTORS))
        return next((bound for bound in candidates if self.holds(bound, start)), None)

    def _root(self, start: Start) -> float:
        """Return the number of updates at which both inequalities meet, without rounding errors."""
        rule, margin = self.rule, self.margin
        summed = self.rows if rule.update == "batch" else 1
        linear = 2.0 * rule.margin - 2.0 * start.alignment * margin
        constant = max(start.norm**2 - start.alignment**2, 0.0)
        if rule.inverse:
            constant += (self.radius * summed * rule.rate * math.pi) ** 2 / 6.0
        else:
            linear += self.radius**2 * rule.rate * summed
        total = (linear + math.hypot(linear, 2.0 * margin * math.sqrt(constant))) / (2.0 * margin**2) / rule.rate
        if not rule.inverse:
            return total
        return (self.earlier + 1) * math.expm1(total) if total < math.log(MAX_UPDATES) else math.inf


class Recorded(NamedTuple):
    """A run: its first and last weights, whether it ended without mistakes, its updates and their rows, if recorded."""

    start: Floats
    coef: Floats
    converged: bool
    updates: int | None
    history: Ints | None
    earlier: int = 0


class NoMistakeError(Exception):
    """A recorded update on a row that was no mistake."""


@dataclass(frozen=True, kw_only=True)
class RunCertificate(Certificate):
    """A run by a rule on rows of norm at most R, and the bound that a separator of margin γ puts on its updates.

    `updates` is None if not all of them are recorded, `bound` and `margin` if no separator is known. `history` lists
    the row of each update, None for the batch rule. A run that continues an earlier one starts after `earlier` updates.
    """

    rule: Stated[UpdateRule]
    radius: Stated[Annotated[float, Range(0.0)]]
    margin: Stated[PositiveFloat | None] = None
    bound: Stated[Annotated[float, Range(0.0)] | None] = None
    updates: Stated[Whole | None] = None
    earlier: Stated[Whole] = 0
    converged: Stated[bool]
    coef: Annotated[Floats, Shape("weights")]
    separator: Annotated[Floats, Shape("weights")] | None = None
    history: Annotated[Ints, Shape(None), Range(0, MAX_WHOLE)] | None = None

    def __post_init__(self) -> None:
        if self.data.task not in {"two", "rest"} or len(self.coef) != self._size:
            raise ValueError(f"{len(self.coef)} weights of two classes are given; {self._size} are needed")
        if self.separator is not None and len(self.separator) != self._size:
            raise ValueError(f"the separator has {len(self.separator)} numbers; {self._size} are needed")
        known = {self.margin is None, self.separator is None}
        if len(known) > 1 or (self.bound is not None and self.margin is None):
            raise ValueError("margin, separator and bound do not go together")
        recorded = self.updates is not None
        if (self.history is not None) != (recorded and self.rule.update == "single"):
            raise ValueError("every recorded update of single rows, and no other, has its row in the history")
        if self.history is not None and (
            len(self.history) != self.updates or (self.history >= self.data.n_counted).any()
        ):
            raise ValueError(f"the history does not list {self.updates} updates on {self.data.n_counted} rows")

    @property
    def verdict(self) -> str:
        """'within bound', 'no separator known', 'no bound known', or 'bound broken'."""
        if self.bound is None:
            return "no separator known" if self.margin is None else "no bound known"
        return "within bound" if (self.updates or 0) <= self.bound else "bound broken"

    @property
    def claim(self) -> str:
        made = "a run" if self.updates is None else counted(self.updates, "update")
        end = "; no row is a mistake at its last weights" if self.converged else ""
        after = f" after {counted(self.earlier, 'earlier update')}" if self.earlier else ""
        run = f"{made}{after} {self._where}{end}{self.data.absent}"
        if self.margin is None:
            return f"{run}; no separator is known, so there is no bound"
        if self.bound is None:
            return f"{run}; a separator of margin γ = {self.margin:.6g} is known, and no bound is claimed"
        formula = "(R/γ)² = " if self.is_textbook else ""
        return f"{run}; a separator of margin γ = {self.margin:.6g} allows at most {formula}{self.bound:.6g} updates"

    @property
    def is_textbook(self) -> bool:
        """Whether the bound is (R/γ)²: single updates at a constant rate, from 0, without a required margin."""
        if self.margin is None or self.bound is None or self.rule.inverse or self.rule.margin:
            return False
        ratio = self.radius / self.margin
        square = ratio * ratio
        return self.rule.update == "single" and abs(self.bound - square) <= SHOWN_DIGITS * square < math.inf

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        yield from self._checks(self._run(rows))

    def _checks(self, run: _LinearRun | _KernelRun) -> Iterator[Check]:
        yield run.radius_check(self.radius)
        if self.separator is not None and self.margin is not None:
            fault = run.margin_fault(self.separator, self.margin)
            yield Check("margin", not fault, fault or f"the separator is right by {self.margin:.17g} on every row")
            if self.bound is not None:
                limits = Limits(self.rule, self.radius, self.margin, *run.shape, self.earlier)
                holds = limits.holds(self.bound, run.start(self.separator))
                yield Check("bound", holds, f"no run makes more than {self.bound:.17g} updates")
                if self.updates is not None:
                    detail = f"{counted(self.updates, 'update')}, at most {math.floor(self.bound):,}"
                    yield Check("within", self.updates <= self.bound, detail)
        if self.converged:
            wrong = run.mistakes(self.rule, self.coef)
            place = f"row {run.number(int(wrong[0]))} is a mistake" if len(wrong) else "no row is a mistake"
            yield Check("converged", not len(wrong), f"at the last weights {place}")
        if self.updates is not None:
            yield self._check_run(run)

    def _check_run(self, run: _LinearRun | _KernelRun) -> Check:
        """Check that each update was on a mistake, and that all of them lead to the last weights."""
        weights, error = run.before, np.zeros(len(self.coef))
        try:
            for _, weights, error in run.replay(self):  # noqa: B007  # the last ones are compared below
                pass
        except NoMistakeError as problem:
            return Check("run", False, str(problem))
        if not (np.isfinite(error).all() and (np.abs(weights - self.coef) <= 2.0 * error).all()):
            return Check("run", False, "replayed, the updates lead to other weights than claimed")
        return Check("run", True, f"all {self.updates:,} updates replayed, each on a mistake")

    def proof(self, X: Any, y: Any) -> list[ProofStep]:
        """Return both inequalities of the proof after every update, replayed from the data; needs a separator."""
        if self.updates is None or self.separator is None:
            raise DataError("this run has no proof to show: not all updates are recorded, or no separator is known")
        try:
            return [step for step, _, _ in self._run(match(self.data, X, y)).replay(self)]
        except NoMistakeError as error:
            raise DataError(f"these are not the data of the run: {error}") from None

    @property
    @abstractmethod
    def _size(self) -> int:
        """The number of weights."""

    @property
    @abstractmethod
    def _where(self) -> str:
        """The space of the run and the radius of its rows, in words."""

    @abstractmethod
    def _run(self, rows: MatchedRows) -> _LinearRun | _KernelRun:
        """Return the rows of the run."""


class Update(NamedTuple):
    """An update of the weights: how many mistakes it sums, its rate, and the change."""

    mistakes: int
    rate: float
    change: Floats


@dataclass(frozen=True)
class _LinearRun:
    """The rows of a run of linear weights, and the weights before it."""

    rows: MatchedRows
    before: Floats

    @property
    def design(self) -> Design:
        return self.rows.design

    @property
    def shape(self) -> tuple[int, int]:
        return self.design.shape

    def number(self, row: int) -> int:
        return self.rows.number(row)

    def radius(self) -> float:
        """Return an upper bound on the length of the longest row: the least float, unless many rows are as long."""
        squares = self.design.squared_norms() * (1.0 + gamma(self.shape[1] + 2))
        longest = np.flatnonzero(squares >= float(squares.max()) / OUTWARD)
        if len(longest) > MAX_EXACT:
            return math.sqrt(float(squares.max())) * OUTWARD
        return rounded_up_root(max(self._square(row) for row in longest.tolist()))

    def _square(self, row: int) -> Fraction:
        return squared_norm(self.design.take([row])[0])

    def radius_check(self, radius: float) -> Check:
        """Check that no row is longer than the radius, exactly."""
        squares = self.design.squared_norms() * (1.0 + gamma(self.shape[1] + 2))
        for row in np.flatnonzero(~(squares + TINY < radius * radius / OUTWARD)).tolist():
            if self._square(row) > Fraction(radius) ** 2:
                return Check("radius", False, f"row {self.number(row)} is longer than the claimed {radius:.17g}")
        return Check("radius", True, f"no row is longer than {radius:.17g}")

    def margin(self, separator: Floats) -> float:
        """Return the margin of a separator, rounded down; 0 if it does not separate the rows."""
        least = least_margin_bound(self.design, self.rows.signs, separator)
        return rounded_down_root(least**2 / squared_norm(separator)) if least > 0 else 0.0

    def margin_fault(self, separator: Floats, margin: float) -> str:
        return margin_fault(self.rows, separator, separator, margin)

    def start(self, separator: Floats) -> Start:
        norm, length = math.hypot(*self.before.tolist()), math.hypot(*separator.tolist())
        alignment = float((separator / length) @ self.before)
        return Start(norm * OUTWARD, alignment - gamma(len(separator) + 8) * norm - TINY)

    def mistakes(self, rule: UpdateRule, coef: Floats) -> Ints:
        """Return the rows that are mistakes at some weights, exactly."""
        margins, errors = float_margins(self.design, self.rows.signs, coef)
        wrong: Bools = ~(margins >= rule.margin)
        near = np.flatnonzero(~(np.abs(margins - rule.margin) > errors + 2.0 * UNIT * rule.margin))
        exact = exact_margins(self.design, self.rows.signs, coef, near)
        for row, margin in zip(near.tolist(), exact, strict=True):
            tied = margin == 0 and not rule.margin
            wrong[row] = rule.is_wrong_tie(self.rows.signs[row]) if tied else margin < Fraction(rule.margin)
        return np.flatnonzero(wrong)

    def replay(self, run: RunCertificate) -> Iterator[tuple[ProofStep, Floats, Floats]]:
        """Yield both inequalities, the weights and bounds on their rounding errors after each update."""
        separator = np.zeros(len(self.before)) if run.separator is None else run.separator
        unit = separator / (float(np.linalg.norm(separator)) or 1.0)
        weights, sizes = self.before.copy(), np.abs(self.before)
        ceiling, floor = float(weights @ weights), float(unit @ weights)
        changes = self._batches(run, weights) if run.rule.update == "batch" else self._singles(run, weights, sizes)
        batch = run.rule.update == "batch"
        summed, longest = (self.shape[0], self.radius()) if batch else (1, 0.0)
        for t, (mistakes, rate, change) in enumerate(changes, start=1):
            weights += change
            total = rate * mistakes
            sizes += total * longest if batch else np.abs(change)
            reach = total * run.radius
            ceiling += reach * reach + 2.0 * run.rule.margin * total
            floor += (run.margin or 0.0) * total
            step = ProofStep(t, float(weights @ weights), ceiling, float(unit @ weights), floor)
            yield step, weights, gamma(t + summed + 4) * sizes

    def _batches(self, run: RunCertificate, weights: Floats) -> Iterator[Update]:
        updates = run.updates or 0
        require_work("updates times entries of X", float(updates) * self.shape[0] * self.shape[1], MAX_BATCH_WORK)
        for t in range(1, updates + 1):
            made = self.design.fold(batch_update, weights, run.rule, rows=(self.rows.signs,), combine=add_each)
            if not made[0]:
                raise NoMistakeError(f"before update {t} no row was a mistake")
            rate = run.rule.rate_of(run.earlier + t)
            yield Update(int(made[0]), rate, rate * made[1])

    def _singles(self, run: RunCertificate, weights: Floats, sizes: Floats) -> Iterator[Update]:
        assert run.history is not None
        signs, terms = self.rows.signs, gamma(self.shape[1] + 2)
        for first in range(0, len(run.history), REPLAY_ROWS):
            chosen = run.history[first : first + REPLAY_ROWS]
            for k, (row, x) in enumerate(zip(chosen.tolist(), self.design.take(chosen), strict=True), start=first + 1):
                score = float(signs[row] * (x @ weights))
                if not -math.inf < score < run.rule.margin:  # a mistake without doubt needs no bound on its rounding
                    error = float(np.abs(x) @ (terms * np.abs(weights) + gamma(k + 4) * sizes))
                    _require_mistake(run.rule, score, error, float(signs[row]), k, self.number(row))
                factor = run.rule.rate * float(signs[row])
                change = (factor / (run.earlier + k) if run.rule.inverse else factor) * x
                yield Update(1, run.rule.rate_of(run.earlier + k), change)


def _require_mistake(rule: UpdateRule, score: float, error: float, sign: float, t: int, row: int) -> None:
    """Raise a NoMistakeError if an update was made on a row that is right, beyond the rounding error of its score."""
    tied = score == 0.0 and not rule.margin and not rule.is_wrong_tie(sign)
    if tied or not score - rule.margin <= error + 2.0 * UNIT * rule.margin < math.inf:
        raise NoMistakeError(f"update {t} was made on row {row}, which was no mistake")


@register
@dataclass(frozen=True, kw_only=True)
class MistakesCertificate(RunCertificate):
    """A run with linear weights, the intercept first if there is one, from the weights `start`."""

    kind: ClassVar[str] = "mistakes"
    start: Annotated[Floats, Shape("weights")]

    @property
    def _size(self) -> int:
        return self.data.n_scores

    @property
    def _where(self) -> str:
        return f"on rows within radius {self.radius:.6g}"

    @property
    def is_textbook(self) -> bool:
        return super().is_textbook and not self.start.any()

    def _run(self, rows: MatchedRows) -> _LinearRun:
        return _LinearRun(rows, self.start)

    @classmethod
    def of(cls, rows: MatchedRows, rule: UpdateRule, run: Recorded, separator: Floats | None) -> MistakesCertificate:
        """Return the certificate of a run."""
        own, earlier = _LinearRun(rows, run.start), run.earlier
        radius, margin, bound = own.radius(), None, None
        if separator is not None and (lower := own.margin(separator)) > 0.0:
            limits, margin = Limits(rule, radius, lower, *own.shape, earlier), lower
            bound = limits.least(own.start(separator))
        counted = run.updates
        if rule.update == "batch" and counted is not None and counted * math.prod(own.shape) > MAX_BATCH_WORK:
            counted = None
        return cls(
            data=rows.data,
            rule=rule,
            radius=radius,
            margin=margin,
            bound=bound,
            updates=counted,
            earlier=earlier,
            converged=run.converged and not len(own.mistakes(rule, run.coef)),
            coef=run.coef,
            separator=None if margin is None else separator,
            history=run.history,
            start=run.start,
        )

    def certified(self) -> CertifiedCoef | None:
        """Return the last weights, which are also the best ones if no row was a mistake any more."""
        if self.updates is None and not self.converged:
            return None
        kept = ("last", "best") if self.converged and self.rule.margin == 0.0 else ("last",)
        return self.certified_coef(self.coef, kept)


@dataclass(frozen=True)
class _KernelRun:
    """The rows of a run in the space of a kernel (plus 1 for an intercept)."""

    rows: MatchedRows
    space: KernelSpace

    @property
    def before(self) -> Floats:
        return np.zeros(self.space.n)

    @property
    def shape(self) -> tuple[int, int]:
        return self.space.n, int(self.space.error / UNIT)  # as many roundings as an entry has

    def number(self, row: int) -> int:
        return self.rows.number(row)

    def radius_check(self, radius: float) -> Check:
        longest = self.space.radius
        return Check("radius", longest <= radius, f"the longest row measures {upper_claim(radius, longest)}")

    def margin_fault(self, separator: Floats, margin: float) -> str:
        least = self.margin(separator)
        return "" if margin <= least else f"the separator is right by {least:.17g}; claimed {margin:.17g}"

    def margin(self, separator: Floats) -> float:
        """Return a lower bound on the margin of a separator."""
        support = np.flatnonzero(separator)
        scores, errors = self.space.scores(support, separator[support])
        norm = math.sqrt(self.space.squared_norm(support, separator[support])[1])
        least = float((self.rows.signs * scores - errors).min())
        return least / norm / OUTWARD if least > 0.0 and norm > 0.0 else 0.0

    def start(self, separator: Floats) -> Start:  # noqa: ARG002  # it is 0
        return Start()

    def mistakes(self, rule: UpdateRule, coef: Floats) -> Ints:
        """Return the rows that are mistakes at some weights, or may be, by rounding."""
        support = np.flatnonzero(coef)
        scores, errors = self.space.scores(support, coef[support])
        margins = self.rows.signs * scores
        right = margins - errors > rule.margin
        if not len(support) and not rule.margin:
            right = np.array([not rule.is_wrong_tie(sign) for sign in self.rows.signs])
        return np.flatnonzero(~right)

    def replay(self, run: RunCertificate) -> Iterator[tuple[ProofStep, Floats, Floats]]:
        """Yield both inequalities, the coefficients and bounds on their rounding errors after each update."""
        assert run.history is not None
        rows, places = np.unique(run.history, return_inverse=True)
        require_work("rows that were updated on", len(rows), MAX_REPLAYED)
        matrix, progress = self.space.among(rows), self._progress(run.separator)
        scores, coef, lengths = np.zeros(len(rows)), np.zeros(self.space.n), self.space.lengths[rows]
        squared_norm = total = squares = ahead = size = 0.0
        for t, place in enumerate(places.tolist(), start=1):
            row, rate, sign = int(rows[place]), run.rule.rate_of(t), float(self.rows.signs[rows[place]])
            error = (self.space.error + gamma(t + 4)) * float(lengths[place]) * size
            _require_mistake(run.rule, sign * float(scores[place]), error, sign, t, self.number(row))
            squared_norm += 2.0 * rate * sign * float(scores[place]) + rate * rate * float(matrix[place, place])
            total, squares, size = total + rate, squares + rate * rate, size + rate * float(lengths[place])
            ahead += rate * sign * float(progress[row])
            scores += rate * sign * matrix[:, place]
            coef[row] += rate * sign
            ceiling = run.radius * run.radius * squares + 2.0 * run.rule.margin * total
            step = ProofStep(t, squared_norm, ceiling, ahead, (run.margin or 0.0) * total)
            yield step, coef, np.full(len(coef), gamma(t + 4) * total)

    def _progress(self, separator: Floats | None) -> Floats:
        """Return the scores of the separator scaled to norm 1."""
        if separator is None or not separator.any():
            return np.zeros(self.space.n)
        support = np.flatnonzero(separator)
        norm = math.sqrt(self.space.squared_norm(support, separator[support])[1])
        return np.asarray(self.space.scores(support, separator[support])[0] / norm)


@register
@dataclass(frozen=True, kw_only=True)
class KernelMistakesCertificate(RunCertificate):
    """A run in the space of a kernel; `coef` and `separator` have one coefficient per row."""

    kind: ClassVar[str] = "kernel-mistakes"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data.kernel is None or self.earlier or self.rule.update == "batch":
            raise ValueError("single updates from 0 in the space of a kernel are needed")

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        assert self.data.kernel is not None
        return self.data.kernel

    @property
    def _size(self) -> int:
        return self.data.n_counted

    @property
    def _where(self) -> str:
        return f"within radius {self.radius:.6g} in the space of {kernel_words(self.kernel)}"

    def _run(self, rows: MatchedRows) -> _KernelRun:
        return _KernelRun(rows, KernelSpace.of(rows, constant=float(self.data.intercept)))

    @classmethod
    def of(
        cls, rows: MatchedRows, rule: UpdateRule, run: Recorded, separators: Sequence[Floats]
    ) -> KernelMistakesCertificate:
        """Return the certificate of a run; of the separators it has the one of widest margin."""
        own = _KernelRun(rows, KernelSpace.of(rows, constant=float(rows.data.intercept), slack=2.0))
        radius, margin, bound, separator = own.space.radius * OUTWARD, None, None, None
        for each in separators:
            if (lower := own.margin(each)) > (margin or 0.0):
                margin, separator = lower, each
        if margin is not None:
            bound = Limits(rule, radius, margin, *own.shape).least(Start())
        replayed = run.history is not None and len(np.unique(run.history)) <= MAX_REPLAYED
        return cls(
            data=rows.data,
            rule=rule,
            radius=radius,
            margin=margin,
            bound=bound,
            updates=run.updates if replayed else None,
            converged=run.converged and not len(own.mistakes(rule, run.coef)),
            coef=run.coef,
            separator=separator,
            history=run.history if replayed else None,
        )
