"""What is asked of a column's reading, and what was found: its kind, why, and the SQL expressions that read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from separatrix.errors import require_choice
from separatrix.tables.numbers import PLAIN
from separatrix.tables.raw import Raw
from separatrix.tables.sql import Connection
from separatrix.tables.table import KINDS, ColumnKind

ASSUMED = "is assumed"  # said of what the cells of a column leave open
CAPITALS = "whatever their capitals"  # said of words that differ, and are taken for one


@dataclass(frozen=True)
class Asked:
    """What the caller has settled: kinds, levels and formats by name of column, and further words for a gap."""

    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in self.kinds.items():
            require_choice(f"kinds[{name!r}]", kind, KINDS)

    @property
    def words(self) -> frozenset[str]:
        """The columns that must not be read as plain numbers."""
        words = {name for name, kind in self.kinds.items() if kind != "number"}
        return frozenset(words | {name for name, form in self.formats.items() if form not in {"", PLAIN.name}})


@dataclass(frozen=True)
class ColumnType:
    """A column's kind, why it is of it, and how it is read.

    `format`: how its numbers or dates are written (`1.234,5`, `%d/%m/%Y`), which may be given to another reading.
    `values` is the SQL expression of its values as a Column has them, `shown` of its cells as `sql` sees them. `gaps`
    are the words in it that were read as missing.
    """

    name: str
    kind: ColumnKind
    levels: tuple[str, ...]
    reason: str
    format: str
    values: str
    shown: str
    invalid: int = 0
    first_invalid: str | None = None
    gaps: tuple[str, ...] = ()


def reading_notes(schema: Sequence[ColumnType], gaps: Iterable[str] = ()) -> list[str]:
    """Return what a user should know of how columns were read: words for a gap, these first, and what is doubtful."""
    missed = dict.fromkeys((*gaps, *(word for column in schema for word in column.gaps)))
    words = ", ".join(repr(word) for word in missed if word)
    told = (c for c in schema if c.invalid or ASSUMED in c.reason or CAPITALS in c.reason)
    return [f"read as missing: {words}"] * bool(words) + [f"column {c.name!r}: {c.reason}" for c in told]


@dataclass(frozen=True)
class Cells:
    """A column of a raw table, and all that its judges may ask."""

    connection: Connection
    raw: Raw
    place: int
    asked: Asked
    rows: int

    @property
    def name(self) -> str:
        """The column's name."""
        return self.raw.names[self.place]

    @property
    def cell(self) -> str:
        """The column, as SQL calls it."""
        return self.raw.cells[self.place]

    @property
    def type(self) -> str:
        """The type of DuckDB that it is kept in."""
        return self.raw.types[self.place]

    @property
    def kind(self) -> ColumnKind | None:
        """The kind asked for."""
        return self.asked.kinds.get(self.name)

    @property
    def format(self) -> str | None:
        """The format asked for."""
        return self.asked.formats.get(self.name)
