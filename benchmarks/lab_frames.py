"""Frame times of the lab: a point is dragged for 120 frames in Chromium, at 5 to 50,000 points.

Two numbers per size: the time from frame to frame (16.7 ms is all that a screen of 60 Hz can show), and the script time
within a frame: learner, verdict, bound and drawing. Beside them first paint and time until usable.

    python benchmarks/lab_frames.py            # writes benchmarks/results/lab.md
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

import separatrix as sx

RESULTS = Path(__file__).parent / "results"
SIZES = (5, 200, 2_000, 50_000)
FRAMES = 120
FRAME = 1 / 60
STILL = 1.0  # seconds for the page to come to rest
GOALS = {"frame": 16.8, "script": 8.0, "paint": 500.0, "usable": 1000.0}  # milliseconds, at 200 points
WATCH = """() => {
  const seen = (window.seen = { frames: [], scripts: [], usable: null });
  const ask = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (work) => ask((now) => {
    const start = performance.now();
    work(now);
    const end = performance.now();
    seen.frames.push(now);
    seen.scripts.push(end - start);
    seen.usable ??= end;
  });
}"""


def rows(n: int) -> tuple[Any, Any]:
    """Return two classes with a gap between them, on tenths."""
    random = np.random.default_rng(n)
    y = np.where(np.arange(n) % 2, 1, -1)
    X = np.round(random.normal(size=(n, 2)) + 0.0, 1)
    X[:, 0] = np.round(np.abs(X[:, 0]) * y + 0.4 * y, 1)
    return X, y


def dragged(page: Page) -> dict[str, list[float]]:
    """Drag the first point up and down, one move per frame, and return the times of the frames."""
    box = page.locator("#plane-0").bounding_box()
    left, top, unit = map(float, str(page.get_attribute("#plane-0", "data-origin")).split())
    x1, x2 = selected(page)
    assert box is not None
    x, y = box["x"] + left + x1 * unit, box["y"] + top - x2 * unit
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("() => { seen.frames.length = seen.scripts.length = 0; }")
    start = time.perf_counter()
    for k in range(FRAMES + 10):
        page.mouse.move(x + 40 * np.sin(k / 9), y + 60 * np.sin(k / 14))
        time.sleep(max(0.0, start + (k + 1) * FRAME - time.perf_counter()))
    times: dict[str, list[float]] = page.evaluate("() => ({ frames: seen.frames, scripts: seen.scripts })")
    page.mouse.up()
    page.wait_for_function("() => !document.getElementById('undo').disabled")  # the point did move
    return times


def selected(page: Page) -> tuple[float, float]:
    """Select the first point by its key and return where it is."""
    page.keyboard.press("]")
    page.wait_for_function("() => document.getElementById('plane-0').ariaLabel.includes('Selected')")
    label = str(page.get_attribute("#plane-0", "aria-label"))
    x1, x2 = label.rsplit(" at ", 1)[1].rstrip(".").split(", ")
    return float(x1), float(x2)


def measured(page: Page, file: Path) -> dict[str, float]:
    """Open a page, drag a point in it, and return its times in milliseconds."""
    page.goto(file.as_uri())
    page.wait_for_function("() => document.querySelector('#plane-0')?.dataset.origin")
    page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    start = page.evaluate(
        "() => ({ usable: seen.usable, paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime })"
    )
    page.keyboard.press("End")
    time.sleep(STILL)
    times = dragged(page)
    gaps = np.diff(times["frames"])[-FRAMES:]
    scripts = sorted(times["scripts"][-FRAMES:])
    return {
        "paint": float(start["paint"]),
        "usable": float(start["usable"]),
        "frame": float(statistics.median(gaps)),
        "frame_p95": float(np.quantile(gaps, 0.95)),
        "script": float(statistics.median(scripts)),
        "script_p95": float(np.quantile(scripts, 0.95)),
        "frames": len(gaps),
    }


def table(found: dict[int, dict[str, float]]) -> str:
    """Return the results as a page of Markdown."""
    lines = [
        "# Frame times of the lab",
        "",
        f"A point dragged for {FRAMES} frames in headless Chromium (software raster); milliseconds.",
        "",
        "| points | frame, median | frame, p95 | script, median | script, p95 | first paint | usable |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for n, times in found.items():
        cells = [times[key] for key in ("frame", "frame_p95", "script", "script_p95", "paint", "usable")]
        lines.append(f"| {n:,} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |")
    goals = f"frame ≤ {GOALS['frame']}, script p95 ≤ {GOALS['script']}, first paint ≤ {GOALS['paint']:.0f}"
    lines += ["", f"Goals at 200 points: {goals}, usable ≤ {GOALS['usable']:.0f}.", ""]
    lines += ["Written by `python benchmarks/lab_frames.py`.", ""]
    return "\n".join(lines)


def main() -> None:
    """Measure all sizes and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--no-write", action="store_true", help="print only")
    options = parser.parse_args()
    found: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for n in options.sizes:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.add_init_script(f"({WATCH})()")
            found[n] = measured(page, sx.lab.page(*rows(n)).save(Path(folder) / f"lab-{n}.html"))
            page.close()
            print(n, {key: round(value, 1) for key, value in found[n].items()}, flush=True)
        browser.close()
    if not options.no_write:
        (RESULTS / "lab.md").write_text(table(found), encoding="utf-8")
        (RESULTS / "lab.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
