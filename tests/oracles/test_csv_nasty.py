"""Every nasty csv beside the repository is read right, or refused with a message that names the line.

What is right was found by pandas with the dialect told to it, or written down by hand. Rows and columns that are empty
throughout are left out here and counted there.
"""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from data import DATA, needs_data

from separatrix.errors import DataError
from separatrix.tables.open import read_table

FOLDER = DATA / "csv_nasty"
EXPECTED = (
    {entry["file"]: entry for entry in json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))}
    if FOLDER.is_dir()
    else {}
)
SHAPED = [name for name, entry in EXPECTED.items() if "columns" in entry]
RECORDS = [name for name, entry in EXPECTED.items() if "expected_records" in entry]
KINDS = {
    "titanic.csv": "id number number id category number number number id number id category",
    "banklist.csv": "id id category number id date date",
    "airquality_uci_semicolon.csv": "date category" + " number" * 13,
    "airquality_uci_bom.csv": "date category" + " number" * 13,
    "unemployment09.csv": "id category category id number number number number number",
    "unicode_bom_dupcols.csv": "id number number number number date number",
    "sauron_shift_jis.csv": "number text",
    "winequality_red_semicolon.csv": "number " * 12,
}


def test_the_expectations_are_there():
    if not FOLDER.is_dir():
        pytest.skip("the reference data are not beside this clone")
    assert len(SHAPED) == 13
    assert len(RECORDS) == 6
    assert {path.name for path in FOLDER.iterdir()} == {*EXPECTED, "expected.json"}


def our_name(names, place, header):
    """Return how a column is called here: pandas has `a.1` for a second `a`, and numbers or `Unnamed` for no name."""
    if not header:
        return f"column_{place + 1}"
    again = re.fullmatch(r"(.*)\.1", names[place])
    return f"{again[1]}_2" if again and again[1] in names else names[place]


def total(column):
    """Return the sum of a column's numbers, of codes and ids as well."""
    if column.kind == "number":
        return np.nansum(column.values)
    return sum(float(word) for word in column.words() if word is not None)


@needs_data
@pytest.mark.parametrize("name", SHAPED)
def test_a_nasty_file_is_read_right(name):
    entry, table = EXPECTED[name], read_table(str(FOLDER / name))
    missing, names = entry["missing"], entry["columns"]
    columns = [k for k, column in enumerate(names) if missing.get(column) != entry["n_rows"]]
    empty_rows = entry["n_rows"] - table.n_rows
    assert 0 <= empty_rows <= min((missing.get(column, 0) for column in names), default=0)
    header = entry["dialect"].get("header", 0) is not None
    assert table.names == tuple(our_name(names, k, header) for k in columns)
    for k, column in zip(columns, table.columns, strict=True):
        assert column.missing == missing.get(names[k], 0) - empty_rows, column.name
        assert column.reason
        if names[k] in entry["numeric_sums"]:
            assert total(column) == pytest.approx(entry["numeric_sums"][names[k]], rel=1e-12), column.name


@needs_data
@pytest.mark.parametrize("name", RECORDS)
def test_a_nasty_record_is_read_right(name):
    table, records = read_table(str(FOLDER / name)), EXPECTED[name]["expected_records"]
    assert table.names == tuple(records[0])
    cells = [column.values if column.kind == "number" else column.words() for column in table.columns]
    found = [
        ["" if cell is None or str(cell) == "nan" else str(cell).removesuffix(".0") for cell in row]
        for row in zip(*cells, strict=True)
    ]
    assert found == [list(record.values()) for record in records]


@needs_data
@pytest.mark.parametrize(("name", "kinds"), KINDS.items())
def test_the_kinds_of_a_nasty_file(name, kinds):
    assert [column.kind for column in read_table(str(FOLDER / name)).columns] == kinds.split()


@needs_data
@pytest.mark.parametrize(
    ("name", "line", "fields"),
    [
        ("ragged.csv", "line 3 has 2 fields", "the header has 3"),
        ("quoted_newlines.csv", "line 7 has 5", "header has 4"),
    ],
)
def test_a_file_that_cannot_be_read_right_is_refused_by_its_line(name, line, fields):
    with pytest.raises(DataError) as refused:
        read_table(str(FOLDER / name))
    assert line in str(refused.value)
    assert fields in str(refused.value)


@needs_data
def test_many_spellings_of_missing():
    table = read_table(str(FOLDER / "missing_tokens.csv"))
    values = table.column("x1").values
    assert (table.n_rows, int(np.isfinite(values).sum()), int(np.isinf(values).sum())) == (10, 3, 1)
    assert (table.column("x1").missing, table.column("x2").missing) == (6, 1)


@needs_data
def test_days_are_those_of_the_calendar():
    table = read_table(str(FOLDER / "unicode_bom_dupcols.csv"))
    days = np.array(["2023-12-31", "2024-01-01", "2024-02-29"], dtype="datetime64[D]").astype(float)
    assert table.column("Date").values.tolist() == days.tolist()
    assert table.column("Wert").values.tolist()[:2] == [12.5, 7.0]
    assert table.column("価格").values.tolist()[:2] == [1000.0, 2000.0]


@needs_data
@pytest.mark.parametrize(
    ("folder", "name", "kinds"),
    [
        ("classification", "adult_train", {"age": "number", "workclass": "category", "education": "category"}),
        ("classification", "sms_spam", {"label": "number", "text": "text"}),
        ("regression", "diamonds", {"carat": "number", "cut": "category", "price": "number"}),
    ],
)
def test_the_kinds_of_real_tables(folder, name, kinds):
    table = read_table(str(DATA / folder / f"{name}.parquet"))
    assert {column: table.column(column).kind for column in kinds} == kinds
