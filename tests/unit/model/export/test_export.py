"""Exports beyond the law that they equal `predict`: refusals, depth, dialect, ONNX in its own runtime."""

from __future__ import annotations

import ast
import datetime
import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import onnx
import onnxruntime
import pytest
from made_models import LABELS, made_model, mixed_table, rows_of

from separatrix.design.encode.plan import plan_encoding
from separatrix.errors import DataError, OptionError
from separatrix.model.export.onnx import to_onnx
from separatrix.model.export.python import to_python
from separatrix.model.export.sql import to_sql
from separatrix.model.predictions import DecisionRule
from separatrix.model.record import Model
from separatrix.model.train import train
from separatrix.tables.open import open_table
from separatrix.tables.table import Column, Table, category_column

# SQL


def test_texts_have_no_sql_and_no_graph() -> None:
    model = made_model(mixed_table(1, text=True), text=["message"])
    with pytest.raises(OptionError, match="column 'message' is text, and its words have no SQL; export to python"):
        to_sql(model)
    with pytest.raises(OptionError, match="column 'message' is text, and its words have no ONNX graph"):
        to_onnx(model)


def test_a_column_without_weight_is_not_asked_for() -> None:
    table = mixed_table(1, text=True)
    model = made_model(table, text=["message"])
    coef = model.coef.copy()
    coef[:, model.encoding.places[0]] = 0.0
    lean = replace(model, coef=coef)
    assert "message" not in to_sql(lean)
    assert "message" not in to_python(lean)


def test_nul_characters_are_refused() -> None:
    table = Table((category_column("a", ["x\0", "z", "z"]), Column("y", "number", np.zeros(3))), "made")
    with pytest.raises(DataError, match="has a NUL character, which SQL cannot write"):
        to_sql(made_model(table))


def test_an_absent_column_is_an_error_also_in_sqlite() -> None:
    model = made_model(mixed_table(1))
    database = sqlite3.connect(":memory:")
    database.execute('CREATE TABLE "data" ("cut" TEXT)')
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        database.execute(to_sql(model))
    database.close()


def test_names_of_results_cannot_be_kept() -> None:
    with pytest.raises(OptionError, match="keep='score' is the name of a result"):
        to_sql(made_model(mixed_table(1)), keep=["score"])


def test_without_probabilities_no_function_is_needed() -> None:
    model = made_model(mixed_table(1))
    assert "EXP(" in to_sql(model)
    assert "EXP(" not in to_sql(model, probabilities=False)
    assert "probability" not in to_sql(model, probabilities=False)


def wide(p: int, classes: tuple[Any, ...], link: Any) -> tuple[Model, Table]:
    rng = np.random.default_rng(0)
    columns = [Column(f"x{j}", "number", rng.normal(size=6)) for j in range(p)]
    table = Table((*columns, Column("y", "number", np.zeros(6))), "wide")
    encoding = plan_encoding(table, "y")
    scores = 1 if len(classes) == 2 else len(classes)
    coef, intercept = rng.normal(size=(scores, p)), rng.normal(size=scores)
    return Model("made", "classification", "y", classes, coef, intercept, DecisionRule(link), encoding), table


@pytest.mark.slow
@pytest.mark.parametrize(("p", "classes", "link"), [(1100, (0, 1), "sigmoid"), (60, tuple("abcdefghij"), "softmax")])
@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_wide_models_stay_within_the_depth_of_expressions(p: int, classes: Any, link: str, engine: str) -> None:
    model, table = wide(p, classes, link)
    said = model.predict(table)
    database: Any = duckdb.connect() if engine == "duckdb" else sqlite3.connect(":memory:")
    names = ", ".join(f'"x{j}" DOUBLE' for j in range(p))
    database.execute(f'CREATE TABLE "data" ("nr" BIGINT, {names})')
    for nr, row in enumerate(rows_of(table)):
        cells = ", ".join(repr(row[f"x{j}"]) for j in range(p))
        database.execute(f'INSERT INTO "data" VALUES ({nr}, {cells})')
    rows = sorted(database.execute(to_sql(model, keep=["nr"])).fetchall())
    database.close()
    assert [row[1] for row in rows] == said.labels.tolist()
    assert said.probabilities is not None
    np.testing.assert_allclose([row[2] for row in rows], said.probabilities[:, 0], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("classes", [(False, True), (0.5, 1e-3), ("it's", "")])
@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_labels_of_every_type_come_back(classes: tuple[Any, ...], engine: str) -> None:
    table = Table((Column("x", "number", np.asarray([-1.0, 1.0])), Column("y", "number", np.zeros(2))), "made")
    model = Model("made", "classification", "y", classes, [1], [0], DecisionRule("sigmoid"), plan_encoding(table, "y"))
    database: Any = duckdb.connect() if engine == "duckdb" else sqlite3.connect(":memory:")
    database.execute('CREATE TABLE "data" AS SELECT -1.0 AS x UNION ALL SELECT 1.0')
    found = database.execute(to_sql(model, keep=["x"], probabilities=False)).fetchall()
    database.close()
    assert [label for _, label, _ in sorted(found)] == list(classes) == model.predict(table).labels.tolist()
    scope: dict[str, Any] = {}
    exec(to_python(model), scope)
    assert [scope["predict"]({"x": x})["prediction"] for x in (-1, 1)] == list(classes)


def test_typed_columns_of_a_database_work() -> None:
    """Truth values, dates, timestamps, decimals and whole numbers as DuckDB types, not as text."""
    truth = Column("b", "boolean", np.asarray([0.0, 1.0, np.nan, 1.0]), ("no", "yes"))
    date = Column("d", "date", np.asarray([0.0, 11016.0, 19782.0, np.nan]))
    time = Column("t", "date", np.asarray([0.25, 11016.5, 19782.0, 3.0]))
    number = Column("n", "number", np.asarray([1.25, -3.0, np.nan, 7.5]))
    table = Table((truth, date, time, number, Column("y", "number", np.zeros(4))), "typed")
    model = made_model(table, "number")
    database = duckdb.connect()
    database.execute('CREATE TABLE "data" (b BOOLEAN, d DATE, t TIMESTAMP, n DECIMAL(9, 3))')
    database.execute(
        "INSERT INTO \"data\" VALUES (false, '1970-01-01', '1970-01-01 06:00:00', 1.25),"
        " (true, '2000-02-29', '2000-02-29 12:00:00', -3), (NULL, '2024-02-29', '2024-02-29', NULL),"
        " (true, NULL, '1970-01-04', 7.5)"
    )
    found = [row[0] for row in database.execute(to_sql(model)).fetchall()]
    database.close()
    np.testing.assert_allclose(found, model.predict(table).labels, rtol=1e-12, atol=1e-12)


def dated(cells: Sequence[str], path: Path) -> tuple[Model, list[float]]:
    """Return a model of dates, and its predictions for the file that has them."""
    path.write_text("d\ty\n" + "".join(f"{cell}\t{k * k % 37}\n" for k, cell in enumerate(cells)), encoding="utf-8")
    model = train(str(path), target="y", model="linear")
    assert model.kinds["d"] == "date"
    with open_table(str(path), kinds=model.kinds, levels=model.levels, formats=model.formats) as source:
        return model, model.predict(source.read()).scores.tolist()


MOMENTS = [
    f"2024-03-{d:02}T{7 * d % 24:02}:30:00{z}" for d in range(1, 29) for z in ("+02:00", "-09:30", "+14:00", "Z")
]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
def test_timestamps_with_a_zone_are_moments_whatever_the_zone_of_the_session(zone: str, tmp_path: Path) -> None:
    model, said = dated(MOMENTS, tmp_path / "dates.tsv")
    database = duckdb.connect()
    database.execute(f"SET TimeZone = '{zone}'")
    database.execute('CREATE TABLE "data" ("nr" INTEGER, "d" TIMESTAMPTZ)')
    database.executemany('INSERT INTO "data" VALUES (?, ?)', list(enumerate(MOMENTS)))
    found = [score for _, score in sorted(database.execute(to_sql(model, keep=["nr"])).fetchall())]
    database.close()
    np.testing.assert_allclose(found, said, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_every_day_of_the_calendar_is_counted_right(engine: str) -> None:
    first = datetime.date(1895, 1, 1).toordinal() - datetime.date(1970, 1, 1).toordinal()
    days = np.arange(first, first + 240 * 366, 13, dtype=float)
    table = Table((Column("d", "date", days), Column("y", "number", np.zeros(len(days)))), "days")
    model = replace(made_model(table, "number"), coef=np.ones((1, 1)), intercept=np.zeros(1))
    database: Any = duckdb.connect() if engine == "duckdb" else sqlite3.connect(":memory:")
    database.execute(f'CREATE TABLE "data" ("d" {"DATE" if engine == "duckdb" else "TEXT"})')
    cells = ", ".join(f"('{row['d'].date()}')" for row in rows_of(table))
    database.execute(f'INSERT INTO "data" VALUES {cells}')
    found = sorted(row[0] for row in database.execute(to_sql(model)).fetchall())
    database.close()
    assert found == (days - first).tolist()


def test_text_in_other_forms_is_no_date_and_words_are_no_numbers(tmp_path: Path) -> None:
    model, _ = dated(MOMENTS, tmp_path / "dates.tsv")
    database = duckdb.connect()
    database.execute("CREATE TABLE \"data\" AS SELECT '3/1/2024' AS d UNION ALL SELECT NULL")
    found = [row[0] for row in database.execute(to_sql(model)).fetchall()]
    assert found[0] == found[1]
    database.execute("CREATE TABLE words AS SELECT 'five' AS n")
    column = Column("n", "number", np.asarray([1.0, 2.0]))
    number = made_model(Table((column, Column("y", "number", np.zeros(2))), "made"), "number")
    with pytest.raises(duckdb.ConversionException, match="five"):
        database.execute(to_sql(number, "words"))
    database.close()


def test_every_export_says_which_types_it_expects() -> None:
    model = made_model(mixed_table(1, text=True), text=["message"])
    python = to_python(model).splitlines()
    assert python[0].startswith("# Predicts 'y' from one row of a table")
    assert python[1:3] == [
        "# int or float: 'age; \"years\"', 'plain'",
        "# datetime.date or datetime.datetime, in UTC if without a time zone: 'since'",
    ]
    assert "# str: 'message'" in python
    worded = made_model(mixed_table(1))
    head = to_sql(worded).split("SELECT")[0].splitlines()
    assert head == [
        "-- Predicts 'y'. Columns in their types:",
        "-- numbers: 'age; \"years\"', 'plain'",
        "-- dates or timestamps, in UTC if without a time zone: 'since'",
        "-- binary values, or words as in training: 'bought'",
        "-- words as in training, blanks around them ignored: 'cut'",
    ]
    assert (
        "float32, days since 1970-01-01, NaN where missing: 'since'"
        in onnx.load_from_string(to_onnx(worded)).doc_string
    )


# Python


def test_python_source_is_ascii_and_imports_only_the_standard_library() -> None:
    source = to_python(made_model(mixed_table(1, text=True), "softmax", text=["message"]))
    assert source.isascii()
    imported = {
        alias.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for alias in node.names
    }
    assert imported == {"datetime", "math", "re", "zlib"}  # beside __future__
    assert imported <= set(sys.stdlib_module_names)


def test_python_takes_typed_cells_only() -> None:
    table = mixed_table(2)
    scope: dict[str, Any] = {}
    exec(to_python(made_model(table)), scope)
    row = {'age; "years"': 31.5, "bought": True, "cut": "Good", "since": datetime.date(2020, 1, 2), "plain": 1}
    moment = datetime.datetime(2020, 1, 2, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    same = {'age; "years"': Decimal("31.5"), "bought": " YES", "cut": " Good ", "since": moment, "plain": 1.0}
    assert scope["predict"](row) == scope["predict"](same)
    gaps = scope["predict"](dict.fromkeys(row))
    assert gaps == scope["predict"]({**dict.fromkeys(row, float("nan")), "cut": "NA", "plain": float("inf")})
    with pytest.raises(KeyError, match="plain"):
        scope["predict"]({key: row[key] for key in row if key != "plain"})
    with pytest.raises(TypeError, match="must be real number, not str"):
        scope["predict"]({**row, "plain": "1"})
    with pytest.raises(AttributeError, match="year"):
        scope["predict"]({**row, "since": "2020-01-02"})


# ONNX


def ran(model: Model, table: Table) -> dict[str, Any]:
    session = onnxruntime.InferenceSession(to_onnx(model), providers=["CPUExecutionProvider"])
    feeds = {}
    for each in session.get_inputs():
        column = table.column(each.name)
        if each.type == "tensor(string)":
            cells = np.asarray(["" if word is None else word for word in column.words()], dtype=object)
        else:
            cells = column.values.astype(np.float32)
        feeds[each.name] = cells[:, np.newaxis]
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


@pytest.mark.parametrize("link", LABELS)
def test_onnx_equals_predict_to_single_precision(link: str) -> None:
    table = mixed_table(3)
    model = made_model(table, link)
    found, said = ran(model, table), model.predict(table)
    size = 1.0 + np.abs(said.scores).max()
    np.testing.assert_allclose(found["scores"].reshape(said.scores.shape), said.scores, rtol=0, atol=2e-5 * size)
    if model.classes is None:
        np.testing.assert_allclose(found["prediction"], said.labels, rtol=0, atol=2e-5 * size)
        return
    assert said.distance is not None
    clear = said.distance > 1e-3
    assert found["prediction"][clear].tolist() == said.labels[clear].tolist()
    assert clear.sum() > 50
    assert ("probabilities" in found) == (said.probabilities is not None)
    if said.probabilities is not None:
        np.testing.assert_allclose(found["probabilities"], said.probabilities, atol=2e-5 * size)


def test_onnx_counts_new_levels_and_gaps_as_predict_does() -> None:
    model = made_model(mixed_table(5, gaps=False), "softmax")
    later = mixed_table(6)
    fresh = category_column("cut", ["Fair", "new", None, "Good"] * 15)
    later = Table(tuple(fresh if each.name == "cut" else each for each in later.columns), "later")
    np.testing.assert_allclose(ran(model, later)["scores"], model.predict(later).scores, atol=1e-4)


def test_onnx_has_no_score_for_rows_that_are_left_out() -> None:
    table = mixed_table(7)
    model = made_model(table, missing="drop")
    scores = ran(model, table)["scores"][:, 0]
    assert np.isnan(scores).tolist() == np.isnan(model.predict(table).scores).tolist()


def test_onnx_names_of_columns_and_results_may_be_equal() -> None:
    columns = (
        Column("scores", "number", np.arange(4.0)),
        Column("value_1", "number", np.asarray([1.0, 0.0, 2.0, 5.0])),
    )
    table = Table((*columns, Column("y", "number", np.zeros(4))), "made")
    model = made_model(table)
    np.testing.assert_allclose(ran(model, table)["scores_"][:, 0], model.predict(table).scores, atol=1e-5)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(OptionError, match=r"pip install 'separatrix\[onnx\]'"):
        to_onnx(made_model(mixed_table(1)))
