"""The lab driven as a person would: a server of its own in a process, Debian's Chromium, everything asked for recorded.

Pictures of every view are kept in the folder that SEPARATRIX_SCREENSHOTS names, or in pytest's own.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LAPTOP = {"width": 1366, "height": 768}
TABLET = {"width": 820, "height": 1180}
PATIENCE = 15_000  # milliseconds
MOST_LOOKS = 50  # at a figure that does not rest, a tenth of a second apart
QUIET = (  # of its own accord Chromium asks other machines, which there may be no way to
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)
WHERE = """([title, x, y]) => {
  const found = (view) => {
    if (view.model.type === "Figure" && view.model.title.text === title) return view;
    for (const child of view.children()) { const hit = found(child); if (hit) return hit; }
    return null;
  };
  for (const root of Object.values(window.Bokeh.index)) {
    const view = found(root);
    if (view === null) continue;
    view.el.scrollIntoView({ block: "center" });
    const box = view.canvas_view.el.getBoundingClientRect();
    return [box.left + view.frame.x_scale.compute(x), box.top + view.frame.y_scale.compute(y)];
  }
  return null;
}"""


def what_is_missing() -> str:
    """Return why the lab cannot be driven here, or nothing."""
    if find_spec("panel") is None:
        return "the lab needs Panel: pip install 'separatrix[lab]'"
    if find_spec("playwright") is None:
        return "driving a browser needs Playwright: pip install playwright"
    return "" if CHROMIUM else "there is no Chromium here: apt-get install chromium"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = what_is_missing()
    for item in items:
        if missing and Path(item.fspath).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.skip(reason=missing))


@pytest.fixture(scope="module")
def lab_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A lab started from the command line, ended as a person ends it."""
    log = tmp_path_factory.mktemp("lab") / "log.txt"
    command = [sys.executable, "-m", "separatrix.cli", "lab", "--no-browser", "--port", "0"]
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
    assert process.stdout is not None
    told = process.stdout.readline()
    found = re.search(r"http://\S+", told)
    assert found, f"the lab did not start: {told!r}\n{log.read_text(encoding='utf-8')}"
    yield found[0]
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
    process.stdout.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go."""
    chosen = os.environ.get("SEPARATRIX_SCREENSHOTS")
    folder = Path(chosen) if chosen else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def keep_picture(page: Any, file: Path, *, whole: bool = False) -> None:
    """Keep a screenshot in few colours: a small file."""
    from PIL import Image

    shot = Image.open(BytesIO(page.screenshot(full_page=whole)))
    shot.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(file, optimize=True)


@dataclass
class Visit:
    """A page of the lab, and what was asked for and said on it."""

    page: Any
    url: str
    requests: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def open(self, query: str = "") -> Visit:
        """Go to the lab and wait until it can be used."""
        self.page.goto(self.url + query)
        self.page.get_by_role("button", name="Step", exact=True).wait_for()
        return self

    def place(self, x: float, y: float, title: str = "Input space") -> tuple[float, float]:
        """Return where on the screen a place of a figure is, once it moves no more."""
        before = None
        for _ in range(MOST_LOOKS):
            where = self.page.evaluate(WHERE, [title, x, y])
            assert where is not None, f"there is no figure {title!r}"
            if where == before:
                return where[0], where[1]
            before = where
            self.page.wait_for_timeout(100)
        raise AssertionError(f"the figure {title!r} did not rest")

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag a point of the input space from one place to another."""
        mouse = self.page.mouse
        mouse.move(*self.place(*start))
        mouse.down()
        mouse.move(*self.place((start[0] + end[0]) / 2, (start[1] + end[1]) / 2), steps=4)
        mouse.move(*self.place(*end), steps=4)
        mouse.up()

    def picture(self, file: Path, *, whole: bool = False) -> None:
        """Keep a picture of the page, from its top, with the mouse out of the way."""
        self.page.evaluate("window.scrollTo(0, 0)")
        self.page.mouse.move(0, 0)
        self.page.wait_for_timeout(300)
        keep_picture(self.page, file, whole=whole)

    def steps(self, count: int) -> None:
        """Press the button that goes a step on."""
        for _ in range(count):
            self.page.get_by_role("button", name="Step", exact=True).click()

    def sees(self, *words: str) -> None:
        """Wait until words are to be read on the page."""
        for each in words:
            self.page.get_by_text(each).first.wait_for()

    def until(self, deed: Callable[[], Any], words: str) -> None:
        """Do something again, a few times, until words are to be read: a figure may have been about to change."""
        seen = self.page.get_by_text(words).first
        for _ in range(5):
            deed()
            self.page.wait_for_timeout(700)
            if seen.is_visible():
                return
        seen.wait_for()

    @property
    def outside(self) -> list[str]:
        """What was asked of anything but the lab."""
        inside = (self.url, self.url.replace("http:", "ws:"), f"blob:{self.url}", "data:", "blob:")
        return [url for url in self.requests if not url.startswith(inside)]


@pytest.fixture(scope="module")
def context(chromium: Any) -> Iterator[Any]:
    """A visitor's browser, which keeps the lab's scripts from one page to the next."""
    made = chromium.new_context(viewport=LAPTOP, permissions=["clipboard-read", "clipboard-write"])
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


@pytest.fixture
def visit(context: Any, lab_url: str) -> Iterator[Visit]:
    """A visitor with a laptop, who asks nothing of any other machine and meets no error of a script."""
    page = context.new_page()
    visitor = Visit(page, lab_url)
    page.on("request", lambda request: visitor.requests.append(request.url))
    page.on("websocket", lambda socket: visitor.requests.append(socket.url))
    page.on("pageerror", lambda error: visitor.faults.append(str(error)))
    page.on("console", lambda said: visitor.faults.append(said.text) if said.type == "error" else None)
    yield visitor
    page.close()
    assert visitor.outside == []
    assert visitor.faults == []
