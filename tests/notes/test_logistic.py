"""Logistic regression of the notes: likelihood and gradient (M17), Newton (M20), R − 1 weights (M21), digits (M22)."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError
from separatrix.numerics import sigmoid
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


def test_m17_m20_likelihood_gradient_and_hessian_at_given_coefficients():
    w, A = np.array([0.3, -0.1, 0.02, 0.5]), sx.augment(X)
    at, probability = sx.log_likelihood(X, Y, w), sx.sigmoid(A @ w)
    assert at.value == pytest.approx((Y * np.log(probability) + (1 - Y) * np.log(1 - probability)).sum())
    assert at.gradient == pytest.approx(A.T @ (Y - probability))
    assert at.hessian == pytest.approx(-(A.T * (probability * (1 - probability))) @ A)
    step = w - np.linalg.solve(at.hessian, at.gradient)
    assert sx.log_likelihood(X, Y, step).value > at.value
    weights = np.arange(1.0, len(Y) + 1.0)
    weighted = sx.log_likelihood(X, Y, w[1:], fit_intercept=False, sample_weight=weights)
    assert weighted.gradient == pytest.approx(X.T @ (weights * (Y - sx.sigmoid(X @ w[1:]))))


def test_m17_m21_the_likelihood_of_several_classes_has_the_derivatives_of_its_values():
    digits, w = np.array([0, 1, 2] * 10 + [0, 1]), np.random.default_rng(0).normal(size=(3, 4)) / 10.0
    at = sx.log_likelihood(X, digits, w)
    assert at.value == pytest.approx(-sx.cross_entropy(np.eye(3)[digits], sx.softmax(sx.augment(X) @ w.T)).sum())
    for index in np.ndindex(w.shape):
        nudge = np.zeros_like(w)
        nudge[index] = 1e-6
        above, below = sx.log_likelihood(X, digits, w + nudge), sx.log_likelihood(X, digits, w - nudge)
        assert at.gradient[index] == pytest.approx((above.value - below.value) / 2e-6, abs=1e-4)
        row = np.ravel_multi_index(index, w.shape)
        assert at.hessian[row] == pytest.approx((above.gradient - below.gradient).ravel() / 2e-6, abs=1e-3)


def test_m17_what_is_no_coefficient_is_refused():
    with pytest.raises(
        DataError, match=r"w has shape \(3,\); give finite numbers of shape \(4,\): an intercept and one"
    ):
        sx.log_likelihood(X, Y, np.zeros(3))
    with pytest.raises(DataError, match=r"w is not finite; give finite numbers of shape \(4,\)"):
        sx.log_likelihood(X, Y, [0.0, 0.0, 0.0, np.nan])
    with pytest.raises(DataError, match=r"w has shape \(4,\); give finite numbers of shape \(3, 4\)"):
        sx.log_likelihood(X, [*Y[:-1], 2], np.zeros(4))
    with pytest.raises(DataError, match="sample_weight has shape"):
        sx.log_likelihood(X, Y, np.zeros(4), sample_weight=[1.0])


def test_m16_entropies_are_those_of_distributions():
    p, q = np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.6, 0.3])
    assert sx.entropy(p) == pytest.approx(-(p * np.log(p)).sum())
    assert sx.cross_entropy(p, q) == pytest.approx(-(p * np.log(q)).sum())
    assert sx.cross_entropy(p, p) == pytest.approx(sx.entropy(p))
    assert sx.cross_entropy(p, scores=np.log(q) + 7.0) == pytest.approx(sx.cross_entropy(p, q))
    assert sx.cross_entropy([1.0, 0.0], [0.0, 1.0]) == np.inf
    margins = np.array([-800.0, -1.0, 0.0, 1.0, 800.0])
    pairs = np.column_stack([np.zeros(5), margins])
    assert sx.cross_entropy([0.0, 1.0], scores=pairs) == pytest.approx(sx.losses.Logistic.of_margin(margins))
    assert sx.entropy([0.0, 1.0, 0.0]) == 0.0
    assert sx.softmax([[-800.0, 800.0], [800.0, 800.0]]).tolist() == [[0.0, 1.0], [0.5, 0.5]]


def test_m16_what_is_no_distribution_is_refused():
    with pytest.raises(DataError, match=r"p has \[0.0, 1.0, 1.0\], which sums to 2; .* target y of 0 or 1 the pair"):
        sx.cross_entropy([0, 1, 1], [0.2, 0.4, 0.4])
    with pytest.raises(DataError, match=r"p has \[-0.5, 1.5\]"):
        sx.entropy([[0.5, 0.5], [-0.5, 1.5]])
    with pytest.raises(OptionError, match=r"either q .probabilities. or scores"):
        sx.cross_entropy([0.5, 0.5])


def test_m17_sigmoid_logit_and_threshold():
    assert sx.logit(sx.sigmoid(1.7)) == pytest.approx(1.7)
    assert sx.sigmoid(np.array([-3.0, 800.0])) == pytest.approx(1.0 - sx.sigmoid(np.array([3.0, -800.0])))
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
    referred = sx.LogisticRegression(reference_class="c").fit(rows, labels)
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
