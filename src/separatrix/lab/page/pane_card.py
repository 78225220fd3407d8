"""A pane: its learner and options, where it stands, the views in sight, and what can be taken away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn

from separatrix.errors import SeparatrixError
from separatrix.lab.page.desk import Desk
from separatrix.lab.page.drawings.base import Drawing
from separatrix.lab.page.drawings.input_space import InputDrawing, Touch
from separatrix.lab.page.drawings.lifted import LiftedDrawing
from separatrix.lab.page.drawings.losses import LossDrawing
from separatrix.lab.page.drawings.mistakes import MistakeDrawing
from separatrix.lab.page.drawings.weight_space import WeightDrawing
from separatrix.lab.page.markup import paragraph
from separatrix.lab.page.option_fields import option_fields, option_value
from separatrix.lab.page.parts import Bridge, Form, Words
from separatrix.lab.page.parts.form import button
from separatrix.lab.page.parts.source import source
from separatrix.lab.page.texts import TEXTS, status_html, verdict_html
from separatrix.lab.session import actions
from separatrix.lab.session.state import State
from separatrix.lab.session.takeaway import python_code, trace_csv

__all__ = ["PaneCard"]

DRAWINGS: dict[str, Callable[[int], Drawing]] = {
    "weights": WeightDrawing,
    "mistakes": MistakeDrawing,
    "losses": LossDrawing,
    "lifted": LiftedDrawing,
}


class PaneCard:
    """One of the one to four panes."""

    def __init__(self, desk: Desk, number: int, bridge: Bridge, touch: Touch) -> None:
        self.desk = desk
        self.number = number
        self.bridge = bridge
        self.touch = touch
        self.options = Form(self.told, f"Learner {number + 1}", "row", sizing_mode="stretch_width")
        self.status = Words(f"Where learner {number + 1} stands", "standing", live=True, sizing_mode="stretch_width")
        self.keep = Form(self.taken, f"Take away from learner {number + 1}", "row keep", sizing_mode="stretch_width")
        self.drawings: dict[str, Drawing] = {}
        self.texts: dict[str, Words] = {}
        self.shown: tuple[str, ...] = ()
        css = [source("layout.css")]
        self.grid = pn.Column(sizing_mode="stretch_width", css_classes=["views"], stylesheets=css)
        parts = (self.options, self.status, self.grid, self.keep)
        self.view = pn.Column(*parts, sizing_mode="stretch_width", css_classes=["pane"], stylesheets=css)

    def show(self, state: State) -> None:
        """Show the pane at the state's step, in those views that are in sight."""
        self.options.show(option_fields(state.pane(self.number)))
        self.status.show(verdict_html(state, self.number) + status_html(state, self.number))
        self.keep.show(_keep_fields(len(state.panes)))
        if self.shown != self.desk.views:
            self.shown = self.desk.views
            self.grid.objects = [self._view(name) for name in self.shown]
        for name in self.shown:
            self._show_view(name, state)

    def told(self, name: str, value: Any) -> None:
        """Change an option."""
        self.desk.attempt(
            lambda: self.desk.change(
                actions.set_option(self.desk.state, self.number, **{name: option_value(name, value)})
            )
        )

    def taken(self, name: str, _value: Any) -> None:
        """Hand over code, a trace or a picture, or remove the pane."""
        self.desk.attempt(lambda: self._take(name))

    def _take(self, name: str) -> None:
        state, title = self.desk.state, f"separatrix-{self.desk.state.pane(self.number).learner}"
        if name == "copy":
            self.bridge.copy(python_code(state, self.number), "the code")
        elif name == "csv":
            self.bridge.save(f"{title}.csv", trace_csv(state, self.number), "text/csv")
        elif name in {"png", "svg"}:
            for view in self.shown:
                for place, figure in enumerate(self.drawings[view].figures if view in self.drawings else ()):
                    self.bridge.save_picture(name, figure.id, f"{title}-{view}{place or ''}")
        elif name == "remove":
            self.desk.change(actions.remove_pane(state, self.number))

    def _view(self, name: str) -> Any:
        """Return the part that shows a view, made when it is first asked for."""
        if name in TEXTS:
            made = self.texts.setdefault(
                name, Words(name, f"view {name}", sizing_mode="stretch_width", css_classes=["text", name])
            )
            return made
        if name not in self.drawings:
            made_drawing = InputDrawing(self.number, self.touch) if name == "input" else DRAWINGS[name](self.number)
            made_drawing.act = self.desk.act
            self.drawings[name] = made_drawing
        return self.drawings[name].view

    def _show_view(self, name: str, state: State) -> None:
        """Show a view; one that this learner does not have says so."""
        try:
            if name in TEXTS:
                self.texts[name].show(TEXTS[name](state, self.number))
                return
            drawing = self.drawings[name]
            if isinstance(drawing, InputDrawing):
                drawing.chosen = self.desk.chosen
            drawing.show(state)
            drawing.set_visible(True)
        except SeparatrixError as refusal:
            if name in TEXTS:
                self.texts[name].show(paragraph(str(refusal), "quiet"))
                return
            self.drawings[name].set_visible(False)
            self.drawings[name].words.show(paragraph(str(refusal), "quiet"))


def _keep_fields(panes: int) -> list[Any]:
    fields = [
        button("copy", "copy the code", hint="Python that does the same"),
        button("csv", "trace as CSV"),
        button("png", "PNG", hint="the figures in sight"),
        button("svg", "SVG", hint="the figures in sight"),
    ]
    return [*fields, button("remove", "remove this learner")] if panes > 1 else fields
