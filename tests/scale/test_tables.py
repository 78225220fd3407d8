"""Tables larger than the memory allowed: the same decisions, passes and answer as in memory, from any file."""

from __future__ import annotations

import gzip
import shutil
from dataclasses import replace

import numpy as np
import pytest
from made_tables import made_columns, write_table

import separatrix as sx
from separatrix.design.encode import encoding as stored
from separatrix.design.storage import DiskRows
from separatrix.errors import DataError, OptionError
from separatrix.model import storage
from separatrix.model.file import load_model, save_model
from separatrix.model.storage import Storage
from separatrix.model.train import TrainOptions, train_table
from separatrix.tables.open import open_table, read_table

pytestmark = pytest.mark.slow

ROWS = 6000
SMALL = 2**24  # bytes allowed
OTHERS = {"sold": ("price", "grade"), "price": ("sold", "grade"), "grade": ("sold", "price")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("tables")
    columns = made_columns(ROWS)
    write_table(place / "t.csv", columns)
    write_table(place / "t.parquet", columns)
    with (place / "t.csv").open("rb") as plain, gzip.open(place / "t.csv.gz", "wb", compresslevel=1) as packed:
        shutil.copyfileobj(plain, packed)
    return place


@pytest.fixture(autouse=True)
def little(monkeypatch):
    """Have a matrix of 1.7 megabytes be too large for SMALL, and tables be read and encoded in several blocks."""
    monkeypatch.setattr(storage, "MATRIX_PART", 30)
    for name, value in (("BLOCK_ROWS", 2500), ("FEWEST_BLOCK_ROWS", 700), ("MOST_ENTRIES", 2**14)):
        monkeypatch.setattr(stored, name, value)
    monkeypatch.setattr("separatrix.design.storage.BLOCK_ENTRIES", 2**15)


@pytest.fixture
def kept(monkeypatch):
    """Where the rows of each fit were kept, in the order of the fits."""
    found = []
    encode = storage.encode_source

    def noted(*arguments, **options):
        encoded = encode(*arguments, **options)
        found.append("disk" if isinstance(encoded.X, DiskRows) else "memory")
        return encoded

    monkeypatch.setattr(storage, "encode_source", noted)
    return found


def options_of(model="auto", target="sold", memory=None, **more):
    return TrainOptions(
        model, more.pop("given", {}), target=target, drop=OTHERS[target], storage=Storage(memory), **more
    )


def trained(path, options):
    with open_table(str(path), memory=options.storage.table_memory) as source:
        return train_table(source, options)


def errors(found):
    terms = found.model.summary.get("terms", ())
    return np.asarray(
        [np.nan if term["standard_error"] is None else term["standard_error"] for term in terms], dtype=np.float64
    )


def assert_same(one, other, digits=1e-10):
    """Assert that two trainings decided, walked and ended alike."""
    assert one.decisions == other.decisions
    np.testing.assert_allclose(
        other.model.coef, one.model.coef, rtol=digits, atol=digits * np.abs(one.model.coef).max()
    )
    np.testing.assert_allclose(other.model.intercept, one.model.intercept, rtol=digits)
    np.testing.assert_allclose(errors(other), errors(one), rtol=digits)
    assert one.fitted.result.passes == other.fitted.result.passes
    assert one.fitted.result.status == other.fitted.result.status
    assert one.model.data["sha256"] == other.model.data["sha256"]
    assert one.model.data["rows"] == other.model.data["rows"]
    assert (one.predictions.labels == other.predictions.labels).all() or one.model.classes is None
    np.testing.assert_allclose(other.predictions.scores, one.predictions.scores, rtol=1e-8, atol=1e-8)


SEVERAL = {
    "logistic": {},
    "penalised": {"model": "logistic", "given": {"strength": 1e-3}},
    "lasso": {"model": "linear", "target": "price", "given": {"strength": 1e-2, "l1_ratio": 1.0}},
    "linear": {"target": "price"},
    "softmax": {"target": "grade"},
    "svm": {"model": "svm", "given": {"strength": 1e-2}},
    "generative": {"model": "generative"},
    "lms": {"model": "lms", "target": "price"},
}


@pytest.mark.parametrize("name", SEVERAL)
def test_disk_gives_the_model_of_memory(folder, kept, name):
    asked = SEVERAL[name]
    in_memory = trained(folder / "t.csv", options_of(**asked))
    on_disk = trained(folder / "t.csv", options_of(memory=SMALL, **asked))
    assert kept == ["memory", "disk"]
    assert_same(in_memory, on_disk)
    assert in_memory.own.to_dict() == on_disk.own.to_dict()


def test_a_perceptron_visits_rows_on_disk_in_the_same_order(folder, kept):
    few = {"keep": "best", "max_passes": 5}
    in_memory, on_disk = (
        trained(folder / "t.csv", options_of("perceptron", memory=memory, given=few)) for memory in (None, SMALL)
    )
    assert kept == ["memory", "disk"]
    assert in_memory.fitted.result.facts == on_disk.fitted.result.facts
    assert (in_memory.model.coef == on_disk.model.coef).all()


@pytest.mark.parametrize("name", ["t.parquet", "t.csv.gz"])
def test_files_of_any_kind_agree(folder, kept, name):
    one, other = (trained(folder / each, options_of(memory=SMALL)) for each in ("t.csv", name))
    assert kept == ["disk", "disk"]
    assert_same(one, other)


def test_a_table_that_is_read_and_one_that_is_not_agree(folder):
    options = options_of(memory=SMALL)
    assert_same(trained(folder / "t.csv", options), train_table(read_table(str(folder / "t.csv")), options))


def test_text_and_a_sparse_matrix_on_disk(tmp_path, kept):
    path = write_table(tmp_path / "wide.csv", made_columns(ROWS, streets=300))
    asked = {"text": ("note",), "given": {"strength": 1e-3}}
    in_memory, on_disk = (trained(path, options_of(memory=memory, **asked)) for memory in (None, SMALL))
    assert in_memory.model.encoding.sparse
    assert kept == ["memory", "disk"]
    assert_same(in_memory, on_disk)


def test_gaps_dropped_rows_apart_and_folds(folder, kept):
    for more in ({"missing": "drop", "holdout": 0.25}, {"folds": 3}):
        in_memory, on_disk = (trained(folder / "t.csv", options_of(memory=memory, **more)) for memory in (None, SMALL))
        assert_same(in_memory, on_disk)
        assert on_disk.holdout is not None
        assert in_memory.holdout.to_dict() == on_disk.holdout.to_dict()
        assert in_memory.holdout_description == on_disk.holdout_description
        half = len(kept) // 2
        assert kept[half] == "disk"
        assert set(kept[:half]) == {"memory"}
        kept.clear()


def test_gaps_refused_are_counted_over_all_blocks(folder):
    told, gaps = [], int(np.isnan(made_columns(ROWS)["x0"]).sum())
    assert gaps > 100
    for memory in (None, SMALL):
        with pytest.raises(DataError, match=f"'x0' is missing in {gaps} rows \\(and in 1 more column\\)") as refused:
            trained(folder / "t.csv", options_of(memory=memory, missing="error"))
        told.append(str(refused.value))
    assert told[0] == told[1]


def test_rows_without_a_target_are_left_out(tmp_path, kept):
    columns = made_columns(ROWS)
    columns["sold"][::7] = None
    path = write_table(tmp_path / "gaps.csv", columns)
    in_memory, on_disk = (trained(path, options_of(memory=memory)) for memory in (None, SMALL))
    assert kept == ["memory", "disk"]
    assert in_memory.decisions[0] == "858 rows without a 'sold' left out"
    assert_same(in_memory, on_disk)


def test_the_one_call_takes_a_size(folder, tmp_path, kept):
    path, drop = str(folder / "t.csv"), ["price", "grade"]
    plain, capped = sx.train(path, "sold", drop=drop), sx.train(path, "sold", drop=drop, memory="16.8MB")
    assert kept == ["memory", "disk"]
    assert (plain.coef == capped.coef).all()
    save_model(capped, str(tmp_path / "m.json"))
    saved = load_model(str(tmp_path / "m.json"))
    assert (saved.predict(read_table(path)).labels == plain.predict(read_table(path)).labels).all()
    with pytest.raises(OptionError, match="'much' is not a size"):
        sx.train(path, "sold", memory="much")


def test_no_files_are_left(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("separatrix.tables.open.LARGE", 1000)
    trained(folder / "t.csv", options_of(memory=SMALL))
    with pytest.raises(DataError, match="no column 'solt'"):
        trained(folder / "t.csv", replace(options_of(memory=SMALL), target="solt"))
    assert list(tmp_path.iterdir()) == []


def test_a_table_in_a_file_of_duckdb_is_the_one_in_memory(folder, monkeypatch):
    with open_table(str(folder / "t.csv")) as small:
        monkeypatch.setattr("separatrix.tables.open.LARGE", 1000)
        with open_table(str(folder / "t.csv"), memory=2**26) as large:
            assert small.schema == large.schema
            one, other = small.read(), large.read()
            for name in one.names:
                np.testing.assert_array_equal(one.column(name).values, other.column(name).values)
            chosen = np.random.default_rng(0).random(ROWS) < 0.4
            blocks = list(large.select(chosen).blocks(5000))
            joined = np.concatenate([block.column("x1").values for block in blocks])
            np.testing.assert_array_equal(joined, one.column("x1").values[chosen])
            words = large.select(chosen).column("note")
            assert list(words.values) == one.column("note").values[chosen].tolist()
            assert words.missing == 0
            assert large.select(chosen).select(np.arange(chosen.sum()) < 3).column("name").values[1:3].tolist() == list(
                one.column("name").values[chosen][1:3]
            )


def test_rows_keep_their_order_whatever_thread_read_them(tmp_path):
    """Several groups of rows, which threads hand over as they finish, each with an expression that takes its time."""
    count = 400_000
    numbers = np.arange(count, dtype=np.float64) * 0.5
    words = np.asarray([f"level {k}" for k in range(11)], dtype=object)[np.arange(count) % 11]
    words[::13] = None
    days = np.asarray([f"20{k % 90 + 10}-03-{k % 28 + 1:02d}" for k in range(1000)], dtype=object)
    columns = {"half": numbers, "word": words, "day": days[np.arange(count) % 1000]}
    path = write_table(tmp_path / "long.parquet", columns)
    with open_table(path, memory=2**26) as source:
        for _ in range(3):
            codes = source.column("word").values
            np.testing.assert_array_equal(codes < 0, np.arange(count) % 13 == 0)
            day, first = source.column("day").values, source.column("day").values[:1000]
            np.testing.assert_array_equal(day, np.tile(first, 400))
            blocks = list(source.blocks(150_000))
            np.testing.assert_array_equal(np.concatenate([block.column("half").values for block in blocks]), numbers)
            np.testing.assert_array_equal(np.concatenate([block.column("word").values for block in blocks]), codes)
