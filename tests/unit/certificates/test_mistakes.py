"""The mistakes certificate: what it claims holds, it travels as JSON, and it refuses tampering and other data."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.certificates.base import certificate_from_dict
from separatrix.certificates.mistakes import MistakesCertificate
from separatrix.errors import CertificateError

X = np.array([[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], dtype=float)
Y = np.array([1, 1, -1, -1, -1])


@pytest.fixture(scope="module")
def certificate():
    return sx.Perceptron(fit_intercept=False).fit(X, Y).certificate_


def test_claim_in_words(certificate):
    assert certificate.verdict == "within bound"
    assert certificate.claim == (
        "5 updates on rows within radius 4.12311; no row is a mistake at its last weights; a"
        " separator of margin γ = 1 allows at most (R/γ)² = 17 updates"
    )


def test_travels_as_json(certificate):
    again = certificate_from_dict(json.loads(certificate.to_json()))
    assert isinstance(again, MistakesCertificate)
    assert again.to_dict() == certificate.to_dict()
    assert again.verify(X, Y)


@pytest.mark.parametrize(
    ("changes", "failing"),
    [
        ({"radius": 4.0}, "radius"),
        ({"margin": 1.01}, "margin"),
        ({"separator": np.array([-1.0, 0.0])}, "margin"),
        ({"bound": 16.0}, "bound"),
        ({"bound": 4.0}, "within"),
        ({"updates": 6, "history": np.array([2, 3, 3, 0, 2, 0])}, "run"),
        ({"coef": np.array([5.0, 1.5])}, "run"),
        ({"coef": np.array([0.0, 1.0])}, "converged"),
        ({"history": np.array([2, 3, 3, 0, 0])}, "run"),
        ({"history": np.array([2, 3, 3, 0]), "updates": 4}, "run"),
        ({"start": np.array([1.0, 0.0])}, "run"),
    ],
)
def test_tampering_is_refused(certificate, changes, failing):
    verification = replace(certificate, **changes).verify(X, Y)
    assert not verification
    assert failing in [check.name for check in verification.checks if not check.holds]


def test_updates_without_a_history_are_not_stated(certificate):
    with pytest.raises(ValueError, match="every recorded update of single rows, and no other, has its row"):
        replace(certificate, history=None, updates=1)
    unknown = replace(certificate, history=None, updates=None, converged=False)
    assert unknown.verify(X, Y)
    assert unknown.claim.startswith("a run on rows within radius")
    assert unknown.certified() is None


@pytest.mark.parametrize("options", [{}, {"update": "batch"}, {"schedule": "inverse"}, {"keep": "average"}])
def test_each_partial_fit_is_certified_on_its_own_rows(options):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 3))
    labels = np.where(rows[:, 0] + 0.3 * rng.normal(size=400) > 0, "b", "a")
    model = sx.Perceptron(**options)
    for piece in (slice(0, 250), slice(250, 300), slice(300, 400)):
        model.partial_fit(rows[piece], labels[piece], classes=["a", "b"])
        verification = model.certificate_.verify(rows[piece], labels[piece])
        assert verification, str(verification)
        assert model.certificate_.verdict != "bound broken"
    assert model.n_updates_ == model.certificate_.earlier + model.certificate_.updates


def test_other_data_are_refused(certificate):
    assert not certificate.verify(X, -Y)
    assert not certificate.verify(X[::-1], Y[::-1])
    moved = X.copy()
    moved[1, 0] = -1
    refusal = certificate.verify(moved, Y)
    assert not refusal
    assert "row 1 is right by -1 only" in str(refusal)
    for rows, labels, message in (
        (X[:4], Y[:4], "X has shape"),
        (X, Y[:4], "where 5 labels are needed"),
        (X, ["a"] * 5, "row 0 has label 'a'; the certificate is of [-1, 1]"),
        (np.full((5, 2), np.nan), Y, "NaN"),
    ):
        refusal = certificate.verify(rows, labels)
        assert not refusal
        assert message in str(refusal)


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "mistake"},
        {"format": 3},
        {"content": {}},
        {"statement": None},
        {"witness": {}},
        {"statement": {"rule": {"update": "single", "nonsense": 1}}},
        {"kind": []},
    ],
)
def test_malformed_certificates_raise_a_named_error(certificate, damage):
    with pytest.raises(CertificateError):
        certificate_from_dict({**certificate.to_dict(), **damage})


@pytest.mark.parametrize("junk", [3, None, [], "text"])
def test_what_is_no_object_is_no_certificate(junk):
    with pytest.raises(CertificateError, match="a certificate is a JSON object"):
        certificate_from_dict(junk)


@pytest.mark.parametrize("seed", range(3))
def test_replay_of_a_longer_run(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(200, 6))
    y = np.where(rows @ rng.normal(size=6) > 0, 1, -1)
    model = sx.Perceptron(order="shuffled", random_state=seed).fit(rows, y)
    assert model.result_.status == "converged"
    verification = model.certificate_.verify(rows, y)
    assert verification, str(verification)
    assert all(step.holds for step in model.certificate_.proof(rows, y))
    assert model.n_updates_ <= model.certificate_.bound


points = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=2, max_size=8, unique=True)
normals = st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.integers(-5, 5))


@settings(max_examples=60, deadline=None)
@given(
    points=points,
    normal=normals,
    update=st.sampled_from(["single", "batch"]),
    margin=st.sampled_from([0.0, 0.5, 7.0]),
    rate=st.sampled_from([0.25, 1.0, 3.0]),
    start=st.sampled_from([None, [1.0, -2.0, 0.5], [30.0, 10.0, -20.0]]),
)
def test_every_bound_holds_on_separable_data(points, normal, update, margin, rate, start):
    rows = np.array(points, dtype=float)
    scores = rows @ normal[1:] + normal[0]
    assume(np.all(scores != 0) and scores.min() < 0 < scores.max())
    y = np.where(scores > 0, 1, -1)
    model = sx.Perceptron(update=update, margin=margin, rate=rate, start=start, tie="mistake").fit(rows, y)
    assert model.result_.status == "converged"
    assert model.n_updates_ <= model.certificate_.bound * (1 + 1e-9)
    verification = model.certificate_.verify(rows, y)
    assert verification, str(verification)
