"""Where a pane stands, in words: the step, the weights, how many points are wrong, how it ended, what to beware of."""

from __future__ import annotations

from typing import NamedTuple

from separatrix.lab.session.history import History, history_of
from separatrix.lab.session.setting import Setting
from separatrix.lab.session.state import State
from separatrix.lab.session.wording import vector

__all__ = ["Status", "status_line"]

UNFINISHED = {"refused", "diverged", "max_updates", "max_passes", "max_steps", "memory_cap", "time_limit"}


class Status(NamedTuple):
    """The step; whether the walk has ended; words for it; how many of the points are wrong; a warning.

    `unfinished` is a walk that ended short of its aim; `weights` is like "w = (5, 1)", with "b = 2" before it where
    there is an intercept; `kept` the weights that were asked to be kept, once the walk has ended, if they are not the
    last.
    """

    unit: str
    step: int
    ended: bool
    unfinished: bool
    words: str
    weights: str
    kept: str
    wrong: int
    n: int
    warning: str


def status_line(state: State, pane: int) -> Status:
    """Return where a pane stands at the state's step."""
    history = history_of(state.points, state.pane(pane))
    setting, frame = history.setting, history.frame(state.step)
    ending, wrong = history.ended(state.step), history.measure(state.step).wrong
    return Status(
        unit=setting.pane.step_unit,
        step=frame.step,
        ended=ending is not None,
        unfinished=ending is not None and ending.status in UNFINISHED,
        words=_going(history, state.step) if ending is None else ending.words,
        weights=_weights(setting, frame.coef, frame.intercept),
        kept="" if ending is None or ending.kept is None else f"kept: {_weights(setting, ending.kept, 0.0)}",
        wrong=wrong,
        n=len(state.points),
        warning=setting.no_maximum,
    )


def _going(history: History, step: int) -> str:
    frame = history.frame(step)
    if frame.step == 0:
        return "at the start"
    if frame.row is None:
        mistakes = frame.facts.get("mistakes")
        return f"step {frame.step:,}" if mistakes is None else f"update {frame.step:,} on {int(mistakes):,} mistakes"
    what = "a mistake" if frame.mistake else "right"
    return f"{history.pane.step_unit} {frame.step:,}: row {frame.row + 1} was {what}"


def _weights(setting: Setting, coef: object, intercept: float) -> str:
    numbers = list(coef)  # type: ignore[call-overload]  # an array
    if setting.pane.kind.kernel:
        support = sum(1 for number in numbers if number != 0.0)
        return f"{support:,} of {len(numbers):,} points have a coefficient, b = {intercept:.4g}"
    if setting.pane.fit_intercept:
        return f"b = {vector(numbers[:1])[1:-1]}, w = {vector(numbers[1:])}"
    return f"w = {vector(numbers)}"
