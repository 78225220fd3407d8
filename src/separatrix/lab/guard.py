"""Who may speak to the lab: a gate before every request, that of a page, a file or a websocket alike.

A page from elsewhere may not use the lab through its visitor's browser. Its requests carry another Origin; a name that
it has pointed at this machine (DNS rebinding) arrives as another Host. Both are refused before anything is read. A body
is refused by the length that it announces. Answers carry a Content-Security-Policy, so that the browser itself asks
nothing of another machine. The cost is that of looking at four headers; behind a proxy that rewrites Host, the lab
refuses.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass, field
from typing import Any

from tornado.httputil import (
    HTTPConnection,
    HTTPHeaders,
    HTTPMessageDelegate,
    HTTPServerConnectionDelegate,
    RequestStartLine,
    ResponseStartLine,
)

__all__ = ["LONGEST_BODY", "Gate", "Guard", "is_loopback", "local_names"]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
LONGEST_BODY = 1_000_000  # bytes: no page of the lab sends a body, tables come by the websocket in bounded messages
PROTECTION = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' blob: ws://{host}; "
        "worker-src 'self' blob:; frame-ancestors 'none'; form-action 'none'; base-uri 'self'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def local_names(address: str) -> frozenset[str]:
    """Return the names under which a browser may ask for a lab that listens on an address."""
    named = f"[{address}]" if ":" in address else address
    own = () if is_loopback(address) else (socket.gethostname().lower(),)
    return frozenset({*LOOPBACK, named.lower(), *own})


@dataclass(frozen=True)
class Gate:
    """What is let in: requests for one of these names at this port.

    Where the lab listens to other machines, any address in numbers is let in too: it can be no rebound name.
    """

    names: frozenset[str]
    port: int
    open_to_others: bool = False

    def refusal(self, headers: HTTPHeaders) -> tuple[int, str, str] | None:
        """Return the status, reason and words with which to refuse a request, or None."""
        host = headers.get("Host", "").lower()
        if not self.is_ours(host):
            return 403, "Forbidden", f"the lab is not at {host[:100]!r}; open the address that it printed"
        origin = headers.get("Origin")
        if origin is not None and origin.lower() != f"http://{host}":
            return 403, "Forbidden", f"a page of {origin[:100]!r} may not use the lab; open the lab itself"
        length = headers.get("Content-Length", "0")
        if "Transfer-Encoding" in headers or not length.isdecimal() or int(length) > LONGEST_BODY:
            return 413, "Content Too Large", f"no request of the lab has a body of more than {LONGEST_BODY:,} bytes"
        return None

    def is_ours(self, host: str) -> bool:
        """Tell whether a Host header names this lab."""
        name, colon, port = host.rpartition(":")
        if not colon or port.endswith("]"):
            name, port = host, "80"
        if port != str(self.port):
            return False
        return name in self.names or (self.open_to_others and _is_number(name))


@dataclass
class Guard(HTTPServerConnectionDelegate):  # type: ignore[misc]  # Tornado is of an extra
    """A gate before an application: what it refuses never gets there."""

    application: HTTPServerConnectionDelegate
    gate: Gate

    def start_request(self, server_conn: object, request_conn: HTTPConnection) -> HTTPMessageDelegate:
        """Return what reads one request."""
        return _Request(self, server_conn, request_conn)


@dataclass
class _Request(HTTPMessageDelegate):  # type: ignore[misc]  # Tornado is of an extra
    """One request: judged by its headers, then handed on or answered with the refusal."""

    guard: Guard
    server: object
    connection: HTTPConnection
    inner: HTTPMessageDelegate | None = field(default=None, init=False)

    def headers_received(self, start_line: Any, headers: HTTPHeaders) -> Any:
        assert isinstance(start_line, RequestStartLine)
        refused = self.guard.gate.refusal(headers)
        if refused is not None:
            return self._refuse(*refused)
        protected: Any = _Protected(self.connection, headers["Host"])
        self.inner = self.guard.application.start_request(self.server, protected)
        return self.inner.headers_received(start_line, headers)

    def data_received(self, chunk: bytes) -> Any:
        return None if self.inner is None else self.inner.data_received(chunk)

    def finish(self) -> None:
        if self.inner is not None:
            self.inner.finish()

    def on_connection_close(self) -> None:
        if self.inner is not None:
            self.inner.on_connection_close()

    def _refuse(self, status: int, reason: str, words: str) -> None:
        body = f"refused: {words}\n".encode()
        headers = HTTPHeaders({"Content-Type": "text/plain; charset=utf-8", "Connection": "close"})
        headers["Content-Length"] = str(len(body))
        self.connection.write_headers(ResponseStartLine("HTTP/1.1", status, reason), headers, body)
        self.connection.finish()


class _Protected:
    """A connection whose answers carry the headers that bind the browser to this machine."""

    def __init__(self, connection: HTTPConnection, host: str) -> None:
        self.connection = connection
        self.host = host

    def write_headers(self, start_line: Any, headers: HTTPHeaders, chunk: bytes | None = None) -> Any:
        for name, value in PROTECTION.items():
            headers[name] = value.format(host=self.host)
        return self.connection.write_headers(start_line, headers, chunk)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def is_loopback(address: str) -> bool:
    """Tell whether only this machine can reach an address."""
    return address == "localhost" or (_is_number(address) and ipaddress.ip_address(address).is_loopback)
