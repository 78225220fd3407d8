"""The law of exports: SQL in DuckDB and in SQLite, and the Python function, say what `predict` says."""

from __future__ import annotations

import csv
import datetime
import sqlite3
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_models import LABELS, made_model, mixed_table, rows_of

from separatrix.errors import DataError
from separatrix.model.export.python import to_python
from separatrix.model.export.sql import to_sql
from separatrix.model.record import Model
from separatrix.tables.connection import identifier
from separatrix.tables.formats import ISO, MISSING_ANYWHERE
from separatrix.tables.open import open_table
from separatrix.tables.table import Column, Table, category_column

TYPES = {"number": "DOUBLE", "boolean": "VARCHAR", "category": "VARCHAR", "date": "TIMESTAMP", "text": "VARCHAR"}
CLOSE = 1e-12  # relative to the sum of what a score is made of
NASTY = st.text(st.sampled_from(list("aB \"'`;,.%_\\-(){}[]\n\t\r𝒳ß√0")), min_size=1, max_size=6)
ROW = "the row"
DUCKDB = duckdb.connect(config={"threads": 1})


def sqlite_cell(cell: Any) -> Any:
    """Return a cell as SQLite stores it, which has dates as text."""
    return str(cell) if isinstance(cell, datetime.datetime) else cell


stored = {"duckdb": lambda cell: cell, "sqlite": sqlite_cell}


def loaded(engine: str, table: Table) -> Any:
    """Return a database that holds a table as `data`, with the number of each row."""
    database: Any = DUCKDB.cursor() if engine == "duckdb" else sqlite3.connect(":memory:")
    database.execute('DROP TABLE IF EXISTS "data"')
    columns = [f"{identifier(ROW)} BIGINT", *(f"{identifier(c.name)} {TYPES[c.kind]}" for c in table.columns)]
    database.execute(f'CREATE TABLE "data" ({", ".join(columns)})')
    rows = [(place, *map(stored[engine], row.values())) for place, row in enumerate(rows_of(table))]
    marks = ", ".join("?" * len(columns))
    every = ", ".join([f"({marks})"] * len(rows))
    database.execute(f'INSERT INTO "data" VALUES {every}', [cell for row in rows for cell in row])
    return database


def answers(engine: str, model: Model, table: Table) -> dict[str, list[Any]]:
    database = loaded(engine, table)
    try:
        cursor = database.execute(to_sql(model, keep=[ROW]))
        names = [each[0] for each in cursor.description]
        rows = sorted(cursor.fetchall())
    finally:
        database.close()
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def sizes(model: Model, table: Table) -> np.ndarray[Any, Any]:
    """Return of each row how large the numbers are that its scores are made of, at least 1."""
    X = np.abs(np.asarray(model.encoding.filling.apply(table).X @ np.eye(model.coef.shape[1])))
    return 1.0 + (X @ np.abs(model.coef).T + np.abs(model.intercept)).max(axis=1)


def equal(found: dict[str, list[Any]], model: Model, table: Table) -> None:
    """Compare columns by name with those of `predict`: numbers closely, labels where they are not on the boundary."""
    said, size = model.predict(table), sizes(model, table)
    wanted = said.columns()
    del wanted["note"]
    distance = wanted.pop("distance", np.full(table.n_rows, np.inf))
    assert list(found) == list(wanted)
    for name, values in wanted.items():
        if name == "prediction" and model.classes is not None:
            clear = np.isnan(distance) | (distance > 1e-9)
            assert [v for v, c in zip(found[name], clear, strict=True) if c] == values[clear].tolist()
        else:
            np.testing.assert_array_less(np.abs(np.asarray(found[name], dtype=float) - values), CLOSE * size)


def python_function(model: Model) -> Any:
    scope: dict[str, Any] = {}
    exec(compile(to_python(model), "export.py", "exec"), scope)
    return scope["predict"]


def by_python(model: Model, table: Table) -> dict[str, list[Any]]:
    found = list(map(python_function(model), rows_of(table)))
    columns: dict[str, list[Any]] = {"prediction": [each["prediction"] for each in found]}
    labels = model.classes or ()
    if model.rule.link != "none":
        columns |= {f"probability_{label}": [each["probabilities"][label] for each in found] for label in labels}
    if len(model.coef) == 1:
        return columns | ({"score": [each["scores"][0] for each in found]} if labels else {})
    return columns | {f"score_{label}": [each["scores"][k] for each in found] for k, label in enumerate(labels)}


@pytest.mark.parametrize("link", LABELS)
@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_sql_equals_predict(engine: str, link: str) -> None:
    table = mixed_table(3)
    model = made_model(table, link)
    found = answers(engine, model, table)
    assert found.pop(ROW) == list(range(table.n_rows))
    equal(found, model, table)


@pytest.mark.parametrize("link", LABELS)
def test_python_equals_predict(link: str) -> None:
    table = mixed_table(4, text=True)
    model = made_model(table, link, text=["message"])
    equal(by_python(model, table), model, table)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_new_levels_and_gaps_count_as_predict_counts_them(engine: str) -> None:
    model = made_model(mixed_table(5, gaps=False))
    later = mixed_table(6)
    fresh = category_column("cut", ["Fair", "new", None, 'it\'s "Ideal"; --'] * 15)
    later = Table(tuple(fresh if each.name == "cut" else each for each in later.columns), "later")
    found = answers(engine, model, later)
    del found[ROW]
    equal(found, model, later)
    equal(by_python(model, later), model, later)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_cells_that_training_left_out_are_filled_alike(engine: str) -> None:
    table = mixed_table(7)
    model = made_model(table, "softmax", missing="drop")
    assert model.encoding.missing == "drop"
    assert 0 < model.predict(table).noted < table.n_rows
    found = answers(engine, model, table)
    del found[ROW]
    equal(found, model, table)
    equal(by_python(model, table), model, table)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_rows_that_predict_refuses_are_null(engine: str) -> None:
    table = mixed_table(7)
    complete = mixed_table(7, gaps=False)
    model = made_model(complete, "softmax", missing="error")
    gone = np.logical_or.reduce([table.column(name).is_missing for name in model.encoding.input_names]).tolist()
    found = answers(engine, model, table)
    assert 0 < sum(gone) < table.n_rows
    assert [label is None for label in found["prediction"]] == gone
    assert [p is None for p in found["probability_setosa"]] == gone
    predict = python_function(model)
    assert [predict(row)["prediction"] is None for row in rows_of(table)] == gone


@st.composite
def nasty_tables(draw: st.DrawFn) -> Table:
    names = draw(st.lists(NASTY, min_size=4, max_size=4, unique_by=str.casefold))
    levels = draw(st.lists(NASTY, min_size=2, max_size=4, unique=True))
    words = draw(st.lists(NASTY, min_size=2, max_size=2, unique=True))
    numbers = st.one_of(st.just(np.nan), st.floats(-1e6, 1e6, allow_subnormal=False))
    cells = st.one_of(st.none(), st.sampled_from(levels))
    truths = st.sampled_from([np.nan, 0.0, 1.0])
    rows = st.lists(st.tuples(numbers, cells, truths, st.integers(0, 40_000)), min_size=2, max_size=8)
    number, word, truth, days = zip(*draw(rows), strict=True)
    columns = (
        Column(names[0], "number", np.asarray(number)),
        category_column(names[1], word),
        Column(names[2], "boolean", np.asarray(truth), (words[0], words[1])),
        Column(names[3], "date", np.asarray(days, dtype=float)),
        Column("y", "number", np.zeros(len(days))),
    )
    return Table(columns, "drawn")


@settings(max_examples=40, deadline=None)
@given(
    table=nasty_tables(),
    seed=st.integers(0, 99),
    link=st.sampled_from(list(LABELS)),
    labels=st.lists(NASTY, min_size=3, max_size=3, unique_by=str.casefold),
)
def test_names_and_levels_are_data_never_code(table: Table, seed: int, link: str, labels: list[str]) -> None:
    try:
        model = made_model(table, link, seed=seed)
    except DataError:  # all columns are constant
        assume(False)
    model = replace(model, classes=None if model.classes is None else tuple(labels[: len(model.classes)]))
    for engine in ("duckdb", "sqlite"):
        found = answers(engine, model, table)
        del found[ROW]
        equal(found, model, table)
    equal(by_python(model, table), model, table)


PADS = st.text(st.sampled_from(list(" \t\u00a0\n")), max_size=2)
GAPS = st.sampled_from([None, *MISSING_ANYWHERE, "NULL", "nan"])
LEVELS = ("Fair", "Good", "NA-like", "it's", "7")
NUMBERS = st.one_of(st.none(), st.just(float("inf")), st.floats(-1e6, 1e6, allow_subnormal=False))
MOMENTS = st.one_of(
    st.none(), st.datetimes(datetime.datetime(1950, 1, 1), datetime.datetime(2050, 1, 1), timezones=st.none())
)
VALUES = ["5", "five", "new"]
TRUTHS = st.sampled_from(["Yes", "no", "YES", "nO", "true", "False", "1", "0", "1.0", "maybe", "y"])


@st.composite
def dirty_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw rows with typed numbers and dates, and with words as people write them: blanks around, words for missing."""
    kinds = {"c": st.sampled_from([*LEVELS, "new", "fair"]), "b": TRUTHS, "p": st.sampled_from(VALUES)}
    padded = {
        name: st.one_of(GAPS, st.tuples(PADS, words, PADS).map("".join), st.tuples(PADS, words).map("".join))
        for name, words in kinds.items()
    }
    return draw(st.lists(st.fixed_dictionaries({"n": NUMBERS, **padded, "d": MOMENTS}), min_size=1, max_size=12))


def training_table() -> Table:
    columns = (
        Column("n", "number", np.asarray([1.5, np.nan, 4.0, 7.0, 9.0, 2.0])),
        category_column("c", ["Fair", "Good", "NA-like", "it's", "7", None]),
        Column("d", "date", np.asarray([0.0, 11016.0, np.nan, 19782.0, 3.25, 8.0])),
        Column("b", "boolean", np.asarray([0.0, 1.0, np.nan, 1.0, 1.0, 0.0]), ("no", "Yes")),
        Column("p", "number", np.asarray([5.0, np.nan, 5.0, 5.0, 5.0, 5.0])),
        Column("y", "number", np.zeros(6)),
    )
    return Table(columns, "trained")


def typed(rows: list[dict[str, Any]]) -> Table:
    cells = {name: [row[name] for row in rows] for name in rows[0]}
    numbers = np.asarray([np.nan if cell is None else cell for cell in cells["n"]])
    epoch, day = datetime.datetime(1970, 1, 1), datetime.timedelta(days=1)
    days = np.asarray([np.nan if cell is None else (cell - epoch) / day for cell in cells["d"]])
    words = [Column(name, "text", np.asarray([*cells[name], None], dtype=object)[:-1]) for name in "cbp"]
    return Table((Column("n", "number", numbers), *words, Column("d", "date", days)), "typed")


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rows=dirty_rows(), seed=st.integers(0, 99), link=st.sampled_from(["sigmoid", "softmax", "number"]))
def test_blanks_and_words_for_missing_are_cleaned_alike(rows: list[dict[str, Any]], seed: int, link: str) -> None:
    model = made_model(training_table(), link, seed=seed)
    model = replace(model, data={"columns": [{"name": "p", "kind": "category"}]})
    table = typed(rows)
    for engine in ("duckdb", "sqlite"):
        found = answers(engine, model, table)
        del found[ROW]
        equal(found, model, table)
    equal(by_python(model, table), model, table)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(rows=dirty_rows(), seed=st.integers(0, 99))
def test_a_file_is_read_as_its_cells_are(tmp_path_factory: Any, rows: list[dict[str, Any]], seed: int) -> None:
    """`predict` on a file equals every export on the typed cells of that file."""
    written = [{"name": "n", "kind": "number", "format": "1234.5"}, {"name": "d", "kind": "date", "format": ISO}]
    model = replace(made_model(training_table(), "sigmoid", seed=seed), data={"columns": written})
    coef = model.coef.copy()
    coef[:, model.encoding.places[-1]] = 0.0  # of p, a number in training
    model = replace(model, coef=coef)
    path = tmp_path_factory.mktemp("file") / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["row", *rows[0]], quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows({"row": k, **row} for k, row in enumerate(rows))
    with open_table(str(path), kinds=model.kinds, levels=model.levels, formats=model.formats) as source:
        said = model.predict(source.read())
    found = by_python(model, typed(rows))
    np.testing.assert_allclose(found["score"], said.scores, rtol=1e-11, atol=1e-11)
    for engine in ("duckdb", "sqlite"):
        np.testing.assert_allclose(answers(engine, model, typed(rows))["score"], said.scores, rtol=1e-11, atol=1e-11)
