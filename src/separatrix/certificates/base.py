"""Certificates: a claim about a fit, a witness that proves it, and `verify`, which re-checks the proof from the data.

A certificate is plain data. It goes to JSON and back unchanged (floats exactly), and checking it takes the data but no
solver. `verify` returns every check that it made, so that a refusal says which check failed, and where. Malformed
content raises a CertificateError.

`OneVsRestCertificate` combines the certificates of K classes, each fitted against the rest.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import wraps
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.codec import Fields
from separatrix.errors import CertificateError, DataError, SeparatrixError, did_you_mean

FORMAT = 1
MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # what malformed content raises


@dataclass(frozen=True)
class Check:
    """One check of a certificate: its name, whether it holds (None: it could not be checked), and the numbers."""

    name: str
    holds: bool | None
    detail: str

    def __str__(self) -> str:
        outcome = {True: "holds", False: "FAILS", None: "unchecked"}[self.holds]
        return f"{outcome}: {self.name}: {self.detail}"


@dataclass(frozen=True)
class Verification:
    """All checks of a certificate against some data; true if none fails."""

    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        return all(check.holds is not False for check in self.checks)

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return "\n".join(map(str, self.checks))


class CertifiedCoef(NamedTuple):
    """The coefficients (K, p) and intercepts (K,) that a claim is about, and the class labels; None for a regression.

    A single score is that of the second of two labels against the first. `kept` lists, for each score, the values of a
    perceptron's option `keep` under which the model's weights are the certified ones; empty if they always are.
    """

    coef: Floats
    intercept: Floats
    labels: tuple[Any, ...] | None
    kept: tuple[tuple[str, ...], ...]


def certified_coef(
    coef: Floats, labels: tuple[Any, ...] | None, *, fit_intercept: bool, kept: tuple[str, ...] = ()
) -> CertifiedCoef:
    """Return coefficients (p,) or (p, K), the intercept first if there is one, with one row per score."""
    rows = np.atleast_2d(coef.T)
    if fit_intercept:
        intercept = rows[:, :1].sum(axis=1)  # 0 if there are no columns
        return CertifiedCoef(rows[:, 1:], intercept, labels, (kept,) * len(rows))
    return CertifiedCoef(rows, np.zeros(len(rows)), labels, (kept,) * len(rows))


class Certificate(ABC):
    """A claim about a fit that anyone can re-check from the data."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def claim(self) -> str:
        """The claim as a sentence."""

    @property
    @abstractmethod
    def verdict(self) -> str:
        """The claim in a word or two."""

    @abstractmethod
    def verify(self, X: Any, y: Any) -> Verification:
        """Re-check the claim from the data."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "verify" in vars(cls):
            setattr(cls, "verify", _guarded(cls.verify))  # noqa: B010  # mypy refuses to assign to a method

    def certified(self) -> CertifiedCoef | None:
        """Return the coefficients that the claim is about; None if it is not about linear scores."""
        return None

    def content(self) -> dict[str, Any]:
        """Return the statement and its witness, the fields, as JSON values."""
        return _plain(vars(self))  # type: ignore[no-any-return]

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


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return _plain(vars(value)) if is_dataclass(value) else value


def _guarded(verify: Callable[..., Verification]) -> Callable[..., Verification]:
    """Wrap a `verify`: other data than the fit's fail a check, content that does not fit raises a CertificateError."""

    @wraps(verify)
    def checked(certificate: Certificate, *data: Any, **weights: Any) -> Verification:
        try:
            return verify(certificate, *data, **weights)
        except DataError as error:
            return Verification((Check("data", False, str(error)),))
        except SeparatrixError:
            raise
        except MALFORMED as error:
            cause = f"{type(error).__name__}: {error}"
            raise CertificateError(
                f"the certificate of {certificate.kind} makes no sense with these data ({cause})"
            ) from error

    return checked


_KINDS: dict[str, type[Certificate]] = {}
# The module that registers each kind, imported when a certificate of that kind is read.
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
    "one-vs-one": "parts",
    "one-vs-rest": "base",
    "optimality": "optimality",
    "pairs": "parts",
    "separability": "separability",
    "zero-one": "fewest_mistakes",
}
# Kinds that only earlier releases wrote, and the remedy.
_REMOVED = {
    "mixing": ": perceptrons mixed over a cluster were given up; fit again with update='batch', or on sx.blocked(X)"
}


def register(kind: type[Certificate]) -> type[Certificate]:
    """Make a certificate class known to `certificate_from_dict`."""
    _KINDS[kind.kind] = kind
    return kind


def certificate_from_dict(data: Mapping[str, Any]) -> Certificate:
    """Make a certificate from the result of `to_dict`; malformed data raise a CertificateError."""
    if not isinstance(data, Mapping):
        raise CertificateError(f"a certificate is a JSON object; this is {type(data).__name__}")
    kind, version = data.get("kind"), data.get("format")
    if not isinstance(kind, str) or kind not in _MODULES:
        remedy = _REMOVED.get(str(kind)) or did_you_mean(str(kind), _MODULES)
        raise CertificateError(f"unknown kind of certificate {kind!r}{remedy}")
    if version != FORMAT:
        raise CertificateError(f"certificate format {version!r} is not readable here; this release reads {FORMAT}")
    import_module(f"separatrix.certificates.{_MODULES[kind]}")
    return _read(_KINDS[kind].from_content, data.get("content"))


def _read(make: Callable[[Mapping[str, Any]], Certificate], content: Any) -> Certificate:
    """Make a certificate; content from which no verdict or claim can be derived is malformed too."""
    try:
        certificate = make(Fields(content).values)
        _ = certificate.verdict, certificate.claim
    except CertificateError:
        raise
    except KeyError as error:
        raise CertificateError(f"malformed certificate: it has no {error}") from error
    except (*MALFORMED, RecursionError) as error:
        raise CertificateError(f"malformed certificate: {error}") from error
    return certificate


class PartsCertificate(Certificate):
    """Several certificates; the claim is that all of them hold."""

    parts: tuple[Certificate, ...]

    @abstractmethod
    def part_names(self) -> Iterable[str]:
        """Return the classes that each part is about."""

    @property
    def claim(self) -> str:
        return "; ".join(f"{name}: {part.claim}" for name, part in zip(self.part_names(), self.parts, strict=True))

    @property
    def verdict(self) -> str:
        """The verdict that all parts have, or 'mixed'."""
        verdicts = {part.verdict for part in self.parts}
        return verdicts.pop() if len(verdicts) == 1 else "mixed"


@register
@dataclass(frozen=True)
class OneVsRestCertificate(PartsCertificate):
    """One certificate per class, each of its class against the rest; the claim is that all parts hold.

    With `indicators` the parts were fitted to labels True (their class) and False (the rest).
    """

    kind: ClassVar[str] = "one-vs-rest"
    classes: tuple[Any, ...]
    parts: tuple[Certificate, ...]
    indicators: bool = False

    def part_names(self) -> Iterable[str]:
        return map(repr, self.classes)

    def verify(self, X: Any, y: Any, **weights: Any) -> Verification:
        """Re-check each part; `sample_weight` is passed on to the parts."""
        targets = [np.asarray(y) == label if self.indicators else y for label in self.classes]
        parts = zip(self.parts, targets, strict=True)
        return Verification(
            tuple(check for part, labels in parts for check in part.verify(X, labels, **weights).checks)
        )

    def certified(self) -> CertifiedCoef | None:
        """Return one score per part, if every part certifies coefficients."""
        certified = [part.certified() for part in self.parts]
        scores = [each for each in certified if each is not None and len(each.coef) == 1 and each.labels is not None]
        if len(scores) < len(self.classes) or len({each.coef.shape for each in scores}) != 1:
            return None
        labels = self.classes if self.indicators else tuple((each.labels or ())[-1] for each in scores)
        coef, intercept = np.vstack([each.coef for each in scores]), np.concatenate([each.intercept for each in scores])
        return CertifiedCoef(coef, intercept, labels, tuple(each.kept[0] for each in scores))

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        parts = tuple(certificate_from_dict(part) for part in content["parts"])
        fields = Fields(content)
        return cls(fields.labels("classes"), parts, fields.flag("indicators"))
