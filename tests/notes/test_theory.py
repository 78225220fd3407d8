"""VC dimension and sample size (M15, note C), and the effect of the margin (M5, note A)."""

import matplotlib
import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import OptionError
from separatrix.theory.experiments import sample_with_margin

matplotlib.use("agg")


def test_m15_the_vc_dimension_is_what_can_be_labelled_in_all_ways():
    assert sx.theory.vc_dimension(2) == 3
    assert sx.theory.vc_dimension(2, homogeneous=True) == 2
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    for code in range(1, 7):
        labels = [code >> place & 1 for place in range(3)]
        assert sx.check_separability(corners, labels).verdict == "separable"
    square = np.vstack([corners, [1.0, 1.0]])
    verdicts = [sx.check_separability(square, [code >> k & 1 for k in range(4)]).verdict for code in range(1, 15)]
    assert verdicts.count("separable") == 12, "of 16 ways, with the two of one class: 14"


def test_m15_sample_sizes_are_enough_and_no_more():
    for separable, rate, factor in ((False, lambda e: e**2 / 32.0, 4.0), (True, lambda e: e * np.log(2.0) / 2.0, 2.0)):
        m = sx.theory.sample_size(2, 0.1, 0.05, separable=separable)

        def failing(rows, rate=rate, factor=factor):
            ways = 1 + 2 * rows + rows * (2 * rows - 1)  # C(2m, 0) + C(2m, 1) + C(2m, 2)
            return factor * ways * np.exp(-rate(0.1) * rows)

        assert failing(m) <= 0.05 < failing(m - 1)


def test_m15_the_order_is_that_of_the_note():
    sizes = [sx.theory.sample_size(3, epsilon, 0.05) for epsilon in (0.1, 0.05, 0.025)]
    assert 4.0 < sizes[1] / sizes[0] < 5.0
    assert 4.0 < sizes[2] / sizes[1] < 5.0
    assert sx.theory.sample_size(6, 0.1, 0.05) < 2.5 * sizes[0]
    assert sx.theory.sample_size(3, 0.1, 0.05, separable=True) < sizes[0] / 50
    with pytest.raises(OptionError, match=r"epsilon=1\.5 is out of range; give a number between 0 and 1"):
        sx.theory.sample_size(3, 1.5, 0.05)


def test_m5_fewer_margin_more_updates_never_above_the_bound():
    found = sx.margin_experiment([0.4, 0.1, 0.02], repeats=10)
    means = found.updates.mean(axis=1)
    assert means[0] < means[1] < means[2]
    assert (found.updates <= found.bounds[:, np.newaxis]).all()
    assert found.bounds == pytest.approx([6.25, 100.0, 2500.0])
    display = sx.plot.margin_effect(found)
    assert display.ax.lines[0].get_ydata().tolist() == found.bounds[::-1].tolist()
    display.close()


def test_m5_the_data_have_the_margin_and_radius_that_they_are_said_to_have():
    X, y = sample_with_margin(50, 3, 0.2, np.random.default_rng(0))
    assert np.linalg.norm(X, axis=1).max() == pytest.approx(1.0)
    bound = sx.mistake_bound(X, y)
    assert bound.margin == pytest.approx(0.2, rel=1e-6)
    with pytest.raises(OptionError, match="rows of radius 1 need a margin between 0 and 1"):
        sample_with_margin(50, 3, 1.5, np.random.default_rng(0))
