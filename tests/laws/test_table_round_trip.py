"""Whatever table is written as csv, by Python's own module in any dialect, is read back equal."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from separatrix.tables.open import read_table

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**15) + 1, 10**15 - 1)
LETTERS = st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp", "Cf"])
SIGNS = st.sampled_from(list(",;|\t\n\"' ab"))
WORDS = st.text(LETTERS | SIGNS, min_size=1, max_size=12).map(lambda word: f"w{word}w")
LEVELS = st.lists(WORDS, min_size=2, max_size=5, unique=True)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[object]]]:
    """Draw names and columns: numbers, or words from a few levels, with gaps."""
    rows = draw(st.integers(6, 30))
    width = draw(st.integers(2, 5))
    names = draw(st.lists(WORDS, min_size=width, max_size=width, unique_by=str.lower))
    kinds = [draw(st.booleans()) for _ in names]
    pools = [NUMBERS if numeric else st.sampled_from(draw(LEVELS)) for numeric in kinds]
    columns: list[list[object]] = [draw(st.lists(st.none() | pool, min_size=rows, max_size=rows)) for pool in pools]
    columns[0] = [cell if cell is not None else (0.5 if kinds[0] else "wxw") for cell in columns[0]]  # no empty row
    return names, columns


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=tables(),
    separator=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_a_table_is_read_back_as_it_was_written(
    tmp_path: Path, table: tuple[list[str], list[list[object]]], separator: str, end: str, quoting: int
) -> None:
    names, columns = table
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))
    path = tmp_path / "t.csv"
    path.write_bytes(text.getvalue().encode("utf-8"))
    found = read_table(str(path))
    assert found.names == tuple(names)
    for column, written in zip(found.columns, columns, strict=True):
        told = [cell for cell in written if cell is not None]
        if not told:
            assert column.missing == len(written)
        elif isinstance(told[0], str):
            assert column.words().tolist() == written
        else:
            assert column.kind == "number"
            for value, cell in zip(column.values.tolist(), written, strict=True):
                assert math.isnan(value) if cell is None else value == cell


@pytest.mark.parametrize("number", [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 2.0**53, -123456.789e-30])
def test_numbers_are_read_to_the_last_bit(tmp_path: Path, number: float) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a,b\n{number!r},x\n1.5,y\n", encoding="utf-8")
    assert read_table(str(path)).column("a").values[0] == number
