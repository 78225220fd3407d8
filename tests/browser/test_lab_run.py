"""Note A's five points, live points, the start vector, undo: at three widths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

WIDTHS = ["wide", "middle", "phone"]
BOUND = "#evidence .figure.hero h2"


@pytest.mark.parametrize("width", WIDTHS)
def test_five_points_reach_5_1_under_the_bound(open_lab: Callable[..., Any], width: str) -> None:
    lab = open_lab(width)
    assert lab.text(BOUND) == "0 mistakes; the theorem allows at most 17."
    lab.page.get_by_role("button", name="4 to 8").click()
    lab.press("End")
    assert "5 mistakes; the theorem allows at most 17" in lab.text(BOUND)
    assert "w = (5, 1)" in lab.text("#evidence")
    assert "4 to 8" in lab.text("#text")
    assert "right" in lab.text("#text")
    assert "w = (5, 1)" in lab.page.get_attribute("#plane-0", "aria-label")
    assert lab.text("#evidence .inequality") == "t²γ² 25 ≤ ‖w‖² 26 ≤ tR² 85"


def test_playing_runs_to_the_end_by_itself(open_lab: Callable[..., Any]) -> None:
    lab = open_lab(reduced_motion="no-preference")
    while lab.text("#speed") != "16×":
        lab.page.click("#speed")
        lab.settle()
    lab.page.click("#play")
    lab.wait(BOUND, "5 mistakes")
    lab.wait("#title", "Done")
    counted = (
        "() => new Promise(done => { let n = 0; const ask = window.requestAnimationFrame;"
        " window.requestAnimationFrame = (f) => { n++; return ask(f); };"
        " setTimeout(() => { window.requestAnimationFrame = ask; done(n); }, 250); })"
    )
    assert any(lab.page.evaluate(counted) == 0 for _ in range(20))  # the loop comes to rest


@pytest.mark.parametrize("width", WIDTHS)
def test_a_dragged_point_flips_the_verdict_while_it_is_held(open_lab: Callable[..., Any], width: str) -> None:
    lab = open_lab(width)
    lab.press("End")
    assert lab.text("#verdict-title") == "A line through the origin separates them"
    lab.grab(-1, 2)
    lab.carry(2.5, 1.2)
    assert lab.text("#verdict-title") == "No line through the origin separates them"
    assert "no bound" in lab.text(BOUND)
    lab.carry(-1, 2)
    assert lab.text("#verdict-title") == "A line through the origin separates them"
    assert "5 mistakes; the theorem allows at most 17" in lab.text(BOUND)
    lab.drop()


def test_one_drag_is_one_undo(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.press("End")
    lab.drag((1, 4), (-1, 4))
    assert "at most 170" in lab.text(BOUND)
    assert lab.page.locator("#redo").is_disabled()
    lab.press("Control+z")
    assert "5 mistakes; the theorem allows at most 17" in lab.text(BOUND)
    assert lab.page.locator("#undo").is_disabled()
    lab.press("Control+y")
    assert "at most 170" in lab.text(BOUND)


def test_points_are_painted_flipped_and_deleted(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    start = int(lab.text("#evidence h2 >> nth=0").split()[0])
    lab.page.get_by_role("button", name="Paint blue points").click()
    lab.grab(3, 0)
    lab.carry(3, 4, steps=20)
    lab.drop()
    label = lab.page.get_attribute("#plane-0", "aria-label")
    assert start == 0
    painted = int(label.split(" on ")[1].split(" point")[0]) - 5
    assert painted >= 3
    lab.press("Control+z")
    assert "on 5 points" in lab.page.get_attribute("#plane-0", "aria-label")
    lab.page.get_by_role("button", name="Flip labels").click()
    lab.page.mouse.click(*lab.place(1, 4))
    lab.press("]")
    assert "Selected: orange 1 at 1, 4" in lab.page.get_attribute("#plane-0", "aria-label")
    lab.page.get_by_role("button", name="Delete points").click()
    lab.page.mouse.click(*lab.place(1, 4))
    lab.settle()
    assert "on 4 points" in lab.page.get_attribute("#plane-0", "aria-label")


def test_the_start_is_dragged_in_weight_space(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.press("End")
    canvas = lab.page.locator("#evidence .frame.boxed canvas")
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    lab.page.mouse.move(x - 60, y - 20, steps=6)
    lab.settle()
    assert "17" not in lab.text(BOUND)  # while held: another start, another bound
    lab.drop()
    assert "start" in lab.text("#evidence").lower()
    lab.press("Control+z")
    assert "5 mistakes; the theorem allows at most 17" in lab.text(BOUND)


def test_the_sentence_follows_every_rate_and_schedule(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.press("End")
    section = lab.section("Learner and options")
    rate = section.get_by_label("Rate", exact=True)
    rate.fill("0.25")
    rate.press("Enter")
    lab.settle()
    assert "5 mistakes; the theorem allows at most 17" in lab.text(BOUND)  # from start 0 the rate only scales w
    section.get_by_label("Schedule").select_option("inverse")
    lab.settle()
    assert "the theorem allows at most" in lab.text(BOUND)
    assert "at most 17." not in lab.text(BOUND)


def test_learners_stand_side_by_side_under_one_clock(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    for _ in range(3):
        lab.page.get_by_role("button", name="Add a learner beside it").click()
        lab.settle()
    assert lab.page.locator(".pane").count() == 4
    assert lab.page.locator(".rows .row").count() == 4
    assert lab.page.get_by_role("button", name="Add a learner beside it").count() == 0
    lab.press("End")
    lab.grab(1, 4, pane=1)
    lab.carry(1, 3, pane=1)
    lab.drop()
    boxes = [lab.page.locator(f"#plane-{k}").get_attribute("data-origin") for k in range(4)]
    assert len(set(boxes)) == 1  # the same axes in every pane
    lab.page.get_by_role("button", name="Remove this learner").first.click()
    lab.settle()
    assert lab.page.locator(".pane").count() == 3
