"""The report in Chromium: axe without violations, in light and dark, nothing cut at any width or on A4 paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from separatrix.model.train import TrainOptions, train_table
from separatrix.reports.report import write_report
from separatrix.tables.demos import demo_table
from separatrix.tables.table import Column, Table, category_column

pytestmark = pytest.mark.slow

WIDTHS = [390, 1440]
PAPER = 673  # pixels between the margins of A4
HIDDEN = "els => els.filter(el => el.scrollWidth > el.clientWidth + 1).map(el => el.innerText.slice(0, 80))"


def passengers(rows: int = 500) -> Table:
    """Rows where one category predicts its class perfectly."""
    rng = np.random.default_rng(3)
    berth, age, boat = rng.integers(0, 3, rows), rng.gamma(9.0, 3.4, rows), rng.random(rows) < 0.02
    survived = boat | (rng.random(rows) < 1.0 / (1.0 + np.exp(0.6 * berth + 0.03 * age - 1.5)))
    columns = (
        category_column("berth", [("first", "second", "third")[code] for code in berth]),
        Column("age", "number", age),
        category_column("lifeboat", ["yes" if value else "no" for value in boat]),
        category_column("survived", ["yes" if value else "no" for value in survived]),
    )
    return Table(columns, "passengers.csv", target="survived")


CASES = {
    "separated": (passengers(), TrainOptions(holdout=0.2)),
    "softmax": (demo_table("iris"), TrainOptions()),
    "perceptron": (demo_table("students"), TrainOptions(model="perceptron")),
    "penalised": (demo_table("breast-cancer"), TrainOptions()),
}


@pytest.fixture(scope="module", params=CASES)
def report_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    table, options = CASES[request.param]
    path = tmp_path_factory.mktemp("report") / f"{request.param}.html"
    write_report(train_table(table, options), table, str(path), "separatrix fit table.csv --report report.html")
    return path


@pytest.fixture
def page(browser: Any, report_file: Path) -> Iterator[Any]:
    """The report, opened from disk; it asks for nothing else, and nothing fails."""
    opened = browser.new_page()
    problems: list[str] = []
    opened.on("console", lambda said: said.type in {"error", "warning"} and problems.append(said.text))
    opened.on("request", lambda asked: asked.url != report_file.as_uri() and problems.append(asked.url))
    opened.goto(report_file.as_uri())
    yield opened
    opened.close()
    assert problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(page: Any, width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe needs axe-playwright-python")
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.eval_on_selector_all("details", "els => els.forEach(el => el.open = true)")
    found = axe.Axe().run(page).response["violations"]
    assert [f"{item['id']}: {node['html'][:160]}" for item in found for node in item["nodes"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_no_table_is_cut_on_paper(page: Any) -> None:
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.emulate_media(media="print")
    assert page.eval_on_selector_all(".wide, table, pre, figure", HIDDEN) == []
    assert page.eval_on_selector_all("details > *", "els => els.filter(el => !el.checkVisibility()).length") == 0
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
