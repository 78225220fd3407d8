"""The journal's file: what is written comes back bit for bit; what was cut, altered or is another fit's does not."""

import errno
import operator
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from separatrix.design.base import Expansion
from separatrix.design.journal import FILE, MAGIC, RecordFile, open_journal, pack, unpack
from separatrix.design.journaled import digest
from separatrix.errors import DataError, OptionError, SeparatrixError

IDENTITY = {"separatrix": "0.1.0", "options": "logistic, strength 0.1"}
REFUSALS = {"altered about byte", "no journal of a fit", "is of another fit"}
RESULTS = [
    3.5,
    (1.0 / 3.0, np.arange(3.0), np.eye(2)),
    [np.array([[1, 2], [3, 4]], order="F"), np.array([np.nan, -0.0, np.inf])],
    np.float64(2.0) / 3.0,
    Expansion(1.0, np.ones(2), None),
    (True, 7, None, np.array([], dtype=np.int64)),
    np.arange(6, dtype=np.float32).reshape(2, 3),
]


class Foreign(NamedTuple):
    """A record of somebody else's."""

    value: float


@dataclass(frozen=True)
class Scaled:
    factor: float

    def __call__(self, x):
        return self.factor * x


def written(folder, results=RESULTS) -> bytes:
    journal = open_journal(folder, IDENTITY)
    for place, result in enumerate(results):
        journal.keep(f"key {place}", "task", result, 1e9)
    journal.close()
    return (folder / FILE).read_bytes()


def kept(folder) -> list:
    """Return what a journal has of the results, None for those that it has not."""
    journal = open_journal(folder, IDENTITY)
    try:
        return [journal.look_up(f"key {place}") for place in range(len(RESULTS))]
    finally:
        journal.close()


def same(a, b) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape, a.flags.f_contiguous, a.tobytes()) == (
            b.dtype,
            b.shape,
            b.flags.f_contiguous,
            b.tobytes(),
        )
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


# Results


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_results_come_back_bit_for_bit(result):
    description, body = pack(result)
    assert same(unpack(description, body), result)


@pytest.mark.parametrize("result", [Foreign(1.0), {"a": 1.0}, "text", np.array(["a"]), (1.0, object())])
def test_what_is_no_number_has_no_bytes(result):
    assert pack(result) is None


def test_only_records_of_the_package_are_made_again():
    for record in (["os", "system"], ["separatrix.design.journal", "open_journal"], ["separatrixx", "A"]):
        with pytest.raises((TypeError, ImportError)):
            unpack({"record": record, "values": [{"plain": 1}]}, b"")


# Digests


def test_digests_tell_arguments_apart():
    a = np.arange(6.0)
    given = [
        (a,),
        (a.astype(np.float32),),
        (a.reshape(2, 3),),
        (np.asfortranarray(a.reshape(2, 3)),),
        (np.where(a == 5.0, np.nextafter(5.0, 6.0), a),),
        (a, a),
        ((a, a),),
        ([a, a],),
        ("6",),
        (6,),
        (6.0,),
        (np.float64(6.0),),
        (True,),
        (1,),
        (Scaled(1.0),),
        (Scaled(2.0),),
        (partial(max, 1),),
        (partial(max, 2),),
        (operator.add,),
        (np.maximum,),
        (np.random.default_rng(0),),
        (np.random.default_rng(1),),
    ]
    digests = [digest(*each) for each in given]
    assert None not in digests
    assert len(set(digests)) == len(given)
    assert digests[0] == digest(np.arange(6.0))
    assert digests[14] == digest(Scaled(1.0))


def test_a_closure_counts_by_what_it_captured():
    def scaled(factor):
        return lambda x: factor * x

    assert digest(scaled(2.0)) == digest(scaled(2.0)) != digest(scaled(3.0))


def test_what_tells_nothing_of_itself_has_no_digest():
    assert digest(iter([1])) is None
    assert digest(object()) is None
    assert digest((1, sys)) is None


def test_digests_are_the_same_in_another_process():
    code = (
        "import numpy as np; from separatrix.losses import Logistic;"
        "from separatrix.design.journaled import digest;"
        "print(digest({'b': 1, 'a': {2, 'x'}}, np.arange(300_000.0), Logistic(), np.add))"
    )
    run = partial(subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    told = {run(env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}
    assert len(told) == 1
    assert len(told.pop().strip()) == 64


# The file


def test_a_journal_keeps_what_it_is_given(tmp_path):
    written(tmp_path)
    assert all(same(found, (result,)) for found, result in zip(kept(tmp_path), RESULTS, strict=True))


def test_a_journal_cut_at_any_byte_gives_what_was_whole(tmp_path):
    content, path = written(tmp_path), tmp_path / FILE
    ends = [record.start + record.size for record in RecordFile(path).records]
    for cut in range(len(content)):
        path.write_bytes(content[:cut])
        file = RecordFile(path)
        whole = sum(end <= cut for end in ends)
        assert len(file.records) == whole
        assert file.end == path.stat().st_size == max([len(MAGIC), *ends[:whole]])
        file.close()
    for end, following in zip(ends[1:], [*ends[2:], len(content)], strict=True):
        path.write_bytes(content[: (end + following) // 2])
        found = kept(tmp_path)  # opened, cut to what is whole, and written to again
        assert [each is not None for each in found] == [place <= ends[1:].index(end) for place in range(len(RESULTS))]
        assert len(written(tmp_path)) == len(content)


def test_a_tail_of_zeros_or_of_noise_is_dropped(tmp_path):
    content = written(tmp_path)
    for tail in (bytes(5000), b"\x00\xffpass\xff\x00" * 40, os.urandom(300)):
        (tmp_path / FILE).write_bytes(content + tail)
        assert None not in kept(tmp_path)
        assert (tmp_path / FILE).read_bytes() == content


def test_a_byte_altered_anywhere_never_gives_another_result(tmp_path):
    content, refused, lost, words = written(tmp_path), 0, 0, set()
    for place in range(len(content)):
        altered = bytearray(content)
        altered[place] ^= 0x10
        (tmp_path / FILE).write_bytes(altered)
        try:
            found = kept(tmp_path)
        except SeparatrixError as refusal:
            words.add(next((word for word in REFUSALS if word in str(refusal)), str(refusal)))
            refused += 1
            continue
        assert all(each is None or same(each, (result,)) for each, result in zip(found, RESULTS, strict=True))
        lost += None in found
    assert words <= REFUSALS
    assert refused > 0.8 * len(content)
    assert lost <= len(content) - refused
    assert lost > 0  # the last record, which might have been cut short


@pytest.mark.parametrize(
    ("identity", "words"),
    [
        ({**IDENTITY, "separatrix": "0.2.0"}, "its separatrix was 0.1.0, now it is 0.2.0"),
        ({**IDENTITY, "options": "linear"}, "its options was logistic, strength 0.1, now it is linear"),
        ({**IDENTITY, "target": "y"}, "its target was not given, now it is y"),
        ({"separatrix": "0.1.0"}, "its options was logistic, strength 0.1, now it is not given"),
    ],
    ids=["version", "options", "more", "less"],
)
def test_the_journal_of_another_fit_is_refused_with_what_differs(identity, words, tmp_path):
    before = written(tmp_path)
    with pytest.raises(OptionError, match=f"is of another fit: {words}; run what it was begun with"):
        open_journal(tmp_path, identity)
    assert (tmp_path / FILE).read_bytes() == before
    assert None not in kept(tmp_path)


def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path):
    (tmp_path / FILE).write_text("my diary, which is longer than a line\n")
    with pytest.raises(DataError, match="is no journal of a fit"):
        open_journal(tmp_path, IDENTITY)
    assert (tmp_path / FILE).read_text().startswith("my diary")


def test_a_folder_that_cannot_be_one_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match=r"no checkpoint can be kept in .*file"):
        open_journal(tmp_path / "file", IDENTITY)


def test_a_journal_in_use_by_another_process_is_refused(tmp_path):
    written(tmp_path)
    code = (
        "import sys; from separatrix.design.journal import open_journal\n"
        f"journal = open_journal(sys.argv[1], {IDENTITY!r}); print('open', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(OptionError, match="another fit is using the checkpoint folder"):
            open_journal(tmp_path, IDENTITY)
        other.kill()
    assert None not in kept(tmp_path)


def test_in_one_process_the_latest_handle_has_the_journal(tmp_path):
    first = open_journal(tmp_path, IDENTITY)
    first.keep("key 0", "task", 1.0, 1e9)
    second = open_journal(tmp_path, IDENTITY)
    assert second.look_up("key 0") == (1.0,)
    with pytest.raises(OptionError, match="is closed, or was opened anew"):
        first.keep("key 1", "task", 1.0, 1e9)
    second.close()


def test_a_journal_never_grows_beyond_its_limit(tmp_path):
    journal = open_journal(tmp_path, IDENTITY, limit=20_000)
    for place in range(100):
        journal.keep(f"key {place}", "task", np.full(100, float(place)), 1e9)
    assert journal.size == (tmp_path / FILE).stat().st_size <= 20_000
    held = [place for place in range(100) if journal.look_up(f"key {place}") is not None]
    assert held == list(range(len(held)))
    assert 10 < len(held) < 20
    journal.keep("large", "task", np.zeros(50), most=399)
    assert journal.look_up("large") is None
    journal.remove()


def test_a_full_disk_is_named_and_leaves_what_was_whole(tmp_path, monkeypatch):
    journal = open_journal(tmp_path, IDENTITY)
    journal.keep("key 0", "task", 1.0, 1e9)
    size, write = journal.size, os.pwrite

    def full(file, content, place):
        if place > size:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, bytes(content)[:30], place)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OptionError, match=rf"cannot be written \(No space left on device\) after {size:,} bytes"):
        journal.keep("key 1", "task", np.zeros(100), 1e9)
    monkeypatch.undo()
    assert (tmp_path / FILE).stat().st_size == size
    journal.keep("key 1", "task", np.zeros(3), 1e9)
    journal.close()
    assert [each is not None for each in kept(tmp_path)] == [True, True, *[False] * 5]


def test_a_finished_fit_leaves_nothing_but_others_files(tmp_path):
    journal = open_journal(tmp_path / "own", IDENTITY)
    journal.remove()
    assert not (tmp_path / "own").exists()
    (tmp_path / "notes.txt").write_text("mine")
    open_journal(tmp_path, IDENTITY).remove()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
