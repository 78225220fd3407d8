"""Mistakes against (R/γ)²: the proof in a picture.

After t updates, (tγ)² ≤ (w*·w)² ≤ ‖w‖² ≤ tR². The parabola below meets the line above at t = (R/γ)²: no run gets
further.
"""

from __future__ import annotations

import numpy as np
from bokeh.models import Line, Scatter, Span

from separatrix.lab.page.drawings.base import (
    GREEN,
    INK,
    MINUS,
    PINK,
    PLUS,
    Drawing,
    draw,
    empty,
    make_figure,
    put,
    set_legend,
    set_range,
)
from separatrix.lab.page.markup import paragraph
from separatrix.lab.session.state import State
from separatrix.lab.session.views.mistakes import MistakeView, mistake_view

__all__ = ["MistakeDrawing"]

CURVE = 80  # places at which the two bounds are drawn
SHORTEST = 10.0  # updates that the picture has room for
FURTHEST = 8  # times the updates made: a bound beyond that is not in the picture


class MistakeDrawing(Drawing):
    """The squared length of w between its two bounds."""

    def __init__(self, pane: int) -> None:
        plane = make_figure("Mistakes and their bound", "updates t", "squared length", square=False)
        super().__init__(pane, plane)
        self.bounds, self.walk = empty("t", "ceiling", "floor"), empty("t", "norm", "progress")
        self.now = empty("t", "norm")
        self.end = Span(location=0.0, dimension="height", line_color=INK, line_dash=[2, 3], line_width=2, visible=False)
        plane.add_layout(self.end)
        most = draw(plane, self.bounds, Line(x="t", y="ceiling", line_color=MINUS, line_width=2))
        least = draw(plane, self.bounds, Line(x="t", y="floor", line_color=PLUS, line_width=2, line_dash=[6, 3]))
        draw(plane, self.walk, Line(x="t", y="norm", line_color=GREEN))
        length = draw(plane, self.walk, Scatter(x="t", y="norm", fill_color=GREEN, line_color=GREEN, size=6))
        along = Scatter(x="t", y="progress", fill_color=PINK, line_color=PINK, marker="diamond", size=9)
        progress = draw(plane, self.walk, along)
        draw(plane, self.now, Scatter(x="t", y="norm", fill_color=GREEN, size=13, line_color=INK))
        named = {"t·R², the most": most, "‖w‖²": length, "(w*·w)²": progress, "(t·γ)², the least": least}
        set_legend(plane, named)

    def show(self, state: State) -> None:
        """Show the pane at the state's step."""
        record = mistake_view(state, self.pane)
        furthest = _furthest(record)
        t = np.linspace(0.0, furthest, CURVE)
        margin = 0.0 if record.margin is None else record.margin
        put(self.bounds, {"t": t, "ceiling": t * record.radius**2, "floor": (t * margin) ** 2})
        made, here = record.t <= record.now, record.t == record.now
        progress = np.square(record.progress[made])
        put(self.walk, {"t": record.t[made], "norm": record.squared_norm[made], "progress": progress})
        put(self.now, {"t": record.t[here], "norm": record.squared_norm[here]})
        known = record.bound is not None and record.bound <= furthest
        self.end.update(visible=known, location=record.bound if known and record.bound is not None else 0.0)
        top = max(float(furthest * record.radius**2), float(np.max(record.squared_norm[made], initial=0.0)), 1e-12)
        set_range(self.figures[0], (-0.02 * furthest, 1.04 * furthest, -0.02 * top, 1.06 * top))
        self.words.show(paragraph(record.words))


def _furthest(record: MistakeView) -> float:
    """Return how far the picture goes: to the bound, if that is not far beyond what was done."""
    made = max(float(np.max(record.t, initial=0.0)), 1.0)
    if record.bound is not None and record.bound <= FURTHEST * made:
        return max(record.bound, made)
    return max(1.5 * record.now, SHORTEST)
