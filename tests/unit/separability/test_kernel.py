"""Separability in the space of a kernel: bounds on the widest margin that need no more than the kernel matrix."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_moons
from sklearn.svm import SVC

import separatrix as sx
from separatrix.certificates.margin import KernelCertificate
from separatrix.errors import DataError, OptionError

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = np.array([0, 1, 1, 0])


def overlapping(n=80):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 2)), rng.integers(0, 2, n)


def test_xor_by_hand():
    """With exp(−‖a − b‖²) the four points of XOR are symmetric: K y = (1 − 1/e)² y, so the margin is (1 − 1/e) / 2."""
    found = sx.check_separability(SQUARE, XOR, kernel=sx.kernels.RBF(1.0))
    assert found.verdict == "separable"
    exact = (1.0 - np.exp(-1.0)) / 2.0
    assert exact * (1.0 - 1.1e-9) < found.margin == found.lower < exact < found.upper < exact * (1.0 + 1.1e-9)
    assert found.verify(SQUARE, XOR)
    assert "4 rows make a function that separates by 0.31606" in found.claim


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (sx.kernels.RBF(2.0), {"kernel": "rbf", "gamma": 2.0}),
        (sx.kernels.PolynomialKernel(1.0, degree=3), {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "degree": 3}),
    ],
    ids=["rbf", "polynomial"],
)
def test_the_widest_margin_is_that_of_a_hard_margin_machine(kernel, options, fit_intercept):
    X, y = make_moons(60, noise=0.05, random_state=0)
    found = sx.check_separability(X, y, kernel=kernel, fit_intercept=fit_intercept)
    assert found.verdict == "separable"
    assert found.verify(X, y)
    assert found.upper / found.lower - 1.0 < 1e-5
    if fit_intercept:
        peer = SVC(C=1e8, tol=1e-8, **options).fit(X, y)
        norm = np.sqrt(peer.dual_coef_ @ kernel(peer.support_vectors_, peer.support_vectors_) @ peer.dual_coef_.T)
        assert found.margin == pytest.approx(1.0 / norm.item(), rel=1e-4)


def test_the_linear_kernel_agrees_with_the_rows_themselves():
    X, y = make_circles(60, factor=0.4, random_state=0)
    assert sx.check_separability(X, y, kernel="linear").verdict == "no margin"
    X = np.vstack([X[y == 1], X[y == 1] + [2.0, 0.5]])
    y = np.repeat([0, 1], len(X) // 2)
    found = sx.check_separability(X, y, kernel="linear")
    assert found.margin == pytest.approx(sx.MaxMarginClassifier().fit(X, y).margin_, rel=1e-6)


@pytest.mark.parametrize("kernel", ["linear", sx.kernels.PolynomialKernel(1.0, degree=2)], ids=["linear", "polynomial"])
def test_where_no_margin_is_there_the_multipliers_bound_it(kernel):
    X, y = overlapping()
    found = sx.check_separability(X, y, kernel=kernel)
    assert (found.verdict, found.margin) == ("no margin", None)
    assert 0.0 < found.upper < 1e-5 * found.radius
    assert "no function has a margin above" in found.claim
    assert found.verify(X, y)


def test_any_rows_that_differ_are_separable_by_a_narrow_kernel():
    X, y = overlapping()
    found = sx.check_separability(X, y, kernel=sx.kernels.RBF(50.0))
    assert found.verdict == "separable"
    assert found.verify(X, y)
    assert sx.check_separability(np.vstack([X, X[:1]]), [*y, 1 - y[0]], kernel=sx.kernels.RBF(50.0)).margin is None


def test_precomputed_own_and_sparse():
    X, y = make_circles(40, factor=0.4, noise=0.02, random_state=1)
    by_rows = sx.check_separability(X, y, kernel=sx.kernels.RBF(1.0))
    matrix = sx.kernels.RBF(1.0)(X, X)
    by_matrix = sx.check_separability(matrix, y, kernel="precomputed")
    assert by_matrix.margin == pytest.approx(by_rows.margin, rel=1e-9)
    assert by_matrix.verify(matrix, y)
    own = sx.check_separability(X, y, kernel=lambda A, B: (A @ B.T) ** 2)
    assert own.verdict == "separable"
    assert own.verify(X, y)
    with pytest.raises(OptionError, match="cannot be saved"):
        own.to_dict()


def test_to_json_and_back_and_against_other_data():
    X, y = make_circles(40, factor=0.4, noise=0.02, random_state=1)
    found = sx.check_separability(X, np.where(y, "in", "out"), kernel="rbf")
    again = sx.certificate_from_dict(found.to_dict())
    assert isinstance(again, KernelCertificate)
    assert again.verify(X, np.where(y, "in", "out"))
    assert not again.verify(X, np.where(y, "out", "in"))
    assert "X has shape (39, 2); the certificate is of (40, 2)" in str(again.verify(X[1:], y[1:]))
    assert "row 0 has label" in str(again.verify(X, y))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"lower": 0.317, "upper": 0.317}, "lower"),
        ({"lower": 0.0, "upper": 0.316}, "upper"),
        ({"radius": 2.0}, "radius"),
        ({"multipliers": -np.ones(4)}, "data"),
        ({"coef": np.ones(4)}, "lower"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_what_is_claimed_beyond_the_truth_fails(change, name):
    found = replace(sx.check_separability(SQUARE, XOR, kernel=sx.kernels.RBF(1.0)), **change)
    refused = [check.name for check in found.verify(SQUARE, XOR).checks if check.holds is False]
    assert refused == [name]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"lower": 0.9}, "the lower bound 0.9 is above the upper bound"),
        ({"upper": 1e-3}, "is above the upper bound 0.001"),
        ({"rows": np.array([0, 0, 1, 2])}, "rows must be different ones of 4"),
    ],
)
def test_what_contradicts_itself_cannot_be_made(change, complaint):
    found = sx.check_separability(SQUARE, XOR, kernel=sx.kernels.RBF(1.0))
    with pytest.raises(ValueError, match=complaint):
        replace(found, **change)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (SQUARE, XOR, {"kernel": "sigmoid"}, "none of inner products in any space"),
        (SQUARE, [0, 1, 2, 0], {"kernel": "rbf"}, "y has 3 classes"),
        (SQUARE, XOR, {"kernel": "rbf", "map": sx.maps.Products()}, "kernel= goes with neither map="),
        (SQUARE, XOR[:2], {"kernel": "rbf"}, "X has 4 rows and y has 2 labels"),
        (
            np.zeros((5000, 1)),
            np.arange(5000) % 2,
            {"kernel": "rbf"},
            "and 4,000 are the most; take fewer rows, or map=",
        ),
        (SQUARE * np.nan, XOR, {"kernel": "linear"}, "the kernel of rows 0 and 0 is nan"),
        (SQUARE * 1e200, XOR, {"kernel": "linear"}, "the kernel of rows 1 and 1 is inf; drop or rescale such rows"),
    ],
    ids=["indefinite", "three classes", "map and kernel", "lengths", "many rows", "nan", "overflow"],
)
def test_what_cannot_be_judged_is_refused(X, y, options, message):
    with pytest.raises((DataError, OptionError), match=message):
        sx.check_separability(X, y, **options)
