"""Logistic regression of the notes: likelihood and gradient (M17), Newton (M20), R − 1 weights (M21), digits (M22)."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.numerics import logit, sigmoid
from separatrix.problem import Problem

# Greene's table of grades (Spector and Mazzeo 1980): GPA, TUCE, PSI and whether the grade improved.
GPA = [2.66, 2.89, 3.28, 2.92, 4.0, 2.86, 2.76, 2.87, 3.03, 3.92, 2.63, 3.32, 3.57, 3.26, 3.53, 2.74]
GPA += [2.75, 2.83, 3.12, 3.16, 2.06, 3.62, 2.89, 3.51, 3.54, 2.83, 3.39, 2.67, 3.65, 4.0, 3.1, 2.39]
TUCE = [20, 22, 24, 12, 21, 17, 17, 21, 25, 29, 20, 23, 23, 25, 26, 19]
TUCE += [25, 19, 23, 25, 22, 28, 14, 26, 24, 27, 17, 24, 21, 23, 21, 19]
PSI = [0] * 18 + [1] * 14
GRADE = [0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1]
X, Y = np.column_stack([GPA, TUCE, PSI]), np.array(GRADE)


def test_m17_coefficients_of_a_published_fit():
    model = sx.LogisticRegression().fit(X, Y)
    # Greene, Econometric Analysis, table of the Spector and Mazzeo logit
    assert [model.intercept_[0], *model.coef_[0]] == pytest.approx([-13.0213, 2.8261, 0.0952, 2.3787], abs=5e-5)
    assert -len(Y) * model.result_.objective == pytest.approx(-12.8896, abs=5e-5)
    assert model.existence_[0].verdict == "overlap"
    assert model.certificate_.verdict == "optimal"
    assert model.certificate_.verify(X, Y)


def test_m17_the_gradient_is_error_times_input():
    design, coef = make_design(X, intercept=True), np.array([0.3, -0.1, 0.02, 0.5])
    gradient = Problem(design, 2.0 * Y - 1.0, sx.losses.Logistic()).expand(coef).gradient
    augmented = sx.augment(X)
    assert gradient * len(Y) == pytest.approx(augmented.T @ (sigmoid(augmented @ coef) - Y))


def test_m17_sigmoid_logit_and_threshold():
    assert logit(sigmoid(1.7)) == pytest.approx(1.7)
    model = sx.LogisticRegression().fit(X, Y)
    probability = model.predict_proba(X)[:, 1]
    assert model.predict(X).tolist() == (probability >= 0.5).astype(int).tolist()
    careful = sx.LogisticRegression(threshold=0.8).fit(X, Y)
    assert careful.predict(X).tolist() == (probability >= 0.8).astype(int).tolist()
    assert np.exp(model.predict_log_proba(X)) == pytest.approx(model.predict_proba(X))


def test_m17_probabilities_are_finite_at_extremes():
    model = sx.LogisticRegression().fit(X, Y)
    far = [[1e5, 0, 0], [-1e5, 0, 0]]
    assert np.isfinite(model.predict_log_proba(far)).all()
    assert model.predict_proba(far).sum(axis=1).tolist() == [1.0, 1.0]


def test_m20_newton_reaches_it_in_ten_steps():
    model = sx.LogisticRegression(solver="newton").fit(X, Y)
    assert model.result_.status == "optimal"
    assert len(model.trace_) <= 10
    assert np.all(np.diff(model.trace_.steps["objective"]) <= 1e-15)


def test_m21_two_parametrisations_are_one_model():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 2))
    scores = rows @ rng.normal(size=(2, 3)) + [0.2, 0.0, -0.3]
    labels = np.array(["a", "b", "c"])[(scores + rng.gumbel(size=scores.shape)).argmax(axis=1)]
    symmetric = sx.LogisticRegression().fit(rows, labels)
    referred = sx.LogisticRegression(reference="c").fit(rows, labels)
    assert symmetric.coef_.sum(axis=0) == pytest.approx([0, 0], abs=1e-12)
    assert referred.coef_[2].tolist() == [0.0, 0.0]
    assert referred.coef_ == pytest.approx(symmetric.coef_ - symmetric.coef_[2])
    assert referred.predict_proba(rows) == pytest.approx(symmetric.predict_proba(rows))
    weights = np.exp(sx.augment(rows) @ np.column_stack([referred.intercept_, referred.coef_])[:2].T)
    last = 1.0 / (1.0 + weights.sum(axis=1))  # the note's formula for the R-th class
    assert referred.predict_proba(rows)[:, 2] == pytest.approx(last)


def test_m21_softmax_of_two_classes_is_logistic():
    two = sx.LogisticRegression().fit(X, Y)
    design = make_design(X, intercept=True)
    softmax = Problem(design, Y, sx.losses.Softmax())
    halves = np.column_stack([-0.5 * np.append(two.intercept_, two.coef_), 0.5 * np.append(two.intercept_, two.coef_)])
    assert softmax.value(halves) == pytest.approx(two.result_.objective)


@pytest.mark.slow
def test_m22_digits_one_against_the_rest_beside_softmax():
    images, digits = load_digits(return_X_y=True)
    parts = train_test_split(images, digits, test_size=0.5, random_state=0, stratify=digits)
    accuracy = {}
    for kind in ("softmax", "one_vs_rest"):
        model = sx.LogisticRegression(strength=1e-3, multiclass=kind).fit(parts[0], parts[2])
        assert model.result_.status == "optimal"
        accuracy[kind] = model.score(parts[1], parts[3])
    assert accuracy["softmax"] > 0.94
    assert accuracy["one_vs_rest"] > 0.93
