"""Targets at the border: labels of two or more classes as signs ±1 or codes, and numbers that can be squared."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.errors import DataError
from separatrix.numerics import distinct

LARGEST = 1e150  # the square of a larger target overflows
SMALLEST = 1e-130  # the squared residuals of smaller targets underflow


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
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise DataError(f"y has shape {labels.shape}; give one label per row")
    if rows is not None and len(labels) != rows:
        raise DataError(f"X has {rows} rows and y has {len(labels)} labels; give one label per row")
    if labels.dtype.kind == "f":
        unknown = np.flatnonzero(~np.isfinite(labels) & (True if used is None else used))
        if len(unknown):
            row = int(unknown[0])
            raise DataError(f"y has {labels[row]} in row {row}; drop the rows whose label is not known")
    return labels


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


def real_targets(y: Any, name: str = "y") -> Floats:
    """Return targets (n,) as floats; a DataError names the first that is not finite or too large to be squared."""
    targets = np.asarray(y, dtype=np.float64)
    usable = np.abs(targets) <= LARGEST
    if not usable.all():
        row = int(np.flatnonzero(~usable)[0])
        remedy = "divide all by a number as large" if np.isfinite(targets[row]) else "drop the rows without a number"
        value = f"{name} has {targets[row]:g} in row {row}"
        raise DataError(f"{value} (NaN, inf and squares that overflow are refused); {remedy}")
    largest = float(np.abs(targets).max(initial=0.0))
    if 0.0 < largest < SMALLEST:
        raise DataError(f"{name} is nowhere larger than {largest:g}, and its squares vanish; multiply all by a number")
    return targets
