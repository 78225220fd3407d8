"""Every story from its question to its challenge, by mouse and by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

CHAPTERS = ["Predict", "Watch", "Why", "Break it", "Challenge"]
STORIES = [
    "five-points", "no-line", "margin", "which-line", "far-point", "runs-off", "xor", "interval", "rings", "outlier",
]  # fmt: skip
SOLUTIONS: dict[str, Callable[[Any], None]] = {
    "five-points": lambda lab: lab.drag((1, 4), (-1, 4)),
    "no-line": lambda lab: delete(lab, 3, 5),
    "margin": lambda lab: lab.drag((3, 0.5), (5.5, 0.5)),
    "which-line": lambda lab: lab.page.get_by_role("button", name="Visit orange 5 first").click(),
    "far-point": lambda lab: lab.drag((2, 3), (6.9, 3)),
    "runs-off": lambda lab: lab.drag((-1, 0), (1.5, 0)),
    "xor": lambda lab: lab.drag((1, 1), (0, 0)),
    "interval": lambda lab: lab.drag((-3, 0), (0.5, 0)),
    "rings": lambda lab: lab.drag((3, 0), (0, 0)),
    "outlier": lambda lab: paint(lab, -9, -3),
}
AHAS = {  # what the story has shown by the end of its second chapter
    "five-points": "Done: every point is on its own side.",
    "no-line": "At visit 650 it has the same w as at visit 605",
    "margin": "",
    "which-line": "2",
    "far-point": "Least mean squares: 1 point wrong. Perceptron: 0 points wrong.",
    "runs-off": "The likelihood has no maximum.",
    "xor": "14 of 16.",
    "interval": "",
    "rings": "9 mistakes, on 8 points.",
    "outlier": "east squares 3, logistic 3, hinge 2, 0–1 1.",
}


def delete(lab: Any, x: float, y: float) -> None:
    lab.page.get_by_role("button", name="Delete points").click()
    lab.page.mouse.click(*lab.place(x, y))


def paint(lab: Any, x: float, y: float) -> None:
    lab.page.get_by_role("button", name="Paint blue points").click()
    lab.page.mouse.click(*lab.place(x, y))


def test_the_shelf_holds_the_ten_stories(lab: Any) -> None:
    assert lab.page.eval_on_selector_all("#shelf button", "all => all.map(b => b.dataset.id)") == STORIES


@pytest.mark.parametrize("story", STORIES)
def test_a_story_by_mouse(lab: Any, story: str) -> None:
    lab.story(story)
    assert [text.strip() for text in lab.page.locator("#chapters button").all_inner_texts()] == CHAPTERS
    assert lab.text("#title").endswith("?")
    lab.page.locator("#answers .pill").first.click()
    lab.press("End")
    assert AHAS[story] in f"{lab.text('#title')} {lab.text('#text')}"
    for name in CHAPTERS[2:]:
        lab.page.locator("#answers .pill.go").click()
        lab.settle()
        assert lab.text("#chapters [aria-current]") == name
    assert "Challenge" in lab.text("#title")
    SOLUTIONS[story](lab)
    lab.settle()
    assert lab.text("#title").startswith("Done"), lab.text("#text")
    assert "solved" in lab.page.get_attribute(f"#shelf button[data-id='{story}']", "class")
    following = STORIES[STORIES.index(story) + 1 :][:1]
    assert lab.page.get_by_role("button", name="Next story").count() == len(following)


def tab_to(lab: Any, selector: str) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(90):
        if lab.page.evaluate("(s) => document.activeElement?.matches(s)", selector):
            return
        lab.page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reaches {selector}")


@pytest.mark.parametrize("story", STORIES)
def test_a_story_by_keyboard_alone(lab: Any, story: str) -> None:
    tab_to(lab, f"#shelf button[data-id='{story}']")
    lab.press("Enter")
    tab_to(lab, "#answers .pill")
    lab.press("Enter", "End")
    assert AHAS[story] in f"{lab.text('#title')} {lab.text('#text')}"
    for name in CHAPTERS[2:]:
        tab_to(lab, "#answers .pill.go")
        lab.press("Enter")
        assert lab.text("#chapters [aria-current]") == name


def test_a_challenge_by_keyboard_alone(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    tab_to(lab, "#chapters li:last-child button")
    lab.press("Enter", "]")
    assert "Selected: blue 1 at 1, 4" in lab.page.get_attribute("#plane-0", "aria-label")
    lab.press(*["Shift+ArrowLeft"] * 20)
    assert lab.text("#title") == "Done: the theorem now allows 170 mistakes."
    lab.press("f")
    assert "Selected: orange 1 at -1, 4" in lab.page.get_attribute("#plane-0", "aria-label")
    lab.press("Delete", "Control+z", "Control+z")
    assert lab.text("#title") == "Done: the theorem now allows 170 mistakes."


def test_the_answer_is_not_given_away(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.story("no-line")
    assert lab.text("#verdict-title") == "Can a line separate them?"
    assert not lab.page.locator("#proof").is_visible()
    assert "no line" not in lab.text("#evidence").lower()
    lab.page.get_by_role("button", name="Never").click()
    lab.settle()
    assert lab.text("#verdict-title") == "No line separates them"
    lab.press("p")
    assert lab.page.get_attribute("#proof", "aria-pressed") == "true"
