"""The perceptron's page and summary: its mistakes beside their bound, in words and as JSON values."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from separatrix.model.train import TrainedModel, TrainOptions, train_table
from separatrix.rendering.text import render_text
from separatrix.reports.perceptron import mistake_sentences, perceptron_notes, perceptron_summary
from separatrix.reports.text import trained_page
from separatrix.tables.demos import demo_table
from separatrix.tables.table import Column, Table, category_column


def trained_on(demo: str, **given: object) -> TrainedModel:
    return train_table(demo_table(demo), TrainOptions(model="perceptron", given=given))


def summary_of(demo: str, **given: object) -> Any:
    return json.loads(json.dumps(perceptron_summary(trained_on(demo, **given), f"demo:{demo}"), allow_nan=False))


def page_of(demo: str, **given: object) -> str:
    return render_text(*trained_page(trained_on(demo, **given), demo_table(demo)))


def unwrapped(text: str) -> str:
    return " ".join(text.split())


def test_a_summary_has_the_numbers_of_the_fit() -> None:
    summary = summary_of("five-points", fit_intercept=False)
    assert (summary["rows"], summary["columns"], summary["updates"]) == (5, ["x1", "x2"], 5)
    assert summary["classes"] == [{"label": -1, "rows": 3, "sign": -1}, {"label": 1, "rows": 2, "sign": 1}]
    assert (summary["status"], summary["reached_goal"]) == ("converged", True)
    assert (summary["wrong"], summary["accuracy"], summary["on_boundary"]) == (0, 1.0, 0)
    assert summary["options"]["tie"] == "positive"
    (predictor,) = summary["predictors"]
    assert (predictor["positive"], predictor["negative"]) == (1, -1)
    assert predictor["coefficients"] == [["x1", 5.0], ["x2", 1.0]]
    evidence = predictor["evidence"]
    assert evidence["radius"] == pytest.approx(17.0**0.5)
    assert evidence["margin"] == pytest.approx(1.0)
    assert evidence["bound"] == pytest.approx(17.0)
    assert (evidence["kind"], evidence["verdict"], evidence["textbook"]) == ("mistakes", "within bound", True)


def test_the_intercept_comes_first_if_fitted() -> None:
    names = [name for name, _ in summary_of("students")["predictors"][0]["coefficients"]]
    assert names == ["intercept", "attendance", "tall", "sleeps", "gum"]


def test_without_a_separator_there_is_no_bound() -> None:
    summary = summary_of("five-points-overlap", max_passes=7)
    assert summary["status"] == "max_passes"
    evidence = summary["predictors"][0]["evidence"]
    assert (evidence["bound"], evidence["margin"], evidence["verdict"]) == (None, None, "no separator known")
    text = page_of("five-points-overlap", max_passes=7)
    assert "Evidence: Stopped at max_passes=7 before every row was classified correctly" in unwrapped(text)
    assert "updates; no separator is known, so there is no bound" in unwrapped(text)
    assert "γ =" not in text


def test_one_predictor_per_class() -> None:
    summary = summary_of("iris", max_passes=10)
    assert [part["positive"] for part in summary["predictors"]] == ["setosa", "versicolor", "virginica"]
    assert {part["negative"] for part in summary["predictors"]} == {None}
    assert summary["updates"] == sum(part["updates"] for part in summary["predictors"])
    assert [count["sign"] for count in summary["classes"]] == [None, None, None]


def test_the_page_of_five_points() -> None:
    lines = page_of("five-points", fit_intercept=False).splitlines()
    assert lines[0] == 'Perceptron: y = "1" or "-1", 5 rows, 2 columns'
    for line in (
        "Evidence: Every row is right after 5 mistakes; the theorem allows at most 17, (R/γ)² with R = 4.123",
        "and γ = 1.",
        'Weights: a score above 0 predicts y = "1", below 0 "-1"',
        "  x1   5.000",
        "  · y: -1 in 3 rows, 1 in 2 rows",
    ):
        assert line in lines


@pytest.mark.parametrize(
    "given", [{"update": "batch"}, {"schedule": "inverse"}, {"margin": 2.0}, {"start": (1.0, 1.0, 1.0)}]
)
def test_another_bound_than_the_textbook_one_is_not_called_by_its_name(given: dict[str, object]) -> None:
    trained = trained_on("five-points", **given)
    (told,) = mistake_sentences(trained)
    assert "possible by this rule from this start" in told
    assert "(R/γ)²" not in told
    assert not perceptron_summary(trained, "")["predictors"][0]["evidence"]["textbook"]


def test_a_bound_beyond_all_floats_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    from separatrix.certificates.mistakes import MistakesCertificate

    trained = trained_on("five-points")
    monkeypatch.setattr(MistakesCertificate, "bound", property(lambda _: float("inf")))
    assert mistake_sentences(trained)[0].endswith("the bound of the known separator is beyond the range of a float")
    assert perceptron_summary(trained, "")["predictors"][0]["evidence"]["bound"] is None


def test_rows_on_the_boundary_are_counted() -> None:
    trained, scores = trained_on("students"), np.array([0.0, 1.0, -1.0, 2.0])
    on_one = replace(trained, predictions=replace(trained.predictions, scores=scores))
    assert perceptron_notes(on_one) == ["1 row lies exactly on a boundary, where the tie rule decides"]
    trained = trained_on("iris", max_passes=5, order="shuffled")
    scores = np.vstack([np.zeros((2, 3)), np.tile([1.0, 2.0, 3.0], (148, 1))])
    on_two = replace(trained, predictions=replace(trained.predictions, scores=scores))
    assert perceptron_notes(on_two)[0] == "2 rows lie exactly on a boundary, where the first class wins"


def test_the_page_of_several_classes() -> None:
    text = page_of("iris", max_passes=10)
    assert "  · species: setosa in 50 rows, versicolor in 50 rows, virginica in 50 rows\n" in text
    told = unwrapped(text)
    setosa = "every row is right after 5 mistakes; the theorem allows at most 221, (R/γ)² with R = 11.16 and γ = 0.7491"
    assert f"· 'setosa': {setosa} · 'versicolor': stopped at max_passes=10 before" in told
    assert "score of each species per unit of each column; the highest wins" in told
    assert re.search(r"^ +setosa +versicolor +virginica$", text, re.MULTILINE)


def test_no_line_is_longer_than_a_hundred_columns() -> None:
    X = np.random.default_rng(0).normal(size=(60, 200))
    names = [f"a column of the table with a long name, number {place}" for place in range(200)]
    columns = [Column(name, "number", X[:, place]) for place, name in enumerate(names)]
    labels = [f"a class, number {row % 15}" for row in range(60)]
    table = Table((*columns, category_column("target" * 20, labels)), "folder/" * 30 + "t.csv", "target" * 20)
    trained = train_table(table, TrainOptions(model="perceptron", given={"max_passes": 2}))
    lines = render_text(*trained_page(trained, table)).splitlines()
    assert max(map(len, lines)) <= 100
    assert any("200 columns" in line for line in lines)
    assert any("… and 3 more classes" in line for line in lines)
    assert any(line.startswith("  a column of th…name, number ") for line in lines)
