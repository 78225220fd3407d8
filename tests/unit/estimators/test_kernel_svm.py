"""KernelSVM: weights, several classes, small caches, hard margins, certificates that can be broken."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import separatrix as sx
from separatrix.design.kernels import RBF
from separatrix.errors import ConvergenceWarning, DataError, OptionError, OverlapError
from separatrix.families.base import TrainingRows
from separatrix.families.kernel import fit
from separatrix.fit.labels import find_classes
from separatrix.fit.result import Status

X, Y = make_moons(150, noise=0.3, random_state=2)
IRIS = load_iris(return_X_y=True)
EXACT = {"gamma": 2.0, "strength": 1e-2, "tol": 1e-10}


def test_rows_columns_and_matrix_give_one_answer():
    dense = sx.KernelSVM(**EXACT).fit(X, Y)
    thin = sx.KernelSVM(**EXACT).fit(sparse.csc_array(X), Y)
    K = RBF(2.0)(X, X)
    given = sx.KernelSVM(**{**EXACT, "gamma": "scale"}, kernel="precomputed").fit(K, Y)
    assert dense.result_.objective == pytest.approx(thin.result_.objective, rel=1e-9)
    assert dense.result_.objective == pytest.approx(given.result_.objective, rel=1e-9)
    grid = X[::5] * 1.1
    np.testing.assert_allclose(given.decision_function(RBF(2.0)(grid, X)), dense.decision_function(grid), atol=1e-4)
    assert given.certificate_.verify(K, Y)
    indefinite = given.certificate_.verify(K - 0.5 * np.eye(150), Y)
    assert not indefinite
    assert "FAILS: data: the kernel matrix is not an inner product: it has eigenvalues below 0" in str(indefinite)


def test_a_small_cache_shrinks_and_reaches_the_same_objective():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(900, 4))
    b = (np.sin(2.0 * A[:, 0]) + A[:, 1] ** 2 + 0.3 * rng.normal(size=900) > 0.8).astype(int)
    whole = sx.KernelSVM(gamma=0.5, strength=1e-3, tol=1e-7).fit(A, b)
    small = sx.KernelSVM(gamma=0.5, strength=1e-3, tol=1e-7, cache_mb=60 * 8 * 900 / 2**20).fit(A, b)
    assert small.result_.objective == pytest.approx(whole.result_.objective, rel=1e-6)
    assert small.certificate_.verify(A, b)
    assert small.result_.facts["kernel_rows"] > whole.result_.facts["kernel_rows"]


def test_weights_are_repetitions_and_rows_without_weight_do_not_count():
    weights = np.arange(150) % 4
    weighted = sx.KernelSVM(**EXACT).fit(X, Y, sample_weight=weights)
    repeated = sx.KernelSVM(**EXACT).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    assert weighted.result_.objective == pytest.approx(repeated.result_.objective, rel=1e-9)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-4)
    assert weights[weighted.support_].min() == 1
    np.testing.assert_array_equal(weighted.support_vectors_, X[weighted.support_])
    assert weighted.certificate_.verify(X, Y, sample_weight=weights)
    assert "give them" in str(weighted.certificate_.verify(X, Y))
    assert not weighted.certificate_.verify(X, Y, sample_weight=weights**2)


def test_class_weights_multiply():
    by_class = sx.KernelSVM(**EXACT, class_weight={0: 1.0, 1: 3.0}).fit(X, Y)
    by_row = sx.KernelSVM(**EXACT).fit(X, Y, sample_weight=np.where(Y == 1, 3.0, 1.0))
    assert by_class.result_.objective == pytest.approx(by_row.result_.objective, rel=1e-9)
    assert by_class.certificate_.verify(X, Y)
    data = by_class.certificate_.data
    assert data.class_weights == (1.0, 3.0)
    for other in (None, (3.0, 1.0)):
        assert not by_class.certificate_.about(replace(data, class_weights=other)).verify(X, Y)


@pytest.mark.parametrize("multiclass", ["one_vs_one", "one_vs_rest"])
def test_several_classes_are_certified_fit_by_fit(multiclass):
    model = sx.KernelSVM(gamma=0.5, strength=1e-3, tol=1e-6, multiclass=multiclass).fit(*IRIS)
    assert model.score(*IRIS) >= 0.97
    assert model.decision_function(IRIS[0]).shape == (150, 3)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.certificate_.verdict == "optimal"
    assert model.certificate_.verify(*IRIS)
    again = sx.certificate_from_dict(json.loads(model.certificate_.to_json()))
    assert again.verify(*IRIS)
    assert not again.verify(1.1 * IRIS[0], IRIS[1])


def test_pairs_are_libsvms_fits_and_votes():
    model = sx.KernelSVM(gamma=0.5, strength=0.01, tol=1e-9).fit(*IRIS)  # 100 rows a pair: C = 1
    peer = SVC(gamma=0.5, C=1.0, tol=1e-8, decision_function_shape="ovo").fit(*IRIS)
    scores = np.column_stack([-peer.decision_function(IRIS[0])])
    places = np.zeros(150)
    places[model.support_] = model.dual_coef_[0]
    pair = IRIS[1] < 2
    mine = RBF(0.5)(IRIS[0][pair], IRIS[0]) @ places + model.intercept_[0]
    np.testing.assert_allclose(mine, scores[pair, 0], atol=1e-3)
    assert model.predict(IRIS[0]).tolist() == peer.predict(IRIS[0]).tolist()


def test_one_against_the_rest_wraps_it():
    wrapped = sx.OneVsRest(sx.KernelSVM(gamma=0.5, tol=1e-8)).fit(*IRIS)
    own = sx.KernelSVM(gamma=0.5, tol=1e-8, multiclass="one_vs_rest").fit(*IRIS)
    np.testing.assert_allclose(wrapped.decision_function(IRIS[0]), own.decision_function(IRIS[0]), atol=1e-3)
    assert wrapped.certificate_.verify(*IRIS)


def test_equal_rows_of_both_classes_are_refused_in_any_kernels_space():
    twins = np.vstack([X, X[[0]]])
    labels = np.append(Y, 1 - Y[0])
    with pytest.raises(OverlapError, match="points of both hulls meet there") as caught:
        sx.KernelSVM(gamma=2.0, hard_margin=True).fit(twins, labels)
    proof = caught.value.certificate
    assert proof.verdict == "no margin"
    assert proof.verify(twins, labels)
    assert not proof.verify(twins, np.append(Y, Y[0]))


def test_a_hard_margin_of_several_classes_has_one_for_each_fit():
    first = IRIS[0][:100], IRIS[1][:100]
    assert sx.KernelSVM(kernel="linear", hard_margin=True, tol=1e-6).fit(*first).margin_ == pytest.approx(
        0.81755, rel=1e-1
    )
    model = sx.KernelSVM(gamma=1.0, hard_margin=True, multiclass="one_vs_rest").fit(*_distinct(*IRIS))
    assert model.margin_.shape == (3,)
    assert model.certificate_.verdict == "separable"
    with pytest.raises(OptionError, match="hard_margin=True counts every row alike"):
        sx.KernelSVM(hard_margin=True).fit(*first, sample_weight=np.ones(100))


def _distinct(A, b):
    _, first = np.unique(A, axis=0, return_index=True)
    return A[first], b[first]


def test_probabilities_come_by_calibration():
    with pytest.raises(AttributeError, match=r"no probabilities; .* use sklearn\.calibration\.CalibratedClass"):
        sx.KernelSVM().fit(X, Y).predict_proba(X)
    model = CalibratedClassifierCV(sx.KernelSVM(gamma=2.0), cv=5, ensemble=False).fit(X, Y)
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert -np.log(np.maximum(chances[np.arange(150), Y], 1e-3)).mean() < 0.45


def test_the_positive_class_is_the_second():
    plain, flipped = sx.KernelSVM(**EXACT).fit(X, Y), sx.KernelSVM(**EXACT, positive=0).fit(X, Y)
    assert flipped.classes_.tolist() == [1, 0]
    np.testing.assert_allclose(flipped.decision_function(X), -plain.decision_function(X), atol=1e-4)
    assert flipped.certificate_.verify(X, Y)
    with pytest.raises(OptionError, match=r"positive=2 is not among the classes \[0, 1\]"):
        sx.KernelSVM(positive=2).fit(X, Y)
    with pytest.raises(OptionError, match="positive=0 chooses between two classes, but there are 3"):
        sx.KernelSVM(positive=0).fit(*IRIS)


@pytest.mark.parametrize("hard", [False, True])
def test_an_interrupted_fit_says_so(hard):
    rows = TrainingRows(X, Y, find_classes(Y))
    options = sx.KernelSVM(gamma=20.0, strength=1e-4, tol=1e-12, hard_margin=hard).checked()
    fitted = fit(rows, options, lambda _: True)
    assert fitted.result.status is Status.INTERRUPTED
    assert "stopped after 1 block, as it was interrupted" in fitted.result.message
    assert fitted.strength == (None if hard else 1e-4)


def test_a_certificate_can_be_broken():
    found = sx.KernelSVM(**EXACT).fit(X, Y).certificate_
    assert sx.certificate_from_dict(json.loads(found.to_json())).to_json() == found.to_json()
    broken = {
        "multipliers": replace(found, multipliers=1.01 * found.multipliers),
        "objective": replace(found, primal=found.primal * (1.0 - 1e-8)),
        "bound": replace(found, dual=found.dual * (1.0 + 1e-8)),
    }
    for name, certificate in broken.items():
        assert name in [check.name for check in certificate.verify(X, Y).checks if not check.holds]
    unbalanced = replace(found, multipliers=np.append(found.multipliers[:-1], 0.0)).verify(X, Y)
    assert {"objective", "bound"} == {check.name for check in unbalanced.checks if not check.holds}
    assert "row 0 has label" in str(found.verify(X, Y + 5))


def test_a_fit_cut_short_says_so_with_its_gap():
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 block, as max_steps=1 was reached: .* \(tol=1e-10\)"):
        model = sx.KernelSVM(**EXACT, max_steps=1).fit(X, Y)
    assert model.certificate_.verdict == "stopped"
    assert model.certificate_.verify(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0}, "gamma=0 is out of range"),
        ({"strength": 0.0}, "strength=0.0 is out of range"),
        ({"tol": -1.0}, "tol=-1.0 is out of range"),
        ({"multiclass": "ovo"}, "multiclass='ovo' is not one of 'one_vs_one', 'one_vs_rest'"),
        ({"max_steps": 0}, "max_steps=0 is out of range"),
        ({"cache_mb": 1e-3}, "cache_mb=0.001 is too small for 2 kernel rows of 150 numbers; give at least 0.00229"),
    ],
)
def test_bad_options_are_refused_by_name(options, message):
    with pytest.raises(OptionError, match=message):
        sx.KernelSVM(**options).fit(X, Y)


def test_a_kernel_that_is_none_is_refused():
    with pytest.raises(DataError, match="the own kernel is no inner product on these rows"):
        sx.KernelSVM(kernel=lambda A, B: -(A @ B.T)).fit(X, Y)
    with pytest.raises(DataError, match=r"the kernel function returned shape \(150,\)"):
        sx.KernelSVM(kernel=lambda A, _: A[:, 0]).fit(X, Y)


def test_equal_rows_among_others_are_refused_at_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    X, y = np.vstack([X, X]), np.concatenate([y, (y + 1) % 3])
    with pytest.raises(OverlapError, match="no function in the space of the rbf kernel separates 0 and 1") as refusal:
        sx.KernelSVM(hard_margin=True, max_steps=20).fit(X, y)
    pair = y < 2
    assert len(refusal.value.certificate.rows) == 2
    assert refusal.value.certificate.verify(X[pair], y[pair])


def test_rows_that_are_all_equal_have_no_hard_margin():
    y = np.array([0, 1, 1])
    with pytest.raises(OverlapError, match="separates 0 and 1 by more than") as refusal:
        sx.KernelSVM(hard_margin=True).fit(np.ones((3, 2)), y)
    assert refusal.value.certificate.verify(np.ones((3, 2)), y)


def lopsided(A, B):
    same = 50.0 * (np.abs(A[:, None] - B[None]).sum(axis=2) == 0.0)
    return A @ B.T + same + 3.0 * np.sign(A[:, :1] - B[:, :1].T)


def test_a_function_whose_values_depend_on_the_order_is_refused():
    X = np.random.default_rng(0).normal(size=(30, 3))
    y = X[:, 0] > 0.0
    message = "the own kernel is not symmetric: .* for rows 0 and 1, .* the other way round"
    for model in (sx.KernelSVM(kernel=lopsided), sx.KernelPerceptron(kernel=lopsided)):
        with pytest.raises(DataError, match=message):
            model.fit(X, y)
    with pytest.raises(DataError, match=message):
        sx.check_separability(X, y, kernel=lopsided)


def test_one_against_the_rest_cuts_a_matrix_both_ways():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    X[:, 0] += 3.0 * y
    given = cross_val_score(sx.OneVsRest(sx.KernelSVM(kernel="precomputed")), X @ X.T, y, cv=3)
    np.testing.assert_allclose(given, cross_val_score(sx.OneVsRest(sx.KernelSVM(kernel="linear")), X, y, cv=3))


def test_options_named_otherwise_elsewhere_are_explained():
    with pytest.raises(OptionError, match=r"gamma='auto' is not known; give a number above 0, or \"scale\""):
        sx.KernelSVM(gamma="auto").fit(X, Y)
    with pytest.raises(OptionError, match="kernel='poly' is not a kernel; did you mean 'polynomial'"):
        sx.KernelSVM(kernel="poly").fit(X, Y)
    with pytest.raises(DataError, match='gamma="scale" needs the variance of all entries, which is inf'):
        sx.kernels.RBF().settled(np.array([[1e200], [-1e200]]))
