"""What a model says of a table: labels, probabilities, distances, intervals; and what it counts, refuses and writes."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import scipy.stats
from made_models import LABELS, made_model, mixed_table, rows_of

import separatrix as sx
from separatrix.design.encode.plan import plan_encoding
from separatrix.errors import DataError, OptionError
from separatrix.inference.prediction import Covariance
from separatrix.model.file import load_model, save_model
from separatrix.model.predictions import DecisionRule
from separatrix.model.record import Model, data_digest, describe_data, write_predictions
from separatrix.tables.open import open_table, read_table
from separatrix.tables.table import Column, Table
from separatrix.tables.write import write_columns

NAN = np.nan


def small(coef: Any, intercept: Any, rule: DecisionRule, classes: Any, p: int = 2, **more: Any) -> Model:
    """Return a model of p numbers x1, x2, …"""
    numbers = [Column(f"x{j + 1}", "number", np.asarray([0.0, 1.0])) for j in range(p)]
    table = Table((*numbers, Column("y", "number", np.zeros(2))), "made")
    task: Any = "classification" if classes else "regression"
    return Model("made", task, "y", classes, coef, intercept, rule, plan_encoding(table, "y"), **more)


def points(*rows: tuple[float, ...]) -> Table:
    columns = zip(*rows, strict=True)
    return Table(
        tuple(Column(f"x{j}", "number", np.asarray(c, dtype=float)) for j, c in enumerate(columns, 1)), "later"
    )


# Labels, probabilities, distances


def test_two_classes_by_a_sign() -> None:
    table = points((0, 0), (3, 4), (1, 0.5))
    said = small([3, 4], [-5], DecisionRule(), ("no", "yes")).predict(table)
    assert said.labels.tolist() == ["no", "yes", "yes"]
    assert said.scores.tolist() == [-5.0, 20.0, 0.0]
    assert said.distance is not None
    assert said.distance.tolist() == [1.0, 4.0, 0.0]  # the origin is at distance 1
    assert said.probabilities is None
    assert small([3, 4], [-5], DecisionRule(tie="negative"), ("no", "yes")).predict(table).labels.tolist()[2] == "no"


def test_a_threshold_moves_the_boundary() -> None:
    model = small([1, 0], [0], DecisionRule("sigmoid", threshold=0.8), (0, 1))
    said = model.predict(points((1, 0), (2, 0), (np.log(4.0), 7), (800, 0), (-800, 0)))
    assert said.labels.tolist()[:2] == [0, 1]
    assert said.labels.dtype == np.int64
    assert said.distance is not None
    np.testing.assert_allclose(said.distance[:3], [np.log(4) - 1, 2 - np.log(4), 0.0], atol=1e-15)
    assert said.probabilities is not None
    np.testing.assert_allclose(said.probabilities[0], [1 / (1 + np.e), np.e / (1 + np.e)], rtol=1e-15)
    assert said.probabilities[3:].tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_several_classes_by_the_highest_score() -> None:
    coef = np.asarray([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    said = small(coef, [0, 0, 1], DecisionRule("softmax"), ("a", "b", "c")).predict(points((3, 0), (1, 1), (0, 5)))
    assert said.labels.tolist() == ["a", "a", "b"]
    assert said.distance is not None
    np.testing.assert_allclose(said.distance, [min(3 / np.sqrt(2), 2.0), 0.0, min(5 / np.sqrt(2), 4.0)])
    expected = np.exp([3, 0, 1]) / np.exp([3, 0, 1]).sum()
    assert said.probabilities is not None
    np.testing.assert_allclose(said.probabilities[0], expected, rtol=1e-14)
    assert said.scores.shape == (3, 3)


def test_one_against_the_rest_shares_out_the_sigmoids() -> None:
    said = small(np.eye(3, 2), [0, 0, 0], DecisionRule("one_vs_rest"), (1, 2, 3)).predict(points((2, -1)))
    sigmoids = 1 / (1 + np.exp(-np.asarray([2.0, -1.0, 0.0])))
    assert said.probabilities is not None
    np.testing.assert_allclose(said.probabilities[0], sigmoids / sigmoids.sum(), rtol=1e-14)


def test_numbers_are_their_scores() -> None:
    said = small([2, 0], [1], DecisionRule(), None).predict(points((3, 9)))
    assert said.labels.tolist() == [7.0]
    assert list(said.columns()) == ["prediction", "note"]
    assert said.distance is None


def test_a_model_without_weights_has_no_boundary() -> None:
    said = small([0, 0], [1], DecisionRule(), ("a", "b")).predict(points((3, 9)))
    assert said.distance is not None
    assert np.isinf(said.distance).all()
    assert np.isnan(said.columns()["distance"]).all()


@pytest.mark.parametrize("rule", [{"link": "probit"}, {"tie": "both"}, {"threshold": 0.0}])
def test_rules_are_checked(rule: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=f"{next(iter(rule))}="):
        DecisionRule(**rule)


# Intervals


def test_intervals_of_a_probability_are_the_sigmoid_of_the_score_s() -> None:
    V = np.asarray([[0.5, 0.1, 0.0], [0.1, 0.3, 0.05], [0.0, 0.05, 0.2]])
    model = small([1, -1], [0.5], DecisionRule("sigmoid"), ("no", "yes"), covariance=Covariance(V))
    said = model.predict(points((1, 2), (0, 0)), level=0.9)
    z, row = scipy.stats.norm.ppf(0.95), np.asarray([1.0, 1.0, 2.0])
    ends = -0.5 + np.asarray([-z, z]) * np.sqrt(row @ V @ row)
    assert said.intervals is not None
    found = [said.intervals.lower[0], said.intervals.upper[0]]
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-ends)), rtol=1e-12)
    assert said.intervals.new_lower is None
    assert model.predict(points((1, 2)), intervals=False).intervals is None


def test_intervals_of_a_number_are_of_its_mean_and_of_a_new_row() -> None:
    V = np.diag([0.5, 0.3, 0.2])
    model = small([1, -1], [0.5], DecisionRule(), None, covariance=Covariance(V, 7.0, 2.0))
    said = model.predict(points((1, 2)))
    t, variance = scipy.stats.t.ppf(0.975, 7), 0.5 + 0.3 + 0.8
    columns = said.columns()
    assert list(columns) == ["prediction", "lower", "upper", "new_lower", "new_upper", "note"]
    np.testing.assert_allclose(columns["upper"], -0.5 + t * np.sqrt(variance), rtol=1e-12)
    np.testing.assert_allclose(columns["new_lower"], -0.5 - t * np.sqrt(variance + 2.0), rtol=1e-12)


# Odd tables


def test_an_absent_column_is_refused_if_it_has_weight() -> None:
    table = points((1,), (2,))
    with pytest.raises(DataError, match="later has no column 'x2', which the model uses; rename or add it"):
        small([1, 1], [0], DecisionRule(), ("a", "b")).predict(table)
    said = small([1, 1], [0], DecisionRule(), ("a", "b")).predict(table, allow_absent=True)
    assert said.scores.tolist() == [1.5, 2.5]  # the mean of x2 in training is 1/2
    assert said.sentences == ("column 'x2' is not in the table; all 2 rows count as missing",)
    assert small([1, 0], [0], DecisionRule(), ("a", "b")).predict(table).scores.tolist() == [1.0, 2.0]


def test_rows_left_out_of_training_are_filled_and_noted_in_prediction() -> None:
    table = mixed_table(3)
    model = made_model(table, "one_vs_rest", missing="drop")
    said, fit = model.predict(table), model.predict_encoded(model.encoding.apply(table))
    gone = np.asarray([label is None for label in fit.labels])
    assert fit.left_out == gone.sum() > 0
    assert np.isnan(fit.scores[gone]).all()
    assert np.isfinite(said.scores).all()
    assert np.array_equal(said.scores[~gone], fit.scores[~gone])
    assert [note is not None for note in said.notes] == gone.tolist()
    assert said.noted == gone.sum()


def test_predictions_are_those_of_the_fit() -> None:
    table = mixed_table(5, n=200)
    encoding = plan_encoding(table, "y")
    X = encoding.apply(table).X
    y = np.where(table.column("y").values > 0.2, "late", "early")
    fitted = sx.LogisticRegression(strength=0.01).fit(X, y)
    model = Model(
        "logistic",
        "classification",
        "y",
        ("early", "late"),
        fitted.coef_,
        fitted.intercept_,
        DecisionRule("sigmoid"),
        encoding,
        certificate=fitted.certificate_.to_dict(),
        data=describe_data(table, "y", X, y, seed=1),
    )
    said = model.predict(table)
    assert said.labels.tolist() == fitted.predict(X).tolist()
    np.testing.assert_allclose(said.scores, fitted.decision_function(X), rtol=1e-12, atol=1e-12)
    assert said.probabilities is not None
    np.testing.assert_allclose(said.probabilities, fitted.predict_proba(X), rtol=1e-12)
    assert model.evidence().verify(X, y)


# Provenance


def test_data_are_described_and_digested() -> None:
    table = mixed_table(5)
    encoding = plan_encoding(table, "y")
    X, y = encoding.apply(table).X, table.column("y").values
    told = describe_data(table, "y", X, y, seed=3)
    assert (told["rows"], told["seed"], told["source"]) == (60, 3, "made")
    assert told["columns"][2] == {"name": "cut", "kind": "category", "format": ""}
    assert told["sha256"] == data_digest(X.copy(order="F"), y)
    changed = X.copy()
    changed[7, 2] += 1e-12 + abs(changed[7, 2]) * 1e-12
    assert told["sha256"] != data_digest(changed, y)
    assert data_digest(X, y) != data_digest(X, y + 1.0)
    assert data_digest(X, np.asarray(["a"] * 60, dtype=object)) != data_digest(X, np.asarray(["b"] * 60, dtype=object))


# Streams


@pytest.fixture
def source(tmp_path: Path) -> str:
    rows = rows_of(mixed_table(8, n=100))
    with (tmp_path / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return str(tmp_path / "rows.csv")


def stored(path: Path) -> list[tuple[Any, ...]]:
    readers = {
        ".csv": "read_csv",
        ".parquet": "read_parquet",
        ".jsonl": "read_json",
        ".gz": "read_csv",
        ".tsv": "read_csv",
    }
    return duckdb.connect().execute(f"SELECT * FROM {readers[path.suffix]}($path)", {"path": str(path)}).fetchall()


@pytest.mark.parametrize("end", ["csv", "tsv", "parquet", "jsonl", "csv.gz"])
@pytest.mark.parametrize("link", ["softmax", "one_vs_rest"])
def test_a_table_is_streamed_into_a_file(source: str, end: str, link: str, tmp_path: Path) -> None:
    model = made_model(mixed_table(9, gaps=False), link)
    with open_table(source, kinds=model.kinds, levels=model.levels, formats=model.formats) as opened:
        run = write_predictions(model, opened, tmp_path / f"said.{end}", keep=["cut", "plain"], rows=30)
        said = model.predict(opened.read())
    assert run.rows == 100
    assert sum(run.labels.values()) == 100
    assert run.sentences == said.sentences
    assert any("new level" in each or "missing" in each for each in run.sentences)
    rows = stored(tmp_path / f"said.{end}")
    columns = said.columns()
    assert len(rows[0]) == 2 + len(columns)
    assert [row[2] for row in rows] == said.labels.tolist()
    for place, name in enumerate(columns):
        if name == "note":
            assert [row[2 + place] for row in rows] == columns[name].tolist()
        elif name != "prediction":
            assert np.allclose([row[2 + place] for row in rows], columns[name], rtol=1e-14, atol=1e-15), name


def test_a_stream_keeps_types_also_where_no_row_has_a_note(tmp_path: Path) -> None:
    table = mixed_table(3)
    model = made_model(table, "one_vs_rest", missing="drop")
    notes = model.predict(table).notes
    order = np.argsort([note is not None for note in notes], kind="stable")
    shuffled = Table(tuple(replace(c, values=c.values[order]) for c in table.columns), "shuffled")
    run = write_predictions(model, shuffled, tmp_path / "said.parquet", rows=5)
    rows = stored(tmp_path / "said.parquet")
    assert [row[-1] for row in rows] == notes[order].tolist()
    assert run.noted == sum(note is not None for note in notes) > 0
    assert {type(row[0]) for row in rows} == {int}


def test_a_name_of_a_result_cannot_be_kept(tmp_path: Path) -> None:
    model = small([1, 1], [0], DecisionRule(), ("a", "b"))
    table = Table((*points((1, 2)).columns, Column("score", "number", np.zeros(1))), "later")
    with pytest.raises(OptionError, match="column 'score' has the name of a result"):
        write_predictions(model, table, tmp_path / "said.csv", keep=["score"])
    assert not list(tmp_path.iterdir())


def test_files_of_predictions_are_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "said.csv"
    path.write_text("old", encoding="utf-8")

    def blocks() -> Any:
        yield {"a": np.asarray([1.0])}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_columns(path, blocks(), {"a": float})
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(OptionError, match="No space left on device"):
            write_columns(path, [{"a": np.asarray([1.0])}], {"a": float})
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["said.csv"]
    assert write_columns(path, [{"a": np.asarray([0.1, NAN])}], {"a": float}) == 2
    assert path.read_text(encoding="utf-8").split() == ["a", "0.1"]


@pytest.mark.parametrize("name", ["said", "said.xls", "said.parquet.gz", "said.gz"])
def test_unknown_kinds_of_files_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"does not end in one of .csv, .tsv, .parquet, .jsonl"):
        write_columns(tmp_path / name, [], {"a": float})


def test_odd_names_of_columns_are_written(tmp_path: Path) -> None:
    odd = 'a";DROP TABLE written;--'
    block = {odd: np.asarray(["x", None], dtype=object), "n": np.asarray([1, 2])}
    write_columns(tmp_path / "said.jsonl", [block], {odd: str, "n": int})
    first = json.loads((tmp_path / "said.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first == {odd: "x", "n": 1}


def test_a_saved_model_reads_a_table_as_it_was_trained(source: str, tmp_path: Path) -> None:
    trained = read_table(source)
    encoding = plan_encoding(trained, "y")
    X, y = encoding.apply(trained).X, trained.column("y").values
    fitted = sx.LinearRegression().fit(X, y)
    model = Model(
        "linear",
        "regression",
        "y",
        None,
        fitted.coef_,
        fitted.intercept_,
        DecisionRule(),
        encoding,
        data=describe_data(trained, "y", X, y),
    )
    save_model(model, tmp_path / "m.json")
    again = load_model(tmp_path / "m.json")
    one = Path(source).read_text(encoding="utf-8").split("\n")
    (tmp_path / "few.csv").write_text("\n".join(one[:3]) + "\n", encoding="utf-8")
    with open_table(str(tmp_path / "few.csv"), kinds=again.kinds, levels=again.levels, formats=again.formats) as few:
        said = again.predict(few.read())
    np.testing.assert_allclose(said.labels, fitted.predict(X)[: len(said.labels)], rtol=1e-12)
    assert LABELS["number"] is None
