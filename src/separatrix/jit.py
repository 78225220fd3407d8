"""Loops that run as plain Python until compiling them with Numba pays off; the only module that imports Numba.

A `@loop` is written once, in the subset of Python that Numba compiles. Called directly it is interpreted, so five rows
take microseconds and Numba is never loaded; `loop.compiled` is the same code as machine code, with the same result
bit for bit. A `@reduction` is a loop that may sum in any order, which lets the processor add several terms at once
(half the time of a dot product) and may change the last bit. A `@scalar` is a branch-free NumPy expression of numbers:
called directly it works on whole arrays; `scalar.compiled` is the scalar machine code that a compiled loop takes by
typed pointer.

Compiled code is cached on disk, in a folder named by a hash of every source file that has loops. Numba itself compares
only the file of the outermost loop and would run stale code if a loop that it calls had changed. Damaged files of the
cache are discarded; where the folder cannot be written, each process compiles its loops again.

Cost: about 0.5 s to load Numba, 0.05 s for each cached loop, and a second for a first compilation, once per machine.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import sys
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, Generic, ParamSpec, Self, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Interpreted scalar operations (some 0.2 µs each) after which loading Numba pays off.
INTERPRETED_OPERATIONS = 2_000_000
_CHANGING_FOLDER = threading.RLock()  # of Numba's configuration, which is the same for all threads


class Loop(Generic[Arguments, Result]):
    """A function that runs interpreted when called, and as machine code through `compiled`."""

    fastmath: bool | set[str] = False

    def __init__(self, function: Callable[Arguments, Result]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        return self.function(*arguments, **options)

    def __reduce__(self) -> str:
        return self.function.__qualname__

    def bound(self, name: str, callees: dict[str, Loop[..., Any]]) -> Self:
        """Return a copy that calls other loops; the cache on disk distinguishes copies by name."""
        plain = self.function
        assert isinstance(plain, FunctionType)
        copy = FunctionType(plain.__code__, {**plain.__globals__, **callees}, plain.__name__)
        copy.__qualname__ = f"{plain.__qualname__}_{name}"
        return type(self)(copy)

    @functools.cached_property
    def compiled(self) -> Callable[Arguments, Result]:
        """The same function as machine code; loads Numba on first use."""
        return _compile(self.function, None, self.fastmath)


class Reduction(Loop[Arguments, Result]):
    """A loop that may sum in any order."""

    fastmath = {"reassoc"}  # noqa: RUF012  # never changed


class ProductSum(Loop[Arguments, Result]):
    """A loop of dot products and sums of any order, with fused multiply-adds."""

    fastmath = {"reassoc", "contract", "nsz"}  # noqa: RUF012  # never changed


class Elementary(Loop[Arguments, Result]):
    """A function of a number that is compiled into its callers, which may fuse multiply-adds but not reorder sums."""

    fastmath = {"contract"}  # noqa: RUF012  # never changed

    @functools.cached_property
    def compiled(self) -> Callable[Arguments, Result]:
        """The function, to be compiled as part of its callers."""
        return _compile(self.function, None, self.fastmath, inline=True)


class Elementwise(Loop[Arguments, Result]):
    """A loop over arrays without sums, which may use fused multiply-adds."""

    fastmath = {"contract"}  # noqa: RUF012  # never changed


class Scalar(Loop[Arguments, Result]):
    """A branch-free expression of float64 numbers, which takes whole arrays when interpreted."""

    @functools.cached_property
    def compiled(self) -> Callable[Arguments, Result]:
        """The expression as machine code with a fixed signature, which a loop can take by typed pointer."""
        arity = len(inspect.signature(self.function).parameters)
        return _compile(self.function, f"float64({', '.join(['float64'] * arity)})", False)


loop, reduction, scalar = Loop, Reduction, Scalar  # their names as decorators
product_sum, elementary, elementwise = ProductSum, Elementary, Elementwise


class WorkGate:
    """Chooses the form of a loop: interpreted while this process has done little work of its kind, then compiled.

    A kind stands for the element types of the arguments, for each of which Numba compiles again.
    """

    spent: ClassVar[dict[Hashable, int]] = {}
    warming: ClassVar[bool] = False  # all loops are chosen compiled

    def __init__(self, kind: Hashable, operations: int = INTERPRETED_OPERATIONS) -> None:
        self.kind = kind
        self.operations = operations

    def choose(self, loop: Loop[Arguments, Result], operations: int) -> Callable[Arguments, Result]:
        """Return the form of `loop` for the next `operations` scalar operations."""
        return loop.compiled if self.is_passed(operations) else loop

    def is_passed(self, operations: int) -> bool:
        """Count the next `operations`, and tell whether compiled code is worth loading for them."""
        spent = self.spent.get(self.kind, 0) + operations
        self.spent[self.kind] = spent
        return self.warming or spent > self.operations


@contextmanager
def warming() -> Iterator[None]:
    """Choose the compiled form of every loop meanwhile, however small the work is."""
    WorkGate.warming = True
    try:
        yield
    finally:
        WorkGate.warming = False


_listeners: list[Callable[[str], None]] = []


@contextmanager
def when_compiling(listener: Callable[[str], None]) -> Iterator[None]:
    """Call a listener with the name of each loop that is compiled meanwhile, as no cache has it, before that."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _compile(
    function: Callable[..., Any], signature: str | None, fastmath: bool | set[str], *, inline: bool = False
) -> Callable[..., Any]:
    from numba import njit  # noqa: PLC0415  # takes 0.5 s, so only for work that repays it

    callable_copy = _with_compiled_callees(function)
    with _CHANGING_FOLDER, _cache_folder() as folder:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
        options |= {"inline": "always"} if inline else {}
        compiled: Any = njit(cache=folder is not None, **options)(callable_copy)
        _watch_cache(getattr(compiled, "_cache", None), function.__name__)
        if signature and hasattr(compiled, "compile"):  # plain Python where NUMBA_DISABLE_JIT is set
            compiled.compile(signature)
            compiled.disable_compile()
    result: Callable[..., Any] = compiled
    return result


def is_cached(loop: Loop[..., Any]) -> bool:
    """Tell whether this machine has compiled a loop before, for any types; without loading Numba."""
    if "compiled" in vars(loop):
        return True
    name = f"{Path(inspect.getfile(loop.function)).stem}.{loop.function.__qualname__}-*.nbi"
    return any(True for _ in _loops_folder(os.environ.get("NUMBA_CACHE_DIR", "")).rglob(name))


def _watch_cache(cache: Any, name: str) -> None:
    """Make a cache of Numba drop files that it cannot load, and tell the listeners what has to be compiled."""
    load = getattr(cache, "load_overload", None)
    if load is None:
        return

    def load_or_discard(*arguments: Any) -> Any:
        try:
            loaded = load(*arguments)
        except Exception:  # noqa: BLE001  # garbage can raise any error when it is unpickled
            cache.flush()
            loaded = None
        if loaded is None:
            for listener in _listeners:
                listener(name)
        return loaded

    cache.load_overload = load_or_discard


def _with_compiled_callees(function: Callable[..., Any]) -> FunctionType:
    """Copy a function so that it calls the compiled forms of other loops."""
    assert isinstance(function, FunctionType)
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(scope.get(name), Loop):
            scope[name] = scope[name].compiled
    copy = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    copy.__qualname__ = function.__qualname__
    return copy


@contextmanager
def _cache_folder() -> Iterator[Path | None]:
    """Set Numba's cache folder to ours while a function is being decorated; None if it cannot be written.

    Numba would then choose a folder whose code may be stale.
    """
    import numba  # noqa: PLC0415  # see `_compile`

    config: Any = numba.config
    before = config.CACHE_DIR
    folder = _loops_folder(before)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    config.CACHE_DIR = str(folder)
    try:
        yield folder if folder.is_dir() and os.access(folder, os.W_OK) else None
    finally:
        config.CACHE_DIR = before


def _loops_folder(chosen: str) -> Path:
    """Return the folder of compiled loops, in the one chosen for Numba or, if there is none, the user's cache."""
    return (Path(chosen) if chosen else _user_cache()) / f"separatrix-{_sources_digest()}"


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~/AppData/Local"))
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))


@functools.cache
def _sources_digest() -> str:
    package = Path(__file__).parent
    sources = sorted([*package.glob("*.py"), *package.glob("loops/*.py"), *package.glob("losses/*.py")])
    text = b"\0".join(source.read_bytes() for source in sources)
    return hashlib.sha256(text).hexdigest()[:16]
