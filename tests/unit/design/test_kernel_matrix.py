"""Rows of a kernel matrix: the values, the memory cap, the columns dropped."""

import numpy as np
import pytest
from scipy import sparse

from separatrix.design.kernel_matrix import KernelAgainst, KernelRows, kernel_scores, training_scores
from separatrix.design.kernels import RBF, CustomKernel, Linear, PolynomialKernel, Precomputed, Sigmoid
from separatrix.errors import DataError, OptionError

X = np.random.default_rng(0).normal(size=(40, 3))
KERNELS = [
    Linear(),
    RBF(0.7),
    PolynomialKernel(0.5, 3),
    Sigmoid(0.1),
    CustomKernel(lambda A, B: np.asarray(A @ B.T) ** 2),
]


def megabytes(rows: int, columns: int = 40) -> float:
    return 8 * rows * columns / 2**20


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_rows_are_the_kernels(kernel, storage):
    if kernel.name == "own" and storage is not np.asarray:
        kernel = CustomKernel(lambda A, B: (A @ B.T).toarray() ** 2)
    rows = KernelRows(kernel, storage(X), 1.0, constant=1.0)
    wanted = np.array([5, 0, 39])
    np.testing.assert_allclose(rows.table[rows.fetch(wanted)], kernel(storage(X), storage(X))[wanted] + 1.0, atol=1e-13)
    np.testing.assert_allclose(rows.diagonal, kernel.diagonal(rows.X) + 1.0)
    coef = np.where(np.arange(40) % 3, 0.0, X[:, 0])
    whole = rows.kernel(rows.X, rows.X)
    np.testing.assert_allclose(training_scores(kernel, storage(X), coef), whole @ coef, atol=1e-12)
    np.testing.assert_allclose(rows.times(coef, wanted), (whole @ coef + coef.sum())[wanted], atol=1e-12)


def test_an_rbf_kernel_far_from_the_origin_keeps_its_digits():
    far = X + 1e6
    assert KernelAgainst(RBF(0.7), X).factor == 0.7
    against = KernelAgainst(RBF(0.7), far)
    assert against.factor == 0.0  # products would leave 4 digits: by the kernel's own formula
    np.testing.assert_allclose(against(far), RBF(0.7)(X, X), atol=1e-8)


def test_a_precomputed_kernel_is_read_off_its_matrix():
    K = RBF(1.0)(X, X)
    rows = KernelRows(Precomputed(), K, 1.0)
    np.testing.assert_array_equal(rows.table[rows.fetch(np.array([3, 7]))], K[[3, 7]])
    scores = kernel_scores(Precomputed(), K[:5], None, np.array([3, 7]), np.array([[1.0, -2.0], [0.0, 1.0]]))
    np.testing.assert_allclose(scores, np.column_stack([K[:5, 3] - 2.0 * K[:5, 7], K[:5, 7]]))


def test_the_rows_used_longest_ago_make_way():
    rows = KernelRows(RBF(1.0), X, megabytes(4))
    assert rows.capacity == 4
    rows.fetch(np.array([0, 1, 2, 3]))
    assert not rows.full
    rows.fetch(np.array([1, 2]))
    rows.fetch(np.array([9, 8]))
    assert rows.full
    assert rows.computed == 6
    assert sorted(np.flatnonzero(rows.slots >= 0).tolist()) == [1, 2, 8, 9]
    for row in (1, 2, 8, 9):
        np.testing.assert_allclose(rows.table[rows.slots[row]], RBF(1.0)(X[[row]], X)[0], atol=1e-14)
    rows.fetch(np.array([1, 9]))
    assert rows.computed == 6


def test_dropped_columns_make_room_for_more_rows():
    rows, K = KernelRows(RBF(1.0), X, megabytes(4)), RBF(1.0)(X, X)
    rows.fetch(np.array([0, 1, 2, 3]))
    columns = np.arange(0, 40, 4)
    rows.restrict(columns)
    assert rows.capacity == 16
    assert rows.computed == 4
    assert rows.position(np.array([8, 36])).tolist() == [2, 9]
    np.testing.assert_allclose(rows.table[rows.fetch(np.array([2, 30]))], K[np.ix_([2, 30], columns)], atol=1e-14)
    assert rows.computed == 5
    rows.restrict(None)
    np.testing.assert_allclose(rows.table[rows.fetch(np.array([2]))], K[[2]], atol=1e-14)


def test_bad_caps_and_kernels_are_refused():
    with pytest.raises(
        OptionError, match=r"cache_mb=0.0001 is too small for 2 kernel rows of 40 numbers; give at least 0\.0006"
    ):
        KernelRows(RBF(1.0), X, 0.0001)
    with (
        pytest.raises(DataError, match="the kernel of row 0 with itself is inf; rescale the columns"),
        np.errstate(over="ignore"),
    ):
        KernelRows(PolynomialKernel(1.0, 9), X * 1e40, 1.0)
