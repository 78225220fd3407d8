"""What can be taken away from a pane: Python code that does what it shows, and its trace as CSV.

The code makes the same points, follows the same learner with the library's own names up to the step shown, and ends
with the weights `w`, the intercept's first (of a kernel learner the coefficients `c` of the rows, and `b`). Names and
labels are written as Python writes them, so that no text of a user's can be more than text.
"""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from separatrix.errors import OptionError
from separatrix.lab.session.code.learners import learner_lines
from separatrix.lab.session.history import Frame, History, history_of, score_table
from separatrix.lab.session.presets import PRESETS
from separatrix.lab.session.setting import Setting
from separatrix.lab.session.state import State
from separatrix.rule import Tie, predicted_signs

__all__ = ["python_code", "trace_csv"]

MOST_WRITTEN = 5000  # points that are written out
DRAWN_AGAIN = 50  # points beyond which a drawing is made again rather than written out
SCORES_AT_ONCE = 2**22


def python_code(state: State, pane: int) -> str:
    """Return the code of a pane up to the state's step; too many points changed by hand raise an OptionError."""
    history = history_of(state.points, state.pane(pane))
    frame = history.frame(state.step)
    title = f'"""{history.pane.kind.title}, {history.pane.step_unit} {frame.step}: {history.pane.kind.formula}."""'
    head = [title, "", "import numpy as np", "", "import separatrix as sx", ""]
    shown = ["print(b, np.flatnonzero(c))"] if history.pane.kind.kernel else ["print(w)"]
    lines = [*head, *_point_lines(state), *_map_lines(history.setting), "", *learner_lines(history, frame), *shown]
    return "\n".join(lines) + "\n"


def _point_lines(state: State) -> list[str]:
    """Return the lines that make X and y."""
    origin, points = state.origin, state.points
    if not state.edited and origin.kind == "table":
        return [
            "from separatrix.lab.session.table import table_data, table_points",
            "",
            f"data = table_data(sx.read_table({origin.name!r}), {_target(state)!r})",
            f"points = table_points(data, {origin.columns!r}, {origin.positive!r}, components={origin.components})",
            "X, y = points.X, points.y",
        ]
    if not state.edited and PRESETS[origin.name].slides and len(points) > DRAWN_AGAIN:
        return [
            "from separatrix.lab.session.presets import Drawing, draw_points",
            "",
            f"points = draw_points({origin.name!r}, {origin.drawing!r})",
            "X, y = points.X, points.y",
        ]
    if len(points) > MOST_WRITTEN:
        raise OptionError(f"{len(points):,} points, changed by hand, are too many to write out; reset the points")
    return [f"X = np.array({points.X.tolist()!r})", f"y = np.array({points.y.tolist()!r})"]


def _target(state: State) -> str:
    assert state.table is not None  # its points are of a table
    return state.table.target


def _map_lines(setting: Setting) -> list[str]:
    pane, columns = setting.pane, "X = "
    if setting.map is None:
        return []
    if pane.feature_map == "polynomial":
        return [f"{columns}sx.maps.Polynomial({pane.degree}).fit_transform(X)"]
    if pane.feature_map == "products":
        return [f"{columns}sx.maps.Products().fit_transform(X)"]
    keep = pane.feature_map == "paraboloid"
    centre = getattr(setting.map, "centre").tolist()  # noqa: B009  # the two maps left have one
    return [f"{columns}sx.maps.SquaredDistance({centre!r}, keep={keep}).fit_transform(X)"]


def trace_csv(state: State, pane: int) -> str:
    """Return every frame of a pane, to its end, a line each: numbers with all their digits, rows counted from 1."""
    history = history_of(state.points, state.pane(pane))
    history.whole()
    frames = history.frames(len(history))
    wrong, losses = _quality(history, len(frames))
    own = f"mean {history.setting.loss.name} loss"
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    weights = ["b", *(f"c{k + 1}" for k in range(len(state.points)))]
    names = weights if history.pane.kind.kernel else list(history.setting.weight_names)
    head = [history.pane.step_unit, "row", "y", "score", "mistake", "rate", "updates", "visits", "wrong", own]
    writer.writerow([*head, *names])
    for place, frame in enumerate(frames):
        writer.writerow(_cells(history.setting, frame, int(wrong[place]), float(losses[place])))
    return text.getvalue()


def _cells(setting: Setting, frame: Frame, wrong: int, loss: float) -> list[Any]:
    row = [None, None] if frame.row is None else [frame.row + 1, int(setting.y[frame.row])]
    mistake = None if frame.mistake is None or not frame.step else int(frame.mistake)
    numbers = [frame.score, mistake, frame.rate, frame.updates, frame.visits, wrong, loss]
    weights = [frame.intercept, *frame.coef.tolist()] if setting.pane.kind.kernel else frame.coef.tolist()
    return [frame.step, *row, *numbers, *weights]


def _quality(history: History, count: int) -> tuple[Any, Any]:
    """Return the points wrong and the mean loss at every frame, some frames at a time."""
    y, loss = history.setting.y[:, np.newaxis], history.setting.loss
    tie: Tie = "negative" if history.pane.tie == "negative" else "positive"
    wrong, means = [], []
    size = max(1, SCORES_AT_ONCE // len(y))
    for first in range(0, count, size):
        scores = score_table(history, np.arange(first, min(first + size, count)))
        wrong.append((predicted_signs(scores, tie) != y).sum(axis=0))
        with np.errstate(over="ignore", invalid="ignore"):
            means.append(np.asarray(np.mean(loss.value(scores, y), axis=0)))
    return np.concatenate(wrong), np.concatenate(means)
