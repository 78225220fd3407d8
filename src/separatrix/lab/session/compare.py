"""The same points, three errors, one table: perceptron, LMS and logistic regression fitted to their ends, and more.

    w ← w − rate · error · x        perceptron  sign(s) − y        LMS  s − y        logistic  σ(s) − (y + 1)/2

The fits are those of `separatrix compare`, on the points as a pane sees them. Cost: six fits, once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from separatrix.errors import OptionError
from separatrix.fit.labels import Classes
from separatrix.lab.session.options import PaneOptions
from separatrix.lab.session.points import Points
from separatrix.lab.session.setting import Setting, make_setting
from separatrix.lab.session.state import State
from separatrix.lab.session.wording import short, vector

if TYPE_CHECKING:
    from separatrix.model.comparison import Compared
    from separatrix.model.learn import TrainingRows

__all__ = ["ComparisonTable", "compare"]

MOST_PASSES = 200  # of a perceptron that may never end
HEADER = (
    "learner",
    "error",
    "minimises",
    "wrong",
    "margin",
    "b",
    "w",
    "perceptron loss",
    "squared loss",
    "logistic loss",
    "hinge loss",
    "status",
)


class ComparisonTable(NamedTuple):
    """A header, rows of words, the update that most share, learners that were refused with the reason, and messages."""

    formula: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    refused: tuple[tuple[str, str], ...]
    messages: tuple[tuple[str, str], ...]


def compare(state: State, pane: int) -> ComparisonTable:
    """Return the table of the points as a pane sees them; a kernel's space raises an OptionError."""
    options = state.pane(pane)
    if options.kind.kernel:
        raise OptionError("learners are compared in columns or through a feature map, not in a kernel's space")
    names = ("fit_intercept", "feature_map", "degree", "centre")
    return _compared(state.points, PaneOptions(**{name: getattr(options, name) for name in names}))


@lru_cache(maxsize=8)
def _compared(points: Points, options: PaneOptions) -> ComparisonTable:
    from separatrix.model.comparison import compare_learners  # noqa: PLC0415  # not needed before a comparison

    setting = make_setting(points, options)
    compared, refused = compare_learners(_rows(setting), intercept=options.fit_intercept, max_passes=MOST_PASSES)
    return ComparisonTable(
        formula="w ← w − rate · error · x, with score s and label y = ±1",
        header=HEADER,
        rows=tuple(_row(each, len(points)) for each in compared),
        refused=tuple((each.learner, each.reason) for each in refused),
        messages=tuple((each.learner, each.fit.result.message) for each in compared),
    )


def _rows(setting: Setting) -> TrainingRows:
    from separatrix.model.learn import TrainingRows  # noqa: PLC0415  # as above

    codes = (setting.y > 0.0).astype(np.intp)
    classes = Classes(np.array([-1, 1]), codes)
    quantities = np.ones(setting.features.shape[1], dtype=bool)
    return TrainingRows(setting.features, setting.names, quantities, np.where(codes == 1, 1, -1), classes)


def _row(each: Compared, n: int) -> tuple[str, ...]:
    margin = "—" if each.margin is None else short(each.margin)
    losses = (short(each.losses[name]) for name in ("perceptron", "squared", "logistic", "hinge"))
    return (
        each.learner,
        each.error,
        each.minimises,
        f"{each.mistakes:,} of {n:,}",
        margin,
        short(each.fit.intercept),
        vector(each.fit.coef),
        *losses,
        each.fit.result.status.value,
    )
