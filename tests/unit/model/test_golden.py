"""Golden JSON of every kind in a model file: it is read, and written back the same to the letter.

Model files of format 1 are written back in format 2, and predict what the release that wrote them predicted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.main import app
from separatrix.codec import read, write
from separatrix.design.encode.encoding import AnyColumn, Encoding
from separatrix.design.kernels import kernel_from_dict
from separatrix.design.maps import map_from_dict
from separatrix.errors import CertificateError
from separatrix.families.options import FAMILIES, Options
from separatrix.model.file import load_model, save_model

GOLDEN = Path(__file__).parents[2] / "golden" / "format-1"
MODELS = sorted((GOLDEN / "models").glob("*.json"))
PREDICTIONS = json.loads((GOLDEN / "predictions.json").read_text(encoding="utf-8"))  # of rows.csv
OLDER = "the certificate was made by an older release; fit again"
WAYS: dict[str, Callable[[str, Any], Any]] = {
    "encodings": lambda _, content: write(read(Encoding, content)),
    "kernels": lambda _, content: kernel_from_dict(content).to_dict(),
    "maps": lambda _, content: map_from_dict(content).to_dict(),
    "options": lambda name, content: _given_options(FAMILIES[name.split()[0]](**content), content),
}


def _given_options(options: Options, given: Any) -> dict[str, Any]:
    """Return the options that the file has, in its order; those added since have their defaults."""
    plain = options.checked().plain()
    return {name: plain[name] for name in given}


ENTRIES = [
    (kind, name, content)
    for kind in WAYS
    for name, content in json.loads((GOLDEN / f"{kind}.json").read_text(encoding="utf-8")).items()
]


@pytest.mark.parametrize(("kind", "name", "content"), ENTRIES, ids=[f"{kind}-{name}" for kind, name, _ in ENTRIES])
def test_values_are_read_and_written_back(kind: str, name: str, content: Any) -> None:
    assert json.dumps(WAYS[kind](name, content)) == json.dumps(content)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_model_files_are_read_and_written_back(path: Path, tmp_path: Path) -> None:
    save_model(load_model(path), tmp_path / "again.json")
    written, original = ((each.read_bytes()) for each in (tmp_path / "again.json", path))
    assert written.startswith(b'{\n"format": 2,\n')
    assert _without_checksum(written) == _without_checksum(original.replace(b'"format": 1,', b'"format": 2,', 1))
    save_model(load_model(tmp_path / "again.json"), tmp_path / "twice.json")
    assert (tmp_path / "twice.json").read_bytes() == written


def _without_checksum(content: bytes) -> bytes:
    return re.sub(rb'"checksum": "[0-9a-f]{64}"', b"", content, count=1)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_model_files_predict_what_they_predicted(path: Path) -> None:
    said, frozen = load_model(path).predict(sx.read_table(GOLDEN / "rows.csv")), PREDICTIONS[path.stem]
    scores = np.asarray(frozen["scores"])
    np.testing.assert_allclose(said.scores, scores, rtol=1e-12, atol=1e-13 * np.abs(scores).max())
    if said.labels.dtype.kind == "f":
        np.testing.assert_allclose(said.labels, frozen["prediction"], rtol=1e-12, atol=1e-13)
    else:
        assert said.labels.tolist() == frozen["prediction"]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_their_certificates_are_of_an_older_release(path: Path) -> None:
    model = load_model(path)
    with pytest.raises(CertificateError, match=f"^{OLDER}$"):
        model.evidence()
    with pytest.raises(CertificateError, match=f"^{OLDER}$"):
        sx.verify(model, GOLDEN / "rows.csv")
    assert model.claim == OLDER
    refused = CliRunner().invoke(app, ["verify", str(path), str(GOLDEN / "rows.csv")])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == f"error: {path}: {OLDER}\n"
    assert OLDER in " ".join(CliRunner().invoke(app, ["summary", str(path)]).stdout.split())


def test_every_kind_is_there() -> None:
    from separatrix.design import kernels, maps

    entries = {kind: [content for key, _, content in ENTRIES if key == kind] for kind in WAYS}
    columns = [column for encoding in entries["encodings"] for column in encoding["columns"]]
    assert {column["kind"] for column in columns} == {kind.kind for kind in get_args(get_args(AnyColumn)[0])}
    assert {content["name"] for content in entries["kernels"]} == {kernel.name for kernel in kernels.ALL}
    assert {content["name"] for content in entries["maps"]} == {each.name for each in maps.ALL}
    assert {path.stem for path in MODELS} > set(FAMILIES)
    assert {path.stem for path in MODELS} == set(PREDICTIONS)
