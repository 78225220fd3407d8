"""Golden JSON of every kind in a model file: it is read, and written back the same to the letter."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from separatrix.codec import read, write
from separatrix.design.encode.encoding import AnyColumn, Encoding
from separatrix.design.kernels import kernel_from_dict
from separatrix.design.maps import map_from_dict
from separatrix.families.options import FAMILIES, Options
from separatrix.model.file import load_model, save_model

GOLDEN = Path(__file__).parents[2] / "golden" / "format-1"
MODELS = sorted((GOLDEN / "models").glob("*.json"))
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
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_every_kind_is_there() -> None:
    from separatrix.design import kernels, maps

    entries = {kind: [content for key, _, content in ENTRIES if key == kind] for kind in WAYS}
    columns = [column for encoding in entries["encodings"] for column in encoding["columns"]]
    assert {column["kind"] for column in columns} == {kind.kind for kind in get_args(get_args(AnyColumn)[0])}
    assert {content["name"] for content in entries["kernels"]} == {kernel.name for kernel in kernels.ALL}
    assert {content["name"] for content in entries["maps"]} == {each.name for each in maps.ALL}
    assert {path.stem for path in MODELS} > set(FAMILIES)
