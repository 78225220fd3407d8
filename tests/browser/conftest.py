"""The lab driven as a person would: one file, opened from disk, in Chromium; every request and error recorded."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import separatrix as sx

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDTHS = {"wide": (1440, 900), "middle": (1024, 768), "phone": (390, 844)}
PATIENCE = 8_000  # milliseconds
QUIET = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--disable-gpu",
)


def what_is_missing() -> str:
    """Return why the lab cannot be driven here, or nothing."""
    if find_spec("playwright") is None:
        return "driving a browser needs Playwright: pip install playwright"
    return "" if CHROMIUM else "there is no Chromium here: apt-get install chromium"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = what_is_missing()
    for item in items:
        if missing and Path(item.fspath).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.skip(reason=missing))


@dataclass
class Lab:
    """One open page, with the hands and eyes of a person."""

    page: Any
    url: str
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        """Return what an element says, on one line."""
        return re.sub(r"\s+", " ", self.page.locator(selector).first.inner_text()).strip()

    def wait(self, selector: str, text: str) -> None:
        """Wait until an element says something."""
        self.page.wait_for_function(
            "([s, t]) => document.querySelector(s)?.textContent.includes(t)", arg=[selector, text], timeout=PATIENCE
        )

    def settle(self) -> None:
        """Wait for two frames."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        self.settle()

    def story(self, name: str) -> None:
        self.page.locator(f"#shelf button[data-id='{name}']").click()
        self.settle()

    def chapter(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).first.click()
        self.settle()

    def place(self, x: float, y: float, pane: int = 0) -> tuple[float, float]:
        """Return where a point of the plane is on the screen."""
        where = """([id, x, y]) => {
          const canvas = document.getElementById(id);
          canvas.scrollIntoView({ block: "nearest" });
          const box = canvas.getBoundingClientRect(), [left, top, unit] = canvas.dataset.origin.split(" ").map(Number);
          return [box.left + left + x * unit, box.top + top - y * unit];
        }"""
        found = self.page.evaluate(where, [f"plane-{pane}", x, y])
        return found[0], found[1]

    def grab(self, x: float, y: float, pane: int = 0) -> None:
        self.page.mouse.move(*self.place(x, y, pane))
        self.page.mouse.down()

    def carry(self, x: float, y: float, pane: int = 0, steps: int = 8) -> None:
        """Move what is held, without letting go."""
        self.page.mouse.move(*self.place(x, y, pane), steps=steps)
        self.settle()

    def drop(self) -> None:
        self.page.mouse.up()
        self.settle()

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.grab(*start)
        self.carry(*end)
        self.drop()

    def section(self, name: str) -> Any:
        """Open a section of the drawer and return it."""
        if not self.page.locator("#drawer").is_visible():
            self.page.click("#menu")
        section = self.page.locator("#drawer details", has=self.page.locator("summary", has_text=name))
        if section.get_attribute("open") is None:
            section.locator("summary").click()
        self.settle()
        return section

    def download(self, button: str) -> Any:
        """Press a button of the drawer and return the file that it saves."""
        section = self.section("Save and share")
        with self.page.expect_download(timeout=PATIENCE * 3) as waiting:
            section.get_by_role("button", name=button).click()
        return waiting.value


@pytest.fixture(scope="session")
def lab_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as `separatrix lab --out` writes it."""
    return sx.lab.page().save(tmp_path_factory.mktemp("lab") / "lab.html")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # may be missing

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield chromium
        chromium.close()


def opened(browser: Any, file: Path, width: str = "wide", fragment: str = "", **options: Any) -> Lab:
    """Open the page at a width, and record what goes wrong and what is asked for."""
    size = dict(zip(("width", "height"), WIDTHS[width], strict=True))
    options.setdefault("reduced_motion", "reduce")
    context = browser.new_context(viewport=size, has_touch=width == "phone", accept_downloads=True, **options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    lab = Lab(page, file.as_uri())
    page.on("console", lambda said: said.type in {"error", "warning"} and lab.problems.append(said.text))
    page.on("pageerror", lambda error: lab.problems.append(str(error)))
    page.on("request", lambda request: lab.requests.append(request.url))
    page.goto(lab.url + fragment)
    page.wait_for_function("() => document.querySelector('#plane-0')?.dataset.origin")
    return lab


def check(lab: Lab) -> None:
    """Nothing has failed, and no machine was asked for anything."""
    assert lab.problems == []
    assert [url for url in lab.requests if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.fixture
def open_lab(browser: Any, lab_file: Path) -> Iterator[Callable[..., Lab]]:
    """Open pages; at the end of the test nothing may have failed and nothing been asked for."""
    labs: list[Lab] = []

    def another(width: str = "wide", fragment: str = "", file: Path | None = None, **options: Any) -> Lab:
        labs.append(opened(browser, file or lab_file, width, fragment, **options))
        return labs[-1]

    yield another
    for lab in labs:
        check(lab)
        lab.page.context.close()


@pytest.fixture(scope="module")
def one_page(browser: Any, lab_file: Path) -> Lab:
    """A page for all stories, opened once."""
    return opened(browser, lab_file)


@pytest.fixture
def lab(one_page: Lab) -> Iterator[Lab]:
    """The page that stories share."""
    yield one_page
    check(one_page)
