"""Of what kind each column is, and why; judged on all rows.

A column that the file has as numbers, truth values or dates is so; but whole numbers are an id if they count the
rows, or if the name says so and all differ. Columns of words are judged by their words. Cost: a pass or two over each
column.
"""

from __future__ import annotations

import re
from dataclasses import replace

from separatrix.tables.column_type import Asked, Cells, ColumnType
from separatrix.tables.dates import days_sql
from separatrix.tables.judges import judge_words
from separatrix.tables.numbers import PLAIN
from separatrix.tables.raw import Raw, number_words
from separatrix.tables.sql import Connection
from separatrix.tables.table import ColumnKind

TRUTH_VALUES = ("false", "true")
FEW_ROWS = 3  # below, rows that all differ tell nothing
COUNTED_ROWS = 100  # rows from which on 0, 1, 2, … or 1, 2, 3, … are taken for row numbers, whatever the name
ID_NAME = re.compile(r"(.*[\s_.-])?(id|ids|index|idx|key|uuid|guid|row|rows|rownames?|no|nr|number|#|obs)", re.I)
ID_CAMEL = re.compile(r".*[a-z](Id|ID|No|Nr|Key)|Unnamed: \d+")
NAMELESS = "column_1"  # as a frame's row names are called in the end, when they are written without a name


def find_kinds(connection: Connection, raw: Raw, asked: Asked) -> tuple[ColumnType, ...]:
    """Return the kind of each column of a raw table."""
    rows = int(connection.execute(f"SELECT count(*) FROM {raw.table}").fetchone()[0])
    return tuple(_judged(Cells(connection, raw, place, asked, rows)) for place in range(len(raw.names)))


def _judged(cells: Cells) -> ColumnType:
    if cells.type == "DOUBLE" and cells.kind == "id":
        return ColumnType(cells.name, "id", (), "as asked for", "", number_words(cells.cell), cells.cell)
    if cells.type == "DOUBLE" and cells.kind in {None, "number"}:
        return _judged_numbers(cells)
    if cells.type == "BOOLEAN" and cells.kind in {None, "boolean", "number"}:
        levels = cells.asked.levels.get(cells.name, TRUTH_VALUES)
        values = f"coalesce(CAST(CAST({cells.cell} AS INTEGER) AS DOUBLE), 'nan')"
        kind: ColumnKind = cells.kind or "boolean"
        return ColumnType(cells.name, kind, levels if kind == "boolean" else (), "truth values", "", values, cells.cell)
    if cells.type == "TIMESTAMP" and cells.kind in {None, "date"}:
        values = f"coalesce({days_sql(cells.cell)}, 'nan')"
        return ColumnType(cells.name, "date", (), "dates in the file", cells.format or "", values, cells.cell)
    return judge_words(cells)


def _judged_numbers(cells: Cells) -> ColumnType:
    cell, gaps = cells.cell, [float(word) for word in cells.asked.missing if _is_float(word)]
    shown = cell if not gaps else f"CASE WHEN {cell} IN ({', '.join(map(repr, gaps))}) THEN NULL ELSE {cell} END"
    form = PLAIN.name if cells.raw.written else ""
    found = ColumnType(cells.name, "number", (), "numbers", form, f"coalesce({shown}, CAST('nan' AS DOUBLE))", shown)
    if cells.kind is not None:
        return found
    first = cells.connection.execute(f"SELECT {cell} FROM {cells.raw.table} WHERE rowid = 0").fetchone()[0]
    if first is None and not cells.connection.execute(f"SELECT count({cell}) FROM {cells.raw.table}").fetchone()[0]:
        return replace(found, reason="no value at all")
    if first in {0.0, 1.0} or _is_id_name(cells.name):
        return _row_names(cells, shown) or found
    return found


def _is_id_name(name: str) -> bool:
    return bool(ID_NAME.fullmatch(name) or ID_CAMEL.fullmatch(name))


def _row_names(cells: Cells, shown: str) -> ColumnType | None:
    """Return whole numbers as an id if they count the rows, or are called so and all differ."""
    cell, named = cells.cell, _is_id_name(cells.name)
    told, whole, from_zero, from_one = cells.connection.execute(
        f"SELECT count({cell}), bool_and({cell} = trunc({cell})),"
        f" count(*) FILTER ({cell} = rowid), count(*) FILTER ({cell} = rowid + 1) FROM {cells.raw.table}"
    ).fetchone()
    if not whole or told != cells.rows or cells.rows < FEW_ROWS:
        return None
    why = "the numbers count the rows, so they name them"
    if cells.rows not in {from_zero, from_one} or not (named or cells.name == NAMELESS or cells.rows >= COUNTED_ROWS):
        different = f"SELECT count(DISTINCT {cell}) FROM {cells.raw.table}"
        if not named or cells.connection.execute(different).fetchone()[0] != cells.rows:
            return None
        why = "a different whole number in each row, and called so, so it names rows"
    return ColumnType(cells.name, "id", (), why, "", number_words(cell), shown)


def _is_float(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
