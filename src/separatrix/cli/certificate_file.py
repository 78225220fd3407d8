"""Certificates in files: written whole or not at all, read with nothing taken on trust."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from separatrix.certificates.base import Certificate, certificate_from_dict
from separatrix.errors import CertificateError, OptionError
from separatrix.files import write_whole

LARGEST_FILE = 256 * 2**20  # bytes: a proof is small, only the replay of a very long run comes near
PLACES = ("certificate", "overlap")  # where a result keeps its evidence


@dataclass(frozen=True)
class CertificateFile:
    """What a file holds: certificates, each with the verdict stated beside it; the target, if it says; whether more."""

    certificates: tuple[tuple[Certificate, object], ...]
    target: str | None
    more: bool


def write_certificate(certificate: Certificate, path: str) -> None:
    """Write a certificate as JSON, whole or not at all."""
    try:
        write_whole(path, certificate.to_json() + "\n")
    except OptionError as problem:
        raise OptionError(f"--out {problem}") from None


def is_model(data: Mapping[str, Any]) -> bool:
    """Tell whether what a file holds looks like a model."""
    return "estimator" in data and "columns" in data


def read_certificates(path: str, data: Mapping[str, Any]) -> CertificateFile:
    """Return the certificates in what a file holds: one itself, or as `fit --json` and `check --json` print them."""
    holder = data.get("result", data) if "certificate" not in data else data
    found = [data] if "kind" in data else [holder[place] for place in PLACES if _has(holder, place)]
    if not found:
        raise CertificateError(
            f"{path} has no certificate: give a file of `separatrix fit --out` or `separatrix check --out`"
        )
    return CertificateFile(tuple(_certificate(path, each) for each in found), _target(data), "kind" not in data)


def _has(holder: Any, place: str) -> bool:
    return isinstance(holder, Mapping) and place in holder


def _certificate(path: str, data: Any) -> tuple[Certificate, object]:
    try:
        return certificate_from_dict(data), data.get("verdict")
    except CertificateError as problem:
        raise CertificateError(f"{path}: {problem}") from None


def _target(data: Mapping[str, Any]) -> str | None:
    """Return the target that the file names, at the top or in its summary."""
    summary = data.get("summary", data)
    target = summary.get("target") if isinstance(summary, Mapping) else None
    return target if isinstance(target, str) else None


def read_object(path: str) -> Mapping[str, Any]:
    """Return the object in a file; anything else raises a CertificateError that says what there is."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as problem:
        raise CertificateError(f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    if len(content) > LARGEST_FILE:
        raise CertificateError(f"{path} has more than {LARGEST_FILE // 2**20} MiB, which no certificate needs")
    try:
        data = json.loads(content.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise CertificateError(f"{path} is no JSON, or was cut short: {problem}") from None
    if not isinstance(data, dict):
        raise CertificateError(f"{path} holds a {type(data).__name__}; a certificate is a JSON object")
    return data


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
