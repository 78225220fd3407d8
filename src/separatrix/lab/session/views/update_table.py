"""The update table: step, row, label, score, mistake or not, and the weights after it."""

from __future__ import annotations

from typing import NamedTuple

from separatrix.errors import require_count
from separatrix.lab.session.history import Frame, history_of
from separatrix.lab.session.setting import Setting
from separatrix.lab.session.state import State
from separatrix.lab.session.wording import short

__all__ = ["UpdateTable", "table_cells", "table_columns", "update_table"]

MOST_WEIGHTS = 8


class UpdateTable(NamedTuple):
    """The names of the columns, rows of words, and the place of this step among them; `left_out` rows come before."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    now: int
    left_out: int


def update_table(state: State, pane: int, most: int = 200) -> UpdateTable:
    """Return the last so many steps of a pane up to the state's step."""
    history = history_of(state.points, state.pane(pane))
    frames = history.frames(state.step)
    shown = frames[-require_count("most", most) :]
    rows = [tuple(table_cells(history.setting, frame)) for frame in shown]
    return UpdateTable(table_columns(history.setting), rows, len(rows) - 1, len(frames) - len(shown))


def table_columns(setting: Setting) -> tuple[str, ...]:
    """Return the names of the columns for a learner."""
    head = (setting.pane.step_unit, "row", "y", "score", "mistake?")
    if setting.pane.kind.kernel:
        return (*head, "coefficients", "b")
    return (*head, *setting.weight_names[:MOST_WEIGHTS])


def table_cells(setting: Setting, frame: Frame) -> list[str]:
    """Return a frame as words; rows count from 1."""
    row = "" if frame.row is None else str(frame.row + 1)
    label = "" if frame.row is None else short(float(setting.y[frame.row]))
    score = "" if frame.score is None else short(frame.score)
    mistake = "" if frame.mistake is None or frame.step == 0 else "yes" if frame.mistake else "no"
    if setting.pane.kind.kernel:
        ends = [str(int((frame.coef != 0.0).sum())), short(frame.intercept)]
    else:
        ends = [short(weight) for weight in frame.coef[:MOST_WEIGHTS].tolist()]
    return [str(frame.step), row, label, score, mistake, *ends]
