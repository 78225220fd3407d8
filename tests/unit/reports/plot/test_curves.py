"""ROC, precision and recall, calibration: what is drawn is what was measured."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
import sklearn.metrics as peers

import separatrix as sx
from separatrix.errors import OptionError

matplotlib.use("agg")
from matplotlib import pyplot  # after the backend is chosen


@pytest.fixture(autouse=True)
def _close_all():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def two():
    X, y = sx.load_demo("breast-cancer")
    return sx.LogisticRegression(strength=0.1).fit(X[::2], y[::2]), X[1::2], y[1::2]


@pytest.fixture(scope="module")
def three():
    X, y = sx.load_demo("iris")
    return sx.LogisticRegression(strength=0.1).fit(X[::2, :2], y[::2]), X[1::2, :2], y[1::2]


def drawn(display, start):
    line = next(line for line in display.ax.lines if str(line.get_label()).startswith(start))
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def test_roc_is_drawn_with_its_area(two):
    model, X, y = two
    display = sx.plot.roc(model, X, y)
    false, true, _ = peers.roc_curve(y == "malignant", model.predict_proba(X)[:, 1], drop_intermediate=False)
    np.testing.assert_allclose(drawn(display, "malignant"), [false, true])
    found = sx.evaluate(model, X, y)
    title = display.ax.get_title().replace("\n", " ")
    assert title == f"The AUC is {found.auc} on 284 rows."
    assert f"({found.auc.lower:.4g} to {found.auc.upper:.4g})" in title
    confusion = peers.confusion_matrix(y, model.predict(X))
    cross = confusion[0, 1] / confusion[0].sum(), confusion[1, 1] / confusion[1].sum()
    np.testing.assert_allclose(np.ravel(drawn(display, "threshold of the model")), cross)
    assert display.ax.get_xlabel() == "false positive rate"


def test_an_evaluation_is_drawn_as_its_model_is(two):
    model, X, y = two
    found = sx.evaluate_classifier(y, model.predict_proba(X), model.classes_)
    first, second = sx.plot.roc(found), sx.plot.roc(model, X, y)
    np.testing.assert_array_equal(drawn(first, "malignant"), drawn(second, "malignant"))
    own = pyplot.subplots()[1]
    assert sx.plot.precision_recall(found, ax=own).ax is own
    assert first.data["evaluation"] is found


def test_scores_alone_have_a_roc(two):
    _, X, y = two
    scores = X[:, 0]
    display = sx.plot.roc(sx.evaluate_classifier(y, None, ["benign", "malignant"], scores=scores))
    area = peers.roc_auc_score(y == "malignant", scores)
    assert display.ax.get_title().startswith(f"The AUC is {area:.4g} (")


def test_several_classes_are_each_drawn_against_the_rest(three):
    model, X, y = three
    display = sx.plot.roc(model, X, y)
    shares = model.predict_proba(X)
    for place, label in enumerate(model.classes_):
        false, true, _ = peers.roc_curve(y == label, shares[:, place], drop_intermediate=False)
        np.testing.assert_allclose(drawn(display, label), [false, true])
    lines = [line for line in display.ax.lines if ": AUC" in str(line.get_label())]
    assert len({str(line.get_linestyle()) for line in lines}) == 3
    assert len({line.get_color() for line in lines}) == 3
    mean = peers.roc_auc_score(y, shares, multi_class="ovr")
    assert display.ax.get_title().startswith(f"The mean AUC is {mean:.4g} (")
    assert not [line for line in display.ax.lines if line.get_label() == "threshold of the model"]


def test_a_perfect_ranking_says_why_it_has_no_interval():
    display = sx.plot.roc(sx.evaluate_classifier([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], [0, 1]))
    title = display.ax.get_title().replace("\n", " ")
    assert title.startswith("The AUC is 1 on 4 rows; no interval: the scores rank every pair of rows in the same way")


def test_precision_and_recall_are_drawn_in_steps(two):
    model, X, y = two
    display = sx.plot.precision_recall(model, X, y)
    precision, recall, _ = peers.precision_recall_curve(y == "malignant", model.predict_proba(X)[:, 1])
    np.testing.assert_allclose(drawn(display, "malignant"), [recall[::-1], precision[::-1]])
    line = next(line for line in display.ax.lines if str(line.get_label()).startswith("malignant"))
    assert line.get_drawstyle() == "steps-pre"
    expected = peers.average_precision_score(y == "malignant", model.predict_proba(X)[:, 1])
    assert line.get_label() == f"malignant: average precision {expected:.4g}"
    np.testing.assert_allclose(drawn(display, "chance")[1], np.mean(y == "malignant"))


def test_many_rows_are_drawn_by_fewer_points_that_look_the_same():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, size=50_000)
    found = sx.evaluate_classifier(labels, None, [0, 1], scores=labels + rng.normal(size=50_000))
    false, true = drawn(sx.plot.roc(found), "1:")
    assert len(false) < 5000
    ranking = found.rankings[0]
    assert len(ranking.thresholds) == 50_001
    np.testing.assert_allclose(
        np.interp(ranking.false_positive_rate, false, true), ranking.true_positive_rate, atol=2e-3
    )
    assert (false[-1], true[-1]) == (1.0, 1.0)


def test_calibration_shows_bins_intervals_and_counts(two):
    model, X, y = two
    display = sx.plot.calibration(model, X, y, level=0.9)
    above, below = display
    found = sx.evaluate(model, X, y, level=0.9)
    bins = found.reliability
    points, _, (bars,) = above.containers[0]
    np.testing.assert_array_equal(points.get_xydata(), np.column_stack([bins.predicted, bins.observed]))
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, np.column_stack([bins.lower, bins.upper]), atol=1e-12)
    counts, _, _ = below.patches[0].get_data()
    np.testing.assert_array_equal(counts, np.histogram(model.predict_proba(X)[:, 1], 20, (0.0, 1.0))[0])
    title = above.get_title(loc="left").replace("\n", " ")
    assert f"Brier score {found.brier}, log loss {found.log_loss}; 284 rows." in title
    side = "low" if found.reliability.bias.value < 0.0 else "high"
    assert title.startswith(f"Probabilities are too {side} by {abs(found.reliability.bias.value):.2g} on average.")
    assert "90 % intervals" in below.get_legend().get_texts()[1].get_text()
    assert below.get_xlabel() == "probability of 'malignant'"


def test_calibration_of_several_classes_is_that_of_the_class_predicted(three):
    above, below = sx.plot.calibration(*three)
    assert (below.get_xlabel(), above.get_ylabel()) == ("probability of the class predicted", "share predicted right")
    own = pyplot.subplots(2)[1]
    assert list(sx.plot.calibration(*three, axes=own)) == list(own)
    with pytest.raises(OptionError, match="axes has 1 axes to draw on; give 2"):
        sx.plot.calibration(*three, axes=own[:1])


def test_what_cannot_be_drawn_is_refused(two):
    model, X, y = two
    with pytest.raises(OptionError, match="X and y are needed: rows that the model was not fitted on"):
        sx.plot.roc(model)
    with pytest.raises(OptionError, match="has no classes; give a fitted classifier"):
        sx.plot.roc(sx.LinearRegression().fit(X, X[:, 0]), X, y)
    svm = sx.LinearSVM(strength=0.1).fit(X, y)
    with pytest.raises(OptionError, match="nothing can be calibrated: the model gives scores and no probabilities"):
        sx.plot.calibration(svm, X, y)
