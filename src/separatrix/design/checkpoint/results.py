"""Results of passes as bytes and back: numbers, arrays, and tuples, lists, named tuples and dataclasses of them.

A result becomes a description, which goes to JSON, and the bytes of its numbers one after another; so it comes back bit
for bit, in the same memory order (products of arrays depend on that in their last bit). Classes are named, and only
those of this package that are mere records are made again: nothing that is read runs code of anybody else's.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

PACKAGE = __name__.partition(".")[0]
NUMBERS = "fiub"  # kinds of element types


class _NoBytesError(Exception):
    """A result holds something that has no bytes of its own."""


def pack(result: Any) -> tuple[Any, bytes] | None:
    """Return a result's description and the bytes of its numbers; None if it holds anything else."""
    parts: list[bytes] = []
    try:
        return _describe(result, parts), b"".join(parts)
    except _NoBytesError:
        return None


def unpack(description: Any, content: bytes) -> Any:
    """Return the result that was packed."""
    return _Reader(memoryview(content)).read(description)


def _describe(thing: Any, parts: list[bytes]) -> Any:
    if thing is None or isinstance(thing, (bool, int)):
        return {"plain": thing}
    if isinstance(thing, (np.ndarray, np.generic, float)):
        return _describe_numbers(thing, parts)
    if type(thing) in {tuple, list}:
        return {type(thing).__name__: [_describe(each, parts) for each in thing]}
    cls = type(thing)
    if cls.__module__.partition(".")[0] == PACKAGE and _is_record(cls):
        values = [getattr(thing, name) for name in _field_names(cls)]
        return {"record": [cls.__module__, cls.__qualname__], "values": [_describe(each, parts) for each in values]}
    raise _NoBytesError


def _describe_numbers(thing: Any, parts: list[bytes]) -> Any:
    kind = "float" if type(thing) is float else "array" if isinstance(thing, np.ndarray) else "scalar"
    array = np.asarray(thing)
    if array.dtype.kind not in NUMBERS:
        raise _NoBytesError
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    parts.append(array.tobytes(order=order))  # type: ignore[arg-type]  # "C" or "F"
    return {kind: array.dtype.str, "shape": list(array.shape), "order": order}


def _is_record(cls: type) -> bool:
    return is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


def _field_names(cls: Any) -> list[str]:
    return [field.name for field in fields(cls)] if is_dataclass(cls) else list(cls._fields)


class _Reader:
    """The bytes of a result, read from the start."""

    def __init__(self, content: memoryview) -> None:
        self.content, self.at = content, 0

    def read(self, description: Any) -> Any:
        """Return what is described, taking its bytes."""
        for kind in ("float", "scalar", "array"):
            if kind in description:
                return self._numbers(description, kind)
        if "plain" in description:
            return description["plain"]
        if "tuple" in description:
            return tuple(map(self.read, description["tuple"]))
        if "list" in description:
            return list(map(self.read, description["list"]))
        module, name = description["record"]
        if module.partition(".")[0] != PACKAGE:
            raise TypeError(f"{module} is not of {PACKAGE}")
        cls: Any = getattr(import_module(module), name)
        if not (isinstance(cls, type) and _is_record(cls)):
            raise TypeError(f"{name} is no record")
        return cls(*map(self.read, description["values"]))

    def _numbers(self, description: Any, kind: str) -> Any:
        dtype, shape = np.dtype(description[kind]), tuple(map(int, description["shape"]))
        if dtype.kind not in NUMBERS:
            raise TypeError(f"{dtype} are no numbers")
        count = int(np.prod(shape, dtype=np.int64))
        end = self.at + count * dtype.itemsize
        flat = np.frombuffer(self.content[self.at : end], dtype).astype(dtype.newbyteorder("="))
        self.at = end
        array = flat.reshape(shape, order=description["order"])
        return array if kind == "array" else float(array[()]) if kind == "float" else array[()]
