"""JSON from a file that nobody vouches for: parsed within limits, and read value by value, every fault with its place.

`parse_json` refuses what JSON allows but no file of ours has: a key given twice, numbers that no float holds, deep
nesting, text that is no Unicode. A `Record` is an object at a place in the file; it hands out values only of the type
asked for. Whatever is wrong is a ModelFileError that names the place. The cost is a few times that of `json.loads`.

The content of a certificate that nobody vouches for, read value by value; a fault is told with its place.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.errors import CertificateError, ModelFileError, did_you_mean

DEEPEST = 64  # objects and lists within each other
MOST_VALUES = 20_000_000  # in a file
LONGEST_SHOWN = 40  # characters of a value at fault
NO_TEXT = "text that is no Unicode (half of a surrogate pair)"


def parse_json(content: bytes) -> Any:
    """Return the value that a file's bytes stand for; anything but plain, finite JSON raises a ModelFileError."""
    try:
        value = json.loads(
            content.decode("utf-8"),
            parse_float=_finite,
            parse_constant=_refuse_constant,
            object_pairs_hook=_without_repeats,
        )
    except RecursionError:
        raise ModelFileError(f"it nests deeper than {DEEPEST} levels, which no model does") from None
    except ValueError as problem:
        raise ModelFileError(f"it is no JSON, or was cut short or altered: {problem}") from None
    _walk(value)
    return value


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:LONGEST_SHOWN]} is beyond every float")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(name for name, _ in pairs)
        repeated = next(name for name, count in times.items() if count > 1)
        raise ValueError(f"the key {repeated[:LONGEST_SHOWN]!r} is given twice in one object")
    return found


def _walk(value: Any) -> None:
    """Refuse values too deep, too many, or no text, without recursion."""
    level, seen, depth = [value], 0, 0
    while level:
        depth, seen = depth + 1, seen + len(level)
        if depth > DEEPEST:
            raise ModelFileError(f"it nests deeper than {DEEPEST} levels, which no model does")
        if seen > MOST_VALUES:
            raise ModelFileError(f"it has more than {MOST_VALUES:,} values, which no model has")
        below: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                below.extend(each)
                below.extend(each.values())
            elif isinstance(each, list):
                below.extend(each)
            elif isinstance(each, str) and not each.isascii():
                _refuse_half_characters(each)
        level = below


def _refuse_half_characters(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ModelFileError(f"{text[:LONGEST_SHOWN]!a} is {NO_TEXT}") from None


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
        """Raise the error that names the place, what is there and what should be."""
        shown = value if isinstance(value, str | int | float) else type(value).__name__
        words = "nothing" if value is None else ascii(shown)[:LONGEST_SHOWN]
        raise ModelFileError(f"{self.at(key) or 'the file'} is {words}, where {wanted} should be")

    def has(self, key: str) -> bool:
        """Tell whether a key is there and not null."""
        return self.values.get(key) is not None

    def value(self, key: str) -> Any:
        """Return what is there, of any type."""
        if key not in self.values:
            raise ModelFileError(f"{self.at(key)} is not there; the file is incomplete")
        return self.values[key]

    def text(self, key: str, choices: Iterable[str] | None = None) -> str:
        """Return a text, one of the choices if some are given."""
        value = self.value(key)
        if not isinstance(value, str):
            self.refuse(key, value, "text")
        known = None if choices is None else list(choices)
        if known is not None and value not in known:
            raise ModelFileError(f"{self.at(key)} is {value[:LONGEST_SHOWN]!r}{did_you_mean(value, known)}")
        return value

    def flag(self, key: str) -> bool:
        """Return a truth value."""
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
        """Return a whole number within bounds."""
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
        return _array(values)


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**1023


def _array(values: Sequence[float]) -> Floats:
    return np.asarray(values, dtype=np.float64)


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
