"""The oracles against answers known by hand and second methods: SciPy, scikit-learn, statsmodels, brute force."""

from __future__ import annotations

import ast
import math
import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import statsmodels.api as sm
from oracle_rational import complementary_solution, cone_alternative, dot, null_space, rational_rows, solve
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.svm import SVC

from oracles import (
    PerceptronRule,
    divergence,
    exact,
    fewest_mistakes,
    firth,
    firth_point,
    generative,
    kernel_margin,
    kernel_matrix,
    kernel_scores,
    kernel_svm,
    kernel_svm_value,
    least_squares,
    minimum,
    mistaken_rows,
    mp,
    rays_left,
    replay_kernel_perceptron,
    replay_perceptron,
    residual_sum,
    separability_verdict,
    squared_margin_of,
    squared_radius,
    value_at,
    widest_margin,
)

pytestmark = pytest.mark.slow

SQUARE = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
AND, OR, XOR = np.array([-1, -1, -1, 1]), np.array([-1, 1, 1, 1]), np.array([-1, 1, 1, -1])
HERE = Path(__file__).parent
SINGLE = 1e-6  # of libsvm, which holds the kernel matrix in single precision


def made(seed: int, n: int = 12, p: int = 3, *, whole: bool = False) -> tuple[Any, Any]:
    """Return rows (small integers if `whole`, so that ties and dependent columns occur) and labels ±1, both present."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, p)).astype(float) if whole else rng.normal(size=(n, p))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)
    y[:2] = -1, 1
    return X, y


def test_the_oracles_import_nothing_of_the_package() -> None:
    sources = sorted(HERE.glob("oracle*.py"))
    allowed = {*sys.stdlib_module_names, "numpy", "mpmath", *(path.stem for path in sources)}
    for path in sources:
        text = path.read_text(encoding="utf-8")
        assert "separatrix" not in text
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                assert {name.name.split(".")[0] for name in node.names} <= allowed
            if isinstance(node, ast.ImportFrom):
                assert node.module is not None
                assert node.module.split(".")[0] in allowed
    assert len(sources) >= 2


def signed_rays(X: Any, y: Any, intercept: bool) -> Any:
    return y[:, None] * (np.column_stack([np.ones(len(X)), X]) if intercept else X)


def class_rays(X: Any, y: Any, classes: int) -> Any:
    rows = np.column_stack([np.ones(len(X)), X])
    return np.array(
        [
            np.kron(np.eye(classes)[k] - np.eye(classes)[c], x)
            for x, k in zip(rows, y, strict=True)
            for c in range(classes)
            if c != k
        ]
    )


def linprog_verdict(Z: Any) -> str:
    """Return the verdict by linear programs in floats: the most of Σ u with u ≤ z·v, 0 ≤ u ≤ 1."""
    count, width = Z.shape
    A = np.hstack([np.eye(count), -Z])
    bounds = [(0, 1)] * count + [(None, None)] * width
    found = scipy.optimize.linprog(np.r_[-np.ones(count), np.zeros(width)], A, np.zeros(count), bounds=bounds)
    separated = found.x[:count] > 0.5
    return "separable" if separated.all() else "quasi" if separated.any() else "overlap"


# separability


def test_logical_functions() -> None:
    assert [separability_verdict(SQUARE, y) for y in (AND, OR, XOR)] == ["separable", "separable", "overlap"]
    assert separability_verdict(SQUARE, AND, fit_intercept=False) == "overlap"  # the row (0, 0) is right nowhere
    assert rays_left(SQUARE, AND, fit_intercept=False) == [(0, 1), (1, 1), (2, 1), (3, -1)]


def test_quasi_separation_and_what_is_left() -> None:
    X, y = np.array([[-1.0], [0.0], [0.0], [1.0]]), np.array([-1, -1, 1, 1])
    assert separability_verdict(X, y) == "quasi"
    assert rays_left(X, y) == [(1, 1), (2, -1)]
    assert divergence(X, y) == (("finite", "+inf"), 1)
    assert separability_verdict(X, y, weights=[1, 0, 1, 1]) == "separable"
    assert separability_verdict(X, y, weights=[0, 1, 1, 0]) == "overlap"


def test_one_unit_in_the_last_place_decides() -> None:
    X, y = np.array([[0.1], [0.1], [0.2], [0.3]]), np.array([-1, 1, 1, 1])
    assert separability_verdict(X, y) == "quasi"
    X[1] = np.nextafter(0.1, 1)
    assert separability_verdict(X, y) == "separable"
    X[1] = np.nextafter(0.1, 0)
    assert separability_verdict(X, y) == "overlap"


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("intercept", [True, False])
def test_verdicts_agree_with_linear_programs(seed: int, intercept: bool) -> None:
    X, y = made(seed, n=4 + seed % 9, p=1 + seed % 3, whole=True)
    assert separability_verdict(X, y, intercept) == linprog_verdict(signed_rays(X, y, intercept))


def test_all_verdicts_occur() -> None:
    cases = [made(seed, n=4 + seed % 9, p=1 + seed % 3, whole=True) for seed in range(30)]
    assert {separability_verdict(X, y) for X, y in cases} == {"separable", "quasi", "overlap"}


@pytest.mark.parametrize("seed", range(10))
def test_verdicts_of_three_classes_agree_with_linear_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (6 + seed % 4, 2)).astype(float)
    y = np.r_[0, 1, 2, rng.integers(0, 3, len(X) - 3)]
    assert separability_verdict(X, y) == linprog_verdict(class_rays(X, y, 3))


def test_a_label_without_rows_makes_no_rays() -> None:
    y = np.where(XOR > 0, 5, 2)  # codes with gaps
    assert separability_verdict(SQUARE, y) == "overlap"
    three = np.array([0, 1, 1, 0])
    assert separability_verdict(np.vstack([SQUARE, [[9.0, 9.0]]]), [*three, 7], weights=[1, 1, 1, 1, 0]) == "overlap"
    assert separability_verdict(np.vstack([SQUARE, [[9.0, 9.0]]]), [*three, 7]) == "quasi"


def test_statuses_of_coefficients() -> None:
    assert divergence(SQUARE, AND) == (("-inf", "+inf", "+inf"), 3)
    assert divergence(SQUARE, XOR) == (("finite",) * 3, 0)
    doubled = np.column_stack([SQUARE[:, 0], 2 * SQUARE[:, 0], SQUARE[:, 1]])
    assert divergence(doubled, XOR).statuses == ("finite", "aliased", "aliased", "finite")
    X, y = np.array([[-1.0, 0.3], [1.0, 0.2]]), np.array([-1, 1])
    assert divergence(X, y) == (("aliased",) * 3, 2)  # two rows for three coefficients
    X = np.array([[-2.0, 0.0], [-2.0, 1.0], [2.0, 0.0], [2.0, 1.0]])
    assert divergence(X, np.sign(X[:, 0])) == (("not estimable", "+inf", "not estimable"), 3)


@pytest.mark.parametrize("seed", range(12))
def test_statuses_agree_with_linear_programs(seed: int) -> None:
    X, y = made(seed, n=5 + seed % 5, p=2, whole=True)
    Z = signed_rays(X, y, True)
    for column, status in enumerate(divergence(X, y).statuses):
        moves = []
        for sign in (1, -1):
            bounds = [(-1, 1)] * 3
            found = scipy.optimize.linprog(-sign * np.eye(3)[column], -Z, np.zeros(len(Z)), bounds=bounds)
            moves.append(-found.fun > 1e-7)
        if np.linalg.matrix_rank(np.vstack([Z, np.eye(3)[column]])) > np.linalg.matrix_rank(Z):
            assert status == "aliased"
        else:
            assert status == {(1, 1): "not estimable", (1, 0): "+inf", (0, 1): "-inf", (0, 0): "finite"}[tuple(moves)]


# margins and mistakes


def test_margins_known_by_hand() -> None:
    assert widest_margin(SQUARE, AND).squared == Fraction(1, 8)
    assert widest_margin(SQUARE, XOR) == (0, None)
    two = widest_margin([[0.0, 0.0], [3.0, 4.0]], [-1, 1])
    assert two.squared == Fraction(25, 4)
    assert squared_margin_of([[0.0, 0.0], [3.0, 4.0]], [-1, 1], [float(c) for c in two.coef]) == Fraction(25, 4)
    assert widest_margin([[3.0, 4.0], [-3.0, 4.0]], [1, 1], fit_intercept=False).squared == 16
    with pytest.raises(ValueError, match="single class"):
        widest_margin(SQUARE, [1, 1, 1, 1])


def best_of_all_supports(points: list[list[Fraction]]) -> Fraction:
    """Return the least squared norm over the hulls of all supports, each by its affine minimiser."""
    best = min(dot(point, point) for point in points)
    for size in range(2, len(points[0]) + 2):
        for support in combinations(points, size):
            border = [[*(dot(a, b) for b in support), Fraction(1)] for a in support] + [
                [Fraction(1)] * size + [Fraction(0)]
            ]
            try:
                multipliers = solve(border, [Fraction(0)] * size + [Fraction(1)])[:-1]
            except ZeroDivisionError:
                continue  # affinely dependent
            if min(multipliers) >= 0:
                centre = [dot(multipliers, column) for column in zip(*support, strict=True)]
                best = min(best, dot(centre, centre))
    return best


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("whole", [True, False])
def test_margins_agree_with_all_supports(seed: int, whole: bool) -> None:
    X, _ = made(seed, n=6, p=2, whole=whole)
    y = np.where(X @ [1.0, 0.5] + 0.1 > 0, 1, -1)
    points = [[int(s) * x for x in row] for s, row in zip(y, rational_rows(X), strict=True)]
    assert widest_margin(X, y, fit_intercept=False).squared == best_of_all_supports(points)
    if len(set(y.tolist())) == 2:
        pairs = [
            [a + b for a, b in zip(up, down, strict=True)]
            for s, up in zip(y, points, strict=True)
            if s > 0
            for t, down in zip(y, points, strict=True)
            if t < 0
        ]
        assert widest_margin(X, y).squared == best_of_all_supports(pairs) / 4


def test_the_widest_margin_agrees_with_a_support_vector_machine() -> None:
    X, _ = made(3, n=20)
    y = np.where(X @ [1.0, -1.0, 0.5] > 0.2, 1, -1)
    machine = SVC(kernel="linear", C=1e8, tol=1e-10).fit(X, y)
    margin = widest_margin(X, y)
    assert math.sqrt(margin.squared) == pytest.approx(1 / np.linalg.norm(machine.coef_), rel=SINGLE)
    assert margin.squared == Fraction(*squared_margin_ratio(X, y, margin.coef))


def squared_margin_ratio(X: Any, y: Any, coef: list[Fraction]) -> tuple[Any, Any]:
    least = min(int(s) * dot(coef, row) for s, row in zip(y, rational_rows(X, intercept=True), strict=True))
    return least**2, dot(coef[1:], coef[1:])


def test_fewest_mistakes_known_by_hand() -> None:
    assert fewest_mistakes(SQUARE, XOR).mistakes == 1
    assert fewest_mistakes(SQUARE, AND).mistakes == 0
    assert fewest_mistakes(SQUARE, AND, fit_intercept=False).mistakes == 2  # (0, 0) and one more
    assert fewest_mistakes([[1.0, 0.0], [-1.0, 0.0]], [1, 1], fit_intercept=False).mistakes == 1
    assert fewest_mistakes(np.zeros((3, 1)), [1, -1, 1]).mistakes == 1
    assert fewest_mistakes(np.zeros((3, 1)), [1, -1, 1], weights=[1, 9, 1.5]).mistakes == Fraction(5, 2)
    assert fewest_mistakes(np.zeros((3, 1)), [1, -1, 1], fit_intercept=False).mistakes == 3


@pytest.mark.parametrize("seed", range(6))
def test_fewest_mistakes_agree_with_linear_programs_over_all_subsets(seed: int) -> None:
    X, y = made(seed, n=7, p=1 + seed % 2, whole=seed % 3 > 0)
    Z = signed_rays(X, y, True)
    subsets = (kept for size in range(7, -1, -1) for kept in combinations(range(7), size))
    best = next(7 - len(kept) for kept in subsets if linprog_verdict(Z[list(kept)]) == "separable" or not kept)
    found = fewest_mistakes(X, y)
    assert found.mistakes == best
    wrong = [i for i, z in enumerate(rational_rows(Z)) if dot(z, found.coef) <= 0]
    assert wrong == list(found.rows)


def test_mistakes_follow_the_tie_rule() -> None:
    coef = [-1.0, 1.0, 0.0]  # scores −1, −1, 0, 0
    ties = {tie: mistaken_rows(SQUARE, AND, coef, tie=tie) for tie in ("positive", "negative", "mistake", "correct")}
    assert ties == {"positive": [2], "negative": [3], "mistake": [2, 3], "correct": []}
    assert mistaken_rows(SQUARE, AND, coef, margin=1.0) == [2, 3]
    assert (
        mistaken_rows([[0.1, 0.2, -0.3]], [1], [1.0, 1.0, 1.0], fit_intercept=False) == []
    )  # 0.1 + 0.2 > 0.3, in floats as written
    assert squared_radius(SQUARE) == 3


# perceptron runs


def float_perceptron(X: Any, y: Any, passes: int) -> tuple[list[int], Any]:
    rows, w, history = np.column_stack([np.ones(len(X)), X]), np.zeros(X.shape[1] + 1), []
    for _ in range(passes):
        for i, row in enumerate(rows):
            if y[i] * (1 if row @ w >= 0 else -1) < 0:
                w += y[i] * row
                history.append(i)
    return history, w


def test_a_run_on_integers_is_replayed_exactly() -> None:
    history, w = float_perceptron(SQUARE, AND, 20)
    replay = replay_perceptron(SQUARE, AND, history)
    assert replay.legitimate
    assert replay.coef == [Fraction(value) for value in w]
    assert replay.wrong == []
    assert replay.mistakes == [1] * len(history)
    assert len(history) * widest_margin(np.column_stack([np.ones(4), SQUARE]), AND, False).squared <= squared_radius(
        SQUARE
    )


def test_an_invented_update_is_not_legitimate() -> None:
    history, _ = float_perceptron(SQUARE, AND, 20)
    assert not replay_perceptron(SQUARE, AND, [*history, 0]).legitimate
    assert not replay_perceptron(SQUARE, AND, [3]).legitimate  # a score of 0 predicts +1
    assert replay_perceptron(SQUARE, AND, [3], rule=PerceptronRule(tie="mistake")).legitimate
    assert replay_perceptron(SQUARE, AND, [3], rule=PerceptronRule(margin=0.5)).legitimate
    assert not replay_perceptron(SQUARE, AND, [0], start=[-0.5, 0.0, 0.0]).legitimate
    assert replay_perceptron(SQUARE, AND, [0]).margins == [0]
    with pytest.raises(ValueError, match="rows other than"):
        replay_perceptron(SQUARE, AND, [-1])


def test_batch_updates_and_falling_rates() -> None:
    batch = replay_perceptron(SQUARE, AND, 1)
    assert (batch.legitimate, batch.mistakes, batch.coef) == (True, [3], [-3, -1, -1])
    assert batch.wrong == [3]
    assert not replay_perceptron(SQUARE, AND, 2, start=[-3.0, 2.0, 2.0]).legitimate  # nothing is wrong
    rule = PerceptronRule(rate=0.5, inverse=True, tie="mistake")
    assert replay_perceptron(SQUARE, AND, [3, 0], rule=rule, earlier=1).coef == [
        Fraction(1, 12),
        Fraction(1, 4),
        Fraction(1, 4),
    ]


def test_a_kernel_run_is_that_of_its_linear_space() -> None:
    X, y = made(5, n=8)
    history, _ = float_perceptron(X, y, 3)
    linear = replay_perceptron(X, y, history)
    kernel = replay_kernel_perceptron(kernel_matrix("linear", X), y, history)
    assert (kernel.legitimate, kernel.margins, kernel.wrong) == (linear.legitimate, linear.margins, linear.wrong)
    rows = rational_rows(X, intercept=True)
    assert [dot(kernel.coef, column) for column in zip(*rows, strict=True)] == linear.coef
    rbf = replay_kernel_perceptron(kernel_matrix("rbf", X, gamma=1.0), y, [0, 1], rule=PerceptronRule(tie="mistake"))
    assert rbf.legitimate
    wide = replay_kernel_perceptron(kernel_matrix("rbf", X, gamma=1.0), y, [0, 0, 0], rule=PerceptronRule(margin=3.0))
    assert not wide.legitimate  # margins 0, 2, 4
    assert float(rbf.margins[1]) == pytest.approx(y[0] * y[1] * (math.exp(-((X[0] - X[1]) ** 2).sum()) + 1))


# objectives


def float_objective(loss: str, X: Any, y: Any, w: Any, *, l1: Any, l2: Any, weights: Any, offset: Any) -> float:
    penalty = np.sum(l1 * np.abs(w[..., 1:]) + l2 * w[..., 1:] ** 2 / 2)
    if loss == "softmax":
        eta = w[:, 0] + X @ w[:, 1:].T + offset
        losses = np.log(np.exp(eta - eta.max(1, keepdims=True)).sum(1)) + eta.max(1) - eta[np.arange(len(y)), y]
    else:
        eta = w[0] + X @ w[1:] + offset
        short = np.maximum(0, 1 - y * eta)
        losses = {
            "logistic": np.logaddexp(0, -y * eta),
            "squared": (eta - y) ** 2 / 2,
            "hinge": short,
            "squared hinge": short**2,
        }[loss]
    return float(weights @ losses / weights.sum() + penalty)


LOSSES = ["logistic", "softmax", "squared", "hinge", "squared hinge"]


def problem(loss: str, seed: int) -> tuple[Any, Any, Any, Any]:
    X, y = made(seed)
    rng = np.random.default_rng(seed + 100)
    y = {"softmax": np.r_[0, 1, 2, rng.integers(0, 3, 9)], "squared": rng.normal(size=12)}.get(loss, y)
    return X, y, rng.uniform(0.5, 2, 12), rng.normal(size=(12, 3) if loss == "softmax" else 12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.1), (0.03, 0.0), (0.02, 0.05), (2.0, 0.0)])
def test_no_float_finds_less_than_the_minimum(loss: Any, l1: float, l2: float) -> None:
    X, y, weights, offset = problem(loss, 1)
    options = {"weights": weights, "offset": offset, "l1": l1, "l2": l2}
    found = minimum(loss, X, y, **options)
    shape = (3, 4) if loss == "softmax" else (4,)
    best = np.array(found.argmin, dtype=float).reshape(shape)
    assert abs(value_at(loss, X, y, found.argmin, **options) - found.value) < mp.mpf("1e-55")

    def objective(w: Any) -> float:
        return float_objective(loss, X, y, w.reshape(shape), **options)

    assert objective(best) == pytest.approx(float(found.value), rel=1e-12)
    assert float(value_at(loss, X, y, best, **options)) == pytest.approx(objective(best), rel=1e-12)
    rng = np.random.default_rng(0)
    starts = [best.ravel(), np.zeros(best.size), *rng.normal(size=(2, best.size))]
    near = [scipy.optimize.minimize(objective, w, method="Powell", options={"maxfev": 2000}).fun for w in starts[:2]]
    near += [objective(best + size * rng.normal(size=shape)) for size in 10.0 ** -np.arange(1, 7) for _ in range(20)]
    assert min(near) >= float(found.value) * (1 - 1e-13)
    if not (loss == "hinge" or l1):
        reached = scipy.optimize.minimize(objective, np.zeros(best.size), method="BFGS", options={"gtol": 1e-10}).fun
        assert reached == pytest.approx(float(found.value), abs=1e-8)


def test_a_single_point_by_hand() -> None:
    X, y = np.array([[1.0], [-1.0]]), np.array([1, -1])
    found = minimum("logistic", X, y, fit_intercept=False, l2=0.1)
    w = scipy.optimize.brentq(lambda w: 0.1 * w - 1 / (1 + math.exp(w)), 0, 10, xtol=1e-14)
    assert float(found.argmin[0]) == pytest.approx(w, abs=1e-13)
    assert minimum("logistic", X, y) == (0, None)
    assert minimum("hinge", X, y).value == 0
    assert exact(minimum("hinge", X, y, False, l2=4.0).argmin[0]) == Fraction(1, 4)
    assert exact(minimum("squared hinge", X, y, False, l2=2.0).argmin[0]) == Fraction(1, 2)
    assert exact(minimum("squared", [[1.0]], [3.0], False, l1=1.0).argmin[0]) == 2
    offset = minimum("logistic", [[0.0]], [1], False, offset=10.0)
    assert float(offset.value) == pytest.approx(math.log1p(math.exp(-10)), rel=1e-15)


def test_infima_that_are_not_attained() -> None:
    X, y = np.array([[-1.0], [0.0], [0.0], [1.0]]), np.array([-1, -1, 1, 1])
    quasi = minimum("logistic", X, y)
    assert quasi.argmin is None
    assert float(quasi.value) == pytest.approx(math.log(2) / 2, rel=1e-15)
    three = minimum("softmax", [[0.0], [0.0], [1.0], [2.0]], [0, 1, 2, 2])
    assert three.argmin is None
    assert float(three.value) == pytest.approx(math.log(2) / 2, rel=1e-15)
    X = np.column_stack([X[:, 0], [0.5, -0.3, 0.2, 0.1]])
    mixed = minimum("logistic", X, y, l2=[0.0, 0.3])  # the first column separates without penalty
    alone = minimum("logistic", X[1:3, 1:], y[1:3], l2=0.6)  # the other two rows, with half the mean
    assert mixed.argmin is None
    assert abs(mixed.value - alone.value / 2) < mp.mpf("1e-60")
    assert minimum("logistic", X, y, l2=[1e-9, 0.3]).argmin is not None
    assert minimum("logistic", X, y, l1=[1e-9, 0.3]).argmin is not None


def test_maximum_likelihood_agrees_with_statsmodels() -> None:
    X, y = made(2, n=24, p=2)
    ours = minimum("logistic", X, y)
    theirs = sm.Logit(y > 0, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-14)
    np.testing.assert_allclose([float(w) for w in ours.argmin], theirs.params, rtol=1e-8)
    assert float(ours.value) == pytest.approx(-theirs.llf / 24, rel=1e-12)
    classes = np.random.default_rng(2).integers(0, 3, 24)
    ours = minimum("softmax", X, classes)
    theirs = sm.MNLogit(classes, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-14)
    coef = np.array(ours.argmin, dtype=float)
    np.testing.assert_allclose((coef[1:] - coef[0]).T, theirs.params, rtol=1e-8)
    assert float(ours.value) == pytest.approx(-theirs.llf / 24, rel=1e-12)


def test_penalised_optima_agree_with_scikit_learn() -> None:
    X, y = made(4, n=20)
    target = X @ [1.0, 0.0, -0.5] + made(5, n=20)[0][:, 0]
    net = ElasticNet(alpha=0.2, l1_ratio=0.6, tol=1e-14, max_iter=100000).fit(X, target)
    ours = minimum("squared", X, target, l1=0.12, l2=0.08)
    np.testing.assert_allclose([float(w) for w in ours.argmin], [net.intercept_, *net.coef_], atol=1e-8)
    ridge = LogisticRegression(C=1 / (20 * 0.05), tol=1e-13, solver="newton-cholesky").fit(X, y)
    ours = minimum("logistic", X, y, l2=0.05)
    np.testing.assert_allclose([float(w) for w in ours.argmin], [*ridge.intercept_, *ridge.coef_[0]], rtol=1e-8)
    X, y = made(0, n=20)
    machine = SVC(kernel="linear", C=1 / (20 * 0.05), tol=1e-10).fit(X, y)
    ours = minimum("hinge", X, y, l2=0.05)
    np.testing.assert_allclose([float(w) for w in ours.argmin[1:]], machine.coef_[0], atol=SINGLE)


@pytest.mark.parametrize("seed", range(4))
def test_hinge_with_l1_agrees_with_linear_programs(seed: int) -> None:
    X, y = made(seed, whole=seed % 2 == 0)
    l1 = [0.1, 0.02, 0.0][seed % 3]
    Z = signed_rays(X, y, True)
    c = np.r_[np.zeros(2), np.full(6, l1), np.full(12, 1 / 12)]
    A = np.hstack([Z[:, :1], -Z[:, :1], Z[:, 1:], -Z[:, 1:], np.eye(12)])
    found = scipy.optimize.linprog(c, -A, -np.ones(12))
    assert float(minimum("hinge", X, y, l1=l1).value) == pytest.approx(found.fun, abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_count_rows_and_zero_leaves_them_out(loss: Any) -> None:
    X, y, _, _ = problem(loss, 3)
    counts = np.r_[1, 1, 1, 2, 3, 0, 1, 1, 1, 1, 1, 2]
    weighted = minimum(loss, X, y, weights=counts, l2=0.1).value
    assert abs(weighted - minimum(loss, np.repeat(X, counts, 0), np.repeat(y, counts), l2=0.1).value) < mp.mpf("1e-60")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.02, 0.0), (0.0, 0.1)])
def test_dependent_columns(loss: Any, l1: float, l2: float) -> None:
    X, y, _, _ = problem(loss, 7)
    doubled = np.column_stack([X, X[:, 0]])
    twice = minimum(loss, doubled, y, l1=l1, l2=l2)
    once = minimum(loss, X, y, l1=l1, l2=[l2 / 2, l2, l2])  # two equal columns share a coefficient
    assert abs(twice.value - once.value) < mp.mpf("1e-50")
    assert abs(value_at(loss, doubled, y, twice.argmin, l1=l1, l2=l2) - twice.value) < mp.mpf("1e-50")


def test_nearly_dependent_columns_have_the_optimum_of_their_span() -> None:
    rng = np.random.default_rng(0)
    x, z = rng.integers(-8, 9, (2, 12)) / 8
    y = np.where(rng.normal(size=12) + z > 0, 1, -1)
    near = np.column_stack([x, x + z * 2.0**-30])  # exact in floats
    apart = np.column_stack([x, z])
    assert separability_verdict(apart, y) == "overlap"
    for loss in ("logistic", "hinge", "squared hinge", "squared"):
        assert abs(minimum(loss, near, y).value - minimum(loss, apart, y).value) < mp.mpf("1e-55")


def test_smoothing_agrees_with_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    import oracle_newton

    X, y = made(7, n=8, p=2)
    by_signs = minimum("logistic", X, y, l1=0.1)
    monkeypatch.setattr(oracle_newton, "_of_signs", lambda _, __, signs: (None, signs))
    assert abs(minimum("logistic", X, y, l1=0.1).value - by_signs.value) < mp.mpf("1e-55")


@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared", "hinge", "squared hinge"])
@pytest.mark.parametrize("l1", [0.0, 0.05])
def test_columns_are_held_at_their_coefficients(loss: Any, l1: float) -> None:
    """The minimum with held columns, minimised over their coefficients by steps of both signs, is that of all."""
    X, y = made(11, n=14, p=2)
    y = np.arange(14) % 3 if loss == "softmax" else y
    whole = minimum(loss, X, y, l1=l1, l2=0.1)
    at = minimum(loss, X, y, l1=l1, l2=0.1, start=whole.argmin, held=[0, 2])
    assert abs(at.value - whole.value) < mp.mpf("1e-55")
    for step in (-0.25, 0.25):
        moved = np.array(whole.argmin)
        moved[..., 2] += step * (np.arange(3) - 0.5 if loss == "softmax" else 1.0)
        held = minimum(loss, X, y, l1=l1, l2=0.1, start=moved.tolist(), held=[2])
        assert held.value > whole.value
        assert held.value <= value_at(loss, X, y, moved.tolist(), l1=l1, l2=0.1)
        assert np.array(held.argmin)[..., 2].tolist() == moved[..., 2].tolist()


@pytest.mark.parametrize("dependence", [1e6, 1e10, 1e14])
@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared", "squared hinge"])
def test_minima_of_dependent_columns_of_any_scale(loss: Any, dependence: float) -> None:
    """Any start gives one minimum, and the gradient at the minimiser is 0: no small step reaches less."""
    rng = np.random.default_rng(int(np.log10(dependence)))
    x, z = rng.normal(size=(2, 20))
    X = np.column_stack([x, x + z / dependence]) * [1e150, 1e-150]
    y = np.arange(20) % 3 if loss == "softmax" else np.where(x + z + rng.normal(size=20) > 0, 1.0, -1.0)
    found = minimum(loss, X, y)
    coef = np.array(found.argmin)
    again = minimum(loss, X, y, start=(coef * rng.uniform(-2.0, 2.0, coef.shape)).tolist())
    assert abs(found.value - again.value) < mp.mpf("1e-70") * found.value
    for j, size in ((0, 1.0), (1, 1e-150), (2, 1e150)):
        for step in (-1e-20, 1e-20):
            moved = coef.copy()
            moved.reshape(-1, 3)[-1, j] += mp.mpf(step) * size
            assert value_at(loss, X, y, moved.tolist()) > found.value


# least squares, bias reduction, Gaussian classes


def test_least_squares_and_aliases() -> None:
    X, _ = made(8)
    y = np.random.default_rng(8).normal(size=12)
    theirs = np.linalg.lstsq(np.column_stack([np.ones(12), X]), y, rcond=None)
    ours = least_squares(X, y)
    np.testing.assert_allclose([float(w) for w in ours.coef], theirs[0], rtol=1e-10)
    assert float(ours.rss) == pytest.approx(theirs[1][0], rel=1e-12)
    assert (ours.rank, ours.relations, ours.aliased) == (4, [], ())
    whole = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 1.0], [3.0, 6.0, 0.0], [4.0, 8.0, 1.0]])
    aliased = least_squares(whole, [1.0, 2.0, 3.0, 5.0])
    assert (aliased.rank, aliased.aliased) == (3, (1, 2))
    assert aliased.rss == least_squares(whole[:, 1:], [1.0, 2.0, 3.0, 5.0]).rss == Fraction(1, 4)
    assert dot(aliased.relations[0], [0, 1, 2, 0]) == 0
    far = np.column_stack([X[:, 0], X[:, 0] + 2.0**32])  # rounded, so not an alias of the first and the intercept
    assert least_squares(far, y).rank == 3


def test_weighted_least_squares() -> None:
    X, _ = made(9)
    y, weights = np.arange(12.0), np.r_[0, 0, 3, np.ones(9)]
    repeated = least_squares(np.repeat(X, weights.astype(int), 0), np.repeat(y, weights.astype(int)))
    ours = least_squares(X, y, weights=weights)
    assert ours.rss == repeated.rss == residual_sum(X, y, ours.coef, weights=weights)
    assert ours.coef == repeated.coef


def test_bias_reduction_of_a_table_adds_a_half_to_each_cell() -> None:
    X, y = np.array([[0.0]] * 5 + [[1.0]] * 7), np.array([1, -1, -1, -1, -1, *[1] * 7])  # one cell is empty
    point = firth(X, y)
    low, high = math.log(1.5 / 4.5), math.log(7.5 / 0.5)
    np.testing.assert_allclose([float(w) for w in point.coef], [low, high - low], rtol=1e-14)
    assert point.concave
    assert point.distance < mp.mpf("1e-60")
    counted = firth([[0.0], [0.0], [1.0]], [1, -1, 1], weights=[1, 4, 7])
    assert max(abs(a - b) for a, b in zip(point.coef, counted.coef, strict=True)) < mp.mpf("1e-60")


@pytest.mark.parametrize("separable", [True, False])
def test_bias_reduction_agrees_with_scipy(separable: bool) -> None:
    X, y = made(10)
    y = np.where(X[:, 0] > 0, 1, -1) if separable else y
    rows = np.column_stack([np.ones(12), X])

    def penalised(w: Any) -> float:
        share = 1 / (1 + np.exp(-rows @ w))
        information = rows.T @ ((share * (1 - share))[:, None] * rows)
        return float(np.logaddexp(0, -y * (rows @ w)).sum() - np.linalg.slogdet(information)[1] / 2)

    theirs = scipy.optimize.minimize(penalised, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    point = firth(X, y)
    assert -float(point.penalised) == pytest.approx(theirs.fun, abs=1e-9)
    np.testing.assert_allclose([float(w) for w in point.coef], theirs.x, atol=1e-4)
    there = firth_point(X, y, theirs.x)
    assert float(there.penalised) == pytest.approx(-penalised(theirs.x), rel=1e-12)
    assert 0 <= there.distance < mp.mpf("1e-7")
    assert there.penalised <= point.penalised
    with pytest.raises(ValueError, match="dependent"):
        firth(np.column_stack([X, X[:, 0]]), y)


def test_gaussian_classes_by_hand() -> None:
    X, y = np.array([[0.0], [2.0], [5.0], [7.0], [9.0]]), [0, 0, 1, 1, 1]
    fit = generative(X, y)
    assert (fit.counts, fit.means, fit.variances) == ([2, 3], [[1], [7]], [Fraction(10, 5)])
    assert fit.coef == [[3]]
    assert float(fit.intercept[0]) == pytest.approx(math.log(1.5) + (1 - 49) / 4, rel=1e-15)
    assert float(generative(X, y, priors=[0.5, 0.5]).intercept[0]) == -12
    assert generative(X, y, weights=[1, 1, 1, 0, 1]).means == [[1], [7]]
    with pytest.raises(ValueError, match="no variance"):
        generative([[1.0], [1.0], [2.0]], [0, 0, 1])


def test_gaussian_classes_have_bayes_probabilities() -> None:
    X = made(11)[0]
    y = np.r_[np.zeros(4), np.ones(3), np.full(5, 2)].astype(int)
    fit = generative(X, y)
    means = np.array([X[y == k].mean(0) for k in range(3)])
    variances = ((X - means[y]) ** 2).mean(0)
    densities = np.array([4, 3, 5]) / 12 * np.exp(-((X[:, None] - means) ** 2 / (2 * variances)).sum(2))
    scores = X @ np.array(fit.coef, dtype=float).T + np.array(fit.intercept, dtype=float)
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    np.testing.assert_allclose(shares, densities / densities.sum(1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(np.array(fit.coef, dtype=float).sum(0), 0, atol=1e-14)


# kernels

KERNELS = [("linear", {}), ("polynomial", {"gamma": 0.3, "degree": 2, "offset": 1.0}), ("rbf", {"gamma": 0.5})]


def test_kernel_matrices_agree_with_scikit_learn() -> None:
    X = made(12)[0]
    theirs = [X @ X.T, polynomial_kernel(X, degree=2, gamma=0.3, coef0=1.0), rbf_kernel(X, gamma=0.5)]
    for (name, parameters), matrix in zip(KERNELS, theirs, strict=True):
        np.testing.assert_allclose(np.array(kernel_matrix(name, X, **parameters), dtype=float), matrix, rtol=1e-12)
    ours = np.array(kernel_matrix("sigmoid", X, X[:2], gamma=0.1, offset=0.3), dtype=float)
    np.testing.assert_allclose(ours, sigmoid_kernel(X, X[:2], gamma=0.1, coef0=0.3), rtol=1e-12)


@pytest.mark.parametrize(("name", "parameters"), KERNELS)
def test_kernel_machines_agree_with_scikit_learn(name: str, parameters: dict[str, Any]) -> None:
    X, y = made(13)
    weights = np.linspace(0.5, 2, 12)
    K = kernel_matrix(name, X, **parameters)
    ours = kernel_svm(K, y, 0.05, weights=weights)
    *coef, intercept = ours.argmin
    assert abs(kernel_svm_value(K, y, coef, intercept, 0.05, weights) - ours.value) < mp.mpf("1e-55")
    machine = SVC(kernel="precomputed", C=1 / (0.05 * weights.sum()), tol=1e-12)
    machine.fit(np.array(K, dtype=float), y, sample_weight=weights)
    theirs = np.zeros(12)
    theirs[machine.support_] = machine.dual_coef_[0]
    value = kernel_svm_value(K, y, theirs, machine.intercept_[0], 0.05, weights)
    assert 0 <= float(value - ours.value) < SINGLE
    np.testing.assert_allclose([float(c) for c in coef], theirs, atol=SINGLE * max(np.abs(theirs)))


def test_the_linear_kernel_is_the_linear_problem() -> None:
    X, y = made(14)
    K = kernel_matrix("linear", X)
    assert abs(kernel_svm(K, y, 0.1).value - minimum("hinge", X, y, l2=0.1).value) < mp.mpf("1e-60")
    assert abs(kernel_svm(K, y, 0.1, False).value - minimum("hinge", X, y, False, l2=0.1).value) < mp.mpf("1e-60")
    y = np.where(X[:, 0] > 0, 1, -1)
    assert kernel_margin(K, y).squared == widest_margin(X, y).squared
    assert kernel_margin(K, y, False).squared == widest_margin(X, y, False).squared


@pytest.mark.parametrize("intercept", [True, False])
def test_the_margin_of_a_kernel_is_attained_and_bounded(intercept: bool) -> None:
    X, y = made(15, n=10)
    K = kernel_matrix("rbf", X, gamma=0.5)
    margin = kernel_margin(K, y, intercept)
    margins = [int(s) * f for s, f in zip(y, kernel_scores(K, margin.coef, margin.intercept), strict=True)]
    norm = mp.fsum(c * f for c, f in zip(margin.coef, kernel_scores(K, margin.coef), strict=True))
    assert abs(min(margins) ** 2 / norm - margin.squared) < mp.mpf("1e-60")
    sizes = np.abs([float(c) for c in margin.coef])  # they are multipliers too, which bound the margin from above
    assert float(norm) / sizes.sum() ** 2 == pytest.approx(float(margin.squared), rel=1e-14)
    assert all(int(s) * c >= 0 for s, c in zip(y, margin.coef, strict=True))
    assert kernel_margin(kernel_matrix("polynomial", SQUARE, gamma=1.0, degree=2), XOR).squared > 0
    assert kernel_margin(kernel_matrix("linear", SQUARE), XOR).squared == 0
    same = kernel_matrix("rbf", SQUARE[[0, 0, 3]], gamma=1.0)
    assert kernel_margin(same, [1, -1, 1]).squared == 0


# rational tools


@pytest.mark.parametrize("seed", range(10))
def test_membership_of_cones_agrees_with_nonnegative_least_squares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    generators = rng.integers(-3, 4, (5, 3)).astype(float)
    target = rng.integers(-3, 4, 3).astype(float)
    multipliers, separator = cone_alternative(rational_rows(generators), rational_rows([target])[0])
    assert (multipliers is None) != (separator is None)
    assert (scipy.optimize.nnls(generators.T, target)[1] < 1e-9) == (separator is None)


def test_rational_and_guessed_pivoting_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    import oracle_rational

    X, y = made(16, n=6, p=2)
    guessed = minimum("hinge", X, y, l1=0.01, l2=0.1)
    monkeypatch.setattr(oracle_rational, "_float_lemke", lambda *_: None)
    assert minimum("hinge", X, y, l1=0.01, l2=0.1) == guessed
    with pytest.raises(ArithmeticError):
        complementary_solution([[Fraction(0)]], [Fraction(-1)])


def test_null_spaces() -> None:
    rows = rational_rows([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 0.0, 1.0]])
    assert null_space(rows, 3) == [[-2, 1, 0]]
    assert null_space([], 2) == [[1, 0], [0, 1]]
