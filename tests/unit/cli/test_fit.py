"""`separatrix fit`: the page, the JSON, the files, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.main import app
from separatrix.tables.demos import load_demo

HEADER = "size,colour,sold,price\n"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def words(*arguments: str) -> str:
    """Return what a verb prints with single spaces, however it was wrapped; it must succeed."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert max(len(line) for line in result.stdout.splitlines() if "/" not in line) <= 100  # paths may be long
    return " ".join(result.stdout.split())


def content(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refusal(*arguments: str) -> str:
    """Return the one line with which something is refused."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return str(result.stderr).removeprefix("error: ").rstrip("\n")


@pytest.fixture
def houses(tmp_path: Path) -> str:
    """Forty rows whose price is 3·size, 10 more if red, with gaps; sold is yes for the dear half."""
    rows = []
    for k in range(40):
        size, colour = 5.0 + (k * 7) % 40 + 0.25 * (k % 3), ("red", "green", "blue")[k % 3]
        price = 3.0 * size + 10.0 * (colour == "red") + 0.5 * ((k * 11) % 5 - 2)
        sold = "yes" if price + 30.0 * ((k * 5) % 4 - 1.5) > 80.0 else "no"
        rows.append(f"{'' if k in {3, 17} else size},{'' if k == 5 else colour},{sold},{price}\n")
    path = tmp_path / "houses.csv"
    path.write_text(HEADER + "".join(rows), encoding="utf-8")
    return str(path)


# The page


def test_classes_are_fitted_by_logistic_regression_with_a_penalty_where_they_are_separated() -> None:
    page = words("fit", "demo:breast-cancer", "--holdout", "0.2")
    titles = ("Logistic regression: ", "How well", "Coefficients: ", "Evidence: ", "Notes", "Next")
    assert [page.index(title) for title in titles] == sorted(page.index(title) for title in titles)
    assert page.startswith('Logistic regression: P(diagnosis = "malignant"), 569 rows, 30 columns, ridge penalty How')
    assert 'log-odds of diagnosis = "malignant" per unit of each column' in page
    assert "Evidence: The classes are completely separated, so that the likelihood has no maximum; the" in page
    assert "is unique, and was found within a relative gap of" in page
    assert "; verified on the data." in page
    assert "diagnosis: benign in 357 rows, malignant in 212 rows" in page
    assert "The model is evaluated on 114 held-out rows" in page
    assert "accuracy 0.9877 0." in page
    assert "the first 20 of 30 coefficients, in the order of the model; separatrix summary MODEL --all" in page
    assert "Next · --out model.json saves the model" in page
    assert "--firth gives finite, bias-reduced estimates" in page


def test_numbers_are_fitted_by_least_squares_with_errors_and_gaps_are_told(houses: str) -> None:
    page = words("fit", houses, "--target", "price", "--drop", "sold", "--cv", "4")
    assert page.startswith("Linear regression: price, 37 rows, 2 columns, no penalty How")
    assert "different numbers, so it is read as a number" in page
    assert "columns: 1 number, 1 category, as 3 features" in page
    assert "column 'size': 2 cells of 40 missing · column 'colour': 1 cell of 40 missing" in page
    assert "3 rows with a missing cell are left out" in page
    assert "'sold' is left out: as requested" in page
    assert "The design matrix has full column rank, so the least-squares solution is unique; it was found" in page
    assert "The model is evaluated on all rows by 4-fold cross-validation" in page
    assert "R² 0.9" in page
    assert "estimate std. error t p 95 % CI" in page
    found = content("fit", houses, "--target", "price", "--drop", "sold", "--where", "size is not null")
    assert found["data"]["rows"] == 37
    size = next(term for term in found["summary"]["terms"] if term["name"] == "size")
    assert size["estimate"] == pytest.approx(3.0, abs=0.02)
    assert size["lower"] < 3.0 < size["upper"]


def test_the_reference_level_is_chosen_or_asked_for(houses: str) -> None:
    options = ("fit", houses, "--target", "price", "--drop", "sold")
    assert content(*options)["features"] == ["size", "colour=blue", "colour=red"]
    imputed = content(*options, "--missing", "impute")
    assert imputed["features"][2:] == ["colour=blue", "colour=green", "colour=(missing)"]
    assert all(term["standard_error"] is None for term in imputed["summary"]["terms"])
    asked = content(*options, "--reference", "colour=blue", "--missing", "drop")
    assert asked["features"] == ["size", "colour=green", "colour=red"]
    assert asked["data"]["rows"] == 37
    assert "is not of the form COLUMN=LEVEL" in refusal(*options, "--reference", "colour")
    assert "colour" in refusal(*options, "--reference", "colour=pink")
    assert "is missing in 2 rows" in refusal(*options, "--missing", "error")


def test_a_query_makes_the_table(houses: str) -> None:
    query = "select size, price, size * size as area from t where colour = 'green'"
    found = content("fit", houses, "--target", "price", "--sql", query)
    assert found["features"][:2] == ["size", "area"] or found["features"] == ["size", "size is missing", "area"]
    assert 10 <= found["data"]["rows"] <= 13


def test_each_strength_is_obeyed(houses: str) -> None:
    options = ("fit", houses, "--target", "price", "--drop", "sold")
    plain, strong = content(*options, "--strength", "0"), content(*options, "--strength", "1000")
    assert plain["options"]["strength"] == 0.0
    assert strong["options"]["strength"] == 1000.0
    assert abs(strong["coef"][0][0]) < 0.1 * abs(plain["coef"][0][0])
    chosen = content(*options, "--strength", "cv", "--l1-ratio", "1")
    assert chosen["options"]["strength"] > 0.0
    assert any("chosen by cross-validation in 5 folds" in sentence for sentence in chosen["decisions"])


def test_the_seed_decides_which_rows_are_kept_apart(houses: str) -> None:
    def apart(seed: str) -> Any:
        options = ("--target", "price", "--drop", "sold", "--holdout", "0.25", "--seed", seed)
        return content("fit", houses, *options)["evaluation"]["apart"]["rmse"]["value"]

    assert apart("1") == apart("1")
    assert apart("1") != apart("2")


@pytest.mark.parametrize("model", ["logistic", "svm", pytest.param("lms", marks=pytest.mark.slow), "generative"])
def test_each_classifier_keeps_its_verdict_and_accuracy(model: str) -> None:
    found = content("fit", "demo:iris", "--model", model)
    assert (found["estimator"], found["classes"]) == (model, ["setosa", "versicolor", "virginica"])
    assert found["evaluation"]["own"]["accuracy"]["value"] >= 0.8
    assert f"{sx.load_demo('iris')[0].shape[0]}" in str(found["data"]["rows"])
    assert found["decisions"][1].endswith("as given")
    assert "of each species per unit of each column; the highest wins" in words("fit", "demo:iris", "--model", model)


def test_without_an_intercept_none_is_told() -> None:
    found = content("fit", "demo:five-points", "--no-intercept")
    assert found["intercept"] == [0.0]
    assert " intercept " not in words("fit", "demo:five-points", "--no-intercept").partition("Weights")[2]


# JSON and files


def test_json_is_the_model_file_with_more_in_it(tmp_path: Path) -> None:
    kept, printed = tmp_path / "kept.json", tmp_path / "printed.json"
    told = run("fit", "demo:iris", "--out", str(kept), "--json").stdout
    printed.write_text(told, encoding="utf-8")
    first, second = sx.load_model(kept), sx.load_model(printed)
    assert first.coef.tolist() == second.coef.tolist()
    assert set(json.loads(told)) - set(json.loads(kept.read_text(encoding="utf-8"))) == {
        "decisions",
        "evaluation",
        "work",
    }
    assert run("verify", str(printed), "demo:iris").exit_code == 0


def test_the_same_fit_makes_the_same_file(tmp_path: Path) -> None:
    paths = [tmp_path / "first.json", tmp_path / "second.json"]
    for path in paths:
        assert run("fit", "demo:students", "--out", str(path)).exit_code == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_the_page_says_what_to_do_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    for options in ((), ("--model", "perceptron")):
        page = run("fit", "demo:students", "--out", str(path), *options).stdout
        assert f"  · separatrix predict {path} TABLE --out predictions.csv" in page
    assert "--out no-such-folder/model.json cannot be written" in refusal(
        "fit", "demo:students", "--out", "no-such-folder/model.json"
    )


def test_a_sparse_file_is_fitted_and_predicted(tmp_path: Path) -> None:
    path, model = tmp_path / "rows.libsvm", tmp_path / "model.json"
    lines = [f"{1 if k % 3 else -1} 1:{k} 3:{(k * 7) % 5}" for k in range(1, 31)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = content("fit", str(path), "--out", str(model))
    assert found["features"] == ["x1", "x3"]
    assert found["encoding"]["omitted"][0]["name"] == "x2"
    assert run("verify", str(model), str(path)).exit_code == 0
    assert json.loads(run("predict", str(model), str(path), "--json").stdout)["rows"] == 30
    assert "sparse file" in refusal("fit", str(path), "--where", "x1 > 3")


# What is refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "logistc"), "did you mean 'logistic'?"),
        (("--target", "diagnose"), "has no column 'diagnose'; did you mean 'diagnosis'?"),
        (("--strength", "much"), "--strength 'much' is not known; give a number of at least 0, or"),
        (("--strength", "-1"), "--strength -1 is out of range; give a finite number of at least 0"),
        (("--holdout", "2"), "--holdout 2.0 is out of range; give a share between 0 and 1"),
        (("--holdout", "0.0001"), "--holdout 0.0001 is less than one of 569 rows; give a larger share, as 0.2"),
        (("--order", "random"), "--order 'random' is for solver="),
        (("--model", "lms", "--l1-ratio", "0.5"), "--l1-ratio is an option of logistic and linear, not of lms"),
        (("--l1-ratio", "0.5"), "--l1-ratio is about a penalty; ask for one with --strength cv or a number above 0"),
        (("--l1-ratio", "0.5", "--strength", "0"), "ask for one with --strength cv or a number above 0"),
        (
            ("--model", "svm", "--l1-ratio", "0.5"),
            "--l1-ratio is an option of logistic and linear, not of svm",
        ),
        (("--model", "linear"), "a regression needs numbers"),
        (("--model", "generative", "--no-intercept"), "--intercept is an option of logistic, linear, svm"),
        (("--missing", "fill"), "--missing 'fill' is not one of 'auto', 'impute', 'drop', 'error'"),
        (("--drop", "mean_radios"), "did you mean 'mean_radius'?"),
        (("--positive", "bening"), "did you mean 'benign'?"),
        (("--where", "no such thing"), "where"),
    ],
)
def test_options_that_cannot_be_taken_are_refused_in_one_line(options: tuple[str, ...], message: str) -> None:
    assert message in refusal("fit", "demo:breast-cancer", *options)


def test_folds_are_not_named_where_none_were_asked_for(houses: str) -> None:
    told = "--holdout 0.001 is less than one of 40 rows; give a larger share, as 0.2"
    assert refusal("compare", houses, "--target", "sold", "--holdout", "0.001") == told
    few = ("--target", "price", "--drop", "sold", "--sql", "SELECT * FROM t LIMIT 4", "--strength", "cv")
    assert (
        refusal("fit", houses, *few)
        == "--cv-folds 5 folds are more than there are rows (n_samples=4); give a strength, as 0.1"
    )


def test_predict_asks_for_rows_and_names_the_nearest_column(houses: str, tmp_path: Path) -> None:
    model = str(tmp_path / "m.json")
    assert "did you mean 'sold'" in refusal("fit", houses, "--target", "SOLD")
    assert run("fit", houses, "--target", "sold", "--out", model).exit_code == 0
    (tmp_path / "none.csv").write_text(HEADER, encoding="utf-8")
    assert refusal("predict", model, str(tmp_path / "none.csv")).endswith("'sold', 'price'; add rows")


def test_help_comes_without_numpy() -> None:
    shown = run("fit", "--help").stdout
    for option in ("--target", "--model", "--out", "--report", "--json", "--holdout", "--cv", "--strength", "--where"):
        assert option in shown
    assert "[default: auto]" in shown or "auto" in shown


# The library's own call


def test_train_takes_a_path_a_frame_or_a_table(houses: str) -> None:
    import pandas

    found = sx.train(houses, target="price", drop=["sold"])
    table = sx.read_table(houses)
    again = sx.train(table, target="price", drop=["sold"])
    framed = sx.train(pandas.read_csv(houses), target="price", drop=["sold"])
    assert found.coef.tolist() == again.coef.tolist()
    assert framed.coef == pytest.approx(found.coef, rel=1e-12)
    assert found.estimator == "linear"


def test_the_command_line_and_the_library_agree(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    assert run("fit", "demo:iris", "--out", str(path)).exit_code == 0
    assert sx.load_model(path).coef.tolist() == sx.train("demo:iris").coef.tolist()
    X, y = load_demo("iris")
    predictions = sx.load_model(path).predict(sx.read_table("demo:iris"))
    assert float(np.mean(predictions.labels == y)) > 0.95
    assert len(X) == len(predictions.labels)


def test_a_report_is_written_with_the_command_that_makes_it_again(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    result = run("fit", "demo:students", "--report", str(path))
    assert result.exit_code == 0, result.output
    assert f"report written to {path}" in " ".join(result.stdout.split())
    page = path.read_text(encoding="utf-8")
    assert "separatrix fit demo:students --report" in page
    assert "--report no-such-folder/report.html cannot be written" in refusal(
        "fit", "demo:students", "--report", "no-such-folder/report.html"
    )


def test_a_table_may_come_from_standard_input(houses: str) -> None:
    text = Path(houses).read_text(encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "separatrix.cli", "fit", "-", "--target", "price", "--json"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(ended.stdout)["data"]["rows_in_table"] == 40


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_verbs(shell: str) -> None:
    settings = {**os.environ, "_SEPARATRIX_COMPLETE": f"source_{shell}"}
    command = [sys.executable, "-c", "from separatrix.cli.main import main; main()"]
    shown = subprocess.run(command, env=settings, capture_output=True, text=True, check=False).stdout
    assert "separatrix" in shown
    assert "_SEPARATRIX_COMPLETE" in shown


# Kernel machines


def test_a_kernel_machine_goes_through_every_verb(tmp_path: Path) -> None:
    model, report, out = (str(tmp_path / name) for name in ("model.json", "report.html", "predictions.csv"))
    options = ("--model", "kernel_svm", "--kernel", "polynomial", "--degree", "2")
    page = words("fit", "demo:iris", *options, "--out", model, "--report", report, "--cv", "3")
    assert "Support vectors" in page
    assert "PolynomialKernel(gamma=" in page
    assert "support vectors" in Path(report).read_text(encoding="utf-8")
    assert "150 rows written" in words("predict", model, "demo:iris", "--out", out)
    assert "coefficients: scores by" in words("verify", model, "demo:iris")
    assert "Support vectors" in words("summary", model)
    assert "not a sum over columns that could be exported" in refusal("export", model, "--to", "sql")


def test_a_precomputed_kernel_of_a_table_is_refused() -> None:
    told = refusal("fit", "demo:iris", "--model", "kernel_svm", "--kernel", "precomputed")
    assert told.startswith("--kernel 'precomputed' is a matrix of rows against rows, which a model of columns cannot")


def test_the_type_of_a_column_may_be_said(tmp_path: Path) -> None:
    path, model = tmp_path / "visits.csv", tmp_path / "model.json"
    rows = (f"{k % 3 + 1},2020010{k % 3 + 1},{(k * 7) % 11}\n" for k in range(60))
    path.write_text("clinic,day,cost\n" + "".join(rows), encoding="utf-8")
    options = ("fit", str(path), "--target", "cost", "--drop", "day")
    assert content(*options)["features"] == ["clinic"]
    assert content(*options, "--category", "clinic", "--out", str(model))["features"] == ["clinic=2", "clinic=3"]
    assert content(*options, "--category", "clinic", "--reference", "clinic=3")["features"] == ["clinic=1", "clinic=2"]
    assert "'clinic' is requested as a category and a number" in refusal(
        *options, "--number", "clinic", "--reference", "clinic=1"
    )
    assert "column 'clinic' has '1', which is no date (60 such cells)" in refusal(*options, "--date", "clinic")
    assert "has no column 'clinc'; did you mean 'clinic'?" in refusal(*options, "--category", "clinc")
    assert run("verify", str(model), str(path)).exit_code == 0
    assert "leave those options out" in refusal("verify", str(model), str(path), "--category", "clinic")
