"""Perceptron and stochastic LMS on partitions: iterative parameter mixing, its bound, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.certificates.base import certificate_from_dict
from separatrix.certificates.mistakes import MixingCertificate
from separatrix.design.array import DenseDesign
from separatrix.design.build import make_design
from separatrix.errors import ConvergenceWarning, NeedsError, OptionError
from separatrix.losses import PerceptronLoss
from separatrix.problem import Problem
from separatrix.solvers.base import check_needs
from separatrix.solvers.mixing import PerceptronMixing
from separatrix.solvers.perceptron import PerceptronSolver, PerceptronState

da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.slow

N, P = 900, 3


@pytest.fixture(scope="module")
def separable():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4 * N, P))
    scores = X @ [1.0, -2.0, 0.5]
    X, scores = X[np.abs(scores) > 0.3][:N], scores[np.abs(scores) > 0.3][:N]
    return X, np.where(scores > 0.0, "b", "a")


@pytest.fixture(scope="module")
def overlapping():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, P))
    return X, np.where(X @ [1.0, -2.0, 0.5] + rng.normal(size=N) > 0.0, 1, 0)


@pytest.mark.parametrize("order", ["cyclic", "shuffled", "random"])
def test_mixed_epochs_separate_within_the_bound(separable, order) -> None:
    X, y = separable
    model = sx.Perceptron(order=order, random_state=0).fit(da.from_array(X, chunks=(170, P)), y)
    found = model.certificate_
    assert isinstance(found, MixingCertificate)
    assert model.result_.status == "converged"
    assert model.score(X, y) == 1.0
    assert found.parts >= 2
    assert 0.0 < found.mixed <= found.updates
    assert found.bound is not None
    assert found.rounds - 1 <= found.mixed <= found.bound
    assert found.verify(X, y)
    assert certificate_from_dict(found.to_dict()).to_dict() == found.to_dict()
    assert "mixed by mistakes: (R/γ)² bounds the mistakes weighted by their share" in model.result_.message
    assert "and as many rounds with a mistake" in found.claim


def test_one_partition_is_the_perceptron_itself(separable) -> None:
    X, y = separable
    mixed = sx.Perceptron().fit(da.from_array(X, chunks=(N, P)), y)
    plain = sx.Perceptron().fit(X, y)
    np.testing.assert_allclose(mixed.coef_, plain.coef_, rtol=1e-12)
    assert mixed.certificate_.updates == plain.certificate_.updates
    assert mixed.certificate_.mixed == plain.certificate_.updates


def test_a_forged_run_does_not_verify(separable) -> None:
    X, y = separable
    content = sx.Perceptron().fit(da.from_array(X, chunks=(170, P)), y).certificate_.to_dict()
    for name, value in [("mixed", 1e9), ("rounds", 10**6), ("radius", 1.0), ("margin", 10.0)]:
        forged = certificate_from_dict({**content, "content": {**content["content"], name: value}})
        assert not forged.verify(X, y), name


@pytest.mark.parametrize("keep", ["last", "best", "average"])
def test_what_is_kept_of_overlapping_classes(overlapping, keep) -> None:
    X, y = overlapping
    with pytest.warns(ConvergenceWarning, match="stopped at max_passes=20"):
        model = sx.Perceptron(keep=keep, max_passes=20).fit(da.from_array(X, chunks=(300, P)), y)
    best = sx.LogisticRegression().fit(X, y).score(X, y)
    assert model.score(X, y) > best - {"last": 0.15, "best": 0.02, "average": 0.03}[keep]
    assert model.result_.passes == pytest.approx(20 * (2 if keep == "best" else 1))


def test_several_classes_and_one_more_pass(separable) -> None:
    X, y = separable
    rows, three = da.from_array(X, chunks=(300, P)), np.where(X[:, 0] > 1.0, "c", y)
    model = sx.Perceptron(max_passes=3)
    with pytest.warns(ConvergenceWarning):
        model.fit(rows, three)
    assert model.coef_.shape == (3, P)
    partial = sx.Perceptron().partial_fit(rows, y, classes=["a", "b"])
    assert partial.result_.status == "partial"
    assert partial.result_.passes == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"keep": "vote"}, "use keep='average'"), ({"schedule": "inverse"}, "use schedule='constant'")],
)
def test_what_cannot_be_mixed_is_refused(separable, options, message) -> None:
    X, y = separable
    with pytest.raises(OptionError, match=message):
        sx.Perceptron(**options).fit(da.from_array(X, chunks=(300, P)), y)


def test_mixing_needs_partitions(separable) -> None:
    X, y = separable
    problem = Problem(make_design(X, intercept=True), np.where(y == "b", 1.0, -1.0), PerceptronLoss())
    assert isinstance(problem.design, DenseDesign)
    with pytest.raises(NeedsError, match=r"DenseDesign has none.*Use Perceptron"):
        check_needs(PerceptronMixing(), problem)


def test_uniform_mixtures_keep_the_bound_too(separable) -> None:
    X, y = separable
    design = make_design(da.from_array(X, chunks=(300, P)), intercept=True)
    signs = np.where(y == "b", 1.0, -1.0)
    state = PerceptronState(np.zeros(P + 1), "last")
    walk = PerceptronMixing(PerceptronSolver(), "uniform").steps(Problem(design, signs, PerceptronLoss()), state)
    step = next(step for step in walk if step.facts["streak"] >= N)
    bound = sx.mistake_bound(X, y, fit_intercept=True).bound
    assert step.facts["mixed"] == pytest.approx(state.updates / len(design.parts))
    assert step.facts["mixed"] <= bound
    assert (signs * design.matvec(step.coef) > 0.0).all()


@pytest.mark.parametrize(
    "options",
    [{"schedule": "inverse"}, {"keep": "average", "order": "shuffled", "rate": 0.01, "random_state": 0}],
    ids=["inverse", "average"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_averaged_descent_comes_near_least_squares(overlapping, options, weighted) -> None:
    X, _ = overlapping
    rng = np.random.default_rng(2)
    y = X @ [1.0, 2.0, 3.0] + 1.0 + rng.normal(size=N)
    weights = rng.uniform(0.5, 2.0, size=N) * np.where(np.arange(N) < 300, 3.0, 1.0) if weighted else None
    rows = da.from_array(X, chunks=((500, 100, 300), P))
    model = sx.LMSRegressor(update="stochastic", max_passes=200, tol=1e-4, **options)
    model.fit(rows, y, sample_weight=weights)
    exact = sx.LinearRegression().fit(X, y, sample_weight=weights)
    assert model.result_.status == "converged"
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.03)
    assert model.certificate_.verify(rows, y, weights) if weighted else model.certificate_.verify(rows, y)
