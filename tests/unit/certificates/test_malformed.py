"""Certificates that nobody vouches for: what is malformed is a CertificateError that names the field, nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
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


FAULTS = {
    "mistakes": [
        (("statement", "rule", "rate"), 0, r"statement.rule.rate is 0; a number above 0 is needed"),
        (("statement", "rule", "rate"), [], r"statement.rule.rate is a list; a finite number is needed"),
        (("statement", "rule", "tie"), None, r"statement.rule.tie is null; .* is needed"),
        (("witness", "separator"), 1.5, r"witness.separator is 1.5; a list is needed"),
        (("witness", "history", 0), 10**29, r"witness.history\[0\] is 1000.*; a whole number of at least 0 and"),
        (("witness",), None, r"witness is null; an object is needed"),
        (("data", "counts"), [5], r"data: counts \[5\] do not fit 5 rows of 2 labels"),
        (("data", "columns"), ["a", "a"], r"data.columns\[1\] is \"a\"; a distinct entry is needed"),
    ],
    "likelihood": [
        (("witness", "existence"), None, r"the file: nothing proves that the likelihood has a maximum"),
        (("witness", "existence"), 1, r"witness.existence is 1; an object is needed"),
        (("witness", "optimality", "statement", "primal"), "x", r"witness.optimality.statement.primal is \"x\""),
    ],
    "dual point": [
        (("data", "labels"), [1], r"data: 1 labels do not make the task 'two'"),
        (("witness", "coef", 0), None, r"witness.coef\[0\] is null; a finite number is needed"),
        (("statement", "strength"), -1, r"statement.strength is -1; a number of at least 0 is needed"),
        (("statement", "loss"), "hing", r"statement.loss is \"hing\"; did you mean 'hinge'"),
    ],
    "least squares": [(("statement", "held"), [10**29], r"statement.held\[0\] is 1000")],
    "kernel": [
        (("statement", "strength"), 0, r"statement.strength is 0; a number above 0 is needed"),
        (("witness", "rows", 0), 7, r"the file: rows must be different ones of 5"),
        (("data", "weights"), 1, r"data.weights is 1; true or false is needed"),
        (("data", "kernel"), None, r"data.kernel is missing in a kernel-optimality certificate"),
    ],
    "kernel mistakes": [
        (("witness", "coef"), [1.0], r"the file: 1 weights of two classes are given; 5 are needed"),
        (("statement", "rule", "tie"), "posive", r"statement.rule.tie is \"posive\"; did you mean 'positive'"),
        (("data", "kernel", "gamma"), "scale", r"data: gamma of the kernel is \"scale\""),
    ],
    "kernel margin": [
        (("witness", "multipliers", 0), "x", r"witness.multipliers\[0\] is \"x\"; a finite number is needed")
    ],
    "one-vs-rest": [(("parts",), [], r"parts must be a list of 3, by the labels and the scheme of the data")],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "place", "value", "complaint"), [(name, *fault) for name, faults in FAULTS.items() for fault in faults]
)
def test_the_field_at_fault_is_named(
    name: str, place: tuple[Any, ...], value: Any, complaint: str, tmp_path: Path
) -> None:
    data, _ = certificate_of(name)
    holder: Any = data
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
    assert str(certificate.verify(X[:4], Y[:4])).startswith("FAILS: data: X has shape (4, 2)")
    with pytest.raises(DataError, match=r"y has shape .* where 5 labels are needed"):
        certificate.proof(X, Y[:4])  # type: ignore[attr-defined]


def test_an_older_release_is_named() -> None:
    with pytest.raises(CertificateError, match="made by an older release; fit again"):
        sx.certificate_from_dict({"format": 1, "kind": "mistakes", "claim": "", "verdict": "", "content": {}})
