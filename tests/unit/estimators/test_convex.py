"""The convex estimators' options, against formulas and scikit-learn on the same objective."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression as SkLinearRegression
from sklearn.linear_model import LogisticRegression as SkLogisticRegression
from sklearn.linear_model import Ridge

import separatrix as sx
from separatrix.errors import ConvergenceWarning, OptionError, SeparationWarning


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 4)) * [1.0, 30.0, 0.01, 1.0] + [0.0, 500.0, 0.0, -3.0]
    scores = (rows - rows.mean(axis=0)) / rows.std(axis=0) @ [1.0, -0.5, 0.3, 0.0] + rng.normal(size=200)
    return rows, scores, np.where(scores > 0.2, "yes", "no")


def objective(model, rows, labels, strength):
    margins = np.where(labels == "yes", 1, -1) * model.decision_function(rows)
    return np.logaddexp(0, -margins).mean() + strength / 2 * (model.coef_**2).sum()


def test_ridge_is_its_formula(data):
    rows, y, _ = data
    strength = 0.07
    model = sx.LinearRegression(strength=strength).fit(rows, y)
    centred = rows - rows.mean(axis=0)
    gram = centred.T @ centred / len(y) + strength * np.eye(4)
    assert model.coef_ == pytest.approx(np.linalg.solve(gram, centred.T @ y / len(y)), rel=1e-8)
    peer = Ridge(alpha=sx.strength_to("ridge_alpha", strength, n=len(y))).fit(rows, y)
    assert model.coef_ == pytest.approx(peer.coef_, rel=1e-6)
    assert model.intercept_ == pytest.approx(peer.intercept_, rel=1e-6)
    assert model.certificate_.verify(rows, y)


def test_least_squares_with_and_without_an_intercept(data):
    rows, y, _ = data
    for intercept in (True, False):
        model = sx.LinearRegression(fit_intercept=intercept).fit(rows, y)
        peer = SkLinearRegression(fit_intercept=intercept).fit(rows, y)
        assert model.predict(rows) == pytest.approx(peer.predict(rows), abs=1e-8)
        assert model.result_.status == "optimal"


def test_collinear_columns_are_fitted(data):
    rows, y, _ = data
    doubled = np.column_stack([rows, rows[:, 0], 3.0 * rows[:, 1]])
    model = sx.LinearRegression().fit(doubled, y)
    assert model.predict(doubled) == pytest.approx(sx.LinearRegression().fit(rows, y).predict(rows), abs=1e-7)


def test_fewer_rows_than_columns_interpolate():
    rng = np.random.default_rng(1)
    rows, y = rng.normal(size=(5, 12)), rng.normal(size=5)
    assert sx.LinearRegression().fit(rows, y).predict(rows) == pytest.approx(y, abs=1e-8)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_logistic_reaches_the_peers_objective_or_better(data, kind):
    rows, _, labels = data
    strength = sx.strength_from("C", 1.0, n=len(labels))
    model = sx.LogisticRegression(strength=strength).fit(kind(rows), labels)
    peer = SkLogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12).fit(rows, labels)
    assert objective(model, rows, labels, strength) <= objective(peer, rows, labels, strength) + 1e-12
    assert model.certificate_.relative_gap <= 1e-8


def test_class_weights_are_row_weights(data):
    rows, _, labels = data
    by_class = sx.LogisticRegression(class_weight={"yes": 3.0, "no": 1.0}).fit(rows, labels)
    by_row = sx.LogisticRegression().fit(rows, labels, sample_weight=np.where(labels == "yes", 3.0, 1.0))
    assert by_class.coef_ == pytest.approx(by_row.coef_, rel=1e-8)


def test_rows_of_weight_0_do_not_count(data):
    rows, _, labels = data
    weights = np.arange(200) % 2
    kept = weights > 0
    model = sx.LogisticRegression().fit(rows, labels, sample_weight=weights)
    assert model.coef_ == pytest.approx(sx.LogisticRegression().fit(rows[kept], labels[kept]).coef_, rel=1e-9)
    with pytest.raises(ValueError, match="at least one non-zero number"):
        sx.LogisticRegression().fit(rows, labels, sample_weight=np.zeros(200))


def test_a_warm_start_needs_less(data):
    rows, _, labels = data
    model = sx.LogisticRegression(warm_start=True).fit(rows, labels)
    first = len(model.trace_)
    coef = model.coef_.copy()
    assert len(model.fit(rows, labels).trace_) < first
    assert model.coef_ == pytest.approx(coef, rel=1e-9)


def test_too_few_passes_are_a_status_and_a_warning(data):
    rows, _, labels = data
    with pytest.warns(ConvergenceWarning, match=r"stopped at max_passes=2 with a relative gap .* not within tol=1e-08"):
        model = sx.LogisticRegression(strength=0.001, max_passes=2).fit(rows, labels)
    assert model.result_.status == "max_passes"
    assert model.certificate_.verdict == "stopped"


@pytest.mark.parametrize("classes", [2, 3])
def test_separable_classes_warn_and_stop(classes):
    centres = 10.0 * np.column_stack([np.arange(classes), np.zeros(classes)])
    rows = np.repeat(centres, 20, axis=0) + np.random.default_rng(0).normal(size=(20 * classes, 2))
    labels = np.repeat(np.arange(classes), 20)
    with pytest.warns(SeparationWarning, match="completely separated"):
        model = sx.LogisticRegression().fit(rows, labels)
    assert model.result_.status == "separated"
    assert model.score(rows, labels) == 1.0
    assert np.isfinite(model.coef_).all()
    penalised = sx.LogisticRegression(strength=0.01).fit(rows, labels)
    assert penalised.result_.status == "optimal"
    assert penalised.existence_ is None


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_svm_ends_with_a_certified_gap(data, loss):
    rows, _, labels = data
    model = sx.LinearSVM(loss=loss, strength=0.01).fit(rows, labels)
    assert model.result_.status == "optimal"
    assert model.certificate_.relative_gap <= 1e-6
    assert model.certificate_.verify(rows, labels)
    assert model.score(rows, labels) > 0.7


def test_a_fit_that_ran_out_of_passes_says_nothing_of_separation(data):
    rows, _, labels = data
    with pytest.warns(ConvergenceWarning, match="stopped at max_passes=1") as caught:
        model = sx.LogisticRegression(max_passes=1).fit(rows, labels)
    assert [warning.category for warning in caught] == [ConvergenceWarning]
    assert caught[0].filename == __file__
    assert model.existence_[0].verdict == "overlap"


def test_a_doubt_is_in_the_result_too():
    with pytest.warns(
        SeparationWarning,
        match="all but 2 rows are perfectly separated, and the rest overlap; no finite estimate: intercept → −∞, x1 →",
    ):
        model = sx.LogisticRegression().fit([[0], [1], [2], [2], [3], [4]], [0, 0, 0, 1, 1, 1])
    assert "quasi-completely separated, so no finite maximum exists" in model.result_.message
    assert model.result_.provenance["existence"] == model.certificate_.verdict == "quasi"
    assert model.existence_[0].coefficient_status == {"intercept": "-inf", "x1": "+inf"}
    assert model.limits_ == [{"intercept": -np.inf, "x1": np.inf}]


def test_weights_of_0_keep_names_and_storage(data):
    pd = pytest.importorskip("pandas")
    rows, _, labels = data
    weights = np.arange(200) % 3
    frame = pd.DataFrame(rows, columns=list("abcd"))
    model = sx.LogisticRegression(strength=0.01).fit(frame, labels, sample_weight=weights)
    assert model.feature_names_in_.tolist() == list("abcd")
    other = sx.LogisticRegression(strength=0.01).fit(sp.coo_matrix(rows), labels, sample_weight=weights)
    assert other.coef_ == pytest.approx(model.coef_, rel=1e-6)


def test_a_class_of_weight_0_is_no_class(data):
    rows, _, labels = data
    with pytest.raises(ValueError, match="only one class"):
        sx.LogisticRegression(class_weight={"yes": 0.0, "no": 1.0}).fit(rows, labels)
    with pytest.raises(OptionError, match="give weights of at least 0"):
        sx.LogisticRegression(class_weight={"yes": -1.0, "no": 1.0}).fit(rows, labels)


def test_a_warm_start_of_another_shape_starts_anew(data):
    rows, _, labels = data
    model = sx.LogisticRegression(warm_start=True).fit(rows[:, :2], labels)
    assert model.fit(rows, labels).coef_ == pytest.approx(sx.LogisticRegression().fit(rows, labels).coef_, rel=1e-8)


@pytest.mark.parametrize("estimator", [sx.LinearRegression(), sx.LMSRegressor()])
def test_targets_that_overflow_are_refused(data, estimator):
    rows, y, _ = data
    with pytest.raises(ValueError, match="squares that overflow are not allowed"):
        estimator.fit(rows, y * 1e200)


def test_one_vs_rest_over_any_learner():
    rows = np.vstack([np.random.default_rng(k).normal(size=(20, 2)) + 8.0 * np.eye(3)[k, :2] for k in range(3)])
    labels = np.repeat(["x", "y", "o"], 20)
    for learner in (
        sx.LogisticRegression(strength=0.01),
        sx.LMSClassifier(),
        sx.Perceptron(max_updates=500, keep="best"),
    ):
        model = sx.OneVsRest(learner).fit(rows, labels)
        assert len(model.estimators_) == 3
        assert model.score(rows, labels) > 0.9
        assert len(model.certificate_.parts) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strength": -1.0}, "strength=-1.0 is out of range"),
        ({"l1_ratio": 2.0, "strength": 1.0}, "l1_ratio"),
        ({"solver": "newtn"}, "did you mean 'newton'"),
        ({"tol": 0.0}, "tol=0.0 is out of range"),
        ({"on_separation": "panic"}, "on_separation='panic' is not one of"),
        ({"multiclass": "ovo"}, "multiclass='ovo' is not one of"),
        ({"threshold": -0.5}, "threshold=-0.5 is out of range"),
    ],
)
def test_bad_options_name_the_value_and_the_remedy(data, options, message):
    rows, _, labels = data
    with pytest.raises(OptionError, match=message):
        sx.LogisticRegression(**options).fit(rows, labels).predict(rows)


def test_an_unknown_reference_is_named(data):
    rows, scores, _ = data
    with pytest.raises(OptionError, match="reference_class='d' is not among the classes"):
        sx.LogisticRegression(reference_class="d").fit(
            rows, np.array(["a", "b", "c"])[np.digitize(scores, [-0.5, 0.5])]
        )


@pytest.mark.parametrize("convention", ["C", "ridge_alpha", "lasso_alpha", "sgd_alpha", "lambda"])
def test_strengths_convert_both_ways(convention):
    assert sx.strength_from(convention, sx.strength_to(convention, 0.03, n=50), n=50) == pytest.approx(0.03)
    with pytest.raises(OptionError, match="convention='D' is not one of"):
        sx.strength_from("D", 1.0)


def test_a_convention_that_needs_the_rows_says_so():
    with pytest.raises(OptionError, match="C depends on the number of rows"):
        sx.strength_from("C", 1.0)


@pytest.mark.parametrize("model", [sx.LogisticRegression, sx.LinearRegression])
def test_frequencies_are_repetitions_and_whole_numbers(model):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    counts = np.array([3, 1, 2, 4])
    weighted = model(weight_kind="frequency").fit(X, y, sample_weight=counts)
    repeated = model().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    assert weighted.result_.provenance["weight_kind"] == "frequency"
    with pytest.raises(sx.errors.DataError, match=r"has 0\.5 in row 1, which is no number of repetitions"):
        model(weight_kind="frequency").fit(X, y, sample_weight=[1, 0.5, 1, 1])
    halves = model(weight_kind="precision").fit(X, y, sample_weight=counts / 2.0)
    np.testing.assert_allclose(halves.coef_, repeated.coef_, rtol=1e-9)
    with pytest.raises(sx.errors.OptionError, match="weight_kind='counts'"):
        model(weight_kind="counts").fit(X, y)


def test_softmax_weights_under_a_penalty_are_those_that_it_was_minimised_at():
    X, y = sx.load_demo("iris")
    model = sx.LogisticRegression(strength=0.05, l1_ratio=1.0).fit(X, y)
    zeros = int(np.sum(model.coef_ == 0.0))
    assert zeros >= 4, "an L1 penalty leaves weights of exactly 0"
    scores = X @ model.coef_.T + model.intercept_
    places = np.searchsorted(model.classes_, y)
    loss = np.mean(np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(y)), places])
    assert loss + 0.05 * np.abs(model.coef_).sum() == pytest.approx(model.result_.objective, rel=1e-9)
    plain = sx.LogisticRegression(strength=0.05).fit(X, y)
    assert plain.coef_.sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-6)


def test_what_several_classes_coefficients_tend_to_is_told():
    X, species = sx.load_demo("iris")
    named = np.where(species == "setosa", "z", species)  # the first class is then one that overlaps another
    with pytest.warns(SeparationWarning):
        model = sx.LogisticRegression().fit(X, named)
    limits, other = model.limits_[0], named != "z"
    pair = sx.LogisticRegression().fit(X[other], named[other])
    assert [limits[f"virginica: x{j}"] for j in range(1, 5)] == pytest.approx(pair.coef_[0], rel=1e-7)
    assert limits["virginica: intercept"] == pytest.approx(pair.intercept_[0], rel=1e-7)
    assert all(np.isnan(number) for name, number in limits.items() if name.startswith("z:"))


@pytest.mark.parametrize("solver", ["gradient", "stochastic"])
def test_a_descent_is_refused_for_the_hinge_loss(solver: str) -> None:
    with pytest.raises(OptionError, match=f"solver='{solver}' needs a smooth loss; give loss=\"squared_hinge\""):
        sx.LinearSVM(solver=solver).fit([[0.0], [1.0]], [0, 1])
