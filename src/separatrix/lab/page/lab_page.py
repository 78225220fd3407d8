"""The page put together: cards around a desk."""

from __future__ import annotations

import panel as pn

from separatrix.lab.page.compare_card import CompareCard
from separatrix.lab.page.data_card import DataCard
from separatrix.lab.page.desk import Desk
from separatrix.lab.page.keys import Keys
from separatrix.lab.page.markup import paragraph
from separatrix.lab.page.pane_card import PaneCard
from separatrix.lab.page.parts import Bridge, Words
from separatrix.lab.page.parts.source import source
from separatrix.lab.page.time_bar import TimeBar
from separatrix.lab.page.view_bar import ViewBar
from separatrix.lab.page.views import FIRST_VIEWS
from separatrix.lab.session import actions
from separatrix.lab.session.state import State

__all__ = ["LabPage"]

COUNTS = ("one", "two", "three", "four")


class LabPage:
    """Everything that a session shows: `side` and `main`, to be put into a page or a notebook."""

    def __init__(self, state: State, *, views: tuple[str, ...] = FIRST_VIEWS, keys: bool = True) -> None:
        css = [source("layout.css")]
        self.notice = Words("Messages", "notice", live=True, sizing_mode="stretch_width")
        self.desk = Desk(state, self.tell, views)
        self.time = TimeBar(self.desk)
        self.keys = Keys(self.desk, self.time)
        self.bridge = Bridge(self.keys.press, self._copied, self.keys.names if keys else [])
        self.data = DataCard(self.desk)
        self.views = ViewBar(self.desk, self.bridge)
        self.compare = CompareCard(self.desk)
        self.panes: list[PaneCard] = []
        self.row = pn.Column(sizing_mode="stretch_width", css_classes=["panes", "one"], stylesheets=css)
        top = pn.Column(
            self.time.form,
            self.views.form,
            self.notice,
            sizing_mode="stretch_width",
            css_classes=["top"],
            stylesheets=css,
        )
        data = pn.Column(self.data.form, sizing_mode="stretch_width", css_classes=["card"], stylesheets=css)
        stack = {"sizing_mode": "stretch_width", "css_classes": ["stack"], "stylesheets": css}
        self.side = pn.Column(data, self.bridge, **stack)
        self.main = pn.Column(top, self.row, self.compare.view, **stack)
        self.desk.parts = [self.data, self, self.time, self.compare, self.views]
        self.desk.refresh()

    def show(self, state: State) -> None:
        """Have as many panes as the state, each at its step."""
        while len(self.panes) < len(state.panes):
            self.panes.append(PaneCard(self.desk, len(self.panes), self.bridge, self._touched))
        shown = [pane.view for pane in self.panes[: len(state.panes)]]
        if self.row.objects != shown:
            self.row.objects = shown
            self.row.css_classes = ["panes", COUNTS[len(shown) - 1]]
        for pane in self.panes[: len(state.panes)]:
            pane.show(state)

    def tell(self, text: str) -> None:
        """Show a message, or none."""
        self.notice.show(paragraph(text))
        self.notice.visible = bool(text)

    def _touched(self, what: str, at: tuple[float, float], point: int | None) -> None:
        """Do what a drag or a click on the plane means."""
        desk, mode = self.desk, self.desk.mode
        if what == "move" and point is not None:
            desk.chosen = point
            desk.act(actions.move_point, point, at)
        elif mode in {"plus", "minus"}:
            desk.act(actions.add_point, at, 1 if mode == "plus" else -1)
        elif point is not None and mode in {"flip", "delete"}:
            desk.act(actions.flip_point if mode == "flip" else actions.delete_point, point)
        elif mode == "move":
            desk.chosen = point
            desk.attempt(desk.refresh)

    def _copied(self, what: str, done: bool) -> None:
        said = (
            f"{what} is on the clipboard"
            if done
            else f"the browser would not copy {what}; select it and copy it yourself"
        )
        self.tell(said)
