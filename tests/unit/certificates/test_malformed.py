"""Certificates that nobody vouches for: what is malformed is a CertificateError that names the field, nothing else."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.main import app
from separatrix.errors import CertificateError, DataError

X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
Y = np.array([1, 1, -1, -1, -1])
OVERLAP = np.array([1, -1, -1, 1, -1])
THREE = np.array([0, 0, 1, 1, 2])
NONSENSE = [
    None,
    -1,
    0,
    1e308,
    "x",
    "",
    [],
    {},
    True,
    10**30,
    10**12,
    [[1, 1], [1, 1]],
    1.5,
    float("nan"),
    float("inf"),
]
MADE: dict[str, tuple[Callable[[], Any], Any]] = {
    "mistakes": (sx.Perceptron, Y),
    "likelihood": (lambda: sx.LogisticRegression(on_separation="ignore"), Y),
    "overlap": (sx.LogisticRegression, OVERLAP),
    "optimality": (lambda: sx.LogisticRegression(strength=0.1), THREE),
    "dual point": (sx.LinearSVM, Y),
    "least squares": (sx.LinearRegression, Y),
    "margin": (sx.MaxMarginClassifier, Y),
    "zero-one": (sx.ZeroOneClassifier, OVERLAP),
    "generative": (sx.GaussianGenerativeClassifier, Y),
    "one-vs-rest": (lambda: sx.Perceptron(max_passes=20), THREE),
    "kernel": (sx.KernelSVM, Y),
    "kernel mistakes": (sx.KernelPerceptron, Y),
    "kernel margin": (lambda: sx.KernelSVM(hard_margin=True), Y),
}


def certificate_of(name: str) -> tuple[dict[str, Any], Any]:
    """Return a certificate as JSON values, and the labels that it is of."""
    make, y = MADE[name]
    return json.loads(make().fit(X, y).certificate_.to_json()), y


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the place of every value within another."""
    inside = value.items() if isinstance(value, dict) else enumerate(value[:8]) if isinstance(value, list) else ()
    for key, part in inside:
        yield (*place, key)
        yield from places(part, (*place, key))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MADE)
def test_whatever_is_changed_is_checked_or_refused(name: str) -> None:
    data, y = certificate_of(name)
    assert sx.certificate_from_dict(data).verify(X, y)
    for place in places(data):
        for value in (*NONSENSE, ...):
            changed = copy.deepcopy(data)
            holder = changed
            for key in place[:-1]:
                holder = holder[key]
            if value is ...:
                del holder[place[-1]]
            else:
                holder[place[-1]] = value
            with suppress(CertificateError):
                assert sx.certificate_from_dict(changed).verify(X, y).checks


FAULTS = {
    "mistakes": [
        (("rule", "rate"), 0, r"content.rule.rate is 0; a number above 0 is needed"),
        (("rule", "rate"), [], r"content.rule.rate is a list; a finite number is needed"),
        (("rule", "tie"), None, r"content.rule.tie is null; .* is needed"),
        (("separator",), 1.5, r"content.separator is 1.5; a list is needed"),
        (
            ("history", 0),
            10**29,
            r"content.history\[0\] is 1000.*; a whole number of at least 0 and",
        ),
    ],
    "dual point": [
        (("labels",), [1], r"content.labels has 1 entries; 2 are needed"),
        (("coef", 0), None, r"content.coef\[0\] is null; a finite number is needed"),
        (("strength",), -1, r"content.strength is -1; a number of at least 0 is needed"),
        (("loss",), "hing", r"content.loss is \"hing\"; did you mean 'hinge'"),
    ],
    "least squares": [(("independent", 0), 10**29, r"content.independent\[0\] is 1000")],
    "kernel": [
        (("strength",), 0, r"content.strength is 0; a number above 0 is needed"),
        (("rows", 0), 7, r"content.rows\[0\] is 7; a whole number of at least 0 and of at most 4 is needed"),
        (("weighted",), 1, r"content.weighted is 1; true or false is needed"),
    ],
    "kernel mistakes": [
        (("coef",), [1.0], r"content.coef has 1 entries; 5 are needed"),
        (("rule", "tie"), "posive", r"content.rule.tie is \"posive\"; did you mean 'positive'"),
    ],
    "kernel margin": [(("multipliers", 0), "x", r"content.multipliers\[0\] is \"x\"; a finite number is needed")],
}


@pytest.mark.parametrize(
    ("name", "place", "value", "complaint"), [(name, *fault) for name, faults in FAULTS.items() for fault in faults]
)
def test_the_field_at_fault_is_named(
    name: str, place: tuple[Any, ...], value: Any, complaint: str, tmp_path: Path
) -> None:
    data, _ = certificate_of(name)
    holder = data["content"]
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    with pytest.raises(CertificateError, match=f"malformed certificate: {complaint}") as found:
        sx.certificate_from_dict(data)
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    result = CliRunner().invoke(app, ["verify", str(path), "demo:five-points"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"error: {path}: {found.value}\n"


def test_what_is_wrong_with_the_data_is_said_of_the_data() -> None:
    data, _ = certificate_of("mistakes")
    certificate = sx.certificate_from_dict(data)
    assert str(certificate.verify(X[:4], Y[:4])).startswith("FAILS: data: X has shape (4, 3)")
    with pytest.raises(DataError, match=r"y has shape .* where 5 labels are needed"):
        certificate.proof(X, Y[:4])  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore")
def test_what_makes_no_sense_with_the_data_is_told_with_the_kind() -> None:
    data, y = certificate_of("mistakes")
    data["content"]["separator"][2] = 1e308
    with pytest.raises(
        CertificateError, match=r"certificate of mistakes makes no sense with these data \(OverflowError: "
    ):
        sx.certificate_from_dict(data).verify(X, y)
