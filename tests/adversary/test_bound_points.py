"""No bound on an objective, a gap or a distance is below the truth, at points that are not those of fits."""

from __future__ import annotations

import bound_points
import pytest


def assert_bounds(seeds: range) -> None:
    """Assert that all bounds hold, and that at least half of the points have one that says something."""
    results = [(point.name, *bound_points.fault(point)) for seed in seeds for point in bound_points.points(seed)]
    assert not [(name, fault) for name, fault, _ in results if fault]
    assert sum(bounds > 0 for _, _, bounds in results) > len(results) / 2


def test_bounds_hold_at_some_points() -> None:
    assert_bounds(range(10))


@pytest.mark.slow
def test_bounds_hold_at_many_points() -> None:
    assert_bounds(range(100, 300))


def test_a_bound_below_the_truth_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    curved = bound_points.curvature_bound

    def halved(*arguments: object, **options: object) -> object:
        bound = curved(*arguments, **options)
        return None if bound is None else replace(bound, gap=0.5 * bound.gap, radii=None)

    monkeypatch.setattr(bound_points, "curvature_bound", halved)
    assert any(bound_points.fault(point)[0] for seed in range(10) for point in bound_points.points(seed))
