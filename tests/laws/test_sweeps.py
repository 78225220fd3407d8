"""The laws of sweeps: compiled and NumPy sweeps agree over all losses and storages, whatever the scale or the cores."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from precise import precisely, sigmoid, sigmoid_slope, softplus, worst_ulps

from separatrix import jit
from separatrix.design import array, base, sweeps
from separatrix.design.build import make_design
from separatrix.design.sweeps import SlopeSums
from separatrix.errors import DataError
from separatrix.loops import sweep
from separatrix.losses import ALL, Logistic, Loss, ScalarLoss, Softmax
from separatrix.numerics import exp_of_negative, log1p_of_share
from separatrix.penalties import make_penalty
from separatrix.problem import Problem

AGREEMENT = 1e-13  # relative to the sum of absolute terms
UNIT = 2.0**-53
ROWS, COLUMNS = 1307, 7
SCORED = [loss for loss in ALL if isinstance(loss, ScalarLoss)]
STORAGES: dict[str, Callable[[np.ndarray], Any]] = {
    "by rows": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "float32 by columns": lambda X: np.asfortranarray(X.astype(np.float32)),
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "some columns": lambda X: np.column_stack([X, X])[:, : X.shape[1]],
    "csr": sp.csr_array,
    "csr float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "csc": sp.csc_array,
}


class Case(NamedTuple):
    problem: Problem
    coef: np.ndarray
    X: np.ndarray


def case(loss: Loss, storage: str, scale: float = 1.0, *, virtual: bool = True, weighted: bool = True) -> Case:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(ROWS, COLUMNS)) * (rng.random((ROWS, COLUMNS)) < 0.8)
    y = rng.normal(size=ROWS) if loss.target == "numbers" else rng.choice([-1.0, 1.0], size=ROWS)
    stored = STORAGES[storage](X * scale if "float32" not in storage else X)
    full = np.asarray(stored.toarray() if sp.issparse(stored) else stored, dtype=np.float64)
    weights = rng.integers(0, 4, size=ROWS) * rng.random(ROWS) if weighted else None
    problem = Problem(make_design(stored, intercept=virtual), y, loss, make_penalty(0.1, 0.0), weights)
    coef = rng.normal(size=COLUMNS + virtual)
    coef[int(virtual) :] /= np.float64(1.0 if "float32" in storage else scale)
    return Case(problem, coef, np.column_stack([np.ones(ROWS), full]) if virtual else full)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Return a switch between compiled sweeps and those in NumPy."""

    def switch(on: bool) -> None:
        monkeypatch.setattr(sweeps, "is_compiled", lambda pointwise, _: on and pointwise.row_terms is not None)

    return switch


def check(found: Any, expected: Any, sizes: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(found), finite)
    assert (np.abs(found - expected)[finite] <= AGREEMENT * np.asarray(sizes)[finite]).all()


def often(losses: Any, storages: Any) -> Any:
    """Parametrise with losses and storages; all but a few are slow, as their loops are compiled first."""
    quick = {("logistic", "by rows"), ("logistic", "by columns"), ("logistic", "csr")}
    cases = [(loss, storage) for loss in losses for storage in storages]
    marks = [() if (loss.name, storage) in quick else pytest.mark.slow for loss, storage in cases]
    ids = [f"{loss.name}, {storage}" for loss, storage in cases]
    return pytest.mark.parametrize(
        ("loss", "storage"), [pytest.param(*each, marks=mark) for each, mark in zip(cases, marks, strict=True)], ids=ids
    )


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("virtual", [False, True], ids=["plain", "virtual column"])
@often(SCORED, STORAGES)
def test_compiled_and_numpy_sweeps_agree(
    loss: Loss, storage: str, virtual: bool, weighted: bool, compiled: Callable[[bool], None]
) -> None:
    problem, coef, X = case(loss, storage, virtual=virtual, weighted=weighted)
    orders = range(3 if loss.has_curvature else 2)
    terms = [np.abs(part) for part in problem.pointwise(X @ coef, orders[-1], *problem.rows)]
    sizes = [terms[0].sum(), np.abs(X).T @ terms[1]]
    if loss.has_curvature:
        sizes.append(np.abs(X).T @ (terms[2][:, np.newaxis] * np.abs(X)))
    for order in orders:
        results = []
        for on in (False, True):
            compiled(on)
            results.append(problem.design.sweep(coef, problem.pointwise, order, problem.rows))
        for place in range(order + 1):
            check(results[1][place], results[0][place], sizes[place])


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@often(SCORED, [name for name in STORAGES if "float32" not in name])
def test_they_agree_at_any_scale(loss: Loss, storage: str, scale: float, compiled: Callable[[bool], None]) -> None:
    problem, coef, X = case(loss, storage, scale)
    value, slope = (np.abs(part) for part in problem.pointwise(X @ coef, 1, *problem.rows))
    results = []
    for on in (False, True):
        compiled(on)
        results.append(problem.design.sweep(coef, problem.pointwise, 1, problem.rows))
    check(results[1].value, results[0].value, value.sum())
    check(results[1].gradient, results[0].gradient, np.abs(X).T @ slope)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e200, 1e308])
@pytest.mark.parametrize("loss", SCORED, ids=lambda loss: loss.name)
def test_scores_that_overflow_do_so_alike(loss: Loss, size: float, compiled: Callable[[bool], None]) -> None:
    problem, coef, _ = case(loss, "by rows", 1e150)
    results = []
    for on in (False, True):
        compiled(on)
        with np.errstate(all="ignore"):
            results.append(problem.design.sweep(coef * (size / 1e150), problem.pointwise, 1, problem.rows))
    assert np.isnan(results[0].value) == np.isnan(results[1].value)
    check(results[1].value, results[0].value, np.abs(results[0].value))


@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("storage", ["by rows", "by columns", "csr"])
def test_entries_that_are_not_finite_are_named(storage: str, entry: float, compiled: Callable[[bool], None]) -> None:
    X = np.random.default_rng(0).normal(size=(900, 4))
    X[417, 2] = entry
    y = np.random.default_rng(1).choice([-1.0, 1.0], size=900)
    problem = Problem(make_design(STORAGES[storage](X), intercept=True), y, Logistic(), make_penalty(0.1, 0.0))
    compiled(True)
    with pytest.raises(DataError, match=r"x2|column 2|row 417"):
        problem.expand(np.ones(5))


@pytest.mark.parametrize("storage", ["by rows", "by columns", "csr"])
def test_sums_do_not_depend_on_the_number_of_cores(
    storage: str, compiled: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(array, "BLOCK_ELEMENTS", 256)
    monkeypatch.setattr(array, "BLOCK_ENTRIES", 256)
    problem, coef, _ = case(Logistic(), storage)
    compiled(True)
    found = []
    for cores in (1, 2, 3, 8):
        monkeypatch.setattr(base, "cores", lambda cores=cores: cores)
        problem.design.passes = 0.0
        found.append(slope_sums(problem, coef))
        assert problem.design.passes == 1.0
    for each in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(each, found[0], strict=True))


# Sums of slopes


def slope_sums(problem: Problem, coef: np.ndarray) -> SlopeSums:
    shift = math.ldexp(3.0, math.frexp(4.0 * ROWS)[1])
    return problem.design.slope_sums(coef, problem.pointwise, problem.rows, shift=shift, squares=True)


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("virtual", [False, True], ids=["plain", "virtual column"])
@pytest.mark.parametrize("storage", STORAGES)
def test_sums_of_slopes_agree(storage: str, virtual: bool, weighted: bool, compiled: Callable[[bool], None]) -> None:
    problem, coef, X = case(Logistic(), storage, virtual=virtual, weighted=weighted)
    results = []
    for on in (False, True):
        compiled(on)
        results.append(slope_sums(problem, coef))
    value, slope, curvature = problem.pointwise(X @ coef, 2, *problem.rows)
    weights, eta = problem.row_weights, X @ coef
    exact = {
        sweep.VALUE: value,
        sweep.CURVATURE: curvature,
        sweep.PRODUCT: slope * eta,
        sweep.PRODUCT_SIZE: np.abs(slope * eta),
        sweep.CURVED: curvature * eta,
        sweep.CURVED_SIZE: curvature * np.abs(eta),
        sweep.SQUARES: np.divide(slope**2, weights, out=np.zeros(ROWS), where=weights > 0),
        sweep.CURVED_SQUARES: np.divide(curvature**2, weights, out=np.zeros(ROWS), where=weights > 0),
        sweep.SIZE: np.abs(slope),
    }
    for sums in results:
        for place, terms in exact.items():
            check(sums.sums[place], terms.sum(), np.abs(terms).sum())
        total = sums.sums[sweep.LEADING] + sums.sums[sweep.REST]
        check(total, math.fsum(slope), np.abs(slope).sum())
        check(sums.gradient, X.T @ slope, np.abs(X).T @ np.abs(slope))
        check(sums.along, X.T @ curvature, np.abs(X).T @ curvature)
        check(sums.squares, weights @ X**2, weights @ X**2)


@pytest.mark.parametrize("storage", ["by rows", "by columns", "csr"])
def test_sums_make_no_more_roundings_than_they_say(
    storage: str, compiled: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gradients of adversarial rows: sizes that fall, so that every partial sum rounds in the same direction."""
    n = 40_000
    monkeypatch.setattr(array, "BLOCK_ELEMENTS", 2**11)
    monkeypatch.setattr(sweep, "TILE_ELEMENTS", 2**9)
    grown = np.full(n, np.nextafter(1.0, 2.0))  # 1 + 2u: each addition to a large sum rounds the 2u off
    X = np.column_stack([grown, np.where(np.arange(n) % 2 == 0, 1.0, -1.0) * grown, np.geomspace(1.0, 1e-12, n)])
    problem = Problem(make_design(STORAGES[storage](X), intercept=False), np.ones(n), Logistic())
    compiled(True)
    shift = math.ldexp(3.0, 17)
    sums = problem.design.slope_sums(np.zeros(3), problem.pointwise, problem.rows, shift=shift, squares=True)
    bound = sums.depth * UNIT / (1.0 - sums.depth * UNIT)
    for place in range(3):
        column = [Fraction(x) for x in X[:, place].tolist()]
        exact, size = -sum(column) / 2, sum(map(abs, column)) / 2
        assert abs(Fraction(float(sums.gradient[place])) - exact) <= Fraction(bound) * size
        assert abs(Fraction(float(sums.along[place])) + exact / 2) <= Fraction(bound) * size
    assert sums.sums[sweep.LEADING] + sums.sums[sweep.REST] == -n / 2
    assert sums.depth <= (n + 4.0 if storage == "csr" else 2000.0)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_entries_in_the_same_place_count_as_their_sum(form: Any, compiled: Callable[[bool], None]) -> None:
    """Squares of the parts of an entry would add up to less than the square of the entry."""
    problem, coef, X = case(Logistic(), "csr", weighted=False)
    whole = form(X[:, 1:])
    places = np.repeat(whole.indices, 3), 3 * whole.indptr
    parts = form((np.repeat(whole.data, 3) * np.tile([0.5, 0.25, 0.25], whole.nnz), *places), shape=whole.shape)
    split = Problem(make_design(parts, intercept=True), problem.y, Logistic(), make_penalty(0.1, 0.0))
    assert parts.nnz == 3 * whole.nnz
    for on in (False, True):
        compiled(on)
        sums = slope_sums(split, coef)
        check(sums.squares, (X**2).sum(axis=0), (X**2).sum(axis=0))
        check(sums.gradient, slope_sums(problem, coef).gradient, np.abs(X).sum(axis=0))


# Which form


def test_small_sweeps_are_never_compiled_and_large_ones_once_that_repays(monkeypatch: pytest.MonkeyPatch) -> None:
    pointwise = case(Logistic(), "by rows").problem.pointwise
    monkeypatch.setattr(jit.WorkGate, "spent", {})
    monkeypatch.setattr(sweeps, "is_cached", lambda _: False)
    large = sweeps.REPAYS_COMPILING // 2
    assert not any(sweeps.is_compiled(pointwise, sweeps.FEWEST_ENTRIES - 1) for _ in range(10_000))
    assert [sweeps.is_compiled(pointwise, large) for _ in range(4)] == [False, False, True, True]
    monkeypatch.setattr(jit.WorkGate, "spent", {})
    monkeypatch.setattr(sweeps, "is_cached", lambda _: True)
    assert sweeps.is_compiled(pointwise, sweeps.REPAYS_LOADING + 1)
    assert not sweeps.is_compiled(case(Softmax(), "by rows").problem.pointwise, large)


# Elementary functions


def log1p(t: Decimal) -> Decimal:
    return (1 + t).ln()


def points(low: float, high: float) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.concatenate([10.0 ** rng.uniform(low, high, 300), [0.0, 0.5 * math.log(2.0), 0.25, 0.5, 0.414, 0.4143]])


@pytest.mark.parametrize("form", ["interpreted", "compiled"])
def test_exp_of_negative_is_accurate(form: str) -> None:
    function = exp_of_negative if form == "interpreted" else exp_of_negative.compiled
    numbers = -points(-18.0, 2.85)
    assert worst_ulps(map(function, numbers), [precisely(Decimal.exp, x) for x in numbers]) <= 4.0
    assert function(np.float64(-1e300)) == function(np.float64(-np.inf)) == 0.0
    assert np.isnan(function(np.float64(np.nan)))


@pytest.mark.parametrize("form", ["interpreted", "compiled"])
def test_log1p_of_share_is_accurate(form: str) -> None:
    function = log1p_of_share if form == "interpreted" else log1p_of_share.compiled
    numbers = np.minimum(points(-300.0, 0.0), 1.0)
    assert worst_ulps(map(function, numbers), [precisely(log1p, t) for t in numbers]) <= 4.0
    assert np.isnan(function(np.float64(np.nan)))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_the_compiled_logistic_loss_is_accurate(order: int) -> None:
    margins = np.concatenate([points(-18.0, 2.85), -points(-18.0, 2.85)])
    out = np.empty((3, len(margins)))
    Logistic().row_terms.compiled(margins, np.ones(len(margins)), out, len(margins))
    exact = (lambda m: softplus(-m), lambda m: -sigmoid(-m), sigmoid_slope)[order]
    assert worst_ulps(out[order], [precisely(exact, m) for m in margins]) <= 4.0
