"""Rows on disk do all that rows in memory do, to the last bit, and keep to the memory they are allowed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.design import array
from separatrix.design.array import SparseDesign
from separatrix.design.build import BlockedRows, make_design, row_radius
from separatrix.design.columns import column_store
from separatrix.design.mapped import MappedRows
from separatrix.design.maps import PolynomialMap
from separatrix.errors import DataError, OptionError
from separatrix.loops.rows import row_dot
from separatrix.solvers.visits import VisitPlan, by_blocks

ROWS, COLUMNS = 157, 16
LITTLE = 2**24  # the least memory allowed


def dense() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS)) * (rng.uniform(size=(ROWS, COLUMNS)) < 0.6)
    X[5], X[6] = 0.0, X[7]
    return X


KINDS = {
    "dense": dense,
    "float32": lambda: dense().astype(np.float32),
    "sparse": lambda: sp.csr_array(dense()),
    "sparse float32": lambda: sp.csr_array(dense().astype(np.float32)),
}


@pytest.fixture(name="X", params=KINDS)
def stored_rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(array, "BLOCK_ELEMENTS", 10 * COLUMNS + 1)  # ten rows a block
    monkeypatch.setattr(array, "BLOCK_ENTRIES", 200)
    return KINDS[request.param]()


@pytest.fixture(params=[False, True], ids=["plain", "virtual column"])
def virtual(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def pair(X: Any, virtual: bool) -> Iterator[tuple[Any, Any]]:
    """Return the design on disk and the one in memory."""
    with sx.blocked(X, memory=LITTLE) as rows:
        yield make_design(rows, intercept=virtual), make_design(X, intercept=virtual)


@pytest.fixture
def no_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every copy go to disk."""
    monkeypatch.setattr(array, "COPIED", 0.0)


def same(one: Any, other: Any) -> None:
    np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def test_blocks_are_cut_where_those_in_memory_are(pair: tuple[Any, Any]) -> None:
    disk, memory = pair
    edges = [[(block.start, block.stop) for block in design.blocks()] for design in pair]
    assert edges[0] == edges[1]
    assert len(edges[0]) > 5
    assert (disk.shape, disk.names) == (memory.shape, memory.names)
    assert (disk.in_memory, disk.random_rows, disk.row_visits, disk.column_access) == (False, True, True, True)


def test_passes_give_the_same_bits_and_count_the_same(pair: tuple[Any, Any]) -> None:
    rng = np.random.default_rng(1)
    n, p = pair[0].shape
    coef, values, weights = rng.normal(size=(p, 3)), rng.normal(size=n), rng.uniform(size=n)
    found = [
        (d.matvec(coef), d.rmatvec(values), d.gram(weights), d.squared_norms(), row_radius(d), d.passes) for d in pair
    ]
    for disk, memory in zip(*found, strict=True):
        same(disk, memory)
    assert found[0][-1] == 5.0


def test_single_rows_are_the_same(pair: tuple[Any, Any]) -> None:
    disk, memory = pair
    for indices in ([0], [ROWS - 1, 0, 3, 3], [-1, -ROWS], [], np.arange(ROWS)[::-1], np.arange(0, ROWS, 13)):
        same(disk.take(indices), memory.take(indices))
    for stride in (1, 2, 7, 1000):
        sample, other = disk.subsample(stride), memory.subsample(stride)
        assert (type(sample), sample.names, sample.shape) == (type(other), other.names, other.shape)
        same(sample.take(np.arange(sample.shape[0])), other.take(np.arange(sample.shape[0])))
    with pytest.raises(IndexError, match=f"row {ROWS} is out of bounds for {ROWS} rows"):
        disk.take([0, ROWS])
    assert disk.passes == 0.0


def test_rows_far_apart_are_read_by_themselves(virtual: bool) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3000))  # 24 kB a row
    with sx.blocked(X) as rows:
        design = make_design(rows, intercept=virtual)
        same(design.take([0, 20, 39, 3]), make_design(X, intercept=virtual).take([0, 20, 39, 3]))
        same(design.subsample(9).values, X[::9])


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_some_rows_are_a_design_of_their_own(pair: tuple[Any, Any], where: str, request: pytest.FixtureRequest) -> None:
    if where == "disk":
        request.getfixturevalue("no_copies")
    disk, memory = pair
    kept = np.random.default_rng(2).uniform(size=ROWS) < 0.4
    chosen, other = disk.select(kept), memory.select(kept)
    assert chosen.in_memory == (where == "memory")
    same(chosen.take(np.arange(kept.sum())), other.take(np.arange(kept.sum())))
    coef = np.random.default_rng(3).normal(size=disk.shape[1])
    same(chosen.matvec(coef), other.matvec(coef))


def test_visits_of_single_rows_see_the_same_rows(pair: tuple[Any, Any]) -> None:
    disk, memory = (design.stored_rows() for design in pair)
    assert pair[0].stored_rows() is disk  # mapped once
    for mine, other in zip(disk, memory, strict=True):
        same(mine, other)
        assert getattr(mine, "dtype", None) == getattr(other, "dtype", None)
    assert not disk.values.flags.writeable


@pytest.mark.parametrize("where", ["memory", "disk"])
@pytest.mark.parametrize("indices", [[0, 3, 9], [2, 3, 4], [1], list(range(COLUMNS))], ids=str)
def test_columns_are_the_same(
    pair: tuple[Any, Any], where: str, indices: list[int], request: pytest.FixtureRequest
) -> None:
    if where == "disk":
        request.getfixturevalue("no_copies")
    rng = np.random.default_rng(4)
    coef, values, weights = rng.normal(size=len(indices)), rng.normal(size=ROWS), rng.uniform(size=ROWS)
    found = []
    for design in pair:
        store = column_store(design)
        columns = store.take(np.asarray(indices))
        products = (columns.times(coef), columns.transposed_times(values), columns.gram(weights))
        found.append((*products, store.correlate(values, np.asarray(indices))[indices], store.squares(weights)))
        found[-1] += (design.passes,)
    for disk, memory in zip(*found, strict=True):
        np.testing.assert_allclose(disk, memory, rtol=1e-13, atol=1e-13)
    assert found[0][-1] == found[1][-1]


def test_few_columns_of_many_rows_are_gathered_on_disk(no_copies: None) -> None:
    X = dense()
    with sx.blocked(X) as rows:
        columns = column_store(make_design(rows, intercept=True)).take(np.array([0, 3, 11]))
        assert not columns.source.in_memory  # type: ignore[attr-defined]
        same(columns.source.take([0, 9]), X[[0, 9]][:, [2, 10]])  # type: ignore[attr-defined]


def test_a_centre_is_taken_off_every_row(virtual: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array, "BLOCK_ELEMENTS", 10 * COLUMNS)
    far = dense() + np.where(np.arange(COLUMNS) % 3 == 0, 1000.0, 0.0)
    for X in (far, far.astype(np.float32)):
        with sx.blocked(X) as rows:
            designs = [make_design(X, intercept=virtual), make_design(rows, intercept=virtual)]
            centres = [design.needed_centre() for design in designs]
            if not virtual:
                assert centres == [None, None]
                continue
            same(*centres)
            memory, disk = (design.centred(centre) for design, centre in zip(designs, centres, strict=True))
            coef = np.random.default_rng(5).normal(size=disk.shape[1])
            for one, other in [
                (disk.matvec(coef), memory.matvec(coef)),
                (disk.take([3, 1]), memory.take([3, 1])),
                (disk.subsample(5).matvec(coef), memory.subsample(5).matvec(coef)),
                (disk.select(np.arange(ROWS) > 9).matvec(coef), memory.select(np.arange(ROWS) > 9).matvec(coef)),
                (disk.stored_rows().values, memory.stored_rows().values),
                (disk.matvec(coef), memory.matvec(coef)),  # what is read anew is centred anew
            ]:
                same(one, other)
            columns = [column_store(design).take(np.array([0, 1, 8])).gram(np.ones(ROWS)) for design in (disk, memory)]
            np.testing.assert_allclose(*columns, rtol=1e-12)


def test_what_is_kept_of_a_block_does_not_change() -> None:
    X = np.random.default_rng(0).normal(size=(60_000, 10))
    with sx.blocked(X) as rows:
        kept = [block.dense_stored() for block in make_design(rows, intercept=False).blocks()]
        assert len(kept) > 4
        same(np.concatenate(kept), X)


def test_maps_read_blocked_rows_and_store_what_they_make(pair: tuple[Any, Any], no_copies: None, X: Any) -> None:
    degree_two = PolynomialMap(COLUMNS, 2, True)
    with sx.blocked(X) as rows:
        disk, memory = (make_design(MappedRows(each, degree_two), intercept=True) for each in (rows, X))
        coef = np.random.default_rng(6).normal(size=disk.shape[1])
        np.testing.assert_allclose(disk.matvec(coef), memory.matvec(coef), rtol=1e-12, atol=1e-12)
        assert not disk.stored.in_memory  # type: ignore[attr-defined]
        found = [row_dot(design.stored_rows(), 11, coef) for design in (disk, memory)]
        assert found[0] == pytest.approx(found[1], rel=1e-14)


# Memory


def test_visits_keep_blocks_together_only_where_memory_does_not_hold_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.zeros((70_000, 40))  # 22 MB
    with sx.blocked(X, memory="16.8MB") as rows:
        assert make_design(rows, intercept=True).block_rows == 70_000 // 22
        roomy = BlockedRows(rows.storage, memory=2**26)
        assert make_design(roomy, intercept=True).block_rows is None
        mapped = make_design(MappedRows(rows, PolynomialMap(40, 1, True)), intercept=True)
        assert mapped.block_rows == 70_000 // 22


def test_a_drawn_order_by_blocks_visits_every_row_and_changes_block_seldom() -> None:
    rng = np.random.default_rng(0)
    order = by_blocks(rng.permutation(103), 10, rng)
    assert sorted(order.tolist()) == list(range(103))
    assert int((np.diff(order // 10) != 0).sum()) == 10
    assert (np.diff(order[:10]) != 1).any()
    same(by_blocks(np.arange(5), None, rng), np.arange(5))
    drawn = VisitPlan("random", 50, 9, 0, 10).next_step(np.zeros(20, dtype=np.int64))
    assert int((np.diff(drawn // 10) != 0).sum()) == 4


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        ("1MB", "memory=1 MB is too small for a block of rows; give at least 16.8 MB"),
        ("much", 'memory=\'much\' is not a size; give bytes, or text such as "1GB" or "512MiB"'),
        (-5, "memory=-5 is not a size"),
        (True, "memory=True is not a size"),
        (float("nan"), "memory=nan is not a size"),
    ],
)
def test_memory_that_is_none_is_refused(memory: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        sx.blocked(dense(), memory=memory)


# What becomes blocks


class Chunked:
    """An array of the kind that HDF5 and Zarr have: shape, type, chunks and slices; it notes what is read."""

    def __init__(self, X: np.ndarray, chunks: tuple[int, ...]) -> None:
        self.X, self.shape, self.dtype, self.chunks = X, X.shape, X.dtype, chunks
        self.read: list[int] = []

    def __getitem__(self, rows: slice) -> np.ndarray:
        self.read.append(rows.stop - rows.start)
        return self.X[rows]


def stored(X: Any, **options: Any) -> Any:
    with sx.blocked(X, **options) as rows:
        found = rows.storage.read(0, rows.shape[0])
        return found.toarray() if sp.issparse(found) else found


@pytest.mark.parametrize(
    "X",
    [
        dense(),
        dense()[::-1, ::2],
        np.asfortranarray(dense()),
        dense().tolist(),
        sp.csr_array(dense()),
        sp.csc_matrix(dense()),
        sp.coo_array(dense()),
        [dense()[:50], dense()[50:]],
        (sp.csr_array(part) for part in (dense()[:1], dense()[1:])),
        lambda: iter([dense()[:100].tolist(), dense()[100:]]),
        Chunked(dense(), (9, 4)),
    ],
    ids=["array", "view", "by columns", "lists", "csr", "csc", "coo", "blocks", "sparse blocks", "function", "chunked"],
)
def test_rows_of_every_kind_become_blocks(X: Any) -> None:
    found = stored(X)
    same(found, dense()[::-1, ::2] if found.shape[1] < COLUMNS else dense())
    assert found.dtype == np.float64


def test_chunks_are_read_whole_and_little_at_a_time() -> None:
    X = Chunked(np.zeros((50_000, 100)), (3000, 50))
    assert stored(X).shape == (50_000, 100)
    assert set(X.read) == {9000}  # three chunks, some seven megabytes


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.float16, bool])
def test_numbers_of_other_kinds_become_floats(kind: Any) -> None:
    X = np.array([[1, 0], [3, 1]]).astype(kind)
    same(stored(X), X.astype(np.float64))
    assert stored(X).dtype == np.float64


def test_float32_stays_what_it_is() -> None:
    for X in (dense().astype(np.float32), [dense().astype(np.float32)], sp.csr_array(dense().astype(np.float32))):
        assert stored(X).dtype == np.float32


def test_a_frame_brings_its_names() -> None:
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"size": [1.0, 2.0, 4.0], "age": [3, 4, 4]}, index=[7, 8, 9])
    with sx.blocked(X) as rows:
        assert (rows.names, rows.shape) == (("size", "age"), (3, 2))
        model = sx.LinearRegression().fit(rows, [1.0, 2.0, 0.5])
        assert model.feature_names_in_.tolist() == ["size", "age"]
        with pytest.raises(DataError, match="column 1 is 'age', but in the fit it was 'size'; reorder them"):
            model.predict(sx.blocked(X[["age", "size"]]))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((0, 3)), "the data have no rows"),
        (iter([]), "the data have no rows"),
        (np.zeros((3, 0)), "3 rows but no feature columns"),
        (np.zeros(3), r"shape \(3,\), but rows and columns are needed"),
        (5, "int is not an array, matrix or iterable of row blocks"),
        ([np.zeros((2, 3)), np.zeros((2, 4))], r"the rows from 2 on have shape \(2, 4\); 3 columns are needed"),
        ([np.zeros((2, 3), np.float32), np.zeros((2, 3))], "the rows from 2 on are float64, those before are float32"),
        ([[[1.0]], [["red"]]], "column 'x1' has 'red' in row 1, which is not a number"),
        (np.array([[2**53 + 1]]), "column 'x1' has 9007199254740993 in row 0, which float64 cannot represent exactly"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(X: Any, message: str) -> None:
    with pytest.raises(DataError, match=message), sx.blocked(X) as rows:
        make_design(rows, intercept=False)


def test_a_row_out_of_range_is_named_by_its_column(pair: tuple[Any, Any], X: Any) -> None:
    Y = X.copy() if sp.issparse(X) else X.astype(np.float64)
    Y[101, 4] = np.nan
    with sx.blocked(Y) as rows, pytest.raises(DataError, match="column 'x5' has NaN in row 101"):
        row_radius(make_design(rows, intercept=True))


# Memory maps


@pytest.fixture
def memmap(tmp_path: Path) -> np.memmap:
    array_on_disk = np.memmap(tmp_path / "rows.bin", dtype=np.float64, mode="w+", offset=40, shape=(ROWS, COLUMNS))
    array_on_disk[:] = dense()
    return array_on_disk


@pytest.mark.parametrize("part", [slice(None), slice(7, 99)], ids=["whole", "part"])
def test_a_memory_map_is_read_where_it_is(memmap: np.memmap, part: slice, tmp_path: Path) -> None:
    with sx.blocked(memmap[part]) as rows:
        assert rows.storage.files[0].path == tmp_path / "rows.bin"
        same(rows.storage.read(0, rows.shape[0]), dense()[part])
        memmap[part.start or 0, 0] = 5.0  # what is written to the map is seen at once
        assert rows.storage.read(0, 1)[0, 0] == 5.0
        same(rows.array(), memmap[part])
    assert (tmp_path / "rows.bin").exists()


@pytest.mark.parametrize("how", ["columns", "every second row", "copy on write", "integers", "odd", "gone", "replaced"])
def test_a_memory_map_that_is_not_rows_of_floats_is_copied(memmap: np.memmap, how: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.bin"
    X: Any = memmap
    if how == "columns":
        X = memmap[:, 2:9]
    elif how == "every second row":
        X = memmap[::2]
    elif how == "copy on write":
        X = np.memmap(file, dtype=np.float64, mode="c", offset=40, shape=memmap.shape)
        X[3] = 9.0
    elif how == "odd":
        X = np.memmap(file, dtype=np.float64, mode="r", offset=43, shape=(ROWS - 1, COLUMNS))
    elif how == "integers":
        X = np.memmap(file, dtype=np.int32, mode="r", offset=40, shape=(ROWS, COLUMNS))
    else:
        file.unlink()
        if how == "replaced":
            file.write_bytes(bytes(40 + memmap.nbytes))
    with sx.blocked(X) as rows:
        assert rows.storage.files[0].path is None
        same(rows.storage.read(0, rows.shape[0]), X)


def test_a_large_memory_map_is_read_in_blocks(memmap: np.memmap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("separatrix.design.build.LARGE_MAP", 1)
    assert not make_design(memmap, intercept=True).in_memory
    y = dense()[:, 3] > 0.1
    disk, memory = (sx.LogisticRegression(strength=0.1).fit(X, y) for X in (memmap, dense()))
    same(disk.coef_, memory.coef_)
    same(disk.predict(memmap), memory.predict(dense()))


def test_sparse_blocks_on_disk_are_what_they_say(no_copies: None) -> None:
    with sx.blocked(sp.csr_array(dense())) as rows:
        design = make_design(rows, intercept=False)
        assert isinstance(design, SparseDesign)
        by_columns = design.to_csc()
        assert by_columns.format == "csc"
        same(by_columns.toarray(), dense())
        assert by_columns.has_canonical_format
