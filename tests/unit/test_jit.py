"""The cache of compiled loops: damaged files are discarded, and no folder holds stale code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from separatrix.jit import _sources_digest
from separatrix.numerics import sigmoid
assert sigmoid.compiled(0.0) == 0.5
print(_sources_digest())
"""


def run(**variables: object) -> str:
    """Return the digest of the sources, after a compiled loop ran in a new process."""
    own = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment = {**own, **{name: str(value) for name, value in variables.items()}}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def cached(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in {".nbi", ".nbc"}]


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        (".nbi", b"garbage"),
        pytest.param(".nbi", b"", marks=pytest.mark.slow),
        pytest.param(".nbi", None, marks=pytest.mark.slow),
        pytest.param(".nbc", b"garbage", marks=pytest.mark.slow),
        pytest.param(".nbc", None, marks=pytest.mark.slow),
    ],
)
def test_damaged_files_are_discarded(suffix: str, damage: bytes | None, tmp_path: Path) -> None:
    run(XDG_CACHE_HOME=tmp_path)
    damaged = {path: path.read_bytes() for path in cached(tmp_path) if path.suffix == suffix}
    assert damaged
    for path, content in damaged.items():
        path.write_bytes(content[: len(content) // 2] if damage is None else damage)
    run(XDG_CACHE_HOME=tmp_path)
    assert all(len(path.read_bytes()) > len(content) // 2 for path, content in damaged.items() if path.exists())


@pytest.mark.slow
def test_every_folder_is_named_by_the_sources(tmp_path: Path) -> None:
    digest = run(NUMBA_CACHE_DIR=tmp_path)
    assert cached(tmp_path)
    assert {path.relative_to(tmp_path).parts[0] for path in cached(tmp_path)} == {f"separatrix-{digest}"}


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_means_no_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    run(XDG_CACHE_HOME=tmp_path / "file", HOME=tmp_path)
    assert not cached(tmp_path)
