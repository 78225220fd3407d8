"""Fits that are killed and run again: the same answer bit for bit, and no pass made twice."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.design.journal import FILE, SPARE, open_journal
from separatrix.design.journaled import SMALL, JournaledDesign, JournaledRows, versions
from separatrix.errors import OptionError

N, P = 600, 4


def rows_of(n=N, p=P, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    score = X @ rng.standard_normal(p) + rng.logistic(size=n)
    return X, score


X, SCORE = rows_of()
LABELS, CLASSES = (SCORE > 0).astype(int), np.digitize(SCORE, [-1.0, 1.0])
FAR = X + 1e6
DEPENDENT = np.column_stack([X, X[:, 0] + 1e-9 * np.cos(SCORE)])
SPARSE = sp.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))

CASES = {
    "logistic": (sx.LogisticRegression(strength=1e-3), X, LABELS),
    "maximum likelihood": (sx.LogisticRegression(), X, LABELS),
    "dependent columns": (sx.LogisticRegression(), DEPENDENT, LABELS),
    "softmax": (sx.LogisticRegression(strength=1e-3), X, CLASSES),
    "one against the rest": (sx.LogisticRegression(strength=1e-3, multiclass="one_vs_rest"), X, CLASSES),
    "lasso": (sx.LinearRegression(strength=0.01, l1_ratio=1.0), X, SCORE),
    "least squares": (sx.LinearRegression(), X, SCORE),
    "far columns": (sx.LogisticRegression(strength=1e-3), FAR, LABELS),
    "sparse rows": (sx.LogisticRegression(strength=1e-3), SPARSE, LABELS),
    "hinge": (sx.LinearSVM(strength=1e-2), X, LABELS),
    "squared hinge": (sx.LinearSVM(strength=1e-2, loss="squared_hinge"), X, LABELS),
    "perceptron": (sx.Perceptron(max_updates=400, order="shuffled", keep="best", random_state=3), X, LABELS),
    "batch perceptron": (sx.Perceptron(update="batch", max_updates=30), X, LABELS),
    "LMS, a row at a time": (sx.LMSRegressor(update="stochastic", max_passes=20, random_state=1), X, SCORE),
    "LMS": (sx.LMSRegressor(max_passes=30), X, SCORE),
    "generative": (sx.GaussianGenerativeClassifier(), X, LABELS),
}


def answer(fitted):
    return fitted.coef_.tobytes(), np.asarray(fitted.intercept_).tobytes(), fitted.result_.passes


def forget_after(folder, kept) -> None:
    """Bring a journal to its state after a kill: only its first entries, identities and results, are there."""
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as database:
        database.execute("DELETE FROM entries WHERE rowid > ?", (int(kept),))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize("case", CASES)
def test_a_journaled_fit_is_the_fit_and_its_journal_cut_anywhere_resumes_to_it(case, tmp_path):
    estimator, data, target = CASES[case]
    plain = answer(clone(estimator).fit(data, target))
    rows = sx.checkpointed(data, tmp_path)
    assert answer(clone(estimator).fit(rows, target)) == plain
    made = rows.journal.made
    assert rows.journal.loaded == 0
    rows = sx.checkpointed(data, tmp_path)
    assert answer(clone(estimator).fit(rows, target)) == plain
    assert rows.journal.made == 0
    replayed = rows.journal.replayed
    for kept in np.random.default_rng(len(case)).integers(0, rows.journal.loaded + 2, 6):
        rows.journal.close()
        forget_after(tmp_path, kept)
        rows = sx.checkpointed(data, tmp_path)
        fitted = clone(estimator).fit(rows, target)
        assert answer(fitted) == plain
        assert rows.journal.made + rows.journal.replayed == replayed
        assert rows.journal.made <= made
        assert fitted.certificate_.verify(rows, target)


# A fit in a process of its own, which says when it begins and writes its answer down; it only uses what loads fast.
SCRIPT = """
import sys
import joblib
import numpy as np
from separatrix.design.build import make_design
from separatrix.design.journaled import checkpointed
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.losses import Logistic
from separatrix.penalties import L2
from separatrix.problem import Problem

rng = np.random.default_rng(5)
X = rng.standard_normal((120_000, 12)) @ rng.standard_normal((12, 12))
y = np.where(X @ rng.standard_normal(12) + rng.logistic(size=len(X)) > 0, 1.0, -1.0)
print("ready", flush=True)
rows = checkpointed(X, sys.argv[1])
fit = fit_convex(Problem(make_design(rows, intercept=True), y, Logistic(), L2(1e-5)), ConvexOptions(tol=1e-13))
journal = rows.journal
print(fit.coef.tobytes().hex(), fit.walk.passes, journal.loaded, journal.replayed, journal.made, flush=True)
"""


def started(folder) -> subprocess.Popen:
    """Return a process that is about to fit."""
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def ended(folder) -> list[str]:
    """Return what a process that is left alone tells."""
    process = started(folder)
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return told.split()


@pytest.mark.slow
def test_a_fit_killed_at_random_moments_resumes_to_the_same_bits(tmp_path):
    coef, passes, found, replayed, made = ended(tmp_path / "alone")
    assert int(found) == 0
    total, rng, stored = int(replayed) + int(made), np.random.default_rng(11), [0]  # a pass may be made twice
    for _ in range(6):
        process = started(tmp_path / "killed")
        time.sleep(rng.uniform(0.0, 0.12))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        with closing(open_journal(tmp_path / "killed", versions())) as journal:
            stored.append(journal.loaded)
    assert stored == sorted(stored)  # what is written stays
    again = ended(tmp_path / "killed")
    assert again[:2] == [coef, passes]
    assert int(again[3]) + int(again[4]) == total
    assert int(again[2]) <= int(again[3])
    once_more = ended(tmp_path / "killed")
    assert once_more == [coef, passes, made, str(total), "0"]


# Refusals


def test_the_checkpoint_of_other_data_is_refused_by_name(tmp_path):
    sx.LogisticRegression(strength=0.1).fit(sx.checkpointed(X, tmp_path), LABELS)
    other = X.copy()
    other[17, 2] = np.nextafter(other[17, 2], 9.0)
    for data, words in ((other, r"\(data: "), (X[:-1], r"\(size: 600 rows and 4 columns, now 599 rows")):
        with pytest.raises(OptionError, match=words):
            sx.LogisticRegression(strength=0.1).fit(sx.checkpointed(data, tmp_path), LABELS[: len(data)])
    fitted = sx.LogisticRegression(strength=0.1).fit(sx.checkpointed(X, tmp_path), LABELS)
    assert fitted.result_.status.value == "optimal"


def test_the_checkpoint_of_another_release_is_refused_by_name(tmp_path):
    open_journal(tmp_path, {"separatrix": "0.0.1", "numpy": np.__version__}).close()
    with pytest.raises(OptionError, match=r"\(separatrix: 0\.0\.1, now "):
        sx.checkpointed(X, tmp_path)


def test_other_targets_or_options_find_nothing_and_get_their_own_answer(tmp_path):
    sx.LogisticRegression(strength=0.1).fit(sx.checkpointed(X, tmp_path), LABELS)
    for strength, target in ((0.2, LABELS), (0.1, 1 - LABELS)):
        rows = sx.checkpointed(X, tmp_path)
        fitted = sx.LogisticRegression(strength=strength).fit(rows, target)
        assert answer(fitted) == answer(sx.LogisticRegression(strength=strength).fit(X, target))
        assert rows.journal.made > 0


def test_an_array_written_to_after_the_handle_was_made_is_not_mistaken_for_the_old_one(tmp_path):
    data = X.copy()
    rows = sx.checkpointed(data, tmp_path)
    sx.LogisticRegression(strength=0.1).fit(rows, LABELS)
    data *= 2.0
    fitted = sx.LogisticRegression(strength=0.1).fit(rows, LABELS)
    assert answer(fitted) == answer(sx.LogisticRegression(strength=0.1).fit(data, LABELS))


# The design


def journaled(tmp_path, values, **options) -> JournaledDesign:
    design = make_design(JournaledRows(values, open_journal(tmp_path, {}, **options)), intercept=True)
    assert isinstance(design, JournaledDesign)
    return design


def test_passes_count_those_found_and_those_made(tmp_path):
    design, coef = journaled(tmp_path, X), np.ones(P + 1)
    assert design.passes == 0.0
    scores = design.matvec(coef)
    assert (design.passes, design.journal.made, design.journal.replayed) == (1.0, 1, 0)
    assert design.matvec(coef).tobytes() == scores.tobytes()
    assert (design.passes, design.journal.made, design.journal.replayed) == (2.0, 1, 1)
    design.passes += 3.0
    design.count_visits(N // 2)
    assert design.passes == 5.5
    assert (design.names, design.shape) == (("intercept", "x1", "x2", "x3", "x4"), (N, P + 1))


def test_what_is_derived_is_journaled_by_how_unless_it_is_small(tmp_path):
    tall = np.tile(X, (1 + 2 * SMALL // X.size, 1))
    design, ones = journaled(tmp_path, tall), np.ones(P + 1)
    kept = np.arange(len(tall)) % 7 != 0
    derived = {
        "centred": design.centred(np.full(P, 0.5)),
        "otherwise centred": design.centred(np.full(P, 0.25)),
        "selected": design.select(kept),
        "subsampled": design.subsample(2),
    }
    for name, each in derived.items():
        assert isinstance(each, JournaledDesign), name
        each.rmatvec(np.ones(each.shape[0]))
    assert design.journal.made == len({each.lineage for each in derived.values()}) == 4
    assert np.array_equal(derived["selected"].matvec(ones), make_design(tall[kept], intercept=True).matvec(ones))
    assert not isinstance(design.subsample(1000), JournaledDesign)
    again = journaled(tmp_path, tall)
    for each in (again.centred(np.full(P, 0.5)), again.select(kept), again.subsample(2)):
        each.rmatvec(np.ones(each.shape[0]))
    assert (again.journal.made, again.journal.replayed) == (0, 3)


def test_large_results_are_computed_again_and_the_file_stays_small(tmp_path):
    tall = np.tile(X[:, :1], (1000, 1))
    design = journaled(tmp_path, tall)
    for _ in range(3):
        assert design.matvec(np.ones(2)).shape == (N * 1000,)
    assert (design.journal.made, design.journal.replayed) == (3, 0)
    size = design.journal.size
    design.fold(_heavy)
    assert design.journal.size == size < 20_000


def _heavy(block):
    return np.ones(2**20)


AT_LIMIT = SPARE + 16_000  # bytes: enough for some results of the fit


def test_a_journal_at_its_limit_still_gives_the_answer(tmp_path):
    rows = JournaledRows(X, open_journal(tmp_path, {}, limit=AT_LIMIT))
    fitted = sx.LogisticRegression(strength=1e-3).fit(rows, LABELS)
    assert answer(fitted) == answer(sx.LogisticRegression(strength=1e-3).fit(X, LABELS))
    assert (tmp_path / FILE).stat().st_size <= AT_LIMIT
    rows.journal.close()
    rows = JournaledRows(X, open_journal(tmp_path, {}, limit=AT_LIMIT))
    assert answer(sx.LogisticRegression(strength=1e-3).fit(rows, LABELS)) == answer(fitted)
    assert 0 < rows.journal.replayed < rows.journal.replayed + rows.journal.made


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize("data", [X, SPARSE], ids=["dense", "sparse"])
def test_rows_read_through_a_map_are_journaled(data, tmp_path):
    bend = sx.maps.Polynomial(2).fit(X)
    plain = sx.LogisticRegression(strength=1e-3).fit(sx.maps.mapped(data, bend), LABELS)
    for _ in range(2):
        rows = sx.checkpointed(data, tmp_path)
        fitted = sx.LogisticRegression(strength=1e-3).fit(sx.maps.mapped(rows, bend), LABELS)
        assert answer(fitted) == answer(plain)
    assert (rows.journal.made, rows.journal.replayed > 0) == (0, True)


def test_frames_keep_their_names_and_lists_are_taken(tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = sx.checkpointed(pandas.DataFrame(X, columns=list("abcd")), tmp_path / "frame")
    fitted = sx.LogisticRegression(strength=0.1).fit(rows, LABELS)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    assert sx.checkpointed([[0.0, 1.0], [1.0, 0.0]], tmp_path / "list").shape == (2, 2)


# Other storages


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize("case", ["logistic", "softmax", "least squares", "far columns", "perceptron", "lasso"])
def test_rows_on_disk_are_journaled_and_go_on_from_those_in_memory(case, tmp_path):
    estimator, data, target = CASES[case]
    with sx.blocked(data) as stored:
        plain = answer(clone(estimator).fit(stored, target))
        rows = sx.checkpointed(stored, tmp_path)
        assert answer(clone(estimator).fit(rows, target)) == plain
        rows = sx.checkpointed(stored, tmp_path)
        assert answer(clone(estimator).fit(rows, target)) == plain
        assert rows.journal.made == 0
    rows = sx.checkpointed(data, tmp_path)  # the same rows, in memory
    again = clone(estimator).fit(rows, target).coef_.ravel()
    assert again == pytest.approx(np.frombuffer(plain[0]), rel=1e-10)


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize("case", ["logistic", "softmax", "least squares", "batch perceptron"])
def test_rows_of_dask_are_journaled(case, tmp_path):
    arrays = pytest.importorskip("dask.array")
    estimator, data, target = CASES[case]
    chunked = arrays.from_array(data, chunks=(150, P))
    plain = answer(clone(estimator).fit(chunked, target))
    for _ in range(2):
        rows = sx.checkpointed(chunked, tmp_path)
        assert answer(clone(estimator).fit(rows, target)) == plain
    assert (rows.journal.made, rows.journal.replayed > 0) == (0, True)
