"""What only the browser can do: hear keys, copy to the clipboard, keep files, hold the page's address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param
from panel.custom import JSComponent

from separatrix.lab.page.parts.source import source

__all__ = ["Bridge"]


class Bridge(JSComponent):  # type: ignore[misc]  # Panel is not typed
    """An invisible part: `pressed(key)` for each key it listens to, `copied(what, done)` after a copy."""

    keys = param.List(default=[])

    _esm = source("parts/bridge.js")

    def __init__(
        self, pressed: Callable[[str], None], copied: Callable[[str, bool], None], keys: list[str], **settings: Any
    ) -> None:
        super().__init__(keys=keys, width=0, height=0, **settings)
        self.pressed = pressed
        self.copied = copied

    def copy(self, text: str, what: str) -> None:
        """Put a text on the clipboard."""
        self._send_msg({"copy": text, "what": what})

    def copy_link(self, query: str) -> None:
        """Put the page's address with a query on the clipboard."""
        self._send_msg({"link": query})

    def keep_link(self, query: str) -> None:
        """Write a query into the page's address, without a new entry in the browser's history."""
        self._send_msg({"keep": query})

    def save(self, name: str, text: str, kind: str) -> None:
        """Hand over a text as a file."""
        self._send_msg({"save": name, "text": text, "type": kind})

    def save_picture(self, kind: str, figure: str, name: str) -> None:
        """Hand over a figure, by the id of its model, as png or svg."""
        self._send_msg({"picture": kind, "figure": figure, "name": name})

    def _handle_msg(self, data: Any) -> None:
        """Pass on a key that is listened to, or the end of a copy."""
        if not isinstance(data, dict):
            return
        if data.get("key") in self.keys:
            self.pressed(data["key"])
        elif "copied" in data:
            self.copied(str(data.get("what")), bool(data["copied"]))
