"""Documentation shows real output: console blocks are run and compared, docstring examples too."""

import doctest
import importlib
import pkgutil
import re
import shlex
import warnings
from pathlib import Path

import matplotlib
import pytest
from refresh_docs import with_marked_gaps
from typer.testing import CliRunner

import separatrix
from separatrix.cli.main import app

matplotlib.use("agg")
from matplotlib import pyplot  # after the backend is chosen

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = sorted(module.name for module in pkgutil.walk_packages(separatrix.__path__, "separatrix."))
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.fixture(autouse=True)
def _close_all():
    yield
    pyplot.close("all")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_blocks(page, tmp_path, monkeypatch):
    """The console blocks of a page are run in order, in a folder of their own, where one may use another's files."""
    monkeypatch.chdir(tmp_path)
    for block in CONSOLE.findall(page.read_text(encoding="utf-8")):
        command, _, expected = block.partition("\n")
        words = shlex.split(command)
        assert words[:2] == ["$", "separatrix"], "console blocks run separatrix"
        result = CliRunner().invoke(app, words[2:])
        told = f"{command}\n{result.output}"
        assert doctest.OutputChecker().check_output(expected, result.output, LENIENT), told


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks(page, capsys):
    """The Python blocks of a page, in order, are one session."""
    session = "\n".join(map(with_marked_gaps, PYTHON.findall(page.read_text(encoding="utf-8"))))
    examples = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    with warnings.catch_warnings():
        results = doctest.DocTestRunner(optionflags=LENIENT).run(examples)
    assert results.failed == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    if name.endswith("__main__"):
        pytest.skip("running it is its import")
    results = doctest.testmod(importlib.import_module(name), optionflags=LENIENT)
    assert results.failed == 0


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
