"""Untrusted JSON: parsed within limits, then read value by value with type checks; errors name the place.

`parse_json` refuses JSON that no file of ours has: repeated keys, numbers beyond the range of a float, deep nesting,
text that is not valid Unicode. A `Record` is an object at a place in the file and returns values only of the requested
type; a fault raises a ModelFileError that names the place. `Fields` does the same for the content of a certificate,
where a missing key raises a CertificateError. Cost: a few times that of `json.loads`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeVar

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.errors import CertificateError, ModelFileError, did_you_mean

Value = TypeVar("Value")

MAX_DEPTH = 64  # objects and lists within each other
MAX_VALUES = 20_000_000  # in a file
MAX_INDEX = 2**53  # of rows or columns
MAX_SHOWN = 40  # characters of a wrong value in an error


def parse_json(content: bytes) -> Any:
    """Parse the bytes of a file; anything but plain JSON with finite numbers raises a ModelFileError."""
    try:
        value = json.loads(
            content.decode("utf-8"),
            parse_float=_finite_float,
            parse_constant=_refuse_constant,
            object_pairs_hook=_unique_keys,
        )
    except RecursionError:
        raise ModelFileError(f"it nests deeper than {MAX_DEPTH} levels, which no model does") from None
    except ValueError as error:
        raise ModelFileError(f"it is no JSON, or was cut short or altered: {error}") from None
    _check_limits(value)
    return value


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:MAX_SHOWN]} is beyond every float")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        repeated = next(name for name, count in counts.items() if count > 1)
        raise ValueError(f"the key {repeated[:MAX_SHOWN]!r} is given twice in one object")
    return values


def _check_limits(value: Any) -> None:
    """Refuse values too deep, too many, or with invalid text; without recursion."""
    level, seen, depth = [value], 0, 0
    while level:
        depth, seen = depth + 1, seen + len(level)
        if depth > MAX_DEPTH:
            raise ModelFileError(f"it nests deeper than {MAX_DEPTH} levels, which no model does")
        if seen > MAX_VALUES:
            raise ModelFileError(f"it has more than {MAX_VALUES:,} values, which no model has")
        below: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                below.extend(each)
                below.extend(each.values())
            elif isinstance(each, list):
                below.extend(each)
            elif isinstance(each, str) and not each.isascii():
                _require_unicode(each)
        level = below


def _require_unicode(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ModelFileError(f"{text[:MAX_SHOWN]!a} is text that is no Unicode (half of a surrogate pair)") from None


class Record:
    """A JSON object and its place in the file, read key by key."""

    def __init__(self, value: Any, place: str) -> None:
        self.place = place
        if not isinstance(value, Mapping):
            self.refuse(None, value, "an object")
        self.values: Mapping[str, Any] = value

    def at(self, key: str | None) -> str:
        """Return the place of a key."""
        return self.place if key is None else f"{self.place}.{key}" if self.place else key

    def refuse(self, key: str | None, value: Any, wanted: str) -> NoReturn:
        """Raise an error that names the place, its value and what is expected."""
        plain = value if isinstance(value, str | int | float) else type(value).__name__
        actual = "nothing" if value is None else ascii(plain)[:MAX_SHOWN]
        raise ModelFileError(f"{self.at(key) or 'the file'} is {actual}, where {wanted} should be")

    def has(self, key: str) -> bool:
        """Return whether a key is present and not null."""
        return self.values.get(key) is not None

    def value(self, key: str) -> Any:
        """Return a value of any type."""
        if key not in self.values:
            raise ModelFileError(f"{self.at(key)} is not there; the file is incomplete")
        return self.values[key]

    def text(self, key: str, choices: Iterable[str] | None = None) -> str:
        """Return a text; with `choices`, one of them."""
        value = self.value(key)
        if not isinstance(value, str):
            self.refuse(key, value, "text")
        known = None if choices is None else list(choices)
        if known is not None and value not in known:
            raise ModelFileError(f"{self.at(key)} is {value[:MAX_SHOWN]!r}{did_you_mean(value, known)}")
        return value

    def flag(self, key: str) -> bool:
        """Return a boolean."""
        value = self.value(key)
        if not isinstance(value, bool):
            self.refuse(key, value, "true or false")
        return value

    def number(self, key: str) -> float:
        """Return a finite number."""
        value = self.value(key)
        if not _is_number(value):
            self.refuse(key, value, "a finite number")
        return float(value)

    def whole(self, key: str, *, least: int = 0, most: int = 2**53) -> int:
        """Return an integer within bounds."""
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.refuse(key, value, f"a whole number from {least} to {most}")
        return value

    def items(self, key: str) -> list[Any]:
        """Return a list."""
        value = self.value(key)
        if not isinstance(value, list | tuple):
            self.refuse(key, value, "a list")
        return list(value)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts, no two of them equal."""
        values = self.items(key)
        for place, value in enumerate(values):
            if not isinstance(value, str):
                self.refuse(f"{key}[{place}]", value, "text")
        if len(set(values)) < len(values):
            raise ModelFileError(f"{self.at(key)} has a text twice")
        return tuple(values)

    def numbers(self, key: str, count: int | None = None) -> Floats:
        """Return a list of finite numbers as an array (count,)."""
        return self._numbers(key, self.items(key), count)

    def matrix(self, key: str, columns: int) -> Floats:
        """Return a list of rows of finite numbers as an array (rows, columns)."""
        rows = self.items(key)
        parts = [self._numbers(f"{key}[{place}]", row, columns) for place, row in enumerate(rows)]
        return np.vstack(parts) if parts else np.empty((0, columns))

    def records(self, key: str) -> list[Record]:
        """Return a list of objects."""
        return [Record(value, f"{self.at(key)}[{place}]") for place, value in enumerate(self.items(key))]

    def record(self, key: str) -> Record:
        """Return an object."""
        return Record(self.value(key), self.at(key))

    def _numbers(self, key: str, values: Any, count: int | None) -> Floats:
        if not isinstance(values, list | tuple):
            self.refuse(key, values, "a list of numbers")
        for place, value in enumerate(values):
            if not _is_number(value):
                self.refuse(f"{key}[{place}]", value, "a finite number")
        if count is not None and len(values) != count:
            raise ModelFileError(f"{self.at(key)} has {len(values)} numbers, where {count} should be")
        return np.asarray(values, dtype=np.float64)


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**1023


class Fields(Record):
    """The content of a certificate, or an object in it."""

    def __init__(self, value: Any, place: str = "content") -> None:
        super().__init__(value, place)

    def value(self, key: str) -> Any:
        if key not in self.values:
            raise CertificateError(f"malformed certificate: it has no {self.at(key)}")
        return self.values[key]

    def or_none(self, key: str, read: Callable[[str], Value]) -> Value | None:
        """Return the value of a key by one of the methods here, None if it is null."""
        return None if self.value(key) is None else read(key)

    def fields(self, key: str) -> Fields:
        """Return an object."""
        return Fields(self.value(key), self.at(key))

    def within(self, key: str, least: float = 0.0, most: float = np.inf, *, above: bool = False) -> float:
        """Return a number from `least` to `most`; with `above`, greater than `least`."""
        number = self.number(key)
        if not (least < number if above else least <= number) or number > most:
            upper = "" if most == np.inf else f" and at most {most:g}"
            self.refuse(key, number, f"a number {'above' if above else 'of at least'} {least:g}{upper}")
        return number

    def places(self, key: str, count: int | None = None) -> Ints:
        """Return a list of indices of rows or columns, below a count if one is given."""
        most = MAX_INDEX if count is None else count - 1
        values = self.items(key)
        for place, value in enumerate(values):
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
                wanted = "a whole number of at least 0" if count is None else f"a whole number from 0 to {most}"
                self.refuse(f"{key}[{place}]", value, wanted)
        return np.asarray(values, dtype=np.int64)

    def labels(self, key: str, count: int | None = None) -> tuple[Any, ...]:
        """Return a list of labels: texts, numbers, booleans, or null, which stands for all other labels."""
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
