"""Laws of the command line: every demo and every learner, every verb and what it prints."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.main import app
from separatrix.families import options
from separatrix.families.options import FAMILIES
from separatrix.tables.demos import DEMOS

LIMITS = {
    "perceptron": ("--max-passes", "50"),
    "kernel_perceptron": ("--max-passes", "20"),
    "zero_one": ("--max-steps", "3"),
    "lms": ("--max-passes", "500"),
}


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_every_family_is_a_module_with_a_fit() -> None:
    folder = Path(options.__file__).parent
    modules = {kind.module for kind in FAMILIES.values()}
    assert {file.stem for file in folder.glob("*.py")} == {
        "__init__",
        "aliased",
        "base",
        "familiar",
        "options",
        "penalised",
        *modules,
    }
    for module in modules:
        assert callable(import_module(f"separatrix.families.{module}").fit)


REFUSALS = {"linear": "a regression needs numbers", "halfspace": "no halfspace", "max_margin": "no halfspace"}


@pytest.mark.slow
@pytest.mark.parametrize("model", ["auto", *FAMILIES])
@pytest.mark.parametrize("demo", DEMOS)
def test_every_family_takes_every_demo_or_says_why_not(demo: str, model: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    result = run("fit", f"demo:{demo}", "--model", model, "--out", str(path), "--json", *LIMITS.get(model, ()))
    if result.exit_code == 2:
        assert result.stderr.startswith("error: ")
        assert REFUSALS[model] in result.stderr
        return
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    kept = sx.load_model(path)
    assert kept.coef.tolist() == content["coef"]
    predicted = kept.predict(sx.read_table(f"demo:{demo}"))
    judged = content["evaluation"]["own"]
    if kept.classes is not None:
        truth = sx.read_table(f"demo:{demo}")
        right = predicted.labels == sx.load_demo(demo)[1]
        assert judged["accuracy"]["value"] == pytest.approx(right.mean())
        assert truth.n_rows == judged["rows"]
    verified = run("verify", str(path), f"demo:{demo}", "--json")
    assert verified.exit_code == 0, verified.output
    page = run("fit", f"demo:{demo}", "--model", model, *LIMITS.get(model, ()))
    assert page.exit_code == 0
    assert max(map(len, page.stdout.splitlines())) <= 100


@pytest.mark.parametrize("demo", DEMOS)
def test_what_is_predicted_from_a_file_is_what_the_fit_predicted(demo: str, tmp_path: Path) -> None:
    path, out = tmp_path / "model.json", tmp_path / "predictions.jsonl"
    assert run("fit", f"demo:{demo}", "--out", str(path)).exit_code == 0
    assert run("predict", str(path), f"demo:{demo}", "--out", str(out)).exit_code == 0
    own = sx.load_model(path).predict(sx.read_table(f"demo:{demo}"))
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [line["prediction"] for line in lines] == own.labels.tolist()


VERBS = [command.callback.__name__.replace("_", "-") for command in app.registered_commands if command.callback]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_an_example_and_json(verb: str) -> None:
    shown = run(verb, "--help")
    assert shown.exit_code == 0
    assert f"Example: separatrix {verb if verb != 'demo' else 'fit'}" in shown.stdout
    assert "--json" in shown.stdout
    assert run(verb, "--no-such-option").exit_code == 2
