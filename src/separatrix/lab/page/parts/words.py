"""Text on the page: HTML that the lab itself has written, every word of a user's escaped before."""

from __future__ import annotations

from typing import Any

import param
from panel.custom import JSComponent

from separatrix.lab.page.parts.source import source

__all__ = ["Words"]


class Words(JSComponent):  # type: ignore[misc]  # Panel is not typed
    """A region of text; a live one is read out by screen readers when it changes."""

    html = param.String(default="")
    title = param.String(default="")
    look = param.String(default="")
    live = param.Boolean(default=False)

    _esm = source("parts/words.js")
    _stylesheets = [source("look.css")]  # noqa: RUF012  # Panel reads it as a list

    def __init__(self, title: str, look: str = "", **settings: Any) -> None:
        super().__init__(title=title, look=look, margin=0, **settings)

    def show(self, html: str) -> None:
        """Show a text, if it differs from the one shown."""
        if html != self.html:
            self.html = html
