"""Long tables keep their rows together: threads may finish blocks of rows in any order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import separatrix as sx
from separatrix.tables.open import open_table

ROWS = 400_000  # several blocks of DuckDB's, so that each thread has some
WORDS = ("low", "high", "none at all", "NA")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a table whose word follows from its number; words have blanks around them and gaps, to be cleaned."""
    file = tmp_path_factory.mktemp("long") / "long.csv"
    lines = (f"{k + 0.5}, {WORDS[k * k // 7 % len(WORDS)]} \n" for k in range(ROWS))
    file.write_text("number,word\n" + "".join(lines), encoding="utf-8")
    return file


def expected(numbers: np.ndarray) -> list[str | None]:
    found = (WORDS[int(k) * int(k) // 7 % len(WORDS)] for k in numbers - 0.5)
    return [None if word == "NA" else word for word in found]


@pytest.mark.slow
def test_columns_of_a_long_table_agree_row_by_row(path: Path) -> None:
    for _ in range(2):
        table = sx.read_table(str(path))
        numbers = table.column("number").values
        assert np.array_equal(numbers, np.arange(ROWS) + 0.5)
        assert table.column("word").words().tolist() == expected(numbers)


@pytest.mark.slow
def test_blocks_and_chosen_rows_keep_the_order(path: Path) -> None:
    with open_table(str(path)) as source:
        blocks = list(source.blocks(150_000))
    assert np.array_equal(np.concatenate([block.column("number").values for block in blocks]), np.arange(ROWS) + 0.5)
    cells = np.concatenate([block.column("word").words() for block in blocks])
    assert cells.tolist() == expected(np.arange(ROWS) + 0.5)
    chosen = sx.read_table(str(path), where="number > 1000")
    assert np.array_equal(chosen.column("number").values, np.arange(1000, ROWS) + 0.5)
    assert chosen.column("word").words().tolist() == expected(chosen.column("number").values)
