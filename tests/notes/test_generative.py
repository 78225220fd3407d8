"""The generative derivation of note B (M23): Gaussian classes with shared variances give logistic weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError
from separatrix.families.generative import fit_generative
from separatrix.fit.labels import find_classes

IRIS, SPECIES = load_iris(return_X_y=True)
TWO, WHICH = IRIS[SPECIES > 0], SPECIES[SPECIES > 0]


def moments(X, y):
    means = np.array([X[y == k].mean(axis=0) for k in np.unique(y)])
    centred = X - means[np.searchsorted(np.unique(y), y)]
    return means, (centred**2).mean(axis=0), np.unique(y, return_counts=True)[1] / len(y)


def test_m23_weights_are_those_of_the_notes_formula():
    model = sx.GaussianGenerativeClassifier().fit(TWO, WHICH)
    (mean0, mean1), variance, (share0, share1) = moments(TWO, WHICH)
    # B writes P(Y=1) = 1/(1 + exp(w0 + Σ wᵢ Xᵢ)); ours is σ(w·x + b), so the signs are the opposite
    w = (mean0 - mean1) / variance
    w0 = np.log(share0 / share1) + ((mean1**2 - mean0**2) / (2 * variance)).sum()
    assert model.coef_[0] == pytest.approx(-w, rel=1e-10)
    assert model.intercept_[0] == pytest.approx(-w0, rel=1e-10)
    assert model.predict_proba(TWO)[:, 1] == pytest.approx(1.0 / (1.0 + np.exp(w0 + TWO @ w)), rel=1e-8)
    assert model.result_.passes == 2.0
    assert model.certificate_.verify(TWO, WHICH)


def test_m23_several_classes_are_a_softmax_of_r_minus_one_weights():
    model = sx.GaussianGenerativeClassifier().fit(IRIS, SPECIES)
    means, variance, shares = moments(IRIS, SPECIES)
    assert model.coef_.sum(axis=0) == pytest.approx(np.zeros(4), abs=1e-10)
    for k in range(2):  # against the last class, as B's R − 1 sets of weights
        assert model.coef_[k] - model.coef_[2] == pytest.approx((means[k] - means[2]) / variance)
        constant = np.log(shares[k] / shares[2]) - ((means[k] ** 2 - means[2] ** 2) / (2 * variance)).sum()
        assert model.intercept_[k] - model.intercept_[2] == pytest.approx(constant)
    assert model.means_ == pytest.approx(means)
    assert model.variances_ == pytest.approx(variance)
    assert model.certificate_.verify(IRIS, SPECIES)


@pytest.mark.parametrize(("X", "y"), [(TWO, WHICH), (IRIS, SPECIES)], ids=["two classes", "three"])
@pytest.mark.parametrize("priors", [None, "given"])
def test_m23_posterior_equals_naive_bayes_with_the_variances_made_equal(X, y, priors):
    given = None if priors is None else np.arange(1.0, len(np.unique(y)) + 1.0) / sum(range(len(np.unique(y)) + 1))
    ours = sx.GaussianGenerativeClassifier(priors=given).fit(X, y)
    theirs = GaussianNB(priors=given, var_smoothing=0.0).fit(X, y)
    theirs.var_ = np.tile(ours.variances_, (len(theirs.classes_), 1))
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-10)
    assert ours.predict_log_proba(X) == pytest.approx(theirs.predict_log_proba(X), rel=1e-8, abs=1e-10)


def test_m23_posterior_equals_naive_bayes_where_the_variances_are_equal():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(40, 3))
    X, y = np.vstack([noise, noise + np.array([1.0, -0.5, 0.2])]), np.repeat(["a", "b"], 40)
    ours, theirs = sx.GaussianGenerativeClassifier().fit(X, y), GaussianNB(var_smoothing=0.0).fit(X, y)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-12)


def test_m23_more_rows_bring_it_to_the_logistic_fit():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, size=20_000)
    X = rng.normal(size=(20_000, 2)) * [1.0, 3.0] + np.where(y[:, np.newaxis] == 1, [1.0, -1.0], [0.0, 0.0])
    closed, searched = sx.GaussianGenerativeClassifier().fit(X, y), sx.LogisticRegression().fit(X, y)
    assert closed.coef_ == pytest.approx(searched.coef_, abs=0.05)
    assert closed.coef_[0] == pytest.approx([1.0, -1.0 / 9.0], abs=0.05)


def test_storage_and_offsets_change_nothing():
    model = sx.GaussianGenerativeClassifier().fit(IRIS, SPECIES)
    for store in (sp.csr_array, sp.csc_array, np.asfortranarray):
        assert sx.GaussianGenerativeClassifier().fit(store(IRIS), SPECIES).coef_ == pytest.approx(model.coef_)
    shifted = sx.GaussianGenerativeClassifier().fit(IRIS + 1e6, SPECIES)
    assert shifted.coef_ == pytest.approx(model.coef_, rel=1e-6)


def test_the_objective_is_minus_the_mean_log_likelihood():
    means, variance, shares = moments(IRIS, SPECIES)
    densities = -0.5 * (np.log(2 * np.pi * variance) + (IRIS - means[SPECIES]) ** 2 / variance).sum(axis=1)
    result = fit_generative(make_design(IRIS, intercept=True), find_classes(SPECIES))
    assert result.objective == pytest.approx(-(densities + np.log(shares[SPECIES])).mean())


def test_probabilities_are_finite_far_away():
    model = sx.GaussianGenerativeClassifier().fit(IRIS, SPECIES)
    far = np.array([[1e5, 0, 0, 0], [0, 0, -1e5, 0]])
    assert np.isfinite(model.predict_log_proba(far)).all()
    assert model.predict_proba(far).sum(axis=1).tolist() == [1.0, 1.0]


def test_a_column_without_spread_is_refused_by_name():
    flat = np.column_stack([IRIS, SPECIES, np.full(len(IRIS), 0.1)])
    with pytest.raises(DataError, match=r"2 columns without any spread inside the classes: 'x5', 'x6'; .* drop"):
        sx.GaussianGenerativeClassifier().fit(flat, SPECIES)
    with pytest.raises(DataError, match="1 column without any spread inside the classes: 'x5'"):
        sx.GaussianGenerativeClassifier().fit(sp.csr_array(flat[:, :5]), SPECIES)


def test_bad_priors_and_bad_entries_are_refused():
    with pytest.raises(OptionError, match="must be 3 numbers above 0 that sum to 1"):
        sx.GaussianGenerativeClassifier(priors=[0.5, 0.5]).fit(IRIS, SPECIES)
    broken = IRIS.copy()
    broken[7, 2] = np.nan
    with pytest.raises(DataError, match="column 'x3' has NaN in row 7"):
        sx.GaussianGenerativeClassifier().fit(broken, SPECIES)


def test_the_certificate_refuses_other_data():
    certificate = sx.GaussianGenerativeClassifier().fit(IRIS, SPECIES).certificate_
    again = sx.certificate_from_dict(certificate.to_dict())
    assert again.verify(IRIS, SPECIES)
    assert not again.verify(IRIS + np.eye(150, 4), SPECIES)
    refusal = "row 100 has label 3; the certificate is of [0, 1, 2]"
    assert refusal in str(again.verify(IRIS, SPECIES + 1))
