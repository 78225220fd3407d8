"""Digests of what a task is given: equal arguments have equal digests, in this process and in any other.

Arrays count by element type, shape and bytes; dataclasses and named tuples by their fields, other objects by their
attributes; functions by their module and name, and by what they have captured. What tells nothing of itself that would
be the same in another process (an open file, say) has no digest.

Cost: SHA-256 of all bytes, a megabyte at a time shared by the cores: for each row vector some 0.3 ns a byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import partial, singledispatch
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.design.array_blocks import SparseBlock
from separatrix.design.base import Block, Design
from separatrix.design.threads import map_groups
from separatrix.jit import Loop

PART_BYTES = 2**20  # hashed at once by a core
PLAIN = (
    str,
    bytes,
    bool,
    int,
    float,
    complex,
    Fraction,
    type(None),
    type(Ellipsis),
    slice,
    range,
    np.dtype,
    np.generic,
)
OPAQUE = (ModuleType, Iterator)


class _NoDigestError(Exception):
    """Something tells nothing of itself."""


def digest(*things: Any) -> str | None:
    """Return the digest of some things together, as hexadecimal digits; None if one of them has none."""
    try:
        return _Digest().of(things).hex()
    except (_NoDigestError, RecursionError):
        return None


def fingerprint(design: Design) -> str:
    """Return the digest of a design's shape and stored columns, in one pass that does not count."""
    passes = design.passes
    parts = design.fold(_block_parts)
    design.passes = passes
    shape = f"{design.shape[0]} {design.shape[1] - design.virtual}"
    return hashlib.sha256(b"".join([shape.encode(), *parts])).hexdigest()


def _block_parts(block: Block) -> list[bytes]:
    return [_block_digest(block)]


@singledispatch
def _block_digest(block: Any) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(block.dense_stored()).data).digest()


@_block_digest.register
def _sparse_block_digest(block: SparseBlock) -> bytes:
    whole, matrix = hashlib.sha256(), block.matrix
    for part in (matrix.indptr, matrix.indices, matrix.data):
        whole.update(np.ascontiguousarray(part).data)
    return whole.digest()


class _Digest:
    """One reading of some things: what is met twice is read once."""

    def __init__(self) -> None:
        self.met: dict[int, bytes] = {}
        self.kept: list[Any] = []  # so that no new object takes the place of one that was met

    def of(self, thing: Any) -> bytes:
        """Return the digest of one thing."""
        if isinstance(thing, PLAIN):
            return _hash(type(thing).__name__, repr(thing))
        known = self.met.get(id(thing))
        if known is None:
            self.kept.append(thing)
            self.met[id(thing)] = b"met"  # what holds itself is not followed for ever
            known = self.met[id(thing)] = self._read(thing)
        return known

    def _read(self, thing: Any) -> bytes:
        if isinstance(thing, np.ndarray):
            return _array(thing, self)
        if isinstance(thing, Mapping):
            return _hash("mapping", *sorted(self.of(key) + self.of(value) for key, value in thing.items()))
        if isinstance(thing, (set, frozenset)):
            return _hash("set", *sorted(map(self.of, thing)))
        if isinstance(thing, (tuple, list)):
            return _hash(_name(type(thing)), *map(self.of, thing))
        if isinstance(thing, Enum):
            return _hash(_name(type(thing)), thing.name)
        return self._of_code(thing)

    def _of_code(self, thing: Any) -> bytes:
        if isinstance(thing, Loop):
            return _hash("loop", _name(thing.function))
        if isinstance(thing, partial):
            return _hash("partial", self.of(thing.func), self.of(thing.args), self.of(thing.keywords))
        if isinstance(thing, MethodType):
            return _hash("method", _name(thing.__func__), self.of(thing.__self__))
        if isinstance(thing, FunctionType):
            captured = [cell.cell_contents for cell in thing.__closure__ or ()]
            code = self._of_body(thing.__code__) if "<" in thing.__qualname__ else b""
            return _hash("function", _name(thing), code, self.of(captured), self.of(thing.__defaults__ or ()))
        if isinstance(thing, (type, BuiltinFunctionType, np.ufunc)):
            return _hash("named", _name(thing))
        return self._of_object(thing)

    def _of_body(self, code: CodeType) -> bytes:
        """Return the digest of what a function without a name of its own does: steps, names and constants."""
        held = [self._of_body(each) if isinstance(each, CodeType) else self.of(each) for each in code.co_consts]
        return _hash("code", code.co_code, self.of(code.co_names), *held)

    def _of_object(self, thing: Any) -> bytes:
        if isinstance(thing, OPAQUE):
            raise _NoDigestError
        if isinstance(thing, Design):
            return _hash("design", self._lineage(thing))
        if isinstance(thing, np.random.Generator):
            return self.of(thing.bit_generator.state)
        if is_dataclass(thing):
            return _hash(_name(type(thing)), *(self.of(getattr(thing, field.name)) for field in fields(thing)))
        return _hash(_name(type(thing)), self.of(_state(thing)))

    def _lineage(self, design: Design) -> str:
        """Return the digest that a journaled design has; any other would have to be read."""
        lineage: str | None = getattr(design, "lineage", None)
        if lineage is None:
            raise _NoDigestError
        return lineage


def _state(thing: Any) -> Mapping[str, Any]:
    """Return the attributes of an object, as far as it has any that can be seen."""
    attributes: Mapping[str, Any] | None = getattr(thing, "__dict__", None)
    if attributes is None:
        raise _NoDigestError
    return attributes


def _array(array: NDArray[Any], reading: _Digest) -> bytes:
    head = f"{array.dtype.str} {array.shape}"
    if array.dtype.kind == "O":
        return _hash(head, *(reading.of(entry) for entry in array.ravel().tolist()))
    order: Literal["C", "F"] = "F" if array.flags.f_contiguous else "C"
    flat = np.ascontiguousarray(array.ravel(order=order)).view(np.uint8)
    parts = [flat[start : start + PART_BYTES] for start in range(0, len(flat), PART_BYTES)]
    return _hash(head, order, *map_groups(_part, parts))


def _part(part: NDArray[np.uint8]) -> bytes:
    return hashlib.sha256(part.data).digest()


def _name(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', getattr(thing, '__name__', ''))}"


def _hash(*parts: str | bytes) -> bytes:
    """Return the digest of some parts, each with its length, so that none runs into the next."""
    whole = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(len(content).to_bytes(8, "little"))
        whole.update(content)
    return whole.digest()
