"""Weight space: the weights' path into the region of solutions, each row a line through it that says "on this side"."""

from __future__ import annotations

import numpy as np
from bokeh.models import Line, Patch, Scatter, Segment

from separatrix.lab.page.drawings.base import (
    ENDS,
    GOLD,
    GREEN,
    INK,
    PINK,
    QUIET,
    Drawing,
    draw,
    empty,
    make_figure,
    put,
    segments,
    set_range,
)
from separatrix.lab.page.markup import paragraph
from separatrix.lab.session import actions
from separatrix.lab.session.history import history_of
from separatrix.lab.session.state import State
from separatrix.lab.session.views.weight_space import weight_space

__all__ = ["WeightDrawing"]


class WeightDrawing(Drawing):
    """The plane of two weights."""

    def __init__(self, pane: int) -> None:
        plane = make_figure("Weight space", "w1", "w2")
        super().__init__(pane, plane)
        self.region, self.path, self.now = (empty("x", "y") for _ in range(3))
        self.constraints, self.highlighted, origin = empty(*ENDS), empty(*ENDS), empty("x", "y")
        put(origin, {"x": [0.0], "y": [0.0]})
        draw(plane, self.region, Patch(fill_color=GREEN, fill_alpha=0.22, line_color=GREEN))
        draw(plane, self.constraints, Segment(**ENDS, line_color=QUIET, line_alpha=0.5))
        draw(plane, self.highlighted, Segment(**ENDS, line_color=GOLD, line_width=3))
        draw(plane, origin, Scatter(marker="cross", size=12, line_color=INK))
        draw(plane, self.path, Line(line_color=PINK, line_width=2))
        draw(plane, self.path, Scatter(size=5, fill_color=PINK, line_color=PINK))
        draw(plane, self.now, Scatter(size=13, fill_color=GREEN, line_color="white", line_width=2))

    def show(self, state: State) -> None:
        """Show the pane at the state's step."""
        record = weight_space(state, self.pane)
        plane = self.figures[0]
        set_range(plane, record.box)
        plane.xaxis.axis_label, plane.yaxis.axis_label = record.names
        names = history_of(state.points, state.pane(self.pane)).setting.weight_names
        self.offer_axes(names, state.weight_axes, actions.choose_weight_axes)
        put(self.region, {"x": record.region[:, 0], "y": record.region[:, 1]})
        put(self.constraints, segments(record.constraints))
        put(self.highlighted, segments(record.highlighted if record.highlighted is not None else ()))
        put(self.path, {"x": record.path[:, 0], "y": record.path[:, 1]})
        put(self.now, {"x": np.array([record.current[0]]), "y": np.array([record.current[1]])})
        self.words.show(paragraph(record.note))
