"""A form of native controls: a list of fields goes to the browser, what a person does with one comes back.

The browser's own controls have labels, keys and a focus ring, and cost one model for a whole form instead of one each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import param
from panel.custom import JSComponent

from separatrix.lab.page.parts.source import source

__all__ = ["Field", "Form", "button", "check", "note", "number", "pick", "radio", "slide"]

Field = Mapping[str, Any]
Options = Sequence[tuple[str, str]]


class Form(JSComponent):  # type: ignore[misc]  # Panel is not typed
    """A group of controls that calls `told(name, value)` for each thing done."""

    fields = param.List(default=[])
    title = param.String(default="")
    look = param.String(default="")

    _esm = source("parts/form.js")
    _stylesheets = [source("look.css")]  # noqa: RUF012  # Panel reads it as a list

    def __init__(self, told: Callable[[str, Any], None], title: str, look: str = "", **settings: Any) -> None:
        super().__init__(title=title, look=look, margin=0, **settings)
        self.told = told

    def show(self, fields: Sequence[Field]) -> None:
        """Show fields, if they differ from those shown."""
        listed = [dict(field) for field in fields]
        if listed != self.fields:
            self.fields = listed

    def _handle_msg(self, data: Any) -> None:
        """Pass on what was done, if it names a field that is there; one that was refused shows again what holds."""
        before = self.fields
        if isinstance(data, dict) and data.get("name") in {field["name"] for field in before}:
            self.told(data["name"], data.get("value"))
            if self.fields is before:
                self._send_msg({"unchanged": data["name"]})


def pick(name: str, label: str, value: str, options: Options, hint: str = "") -> Field:
    """Return a choice of one among many, in a list that opens."""
    return {
        "kind": "select",
        "name": name,
        "label": label,
        "value": value,
        "options": [list(each) for each in options],
        "hint": hint,
    }


def radio(name: str, label: str, value: str, options: Sequence[tuple[str, ...]]) -> Field:
    """Return a choice of one among few, all in sight; an option may have a hint."""
    return {"kind": "radio", "name": name, "label": label, "value": value, "options": [list(each) for each in options]}


def slide(name: str, label: str, value: float, bounds: tuple[float, float, float], shown: str) -> Field:
    """Return a slider from `bounds[0]` to `bounds[1]` in steps of `bounds[2]`, with its value in words."""
    least, most, step = bounds
    return {
        "kind": "range",
        "name": name,
        "label": label,
        "value": value,
        "min": least,
        "max": most,
        "step": step,
        "shown": shown,
    }


def number(name: str, label: str, value: float | str, hint: str = "") -> Field:
    """Return a number to type."""
    return {"kind": "number", "name": name, "label": label, "value": value, "hint": hint}


def check(name: str, label: str, value: bool, hint: str = "") -> Field:
    """Return a box to tick."""
    return {"kind": "check", "name": name, "label": label, "value": value, "hint": hint}


def button(name: str, label: str, *, hint: str = "", sign: str = "", keys: str = "") -> Field:
    """Return a button; with a `sign`, that is drawn and the label is only spoken."""
    return {"kind": "button", "name": name, "label": label, "hint": hint, "sign": sign, "keys": keys}


def note(name: str, value: str) -> Field:
    """Return a line of text."""
    return {"kind": "note", "name": name, "label": "", "value": value}
