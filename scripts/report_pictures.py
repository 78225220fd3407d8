"""Pictures of a report for README and docs: `python scripts/report_pictures.py` writes docs/images/report*.png."""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from separatrix.model.train import TrainOptions, train_table
from separatrix.reports.report import write_report
from separatrix.tables.table import Column, Table, category_column

IMAGES = Path(__file__).parent.parent / "docs" / "images"
COMMAND = "separatrix fit infections.csv --target infection --holdout 0.2 --out model.json --report report.html"
COLOURS = 64  # of a small file
SCREENS = (  # name, width, height, dark, scale
    ("report", 1024, 1290, False, 1.0),
    ("report-390", 390, 3000, False, 0.75),
    ("report-1024", 1024, 2400, False, 0.7),
    ("report-1440", 1440, 2400, False, 0.6),
    ("report-1440-dark", 1440, 2200, True, 0.6),
)


def infections(rows: int = 480) -> Table:
    """Return patients of whom all with a femoral line were infected."""
    rng = np.random.default_rng(11)
    age, bmi, minutes = rng.normal(62.0, 11.8, rows), rng.normal(26.8, 4.7, rows), rng.gamma(4.0, 31.0, rows)
    diabetes, line = rng.random(rows) < 0.17, rng.random(rows) < 0.025
    ward = rng.integers(0, 3, rows)
    score = 0.055 * (age - 62) + 0.15 * (bmi - 26.8) + 0.008 * (minutes - 124) + 0.9 * diabetes + 0.5 * (ward == 2)
    infected = line | (rng.random(rows) < 1.0 / (1.0 + np.exp(2.0 - score)))
    words = np.array(["no", "yes"])
    return Table(
        (
            Column("age", "number", age.round()),
            Column("bmi", "number", bmi.round(1)),
            Column("duration_min", "number", minutes.round()),
            category_column("diabetes", words[diabetes.astype(int)].tolist()),
            category_column("ward", np.array(["general", "heart", "trauma"])[ward].tolist()),
            category_column("femoral_line", words[line.astype(int)].tolist()),
            category_column("infection", words[infected.astype(int)].tolist()),
        ),
        "infections.csv",
        target="infection",
    )


def take(browser: Browser, file: Path, name: str, size: tuple[int, int], *, dark: bool, scale: float) -> None:
    """Take a picture of the top of the page, in few colours."""
    width, height = size
    page = browser.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        device_scale_factor=1,
    )
    page.goto(file.as_uri())
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    small = picture.resize((round(width * scale), round(height * scale)), Image.Resampling.LANCZOS)
    few = small.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    few.save(IMAGES / f"{name}.png", optimize=True)
    page.close()


def main() -> None:
    """Take all pictures."""
    table = infections()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        write_report(train_table(table, TrainOptions(holdout=0.2)), table, str(file), COMMAND)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, width, height, dark, scale in SCREENS:
            take(browser, file, name, (width, height), dark=dark, scale=scale)
        browser.close()


if __name__ == "__main__":
    main()
