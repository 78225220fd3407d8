"""The laws of penalties, over all of them."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

import numpy as np
import pytest
from registry import unregistered

from separatrix import penalties
from separatrix.errors import OptionError
from separatrix.penalties import ALL, L1, L2, ElasticNet, NoPenalty, Penalty, make_penalty

EPSILON = np.finfo(float).eps
WEIGHTS = np.array([0.0, 1.0, 1.0, 0.3, 2.5, 1.0])
FREE = WEIGHTS == 0.0

every_penalty = pytest.mark.parametrize("penalty", ALL, ids=lambda penalty: type(penalty).__name__)
every_shape = pytest.mark.parametrize("shape", [(6,), (6, 3)], ids=["one class", "three classes"])


def draws(shape: tuple[int, ...], n: int = 40, seed: int = 0) -> np.ndarray:
    """Draw coefficients of mixed size, with exact zeros and a row of plain zeros among them."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(scale=2.0, size=(n, *shape)) * (rng.uniform(size=(n, *shape)) < 0.8)
    coef[0] = 0.0
    return coef


@every_penalty
@every_shape
def test_value_is_the_weighted_sum(penalty: Penalty, shape: tuple[int, ...]) -> None:
    for coef in draws(shape):
        terms = [
            weight * (penalty.absolute * abs(w) + penalty.quadratic / 2.0 * w**2)
            for weight, row in zip(WEIGHTS, coef.reshape(6, -1), strict=True)
            for w in row
        ]
        assert penalty.value(coef, WEIGHTS) == pytest.approx(sum(terms), rel=16 * EPSILON)


@every_penalty
@every_shape
def test_gradient_is_the_derivative_of_value_and_zero_at_zero(penalty: Penalty, shape: tuple[int, ...]) -> None:
    step = 1e-3
    for coef in draws(shape, n=10):
        gradient = penalty.gradient(coef, WEIGHTS)
        assert np.all(gradient[coef == 0.0] == 0.0)
        for place in np.argwhere(np.abs(coef) > step):
            shift = np.zeros(shape)
            shift[tuple(place)] = step
            ahead, behind = (penalty.value(coef + sign * shift, WEIGHTS) for sign in (1.0, -1.0))
            # The penalty is quadratic on either side of 0, where central differences are exact but for rounding.
            rounding = 4 * EPSILON / step * (1.0 + ahead)
            assert gradient[tuple(place)] == pytest.approx((ahead - behind) / (2.0 * step), abs=rounding)


@every_penalty
def test_curvature_is_the_derivative_of_the_gradient(penalty: Penalty) -> None:
    coef = draws((6,), seed=1)[1] + 3.0
    slopes = penalty.gradient(coef + 0.5, WEIGHTS) - penalty.gradient(coef - 0.5, WEIGHTS)
    np.testing.assert_allclose(penalty.curvature(WEIGHTS), slopes, rtol=64 * EPSILON, atol=64 * EPSILON)


@every_penalty
@every_shape
def test_free_coefficients_cost_nothing(penalty: Penalty, shape: tuple[int, ...]) -> None:
    coef = draws(shape)[1]
    np.testing.assert_array_equal(penalty.gradient(coef, WEIGHTS)[FREE], 0.0)
    assert penalty.value(coef * FREE.reshape(6, *[1] * (len(shape) - 1)), WEIGHTS) == 0.0


@every_penalty
@every_shape
def test_fenchel_young_inequality(penalty: Penalty, shape: tuple[int, ...]) -> None:
    finite = 0
    for coef, dual in zip(draws(shape, seed=3), 0.3 * draws(shape, seed=4), strict=True):
        dual[FREE] *= coef[0].sum() > 0.0  # some inside the domain, some outside
        conjugate = penalty.conjugate(dual, WEIGHTS)
        finite += np.isfinite(conjugate)
        product = float(np.sum(coef * dual))
        assert penalty.value(coef, WEIGHTS) + conjugate >= product - 64 * EPSILON * (1.0 + abs(product))
    assert finite >= 1


@every_penalty
@every_shape
def test_fenchel_young_equality_at_the_gradient(penalty: Penalty, shape: tuple[int, ...]) -> None:
    for coef in draws(shape):
        gradient = penalty.gradient(coef, WEIGHTS)
        total = penalty.value(coef, WEIGHTS) + penalty.conjugate(gradient, WEIGHTS)
        assert total == pytest.approx(float(np.sum(coef * gradient)), rel=64 * EPSILON, abs=64 * EPSILON)


@every_penalty
def test_conjugate_is_the_supremum(penalty: Penalty) -> None:
    grid = np.linspace(-40.0, 40.0, 800_001)
    for weight in (0.5, 1.0):
        reach = weight * (penalty.absolute + 10.0 * penalty.quadratic)  # the duals whose maximiser is on the grid
        for dual in (0.0, 0.5 * reach, -reach):
            terms = weight * (penalty.absolute * np.abs(grid) + penalty.quadratic / 2.0 * grid**2)
            expected = float(np.max(dual * grid - terms))
            found = penalty.conjugate(np.array([dual]), np.array([weight]))
            # A grid of spacing 1e-4 misses the top of a parabola by at most its curvature times (0.5e-4)² / 2.
            assert found == pytest.approx(expected, abs=2e-9, rel=1e-12)


@every_penalty
def test_conjugate_of_a_free_coefficient_allows_only_zero(penalty: Penalty) -> None:
    assert penalty.conjugate(np.zeros(6), WEIGHTS) == 0.0
    assert penalty.conjugate(1e-300 * FREE, WEIGHTS) == np.inf
    assert penalty.conjugate(np.outer(FREE, [0.0, 1e-300]), WEIGHTS) == np.inf


def test_conjugates_by_hand() -> None:
    dual, weights = np.array([3.0, -1.0]), np.array([1.0, 2.0])
    assert L2(0.5).conjugate(dual, weights) == 9.0 + 0.5
    assert L1(3.0).conjugate(dual, weights) == 0.0
    assert L1(2.9).conjugate(dual, weights) == np.inf
    assert ElasticNet(2.0, 0.5).conjugate(dual, weights) == 2.0


@every_penalty
def test_smooth_means_without_an_absolute_part(penalty: Penalty) -> None:
    jump = np.ptp(penalty.gradient(np.array([-1e-12, 1e-12]), np.ones(2)))
    assert penalty.smooth == (jump < 1e-9)


@pytest.mark.parametrize(
    ("strength", "l1_ratio", "expected"),
    [
        (0.0, 0.3, NoPenalty()),
        (0.7, 0.0, L2(0.7)),
        (0.7, 1.0, L1(0.7)),
        (0.7, 0.3, ElasticNet(0.7, 0.3)),
        (1, 0, L2(1.0)),
    ],
)
def test_make_penalty_picks_the_simplest_class(strength: float, l1_ratio: float, expected: Penalty) -> None:
    made = make_penalty(strength, l1_ratio)
    assert made == expected
    assert (made.absolute, made.quadratic) == (strength * l1_ratio, strength * (1.0 - l1_ratio))


@pytest.mark.parametrize("strength", [-1e-9, float("nan"), float("inf"), "strong"])
def test_strengths_out_of_range_are_refused(strength: float) -> None:
    makers = (L2, L1, lambda value: ElasticNet(value, 0.5), lambda value: make_penalty(value, 0.5))
    for maker in makers:
        with pytest.raises(OptionError, match=f"strength={strength!r} is .*give a finite number of at least 0"):
            maker(strength)


@pytest.mark.parametrize("l1_ratio", [-0.1, 1.1, float("nan"), float("inf")])
@pytest.mark.parametrize("strength", [0.0, 0.7])
def test_ratios_out_of_range_are_refused(strength: float, l1_ratio: float) -> None:
    with pytest.raises(OptionError, match=f"l1_ratio={l1_ratio!r} is out of range"):
        make_penalty(strength, l1_ratio)


@every_penalty
def test_penalties_are_values(penalty: Penalty) -> None:
    assert penalty == make_penalty(
        penalty.absolute + penalty.quadratic, getattr(penalty, "l1_ratio", not penalty.smooth)
    )
    with pytest.raises(AttributeError):
        penalty.strength = 2.0  # type: ignore[attr-defined]


@every_penalty
def test_examples_in_docstrings_hold(penalty: Penalty) -> None:
    outcome = doctest.testmod(sys.modules[type(penalty).__module__])
    assert outcome.attempted > 0
    assert outcome.failed == 0


def test_example_of_make_penalty_holds() -> None:
    assert doctest.testmod(penalties) == (0, 9)


def test_every_penalty_is_registered() -> None:
    assert unregistered(penalties, Penalty) == []
    assert len({type(penalty) for penalty in ALL}) == len(ALL) == 4


def test_a_forgotten_penalty_would_be_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "forgetful_penalties"
    package.mkdir()
    (package / "__init__.py").write_text("ALL = ()\n")
    members = "from separatrix.penalties import L1, L2\nclass A(L1):\n    pass\nclass B(L2):\n    pass\n"
    (package / "pair.py").write_text(members)
    monkeypatch.syspath_prepend(tmp_path)

    import forgetful_penalties

    assert unregistered(forgetful_penalties, Penalty) == ["A", "B"]
