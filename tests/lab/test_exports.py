"""What the page hands out: certificates that the library accepts, and code that runs and gives the same weights."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.certificates.margin import MarginCertificate
from separatrix.certificates.mistakes import MistakesCertificate
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.cli.main import app
from separatrix.errors import CertificateError

CLAIMS = Path(sx.__file__).parent / "lab/page/words/claims.js"


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
            own = sx.certificate_from_dict(named["json"])
            if isinstance(own, MarginCertificate):
                forged: Any = replace(own, lower=own.lower * 1.001, upper=own.upper * 1.001)
            elif isinstance(own, MistakesCertificate) and own.margin is not None:
                forged = replace(own, margin=own.margin * 1.001)
            elif isinstance(own, SeparabilityCertificate) and own.verdict == "separable":
                assert own.weights is not None
                forged = replace(own, weights=tuple(-entry for entry in own.weights))
            else:
                continue
            assert not _verified(forged.to_dict(), X, y), named
            refused += 1
    assert refused > 50


def test_words_that_do_not_follow_are_refused(exported: Any) -> None:
    refused = 0
    for run in exported("certificates"):
        for named in run["certificates"]:
            for key in ("verdict", "claim"):
                forged = copy.deepcopy(named["json"])
                forged[key] += " "
                with pytest.raises(CertificateError, match=f"{key} does not follow from the statement"):
                    sx.certificate_from_dict(forged)
                refused += 1
    assert refused > 500


@pytest.mark.parametrize("digits", [2, 6, 10])
def test_the_page_writes_numbers_as_python_does(node: Any, tmp_path: Path, digits: int) -> None:
    rng = np.random.default_rng(5)
    scales = 10.0 ** rng.integers(-300, 300, 2000)
    halves = (rng.integers(0, 2 * 10**digits, 2000) + 0.5) * 2.0 ** rng.integers(-4, 4, 2000)
    numbers = [0.0, 1.0, 9.5, 99.5, 999999.5, 1e-4, 9.9999995e-5, 5e-324, *(rng.random(2000) * scales), *halves]
    script = f"""
    import {{ general }} from "{CLAIMS.as_uri()}";
    console.log(JSON.stringify({json.dumps(numbers)}.map((x) => general(x, {digits}))));
    """
    (tmp_path / "numbers.mjs").write_text(script)
    done = node(str(tmp_path / "numbers.mjs"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [f"{number:.{digits}g}" for number in numbers]


def test_the_page_writes_labels_as_python_does(node: Any, tmp_path: Path) -> None:
    labels = [True, False, 0, -1, 5, 3.5, 1e-5, -2.5e-7, 0.0001, 1e21, 1e22, 1.5e300, "a", "it's", 'a "b"', "'\"", "\\"]
    labels += ["é", "\n\r\t", "\x00\x7f\x85\xa0\xad", "\u2028\u200b\u3000", "\U0001f600", "\U000e0001", "a b"]
    script = f"""
    import {{ quoted }} from "{CLAIMS.as_uri()}";
    const labels = {json.dumps(labels)};
    console.log(JSON.stringify([JSON.stringify(labels), labels.map(quoted)]));
    """
    (tmp_path / "labels.mjs").write_text(script)
    done = node(str(tmp_path / "labels.mjs"))
    assert done.returncode == 0, done.stderr
    written, quoted = json.loads(done.stdout)
    assert quoted == [repr(label) for label in json.loads(written)]


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


@pytest.mark.slow
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
        own = np.ravel(found["alpha"])
        assert own.sum() == np.sum(run["alpha"]), words
        if own.sum() < run["learner"]["maxUpdates"]:  # else rounding errors of the kernels may decide which rows erred
            assert np.array_equal(own, run["alpha"]), words
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
