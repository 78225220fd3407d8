"""One command a table, on real data: a sensible model, and a proof that holds."""

from __future__ import annotations

import json

import pytest
from data import DATA, needs_data
from typer.testing import CliRunner

from separatrix.cli.main import app

pytestmark = [pytest.mark.slow, needs_data]
WALKS = {
    "adult": (
        ("classification/adult_train.parquet", "--target", "income", "--where", "hours_per_week % 7 = 5"),
        ("accuracy", 0.82),
    ),
    "diamonds": (("regression/diamonds.parquet", "--target", "price", "--where", "depth > 64"), ("r_squared", 0.7)),
    "ames": (
        ("regression/ames.parquet", "--target", "Sale_Price", "--drop", "Neighborhood", "--strength", "0.01"),
        ("r_squared", 0.75),
    ),
    "spam": (
        ("classification/sms_spam.parquet", "--target", "label", "--text", "text", "--where", "length(text) > 140"),
        ("accuracy", 0.9),
    ),
}


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("name", WALKS)
def test_one_command_from_a_file_to_a_model_that_verifies(name, tmp_path):
    (file, *options), (measure, least) = WALKS[name]
    table, model = str(DATA / file), str(tmp_path / "model.json")
    result = run("fit", table, *options, "--out", model, "--holdout", "0.2", "--json")
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert content["evaluation"]["apart"][measure]["lower"] > least
    rows = [option for option in options if option == "--where" or "%" in option or ">" in option]
    verified = run("verify", model, table, *rows)
    assert verified.exit_code == 0, verified.output
    assert "These are the rows that it was fitted on." in verified.stdout
    predicted = run("predict", model, table, *rows, "--out", str(tmp_path / "p.parquet"), "--json")
    assert json.loads(predicted.stdout)["rows"] == content["data"]["rows_in_table"]


def test_text_that_was_not_asked_for_is_named():
    result = run("fit", str(DATA / "classification" / "sms_spam.parquet"), "--target", "label")
    assert result.exit_code == 0, result.output
    page = " ".join(result.stdout.split())
    assert "5,574 rows, an intercept alone" in page
    assert "'text' is left out: it is text; --text text uses its words" in page


def test_titanic_and_its_gaps():
    result = run("fit", str(DATA / "csv_nasty" / "titanic.csv"), "--target", "Survived", "--cv", "5")
    assert result.exit_code == 0, result.output
    page = " ".join(result.stdout.split())
    assert "'PassengerId' is left out: the numbers count the rows" in page
    assert "'Age': 177 cells of 891 missing" in page
    assert "179 rows with a missing cell are left out" in page
    imputed = run("fit", str(DATA / "csv_nasty" / "titanic.csv"), "--target", "Survived", "--missing", "impute")
    assert "no finite estimate: Embarked=(missing) → +∞" in " ".join(imputed.stdout.split())
