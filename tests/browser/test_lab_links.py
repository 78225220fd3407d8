"""The whole state in a link; links that are damaged, newer or hostile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

pytestmark = pytest.mark.slow

BOUND = "#evidence .figure.hero h2"
HOSTILE = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"


def copied(lab: Any) -> str:
    """Copy a link and return its fragment."""
    lab.page.click("#share")
    lab.wait("#toast", "link")
    return str(lab.page.evaluate("() => location.hash"))


def words(lab: Any) -> list[str]:
    """Return what tells one state from another."""
    return [lab.text(BOUND), lab.text("#verdict-title"), lab.page.get_attribute("#strip", "aria-valuetext")]


def test_a_link_brings_the_state_back(open_lab: Callable[..., Any]) -> None:
    lab = open_lab(permissions=["clipboard-read", "clipboard-write"])
    lab.press("End")
    fragment = copied(lab)
    assert len(fragment) < 2000
    assert fragment.startswith("#v1;five-points;")
    assert lab.page.evaluate("() => navigator.clipboard.readText()").endswith(fragment)
    lab.drag((1, 4), (-1, 4))
    section = lab.section("Learner and options")
    section.get_by_label("A score of 0").select_option("negative")
    lab.page.keyboard.press("Escape")
    lab.press("ArrowLeft")
    said = words(lab)
    fragment = copied(lab)
    assert len(fragment) < 2000
    other = open_lab("middle", fragment)
    other.settle()
    assert words(other) == said


def test_a_link_holds_several_learners_and_the_chapter(open_lab: Callable[..., Any]) -> None:
    lab = open_lab()
    lab.story("outlier")
    lab.chapter("Why")
    fragment = copied(lab)
    other = open_lab(fragment=fragment)
    assert other.page.locator(".pane").count() == 4
    assert other.text("#chapters [aria-current]") == "Why"
    assert other.text(".rows") == lab.text(".rows")


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("#v9;five-points;perceptron;0;0", "newer"),
        ("#v1;nowhere;perceptron;0;0", "damaged"),
        ("#v1;five-points;perceptron,rate=oops;0;0", "damaged"),
        ("#v1;five-points;perceptron;0;0;a<b>", "damaged"),
        ("#v1", "damaged"),
        ("#%00%ff", "damaged"),
        (f"#v1;{quote(HOSTILE)};perceptron;0;0", "damaged"),
    ],
)
def test_a_link_that_cannot_be_read_says_so(open_lab: Callable[..., Any], fragment: str, said: str) -> None:
    lab = open_lab(fragment=fragment)
    lab.wait("#toast", "newer lab (version 9" if said == "newer" else "link")
    assert ("newer" in lab.text("#toast")) == (said == "newer")
    assert lab.text(BOUND) == "0 mistakes; the theorem allows at most 17."
    assert lab.page.locator("img").count() == 0
    assert "owned" not in lab.page.title()


def test_names_in_links_are_text(open_lab: Callable[..., Any]) -> None:
    names = f"{quote(HOSTILE[:60], safe='')},{quote('*w* [=17]', safe='')}"
    fragment = f"#v1;own;perceptron;0;0;ap1_1~m-1_-1;{names};{quote('<b>no', safe='')},{quote('[+yes]', safe='')}"
    lab = open_lab(fragment=fragment)
    lab.settle()
    assert "<b>no" in lab.text("#key")
    assert "[+yes]" in lab.text("#key")
    assert lab.page.locator("img").count() == 0
    assert "owned" not in lab.page.title()
    lab.press("End", "o")
    assert lab.page.locator("#stage b:text('no')").count() == 0
