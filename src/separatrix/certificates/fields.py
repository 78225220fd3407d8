"""The content of a certificate that nobody vouches for, read value by value; a fault is told with its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from separatrix.arrays import Ints
from separatrix.errors import CertificateError
from separatrix.records import Record

Value = TypeVar("Value")
MOST = 2**53  # rows or columns, far beyond what there can be


class Fields(Record):
    """The content of a certificate, or an object in it."""

    def __init__(self, value: Any, place: str = "content") -> None:
        super().__init__(value, place)

    def value(self, key: str) -> Any:
        """Return what is there, of any type."""
        if key not in self.values:
            raise CertificateError(f"malformed certificate: it has no {self.at(key)}")
        return self.values[key]

    def or_none(self, key: str, read: Callable[[str], Value]) -> Value | None:
        """Return what a reader finds at a key, None where nothing is stated."""
        return None if self.value(key) is None else read(key)

    def fields(self, key: str) -> Fields:
        """Return an object."""
        return Fields(self.value(key), self.at(key))

    def within(self, key: str, least: float = 0.0, most: float = np.inf, *, above: bool = False) -> float:
        """Return a number of at least, or above, a least one."""
        number = self.number(key)
        if not (least < number if above else least <= number) or number > most:
            upper = "" if most == np.inf else f" and at most {most:g}"
            self.refuse(key, number, f"a number {'above' if above else 'of at least'} {least:g}{upper}")
        return number

    def places(self, key: str, count: int | None = None) -> Ints:
        """Return a list of places of rows or columns, below a count if one is given."""
        most = MOST if count is None else count - 1
        values = self.items(key)
        for place, value in enumerate(values):
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
                wanted = "a whole number of at least 0" if count is None else f"a whole number from 0 to {most}"
                self.refuse(f"{key}[{place}]", value, wanted)
        return np.asarray(values, dtype=np.int64)

    def labels(self, key: str, count: int | None = None) -> tuple[Any, ...]:
        """Return a list of labels: texts, numbers, truth values, or nothing, which stands for all others."""
        values = self.items(key)
        for place, value in enumerate(values):
            if not isinstance(value, str | int | float | None):
                self.refuse(f"{key}[{place}]", value, "a label")
        if len(values) != count and count is not None:
            self.refuse(key, f"{len(values)} labels", f"{count} labels")
        return tuple(values)

    def two_labels(self, key: str = "labels") -> tuple[Any, Any]:
        """Return the labels of two classes, the positive one last."""
        negative, positive = self.labels(key, 2)
        return negative, positive
