"""Coordinate descent: optimal by an independent solver, certified at every step, whatever the storage."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from separatrix.certificates.dual import gap_bound
from separatrix.design.base import Design
from separatrix.design.build import make_design
from separatrix.design.columns import column_store
from separatrix.errors import DataError, NeedsError
from separatrix.fit.result import AtLeast, AtMost, Status
from separatrix.fit.run import Run, run
from separatrix.jit import WorkGate
from separatrix.loops import coordinate as loops
from separatrix.losses import Hinge, Logistic, Loss, Softmax, Squared, SquaredHinge
from separatrix.penalties import L1, L2, ElasticNet, NoPenalty, Penalty
from separatrix.problem import Problem
from separatrix.solvers import coordinate as coordinate_module
from separatrix.solvers import working_set
from separatrix.solvers import working_set as models
from separatrix.solvers.base import check_needs
from separatrix.solvers.coordinate import Coordinate, Memory


def stored_twice(X: np.ndarray) -> sp.csr_array:
    """Store each entry as two halves, the columns of a row backwards."""
    n, p = X.shape
    columns = np.tile(np.repeat(np.arange(p)[::-1], 2), n)
    halves = np.repeat(X[:, ::-1] / 2.0, 2, axis=1).ravel()
    return sp.csr_array((halves, columns, np.arange(0, 2 * n * p + 1, 2 * p)), shape=(n, p))


N, P = 60, 8
LOSSES: tuple[Loss, ...] = (Squared(), Logistic(), SquaredHinge(), Softmax())
PENALTIES: tuple[Penalty, ...] = (L1(0.1), ElasticNet(0.08, 0.5), ElasticNet(0.02, 0.9), L2(0.1))
STORAGES: dict[str, Any] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "twice": stored_twice,
    "float32": lambda X: X.astype(np.float32),
    "float32 csc": lambda X: sp.csc_array(X.astype(np.float32)),
}
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
every_storage = pytest.mark.parametrize("storage", STORAGES)


def drawn(n: int = N, p: int = P, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw correlated columns of float32 numbers, a third of them 0, and scores that some of them make."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.7 * rng.normal(size=(n, 1))
    X[rng.random(X.shape) < 0.3] = 0.0
    X = X.astype(np.float32).astype(np.float64)
    scores = X[:, :3] @ [1.0, -0.8, 0.5] + 0.7 * rng.normal(size=n) + 0.4
    return X, scores


def target(loss: Loss, scores: np.ndarray) -> np.ndarray:
    if loss.target == "labels":
        return np.where(scores > 0.0, 1.0, -1.0)
    return scores if loss.target == "numbers" else np.digitize(scores, np.quantile(scores, [0.3, 0.7]))


def make_problem(
    loss: Loss, penalty: Penalty, *, storage: str = "rows", intercept: bool = True, weighted: bool = False, **size: int
) -> Problem:
    X, scores = drawn(**size)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=len(X)) if weighted else None
    return Problem(make_design(STORAGES[storage](X), intercept=intercept), target(loss, scores), loss, penalty, weights)


def solve(problem: Problem, tol: float = 1e-11, **options: Any) -> Run:
    rules = (
        AtMost("relative_excess", tol, Status.OPTIMAL),
        AtLeast("stalled", 4, Status.STALLED),
        AtLeast("passes", 3000, Status.MAX_PASSES),
    )
    return run(problem, options.pop("solver", Coordinate()), rules, **options)


def reference_value(problem: Problem) -> float:
    """Return the least value by L-BFGS-B on the positive and negative parts, where the kinks become bounds."""
    zero = problem.zero_coef()
    smooth = Problem(problem.design, problem.y, problem.loss, L2(problem.penalty.quadratic), problem.weights)
    rates = problem.penalty.absolute * np.repeat(problem.penalty_weights, zero.size // len(zero))

    def split(parts: np.ndarray) -> tuple[float, np.ndarray]:
        up, down = parts.reshape(2, -1)
        here = smooth.expand((up - down).reshape(zero.shape))
        assert here.gradient is not None
        gradient = here.gradient.reshape(-1)
        return here.value + rates @ (up + down), np.concatenate([gradient + rates, rates - gradient])

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 30}
    start, bounds = np.zeros(2 * zero.size), [(0, None)] * (2 * zero.size)
    found = minimize(split, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return float(found.fun)


# Optimal


@every_penalty
@every_loss
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "plain"])
def test_it_is_optimal_by_another_solver(loss: Loss, penalty: Penalty, intercept: bool) -> None:
    problem = make_problem(loss, penalty, intercept=intercept, weighted=True)
    walk = solve(problem)
    assert walk.status is Status.OPTIMAL
    assert walk.facts["objective"] == pytest.approx(problem.value(walk.coef), rel=1e-12)
    assert walk.facts["objective"] == pytest.approx(reference_value(problem), rel=1e-8)
    penalised = walk.coef[int(intercept) :]
    assert walk.facts["active"] == np.count_nonzero(penalised)
    if penalty == PENALTIES[0]:
        assert 0 < walk.facts["active"] < penalised.size


@every_storage
@every_loss
def test_every_storage_gives_the_same_optimum(loss: Loss, storage: str) -> None:
    plain, stored = (make_problem(loss, L1(0.03), storage=name, weighted=True) for name in ("rows", storage))
    assert solve(stored).facts["objective"] == pytest.approx(solve(plain).facts["objective"], rel=1e-11)


@every_loss
@every_penalty
def test_every_gap_bounds_the_excess_and_the_certificate_agrees(loss: Loss, penalty: Penalty) -> None:
    problem = make_problem(loss, penalty)
    least = solve(problem, tol=1e-13).facts["objective"]
    objectives = []
    for step in islice(Coordinate().steps(problem), 6):
        rounding = 1e-13 * abs(least)
        assert step.facts["objective"] - least <= step.facts["excess"] + rounding
        assert step.facts["objective"] == pytest.approx(problem.value(step.coef), rel=1e-12)
        objectives.append(step.facts["objective"])
    assert np.diff(objectives).max() <= 1e-14 * objectives[0]
    bound = gap_bound(problem, step.coef, step.dual)
    assert bound.gap <= 2.0 * step.facts["excess"] + 1e-12
    assert bound.dual <= least + 1e-13


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Softmax()], ids=lambda loss: loss.name)
def test_gaps_hold_to_the_last_digit_beside_a_large_intercept(loss: Loss) -> None:
    X, scores = drawn()
    problem = Problem(make_design(X + 8.0, intercept=True), target(loss, scores), loss, ElasticNet(0.01, 0.3))
    steps = list(islice(Coordinate().steps(problem), 12))
    least = min(step.facts["objective"] for step in steps)
    assert np.abs(steps[-1].coef[0]).max() >= 3.0
    for step in steps:
        assert step.facts["objective"] - least <= step.facts["excess"]
    assert steps[-1].facts["excess"] <= 1e-13


def test_fewer_rows_than_columns() -> None:
    problem = make_problem(Squared(), L1(0.05), n=20, p=60)
    walk = solve(problem)
    assert walk.status is Status.OPTIMAL
    assert walk.facts["active"] <= 20
    assert walk.facts["objective"] == pytest.approx(reference_value(problem), rel=1e-8)


# Hard columns


@pytest.mark.parametrize("storage", ["rows", "csc"])
@every_loss
def test_repeated_constant_and_empty_columns_do_no_harm(loss: Loss, storage: str) -> None:
    X, scores = drawn()
    plain = Problem(make_design(STORAGES[storage](X), intercept=True), target(loss, scores), loss, L1(0.03))
    wide = np.column_stack([X, X[:, 0], np.zeros(len(X)), np.full(len(X), 3.0)])
    hard = Problem(make_design(STORAGES[storage](wide), intercept=True), plain.y, loss, L1(0.03))
    walk = solve(hard)
    assert walk.status is Status.OPTIMAL
    assert walk.facts["objective"] == pytest.approx(solve(plain).facts["objective"], rel=1e-10)
    assert np.abs(walk.coef[-2:]).max() == 0.0


@pytest.mark.parametrize("storage", ["rows", "csc"])
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda loss: loss.name)
def test_columns_far_from_0_are_no_harder(loss: Loss, storage: str) -> None:
    X, scores = drawn()
    near, far = (make_design(STORAGES[storage](X + shift), intercept=True) for shift in (0.0, 1000.0))
    walks = [solve(Problem(design, target(loss, scores), loss, L1(0.03)), tol=1e-9) for design in (near, far)]
    assert walks[1].status is Status.OPTIMAL
    assert walks[1].facts["objective"] == pytest.approx(walks[0].facts["objective"], rel=1e-8)
    assert len(walks[1].steps["passes"]) <= len(walks[0].steps["passes"]) + 5


def test_columns_all_but_alike_are_told_apart_by_newton_steps() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 1)) + 1e-3 * rng.normal(size=(200, 6))
    problem = Problem(make_design(X, intercept=False), X @ [1.0, 2.0, -1.0, 0.0, 0.0, 3.0], Squared(), L1(1e-6))
    walk = solve(problem, tol=1e-9)
    assert walk.status is Status.OPTIMAL
    assert len(walk.steps["excess"]) <= 20


def test_a_perfect_fit_keeps_the_objectives_digits() -> None:
    X, _ = drawn()
    problem = Problem(make_design(X, intercept=False), X @ np.arange(1.0, P + 1.0), Squared(), L1(1e-9))
    walk = solve(problem, tol=1e-6)
    assert walk.status is Status.OPTIMAL
    assert walk.facts["objective"] == pytest.approx(1e-9 * P * (P + 1) / 2, rel=1e-6)


def test_separable_rows_are_no_trouble_under_a_penalty() -> None:
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    walk = solve(Problem(make_design(X, intercept=True), np.sign(X[:, 0]), Logistic(), L1(1e-4)))
    assert walk.status is Status.OPTIMAL
    assert walk.coef[1] == pytest.approx(-math.log(2e-4), abs=0.01)  # where 1e-4 = mean of |x|·σ(−|x|·w)


def test_scores_of_800_are_finite() -> None:
    X = np.array([[800.0], [-800.0], [1.0], [-1.0]])
    problem = Problem(make_design(X, intercept=True), np.array([1.0, -1.0, -1.0, 1.0]), Logistic(), L1(0.01))
    walk = solve(problem, start=np.array([5.0, 1.0]))
    assert walk.status is Status.OPTIMAL
    assert walk.facts["objective"] == pytest.approx(reference_value(problem), rel=1e-8)


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "plain"])
def test_one_class_alone_is_fitted_without_a_fuss(intercept: bool) -> None:
    X, _ = drawn()
    problem = Problem(make_design(X, intercept=intercept), np.ones(N), Logistic(), L1(0.05))
    steps = list(islice(Coordinate().steps(problem), 10))
    assert steps[-1].facts["objective"] <= (1e-8 if intercept else math.log(2.0))
    assert steps[-1].facts["excess"] <= 1e-7


@pytest.mark.parametrize("storage", ["rows", "columns", "csc"])
@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda loss: loss.name)
def test_data_that_are_not_finite_are_refused_with_their_place(loss: Loss, storage: str) -> None:
    X, scores = drawn()
    X[7, 2] = np.nan
    problem = Problem(make_design(STORAGES[storage](X), intercept=True), target(loss, scores), loss, L1(0.1))
    with pytest.raises(DataError, match="column 'x3' has NaN in row 7"):
        solve(problem)


# Working sets


@pytest.mark.parametrize("loss", [Logistic(), Softmax()], ids=lambda loss: loss.name)
def test_sets_smaller_than_the_support_take_turns(loss: Loss, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem(loss, L1(0.005), p=20)
    whole = solve(problem)
    monkeypatch.setattr(working_set, "LARGEST_SET", 12)
    turns = solve(problem, tol=1e-5)
    assert whole.facts["active"] > 12
    assert turns.status is Status.OPTIMAL
    assert turns.steps["working"].max() == 12
    assert turns.facts["objective"] == pytest.approx(whole.facts["objective"], rel=1e-5)


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "plain"])
@every_penalty
def test_models_by_columns_lead_to_the_same_optimum(
    penalty: Penalty, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = make_problem(Logistic(), penalty, storage="csr", intercept=intercept, n=80, p=30)
    by_gram = solve(problem).facts["objective"]
    monkeypatch.setattr(models, "LONG_ROWS", 0)
    monkeypatch.setattr(models, "UNSETTLED", -1.0)
    monkeypatch.setattr(models.GramCache, "knows", lambda *_: False)
    by_columns = solve(problem, tol=1e-9)
    assert by_columns.status is Status.OPTIMAL
    assert by_columns.facts["objective"] == pytest.approx(by_gram, rel=1e-9)


@pytest.mark.parametrize("storage", ["rows", "columns", "csc"])
def test_working_sets_and_covariances_agree(storage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem(Squared(), L1(0.03), storage=storage, p=40, weighted=True)
    by_covariances = solve(problem).facts["objective"]
    monkeypatch.setattr(coordinate_module, "COVARIANCE_COLUMNS", 0)
    monkeypatch.setattr(working_set, "FEWEST_NEW", 4)
    walk = solve(problem)
    assert walk.steps["working"].max() > 0
    assert walk.facts["objective"] == pytest.approx(by_covariances, rel=1e-11)


def test_screened_columns_are_0_at_the_optimum_and_read_no_more() -> None:
    problem = make_problem(Logistic(), L1(0.08), storage="csc", n=100, p=200)
    known = Memory().facts(problem)
    walk = working_set.WorkingSetDescent(problem, known.store, problem.zero_coef(), known.column_norms, known.gram)
    steps = list(islice(walk.descend(), 8))
    assert steps[-1].facts["excess"] <= 1e-8
    assert 0 < walk.alive.sum() < 0.5 * len(walk.alive)
    assert np.abs(steps[-1].coef[~walk.alive]).max() == 0.0
    before = problem.design.passes
    walk.store.correlate(walk.iterate.weighted_slope, np.flatnonzero(walk.alive))
    assert problem.design.passes - before < 0.5


# Starts, memory and cost


@every_loss
def test_a_start_at_the_optimum_is_known_for_one(loss: Loss) -> None:
    problem = make_problem(loss, ElasticNet(0.05, 0.5))
    again = solve(problem, start=solve(problem).coef, tol=1e-10)
    assert len(again.steps["passes"]) == 1


def test_the_second_strength_of_a_squared_loss_reads_no_data() -> None:
    solver = Coordinate(Memory())
    first = make_problem(Squared(), L1(0.1))
    solve(first, solver=solver)
    passes = first.design.passes
    second = Problem(first.design, first.y, first.loss, L1(0.05))
    walk = solve(second, solver=solver)
    assert passes == 2.0
    assert walk.passes == 0.0
    assert walk.facts["objective"] == pytest.approx(solve(second).facts["objective"], rel=1e-12)


def test_memory_of_other_data_is_not_used() -> None:
    solver = Coordinate(Memory())
    one, other = (make_problem(Squared(), L1(0.1), seed=seed) for seed in (0, 1))
    solve(one, solver=solver)
    assert solve(other, solver=solver).facts["objective"] == pytest.approx(solve(other).facts["objective"], rel=1e-12)


def test_without_a_penalty_it_descends_without_a_bound() -> None:
    problem = make_problem(Squared(), NoPenalty(), intercept=False)
    steps = list(islice(Coordinate().steps(problem), 12))
    X, y = drawn()
    assert all(step.facts["excess"] == math.inf for step in steps)
    np.testing.assert_allclose(steps[-1].coef, np.linalg.lstsq(X, y, rcond=None)[0], rtol=1e-6)


def test_what_it_needs_is_refused_by_name() -> None:
    class Streamed(Design):
        def blocks(self) -> Any:
            raise NotImplementedError

    with pytest.raises(NeedsError, match=r"Coordinate needs a curvature; the hinge loss has none\. Use a loss"):
        check_needs(Coordinate(), make_problem(Hinge(), L1(0.1)))
    streamed = Problem(Streamed((3, 1), ["x"], virtual=False), np.ones(3), Logistic(), L1(0.1))
    with pytest.raises(NeedsError, match=r"whole columns; Streamed has none\. Hold the data in memory"):
        check_needs(Coordinate(), streamed)
    with pytest.raises(NeedsError, match="Streamed has no columns in memory"):
        column_store(streamed.design)


# Columns and loops


@pytest.mark.parametrize("virtual", [True, False], ids=["intercept", "plain"])
@every_storage
@pytest.mark.parametrize("chosen", [[0], [1, 4], [2, 3, 4], list(range(8)), list(range(1, 30, 9))], ids=str)
def test_columns_of_every_storage_are_those_of_the_plain_matrix(storage: str, virtual: bool, chosen: list[int]) -> None:
    X, v = drawn(p=32)
    X[:, 5] = np.float32(X[:, 5] + 100.0)
    design = make_design(STORAGES[storage](X), intercept=virtual)
    if storage == "rows" and virtual:
        centre = design.needed_centre()
        assert centre is not None
        design, X = design.centred(centre), X - centre
    full = np.column_stack([np.ones(len(X)), X]) if virtual else X
    store, plain = column_store(design), full[:, chosen]
    columns = store.take(np.array(chosen))
    coef, weights = np.arange(1.0, 2 * len(chosen) + 1).reshape(-1, 2), np.abs(v)
    np.testing.assert_allclose(columns.times(coef[:, 0]), plain @ coef[:, 0], rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(columns.times(coef), plain @ coef, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(columns.transposed_times(v), plain.T @ v, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(columns.gram(weights), (plain.T * weights) @ plain, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(columns.gram(-v), -(plain.T * v) @ plain, rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(store.squares(weights), weights @ full**2, rtol=1e-11)
    for operations in (0, 10**18):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(WorkGate, "spent", {})
            patch.setattr(store, "gate", WorkGate("test", operations))
            product = store.correlate(v, np.array(chosen))
        np.testing.assert_allclose(product[chosen], plain.T @ v, rtol=1e-12, atol=1e-11)


def kinks(size: int) -> loops.L1Penalty:
    return loops.L1Penalty(np.full(size, 0.1), np.linspace(0.0, 0.2, size), np.full(size, 0.1))


def test_interpreted_and_compiled_descents_agree_bit_for_bit() -> None:
    X, y = drawn()
    gram, start = X.T @ X / N, np.zeros(P)
    ends = []
    for form in (loops.descend, loops.descend.compiled):
        coef, gradient = start.copy(), -X.T @ y / N
        largest = form(gram, gradient, coef, kinks(P), 1e-9, 1000)
        np.testing.assert_allclose(gradient, gram @ coef - X.T @ y / N, atol=1e-13)
        ends.append((largest, *coef, *gradient))
    assert ends[0] == ends[1]
    assert ends[0][0] <= 1e-9
    assert 0 < np.count_nonzero(ends[0][1 : P + 1]) < P


@pytest.mark.parametrize("ones", [True, False], ids=["intercept", "plain"])
def test_descents_by_columns_and_by_gram_matrix_agree(ones: bool) -> None:
    X, y = drawn()
    matrix, weights = sp.csc_array(X), np.linspace(0.5, 1.5, N) / N
    centred = X - ones * (weights @ X) / weights.sum()
    gram_coef, residual = np.zeros(P), -weights * y
    rest = residual - ones * weights * residual.sum() / weights.sum()
    loops.descend.compiled((centred.T * weights) @ centred, centred.T @ rest, gram_coef, kinks(P), 1e-12, 10**6)
    for weigh, descend in [
        (loops.weigh_columns, loops.descend_columns),
        (loops.weigh_columns.compiled, loops.descend_columns.compiled),
    ]:
        total = float(weights.sum()) if ones else 0.0
        places = (matrix.data, np.empty(matrix.nnz), matrix.indices, matrix.indptr)
        weighed = loops.WeightedColumns(*places, np.empty(P), np.empty(P), total)
        weigh(weighed, weights, 1e-13)
        coef, shift = np.zeros(P), -residual.sum() / total if ones else 0.0
        largest, shift = descend(weighed, residual.copy(), shift, coef, kinks(P), 1e-12, 10**5)
        assert largest <= 1e-12
        np.testing.assert_allclose(coef, gram_coef, atol=1e-10)
        moved = residual + weights * (X @ coef + ones * shift)
        assert moved.sum() == pytest.approx(0.0 if ones else moved.sum(), abs=1e-12)


def test_a_column_without_curvature_stays_at_0() -> None:
    assert loops.coordinate_minimum(2.0, 5.0, 0.0, 1.0, 0.0) == 0.0
    assert loops.coordinate_minimum(2.0, -5.0, 1.0, 1.0, 1.0) == 3.0
    assert loops.coordinate_minimum(-2.0, 5.0, 1.0, 1.0, 1.0) == -3.0
