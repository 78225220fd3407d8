"""OneVsRest: one fit per class by the classifier that it wraps, joined into one; weights and probabilities."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import separatrix as sx
from separatrix.certificates.base import PartsCertificate
from separatrix.errors import OptionError, SeparationWarning
from separatrix.fit.result import Status

FRAME, Y = load_iris(return_X_y=True, as_frame=True)
X = FRAME.to_numpy()
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def test_the_joined_fit_is_that_of_one_vs_rest_regression():
    wrapped = sx.OneVsRest(sx.LogisticRegression(strength=0.01)).fit(FRAME, NAMES)
    own = sx.LogisticRegression(strength=0.01, multiclass="one_vs_rest").fit(FRAME, NAMES)
    fitted = wrapped.fitted_
    assert fitted.coef.tolist() == own.coef_.tolist()
    assert fitted.intercept.tolist() == own.intercept_.tolist()
    assert (fitted.link, fitted.strength, fitted.labels) == ("one_vs_rest", 0.01, ("setosa", "versicolor", "virginica"))
    assert fitted.result.provenance["names"] == ["intercept", *FRAME.columns]
    np.testing.assert_allclose(wrapped.predict_proba(FRAME), own.predict_proba(FRAME), rtol=1e-12)
    chances = np.column_stack([each.predict_proba(FRAME)[:, 1] for each in wrapped.estimators_])
    np.testing.assert_allclose(wrapped.predict_proba(FRAME), chances / chances.sum(axis=1, keepdims=True), rtol=1e-12)


def test_a_fit_with_a_separated_class_is_not_optimal():
    """Setosa is separated from the rest, versicolor and virginica are not."""
    with pytest.warns(SeparationWarning):
        model = sx.LogisticRegression(multiclass="one_vs_rest").fit(X[:, :2], NAMES)
    assert [str(part.status) for part in model.result_.parts] == ["separated", "optimal", "optimal"]
    assert model.result_.status is Status.SEPARATED
    assert model.certificate_.verify(X[:, :2], NAMES).holds


def test_the_certificates_are_of_each_class_against_the_rest():
    model = sx.OneVsRest(sx.LinearSVM(strength=0.01)).fit(X, NAMES)
    certificate = model.certificate_
    assert isinstance(certificate, PartsCertificate)
    assert (certificate.data.scheme, certificate.data.counts) == ("one-vs-rest", (50, 50, 50))
    assert [(part.data.task, part.data.labels) for part in certificate.parts] == [
        ("rest", (name,)) for name in ("setosa", "versicolor", "virginica")
    ]
    assert certificate.verify(X, NAMES)
    assert not certificate.verify(X, NAMES[::-1])
    assert model.result_.certificate.to_json() == certificate.to_json()
    assert len(model.trace_) == len(max(model.result_.parts, key=lambda part: not part.status.reached_goal).trace)


def test_two_classes_have_one_fit():
    model = sx.OneVsRest(sx.LogisticRegression(strength=0.01)).fit(X[:100], NAMES[:100])
    own = sx.LogisticRegression(strength=0.01).fit(X[:100], NAMES[:100])
    assert len(model.estimators_) == 1
    assert (model.fitted_.link, model.fitted_.coef.tolist()) == ("sigmoid", own.coef_.tolist())
    assert model.predict_proba(X).tolist() == own.predict_proba(X).tolist()
    assert model.certificate_.data.labels == ("setosa", "versicolor")
    assert model.certificate_.verify(X[:100], NAMES[:100])


def test_weights_are_passed_on_or_refused():
    weights = 1.0 + np.arange(150) % 3
    weighted = sx.OneVsRest(sx.LogisticRegression(strength=0.01)).fit(X, Y, sample_weight=weights)
    own = sx.LogisticRegression(strength=0.01, multiclass="one_vs_rest").fit(X, Y, sample_weight=weights)
    assert weighted.fitted_.coef.tolist() == own.coef_.tolist()
    with pytest.raises(OptionError, match="KernelPerceptron takes no sample_weight; leave it out"):
        sx.OneVsRest(sx.KernelPerceptron()).fit(X, Y, sample_weight=weights)


def test_probabilities_are_those_of_the_classifier_or_absent():
    assert hasattr(sx.OneVsRest(sx.GaussianGenerativeClassifier()), "predict_proba")
    for classifier in (sx.LinearSVM(), sx.KernelSVM(), sx.MaxMarginClassifier()):
        assert not hasattr(sx.OneVsRest(classifier), "predict_proba")
    kernels = sx.OneVsRest(sx.KernelSVM(gamma=0.5)).fit(X, Y)
    assert (kernels.fitted_.link, kernels.fitted_.coef.shape) == ("none", (3, 150))


@pytest.mark.parametrize("options", [{"positive": False}, {"reference_class": True}])
def test_the_positive_class_cannot_be_chosen(options):
    with pytest.raises(OptionError, match="is no option of one-vs-rest, where each class is positive in turn"):
        sx.OneVsRest(sx.LogisticRegression(strength=0.1, **options)).fit(X, Y)
