"""What cannot be fitted is refused with the value, its place and the remedy, and nothing is lost."""

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.errors import ConvergenceWarning

X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
Y = np.array([1, 1, -1, -1, -1])


def with_entry(value, row=3, column=1):
    rows = X.copy()
    rows[row, column] = value
    return rows


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (with_entry(np.nan), Y, "column 'x2' has NaN in row 3; drop such rows, or fill in a number"),
        (with_entry(np.inf), Y, r"column 'x2' has infinity \(inf\) in row 3"),
        (with_entry(-np.inf), Y, "column 'x2' has infinity"),
        (sp.csr_matrix(with_entry(np.nan)), Y, "column 'x2' has NaN in row 3"),
        (
            with_entry(1e300),
            Y,
            r"column 'x2' has 1e\+300 in row 3, whose square overflows; divide .* by 1e\+300",
        ),
        (X * 1e-300, Y, "no entry is larger than 4e-300"),
        (X, [1, 1, 1, 1, 1], "y has only one class, 1; a classifier needs rows of at least two classes"),
        (X[:1], [1], "only one class"),
        (X[:0], [], "0 sample|no rows"),
        (X[:, :0], Y, "0 feature|no feature"),
        (X[:, 0], Y, "Expected 2D array|reshape"),
        (X, Y[:4], "inconsistent numbers of samples"),
        (np.array([["a", "b"]] * 5), Y, "X has the text 'a', where an estimator needs numbers; sx.train"),
        (np.array([["a", 1.0]] * 5, dtype=object), Y, "X has the text 'a', where an estimator needs numbers; sx.train"),
        (X + 1j, Y, "Complex data not supported"),
        (X, [1.0, np.nan, -1, -1, -1], "y has nan in row 1; drop the rows without a label"),
        (X, [0.1, 0.2, 0.3, 0.4, 0.55], "Unknown label type|continuous"),
        (X, [[1, 0]] * 5, "should be a 1d array|y has shape"),
    ],
)
def test_refused_with_a_message(rows, labels, message):
    with pytest.raises(ValueError, match=message):
        sx.Perceptron(fit_intercept=False).fit(rows, labels)


def test_tiny_columns_beside_others_are_fine():
    rows = np.column_stack([X, np.full(5, 1e-200)])
    assert sx.Perceptron().fit(rows, Y).score(rows, Y) == 1.0


def test_huge_and_tiny_scales_within_range_give_the_same_run():
    plain = sx.Perceptron(fit_intercept=False).fit(X, Y)
    for scale in (2.0**400, 2.0**-400):
        scaled = sx.Perceptron(fit_intercept=False).fit(X * scale, Y)
        assert (scaled.coef_ / scale).tolist() == plain.coef_.tolist()
        assert scaled.certificate_.bound == pytest.approx(17.0)


def test_object_arrays_of_numbers_are_numbers():
    assert sx.Perceptron().fit(X.astype(object), Y).predict(X).tolist() == Y.tolist()


def test_fewer_rows_than_columns():
    rows = np.random.default_rng(0).normal(size=(4, 30))
    model = sx.Perceptron().fit(rows, [0, 1, 0, 1])
    assert model.score(rows, [0, 1, 0, 1]) == 1.0
    assert model.certificate_.verify(rows, [0, 1, 0, 1])


def test_duplicate_rows_and_constant_columns():
    rows = np.column_stack([np.vstack([X, X]), np.full(10, 3.0)])
    model = sx.Perceptron().fit(rows, [*Y, *Y])
    assert model.result_.status == "converged"
    assert model.certificate_.verify(rows, [*Y, *Y])


def test_duplicate_rows_of_both_labels_cannot_be_separated():
    with pytest.warns(ConvergenceWarning, match="stopped at max_updates=100"):
        model = sx.Perceptron(max_updates=100, keep="best").fit(np.vstack([X, X[:1]]), [*Y, -1])
    assert model.result_.facts["wrong"] == 1


def test_a_failed_fit_leaves_the_data_alone():
    rows = with_entry(np.nan)
    before = rows.copy()
    with pytest.raises(ValueError, match="NaN"):
        sx.Perceptron().fit(rows, Y)
    assert np.array_equal(rows, before, equal_nan=True)


def test_predicting_other_columns_is_refused():
    model = sx.Perceptron().fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but Perceptron is expecting 2"):
        model.predict(np.ones((1, 3)))
    with pytest.raises(ValueError, match="NaN"):
        model.predict([[np.nan, 1.0]])


@pytest.mark.parametrize("y", [[1, 1, 0, 2, 2], [1, 1, 1, 1, 1]])
def test_mistake_bound_needs_two_classes(y):
    with pytest.raises(sx.errors.DataError, match="class"):
        sx.mistake_bound(X, y)


def test_mistake_bound_refuses_other_lengths_and_separators():
    with pytest.raises(sx.errors.DataError, match="X has 5 rows and y has 4 labels"):
        sx.mistake_bound(X, Y[:4])
    with pytest.raises(sx.errors.OptionError, match="give 2 finite weights, not all 0"):
        sx.mistake_bound(X, Y, separator=[0, 0])


def test_mistake_bound_of_data_without_a_separator():
    found = sx.mistake_bound([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], fit_intercept=True)
    assert (found.margin, found.bound, found.exact) == (None, None, True)
    assert "no separator with a margin: no bound" in str(found)
