"""The lab in a notebook: the same cards, side by side, without the keys, which are the notebook's own."""

from __future__ import annotations

from typing import Any

import panel as pn

from separatrix.lab.page.opening import first_page
from separatrix.lab.session.state import State

__all__ = ["notebook_page"]

SIDE = 270  # pixels


def notebook_page(first: State, token: str | None) -> Any:
    """Return the lab as one Panel object."""
    pn.extension(inline=True)  # the scripts come from this machine, not from the web
    page = first_page(first, token, keys=False)
    side = pn.Column(page.side, width=SIDE)
    return pn.Row(side, page.main, sizing_mode="stretch_width")
