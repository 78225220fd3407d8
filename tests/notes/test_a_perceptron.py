"""Note A: the perceptron's worked example (M3), its bound and both proof inequalities (M4), halfspaces (M1)."""

import numpy as np
import pytest

import separatrix as sx

X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
Y = np.array([1, 1, -1, -1, -1])


@pytest.fixture(scope="module")
def run():
    return sx.Perceptron(fit_intercept=False, tie="positive").fit(X, Y)


def test_m3_updates_row_for_row(run):
    updates = run.trace_.updates
    assert (updates.row + 1).tolist() == [3, 4, 4, 1, 2]
    assert updates.weights.tolist() == [[1, 3], [2, 1], [3, -1], [4, 3], [5, 1]]
    assert updates.number.tolist() == [1, 2, 3, 4, 5]
    assert updates.complete


def test_m3_stops_after_n_correct_visits_and_says_t(run):
    assert run.n_updates_ == 5
    assert run.coef_.tolist() == [[5.0, 1.0]]
    assert run.intercept_.tolist() == [0.0]
    assert run.result_.status == "converged"
    # the last update is on visit 12 (row 2 of the third pass); five correct visits follow
    assert run.trace_.updates.visit.tolist() == [3, 4, 9, 11, 12]
    assert run.result_.facts["visits"] == 17
    assert run.predict(X).tolist() == Y.tolist()


def test_m3_bound_is_17(run):
    certificate = run.certificate_
    assert certificate.radius == pytest.approx(np.sqrt(17), rel=1e-15)
    assert certificate.margin == pytest.approx(1.0, rel=1e-12)
    assert certificate.bound == pytest.approx(17.0, rel=1e-12)
    assert certificate.separator == pytest.approx([1.0, 0.0], abs=1e-12)
    assert certificate.verify(X, Y)


def test_m4_both_inequalities_hold_at_each_t(run):
    proof = run.certificate_.proof(X, Y)
    assert [step.t for step in proof] == [1, 2, 3, 4, 5]
    squared_norms = [10, 5, 10, 25, 26]
    for step, squared_norm in zip(proof, squared_norms, strict=True):
        assert step.squared_norm == squared_norm
        assert step.ceiling == pytest.approx(17 * step.t)
        assert step.floor == pytest.approx(step.t)
        assert step.progress == pytest.approx(step.t)  # w* = (1, 0), and each update adds 1 to the first weight
        assert step.holds


def test_m4_bound_from_data_and_from_a_given_separator():
    found = sx.mistake_bound(X, Y)
    assert (found.radius**2, found.margin, found.bound) == pytest.approx((17.0, 1.0, 17.0), rel=1e-12)
    assert found.exact
    given = sx.mistake_bound(X, Y, separator=[5, 1])
    assert given.margin == pytest.approx(3 / np.sqrt(26))
    assert given.bound == pytest.approx(17 * 26 / 9)
    assert not given.exact


def test_m4_rate_only_scales_the_weights_from_start_zero(run):
    scaled = sx.Perceptron(fit_intercept=False, rate=0.125).fit(X, Y)
    assert scaled.coef_.tolist() == (0.125 * run.coef_).tolist()
    assert scaled.trace_.updates.row.tolist() == run.trace_.updates.row.tolist()
    assert scaled.certificate_.bound == pytest.approx(17.0)


def test_m1_distance_of_the_origin():
    halfspace = sx.Halfspace([3, 4], -5)
    assert halfspace.distance_of_origin == 1.0
    assert halfspace.distance([[0, 0], [3, 4], [1, 0.5]]).tolist() == [1.0, 4.0, 0.0]
    assert halfspace.signed_distance([[0, 0], [3, 4]]).tolist() == [-1.0, 4.0]


def test_m1_sign_of_zero_follows_the_tie():
    on_the_boundary = [[1, 0.5]]
    assert sx.Halfspace([3, 4], -5).predict(on_the_boundary).tolist() == [1]
    assert sx.Halfspace([3, 4], -5, tie="negative").predict(on_the_boundary).tolist() == [-1]


def test_m1_augmented_and_reflected():
    assert sx.augment([[2, 1], [4, 3]]).tolist() == [[1, 2, 1], [1, 4, 3]]
    assert sx.reflect([[1, 2, 1], [1, 1, 3]], [1, -1]).tolist() == [[1, 2, 1], [-1, -1, -3]]


def test_m1_homogeneous_on_augmented_rows_equals_an_intercept(run):
    with_intercept = sx.Perceptron().fit(X, Y)
    augmented = sx.Perceptron(fit_intercept=False).fit(sx.augment(X), Y)
    assert augmented.coef_.tolist() == [[with_intercept.intercept_[0], *with_intercept.coef_[0]]]
    assert augmented.n_updates_ == with_intercept.n_updates_
    assert run.halfspace_.distance_of_origin == 0.0
