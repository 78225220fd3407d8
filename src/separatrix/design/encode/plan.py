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

How one column of a training table is to be encoded, by its kind, and the sentence that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.design.encode.base import ColumnEncoding, gap_name
from separatrix.design.encode.columns import (
    OTHER,
    BooleanEncoding,
    CategoryEncoding,
    DateEncoding,
    NumberEncoding,
    PresenceEncoding,
)
from separatrix.design.encode.encoding import POLICIES, Encoding, Omitted, spelt_out
from separatrix.design.encode.retype import cleaned, iso_date, read_texts, written
from separatrix.design.encode.text import BUCKETS, TextEncoding, learn_vocabulary
from separatrix.errors import DataError, OptionError, counted, did_you_mean, require_choice, require_count
from separatrix.tables.table import Column, ColumnSource, require_column

MAX_LEVELS = 1000
DEFAULT_WORDS = ("false", "true")
PLAINLY = "numbers"  # the reason for numbers that need no explanation


@dataclass(frozen=True)
class EncodingOptions:
    """What the user said about how columns are to be encoded."""

    text: Collection[str] = ()
    reference: Mapping[str, str] = field(default_factory=dict)
    max_levels: int = MAX_LEVELS
    fills: bool = True


def plan_column(column: Column, wishes: EncodingOptions) -> ColumnEncoding | Omitted:
    """Return how a column becomes features, or why it does not."""
    gaps = column.missing
    if gaps == len(column.values):
        return Omitted(column.name, "every cell is missing")
    if column.name in wishes.text:
        return _plan_text(column, gaps)
    return _PLANS[column.kind](column, gaps, wishes)


def _plan_id(column: Column, _gaps: int, _: EncodingOptions) -> Omitted:
    return Omitted(column.name, column.reason or "it names the rows")


def _plan_unread(column: Column, _gaps: int, _: EncodingOptions) -> Omitted:
    return Omitted(column.name, f"it is text; --text {column.name} uses its words{_because(column)}")


def _plan_number(column: Column, gaps: int, wishes: EncodingOptions) -> ColumnEncoding | Omitted:
    values = _finite(column)
    if values.min() == values.max():
        return _constant(column, written(float(values[0])), gaps if wishes.fills else 0)
    fill = _mean(values)
    told = column.format and column.reason != PLAINLY
    said = f"{column.name!r} is a number, used as it is{_because(column) if told else ''}"
    return NumberEncoding(column.name, said + _filled(column, gaps, f"the mean {fill:.6g}"), fill, gaps > 0)


def _plan_boolean(column: Column, gaps: int, wishes: EncodingOptions) -> ColumnEncoding | Omitted:
    values = _finite(column)
    words = (column.levels[0], column.levels[1]) if len(column.levels) == 2 else DEFAULT_WORDS
    if values.min() == values.max():
        return _constant(column, words[int(values[0])], gaps if wishes.fills else 0)
    fill = float(values.mean() > 0.5)
    said = f"{column.name!r} is a truth value: 1 for {words[1]!r}, 0 for {words[0]!r}{_because(column)}"
    said += _filled(column, gaps, f"the more frequent {words[int(fill)]!r}")
    return BooleanEncoding(column.name, said, fill, gaps > 0, words)


def _plan_date(column: Column, gaps: int, wishes: EncodingOptions) -> ColumnEncoding | Omitted:
    values = _finite(column)
    if values.min() == values.max():
        return _constant(column, iso_date(float(values[0])), gaps if wishes.fills else 0)
    origin = int(np.floor(values.min()))
    fill = _mean(values - origin)
    said = f"{column.name!r} is a date, in days since {iso_date(origin)}{_because(column)}"
    said += _filled(column, gaps, f"the mean {iso_date(origin + fill)}")
    return DateEncoding(column.name, said, fill, gaps > 0, origin)


def _plan_category(column: Column, gaps: int, wishes: EncodingOptions) -> ColumnEncoding | Omitted:
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    present = [place for place in np.argsort(-counts, kind="stable").tolist() if counts[place]]
    if len(present) == 1 and not gaps:
        return Omitted(column.name, f"it is {column.levels[present[0]]!r} in every row")
    merged = len(present) - wishes.max_levels
    kept = present if merged < 2 else present[: wishes.max_levels]
    words = tuple(sorted(column.levels[place] for place in kept))
    reference = _reference(column, words, column.levels[present[0]], wishes)
    size = _because(column) or f" of {counted(len(present), 'level')}"
    said = f"{column.name!r} is a category{size}, set against {reference!r}"
    said += "" if column.name in wishes.reference else ", the most frequent"
    if merged >= 2:
        rarest = counted(int(counts[present[wishes.max_levels]]), "row")
        said += f"; the {merged:,} rarest, each of at most {rarest}, share the level {OTHER!r}"
    if gaps:
        said += f"; {counted(gaps, 'missing cell')} {_are(gaps)} a level of {'its' if gaps == 1 else 'their'} own"
    return CategoryEncoding(column.name, said, words, reference, gaps > 0, merged >= 2)


def _reference(column: Column, words: tuple[str, ...], most: str, wishes: EncodingOptions) -> str:
    """Return the reference asked for, which must be a level that is kept, or else the most frequent level."""
    asked = wishes.reference.get(column.name, most)
    if asked not in words:
        raise OptionError(f"{column.name!r} has no level {asked!r}{did_you_mean(asked, words)}")
    return asked


def _plan_text(column: Column, gaps: int) -> ColumnEncoding | Omitted:
    vocabulary = learn_vocabulary(column.values if column.is_stored else read_texts(column).values, BUCKETS)
    if not vocabulary.buckets:
        return Omitted(column.name, "no word of it is in two rows")
    said = (
        f"{column.name!r} is text: the tf-idf of its {counted(len(vocabulary.buckets), 'word')} that two rows or more"
        f" have ({vocabulary.left_out:,} seen in one row only are left out)"
    )
    if gaps:
        said += f"; {counted(gaps, 'missing text')} {_are(gaps)} marked by {gap_name(column.name)!r}"
    buckets, words, idf = tuple(vocabulary.buckets), tuple(vocabulary.words), tuple(vocabulary.idf)
    return TextEncoding(column.name, said, BUCKETS, buckets, words, idf, gaps > 0)


_PLANS: dict[str, Callable[[Column, int, EncodingOptions], ColumnEncoding | Omitted]] = {
    "number": _plan_number,
    "boolean": _plan_boolean,
    "date": _plan_date,
    "category": _plan_category,
    "id": _plan_id,
    "text": _plan_unread,
}


def _finite(column: Column) -> Floats:
    """Return the values that are there; an infinite one raises a DataError."""
    finite = np.isfinite(column.values)
    if finite.all():
        return column.values
    infinite = np.flatnonzero(np.isinf(column.values))
    if len(infinite):
        raise DataError(
            f"column {column.name!r}: {counted(len(infinite), 'value')} infinite, first in row {infinite[0] + 1};"
            " fill in numbers, leave those rows out, or drop the column"
        )
    return np.asarray(column.values[finite])


def _mean(values: Floats) -> float:
    """Return the mean, within the values also where their sum overflows."""
    half = 0.5 * float(values.min()) + 0.5 * float(values.max())
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values.mean())
    return mean if np.isfinite(mean) else half


def _constant(column: Column, value: str, gaps: int) -> ColumnEncoding | Omitted:
    if not gaps:
        return Omitted(column.name, f"it is {value} in every row")
    said = f"{column.name!r} is {value} wherever it is not missing, so only {gap_name(column.name)!r} is used"
    return PresenceEncoding(column.name, said, value)


def _filled(column: Column, gaps: int, fill: str) -> str:
    if not gaps:
        return ""
    cells = counted(gaps, "missing cell")
    return f"; {cells} {_are(gaps)} filled with {fill} and marked by {gap_name(column.name)!r}"


def _because(column: Column) -> str:
    return f" ({column.reason})" if column.reason else ""


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


SPARSE_FEATURES = 200  # from here on a sparse matrix may pay
SAMPLE_ROWS = 1000
SPARSE_SHARE = 0.1  # of entries that are not 0: below, a sparse matrix is smaller and faster
_Plan = ColumnEncoding | Omitted
REASONS_SHOWN = 5  # of columns left out, where none is left


def plan_encoding(
    table: ColumnSource,
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
    wishes = EncodingOptions(text, reference or {}, require_count("max_levels", max_levels), missing == "impute")
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


def _stored(encoding: Encoding, table: ColumnSource) -> Encoding:
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


def _check_names(table: ColumnSource, target: str, drop: Collection[str], wishes: EncodingOptions) -> None:
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


def _plans(table: ColumnSource, names: list[str], wishes: EncodingOptions) -> list[_Plan]:
    return [plan_column(_column(table, name), wishes) for name in names]


def _column(table: ColumnSource, name: str) -> Column:
    """Return a column with its words cleaned, as those that are stored are already."""
    column = table.column(name)
    return column if column.is_stored else cleaned(column)


def _complete(table: ColumnSource, names: list[str], wishes: EncodingOptions) -> tuple[Bools, list[_Plan]]:
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
