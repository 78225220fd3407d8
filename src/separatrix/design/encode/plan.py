"""What is decided about each column of a training table, and about all of them together.

    kind      becomes                                                        a gap becomes
    number    itself                                                         the mean, and a mark
    boolean   0 or 1                                                         the more frequent one, and a mark
    category  a feature for each level but the most frequent, the reference  a level of its own
    date      days since the first date                                      the mean, and a mark
    text      the tf-idf of its words, if asked for by name                  no words, and a mark

Marks and levels for gaps are made only where training had gaps. Left out, with the reason: ids, texts not asked for,
columns that are constant or empty. A category of more than `max_levels` levels keeps the most frequent ones, and the
rest, if they are at least two, share "(other)": each level costs a coefficient that so few rows cannot tell.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from separatrix.arrays import Bools
from separatrix.design.encode.base import ColumnEncoding
from separatrix.design.encode.cells import cleaned
from separatrix.design.encode.choose import MAX_LEVELS, Wishes, plan_column
from separatrix.design.encode.encoding import POLICIES, Encoding, Omitted, spelt_out
from separatrix.errors import DataError, OptionError, counted, require_choice, require_count
from separatrix.tables.table import Column, Columns, require_column

SPARSE_FEATURES = 200  # from here on a sparse matrix may pay
SAMPLE_ROWS = 1000
SPARSE_SHARE = 0.1  # of entries that are not 0: below, a sparse matrix is smaller and faster
_Plan = ColumnEncoding | Omitted
REASONS_SHOWN = 5  # of columns left out, where none is left


def plan_encoding(
    table: Columns,
    target: str,
    *,
    drop: Collection[str] = (),
    missing: str = "impute",
    text: Collection[str] = (),
    reference: Mapping[str, str] | None = None,
    max_levels: int = MAX_LEVELS,
) -> Encoding:
    """Return how a table's columns beside the target become features.

    `drop` names columns to leave out, `text` those whose words to use, `reference` the reference level of categories;
    `missing` is "impute", "drop" (rows with a gap) or "error". The table is read one column at a time.
    """
    require_choice("missing", missing, POLICIES)
    wishes = Wishes(text, reference or {}, require_count("max_levels", max_levels), missing == "impute")
    _check_names(table, target, drop, wishes)
    reasons: dict[str | None, str] = {table.row_names: "it names the rows"}
    reasons.update(dict.fromkeys(drop, "asked for"))
    names = [name for name in table.names if name != target]
    asked_out = [Omitted(name, reasons[name]) for name in names if name in reasons]
    rest = [name for name in names if name not in reasons]
    rows, plans = _complete(table, rest, wishes) if missing == "drop" else (None, _plans(table, rest, wishes))
    used = tuple(each for each in plans if isinstance(each, ColumnEncoding))
    omitted = (*asked_out, *(each for each in plans if isinstance(each, Omitted)))
    if not used:
        raise DataError(f"{table.source} has no column left to predict {target!r} from{_why(omitted)}")
    left = 0 if rows is None else int(np.count_nonzero(~rows))
    lost = f"{counted(left, 'row')} with a missing cell {'is' if left == 1 else 'are'} left out"
    return _stored(Encoding(used, omitted, missing, notes=(lost,) if left else ()), table)


def _stored(encoding: Encoding, table: Columns) -> Encoding:
    """Return the encoding with a sparse matrix where rows sampled evenly say that it pays."""
    features = len(encoding.feature_names)
    if features < SPARSE_FEATURES:
        return encoding
    sample = slice(None, None, max(1, table.n_rows // SAMPLE_ROWS))
    rows = len(range(table.n_rows)[sample])
    filled = sum(_entries(each, table.column(each.name), sample) for each in encoding.columns) / rows
    if filled > SPARSE_SHARE * features:
        return encoding
    said = f"the {features:,} features, some {filled:.0f} of a row not 0, are stored as a sparse matrix"
    return replace(encoding, sparse=True, notes=(*encoding.notes, said))


def _entries(encoding: ColumnEncoding, column: Column, sample: slice) -> int:
    """Return how many entries of some rows are not 0."""
    cells = encoding.read(Column(column.name, column.kind, column.values[sample], column.levels))
    entries = encoding.entries(cells)
    return sum(int(np.count_nonzero(spelt_out(each, len(cells.values))[2])) for each in entries)


def _check_names(table: Columns, target: str, drop: Collection[str], wishes: Wishes) -> None:
    """Refuse names that the table does not have, and wishes that contradict each other."""
    for name in (target, *drop, *wishes.text, *wishes.reference):
        require_column(table.source, table.names, name)
    for name in (*drop, *wishes.text, *wishes.reference):
        if name == target:
            raise OptionError(f"{name!r} is the target, so it cannot be a feature or be dropped; choose another column")
    for name in wishes.reference:
        if table.column(name).kind != "category":
            kind = table.column(name).kind
            raise OptionError(f"{name!r} is a {kind}, which has no reference level; only a category has")


def _plans(table: Columns, names: list[str], wishes: Wishes) -> list[_Plan]:
    return [plan_column(_column(table, name), wishes) for name in names]


def _column(table: Columns, name: str) -> Column:
    """Return a column with its words cleaned, as those that are stored are already."""
    column = table.column(name)
    return column if column.is_stored else cleaned(column)


def _complete(table: Columns, names: list[str], wishes: Wishes) -> tuple[Bools, list[_Plan]]:
    """Return which rows have no gap in a column that is used, and the plans of all columns on these rows.

    A column that is constant in them is not used, so its gaps no longer count, and there are more rows.
    """
    omitted: list[_Plan] = []
    while True:
        complete = np.ones(table.n_rows, dtype=np.bool_)
        for name in names:
            column = _column(table, name)
            if not isinstance(plan_column(column, wishes), Omitted):
                complete &= ~column.is_missing
        if not complete.any():
            raise DataError(f"{table.source}: every row has a missing cell; use missing 'impute', or leave out columns")
        plans = [plan_column(_cut(_column(table, name), complete), wishes) for name in names]
        used = [name for name, planned in zip(names, plans, strict=True) if not isinstance(planned, Omitted)]
        if len(used) == len(names) or not used:
            return complete, [*plans, *omitted]
        omitted += [planned for planned in plans if isinstance(planned, Omitted)]
        names = used


def _cut(column: Column, rows: Bools) -> Column:
    return Column(column.name, column.kind, column.values[rows], column.levels, column.reason)


def _why(omitted: tuple[Omitted, ...]) -> str:
    return "".join(f"; {name!r} is left out: {reason}" for name, reason in omitted[:REASONS_SHOWN])
