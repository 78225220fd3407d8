"""The journal's file: results come back bit for bit after any kill; damaged files and those of others are refused."""

import io
import json
import operator
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from separatrix.design.base import Expansion
from separatrix.design.journal import FILE, ROLLBACK, SPARE, open_journal, pack, unpack
from separatrix.design.journaled import digest
from separatrix.errors import DataError, OptionError, SeparatrixError

IDENTITY = {"separatrix": "0.1.0", "options": "logistic, strength 0.1"}
REFUSALS = {
    "is damaged",
    "is not a separatrix checkpoint",
    "was written by another version",
    "belongs to another fit",
    "cannot be written",
}
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
    assert same(unpack(pack(result)), result)


@pytest.mark.parametrize("result", [Foreign(1.0), {"a": 1.0}, "text", np.array(["a"]), (1.0, object())])
def test_what_is_no_number_has_no_bytes(result):
    assert pack(result) is None


def test_only_records_of_the_package_are_made_again():
    for record in (["os", "system"], ["separatrix.design.journal", "open_journal"], ["separatrixx", "A"]):
        with pytest.raises((TypeError, ImportError)):
            unpack(json.dumps(["record", *record, 1]).encode() + b"\n")


def test_a_pickle_in_place_of_numbers_is_not_loaded():
    content = io.BytesIO()
    np.save(content, np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        unpack(b'["array"]\n' + content.getvalue())


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


def test_what_cannot_be_pickled_has_no_digest():
    def local(x):
        return x

    for each in (local, lambda x: 2.0 * x, partial(local, 1), sys, (1, sys), sys.stdout):
        assert digest(each) is None


def test_digests_are_the_same_in_another_process():
    code = (
        "import numpy as np; from separatrix.losses import Logistic;"
        "from separatrix.design.journaled import digest;"
        "print(digest({'b': 1, 'a': {2, 'x'}}, np.arange(300_000.0), Logistic(), np.add))"
    )
    run = partial(subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    told = {run(env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}
    assert len(told) == 1
    assert len(told.pop().strip()) == 40


# The file


def test_a_journal_keeps_what_it_is_given_for_its_owner(tmp_path):
    written(tmp_path)
    assert all(same(found, (result,)) for found, result in zip(kept(tmp_path), RESULTS, strict=True))
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


# Forks that write results until they are killed: by a timer at any moment, or in the middle of a write by a limit on
# the size of files. What a fork had stored is there, and at most the result that it was about to report besides.
KILLED = """
import os, resource, signal, sys
import numpy as np
from separatrix.design.journal import FILE, open_journal

folder, rng, stored, kills = sys.argv[1], np.random.default_rng(0), 0, []

def result(place):
    return (float(place), np.full((1 + place % 40) ** 2, float(place)))

def limit_time():
    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, 2e-2))

def limit_size():
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    path = os.path.join(folder, FILE)
    size = os.path.getsize(path) if os.path.exists(path) else 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + int(rng.integers(1, 40_000)),) * 2)

def write(report):
    journal = open_journal(folder, {})
    for place in range(journal.loaded, journal.loaded + 12):
        journal.keep(f"key {place}", "task", result(place), 1e9)
        os.write(report, b"x")

for turn in range(60):
    receive, report = os.pipe()
    rng.uniform()
    child = os.fork()
    if not child:
        (limit_time, limit_size)[turn % 2]()
        write(report)
        os._exit(0)
    os.close(report)
    kills.append(os.WTERMSIG(os.waitpid(child, 0)[1]))
    stored += len(os.read(receive, 1000))
    os.close(receive)
    journal = open_journal(folder, {})
    assert stored <= journal.loaded <= stored + 1, (stored, journal.loaded)
    for place in range(journal.loaded):
        ((number, array),) = journal.look_up(f"key {place}")
        assert number == place and array.tobytes() == result(place)[1].tobytes()
    stored = journal.loaded
    journal.close()
print(stored, kills.count(signal.SIGALRM), kills.count(signal.SIGXFSZ))
"""


@pytest.mark.slow
def test_writers_killed_at_any_moment_lose_nothing_that_was_stored(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    stored, by_timer, in_a_write = map(int, done.stdout.split())
    assert stored > 50
    assert by_timer > 5
    assert in_a_write > 5


def test_an_incomplete_transaction_is_undone(tmp_path):
    written(tmp_path, RESULTS[:3])
    code = (
        "import os, sys, sqlite3; database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "database.execute('PRAGMA journal_mode = TRUNCATE'); database.execute('PRAGMA cache_size = 1')\n"
        "database.execute('BEGIN'); database.execute('DELETE FROM entries')\n"
        "for key in range(50): database.execute('INSERT INTO entries VALUES (?, 1, 2, zeroblob(9000))', (key,))\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / FILE)], check=False, timeout=60)
    assert (tmp_path / ROLLBACK).stat().st_size > 0
    for _ in range(2):
        assert [each is not None for each in kept(tmp_path)] == [True] * 3 + [False] * 4


def outcome(folder) -> tuple[str | None, list]:
    """Return the refusal of a journal, or None and what it has of the results."""
    try:
        return None, kept(folder)
    except SeparatrixError as refusal:
        return next((words for words in REFUSALS if words in str(refusal)), str(refusal)), []


@pytest.mark.slow
def test_a_byte_altered_anywhere_never_gives_another_result(tmp_path):
    content, words = written(tmp_path), []
    for place in range(0, len(content), 3):
        altered = bytearray(content)
        altered[place] ^= 0x10
        (tmp_path / FILE).write_bytes(altered)
        refusal, found = outcome(tmp_path)
        words.append(refusal)
        if refusal is None:  # unused bytes of a page, or of SQLite's header
            assert all(same(each, (result,)) for each, result in zip(found, RESULTS, strict=True))
    assert set(words) <= {*REFUSALS, None}
    assert words.count("is damaged") > 0.9 * sum(map(len, map(pack, RESULTS))) / 3


def test_a_journal_cut_at_any_byte_is_refused_and_left_alone(tmp_path):
    content = written(tmp_path)
    for cut in range(2, len(content), 37):
        (tmp_path / FILE).write_bytes(content[:cut])
        refusal, _ = outcome(tmp_path)
        assert refusal in REFUSALS
        assert (tmp_path / FILE).read_bytes() == content[:cut]


@pytest.mark.parametrize(
    ("identity", "words"),
    [
        ({**IDENTITY, "separatrix": "0.2.0"}, "separatrix: 0.1.0, now 0.2.0"),
        ({**IDENTITY, "options": "linear"}, "options: logistic, strength 0.1, now linear"),
        ({**IDENTITY, "target": "y"}, "target: not given, now y"),
        ({"separatrix": "0.1.0"}, "options: logistic, strength 0.1, now not given"),
    ],
    ids=["version", "options", "more", "less"],
)
def test_the_journal_of_another_fit_is_refused_with_what_differs(identity, words, tmp_path):
    before = written(tmp_path)
    with pytest.raises(OptionError, match=rf"belongs to another fit \({words}\); run the fit it was started with"):
        open_journal(tmp_path, identity)
    assert (tmp_path / FILE).read_bytes() == before
    assert None not in kept(tmp_path)


def foreign_database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE entries (key, task, checksum, content)")
        return database.serialize()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"my diary, which is longer than a line\n", "fit.journal is not a separatrix checkpoint; give another folder"),
        (b"xy", "fit.journal is not a separatrix checkpoint; give another folder"),
        (foreign_database(), "fit.journal is not a separatrix checkpoint; give another folder"),
        (
            b"separatrix journal 1\n\0\xffpass\xff\0",
            "was written by another version of separatrix; delete it and fit again",
        ),
    ],
    ids=["text", "two bytes", "database", "earlier format"],
)
def test_a_file_that_is_no_journal_is_refused_and_left_alone(content, words, tmp_path):
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(DataError, match=words):
        open_journal(tmp_path, IDENTITY)
    assert (tmp_path / FILE).read_bytes() == content


def test_a_later_format_is_refused(tmp_path):
    written(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(DataError, match="was written by another version of separatrix"):
        open_journal(tmp_path, IDENTITY)


def test_a_folder_that_cannot_be_one_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match=r"no checkpoint can be created in .*file"):
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


def test_a_fork_that_closes_its_copy_takes_nothing_away(tmp_path):
    code = (
        "import os, sys; from separatrix.design.journal import open_journal\n"
        f"journal = open_journal(sys.argv[1], {IDENTITY!r}); journal.keep('key 0', 'task', 3.5, 1e9)\n"
        "child = os.fork()\n"
        "if not child: journal.close(); os._exit(0)\n"
        "os.waitpid(child, 0); print('forked', flush=True); sys.stdin.readline()\n"
        "journal.keep('key 1', 'task', 4.5, 1e9); os.kill(os.getpid(), 9)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "forked\n"
        with pytest.raises(OptionError, match="another fit is using the checkpoint folder"):
            open_journal(tmp_path, IDENTITY)
        assert (tmp_path / ROLLBACK).exists()
        other.communicate("\n", timeout=60)
    assert kept(tmp_path)[:3] == [(3.5,), (4.5,), None]


def test_in_one_process_the_latest_handle_has_the_journal(tmp_path):
    first = open_journal(tmp_path, IDENTITY)
    first.keep("key 0", "task", 1.0, 1e9)
    second = open_journal(tmp_path, IDENTITY)
    assert second.look_up("key 0") == (1.0,)
    with pytest.raises(OptionError, match="is closed, or was opened again"):
        first.keep("key 1", "task", 1.0, 1e9)
    second.close()


def test_a_journal_never_grows_beyond_its_limit(tmp_path):
    limit = SPARE + 100_000
    journal = open_journal(tmp_path, IDENTITY, limit=limit)
    for place in range(200):
        journal.keep(f"key {place}", "task", np.full(500, float(place)), 1e9)
    assert journal.size == (tmp_path / FILE).stat().st_size <= limit
    held = [place for place in range(200) if journal.look_up(f"key {place}") is not None]
    assert held == list(range(len(held)))
    assert 10 < len(held) < 30
    journal.keep("large", "task", np.zeros(50), most=399)
    assert journal.look_up("large") is None
    journal.remove()


def test_an_entry_lengthens_the_file_by_no_more_than_its_bytes_and_the_spare(tmp_path):
    journal, rng = open_journal(tmp_path, IDENTITY), np.random.default_rng(0)
    for place in range(300):
        result, before = np.zeros(int(rng.integers(0, 20_000))), journal.size
        journal.keep(f"key {place}", "task", result, 1e9)
        assert 0 <= journal.size - before <= 1.001 * len(pack(result)) + SPARE / 2
    journal.remove()


def test_a_full_disk_is_named_and_leaves_what_was_whole(tmp_path):
    journal = open_journal(tmp_path, IDENTITY)
    journal.keep("key 0", "task", 1.0, 1e9)
    size, database = journal.size, journal._database
    pages = database.execute("PRAGMA max_page_count").fetchone()[0]
    database.execute("PRAGMA max_page_count = 1")  # raised by SQLite to the pages there are
    with pytest.raises(OptionError, match=r"cannot be written \(database or disk is full\); free space"):
        journal.keep("key 1", "task", np.zeros(10_000), 1e9)
    assert (tmp_path / FILE).stat().st_size == journal.size == size
    database.execute(f"PRAGMA max_page_count = {pages}")
    journal.keep("key 1", "task", np.zeros(10_000), 1e9)
    journal.close()
    assert [each is not None for each in kept(tmp_path)] == [True, True, *[False] * 5]


def test_a_write_that_fails_is_named_and_undone(tmp_path):
    code = (
        "import resource, sys; import numpy as np; from separatrix.design.journal import open_journal\n"
        f"journal = open_journal(sys.argv[1], {IDENTITY!r}); journal.keep('key 0', 'task', 1.0, 1e9)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "journal.keep('key 1', 'task', np.zeros(10_000), 1e9)"
    )
    failed = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "cannot be written (disk I/O error); free space" in failed.stderr
    assert [each is not None for each in kept(tmp_path)] == [True, *[False] * 6]


def test_a_finished_fit_leaves_nothing_but_others_files(tmp_path):
    journal = open_journal(tmp_path / "own", IDENTITY)
    journal.remove()
    assert not (tmp_path / "own").exists()
    (tmp_path / "notes.txt").write_text("mine")
    open_journal(tmp_path, IDENTITY).remove()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
