"""Least mean squares of note E (M27): its limit is least squares, and least squares may misclassify separable rows."""

import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import ConvergenceWarning, OptionError
from separatrix.reports.findings import fit_findings

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)) * [1.0, 2.0, 0.5] + [0.0, 1.0, 0.0]
T = np.where(X @ [1.0, -1.0, 2.0] + rng.normal(size=60) > -1.0, 1, -1)
NUMBERS = X @ [1.0, -1.0, 2.0] + 3.0 + 0.1 * rng.normal(size=60)

# Far on the right side counts as an error, so one far row turns the line against two near ones.
SEPARABLE = np.array([[-3.0], [-2.0], [-1.0], [1.0], [2.0], [40.0]])
LABELS = np.array([-1, -1, -1, 1, 1, 1])


def least_squares(X, t):
    return np.linalg.lstsq(sx.augment(X), np.asarray(t, dtype=float), rcond=None)[0]


def weights(model):
    return np.concatenate([np.atleast_1d(model.intercept_), np.ravel(model.coef_)])


def test_m27_the_batch_limit_is_least_squares_on_signs():
    model = sx.LMSClassifier(tol=1e-14).fit(X, T)
    assert weights(model) == pytest.approx(least_squares(X, T), abs=1e-6)
    assert model.result_.status == "converged"
    assert model.predict(X).tolist() == np.where(sx.augment(X) @ least_squares(X, T) >= 0.0, 1, -1).tolist()
    assert model.certificate_.gap <= 1e-13
    assert model.certificate_.verify(X, T)


def test_m27_each_batch_step_is_the_rule_of_the_note():
    eta, w, n = 0.002, np.zeros(4), len(T)
    A = sx.augment(X)
    for _ in range(20):
        w = w - eta * sum((w @ x - t) * x for x, t in zip(A, T, strict=True))
    with pytest.warns(ConvergenceWarning, match="stopped after 20 steps"):
        model = sx.LMSClassifier(rate=n * eta, max_passes=20).fit(X, T)
    assert weights(model) == pytest.approx(w, rel=1e-12)
    assert model.n_iter_ == 20


@pytest.mark.parametrize("order", ["cyclic", "shuffled", "random"])
def test_m27_the_stochastic_limit_is_least_squares(order):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        near, nearer = (
            sx.LMSClassifier(
                update="stochastic", schedule="inverse", order=order, keep="average", max_passes=passes, random_state=0
            ).fit(X, T)
            for passes in (30, 1000)
        )
    target = least_squares(X, T)
    far, close = (np.linalg.norm(weights(model) - target) / np.linalg.norm(target) for model in (near, nearer))
    assert close <= 0.02
    assert close <= far / 2.0


def test_m27_at_a_constant_rate_it_circles_least_squares_and_says_so():
    with pytest.warns(ConvergenceWarning, match="at a constant rate it may circle the minimum"):
        model = sx.LMSClassifier(update="stochastic").fit(X, T)
    assert model.result_.status == "stalled"  # each cyclic pass ends where the one before it did
    assert 1e-4 <= model.result_.facts["gap"] <= 0.1


def test_m27_the_regressor_reaches_least_squares():
    model = sx.LMSRegressor(tol=1e-14).fit(X, NUMBERS)
    assert weights(model) == pytest.approx(least_squares(X, NUMBERS), abs=1e-6)
    assert model.score(X, NUMBERS) >= 0.99
    assert model.certificate_.verify(X, NUMBERS)
    assert sx.LMSRegressor(fit_intercept=False).fit(X, NUMBERS).intercept_ == 0.0


def test_m27_the_regressor_on_the_notes_line():
    model = sx.LMSRegressor(tol=1e-14).fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
    assert (model.intercept_, model.coef_[0]) == pytest.approx((1.1081, 1.1622), abs=5e-5)  # M24's line


def test_m27_several_classes_by_one_against_the_rest():
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = sx.LMSClassifier().fit(X, y)
    assert model.coef_.shape == (3, 3)
    for k in range(3):
        expected = least_squares(X, np.where(y == k, 1, -1))
        assert np.append(model.intercept_[k], model.coef_[k]) == pytest.approx(expected, abs=1e-3)
    assert model.certificate_.verify(X, y)


def test_m27_the_lms_problem():
    perceptron = sx.Perceptron().fit(SEPARABLE, LABELS)
    assert perceptron.predict(SEPARABLE).tolist() == LABELS.tolist()
    lms = sx.LMSClassifier(max_passes=100_000).fit(SEPARABLE, LABELS)
    expected = sx.augment(SEPARABLE) @ least_squares(SEPARABLE, LABELS)
    assert lms.decision_function(SEPARABLE) == pytest.approx(expected, abs=1e-3)
    assert (lms.predict(SEPARABLE) != LABELS).tolist() == [False, False, False, True, True, False]


def test_m27_a_rate_too_large_is_named_with_the_largest_that_converges():
    A = sx.augment(X)
    limit = 2.0 / np.linalg.eigvalsh(A.T @ A / len(A))[-1]
    with pytest.warns(ConvergenceWarning, match=rf"batch LMS converges below {limit:.4g} \(2/λmax\)") as told:
        model = sx.LMSClassifier(rate=1.01 * limit).fit(X, T)
    assert f"rate {1.01 * limit:g} is too large" in str(told[0].message)
    assert model.result_.status == "diverged"
    assert weights(model).tolist() == [0.0] * 4
    assert sx.LMSClassifier(rate=0.99 * limit).fit(X, T).result_.status == "converged"


def test_m27_a_stochastic_rate_too_large_is_named_too():
    squared_radius = float((sx.augment(X) ** 2).sum(axis=1).max())
    with pytest.warns(ConvergenceWarning, match=rf"stochastic LMS stays bounded below {2.0 / squared_radius:.4g}"):
        model = sx.LMSClassifier(update="stochastic", rate=40.0 / squared_radius).fit(X, T)
    assert model.result_.status == "diverged"
    with pytest.warns(ConvergenceWarning, match="may circle"):
        bounded = sx.LMSClassifier(update="stochastic", rate=1.9 / squared_radius, max_passes=500).fit(X, T)
    assert np.abs(weights(bounded)).max() <= 2.0


def test_batch_options_that_mean_nothing_are_refused():
    with pytest.raises(OptionError, match="are for update='stochastic'"):
        sx.LMSClassifier(schedule="inverse").fit(X, T)
    with pytest.raises(OptionError, match="rate=-1 is out of range"):
        sx.LMSRegressor(rate=-1).fit(X, NUMBERS)


@pytest.mark.parametrize("demo", ["five-points", "five-points-overlap", "students"])
@pytest.mark.parametrize("tol", [1e-8, 0.0])
def test_status_certificate_and_report_agree(demo, tol):
    """One measure: the excess relative to the objective, also of students, whose targets are fitted exactly."""
    rows, labels = sx.load_demo(demo)
    model = sx.LMSClassifier(tol=tol, max_passes=100_000).fit(rows, labels)
    assert model.result_.status == "converged"
    assert model.certificate_.verdict == "optimal"
    assert model.certificate_.relative_gap <= max(tol, 2.0**-52)
    assert model.certificate_.verify(rows, labels)
    word = {finding.question: finding.word for finding in fit_findings(model.result_)}["optimal"]
    assert word == "yes"


def test_students_are_fitted_to_the_last_digit():
    """As the rule of the note by itself is: the objective of its limit is 0."""
    rows, labels = sx.load_demo("students")
    model = sx.LMSClassifier(tol=0.0).fit(rows, labels)
    assert model.result_.objective <= 1e-28
    assert model.result_.message.startswith("converged after ")


def test_a_limit_of_steps_is_named():
    with pytest.warns(ConvergenceWarning, match="stopped after 10 steps at rate"):
        model = sx.LMSClassifier(max_passes=10).fit(X, T)
    assert (model.result_.status, model.certificate_.verdict) == ("max_passes", "stopped")
