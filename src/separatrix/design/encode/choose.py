"""How one column of a training table is to be encoded, by its kind, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.encode.base import ColumnEncoding, gap_name
from separatrix.design.encode.boolean import BooleanEncoding
from separatrix.design.encode.category import OTHER, CategoryEncoding
from separatrix.design.encode.cells import iso_date, read_texts, written
from separatrix.design.encode.date import DateEncoding
from separatrix.design.encode.encoding import Omitted
from separatrix.design.encode.number import NumberEncoding
from separatrix.design.encode.presence import PresenceEncoding
from separatrix.design.encode.text import BUCKETS, TextEncoding, learn_vocabulary
from separatrix.errors import DataError, OptionError, counted, did_you_mean
from separatrix.tables.table import Column

MAX_LEVELS = 1000
DEFAULT_WORDS = ("false", "true")
PLAINLY = "numbers"  # the reason for numbers that need no explanation


@dataclass(frozen=True)
class Wishes:
    """What the user said about how columns are to be encoded."""

    text: Collection[str] = ()
    reference: Mapping[str, str] = field(default_factory=dict)
    max_levels: int = MAX_LEVELS
    fills: bool = True


def plan_column(column: Column, wishes: Wishes) -> ColumnEncoding | Omitted:
    """Return how a column becomes features, or why it does not."""
    gaps = column.missing
    if gaps == len(column.values):
        return Omitted(column.name, "every cell is missing")
    if column.name in wishes.text:
        return _plan_text(column, gaps)
    return _PLANS[column.kind](column, gaps, wishes)


def _plan_id(column: Column, _gaps: int, _: Wishes) -> Omitted:
    return Omitted(column.name, column.reason or "it names the rows")


def _plan_unread(column: Column, _gaps: int, _: Wishes) -> Omitted:
    return Omitted(column.name, f"it is text; --text {column.name} uses its words{_because(column)}")


def _plan_number(column: Column, gaps: int, wishes: Wishes) -> ColumnEncoding | Omitted:
    values = _finite(column)
    if values.min() == values.max():
        return _constant(column, written(float(values[0])), gaps if wishes.fills else 0)
    fill = _mean(values)
    told = column.format and column.reason != PLAINLY
    said = f"{column.name!r} is a number, used as it is{_because(column) if told else ''}"
    return NumberEncoding(column.name, said + _filled(column, gaps, f"the mean {fill:.6g}"), fill, gaps > 0)


def _plan_boolean(column: Column, gaps: int, wishes: Wishes) -> ColumnEncoding | Omitted:
    values = _finite(column)
    words = (column.levels[0], column.levels[1]) if len(column.levels) == 2 else DEFAULT_WORDS
    if values.min() == values.max():
        return _constant(column, words[int(values[0])], gaps if wishes.fills else 0)
    fill = float(values.mean() > 0.5)
    said = f"{column.name!r} is a truth value: 1 for {words[1]!r}, 0 for {words[0]!r}{_because(column)}"
    said += _filled(column, gaps, f"the more frequent {words[int(fill)]!r}")
    return BooleanEncoding(column.name, said, fill, gaps > 0, words)


def _plan_date(column: Column, gaps: int, wishes: Wishes) -> ColumnEncoding | Omitted:
    values = _finite(column)
    if values.min() == values.max():
        return _constant(column, iso_date(float(values[0])), gaps if wishes.fills else 0)
    origin = int(np.floor(values.min()))
    fill = _mean(values - origin)
    said = f"{column.name!r} is a date, in days since {iso_date(origin)}{_because(column)}"
    said += _filled(column, gaps, f"the mean {iso_date(origin + fill)}")
    return DateEncoding(column.name, said, fill, gaps > 0, origin)


def _plan_category(column: Column, gaps: int, wishes: Wishes) -> ColumnEncoding | Omitted:
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


def _reference(column: Column, words: tuple[str, ...], most: str, wishes: Wishes) -> str:
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


_PLANS: dict[str, Callable[[Column, int, Wishes], ColumnEncoding | Omitted]] = {
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
