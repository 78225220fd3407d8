"""The laws of losses, over all of them."""

from __future__ import annotations

import doctest
import math
import pickle
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import precise
import pytest
from precise import precisely, ulps_between, worst_ulps
from registry import unregistered
from scipy.optimize import minimize

from separatrix import losses
from separatrix.errors import DataError, NeedsError
from separatrix.losses import ALL, Logistic, Loss, ScalarLoss, Softmax
from separatrix.perceptron_rule import UpdateRule

EPSILON = np.finfo(float).eps
SUBNORMAL = np.finfo(float).smallest_subnormal
FEW_ULPS = 4.0
CLASSES = 4
STEP = 1e-3  # of the differences below: truncation is of order STEP⁴, rounding of EPSILON / STEP
CLEARANCE = 3 * STEP  # kept from margins 0 and 1, where a loss may have a kink or a jump of its curvature


def called(losses: Any) -> Any:
    return pytest.mark.parametrize("loss", list(losses), ids=lambda loss: loss.name)


every_loss = called(ALL)
convex_losses = called(loss for loss in ALL if loss.convex)
scalar_losses = called(loss for loss in ALL if isinstance(loss, ScalarLoss))
label_losses = called(loss for loss in ALL if loss.target == "labels")
curved_losses = called(loss for loss in ALL if loss.has_curvature)
flat_losses = called(loss for loss in ALL if not loss.has_curvature)


class Sample(NamedTuple):
    eta: np.ndarray
    y: np.ndarray


def sample(loss: Loss, n: int = 200, seed: int = 0, scale: float = 3.0) -> Sample:
    """Draw scores and targets for a loss, none with a margin near 0 or 1."""
    rng = np.random.default_rng(seed)
    if loss.target == "classes":
        return Sample(rng.normal(scale=scale, size=(n, CLASSES)), rng.integers(CLASSES, size=n))
    if loss.target == "numbers":
        return Sample(rng.normal(scale=scale, size=n), rng.normal(scale=scale, size=n))
    y = rng.choice([-1.0, 1.0], size=n)
    margin = rng.normal(scale=scale, size=n)
    clear = (np.abs(margin) > CLEARANCE) & (np.abs(margin - 1.0) > CLEARANCE)
    return Sample((y * margin)[clear], y[clear])


def with_kinks(loss: Loss, points: Sample) -> Sample:
    """Add scores exactly at margins 0 and 1 of both labels."""
    if loss.target != "labels":
        return points
    eta = np.concatenate([points.eta, [0.0, 0.0, 1.0, -1.0]])
    return Sample(eta, np.concatenate([points.y, [1.0, -1.0, 1.0, -1.0]]))


def dot(loss: Loss, slope: Any, eta: Any) -> Any:
    return np.sum(slope * eta, axis=-1) if loss.target == "classes" else slope * eta


def derivative(function: Callable[[Any, Any], Any], loss: Loss, points: Sample) -> np.ndarray:
    """Differentiate in eta by central differences, extrapolated once (Richardson)."""
    directions = np.eye(CLASSES) if loss.target == "classes" else [1.0]

    def difference(direction: Any, step: float) -> Any:
        ahead, behind = (function(points.eta + sign * step * direction, points.y) for sign in (1.0, -1.0))
        return (ahead - behind) / (2.0 * step)

    columns = [(4.0 * difference(e, STEP / 2) - difference(e, STEP)) / 3.0 for e in directions]
    return np.stack(columns, axis=-1) if loss.target == "classes" else np.asarray(columns[0])


# Derivatives


@every_loss
def test_slope_is_the_derivative_of_value(loss: Loss) -> None:
    points = sample(loss)
    rounding = 4 * EPSILON / STEP * (1.0 + np.abs(loss.value(*points)).max())
    np.testing.assert_allclose(
        loss.slope(*points), derivative(loss.value, loss, points), rtol=0, atol=rounding + STEP**4
    )


@curved_losses
def test_curvature_is_the_derivative_of_slope(loss: Loss) -> None:
    points = sample(loss)
    rounding = 4 * EPSILON / STEP * (1.0 + np.abs(loss.slope(*points)).max())
    expected = derivative(loss.slope, loss, points)
    np.testing.assert_allclose(loss.curvature(*points), expected, rtol=0, atol=rounding + STEP**4)


@convex_losses
def test_slope_is_a_subgradient_also_at_kinks(loss: Loss) -> None:
    points = with_kinks(loss, sample(loss))
    value, slope = loss.value(*points), loss.slope(*points)
    for shift in np.random.default_rng(3).normal(scale=4.0, size=(50, *points.eta.shape)):
        there = loss.value(points.eta + shift, points.y)
        linear = value + dot(loss, slope, shift)
        assert np.all(there >= linear - 32 * EPSILON * (1.0 + np.abs(value) + np.abs(there) + np.abs(linear)))


@label_losses
def test_kinks_are_the_margins_where_something_jumps(loss: Loss) -> None:
    nudge = 1e-9
    jumps = []
    for margin in (-1.0, 0.0, 0.5, 1.0, 2.0):
        around = np.array([margin - nudge, margin + nudge])
        moved = [np.ptp(function(around, 1.0)) for function in (loss.value, loss.slope)]
        jumps += [margin] if max(moved) > 0.5 else []
    assert tuple(jumps) == loss.kinks


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_slopes_chosen_at_kinks(y: float) -> None:
    assert losses.PerceptronLoss().slope(0.0, y) == -y
    assert losses.Hinge().slope(y, y) == 0.0
    assert losses.SquaredHinge().slope(y, y) == 0.0


@curved_losses
def test_curvature_keeps_its_bound(loss: Loss) -> None:
    assert loss.curvature_bound is not None
    eta, y = with_kinks(loss, sample(loss, n=2000))
    largest = _largest_eigenvalue(loss.curvature(eta, y), loss)
    assert largest.min() >= -4 * EPSILON
    assert largest.max() <= loss.curvature_bound * (1.0 + 4 * EPSILON)


@curved_losses
def test_curvature_reaches_its_bound(loss: Loss) -> None:
    eta, y = (np.array([[0.0, 0.0, -800.0]]), np.array([0])) if loss.target == "classes" else (0.0, 1.0)
    assert _largest_eigenvalue(loss.curvature(eta, y), loss) == pytest.approx(loss.curvature_bound, rel=4 * EPSILON)


def _largest_eigenvalue(curvature: Any, loss: Loss) -> Any:
    return np.linalg.eigvalsh(curvature)[..., -1] if loss.target == "classes" else np.asarray(curvature)


@flat_losses
def test_a_loss_without_curvature_says_what_would_work(loss: Loss) -> None:
    assert loss.curvature_bound is None
    message = f"the {loss.name} loss has no curvature: it has a kink at margin [01]; .* squared hinge or logistic loss"
    with pytest.raises(NeedsError, match=message):
        loss.curvature(0.5, 1.0)


@label_losses
@pytest.mark.parametrize("name", ["value", "slope", "curvature", "conjugate"])
@pytest.mark.parametrize("y", [0, 2.0, math.nan, "yes", [1, 0], np.array([[1.0], [0.0]])])
def test_other_labels_are_refused(loss: Loss, name: str, y: Any) -> None:
    if name == "curvature" and not loss.has_curvature:
        return
    with pytest.raises(DataError, match=r"classification losses take −1 and \+1 .for labels 0 and 1, pass 2·y − 1"):
        getattr(loss, name)(0.5, y)


@label_losses
def test_passes_do_not_look_at_the_labels(loss: Loss) -> None:
    values = loss.expand(np.array([0.5, 2.0]), np.zeros(2), 1)[0]
    np.testing.assert_array_equal(values, np.full(2, loss.of_margin(0.0)))


def test_a_score_of_zero_is_a_mistake_of_the_zero_one_loss() -> None:
    mistakes = UpdateRule(tie="mistake").mistaken(np.zeros(2), np.array([-1.0, 1.0]))
    np.testing.assert_array_equal(losses.ZeroOne().value(np.zeros(2), np.array([-1.0, 1.0])), mistakes)
    assert not UpdateRule(tie="correct").mistaken(np.zeros(2), np.array([-1.0, 1.0])).any()


# Convexity


def _convexity_gap(loss: Loss) -> np.ndarray:
    """Return how far values on random segments lie above the chord, relative to the values at the ends."""
    a, y = with_kinks(loss, sample(loss))
    rng = np.random.default_rng(5)
    gaps = []
    for share in np.linspace(0.05, 0.95, 19):
        b = rng.permutation(a)
        ends = loss.value(a, y), loss.value(b, y)
        chord = share * ends[0] + (1.0 - share) * ends[1]
        gaps.append((loss.value(share * a + (1.0 - share) * b, y) - chord) / (1.0 + ends[0] + ends[1]))
    return np.array(gaps)


@convex_losses
def test_convex_losses_lie_below_their_chords(loss: Loss) -> None:
    # Rounding the point on the segment moves the value by its slope, which the values bound, times |eta| < 20.
    assert _convexity_gap(loss).max() <= 32 * EPSILON * 20


@called(loss for loss in ALL if not loss.convex)
def test_other_losses_have_a_chord_below_them(loss: Loss) -> None:
    assert _convexity_gap(loss).max() > 0.1


def test_zero_one_loss_is_not_convex() -> None:
    low, between, high = losses.ZeroOne().of_margin(np.array([-3.0, -1.0, 3.0]))
    assert between == 1.0 > (2.0 * low + high) / 3.0


# Conjugates


def _dual_points(loss: Loss, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw slopes, some inside the conjugate's domain and some outside."""
    if loss.target != "classes":
        slope = rng.uniform(-2.0, 2.0, size=y.shape)
        return np.where(rng.uniform(size=y.shape) < 0.2, 0.0, slope)
    inside = rng.dirichlet(np.ones(CLASSES), size=len(y)) - np.eye(CLASSES)[y]
    shift = rng.normal(size=inside.shape) * (rng.uniform(size=(len(y), 1)) < 0.5)
    return inside + shift


@every_loss
def test_fenchel_young_inequality(loss: Loss) -> None:
    points, rng = with_kinks(loss, sample(loss)), np.random.default_rng(7)
    value = loss.value(*points)
    finite = 0
    for _ in range(20):
        slope = _dual_points(loss, points.y, rng)
        conjugate = loss.conjugate(slope, points.y)
        product = dot(loss, slope, points.eta)
        finite += np.isfinite(conjugate).sum()
        assert np.all(conjugate > -np.inf)
        assert np.all(value + conjugate >= product - 32 * EPSILON * (1.0 + np.abs(product)))
    assert 0.1 < finite / (20 * len(points.y)) <= 1.0


@convex_losses
@pytest.mark.parametrize("scale", [0.1, 3.0, 30.0, 300.0])
def test_fenchel_young_equality_at_the_slope(loss: Loss, scale: float) -> None:
    points = with_kinks(loss, sample(loss, scale=scale))
    value, slope = loss.value(*points), loss.slope(*points)
    product = dot(loss, slope, points.eta)
    largest = np.abs(slope * points.eta).reshape(len(points.y), -1).max(axis=1)
    error = np.abs(value + loss.conjugate(slope, points.y) - product)
    assert np.all(error <= 32 * EPSILON * (value + largest + np.abs(slope).reshape(len(points.y), -1).max(axis=1)))


@convex_losses
def test_conjugate_is_the_supremum_at_interior_points(loss: Loss) -> None:
    rng = np.random.default_rng(8)
    y = sample(loss, n=8).y
    slope = _interior(loss, y, rng)
    expected = [_supremum(loss, s, target) for s, target in zip(slope, y, strict=True)]
    np.testing.assert_allclose(loss.conjugate(slope, y), expected, rtol=1e-9, atol=1e-9)


def _interior(loss: Loss, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if loss.target == "classes":
        return rng.dirichlet(5.0 * np.ones(CLASSES), size=len(y)) - np.eye(CLASSES)[y]
    return (-y if loss.target == "labels" else 1.0) * rng.uniform(0.05, 0.95, size=y.shape)


def _supremum(loss: Loss, slope: Any, y: Any) -> float:
    """Maximise slope·eta − value(eta, y): by a search for several scores, by bisection of the interval for one."""
    if loss.target == "classes":
        search = minimize(lambda eta: loss.value(eta, y) - slope @ eta, np.zeros(CLASSES), tol=1e-9)
        return -float(search.fun)
    low, high = -50.0, 50.0
    for _ in range(200):
        thirds = np.array([(2.0 * low + high) / 3.0, (low + 2.0 * high) / 3.0])
        left, right = slope * thirds - loss.value(thirds, y)
        low, high = (thirds[0], high) if left < right else (low, thirds[1])
    return float(slope * low - loss.value(low, y))


def test_conjugate_of_zero_one_is_that_of_the_constant_zero() -> None:
    conjugate = losses.ZeroOne().conjugate(np.array([0.0, 0.1, -0.1]), 1.0)
    np.testing.assert_array_equal(conjugate, [0.0, np.inf, np.inf])


@label_losses
def test_conjugates_are_infinite_outside_their_domain(loss: Loss) -> None:
    assert loss.conjugate(np.array([0.5]), np.array([1.0]))[0] == np.inf
    assert loss.conjugate(0.0, -1.0) == 0.0


@pytest.mark.parametrize("q", [1e-300, 1e-17, 1e-9, 0.3, 0.5, 1.0 - 2.0**-53])
def test_logistic_conjugate_is_accurate(q: float) -> None:
    assert worst_ulps([Logistic().conjugate(-q, 1.0)], [precisely(precise.binary_entropy, q)]) <= FEW_ULPS


def test_softmax_conjugate_at_the_border_of_its_domain() -> None:
    slope = np.array([[0.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, 0.5, 0.5], [-1.5, 1.0, 0.5], [-0.5, 0.5, 0.1]])
    expected = [0.0, 0.0, np.log(0.5), np.inf, np.inf]
    np.testing.assert_allclose(Softmax().conjugate(slope, np.zeros(5, dtype=int)), expected, rtol=4 * EPSILON)


# Accuracy

EDGES = [0.0, 1e-300, 1e-9, 1e-3, 0.5, 1.0, 2.0, 10.0, 36.7, 40.0, 100.0, 700.0, 740.0, 800.0]
MARGINS = np.array([*EDGES, *(-edge for edge in EDGES), *np.random.default_rng(9).normal(scale=5.0, size=20)])


def _step(holds: bool) -> Decimal:
    return Decimal(int(holds))


class Precise(NamedTuple):
    """A loss written out again, in eta for the label 1 and in eta − y for numbers."""

    value: Callable[[Decimal], Decimal]
    slope: Callable[[Decimal], Decimal]
    curvature: Callable[[Decimal], Decimal] | None = None


PRECISE: dict[str, Precise] = {
    "zero-one": Precise(lambda m: _step(m <= 0), lambda m: 0 * m),
    "perceptron": Precise(lambda m: -m * _step(m <= 0), lambda m: -_step(m <= 0)),
    "hinge": Precise(lambda m: (1 - m) * _step(m < 1), lambda m: -_step(m < 1)),
    "squared hinge": Precise(
        lambda m: (1 - m) ** 2 * _step(m < 1), lambda m: -2 * (1 - m) * _step(m < 1), lambda m: 2 * _step(m < 1)
    ),
    "logistic": Precise(lambda m: precise.softplus(-m), lambda m: -precise.sigmoid(-m), precise.sigmoid_slope),
    "squared": Precise(lambda r: r * r / 2, lambda r: r, lambda r: 1 + 0 * r),
}


@scalar_losses
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_scalar_losses_are_accurate_for_every_margin(loss: Loss, y: float) -> None:
    eta, target = (y * MARGINS, np.full(MARGINS.shape, y)) if loss.target == "labels" else (MARGINS, 0.0 * MARGINS)
    sign = y if loss.target == "labels" else 1.0
    for name, reference in PRECISE[loss.name]._asdict().items():
        if reference is None:
            continue
        computed = getattr(loss, name)(eta, target) * (sign if name == "slope" else 1.0)
        assert np.all(np.isfinite(computed))
        assert worst_ulps(computed, [precisely(reference, m) for m in MARGINS]) <= FEW_ULPS


@every_loss
def test_everything_is_finite_at_margins_of_800(loss: Loss) -> None:
    eta, y = np.array([800.0, -800.0, 800.0, -800.0]), np.array([1.0, 1.0, -1.0, -1.0])
    if loss.target == "classes":
        eta, y = np.array([[800.0, -800.0, 0.0], [-800.0, 800.0, 0.0], [800.0, 800.0, 0.0]]), np.zeros(3, dtype=int)
    slope = loss.slope(eta, y)
    results = [loss.value(eta, y), slope, loss.conjugate(slope, y)]
    results += [loss.curvature(eta, y)] if loss.has_curvature else []
    assert all(np.all(np.isfinite(result)) for result in results)


# Multiples of 1/8, so that their differences are exact and an error is the formula's own.
ETAS = np.vstack([np.random.default_rng(10).integers(-8 * reach, 8 * reach, size=(8, 3)) / 8 for reach in (2, 30, 800)])
ETAS = np.vstack([ETAS, [[40.0, 0.0, 0.0], [800.0, 0.0, 1.0], [-800.0, 0.0, 1.0], [700.0, 1.0, 0.0]]])


@pytest.mark.parametrize("y", [0, 1, 2])
def test_softmax_is_accurate_for_every_score(y: int) -> None:
    def value(*eta: Decimal) -> Decimal:
        return precise.log_sum_exp(*eta) - eta[y]

    def slope(k: int) -> Callable[..., Decimal]:
        return lambda *eta: precise.softmax(*eta)[k] - int(k == y)

    def curvature(j: int, k: int) -> Callable[..., Decimal]:
        return lambda *eta: precise.softmax(*eta)[j] * (int(j == k) - precise.softmax(*eta)[k])

    target = np.full(len(ETAS), y)
    assert worst_ulps(Softmax().value(ETAS, target), [precisely(value, *eta) for eta in ETAS]) <= FEW_ULPS
    for k in range(3):
        computed = Softmax().slope(ETAS, target)[:, k]
        assert worst_ulps(computed, [precisely(slope(k), *eta) for eta in ETAS]) <= 2 * FEW_ULPS
        computed = Softmax().curvature(ETAS, target)[:, y, k]
        assert worst_ulps(computed, [precisely(curvature(y, k), *eta) for eta in ETAS]) <= 2 * FEW_ULPS


def test_logistic_loss_of_margin_zero_is_log_two() -> None:
    assert Logistic().of_margin(0.0) == np.log(2.0)


# Softmax's own


def test_softmax_of_two_classes_is_the_logistic_loss() -> None:
    eta, label = sample(Logistic())
    pair, y = np.column_stack([0.0 * eta, eta]), (label > 0).astype(int)
    assert ulps_between(Logistic().value(eta, label), Softmax().value(pair, y)) <= FEW_ULPS
    assert ulps_between(Logistic().slope(eta, label), Softmax().slope(pair, y)[:, 1]) <= 2 * FEW_ULPS
    assert ulps_between(Logistic().curvature(eta, label), Softmax().curvature(pair, y)[:, 1, 1]) <= 2 * FEW_ULPS


@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0])
def test_curvature_product_is_the_curvature_times_the_direction(scale: float) -> None:
    eta, y = sample(Softmax(), scale=scale)
    direction = np.random.default_rng(11).normal(size=eta.shape)
    product = Softmax().curvature_product(eta, y, direction)
    matrix = Softmax().curvature(eta, y)
    rounding = 16 * EPSILON * np.einsum("njk,nk->nj", np.abs(matrix), np.abs(direction)) + 8 * SUBNORMAL
    assert np.all(np.abs(product - np.einsum("njk,nk->nj", matrix, direction)) <= rounding)


def test_softmax_takes_one_row_and_float_class_codes() -> None:
    eta = np.array([0.5, -1.0, 2.0])
    assert Softmax().value(eta, 2) == Softmax().value(eta[np.newaxis], np.array([2.0]))[0]
    np.testing.assert_array_equal(Softmax().slope(eta, 2).sum(), 0.0)


# Compiled code, margins, registration


@scalar_losses
@pytest.mark.parametrize("name", ["value", "slope", "curvature"])
def test_compiled_functions_give_the_same_numbers(loss: Loss, name: str) -> None:
    if name == "curvature" and not loss.has_curvature:
        assert not hasattr(loss.curvature, "compiled")
        return
    function = getattr(loss, name)
    eta = np.concatenate([MARGINS, with_kinks(loss, sample(loss, n=20)).eta])
    for y in (-1.0, 1.0):
        compiled = [function.compiled(entry, y) for entry in eta]
        assert ulps_between(function(eta, y), compiled) <= FEW_ULPS


@scalar_losses
def test_functions_take_numbers_as_well_as_arrays(loss: Loss) -> None:
    eta, y = sample(loss, n=10)
    for function in (loss.value, loss.slope, loss.conjugate):
        one_by_one = [float(function(a, b)) for a, b in zip(eta.tolist(), y.tolist(), strict=True)]
        np.testing.assert_allclose(function(eta, y), one_by_one, rtol=FEW_ULPS * EPSILON)


@label_losses
def test_of_margin_is_the_value_for_either_label(loss: Loss) -> None:
    np.testing.assert_array_equal(loss.of_margin(MARGINS), loss.value(-MARGINS, -1.0))


@called(loss for loss in ALL if loss.target != "labels")
def test_other_losses_have_no_margin(loss: Loss) -> None:
    with pytest.raises(
        NeedsError, match=f"the {loss.name} loss is not a function of the margin: its y are {loss.target}"
    ):
        loss.of_margin(0.5)


@every_loss
def test_losses_are_values(loss: Loss) -> None:
    assert loss == type(loss)()
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert pickle.loads(pickle.dumps(loss.slope)) is loss.slope


@every_loss
def test_examples_in_docstrings_hold(loss: Loss) -> None:
    outcome = doctest.testmod(sys.modules[type(loss).__module__])
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_example_of_the_registry_holds() -> None:
    assert doctest.testmod(losses) == (0, 1)


def test_every_loss_is_registered() -> None:
    assert unregistered(losses, Loss) == []
    assert len({type(loss) for loss in ALL}) == len(ALL) == 7


def test_a_forgotten_loss_would_be_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "forgetful_losses"
    package.mkdir()
    (package / "base.py").write_text("")
    (package / "__init__.py").write_text("from forgetful_losses.known import Known\nALL = (Known(),)\n")
    member = "from separatrix.losses import Hinge\nclass {}(Hinge):\n    pass\n"
    (package / "known.py").write_text(member.format("Known"))
    (package / "forgotten.py").write_text(member.format("Forgotten"))
    monkeypatch.syspath_prepend(tmp_path)

    import forgetful_losses

    assert unregistered(forgetful_losses, Loss) == ["Forgotten"]
