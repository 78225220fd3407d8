"""The way of a learner over the points, frame by frame, as the library itself goes it.

A walk (`walks/`) is a generator of frames that ends in a few words; a history holds the frames made so far and has more
made when they are asked for. Histories are kept by points and options, so that going back and forth costs nothing.
Cost: that of the learner up to the step asked for, once.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import losses
from separatrix.certificates import Certificate
from separatrix.errors import SeparatrixError
from separatrix.lab.session.options import PaneOptions
from separatrix.lab.session.points import Points
from separatrix.lab.session.setting import Setting, make_setting
from separatrix.lab.session.shelf import Shelf
from separatrix.rule import Tie, predicted_signs

__all__ = ["Ending", "Frame", "Frames", "History", "Measured", "history_of", "new_history", "score_table"]

Floats = NDArray[np.float64]
KEPT_HISTORIES = 256
KEPT_BYTES = 512 * 2**20
FRAME_BYTES = 600  # beside its arrays


@dataclass(frozen=True, eq=False)
class Frame:
    """Where a learner stands after a step: frame 0 is the start.

    `coef` are the weights (p,), the intercept's first where there is one, or of a kernel learner the coefficients of
    the rows (n,), with `intercept` apart. `row` is the place of the row that was visited, with its `score` before the
    update, whether that was a `mistake`, and `change`, what the step added to the weights; None where all rows count
    at once. `updates` counts the updates up to here, `visits` the rows visited.
    """

    step: int
    coef: Floats
    intercept: float = 0.0
    row: int | None = None
    score: float | None = None
    mistake: bool | None = None
    change: Floats | None = None
    rate: float | None = None
    updates: int = 0
    visits: int = 0
    facts: Mapping[str, float] = field(default_factory=dict)


class Ending(NamedTuple):
    """How a walk ended: a status of the library's, a few words for the pane, and the library's own message.

    `bound` is the most updates that a perceptron can make, where it is known; `kept` the weights that it was asked to
    keep, where these are others than the last; `certificate` what the library proves of the run, if it does.
    """

    status: str
    words: str
    message: str
    bound: float | None = None
    kept: Floats | None = None
    certificate: Certificate | None = None


Frames = Generator[Frame, None, Ending]


class Measured(NamedTuple):
    """All rows at a frame: scores, margins y·s, which are wrong, and the mean of each loss by its name."""

    scores: Floats
    margins: Floats
    wrong_rows: NDArray[np.bool_]
    losses: dict[str, float]

    @property
    def wrong(self) -> int:
        """How many are wrong."""
        return int(self.wrong_rows.sum())


class History:
    """The frames of one learner on one set of points, as far as they have been asked for."""

    def __init__(self, setting: Setting, frames: Frames) -> None:
        self.setting = setting
        self.ending: Ending | None = None
        self._frames: list[Frame] = []
        self._source = frames
        self._lock = Lock()
        self._measured: tuple[int, Measured] | None = None
        self.upto(0)

    @property
    def pane(self) -> PaneOptions:
        """The options that the history follows."""
        return self.setting.pane

    def upto(self, step: int) -> int:
        """Have the frames up to a step made, and return the last step there is, at most that one."""
        with self._lock:
            while self.ending is None and len(self._frames) <= step + 1:
                try:
                    self._frames.append(next(self._source))
                except StopIteration as end:
                    self.ending = end.value
                except (SeparatrixError, ArithmeticError, np.linalg.LinAlgError) as refusal:
                    self.ending = Ending("refused", str(refusal), str(refusal))
                    self._frames = self._frames or [Frame(0, np.zeros(self.setting.n_weights))]
            return min(step, len(self._frames) - 1)

    def frame(self, step: int) -> Frame:
        """Return the frame of a step, of a step beyond the end the last."""
        return self._frames[self.upto(step)]

    def frames(self, step: int) -> list[Frame]:
        """Return the frames from the start up to a step."""
        return self._frames[: self.upto(step) + 1]

    def ended(self, step: int) -> Ending | None:
        """Return how the walk ended if it has by that step, else None."""
        last = self.upto(step)
        return self.ending if self.ending is not None and last == len(self._frames) - 1 else None

    def whole(self) -> Ending:
        """Have all frames made, and return how it ended."""
        while self.ending is None:
            self.upto(2 * len(self._frames) + 64)
        return self.ending

    def __len__(self) -> int:
        """How many frames there are so far."""
        return len(self._frames)

    def measure(self, step: int) -> Measured:
        """Return how all rows do at a step."""
        place = self.upto(step)
        known = self._measured
        if known is not None and known[0] == place:
            return known[1]
        measured = _measured(self.setting.scores(self._frames[place]), self.setting)
        self._measured = place, measured
        return measured

    @property
    def nbytes(self) -> int:
        """The memory that the frames and the points take."""
        weights, points = self.setting.n_weights, self.setting.points
        return len(self._frames) * (16 * weights + FRAME_BYTES) + 2 * points.X.nbytes + 8 * len(points)


def _measured(scores: Floats, setting: Setting) -> Measured:
    y = setting.y
    with np.errstate(over="ignore", invalid="ignore"):  # a walk that runs away is told by its end
        means = {loss.name: float(np.mean(loss.value(scores, y))) for loss in losses.ALL if loss.target != "classes"}
    tie: Tie = "negative" if setting.pane.tie == "negative" else "positive"
    return Measured(scores, y * scores, predicted_signs(scores, tie) != y, means)


def score_table(history: History, steps: NDArray[np.intp]) -> Floats:
    """Return the scores of all rows at some steps, (n, steps), of a linear learner in one product."""
    frames = history.frames(int(steps.max()))
    return history.setting.score_columns([frames[min(step, len(frames) - 1)] for step in steps.tolist()])


_HISTORIES: Shelf[History] = Shelf(KEPT_BYTES, KEPT_HISTORIES)


def history_of(points: Points, pane: PaneOptions) -> History:
    """Return the history of a pane on some points, made when first asked for and then kept."""
    return _HISTORIES.get((points, pane), lambda: new_history(points, pane))


def new_history(points: Points, pane: PaneOptions) -> History:
    """Return the history of a pane on some points, made from scratch."""
    from separatrix.lab.session.walks import walk_of  # noqa: PLC0415  # walks make frames, which are told here

    setting = make_setting(points, pane)
    return History(setting, walk_of(setting))
