"""Who may use the lab, and how much it takes: other pages, other names, large files, many visitors at once."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("tornado", reason="the lab needs Panel, and Panel Tornado")
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect


@pytest.fixture
def address(lab_url: str) -> tuple[str, int]:
    parts = urlsplit(lab_url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


def asked(address: tuple[str, int], path: str = "/", **headers: str) -> tuple[int, str]:
    """Return the status and words of an answer to a request with some headers."""
    connection = http.client.HTTPConnection(*address, timeout=10)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    told = answer.status, answer.read().decode("utf-8", "replace")
    connection.close()
    return told


HANDSHAKE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def test_the_lab_answers_its_own_names_only(address):
    assert asked(address)[0] == 200
    assert asked(address, Host=f"127.0.0.1:{address[1]}")[0] == 200
    for name in (
        f"evil.example:{address[1]}",
        f"localhost.evil.example:{address[1]}",
        "localhost:1",
        "evil.example",
        "",
    ):
        status, words = asked(address, Host=name)
        assert status == 403
        assert words.startswith(f"refused: the lab is not at {name!r}")


@pytest.mark.parametrize("path", ["/", "/ws", "/static/js/bokeh.min.js"])
def test_another_pages_origin_is_refused_everywhere(address, path):
    for origin in (
        "http://evil.example",
        f"http://evil.example:{address[1]}",
        "null",
        f"https://localhost:{address[1]}",
    ):
        status, words = asked(address, path, Origin=origin, **HANDSHAKE)
        assert status == 403
        assert words == f"refused: a page of {origin!r} may not use the lab; open the lab itself\n"


def test_a_websocket_under_a_rebound_name_is_refused(address):
    name = f"evil.example:{address[1]}"
    status, words = asked(address, "/ws", Host=name, Origin=f"http://{name}", **HANDSHAKE)
    assert status == 403
    assert "the lab is not at" in words


def test_a_websocket_without_a_signed_session_is_closed_without_a_word(address, lab_url):
    async def heard() -> str | bytes | None:
        request = HTTPRequest(lab_url.replace("http:", "ws:") + "ws", headers={"Origin": lab_url.rstrip("/")})
        forged = Visitor(await websocket_connect(request, subprotocols=["bokeh", "eyJzZXNzaW9uX2lkIjogIm1pbmUifQ"]))
        try:
            return await asyncio.wait_for(forged.socket.read_message(), 10)
        finally:
            forged.socket.close()
            forged.stream.close()

    assert asyncio.run(heard()) is None
    assert asked(address)[0] == 200


def test_answers_bind_the_browser_to_this_machine(address):
    connection = http.client.HTTPConnection(*address, timeout=10)
    connection.request("GET", "/")
    headers = connection.getresponse().headers
    connection.close()
    policy = headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Frame-Options"] == "DENY"


def test_a_body_of_200_mb_is_refused_before_it_is_sent(address):
    with socket.create_connection(address, timeout=10) as connection:
        head = f"POST / HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\nContent-Length: 200000000\r\n\r\n"
        connection.sendall(head.encode())
        answer = connection.recv(4096).decode()
    assert answer.startswith("HTTP/1.1 413")
    assert "no request of the lab has a body of more than 1,000,000 bytes" in answer


def test_a_table_of_200_mb_is_refused_with_a_message(visit, tmp_path):
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(200_000_000)
    visit.open("?views=input").page.get_by_label("your own table").set_input_files(large)
    visit.sees("'large.csv' has 200 MB; the lab takes files of up to 20 MB")
    visit.steps(1)
    visit.sees("w = (1, 3)")


def test_a_table_is_taken_and_what_is_none_is_refused(visit, tmp_path):
    table = tmp_path / "own.csv"
    table.write_text("height,weight,<b>kind</b>\n1,2,a\n2,1,a\n5,6,b\n6,5,b\n", encoding="utf-8")
    chooser = visit.open("?views=input").page.get_by_label("your own table")
    chooser.set_input_files({"name": "x.exe", "mimeType": "text/plain", "buffer": b"MZ"})
    visit.sees("'x.exe' is no table that the lab reads")
    chooser.set_input_files({"name": "bad.json", "mimeType": "text/plain", "buffer": b"{"})
    visit.page.get_by_text("bad.json").first.wait_for()
    chooser.set_input_files(table)
    visit.page.get_by_label("target column of own.csv").select_option("<b>kind</b>")
    visit.sees("4 rows, all fitted", "of 4 wrong")
    visit.page.get_by_role("group", name="Data").get_by_label("up", exact=True).select_option("height")
    visit.sees("give 1 to 16 different columns")


class Visitor:
    """A visitor without a browser, who speaks to the lab over a websocket as Bokeh's script does."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.stream = socket.protocol.stream

    @classmethod
    @asynccontextmanager
    async def arriving(cls, url: str) -> AsyncIterator[Visitor]:
        """Arrive with a page's token, and leave at the end."""
        client = AsyncHTTPClient(force_instance=True)
        page = await client.fetch(f"{url}?views=input", connect_timeout=60, request_timeout=60)
        client.close()
        token = json.loads(re.search(rb'"token":("[^"]+")', page.body)[1])
        origin = {"Origin": url.rstrip("/")}
        socket_url = url.replace("http:", "ws:") + "ws"
        request = HTTPRequest(socket_url, headers=origin, connect_timeout=60, request_timeout=60)
        visitor = cls(await websocket_connect(request, subprotocols=["bokeh", token]))
        try:
            await visitor.heard()  # that the session is open
            yield visitor
        finally:
            visitor.socket.close()
            visitor.stream.close()

    async def heard(self) -> str:
        """Return the content of the next message; its arrays are passed over."""
        header = json.loads(await self.socket.read_message())
        await self.socket.read_message()
        content = await self.socket.read_message()
        for _ in range(2 * header.get("num_buffers", 0)):
            await self.socket.read_message()
        return content

    async def say(self, kind: str, content: Any) -> None:
        for part in ({"msgid": secrets.token_hex(8), "msgtype": kind}, {}, content):
            await self.socket.write_message(json.dumps(part))

    async def control(self, title: str) -> str:
        """Return the id of a form, once the page has it."""
        while True:
            await self.say("PULL-DOC-REQ", {})
            while '"doc":' not in (content := await self.heard()):
                pass
            for each in parts_of(json.loads(content)):
                data = each.get("attributes", {}).get("data") if isinstance(each.get("attributes"), dict) else None
                if isinstance(data, dict) and data.get("attributes", {}).get("title") == title:
                    await self.tell("document_ready", {"type": "map"})
                    return str(each["id"])
            await asyncio.sleep(0.2)

    async def tell(self, name: str, values: Any) -> None:
        event = {"type": "event", "name": name, "values": values}
        await self.say("PATCH-DOC", {"events": [{"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": event}]})

    async def press(self, form: str, name: str) -> None:
        data = {"type": "map", "entries": [["name", name], ["value", True]]}
        await self.tell("data_event", {"type": "map", "entries": [["model", {"id": form}], ["data", data]]})


def parts_of(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object within a document."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts_of(each)


def run(deed: Callable[[], Coroutine[Any, Any, Any]], seconds: float) -> Any:
    """Run a coroutine in a thread of its own: Playwright keeps this one's loop."""

    async def bounded() -> Any:
        return await asyncio.wait_for(deed(), seconds)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(bounded())).result()


async def five_steps(url: str) -> str:
    async with Visitor.arriving(url) as visitor:
        form = await visitor.control("Time")
        for _ in range(5):
            await visitor.press(form, "step")
        while "w = (5, 1)" not in (content := await visitor.heard()):
            pass
        return json.dumps(json.loads(content), ensure_ascii=False)


def test_twenty_sessions_step_at_once(lab_url):
    async def all_together() -> list[str]:
        return await asyncio.gather(*(five_steps(lab_url) for _ in range(20)))

    met = run(all_together, 80)
    assert len(met) == 20
    assert all("converged, 5 ≤ 17" in words for words in met)


def test_sessions_know_nothing_of_each_other(lab_url):
    async def two() -> str:
        async with Visitor.arriving(lab_url) as one, Visitor.arriving(lab_url) as other:
            form = await one.control("Time")
            assert form != await other.control("Time")
            await one.press(form, "step")
            while "w = (1, 3)" not in await one.heard():
                pass
            await other.press(form, "step")  # a form of the first visitor's, which the second does not have
            await other.say("PULL-DOC-REQ", {})
            while '"doc":' not in (content := await other.heard()):
                pass
            return content

    seen = run(two, 40)
    assert "w = (0, 0)" in seen
    assert "w = (1, 3)" not in seen


def test_a_session_that_sends_nonsense_harms_no_other(lab_url):
    async def quarrel() -> str:
        async with Visitor.arriving(lab_url) as visitor:
            form = await visitor.control("Time")
            for nonsense in ("seek", "speed", "__class__"):
                await visitor.press(form, nonsense)
            strange = {"kind": "ModelChanged", "model": {"id": "no"}, "attr": "x", "new": 1}
            await visitor.say("PATCH-DOC", {"events": [strange]})
            await visitor.socket.write_message("not even JSON")
            return await five_steps(lab_url)

    assert "converged, 5 ≤ 17" in run(quarrel, 40)


def test_a_message_of_200_mb_ends_the_session_that_announces_it(lab_url, address):
    """The frame's header says 200 MB; the lab hangs up instead of reading them."""

    async def announce() -> None:
        async with Visitor.arriving(lab_url) as visitor:
            frame = b"\x81\xff" + (200_000_000).to_bytes(8, "big") + b"mask" + bytes(1000)
            await visitor.stream.write(frame)
            while await visitor.socket.read_message() is not None:
                pass

    run(announce, 20)
    assert asked(address)[0] == 200
