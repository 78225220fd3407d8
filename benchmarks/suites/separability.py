"""Separability with proof: large data beside one linear program of the same rows, which proves nothing; small data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import problems
from libraries import highs, ours
from measure import Contender, once, take_turns
from report import Measurement, Row, Target
from suites.stored_sets import STORED

__all__ = ["MEASUREMENTS"]

OURS, PEER = "separatrix", "HiGHS"
SHAPES = {"200k": (200_000, 50), "1m": (1_000_000, 20)}
KINDS = ("separable", "quasi", "overlap")
QUICK_ROWS = 20_000
PROGRAM_SECONDS, LARGEST_PROGRAM = 60.0, 50_000_000  # the program's time limit; entries beyond which it is not run
FASTER, SMALL_ROWS, SMALL_SECONDS = 10.0, 50, 0.010


def large(size: str, kind: str, quick: bool) -> Measurement:
    """The verdict with its proof, the re-check from the data, and one linear program of the same rows."""
    rows, columns = SHAPES[size]
    problem = problems.separation(kind, QUICK_ROWS if quick else rows, columns)
    contenders: dict[str, Contender] = {"ours": ours.separability(problem), "verify": ours.verified(problem)}
    timings = take_turns(contenders, repeats=2 if quick else 5)
    found = Measurement(
        f"separability-{size}-{kind}",
        f"Verdict with proof on {problem.about}.",
        "the linear program's time over this one, best to best",
        notes=[f"verdict: {timings['ours'].facts[0]['verdict']}; {timings['ours'].facts[0]['rows']} rows prove it"],
    )
    reached = None if problem.X.size > LARGEST_PROGRAM else once(highs.separates(problem, PROGRAM_SECONDS))
    for name, work in (("ours", "verdict with proof"), ("verify", "re-check from the data")):
        ratio = None if reached is None else reached.best / timings[name].best
        found.rows.append(Row.of(OURS, work, timings[name], ratio=ratio))
    if reached is None:
        found.notes.append(f"skipped: the linear program of {problem.X.size:,} entries, above {LARGEST_PROGRAM:,}")
        return found
    ended = "" if reached.facts[0]["ended"] else f", stopped at {PROGRAM_SECONDS:g} s"
    found.rows.append(Row.of(PEER, f"max Σ z·w, z·w ≥ 0, |w| ≤ 1{ended}", reached, ratio=1.0))
    faster = reached.best / timings["ours"].best
    found.targets.append(Target(f"≥ {FASTER:g} × faster than one linear program", f"{faster:.1f} ×", faster >= FASTER))
    return found


def fifty_rows(quick: bool) -> Measurement:
    """Small data: every verdict with the status of each coefficient."""
    made = {kind: problems.separation(kind, SMALL_ROWS, 3) for kind in KINDS}
    contenders = {kind: ours.separability(problem) for kind, problem in made.items()}
    timings = take_turns(contenders, repeats=5 if quick else 30)
    rows = [Row.of(OURS, f"{kind}: {timing.facts[0]['verdict']}", timing) for kind, timing in timings.items()]
    worst = max(row.best for row in rows)
    asked = Target(f"< {1e3 * SMALL_SECONDS:g} ms", f"{1e3 * worst:.1f} ms at most", worst < SMALL_SECONDS)
    return Measurement("separability-50-rows", f"Verdict with proof on {SMALL_ROWS} × 3.", rows=rows, targets=[asked])


def _large() -> Mapping[str, Callable[[bool], Any]]:
    return {f"separability-{size}-{kind}": partial(large, size, kind) for size in SHAPES for kind in KINDS}


MEASUREMENTS: dict[str, Callable[[bool], Measurement]] = {**_large(), "separability-50-rows": fifty_rows, **STORED}
