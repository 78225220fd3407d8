"""The perceptron in a kernel's space as a fit: options settled, the walk run, its coefficients kept and certified.

The bound needs a separator in that space: a run that converged is its own; on small data the widest margin is looked
for as well, which tightens the bound and, of a run that did not converge, says whether more updates would have helped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.data import score_rounding
from separatrix.certificates.mistakes import KernelMistakesCertificate
from separatrix.design.base import Design
from separatrix.design.build import make_design
from separatrix.design.kernel_matrix import KernelRows
from separatrix.errors import counted, require_choice, require_count
from separatrix.fit.mistakes import find_separator
from separatrix.fit.one_vs_rest import BinaryTarget
from separatrix.fit.perceptron import PerceptronOptions
from separatrix.fit.result import FitResult
from separatrix.fit.run import Run, run
from separatrix.fit.stopping import AtLeast, Status
from separatrix.fit.trace import Trace, Updates
from separatrix.losses.margin import Perceptron as PerceptronLoss
from separatrix.perceptron_rule import predicted_signs
from separatrix.problem import Problem
from separatrix.solvers.kernel_perceptron import Forget, KernelPerceptron, KernelPerceptronState

SMALL_DATA = 500  # rows up to which looking for the widest margin costs next to nothing
SEPARATOR_STEPS = 100
ROUNDINGS = 4.0  # of a score: here, in the sums of a run, on a re-check, and one that it takes off


@dataclass(frozen=True)
class KernelPerceptronOptions:
    """The perceptron's options, and how many rows may count at most, the oldest or smallest being forgotten."""

    perceptron: PerceptronOptions
    budget: int | None = None
    forget: Forget = "oldest"

    def __post_init__(self) -> None:
        require_choice("keep", self.perceptron.keep, ("last", "best", "average"))
        require_choice("forget", self.forget, get_args(Forget))
        if self.budget is not None:
            require_count("budget", self.budget)

    def solver(self) -> KernelPerceptron:
        """Return the solver that the options ask for."""
        asked = self.perceptron
        limits = int(asked.max_updates), int(asked.max_passes)
        budget = None if self.budget is None else int(self.budget)
        seed = np.random.default_rng(asked.seed)
        return KernelPerceptron(asked.rule, asked.order, *limits, budget, self.forget, seed)


class _Separator(NamedTuple):
    coef: Floats | None
    margin: float


def fit_kernel_perceptron(
    rows: KernelRows, design: Design, target: BinaryTarget, options: KernelPerceptronOptions
) -> FitResult:
    """Fit rows of a kernel matrix, an intercept being a constant of 1 in it, to their signs ±1."""
    asked, n = options.perceptron, rows.n
    problem = Problem(design, target.signs, PerceptronLoss())
    state = KernelPerceptronState(rows, asked.keep)
    rules = (
        AtLeast("streak", n, Status.CONVERGED),
        AtLeast("updates", asked.max_updates, Status.MAX_UPDATES),
        AtLeast("walked", asked.max_passes * n, Status.MAX_PASSES),
    )
    walk = run(problem, options.solver(), rules, start=state)
    certificate = _certify(rows, target, options, state, walk)
    kept = state.kept()
    scores = state.scores if asked.keep == "last" else rows.times(kept, np.arange(n))
    wrong = int((predicted_signs(scores, asked.tie) != target.signs).sum())
    facts = {"updates": state.updates, "visits": state.visits, "wrong": wrong, "rows": n}
    return FitResult(
        coef=kept,
        intercept=np.asarray(kept.sum() if rows.constant else 0.0),
        status=walk.status,
        message=_perceptron_message(walk.status, options, state, certificate, wrong),
        objective=float(problem.loss.value(scores, target.signs).mean()),
        passes=walk.passes,
        seconds=walk.seconds,
        certificate=certificate,
        trace=Trace(walk.steps, Updates.from_record(state.record)),
        facts=facts | {"support": int(np.count_nonzero(kept)), "forgotten": state.forgotten},
        provenance={**asked.plain(), "budget": options.budget, "forget": options.forget, "kernel": rows.kernel.name},
    )


def _certify(
    rows: KernelRows, target: BinaryTarget, options: KernelPerceptronOptions, state: KernelPerceptronState, walk: Run
) -> KernelMistakesCertificate:
    converged = walk.status is Status.CONVERGED
    separator = _best_separator(rows, target.signs, state, converged)
    record = state.record
    return KernelMistakesCertificate(
        kernel=rows.kernel,
        updates=state.updates,
        radius=math.sqrt(float(rows.diagonal.max())),
        rule=options.perceptron.rule,
        coef=state.coef.copy(),
        converged=converged,
        fit_intercept=bool(rows.constant),
        labels=target.labels,
        shape=(rows.n, int(rows.X.shape[1])),
        margin=separator.margin if separator.coef is not None else None,
        separator=separator.coef,
        history=record.updates.rows()[:, 1].astype(np.int64) if record.complete else None,
        budget=options.budget,
    )


def _best_separator(rows: KernelRows, signs: Floats, state: KernelPerceptronState, converged: bool) -> _Separator:
    """Return the separator of widest margin known: the run's own or, on small data, one looked for."""
    radius = math.sqrt(float(rows.diagonal.max()))
    size = radius, int(rows.X.shape[1])
    own = _measured(state.coef, state.scores, signs, size) if converged else _Separator(None, 0.0)
    if rows.n > SMALL_DATA:
        return own
    matrix, features, back = rows.embedding
    found = find_separator(make_design(features, intercept=False), signs, radius, max_steps=SEPARATOR_STEPS)
    if found.weights is None:
        return own
    coef = back @ found.weights
    looked_for = _measured(coef, matrix @ coef, signs, size)
    return looked_for if looked_for.margin > own.margin else own


def _measured(coef: Floats, scores: Floats, signs: Floats, size: tuple[float, int]) -> _Separator:
    """Return coefficients as a separator of length 1, its margin less what rounding may hide."""
    squared, unsure = float(coef @ scores), score_rounding(coef, *size)
    least = float((signs * scores).min()) - ROUNDINGS * unsure
    if not (squared > 0.0 and least > 0.0):
        return _Separator(None, 0.0)
    return _Separator(coef / math.sqrt(squared), least / math.sqrt(squared))


def _perceptron_message(
    status: Status,
    options: KernelPerceptronOptions,
    state: KernelPerceptronState,
    certificate: KernelMistakesCertificate,
    wrong: int,
) -> str:
    asked, n = options.perceptron, state.rows.n
    updates = counted(state.updates, "update")
    forgot = (
        f"; {counted(state.forgotten, 'row')} forgotten for the budget, which loses the guarantee"
        if options.budget
        else ""
    )
    if status is Status.CONVERGED:
        return f"converged: {counted(n, 'visit')} in a row without a mistake after {updates}{forgot}"
    limit = (
        f"max_updates={int(asked.max_updates):,}"
        if status is Status.MAX_UPDATES
        else f"max_passes={int(asked.max_passes):,}"
    )
    errors = f"{wrong:,} of {counted(n, 'row')} wrong ({100.0 * wrong / n:.3g} %) at the coefficients kept"
    advice = "if no function of this kernel's space separates the rows, more updates cannot help"
    if certificate.bound is not None and math.isfinite(certificate.bound):
        advice = f"a separator of margin {certificate.margin:.3g} exists there, so it would converge within"
        advice += f" {certificate.bound:.3g} updates: raise the limit"
    return f"stopped at {limit} before every row was right: {errors}; {advice}{forgot}"
