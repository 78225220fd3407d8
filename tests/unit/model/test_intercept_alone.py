"""A table without a usable column: the mean or the rate, with its error, through every door."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.main import app
from separatrix.errors import DataError
from separatrix.model.certified import verify


def table(path: Path, target: str) -> Path:
    rng = np.random.default_rng(0)
    numbers, classes = rng.normal(3.0, size=30), rng.choice(["a", "b", "b"], size=30)
    values = numbers if target == "y" else classes
    path.write_text(f"{target},k\n" + "\n".join(f"{value},1" for value in values) + "\n", encoding="utf-8")
    return path


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [*map(str, words)])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("target", ["y", "c"])
def test_the_command_line_fits_saves_predicts_and_verifies_it(tmp_path: Path, target: str) -> None:
    data, model, page = table(tmp_path / "t.csv", target), tmp_path / "m.json", tmp_path / "r.html"
    shown = run("fit", data, "--target", target, "--out", model, "--report", page)
    assert "30 rows, an intercept alone, no penalty" in shown
    assert "'k' is left out: it is 1 in every row" in shown
    assert "an intercept alone" in page.read_text(encoding="utf-8")
    (term,) = json.loads(run("fit", data, "--target", target, "--json"))["summary"]["terms"]
    assert (term["name"], term["p_value"] is not None) == ("intercept", True)
    assert "all hold" in run("verify", model, data)
    assert "prediction" in run("predict", model, data)
    assert "SELECT" in run("export", model, "--to", "sql")
    assert "intercept" in run("summary", model)


def test_the_mean_is_that_of_the_rows(tmp_path: Path) -> None:
    source = table(tmp_path / "t.csv", "y")
    y = np.loadtxt(source, delimiter=",", skiprows=1)[:, 0]
    model = sx.train(source, "y")
    assert model.intercept[0] == pytest.approx(y.mean(), rel=1e-12)
    assert verify(model, source)
    predicted = model.predict(source)
    assert predicted.intervals is not None
    assert predicted.intervals.upper[0] - y.mean() == pytest.approx(2.045229642 * y.std(ddof=1) / np.sqrt(30), rel=1e-9)


def test_other_learners_need_a_column(tmp_path: Path) -> None:
    for model in ("perceptron", "svm", sx.LogisticRegression(fit_intercept=False)):
        with pytest.raises(DataError, match="has no column left to predict 'c' from; 'k' is left out"):
            sx.train(table(tmp_path / "t.csv", "c"), "c", model=model)
    with pytest.raises(ValueError, match=r"0 feature\(s\) .* minimum of 1 is required"):
        sx.LinearRegression().fit(np.zeros((5, 0)), np.arange(5.0))


def test_a_penalty_on_constant_columns_alone_fits_the_intercept(tmp_path: Path) -> None:
    source = table(tmp_path / "constant.csv", "y")
    model = sx.train(str(source), target="y", strength=0.1)
    values = [float(line.partition(",")[0]) for line in source.read_text(encoding="utf-8").splitlines()[1:]]
    assert model.coef.shape[1] == 0
    assert model.intercept[0] == pytest.approx(np.mean(values), rel=1e-9)
