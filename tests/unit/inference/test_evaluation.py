"""How well a model does: the numbers are scikit-learn's, the intervals those of their formulas and of repetition."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics as peers
from sklearn.calibration import calibration_curve

import separatrix as sx
from separatrix.errors import DataError, OptionError
from separatrix.model.train import TrainOptions, train_table
from separatrix.tables.open import read_table


def make_two(n=300, seed=0, ties=True):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, size=n)
    p = 1.0 / (1.0 + np.exp(-(labels * 1.5 - 0.75 + rng.normal(size=n))))
    return labels, np.round(p, 2).clip(0.01, 0.99) if ties else p


def make_three(n=240, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.choice(["a", "b", "c"], size=n, p=[0.5, 0.3, 0.2])
    scores = rng.normal(size=(n, 3)) + 1.2 * (labels[:, None] == np.array(["a", "b", "c"]))
    p = np.exp(scores)
    return labels, p / p.sum(axis=1, keepdims=True)


def close(found, expected, **options):
    np.testing.assert_allclose(found, expected, **{"rtol": 1e-12, "atol": 1e-14, **options})


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_have_the_numbers_of_scikit_learn(weighted):
    labels, p = make_two()
    weights = np.random.default_rng(1).uniform(0.0, 2.0, size=300) * (np.arange(300) % 7 > 0) if weighted else None
    found = sx.evaluate_classifier(labels, p, [0, 1], weights)
    close(found.accuracy.value, peers.accuracy_score(labels, p >= 0.5, sample_weight=weights))
    close(found.log_loss.value, peers.log_loss(labels, p, sample_weight=weights))
    close(found.brier.value, peers.brier_score_loss(labels, p, sample_weight=weights))
    close(found.auc.value, peers.roc_auc_score(labels, p, sample_weight=weights))
    ranking = found.rankings[0]
    close(ranking.average_precision, peers.average_precision_score(labels, p, sample_weight=weights))
    confusion = peers.confusion_matrix(labels, p >= 0.5, sample_weight=weights)
    close(found.confusion, confusion)
    assert found.rows == (300 if weights is None else (weights > 0.0).sum())


@pytest.mark.parametrize("weighted", [False, True])
def test_the_curves_are_those_of_scikit_learn(weighted):
    labels, p = make_two()
    weights = np.random.default_rng(1).uniform(0.1, 2.0, size=300) if weighted else None
    ranking = sx.evaluate_classifier(labels, p, [0, 1], weights).rankings[0]
    false, true, thresholds = peers.roc_curve(labels, p, sample_weight=weights, drop_intermediate=False)
    close(ranking.false_positive_rate, false)
    close(ranking.true_positive_rate, true)
    np.testing.assert_array_equal(ranking.thresholds, thresholds)
    precision, recall, _ = peers.precision_recall_curve(labels, p, sample_weight=weights)
    close(ranking.precision, precision[::-1])
    close(ranking.true_positive_rate, recall[::-1])
    close(ranking.prevalence, np.average(labels, weights=weights))


def test_several_classes_have_the_numbers_of_scikit_learn():
    labels, p = make_three()
    classes = ["a", "b", "c"]
    found = sx.evaluate_classifier(labels, p, classes)
    close(found.accuracy.value, peers.accuracy_score(labels, np.array(classes)[p.argmax(axis=1)]))
    close(found.log_loss.value, peers.log_loss(labels, p, labels=classes))
    close(found.brier.value, np.mean(((labels[:, None] == np.array(classes)) - p) ** 2) * 3)
    close(found.auc.value, peers.roc_auc_score(labels, p, multi_class="ovr", average="macro"))
    for k, ranking in enumerate(found.rankings):
        close(ranking.auc.value, peers.roc_auc_score(labels == classes[k], p[:, k]))
    assert [ranking.label for ranking in found.rankings] == classes
    shares = np.array([np.mean(labels == label) for label in classes])
    close(found.baseline_accuracy, shares.max())
    close(found.baseline_log_loss, scipy.stats.entropy(shares))


@pytest.mark.parametrize(("binning", "strategy"), [("equal_counts", "quantile"), ("equal_widths", "uniform")])
def test_the_bins_are_those_of_scikit_learn(binning, strategy):
    labels, p = make_two()
    found = sx.evaluate_classifier(labels, p, [0, 1], binning=binning).reliability
    observed, predicted = calibration_curve(labels, p, n_bins=10, strategy=strategy)
    close(found.observed, observed)
    close(found.predicted, predicted)
    assert found.rows.sum() == 300
    assert (found.lower <= found.observed).all()
    assert (found.upper >= found.observed).all()
    close(found.error, np.average(np.abs(observed - predicted), weights=found.rows))
    close(found.bias.value, p.mean() - labels.mean())
    test = scipy.stats.binomtest(round(observed[2] * found.rows[2]), int(found.rows[2]))
    close([found.lower[2], found.upper[2]], test.proportion_ci(method="wilson"))


def test_several_classes_are_calibrated_by_the_class_predicted():
    labels, p = make_three()
    found = sx.evaluate_classifier(labels, p, ["a", "b", "c"]).reliability
    right = labels == np.array(["a", "b", "c"])[p.argmax(axis=1)]
    observed, predicted = calibration_curve(right, p.max(axis=1), n_bins=10, strategy="quantile")
    close(found.observed, observed)
    close(found.predicted, predicted)


def test_accuracy_has_wilsons_interval():
    labels, p = make_two()
    found = sx.evaluate_classifier(labels, p, [0, 1], level=0.9).accuracy
    right = int((labels == (p >= 0.5)).sum())
    expected = scipy.stats.binomtest(right, 300).proportion_ci(confidence_level=0.9, method="wilson")
    close([found.lower, found.upper], expected)


def test_means_have_students_interval():
    labels, p = make_two()
    found = sx.evaluate_classifier(labels, p, [0, 1])
    losses = -np.log(np.where(labels == 1, p, 1.0 - p))
    expected = scipy.stats.ttest_1samp(losses, 0.0).confidence_interval(0.95)
    close([found.log_loss.lower, found.log_loss.upper], expected)
    assert found.brier.lower < found.brier.value < found.brier.upper


def delong_by_pairs(labels, scores):
    """The variance of the area from the whole table of pairs."""
    a, b = scores[labels == 1], scores[labels == 0]
    pairs = (a[:, None] > b) + 0.5 * (a[:, None] == b)
    return pairs.mean(), pairs.mean(axis=1).var(ddof=1) / len(a) + pairs.mean(axis=0).var(ddof=1) / len(b)


def test_the_area_has_delongs_error():
    labels, p = make_two()
    found = sx.evaluate_classifier(labels, p, [0, 1]).auc
    value, variance = delong_by_pairs(labels, p)
    close([found.value, found.standard_error], [value, np.sqrt(variance)])
    odds = scipy.special.logit(value) + np.array([-1.0, 1.0]) * 1.959963984540054 * np.sqrt(variance) / (
        value * (1.0 - value)
    )
    close([found.lower, found.upper], scipy.special.expit(odds))


def test_the_interval_of_the_area_covers_as_often_as_it_says():
    truth, covered, rng = scipy.stats.norm.cdf(1.0), 0, np.random.default_rng(0)
    for _ in range(400):
        labels = np.repeat([0, 1], 40)
        scores = rng.normal(size=80) + labels * np.sqrt(2.0)
        found = sx.evaluate_classifier(labels, None, [0, 1], scores=scores).auc
        covered += found.lower <= truth <= found.upper
    assert 0.92 * 400 <= covered <= 0.98 * 400


def test_the_error_of_the_mean_area_is_that_of_drawing_rows_again():
    labels, p = make_three()
    found = sx.evaluate_classifier(labels, p, ["a", "b", "c"]).auc
    rng, drawn = np.random.default_rng(0), []
    groups = [np.flatnonzero(labels == label) for label in ("a", "b", "c")]
    for _ in range(300):
        rows = np.concatenate([rng.choice(group, size=len(group)) for group in groups])
        drawn.append(sx.evaluate_classifier(labels[rows], p[rows], ["a", "b", "c"]).auc.value)
    assert found.standard_error == pytest.approx(np.std(drawn), rel=0.15)
    as_two = sx.evaluate_classifier(np.where(labels == "a", "a", "z"), 1.0 - p[:, 0], ["a", "z"])
    close(as_two.auc.standard_error, sx.evaluate_classifier(labels, p, ["a", "b", "c"]).rankings[0].auc.standard_error)


def test_weights_of_one_size_change_nothing_and_rows_of_weight_0_do_not_count():
    labels, p = make_two(60)
    plain = sx.evaluate_classifier(labels, p, [0, 1]).to_dict()
    even = sx.evaluate_classifier(labels, p, [0, 1], np.full(60, 3.0)).to_dict()
    for name in ("accuracy", "log_loss", "brier", "auc"):
        for part in ("value", "standard_error", "lower", "upper"):
            close(even[name][part], plain[name][part])
    more = sx.evaluate_classifier([*labels, 1], [*p, 0.0], [0, 1], [*np.ones(60), 0.0]).to_dict()
    assert more == plain


def test_what_cannot_be_told_is_absent_with_the_reason():
    perfect = sx.evaluate_classifier([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], [0, 1])
    assert perfect.auc.value == 1.0
    assert perfect.auc.lower is None
    assert perfect.auc.absent.startswith("the scores rank every pair of rows in the same way")
    assert perfect.accuracy.upper == 1.0
    one = sx.evaluate_classifier([1, 1], [0.5, 0.6], [0, 1])
    assert (one.auc.value, one.auc.absent.split(",")[0]) == (None, "all rows are of one class")
    few = sx.evaluate_classifier([0, 1, 0], [0.5, 0.6, 0.7], [0, 1])
    assert few.auc.absent == "a class has 1 row, too few for a standard error; give more"
    sure = sx.evaluate_classifier([0, 1], [1.0, 0.5], [0, 1])
    assert sure.log_loss.value == np.inf
    assert sure.log_loss.absent.startswith("the label had probability 0 in 1 row,")
    assert sure.to_dict()["log_loss"]["value"] is None
    single = sx.evaluate_classifier([1], [0.5], [0, 1])
    assert single.brier.absent == "1 row cannot give a standard error; give more rows"
    scores = sx.evaluate_classifier([0, 1], None, [0, 1], scores=[-1.0, 2.0])
    assert "no probabilities" in scores.log_loss.absent
    assert scores.reliability is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 2], [0.5, 0.5], [0, 1]), "labels has 2, which is none of the classes 0, 1"),
        (([0, 1], [0.5, 1.5], [0, 1]), "probabilities has -0.5, 1.5 in row 1"),
        (([0, 1], [[0.5, 0.5, 0.0]] * 2, [0, 1]), r"probabilities has shape \(2, 3\); give \(2, 2\)"),
        (([0, 1], [0.5, np.nan], [0, 1]), "probabilities has NaN or infinity in row 1"),
        (([0, 1], ["x", "y"], [0, 1]), "probabilities has entries that are no numbers"),
        (([0, 0], [0.5, 0.5], [0]), "classes has 1 class"),
        (([], [], [0, 1]), r"labels has shape \(0,\)"),
        (([0, 1], None, [0, 1]), "there is nothing to judge"),
        (([0, 1], [0.5, 0.5], [0, 1], [1.0, -1.0]), "weights must be 2 numbers of at least 0"),
    ],
)
def test_bad_input_is_refused_by_name(arguments, message):
    with pytest.raises(DataError, match=message):
        sx.evaluate_classifier(*arguments)


def test_bad_options_are_refused_by_name():
    with pytest.raises(OptionError, match="level=2 is out of range"):
        sx.evaluate_classifier([0, 1], [0.5, 0.5], [0, 1], level=2)
    with pytest.raises(OptionError, match="binning='quantile' is not one of 'equal_counts', 'equal_widths'"):
        sx.evaluate_classifier([0, 1], [0.5, 0.5], [0, 1], binning="quantile")
    with pytest.raises(DataError, match=r"scores has shape \(2, 2\); give \(2,\) for 2 classes"):
        sx.evaluate_classifier([0, 1], None, [0, 1], scores=np.zeros((2, 2)))
    with pytest.raises(DataError, match="predicted has 1 rows, but labels has 2"):
        sx.evaluate_classifier([0, 1], [0.5, 0.5], [0, 1], predicted=[0])


# Regression


def make_numbers(n=200, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    return truth, truth + 0.5 * rng.normal(size=n)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_regression_has_the_numbers_of_scikit_learn(weighted):
    truth, told = make_numbers()
    weights = np.random.default_rng(1).uniform(0.1, 2.0, size=200) if weighted else None
    found = sx.evaluate_regressor(truth, told, weights)
    close(found.r_squared.value, peers.r2_score(truth, told, sample_weight=weights))
    close(found.rmse.value, peers.root_mean_squared_error(truth, told, sample_weight=weights))
    close(found.mean_absolute_error.value, peers.mean_absolute_error(truth, told, sample_weight=weights))
    close(found.bias.value, np.average(told - truth, weights=weights))


def test_the_intervals_of_a_regression_cover_as_often_as_they_say():
    rmse, r_squared = 0, 0
    for seed in range(300):
        found = sx.evaluate_regressor(*make_numbers(seed=seed))
        rmse += found.rmse.lower <= 0.5 <= found.rmse.upper
        r_squared += found.r_squared.lower <= 0.75 <= found.r_squared.upper
    assert 0.91 * 300 <= rmse <= 0.98 * 300
    assert 0.91 * 300 <= r_squared <= 0.98 * 300


def test_a_regression_tells_why_a_number_is_absent():
    exact = sx.evaluate_regressor([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert (exact.r_squared.value, exact.rmse.value) == (1.0, 0.0)
    assert exact.rmse.absent.startswith("every row has the same value")
    flat = sx.evaluate_regressor([1.0, 1.0], [1.0, 2.0])
    assert (flat.r_squared.value, flat.spread) == (None, 0.0)
    assert "no variance to explain" in flat.r_squared.absent
    assert sx.evaluate_regressor([1.0], [2.0]).bias.absent.startswith("1 row cannot give a standard error")
    with pytest.raises(DataError, match=r"observed has shape \(2,\) and predicted \(3,\)"):
        sx.evaluate_regressor([1.0, 2.0], [1.0, 2.0, 3.0])


# Models


def test_a_model_is_asked_for_what_it_can_tell():
    X, y = sx.load_demo("breast-cancer")
    logistic = sx.LogisticRegression(strength=0.1, threshold=0.3).fit(X[::2], y[::2])
    found = sx.evaluate(logistic, X[1::2], y[1::2])
    close(found.accuracy.value, logistic.score(X[1::2], y[1::2]))
    close(found.log_loss.value, peers.log_loss(y[1::2], logistic.predict_proba(X[1::2])))
    svm = sx.LinearSVM(strength=0.01).fit(X[::2], y[::2])
    found = sx.evaluate(svm, X[1::2], y[1::2])
    close(found.auc.value, peers.roc_auc_score(y[1::2] == svm.classes_[1], svm.decision_function(X[1::2])))
    assert found.brier.value is None
    linear = sx.LinearRegression().fit(X[::2, :3], X[::2, 3])
    found = sx.evaluate(linear, X[1::2, :3], X[1::2, 3])
    close(found.r_squared.value, linear.score(X[1::2, :3], X[1::2, 3]))
    with pytest.raises(OptionError, match="predicts nothing; give a fitted model"):
        sx.evaluate(3, X, y)


def test_the_numbers_are_json():
    labels, p = make_three()
    found = sx.evaluate_classifier(labels, p, np.array(["a", "b", "c"]))
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["classes"] == ["a", "b", "c"]
    assert again["auc"]["lower"] == found.auc.lower
    assert again["calibration"]["error"] == found.reliability.error
    regression = sx.evaluate_regressor(*make_numbers()).to_dict()
    assert json.loads(json.dumps(regression, allow_nan=False))["rmse"]["upper"] == regression["rmse"]["upper"]
    assert str(found.auc) == f"{found.auc.value:.4g} ({found.auc.lower:.4g} to {found.auc.upper:.4g})"


def test_very_many_rows_are_judged_by_some_drawn_at_random(monkeypatch, tmp_path):
    rng = np.random.default_rng(5)
    x = rng.normal(size=2000)
    y = np.where(x + rng.logistic(size=2000) > 0.0, "yes", "no")
    lines = [f"{'' if k % 10 == 0 else value},{label}" for k, (value, label) in enumerate(zip(x, y, strict=True))]
    (tmp_path / "t.csv").write_text("x,y\n" + "\n".join(lines), encoding="utf-8")
    table, options = read_table(tmp_path / "t.csv"), TrainOptions(target="y", missing="drop", folds=2)
    whole = train_table(table, options)
    assert whole.own.rows == 1800
    assert whole.training_description == "on the training rows"
    for module in ("evaluate", "train"):
        monkeypatch.setattr(f"separatrix.model.{module}.MOST_EVALUATED", 500)
    found, again = (train_table(table, options) for _ in range(2))
    assert found.own.rows == found.holdout.rows == 500
    assert found.training_description == "on 500 training rows drawn at random"
    assert found.holdout_description.endswith("by 2-fold cross-validation, 500 of them drawn at random")
    assert found.own.accuracy == again.own.accuracy
    assert abs(found.own.auc.value - whole.own.auc.value) < 3.0 * found.holdout.auc.standard_error
    assert (found.own.auc.standard_error, found.own.auc.lower) == (None, None)
    assert found.model.coef.tolist() == whole.model.coef.tolist()
