"""What the page hands out: certificates that the library accepts, and code that runs and gives the same weights."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.main import app


def _verified(certificate: dict[str, Any], X: Any, y: Any) -> bool:
    return bool(sx.certificate_from_dict(certificate).verify(X, y))


def _signs(labels: list[int]) -> Any:
    return np.where(np.array(labels) == 1, 1, -1)


def test_every_certificate_is_accepted(exported: Any) -> None:
    kinds: dict[str, int] = {}
    for run in exported("certificates"):
        X, y = np.array(run["rows"]), _signs(run["labels"])
        for named in run["certificates"]:
            certificate = named["json"]
            verification = sx.certificate_from_dict(certificate).verify(X, y)
            assert verification, (run["name"], run["learner"], named, str(verification))
            key = f"{certificate['kind']}: {certificate['verdict']}"
            kinds[key] = kinds.get(key, 0) + 1
            if certificate["kind"] == "separability":
                expected = sx.check_separability(X, y, fit_intercept=run["learner"]["intercept"])
                assert expected.verdict in (certificate["verdict"], "undecided")
    wanted = ("separability: separable", "separability: quasi", "separability: overlap", "margin: widest margin")
    assert all(kinds[key] >= 10 for key in (*wanted, "mistakes: within bound")), kinds


def test_changed_certificates_are_refused(exported: Any) -> None:
    refused = 0
    for run in exported("certificates"):
        X, y = np.array(run["rows"]), _signs(run["labels"])
        if len(set(y.tolist())) == 1:
            continue  # a single class is separated by either constant
        for named in run["certificates"]:
            forged = copy.deepcopy(named["json"])
            content = forged["content"]
            if forged["kind"] == "margin":
                content["lower"] *= 1.001
            elif forged["kind"] == "mistakes" and content["margin"] is not None:
                content["margin"] *= 1.001
            elif forged["kind"] == "separability" and forged["verdict"] == "separable":
                content["direction"] = [f"-{entry}".replace("--", "") for entry in content["direction"]]
            else:
                continue
            assert not _verified(forged, X, y), named
            refused += 1
    assert refused > 50


def test_the_command_line_accepts_them(exported: Any, tmp_path: Path) -> None:
    runs = {run["name"]: run for run in exported("certificates")}
    for name in ("five-points", "no-line"):
        (tmp_path / "points.csv").write_text(runs[name]["csv"])
        for named in runs[name]["certificates"]:
            (tmp_path / named["name"]).write_text(json.dumps(named["json"]))
            paths = [str(tmp_path / named["name"]), str(tmp_path / "points.csv")]
            options = ["--target", "class"]
            done = CliRunner().invoke(app, ["verify", *paths, *options])
            assert done.exit_code == 0, (named, done.output)


def test_labels_of_every_kind_are_those_of_the_table(exported: Any, tmp_path: Path) -> None:
    for run in exported("labels"):
        (tmp_path / "points.csv").write_text(run["csv"], encoding="utf-8")
        for named in run["certificates"]:
            (tmp_path / "certificate.json").write_text(json.dumps(named["json"]))
            paths = [str(tmp_path / "certificate.json"), str(tmp_path / "points.csv")]
            done = CliRunner().invoke(app, ["verify", *paths, "--target", "class"])
            assert done.exit_code == 0, (named, done.output)


@pytest.mark.filterwarnings("ignore")
def test_the_code_runs_and_gives_the_same_weights(
    exported: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    compared = 0
    for run in exported("code"):
        learner, kind = run["learner"], run["learner"]["kind"]
        if run["status"] == "infeasible":
            continue
        Path("points.csv").write_text(run["csv"], encoding="utf-8")
        loop: dict[str, Any] = {}
        exec(run["code"]["loop"], loop)
        _compare(run, loop, 1e-6 if kind in {"svm", "margin"} else 1e-9)
        library: dict[str, Any] = {}
        exec(run["code"]["library"], library)
        drawn = learner["order"] != "cyclic"
        descends = kind in {"lms", "logistic", "softmax"}
        if not drawn and not descends and run["status"] != "cycle":
            _compare(run, library, 1e-4 if kind in {"svm", "margin"} else 1e-9)
        compared += 1
    capsys.readouterr()
    assert compared > 60


def _compare(run: dict[str, Any], found: dict[str, Any], tolerance: float) -> None:
    kind, intercept = run["learner"]["kind"], run["learner"]["intercept"]
    words = f"{run['name']} {run['learner']}"
    if kind == "kernel":
        assert np.array_equal(np.ravel(found["alpha"]), run["alpha"]), words
        return
    if kind == "halfspace":  # the corner that a program stops at is not always the only one
        X, y = np.array(run["features"]), _signs(run["labels"])
        kept = run["kept"] if intercept else [0.0, *run["kept"]]
        centred = X - X.mean(axis=0) if intercept else X
        size = 2.0 ** np.round(0.5 * np.log2((centred**2).mean(axis=0)))
        reached = []
        for b, w in ((found["b"], found["w"]), (kept[0], np.array(kept[1:]))):
            reached.append((y * (X @ w + b)).min() / (np.abs(w) * size).max())
        assert reached[0] == pytest.approx(reached[1], rel=1e-6), words
        return
    if kind == "zero-one":
        X, y = np.array(run["features"]), _signs(run["labels"])
        wrong = int((np.where(X @ found["w"] + found["b"] >= 0, 1, -1) != y).sum())
        assert wrong == run["wrong"], words
        return
    if kind == "softmax":
        weights = np.ravel(found["w"])
    else:
        weights = np.array([found["b"], *found["w"]] if intercept else found["w"])
    scale = max(1.0, float(np.abs(run["kept"]).max()))
    assert np.allclose(weights, run["kept"], rtol=0, atol=tolerance * scale), (words, weights, run["kept"])
