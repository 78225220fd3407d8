"""Input space: points, the boundary and its band, w as an arrow, this step's row and update, probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from bokeh.models import (
    Arrow,
    ColumnDataSource,
    Image,
    LinearColorMapper,
    NormalHead,
    Patch,
    PointDrawTool,
    Scatter,
    Segment,
)
from bokeh.plotting import figure

from separatrix.lab.page.drawings.base import (
    ENDS,
    GOLD,
    GREEN,
    INK,
    MINUS,
    PINK,
    PLUS,
    QUIET,
    SKY,
    Drawing,
    draw,
    empty,
    make_figure,
    put,
    segments,
    set_range,
    sign_marks,
    signs,
)
from separatrix.lab.page.markup import legend_html, paragraph
from separatrix.lab.session import actions
from separatrix.lab.session.state import State
from separatrix.lab.session.verdict import Verdict, verdict_of
from separatrix.lab.session.views.input_space import InputSpace, input_space

__all__ = ["InputDrawing", "Touch"]

Touch = Callable[[str, tuple[float, float], int | None], None]  # what was done, where, and to which point
NEAR = 0.035  # of the plane's width: a click this near to a point means it
SHADES = 64
LARGEST_MARK, SMALLEST_MARK = 11.0, 4.0
# Hulls by label, 0 being both classes turned. Each is a Patch, not all of them one Patches: Bokeh paints at once when a
# part of the page is shown or hidden, and Patches would then look for hulls that the same message has taken away.
HULLS = {-1.0: MINUS, 1.0: PLUS, 0.0: QUIET}
CROSS = 0.72  # of a mark: the class of a point that is wrong is to be seen around it


class InputDrawing(Drawing):
    """The plane of the points, which can be dragged, added, flipped and deleted."""

    def __init__(self, pane: int, touch: Touch) -> None:
        plane = make_figure("Input space", "x1", "x2", drag=False)
        super().__init__(pane, plane)
        self.touch = touch
        self.record: InputSpace | None = None
        self.chosen: int | None = None
        self._writing = False
        self._make_ground(plane)
        self._make_proof(plane)
        self._make_points(plane)
        self.before = _arrow(plane, "#8ccbb6", 2)
        self.arrow = _arrow(plane, GREEN, 3)
        self.change = _arrow(plane, PINK, 3)
        for event in ("tap", "doubletap"):  # two clicks in quick turn, wherever they are, come as one of each
            plane.on_event(event, self._tapped)

    def show(self, state: State) -> None:
        """Show the pane at the state's step."""
        record = self.record = input_space(state, self.pane)
        plane = self.figures[0]
        set_range(plane, record.box)
        plane.xaxis.axis_label, plane.yaxis.axis_label = record.names
        self.offer_axes(state.points.names, state.axes, actions.choose_axes)
        self._show_points(record)
        self._show_ground(record)
        self._show_proof(record, verdict_of(state, self.pane))
        put(self.before, segments(record.before if record.before is not None else ()))
        put(self.arrow, segments(record.arrow if record.arrow is not None else ()))
        put(self.change, segments(record.change if record.change is not None else ()))
        self.words.show(_legend(record) + paragraph(record.note, "quiet"))

    def _make_ground(self, plane: figure) -> None:
        self.shade = empty("image", "x", "y", "dw", "dh")
        self.band, self.boundary = empty(*ENDS), empty(*ENDS)
        mapper = LinearColorMapper(palette=_shades(), low=0, high=SHADES - 1)
        draw(
            plane,
            self.shade,
            Image(image="image", x="x", y="y", dw="dw", dh="dh", color_mapper=mapper),
            level="underlay",
        )
        draw(plane, self.band, Segment(**ENDS, line_color=QUIET, line_dash=[5, 4], line_width=1.5))
        draw(plane, self.boundary, Segment(**ENDS, line_color=INK, line_width=3))

    def _make_proof(self, plane: figure) -> None:
        self.witness, self.meeting, self.pins = empty(*ENDS), empty("x", "y"), empty("x", "y")
        draw(plane, self.witness, Segment(**ENDS, line_color=SKY, line_width=7, line_alpha=0.55))
        self.hulls = {label: empty("x", "y") for label in HULLS}
        for label, colour in HULLS.items():
            look = {"fill_color": colour, "line_color": colour}
            draw(plane, self.hulls[label], Patch(fill_alpha=0.1, line_alpha=0.8, line_dash=[3, 3], **look))
        draw(plane, self.pins, Scatter(size=17, fill_color=None, line_color=SKY, line_width=3))

    def _make_points(self, plane: figure) -> None:
        self.points = empty("x", "y", "label", "id")
        self.rings, self.crosses, self.current, self.selected = (empty("x", "y") for _ in range(4))
        draw(plane, self.current, Scatter(size=26, fill_color=GOLD, fill_alpha=0.75, line_color=None))
        self.mark = sign_marks(LARGEST_MARK)
        marks = draw(plane, self.points, self.mark)
        draw(plane, self.rings, Scatter(size=18, fill_color=None, line_color=INK, line_width=1.5))
        self.cross = Scatter(marker="x", size=CROSS * LARGEST_MARK, line_color="white", line_width=2)
        draw(plane, self.crosses, self.cross)
        chosen = Scatter(marker="square", size=24, fill_color=None, line_color=INK, line_dash=[4, 3])
        draw(plane, self.selected, chosen)
        draw(plane, self.meeting, Scatter(marker="star", size=18, fill_color=GOLD, line_color=INK))
        drag = PointDrawTool(renderers=[marks], add=False, drag=True, description="drag points")
        plane.add_tools(drag)
        plane.toolbar.active_drag = drag
        plane.toolbar.active_tap = drag
        self.points.on_change("data", self._dragged)

    def _show_points(self, record: InputSpace) -> None:
        self._writing = True
        put(self.points, {"x": record.x, "y": record.y, "label": signs(record.label), "id": record.id})
        self._writing = False
        size = float(np.clip(160.0 / math.sqrt(len(record.x) + 50.0), SMALLEST_MARK, LARGEST_MARK))
        if self.mark.size != size:
            self.mark.size = size
            self.cross.update(size=CROSS * size, line_width=max(1.0, 2.0 * size / LARGEST_MARK))
        put(self.rings, _at(record, record.support))
        put(self.crosses, _at(record, record.wrong))
        put(self.selected, _at(record, record.id == (-1 if self.chosen is None else self.chosen)))
        here = record.current
        put(self.current, {"x": [] if here is None else [here.x], "y": [] if here is None else [here.y]})

    def _show_ground(self, record: InputSpace) -> None:
        put(self.band, segments(record.lines.get("band", ())))
        put(self.boundary, segments(record.lines.get("boundary", ())))
        put(self.shade, _shading(record))

    def _show_proof(self, record: InputSpace, verdict: Verdict) -> None:
        hulls, meeting = dict(verdict.hulls), verdict.meeting
        for label, source in self.hulls.items():
            corners = hulls.get(label, np.empty((0, 2)))
            put(source, {"x": corners[:, 0], "y": corners[:, 1]})
        put(self.meeting, {"x": [] if meeting is None else [meeting[0]], "y": [] if meeting is None else [meeting[1]]})
        put(self.witness, segments(verdict.lines))
        put(self.pins, _at(record, np.isin(record.id, verdict.support)))

    def _dragged(self, _name: str, _old: Any, new: Any) -> None:
        """Take a drag, or the keys of Bokeh's own tool, as what was done to a point."""
        record = self.record
        if self._writing or record is None or len(new["x"]) != len(record.x):
            return
        across, up = np.asarray(new["x"], dtype=np.float64), np.asarray(new["y"], dtype=np.float64)
        for place in np.flatnonzero((across != record.x) | (up != record.y))[:1].tolist():
            self.touch("move", (float(across[place]), float(up[place])), int(record.id[place]))

    def _tapped(self, event: Any) -> None:
        record = self.record
        if record is None or event.x is None or event.y is None:
            return
        width, height = record.box[1] - record.box[0], record.box[3] - record.box[2]
        away = np.hypot((record.x - event.x) / width, (record.y - event.y) / height)
        near = int(away.argmin()) if len(away) else 0
        point = int(record.id[near]) if len(away) and away[near] <= NEAR else None
        self.touch("tap", (float(event.x), float(event.y)), point)


def _legend(record: InputSpace) -> str:
    """Return what the lines and signs in the picture are."""
    signs_shown = [("boundary", INK, "line"), ("proof of the verdict", SKY, "line")]
    if len(record.lines.get("band", ())):
        signs_shown.append((record.band_words, QUIET, "dashed"))
    if record.arrow is not None:
        signs_shown += [("w", GREEN, "line"), ("its update", PINK, "line")]
    if record.current is not None:
        signs_shown.append(("row of this step", GOLD, "dot"))
    return legend_html(signs_shown)


def _at(record: InputSpace, where: Any) -> dict[str, Any]:
    chosen = np.asarray(where, dtype=bool)
    return {"x": record.x[chosen], "y": record.y[chosen]}


def _arrow(plane: figure, colour: str, width: int) -> ColumnDataSource:
    source = empty(*ENDS)
    head = NormalHead(size=11, fill_color=colour, line_color=colour)
    ends = {"x_start": "x0", "y_start": "y0", "x_end": "x1", "y_end": "y1"}
    plane.add_layout(Arrow(end=head, source=source, line_color=colour, line_width=width, **ends))
    return source


def _shading(record: InputSpace) -> dict[str, Any]:
    """Return the ground's shade: the probability of +1, or the side of the boundary, with none where the score is 0."""
    grid = record.grid
    share = grid.probability if grid.probability is not None else 0.5 + 0.3 * np.sign(grid.score)
    shade = np.round(np.clip(share, 0.0, 1.0) * (SHADES - 1)).astype(np.uint8)
    x0, x1, y0, y1 = record.box
    return {"image": [shade], "x": [x0], "y": [y0], "dw": [x1 - x0], "dh": [y1 - y0]}


def _shades() -> list[str]:
    """Return colours from −1's, light, through white to +1's."""
    ends = [np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) for colour in (MINUS, PLUS)]
    colours = []
    for share in np.linspace(-1.0, 1.0, SHADES):
        end = ends[1] if share > 0 else ends[0]
        mixed = np.round(255 + (end - 255) * 0.42 * abs(share)).astype(int)
        colours.append("#" + "".join(f"{part:02x}" for part in mixed))
    return colours
