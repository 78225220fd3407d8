"""Laws over everything that takes rows: hostile arrays, sparse matrices and labels are refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse

import separatrix as sx
from separatrix.errors import DataError

LARGE = 2**53
INTEGERS = [[LARGE, 1], [LARGE + 1, 2], [LARGE + 2, 3], [LARGE + 3, 4]]
MIXED = [[first, second + 0.5] for first, second in INTEGERS]
LABELS = [0, 1, 0, 1]
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0], [1.5, 1.0], [0.2, 2.0]])
y = np.array([0, 0, 1, 1, 0, 1])

CLASSIFIERS = [
    sx.Perceptron(),
    sx.KernelPerceptron(),
    sx.KernelSVM(),
    sx.HalfspaceLP(on_overlap="soft"),
    sx.MaxMarginClassifier(on_overlap="soft"),
    sx.ZeroOneClassifier(),
    sx.LMSClassifier(),
    sx.LogisticRegression(strength=0.1),
    sx.LinearSVM(),
    sx.GaussianGenerativeClassifier(),
    sx.OneVsRest(sx.LogisticRegression(strength=0.1)),
]
FITS = {type(each).__name__: each.fit for each in [*CLASSIFIERS, sx.LinearRegression(), sx.LMSRegressor()]}
BORDERS: dict[str, Callable[[Any, Any], Any]] = {
    **FITS,
    "check": sx.check_separability,
    "check in a kernel's space": lambda rows, labels: sx.check_separability(rows, labels, kernel="rbf"),
    "check mapped rows": lambda rows, labels: sx.check_separability(rows, labels, map=sx.maps.Polynomial(2)),
    "map": sx.maps.RandomFourier().fit,
    "blocked": lambda rows, _: sx.blocked(rows),
    "blocks": lambda rows, _: sx.blocked([rows]),
    "mistake bound": sx.mistake_bound,
    "path": lambda rows, labels: sx.path(sx.LogisticRegression(), rows, labels, strengths=3),
    "prediction": lambda rows, _: sx.LogisticRegression(strength=0.1).fit(X, y).predict(rows),
    "kernel prediction": lambda rows, _: sx.KernelSVM().fit(X, y).predict(rows),
}


def columns(rows: list[list[Any]]) -> dict[str, list[Any]]:
    return {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}


NUMBERS = {
    "int64": np.array(INTEGERS),
    "uint64": np.array(INTEGERS, dtype=np.uint64),
    "objects": np.array(MIXED, dtype=object),
    "lists": MIXED,
    "text": np.array(INTEGERS).astype(str),
    "pandas": pandas.DataFrame(columns(MIXED)),
    "nullable": pandas.DataFrame(columns(INTEGERS)).astype("Int64"),
    "polars": polars.DataFrame(columns(MIXED)),
    "csr": scipy.sparse.csr_array(np.array(INTEGERS)),
    "coo": scipy.sparse.coo_array(np.array(INTEGERS)),
    "csc": scipy.sparse.csc_array(np.array(INTEGERS)),
}


@pytest.mark.parametrize("rows", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("border", ["LogisticRegression", "KernelSVM", "check"])
def test_an_integer_that_no_float_holds_is_refused_in_every_layout(border: str, rows: Any) -> None:
    name = "a" if hasattr(rows, "columns") else "x1"
    with pytest.raises(DataError, match=f"column '{name}' has 9007199254740993 in row 1.* subtract"):
        BORDERS[border](rows, LABELS)


@pytest.mark.parametrize("border", BORDERS)
def test_an_integer_that_no_float_holds_is_refused_at_every_border(border: str) -> None:
    with pytest.raises(DataError, match="9007199254740993 in row 1"):
        BORDERS[border](np.array(INTEGERS), LABELS)


def test_large_integers_that_floats_hold_are_taken() -> None:
    rows = np.array([[2**60, 1], [-(2**61), 2], [2**62, 3], [2**53, 4]])
    assert sx.check_separability(rows, LABELS).verdict == "separable"
    assert sx.LinearRegression().fit(rows, [1, 2**60, 3, 4]).coef_.shape == (2,)


def test_an_integer_beyond_every_float_is_refused_by_row() -> None:
    for border in (sx.check_separability, sx.LogisticRegression().fit, sx.KernelSVM().fit):
        with pytest.raises(DataError, match="'x1' has an integer of hundreds of digits in row 2"):
            border([[1, 1], [2, 3], [10**5000, 4], [5, 5]], LABELS)


def test_targets_are_numbers_by_the_same_rule() -> None:
    with pytest.raises(DataError, match="y has 9007199254740993 in row 0"):
        sx.LinearRegression().fit(X, [LARGE + 1, 2, 3, 4, 5, 6])
    with pytest.raises(DataError, match="y has 'a' in row 2, which is not a number"):
        sx.LinearRegression().fit(X, np.array([1, 2, "a", 4, 5, 6], dtype=object))


@pytest.mark.parametrize("border", BORDERS)
def test_masked_rows_are_refused(border: str) -> None:
    with pytest.raises(DataError, match="X has masked entries, the first in row 3"):
        BORDERS[border](np.ma.masked_greater(X, 2.5)[[0, 1, 4, 2, 3, 5]], y)


@pytest.mark.parametrize("border", [*FITS, "check"])
def test_masked_targets_are_refused_and_whole_ones_taken(border: str) -> None:
    with pytest.raises(DataError, match="y has masked entries, the first in row 2"):
        BORDERS[border](X, np.ma.masked_array(y, mask=[0, 0, 1, 0, 0, 0]))
    BORDERS[border](np.ma.masked_array(X), np.ma.masked_array(y))


def test_masked_weights_are_refused() -> None:
    with pytest.raises(DataError, match="sample_weight has masked entries, the first in row 1"):
        sx.LogisticRegression().fit(X, y, sample_weight=np.ma.masked_array(np.ones(6), mask=[0, 1, 0, 0, 0, 0]))


def with_index(kind: str, place: str, value: int) -> Any:
    matrix = getattr(scipy.sparse, kind)(X)
    getattr(matrix, place)[2] = value
    return matrix


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize(
    ("kind", "place", "value"),
    [
        ("csr_matrix", "indices", 10**6),
        ("csr_array", "indices", -1),
        ("csc_matrix", "indices", 6),
        ("csr_matrix", "indptr", 99),
        ("csc_array", "indptr", -99),
        ("coo_matrix", "row", 6),
        ("coo_matrix", "col", -3),
    ],
)
def test_sparse_indices_outside_the_matrix_are_refused(border: str, kind: str, place: str, value: int) -> None:
    with pytest.raises(DataError, match=r"the sparse matrix of shape \(6, 2\) is damaged: .*; build it again"):
        BORDERS[border](with_index(kind, place, value), y)


MISSING_LABELS = {"None": None, "NaN": float("nan"), "NA": pandas.NA}
MIXED_LABELS = {
    "numbers and text": [1, "a", 1, "a", 1, "a"],
    "text and numbers": ["b", "a", 1.5, "a", "b", "a"],
    "booleans and numbers": [True, 1, 0, True, 1, 0],
}


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, None], ids=lambda each: type(each).__name__)
def test_labels_of_no_or_of_several_types_are_refused_by_row(estimator: Any) -> None:
    fit = sx.check_separability if estimator is None else estimator.fit
    for missing in MISSING_LABELS.values():
        with pytest.raises(DataError, match=f"y has {missing} in row 1; drop the rows without a label"):
            fit(X, np.array(["a", missing, "b", "a", "b", "a"], dtype=object))
    for problem, labels in MIXED_LABELS.items():
        for given in (labels, np.array(labels, dtype=object), pandas.Series(labels, dtype=object)):
            with pytest.raises(DataError, match=f"y has {problem}: .* in row 0 and .*; give all labels as text"):
                fit(X, given)


def test_classes_of_a_partial_fit_are_of_one_type() -> None:
    with pytest.raises(DataError, match="classes has numbers and text: 1 in row 0 and 'a' in row 1"):
        sx.Perceptron().partial_fit(X, y, classes=[1, "a"])


def test_a_class_that_is_not_there_is_answered_by_one_list() -> None:
    with pytest.raises(sx.errors.OptionError) as error:
        sx.LogisticRegression(positive="zzz").fit(X, np.where(y > 0, "yes", "no"))
    assert str(error.value).count("yes") == 1


SCALES = [
    (1e-310, sx.LogisticRegression().fit),
    (1e-310, sx.check_separability),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("scale", "border"), SCALES)
def test_scales_that_overflow_or_vanish_are_refused_by_column(scale: float, border: Callable[[Any, Any], Any]) -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(40, 3))
    labels = (rows[:, 0] + rows[:, 1] + generator.normal(size=40) > 0.0).astype(int)
    with pytest.raises(
        DataError, match=r"column 'x1' has values of about 2.33e.*; divide the column by 1e[-+]3.* first"
    ):
        border(rows * np.array([scale, 1.0, 1.0]), labels)
