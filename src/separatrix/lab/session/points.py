"""Labelled points: the rows that every pane of a session learns from, with a number of their own that edits keep."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError

__all__ = ["LARGEST", "MOST_DRAWN", "Points", "make_points"]

Floats = NDArray[np.float64]
LARGEST = 1e6  # of a coordinate: a point further out would squeeze all others into one pixel
MOST_DRAWN = 2000  # points in a picture; of more an even sample is drawn, but all are fitted


@dataclass(frozen=True, eq=False)
class Points:
    """Rows X (n, d), labels y = ±1 (n,), and ids (n,) by which a point is known as long as it lives.

    `names` are those of the columns, `labels` the words of the classes −1 and +1. Points are equal if all of that is.
    """

    X: Floats
    y: Floats
    ids: NDArray[np.int64]
    names: tuple[str, ...]
    labels: tuple[str, str] = ("−1", "+1")

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def digest(self) -> str:
        """What tells these points from others."""
        words = "\0".join([*self.names, *self.labels, str(self.X.shape)]).encode()
        parts = (self.X.tobytes(), self.y.tobytes(), self.ids.tobytes(), words)
        return hashlib.blake2b(b"\1".join(parts), digest_size=16).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Points) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return int(self.X.shape[1])

    @cached_property
    def drawn(self) -> NDArray[np.intp]:
        """The places of the points to draw: all, or an even sample of them."""
        stride = -(-len(self) // MOST_DRAWN)
        return np.arange(0, len(self), max(stride, 1))

    def place(self, point: int) -> int:
        """Return the place of a point by its id."""
        found = np.flatnonzero(self.ids == point)
        if not len(found):
            raise DataError(f"there is no point {point}; it may have been deleted")
        return int(found[0])

    def changed(self, **parts: Any) -> Points:
        """Return the points with some parts replaced, each read-only."""
        return make_points(**{**{name: getattr(self, name) for name in self.__dataclass_fields__}, **parts})


def make_points(
    X: Any,
    y: Any,
    ids: Any = None,
    names: tuple[str, ...] | None = None,
    labels: tuple[str, str] = ("−1", "+1"),
) -> Points:
    """Return points of rows and signs ±1, numbered from 0 unless ids are given; the arrays are read-only."""
    rows = np.array(X, dtype=np.float64, order="C")
    signs = np.array(y, dtype=np.float64)
    numbers = np.arange(len(rows)) if ids is None else np.array(ids, dtype=np.int64)
    if rows.ndim != 2 or signs.shape != (len(rows),) or numbers.shape != signs.shape:
        raise DataError(f"rows of shape {rows.shape} and labels of shape {signs.shape} do not go together")
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0].tolist()
        raise DataError(f"row {row} has {rows[row, column]} in column {column}; give finite numbers")
    for part in (rows, signs, numbers):
        part.setflags(write=False)
    columns = tuple(f"x{column + 1}" for column in range(rows.shape[1])) if names is None else names
    return replace(Points(rows, signs, numbers.astype(np.int64), columns), labels=labels)
