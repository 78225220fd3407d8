"""The plan of an encoding: how each column of a training table is encoded, with a sentence that says so.

    kind      features                                                    a missing cell becomes
    number    the value                                                   the mean, with an indicator
    boolean   0 or 1                                                      the more frequent value, with an indicator
    category  one per level except the reference                          a level of its own
    date      days since the first date                                   the mean, with an indicator
    text      the tf-idf of its words, if requested by name               no words, with an indicator

Under the policy "drop", rows with a missing cell are left out, and the plan is made on the others; missing cells of
rows to be predicted are filled by it. Indicators and levels for missing cells are made only where the rows of training
have missing cells. The reference of a category is its most frequent level or, if the table declares an order, the
first one. Omitted, with the reason: ids, texts not requested, columns that are constant or empty. A category
with more than `max_levels` levels keeps the most frequent ones; the others, if there are at least two, share the level
"(other)", since so few rows do not determine a coefficient each.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.design.encode.base import ColumnEncoding, indicator_name
from separatrix.design.encode.columns import (
    OTHER,
    BooleanEncoding,
    CategoryEncoding,
    DateEncoding,
    NumberEncoding,
    PresenceEncoding,
    clean_column,
    iso_date,
    number_text,
    read_texts,
)
from separatrix.design.encode.encoding import AnyColumn, Encoding, Missing, Omitted
from separatrix.design.encode.text import BUCKETS, TextEncoding, learn_vocabulary
from separatrix.errors import DataError, OptionError, counted, did_you_mean, require_choice, require_count
from separatrix.tables.table import Column, Table, TableSource, require_column

MAX_LEVELS = 1000
DEFAULT_WORDS = ("false", "true")
PLAIN_NUMBERS = "numbers"  # the reason of number columns that need no explanation
SPARSE_FEATURES = 200  # number of features from which on a sparse matrix may pay
SAMPLE_ROWS = 1000
SPARSE_SHARE = 0.1  # of nonzero entries: below, a sparse matrix is smaller and faster
REASONS_SHOWN = 5  # of omitted columns, in the error if none is left
LEAST_COMPLETE = 0.5  # share of the rows, below which "auto" does not leave out those with a missing cell
Policy = Literal["auto", "impute", "drop", "error"]
_Plan = AnyColumn | Omitted


@dataclass(frozen=True)
class EncodingOptions:
    """The user's options for the encoding of columns; `fills` if missing cells are imputed."""

    text: Collection[str] = ()
    reference: Mapping[str, str] = field(default_factory=dict)
    max_levels: int = MAX_LEVELS
    fills: bool = True


def plan_column(column: Column, options: EncodingOptions) -> _Plan:
    """Return the encoding of a column, or why it is omitted."""
    name, missing = column.name, column.missing
    if missing == len(column.values):
        return Omitted(name, "every cell is missing")
    if name in options.text:
        return _plan_text(column, missing)
    if column.kind == "id":
        return Omitted(name, column.reason or "it identifies the rows")
    if column.kind == "text":
        return Omitted(name, f"it is text; --text {name} uses its words{_reason(column)}")
    return (_plan_category if column.kind == "category" else _plan_filled)(column, missing, options)


def _plan_filled(column: Column, missing: int, options: EncodingOptions) -> _Plan:
    """Return the encoding of numbers, booleans or dates, or of their presence if they are all equal."""
    values, name, is_filled = _finite(column), column.name, missing > 0
    words = (column.levels[0], column.levels[1]) if len(column.levels) == 2 else DEFAULT_WORDS
    if values.min() == values.max():
        value, text = float(values[0]), iso_date if column.kind == "date" else number_text
        shown = words[int(value)] if column.kind == "boolean" else text(value)
        if not missing or not options.fills:
            return Omitted(name, f"it is {shown} in every row")
        decision = f"{name!r} is {shown} wherever it is not missing, so only {indicator_name(name)!r} is used"
        return PresenceEncoding(name, shown, decision)
    if column.kind == "boolean":
        fill = float(values.mean() > 0.5)
        decision = f"{name!r} is binary: 1 for {words[1]!r}, 0 for {words[0]!r}{_reason(column)}"
        decision += _filled(column, missing, f"the more frequent {words[int(fill)]!r}")
        return BooleanEncoding(name, fill, is_filled, words, decision)
    if column.kind == "date":
        origin = int(np.floor(values.min()))
        fill = _mean(values - origin)
        decision = f"{name!r} is a date, in days since {iso_date(origin)}{_reason(column)}"
        decision += _filled(column, missing, f"the mean {iso_date(origin + fill)}")
        return DateEncoding(name, fill, is_filled, origin, decision)
    fill = _mean(values)
    explained = column.format and column.reason != PLAIN_NUMBERS
    decision = f"{name!r} is a number, used as it is{_reason(column) if explained else ''}"
    return NumberEncoding(name, fill, is_filled, decision + _filled(column, missing, f"the mean {fill:.6g}"))


def _plan_category(column: Column, missing: int, options: EncodingOptions) -> _Plan:
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    present = [place for place in np.argsort(-counts, kind="stable").tolist() if counts[place]]
    if len(present) == 1 and not missing:
        return Omitted(column.name, f"it is {column.levels[present[0]]!r} in every row")
    merged = len(present) - options.max_levels
    own = sorted(present if merged < 2 else present[: options.max_levels])
    words = tuple(column.levels[place] for place in own)
    first, why = (words[0], "the first") if column.ordered else (column.levels[present[0]], "the most frequent")
    reference = options.reference.get(column.name, first)
    if reference not in words:
        raise OptionError(f"{column.name!r} has no level {reference!r}{did_you_mean(reference, words)}")
    size = _reason(column) or f" with {counted(len(present), 'level')}"
    decision = f"{column.name!r} is a category{size}; the reference level is {reference!r}"
    decision += "" if column.name in options.reference else f", {why}"
    if merged >= 2:
        rarest = counted(int(counts[present[options.max_levels]]), "row")
        decision += f"; the {merged:,} rarest, with at most {rarest} each, share the level {OTHER!r}"
    if missing:
        level = f"a level of {'its' if missing == 1 else 'their'} own"
        decision += f"; {counted(missing, 'missing cell')} {_are(missing)} {level}"
    return CategoryEncoding(column.name, words, reference, missing > 0, merged >= 2, decision)


def _plan_text(column: Column, missing: int) -> _Plan:
    texts = column.values if column.is_stored else read_texts(column).values
    vocabulary, left_out = learn_vocabulary(texts, BUCKETS)
    count = len(vocabulary["seen"])
    if not count:
        return Omitted(column.name, "no word occurs in two rows")
    decision = f"{column.name!r} is text: the tf-idf of {counted(count, 'word')} that occur in at least two rows"
    decision += f" ({left_out:,} in one row only are left out)"
    if missing:
        decision += f"; {counted(missing, 'missing text')} {_are(missing)} marked by {indicator_name(column.name)!r}"
    return TextEncoding(column.name, BUCKETS, **vocabulary, indicator=missing > 0, decision=decision)


def _finite(column: Column) -> Floats:
    """Return the values that are not missing; infinite ones raise a DataError."""
    infinite = np.flatnonzero(np.isinf(column.values))
    if len(infinite):
        raise DataError(
            f"column {column.name!r}: {counted(len(infinite), 'infinite value')}, first in row {infinite[0]}"
            " (counted from 0); fill in numbers, leave those rows out, or drop the column"
        )
    return np.asarray(column.values[~column.is_missing]) if column.missing else column.values


def _mean(values: Floats) -> float:
    """Return the mean or, if the sum overflows, the midrange."""
    midrange = 0.5 * float(values.min()) + 0.5 * float(values.max())
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(values.mean())
    return mean if np.isfinite(mean) else midrange


def _filled(column: Column, missing: int, fill: str) -> str:
    if not missing:
        return ""
    cells = counted(missing, "missing cell")
    return f"; {cells} {_are(missing)} filled with {fill} and marked by {indicator_name(column.name)!r}"


def _reason(column: Column) -> str:
    return f" ({column.reason})" if column.reason else ""


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def plan_encoding(  # noqa: PLR0913  # the options of columns
    table: TableSource,
    target: str,
    *,
    drop: Collection[str] = (),
    missing: str = "impute",
    text: Collection[str] = (),
    reference: Mapping[str, str] | None = None,
    max_levels: int = MAX_LEVELS,
    may_be_empty: bool = False,
) -> Encoding:
    """Return the encoding of a table's columns other than the target.

    `drop` names columns to omit, `text` those whose words are used, `reference` the reference levels of categories;
    `missing` is "impute", "drop" (rows with a missing cell), "error", or "auto": "drop" if at least half of the rows
    remain, else "impute". `may_be_empty` says whether it may encode no column, for a model of an intercept alone. The
    table is read one column at a time.
    """
    policy: Any = require_choice("missing", missing, get_args(Policy))
    options = EncodingOptions(text, reference or {}, require_count("max_levels", max_levels))
    _check_names(table, target, drop, options)
    reasons: dict[str | None, str] = {table.row_names: "it identifies the rows"}
    reasons.update(dict.fromkeys(drop, "as requested"))
    names = [name for name in table.names if name != target]
    dropped = [Omitted(name, reasons[name]) for name in names if name in reasons]
    rest = [name for name in names if name not in reasons]
    row_plan = _plan_rows(table, rest, options, policy)
    used = tuple(each for each in row_plan.plans if isinstance(each, ColumnEncoding))
    omitted = (*dropped, *(each for each in row_plan.plans if isinstance(each, Omitted)))
    if not used and not may_be_empty:
        reasons_shown = "".join(f"; {name!r} is left out: {reason}" for name, reason in omitted[:REASONS_SHOWN])
        raise DataError(f"{table.source} has no column left to predict {target!r} from{reasons_shown}")
    encoding = Encoding(used, omitted, row_plan.missing, notes=row_plan.notes)
    return _with_storage(encoding, table)


def _with_storage(encoding: Encoding, table: TableSource) -> Encoding:
    """Return the encoding, sparse if an even sample of the rows shows that this pays."""
    features = len(encoding.feature_names)
    if features < SPARSE_FEATURES:
        return encoding
    columns = (table.column(name) for name in encoding.input_names)
    stride = max(1, table.n_rows // SAMPLE_ROWS)
    sample = [Column(each.name, each.kind, np.array(each.values[::stride]), each.levels) for each in columns]
    matrix = Encoding(encoding.columns, sparse=True).apply(Table(tuple(sample), table.source)).X
    nonzero = matrix.nnz / matrix.shape[0]
    if nonzero > SPARSE_SHARE * features:
        return encoding
    note = f"the {features:,} features, about {nonzero:.0f} nonzero per row, are stored as a sparse matrix"
    return replace(encoding, sparse=True, notes=(*encoding.notes, note))


def _check_names(table: TableSource, target: str, drop: Collection[str], options: EncodingOptions) -> None:
    """Raise an error for unknown column names and for contradictory options."""
    for name in (target, *drop, *options.text, *options.reference):
        require_column(table.source, table.names, name)
    for name in (*drop, *options.text, *options.reference):
        if name == target:
            raise OptionError(f"{name!r} is the target, so it cannot be a feature or be dropped; choose another column")
    for name in options.reference:
        if (kind := table.column(name).kind) != "category":
            raise OptionError(f"{name!r} is a {kind}, which has no reference level; only a category has")


def _column(table: TableSource, name: str) -> Column:
    """Return a column with clean words; stored columns are clean already."""
    column = table.column(name)
    return column if column.is_stored else clean_column(column)


@dataclass(frozen=True)
class _RowPlan:
    """The plans of columns, the policy for missing cells, and a note on what it does."""

    plans: list[_Plan]
    missing: Missing
    notes: tuple[str, ...] = ()


def _plan_rows(table: TableSource, names: Sequence[str], options: EncodingOptions, missing: Policy) -> _RowPlan:
    """Return the plans of columns, made on the rows that a policy for missing cells uses.

    A column that is constant on the complete rows is omitted; its missing cells then no longer count, so there may be
    more rows.
    """
    options = replace(options, fills=missing == "impute")
    plans = [plan_column(_column(table, name), options) for name in names]
    if missing in {"impute", "error"}:
        return _RowPlan(plans, missing)
    omitted = [plan for plan in plans if isinstance(plan, Omitted)]
    used = [plan.name for plan in plans if not isinstance(plan, Omitted)]
    gaps = {name: mask for name in used if (mask := _column(table, name).is_missing).any()}
    if not gaps:
        return _RowPlan(plans, "drop")
    complete = ~np.logical_or.reduce(list(gaps.values()))
    count, worst = int(np.count_nonzero(complete)), max(gaps, key=lambda name: int(np.count_nonzero(gaps[name])))
    reason = f"{worst!r} is missing in {np.count_nonzero(gaps[worst]):,} of {counted(table.n_rows, 'row')}"
    if missing == "auto" and count < LEAST_COMPLETE * table.n_rows:
        note = f"missing cells are filled, since only {counted(count, 'row')} would be complete: {reason}"
        return replace(_plan_rows(table, names, options, "impute"), notes=(note,))
    if not count:
        raise DataError(
            f"{table.source}: every row has a missing cell ({reason}); leave out columns, or use missing 'impute'"
        )
    plans = [plan_column(_selected(_column(table, name), complete), options) for name in used]
    rest = [plan.name for plan in plans if not isinstance(plan, Omitted)]
    if rest and len(rest) < len(used):
        more = _plan_rows(table, rest, options, "drop")
        constant = (plan for plan in plans if isinstance(plan, Omitted))
        return replace(more, plans=[*more.plans, *omitted, *constant])
    left_out = table.n_rows - count
    note = f"{counted(left_out, 'row')} with a missing cell {_are(left_out)} left out"
    return _RowPlan([*plans, *omitted], "drop", (note,))


def _selected(column: Column, rows: Bools) -> Column:
    return replace(column, values=column.values[rows])
