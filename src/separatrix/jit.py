"""The only door to Numba: loops that run as plain Python until compiling repays itself.

A `@loop` is written once, in the part of Python that Numba compiles. Called directly it is interpreted, so five rows
cost microseconds and Numba is never loaded; `loop.compiled` is the same code as machine code, with the same result
bit for bit. A `@reduction` is a loop whose sum may be taken in any order, which lets the machine add several terms at
once (half the time of a dot product) and may change the last bit. A `@scalar` is a branch-free NumPy expression of
numbers: called directly it works on whole arrays; `scalar.compiled` is the scalar machine code that a compiled loop
takes by typed pointer.

Compiled code is cached on disk, in a folder named for the text of every source file that holds loops: Numba itself
looks only at the file of the outermost loop and would run stale code when a loop that it calls had changed.

Cost: loading Numba about 0.5 s, a cached loop some 0.05 s more, a first compilation about a second, once a machine.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Interpreted scalar operations (some 0.2 µs each) that a process may spend before loading Numba repays itself.
INTERPRETED_OPERATIONS = 2_000_000


class Loop(Generic[Arguments, Result]):
    """A function that runs interpreted when called and as machine code through `compiled`."""

    fastmath: bool | set[str] = False

    def __init__(self, function: Callable[Arguments, Result]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        """Run interpreted."""
        return self.function(*arguments, **options)

    def __reduce__(self) -> str:
        return self.function.__qualname__

    @functools.cached_property
    def compiled(self) -> Callable[Arguments, Result]:
        """The same function as machine code; loads Numba on first use."""
        compiled: Callable[Arguments, Result] = _compile(self.function, None, self.fastmath)
        return compiled


class Reduction(Loop[Arguments, Result]):
    """A loop whose sum may be taken in any order."""

    fastmath = {"reassoc"}  # noqa: RUF012  # a setting, never changed


class Scalar(Loop[Arguments, Result]):
    """A branch-free expression of float64 numbers; interpreted, it takes whole arrays."""

    @functools.cached_property
    def compiled(self) -> Callable[Arguments, Result]:
        """The expression as machine code of fixed signature, which a loop can take by typed pointer."""
        arity = len(inspect.signature(self.function).parameters)
        compiled: Callable[Arguments, Result] = _compile(
            self.function, f"float64({', '.join(['float64'] * arity)})", False
        )
        return compiled


def loop(function: Callable[Arguments, Result]) -> Loop[Arguments, Result]:
    """Mark a loop for compilation when its work is large."""
    return Loop(function)


def reduction(function: Callable[Arguments, Result]) -> Reduction[Arguments, Result]:
    """Mark a loop that sums, in any order."""
    return Reduction(function)


def scalar(function: Callable[Arguments, Result]) -> Scalar[Arguments, Result]:
    """Mark a branch-free expression of numbers, used on arrays and, compiled, inside loops."""
    return Scalar(function)


class WorkGate:
    """Gives a run its loops: interpreted while the work of their kind, in this process, is small; then compiled.

    A kind is whatever Numba would compile anew for: the element types that the loops will meet.
    """

    spent: ClassVar[dict[Hashable, int]] = {}

    def __init__(self, kind: Hashable, operations: int = INTERPRETED_OPERATIONS) -> None:
        self.kind = kind
        self.operations = operations

    def choose(self, loop: Loop[Arguments, Result], operations: int) -> Callable[Arguments, Result]:
        """Return the form of `loop` to use for the next `operations` scalar operations."""
        spent = self.spent.get(self.kind, 0) + operations
        self.spent[self.kind] = spent
        return loop if spent <= self.operations else loop.compiled


def _compile(function: Callable[..., Any], signature: str | None, fastmath: bool | set[str]) -> Callable[..., Any]:
    from numba import njit  # noqa: PLC0415  # the one import of Numba, paid only by work that repays it

    with _cache_folder():
        decorate = functools.partial(njit, cache=True, nogil=True, error_model="numpy", fastmath=fastmath)
        plain = _with_compiled_callees(function)
        compiled: Callable[..., Any] = decorate(signature)(plain) if signature else decorate()(plain)
    return compiled


def _with_compiled_callees(function: Callable[..., Any]) -> FunctionType:
    """Copy a function so that the loops that it calls by name are their compiled forms."""
    assert isinstance(function, FunctionType)
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(scope.get(name), Loop):
            scope[name] = scope[name].compiled
    copy = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    copy.__qualname__ = function.__qualname__
    return copy


@contextmanager
def _cache_folder() -> Iterator[None]:
    """Have Numba keep the code in our folder while a function is being decorated, then put its setting back."""
    import numba  # noqa: PLC0415

    config: Any = numba.config
    before = config.CACHE_DIR
    config.CACHE_DIR = str(Path(before) if before else _user_cache() / f"separatrix-{_sources_digest()}")
    try:
        yield
    finally:
        config.CACHE_DIR = before


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


@functools.cache
def _sources_digest() -> str:
    package = Path(__file__).parent
    sources = sorted([*package.glob("*.py"), *package.glob("loops/*.py"), *package.glob("losses/*.py")])
    text = b"\0".join(source.read_bytes() for source in sources)
    return hashlib.sha256(text).hexdigest()[:16]
