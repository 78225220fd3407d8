"""Certificates: a statement about labelled rows, a witness that proves it, and `verify`, which re-checks the proof.

A certificate is plain data. Its JSON has the keys

    format, kind    2, and the kind of proof
    data            the rows that it is about: how many, of which columns, labels and weights (`Data`)
    statement       the numbers that it asserts
    witness         the numbers that prove them
    parts           statement and witness of each class against the rest, or of each pair of classes; and the kind, if
                    they are not all of one
    verdict, claim  the statement in words

Only the root has `data`; what a part is about follows from its place. `verify` sees the data of the caller in one place
(`certificates.data`), derives numbers from the witness, and accepts only if they imply the statement. Verdict and claim
are functions of statement and data; other words in a file are refused. Nothing else in the file is believed.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import import_module
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar, get_type_hints

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.data import BeyondLimitsError, Data, MatchedRows, Scheme, match
from separatrix.codec import FormatError, read, read_object, write
from separatrix.errors import CertificateError, DataError, ModelFileError, did_you_mean

FORMAT = 2
OPTIMAL_GAP = 1e-6  # by definition: coefficients with a relative gap up to here are called optimal
STATED = "stated"
Outcome = Literal["proved", "not proved", "beyond limits", "nothing claimed"]
T = TypeVar("T")
Stated = Annotated[T, STATED]  # a number of the statement; the other fields are the witness


@dataclass(frozen=True)
class Check:
    """One check of a certificate: its name, whether it holds, and the numbers."""

    name: str
    holds: bool
    detail: str

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'FAILS'}: {self.name}: {self.detail}"


@dataclass(frozen=True)
class Verification:
    """All checks of a certificate against some data; true if there are some, and all of them hold.

    `limit` says why a proof was not checked: it would take more work than `verify` does.
    """

    checks: tuple[Check, ...]
    limit: str = ""

    @property
    def outcome(self) -> Outcome:
        """'proved', 'not proved', 'beyond limits' (not checked), or 'nothing claimed'."""
        if not all(check.holds for check in self.checks):
            return "not proved"
        if self.limit:
            return "beyond limits"
        return "proved" if self.checks else "nothing claimed"

    @property
    def holds(self) -> bool:
        return self.outcome == "proved"

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        limit = (f"beyond limits: {self.limit}",) if self.limit else ()
        return "\n".join((*map(str, self.checks), *limit)) or "nothing is claimed"


class CertifiedCoef(NamedTuple):
    """The coefficients (K, p) and intercepts (K,) that a claim is about, and the class labels; None for a regression.

    A single score is that of the second of two labels against the first. `kept` lists, for each score, the values of a
    perceptron's option `keep` under which the model's weights are the certified ones; empty if they always are.
    """

    coef: Floats
    intercept: Floats
    labels: tuple[Any, ...] | None
    kept: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Certificate(ABC):
    """A statement about labelled rows that anyone can re-check from the data."""

    kind: ClassVar[str]
    data: Data

    @property
    @abstractmethod
    def claim(self) -> str:
        """The statement as a sentence."""

    @property
    @abstractmethod
    def verdict(self) -> str:
        """The statement in a word or two."""

    @abstractmethod
    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        """Yield the checks of the statement; none if there is none.

        A proof that needs too much work raises a BeyondLimitsError.
        """

    def about(self, data: Data) -> Self:
        """Return the certificate of the same rows with other data, such as the names of the columns."""
        nested = {name: getattr(self, name) for name in _nested(type(self))}
        own = {name: each if each is None else each.about(data) for name, each in nested.items()}
        return replace(self, data=data, **own)

    def certified(self) -> CertifiedCoef | None:
        """Return the coefficients that the claim is about; None if it is not about linear scores."""
        return None

    def certified_coef(self, coef: Floats, kept: tuple[str, ...] = ()) -> CertifiedCoef:
        """Return coefficients (p,) or (p, K), the intercept first if there is one, with one row per score."""
        rows = np.atleast_2d(coef.T)
        intercept = rows[:, :1].sum(axis=1) if self.data.intercept else np.zeros(len(rows))  # 0 without columns
        labels = None if self.data.task == "numbers" else self.data.labels
        return CertifiedCoef(rows[:, int(self.data.intercept) :], intercept, labels, (kept,) * len(rows))

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        """Re-check the statement from the data, with the sample weights of the fit if it had any."""
        checks: list[Check] = []
        try:
            with np.errstate(all="ignore"):  # comparisons with NaN fail
                checks.extend(self.checks(match(self.data, X, y, sample_weight)))
        except BeyondLimitsError as limit:
            return Verification(tuple(checks), str(limit))
        except DataError as error:
            checks.append(Check("data", False, str(error)))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            cause = f"{type(error).__name__}: {error}"
            raise CertificateError(f"the {self.kind} certificate makes no sense with these data ({cause})") from error
        return Verification(tuple(checks))

    def groups(self) -> dict[str, Any]:
        """Return statement and witness as JSON values."""
        written: dict[str, Any] = {"statement": {}, "witness": {}}
        for name, group in _groups(type(self)).items():
            value = getattr(self, name)
            written[group][name] = value.groups() if isinstance(value, Certificate) else write(value)
        return written

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON values."""
        if self.data.kernel is not None:
            self.data.kernel.to_dict()  # raises an error for a function, which cannot be written
        head = {"format": FORMAT, "kind": self.kind, "data": write(self.data)}
        return {**head, **self.groups(), "parts": [], "verdict": self.verdict, "claim": self.claim}

    def to_json(self) -> str:
        """Return the certificate as JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_groups(cls, data: Data, groups: Any, place: str = "") -> Self:
        """Make a certificate from its data and the result of `groups`."""
        try:
            return cls(data=data, **cls._read_groups(data, groups))
        except FormatError as error:
            raise error.within(place) from None
        except ValueError as error:
            raise FormatError(f": {error}", place) from None

    @classmethod
    def _read_groups(cls, data: Data, groups: Any) -> dict[str, Any]:
        values: dict[str, Any] = {}
        given = read(dict[str, dict[str, Any]], groups)
        if set(given) != {"statement", "witness"}:
            raise FormatError(f" has the keys {sorted(given)}; statement and witness are needed")
        for group in ("statement", "witness"):
            names = [name for name, own in _groups(cls).items() if own == group]
            nested = {name: kind for name, kind in _nested(cls).items() if name in names and name in given[group]}
            plain = {key: value for key, value in given[group].items() if key not in nested}
            values |= read_object(cls, plain, [name for name in names if name not in nested], f".{group}")
            for name, kind in nested.items():
                inner, optional = given[group][name], getattr(get_type_hints(cls)[name], "__args__", ())
                absent = inner is None and type(None) in optional
                values[name] = None if absent else kind.from_groups(data, inner, f".{group}.{name}")
        return values


@cache
def _groups(kind: type[Certificate]) -> dict[str, str]:
    """Return for each field of a kind whether it belongs to the statement or to the witness."""
    hints = get_type_hints(kind, include_extras=True)
    names = [each.name for each in fields(kind) if each.name != "data" and not each.metadata.get("unwritten")]
    return {name: "statement" if STATED in getattr(hints[name], "__metadata__", ()) else "witness" for name in names}


@cache
def _nested(kind: type[Certificate]) -> dict[str, type[Certificate]]:
    """Return the fields of a kind that are certificates of the same data."""
    options = [
        (name, each) for name, hint in get_type_hints(kind).items() for each in getattr(hint, "__args__", (hint,))
    ]
    return {name: each for name, each in options if isinstance(each, type) and issubclass(each, Certificate)}


# The module of each kind, imported when a certificate of that kind is read.
_MODULES = {
    "bias-reduction": "bias_reduction",
    "generative": "generative",
    "kernel": "margin",
    "kernel-mistakes": "mistakes",
    "kernel-optimality": "optimality",
    "least-squares": "least_squares",
    "likelihood": "optimality",
    "margin": "margin",
    "mistakes": "mistakes",
    "optimality": "optimality",
    "separability": "separability",
    "zero-one": "fewest_mistakes",
}
KINDS = tuple(_MODULES)
_KINDS: dict[str, type[Certificate]] = {}
MIXED = "mixed"  # the kind of parts of different kinds, which name theirs
REDUCED = {"separability", "optimality", "likelihood", "least-squares", "bias-reduction"}  # may be of fewer columns
KEYS = ("format", "kind", "data", "statement", "witness", "parts", "verdict", "claim")


def unwritten(default: Any) -> Any:
    """Return a field that helps the program that made the certificate, and is not written to files."""
    return field(default=default, compare=False, metadata={"unwritten": True})


def register(kind: type[Certificate]) -> type[Certificate]:
    """Make a certificate class known to `certificate_from_dict`."""
    _KINDS[kind.kind] = kind
    return kind


def certificate_from_dict(values: Mapping[str, Any]) -> Certificate:
    """Make a certificate from the result of `to_dict`; malformed values raise a CertificateError."""
    if not isinstance(values, Mapping):
        raise CertificateError(f"a certificate is a JSON object; this is {type(values).__name__}")
    if values.get("format") == 1:
        raise CertificateError("the certificate was made by an older release; fit again")
    try:
        return _read(values)
    except ModelFileError as error:
        raise CertificateError(f"malformed certificate: {error}") from None


def _read(values: Mapping[str, Any]) -> Certificate:
    given = read(dict[str, Any], values)
    for key in (*KEYS, *given):
        if key not in given or key not in KEYS:
            raise FormatError(" is missing" if key in KEYS else " is unknown", f".{ascii(key)[1:-1]:.40}")
    if type(given["format"]) is not int or given["format"] != FORMAT:
        raise FormatError(f" is {given['format']!r:.40}; this release reads {FORMAT}", ".format")
    certificate = read_body(given)
    for name in ("verdict", "claim"):
        if given[name] != getattr(certificate, name):
            raise FormatError(" does not follow from the statement; the file was altered", f".{name}")
    return certificate


def read_body(given: Mapping[str, Any]) -> Certificate:
    """Return the certificate of kind, data, statement, witness and parts; its words are not compared."""
    kind = None if given["kind"] == MIXED else _kind(given["kind"], ".kind")
    data = read(Data, given["data"], ".data")
    groups = {"statement": given["statement"], "witness": given["witness"]}
    if data.scheme is None:
        if given["parts"] != []:
            raise FormatError(" are given, where the data have no scheme of several classes", ".parts")
        own = kind or _kind(MIXED, ".kind")
        _require_space(own, data)
        return own.from_groups(data, groups)
    if groups != {"statement": None, "witness": None}:
        raise FormatError(" is not null, where the parts have the statements", ".statement")
    return _read_parts(kind, data, given["parts"])


def _require_space(kind: type[Certificate], data: Data) -> None:
    """Raise a FormatError for data with a kernel, a map or dropped columns of which a kind knows nothing."""
    if (data.kernel is None) == kind.kind.startswith("kernel"):
        raise FormatError(
            f" is {'missing' if data.kernel is None else 'given'} in a {kind.kind} certificate", ".data.kernel"
        )
    if data.dropped is not None and kind.kind not in REDUCED:
        raise FormatError(f" is given in a {kind.kind} certificate", ".data.dropped")
    if data.map is not None and kind.kind != "separability":
        raise FormatError(f" is given in a {kind.kind} certificate", ".data.map")


def _kind(name: Any, place: str) -> type[Certificate]:
    """Return the class of a kind."""
    if not isinstance(name, str) or name not in _MODULES:
        raise FormatError(f" is {name!r:.40}, an unknown kind{did_you_mean(str(name), _MODULES)}", place)
    import_module(f"separatrix.certificates.{_MODULES[name]}")
    return _KINDS[name]


def _read_parts(kind: type[Certificate] | None, data: Data, parts: Any) -> PartsCertificate:
    """Return the certificate of parts of one kind or, if it is None, of parts that name their kinds."""
    if not isinstance(parts, list) or len(parts) != data.n_parts:
        raise FormatError(f" must be a list of {data.n_parts}, by the labels and the scheme of the data", ".parts")
    own: list[Certificate] = []
    for k, part in enumerate(parts):
        place = f".parts[{k}]"
        groups = dict(read(dict[str, Any], part, place))
        own_kind = _kind(groups.pop("kind", None), f"{place}.kind") if kind is None else kind
        _require_space(own_kind, data)
        own.append(own_kind.from_groups(data.part(k), groups, place))
    certificate = PartsCertificate(data=data, parts=tuple(own))
    if kind is None and certificate.kind != MIXED:
        raise FormatError(f" is {MIXED!r}, where all parts are of one kind", ".kind")
    return certificate


@dataclass(frozen=True, kw_only=True)
class PartsCertificate(Certificate):
    """A certificate for each class against the rest, or for each pair of classes; all parts are claimed.

    `data` has the scheme and the labels in the order of the parts; those of a part follow from its place. Parts of
    different kinds, such as the widest margin of one class and a soft margin of another, have their kinds in the file.
    """

    parts: tuple[Certificate, ...]

    def __post_init__(self) -> None:
        if len(self.parts) != self.data.n_parts:
            raise ValueError(f"{self.data.n_parts} parts are needed; there are {len(self.parts)}")
        if any(part.data != self.data.part(k) for k, part in enumerate(self.parts)):
            raise ValueError("a part is about other data than its place says")

    @property
    def kind(self) -> str:  # type: ignore[override]  # that of the parts
        """The kind that all parts have, or 'mixed'."""
        kinds = {part.kind for part in self.parts}
        return kinds.pop() if len(kinds) == 1 else MIXED

    @property
    def claim(self) -> str:
        names = (self.data.part_name(k) for k in range(len(self.parts)))
        return "; ".join(f"{name}: {part.claim}" for name, part in zip(names, self.parts, strict=True))

    @property
    def verdict(self) -> str:
        """The verdict that all parts have, or 'mixed'."""
        verdicts = {part.verdict for part in self.parts}
        return verdicts.pop() if len(verdicts) == 1 else "mixed"

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        for k, part in enumerate(self.parts):
            name, checks = self.data.part_name(k), list(part.checks(rows.part(k)))
            if not checks:
                yield Check(f"statement ({name})", False, "nothing is claimed about it")
            for check in checks:
                yield Check(f"{check.name} ({name})", check.holds, check.detail)

    @classmethod
    def of(cls, parts: Sequence[Certificate], labels: Sequence[Any], scheme: Scheme) -> PartsCertificate:
        """Return the certificate of fits of each label against the rest, or of each pair of labels."""
        first = parts[0].data
        if scheme == "one-vs-rest":
            counts = [part.data.counts[0] for part in parts]
        else:
            others = [part.data.counts[1] for part in parts[: len(labels) - 1]]
            counts = [first.counts[0], *others]
        rows = first.rows if scheme == "one-vs-rest" else sum(counts)
        data = replace(first, task="several", labels=tuple(labels), scheme=scheme, counts=tuple(counts), rows=rows)
        return cls(data=data, parts=tuple(part.about(data.part(k)) for k, part in enumerate(parts)))

    def about(self, data: Data) -> PartsCertificate:
        return PartsCertificate(data=data, parts=tuple(part.about(data.part(k)) for k, part in enumerate(self.parts)))

    def groups(self) -> dict[str, Any]:
        return {"statement": None, "witness": None}

    def to_dict(self) -> dict[str, Any]:
        named = self.kind == MIXED
        parts = [{"kind": part.kind, **part.groups()} if named else part.groups() for part in self.parts]
        return {**super().to_dict(), "parts": parts}

    def certified(self) -> CertifiedCoef | None:
        """Return one score per class, if every class against the rest has certified coefficients."""
        scores = [each for part in self.parts if (each := part.certified()) is not None and len(each.coef) == 1]
        if self.data.scheme != "one-vs-rest" or len(scores) < len(self.parts):
            return None
        coef, intercept = np.vstack([each.coef for each in scores]), np.concatenate([each.intercept for each in scores])
        return CertifiedCoef(coef, intercept, self.data.labels, tuple(each.kept[0] for each in scores))
