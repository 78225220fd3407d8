"""What is carried off, and tables that are brought in."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import separatrix as sx

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=document.title='owned'>"
TABLE = """id,width,height,kind,sort
5,1.0,10,wide,a
2,1.2,11,wide,b
7,0.9,,wide,a
1,3.1,30,tall,b
6,3.3,31,tall,a
3,2.9,29,,b
4,3.0,28,tall,a
"""


def test_pictures_are_saved(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.press("End")
    png = Path(lab.download("Picture (PNG)").path()).read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24]) == (2240, 1280)
    svg = Path(lab.download("Picture (SVG)").path()).read_text(encoding="utf-8")
    words = " ".join(ET.fromstring(svg).itertext())  # our own file
    assert "A line through the origin separates them" in words
    assert "5 mistakes; the theorem allows at most 17." in words
    assert "blue: y = +1" in words


def test_the_run_is_saved_as_a_gif(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.press("End")
    gif = Path(lab.download("Run (GIF)").path()).read_bytes()
    assert gif[:6] == b"GIF89a"
    assert struct.unpack("<HH", gif[6:10]) == (840, 480)
    frames = re.findall(rb"\x21\xf9\x04.{4}\x00\x2c", gif, re.DOTALL)
    assert len(frames) == 18  # one frame per visit, and the start
    assert lab.page.get_attribute("#strip", "aria-valuetext").startswith("visit 17 of 17")


def test_trace_and_points_are_saved(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    text = Path(lab.download("Trace (CSV)").path()).read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 17
    assert [row["row"] for row in rows if row["mistake"] == "1"] == ["3", "4", "4", "1", "2"]
    assert (rows[-1]["w1"], rows[-1]["w2"]) == ("5", "1")
    points = Path(lab.download("Points (CSV)").path()).read_text(encoding="utf-8")
    assert points.splitlines()[:2] == ["x1,x2,class", "1,4,1"]


@pytest.mark.parametrize("story", ["five-points", "no-line"])
def test_the_certificate_verifies(open_lab: Callable[..., Any], story: str) -> None:
    lab = open_lab()
    lab.story(story)
    lab.press("End")
    points = Path(lab.download("Points (CSV)").path()).read_text(encoding="utf-8")
    rows = np.loadtxt(io.StringIO(points), delimiter=",", skiprows=1)
    certificate = json.loads(Path(lab.download("Certificate: separability").path()).read_text(encoding="utf-8"))
    assert sx.certificate_from_dict(certificate).verify(rows[:, :2], rows[:, 2].astype(int))


@pytest.mark.parametrize("which", ["Loop in NumPy", "Library call"])
def test_the_code_reproduces_the_run(open_lab: Callable[..., Any], which: str) -> None:
    lab = open_lab()
    code = lab.section("The same in Python").get_by_label(which).inner_text()
    said = io.StringIO()
    with redirect_stdout(said):
        exec(compile(code, "copied", "exec"), {})  # what a person would paste
    assert re.search(r"5\.?0?[ ,]+1\.?0?\b", said.getvalue()), said.getvalue()


def upload(lab: Any, text: str, name: str = "plants.csv") -> None:
    lab.page.set_input_files("#file", {"name": name, "mimeType": "text/csv", "buffer": text.encode()})


@pytest.mark.parametrize("width", ["wide", "middle", "phone"])
def test_a_table_is_opened(open_lab: Callable[..., Any], width: str) -> None:
    lab = open_lab(width)
    upload(lab, TABLE)
    lab.wait("#text", "Left out")
    assert "1 row without" in lab.text("#text")
    section = lab.section("Data")
    assert section.get_by_label("Classes").input_value() in {"kind", "sort"}
    section.get_by_label("Classes").select_option("kind")
    lab.settle()
    assert set(lab.text("#key").split()) >= {"wide", "tall"}
    pairs = section.locator(".pairs button")
    assert pairs.first.get_attribute("aria-pressed") == "true"
    assert "width" in pairs.first.inner_text()
    assert "height" in pairs.first.inner_text()
    before = lab.page.get_attribute("#plane-0", "data-origin")
    section.get_by_label("Standardise the columns").uncheck()
    lab.settle()
    assert lab.page.get_attribute("#plane-0", "data-origin") != before
    lab.page.keyboard.press("Escape")
    lab.press("End")
    assert lab.text("#verdict-title") == "A line separates them"
    assert lab.page.locator("#shelf button").first.inner_text().strip() == "plants"


def test_a_standardised_table_says_so_and_verifies(open_lab: Callable[..., Any], tmp_path: Path) -> None:
    lab = open_lab()
    upload(lab, "only\n", "empty.csv")
    lab.wait("#toast", "empty.csv has no rows")
    upload(lab, TABLE.replace(",kind,sort", f",kind,{'sort' * 20}"))
    lab.wait("#text", "standardised")
    assert not lab.page.locator("#toast").text_content()  # what went wrong before is over
    lab.section("Data").get_by_label("Classes").select_option("kind")
    lab.settle()
    lab.page.keyboard.press("Escape")
    points = tmp_path / "points.csv"
    points.write_bytes(Path(lab.download("Points (CSV)").path()).read_bytes())
    assert points.read_text(encoding="utf-8").splitlines()[0] == "width (standardised),height (standardised),class"
    rows = list(csv.reader(points.read_text(encoding="utf-8").splitlines()[1:]))
    certificate = json.loads(Path(lab.download("Certificate: separability").path()).read_text(encoding="utf-8"))
    X, y = np.array([row[:2] for row in rows], dtype=float), np.array([row[2] for row in rows])
    assert sx.certificate_from_dict(certificate).verify(X, y)


def test_three_classes_are_judged_by_name(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    blobs, corners = [(0, "u"), (5, "v"), (10, "w")], [(0, 0), (1, 0), (0, 1)]
    rows = "\n".join(f"{x + dx},{dy},{label}" for x, label in blobs for dx, dy in corners)
    upload(lab, f"a,b,kind\n{rows}\n")
    lab.wait("#verdict-title", "No line separates v from the rest")
    assert lab.text("#verdict-reason") == "Proved: the hulls of v and of the rest overlap at the star"
    lab.press("p")
    lab.page.get_by_role("button", name="Add a learner beside it").click()
    lab.settle()
    assert lab.page.locator(".tally").nth(1).inner_text().startswith("v against the rest")


def test_another_learner_is_not_told_the_story_of_the_first(open_lab: Callable[..., Any]) -> None:
    lab = open_lab(fragment="#v1;five-points;svm;0;2")
    assert "Ready" in lab.text("#title")
    assert lab.page.locator("#answers button").count() == 0


def test_a_table_is_dropped_on_the_stage(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.items.add(new File([text], "dropped.csv", { type: "text/csv" }));
          const stage = document.getElementById("stage");
          for (const type of ["dragover", "drop"]) {
            stage.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
          }
        }""",
        TABLE,
    )
    lab.wait("#text", "Left out")
    assert lab.page.title() == "Your table · separatrix lab"


def test_hostile_names_and_labels_are_text(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    rows = "\n".join(f"{k},{k * k},{HOSTILE if k % 2 else '[=17]'}" for k in range(1, 9))
    upload(lab, f"{HOSTILE},*b*,kind\n{rows}\n", f"{HOSTILE}.csv")
    lab.wait("#title", "table")
    assert HOSTILE in lab.text("#key")
    assert "[=17]" in lab.text("#key")
    lab.section("Data")
    assert lab.page.locator("img").count() == 0
    lab.press("Escape")
    lab.press("End", "]")
    svg = Path(lab.download("Picture (SVG)").path()).read_text(encoding="utf-8")
    ET.fromstring(svg)  # our own file
    assert "<img" not in svg
    assert "owned" not in lab.page.title()


def test_a_table_that_cannot_be_shown_says_why(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    upload(lab, "a,b\n1,2\n3\n", "ragged.csv")
    lab.wait("#toast", "Line 3 of ragged.csv has 1 cell; the first line has 2.")
    upload(lab, "only\n", "empty.csv")
    lab.wait("#toast", "empty.csv has no rows")
    assert lab.text("#shelf [aria-current]") == "Five points"


def test_data_of_the_library_stand_on_the_stage(open_lab: Callable[..., Any], tmp_path: Path) -> None:
    page = sx.lab.page([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], ["<i>a", "<i>a", "b", "b", "b"])
    lab = open_lab(file=page.save(tmp_path / "own.html"))
    lab.press("End")
    assert lab.text("#verdict-title") == "A line separates them"
    assert "<i>a" in lab.text("#key")


def test_the_page_runs_inside_a_notebook(open_lab: Callable[..., Any], tmp_path: Path) -> None:
    outer = tmp_path / "notebook.html"
    outer.write_text(f"<!doctype html><title>notebook</title><body>{sx.lab.page()._repr_html_()}</body>")
    lab = open_lab()
    lab.page.goto(outer.as_uri())
    frame = lab.page.frame_locator("iframe")
    frame.locator("#play").click()
    frame.locator("#plane-0").press("End")
    lab.page.wait_for_timeout(200)
    assert "at most 17" in frame.locator("#evidence h2").first.inner_text()
