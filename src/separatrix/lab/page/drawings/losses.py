"""Losses: the surrogates as curves with each point's place on the learner's own, and their means step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, Line, Span
from bokeh.plotting import figure

from separatrix import losses
from separatrix.lab.page.drawings.base import (
    INK,
    Drawing,
    draw,
    empty,
    make_figure,
    put,
    set_range,
    sign_marks,
    signs,
)
from separatrix.lab.page.markup import legend_html, paragraph
from separatrix.lab.session.state import State
from separatrix.lab.session.views.loss_curves import LossCurves, loss_curves
from separatrix.lab.session.views.progress import progress
from separatrix.reports.palette import COLOURS

__all__ = ["LossDrawing"]

DASHES: tuple[list[int], ...] = ([], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [10, 2])
DOTTED = 2  # pixels: dashes up to this are dots
NAMES = tuple(loss.name for loss in losses.ALL if loss.target != "classes")
LEGEND = legend_html(  # below the figures: within, it would cover the points where panes are narrow
    (name, colour, "line" if not dash else "dotted" if dash[0] <= DOTTED else "dashed")
    for name, colour, dash in zip(NAMES, COLOURS, DASHES, strict=False)
)
LOW, HIGH = 2.5, 8.0  # the least and the most that the upper edge of the curves shows


class LossDrawing(Drawing):
    """Two figures: losses by margin, and their means by step."""

    def __init__(self, pane: int) -> None:
        self.curves = make_figure("Losses at each margin", "margin y·s", "loss", square=False)
        self.means = make_figure("Mean losses", "step", "mean", square=False)
        super().__init__(pane, self.curves, self.means)
        self.lines, self.ways = _lines(self.curves), _lines(self.means)
        self.points = empty("x", "y", "label")
        draw(self.curves, self.points, sign_marks(8))
        self.now = Span(location=0.0, dimension="height", line_color=INK, line_dash=[2, 3])
        self.means.add_layout(self.now)

    def show(self, state: State) -> None:
        """Show the pane at the state's step."""
        record = loss_curves(state, self.pane)
        for name, value in record.curves.items():
            put(self.lines[name], {"x": record.margin, "y": value})
        put(self.points, {"x": record.point_margin, "y": record.point_value, "label": signs(record.label)})
        set_range(self.curves, (float(record.margin[0]), float(record.margin[-1]), -0.15, _top(record.point_value)))
        self._show_means(state)
        self.words.show(LEGEND + paragraph(_note(record)))

    def _show_means(self, state: State) -> None:
        record = progress(state, self.pane)
        for name, value in record.losses.items():
            put(self.ways[name], {"x": record.steps, "y": value})
        top = max(1.05, 1.08 * float(np.nanmax(record.losses[record.own], initial=0.0)))
        set_range(self.means, (0.0, max(float(record.steps[-1]), 1.0), -0.03 * top, top))
        self.now.location = record.now


def _lines(plane: figure) -> dict[str, ColumnDataSource]:
    """Draw a line for each loss and return their sources by name."""
    sources = {}
    for place, name in enumerate(NAMES):
        sources[name] = empty("x", "y")
        look: dict[str, Any] = {"line_color": COLOURS[place], "line_dash": DASHES[place]}
        draw(plane, sources[name], Line(line_width=2, **look))
    return sources


def _top(values: np.ndarray) -> float:
    """Return the height of the picture: the points' losses, within reason."""
    return float(np.clip(1.1 * np.max(values, initial=0.0), LOW, HIGH))


def _note(record: LossCurves) -> str:
    beyond = f"; {record.beyond:,} lie beyond the picture" if record.beyond else ""
    return f"the points are on the {record.own} loss, which this learner follows{beyond}"
