"""The laws of designs: every storage gives the answer of the plain dense matrix, in one pass, and leaves it alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix.design import array
from separatrix.design.base import Block, Design, Expansion
from separatrix.design.build import make_design, row_radius
from separatrix.errors import DataError, NeedsError
from separatrix.loops.rows import row_add, row_dot

RELATIVE = 1e-12  # to the largest entry of the answer
CLASSES = 3


class Streamed(Design):
    """Rows that come in blocks of uneven length and cannot be visited in any other order."""

    def __init__(self, values: np.ndarray, virtual: bool) -> None:
        n, p = values.shape
        super().__init__((n, p + virtual), [f"x{j}" for j in range(p + virtual)], virtual)
        self.values = values

    def blocks(self) -> Iterator[Block]:
        n = len(self.values)
        cuts = sorted({0, 1, n // 3, n // 2, n})
        for start, stop in pairwise(cuts):
            (block,) = make_design(self.values[start:stop], intercept=self.virtual).blocks()
            block.start, block.stop = start, stop
            yield block


def with_repeated_entries(X: np.ndarray) -> sp.csr_array:
    """Store each entry twice, as two halves, the columns of a row backwards."""
    n, p = X.shape
    columns = np.tile(np.repeat(np.arange(p)[::-1], 2), n)
    return sp.csr_array((np.repeat(X[:, ::-1].ravel() / 2.0, 2), columns, 2 * p * np.arange(n + 1)), shape=(n, p))


def every_second_row(X: np.ndarray) -> np.ndarray:
    wide = np.full((2 * X.shape[0], X.shape[1]), np.nan)
    wide[::2] = X
    return wide[::2]


STORAGES: dict[str, Callable[[np.ndarray], Any]] = {
    "dense by rows": np.ascontiguousarray,
    "dense by columns": np.asfortranarray,
    "dense backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "dense every second row": every_second_row,
    "dense float32": lambda X: X.astype(np.float32),
    "dense float32 by columns": lambda X: np.asfortranarray(X.astype(np.float32)),
    "csr array": sp.csr_array,
    "csr matrix": sp.csr_matrix,
    "csr of repeated entries": with_repeated_entries,
    "csr float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "csc array": sp.csc_array,
    "csc float32": lambda X: sp.csc_array(X.astype(np.float32)),
}
SHAPES = [(57, 5), (3, 7), (1, 1)]


class Case(NamedTuple):
    design: Design
    stored: Any
    X: np.ndarray

    def check(self, found: np.ndarray, expected: np.ndarray) -> None:
        """Compare with a brute-force answer."""
        assert found.dtype == np.float64
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=RELATIVE, atol=RELATIVE * np.abs(expected).max())


def matrix(shape: tuple[int, int]) -> np.ndarray:
    """Draw a matrix of mixed sizes with zeros, a row of zeros and a repeated row."""
    rng = np.random.default_rng(shape)
    X = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, size=shape) * (rng.uniform(size=shape) < 0.7)
    if shape[0] > 4:
        X[2], X[3] = 0.0, X[1]
    return X


def upcast(stored: Any) -> np.ndarray:
    return np.asarray(stored.toarray() if sp.issparse(stored) else stored, dtype=np.float64)


@pytest.fixture(params=[False, True], ids=["plain", "virtual column"])
def virtual(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(params=SHAPES, ids=str)
def shape(request: pytest.FixtureRequest) -> tuple[int, int]:
    return request.param


@pytest.fixture(params=[*STORAGES, "streamed in blocks", "dense in small blocks"])
def case(
    request: pytest.FixtureRequest, shape: tuple[int, int], virtual: bool, monkeypatch: pytest.MonkeyPatch
) -> Case:
    X = matrix(shape)
    if request.param == "dense in small blocks":
        monkeypatch.setattr(array, "BLOCK_ELEMENTS", 2 * shape[1] + 1)  # two rows a block, the last block shorter
    stored = STORAGES.get(request.param, np.ascontiguousarray)(X)
    streamed = request.param == "streamed in blocks"
    design = Streamed(stored, virtual) if streamed else make_design(stored, intercept=virtual)
    full = upcast(stored)
    return Case(design, stored, np.column_stack([np.ones(len(full)), full]) if virtual else full)


def draw(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


# Products


def test_shape_names_and_blocks(case: Case) -> None:
    assert case.design.shape == case.X.shape
    assert len(case.design.names) == case.X.shape[1]
    edges = [(block.start, block.stop) for block in case.design.blocks()]
    assert [start for start, _ in edges] == [0, *(stop for _, stop in edges[:-1])]
    assert edges[-1][1] == len(case.X)


def test_blocks_are_merged() -> None:
    assert len(list(Streamed(matrix((57, 5)), True).blocks())) == 4


def test_small_blocks_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array, "BLOCK_ELEMENTS", 11)
    assert len(list(make_design(matrix((57, 5)), intercept=True).blocks())) == 29


@pytest.mark.parametrize("outputs", [(), (CLASSES,), (1,)], ids=["one score", "three scores", "a column of scores"])
def test_matvec(case: Case, outputs: tuple[int, ...]) -> None:
    coef = draw(case.X.shape[1], *outputs)
    case.check(case.design.matvec(coef), case.X @ coef)
    assert case.design.passes == 1.0


@pytest.mark.parametrize("outputs", [(), (CLASSES,), (1,)], ids=["one score", "three scores", "a column of scores"])
def test_rmatvec(case: Case, outputs: tuple[int, ...]) -> None:
    values = draw(case.X.shape[0], *outputs)
    case.check(case.design.rmatvec(values), case.X.T @ values)
    assert case.design.passes == 1.0


def test_gram(case: Case) -> None:
    weights = draw(case.X.shape[0])
    case.check(case.design.gram(weights), np.einsum("i,ij,ik->jk", weights, case.X, case.X))
    assert case.design.passes == 1.0


def test_column_squares(case: Case) -> None:
    weights = draw(case.X.shape[0])
    found = sum(block.column_squares(weights[block.start : block.stop]) for block in case.design.blocks())
    case.check(np.asarray(found), weights @ case.X**2)


def test_squared_norms(case: Case) -> None:
    case.check(case.design.squared_norms(), np.einsum("ij,ij->i", case.X, case.X))
    assert case.design.passes == 1.0


def test_radius_is_the_longest_row(case: Case) -> None:
    assert row_radius(case.design) == pytest.approx(np.linalg.norm(case.X, axis=1).max(), rel=RELATIVE)
    assert case.design.passes <= 2.0  # a second one only where every square vanishes


# Sweeps


def pointwise(eta: np.ndarray, order: int, *parts: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return parts that the rows brought, each mixed with the scores so that these matter."""
    scale = np.tanh(eta.reshape(len(eta), -1).sum(axis=1))
    return tuple((scale * part.T).T for part in parts[: order + 1])


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("outputs", [(), (CLASSES,)], ids=["one score", "three scores"])
def test_sweep(case: Case, order: int, outputs: tuple[int, ...]) -> None:
    n, p = case.X.shape
    coef = draw(p, *outputs)
    # The curvature is drawn without symmetry, so that mixed-up axes would show.
    parts = draw(n, seed=2), draw(n, *outputs, seed=3), draw(n, *outputs, *outputs, seed=4)
    found = case.design.sweep(coef, pointwise, order, parts)
    assert case.design.passes == 1.0
    value, *derivatives = pointwise(case.X @ coef, 2, *parts)
    hessian = "ij,ilm,ik->jlkm" if outputs else "ij,i,ik->jk"
    expected = Expansion(
        float(value.sum()),
        np.einsum("ij,i...->j...", case.X, derivatives[0]),
        np.einsum(hessian, case.X, derivatives[1], case.X).reshape(coef.size, coef.size),
    )
    assert found.value == pytest.approx(expected.value, rel=RELATIVE, abs=RELATIVE * np.abs(value).sum())
    assert [part is not None for part in found] == [True, order >= 1, order >= 2]
    for part, right in zip(found[1 : order + 1], expected[1:], strict=False):
        case.check(part, right)


# Storage


def test_the_input_is_neither_copied_nor_changed(case: Case) -> None:
    n, p = case.X.shape
    before = upcast(case.stored)
    nnz = getattr(case.stored, "nnz", None)
    if not sp.issparse(case.stored):
        case.stored.setflags(write=False)
    case.design.matvec(draw(p))
    case.design.rmatvec(draw(n))
    case.design.gram(draw(n))
    for block in case.design.blocks():
        block.column_squares(np.ones(block.stop - block.start))
    row_radius(case.design)
    if case.design.random_rows:
        case.design.take([0])
        case.design.stored_rows()
    np.testing.assert_array_equal(upcast(case.stored), before)
    assert getattr(case.stored, "nnz", None) == nnz
    if sp.issparse(case.stored):
        assert np.shares_memory(case.design.matrix.data, case.stored.data)
        assert np.shares_memory(case.design.matrix.indices, case.stored.indices)
    else:
        assert np.shares_memory(case.design.values, case.stored)


def test_rows_stored_together_are_read_where_they_are(case: Case) -> None:
    if not case.design.row_visits:
        assert not case.design.in_memory
        return
    in_place = case.stored.format == "csr" if sp.issparse(case.stored) else case.stored.flags.c_contiguous
    values = case.stored.data if sp.issparse(case.stored) else case.stored
    assert np.shares_memory(case.design.stored_rows().values, values) == (in_place and values.size > 0)


def test_the_virtual_column_is_a_column_of_ones(shape: tuple[int, int]) -> None:
    X = matrix(shape)
    implied, explicit = (
        make_design(X, intercept=True),
        make_design(np.column_stack([np.ones(len(X)), X]), intercept=False),
    )
    coef, values = draw(shape[1] + 1), draw(shape[0])
    assert implied.shape == explicit.shape
    assert implied.names[0] == "intercept"
    for one, other in [
        (implied.matvec(coef), explicit.matvec(coef)),
        (implied.rmatvec(values), explicit.rmatvec(values)),
        (implied.gram(values), explicit.gram(values)),
        (implied.squared_norms(), explicit.squared_norms()),
        (implied.take([0, -1]), explicit.take([0, -1])),
    ]:
        np.testing.assert_allclose(one, other, rtol=RELATIVE, atol=RELATIVE * np.abs(other).max())


# Single rows


def test_take(case: Case) -> None:
    indices = [len(case.X) - 1, 0, 0]
    if not case.design.random_rows:
        with pytest.raises(NeedsError, match="Streamed has no access to single rows"):
            case.design.take(indices)
        return
    case.check(case.design.take(indices), case.X[indices])
    case.check(case.design.take(np.array(indices)), case.X[indices])
    assert case.design.take([]).shape == (0, case.X.shape[1])
    assert case.design.passes == 0.0  # single rows are counted by who reads them


def test_rows_as_loops_see_them(case: Case) -> None:
    if not case.design.row_visits:
        with pytest.raises(NeedsError, match="Streamed cannot be visited row by row; use a batch rule"):
            case.design.stored_rows()
        return
    n, p = case.X.shape
    rows, coef, factors = case.design.stored_rows(), draw(p), draw(n)
    case.check(np.array([row_dot(rows, i, coef) for i in range(n)]), case.design.matvec(coef))
    total = np.zeros(p)
    for i in range(n):
        row_add(rows, i, factors[i], total)
    case.check(total, case.design.rmatvec(factors))


@pytest.mark.parametrize("stride", [1, 2, 100])
def test_a_subsample_is_every_so_many_rows(case: Case, stride: int) -> None:
    if not case.design.random_rows:
        with pytest.raises(NeedsError, match=f"Streamed has no access to single rows.*stride={stride}"):
            case.design.subsample(stride)
        return
    sample = case.design.subsample(stride)
    assert sample.names == case.design.names
    coef = draw(case.X.shape[1])
    case.check(sample.matvec(coef), case.X[::stride] @ coef)
    assert (sample.passes, case.design.passes) == (1.0, 0.0)


def test_a_centre_is_taken_off_every_row_or_refused(case: Case) -> None:
    skipped = int(case.design.virtual)
    centre, coef = draw(case.X.shape[1] - skipped, seed=5), draw(case.X.shape[1])
    if sp.issparse(case.stored) or not case.design.in_memory:
        message = f"{type(case.design).__name__} cannot be centred without being copied"
        with pytest.raises(NeedsError, match=message):
            case.design.centred(centre)
        return
    shifted = case.X.copy()
    shifted[:, skipped:] -= centre
    centred = case.design.centred(centre)
    weights = draw(case.X.shape[0])
    case.check(centred.matvec(coef), shifted @ coef)
    case.check(centred.gram(weights), np.einsum("i,ij,ik->jk", weights, shifted, shifted))
    case.check(centred.take([0]), shifted[[0]])
    rows = centred.stored_rows()
    case.check(np.array([row_dot(rows, i, coef) for i in range(len(shifted))]), shifted @ coef)


def capabilities(design: Design) -> tuple[bool, bool, bool, bool]:
    return design.in_memory, design.random_rows, design.row_visits, design.column_access


def test_visits_count_as_their_share_of_a_pass() -> None:
    design = make_design(matrix((57, 5)), intercept=True)
    design.count_visits(57)
    design.count_visits(19)
    assert design.passes == pytest.approx(4.0 / 3.0, rel=1e-15)


@pytest.mark.parametrize("kind", ["dense by rows", "dense by columns", "csr array", "csc array"])
def test_an_array_in_memory_can_do_everything(kind: str) -> None:
    assert capabilities(make_design(STORAGES[kind](matrix((57, 5))), intercept=False)) == (True, True, True, True)


def test_a_design_promises_nothing_unless_it_says_so() -> None:
    assert capabilities(Streamed(matrix((57, 5)), False)) == (False, False, False, False)


# What other arrays become


@pytest.mark.parametrize(
    "X",
    [
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], dtype=np.int8),
        np.array([[1, 2], [3, 4]], dtype=np.float16),
        np.array([["1", "2"], ["3.0", "4"]]),
        np.array([[1, 2.0], [3, "4"]], dtype=object),
        sp.csr_array(np.array([[1, 2], [3, 4]])),
        sp.coo_array(np.array([[1.0, 2.0], [3.0, 4.0]])),
        sp.lil_matrix(np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)),
    ],
    ids=["lists", "int8", "float16", "digits", "objects", "sparse integers", "coo", "lil float32"],
)
def test_numbers_of_any_kind_become_floats(X: Any) -> None:
    np.testing.assert_array_equal(make_design(X, intercept=False).take([0, 1]), [[1.0, 2.0], [3.0, 4.0]])


# What is refused


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1.0, 2.0], r"shape \(2,\), but rows and columns are needed; for one column use X.reshape\(-1, 1\)"),
        (5.0, r"shape \(\), but rows and columns are needed"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\), but rows and columns are needed"),
        (sp.coo_array(np.ones(3)), r"shape \(3,\), but rows and columns are needed"),
        ([[1.0, 2.0], [3.0]], "not a table .*; give every row the same number of columns"),
        (np.zeros((0, 3)), "the data have no rows"),
        (sp.csr_array((0, 3)), "the data have no rows"),
        ([[1.0, 2.0], [3.0, "red"]], "column 'x2' has 'red' in row 1, which is not a number; encode text columns"),
        (np.array([[1.0, {}]], dtype=object), r"column 'x2' has \{\} in row 0, which is not a number"),
        (np.array([[1.0, 1j]]), "Complex data not supported: give real numbers"),
        (sp.csr_array(np.array([[1.0, 1j]])), "Complex data not supported: give real numbers"),
        (np.array([[1.0, 1j]], dtype=object), "column 'x2' has 1j in row 0, which is not a number"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(X: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        make_design(X, intercept=True)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_no_columns_need_an_intercept(kind: Any) -> None:
    assert make_design(kind(np.zeros((4, 0))), intercept=True).shape == (4, 1)
    with pytest.raises(DataError, match="the data have 4 rows but no feature columns; give at least one"):
        make_design(kind(np.zeros((4, 0))), intercept=False)


def test_text_is_refused_with_the_column_by_its_name() -> None:
    with pytest.raises(DataError, match="column 'colour' has 'red' in row 1"):
        make_design([["1", "2"], ["3", "red"]], intercept=False, names=["size", "colour"])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "column 'colour' has NaN in row 2; drop such rows, or fill in a number"),
        (np.inf, r"column 'colour' has infinity \(inf\) in row 2"),
        (-np.inf, r"column 'colour' has infinity \(inf\) in row 2"),
        (1e300, r"column 'colour' has 1e\+300 in row 2, whose square overflows; divide the column by 1e\+300 first"),
        (-3e200, r"column 'colour' has -3e\+200 in row 2, .* divide the column by 1e\+200 first"),
    ],
)
@pytest.mark.parametrize("store", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
def test_numbers_out_of_range_are_refused_by_place(value: float, message: str, store: Any, virtual: bool) -> None:
    X = matrix((57, 5))[:, :3]
    X[2, 1] = value
    X[5, 2] = np.nan  # a later fault, not the one to be named
    design = make_design(store(X), intercept=virtual, names=["size", "colour", "age"])
    with pytest.raises(DataError, match=message):
        row_radius(design)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "row 40 has NaN; drop or rescale such rows, or fill in a number"),
        (np.inf, r"row 40 has infinity or a number above 1e\+150"),
        (1e300, r"row 40 has infinity or a number above 1e\+150"),
    ],
)
def test_a_streamed_design_names_the_row_at_fault(value: float, message: str, virtual: bool) -> None:
    X = matrix((57, 5))
    X[40, 1] = value
    with pytest.raises(DataError, match=message):
        row_radius(Streamed(X, virtual))


@pytest.mark.parametrize("value", [1e-300, -1e-300, 1e-160, 5e-324])
@pytest.mark.parametrize("kind", ["dense", "sparse", "streamed"])
def test_numbers_that_all_vanish_are_refused(value: float, kind: str) -> None:
    X = np.array([[0.0, 0.0], [0.0, value], [value, 0.0], [0.0, 0.0]])
    stored = sp.csr_array(X) if kind == "sparse" else X
    design = Streamed(X, False) if kind == "streamed" else make_design(stored, intercept=False)
    message = (
        f"no entry is larger than {abs(value):.3g}, so products underflow; rescale the columns so that their values"
    )
    with pytest.raises(DataError, match=message):
        row_radius(design)


def test_a_vanishing_number_among_others_is_as_good_as_zero() -> None:
    assert row_radius(make_design([[3.0, 1e-300], [1e-300, 4.0]], intercept=False)) == 4.0


def test_zeros_are_numbers() -> None:
    assert row_radius(make_design(np.zeros((3, 2)), intercept=False)) == 0.0
    assert row_radius(make_design(sp.csr_array((3, 2)), intercept=True)) == 1.0


def test_float32_is_measured_in_float64() -> None:
    X = np.array([[3e30, 4e30], [1.0, 0.0]], dtype=np.float32)  # whose squares a float32 cannot hold
    for store in (np.asarray, sp.csr_array, sp.csc_array):
        expected = float(np.linalg.norm(X[0].astype(np.float64)))
        assert row_radius(make_design(store(X), intercept=False)) == pytest.approx(expected, rel=RELATIVE)
