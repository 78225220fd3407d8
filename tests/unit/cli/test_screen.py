"""Pages on a terminal: within its width, in colours, with the verdict set off; plain elsewhere."""

from __future__ import annotations

import io
import re
import sys

import pytest
from rich import get_console
from typer.testing import CliRunner

from separatrix.cli import screen
from separatrix.cli.main import app
from separatrix.rendering.sheet import Grid, Sheet
from separatrix.rendering.text import render_text

COMMANDS = (
    "demo",
    "check demo:iris",
    "compare demo:students",
    "fit demo:breast-cancer",
    "fit demo:iris --target petal_width",
    "fit demo:iris --model perceptron --max-passes 5",
    "fit demo:five-points --model perceptron",
)
ESCAPE = re.compile("\x1b\\[[0-9;]*m")
NAMES = ("intercept", "a column of the table, named")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, width: int, *sheets: Sheet, no_color: bool = False) -> str:
    """Return what a terminal of some width gets."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(get_console(), "_force_terminal", None)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    screen.show(*sheets)
    return terminal.getvalue()


def grids() -> tuple[Grid, Grid]:
    heads = ("", "estimate", "std. error", "z", "p", "95 % CI", "")
    estimates = tuple((name, "−0.03496", "0.009320", "−3.751", "<0.001", "−0.05322", "−0.01669") for name in NAMES)
    return Grid(heads, estimates), Grid(("", "odds ratio", "95 % CI", ""), ((NAMES[1], "0.9656", "0.9482", "0.9834"),))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_is_plain_and_no_wider_than_80_columns_when_piped(command: str) -> None:
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_a_verdict_has_the_colour_of_its_tone_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    proved, opened = (Sheet("Evidence: so it is.", tone=tone) for tone in ("proved", "open"))
    assert "\x1b[1;35mEvidence: so it is." in shown(monkeypatch, 80, proved)
    assert "\x1b[1;33mEvidence: so it is." in shown(monkeypatch, 80, opened)
    assert "\x1b[1;31mEvidence: so it is." in shown(monkeypatch, 80, Sheet("Evidence: so it is.", tone="failed"))
    assert "\x1b[1;35m" not in shown(monkeypatch, 80, proved, no_color=True)


@pytest.mark.parametrize("width", [30, 80, 120])
def test_a_terminal_has_the_same_text_as_a_pipe_of_its_width(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    sheets = (Sheet("A title", grids(), lines=("a line " * 20,)), Sheet("Notes", lines=("50 % of it",)))
    seen = ESCAPE.sub("", shown(monkeypatch, width, *sheets))
    expected = render_text(*sheets, width=width)
    assert [line.rstrip() for line in seen.splitlines()] == expected.splitlines()
    assert width == 30 or max(map(len, seen.splitlines())) <= width  # a narrower one wraps lines: no digit is cut


def test_tables_of_the_same_rows_stand_side_by_side_where_they_fit() -> None:
    sheet = Sheet("Coefficients", grids())
    narrow, wide = render_text(sheet, width=80).splitlines(), render_text(sheet, width=120).splitlines()
    assert sum("odds ratio" in line and "estimate" in line for line in narrow) == 0
    assert sum("odds ratio" in line and "estimate" in line for line in wide) == 1
    assert "a column …ble, named  −0.03496" in narrow[4]
    assert f"  {NAMES[1]}  −0.03496" in wide[4]


def test_a_table_that_is_too_wide_is_split_evenly_and_repeats_its_names() -> None:
    heads = ("", *(f"learner {place}" for place in range(8)))
    lines = render_text(Sheet("Weights", (Grid(heads, (("x1", *["−12345.6"] * 8),)),)), width=60).splitlines()
    assert [line.split().count("learner") for line in lines if "learner" in line] == [4, 4]
    assert sum(line.startswith("  x1 ") for line in lines) == 2


def test_a_command_is_never_broken_but_a_long_name_is() -> None:
    command = f"separatrix verify {'folder/' * 20}model.json table.csv".replace(" ", "\N{NO-BREAK SPACE}")
    lines = render_text(Sheet("Next", lines=(command, "x" * 200)), width=80).splitlines()
    assert any(f"{'folder/' * 20}model.json table.csv" in line for line in lines)
    assert sum("xxx" in line for line in lines) == 3
