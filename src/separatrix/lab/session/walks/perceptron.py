"""The perceptron's way, read off the record that its fit keeps: an update a frame, or a visit a frame.

The whole run is made by `fit_perceptron` when the first frame is asked for; visits between updates are those of the
order that the run follows, drawn once more from the same seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from separatrix.certificates import MistakesCertificate
from separatrix.fit.perceptron import PerceptronFit, PerceptronOptions, fit_perceptron
from separatrix.lab.session.history import Ending, Frame, Frames
from separatrix.lab.session.options import PaneOptions
from separatrix.lab.session.setting import Setting
from separatrix.loops import online
from separatrix.solvers.visits import VisitPlan

__all__ = ["fit_of", "perceptron_options", "perceptron_walk", "run_words"]

MOST_PASSES = 10_000


def perceptron_options(pane: PaneOptions, **others: Any) -> PerceptronOptions:
    """Return a pane's options as the library takes them."""
    given: Any = {"zero": None, "random": "random"}.get(str(pane.start), pane.start)
    plain: dict[str, Any] = {
        "update": pane.update,
        "order": pane.order,
        "rate": 1.0 if pane.rate is None else float(pane.rate),
        "schedule": pane.schedule,
        "start": given,
        "tie": pane.tie,
        "keep": pane.keep,
        "margin": float(pane.margin),
        "max_updates": pane.max_steps,
        "max_passes": MOST_PASSES,
        "seed": pane.seed,
    }
    return PerceptronOptions(**{**plain, **others})


def fit_of(setting: Setting, **others: Any) -> PerceptronFit:
    """Return the library's fit of a setting."""
    return fit_perceptron(setting.design, setting.y, perceptron_options(setting.pane, **others))


def perceptron_walk(setting: Setting) -> Frames:
    """Walk with a frame an update or, if the pane asks for it, a visit."""
    fit = fit_of(setting)
    by_visit = setting.pane.step_unit == "visit" and setting.pane.update == "single"
    frames = _visit_frames(setting, fit) if by_visit else _update_frames(setting, fit)
    certificate = fit.result.certificate
    assert isinstance(certificate, MistakesCertificate)
    bound, most = certificate.bound, setting.pane.max_steps
    yield from islice(frames, most + 1)
    if by_visit and fit.state.visits > most:
        message = "the run is longer: ask for more steps, or let a step be an update"
        return Ending("max_steps", f"stopped after {most:,} visits", message, bound, None, certificate)
    kept = fit.state.kept() if setting.pane.keep in {"best", "average"} else None
    words = run_words(str(fit.result.status), certificate.updates, bound)
    return Ending(str(fit.result.status), words, fit.result.message, bound, kept, certificate)


def run_words(status: str, updates: int, bound: float | None) -> str:
    """Return how a run ended in a few words: "converged, 5 ≤ 17"."""
    known = bound is not None and math.isfinite(bound)
    if status == "converged":
        return f"converged, {updates:,} ≤ {bound:.6g}" if known else f"converged after {updates:,} updates"
    beyond = f"; it would converge within {bound:.6g}" if known else ""
    return f"stopped after {updates:,} updates, not converged{beyond}"


def _update_frames(setting: Setting, fit: PerceptronFit) -> Iterator[Frame]:
    """Yield the start, and the weights after each update."""
    assert fit.result.trace.updates is not None
    updates, rule = fit.result.trace.updates, perceptron_options(setting.pane).rule
    yield Frame(0, updates.start)
    before = updates.start
    for k, after in enumerate(updates.weights):
        row = int(updates.row[k])
        yield Frame(
            step=k + 1,
            coef=after,
            row=row if row >= 0 else None,
            score=float(updates.score[k]) if row >= 0 else None,
            mistake=True,
            change=after - before,
            rate=rule.rate_of(k + 1),
            updates=k + 1,
            visits=int(updates.visit[k]),
            facts={} if row >= 0 else {"mistakes": float(updates.score[k])},
        )
        before = after


def _visit_frames(setting: Setting, fit: PerceptronFit) -> Iterator[Frame]:
    """Yield the start, and the weights after each visit, of which most change nothing."""
    updates = iter(_update_frames(setting, fit))
    now, ahead = next(updates), next(updates, None)
    yield now
    visited = _visited_rows(setting)
    for visit in range(1, fit.state.visits + 1):
        row = next(visited)
        if ahead is not None and ahead.visits == visit:
            now, ahead = ahead, next(updates, None)
            yield Frame(visit, now.coef, 0.0, row, now.score, True, now.change, now.rate, now.updates, visit)
        else:
            score = float(setting.design.take(np.array([row]))[0] @ now.coef)
            yield Frame(visit, now.coef, 0.0, row, score, False, np.zeros_like(now.coef), 0.0, now.updates, visit)


def _visited_rows(setting: Setting) -> Iterator[int]:
    """Yield the rows in the order of the run's visits."""
    pane, n = setting.pane, len(setting.points)
    rng = np.random.default_rng(pane.seed)
    setting.start(rng)  # draws what the run draws before its first visit
    plan = VisitPlan(perceptron_options(pane).order, n, MOST_PASSES, rng)
    counters = np.zeros(online.N_COUNTERS, dtype=np.int64)
    while True:
        order = plan.next_step(counters)
        in_turn = np.tile(np.arange(n), int(counters[online.GOAL]) // n)
        yield from (order if order.size else in_turn).tolist()
