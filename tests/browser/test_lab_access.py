"""Everything by keyboard, named figures, axe without violations, reduced motion, zoom, touch, forced colours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

WIDTHS = ["wide", "middle", "phone"]
FITS = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1"


def violations(lab: Any) -> list[str]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe needs axe-playwright-python")
    found = axe.Axe().run(lab.page).response["violations"]
    return [f"{item['id']}: {node['html'][:160]}" for item in found for node in item["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", ["wide", "middle", "phone"])
def test_axe_finds_nothing(open_lab: Callable[..., Any], width: str, scheme: str) -> None:
    lab = open_lab(width, color_scheme=scheme)
    lab.press("End", "p")
    assert violations(lab) == []
    lab.story("outlier")
    for section in ["Learner and options", "Data", "The same in Python", "Save and share", "Table of updates", "Keys"]:
        lab.section(section)
    assert violations(lab) == []


def test_tab_goes_round_the_page_without_a_trap(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.page.click("#menu")
    seen = []
    for _ in range(110):
        lab.page.keyboard.press("Tab")
        seen.append(lab.page.evaluate("() => document.activeElement?.id || document.activeElement?.tagName"))
    assert {"skip", "menu", "plane-0", "play", "strip", "proof", "SUMMARY"} <= set(seen)
    lab.page.focus("#drawer summary")
    lab.press("Escape")
    assert not lab.page.locator("#drawer").is_visible()
    assert lab.page.evaluate("() => document.activeElement.id") == "menu"


def test_the_strip_is_a_slider_with_words(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.page.focus("#strip")
    lab.press("ArrowRight")
    assert lab.page.get_attribute("#strip", "aria-valuetext") == "visit 3 of 17, 1 mistake"
    lab.press(".")
    assert lab.page.get_attribute("#strip", "aria-valuenow") == "4"
    lab.press(",", ",", ",")
    assert lab.page.get_attribute("#strip", "aria-valuenow") == "1"
    lab.press("End")
    assert lab.page.get_attribute("#strip", "aria-valuetext") == "visit 17 of 17, 5 mistakes"
    lab.press("Home", "Space")
    assert lab.page.get_attribute("#play", "aria-label") == "Pause"


def test_the_live_region_speaks_the_verdict(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.wait("#live", "A line through the origin separates them. Proved: margin γ = 1")
    lab.drag((-1, 2), (2.5, 1.2))
    lab.wait("#live", "No line through the origin separates them")


def test_figures_are_named(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.press("End")
    names = lab.page.eval_on_selector_all(
        "canvas:not([aria-hidden])", "all => all.map(c => c.getAttribute('aria-label'))"
    )
    assert all(names)
    assert any("5 mistakes; the theorem allows at most 17" in name for name in names)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window(open_lab: Callable[..., Any], width: str) -> None:
    lab = open_lab(width)
    for story in ["five-points", "which-line", "outlier"]:
        lab.story(story)
        assert lab.page.evaluate(FITS)


def test_twice_the_size_fits(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.page.set_viewport_size({"width": 720, "height": 450})  # what 200 % leaves of 1440 × 900
    lab.settle()
    assert lab.page.evaluate(FITS)
    assert lab.page.locator("#play").is_visible()
    lab.press("End")
    assert "5 mistakes" in lab.text("#evidence h2")


def test_a_finger_scrolls_beside_the_points(open_lab: Callable[..., Any]) -> None:
    lab = open_lab("phone")
    assert lab.page.evaluate("() => getComputedStyle(document.getElementById('plane-0')).touchAction") == "pan-y"
    touched = """([x, y]) => {
      const canvas = document.getElementById("plane-0");
      const touch = new Touch({ identifier: 1, target: canvas, clientX: x, clientY: y });
      const event = new TouchEvent("touchstart", { touches: [touch], bubbles: true, cancelable: true });
      return canvas.dispatchEvent(event);
    }"""
    assert lab.page.evaluate(touched, list(lab.place(1, 4))) is False  # on a point: the point moves
    assert lab.page.evaluate(touched, list(lab.place(3, 3))) is True  # beside: the page scrolls


def test_forced_colours_and_big_screens(open_lab: Callable[..., Any]) -> None:
    lab = open_lab(forced_colors="active")
    lab.press("End", "p")
    assert "5 mistakes" in lab.text("#evidence h2")
    big = open_lab(fragment="?big")
    big.press("End")
    assert big.page.evaluate("() => document.documentElement.classList.contains('big')")
    assert big.page.evaluate(FITS)


def test_colours_follow_the_button(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    background = "() => getComputedStyle(document.body).backgroundColor"
    light = lab.page.evaluate(background)
    lab.page.click("#theme")
    assert lab.page.evaluate(background) != light
    lab.press("t")
    assert lab.page.evaluate(background) == light
