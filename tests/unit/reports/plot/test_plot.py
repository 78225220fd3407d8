"""Pictures: what is drawn is what was found."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import OptionError

matplotlib.use("agg")
from matplotlib import pyplot  # after the backend is chosen


@pytest.fixture(autouse=True)
def _close_all():
    yield
    pyplot.close("all")


def make_data(columns: int = 12):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, columns))
    return X, X[:, 0] - 2.0 * X[:, 1] + rng.normal(size=50)


def test_a_path_draws_a_line_a_column_and_names_the_largest():
    X, y = make_data()
    path = sx.path(sx.LinearRegression(l1_ratio=1.0), X, y, strengths=10)
    axes = sx.plot.path(path).ax
    assert len(axes.lines) == 13  # with that of 0
    names = [text.get_text() for text in axes.texts]
    assert len(names) == 7
    assert {"x1", "x2"} < set(names)
    drawn = next(line for line in axes.lines if line.get_label() == "x2")
    np.testing.assert_array_equal(drawn.get_ydata(), path.weights[:, 1])
    title = axes.get_title().replace("\n", " ")
    assert title == f"{path.active[-1]} of 12 columns have a weight at the smallest strength."


def test_a_path_of_classes_draws_one_of_them():
    X, y = make_data(3)
    path = sx.path(sx.LogisticRegression(), X, np.digitize(y, [-1.0, 1.0]), strengths=4)
    axes = sx.plot.path(path, output=2).ax
    assert axes.lines[1].get_ydata().shape == (4,)
    assert any(np.array_equal(line.get_ydata(), path.weights[:, 0, 2]) for line in axes.lines)


def test_cross_validation_marks_the_best_and_the_chosen():
    X, y = make_data()
    model = sx.LinearRegression(strength="cv", l1_ratio=1.0, strengths=10).fit(X, y)
    own = pyplot.subplots()[1]
    axes = sx.plot.cross_validation(model, own).ax
    assert axes is own
    marks = [line.get_xdata()[0] for line in axes.lines if line.get_label().startswith(("best", "within"))]
    found = model.cv_
    assert marks == [found.strengths[found.best], found.strengths[found.one_standard_error]]
    title = axes.get_title().replace("\n", " ")
    assert title == f"Strength {model.strength_:.4g} is chosen by the held-out loss of 5 folds."


def test_a_model_without_cross_validation_is_refused():
    X, y = make_data()
    with pytest.raises(OptionError, match='fit it with strength="cv"'):
        sx.plot.cross_validation(sx.LinearRegression().fit(X, y))


def test_losses_are_drawn_together():
    axes = sx.plot.losses().ax
    at_zero = {line.get_label(): float(np.interp(0.0, line.get_xdata(), line.get_ydata())) for line in axes.lines}
    assert at_zero["logistic"] == pytest.approx(np.log(2.0), abs=1e-12)
    assert at_zero["hinge"] == pytest.approx(1.0, abs=1e-12)
    assert set(at_zero) == {"zero-one", "perceptron", "hinge", "squared hinge", "logistic", "squared"}
    with pytest.raises(OptionError, match="'softmax', which is no loss of a margin"):
        sx.plot.losses(names=["softmax"])
