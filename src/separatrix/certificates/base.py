"""Certificates: a claim, the witness that proves it, and `verify`, which re-checks it from the data alone.

A certificate is plain data: it goes to JSON and back unchanged (floats exactly), and whoever holds it needs no
solver, only the data, to check it. Verification returns every check made, so that a refusal says which one failed,
and where.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.errors import CertificateError, did_you_mean

__all__ = ["Certificate", "Check", "OneVsRestCertificate", "Verification", "certificate_from_dict", "register"]

FORMAT = 1


@dataclass(frozen=True)
class Check:
    """One thing looked at: what it was, whether it holds (None: it could not be checked), and the numbers."""

    name: str
    holds: bool | None
    detail: str

    def __str__(self) -> str:
        word = {True: "holds", False: "FAILS", None: "unchecked"}[self.holds]
        return f"{word}: {self.name}: {self.detail}"


@dataclass(frozen=True)
class Verification:
    """All checks of a certificate against some data; true if none fails."""

    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether no check fails."""
        return all(check.holds is not False for check in self.checks)

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return "\n".join(map(str, self.checks))


class Certificate(ABC):
    """A claim about a fit that anyone can re-check from the data."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def claim(self) -> str:
        """What is claimed, in words."""

    @property
    @abstractmethod
    def verdict(self) -> str:
        """The claim in a word."""

    @abstractmethod
    def verify(self, X: Any, y: Any) -> Verification:
        """Re-check the claim from the data."""

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return all that the claim rests on, as JSON values."""

    @classmethod
    @abstractmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a certificate from its content."""

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON values."""
        head = {"kind": self.kind, "format": FORMAT, "verdict": self.verdict, "claim": self.claim}
        return {**head, "content": self.content()}

    def to_json(self) -> str:
        """Return the certificate as JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False)


_KINDS: dict[str, type[Certificate]] = {}


def register(kind: type[Certificate]) -> type[Certificate]:
    """Make a certificate class known to `certificate_from_dict`."""
    _KINDS[kind.kind] = kind
    return kind


def certificate_from_dict(data: Mapping[str, Any]) -> Certificate:
    """Make a certificate from what `to_dict` returned; malformed data raise a CertificateError."""
    if not isinstance(data, Mapping):
        raise CertificateError(f"a certificate is a JSON object; this is {type(data).__name__}")
    kind, version = data.get("kind"), data.get("format")
    if isinstance(kind, str) and kind not in _KINDS:
        _register_all()
    if not isinstance(kind, str) or kind not in _KINDS:
        raise CertificateError(f"unknown kind of certificate {kind!r}{did_you_mean(str(kind), _KINDS)}")
    if version != FORMAT:
        raise CertificateError(f"certificate format {version!r} is not readable here; this release reads {FORMAT}")
    return _read(_KINDS[kind].from_content, data.get("content"))


def _register_all() -> None:
    """Load every module that has a public name: each makes its kinds known."""
    package = import_module("separatrix.certificates")
    for name in package.__all__:
        getattr(package, name)


def _read(make: Callable[[Mapping[str, Any]], Certificate], content: Any) -> Certificate:
    try:
        return make(content)
    except KeyError as problem:
        raise CertificateError(f"malformed certificate: it has no {problem}") from problem
    except (ArithmeticError, AttributeError, TypeError, ValueError) as problem:
        raise CertificateError(f"malformed certificate: {problem}") from problem


@register
@dataclass(frozen=True)
class OneVsRestCertificate(Certificate):
    """One certificate a class, each of that class against the rest.

    With `indicators` the parts were fitted to labels True for their class and False for the rest.
    """

    kind: ClassVar[str] = "one-vs-rest"
    classes: tuple[Any, ...]
    parts: tuple[Certificate, ...]
    indicators: bool = False

    @property
    def claim(self) -> str:
        """What is claimed, class by class."""
        return "; ".join(f"{label!r}: {part.claim}" for label, part in zip(self.classes, self.parts, strict=True))

    @property
    def verdict(self) -> str:
        """The verdict shared by all classes, or 'mixed'."""
        verdicts = {part.verdict for part in self.parts}
        return verdicts.pop() if len(verdicts) == 1 else "mixed"

    def verify(self, X: Any, y: Any, **weights: Any) -> Verification:
        """Re-check each part on its own class against the rest; `sample_weight` goes to parts that had one."""
        targets = [np.asarray(y) == label if self.indicators else y for label in self.classes]
        parts = zip(self.parts, targets, strict=True)
        return Verification(tuple(check for part, own in parts for check in part.verify(X, own, **weights).checks))

    def content(self) -> dict[str, Any]:
        """Return the classes and their parts as JSON values."""
        parts = [part.to_dict() for part in self.parts]
        return {"classes": list(self.classes), "indicators": self.indicators, "parts": parts}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a certificate from its content."""
        parts = tuple(certificate_from_dict(part) for part in content["parts"])
        return cls(tuple(content["classes"]), parts, bool(content["indicators"]))
