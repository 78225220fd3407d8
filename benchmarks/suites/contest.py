"""A contest: one convex task, ours and every peer's methods for it, timed at the same relative gap.

Each peer's method runs at the loosest tolerance of its ladder that reaches the gap asked for; ours is asked for the gap
itself. The gap of every answer is measured by one function (`objective`) against a lower bound that a certificate of
ours gave at a sharper tolerance, and no answer may lie below it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from libraries import ours
from measure import Contender, Timing, again, once, peak_memory
from objective import Answer, Method, Task, values, worst_gap
from report import Measurement, Row, Target

__all__ = ["PACKAGES", "Contest", "hold"]

# The adaptors of libraries/ by the package that each needs.
ADAPTORS = {
    "scikit-learn": "scikit_learn",
    "scikit-learn-intelex": "intelex",
    "glum": "glum",
    "liblinear-official": "liblinear",
    "skglm": "skglm",
    "celer": "celer",
    "glmnet": "glmnet",
}
PACKAGES = tuple(ADAPTORS)
LONG = 8.0  # seconds from which on a call is not repeated
CLIMB = 60.0  # seconds after which no sharper tolerance of a method is tried
FLOOR_REPEATS = 5

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Contest:
    """A task, the relative gap asked for, how many times faster than the best peer, and in how many passes at most.

    `sharper` is the tolerance of the lower bound relative to the gap; `memory` the share of the data's bytes that a fit
    may take on top of them.
    """

    name: str
    question: str
    task: Task
    gap: float
    ratio: float
    passes: int | None = None
    memory: float | None = None
    sharper: float = 1e-3
    repeats: int = 5


@dataclass
class _Entry:
    """A method of a contest at the tolerance that it runs at, its times and its gap."""

    method: Method
    tolerance: float
    timing: Timing
    gap: float
    reached: bool


def hold(contest: Contest, quick: bool) -> Measurement:
    """Find each method's tolerance, time those that reach the gap in turns, and say which targets are met."""
    notes: list[str] = []
    mine, lowers = _enter_ours(contest)
    entries = [mine, *(_climb(method, contest, lowers) for method in _peers(contest.task, quick, notes))]
    _time(entries, 1 if quick else contest.repeats)
    for entry in entries:
        answers = [facts["answer"] for facts in entry.timing.facts]
        entry.gap = max(worst_gap(values(contest.task, answer), lowers) for answer in answers)
    peers = [entry for entry in entries[1:] if entry.reached]
    best = min(peers, key=lambda entry: entry.timing.best, default=None)
    notes[:0] = _account(contest, mine, best)
    return Measurement(
        contest.name,
        contest.question,
        "the contender's time over ours, best to best",
        [_row(entry, mine) for entry in entries],
        list(_targets(contest, mine, best)),
        notes,
    )


def _enter_ours(contest: Contest) -> tuple[_Entry, Floats]:
    """Return our entry and lower bounds, one a strength: its own if sharp enough, else those of a sharper fit."""
    method, tolerance = ours.method(contest.task, contest.gap), contest.sharper * contest.gap
    timing = once(_call(method, contest.gap))
    answer: Answer = timing.facts[0]["answer"]
    sharp = answer if answer.facts["certified"] <= tolerance else ours.convex(contest.task, tolerance)
    lowers: Floats = sharp.facts["lower"]
    gap = worst_gap(values(contest.task, answer), lowers)
    return _Entry(method, contest.gap, timing, gap, gap <= contest.gap), lowers


def _peers(task: Task, quick: bool, notes: list[str]) -> Iterator[Method]:
    """Yield the methods of all peers that are installed and able; say of the others why they are not there."""
    for package, adaptor in ADAPTORS.items():
        try:
            peer = import_module(f"libraries.{adaptor}")
            methods = peer.methods(task)
        except (ImportError, LookupError) as reason:
            notes.append(f"skipped: {package}: {reason}")
            continue
        if methods and quick and getattr(peer, "COMPILES", False):
            notes.append(f"skipped: {package}: compiling takes longer than a quick run may")
            continue
        yield from methods


def _climb(method: Method, contest: Contest, lowers: Floats) -> _Entry:
    """Run a method at sharper and sharper tolerances until the gap is reached."""
    began, first = time.monotonic(), None
    for tolerance in method.ladder:
        timing = once(_call(method, tolerance))
        first = timing.first if first is None else first
        timing.first, answer = first, timing.facts[0]["answer"]
        gap = worst_gap(values(contest.task, answer), lowers)
        reached = gap <= contest.gap
        if reached or answer.exhausted or time.monotonic() - began > CLIMB:
            break
    return _Entry(method, tolerance, timing, gap, reached)


def _call(method: Method, tolerance: float) -> Contender:
    """Return a method at a tolerance as a contender; one that ran in a process of its own brings its own seconds."""

    def call() -> Mapping[str, Any]:
        answer = method.run(tolerance)
        own = {"seconds": answer.facts["seconds"]} if "seconds" in answer.facts else {}
        return {"answer": answer, **own}

    return call


def _time(entries: list[_Entry], repeats: int) -> None:
    """Time in turns the methods that reach the gap in calls that are not long; the others keep their one call."""
    short = {entry.method.name: entry for entry in entries if entry.reached and entry.timing.best < LONG}
    calls = {name: _call(entry.method, entry.tolerance) for name, entry in short.items()}
    for name, entry in short.items():
        entry.timing = Timing(entry.timing.first, peak_memory(calls[name]))
    if short:
        again(calls, {name: entry.timing for name, entry in short.items()}, repeats)


def _row(entry: _Entry, mine: _Entry) -> Row:
    answer: Answer = entry.timing.facts[0]["answer"]
    work = f"at tolerance {entry.tolerance:g}"
    if not entry.reached:
        limit = "its limit of iterations" if answer.exhausted else f"tolerance {entry.tolerance:g}"
        work = f"did not reach the gap by {limit}"
    ratio = entry.timing.best / mine.timing.best
    passes = None if answer.passes is None else round(answer.passes, 1)
    return Row.of(entry.method.name, work, entry.timing, passes=passes, ratio=ratio, gap=entry.gap)


def _targets(contest: Contest, mine: _Entry, best: _Entry | None) -> Iterator[Target]:
    yield Target(f"relative gap ≤ {contest.gap:g}", f"{mine.gap:.1e}", mine.gap <= contest.gap)
    if best is None:
        yield Target(f"≥ {contest.ratio:g} × the best peer", "no peer reached the gap", mine.reached)
    else:
        reached = best.timing.best / mine.timing.best
        yield Target(
            f"≥ {contest.ratio:g} × the best peer", f"{reached:.2f} × {best.method.name}", reached >= contest.ratio
        )
    if contest.passes is not None:
        passes = mine.timing.facts[0]["answer"].passes
        yield Target(f"≤ {contest.passes} passes", f"{passes:g}", passes <= contest.passes)
    if contest.memory is not None and mine.timing.peak_bytes is not None:
        share = mine.timing.peak_bytes / contest.task.problem.X.nbytes
        yield Target(f"peak memory ≤ {contest.memory:.0%} of the data", f"{share:.0%}", share <= contest.memory)


def _account(contest: Contest, mine: _Entry, best: _Entry | None) -> Iterator[str]:
    """Say where our time goes and for how many products with the data the target leaves time."""
    answer: Answer = mine.timing.facts[0]["answer"]
    floor = _product_seconds(contest.task)
    passes = answer.passes or 1.0
    yield (
        f"ours: {answer.facts['solver']}, {passes:.1f} passes of {1e3 * mine.timing.best / passes:.2f} ms all told;"
        f" certified relative gap {answer.facts['certified']:.1e}"
    )
    if "walk" in answer.facts:
        pairs = zip(mine.timing.seconds, mine.timing.facts, strict=True)
        apart = min(seconds - facts["answer"].facts["walk"] for seconds, facts in pairs)
        yield f"ours spends {1e3 * apart:.1f} ms outside the solver (checks of the data, certificate, result)"
    if best is not None:
        room = best.timing.best / contest.ratio / floor
        yield f"X @ w and X.T @ r take {1e3 * floor:.2f} ms; the ratio asked for leaves time for {room:.1f} of them"


def _product_seconds(task: Task) -> float:
    """Return the least seconds of the scores at one weight vector a class and the product of as many back."""
    X, rng = task.problem.X, np.random.default_rng(0)
    classes = int(task.problem.y.max()) + 1 if task.loss == "softmax" else 1
    shape = (classes,) if classes > 1 else ()
    w, r = rng.standard_normal((X.shape[1], *shape)), rng.standard_normal((X.shape[0], *shape))

    def products() -> Mapping[str, Any]:
        X @ w
        X.T @ r
        return {}

    return min(once(products).best for _ in range(FLOOR_REPEATS))
