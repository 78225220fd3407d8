"""The duality gap: a bound everywhere, tight at the optimum, and a certificate that travels and refuses tampering."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.certificates.base import certificate_from_dict
from separatrix.certificates.dual import gap_bound
from separatrix.certificates.optimality import OptimalityCertificate
from separatrix.design.build import make_design
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.losses import ALL, Logistic, Softmax, Squared
from separatrix.penalties import L1, L2, ElasticNet, NoPenalty
from separatrix.problem import Problem

CONVEX = [loss for loss in ALL if loss.convex]
SMOOTH = [loss for loss in CONVEX if loss.has_curvature]
PENALTIES = [NoPenalty(), L2(0.1), L1(0.05), ElasticNet(0.1, 0.4)]


def problem_of(loss, penalty, *, intercept=True, storage=np.asarray, weights=None, n=80):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(n, 4))
    scores = rows @ rng.normal(size=(4, 3)) + rng.gumbel(size=(n, 3))
    targets = {
        "classes": scores.argmax(axis=1),
        "labels": np.where(scores[:, 0] > scores[:, 1], 1.0, -1.0),
        "numbers": scores[:, 0],
    }
    return Problem(make_design(storage(rows), intercept=intercept), targets[loss.target], loss, penalty, weights)


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: type(penalty).__name__)
@pytest.mark.parametrize("loss", CONVEX, ids=lambda loss: loss.name)
@pytest.mark.parametrize("intercept", [True, False])
def test_a_bound_at_every_point_is_below_every_value(loss, penalty, intercept):
    problem = problem_of(loss, penalty, intercept=intercept)
    rng = np.random.default_rng(0)
    points = [scale * rng.normal(size=problem.zero_coef().shape) for scale in (0.0, 0.1, 1.0)]
    lowest = min(problem.value(point) for point in points)
    for point in points:
        bound = gap_bound(problem, point)
        assert bound.primal == pytest.approx(problem.value(point), rel=1e-12)
        assert bound.dual <= lowest + 1e-12


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("penalty", [NoPenalty(), L2(1e-6), L2(0.1)], ids=["none", "weak", "strong"])
@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
@pytest.mark.parametrize("weighted", [False, True])
def test_fits_end_with_a_certified_gap(loss, penalty, storage, weighted):
    weights = np.random.default_rng(1).uniform(0.5, 2.0, size=80) if weighted else None
    problem = problem_of(loss, penalty, storage=storage, weights=weights)
    fit = fit_convex(problem, ConvexOptions(tol=1e-9))
    assert fit.walk.status == "optimal"
    assert 0.0 <= fit.bound.relative_gap <= 1e-9
    again = gap_bound(problem, fit.coef)
    assert again.relative_gap <= 1e-9
    rng = np.random.default_rng(2)
    for _ in range(20):
        other = fit.coef + 0.05 * rng.normal(size=fit.coef.shape)
        assert problem.value(other) >= again.dual


def test_the_gap_shrinks_with_the_square_of_the_distance():
    problem = problem_of(Logistic(), NoPenalty())
    best = fit_convex(problem, ConvexOptions(tol=1e-12)).coef
    direction = np.random.default_rng(0).normal(size=best.shape)
    gaps = [gap_bound(problem, best + distance * direction).gap for distance in (1e-2, 1e-3)]
    assert gaps[0] / gaps[1] == pytest.approx(100.0, rel=0.2)


def test_exact_fits_are_optimal_although_the_objective_is_0():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    model = sx.LinearRegression().fit(rows, rows @ [1.0, -2.0, 0.5] + 3.0)
    assert model.result_.status == "optimal"
    assert model.coef_ == pytest.approx([1.0, -2.0, 0.5])
    assert model.intercept_ == pytest.approx(3.0)


@pytest.mark.parametrize("loss", [Logistic(), Softmax(), Squared()], ids=lambda loss: loss.name)
def test_lbfgs_and_newton_agree(loss):
    from separatrix.solvers.lbfgs import LBFGS
    from separatrix.solvers.newton import Newton

    problem = problem_of(loss, L2(0.01), n=6000)
    coefs = [fit_convex(problem, ConvexOptions(tol=1e-11, solver=solver)).coef for solver in (Newton(), LBFGS())]
    assert coefs[0] == pytest.approx(coefs[1], abs=1e-4)
    assert problem.value(coefs[0]) == pytest.approx(problem.value(coefs[1]), rel=1e-10)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(60, 3))
    labels = np.where(rows[:, 0] + rng.normal(size=60) > 0, "yes", "no")
    return rows, labels, sx.LogisticRegression(strength=0.01).fit(rows, labels)


def test_certificates_travel_as_json(fitted):
    rows, labels, model = fitted
    again = certificate_from_dict(json.loads(model.certificate_.to_json()))
    assert isinstance(again, OptimalityCertificate)
    assert again.verdict == "optimal"
    assert again.verify(rows, labels)
    assert again.to_dict() == model.certificate_.to_dict()


@pytest.mark.parametrize(
    "changes",
    [
        {"primal": 0.1},
        {"gap": 0.0},
        {"strength": 0.02},
        {"coef": np.array([0.0, 1.0, 0.0, 0.0])},
        {"relative_gap": 0.0},
        {"radii": np.zeros(4)},
    ],
)
def test_tampered_certificates_are_refused(fitted, changes):
    rows, labels, model = fitted
    assert not replace(model.certificate_, **changes).verify(rows, labels)


def test_other_data_are_refused(fitted):
    rows, labels, model = fitted
    assert not model.certificate_.verify(rows + 0.1, labels)
    other = np.where(labels == "yes", "maybe", labels)
    row = int(np.flatnonzero(other == "maybe")[0])
    refusal = f"row {row} has label 'maybe'; the certificate is of ['no', 'yes']"
    assert refusal in str(model.certificate_.verify(rows, other))
    shape = f"X has shape ({len(rows)}, 2); the certificate is of ({len(rows)}, 3)"
    assert shape in str(model.certificate_.verify(rows[:, :2], labels))


def test_weights_are_part_of_the_claim():
    rng = np.random.default_rng(6)
    rows, weights = rng.normal(size=(50, 2)), rng.uniform(0.1, 3.0, size=50)
    labels = (rows[:, 0] + rng.normal(size=50) > 0).astype(int)
    certificate = sx.LogisticRegression().fit(rows, labels, sample_weight=weights).certificate_
    assert certificate.verify(rows, labels, weights)
    assert not certificate.verify(rows, labels)
    assert "the fit had sample weights; give them" in str(certificate.verify(rows, labels))
    below = "sample_weight must have no number below 0, and some above"
    assert below in str(certificate.verify(rows, labels, -weights))
    assert below in str(certificate.verify(rows, labels, 0.0 * weights))
    short = "sample_weight has shape (49,) where 50 numbers are needed"
    assert short in str(certificate.verify(rows, labels, weights[:-1]))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["softmax", "one_vs_rest"])
def test_weighted_fits_verify(classes, kind):
    rng = np.random.default_rng(7)
    rows, weights = rng.normal(size=(90, 2)), rng.uniform(0.5, 2.0, size=90)
    labels = np.array(["a", "b", "c"])[
        (rng.gumbel(size=(90, classes)) + rows[:, :1] * np.arange(classes)).argmax(axis=1)
    ]
    model = sx.LogisticRegression(strength=0.01, multiclass=kind).fit(rows, labels, sample_weight=weights)
    assert model.certificate_.verify(rows, labels, sample_weight=weights)
    assert not model.certificate_.verify(rows, labels)
    if kind == "softmax":
        balanced = sx.LogisticRegression(strength=0.01, class_weight="balanced").fit(rows, labels)
        assert balanced.certificate_.verify(rows, labels)
        assert certificate_from_dict(json.loads(balanced.certificate_.to_json())).verify(rows, labels)


@pytest.mark.parametrize("classes", [2, 3])
def test_one_vs_rest_verifies_on_its_own_labels(classes):
    rows = (
        np.random.default_rng(8).normal(size=(60, 2))
        + 3.0 * np.repeat(np.arange(classes), 60 // classes)[:, np.newaxis]
    )
    labels = np.array(["x", "y", "z"])[np.repeat(np.arange(classes), 60 // classes)]
    certificate = sx.OneVsRest(sx.LogisticRegression(strength=0.01)).fit(rows, labels).certificate_
    assert certificate.verify(rows, labels)
    assert not certificate.verify(rows, labels[::-1])
    assert certificate_from_dict(json.loads(certificate.to_json())).verify(rows, labels)
