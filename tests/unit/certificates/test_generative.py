"""Generative certificates: enclosures of moments and weights against exact arithmetic, and forged weights."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import oracles
import separatrix as sx
from separatrix.certificates.generative import CLOSE, Ball, class_moments, closed_form
from separatrix.design.build import make_design
from separatrix.errors import DataError

RNG = np.random.default_rng(7)
CODES = np.repeat([0, 1, 2], [9, 8, 7])
NORMAL = RNG.normal(size=(24, 2)) + CODES[:, np.newaxis] * [0.5, 0.0]
GRID = RNG.integers(0, 3, size=(24, 2)) + CODES[:, np.newaxis] * [1.0, 0.0]  # differs by a few units
DESIGNS = {
    "normal": NORMAL,
    "offsets": NORMAL + np.array([2.0**32, -(2.0**40)]),
    "spread in the last place": GRID * [2.0**-20, 2.0**-21] + [2.0**32, 2.0**31],
    "last place, classes far apart": GRID * 2.0**-20 + 2.0**32 + CODES[:, np.newaxis],
    "integers": GRID,
    "scales": NORMAL * [1e150, 1e-150],
    "small scales with offsets": (NORMAL + 2.0**32) * [1e-140, 1e-100],
    "subnormal differences": (GRID + 5.0) * [2.0**-1074, 1.0],
    "outliers": NORMAL * np.where(np.arange(24) == 3, 1e9, 1.0)[:, np.newaxis],
    "both signs, half rounded": np.where(RNG.random((24, 2)) < 0.5, NORMAL * 1e-17, NORMAL),
}
WEIGHTS = {
    "none": None,
    "plain": RNG.exponential(size=24),
    "wide": np.exp(RNG.normal(size=24) * 12.0) * 1e-150,
    "dyadic": 2.0 ** RNG.integers(-3, 4, size=24),
}


def as_fraction(number: Any) -> Fraction:
    return Fraction(float(number))


def contains(ball: Ball, index: Any, truth: Fraction) -> bool:
    """Whether an entry of a ball contains a number, exactly."""
    radius = np.broadcast_to(ball.radius, np.shape(ball.mid))[index]
    return not np.isfinite(radius) or abs(as_fraction(ball.mid[index]) - truth) <= as_fraction(radius)


def exact_logarithm(number: Any) -> Fraction:
    """Return a number of 110 digits as a rational one."""
    return Fraction(str(number))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, sp.csc_array])
def test_balls_contain_the_exact_moments_and_weights(name: str, weights: str, classes: int, storage: Any) -> None:
    rows = classes > CODES
    X, codes = DESIGNS[name][rows], CODES[rows]
    sizes = None if WEIGHTS[weights] is None else WEIGHTS[weights][rows]
    truth = oracles.generative(X, codes, sizes)
    try:
        moments = class_moments(make_design(storage(X), intercept=True), codes, classes, sizes)
    except DataError:  # an answer where the weights are so uneven that the variance is not proved to be above 0
        assert name in {"subnormal differences", "last place, classes far apart"} or weights == "wide"
        return
    scores = closed_form(moments, moments.shares)
    for j, exponent in enumerate(moments.exponents.tolist()):
        power = Fraction(2) ** exponent
        assert contains(moments.variances, j, truth.variances[j] / power**2)
        for k in range(classes):
            distance = (truth.means[k][j] - as_fraction(moments.reference[j])) / power
            assert contains(moments.means, (k, j), distance)
        for k, own in enumerate(truth.coef):
            assert contains(scores.coef, (k, j), own[j] * power)
    for k, intercept in enumerate(truth.intercept):
        assert contains(scores.intercept, k, exact_logarithm(intercept))
    for k, count in enumerate(truth.counts):
        assert contains(moments.shares, k, count / sum(truth.counts))


def test_operations_of_balls_contain_every_result() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        mids, radii = rng.normal(size=2) * 10.0 ** rng.integers(-8, 9, 2), 10.0 ** rng.uniform(-18, -1, 2)
        radii[1] = min(radii[1], abs(mids[1]) / 2)
        a, b = (Ball(np.array([mid]), np.array([radius])) for mid, radius in zip(mids, radii, strict=True))
        for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1), (0, 0)):
            x, z = (as_fraction(m) + s * as_fraction(r) for m, s, r in zip(mids, signs, radii, strict=True))
            for result, truth in ((a + b, x + z), (a - b, x - z), (a * b, x * z), (a / b, x / z)):
                assert contains(result, 0, truth)


def test_a_ball_around_0_divides_nothing() -> None:
    quotient = Ball(np.array([1.0])) / Ball(np.array([1e-3]), np.array([1e-3]))
    assert not quotient.radius[0] < np.inf


def test_exact_operations_have_no_error_but_underflow() -> None:
    three, seven = Ball(np.array([3.0])), Ball(np.array([7.0]))
    for result in (three + seven, three - seven, three * seven, (three * seven) / seven):
        assert result.radius.max() < 1e-280


@pytest.mark.parametrize("weights", ["none", "plain", "dyadic"])
@pytest.mark.parametrize("name", [name for name in DESIGNS if name != "subnormal differences"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_honest_fits_are_proved_and_changed_weights_are_not(
    name: str, weights: str, classes: int, storage: Any
) -> None:
    rows = classes > CODES
    X, codes, sizes = storage(DESIGNS[name][rows]), CODES[rows], WEIGHTS[weights]
    sizes = None if sizes is None else sizes[rows]
    certificate = sx.GaussianGenerativeClassifier().fit(X, codes, sample_weight=sizes).certificate_
    checked = certificate.verify(X, codes, sizes)
    assert checked.outcome == "proved", str(checked)
    truth = oracles.generative(DESIGNS[name][rows], codes, sizes)
    for j, variance in enumerate(truth.variances):
        allowed = CLOSE * (1.0 / oracles.mp.sqrt(oracles.real(variance)) + abs(oracles.real(truth.coef[0][j])))
        for factor, accepted in ((0.98, True), (1.02, False), (-1.02, False), (1e3, False)):
            coef = certificate.coef.copy()
            coef[0, j] += float(factor * allowed)
            assert bool(replace(certificate, coef=coef).verify(X, codes, sizes)) is accepted
    for change in (1e-7, -1e-7):
        intercept = certificate.intercept + change * (1.0 + np.abs(certificate.intercept)) * (1.0 + reach(truth))
        assert not replace(certificate, intercept=intercept).verify(X, codes, sizes)


def reach(truth: Any) -> float:
    """Return an upper bound on Σ|μⱼ wⱼ|."""
    return float(sum(max(abs(m[j]) for m in truth.means) * max(abs(w[j]) for w in truth.coef) for j in range(2)))


def test_a_variance_near_rounding_proves_no_weight() -> None:
    # One light row stores no entry, so that the column is centred at 0, where the squares hide its variance.
    dense = np.concatenate([2.0**26 + np.arange(8.0), [0.0]])[:, np.newaxis]
    X, y = sp.csr_array(dense), np.array([0, 0, 0, 1, 1, 0, 1, 1, 1])
    outcomes = set()
    for weight in 10.0 ** np.arange(-30.0, 1.0):
        sizes = np.append(np.ones(8), weight)
        truth = oracles.generative(dense, y, sizes)
        scale = 1.0 / np.sqrt(float(truth.variances[0])) + abs(float(truth.coef[0][0]))
        certificate = sx.GaussianGenerativeClassifier().fit(dense, y, sample_weight=sizes).certificate_
        assert certificate.verify(dense, y, sizes)
        outcomes.add(certificate.verify(X, y, sizes).outcome)
        for factor in (-1.02, 1.02, 1e2, 1e4, 1e7):
            forged = replace(certificate, coef=certificate.coef + factor * CLOSE * scale)
            assert not forged.verify(X, y, sizes)
    assert outcomes == {"proved", "not proved"}


def test_a_column_without_variance_proves_no_weight() -> None:
    y = np.repeat([0, 1], 6)
    X = np.column_stack([NORMAL[:12, 0], NORMAL[:12, 1]])
    certificate = sx.GaussianGenerativeClassifier().fit(X, y).certificate_
    for constant in (0.1, 2.0**32 + 0.1, 1e-300):
        flat = np.column_stack([X[:, 0], np.where(y == 1, constant, constant / 3.0)])
        for weight in (0.0, 1.0, 1e16, -1e300):
            coef = np.array([[certificate.coef[0, 0], weight]])
            checked = replace(certificate, coef=coef).verify(flat, y)
            assert checked.outcome == "not proved"
            assert "without any spread inside the classes: 'x2'" in str(checked)


def test_equal_sums_in_any_order() -> None:
    X, codes = NORMAL + 2.0**32, CODES
    order = np.random.default_rng(1).permutation(24)
    orders = (np.arange(24), order)
    first, second = (class_moments(make_design(X[o], intercept=True), codes[o], 3) for o in orders)
    assert (first.variances.mid == second.variances.mid).all()
    assert (first.means.mid == second.means.mid).all()


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0.0, 2.0**32])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_are_proved(offset: float, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100_000)
    X = rng.normal(size=(100_000, 50)) + 0.1 * y[:, np.newaxis] + offset
    sizes = rng.exponential(size=100_000) if weighted else None
    certificate = sx.GaussianGenerativeClassifier().fit(X, y, sample_weight=sizes).certificate_
    assert certificate.verify(X, y, sizes).outcome == "proved"
    coef = certificate.coef * (1.0 + 1e-6)
    assert not replace(certificate, coef=coef).verify(X, y, sizes)


def test_rows_on_disk_are_proved() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 4000)
    X = rng.normal(size=(4000, 60)) + y[:, np.newaxis] + 1e7
    certificate = sx.GaussianGenerativeClassifier().fit(X, y).certificate_
    with sx.blocked(X, memory="17MB") as rows:
        assert certificate.verify(rows, y)


def test_duplicate_entries_of_a_sparse_matrix_are_summed() -> None:
    dense = np.array([[1.0, 2.0], [3.0, 0.0], [4.0, 5.0], [0.0, 7.0], [2.0, 1.0], [6.0, 3.0]])
    y = np.array([0, 1, 0, 1, 0, 1])
    matrix = sp.csr_array(dense)
    data = np.repeat(matrix.data / 2.0, 2)
    doubled = sp.csr_array((data, np.repeat(matrix.indices, 2), matrix.indptr * 2), shape=dense.shape)
    assert not doubled.has_canonical_format
    certificate = sx.GaussianGenerativeClassifier().fit(dense, y).certificate_
    assert certificate.verify(doubled, y)
    assert doubled.nnz == 2 * matrix.nnz


def test_numbers_beyond_squares_are_named() -> None:
    X = NORMAL.copy()
    X[4, 1] = 1e200
    with pytest.raises(DataError, match="x2"):
        sx.GaussianGenerativeClassifier().fit(X, CODES)
