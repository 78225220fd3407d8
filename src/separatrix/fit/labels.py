"""Targets at the border: labels of two or more classes as signs ±1 or codes, and numbers that can be squared."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.errors import DataError
from separatrix.numerics import as_objects, distinct, first_rounded, refuse_masked, rounded_error

LARGEST = 1e150  # the square of a larger target overflows
SMALLEST = 1e-130  # the squared residuals of smaller targets underflow
LABEL_TYPES: dict[str, tuple[type, ...]] = {
    "booleans": (bool, np.bool_),
    "numbers": (int, float, np.number),
    "text": (str,),
}
LABELS = tuple(kind for kinds in LABEL_TYPES.values() for kind in kinds)
MISSING_TYPES = {"NoneType", "NAType", "NaTType"}  # the latter of pandas


class Classes(NamedTuple):
    """The sorted classes, and the code of each label."""

    values: NDArray[Any]
    codes: Indices

    def signs(self, code: int = 1) -> Floats:
        """Return +1 for the class with that code (default: the second) and −1 for the rest."""
        return np.where(self.codes == code, 1.0, -1.0)

    @property
    def plain(self) -> list[Any]:
        """The classes as plain Python values, for JSON."""
        plain: list[Any] = self.values.tolist()
        return plain


def known_labels(y: Any, rows: int | None = None, used: Bools | None = None) -> NDArray[Any]:
    """Return labels (n,), one for each of the rows, all of the used ones known; others raise a DataError."""
    require_one_type(y)
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise DataError(f"y has shape {labels.shape}; give one label per row")
    if rows is not None and len(labels) != rows:
        raise DataError(f"X has {rows} rows and y has {len(labels)} labels; give one label per row")
    if labels.dtype.kind in "mMSV" or (labels.dtype == object and not isinstance(labels[0], LABELS)):
        raise DataError(f"y has {labels[0]!r} in row 0; give labels as text, numbers or booleans, as y.astype(str)")
    if labels.dtype.kind == "f":
        unknown = np.flatnonzero(~np.isfinite(labels) & (True if used is None else used))
        if len(unknown):
            row = int(unknown[0])
            raise DataError(f"y has {labels[row]} in row {row}; drop the rows without a label")
    return labels


def require_one_type(y: Any, name: str = "y") -> None:
    """Raise a DataError for labels that are masked or missing, or not all text, all numbers or all booleans."""
    refuse_masked(y, name)
    values: Any = y if isinstance(y, list | tuple) else np.asarray(y)
    if not isinstance(values, list | tuple):
        values = values.tolist() if values.dtype == object and values.ndim == 1 else []
    first: dict[str, int] = {}
    for kind in set(map(type, values)):
        own = [row for row, value in enumerate(values) if type(value) is kind]
        row = next((row for row in own if issubclass(kind, float) and np.isnan(values[row])), own[0])
        if kind.__name__ in MISSING_TYPES or values[row] != values[row]:  # NaN
            raise DataError(f"{name} has {values[row]} in row {row}; drop the rows without a label")
        group = next((group for group, kinds in LABEL_TYPES.items() if issubclass(kind, kinds)), kind.__name__)
        first[group] = min(row, first.get(group, row))
    if len(first) > 1:
        (one, row), (other, later) = sorted(first.items(), key=lambda entry: entry[1])[:2]
        raise DataError(
            f"{name} has {one} and {other}: {values[row]!r} in row {row} and {values[later]!r} in row {later};"
            " give all labels as text, all as numbers or all as booleans"
        )


def find_classes(y: Any, rows: int | None = None) -> Classes:
    """Return the classes of labels, one for each of the rows if given; fewer than two raise a DataError."""
    labels = known_labels(y, rows)
    values, codes = distinct(labels)
    if len(values) < 2:
        seen = f"only one class, {values.tolist()[0]!r}" if len(values) else "no labels"
        raise DataError(f"y has {seen}; a classifier needs rows of at least two classes")
    return Classes(values, codes)


def binary_signs(y: Any, rows: int | None = None) -> tuple[Floats, tuple[Any, Any]]:
    """Return labels of exactly two classes, one for each of the rows, as signs; and the classes, negative first."""
    classes = find_classes(y, rows)
    if len(classes.values) != 2:
        raise DataError(f"y has {len(classes.values)} classes, {classes.plain[:5]}; two are needed here")
    negative, positive = classes.plain
    return classes.signs(), (negative, positive)


def as_numbers(y: Any, name: str) -> Floats:
    """Return values as floats; a DataError names the first that is masked, no number, or an integer that is rounded."""
    refuse_masked(y, name)
    try:
        values = np.asarray(y)
        numbers = values if values.dtype.kind == "c" else np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        for row, value in enumerate(np.asarray(y, dtype=object).ravel()):
            try:
                float(value)
            except (TypeError, ValueError):
                raise DataError(f"{name} has {value!r:.60} in row {row}, which is not a number") from None
            except OverflowError:
                raise rounded_error(name, value, row) from None
        raise
    if numbers.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {name} has complex numbers; give real ones")
    if (place := first_rounded(y, numbers)) is not None:
        raise rounded_error(name, as_objects(y)[place], place[0])
    return numbers


def real_targets(y: Any, name: str = "y") -> Floats:
    """Return targets (n,) as floats; a DataError names the first that is not finite or too large to be squared."""
    targets = as_numbers(y, name)
    usable = np.abs(targets) <= LARGEST
    if not usable.all():
        row = int(np.flatnonzero(~usable)[0])
        remedy = "rescale the target" if np.isfinite(targets[row]) else "drop the rows without a number"
        value = f"{name} has {targets[row]:g} in row {row}"
        raise DataError(f"{value} (NaN, inf and squares that overflow are not allowed); {remedy}")
    largest = float(np.abs(targets).max(initial=0.0))
    if 0.0 < largest < SMALLEST:
        raise DataError(f"{name} has no value above {largest:g}, so its squares underflow; rescale it")
    return targets
