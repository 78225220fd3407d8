"""Logistic and softmax fits against R and 400-bit references; existence against proved verdicts."""

import warnings

import numpy as np
import pytest
from data import needs_data, reference, references, table

import separatrix as sx
from separatrix.errors import SeparationError, SeparationWarning

VERDICTS = {"complete": "separable", "quasi-complete": "quasi", "none": "overlap"}


def fitted(folder, name):
    _, X, y, weights = table(folder, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        return sx.LogisticRegression().fit(X, y, sample_weight=weights)


@needs_data
@pytest.mark.parametrize("name", references("separation"))
def test_binary_against_references(name):
    truth = reference("separation", name)
    model = fitted("separation", name)
    assert model.existence_[0].verdict == VERDICTS[truth["verdict"]]
    if truth.get("mle"):
        got = [model.intercept_[0], *model.coef_[0]]
        assert got == pytest.approx(truth["mle"]["coef"], rel=1e-8, abs=1e-10)
        assert model.result_.status == "optimal"
    features, X, y, weights = table("separation", name)
    assert model.certificate_.verify(X, y, weights)
    for term, limit in truth.get("finite_limits", {}).items():
        own = "intercept" if term == "(Intercept)" else f"x{features.index(term) + 1}"
        assert model.limits_[0][own] == pytest.approx(limit["coef"], rel=1e-8)
    if truth["verdict"] != "none":
        assert model.result_.status == "separated"
        with pytest.raises(SeparationError, match="the likelihood has no maximum: the classes are"):
            sx.LogisticRegression(on_separation="raise").fit(X, y, sample_weight=weights)


@needs_data
@pytest.mark.parametrize("name", references("multinomial"))
def test_softmax_against_references(name):
    truth = reference("multinomial", name)
    _, X, y, weights = table("multinomial", name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        model = sx.LogisticRegression(reference_class=truth["classes"][0]).fit(X, y, sample_weight=weights)
    assert model.existence_[0].verdict == VERDICTS[truth["verdict"]]
    if truth.get("mle"):
        order = [model.classes_.tolist().index(label) for label in truth["classes"][1:]]
        got = np.column_stack([model.intercept_, model.coef_])[order]
        assert got == pytest.approx(np.array(truth["mle"]["coef"], dtype=float), rel=1e-8, abs=1e-9)
        assert model.result_.status == "optimal"
