"""How a page begins: with a table if one was given, or in the state that its address names."""

from __future__ import annotations

import logging
from typing import Any

import panel as pn

from separatrix.errors import SeparatrixError
from separatrix.lab.page.keys import HELP
from separatrix.lab.page.lab_page import LabPage
from separatrix.lab.page.markup import keys_html
from separatrix.lab.page.parts.source import source
from separatrix.lab.page.views import views_of
from separatrix.lab.session import actions
from separatrix.lab.session.permalink import from_token
from separatrix.lab.session.state import State, first_state
from separatrix.lab.session.table import table_data
from separatrix.tables import read_table

__all__ = ["first_page", "opened", "restored", "served_page"]

LOG = logging.getLogger(__name__)
AFTER_THE_ANSWER = 20  # milliseconds


def opened(table: str | None, target: str | None) -> State:
    """Return the state that every session begins with."""
    state = first_state()
    return state if table is None else actions.load_table(state, table_data(read_table(table), target))


def restored(first: State, token: str | None) -> tuple[State, str]:
    """Return the state of a permalink's token, or the first with the reason why not."""
    if not token:
        return first, ""
    try:
        return from_token(token, first.table), ""
    except SeparatrixError as refusal:
        return first, f"this link could not be followed: {refusal}"


def first_page(first: State, token: str | None, views: str = "", *, keys: bool = True) -> LabPage:
    """Return what a visitor sees first; a link whose state cannot be shown is told, and the first state shown."""
    try:
        state, problem = restored(first, token)
        page = LabPage(state, views=views_of(views), keys=keys)
    except Exception:  # a link is anyone's: the page is not lost with it
        LOG.exception("the link of a visitor failed")
        page, problem = LabPage(first, keys=keys), "this link could not be followed; why is in the lab's log"
    if problem:
        page.tell(problem)
    return page


def served_page(first: State) -> Any:
    """Return the page of one visitor, as a template that asks nothing of any other machine.

    The page is sent empty and filled while the browser reads its scripts, so that neither waits for the other.
    """
    side, main = (pn.Column(sizing_mode="stretch_width", min_height=40) for _ in range(2))
    template = pn.Template(source("page.html"))
    template.add_variable("frame_css", source("frame.css"))
    template.add_variable("keys_html", keys_html(HELP))
    template.add_panel("side", side)
    template.add_panel("main", main)
    asked = {name: values[0].decode("utf-8", "replace") for name, values in pn.state.session_args.items() if values}

    def fill() -> None:
        page = first_page(first, asked.get("state"), asked.get("views", ""))
        side.objects, main.objects = [page.side], [page.main]

    pn.state.curdoc.add_timeout_callback(fill, AFTER_THE_ANSWER)
    return template
