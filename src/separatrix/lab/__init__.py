"""The lab: a page on which linear predictors learn step by step, and the session behind it.

`session` is a pure state machine; `page` draws its views and turns what a person does into its actions; `server` and
`guard` keep the page to this machine. Panel and Bokeh (the extra `lab`) are imported when a page is made, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from threading import Thread
from typing import Any

from separatrix.errors import OptionError

__all__ = ["app", "open_lab"]


def app(table: str | None = None, *, target: str | None = None, token: str | None = None) -> Any:
    """Return the lab to show in a notebook: a Panel object, in its first state or in that of a permalink's token.

    Parameters
    ----------
    table : a file or `demo:NAME` whose columns are the points; without one, the notes' examples.
    target : the column of the classes.
    token : what follows `?state=` in a permalink.
    """
    _require_panel()
    from separatrix.lab.page.notebook import notebook_page  # noqa: PLC0415
    from separatrix.lab.page.opening import opened  # noqa: PLC0415

    return notebook_page(opened(table, target), token)


def open_lab(
    table: str | None = None,
    *,
    target: str | None = None,
    port: int | None = None,
    address: str = "localhost",
    show: bool = True,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve the lab until interrupted; `ready` is told its address."""
    _require_panel()
    from separatrix.lab.page.opening import opened, served_page  # noqa: PLC0415
    from separatrix.lab.server import serve, start  # noqa: PLC0415
    from separatrix.lab.session.warm import warm_up  # noqa: PLC0415

    first = opened(table, target)
    lab = start(lambda: served_page(first), address=address, port=port)
    Thread(target=warm_up, daemon=True).start()
    if ready is not None:
        ready(lab.url)
    serve(lab, show=show)


def _require_panel() -> None:
    if find_spec("panel") is None:
        raise OptionError("the lab needs Panel and Bokeh; install them: pip install 'separatrix[lab]'")
