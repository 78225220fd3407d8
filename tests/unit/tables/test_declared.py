"""Columns whose type the table declares: categories and enums in their order, text of digits; and types asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import statsmodels.formula.api as smf

import separatrix as sx
from separatrix.errors import DataError, OptionError
from separatrix.tables.frames import from_frame
from separatrix.tables.open import read_table

CODES = [1, 2, 3, 1, 2, 3, 3, 1]
WORDS = list(map(str, CODES))


def read_as(column) -> tuple[str, tuple[str, ...], bool]:
    """Return the kind, the levels, and whether the table declares their order."""
    return column.kind, column.levels, column.ordered


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (pd.Categorical(CODES), ("1", "2", "3")),
        (pd.Categorical(CODES, categories=[3, 1, 2]), ("3", "1", "2")),
        (pd.Categorical(CODES, categories=[3, 4, 1, 2], ordered=True), ("3", "4", "1", "2")),
        (pd.Categorical(np.asarray(CODES, dtype=float)), ("1", "2", "3")),
        (pd.Categorical(WORDS, categories=["2", "3", "1"]), ("2", "3", "1")),
        (pd.Categorical(["no", "yes"] * 4, categories=["yes", "no"]), ("yes", "no")),
    ],
)
@pytest.mark.parametrize("made", [pd.DataFrame, pa.Table.from_pandas], ids=["pandas", "arrow"])
def test_a_category_of_pandas_or_arrow_keeps_its_order(values, levels, made) -> None:
    column = from_frame(made(pd.DataFrame({"g": values}))).column("g")
    assert read_as(column) == ("category", levels, True)
    assert [column.levels[code] for code in column.values] == [
        cell if isinstance(cell, str) else f"{cell:g}" for cell in values
    ]


def test_a_category_of_polars_has_an_order_if_it_is_an_enum() -> None:
    frame = pl.DataFrame(
        {"e": pl.Series(WORDS, dtype=pl.Enum(["3", "1", "2"])), "c": pl.Series(WORDS, dtype=pl.Categorical)}
    )
    table = from_frame(frame)
    assert read_as(table.column("e")) == ("category", ("3", "1", "2"), True)
    assert read_as(table.column("c")) == ("category", ("1", "2", "3"), False)


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_text_in_whole_numbers_is_a_category_and_other_text_is_inferred(made) -> None:
    columns = {"code": WORDS, "float": [f"{code}.0" for code in CODES], "size": [f"{code}.5" for code in CODES]}
    columns |= {"gap": [*WORDS[:-1], None], "day": [f"2020-01-0{code}" for code in CODES]}
    table = from_frame(made(columns))
    kinds = {"code": "category", "float": "category", "size": "number", "gap": "category", "day": "date"}
    assert {column.name: column.kind for column in table.columns} == kinds
    assert "in digits" in table.column("code").reason


def test_objects_that_are_no_text_are_inferred() -> None:
    assert from_frame(pd.DataFrame({"x": pd.Series([1, None, 3, 1], dtype=object)})).column("x").kind == "number"


def test_typed_files_declare_text_and_categories(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": WORDS, "coded": pd.Categorical(CODES), "number": CODES})
    frame.to_parquet(tmp_path / "t.parquet")
    frame[["text", "number"]].to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    frame.to_csv(tmp_path / "t.csv", index=False)
    kinds = {"text": "category", "coded": "category", "number": "number"}
    for where in (None, "number > 0"):
        table = read_table(tmp_path / "t.parquet", where=where)
        assert {column.name: column.kind for column in table.columns} == kinds
        assert table.column("coded").levels == ("1", "2", "3")
    assert read_table(tmp_path / "t.jsonl").column("text").kind == "category"
    assert {column.kind for column in read_table(tmp_path / "t.csv").columns} == {"number"}


def test_a_cast_in_sql_declares_text_and_an_enum_its_order(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("g,h\n" + "".join(f"{code},{code / 2}\n" for code in CODES), encoding="utf-8")
    query = "select cast(g as varchar) as t, cast(cast(g as varchar) as enum('2', '3', '1')) as e, g, h from t"
    table = read_table(path, sql=query)
    assert read_as(table.column("t")) == ("category", ("1", "2", "3"), False)
    assert read_as(table.column("e")) == ("category", ("2", "3", "1"), True)
    assert [table.column(name).kind for name in "gh"] == ["number", "number"]


# Fits of them


def coded(n: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    g = rng.integers(1, 4, n)
    return pd.DataFrame({"g": g, "y": np.asarray([0.0, 5.0, 1.0])[g - 1] + rng.normal(size=n)})


def test_a_factor_is_tested_as_a_factor() -> None:
    frame = coded()
    factor = frame.assign(g=pd.Categorical(frame["g"], categories=[3, 1, 2]))
    model, wanted = sx.train(factor, "y"), smf.ols("y ~ C(g, Treatment(3))", frame).fit()
    assert model.encoding.feature_names == ("g=1", "g=2")
    assert model.encoding.columns[0].reference == "3"
    assert model.encoding.decisions()[0].endswith("the reference level is '3', the first")
    table = model.fitted.table
    assert [term.p_value for term in table.terms] == pytest.approx(wanted.pvalues.tolist(), rel=1e-8)
    assert table.measure("F").p_value == pytest.approx(wanted.f_pvalue, rel=1e-8)
    assert model.predict(frame).scores == pytest.approx(wanted.fittedvalues.to_numpy(), rel=1e-10)


def test_the_first_level_with_rows_is_the_reference() -> None:
    frame = coded()
    factor = frame.assign(g=pd.Categorical(frame["g"], categories=[9, 2, 1, 3]))
    assert sx.train(factor, "y").encoding.feature_names == ("g=1", "g=3")
    assert sx.train(factor, "y", reference={"g": 1}).encoding.feature_names == ("g=2", "g=3")
    assert sx.train(factor, "y", number="g").encoding.feature_names == ("g",)


def test_types_that_are_asked_for_overrule_the_inferred_ones(tmp_path: Path) -> None:
    path, frame = tmp_path / "t.csv", coded()
    frame.to_csv(path, index=False)
    model = sx.train(path, "y", category="g")
    assert model.encoding.columns[0].kind == "category"
    assert model.predict(path).scores == pytest.approx(sx.train(path, "y", reference={"g": 1}).predict(path).scores)
    text = frame.assign(g=frame["g"].astype(str), day="2020-01-0" + frame["g"].astype(str))
    model = sx.train(text, "y", number=["g"], category=["day"])
    assert [column.kind for column in model.encoding.columns] == ["number", "category"]
    assert sx.train(text, "y", date="day", drop="g").encoding.columns[0].kind == "date"


@pytest.mark.parametrize(("kind", "first"), [("number", "x7"), ("date", "1")])
def test_a_cell_that_cannot_be_read_so_is_named(kind: str, first: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"g": ["1", "2", "x7", *["3"] * 97], "y": np.arange(100.0) % 7})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for table in (frame, tmp_path / "t.csv"):
        with pytest.raises(DataError, match=f"column 'g' has '{first}', which is no {kind}"):
            sx.train(table, "y", **{kind: "g"})


def test_types_that_contradict_each_other_are_refused() -> None:
    frame = coded()
    with pytest.raises(OptionError, match="'g' is requested as a category and a number"):
        sx.train(frame, "y", number="g", reference={"g": 1})
    with pytest.raises(OptionError, match="column 'g' of this table is of type number already"):
        sx.train(from_frame(frame), "y", category="g")
    with pytest.raises(DataError, match="has no column 'gg'"):
        sx.train(frame, "y", category="gg")


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(CODES)),
        pd.Series(WORDS, dtype="str"),
        pl.Series(WORDS),
        pl.Series(WORDS, dtype=pl.Enum(["1", "2", "3"])),
        pl.Series(WORDS, dtype=pl.Categorical),
    ],
    ids=["pandas category", "pandas text", "polars text", "polars enum", "polars category"],
)
def test_an_estimator_does_not_take_the_codes_of_a_category_for_numbers(column) -> None:
    """`sx.train` tests the factor; the slope of its codes is another question."""
    frame = (pl if isinstance(column, pl.Series) else pd).DataFrame({"x": [0.5, 1, 2, 4, 3, 1, 2, 5], "g": column})
    message = r"column 'g' is of type '.+', a category and not a number; use sx\.train or a formula"
    with pytest.raises(DataError, match=message):
        sx.LinearRegression().fit(frame, np.arange(8.0))
    with pytest.raises(DataError, match=message):
        sx.blocked(frame)
    with pytest.raises(DataError, match=message):
        sx.check_separability(frame, CODES)
    with pytest.raises(DataError, match=message):
        sx.compare(frame, ["a", "b"] * 4)
