"""Sheets as HTML: every text is shown and none is obeyed; jinja2 is loaded only for HTML."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser

import pytest

from separatrix.rendering.html import render_html, render_template
from separatrix.rendering.sheet import Grid, Sheet
from separatrix.rendering.text import render_text

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{7*7}}",
    "{% for x in range(9) %}x{% endfor %}",
    "</style><script>x",
    "&lt;b&gt;",
)


class Shown(HTMLParser):
    """The text of a fragment, and its tags with their attributes."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.tags, self.attributes = "", set[str](), set[str]()
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("evil", HOSTILE)
def test_hostile_texts_come_out_inert(evil: str) -> None:
    sheet = Sheet(evil, (Grid((evil, evil), ((evil, evil),), evil),), ((evil, evil),), (evil,), (evil,))
    shown = Shown(render_html(sheet))
    assert shown.text.count(evil) >= 10
    assert not shown.tags & {"script", "img", "b"}
    assert not any(name.startswith("on") for name in shown.attributes)
    assert "49" not in shown.text


def test_characters_that_no_page_may_have_are_replaced() -> None:
    text = render_html(Sheet("a\x00b\ud800c\x07", ()))
    assert "A\\x00b\N{REPLACEMENT CHARACTER}c\\x07." in text


def test_quoted_names_keep_their_direction_of_writing() -> None:
    text = render_html(Sheet("the column 'עמודה' is constant", ()))
    assert "The column <bdi>&#39;עמודה&#39;</bdi> is constant." in text


def test_text_and_html_have_the_same_cells() -> None:
    sheet = Sheet("Weights", (Grid(("", "weight"), (("x1", "5.00000"), ("x2", "−1.0"))),), lines=("one line",))
    text, shown = render_text(sheet), Shown(render_html(sheet))
    for cell in ("Weights", "weight", "x1", "5.00000", "x2", "−1.0", "ne line"):
        assert cell in text
        assert cell in shown.text


def test_a_missing_value_of_a_template_is_an_error() -> None:
    with pytest.raises(Exception, match="'sheet' is undefined"):
        render_template("rendering/notebook.html.j2")


def test_wide_grids_have_short_heads_in_text() -> None:
    heads = ("", *(f"a class with a long name, number {place}" for place in range(5)))
    lines = render_text(Sheet("Weights", (Grid(heads, (("x", *"12345"),)),))).splitlines()
    assert max(map(len, lines)) <= 100
    assert "a class…number 4" in lines[2]


@pytest.mark.parametrize(
    "code", ["import separatrix", "from separatrix.cli.main import app", "import separatrix.reports.report"]
)
def test_jinja2_is_loaded_only_for_html(code: str) -> None:
    check = f"{code}; import sys; assert 'jinja2' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
