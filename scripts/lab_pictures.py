"""Pictures of the lab for README and docs: `python scripts/lab_pictures.py` writes docs/images/lab-*.png."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import separatrix as sx

IMAGES = Path(__file__).parent.parent / "docs" / "images"
REST = 700  # milliseconds until nothing moves


@dataclass(frozen=True)
class Picture:
    """One view: what to do before the picture is taken."""

    name: str
    act: Callable[[Page], None]
    size: tuple[int, int] = (1440, 900)
    dark: bool = False


def story(page: Page, name: str, chapter: str) -> None:
    """Open a chapter of a story."""
    page.click(f"#shelf button[data-id='{name}']")
    page.locator("#chapters button", has_text=chapter).click()


def broken(page: Page) -> None:
    """Drag an orange point in among the blue ones, and hold it."""
    story(page, "five-points", "Break it")
    page.wait_for_timeout(REST)
    box = page.locator("#plane-0").bounding_box()
    left, top, unit = map(float, str(page.get_attribute("#plane-0", "data-origin")).split())
    assert box is not None
    page.mouse.move(box["x"] + left - unit, box["y"] + top - 2 * unit)
    page.mouse.down()
    page.mouse.move(box["x"] + left + 2.4 * unit, box["y"] + top - 1.4 * unit, steps=12)


PICTURES = (
    Picture("five-points", lambda page: story(page, "five-points", "Why")),
    Picture("broken", broken),
    Picture("no-line", lambda page: story(page, "no-line", "Why")),
    Picture("compare", lambda page: story(page, "outlier", "Watch")),
    Picture("runs-off", lambda page: story(page, "runs-off", "Why")),
    Picture("dark", lambda page: story(page, "rings", "Watch"), dark=True),
    Picture("phone", lambda page: story(page, "five-points", "Why"), size=(390, 844)),
)


def take(browser: Browser, file: Path, picture: Picture) -> None:
    """Take one picture."""
    width, height = picture.size
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if picture.dark else "light",
        device_scale_factor=1 if width > height else 2,
    )
    page.goto(file.as_uri())
    picture.act(page)
    page.wait_for_timeout(REST)
    page.evaluate("() => document.activeElement?.blur()")
    page.screenshot(path=IMAGES / f"lab-{picture.name}.png")
    page.close()


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = sx.lab.page().save(Path(folder) / "lab.html")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for picture in PICTURES:
            take(browser, file, picture)
        browser.close()


if __name__ == "__main__":
    main()
