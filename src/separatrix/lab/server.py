"""The lab's server: on this machine alone unless told otherwise, behind the guard, one session a page.

A session is Bokeh's, with an id signed by a key that lives as long as the server; none can be guessed or chosen. What
fails in one session is logged and told there; the others go on. Messages are bounded, so that no upload can fill the
memory.
"""

from __future__ import annotations

import secrets
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bokeh.core.validation import silence
from bokeh.core.validation.warnings import EMPTY_LAYOUT
from bokeh.server.server import BaseServer
from bokeh.server.tornado import BokehTornado
from bokeh.server.util import bind_sockets
from panel.io.server import build_applications
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop

from separatrix.errors import OptionError
from separatrix.lab.guard import LONGEST_BODY, Gate, Guard, is_loopback, local_names
from separatrix.lab.page.upload import LARGEST_UPLOAD

__all__ = ["LabServer", "serve", "start"]

USUAL_PORT = 5006
ANY_PORT = 0  # that is free
LARGEST_MESSAGE = LARGEST_UPLOAD * 4 // 3 + 1_000_000  # a table is written in base64, within a message
FORGOTTEN_AFTER = 60_000  # milliseconds without a connection


@dataclass(frozen=True)
class LabServer:
    """A lab that listens."""

    server: BaseServer
    url: str
    port: int

    def run(self) -> None:
        """Serve until interrupted: Ctrl-C is how a lab ends."""
        with suppress(KeyboardInterrupt):
            self.server.io_loop.start()
        self.stop()

    def stop(self) -> None:
        """End every session and listen no more."""
        self.server.stop()


def start(page: Callable[[], Any], *, address: str = "localhost", port: int | None = None) -> LabServer:
    """Listen for visitors, each of whom gets a `page()`; a port that is not said is 5006, or any that is free."""
    silence(EMPTY_LAYOUT, True)  # a page is sent empty, then filled
    sockets, bound = _bind(address, port)
    own = address if address not in {"", "0.0.0.0", "::"} else "localhost"
    url = f"http://{f'[{own}]' if ':' in own else own}:{bound}/"
    gate = Gate(local_names(address), bound, open_to_others=not is_loopback(address))
    application = BokehTornado(
        build_applications(page, title="separatrix: the lab", location=False),
        absolute_url=url,
        extra_websocket_origins=["*"] if gate.open_to_others else [f"{name}:{bound}" for name in gate.names],
        secret_key=secrets.token_bytes(32),
        sign_sessions=True,
        unused_session_lifetime_milliseconds=FORGOTTEN_AFTER,
        websocket_max_message_size_bytes=LARGEST_MESSAGE,
        use_index=False,
    )
    http = HTTPServer(Guard(application, gate), max_body_size=LONGEST_BODY)
    http.add_sockets(sockets)
    server = BaseServer(IOLoop.current(), application, http)
    server.start()
    return LabServer(server, url, bound)


def serve(lab: LabServer, *, show: bool) -> None:
    """Serve until interrupted, and open the page in the user's browser if asked."""
    if show:
        lab.server.io_loop.add_callback(webbrowser.open, lab.url)
    lab.run()


def _bind(address: str, port: int | None) -> tuple[list[Any], int]:
    """Return sockets on a port, and its number; what cannot be listened at raises an OptionError."""
    words = ""
    for wanted in (USUAL_PORT, ANY_PORT) if port is None else (port,):
        try:
            sockets, bound = bind_sockets(address, wanted)
        except OSError as problem:
            words = problem.strerror or str(problem)
        else:
            return sockets, bound
    what = f"port {port} of {address!r}" if port else f"the address {address!r}"
    raise OptionError(f"{what} cannot be used ({words}); choose another")
