"""`separatrix check` and `separatrix verify`: verdicts in words, proofs in files, and what is refused."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from separatrix.certificates.base import certificate_from_dict
from separatrix.certificates.data import Data
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.cli.main import app
from separatrix.rendering.text import render_text
from separatrix.reports.verdict import make_verdict, verdict_page
from separatrix.tables.demos import load_demo

FIVE_POINTS = Data(rows=5, width=2, columns=("x1", "x2"), intercept=True, task="two", labels=(-1.0, 1.0), counts=(3, 2))
QUASI = "y,x,z\n0,0,1\n0,0,2\n1,0,1.5\n1,0,3\n1,1,2\n1,2,1\n"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def words(result: Any) -> str:
    """Return what was printed with single spaces, however it was wrapped."""
    return " ".join(result.stdout.split())


def refusal(*arguments: str) -> str:
    """Return the one line with which something is refused."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return str(result.stderr).removeprefix("error: ").rstrip("\n")


@pytest.fixture
def quasi(tmp_path: Path) -> str:
    path = tmp_path / "quasi.csv"
    path.write_text(QUASI, encoding="utf-8")
    return str(path)


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    """The certificate of the breast cancer table, in a file."""
    path = tmp_path / "proof.json"
    assert run("check", "demo:breast-cancer", "--out", str(path)).exit_code == 0
    return path


# Verdicts


def test_complete_separation_is_told_with_margin_proof_and_remedies() -> None:
    result = run("check", "demo:breast-cancer")
    assert result.exit_code == 0
    text = words(result)
    assert "benign in 357 rows, malignant in 212 rows; 30 columns and an intercept" in text
    assert "Completely separated: a hyperplane has every row on its own side" in text
    assert "the maximum likelihood estimate of a logistic regression does not exist" in text
    assert "31 independent directions of divergence" in text
    assert "mean_concavity, … and 23 more" in text
    assert "a direction of 31 numbers" in text
    assert "made, all hold" in text
    assert 'on_separation="firth"' in text
    assert "MaxMarginClassifier" in text
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_quasi_complete_separation_names_what_runs_off_and_counts_rows(quasi: str) -> None:
    text = words(run("check", quasi, "--target", "y"))
    assert "Quasi-completely separated" in text
    assert (
        "These coefficients diverge: x → +∞; the others stay finite. 2 of 6 rows are perfectly separated, 4 are not."
        in text
    )
    assert "→ +∞ 1 (grows without bound): x" in text
    assert "finite 2 (has a limit): intercept, z" in text
    assert "--drop x" in text
    dropped = words(run("check", quasi, "--target", "y", "--drop", "x"))
    assert "The classes overlap: no hyperplane separates them" in dropped


def test_the_column_to_drop_is_one_of_the_table_even_if_a_level_of_it_diverges(tmp_path: Path) -> None:
    path = tmp_path / "levels.csv"
    levels = [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("z", 1), ("z", 1)] * 3
    path.write_text("\n".join(["kind,y", *(f"{kind},{y}" for kind, y in levels)]) + "\n")
    text = words(run("check", str(path), "--target", "y"))
    assert "kind=z → +∞" in text
    assert "--drop kind fits without the column, if it is not of interest" in text


def test_overlap_says_that_the_estimate_exists_and_whether_it_is_unique(tmp_path: Path) -> None:
    assert "exists and is unique: the columns are linearly independent." in words(
        run("check", "demo:five-points-overlap")
    )
    path = tmp_path / "aliased.csv"
    path.write_text("y,a,b\n0,0,0\n1,1,2\n0,2,4\n1,3,6\n", encoding="utf-8")
    text = words(run("check", str(path), "--target", "y"))
    assert "exists, but is not unique: the columns a, b are collinear." in text
    assert "dropping collinear columns makes the estimate unique" in text


def test_without_an_intercept_the_question_is_another(tmp_path: Path) -> None:
    path = tmp_path / "shifted.csv"
    path.write_text("y,x\n0,1\n0,2\n1,3\n1,4\n", encoding="utf-8")
    assert run("check", str(path), "--target", "y", "--json").stdout.count('"verdict": "separable"') >= 1
    content = json.loads(run("check", str(path), "--target", "y", "--no-intercept", "--json").stdout)
    assert (content["verdict"], content["intercept"]) == ("overlap", False)


def test_several_classes_may_be_judged_in_three_ways() -> None:
    softmax = json.loads(run("check", "demo:iris", "--json").stdout)
    assert softmax["verdict"] == "quasi"
    assert (softmax["questions"][0]["rows"], softmax["questions"][0]["left"]) == (150, 100)
    rest = json.loads(run("check", "demo:iris", "--multiclass", "one_vs_rest", "--json").stdout)
    assert [asked["verdict"] for asked in rest["questions"]] == ["separable", "overlap", "overlap"]
    pairs = json.loads(run("check", "demo:iris", "--multiclass", "pairs", "--json").stdout)
    assert {asked["title"]: (asked["verdict"], asked["rows"]) for asked in pairs["questions"]} == {
        "versicolor against setosa": ("separable", 100),
        "virginica against setosa": ("separable", 100),
        "virginica against versicolor": ("overlap", 100),
    }
    assert "sepal_length" in pairs["questions"][0]["coefficients"]


def test_json_has_the_checks_the_margin_and_a_certificate_that_verifies() -> None:
    content = json.loads(run("check", "demo:students", "--json").stdout)
    (asked,) = content["questions"]
    X, y = load_demo("students")
    certificate = certificate_from_dict(content["certificate"])
    assert isinstance(certificate, SeparabilityCertificate)
    products = np.where(y == "F", 1.0, -1.0) * (np.insert(X, 0, 1.0, axis=1) @ certificate.direction)
    assert asked["margin"] == pytest.approx(products.min() / np.linalg.norm(certificate.direction))
    assert asked["pinned"] == np.flatnonzero(np.isclose(products, products.min())).tolist()
    assert asked["coefficients"]["attendance"] == "-inf"
    assert asked["verified"]
    assert all(check["holds"] for check in asked["checks"])
    assert certificate.verify(X, y)


def test_an_undecided_verdict_says_why_and_exits_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def undecided(X: Any, y: Any, **_: Any) -> SeparabilityCertificate:
        return SeparabilityCertificate(data=FIVE_POINTS, n_left=0, undecided=True, reason="floats could not tell")

    monkeypatch.setattr("separatrix.separability.check.check_separability", undecided)
    result = run("check", "demo:five-points")
    assert result.exit_code == 1
    assert "Undecided: floats could not tell." in result.stdout
    assert "nothing, as there is nothing to check" in result.stdout
    assert json.loads(run("check", "demo:five-points", "--json").stdout)["decided"] is False


def test_a_proof_that_does_not_hold_is_owned_up_to() -> None:
    X, y = load_demo("five-points-overlap")
    data = replace(FIVE_POINTS, counts=(2, 3))
    wrong = SeparabilityCertificate(data=data, n_left=0, weights=(Fraction(1), Fraction(0), Fraction(0)))
    verdict = make_verdict("points", "y", wrong, X, y)
    assert not verdict.decided
    assert "NO, which is a fault of separatrix: FAILS: direction: row" in render_text(*verdict_page(verdict))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("demo:iris", "--multiclass", "paris"), "did you mean 'pairs'?"),
        (("demo:iris", "--target", "colour"), "'colour'"),
        (("missing.csv", "--target", "y"), "missing.csv"),
        (("demo:iris", "--out", "no-such-folder/proof.json"), "--out no-such-folder/proof.json cannot be written"),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments: tuple[str, ...], words: str) -> None:
    assert words in refusal("check", *arguments)


# Files


def test_a_certificate_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "proof.json"
    path.write_text("old", encoding="utf-8")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        assert "No space left on device" in refusal("check", "demo:students", "--out", str(path))
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["proof.json"]
    assert run("check", "demo:students", "--out", str(path)).exit_code == 0
    assert json.loads(path.read_text(encoding="utf-8"))["verdict"] == "separable"
    assert [entry.name for entry in tmp_path.iterdir()] == ["proof.json"]
    assert "is not a regular file" in refusal("check", "demo:students", "--out", str(tmp_path))


# Verification


def test_a_certificate_holds_on_its_table_and_on_no_other(proof: Path) -> None:
    result = run("verify", str(proof), "demo:breast-cancer")
    assert result.exit_code == 0
    assert "holds direction: 569 rows are strictly on the side of their class, none on the wrong side" in words(result)
    assert "Proved on diagnosis of demo:breast-cancer, 569 rows: 6 checks made, all hold." in words(result)
    other = run("verify", str(proof), "demo:iris")
    assert other.exit_code == 1
    assert "FAILS data: X has the columns ['sepal_length', 'sepal_width'," in words(other)
    assert "the certificate is of ['mean_radius'," in words(other)
    assert "NOT PROVED on species of demo:iris, 150 rows: 1 of 1 check failed." in words(other)
    dropped = json.loads(run("verify", str(proof), "demo:breast-cancer", "--drop", "mean_area", "--json").stdout)
    assert dropped["holds"] is False
    assert dropped["certificates"][0]["checks"][0]["holds"] is False


def test_a_tampered_certificate_is_refused_with_the_row(proof: Path) -> None:
    content = json.loads(proof.read_text(encoding="utf-8"))
    content["witness"]["weights"][3] = "-1000000"
    proof.write_text(json.dumps(content), encoding="utf-8")
    result = run("verify", str(proof), "demo:breast-cancer")
    assert result.exit_code == 1
    assert "FAILS direction: row 0 is on the wrong side" in words(result)
    assert "NOT PROVED on diagnosis of demo:breast-cancer" in words(result)


def test_a_tampered_statement_is_refused(proof: Path) -> None:
    content = json.loads(proof.read_text(encoding="utf-8"))
    content["statement"]["n_left"] = 1
    proof.write_text(json.dumps(content), encoding="utf-8")
    complaint = "malformed certificate: the file: 1 rays are left, where the verdict is separable"
    assert refusal("verify", str(proof), "demo:breast-cancer") == f"{proof}: {complaint}"


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"rows": 568, "counts": [357, 211]}, "X has shape (569, 30); the certificate is of (568, 30)"),
        ({"counts": [356, 213]}, "the classes have [357, 212] rows; in the certificate they have [356, 213]"),
        ({"weights": True}, "the fit had sample weights; give them"),
        ({"labels": ["benign", "malign"]}, "row 0 has label 'malignant'; the certificate is of ['benign', 'malign']"),
        (
            {"labels": ["malignant", "benign"]},
            "the classes have [212, 357] rows; in the certificate they have [357, 212]",
        ),
    ],
)
def test_a_certificate_of_tampered_data_is_refused(changes: dict[str, Any], complaint: str, proof: Path) -> None:
    content = json.loads(proof.read_text(encoding="utf-8"))
    content["data"] |= changes
    proof.write_text(json.dumps(content), encoding="utf-8")
    result = run("verify", str(proof), "demo:breast-cancer")
    assert result.exit_code == 1
    assert f"FAILS data: {complaint}" in words(result)


@pytest.mark.parametrize(("key", "word"), [("verdict", "overlap"), ("claim", "the classes overlap")])
def test_a_verdict_that_the_statement_does_not_have_is_refused(key: str, word: str, proof: Path) -> None:
    content = json.loads(proof.read_text(encoding="utf-8"))
    proof.write_text(json.dumps({**content, key: word}), encoding="utf-8")
    complaint = f"malformed certificate: {key} does not follow from the statement; the file was altered"
    assert refusal("verify", str(proof), "demo:breast-cancer") == f"{proof}: {complaint}"


@pytest.mark.parametrize("verb", ["fit", "check"])
def test_what_fit_and_check_print_can_be_verified_and_knows_its_target(verb: str, quasi: str, tmp_path: Path) -> None:
    path = tmp_path / "printed.json"
    path.write_text(run(verb, quasi, "--target", "y", "--json").stdout, encoding="utf-8")
    result = run("verify", str(path), quasi)
    assert result.exit_code == 0, result.output
    assert "Proved on y of" in result.stdout


def test_a_fit_stopped_by_overlap_has_two_certificates(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    printed = run("fit", "demo:five-points-overlap", "--model", "perceptron", "--on-overlap", "stop", "--json").stdout
    path.write_text(printed, encoding="utf-8")
    assert json.loads(printed)["summary"]["status"] == "infeasible"
    content = json.loads(run("verify", str(path), "demo:five-points-overlap", "--json").stdout)
    assert content["holds"]
    assert [each["kind"] for each in content["certificates"]] == ["mistakes", "separability"]
    assert content["certificates"][1]["verdict"] == "overlap"


def test_a_certificate_without_a_proof_proves_nothing(tmp_path: Path) -> None:
    empty = SeparabilityCertificate(data=FIVE_POINTS, n_left=0, undecided=True, reason="floats could not tell")
    path = tmp_path / "empty.json"
    path.write_text(empty.to_json(), encoding="utf-8")
    result = run("verify", str(path), "demo:five-points")
    assert result.exit_code == 2
    assert "Claim (separability): not decided" in words(result)
    assert "NOTHING PROVED on y of demo:five-points, 5 rows: nothing is claimed" in words(result)
    content = json.loads(run("verify", str(path), "demo:five-points", "--json").stdout)
    assert (content["holds"], content["certificates"][0]["outcome"]) == (False, "nothing claimed")


def hostile(**values: Any) -> bytes:
    """Return the text of a certificate that has all keys, some with other values."""
    plain = {"format": 2, "kind": "separability", "data": {}, "statement": {}, "witness": {}, "parts": []}
    return json.dumps({**plain, "verdict": "", "claim": "", **values}).encode()


HOSTILE = {
    "empty": (b"", "is not valid JSON, or was truncated"),
    "cut short": (b'{"kind": "separability", "form', "is not valid JSON, or was truncated"),
    "not text": (b"\xff\xfe\x00", "is not valid JSON, or was truncated"),
    "a list": (b"[1, 2]", "the file is a list; an object is needed"),
    "not a number": (b'{"kind": NaN}', "kind is NaN; a finite number is needed"),
    "too deep": (b'{"a":' * 100_000, "it nests deeper than 64 levels"),
    "no certificate": (b'{"result": {"coef": [1]}}', "has no certificate"),
    "no object": (b'{"certificate": 5}', "a certificate is a JSON object; this is int"),
    "unknown kind": (
        hostile(kind="seperability"),
        "kind is 'seperability', an unknown kind; did you mean 'separability'?",
    ),
    "older format": (b'{"kind": "separability", "format": 1}', "was made by an older release; fit again"),
    "removed kind": (b'{"kind": "mixing", "format": 1}', "was made by an older release; fit again"),
    "another format": (hostile(format=3), "format is 3; this release reads 2"),
    "a format that is no number": (hostile(format=2.0), "format is 2.0; this release reads 2"),
    "no format": (b'{"kind": "separability"}', "malformed certificate: format is missing"),
    "no data": (b'{"kind": "separability", "format": 2}', "malformed certificate: data is missing"),
    "no rows": (hostile(data={}), "malformed certificate: data.rows is missing"),
    "another key": (hostile(content={}), "malformed certificate: content is unknown"),
    "code": (hostile(kind="__import__('os')"), "an unknown kind"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_is_no_certificate_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    content, complaint = HOSTILE[name]
    path = tmp_path / "hostile.json"
    path.write_bytes(content)
    assert complaint in refusal("verify", str(path), "demo:students")


@pytest.mark.parametrize("number", ["1e999999999", "1/0", "0x10", "1_000", "٣", [1], None, True])
def test_a_number_that_is_none_is_refused_at_once(number: Any, proof: Path) -> None:
    content = json.loads(proof.read_text(encoding="utf-8"))
    content["witness"]["weights"][0] = number
    proof.write_text(json.dumps(content), encoding="utf-8")
    assert "malformed certificate: witness.weights[0] is " in refusal("verify", str(proof), "demo:breast-cancer")


def test_a_missing_or_enormous_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No such file" in refusal("verify", str(tmp_path / "none.json"), "demo:students")
    monkeypatch.setattr("separatrix.codec.MAX_BYTES", 2**20)
    path = tmp_path / "large.json"
    path.write_bytes(b" " * (2**20 + 1))
    assert "is larger than 1 MiB" in refusal("verify", str(path), "demo:students")


# Encoded tables

MIXED = "colour,size,kind\nred,1.5,a\nred,2,a\nblue,,b\nblue,3.5,b\ngreen,1,a\ngreen,2.5,b\ngreen,2.25,a\n"


def test_categories_and_gaps_are_judged_by_their_features(tmp_path: Path) -> None:
    path, proof = tmp_path / "mixed.csv", str(tmp_path / "proof.json")
    path.write_text(MIXED, encoding="utf-8")
    result = run("check", str(path), "--target", "kind", "--out", proof)
    assert result.exit_code == 0, result.output
    assert "3 columns and an intercept" in words(result)
    content = json.loads(run("check", str(path), "--target", "kind", "--missing", "impute", "--json").stdout)
    names = set(content["questions"][0]["coefficients"])
    assert names == {"intercept", "colour=blue", "colour=red", "size", "size is missing"}
    assert run("verify", proof, str(path), "--target", "kind").exit_code == 0
    dropped = run("check", str(path), "--target", "kind", "--missing", "drop", "--where", "colour <> 'blue'", "--json")
    assert set(json.loads(dropped.stdout)["questions"][0]["coefficients"]) == {"intercept", "colour=red", "size"}
    assert "'size' is left out: as requested" in words(run("check", str(path), "--target", "kind", "--drop", "size"))


def test_learners_are_compared_on_encoded_rows(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    path.write_text(MIXED, encoding="utf-8")
    content = json.loads(run("compare", str(path), "--target", "kind", "--json").stdout)
    assert set(content["learners"][0]["weights"]) == {"colour=blue", "colour=red", "size", "size is missing"}
    widest = next(each for each in content["learners"] if each["learner"] == "widest margin")
    assert widest["mistakes"] == 0
    assert "names no classes" in refusal("check", "demo:breast-cancer", "--target", "mean_radius")
