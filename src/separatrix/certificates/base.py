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
from functools import wraps
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.codec import Fields
from separatrix.errors import CertificateError, SeparatrixError, did_you_mean

FORMAT = 1
NONSENSE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # what malformed content leads to


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


class CertifiedCoef(NamedTuple):
    """The coefficients (K, p) and intercepts (K,) that a claim is about, and the labels of the classes; None: numbers.

    One score is of the second of two labels against the first. Those of a run are the model's if that keeps one of the
    weights that `kept` has for the score; where that is empty, they are always.
    """

    coef: Floats
    intercept: Floats
    labels: tuple[Any, ...] | None
    kept: tuple[tuple[str, ...], ...]


def certified_coef(
    coef: Floats, labels: tuple[Any, ...] | None, *, fit_intercept: bool, kept: tuple[str, ...] = ()
) -> CertifiedCoef:
    """Return coefficients (p,) or (p, K), those of a virtual column first if there is one, as rows of K scores."""
    rows = np.atleast_2d(coef.T)
    if fit_intercept:
        intercept = rows[:, :1].sum(axis=1)  # 0 where there is no column at all
        return CertifiedCoef(rows[:, 1:], intercept, labels, (kept,) * len(rows))
    return CertifiedCoef(rows, np.zeros(len(rows)), labels, (kept,) * len(rows))


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

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "verify" in vars(cls):
            setattr(cls, "verify", _guarded(cls.verify))  # noqa: B010  # a method, which a plain assignment may not be

    def certified(self) -> CertifiedCoef | None:
        """Return the coefficients that the claim is about; None if it is about none, or about no linear scores."""
        return None

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


def _guarded(verify: Callable[..., Verification]) -> Callable[..., Verification]:
    """Return a check that raises a CertificateError where what a certificate contains makes no sense with the data."""

    @wraps(verify)
    def checked(certificate: Certificate, *data: Any, **weights: Any) -> Verification:
        try:
            return verify(certificate, *data, **weights)
        except SeparatrixError:
            raise
        except NONSENSE as problem:
            words = f"{type(problem).__name__}: {problem}"
            raise CertificateError(
                f"the certificate of {certificate.kind} makes no sense with these data ({words})"
            ) from problem

    return checked


_KINDS: dict[str, type[Certificate]] = {}
# The module that registers each kind; imported when a certificate of that kind is read.
_MODULES = {
    "bias-reduction": "bias_reduction",
    "generative": "generative",
    "kernel": "margin",
    "kernel-mistakes": "mistakes",
    "kernel-optimality": "optimality",
    "least-squares": "least_squares",
    "likelihood": "optimality",
    "mapped": "separability",
    "margin": "margin",
    "mistakes": "mistakes",
    "mixing": "mistakes",
    "one-vs-one": "parts",
    "one-vs-rest": "base",
    "optimality": "optimality",
    "pairs": "parts",
    "separability": "separability",
    "zero-one": "fewest_mistakes",
}


def register(kind: type[Certificate]) -> type[Certificate]:
    """Make a certificate class known to `certificate_from_dict`."""
    _KINDS[kind.kind] = kind
    return kind


def certificate_from_dict(data: Mapping[str, Any]) -> Certificate:
    """Make a certificate from what `to_dict` returned; malformed data raise a CertificateError."""
    if not isinstance(data, Mapping):
        raise CertificateError(f"a certificate is a JSON object; this is {type(data).__name__}")
    kind, version = data.get("kind"), data.get("format")
    if not isinstance(kind, str) or kind not in _MODULES:
        raise CertificateError(f"unknown kind of certificate {kind!r}{did_you_mean(str(kind), _MODULES)}")
    if version != FORMAT:
        raise CertificateError(f"certificate format {version!r} is not readable here; this release reads {FORMAT}")
    import_module(f"separatrix.certificates.{_MODULES[kind]}")
    return _read(_KINDS[kind].from_content, data.get("content"))


def _read(make: Callable[[Mapping[str, Any]], Certificate], content: Any) -> Certificate:
    """Make a certificate, and see that its verdict and its claim can be told."""
    try:
        made = make(Fields(content).values)
        _ = made.verdict, made.claim
    except CertificateError:
        raise
    except KeyError as problem:
        raise CertificateError(f"malformed certificate: it has no {problem}") from problem
    except (*NONSENSE, RecursionError) as problem:
        raise CertificateError(f"malformed certificate: {problem}") from problem
    return made


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

    def certified(self) -> CertifiedCoef | None:
        """Return the coefficients of the parts, a score each, if all are about some."""
        found = [part.certified() for part in self.parts]
        own = [each for each in found if each is not None and len(each.coef) == 1 and each.labels is not None]
        if len(own) < len(self.classes) or len({each.coef.shape for each in own}) != 1:
            return None
        labels = self.classes if self.indicators else tuple((each.labels or ())[-1] for each in own)
        coef, intercept = np.vstack([each.coef for each in own]), np.concatenate([each.intercept for each in own])
        return CertifiedCoef(coef, intercept, labels, tuple(each.kept[0] for each in own))

    def content(self) -> dict[str, Any]:
        """Return the classes and their parts as JSON values."""
        parts = [part.to_dict() for part in self.parts]
        return {"classes": list(self.classes), "indicators": self.indicators, "parts": parts}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a certificate from its content."""
        parts = tuple(certificate_from_dict(part) for part in content["parts"])
        fields = Fields(content)
        return cls(fields.labels("classes"), parts, fields.flag("indicators"))
