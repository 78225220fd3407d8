"""`predict`, `export`, `summary` and `verify` of model files."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.certificates.base import certificate_from_dict
from separatrix.cli.main import app
from separatrix.errors import CertificateError


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def words(result: Any) -> str:
    return " ".join(result.stdout.split())


def refusal(*arguments: str) -> str:
    """Return the one line with which something is refused."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return str(result.stderr).removeprefix("error: ").rstrip("\n")


@pytest.fixture
def shop(tmp_path: Path) -> tuple[str, str]:
    """A table with gaps and categories, and a model of it in a file."""
    rows = [
        f"{k},{'' if k in {4, 9, 20, 33} else 10 + (k * 13) % 37},{('north', 'south', 'west')[k % 3]},"
        f"{'yes' if ((k * 13) % 37 > 15) != (k % 7 == 0) else 'no'}\n"
        for k in range(1, 61)
    ]
    table, model = tmp_path / "shop.csv", tmp_path / "model.json"
    table.write_text("id,age,region,bought\n" + "".join(rows), encoding="utf-8")
    result = run("fit", str(table), "--target", "bought", "--out", str(model))
    assert result.exit_code == 0, result.output
    return str(table), str(model)


# Predictions


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl", "csv.gz"])
def test_predictions_of_the_training_table_are_the_fits_own(shop: tuple[str, str], ending: str, tmp_path: Path) -> None:
    table, model = shop
    out = str(tmp_path / f"predictions.{ending}")
    result = run("predict", model, table, "--out", out, "--keep", "id")
    assert result.exit_code == 0, result.output
    assert words(result).startswith(f"60 rows written to {out} · predicted: ")
    assert "column 'age': 4 cells of 60 missing" in words(result)
    own = sx.load_model(model).predict(sx.read_table(table))
    written = sx.read_table(out, kinds={"score": "number", "prediction": "category", "id": "number"})
    assert written.column("prediction").words().tolist() == own.labels.tolist()
    assert written.column("score").values.tolist() == own.scores.tolist()
    assert {"id", "probability_no", "probability_yes", "distance", "lower", "upper"} <= set(written.names)


def test_without_a_file_the_first_rows_are_shown(shop: tuple[str, str]) -> None:
    table, model = shop
    shown = run("predict", model, table).stdout.splitlines()
    assert shown[2].split() == ["row", "prediction", "P(no)", "P(yes)", "score", "distance", "lower", "upper"]
    assert [line.split()[0] for line in shown[3:13]] == [str(row) for row in range(10)]
    assert "· row 3: age was missing and filled with 28.3571" in " ".join(shown)
    assert "60 rows of 8 columns in all; --out FILE writes them" in " ".join(shown)
    told = json.loads(run("predict", model, table, "--json").stdout)
    assert (told["rows"], len(told["columns"]["score"])) == (60, 60)
    few = run("predict", model, table, "--where", "id <= 3").stdout
    assert "in all" not in few


def test_odd_cells_are_counted_and_told_never_silently_wrong(shop: tuple[str, str], tmp_path: Path) -> None:
    _, model = shop
    odd = tmp_path / "odd.csv"
    odd.write_text("age,region\nold,north\n20,east\n,south\n30,west\n", encoding="utf-8")
    told = json.loads(run("predict", model, str(odd), "--out", str(tmp_path / "p.csv"), "--json").stdout)
    counts = {column["name"]: column for column in told["columns"]}
    assert (counts["age"]["wrong"], counts["age"]["first_wrong"], counts["age"]["missing"]) == (1, "old", 1)
    assert counts["region"]["new_levels"] == {"east": 1}
    assert told["rows"] == 4
    absent = tmp_path / "absent.csv"
    absent.write_text("agee,region\n20,north\n30,west\n", encoding="utf-8")
    assert "has no column 'age', which the model uses" in refusal("predict", model, str(absent))
    allowed = run("predict", model, str(absent), "--allow-absent")
    assert allowed.exit_code == 0
    assert "column 'age' is not in the table; all 2 rows count as missing" in words(allowed)


def test_filled_cells_and_new_levels_are_named_in_their_rows(shop: tuple[str, str], tmp_path: Path) -> None:
    table, model = shop
    out, later = tmp_path / "p.csv", tmp_path / "later.csv"
    later.write_text("age,region\n20,north\n,west\n30,east\n,east\n", encoding="utf-8")
    result = run("predict", model, str(later), "--out", str(out))
    assert "· 3 rows with a filled cell or a new level; column 'note' says which" in words(result)
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    known = [
        float(line.split(",")[1]) for line in Path(table).read_text(encoding="utf-8").split()[1:] if ",," not in line
    ]
    filled = f"age was missing and filled with {sum(known) / len(known):.6g}"
    new = "region = 'east' was not seen in training"
    assert [row["note"] for row in rows] == ["", filled, new, f"{filled}; {new}"]
    assert [row["lower"] == "" for row in rows] == [False, False, True, True]
    assert all(row["probability_yes"] for row in rows)
    shown = run("predict", model, str(later))
    assert f"{new}" in words(shown)


def test_a_regression_has_intervals_of_a_new_row(tmp_path: Path) -> None:
    model = str(tmp_path / "model.json")
    options = ("--target", "petal_width", "--drop", "species")
    assert run("fit", "demo:iris", *options, "--out", model).exit_code == 0
    told = json.loads(run("predict", model, "demo:iris", "--json").stdout)["columns"]
    lower, upper = np.asarray(told["new_lower"]), np.asarray(told["new_upper"])
    truth = sx.read_table("demo:iris").column("petal_width").values
    assert 0.9 < float(np.mean((lower < truth) & (truth < upper))) < 1.0


# Exports


def test_sql_in_a_database_says_what_predict_says(shop: tuple[str, str]) -> None:
    table, model = shop
    query = run("export", model, "--to", "sql", "--table", "customers", "--keep", "id").stdout
    rows = [line.split(",") for line in Path(table).read_text(encoding="utf-8").splitlines()[1:]]
    with sqlite3.connect(":memory:") as database:
        database.execute("create table customers (id integer, age real, region text, bought text)")
        database.executemany("insert into customers values (?, nullif(?, ''), ?, ?)", rows)
        found = database.execute(query).fetchall()
    own = sx.load_model(model).predict(sx.read_table(table))
    assert [row[0] for row in found] == list(range(1, 61))
    assert [row[1] for row in found] == own.labels.tolist()
    assert [row[-1] for row in found] == pytest.approx(own.scores, rel=1e-12)


def test_python_source_says_what_predict_says(shop: tuple[str, str], tmp_path: Path) -> None:
    table, model = shop
    out = tmp_path / "model.py"
    assert run("export", model, "--to", "python", "--out", str(out)).exit_code == 0
    space: dict[str, Any] = {}
    exec(out.read_text(encoding="utf-8"), space)  # our own, which is what is tested
    own = sx.load_model(model).predict(sx.read_table(table))
    assert space["predict"]({"age": 11.0, "region": "north"})["prediction"] in {"yes", "no"}
    third = Path(table).read_text(encoding="utf-8").splitlines()[3].split(",")
    told = space["predict"]({"age": float(third[1]), "region": third[2]})
    assert told["scores"] == pytest.approx([own.scores[2]], rel=1e-12)


def test_onnx_needs_a_file_and_json_says_where(shop: tuple[str, str], tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    _, model = shop
    assert "give the file to write it to with --out FILE" in refusal("export", model, "--to", "onnx")
    out = tmp_path / "model.onnx"
    told = json.loads(run("export", model, "--to", "onnx", "--out", str(out), "--json").stdout)
    assert told == {"to": "onnx", "out": str(out)}
    assert out.stat().st_size > 100
    assert "did you mean 'sql'?" in refusal("export", model, "--to", "sqll")


# Summaries


def test_a_summary_prints_the_table_kept_in_the_file(shop: tuple[str, str]) -> None:
    _, model = shop
    page = words(run("summary", model))
    assert page.startswith('Logistic regression: P(bought = "yes") rows 56 of ')
    assert "classes no, yes" in page
    assert "evidence the likelihood has a maximum" in page
    assert "estimate std. error z p 95 % CI" in page
    every = words(run("summary", model, "--all"))
    assert "'region' is a category" in every
    content = json.loads(Path(model).read_text(encoding="utf-8"))
    del content["checksum"]  # of the file
    assert json.loads(run("summary", model, "--json").stdout) == content


def test_all_coefficients_are_shown_if_asked_for(tmp_path: Path) -> None:
    model = str(tmp_path / "model.json")
    assert run("fit", "demo:breast-cancer", "--out", model).exit_code == 0
    assert "first 20 of 30 coefficients, in the order of the model" in words(run("summary", model))
    every = run("summary", model, "--all").stdout
    assert "first 20" not in every
    assert "  fractal_dimension_error " in every
    assert run("fit", "demo:students", "--model", "perceptron", "--out", model).exit_code == 0
    assert "a perceptron has no likelihood" in words(run("summary", model))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"summary": {"terms": []}}, "summary.model is missing"),
        ({"format": 99}, "install a newer separatrix"),
        ({"coef": [["x"]]}, "coef"),
    ],
)
def test_a_file_that_is_no_model_is_refused_by_name(change: Any, complaint: str, shop: tuple[str, str]) -> None:
    _, model = shop
    content = json.loads(Path(model).read_text(encoding="utf-8"))
    del content["checksum"]
    Path(model).write_text(json.dumps({**content, **change}), encoding="utf-8")
    assert complaint in refusal("summary", model)


@pytest.mark.parametrize("verb", [("predict", "{}", "demo:iris"), ("export", "{}", "--to", "sql"), ("summary", "{}")])
def test_no_file_or_half_a_file_is_refused_in_one_line(verb: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    asked = [part.format(path) for part in verb]
    assert "cannot be read" in refusal(*asked)
    path.write_text('{"format": 1, "estimator": "logi', encoding="utf-8")
    assert "truncated" in refusal(*asked)


# Verification


def test_a_model_file_is_verified_on_its_table_and_refused_on_another(shop: tuple[str, str], tmp_path: Path) -> None:
    table, model = shop
    result = run("verify", model, table)
    assert result.exit_code == 0, result.output
    assert "These are the rows that it was fitted on." in result.stdout
    fewer = run("verify", model, table, "--where", "id < 50")
    assert fewer.exit_code == 1
    assert "These are not the rows that it was fitted on. · For those, give the same file, its rows in" in words(fewer)
    content = json.loads(Path(model).read_text(encoding="utf-8"))
    del content["checksum"]
    content["certificate"]["verdict"] = "perfect"
    Path(model).write_text(json.dumps(content), encoding="utf-8")
    complaint = "malformed certificate: verdict does not follow from the statement; the file was altered"
    assert refusal("verify", model, table) == f"{model}: {complaint}"
    assert "leave those options out" in refusal("verify", model, table, "--target", "bought")


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [(), ("--strength", "0.1"), ("--model", "svm"), ("--model", "lms"), ("--no-intercept",)]
)
def test_scaled_and_sparse_rows_are_verified_as_they_were_fitted(options: tuple[str, ...], tmp_path: Path) -> None:
    table, model = tmp_path / "many.csv", str(tmp_path / "model.json")
    rows = [f"{(k * 37) % 240},{k / 7:.3f},{'ab'[(k * k) % 7 % 2]}" for k in range(480)]
    table.write_text("street,size,kind\n" + "\n".join(f"s{row}" for row in rows) + "\n", encoding="utf-8")
    fitted = run("fit", str(table), "--target", "kind", "--out", model, *options)
    assert fitted.exit_code == 0, fitted.output
    result = run("verify", model, str(table), "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["notes"][0] == "These are the rows that it was fitted on."


def change(model: str, **values: Any) -> None:
    """Write other values into a model file, without a checksum that would tell."""
    content = json.loads(Path(model).read_text(encoding="utf-8"))
    content.pop("checksum", None)
    Path(model).write_text(json.dumps({**content, **values}), encoding="utf-8")


@pytest.mark.parametrize("target", ["bought", "region"], ids=["two classes", "three classes"])
def test_a_model_with_a_certificate_that_is_no_longer_read_still_predicts(shop: tuple[str, str], target: str) -> None:
    table, model = shop
    options = ("--model", "perceptron", "--max-passes", "3")
    assert run("fit", table, "--target", target, *options, "--out", model).exit_code == 0
    certificate = json.loads(Path(model).read_text(encoding="utf-8"))["certificate"]
    older = {"kind": "mixing", "format": 1, "verdict": "converged", "claim": "made up", "content": {"rounds": 3}}
    unknown = "malformed certificate: kind is 'mixing', an unknown kind"
    for changed, complaint in (
        (older, "the certificate was made by an older release; fit again"),
        ({**certificate, "kind": "mixing"}, unknown),
    ):
        change(model, certificate=changed)
        assert run("predict", model, table).exit_code == 0
        assert run("summary", model).exit_code == 0
        with pytest.raises(CertificateError, match=f"^{re.escape(complaint)}"):
            sx.load_model(model).evidence()
        assert refusal("verify", model, table).startswith(f"{model}: {complaint}")


def test_a_model_of_some_rows_is_verified_on_these(shop: tuple[str, str]) -> None:
    table, model = shop
    assert run("fit", table, "--target", "bought", "--out", model, "--where", "id < 50").exit_code == 0
    assert run("verify", model, table, "--where", "id < 50").exit_code == 0
    result = run("verify", model, table)
    assert result.exit_code == 1
    assert "and the --where or --sql of the fit." in words(result)


def test_scales_are_those_of_the_certificate(shop: tuple[str, str]) -> None:
    table, model = shop
    assert run("fit", table, "--target", "bought", "--strength", "0.1", "--out", model).exit_code == 0
    content = json.loads(Path(model).read_text(encoding="utf-8"))
    group = next(group for group in ("statement", "witness") if "scales" in content["certificate"][group])
    for scales, complaint in (
        ("all", f'{group}.scales is "all"; a list is needed'),
        ([1.0], "the file: there are 1 scales for 4 columns"),
        ([0.0, 1.0, 1.0, 1.0], f"{group}.scales[0] is 0.0; a number above 0"),
    ):
        own = {**content["certificate"][group], "scales": scales}
        change(model, certificate={**content["certificate"], group: own})
        assert f"malformed certificate: {complaint}" in refusal("verify", model, table)
    change(model, certificate=content["certificate"], options={**content["options"], "scales": "all"})
    assert run("verify", model, table).exit_code == 0  # the options are not believed


LEARNED = [
    ("demo:breast-cancer", "--model", "logistic"),
    ("demo:breast-cancer", "--positive", "benign", "--strength", "0.01", "--l1-ratio", "0.5"),
    ("demo:breast-cancer", "--model", "logistic", "--strength", "0", "--no-intercept"),
    ("demo:iris", "--model", "logistic"),
    ("demo:iris", "--model", "logistic", "--strength", "0.1", "--no-intercept"),
    ("demo:five-points-overlap", "--model", "logistic", "--strength", "0"),
    ("demo:iris", "--target", "petal_width", "--model", "linear"),
    ("demo:iris", "--target", "petal_width", "--model", "linear", "--strength", "0.1", "--no-intercept"),
    ("demo:iris", "--target", "petal_width", "--model", "lms"),
    ("demo:iris", "--model", "lms", "--no-intercept"),
    ("demo:breast-cancer", "--model", "lms", "--positive", "benign"),
    ("demo:breast-cancer", "--model", "svm", "--positive", "benign", "--strength", "0.1"),
    ("demo:iris", "--model", "svm", "--no-intercept"),
    ("demo:breast-cancer", "--model", "generative", "--positive", "benign"),
    ("demo:iris", "--model", "generative"),
    ("demo:five-points", "--model", "perceptron"),
    ("demo:iris", "--model", "perceptron", "--keep", "last", "--no-intercept"),
]


@pytest.mark.slow
@pytest.mark.parametrize("options", LEARNED, ids=" ".join)
def test_the_coefficients_of_a_model_are_those_of_its_certificate(options: tuple[str, ...], tmp_path: Path) -> None:
    model = str(tmp_path / "model.json")
    fitted = run("fit", *options, "--out", model)
    assert fitted.exit_code == 0, fitted.output
    result = run("verify", model, options[0], "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    check = said["certificates"][0]["checks"][-1]
    assert (check["name"], check["holds"]) == ("coefficients", True)
    assert check["detail"].endswith("agree with the certificate, to 1e-09")
    assert said["notes"][-1].startswith("The certificate was checked, and the coefficients against it")
    coef = json.loads(Path(model).read_text(encoding="utf-8"))["coef"]
    largest = max(range(len(coef[-1])), key=lambda place: abs(coef[-1][place]))
    coef[-1][largest] *= 1.0 + 1e-6
    change(model, coef=coef)
    refused = run("verify", model, options[0])
    assert refused.exit_code == 1
    assert "FAILS coefficients: that of " in words(refused)


def test_changed_coefficients_classes_and_intercepts_are_refused(shop: tuple[str, str]) -> None:
    table, model = shop
    found = sx.load_model(model)
    for values in ({"coef": np.zeros_like(found.coef).tolist()}, {"intercept": [9.0]}, {"classes": ["yes", "no"]}):
        original = Path(model).read_text(encoding="utf-8")
        change(model, **values)
        result = run("verify", model, table)
        assert result.exit_code == 1, values
        assert "FAILS coefficients: " in words(result)
        Path(model).write_text(original, encoding="utf-8")
    change(model, classes=["yes", "perhaps"])
    assert "the certificate is of the classes ['no', 'yes'], the model of the classes" in words(
        run("verify", model, table)
    )


@pytest.mark.parametrize(
    "options", [("demo:five-points", "--keep", "average"), ("demo:five-points-overlap", "--keep", "best")]
)
def test_weights_that_are_not_the_last_of_a_run_are_told_not_to_be_covered(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    model = str(tmp_path / "model.json")
    assert run("fit", *options, "--model", "perceptron", "--out", model).exit_code == 0
    result = run("verify", model, options[0])
    assert result.exit_code == 0
    kept = f"the certificate is about the last weights of a run, and the model keeps the {options[-1]}"
    assert f"Only the certificate was checked, not the coefficients: {kept}." in words(result)
    change(model, coef=[[5.0, 5.0]], options={})
    assert run("verify", model, options[0]).exit_code == 1


def test_a_proof_of_no_coefficients_does_not_cover_them(shop: tuple[str, str]) -> None:
    table, model = shop
    content = json.loads(Path(model).read_text(encoding="utf-8"))
    change(model, certificate=certificate_from_dict(content["certificate"]).separability.to_dict())
    result = run("verify", model, table)
    assert result.exit_code == 0, result.output
    note = "Only the certificate was checked, not the coefficients: the separability certificate is about none of them."
    assert note in words(result)


@pytest.mark.slow
def test_of_classes_whose_runs_converged_the_coefficients_are_checked(tmp_path: Path) -> None:
    model = str(tmp_path / "model.json")
    assert run("fit", "demo:iris", "--model", "perceptron", "--out", model).exit_code == 0
    coef = json.loads(Path(model).read_text(encoding="utf-8"))["coef"]
    change(model, coef=[[row[0] + 1.0, *row[1:]] for row in coef[:1]] + coef[1:])
    result = run("verify", model, "demo:iris")
    assert result.exit_code == 1
    assert "FAILS coefficients: that of 'sepal_length' of 'setosa' is" in words(result)


@pytest.mark.slow
def test_a_bias_reduced_model_predicts_at_the_rate_and_is_verified(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    x, rare = rng.normal(size=90), rng.random(90) < 0.1
    table, model, page = (str(tmp_path / name) for name in ("rare.csv", "model.json", "page.html"))
    rows = [f"{number},{'yes' if event else 'no'}" for number, event in zip(x.tolist(), rare.tolist(), strict=True)]
    Path(table).write_text("\n".join(["x,event", *rows, ""]), encoding="utf-8")
    said = run("fit", table, "--target", "event", "--firth", "--out", model, "--report", page)
    assert said.exit_code == 0, said.output
    rate = f"{rare.mean():.4g}"
    assert f"FLIC: the mean probability equals the observed frequency, {rate}" in " ".join(said.stdout.split())
    assert f"so that the mean probability equals the observed frequency {rate}" in Path(page).read_text(
        encoding="utf-8"
    )
    stored = json.loads(Path(model).read_text(encoding="utf-8"))
    assert stored["options"]["bias_reduction"] is True
    assert f"the mean probability equals the observed frequency {rate}" in stored["message"]
    result = run("verify", model, table)
    assert result.exit_code == 0, result.output
    assert "except an intercept that makes the mean probability equal the observed frequency" in " ".join(
        result.stdout.split()
    )
    predicted = sx.load_model(model).predict(table)
    assert predicted.probabilities[:, 1].mean() == pytest.approx(rare.mean(), rel=1e-9)
    assert predicted.intervals is not None
    assert (predicted.intervals.lower < predicted.probabilities[:, 1]).all()
    stored["intercept"][0] += 0.01
    del stored["checksum"]
    Path(model).write_text(json.dumps(stored), encoding="utf-8")
    result = run("verify", model, table)
    assert result.exit_code == 1, result.output
    assert "FAILS coefficients: the intercept is" in " ".join(result.stdout.split())
    refused = run("fit", table, "--target", "event", "--firth", "--strength", "0.1")
    assert refused.stderr == "error: --firth is for fits without a penalty, not for strength=0.1\n"
