"""The laws of solvers: registered, refused by name where they cannot work, and right where they can."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, pairwise
from typing import Any, ClassVar, get_args

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from registry import SOLVERS
from scipy.optimize import nnls
from test_designs import Streamed

from separatrix import losses, penalties
from separatrix.design.base import Design
from separatrix.design.build import make_design, row_radius
from separatrix.errors import NeedsError
from separatrix.fit.convex import suitable
from separatrix.fit.result import AtLeast, AtMost, Status
from separatrix.fit.run import run
from separatrix.loops.online import Tie
from separatrix.losses import Loss
from separatrix.penalties import L1, L2, NoPenalty, Penalty
from separatrix.perceptron_rule import UpdateRule
from separatrix.problem import Problem
from separatrix.separability.margin import mistake_bound
from separatrix.solvers import visits as updates_module
from separatrix.solvers.base import Needs, Step, check_needs
from separatrix.solvers.max_margin import MaxMargin
from separatrix.solvers.perceptron import BatchPerceptron, Keep, PerceptronSolver, PerceptronState
from separatrix.solvers.visits import Order

N, P = 20, 3
CLOSED = 1e-10  # the gap, relative to the upper bound, at which the two sides of a margin have met
NO_MARGIN = 1e-9  # of the radius


def separable(n: int = N, p: int = P, seed: int = 0, gap: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows on both sides of a halfspace through the origin, none within `gap` of its edge."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=p)
    X = rng.normal(size=(20 * n, p))
    X = X[np.abs(X @ w) / np.linalg.norm(w) > gap][:n]
    return X, np.where(X @ w > 0.0, 1.0, -1.0)


def problem_of(
    X: Any, y: Any, *, loss: Loss | None = None, penalty: Penalty | None = None, intercept: bool = False
) -> Problem:
    design = make_design(X, intercept=intercept)
    return Problem(design, np.asarray(y, dtype=float), loss or losses.PerceptronLoss(), penalty or NoPenalty())


def streamed_problem() -> Problem:
    X, y = separable()
    return Problem(Streamed(X, True), y, losses.PerceptronLoss())


# Every solver


def test_every_solver_is_found() -> None:
    assert {type(solver).__name__ for solver in SOLVERS} >= {"Newton", "LBFGS", "Coordinate", "KernelDual"}
    assert len(SOLVERS) == 16


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_solvers_are_frozen_and_declare_their_needs(solver: Any) -> None:
    assert isinstance(solver.needs, Needs)
    assert set(solver.needs.otherwise) <= set(Needs.__dataclass_fields__) - {"otherwise"}
    assert solver == type(solver)()
    with pytest.raises(AttributeError):
        solver.rule = None


# Needs


@dataclass(frozen=True)
class Demanding:
    """A solver that needs everything."""

    needs: ClassVar[Needs] = Needs(
        target=frozenset({"numbers", "classes"}),
        curvature=True,
        random_rows=True,
        row_visits=True,
        column_access=True,
        smooth_penalty=True,
        otherwise={"curvature": "Use SquaredHinge.", "column_access": "Store it by columns."},
    )

    def steps(self, problem: Problem, start: Any) -> Iterator[Step]:  # noqa: ARG002
        yield Step(np.zeros(problem.design.shape[1]))


def refusal(solver: Any, problem: Problem) -> str:
    with pytest.raises(NeedsError) as caught:
        check_needs(solver, problem)
    return str(caught.value)


@pytest.mark.parametrize(
    "solver", [PerceptronSolver(), BatchPerceptron(), MaxMargin()], ids=lambda it: type(it).__name__
)
def test_a_loss_of_other_targets_is_refused_by_name(solver: Any) -> None:
    name = type(solver).__name__
    X, y = separable()
    for loss in losses.ALL:
        problem = problem_of(X, y, loss=loss)
        if loss.target == "labels":
            check_needs(solver, problem)
        else:
            expected = f"{name} needs a loss whose targets are labels; the {loss.name} loss takes {loss.target}."
            assert refusal(solver, problem) == expected


@pytest.mark.parametrize(
    "solver", [PerceptronSolver(), BatchPerceptron(), MaxMargin()], ids=lambda it: type(it).__name__
)
def test_a_penalised_problem_is_refused_by_name(solver: Any) -> None:
    X, y = separable()
    for penalty in penalties.ALL:
        problem = problem_of(X, y, penalty=penalty)
        if isinstance(penalty, NoPenalty):
            check_needs(solver, problem)
        else:
            kind = type(penalty).__name__
            assert refusal(solver, problem) == f"{type(solver).__name__} needs no penalty; this problem has {kind}."


def test_a_penalty_of_strength_zero_is_none() -> None:
    check_needs(PerceptronSolver(), problem_of(*separable(), penalty=L2(0.0)))
    assert "L1" in refusal(PerceptronSolver(), problem_of(*separable(), penalty=L1(1e-9)))


def test_a_design_that_only_streams_is_refused_with_what_would_work() -> None:
    problem = streamed_problem()
    assert refusal(PerceptronSolver(), problem) == (
        "PerceptronSolver needs rows one at a time; Streamed gives them in blocks only. "
        + PerceptronSolver.needs.otherwise["row_visits"]
    )
    assert refusal(MaxMargin(), problem) == (
        "MaxMargin needs rows in any order; Streamed only streams them. "
        "Hold the rows in memory, as an array or a sparse matrix."
    )
    check_needs(BatchPerceptron(), problem)


@pytest.mark.parametrize("solver", [it for it in SOLVERS if it.needs.row_visits], ids=lambda it: type(it).__name__)
def test_visits_of_single_rows_name_the_way_on_a_cluster_and_on_one_machine(solver: Any) -> None:
    remedy = solver.needs.otherwise["row_visits"]
    assert "whose passes run on the cluster" in remedy
    assert "on one machine with sx.blocked(X)" in remedy


def test_every_missing_need_is_named_and_only_their_remedies() -> None:
    X, y = separable()
    problem = Problem(Streamed(X, False), y, losses.Hinge(), L1(0.5))
    assert refusal(Demanding(), problem) == (
        "Demanding needs a loss whose targets are classes or numbers; the hinge loss takes labels; "
        "a curvature; the hinge loss has none; a smooth penalty; L1 has a kink at 0; "
        "rows in any order; Streamed only streams them; "
        "rows one at a time; Streamed gives them in blocks only; "
        "whole columns; Streamed has none. Use SquaredHinge. Store it by columns."
    )
    check_needs(Demanding(), problem_of(X, y, loss=losses.Squared(), penalty=L2(0.5)))


def test_a_solver_is_refused_before_any_work() -> None:
    problem = streamed_problem()
    with pytest.raises(NeedsError, match="PerceptronSolver needs rows one at a time"):
        run(
            problem,
            PerceptronSolver(),
            [AtLeast("visits", 1, Status.MAX_PASSES)],
            start=PerceptronState(np.zeros(4), "last"),
        )
    assert problem.design.passes == 0.0


# Choosing


def test_the_first_solver_that_fits_is_chosen_and_the_others_explained() -> None:
    X, y = separable()
    held = suitable(problem_of(X, y), [PerceptronSolver(), BatchPerceptron()])[0]
    assert held == (PerceptronSolver(), "PerceptronSolver fits the perceptron loss")
    ((solver, reason),) = suitable(
        streamed_problem(), [PerceptronSolver(), MaxMargin(), BatchPerceptron(), Demanding()]
    )
    assert solver == BatchPerceptron()
    assert reason == (
        "BatchPerceptron fits the perceptron loss; "
        + refusal(PerceptronSolver(), streamed_problem())
        + " MaxMargin needs rows in any order; Streamed only streams them. "
        "Hold the rows in memory, as an array or a sparse matrix."
    )


def test_choosing_in_vain_gives_every_reason() -> None:
    problem = problem_of(*separable(), loss=losses.Softmax())
    first = r"no solver is suitable: PerceptronSolver needs .* the softmax loss takes classes\. "
    message = first + r"BatchPerceptron needs .* classes\.$"
    with pytest.raises(NeedsError, match=message):
        suitable(problem, [PerceptronSolver(), BatchPerceptron()])


# The fit loop


@dataclass(frozen=True)
class Countdown:
    """A solver of five steps, a pass and a half each."""

    needs: ClassVar[Needs] = Needs()

    def steps(self, problem: Problem, start: Any) -> Iterator[Step]:  # noqa: ARG002
        for left in range(4, -1, -1):
            problem.design.passes += 1.5
            yield Step(np.full(2, float(left)), {"left": left})


def test_the_loop_stops_at_the_first_rule_met_and_logs_the_way() -> None:
    problem, seen = problem_of(*separable()), []
    problem.design.passes = 10.0
    rules = [AtMost("left", 2, Status.CONVERGED), AtLeast("passes", 3.0, Status.MAX_PASSES)]
    walk = run(problem, Countdown(), rules, watch=seen.append)
    assert (walk.status, walk.facts["left"], walk.passes) == (Status.MAX_PASSES, 3, 3.0)
    assert walk.steps["left"].tolist() == [4.0, 3.0]
    assert walk.steps["passes"].tolist() == [1.5, 3.0]
    assert [facts["left"] for facts in seen] == [4, 3]
    assert run(problem, Countdown(), rules[:1]).status is Status.CONVERGED
    both = run(problem, Countdown(), [AtMost("left", 4, Status.STALLED), AtMost("left", 4, Status.OPTIMAL)])
    assert both.status is Status.STALLED


def test_a_solver_that_runs_out_of_steps_is_a_bug() -> None:
    with pytest.raises(AssertionError, match="Countdown ran out of steps before a rule was met"):
        run(problem_of(*separable()), Countdown(), [AtMost("left", -1, Status.CONVERGED)])


# The batch rule


def batch_walk(design: Design, y: np.ndarray, keep: Keep, steps: int = 30) -> PerceptronState:
    state = PerceptronState(np.zeros(design.shape[1]), keep)
    for _ in islice(BatchPerceptron().steps(Problem(design, y, losses.PerceptronLoss()), state), steps):
        pass
    return state


@pytest.mark.parametrize("keep", get_args(Keep))
@pytest.mark.parametrize("seed", range(5))
def test_the_batch_rule_streams(keep: Keep, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(N, P)).astype(float)  # sums of whole numbers are exact in any order
    y = rng.choice([-1.0, 1.0], size=N)
    streamed, held = Streamed(X, True), make_design(X, intercept=True)
    one, other = batch_walk(streamed, y, keep), batch_walk(held, y, keep)
    assert one.updates == other.updates >= 10
    assert streamed.passes == held.passes == 30.0
    np.testing.assert_array_equal(one.kept(), other.kept())
    np.testing.assert_array_equal(one.record.updates.rows(), other.record.updates.rows())
    for ours, theirs in zip(one.ballot(), other.ballot(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_batch_rule_is_the_textbook_sum() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(-4, 5, size=(N, P)).astype(float), rng.choice([-1.0, 1.0], size=N)
    design = make_design(X, intercept=False)
    weights, mistakes = [np.zeros(P)], []
    for _ in range(30):
        scores = X @ weights[-1]
        wrong = (y * scores < 0.0) | ((scores == 0.0) & (y < 0.0))  # a tie predicts +1
        mistakes.append(int(wrong.sum()))
        weights.append(weights[-1] + y[wrong] @ X[wrong])
    assert min(mistakes) > 0
    last = batch_walk(design, y, "last")
    np.testing.assert_array_equal(last.kept(), weights[-1])
    np.testing.assert_array_equal(last.record.updates.rows()[:, 2], mistakes)
    np.testing.assert_array_equal(last.record.snapshots.rows(), weights[1:])
    np.testing.assert_array_equal(batch_walk(design, y, "best").kept(), weights[int(np.argmin(mistakes))])
    np.testing.assert_allclose(batch_walk(design, y, "average").kept(), np.mean(weights[1:], axis=0), rtol=1e-13)
    votes, counts = batch_walk(design, y, "vote").ballot()
    np.testing.assert_array_equal(votes, weights)
    np.testing.assert_array_equal(counts, [0.0] + [1.0] * 30)


# Whole-number data with a known separator


@st.composite
def separated(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw whole-number rows, a separator, and the labels it gives; rows on its edge are left out."""
    p = draw(st.integers(1, 3))
    whole = st.integers(-3, 3)
    w = np.array(draw(st.lists(whole, min_size=p, max_size=p)))
    X = np.array(draw(st.lists(st.lists(whole, min_size=p, max_size=p), min_size=1, max_size=12)))
    X = X[X @ w != 0]
    assume(len(X))
    return X, np.sign(X @ w), w


@settings(max_examples=60, deadline=None)
@given(separated(), st.sampled_from(get_args(Order)), st.sampled_from(get_args(Tie)), st.sampled_from([0.5, 1.0, 8.0]))
def test_the_single_rule_converges_within_the_bound(data: Any, order: Order, tie: Tie, rate: float) -> None:
    X, y, w = data
    problem = problem_of(X, y)
    state = PerceptronState(np.zeros(X.shape[1]), "last")
    solver = PerceptronSolver(UpdateRule(tie=tie, rate=rate), order=order, seed=0)
    rules = [AtLeast("streak", len(X), Status.CONVERGED), AtLeast("updates", 10_000, Status.MAX_UPDATES)]
    assert run(problem, solver, rules, start=state).status is Status.CONVERGED
    assert not UpdateRule(tie=tie).mistaken(X @ state.coef, y).any()
    # T ≤ (R/γ)² with γ = margin/‖w‖, in whole numbers.
    margin = int((y * (X @ w)).min())
    assert state.updates * margin**2 <= int((X * X).sum(axis=1).max()) * int(w @ w)


@settings(max_examples=40, deadline=None)
@given(separated())
def test_the_batch_rule_converges_within_its_bound(data: Any) -> None:
    X, y, w = data
    state = PerceptronState(np.zeros(X.shape[1]), "last")
    rules = [AtLeast("streak", len(X), Status.CONVERGED), AtLeast("updates", 20_000, Status.MAX_UPDATES)]
    assert run(problem_of(X, y), BatchPerceptron(), rules, start=state).status is Status.CONVERGED
    corrected = int(state.record.updates.rows()[:, 2].sum())
    margin = int((y * (X @ w)).min())
    assert corrected * margin**2 <= len(X) * int((X * X).sum(axis=1).max()) * int(w @ w)


# The widest margin


def nearest_by_support_sets(Z: np.ndarray) -> float:
    """Return the distance of 0 from the hull of rows, trying every set of rows that could support the nearest point."""
    best = np.inf
    for size in range(1, min(len(Z), Z.shape[1] + 1) + 1):
        for support in combinations(range(len(Z)), size):
            rows = Z[list(support)]
            system = np.block([[rows @ rows.T, np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
            if np.linalg.cond(system) < 1e10:
                shares = np.linalg.solve(system, [0.0] * size + [1.0])[:size]
                if shares.min() >= -1e-12:
                    best = min(best, float(np.linalg.norm(shares @ rows)))
    return best


def nearest_by_least_squares(Z: np.ndarray) -> float:
    """Return the same distance from min ‖Zᵗλ‖² + (Σλ − 1)² over λ ≥ 0, whose solution points at the nearest point."""
    shares = nnls(np.vstack([Z.T, np.ones(len(Z))]), np.append(np.zeros(Z.shape[1]), 1.0))[0]
    return float(np.linalg.norm(shares / shares.sum() @ Z))


def margin_walk(problem: Problem, steps: int = 200) -> list[dict[str, float]]:
    """Walk until the bounds meet, the upper one vanishes, or floats go no further; check the bounds' order."""
    facts, radius = [], row_radius(problem.design)
    for step in islice(MaxMargin().steps(problem), steps):
        facts.append(dict(step.facts))
        assert step.facts["lower"] <= step.facts["upper"] + 1e-14 * radius
        assert step.facts["upper"] == pytest.approx(float(np.linalg.norm(step.coef)), rel=1e-15)
        if step.facts["gap"] <= CLOSED or step.facts["upper"] <= NO_MARGIN * radius or step.facts["stalled"]:
            return facts
    raise AssertionError(f"no end after {steps} steps: {facts[-1]}")


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("seed", range(10))
def test_the_widest_margin_is_that_of_the_best_support_set(seed: int, store: Any, intercept: bool) -> None:
    X, y = separable(n=7, p=2 + seed % 2, seed=seed)
    Z = y[:, np.newaxis] * (np.column_stack([np.ones(len(X)), X]) if intercept else X)
    widest = nearest_by_support_sets(Z)
    assert widest >= 0.1
    facts = margin_walk(problem_of(store(X), y, intercept=intercept))
    for step in facts:
        assert step["lower"] <= widest * (1.0 + 1e-12)
        assert step["upper"] >= widest * (1.0 - 1e-12)
    assert facts[-1]["lower"] == pytest.approx(widest, rel=1e-9)
    assert facts[-1]["upper"] == pytest.approx(widest, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_widest_margin_of_more_rows(seed: int) -> None:
    X, y = separable(n=300, p=8, seed=seed, gap=0.05)
    facts = margin_walk(problem_of(X, y))
    widest = nearest_by_least_squares(y[:, np.newaxis] * X)
    assert widest >= 0.04
    assert facts[-1]["lower"] == pytest.approx(widest, rel=1e-9)
    assert facts[-1]["upper"] == pytest.approx(widest, rel=1e-9)
    uppers = [step["upper"] for step in facts]
    assert all(later <= earlier * (1.0 + 1e-12) for earlier, later in pairwise(uppers))


@pytest.mark.parametrize("seed", range(5))
def test_without_a_separator_the_upper_bound_vanishes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), rng.choice([-1.0, 1.0], size=60)
    problem = problem_of(X, y, intercept=True)
    facts = margin_walk(problem)
    assert facts[-1]["upper"] <= NO_MARGIN * row_radius(problem.design)
    assert max(step["lower"] for step in facts) <= 0.0


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=8),
    st.data(),
)
def test_rows_that_repeat_or_line_up_are_no_trouble(rows: list[tuple[int, ...]], data: st.DataObject) -> None:
    X = np.array(rows, dtype=float)
    y = np.array(data.draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=len(X), max_size=len(X))))
    Z = y[:, np.newaxis] * X
    widest, radius = nearest_by_support_sets(Z), float(np.linalg.norm(Z, axis=1).max())
    last = margin_walk(problem_of(X, y))[-1]
    assert last["upper"] == pytest.approx(widest, rel=1e-9, abs=NO_MARGIN * radius)
    if widest > NO_MARGIN * radius:
        assert last["lower"] == pytest.approx(widest, rel=1e-9)


def test_a_margin_too_thin_for_floats_is_never_called_impossible() -> None:
    """Columns of scales 2²⁰ and 2⁻²⁰ put the hull within 1e-12 radii of 0, though (1, −3) separates the rows."""
    X, y = np.array([[3.0, 2.0], [1.0, 0.0], [0.0, 3.0], [-2.0, 2.0]]), np.array([-1.0, 1.0, -1.0, -1.0])
    assert (y * (X @ [1.0, -3.0])).min() == 1.0
    found = mistake_bound(X * [2.0**20, 2.0**-20], y)
    assert not found.exact
    if found.margin is None:
        assert found.margin_ceiling > 0.0
        assert "no separator found (none has a margin above" in str(found)


def test_one_row_is_its_own_nearest_point() -> None:
    facts = margin_walk(problem_of([[3.0, 4.0]], [-1.0]))
    assert (facts[0]["lower"], facts[0]["upper"], len(facts)) == (5.0, 5.0, 1)


# The record of updates


@pytest.mark.parametrize("keep", ["last", "vote"])
@pytest.mark.parametrize("solver", [PerceptronSolver(), BatchPerceptron()], ids=lambda it: type(it).__name__)
def test_a_thinned_record_is_every_so_many_of_the_whole(
    keep: Keep, solver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.integers(-3, 4, size=(N, P)).astype(float), rng.choice([-1.0, 1.0], size=N)
    records = []
    for capacity in (10**6, 7):
        monkeypatch.setattr(updates_module, "UPDATE_BYTES", 24 * capacity)
        monkeypatch.setattr(updates_module, "WEIGHT_BYTES", 8 * P * capacity)
        state = PerceptronState(np.zeros(P), keep)
        for _ in islice(solver.steps(problem_of(X, y), state), 40):
            pass
        records.append(state.record)
    whole, thinned = records
    assert whole.complete
    assert not thinned.complete
    for all_rows, kept in [(whole.updates, thinned.updates), (whole.snapshots, thinned.snapshots)]:
        assert kept.stride >= 4
        assert kept.length <= 7
        np.testing.assert_array_equal(kept.rows(), all_rows.rows()[kept.stride - 1 :: kept.stride])
