"""The lifted view: the mapped points in space with the plane that parts them, seen from where the two sliders say."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import LabelSet, Patch, Segment

from separatrix.lab.page.drawings.base import (
    ENDS,
    GREEN,
    QUIET,
    Drawing,
    draw,
    empty,
    make_figure,
    put,
    set_range,
    sign_marks,
    signs,
)
from separatrix.lab.page.markup import paragraph
from separatrix.lab.page.parts.form import Form, slide
from separatrix.lab.session.state import State
from separatrix.lab.session.views.lifted import lifted

__all__ = ["LiftedDrawing"]


class LiftedDrawing(Drawing):
    """Points in space."""

    def __init__(self, pane: int) -> None:
        plane = make_figure("Lifted", "", "")
        super().__init__(pane, plane)
        self.angles = {"azimuth": 30.0, "elevation": 20.0}
        self.form = Form(self._turned, "Viewpoint", "row", sizing_mode="stretch_width")
        self.view.append(self.form)
        self.state: State | None = None
        plane.axis.visible = False
        plane.grid.visible = False
        self.ground, self.axes, self.points = empty("x", "y"), empty(*ENDS, "name"), empty("x", "y", "label", "alpha")
        draw(plane, self.axes, Segment(**ENDS, line_color=QUIET))
        labels = LabelSet(x="x1", y="y1", text="name", source=self.axes, text_font_size="11px", text_color=QUIET)
        plane.add_layout(labels)
        draw(plane, self.ground, Patch(fill_color=GREEN, fill_alpha=0.25, line_color=GREEN))
        draw(plane, self.points, sign_marks(9, fill_alpha="alpha"))

    def show(self, state: State) -> None:
        """Show the pane at the state's step."""
        self.state = state
        record = lifted(state, self.pane, self.angles["azimuth"], self.angles["elevation"])
        put(self.points, {"x": record.u, "y": record.v, "label": signs(record.label), "alpha": _alpha(record.depth)})
        put(self.ground, {"x": record.plane[:, 0], "y": record.plane[:, 1]})
        names = [axis.name for axis in record.axes]
        ends = np.array([(axis.u0, axis.v0, axis.u1, axis.v1) for axis in record.axes]).reshape(-1, 4)
        columns = {name: ends[:, place] for place, name in enumerate(("x0", "y0", "x1", "y1"))}
        put(self.axes, {**columns, "name": np.asarray(names)})
        set_range(self.figures[0], _box(record.u, record.v, ends))
        self.words.show(paragraph(record.note))
        self.form.show(
            [
                slide("azimuth", "turn", self.angles["azimuth"], (-180, 180, 5), f"{self.angles['azimuth']:.0f}°"),
                slide("elevation", "tilt", self.angles["elevation"], (-90, 90, 5), f"{self.angles['elevation']:.0f}°"),
            ]
        )

    def _turned(self, name: str, value: Any) -> None:
        if name in self.angles and isinstance(value, int | float) and self.state is not None:
            self.angles[name] = float(value)
            self.show(self.state)


def _alpha(depth: np.ndarray) -> np.ndarray:
    """Return how strong each point is: the nearer, the stronger."""
    spread = float(np.ptp(depth)) if len(depth) else 0.0
    return np.full(len(depth), 1.0) if spread == 0.0 else 0.35 + 0.65 * (depth - depth.min()) / spread


def _box(u: np.ndarray, v: np.ndarray, ends: np.ndarray) -> tuple[float, float, float, float]:
    """Return a square around everything."""
    across = np.concatenate([u, ends[:, 0], ends[:, 2]])
    up = np.concatenate([v, ends[:, 1], ends[:, 3]])
    half = 0.58 * max(float(np.ptp(across)), float(np.ptp(up)), 1e-9)
    middle = ((across.max() + across.min()) / 2.0, (up.max() + up.min()) / 2.0)
    return (middle[0] - half, middle[0] + half, middle[1] - half, middle[1] + half)
