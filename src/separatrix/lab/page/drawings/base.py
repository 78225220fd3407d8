"""What all figures share: their look, sources that are written only when they change, and the base of a drawing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import (
    ColumnDataSource,
    Glyph,
    GlyphRenderer,
    Legend,
    LegendItem,
    PanTool,
    Range1d,
    ResetTool,
    SaveTool,
    Scatter,
    WheelZoomTool,
)
from bokeh.plotting import figure
from bokeh.transform import factor_cmap, factor_mark

from separatrix.lab.page.parts import Form, Words
from separatrix.lab.page.parts.form import pick
from separatrix.lab.session.state import State
from separatrix.reports.palette import COLOURS

__all__ = [
    "ENDS",
    "GOLD",
    "GREEN",
    "INK",
    "MINUS",
    "PINK",
    "PLUS",
    "QUIET",
    "SIGNS",
    "SKY",
    "Drawing",
    "draw",
    "empty",
    "make_figure",
    "put",
    "segments",
    "set_legend",
    "set_range",
    "sign_marks",
    "signs",
]

PLUS, MINUS, GREEN, PINK, GOLD, SKY = COLOURS[:6]  # +1 is blue and round, −1 vermilion and square, in every view
INK, QUIET, LINE = "#1c2733", "#54636f", "#e3e9ed"
SIGNS = ("+1", "−1")
ENDS = {"x0": "x0", "y0": "y0", "x1": "x1", "y1": "y1"}  # of a segment, as a glyph names them
SQUARE = 1.04  # width over height at which the frame within the axes is square
Act = Callable[..., None]
FONT = "system-ui, 'Segoe UI', Arial, sans-serif"


class Drawing(ABC):
    """A view of one pane: a figure (or two), a line of words below, and how to show a state in them."""

    act: Act = staticmethod(lambda *_: None)  # does an action of the session

    def __init__(self, pane: int, *figures: figure) -> None:
        self.pane = pane
        self.figures = figures
        self.words = Words("note", "note", sizing_mode="stretch_width")
        self.axes_form: Form | None = None
        drawn = [pn.pane.Bokeh(each, sizing_mode="scale_width", aspect_ratio=each.aspect_ratio) for each in figures]
        self.view = pn.Column(*drawn, self.words, sizing_mode="stretch_width", css_classes=["view"])

    def offer_axes(self, names: Sequence[str], chosen: tuple[int, int], action: Callable[..., State]) -> None:
        """Let the two axes be chosen, where there are more than two to choose from."""
        if len(names) <= 2:
            if self.axes_form is not None:
                self.axes_form.visible = False
            return
        if self.axes_form is None:
            self.axes_form = Form(self._axis_told, "Axes", "row", sizing_mode="stretch_width")
            self.view.append(self.axes_form)
        self.axes_form.visible = True
        self._axes, self._axes_action = chosen, action
        options = [(str(place), name) for place, name in enumerate(names)]
        picks = zip(("across", "up"), chosen, strict=True)
        self.axes_form.show([pick(name, name, str(place), options) for name, place in picks])

    def set_visible(self, visible: bool) -> None:
        """Show or hide the figures, and with them the choice of axes, which `offer_axes` shows again; the words stay.

        It is asked of the figures, not of Panel's panes around them, which take it back from the figure.
        """
        for each in self.figures:
            each.visible = visible
        if self.axes_form is not None and not visible:
            self.axes_form.visible = False

    def _axis_told(self, name: str, value: Any) -> None:
        across, up = self._axes
        chosen = (int(value), up) if name == "across" else (across, int(value))
        self.act(self._axes_action, *chosen)

    @abstractmethod
    def show(self, state: State) -> None:
        """Show the pane at the state's step."""


def make_figure(title: str, across: str, up: str, *, square: bool = True, drag: bool = True) -> figure:
    """Return an empty figure in the lab's look; the wheel scrolls the page until zooming is chosen."""
    tools = [WheelZoomTool(), ResetTool(), SaveTool(filename=title.lower().replace(" ", "-"))]
    made = figure(
        title=title,
        x_range=Range1d(-1.0, 1.0),
        y_range=Range1d(-1.0, 1.0),
        x_axis_label=across,
        y_axis_label=up,
        tools=[*([PanTool()] if drag else []), *tools],
        toolbar_location="above",
        sizing_mode="scale_width",
        aspect_ratio=SQUARE if square else 1.3,
        min_width=200,
        min_height=180,
        min_border=6,
        outline_line_color="#c5d0d8",
    )
    made.toolbar.logo = None
    made.toolbar.autohide = True
    made.toolbar.active_scroll = None
    made.title.text_font_size = "13px"
    made.title.text_font = FONT
    made.title.text_color = INK
    for axis in made.axis:
        axis.axis_label_text_font_size = "12px"
        axis.axis_label_text_font_style = "normal"
        axis.axis_label_standoff = 2
        axis.major_label_text_font_size = "11px"
        axis.axis_label_text_font = axis.major_label_text_font = FONT
        axis.axis_label_text_color = axis.major_label_text_color = QUIET
        axis.axis_line_color = axis.major_tick_line_color = "#9fb0bb"
        axis.minor_tick_line_color = None
        axis.ticker.desired_num_ticks = 5
    made.grid.grid_line_color = LINE
    return made


def draw(plane: figure, source: ColumnDataSource, glyph: Glyph, **settings: Any) -> GlyphRenderer:
    """Draw a glyph, with no other look for what is selected: one model, where a method of the figure makes five."""
    return plane.add_glyph(source, glyph, nonselection_glyph=None, **settings)


def set_legend(plane: figure, lines: Mapping[str, GlyphRenderer], location: str = "top_left") -> None:
    """Say what each line is."""
    items = [LegendItem(label=name, renderers=[line]) for name, line in lines.items()]
    look = {
        "label_text_font_size": "11px",
        "label_text_font": FONT,
        "label_text_color": INK,
        "spacing": 0,
        "padding": 4,
    }
    plane.add_layout(Legend(items=items, location=location, background_fill_alpha=0.85, **look))


def empty(*names: str) -> ColumnDataSource:
    """Return a source of empty columns."""
    return ColumnDataSource({name: [] for name in names})


def sign_marks(size: float, **look: Any) -> Scatter:
    """Return marks by the column `label`: +1 blue and round, −1 vermilion and square."""
    marker = factor_mark("label", ["circle", "square"], SIGNS)
    return Scatter(
        size=size, marker=marker, fill_color=factor_cmap("label", [PLUS, MINUS], SIGNS), line_color="white", **look
    )


def signs(labels: Any) -> Any:
    """Return labels ±1 as the words that colours and markers go by."""
    return np.where(np.asarray(labels) > 0, SIGNS[0], SIGNS[1])


def put(source: ColumnDataSource, data: Mapping[str, Any]) -> None:
    """Write a source's data, unless they are what is there: what does not change is not sent."""
    arrays = {name: np.asarray(value) if not isinstance(value, list) else value for name, value in data.items()}
    if not _equal(source.data, arrays):
        source.data = arrays


def set_range(made: figure, box: tuple[float, float, float, float]) -> None:
    """Show a box (x0, x1, y0, y1), unless the same is asked for: a reader's zoom is left alone."""
    if made.tags == [list(box)]:
        return
    made.tags = [list(box)]
    for axis, start, end in ((made.x_range, box[0], box[1]), (made.y_range, box[2], box[3])):
        axis.update(start=start, end=end, reset_start=start, reset_end=end)


def segments(lines: Any) -> dict[str, Any]:
    """Return lines (k, 4) of x0, y0, x1, y1 as a source's columns."""
    array = np.asarray(lines, dtype=np.float64).reshape(-1, 4)
    return {"x0": array[:, 0], "y0": array[:, 1], "x1": array[:, 2], "y1": array[:, 3]}


def _equal(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if old.keys() != new.keys():
        return False
    return all(
        len(old[name]) == len(new[name])
        and all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in zip(old[name], new[name], strict=True))
        if isinstance(new[name], list)
        else np.array_equal(np.asarray(old[name]), new[name])
        for name in new
    )
