"""The hard margin and the halfspace program: against another solver, at the edges, refused with proof, re-checked."""

import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

import separatrix as sx
from separatrix.certificates.base import certificate_from_dict
from separatrix.certificates.margin import MarginCertificate
from separatrix.design.build import make_design
from separatrix.errors import CertificateError, ConvergenceWarning, OptionError, OverlapError, SeparationWarning
from separatrix.families.base import TrainingRows
from separatrix.families.margin import fit
from separatrix.fit.labels import find_classes
from separatrix.fit.result import Status
from separatrix.separability.margin import MarginOptions, fit_max_margin


def separable(n=200, p=5, seed=0, gap=0.1, offset=0.3):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=p)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, p))
    y = np.where(X @ w + offset > 0.0, 1.0, -1.0)
    return X + np.outer(y * gap, w), y


def distance_of_hulls(X, y):
    """Return half the distance of the classes' hulls, by least squares over λ ≥ 0 with heavy sums."""
    heavy = 1e4 * np.abs(X).max()
    Z = (y[:, np.newaxis] * X).T
    system = np.vstack([Z, heavy * (y > 0.0), heavy * (y < 0.0)])
    shares = nnls(system, np.append(np.zeros(X.shape[1]), [heavy / 2, heavy / 2]), maxiter=10_000)[0]
    shares[y > 0.0] /= 2.0 * shares[y > 0.0].sum()
    shares[y < 0.0] /= 2.0 * shares[y < 0.0].sum()
    return float(np.linalg.norm(Z @ shares))


@pytest.mark.parametrize("store", [np.asarray, sp.csr_array, sp.csc_array, lambda X: X.astype(np.float32)])
def test_the_margin_is_half_the_distance_of_the_hulls(store):
    X, y = separable()
    X = np.round(X * 64) / 64  # exact in float32 too
    model = sx.MaxMarginClassifier().fit(store(X), y)
    assert model.margin_ == pytest.approx(distance_of_hulls(X, y), rel=1e-7)
    margins = y * model.decision_function(X)
    assert margins.min() == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_allclose(margins[model.support_], 1.0, rtol=1e-8)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert np.linalg.norm(model.coef_) == pytest.approx(model.B_, rel=1e-9)
    assert model.certificate_.relative_gap <= 1e-10
    assert model.certificate_.verify(store(X), y)


def test_many_rows_take_few_passes():
    X, y = separable(100_000, 10, gap=0.05)
    model = sx.MaxMarginClassifier().fit(X, y)
    assert model.result_.status == "optimal"
    assert model.result_.passes <= 10
    assert model.certificate_.verify(X, y)
    assert model.margin_ >= 0.05
    lp = sx.HalfspaceLP().fit(X, y)
    assert lp.result_.passes <= 10
    assert (y * lp.decision_function(X)).min() >= 1.0
    assert lp.certificate_.lower <= model.margin_ <= lp.certificate_.upper


def test_the_margin_scales_with_the_rows_and_a_shift_moves_only_the_intercept():
    X, y = separable(60, 3)
    plain = sx.MaxMarginClassifier().fit(X, y)
    assert sx.MaxMarginClassifier().fit(X * 2.0**40, y).margin_ == pytest.approx(plain.margin_ * 2.0**40, rel=1e-9)
    moved = sx.MaxMarginClassifier(tol=1e-7).fit(X + np.array([1e6, -1e6, 0.0]), y)
    assert moved.margin_ == pytest.approx(plain.margin_, rel=1e-6)
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-5, atol=1e-6)


def test_the_perceptron_is_bounded_by_the_widest_margin_of_many_rows():
    X, y = separable(20_000, 10, offset=0.0)
    model = sx.Perceptron(fit_intercept=False).fit(X, y)
    widest = sx.mistake_bound(X, y)
    assert widest.exact
    assert model.certificate_.margin == pytest.approx(widest.margin, rel=1e-9)
    assert model.n_updates_ <= model.certificate_.bound == pytest.approx(widest.bound)


@pytest.mark.parametrize("scale", [2.0**-300, 2.0**300])
def test_units_do_not_matter_to_the_program(scale):
    X, y = separable(80, 4)
    units = np.array([1.0, scale, 1.0 / 1024, 4096.0])
    model = sx.HalfspaceLP().fit(X * units, y)
    np.testing.assert_allclose(model.coef_ * units, sx.HalfspaceLP().fit(X, y).coef_, rtol=1e-12)
    assert model.certificate_.verify(X * units, y)


@pytest.mark.parametrize("estimator", [sx.MaxMarginClassifier, sx.HalfspaceLP])
def test_each_class_must_be_separable(estimator):
    X, y = sx.load_demo("iris")
    with pytest.raises(OverlapError, match="no halfspace separates class 'versicolor' and the rest") as refusal:
        estimator().fit(X, y)
    data = refusal.value.certificate.data
    assert (data.task, data.labels, data.counts) == ("rest", ("versicolor",), (50, 100))
    assert refusal.value.certificate.verify(X, y)
    assert not refusal.value.certificate.verify(X, np.roll(y, 50))


@pytest.mark.parametrize("estimator", [sx.MaxMarginClassifier, sx.HalfspaceLP])
def test_several_separable_classes(estimator):
    X = np.array([[0, 6], [1, 7], [6, -3], [7, -3], [-6, -3], [-7, -4]], dtype=float)
    y = np.array(["n", "n", "e", "e", "w", "w"])
    model = estimator().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.coef_.shape == (3, 2)
    assert model.certificate_.verify(X, y)


def test_several_margins():
    X = np.array([[0, 6], [6, -3], [-6, -3]], dtype=float)
    model = sx.MaxMarginClassifier().fit(X, [0, 1, 2])
    assert model.margin_.shape == model.B_.shape == (3,)
    assert model.margin_[0] == pytest.approx(4.5)


def test_on_overlap_soft_falls_back_with_a_warning():
    X, y = sx.load_demo("iris")
    with pytest.warns(SeparationWarning) as told:
        model = sx.MaxMarginClassifier(on_overlap="soft").fit(X, y)
    assert [str(each.message)[:65] for each in told] == [
        "a soft margin instead: no halfspace separates class 'versicolor' ",
        "a soft margin instead: no halfspace separates class 'virginica' a",
    ]
    assert {each.filename for each in told} == {__file__}
    assert model.fitted_.sentences == tuple(str(each.message) for each in told)
    assert np.isnan(model.margin_[1])
    assert model.margin_[0] > 0.8
    assert model.score(X, y) > 0.8
    certificate = model.certificate_
    assert (certificate.kind, certificate.verdict) == ("mixed", "mixed")
    assert [part.kind for part in certificate.parts] == ["margin", "optimality", "optimality"]
    assert sx.verify(model, X, y).holds
    again = sx.certificate_from_dict(json.loads(certificate.to_json()))
    assert again.to_json() == certificate.to_json()
    assert again.verify(X, y)
    assert not again.verify(X, y[::-1])


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparationWarning")
def test_parts_of_different_kinds_are_read_with_their_kinds():
    X, y = sx.load_demo("iris")
    written = sx.MaxMarginClassifier(on_overlap="soft").fit(X, y).certificate_.to_dict()
    first, *others = written["parts"]
    for parts, kind, complaint in (
        (
            [{**first, "kind": "magrin"}, *others],
            "mixed",
            "parts[0].kind is 'magrin', an unknown kind; did you mean 'margin'",
        ),
        ([{"statement": {}, "witness": {}}, *others], "mixed", "parts[0].kind is None, an unknown kind"),
        ([{**first, "kind": "optimality"}, *others], "mixed", "parts[0].statement"),
        (written["parts"], "margin", "parts[0]"),
    ):
        with pytest.raises(CertificateError, match=re.escape(f"malformed certificate: {complaint}")):
            sx.certificate_from_dict({**written, "kind": kind, "parts": parts})
    whole = sx.LinearSVM(strength=0.1).fit(X, y).certificate_.to_dict()
    named = [{"kind": "optimality", **part} for part in whole["parts"]]
    with pytest.raises(CertificateError, match="kind is 'mixed', where all parts are of one kind"):
        sx.certificate_from_dict({**whole, "kind": "mixed", "parts": named})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_overlap": "sfot"}, "on_overlap='sfot' is not one of 'raise', 'soft'; did you mean 'soft'"),
        ({"tol": -1.0}, "tol=-1.0 is out of range"),
        ({"max_passes": 0}, "max_passes=0 is out of range"),
    ],
)
@pytest.mark.parametrize("estimator", [sx.MaxMarginClassifier, sx.HalfspaceLP])
def test_options_are_checked(estimator, options, message):
    with pytest.raises(OptionError, match=message):
        estimator(**options).fit([[0.0], [1.0]], [0, 1])


def test_rows_one_ulp_apart_are_decided():
    above = np.nextafter(1.0, 2.0)
    for estimator in (sx.MaxMarginClassifier, sx.HalfspaceLP):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the midpoint is no float
            certificate = estimator().fit([[1.0], [above]], [0, 1]).certificate_
        assert 0.0 < certificate.lower <= (above - 1.0) / 2 <= certificate.upper
        assert certificate.verify([[1.0], [above]], [0, 1])
    with pytest.raises(OverlapError, match="not even in part"):
        sx.MaxMarginClassifier().fit([[1.0], [1.0]], [0, 1])
    with pytest.raises(
        OverlapError, match="every hyperplane with no row on the wrong side has rows of both classes on it"
    ):
        sx.MaxMarginClassifier().fit([[0.0], [1.0], [1.0]], [0, 0, 1])


@pytest.mark.parametrize("estimator", [sx.HalfspaceLP, sx.MaxMarginClassifier, sx.ZeroOneClassifier])
def test_the_positive_class_is_the_second(estimator):
    X, y = sx.load_demo("iris")
    two = y != "virginica"
    model = estimator(positive="setosa").fit(X[two], y[two])
    assert model.classes_.tolist() == ["versicolor", "setosa"]
    assert model.score(X[two], y[two]) == 1.0
    assert model.certificate_.data.labels == ("versicolor", "setosa")
    assert model.certificate_.verify(X[two], y[two])
    with pytest.raises(OptionError, match=r"positive='setsa' is not among the classes .*; did you mean 'setosa'"):
        estimator(positive="setsa").fit(X[two], y[two])


def test_an_interrupted_fit_says_so(monkeypatch):
    monkeypatch.setattr("separatrix.solvers.max_margin.FIRST_ENTRIES", 1)  # a small working set: several steps
    monkeypatch.setattr("separatrix.solvers.max_margin.JOINING_ENTRIES", 1)
    wide, noise = separable(2000, 10), np.random.default_rng(0).normal(size=(60, 4))
    cases = {sx.MaxMarginClassifier: wide, sx.ZeroOneClassifier: (noise, np.arange(60) % 2)}
    for estimator, (X, y) in cases.items():
        fitted = fit(TrainingRows(X, y, find_classes(y)), estimator().checked(), lambda facts: facts["steps"] >= 2)
        assert fitted.result.status is Status.INTERRUPTED
        assert ", as it was interrupted: " in fitted.result.message
        assert fitted.result.certificate.verify(X, y)


def certificate_of(X, y):
    found = sx.MaxMarginClassifier().fit(X, y).certificate_
    assert isinstance(found, MarginCertificate)
    return found


def test_a_certificate_goes_to_json_and_back():
    X, y = separable(40, 3)
    certificate = certificate_of(X, y)
    again = certificate_from_dict(json.loads(certificate.to_json()))
    assert again.to_json() == certificate.to_json()
    assert again.verify(X, y)
    assert "every row is classified correctly, with a margin of at least" in again.claim


def test_tampered_certificates_and_other_data_are_refused():
    X, y = separable(40, 3)
    certificate = certificate_of(X, y)
    pinned = certificate.rows[0]
    wider, narrower = certificate.lower * (1 + 1e-9), certificate.upper * (1 - 1e-9)
    for changes in ({"lower": wider}, {"upper": narrower}):
        with pytest.raises(ValueError, match="is above the upper bound"):
            replace(certificate, **changes)
    tampered = {
        "lower": replace(certificate, lower=wider, upper=wider),
        "upper": replace(certificate, lower=narrower, upper=narrower),
        "weights": replace(certificate, coef=certificate.coef * [1, -1, 1, 1]),
        "negative": replace(certificate, multipliers=-certificate.multipliers),
        "rows": replace(certificate, rows=(certificate.rows + 1) % 40),
    }
    with pytest.raises(ValueError, match="rows must be different ones of 40"):
        replace(certificate, rows=np.full_like(certificate.rows, pinned))
    for name, bad in tampered.items():
        assert not bad.verify(X, y), name
    moved = X.copy()
    moved[pinned] -= 0.01 * y[pinned] * certificate.coef[1:]
    refusal = certificate.verify(moved, y)
    assert not refusal
    assert f"row {pinned} is right by" in str(refusal)
    assert not certificate.verify(X[:-1], y[:-1])
    assert "row 3 has label 7" in str(certificate.verify(X, np.where(np.arange(40) == 3, 7.0, y)))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_integer_rows_are_separated_or_proved_inseparable(data):
    p, n = data.draw(st.integers(1, 3)), data.draw(st.integers(2, 9))
    entries = st.lists(st.integers(-3, 3), min_size=p, max_size=p)
    X = np.array(data.draw(st.lists(entries, min_size=n, max_size=n)), dtype=float)
    y = np.array([-1, 1, *data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n - 2, max_size=n - 2))])
    intercept = data.draw(st.booleans())
    outcomes = []
    for estimator in (sx.MaxMarginClassifier, sx.HalfspaceLP):
        try:
            evidence = estimator(fit_intercept=intercept).fit(X, y).certificate_
        except OverlapError as refusal:
            evidence = refusal.certificate
        assert evidence.verify(X, y)
        outcomes.append(evidence.kind)
    assert outcomes[0] == outcomes[1]
    if outcomes[0] == "margin":
        found = fit_max_margin(make_design(X, intercept=intercept), y.astype(float), MarginOptions())
        assert found.facts["relative_gap"] <= 1e-10
