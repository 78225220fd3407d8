"""The laws of kernels: values by the definition, symmetry, an inner product, and scikit-learn's numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise

import separatrix as sx
from separatrix.errors import DataError, OptionError
from separatrix.numerics import squared_distances

KERNELS = [
    sx.kernels.Linear(),
    sx.kernels.PolynomialKernel(0.5, degree=3, offset=2.0),
    sx.kernels.PolynomialKernel(degree=2),
    sx.kernels.RBF(0.8),
    sx.kernels.RBF(),
    sx.kernels.Sigmoid(0.1, offset=-0.5),
]
PEERS = {
    "linear": lambda A, B, _: pairwise.linear_kernel(A, B),
    "polynomial": lambda A, B, k: pairwise.polynomial_kernel(A, B, degree=k.degree, gamma=k.gamma, coef0=k.offset),
    "rbf": lambda A, B, k: pairwise.rbf_kernel(A, B, gamma=k.gamma),
    "sigmoid": lambda A, B, k: pairwise.sigmoid_kernel(A, B, gamma=k.gamma, coef0=k.offset),
}


def rows(n=40, p=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


@pytest.fixture(params=KERNELS, ids=repr)
def kernel(request):
    return request.param.settled(rows())


def test_every_kernel_is_here():
    assert {type(kernel) for kernel in KERNELS} | {sx.kernels.Precomputed} == {type(each) for each in sx.kernels.ALL}


def test_values_are_scikit_learns(kernel):
    A, B = rows(), rows(15, seed=1)
    np.testing.assert_allclose(kernel(A, B), PEERS[kernel.name](A, B, kernel), rtol=1e-11, atol=1e-14)


def test_scale_is_scikit_learns(kernel):
    assert sx.kernels.RBF().settled(rows()).gamma == pytest.approx(1.0 / (4 * rows().var()), rel=1e-14)
    assert sx.kernels.RBF().settled(sp.csr_array(rows())).gamma == pytest.approx(1.0 / (4 * rows().var()), rel=1e-12)
    assert sx.kernels.RBF().settled(np.ones((3, 2))).gamma == 0.5


def test_the_diagonal_is_the_kernel_of_each_row_with_itself(kernel):
    np.testing.assert_allclose(kernel.diagonal(rows()), np.diagonal(kernel(rows(), rows())), rtol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(sp.csr_array(rows())), kernel.diagonal(rows()), rtol=1e-13)


def test_symmetry_and_inner_products(kernel):
    matrix = kernel(rows(), rows())
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-14)
    least = float(np.linalg.eigvalsh(matrix)[0])
    if kernel.is_inner_product:
        assert least > -1e-12 * np.abs(matrix).max()
    else:
        assert least < -1e-3, "this sigmoid is no inner product"


def test_sparse_rows_give_the_same_values(kernel):
    A = rows() * (rows(seed=3) > 0.0)
    dense = kernel(A, A[:7])
    for sparse in (sp.csr_array(A), sp.csr_matrix(A)):
        np.testing.assert_allclose(kernel(sparse, sparse[:7]), dense, rtol=1e-12, atol=1e-14)
    assert isinstance(kernel(sparse, sparse[:7]), np.ndarray)


def test_to_json_and_back(kernel):
    assert sx.kernels.kernel_from_dict(kernel.to_dict()) == kernel


def test_distances_far_from_the_origin_keep_their_digits():
    A = np.random.default_rng(5).integers(0, 8, size=(30, 3)) / 4.0
    expected = ((A[:, np.newaxis] - A) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared_distances(A + 2.0**26, A + 2.0**26), expected, rtol=1e-13)
    assert (np.diagonal(squared_distances(rows(), rows())) == 0.0).all()
    assert sx.kernels.RBF(1.0)(A[:1] + 1e8, A[:1] + 1e8) == 1.0


def test_distances_by_definition():
    assert squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])) == 25.0
    assert sx.kernels.RBF(0.1)(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])) == math.exp(-2.5)


def test_precomputed_takes_the_matrix_for_the_rows():
    matrix = rows() @ rows().T
    kernel = sx.kernels.make_kernel("precomputed")
    np.testing.assert_array_equal(kernel(matrix, matrix), matrix)
    np.testing.assert_array_equal(kernel.diagonal(matrix), np.diagonal(matrix))
    with pytest.raises(DataError, match=r"one column per training row \(40\); this one has shape \(40, 4\)"):
        kernel(rows(), matrix)


def test_a_function_of_ones_own_is_a_kernel():
    own = sx.kernels.make_kernel(lambda A, B: np.minimum(A, B.T))
    column = np.array([[1.0], [2.0], [5.0]])
    assert own(column, column[:2]).tolist() == [[1.0, 1.0], [1.0, 2.0], [1.0, 2.0]]
    assert own.diagonal(column).tolist() == [1.0, 2.0, 5.0]
    with pytest.raises(DataError, match=r"returned shape \(3,\); for 3 and 3 rows it must be \(3, 3\)"):
        sx.kernels.CustomKernel(lambda A, _: A[:, 0])(column, column)
    with pytest.raises(DataError, match="returned nan for rows 0 and 0"):
        sx.kernels.CustomKernel(lambda *_: np.full((3, 3), np.nan))(column, column)
    with pytest.raises(OptionError, match="cannot be saved"):
        own.to_dict()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sx.kernels.make_kernel("gaussian"), "kernel='gaussian' is not a kernel; known: 'linear'"),
        (lambda: sx.kernels.make_kernel("rbf", width=1.0), r"the rbf kernel takes \['gamma'\], not \['width'\]"),
        (lambda: sx.kernels.make_kernel(sx.kernels.Linear(), gamma=1.0), "give them to the kernel itself"),
        (lambda: sx.kernels.RBF(0.0), r"gamma=0\.0 is out of range"),
        (lambda: sx.kernels.PolynomialKernel(1.0, degree=1.5), r"degree=1\.5 is not a whole number"),
        (lambda: sx.kernels.RBF()(rows(), rows()), r"use kernel\.settled\(X\), or give a number"),
    ],
)
def test_what_is_no_kernel_is_refused(make, message):
    with pytest.raises(OptionError, match=message):
        make()
