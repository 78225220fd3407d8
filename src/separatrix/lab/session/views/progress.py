"""Losses along the way: the share of points wrong and the mean of each surrogate, step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix import losses
from separatrix.lab.session.history import history_of, score_table
from separatrix.lab.session.state import State
from separatrix.rule import predicted_signs

__all__ = ["Progress", "progress"]

Floats = NDArray[np.float64]
MOST_STEPS_DRAWN = 200
MOST_SCORES = 2**20  # of more points, fewer steps are drawn
FEWEST_STEPS_DRAWN = 16


@dataclass(frozen=True, eq=False)
class Progress:
    """At some steps (k,): points wrong, the mean of each loss by name; `own` is the one that the learner follows."""

    steps: NDArray[np.intp]
    wrong: NDArray[np.intp]
    losses: dict[str, Floats]
    own: str
    now: int
    n: int


def progress(state: State, pane: int) -> Progress:
    """Return the view of a pane from the start to the state's step."""
    history = history_of(state.points, state.pane(pane))
    last, n = history.upto(state.step), len(state.points)
    most = int(np.clip(MOST_SCORES // n, FEWEST_STEPS_DRAWN, MOST_STEPS_DRAWN))
    steps = np.unique(np.linspace(0, last, min(last + 1, most)).round().astype(np.intp))
    scores, y = score_table(history, steps), state.points.y[:, np.newaxis]
    known = [loss for loss in losses.ALL if loss.target != "classes"]
    with np.errstate(over="ignore", invalid="ignore"):
        means = {loss.name: np.asarray(np.mean(loss.value(scores, y), axis=0)) for loss in known}
    wrong = (predicted_signs(scores, "negative" if state.pane(pane).tie == "negative" else "positive") != y).sum(axis=0)
    return Progress(steps, wrong, means, history.setting.loss.name, last, n)
