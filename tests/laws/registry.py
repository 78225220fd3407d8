"""The law of registration: every concrete class of a package is in its `ALL`."""

from __future__ import annotations

import inspect
import pkgutil
from abc import ABC
from importlib import import_module
from types import ModuleType
from typing import Any

from separatrix import solvers


class HasSteps(ABC):  # noqa: B024  # an interface, recognised by its method
    """Any class with a `steps` method of its own: a solver."""

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        return callable(getattr(other, "steps", None)) and not getattr(other, "_is_protocol", False)


def concrete_classes(package: ModuleType, base: type) -> list[type]:
    """Return the concrete subclasses of `base` that a module, or the modules of a package, define."""
    names = [each.name for each in pkgutil.iter_modules(getattr(package, "__path__", []), f"{package.__name__}.")]
    return [
        thing
        for module in (package, *map(import_module, names))
        for thing in vars(module).values()
        if inspect.isclass(thing) and thing.__module__ == module.__name__
        if issubclass(thing, base) and thing is not base and not inspect.isabstract(thing)
    ]


def unregistered(package: ModuleType, base: type) -> list[str]:
    """Return the name of every concrete subclass of `base` that is not in `ALL`, which holds instances or classes."""
    known = {entry if isinstance(entry, type) else type(entry) for entry in package.ALL}
    return [each.__name__ for each in concrete_classes(package, base) if each not in known]


SOLVERS: tuple[Any, ...] = tuple(each() for each in concrete_classes(solvers, HasSteps))
