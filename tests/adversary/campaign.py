"""Campaigns of forgeries: how many mutations of each kind are proved or refused, and which of them are false.

true, proved       as it should be
true, refused      counted; for harmless mutations at most 1 %
other, refused     not proved, and not judged
FALSE, PROVED      a hole
failed             a traceback, or more than 5 seconds
law                the standalone verifier refuses what is proved, or proves what is malformed or, if its arithmetic is
                   that of the first, not proved; of other kinds it may prove more, and that is judged too
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import signal
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import judge
import numpy as np
from honest import Case, cases
from mutations import FACTORS, Forger, Mutation, at, changed, places, rendered

from separatrix.certificates import standalone
from separatrix.certificates.base import certificate_from_dict
from separatrix.codec import parse_json
from separatrix.errors import SeparatrixError

MOST_SECONDS = 5
EXACT = ("separability", "margin", "zero-one")
CLASSES = ("true, proved", "harmless, refused", "other, refused", "false, proved", "failed", "law broken")


class Result(NamedTuple):
    """The class of a mutation, and why."""

    group: str
    mutation: Mutation
    reason: str


class TooLongError(Exception):
    """A check that takes too long."""


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise a TooLongError after some seconds."""

    def stop(*_: Any) -> None:
        raise TooLongError(f"more than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(mutation: Mutation) -> tuple[str, Any]:
    """Return the outcome of `verify`, "malformed" if the certificate is not read, and the certificate."""
    try:
        certificate = certificate_from_dict(parse_json(mutation.text.encode()))
        return certificate.verify(mutation.X, mutation.y, mutation.weights).outcome, certificate
    except SeparatrixError:
        return "malformed", None


def printed(certificate: Any) -> Any:
    """Return the statuses of coefficients, and the number of directions, that are printed with a certificate."""
    own = getattr(certificate, "existence", certificate)
    if not hasattr(own, "coefficient_status"):
        return ()
    return tuple(own.coefficient_status.values()), own.divergence_dim


def classified(mutation: Mutation, folder: Path | None) -> Result:
    """Return the class of a mutation; without a folder for its files the second verifier is not asked."""
    try:
        with limited(MOST_SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said, certificate = outcome(mutation)
    except Exception as error:  # noqa: BLE001  # any other error is a failure
        return Result("failed", mutation, f"{type(error).__name__}: {error}")
    document, status = json.loads(mutation.text), 2 if folder is None else standalone_status(mutation, folder)
    refused = {"malformed", "not proved"} if is_exact(document) else {"malformed"}
    if (said == "proved" and status == 1) or (said in refused and status == 0):
        return Result("law broken", mutation, f"{said}, and the standalone verifier ends with {status}")
    if said != "proved" and status != 0:
        return Result("harmless, refused" if mutation.harmless else "other, refused", mutation, said)
    fault = judge.fault(document, mutation.X, mutation.y, mutation.weights, printed(certificate))
    return Result("false, proved" if fault else "true, proved", mutation, fault)


def is_exact(document: Any) -> bool:
    """Return whether both verifiers compute exactly: all but proofs by the curvature of a likelihood."""
    known = isinstance(document, dict) and document.get("kind") in EXACT
    return known and '"proof": {"coef"' not in json.dumps(document)


def standalone_status(mutation: Mutation, folder: Path) -> int:
    """Return the exit status of the standalone verifier, 2 for data that a table cannot hold."""
    X = np.asarray(mutation.X, dtype=np.float64)
    if X.ndim != 2 or len(X) != len(mutation.y) or not _typed(mutation):
        return 2
    header = [f"x{j}" for j in range(X.shape[1])]
    names = json.loads(mutation.text).get("data")
    if isinstance(names, dict) and isinstance(names.get("columns"), list) and len(names["columns"]) == len(header):
        header = [str(name) for name in names["columns"]]
    columns = [*(zip(*X.tolist(), strict=True)), mutation.y.tolist()]
    options = ["--target", "the target"]
    header.append("the target")
    if mutation.weights is not None:
        if len(mutation.weights) != len(X):
            return 2
        columns, header, options = (
            [*columns, mutation.weights.tolist()],
            [*header, "the weight"],
            [*options, "--weight", "the weight"],
        )
    table, file = folder / "table.csv", folder / "certificate.json"
    try:
        with table.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([header, *zip(*columns, strict=True)])
    except UnicodeEncodeError:
        return 2
    file.write_text(mutation.text, encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()):
        return standalone.main([str(file), str(table), *options])


def _typed(mutation: Mutation) -> bool:
    """Return whether labels read from text, as those of the certificate, are those of the data."""
    data = json.loads(mutation.text).get("data")
    labels = data.get("labels") if isinstance(data, dict) else None
    kinds = [
        {bool: "boolean", str: "text"}.get(type(label), "number")
        for label in (labels[0] if isinstance(labels, list) and labels else None, mutation.y.tolist()[0])
    ]
    return kinds[0] == kinds[1]


def extremes(case: Case, folder: Path) -> Iterator[Result]:
    """Move each asserted number as far as it is accepted, in both directions, and judge what is stated there."""
    groups = [("statement",), *(("parts", k, "statement") for k in range(len(case.certificate["parts"])))]
    groups += [("witness", inner, "statement") for inner in ("optimality", "existence")]
    for group in groups:
        with contextlib.suppress(LookupError, TypeError):
            for field in places(at(case.certificate, group)):
                place = (*group, *field)
                value = at(case.certificate, place)
                if type(value) in (int, float) and ("radii" not in place or 0 not in field[-2:]):
                    yield from _extreme(case, place, value, folder)


def _extreme(case: Case, place: tuple[Any, ...], value: float, folder: Path) -> Iterator[Result]:
    def tried(number: float) -> Mutation:
        document = rendered(changed(case.certificate, place, number))
        return Mutation(f"{case.name}: {place} moved to {number!r}", json.dumps(document), case.X, case.y, case.weights)

    def accepted(number: float) -> bool:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return outcome(tried(number))[0] == "proved"
        except Exception:  # noqa: BLE001  # found again below
            return True

    if type(value) is int:
        tries: list[float] = [value + step for step in (-3, -2, -1, 1, 2, 3)]
        yield from (classified(tried(number), folder) for number in tries)
        return
    for far in sorted({value * factor for factor in FACTORS} | {0.0, 1e-12, 1e12}):
        near, strongest = value, far
        if not accepted(far):
            for _ in range(12):
                middle = near + (strongest - near) / 2
                near, strongest = (middle, strongest) if accepted(middle) else (near, middle)
            strongest = near
        yield classified(tried(strongest), folder)


def run(kind: str, count: int, seed: int, most_seconds: float = 1e9) -> list[Result]:
    """Return the results of some mutations of the certificates of a kind; fewer if the time is over."""
    own = [case for case in cases() if case.kind == kind]
    forger, begun, results = Forger(cases(), seed), time.monotonic(), list[Result]()
    with tempfile.TemporaryDirectory() as folder:
        while len(results) < count and time.monotonic() - begun < most_seconds:
            results.append(classified(forger.draw(own[len(results) % len(own)]), Path(folder)))
    return results


def counts(results: list[Result]) -> Counter[str]:
    """Return the number of results of each class."""
    return Counter(result.group for result in results)
