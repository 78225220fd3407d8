"""Every batch estimator of rows on a Dask cluster: the coefficients, standard errors, passes and proofs of memory."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.losses import Logistic
from separatrix.problem import Problem
from separatrix.solvers.lbfgs import has_subsample

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.slow

N, P = 3000, 5
CLOSE = 1e-10


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as found:
            yield found


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N, P)) * [1.0, 0.1, 10.0, 1.0, 1.0] + [0.0, 0.0, 500.0, 0.0, 0.0]
    eta = X @ [1.0, -5.0, 0.1, 0.5, 0.0] - 50.0
    return X, eta, rng


def targets_of(kind, eta):
    rng = np.random.default_rng(8)
    if kind == "numbers":
        return eta + rng.normal(size=N)
    if kind == "separable":
        return np.where(eta > 0.0, "b", "a")
    noisy = eta + rng.logistic(size=N)
    return np.digitize(noisy, [-1.0, 1.0]) if kind == "classes" else np.where(noisy > 0.0, "b", "a")


MODELS = [
    (sx.LinearRegression(), "numbers"),
    (sx.LinearRegression(strength=0.1), "numbers"),
    (sx.LinearRegression(strength=0.1, l1_ratio=0.5), "numbers"),
    (sx.LinearRegression(strength="cv", l1_ratio=1.0, strengths=5, cv=3), "numbers"),
    (sx.LogisticRegression(), "labels"),
    (sx.LogisticRegression(strength=0.01, fit_intercept=False), "labels"),
    (sx.LogisticRegression(strength=0.01, solver="lbfgs", class_weight="balanced"), "labels"),
    (sx.LogisticRegression(strength=0.01, solver="newton_cg"), "labels"),
    (sx.LogisticRegression(strength=0.01, l1_ratio=1.0), "labels"),
    (sx.LogisticRegression(), "classes"),
    (sx.LogisticRegression(strength=0.001), "classes"),
    (sx.LogisticRegression(strength=0.01, multiclass="one_vs_rest"), "classes"),
    (sx.LinearSVM(strength=0.01), "labels"),
    (sx.LinearSVM(strength=0.01, loss="squared_hinge"), "labels"),
    (sx.LMSRegressor(fit_intercept=False, max_passes=50, tol=1e-3), "numbers"),
    (sx.LMSClassifier(fit_intercept=False, max_passes=10, tol=0.5), "classes"),
    (sx.GaussianGenerativeClassifier(), "classes"),
    (sx.Perceptron(update="batch", keep="best", max_passes=30), "labels"),
    (sx.MaxMarginClassifier(), "separable"),
    (sx.HalfspaceLP(), "separable"),
]


def named(model):
    return str(model).replace("\n", "").replace("       ", "")


def chunked(X, y):
    """Return the rows as an array of uneven chunks both ways, and as a frame of three partitions."""
    array = da.from_array(X, chunks=((500, 7, 1493, 1000), (2, 3)))
    frame = dd.from_pandas(pd.DataFrame(X, columns=[f"c{j}" for j in range(P)]), npartitions=3)
    return [(array, da.from_array(y, chunks=700)), (frame, y)]


def assert_same(found, wanted):
    """Compare labels one by one, numbers as closely as coefficients."""
    if wanted.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=CLOSE, atol=CLOSE * np.abs(wanted).max())
    else:
        assert (found == wanted).all()


def standard_errors(model):
    if isinstance(model, sx.LinearRegression) and model.strength == 0.0:
        return [row.standard_error for row in model.summary(covariance="HC3").terms]
    if isinstance(model, sx.LogisticRegression) and model.strength == 0.0:
        return [row.standard_error for row in model.summary().terms]
    return []


def test_a_subsample_leads_the_same_way(client) -> None:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(30_000, P))
    y = (X @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.logistic(size=len(X)) > 0.0).astype(int)
    model = sx.LogisticRegression(strength=1e-4, solver="lbfgs").fit(X, y)
    coef, passes = model.coef_, model.result_.passes
    model.fit(da.from_array(X, chunks=(7001, P)), y)
    np.testing.assert_allclose(model.coef_, coef, rtol=CLOSE)
    assert model.result_.passes == passes
    assert has_subsample(Problem(make_design(da.from_array(X, chunks=(7001, P)), intercept=True), y, Logistic()))


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize(("model", "kind"), MODELS, ids=[f"{named(m)}-{k}" for m, k in MODELS])
def test_a_cluster_gives_the_answer_of_memory(client, data, model, kind) -> None:
    X, eta, _ = data
    y = targets_of(kind, eta)
    model.fit(X, y)
    wanted = [np.array(getattr(model, name)) for name in ("coef_", "intercept_") if hasattr(model, name)]
    errors, passes, scores = standard_errors(model), model.result_.passes, model.predict(X)
    for rows, targets in chunked(X, y):
        model.fit(rows, targets)
        for name, value in zip(("coef_", "intercept_"), wanted, strict=False):
            np.testing.assert_allclose(getattr(model, name), value, rtol=CLOSE, atol=CLOSE * np.abs(value).max())
        np.testing.assert_allclose(standard_errors(model), errors, rtol=CLOSE)
        assert model.result_.passes == pytest.approx(passes, abs=1e-9)
        assert_same(model.predict(rows), scores)
        verification = model.certificate_.verify(rows, targets)
        assert verification, str(verification)
