"""What is looked at: which views are in sight, how many learners, and the link that keeps it all."""

from __future__ import annotations

from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.lab.page.desk import Desk
from separatrix.lab.page.parts import Bridge, Form
from separatrix.lab.page.parts.form import button, check
from separatrix.lab.page.views import VIEWS
from separatrix.lab.session import actions
from separatrix.lab.session.permalink import to_token
from separatrix.lab.session.state import MOST_PANES, State

__all__ = ["ViewBar", "permalink"]


class ViewBar:
    """The row of views."""

    def __init__(self, desk: Desk, bridge: Bridge) -> None:
        self.desk = desk
        self.bridge = bridge
        self.form = Form(self.told, "Views", "bar", sizing_mode="stretch_width")
        self.kept = ""

    def show(self, state: State) -> None:
        """Show which views are in sight, and have the page's address say where the session stands."""
        ticked = [check(name, title, name in self.desk.views) for name, title in VIEWS.items()]
        more = {**button("add", "+ learner", hint="another learner beside (n)", keys="n")}
        more["disabled"] = len(state.panes) >= MOST_PANES
        self.form.show([*ticked, more, button("link", "copy the link", hint="a link to exactly this")])
        if not state.playing:
            self._keep(state)

    def told(self, name: str, value: Any) -> None:
        """Do what a box or button says."""
        if name == "add":
            self.desk.act(actions.add_pane)
        elif name == "link":
            self.desk.attempt(lambda: self.bridge.copy_link(permalink(self.desk.state, self.desk.views)))
        elif name in VIEWS:
            self.desk.attempt(lambda: self._tick(name, bool(value)))

    def _tick(self, name: str, wanted: bool) -> None:
        views = set(self.desk.views) | {name} if wanted else set(self.desk.views) - {name}
        self.desk.views = tuple(each for each in VIEWS if each in views)
        self.desk.refresh()

    def _keep(self, state: State) -> None:
        try:
            link = permalink(state, self.desk.views)
        except SeparatrixError:  # said when the link is asked for
            link = "?"
        if link != self.kept:
            self.kept = link
            self.bridge.keep_link(link)


def permalink(state: State, views: tuple[str, ...]) -> str:
    """Return the query of an address that brings back a state and the views in sight."""
    return f"?state={to_token(state)}&views={'.'.join(views)}"
