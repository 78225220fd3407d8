"""The data of a certificate, and the one place where a certificate meets the data of the caller.

`Data` says what a certificate is about; `match` compares it with X, y and sample weights, and returns the rows that
count (`MatchedRows`): those of positive weight, mapped, with codes of their labels. Other data raise a DataError that
names the row, the label or the shape. Checkers see nothing else.

    labels    all texts, all numbers or all booleans, distinct; equal if they have the same value and type (1 = 1.0,
              but 1 is not True). Every row that counts has one of them; `counts` has the number of rows of each. A
              label without rows makes no scores, and claims say that no row has it
    columns   if both sides have names, the same ones, in any order; otherwise by position
    dropped   columns that the fit left out; checkers do not see them
    weights   given if the fit had them, and only then; rows of weight 0 do not count
    numbers   float64; integers that float64 does not hold are refused
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.codec import MAX_WHOLE, Items, Range
from separatrix.design.base import Design
from separatrix.design.build import (
    RowSource,
    as_array,
    as_row_source,
    column_name,
    column_names,
    is_dask,
    largest_entry,
    make_design,
    map_rows,
    masked_rows,
    row_radius,
    with_intercept,
)
from separatrix.design.combined import ColumnsMap
from separatrix.design.kernel_matrix import by_rows, select_rows
from separatrix.design.kernels import AnyKernel, Precomputed
from separatrix.design.mapped import MappedRows
from separatrix.design.maps import AnyMap, FeatureMap
from separatrix.errors import DataError, counted
from separatrix.numerics import as_objects, first_rounded, refuse_masked, rounded_error

Label = str | int | float | bool
Task = Literal["numbers", "two", "several", "rest"]
Scheme = Literal["one-vs-rest", "pairs"]
Whole = Annotated[int, Range(0, MAX_WHOLE)]
MAX_OUTPUTS = 1e6  # columns of a map
MAX_MAPPED = 1e10  # numbers that a map gives
MOST_NAMES = 10  # columns that a claim names


class BeyondLimitsError(Exception):
    """A proof that takes more work than `verify` does; the message has the number and the limit."""


def require_work(what: str, amount: float, limit: float) -> None:
    """Raise a BeyondLimitsError if an amount of work is above its limit."""
    if not amount <= limit:
        shown = f"{amount:.3g}" if amount < 10**300 else "over 1e300"
        raise BeyondLimitsError(f"{what}: {shown}, above the limit of {limit:.3g}")


@dataclass(frozen=True, kw_only=True)
class Data:
    """The rows that a certificate is about.

    `rows` and `width` are the shape of X, `columns` its names (None: by position), `dropped` the columns that the fit
    left out (None: none), `intercept` whether scores have a constant. `weights`: whether there are sample weights;
    `class_weights` multiply them, one number per label. `task`: "numbers", "two" labels (the positive one last),
    "several", or one label against the "rest". With a `scheme` there is one part per label, each against the rest, or
    one per pair of labels. `counts` has the number of rows that count: of each label, then of the rest; of numbers,
    all rows. A `map` or a `kernel` is applied to the rows first. Offsets, trials, penalty factors and bounds are not
    used by this release.
    """

    rows: Whole
    width: Whole
    columns: Annotated[tuple[str, ...], Items(distinct=True)] | None = None
    dropped: Annotated[tuple[Whole, ...], Items(1, distinct=True)] | None = field(
        default=None, metadata={"optional": True}
    )
    intercept: bool
    weights: bool = False
    class_weights: tuple[Annotated[float, Range(0.0)], ...] | None = None
    offset: Literal[False] = False
    trials: Literal[False] = False
    penalty_factor: Literal[None] = None
    bounds: Literal[None] = None
    map: AnyMap | None = None
    kernel: AnyKernel | None = None
    task: Task
    labels: tuple[Label, ...] = ()
    scheme: Scheme | None = None
    counts: tuple[Whole, ...]

    def __post_init__(self) -> None:
        n_labels = len(self.labels)
        if n_labels != {"numbers": 0, "two": 2, "rest": 1}.get(self.task, max(n_labels, 1)):
            raise ValueError(f"{n_labels} labels do not make the task {self.task!r}")
        kinds = {_kind_of(label) for label in self.labels}
        if len(kinds) > 1 or "" in kinds:
            raise ValueError("labels must be all texts, all numbers or all booleans")
        if len(set(self.labels)) < n_labels:
            raise ValueError("a label is given twice")
        if len(self.counts) != n_labels + (self.task in {"numbers", "rest"}) or sum(self.counts) > self.rows:
            raise ValueError(f"counts {list(self.counts)} do not fit {self.rows} rows of {counted(n_labels, 'label')}")
        if not any(self.counts):
            raise ValueError("no row counts")
        if not self.weights and self.class_weights is None and sum(self.counts) != self.rows:
            raise ValueError(f"counts add up to {sum(self.counts)}, of {self.rows} rows without weights")
        if self.class_weights is not None and (len(self.class_weights) != n_labels or self.task in {"numbers", "rest"}):
            raise ValueError(f"{len(self.class_weights)} class weights do not fit {n_labels} labels")
        self._require_columns()
        if self.scheme is not None and (self.task not in {"two", "several"} or n_labels < 2):
            raise ValueError(f"the scheme {self.scheme!r} needs several labels")

    def _require_columns(self) -> None:
        """Raise a ValueError if names, dropped columns, map or kernel do not fit the columns."""
        if self.columns is not None and len(self.columns) != self.width:
            raise ValueError(f"{len(self.columns)} columns are named, of {self.width}")
        if self.dropped is not None and not all(column < self.width for column in self.dropped):
            raise ValueError(f"the dropped columns {list(self.dropped)} are not all among {self.width}")
        if self.dropped is not None and (self.map is not None or self.kernel is not None):
            raise ValueError("columns are dropped where a map or a kernel is applied to all of them")
        if self.map is not None and self.map.inputs != self.width:
            raise ValueError(f"the map takes {self.map.inputs} columns, of {self.width}")
        if getattr(self.kernel, "gamma", None) == "scale":
            raise ValueError('gamma of the kernel is "scale", where a number is needed')
        if self.kernel is not None and self.map is not None:
            raise ValueError("a map and a kernel are given, of which one is used")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of the design: after the map, the intercept first."""
        names = column_names(self.width, self.columns)
        names = names if self.space is None else self.space.names(names)
        return tuple(with_intercept(names, self.intercept))

    @property
    def n_counted(self) -> int:
        """The number of rows that count."""
        return sum(self.counts)

    @property
    def n_scores(self) -> int:
        """The number of columns of the design: coefficients of one score."""
        columns = self.width - len(self.dropped or ()) if self.map is None else self.map.outputs
        return columns + int(self.intercept)

    @property
    def space(self) -> FeatureMap | None:
        """The map of the rows, or the choice of the columns that are not dropped; None for the rows themselves."""
        if self.dropped is None:
            return self.map
        return ColumnsMap(np.setdiff1d(np.arange(self.width), self.dropped), self.width)

    @property
    def without(self) -> str:
        """Which columns are dropped, as "without 'a'"; empty if there are none."""
        if self.dropped is None:
            return ""
        listed = (repr(column_name(column, self.columns)) for column in self.dropped[:MOST_NAMES])
        more = f" and {len(self.dropped) - MOST_NAMES:,} more" if len(self.dropped) > MOST_NAMES else ""
        return f"without {', '.join(listed)}{more}"

    @property
    def n_classes(self) -> int:
        """The number of classes, of which the rest is one."""
        return len(self.labels) + (self.task == "rest")

    @property
    def absent(self) -> str:
        """A clause that names labels that no row has; empty if there are none."""
        if self.task == "rest" and not self.counts[-1]:
            return f"; every row has the label {self.labels[0]!r}"
        labels = [repr(label) for label, count in zip(self.labels, self.counts, strict=False) if not count]
        return f"; no row has the label {' or '.join(labels)}" if labels else ""

    def require_labels(self, *tasks: Task) -> None:
        """Raise a ValueError unless the task is one of some, and every label has rows."""
        if self.task not in tasks:
            raise ValueError(f"the task is {self.task!r}, and not {' or '.join(tasks)}")
        if 0 in self.counts:
            raise ValueError(f"counts {list(self.counts)} have 0, where every label needs rows")

    @property
    def n_parts(self) -> int:
        """The number of parts of the scheme."""
        k = len(self.labels)
        return k if self.scheme == "one-vs-rest" else k * (k - 1) // 2

    def pair(self, k: int) -> tuple[int, int]:
        """Return the codes of the labels of a part of the scheme "pairs"."""
        return list(combinations(range(len(self.labels)), 2))[k]

    def part(self, k: int) -> Data:
        """Return the data of a part: a label against the rest, or two labels."""
        plain = replace(self, scheme=None)
        if self.scheme == "one-vs-rest":
            own = self.counts[k]
            return plain._with_task("rest", (self.labels[k],), (own, sum(self.counts) - own))
        first, second = self.pair(k)
        counts = self.counts[first], self.counts[second]
        return plain._with_task("two", (self.labels[first], self.labels[second]), counts)

    def _with_task(self, task: Task, labels: tuple[Label, ...], counts: tuple[int, ...]) -> Data:
        rows = sum(counts)
        width = rows if isinstance(self.kernel, Precomputed) else self.width
        columns = self.columns if width == self.width else None
        weighted = self.weights or self.class_weights is not None
        changed: dict[str, Any] = {"rows": rows, "width": width, "columns": columns, "weights": weighted}
        return replace(self, task=task, labels=labels, counts=counts, class_weights=None, **changed)

    def part_name(self, k: int) -> str:
        """Return the labels of a part in words."""
        if self.scheme == "one-vs-rest":
            return f"{self.labels[k]!r}"
        first, second = self.pair(k)
        return f"{self.labels[first]!r} and {self.labels[second]!r}"


@dataclass(frozen=True)
class MatchedRows:
    """The rows that count, as checkers see them.

    `X` are the mapped rows, `targets` the numbers of a regression, `codes` the places of the labels of a
    classification (for one label against the rest: 1 and 0), `weights` the sample weights times the class weights
    (None: all 1), `numbers` the numbers of the rows in the caller's data (None: all rows), `given` the design if it is
    made already.
    """

    data: Data
    X: Any
    codes: Indices
    targets: Floats
    weights: Floats | None = None
    numbers: Indices | None = None
    given: Design | None = None

    @classmethod
    def of(cls, data: Data, design: Design, signs: Floats) -> MatchedRows:
        """Return the rows of a fit to signs ±1."""
        return cls(data, None, (signs > 0.0).astype(np.intp), np.zeros(0), given=design)

    @cached_property
    def finite_design(self) -> Design:
        """The rows as a design, with the intercept of the data; entries that are not finite raise a DataError."""
        if self.given is not None:
            return self.given
        data, given = self.data, isinstance(self.X, MappedRows)
        names = column_names(data.width, data.columns) if given else data.names[int(data.intercept) :]
        design = make_design(self.X, intercept=data.intercept, names=names)
        if self.data.task != "numbers" or not math.isfinite(largest_entry(design)):  # sums of squares are scaled
            require_finite(design)
        return design

    @cached_property
    def design(self) -> Design:
        """The same design, for checks with products of entries; numbers whose square overflows raise a DataError."""
        if self.given is None and self.data.task != "numbers":  # sums of squares are scaled
            row_radius(self.finite_design)
        return self.finite_design

    @property
    def signs(self) -> Floats:
        """+1 for the second label, or for the label against the rest; −1 for the other rows."""
        return np.where(self.codes == 1, 1.0, -1.0)

    def number(self, row: int) -> int:
        """Return the number that a row has in the caller's data."""
        return int(row if self.numbers is None else self.numbers[row])

    def original(self, rows: Indices) -> Indices:
        """Return the numbers that some rows have in the caller's data."""
        return rows if self.numbers is None else np.asarray(self.numbers[rows])

    def part(self, k: int) -> MatchedRows:
        """Return the rows of a part of the scheme."""
        data = self.data.part(k)
        if self.data.scheme == "one-vs-rest":
            return replace(self, data=data, codes=(self.codes == k).astype(np.intp))
        first, second = self.data.pair(k)
        own = (self.codes == first) | (self.codes == second)
        return self._select(data, own, (self.codes[own] == second).astype(np.intp))

    def _select(self, data: Data, mask: Bools, codes: Indices) -> MatchedRows:
        numbers = np.flatnonzero(mask) if self.numbers is None else self.numbers[mask]
        weights = None if self.weights is None else self.weights[mask]
        targets = self.targets[mask] if len(self.targets) else self.targets
        return MatchedRows(data, _masked(data, self.X, mask), codes, targets, weights, numbers)


def match(data: Data, X: Any, y: Any, sample_weight: Any = None) -> MatchedRows:
    """Return the rows of the caller that count; data that do not fit raise a DataError."""
    for name, values in (("X", X), ("y", y), ("sample_weight", sample_weight)):
        refuse_masked(values, name)
    X, y = in_order(X, data), y.compute() if is_dask(y) else y
    shape = tuple(np.shape(X) if (source := as_row_source(X)) is None else source.shape)
    if shape != (data.rows, data.width):
        raise DataError(f"X has shape {shape}; the certificate is of {(data.rows, data.width)}")
    if data.weights != (sample_weight is not None):
        raise DataError("the fit had sample weights; give them" if data.weights else "the fit had no sample weights")
    weights = checked_weights(sample_weight, data.rows)
    targets, codes = np.zeros(0), np.zeros(data.rows, dtype=np.intp)
    if data.task == "numbers":
        targets = finite_numbers("y", y, data.rows)
        counts: tuple[int, ...] = (data.rows if weights is None else int(np.count_nonzero(weights)),)
    else:
        codes = _codes(data, y)
        if data.class_weights is not None:
            by_class = np.append(data.class_weights, 1.0)[codes]  # the last is that of other labels, refused below
            with np.errstate(over="ignore"):
                weights = by_class if weights is None else finite_numbers("weights", by_class * weights, data.rows)
        counts = _counts(data, y, codes, weights)
    if counts != data.counts:
        raise DataError(f"the classes have {list(counts)} rows; in the certificate they have {list(data.counts)}")
    if data.task == "rest":
        codes = (codes == 0).astype(np.intp)
    rows = MatchedRows(data, X, codes, targets, weights)
    if weights is not None and not weights.all():
        counting = weights > 0.0
        rows = rows._select(data, counting, codes[counting])
    if data.space is None:
        return rows
    if data.map is not None:
        require_work("columns of the map", data.map.outputs, MAX_OUTPUTS)
        require_work("numbers of the map", data.rows * data.map.outputs, MAX_MAPPED)
    return replace(rows, X=mapped_rows(rows.X, data.space))


def _kind_of(label: object) -> str:
    """Return the type of a label: boolean, number or text; an empty text for others, NaN among them."""
    if isinstance(label, bool | np.bool_):
        return "boolean"
    if isinstance(label, int | np.integer):
        return "number"
    if isinstance(label, float | np.floating):
        return "number" if math.isfinite(label) else ""
    return "text" if isinstance(label, str) else ""


def _codes(data: Data, y: Any) -> Indices:
    """Return the place of each label, −1 for a label that the certificate does not have."""
    plain = isinstance(y, np.ndarray) and y.dtype.kind in "biufU"
    values: NDArray[Any] = y if plain else _objects(y)
    if values.shape != (data.rows,):
        raise DataError(f"y has shape {values.shape} where {data.rows} labels are needed")
    known = {(_kind_of(label), label): code for code, label in enumerate(data.labels)}
    if plain:
        distinct, inverse = np.unique(values, return_inverse=True)
        found = np.array([known.get((_kind_of(label), label), -1) for label in distinct.tolist()], dtype=np.intp)
        return np.asarray(found[inverse])
    return np.array([known.get((kind, label), -1) if (kind := _kind_of(label)) else -1 for label in values], np.intp)


def _objects(y: Any) -> NDArray[Any]:
    """Return labels as Python objects; an array of text would drop what follows "\\0"."""
    values = np.empty(len(y), dtype=object)
    values[:] = y.tolist() if hasattr(y, "tolist") else list(y)
    return values


def _counts(data: Data, y: Any, codes: Indices, weights: Floats | None) -> tuple[int, ...]:
    """Return the number of rows of each label that count, then that of other labels, which only "rest" allows."""
    counting = np.ones(len(codes), dtype=bool) if weights is None else weights > 0.0
    others = np.flatnonzero((codes < 0) & counting)
    if len(others) and data.task != "rest":
        row = int(others[0])
        label = y.iloc[row] if hasattr(y, "iloc") else y[row]
        label = label.item() if hasattr(label, "item") else label
        raise DataError(f"row {row} has label {label!r}; the certificate is of {list(data.labels)}")
    own = np.bincount(codes[counting & (codes >= 0)], minlength=len(data.labels)).tolist()
    return (*own, len(others)) if data.task == "rest" else tuple(own)


def checked_weights(sample_weight: Any, rows: int) -> Floats | None:
    """Return sample weights as an array (rows,), None if there are none; others raise a DataError."""
    if sample_weight is None:
        return None
    weights = finite_numbers("sample_weight", sample_weight, rows)
    if (weights < 0.0).any() or not weights.any():
        raise DataError("sample_weight must have no number below 0, and some above")
    return weights


def finite_numbers(name: str, values: Any, rows: int) -> Floats:
    """Return targets or weights as finite float64 numbers (rows,)."""
    given = np.asarray(values)
    try:
        if given.dtype.kind == "c":
            raise TypeError
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{name} has entries that are not numbers; give those of the fit") from None
    if numbers.shape != (rows,):
        raise DataError(f"{name} has shape {numbers.shape} where {rows} numbers are needed")
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise DataError(f"{name} has {numbers[wrong[0]]:g} in row {wrong[0]}; give the numbers of the fit")
    if (place := first_rounded(values, numbers)) is not None:
        raise rounded_error(name, as_objects(values)[place], place[0])
    return numbers


def in_order(X: Any, data: Data) -> Any:
    """Return X with its columns, if both sides have names, in the order of the certificate."""
    source = as_row_source(X)
    names = source.names if source is not None else getattr(X, "columns", None)
    if names is None or data.columns is None:
        return X
    columns = [str(name) for name in names]
    if columns == list(data.columns):
        return X
    if sorted(columns) != sorted(data.columns) or isinstance(X, RowSource):
        raise DataError(f"X has the columns {columns}; the certificate is of {list(data.columns)}")
    order = [columns.index(name) for name in data.columns]
    return X.tocsc()[:, order].tocsr() if hasattr(X, "tocsc") else np.asarray(X)[:, order]


def _masked(data: Data, X: Any, mask: Bools) -> Any:
    """Return the rows in a mask; of a kernel matrix also only their columns."""
    if isinstance(data.kernel, Precomputed):
        return select_rows(data.kernel, by_rows(as_array(X)), np.flatnonzero(mask))
    if isinstance(X, MappedRows):
        return X._replace(X=masked_rows(X.X, mask))
    return masked_rows(X, mask)


def mapped_rows(X: Any, feature_map: FeatureMap) -> Any:
    """Return rows that are mapped when read, or mapped once if mapping them again may change the last digits."""
    rows = MappedRows(X, feature_map)
    return rows if feature_map.exact else map_rows(rows)


def require_finite(design: Design) -> None:
    """Raise a DataError that names the entry if one is NaN or infinite."""
    if not math.isfinite(largest_entry(design)):
        row_radius(design)


def data_of(
    design: Design, labels: Sequence[Any] | None = None, targets: NDArray[Any] | None = None, *, weights: bool = False
) -> Data:
    """Return the data of a fit of all rows of a design.

    `targets` are signs ±1 for two labels (the first None: one label against the rest), codes for several; None for
    numbers.
    """
    n, virtual = design.shape[0], int(design.virtual)
    width, columns = design.shape[1] - virtual, tuple(design.names[virtual:])
    names = None if columns == column_names(width) or len(set(columns)) < width else columns
    shape: dict[str, Any] = {"rows": n, "width": width, "columns": names, "intercept": design.virtual}
    shape["weights"] = weights
    if labels is None or targets is None:
        return Data(**shape, task="numbers", counts=(n,))
    if targets.dtype.kind != "f":
        counts = np.bincount(targets, minlength=len(labels)).tolist()
        return Data(**shape, task="several", labels=tuple(labels), counts=tuple(counts))
    positive = int(np.count_nonzero(targets > 0.0))
    if labels[0] is None:
        return Data(**shape, task="rest", labels=(labels[1],), counts=(positive, n - positive))
    return Data(**shape, task="two", labels=tuple(labels), counts=(n - positive, positive))
