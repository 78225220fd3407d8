"""Summaries and their text: the numbers of the fit, in words, within a hundred columns."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from separatrix.design.build import make_design
from separatrix.families.base import join_results
from separatrix.families.perceptron import PerceptronOptions, fit_perceptron
from separatrix.fit.labels import find_classes
from separatrix.reports.perceptron import Outcome, Summary, TrainingData, render_text, summarise
from separatrix.tables.demos import DEMOS, load_demo


def summary_of(demo: str, *, intercept: bool = True, on_boundary: int = 0, **options: object) -> Summary:
    """Fit a demo of two classes and sum it up, all rows called right."""
    X, y = load_demo(demo)
    names, classes = DEMOS[demo].features, find_classes(y)
    design = make_design(X, intercept=intercept, names=names)
    result = fit_perceptron(design, classes.signs(), PerceptronOptions(**options)).result  # type: ignore[arg-type]
    data = TrainingData(f"demo:{demo}", DEMOS[demo].target, names, tuple(classes.plain), y)
    return summarise(result, data, Outcome(y, on_boundary), title="Perceptron")


def unwrapped(text: str) -> str:
    return " ".join(text.split())


def iris_summary() -> Summary:
    X, y = load_demo("iris")
    names, classes = DEMOS["iris"].features, find_classes(y)
    design, options = make_design(X, intercept=True, names=names), PerceptronOptions(max_passes=10)
    parts = [
        fit_perceptron(design, classes.signs(k), options, labels=(None, label)).result
        for k, label in enumerate(classes.plain)
    ]
    data = TrainingData("demo:iris", "species", names, tuple(classes.plain), y)
    predicted = np.where(np.arange(150) < 3, "virginica", y)
    return summarise(join_results(parts, classes.plain), data, Outcome(predicted), title="Perceptron")


def test_a_summary_has_the_numbers_of_the_fit() -> None:
    summary = summary_of("five-points", intercept=False)
    assert (summary.rows, summary.columns, summary.updates) == (5, ("x1", "x2"), 5)
    assert [(count.label, count.rows, count.sign) for count in summary.classes] == [(-1, 3, -1), (1, 2, 1)]
    assert (summary.status, summary.reached_goal, summary.wrong, summary.accuracy) == ("converged", True, 0, 1.0)
    assert summary.options["tie"] == "positive"
    (predictor,) = summary.predictors
    assert (predictor.positive, predictor.negative) == (1, -1)
    assert predictor.coefficients == (("x1", 5.0), ("x2", 1.0))
    assert predictor.evidence.radius == pytest.approx(17.0**0.5)
    assert predictor.evidence.margin == pytest.approx(1.0)
    assert predictor.evidence.bound == pytest.approx(17.0)
    assert predictor.evidence.verdict == "within bound"
    assert predictor.evidence.textbook


def test_the_intercept_comes_first_if_fitted() -> None:
    names = [name for name, _ in summary_of("students").predictors[0].coefficients]
    assert names == ["intercept", "attendance", "tall", "sleeps", "gum"]


def test_a_summary_goes_to_json_and_back() -> None:
    summary = summary_of("five-points-overlap", max_passes=7)
    content = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert content["status"] == "max_passes"
    assert content["predictors"][0]["evidence"]["bound"] is None
    assert content["predictors"][0]["evidence"]["verdict"] == "no separator known"
    assert [name for name, _ in content["predictors"][0]["coefficients"]] == ["intercept", "x1", "x2"]


def test_one_predictor_a_class() -> None:
    summary = iris_summary()
    assert [predictor.positive for predictor in summary.predictors] == ["setosa", "versicolor", "virginica"]
    assert {predictor.negative for predictor in summary.predictors} == {None}
    assert summary.updates == sum(predictor.updates for predictor in summary.predictors)
    assert (summary.wrong, summary.accuracy) == (3, 0.98)
    assert [count.sign for count in summary.classes] == [None, None, None]


def test_the_text_of_five_points() -> None:
    text = render_text(replace(summary_of("five-points", intercept=False), seconds=0.00123, passes=16.4))
    assert text == (
        "Perceptron on demo:five-points\n"
        "\n"
        "  rows        5; y = 1.0 in 2 (+1), -1.0 in 3 (−1)\n"
        "  columns     2: x1, x2\n"
        "  result      converged: 5 visits in a row without a mistake after 5 updates\n"
        "  training    5 of 5 rows right (100 %)\n"
        "  work        5 updates, 16 passes over the rows, 1.2 ms\n"
        "\n"
        "Mistake bound: 5 mistakes, at most (R/γ)² = 17 possible\n"
        "  R = 4.12311 is the length of the longest row.\n"
        "  γ = 1 is the margin of a known separator: no row is on the wrong side or nearer to it.\n"
        "\n"
        "Weights (a score above 0 means y = 1.0, below 0 means -1.0)\n"
        "\n"
        "  x1            5\n"
        "  x2            1\n"
    )


def test_without_a_separator_there_is_no_bound() -> None:
    text = render_text(summary_of("five-points-overlap", max_passes=7))
    assert "stopped at max_passes=7 before every row was right" in text
    assert "updates; no separator is known, so there is no bound" in unwrapped(text)
    assert "γ =" not in text


@pytest.mark.parametrize(
    "options", [{"update": "batch"}, {"schedule": "inverse"}, {"margin": 2.0}, {"start": [1, 1, 1]}]
)
def test_another_bound_than_the_textbook_one_is_not_called_by_its_name(options: dict[str, object]) -> None:
    summary = summary_of("five-points", **options)
    assert not summary.predictors[0].evidence.textbook
    text = render_text(summary)
    assert "possible by this rule from this start" in text
    assert "(R/γ)²" not in text
    assert "the 1 for the intercept included" in text


def test_a_bound_beyond_all_floats_is_said_in_words() -> None:
    summary = summary_of("five-points", max_passes=1)
    (predictor,) = summary.predictors
    endless = replace(predictor, evidence=replace(predictor.evidence, bound=None))
    text = render_text(replace(summary, predictors=(endless,)))
    assert "a separator is known, but the bound it gives is beyond the range of a float" in unwrapped(text)


def test_rows_on_the_boundary_are_told() -> None:
    assert "1 row lies exactly on a boundary, where the tie rule decides" in render_text(
        summary_of("students", on_boundary=1)
    )
    assert "2 rows lie exactly on a boundary, where the first class wins" in render_text(
        replace(iris_summary(), on_boundary=2)
    )


def test_nearly_all_is_never_called_all() -> None:
    summary = replace(summary_of("students"), rows=1_000_000, wrong=1)
    assert "999,999 of 1,000,000 rows right (99.99 %)" in render_text(summary)


def test_the_text_of_several_classes() -> None:
    text = render_text(iris_summary())
    assert "  rows        150; species = setosa in 50, versicolor in 50, virginica in 50\n" in text
    assert "  setosa: converged: 150 visits in a row without a mistake after 5 updates\n" in text
    assert "    5 mistakes, at most (R/γ)² = 221 possible (R = 11.1562, γ = 0.749117)\n" in text
    assert "Weights (the species with the highest score is predicted)" in text
    assert "                     setosa   versicolor    virginica\n" in text


def test_many_weights_are_listed_by_size_in_two_columns() -> None:
    summary = summary_of("breast-cancer", max_passes=2)
    lines = render_text(summary).split("Weights (")[1].splitlines()[2:]
    sizes = [abs(float(line.split()[1])) for line in lines[:16]] + [abs(float(line.split()[3])) for line in lines[:15]]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 31
    assert lines[-1] == "  Largest first; the size of a weight depends on the unit of its column."


def test_no_line_is_longer_than_a_hundred_columns() -> None:
    names = tuple(f"a column of the table with a long name, number {k}" for k in range(200))
    labels = np.array([f"a class with a long name, number {k % 15}" for k in range(60)])
    classes = find_classes(labels)
    X = np.random.default_rng(0).normal(size=(60, 200))
    design, options = make_design(X, intercept=True, names=names), PerceptronOptions(max_passes=2)
    parts = [fit_perceptron(design, classes.signs(k), options).result for k in range(15)]
    data = TrainingData("folder/" * 30 + "t.csv", "target" * 20, names, tuple(classes.plain), labels)
    summary = summarise(join_results(parts, classes.plain), data, Outcome(labels), title="Perceptron")
    lines = render_text(summary).splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[-1] == "  In the order of the columns, 141 more left off."
    assert "  columns     200: " in "\n".join(lines)
    assert any("a column of th…name, number 58" in line for line in lines)
