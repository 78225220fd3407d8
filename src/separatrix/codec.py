"""Dataclasses to JSON and back, by their annotations; a fault raises a ModelFileError that names its place.

The fields of a dataclass are the keys of its object: all of them, and no others. Their types:

    bool, int, float, str           that type; a float may be written as an integer, and is finite
    Literal["a", "b"]               one of these
    Annotated[float, Range(...)]    a number within bounds, as are the entries of an array
    Fraction                        "3/4", or a number
    tuple[A, B], tuple[A, ...]      a list of fixed length, or of any; with `Items`, of several or of distinct entries
    Annotated[Floats, Shape(...)]   an array of finite numbers; sizes of one name are equal
    Mapping[str, A]                 an object with any keys; with `int`, whose keys are whole numbers
    A | B, A | None                 the first of these that accepts the value; among dataclasses, the one with its keys
    Annotated[A | B, Tag("kind")]   one of several dataclasses, distinguished by a field
    Callable                        the name of a function
    Any                             any JSON with finite numbers

A field with `init=False` is derived from the others: it is written, and checked when read. The metadata `key` is its
name in JSON where that differs, and `optional` leaves it out where it is None. A ValueError raised by the class itself
is a fault at its place. Size and nesting are limited before parsing. NumPy is loaded only to read arrays.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cache, lru_cache, partial
from itertools import chain
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from separatrix.errors import ModelFileError, OptionError, did_you_mean, printable

Reader = Callable[[Any], Any]
MAX_BYTES = 256 * 2**20
MAX_DEPTH = 64  # objects and lists within each other
MAX_VALUES = 20_000_000
MAX_WHOLE = 2**53  # integers up to here are exact floats
MAX_SHOWN = 40  # characters of a wrong value in an error
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)  # an unfinished one reaches to the end
NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
PLACE = re.compile("0|[1-9][0-9]{0,14}")
FRACTION = re.compile(r"-?[0-9]{1,4000}(/0*[1-9][0-9]{0,3999})?")


@dataclass(frozen=True)
class Range:
    """Bounds of a number, or of the entries of an array."""

    least: float = -math.inf
    most: float = math.inf
    above: float = -math.inf
    below: float = math.inf

    def __contains__(self, number: float) -> bool:
        return self.least <= number <= self.most and self.above < number < self.below

    def __str__(self) -> str:
        bounds = {"of at least": self.least, "above": self.above, "of at most": self.most, "below": self.below}
        return " and ".join(f"{word} {bound:.17g}" for word, bound in bounds.items() if math.isfinite(bound))


class Shape(tuple[int | str | None, ...]):
    """The sizes of an array: a number, a name that stands for one within the object, or None for any."""

    def __new__(cls, *sizes: int | str | None) -> Shape:
        return super().__new__(cls, sizes)


class Items(NamedTuple):
    """The least number of entries of a list, and whether no two are equal."""

    least: int = 0
    distinct: bool = False


class Tag(str):
    """The key that distinguishes the classes of a union."""


class FormatError(ModelFileError):
    """A fault of a value; its place grows as the error passes the values around it."""

    def __init__(self, fault: str, place: str = "", needed: str = "") -> None:
        super().__init__(fault, place, needed)
        self.fault, self.place, self.needed = fault, place, needed

    def within(self, place: str) -> FormatError:
        """Return the error with the place of a value around."""
        return FormatError(self.fault, place + self.place, self.needed)

    def __str__(self) -> str:
        return printable(f"{self.place.removeprefix('.') or 'the file'}{self.fault}")


def wrong(value: Any, needed: str) -> FormatError:
    """Return the error for a value of the wrong type or outside its bounds."""
    if isinstance(value, Mapping | list | tuple):
        shown = "an object" if isinstance(value, Mapping) else "a list"
    elif isinstance(value, int) and value.bit_length() > 1023:
        shown = "an integer beyond every float"
    else:
        shown = json.dumps(value, default=repr)[:MAX_SHOWN]
    return FormatError(f" is {shown}; {needed} is needed", needed=needed)


class _Repeated(dict[str, Any]):
    """An object with a duplicate key."""

    key = ""


def read_bytes(path: str | Path) -> bytes:
    """Return the content of a file of limited size."""
    if not str(path):
        raise ModelFileError("the name of the file is empty; give a path")
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as problem:
        raise ModelFileError(f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    if len(content) > MAX_BYTES:
        raise ModelFileError(f"{path} is larger than {MAX_BYTES / 2**20:g} MiB, the limit")
    return content


def parse_json(content: bytes) -> Any:
    """Return JSON values for `read`, which rejects duplicate keys and numbers that are not finite, with their place."""
    structure = STRING.sub(b"", content)
    if structure.count(b",") + structure.count(b"[") + structure.count(b"{") >= MAX_VALUES:
        raise ModelFileError(f"it has more than {MAX_VALUES:,} values")
    depth = 0
    for bracket in structure.translate(None, NOT_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            raise ModelFileError(f"it nests deeper than {MAX_DEPTH} levels")
    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=_object)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelFileError(f"it is not valid JSON, or was truncated or altered: {error}") from None
    except ValueError:
        limit = sys.get_int_max_str_digits()
        raise ModelFileError(f"it has an integer of more than {limit:,} digits, the limit") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = dict(pairs)
    if len(values) < len(pairs):
        values = _Repeated(values)
        values.key = Counter(key for key, _ in pairs).most_common(1)[0][0]
    return values


def read(kind: Any, value: Any, place: str = "") -> Any:
    """Return JSON values as a value of an annotated type."""
    try:
        return _reader(kind)(value)
    except FormatError as error:
        raise error.within(place) from None


@lru_cache(1024)
def _reader(kind: Any) -> Reader:
    """Return the function that reads values of a type."""
    marks = {type(mark): mark for mark in getattr(kind, "__metadata__", ())}
    kind = get_args(kind)[0] if marks else kind
    origin, parts = get_origin(kind), get_args(kind)
    if Shape in marks:
        number = int if kind is int or "int64" in str(kind) else float
        bounds = marks.get(Range, Range(-MAX_WHOLE, MAX_WHOLE) if number is int else Range())
        return partial(_read_array, marks[Shape], number, bounds)
    if Tag in marks:
        return partial(_read_tagged, {getattr(part, marks[Tag]): part for part in parts}, marks[Tag])
    if kind is Any or origin is Literal:
        return _read_any if kind is Any else partial(_read_choice, parts)
    if origin is None:
        return partial(_read_object, kind) if is_dataclass(kind) else partial(_read_scalar, kind, marks.get(Range))
    return _reader_of_parts(origin, parts, marks.get(Items))


def _reader_of_parts(origin: Any, parts: tuple[Any, ...], items: Items | None) -> Reader:
    """Return the function that reads values of a union, a tuple, a mapping or a function."""
    if origin is Callable:
        return partial(_read_scalar, str, None)
    classes = [part for part in parts if origin in {Union, UnionType} and is_dataclass(part)]
    chosen: list[Reader] = [partial(_read_class, classes)] if len(classes) > 1 else []
    known = {NoneType, Ellipsis, *(classes if chosen else ())}
    inner = [*chosen, *(_reader(part) for part in parts if part not in known)]
    if origin in {Union, UnionType}:
        return partial(_read_union, inner, NoneType in parts)
    if origin is tuple:
        return partial(_read_tuple, inner, parts, items)
    return partial(_read_mapping, inner[1]) if parts[0] is str else partial(_read_by_place, inner[1])


def _is_number(value: Any, *kinds: type) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    """Return whether a value is a finite float, or an integer that a float holds exactly."""
    return _is_number(value, int, float) and abs(value) <= sys.float_info.max and float(value) == value


_SCALARS: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    bool: ("true or false", lambda value: isinstance(value, bool)),
    int: ("a whole number", lambda value: _is_number(value, int)),
    float: ("a finite number", _is_finite),
    str: ("text", lambda value: isinstance(value, str) and (value.isascii() or _is_unicode(value))),
    Fraction: ("a fraction", lambda value: bool(isinstance(value, str) and FRACTION.fullmatch(value))),
}


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _read_scalar(kind: Any, bounds: Range | None, value: Any) -> Any:
    needed, accepts = _SCALARS[kind]
    if not accepts(value) and not (kind is Fraction and _SCALARS[float][1](value)):
        raise wrong(value, needed)
    result = kind(value)
    if bounds is not None and result not in bounds:
        raise wrong(value, f"{needed.replace('finite ', '')} {bounds}")
    return result if result or bounds is None else kind(0)  # -0.0 is read as 0.0


def _read_any(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else _read_scalar(str, None, value)
    if isinstance(value, float):
        return value if math.isfinite(value) else _read_scalar(float, None, value)
    if isinstance(value, list):
        return _read_each(_read_any, value)
    return _read_mapping(_read_any, value) if isinstance(value, dict | Mapping) else value


def _read_choice(choices: tuple[Any, ...], value: Any) -> Any:
    if any(value == choice and type(value) is type(choice) for choice in choices):
        return value
    needed = " or ".join(map(json.dumps, choices))
    if isinstance(value, str) and isinstance(choices[0], str):
        raise FormatError(f" is {json.dumps(value[:MAX_SHOWN])}{did_you_mean(value, choices)}", needed=needed)
    raise wrong(value, needed)


def _read_union(readers: list[Reader], optional: bool, value: Any) -> Any:
    """Return the value as read by the first reader that accepts it."""
    if value is None and optional:
        return None
    errors = []
    for reader in readers:
        try:
            return reader(value)
        except FormatError as error:
            errors.append(error)
    inner = [error for error in errors if error.place or len(errors) == 1]
    raise inner[0] if inner else wrong(value, " or ".join(error.needed for error in errors))


def _read_each(reader: Reader, values: Iterable[Any]) -> list[Any]:
    result: list[Any] = []
    try:
        for value in values:
            result.append(reader(value))  # noqa: PERF401  # the length is the place of a fault
    except FormatError as error:
        raise error.within(f"[{len(result)}]") from None
    return result


def _require_list(value: Any, least: int, most: float) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise wrong(value, "a list")
    if not least <= len(value) <= most:
        raise FormatError(f" has {len(value)} entries; {'' if least == most else 'at least '}{least} are needed")
    return list(value)


def _read_tuple(readers: list[Reader], parts: tuple[Any, ...], items: Items | None, value: Any) -> tuple[Any, ...]:
    if parts[-1] is not Ellipsis:
        values = _require_list(value, len(parts), len(parts))
        result = _read_each(lambda pair: pair[0](pair[1]), zip(readers, values, strict=True))
    else:
        result = _read_each(readers[0], _require_list(value, items.least if items else 0, math.inf))
    first: dict[Any, int] = {}
    for place, entry in enumerate(result if items and items.distinct else ()):
        if first.setdefault(entry, place) != place:
            raise wrong(entry, "a distinct entry").within(f"[{place}]")
    return tuple(result)


def _read_array(sizes: Shape, number: type, bounds: Range, value: Any) -> Any:
    """Return an array of the given sizes; sizes that an empty list leaves open are 0."""
    import numpy as np  # noqa: PLC0415  # not needed to write options

    fixed = [size if isinstance(size, int) else None for size in sizes]
    values = _require_list(value, fixed[0] or 0, math.inf if fixed[0] is None else fixed[0])
    flat = values
    for _ in sizes[1:]:
        flat = list(chain.from_iterable(flat)) if set(map(type, flat)) == {list} else []
    if number is float and set(map(type, flat)) == {float}:  # all at once, unless a fault must be located
        with suppress(ValueError):
            array = np.asarray(values)
            shape = tuple(actual if size is None else size for size, actual in zip(fixed, array.shape, strict=True))
            if array.shape == shape and array.min() in bounds and array.max() in bounds:
                return array
    if len(sizes) == 1:
        return np.asarray(_read_each(partial(_read_scalar, number, bounds), values), dtype=number)
    rows = _read_each(partial(_read_array, Shape(*sizes[1:]), number, bounds), values)
    for place, row in enumerate(rows):
        if row.shape != rows[0].shape:
            raise FormatError(f" has {len(row)} entries; {len(rows[0])} are needed", f"[{place}]")
    return np.stack(rows) if rows else np.empty((0, *(size or 0 for size in fixed[1:])), dtype=number)


def _require_object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict | Mapping):
        raise wrong(value, "an object")
    if isinstance(value, _Repeated):
        raise FormatError(" is given twice", _key_place(value.key))
    return value


def _read_mapping(reader: Reader, value: Any) -> dict[str, Any]:
    return {key: _read_key(key, reader, inner) for key, inner in _require_object(value).items()}


def _read_by_place(reader: Reader, value: Any) -> dict[int, Any]:
    """Return an object whose keys are the places of columns or rows."""
    for key in _require_object(value):
        if not PLACE.fullmatch(key):
            raise FormatError(f" has the key {json.dumps(key)[:MAX_SHOWN]}; whole numbers are needed")
    return {int(key): inner for key, inner in _read_mapping(reader, value).items()}


def _key_place(key: str) -> str:
    return f".{ascii(key)[1:-1][:MAX_SHOWN]}"


def _read_key(key: str, reader: Reader, value: Any) -> Any:
    try:
        if not key.isascii():
            _read_scalar(str, None, key)
        return reader(value)
    except FormatError as error:
        raise error.within(_key_place(key)) from None


def _read_tagged(classes: Mapping[str, type], tag: str, value: Any) -> Any:
    if tag not in _require_object(value):
        raise FormatError(" is missing", f".{tag}")
    return _read_object(classes[_read_key(tag, partial(_read_choice, tuple(classes)), value[tag])], value)


def _read_class(classes: list[Any], value: Any) -> Any:
    """Return an instance of the dataclass that has most of the keys of an object."""
    keys = set(_require_object(value))
    return _read_object(max(classes, key=lambda kind: len(keys & set(_layout(kind)))), value)


def key_of(each: Field[Any]) -> str:
    """Return the key of a field in JSON."""
    return str(each.metadata.get("key", each.name))


@cache
def _layout(kind: Any) -> dict[str, tuple[Field[Any], Reader, Shape]]:
    """Return the fields of a dataclass by their keys, with their readers and the sizes of arrays."""
    hints = get_type_hints(kind, include_extras=True)
    return {key_of(each): (each, _reader(hints[each.name]), _shape(hints[each.name])) for each in fields(kind)}


def _shape(kind: Any) -> Shape:
    return next((mark for mark in getattr(kind, "__metadata__", ()) if isinstance(mark, Shape)), Shape())


def _read_object(kind: Any, value: Any) -> Any:
    """Return an instance of a dataclass."""
    layout = _layout(kind)
    values = read_object(kind, value, [each.name for each, _, _ in layout.values()])
    derived = {each.name: key for key, (each, _, _) in layout.items() if not each.init}
    try:
        made = kind(**{name: value for name, value in values.items() if name not in derived})
    except ValueError as problem:
        raise FormatError(f": {problem}") from None
    for name, key in derived.items():
        if values[name] != getattr(made, name):
            raise FormatError(" does not agree with the values beside it; the file was altered", f".{key}")
    return made


def read_object(kind: Any, value: Any, names: Iterable[str], place: str = "") -> dict[str, Any]:
    """Return the values of some fields of a dataclass from an object that has these, and no others."""
    chosen = set(names)
    layout = {key: entry for key, entry in _layout(kind).items() if entry[0].name in chosen}
    values: dict[str, Any] = {}
    sizes: dict[str, int] = {}
    try:
        given = _require_object(value)
        for key in given:
            if key not in layout:
                raise FormatError(f" is unknown{did_you_mean(key, layout)}", _key_place(key))
        for key, (each, reader, shape) in layout.items():
            if key in given:
                values[each.name] = _read_key(key, partial(_read_sized, reader, shape, sizes), given[key])
            elif not each.metadata.get("optional"):
                raise FormatError(" is missing", f".{key}")
    except FormatError as error:
        raise error.within(place) from None
    return values


def _read_sized(reader: Reader, shape: Shape, sizes: dict[str, int], value: Any) -> Any:
    """Return a value; an array must have the named sizes of those before it, and gets them if it has no rows."""
    array = reader(value)
    if array is None or not shape:
        return array
    for axis, size in enumerate(shape if len(array) else shape[:1]):
        if isinstance(size, str) and sizes.setdefault(size, array.shape[axis]) != array.shape[axis]:
            raise FormatError(f" has {array.shape[axis]} entries; {sizes[size]} are needed", "[0]" * axis)
    return array if len(array) else array.reshape(0, *(sizes.get(str(size), 0) for size in shape[1:]))


def write(value: Any) -> Any:
    """Return a dataclass and the values in it as JSON values, floats exact."""
    if is_dataclass(value):
        pairs = [(each, getattr(value, each.name)) for each in fields(value)]
        kept = [(each, inner) for each, inner in pairs if inner is not None or not each.metadata.get("optional")]
        return {key_of(each): write(inner) for each, inner in kept}
    if isinstance(value, Mapping):
        return {str(key): write(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [write(inner) for inner in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Fraction):
        return _rational(value)
    if not hasattr(value, "tolist") and not hasattr(value, "toarray"):
        raise OptionError(f"{value!r:.60} cannot be written as JSON")
    return (value.toarray() if hasattr(value, "toarray") else value).tolist()  # a sparse matrix, or an array


def _rational(value: Fraction) -> float | str:
    """Return a float if it is exact, else the text "a/b"."""
    try:
        rounded = float(value)
    except OverflowError:
        return str(value)
    return rounded if Fraction(rounded) == value else str(value)


def plain(value: Any) -> Any:
    """Return any value as JSON values: infinity and NaN as words, functions by name, others as they print."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(getattr(value, "__name__", None) or value)
