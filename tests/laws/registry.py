"""The law of registration: every file of a package holds one concrete class, and the package's `ALL` knows it."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType

NOT_MEMBERS = {"__init__", "base"}


def unregistered(package: ModuleType, base: type) -> list[str]:
    """Return a complaint for every file of `package` that breaks the law; `ALL` may hold instances or classes."""
    complaints = []
    for stem in _stems(package):
        members = _members(import_module(f"{package.__name__}.{stem}"), base)
        if len(members) != 1:
            names = ", ".join(member.__name__ for member in members) or "none"
            complaints.append(f"{stem}.py defines {len(members)} concrete {base.__name__} classes, not one: {names}")
        complaints += [
            f"{stem}.py: {member.__name__} is not in ALL" for member in members if not _known(package, member)
        ]
    return complaints


def _stems(package: ModuleType) -> list[str]:
    files = (file for folder in package.__path__ for file in Path(folder).glob("*.py"))
    return sorted(file.stem for file in files if file.stem not in NOT_MEMBERS)


def _members(module: ModuleType, base: type) -> list[type]:
    defined_here = (
        thing for _, thing in inspect.getmembers(module, inspect.isclass) if thing.__module__ == module.__name__
    )
    return [thing for thing in defined_here if issubclass(thing, base) and not inspect.isabstract(thing)]


def _known(package: ModuleType, member: type) -> bool:
    return any(entry is member or type(entry) is member for entry in package.ALL)
