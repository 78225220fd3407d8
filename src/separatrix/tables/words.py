"""What is known of a column of words before its kind is judged: which words, how often, and where first.

Of a column of few words, the words are counted once and all questions are asked of these; of a column where most rows
differ, the rows themselves are asked. Blanks around a word do not count. Cost: one pass over the column, then a few
over its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from separatrix.tables.missing import BLANKS, MISSING_ANYWHERE, MISSING_NUMBERS
from separatrix.tables.sql import Connection, literal, word_list

SAMPLE = 1000  # different words looked at in Python
LOOKED_AT = 100_000  # rows by which it is told whether most differ
LONG = 100  # bytes a cell on average from which on blanks around them are left alone: it would take long to look
MANY = 5000  # different words from which on they are not counted, if most rows differ
STRIDE = 9973  # the sample takes rows from all over the column, the first ones first


def trimmed(cell: str) -> str:
    """Return the SQL expression of a cell without blanks around it."""
    return f"trim({cell}, {literal(BLANKS)})"


def clean(cell: str, missing: Sequence[str]) -> str:
    """Return the SQL expression of a cell's word, NULL where it stands for a missing value."""
    word = trimmed(cell)
    return f"CASE WHEN {word} IN ({word_list((*MISSING_ANYWHERE, *missing))}) THEN NULL ELSE {word} END"


class Taken(NamedTuple):
    """How many cells have a value, and how many of them a format does not take; the first of these, if any."""

    told: int
    refused: int
    first_refused: str | None
    different: int  # words that it takes
    gaps: int  # cells that stand for a missing number
    gap_words: tuple[str, ...]  # that stand for a missing value, of whatever kind


@dataclass(frozen=True)
class Words:
    """The words of a column, as a relation of DuckDB with the columns raw, word, rows and first."""

    connection: Connection
    relation: str
    missing: tuple[str, ...]  # words of the user for a gap

    @property
    def gap(self) -> str:
        """The SQL condition that a word stands for a missing value in any column."""
        return f"word IN ({word_list((*MISSING_ANYWHERE, *self.missing))})"

    def sample(self) -> list[str]:
        """Return some of the words that stand for a value."""
        query = f"SELECT word FROM {self.relation} WHERE NOT {self.gap} ORDER BY first % {STRIDE}, first LIMIT {SAMPLE}"
        return [word for (word,) in self.connection.execute(query).fetchall()]

    def taken(self, condition: str) -> Taken:
        """Return how many cells meet a condition on their word; those that stand for a missing number need not."""
        told = f"word IS NOT NULL AND NOT {self.gap} AND NOT {_NUMBER_GAP}"
        refused = f"{told} AND NOT coalesce({condition}, false)"
        row = self.connection.execute(
            f"SELECT coalesce(sum(rows) FILTER ({told}), 0), coalesce(sum(rows) FILTER ({refused}), 0),"
            f" arg_min(word, first) FILTER ({refused}), count(DISTINCT word) FILTER ({told} AND ({condition})),"
            f" coalesce(sum(rows) FILTER ({_NUMBER_GAP}), 0), list(DISTINCT word) FILTER ({self.gap} OR {_NUMBER_GAP})"
            f" FROM {self.relation}"
        ).fetchone()
        return Taken(int(row[0]), int(row[1]), row[2], int(row[3]), int(row[4]), tuple(sorted(row[5] or ())))

    def shape(self) -> tuple[int, int, float, float]:
        """Return the number of cells with a word, of different words, and the mean length and blanks in a cell."""
        row = self.connection.execute(
            "SELECT coalesce(sum(rows), 0), count(DISTINCT word), sum(rows * length(word)) / sum(rows),"
            " sum(rows * (length(word) - length(replace(word, ' ', '')))) / sum(rows)"
            f" FROM {self.relation} WHERE NOT {self.gap}"
        ).fetchone()
        return int(row[0]), int(row[1]), float(row[2] or 0.0), float(row[3] or 0.0)

    def levels(self) -> tuple[str, ...]:
        """Return the different words that stand for a value, sorted by code point."""
        query = f"SELECT DISTINCT word FROM {self.relation} WHERE NOT {self.gap} ORDER BY word"
        return tuple(word for (word,) in self.connection.execute(query).fetchall())

    def care(self) -> tuple[bool, tuple[str, ...]]:
        """Return whether some cell has blanks around its word, and which words stand for a gap."""
        facts = f"coalesce(bool_or(raw <> word), false), list(DISTINCT word) FILTER ({self.gap})"
        blanks, gaps = self.connection.execute(f"SELECT {facts} FROM {self.relation}").fetchone()
        return bool(blanks), tuple(sorted(gaps or ()))


_NUMBER_GAP = f"word IN ({word_list(MISSING_NUMBERS)})"


def count_words(connection: Connection, table: str, cell: str, missing: Sequence[str]) -> Words:
    """Return the words of a column, counted if most rows share theirs with others."""
    facts = f"count({cell}), approx_count_distinct({cell}), avg(strlen({cell}))"
    told, different, size = connection.execute(f"SELECT {facts} FROM {table} WHERE rowid < {LOOKED_AT}").fetchone()
    if (different > MANY or (size or 0) > LONG) and 2 * different > told:
        word = cell if size > LONG else trimmed(cell)
        columns = f"{cell} AS raw, {word} AS word, 1 AS rows, rowid AS first"
        return Words(connection, f"(SELECT {columns} FROM {table} WHERE {cell} IS NOT NULL)", tuple(missing))
    name = f"words_{cell}"
    counts = f"SELECT {cell} AS raw, count(*) AS rows, min(rowid) AS first FROM {table} GROUP BY {cell}"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT *, {trimmed('raw')} AS word FROM ({counts})"
        " WHERE raw IS NOT NULL"
    )
    return Words(connection, name, tuple(missing))
