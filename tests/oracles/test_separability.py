"""Separability against verdicts proved in rational arithmetic: small sets, several classes, and large sets."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from classification_sets import NAMES, read
from data import DATA, needs_data, reference, references, table

import separatrix as sx
from separatrix.certificates import standalone

pytestmark = [pytest.mark.slow, needs_data]
VERDICTS = {"complete": "separable", "quasi-complete": "quasi", "none": "overlap"}
STATUS = {"+Infinity": "+inf", "-Infinity": "-inf", "finite": "finite"}
SLOW_BY_HAND = {"digits_0_vs_1"}  # 65 columns in pure Python
LARGE = {"agaricus_train": "agaricus", "a9a_train": "a9a", "covtype20k_type2": "covtype", "spambase": "spambase"}


@pytest.mark.parametrize("name", references("separation"))
def test_verdict_columns_and_signs(name, tmp_path):
    truth = reference("separation", name)
    _, X, y, weights = table("separation", name)
    certificate = sx.check_separability(X, y, sample_weight=weights)
    assert certificate.verdict == VERDICTS[truth["verdict"]]
    assert certificate.divergence_dim == truth["divergence_dim"]
    assert len(certificate.left_rows(X, y, weights)) == truth["n_rows_overlap"]
    if "overlap_rows_0based" in truth:
        assert certificate.left_rows(X, y, weights).tolist() == truth["overlap_rows_0based"]
    if isinstance(truth.get("coefficient_status"), dict):
        wanted = [STATUS[status] for status in truth["coefficient_status"].values()]
        assert list(certificate.coefficient_status.values()) == wanted
    aliased = list(certificate.coefficient_status.values()).count("aliased")
    assert (aliased > 0) == truth["rank_deficient"]
    verification = certificate.verify(X, y, weights)
    assert verification, str(verification)
    if name not in SLOW_BY_HAND:
        (tmp_path / "c.json").write_text(certificate.to_json(), encoding="utf-8")
        weight = [] if weights is None else ["--weight", "weight"]
        data = str(DATA / "separation" / f"{name}.csv")
        assert standalone.main([str(tmp_path / "c.json"), data, "--target", "y", *weight]) == 0


@pytest.mark.parametrize("name", references("multinomial"))
def test_softmax_verdict(name, tmp_path):
    truth = reference("multinomial", name)
    _, X, y, weights = table("multinomial", name)
    certificate = sx.check_separability(X, y, sample_weight=weights)
    assert certificate.verdict == VERDICTS[truth["verdict"]]
    assert certificate.n_left == truth["n_pairs_overlap"]
    assert certificate.verify(X, y, weights)
    (tmp_path / "c.json").write_text(certificate.to_json(), encoding="utf-8")
    weight = [] if weights is None else ["--weight", "weight"]
    data = str(DATA / "multinomial" / f"{name}.csv")
    assert standalone.main([str(tmp_path / "c.json"), data, "--target", "y", *weight]) == 0


def test_iris_by_pairs_and_against_the_rest():
    _, X, y, _ = table("multinomial", "iris_three_class")
    pairs = sx.check_separability(X, y, multiclass="pairs")
    assert [part.verdict for part in pairs.parts] == ["separable", "separable", "overlap"]
    rest = sx.check_separability(X, y, multiclass="one_vs_rest")
    assert [part.verdict for part in rest.parts] == ["separable", "overlap", "overlap"]
    for certificate in (pairs, rest):
        again = sx.certificate_from_dict(json.loads(certificate.to_json()))
        assert again.verify(X, y)
        assert not again.verify(X, np.roll(y, 60))


@pytest.mark.parametrize("name", LARGE)
def test_large_sets(name):
    truth = next(one for one in json.loads((DATA / "separation/large_sets.json").read_text()) if one["id"] == name)
    X, _, y = read(LARGE[name])
    certificate = sx.check_separability(X, y)
    assert certificate.verdict == VERDICTS[truth["verdict"]]
    assert certificate.n_left == truth["n_rows_overlap"]
    assert certificate.divergence_dim == truth["divergence_dim"]
    assert certificate.verify(X, y)
    assert not certificate.verify(X, np.random.default_rng(0).permutation(y))


@pytest.mark.parametrize("name", NAMES)
def test_no_set_is_undecided(name):
    rows = {"census": 1500, "mnist": 1000, "newsgroups": 500, "rcv1_small": 500, "w8a": 3000}.get(name, 4000)
    X, _, y = read(name, rows)
    certificate = sx.check_separability(X, y)
    assert certificate.verdict in {"separable", "quasi", "overlap"}
    assert certificate.verify(X, y)


def test_seven_land_covers_are_separated_in_part():
    X, classes, _ = read("covtype")
    certificate = sx.check_separability(X, classes)
    assert (certificate.verdict, certificate.n_left, certificate.divergence_dim) == ("quasi", 58_567, 138)
    assert certificate.verify(X, classes)


def test_one_article_posted_to_two_groups_is_all_that_twenty_groups_leave():
    X, classes, _ = read("newsgroups")
    kept = np.union1d(np.arange(0, len(classes), 6), [4122, 4713])
    certificate = sx.check_separability(X[kept], classes[kept])
    assert (certificate.verdict, certificate.n_left, certificate.n_overlap) == ("quasi", 2, 2)
    assert kept[certificate.left_rows(X[kept], classes[kept])].tolist() == [4122, 4713]
    assert certificate.verify(X[kept], classes[kept])


def test_ten_digits_of_some_thousand_rows_are_separated():
    X, classes, _ = read("mnist", 3000)
    certificate = sx.check_separability(X, classes)
    assert certificate.verdict == "separable"
    assert certificate.verify(X, classes)


def test_four_and_nine_of_a_third_of_the_rows_are_separated():
    X, classes, _ = read("mnist", 20_000)
    kept = (classes == 4) | (classes == 9)
    certificate = sx.check_separability(X[kept], classes[kept])
    assert certificate.verdict == "separable"
    assert certificate.verify(X[kept], classes[kept])


def test_the_second_verifier_runs_alone_and_refuses(tmp_path):
    _, X, y, _ = table("separation", "endometrial")
    honest = sx.check_separability(X, y)
    certificate = honest.to_dict()
    data = str(DATA / "separation" / "endometrial.csv")
    ends = {}
    for what in ("honest", "other words", "flipped", "other kind"):
        if what == "other words":
            certificate["claim"] = "the classes overlap"
        if what == "flipped":
            certificate["witness"]["weights"] = [-1.0, 1.0, 0.0, 0.0]
        if what == "other kind":
            certificate["kind"] = "mistakes"
        (tmp_path / "c.json").write_text(json.dumps(certificate), encoding="utf-8")
        command = [sys.executable, "-I", standalone.__file__, str(tmp_path / "c.json"), data, "--target", "y"]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        ends[what] = (ended.returncode, ended.stdout)
    assert honest.claim.startswith(
        "the classes are quasi-completely separated: all but 66 rows are perfectly separated, and the rest overlap"
    )
    assert ends["honest"] == (0, f"proved: {honest.claim}\n")
    assert ends["other words"] == (1, "not proved: verdict or claim do not follow from the statement\n")
    assert ends["flipped"][0] == 1
    assert "is on the wrong side" in ends["flipped"][1]
    assert ends["other kind"][0] == 1
    assert "statement has the keys ['n_left', 'undecided']" in ends["other kind"][1]
    with open(standalone.__file__, encoding="utf-8") as file:
        text = file.read()
    assert len(text.splitlines()) < 1900  # every kind, and the whole format
    assert "separatrix" not in text
