"""Newton's method at any dependence, scale and offset of the columns, against minima to 110 digits.

Dependent columns are x, …, and x + Σ r x + z / dependence: the same information as x, … and z.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from oracle_objectives import minimum, value_at

from separatrix.design.build import make_design
from separatrix.design.rank import dependent_columns
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.losses.margin import Logistic, SquaredHinge
from separatrix.losses.softmax import Softmax
from separatrix.losses.squared import Squared
from separatrix.penalties import make_penalty
from separatrix.problem import Problem, shift_intercept
from separatrix.solvers.newton import Newton

pytestmark = pytest.mark.slow

LOSSES: dict[str, Any] = {
    "logistic": Logistic(),
    "softmax": Softmax(),
    "squared": Squared(),
    "squared hinge": SquaredHinge(),
}
DEPENDENCE = [1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11]
FEW = [1e5, 1e8, 1e11]
OPTIMAL = 1e-8  # relative gap


def rows(seed: int, dependence: float) -> tuple[np.ndarray, np.ndarray]:
    """Return dependent columns, 25 to 60 rows of 2 to 4 columns, and labels ±1 that overlap."""
    rng = np.random.default_rng([seed, int(np.log10(dependence))])
    n, p = int(rng.integers(25, 61)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, p))
    labels = np.where(X @ rng.normal(size=p) + 2.0 * rng.logistic(size=n) > 0.0, 1.0, -1.0)
    X[:, -1] = X[:, 0] + X[:, 1:-1] @ rng.normal(size=p - 2) + X[:, -1] / dependence
    return X, labels


def relative_gap(
    X: np.ndarray,
    y: np.ndarray,
    *,
    loss: str = "logistic",
    weights: np.ndarray | None = None,
    strength: float = 0.0,
    intercept: bool = True,
    columns: list[int] | None = None,
) -> float:
    """Return the true relative gap of Newton's coefficients; `columns` span the others."""
    penalty = make_penalty(strength, 0.0)
    problem = Problem(make_design(X, intercept=intercept), y, LOSSES[loss], penalty, weights)
    coef = fit_convex(problem, ConvexOptions(solver=Newton())).coef
    spanning = X if columns is None else X[:, columns]
    least = minimum(loss, spanning, y, intercept, weights=weights, l2=strength).value  # type: ignore[arg-type]
    value = value_at(loss, X, y, coef.T, intercept, weights=weights, l2=strength)  # type: ignore[arg-type]
    return float((value - least) / least)


@pytest.mark.parametrize("dependence", [1.0, 1e3, *DEPENDENCE])
def test_dependent_columns_end_at_the_optimum(dependence: float):
    X, y = rows(0, dependence)
    assert relative_gap(X, y) <= OPTIMAL
    assert relative_gap(X, y, intercept=False) <= OPTIMAL


@pytest.mark.slow
@pytest.mark.parametrize("dependence", DEPENDENCE)
def test_many_designs_end_at_the_optimum(dependence: float):
    for seed in range(100, 120):
        X, y = rows(seed, dependence)
        rng = np.random.default_rng(seed)
        scales, weights = 10.0 ** rng.choice([-150, -3, 0, 3, 150], X.shape[1]), np.exp(rng.normal(size=len(y)))
        assert relative_gap(X, y, intercept=seed % 2 == 0) <= OPTIMAL
        assert relative_gap(X * scales, y, weights=weights) <= OPTIMAL
        assert relative_gap(X, y, strength=10.0 ** rng.integers(-24, -6)) <= OPTIMAL


@pytest.mark.parametrize("dependence", FEW)
@pytest.mark.parametrize("exponent", [-150, 150])
def test_scales_do_not_matter(exponent: int, dependence: float):
    X, y = rows(3, dependence)
    scales = 10.0 ** np.where(np.arange(X.shape[1]) % 2, -exponent, exponent)
    assert relative_gap(X * scales, y) <= OPTIMAL


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_one_column_of_another_scale(scale: float, loss: str):
    X, y = rows(17, 1.0)
    for strength in (0.0, 0.1):
        assert relative_gap(X * [scale, *[1.0] * (X.shape[1] - 1)], y, loss=loss, strength=strength) <= 1e-12


@pytest.mark.parametrize("dependence", FEW)
def test_weights(dependence: float):
    X, y = rows(4, dependence)
    weights = np.exp(2.0 * np.random.default_rng(4).normal(size=len(y)))
    weights[:3] = 0.0
    assert relative_gap(X, y, weights=weights) <= OPTIMAL


@pytest.mark.parametrize("dependence", FEW)
@pytest.mark.parametrize("strength", [1e-22, 1e-12])
def test_tiny_penalties(strength: float, dependence: float):
    X, y = rows(5, dependence)
    assert relative_gap(X, y, strength=strength) <= OPTIMAL


@pytest.mark.parametrize("dependence", FEW)
@pytest.mark.parametrize("strength", [0.0, 1e-22])
def test_softmax(strength: float, dependence: float):
    X, _ = rows(6, dependence)
    y = np.random.default_rng(6).integers(0, 3, size=len(X))
    assert relative_gap(X, y, loss="softmax", strength=strength) <= OPTIMAL


@pytest.mark.parametrize("dependence", FEW)
@pytest.mark.parametrize("loss", ["squared", "squared hinge"])
def test_other_losses(loss: str, dependence: float):
    X, y = rows(7, dependence)
    n = 15 if loss == "squared hinge" else len(X)  # its minimum is a quadratic program in rationals
    assert relative_gap(X[:n], y[:n], loss=loss) <= OPTIMAL


@pytest.mark.parametrize("exponent", [20, 26, 32])
def test_offsets_cost_nothing(exponent: int):
    X, y = rows(8, 1.0)
    assert relative_gap(X + 2.0**exponent, y) <= 1e-12


@pytest.mark.parametrize("dependence", [1e3, 1e5, 1e7])
def test_offsets_of_dependent_columns(dependence: float):
    rng = np.random.default_rng(9)
    x, z = rng.normal(size=(2, 40))
    X = np.column_stack([x, x + z / dependence]) + 2.0**20
    y = np.where(z + rng.logistic(size=40) > 0.0, 1.0, -1.0)
    assert relative_gap(X, y) <= OPTIMAL


def collinear() -> dict[str, tuple[np.ndarray, list[int]]]:
    """Return collinear columns, by name, and those of them that span the others."""
    rng = np.random.default_rng(10)
    celsius, kilograms, x = rng.uniform(-20.0, 40.0, 50).round(1), rng.normal(70.0, 10.0, 50), rng.normal(size=50)
    return {
        "temperatures": (np.column_stack([celsius, 1.8 * celsius + 32.0, x]), [0, 2]),
        "weights": (np.column_stack([kilograms, 2.2046226218 * kilograms, x]), [0, 2]),
        "indicators": (np.column_stack([np.eye(3)[rng.integers(0, 3, 50)], x]), [0, 1, 3]),
        "a column of zeros": (np.column_stack([x, 0.0 * x]), [0]),
        "copies of dependent columns": (np.column_stack([x, x + 1e-9 * celsius, x, 2.0 * x]), [0, 1]),
        "far from 0": (np.column_stack([x + 2.0**32, 2.0 * (x + 2.0**32), celsius]), [0, 2]),
        "units": (np.column_stack([1e150 * x, 1e-150 * x, celsius]), [0, 2]),
    }


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize("name", collinear())
def test_collinear_columns_end_at_the_optimum(name: str, loss: str):
    X, spanning = collinear()[name]
    rng = np.random.default_rng(11)
    y = rng.integers(0, 3, 50) if loss == "softmax" else rng.choice([-1.0, 1.0], 50)
    assert abs(relative_gap(X, y, loss=loss, columns=spanning)) <= 1e-12


def test_the_coefficients_of_collinear_columns_have_the_least_norm():
    X, _ = collinear()["indicators"]
    y = np.random.default_rng(12).choice([-1.0, 1.0], 50)
    coef = fit_convex(Problem(make_design(X, intercept=True), y, Logistic()), ConvexOptions(solver=Newton())).coef
    assert abs(coef[1:4].sum()) <= 1e-12  # a constant moves to the intercept, which does not count
    start = fit_convex(
        Problem(make_design(X, intercept=True), y, Logistic()),
        ConvexOptions(solver=Newton()),
        start=np.array([1.0, 5.0, 5.0, 5.0, 0.0]),
    )
    np.testing.assert_allclose(start.coef, coef, rtol=1e-9)


@pytest.mark.parametrize("degree", [4, 7, 10])
def test_powers_of_a_column(degree: int):
    rng = np.random.default_rng(20)
    x = rng.uniform(1.0, 2.0, size=60)
    y = np.where(np.sin(5.0 * x) + rng.logistic(size=60) > 0.0, 1.0, -1.0)
    assert relative_gap(np.vander(x, degree + 1)[:, :-1], y) <= OPTIMAL


@pytest.mark.parametrize("intercept", [False, True])
def test_columns_of_zeros_and_more_columns_than_rows(intercept: bool):
    rng = np.random.default_rng(21)
    problem = Problem(make_design(np.zeros((20, 2)), intercept=intercept), np.resize([-1.0, 1.0, 1.0], 20), Logistic())
    coef = fit_convex(problem, ConvexOptions(solver=Newton())).coef
    assert coef == pytest.approx([np.log(13.0 / 7.0), 0.0, 0.0] if intercept else [0.0, 0.0])
    X, y = rng.normal(size=(10, 30)), rng.normal(size=10)
    wide = Problem(make_design(X, intercept=intercept), y, Squared())
    coef = fit_convex(wide, ConvexOptions(solver=Newton())).coef[int(intercept) :]
    centred, target = (X - X.mean(axis=0), y - y.mean()) if intercept else (X, y)
    np.testing.assert_allclose(coef, np.linalg.pinv(centred) @ target, atol=1e-12)  # of least norm


def test_a_penalty_makes_collinear_columns_count():
    rng = np.random.default_rng(13)
    x = rng.normal(size=40)
    y = np.where(x + rng.logistic(size=40) > 0.0, 1.0, -1.0)
    X = np.column_stack([x, x])
    assert relative_gap(X, y, strength=0.1) <= 1e-14
    for strength in (1e-14, 1e-22, 1e-40):
        assert relative_gap(X, y, strength=strength) <= 1e-14


def test_a_start_of_a_softmax_under_a_penalty_is_balanced():
    X, _ = rows(18, 1.0)
    y = np.random.default_rng(18).integers(0, 3, size=len(X))
    problem = Problem(make_design(X, intercept=True), y, Softmax(), make_penalty(1e-9, 0.0))
    start = np.full(problem.zero_coef().shape, 100.0)
    fits = [fit_convex(problem, ConvexOptions(solver=Newton()), start=each).coef for each in (None, start)]
    np.testing.assert_allclose(fits[1][1:], fits[0][1:], atol=1e-8)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_differences_from_a_centre_are_exact_where_they_can_be(sign: float):
    column = np.random.default_rng(19).normal(1000.0, 10.0, size=500)
    column[7] = 2300.0  # more than twice the mean
    design = make_design(sign * column[:, np.newaxis], intercept=True)
    (centre,) = design.needed_centre()
    assert (column / 2.0 <= sign * centre).all()
    assert (sign * centre <= 2.0 * column).all()
    column[7] = 0.0
    (centre,) = make_design(sign * column[:, np.newaxis], intercept=True).needed_centre()
    assert centre == pytest.approx(sign * 1000.0, rel=0.01)


def test_sparse_and_dense_columns_agree():
    X, y = rows(14, 1e8)
    X[np.abs(X[:, 0]) < 0.4] = 0.0
    fits = [
        fit_convex(Problem(make_design(each, intercept=True), y, Logistic()), ConvexOptions(solver=Newton())).coef
        for each in (X, scipy.sparse.csr_array(X))
    ]
    np.testing.assert_allclose(*fits, rtol=1e-6)


def test_a_fit_stops_where_floats_resolve_no_more():
    for dependence in (1e9, 1e11, 1e13):
        X, y = rows(15, dependence)
        problem = Problem(make_design(X, intercept=True), y, Logistic())
        steps = fit_convex(problem, ConvexOptions(solver=Newton())).walk.steps
        assert len(steps["objective"]) <= 25
        assert (np.diff(steps["objective"]) <= 1e-15).all()


def test_the_intercept_of_centred_columns_is_rounded_once():
    centre, coef = np.array([2.0**30, 2.0**30]), np.array([0.5, 1e12 + 0.25, -1e12])
    assert shift_intercept(coef, centre, -1.0)[0] == 0.5 - 2.0**28
    classes = np.column_stack([coef, -coef])
    np.testing.assert_array_equal(shift_intercept(classes, centre, 1.0)[0], [0.5 + 2.0**28, -0.5 - 2.0**28])


def test_the_rank_decision_does_not_depend_on_units_offsets_or_storage():
    X, _ = rows(16, 1e3)
    X = np.rint(X * 2.0**15) / 2.0**15  # so that an offset changes no digit
    X = np.column_stack([X, X[:, 0] + 1.0])
    for changed in (X, X * 1e150, X * 1e-150, X + 2.0**20, scipy.sparse.csr_array(X)):
        assert dependent_columns(make_design(changed, intercept=True), None).aliased.tolist() == [X.shape[1]]
