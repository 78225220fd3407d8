"""`separatrix check` and `verify` on the reference cases of separation, from csv file to exit code."""

from __future__ import annotations

import json

import pytest
from data import DATA, needs_data, reference
from typer.testing import CliRunner

from separatrix.cli.main import app

pytestmark = needs_data
SENTENCES = {
    "complete": "Completely separated",
    "quasi-complete": "Quasi-completely separated",
    "none": "The classes overlap",
}
CASES = ["endometrial", "toy_quasi", "toy_complete", "toy_collinear_none", "toy_decimal_tie", "spector", "wdbc"]


@pytest.mark.parametrize("name", CASES)
def test_the_known_verdict_is_told_and_its_proof_verified(name, tmp_path):
    truth, path, proof = (
        reference("separation", name),
        str(DATA / "separation" / f"{name}.csv"),
        tmp_path / "proof.json",
    )
    told = CliRunner().invoke(app, ["check", path, "--target", "y", "--out", str(proof)])
    assert told.exit_code == 0, told.output
    assert SENTENCES[truth["verdict"]] in told.stdout
    assert ("is not unique" in told.stdout) == (truth["verdict"] == "none" and truth["rank_deficient"])
    content = json.loads(CliRunner().invoke(app, ["check", path, "--target", "y", "--json"]).stdout)
    assert content["questions"][0]["left"] == truth["n_rows_overlap"]
    assert CliRunner().invoke(app, ["verify", str(proof), path, "--target", "y"]).exit_code == 0


def test_endometrial_cancer_in_words():
    path = str(DATA / "separation" / "endometrial.csv")
    text = " ".join(CliRunner().invoke(app, ["check", path, "--target", "y"]).stdout.split())
    assert "These coefficients diverge: NV → +∞; the others stay finite." in text
    assert "13 of 79 rows are perfectly separated, 66 are not." in text
    assert "--drop NV" in text
