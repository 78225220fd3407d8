"""The same answer in any units: rescaling and shifting columns changes no unpenalised prediction."""

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx


def overlapping(n=400, p=5, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p))
    scores = rows @ rng.normal(size=(p, classes)) + rng.gumbel(size=(n, classes))
    return rows, scores.argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_probabilities_do_not_depend_on_units(classes, shift, size):
    rows, labels = overlapping(classes=classes)
    scales = size * 10.0 ** np.linspace(-3, 3, rows.shape[1])
    moved = (rows + shift) * scales
    plain = sx.LogisticRegression().fit(rows, labels)
    other = sx.LogisticRegression().fit(moved, labels)
    assert other.existence_[0].verdict == plain.existence_[0].verdict == "overlap"
    assert other.result_.status == "optimal"
    assert other.predict_proba(moved) == pytest.approx(plain.predict_proba(rows), abs=1e-7)
    assert other.coef_ * scales == pytest.approx(plain.coef_, rel=1e-6, abs=1e-8)
    assert other.certificate_.verify(moved, labels)


@pytest.mark.parametrize("strength", [0.0, 0.01])
def test_dense_sparse_and_float32_agree(strength):
    rows, labels = overlapping()
    rows = np.where(np.abs(rows) > 0.5, rows, 0.0).astype(np.float32)
    fits = [
        sx.LogisticRegression(strength=strength).fit(kind(rows), labels)
        for kind in (np.float64, np.asarray, sp.csr_matrix, sp.csc_matrix, np.asfortranarray)
    ]
    for model in fits[1:]:
        assert model.coef_ == pytest.approx(fits[0].coef_, rel=1e-8)


def test_integer_weights_are_repeated_rows():
    rows, labels = overlapping(n=60)
    weights = np.random.default_rng(1).integers(0, 4, size=60)
    weighted = sx.LogisticRegression(strength=0.05).fit(rows, labels, sample_weight=weights)
    repeated = sx.LogisticRegression(strength=0.05).fit(np.repeat(rows, weights, axis=0), np.repeat(labels, weights))
    assert weighted.coef_ == pytest.approx(repeated.coef_, rel=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_the_intercept_is_never_penalised(scale):
    rows, labels = overlapping()
    model = sx.LogisticRegression(strength=1e6 * scale).fit(rows, labels)
    share = labels.mean()
    assert model.intercept_[0] == pytest.approx(np.log(share / (1 - share)), rel=1e-4)
