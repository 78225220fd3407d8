"""The perceptron: fit, mistake bound, vote, and a check for overlap.

The certificate of each run has R, T and, once a separator is known, (R/γ)². A run that converged is its own separator;
on small data the widest margin is computed as well, which tightens the bound.

`InfeasibilityCheck` decides once, after some passes without convergence or at a limit, whether any halfspace could
classify all rows correctly. Every step then has the facts `judged`, and `infeasible` once no weights can:

    overlap     always: weights that are right on all rows would score every row 0
    quasi       if a row that every candidate scores 0 is a mistake at 0, by tie and margin
    otherwise   never

Cost: that of the visits, whose passes are those of the fit; the check takes one pass per round and some ten rounds. The
fact `reads` counts these passes and those that evaluate `keep="best"` too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.certificates.data import MatchedRows, data_of
from separatrix.certificates.exact import least_margin
from separatrix.certificates.mistakes import KernelMistakesCertificate, MistakesCertificate, Recorded
from separatrix.certificates.rays import Rays
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Block, Design
from separatrix.design.build import row_radius
from separatrix.errors import OptionError, counted, require_choice
from separatrix.families.base import Fitted, Side, TrainingRows, join_results, weigh
from separatrix.families.options import LARGEST_RATE, PerceptronOptions, VisitOptions
from separatrix.fit.result import AtLeast, FitResult, Rule, Status, Updates, first_met
from separatrix.fit.run import Run, Watch, run
from separatrix.loops.online import Tie
from separatrix.losses.margin import PerceptronLoss
from separatrix.perceptron_rule import UpdateRule, predicted_signs
from separatrix.problem import Problem
from separatrix.separability.check import check_signs
from separatrix.separability.margin import Separator, find_separator
from separatrix.solvers.base import Needs, Solver, Step, check_needs
from separatrix.solvers.perceptron import VOTE_BYTES, BatchPerceptron, PerceptronSolver, PerceptronState

AnyMistakes = MistakesCertificate | KernelMistakesCertificate
VERDICT_PHRASES = {"separable": "separable", "quasi": "separable but for some that may score 0"}
CHECK_PASSES = 10  # by then a run has cost about as much as the check,
CHECK_VISITS = 2_000  # of few rows, so that keep="best" has seen good weights
SMALL_DATA = 50_000  # entries of the design up to which the widest margin is cheap to compute
NARROW_DATA = 2_000_000  # the same for designs with at most this many columns:
NARROW = 100
SEPARATOR_STEPS = 300
VOTES_AT_ONCE = 2**20  # signs in memory at once while votes are counted
VOTES_COUNTED = 10**9  # rows times voters; beyond, a regular subsample is evaluated
RANDOM_START_SCALE = 0.01  # "some small random number", of the notes
NO_INFERENCE = "a perceptron has no likelihood"


def update_rule(options: VisitOptions) -> UpdateRule:
    """Return the rule of an update."""
    update: Any = getattr(options, "update", "single")
    return UpdateRule(update, options.tie, options.margin, options.rate, options.schedule == "inverse")


def start_weights(start: Any, p: int, rng: np.random.Generator) -> Floats:
    """Return the start vector, intercept first: zeros, small random numbers, or the given numbers."""
    if start is None:
        return np.zeros(p)
    if isinstance(start, str):
        require_choice("start", start, ("random",))
        return rng.normal(scale=RANDOM_START_SCALE, size=p)
    try:
        weights = np.asarray(start, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise OptionError(f"start={start!r} is not numbers; give {p} of them") from None
    if weights.shape != (p,) or not (np.abs(weights) <= LARGEST_RATE).all():
        needed = f"{p} finite ones are needed: the intercept's first (if fitted), then one per column"
        raise OptionError(f"start has {weights.size} numbers, but {needed}")
    return weights


def fit(
    rows: TrainingRows,
    options: PerceptronOptions,
    watch: Watch | None = None,
    states: Sequence[PerceptronState] | None = None,
) -> Fitted:
    """Fit two classes, or each of several against the rest; with `states`, make exactly one pass.

    The pass continues from the states of an earlier one; it is the first one if there are none.
    """
    weighted = weigh(rows.ordered(options.positive), intercept=options.fit_intercept)
    problems = weighted.binary_problems(PerceptronLoss())
    starts: Sequence[PerceptronState | None] = states or [None] * len(problems)
    if states is not None and not states:
        rng = np.random.default_rng(options.random_state)
        starts = [_first_state(problem, options, rng) for problem in problems]
    fits = [fit_perceptron(each, options, state, watch) for each, state in zip(problems, starts, strict=True)]
    result = join_results([result for result, _ in fits], weighted.labels)
    tie, details = predicted_tie(options), {"states": [state for _, state in fits]}
    return Fitted(options, result, weighted.class_targets.values, tie=tie, no_inference=NO_INFERENCE, details=details)


def _first_state(problem: Problem, options: PerceptronOptions, rng: np.random.Generator) -> PerceptronState:
    return PerceptronState(start_weights(options.start, problem.design.shape[1], rng), options.keep)


def predicted_tie(options: VisitOptions) -> Side:
    """Return the class that a score of 0 predicts."""
    return "negative" if options.tie == "negative" else "positive"


def fit_perceptron(
    problem: Problem, options: PerceptronOptions, state: PerceptronState | None = None, watch: Watch | None = None
) -> tuple[FitResult, PerceptronState]:
    """Fit signs ±1; from an earlier state, make exactly one pass. The state is that from which a fit can continue."""
    rng, rule, partial = np.random.default_rng(options.random_state), update_rule(options), state is not None
    if state is None:
        state = _first_state(problem, options, rng)
    else:
        state.begin_record()
        options = replace(options, max_passes=1)
    radius = row_radius(problem.design)
    solver: Solver = PerceptronSolver(rule, options.order, options.max_updates, options.max_passes, rng)
    if options.update == "batch":
        solver = BatchPerceptron(rule)
    n, limit = problem.design.shape[0], Status.PARTIAL if partial else Status.MAX_PASSES
    rules: tuple[Rule, ...] = (
        AtLeast("streak", n, Status.CONVERGED),
        AtLeast("vote_bytes", VOTE_BYTES, Status.MEMORY_CAP),
        AtLeast("updates", options.max_updates, Status.MAX_UPDATES),
        AtLeast("walked", options.max_passes, limit),
    )
    check = InfeasibilityCheck(solver, rule, rules)
    if options.on_overlap == "stop" and not partial:
        solver, rules = check, (rules[0], AtLeast("infeasible", 1, Status.INFEASIBLE), *rules[1:])
    kept = options.keep_iterates
    walk = run(problem, solver, rules, start=state, watch=watch, keep_iterates=kept, counts="walked")
    certificate = _certify(problem, rule, state, walk, radius)
    voters = state.updates + 1 if options.keep == "vote" else 0
    stride = -(-n * voters // VOTES_COUNTED)
    sampled = problem if stride <= 1 else problem.subsample(stride)
    result = run_result(sampled, row_scores(sampled.design, state, options.tie), options, state, walk, certificate)
    if check.certificate is not None and walk.status is not Status.CONVERGED:
        proof = check.certificate if check.infeasible else None
        result = replace(result, overlap=proof, message=f"{result.message}; {check.message}")
    return result, state


def _certify(
    problem: Problem, rule: UpdateRule, state: PerceptronState, walk: Run, radius: float
) -> MistakesCertificate:
    separator, record = _best_separator(problem, state, radius, walk.status), state.record
    single = rule.update == "single"
    history = record.updates.rows()[:, 1].astype(np.int64) if single and record.complete else None
    updates = state.updates - state.earlier if history is not None or not single else None
    converged = walk.status is Status.CONVERGED
    recorded = Recorded(record.start, state.coef.copy(), converged, updates, history, state.earlier)
    rows = MatchedRows.of(data_of(problem.design, problem.labels, problem.y), problem.design, problem.y)
    return MistakesCertificate.of(rows, rule, recorded, separator.weights)


def _best_separator(problem: Problem, state: PerceptronState, radius: float, status: Status) -> Separator:
    """Return the separator of widest known margin: the run's own or, on small data, the computed one."""
    design, y = problem.design, problem.y
    own = Separator(None, 0.0, radius, Status.MAX_PASSES)
    if status is Status.CONVERGED and state.coef.any():
        least, norm = least_margin(design, y, state.coef)[0], float(np.linalg.norm(state.coef))
        if least > 0.0:
            own = Separator(state.coef / norm, least / norm, radius, Status.CONVERGED)
    large = design.shape[0] * design.shape[1] > (NARROW_DATA if design.shape[1] <= NARROW else SMALL_DATA)
    if large or status is Status.INFEASIBLE:
        return own
    computed = find_separator(design, y, radius, max_steps=SEPARATOR_STEPS)
    return computed if computed.weights is not None and computed.margin > own.margin else own


def row_scores(design: Design, state: PerceptronState, tie: Tie) -> Floats:
    """Return the score of each row or, with keep="vote", the mean vote, weighted by the visits survived."""
    if state.keep != "vote":
        return design.matvec(state.kept())
    return design.gather(_vote, *state.ballot(), tie)


def _vote(block: Block, weights: Floats, counts: Floats, tie: Tie) -> Floats:
    """Return the mean vote for the rows of a block, in batches of voters."""
    votes, voters = np.zeros(block.stop - block.start), max(1, VOTES_AT_ONCE // (block.stop - block.start))
    for first in range(0, len(counts), voters):
        batch = slice(first, first + voters)
        votes += predicted_signs(block.matvec(weights[batch].T), tie) @ counts[batch]
    return np.asarray(votes / counts.sum())


def run_result(
    problem: Problem, scores: Floats, options: VisitOptions, state: Any, walk: Run, certificate: AnyMistakes
) -> FitResult:
    """Return the result of a mistake-driven run, given the scores of all rows or of a sample."""
    coef, design, virtual = state.kept(), problem.design, int(problem.design.virtual)
    wrong = predicted_signs(scores, options.tie) != problem.y
    return FitResult(
        coef=coef[virtual:],
        intercept=np.asarray(coef[0] if virtual else 0.0),
        status=walk.status,
        message=_message(walk.status, options, state, certificate, wrong),
        objective=float(problem.loss.value(scores, problem.y).mean()),
        passes=walk.passes,
        seconds=walk.seconds,
        certificate=certificate,
        trace=walk.trace(Updates.from_record(state.record)),
        facts={
            "updates": state.updates,
            "visits": state.visits,
            "wrong": int(wrong.sum()),
            "rows": design.shape[0],
            "reads": walk.reads,
        },
        provenance={**options.plain(), "names": list(design.names), "storage": type(design).__name__},
    )


def _message(status: Status, options: VisitOptions, state: Any, certificate: AnyMistakes, wrong: Bools) -> str:
    """Return how a run ended; `wrong` says which of the rows scored, perhaps a sample of all, are mistakes."""
    rows = certificate.data.rows
    scored = f"{counted(len(wrong), 'row')}{'' if len(wrong) == rows else ' sampled'}"
    errors = f"{int(wrong.sum()):,} of {scored} wrong ({100.0 * wrong.mean():.3g} %) at the returned weights"
    updates = counted(state.updates, "update")
    if status is Status.CONVERGED:
        no_halfspace = (
            "" if state.coef.any() else "; the weights are all 0, which is no halfspace: start elsewhere, or change tie"
        )
        return f"converged: {counted(rows, 'visit')} in a row without a mistake after {updates}{no_halfspace}"
    if status is Status.PARTIAL:
        return f"one pass made; {updates} so far, {errors}"
    if status is Status.INFEASIBLE:
        return f"stopped, as no weights classify every row correctly: {errors}"
    limits = {
        Status.MAX_UPDATES: f"max_updates={options.max_updates:,}",
        Status.MAX_PASSES: f"max_passes={options.max_passes:,}",
        Status.INTERRUPTED: "your request",
        Status.MEMORY_CAP: f"the {VOTE_BYTES // 2**20} MiB that a vote may store",
    }
    condition = "reached the margin" if options.margin > 0.0 else "was classified correctly"
    space = "function of this kernel's space" if isinstance(certificate, KernelMistakesCertificate) else "halfspace"
    better = "; keep='best' or keep='average' returns better weights" if state.keep == "last" else ""
    advice = f"if no {space} separates the rows, more updates cannot help{better}"
    if status is Status.MEMORY_CAP:
        advice = "use keep='average', which stores none"
    elif certificate.bound is not None:
        advice = (
            f"a separator of margin {certificate.margin:.3g} exists, so it would converge within"
            f" {certificate.bound:.3g} updates: raise the limit, or rescale the columns to widen the margin"
        )
    return f"stopped at {limits[status]} before every row {condition}: {errors}; {advice}"


class InfeasibilityCheck:
    """Yields the steps of `solver` and checks separability once, with the result as `certificate` and `message`."""

    needs: ClassVar[Needs] = Needs()  # those of its solver are checked before the first step

    def __init__(self, solver: Solver, update_rule: UpdateRule, limits: Sequence[Rule]) -> None:
        self.solver, self.update_rule, self.limits = solver, update_rule, limits
        self.certificate: SeparabilityCertificate | None = None
        self.infeasible, self.message = False, ""

    def steps(self, problem: Problem, start: Any) -> Iterator[Step]:
        """Yield the steps of the solver, each with the facts `judged` and `infeasible`."""
        check_needs(self.solver, problem)
        passes = max(CHECK_PASSES, CHECK_VISITS / problem.design.shape[0])
        due = (*self.limits, AtLeast("walked", passes, Status.MAX_PASSES))
        for step in self.solver.steps(problem, start):
            if self.certificate is None and first_met(due, step.facts) not in {None, Status.CONVERGED}:
                self._check(problem, f"known after {counted(int(step.facts['updates']), 'update')}")
            checked = {"judged": self.certificate is not None, "infeasible": self.infeasible}
            yield replace(step, facts={**step.facts, **checked})

    def _check(self, problem: Problem, when: str) -> None:
        """Judge whether weights can be right on every row by the update rule."""
        certificate = self.certificate = check_signs(problem.design, problem.y, problem.labels)
        self.infeasible = certificate.verdict == "overlap"
        if certificate.verdict == "quasi" and certificate.weights is not None:
            rays = Rays(problem.design, (problem.y > 0.0).astype(np.intp), 2)
            zero_rows = rays.signs(certificate.weights, np.arange(len(problem.y))) == 0
            at_zero = self.update_rule.mistaken(np.zeros(int(zero_rows.sum())), problem.y[zero_rows])
            self.infeasible = bool(at_zero.any())
        if self.infeasible and certificate.proof is not None:
            self.message = f"proved, as {certificate.proof.words} (verdict {certificate.verdict}), {when}"
        elif certificate.verdict == "undecided":
            self.message = f"whether a halfspace separates the rows could not be decided: {certificate.reason}"
        else:
            self.message = f"the rows are {VERDICT_PHRASES[certificate.verdict]}, {when}, so it may yet converge"
