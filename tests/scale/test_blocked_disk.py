"""Blocks on disk: faults are named, memory stays flat, and nothing is left behind however the process ends."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.design import storage as row_file
from separatrix.design.build import BlockedRows, make_design
from separatrix.design.memory import default_cap, free_memory, parse_memory, plain_size
from separatrix.design.storage import BlockWriter, DiskRows
from separatrix.errors import DataError

pytestmark = pytest.mark.slow

ROWS, COLUMNS = 1000, 6


def dense() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(ROWS, COLUMNS))


@pytest.fixture(name="scratch")
def scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that temporary files go to, empty."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


# Faults


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_named_with_sizes_and_remedy(
    number: int, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, room = os.write, [2]

    def full(descriptor: int, content: Any) -> int:
        room[0] -= len(content) == 48_000
        if room[0] < 0:
            raise OSError(number, "no room")
        return written(descriptor, content)

    before = descriptors()
    monkeypatch.setattr(os, "write", full)
    blocks = (dense() for _ in range(9))
    with pytest.raises(DataError) as caught:
        sx.blocked(blocks)
    monkeypatch.undo()
    assert f"the disk of the temporary file in {scratch} is full after 96 KB, with" in str(caught.value)
    assert "free; free some space, or set TMPDIR to a folder on a larger disk" in str(caught.value)
    del caught
    assert list(scratch.iterdir()) == []
    assert descriptors() == before


def test_what_has_no_room_is_not_begun(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_file.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000}))
    with pytest.raises(
        DataError, match=f"the rows take 48 KB, and {scratch} has 1 KB free; free some space, or set TMPDIR"
    ):
        sx.blocked(dense())


def test_a_limit_on_files_is_a_full_disk(scratch: Path) -> None:
    program = """
import resource, numpy as np, separatrix as sx
resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6))
try:
    sx.blocked(np.zeros((1000, 100)) for _ in range(5))
except sx.errors.DataError as refusal:
    print(refusal)
"""
    found = run(program)
    assert "is full after 1.6 MB" in found or "is full after 800 KB" in found
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("sparse", [False, True])
def test_a_file_cut_short_names_the_rows(sparse: bool, tmp_path: Path) -> None:
    X = sp.csr_array(dense()) if sparse else dense()
    store = write(X, tmp_path / "blocks")
    file = store.files[0].path
    assert file is not None
    os.truncate(file, 8 * COLUMNS * 600)
    y = np.arange(ROWS) % 2
    rows = BlockedRows(store)
    message = rf"rows 0 to 1,000 cannot be read from {file}: it is truncated; pass the data again"
    with pytest.raises(DataError, match=message):
        sx.LogisticRegression(strength=0.1).fit(rows, y)
    for refused in (lambda: sx.check_separability(rows, y), lambda: sx.LMSClassifier(max_passes=2).fit(rows, y)):
        with pytest.raises(DataError, match="it is truncated"):
            refused()
    with pytest.raises(DataError, match="it is truncated"):
        make_design(rows, intercept=True).stored_rows()
    store.close()


def test_a_block_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(descriptor: int, parts: Any, offset: int) -> int:
        raise OSError(errno.EIO, "Input/output error")

    with sx.blocked(dense()) as rows:
        monkeypatch.setattr(os, "preadv", broken)
        with pytest.raises(DataError, match=r"rows 0 to 1,000 cannot be read from .*: Input/output error; pass"):
            sx.LinearRegression().fit(rows, np.zeros(ROWS))


def test_a_model_outlives_its_rows_but_cannot_read_them() -> None:
    with sx.blocked(dense()) as rows:
        model = sx.LinearRegression().fit(rows, dense()[:, 0])
    assert model.predict(dense()).shape == (ROWS,)
    with pytest.raises(DataError, match=r"rows 0 to 1,000 cannot be read from .*: it is closed"):
        model.predict(rows)


def test_systems_without_reads_at_places_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "preadv")
    monkeypatch.delattr(os, "posix_fadvise")
    with sx.blocked(dense()) as rows:
        np.testing.assert_array_equal(make_design(rows, intercept=False).take(np.arange(ROWS)), dense())


# Folders, for other processes


def write(X: Any, folder: Path | None = None) -> DiskRows:
    with BlockWriter(X.shape[1], sparse=sp.issparse(X), dtype=X.dtype, folder=folder) as writer:
        writer.append(X[:300])
        writer.append(X[300:])
        return writer.finish()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_in_a_folder_are_read_by_others(sparse: bool, dtype: Any, tmp_path: Path) -> None:
    X = dense().astype(dtype)
    folder = tmp_path / "a" / "blocks"
    with write(sp.csr_array(X) if sparse else X, folder) as rows:
        assert rows.folder == folder
        with DiskRows.open(folder, rows.shape, rows.dtype) as other:
            assert (other.shape, other.sparse, other.dtype, other.nbytes) == (X.shape, sparse, dtype, rows.nbytes)
            found = other.read(290, 310)
            np.testing.assert_array_equal(found.toarray() if sparse else found, X[290:310])
    assert (folder / ("values.bin" if sparse else "rows.bin")).exists()  # the folder is the caller's


def test_files_that_are_there_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "rows.bin").write_text("mine")
    with pytest.raises(DataError, match=r"rows.bin cannot be opened or written: File exists"):
        BlockWriter(3, folder=tmp_path)
    assert (tmp_path / "rows.bin").read_text() == "mine"
    with pytest.raises(DataError, match=r"rows.bin cannot be opened or written: No such file"):
        DiskRows.open(tmp_path / "none", (3, 2), "<f8")


# The end


def run(program: str, **options: Any) -> str:
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, **options)
    return found.stdout


def test_an_interrupt_while_blocks_are_written_leaves_nothing(scratch: Path) -> None:
    def blocks() -> Iterator[np.ndarray]:
        yield dense()
        raise KeyboardInterrupt

    before = descriptors()
    with pytest.raises(KeyboardInterrupt):
        sx.blocked(blocks())
    assert list(scratch.iterdir()) == []
    assert descriptors() == before


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_killed_leaves_nothing(how: signal.Signals, scratch: Path) -> None:
    program = """
import numpy as np, separatrix as sx
rows = sx.blocked(np.random.default_rng(0).normal(size=(2000, 50)))
y = np.arange(2000) % 2
print("begun", flush=True)
while True:
    sx.LogisticRegression(strength=0.1).fit(rows, y)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout is not None
    assert child.stdout.readline() == b"begun\n"
    time.sleep(0.1)
    child.send_signal(how)
    assert child.wait(timeout=30) != 0
    child.stdout.close()
    assert list(scratch.iterdir()) == []


PEAK = """
import re, sys
from pathlib import Path
import numpy as np
import separatrix as sx

p = 100
coef = np.random.default_rng(1).normal(size=p) / 10.0

def status(name):
    return 1024 * int(re.search(rf"{name}:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

def fit_all(n, loaded):
    y = np.empty(n)
    def blocks():
        for start in range(0, n, 1000):
            X = np.random.default_rng(start).normal(size=(1000, p))
            y[start : start + 1000] = X @ coef + np.random.default_rng(start + 1).normal(size=1000)
            yield X
    with sx.blocked(blocks, memory="17MB") as rows:
        X = np.array(rows.array()) if loaded else rows
        line = sx.LinearRegression().fit(X, y)
        line.summary(covariance="HC3")
        assert line.certificate_.verify(X, y)
        model = sx.LogisticRegression(strength=0.1).fit(X, y > 0.0)
        assert model.certificate_.verify(X, y > 0.0)
        assert sx.check_separability(X, y > 0.0).verdict == "overlap"
        model.predict(X)

fit_all(1000, False)  # so that all code is loaded
for n, loaded in ((10_000, False), (60_000, False), (60_000, True)):
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = status("VmRSS")
    fit_all(n, loaded)
    print(status("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not tell how memory peaked")
def test_memory_is_flat_in_the_rows() -> None:
    few, many, in_memory = map(int, run(PEAK).split())
    data = 8 * 100 * 60_000  # bytes, three times the memory allowed
    assert max(few, many) < 0.7 * data < data < in_memory
    assert many - few < 0.4 * data  # some vectors of an entry a row


def test_sizes_are_read_as_people_write_them() -> None:
    sizes = {"1GB": 10**9, "512 MiB": 2**29, "1.5g": 1_500_000_000, "100": 100, "3 kb": 3000, " 2TB ": 2 * 10**12}
    assert {text: parse_memory(text) for text in sizes} == sizes
    assert parse_memory(2.0**20) == 2**20
    assert [plain_size(size) for size in (999, 96_000, 1.5e9, 2e13)] == ["999 B", "96 KB", "1.5 GB", "20 TB"]


def test_free_memory_is_that_of_the_control_group_where_that_is_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = free_memory()
    assert 2**26 < machine < 2**50
    assert default_cap() == pytest.approx(0.5 * machine, rel=0.3)
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("1000000\n")
    monkeypatch.setattr("separatrix.design.memory.GROUPS", tmp_path)
    assert (free_memory(), default_cap()) == (2_000_000, 1_000_000)
    (tmp_path / "memory.stat").write_text("anon 400000\ninactive_file 300000\nactive_file 200000\n")
    assert free_memory() == 2_500_000  # pages of files make way
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory() > 2**26


def test_temporary_files_go_to_a_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in row_file.TEMP_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "usual"))
    mounts = tmp_path / "mounts"
    monkeypatch.setattr(row_file, "MOUNTS", mounts)
    monkeypatch.setattr(row_file, "ON_DISK", str(tmp_path))
    mounts.write_text("disk / ext4 rw 0 0\n")
    assert row_file.scratch_folder() == tmp_path / "usual"
    mounts.write_text(f"disk / ext4 rw 0 0\ntmpfs {tmp_path / 'usual'} tmpfs rw 0 0\n")
    assert row_file.scratch_folder() == tmp_path
    monkeypatch.setenv("TMPDIR", "asked")
    assert row_file.scratch_folder() == tmp_path / "usual"  # who asks for it gets it
