"""KernelPerceptron: kernels of every kind, several classes, small caches, certificates that can be broken."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_moons

import separatrix as sx
from separatrix.errors import CertificateError, ConvergenceWarning, DataError, OptionError
from separatrix.families.base import TrainingRows
from separatrix.families.kernel import fit
from separatrix.fit.labels import find_classes

X, Y = make_moons(80, noise=0.1, random_state=1)
NOISY = np.where(np.arange(80) % 9 == 0, 1 - Y, Y)
IRIS = load_iris(return_X_y=True)


def rbf(A, B):
    return np.exp(-4.0 * ((A[:, np.newaxis] - B) ** 2).sum(axis=2))


def test_a_kernel_by_name_object_function_and_matrix_is_one_and_the_same_run():
    named = sx.KernelPerceptron(gamma=4.0).fit(X, Y)
    for kernel in (sx.kernels.RBF(4.0), rbf):
        other = sx.KernelPerceptron(kernel=kernel).fit(X, Y)
        assert other.alpha_.tolist() == named.alpha_.tolist()
    given = sx.KernelPerceptron(kernel="precomputed").fit(rbf(X, X), Y)
    assert given.alpha_.tolist() == named.alpha_.tolist()
    grid = X[::7] + 0.05
    np.testing.assert_allclose(given.decision_function(rbf(grid, X)), named.decision_function(grid), atol=1e-9)
    assert given.certificate_.verify(rbf(X, X), Y)
    thin = sx.KernelPerceptron(gamma=4.0).fit(sparse.csr_array(X), Y)
    assert thin.alpha_.tolist() == named.alpha_.tolist()
    assert thin.certificate_.verify(sparse.csr_array(X), Y)


def test_a_cache_of_a_few_rows_changes_nothing_but_the_work():
    whole = sx.KernelPerceptron(gamma=4.0, order="shuffled", random_state=0).fit(X, Y)
    few = sx.KernelPerceptron(gamma=4.0, order="shuffled", random_state=0, cache_mb=5 * 8 * 80 / 2**20).fit(X, Y)
    assert few.trace_.updates.row.tolist() == whole.trace_.updates.row.tolist()
    distinct = len(np.unique(whole.trace_.updates.row))
    assert distinct <= whole.trace_.steps["kernel_rows"][-1] <= 80
    assert few.trace_.steps["kernel_rows"][-1] >= distinct


def test_the_average_is_that_of_all_visits():
    K, signs, coef, total = rbf(X, X) + 1.0, np.where(NOISY == 1, 1.0, -1.0), np.zeros(80), np.zeros(80)
    for visit in range(160):
        row = visit % 80
        if (1.0 if K[row] @ coef >= -1e-12 else -1.0) != signs[row]:
            coef[row] += signs[row]
        total += coef
    with pytest.warns(ConvergenceWarning, match="stopped at max_passes=2 before every row was classified correctly"):
        model = sx.KernelPerceptron(gamma=4.0, keep="average", max_passes=2).fit(X, NOISY)
    np.testing.assert_allclose(model.result_.coef, total / 160, atol=1e-12)


def test_a_budget_is_gone_and_certificates_with_one_are_refused():
    with pytest.raises(TypeError, match="budget is not an option"):
        sx.KernelPerceptron(budget=10)
    written = sx.KernelPerceptron(gamma=4.0).fit(X, Y).certificate_.to_dict()
    for group in ("statement", "witness"):
        assert "budget" not in written[group]
        limited = {**written, group: {**written[group], "budget": 10}}
        with pytest.raises(CertificateError, match=f"malformed certificate: {group}.budget is unknown"):
            sx.certificate_from_dict(limited)


def test_the_positive_class_is_the_second():
    plain, flipped = sx.KernelPerceptron(gamma=4.0).fit(X, Y), sx.KernelPerceptron(gamma=4.0, positive=0).fit(X, Y)
    assert flipped.classes_.tolist() == [1, 0]
    assert flipped.predict(X).tolist() == plain.predict(X).tolist() == Y.tolist()
    assert flipped.certificate_.data.labels == (1, 0)
    assert flipped.certificate_.verify(X, Y)
    with pytest.raises(OptionError, match=r"positive=2 is not among the classes \[0, 1\]"):
        sx.KernelPerceptron(positive=2).fit(X, Y)


def test_a_fit_is_that_of_its_family_and_can_be_interrupted():
    options = sx.KernelPerceptron(gamma=4.0).checked()
    rows = TrainingRows(X, Y, find_classes(Y))
    fitted, model = fit(rows, options), sx.KernelPerceptron(gamma=4.0).fit(X, Y)
    assert fitted.result.coef.tolist() == model.result_.coef.tolist()
    assert fitted.details["support"].tolist() == model.support_.tolist()
    assert fitted.details["support_vectors"].tolist() == X[model.support_].tolist()
    assert fitted.details["dual_coef"].tolist() == [fitted.result.coef[model.support_].tolist()]
    assert fitted.details["kernel"] == model.kernel_ == sx.kernels.RBF(4.0)
    assert fitted.options.plain()["kernel"] == "rbf"
    stopped = fit(rows, options, lambda _: True)
    assert stopped.result.message.startswith("stopped at your request before every row was classified correctly")


def test_warnings_point_at_the_call():
    with pytest.warns(ConvergenceWarning) as told:
        sx.KernelPerceptron(max_updates=2).fit(X, Y)
    assert told[0].filename == __file__


def test_several_classes_are_learned_one_against_the_rest():
    model = sx.KernelPerceptron(gamma=2.0).fit(*IRIS)
    assert model.score(*IRIS) == 1.0
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.alpha_.shape == (3, 150)
    assert model.certificate_.verdict == "within bound"
    assert model.certificate_.verify(*IRIS)
    wrapped = sx.OneVsRest(sx.KernelPerceptron(gamma=2.0)).fit(*IRIS)
    assert wrapped.predict(IRIS[0]).tolist() == model.predict(IRIS[0]).tolist()
    assert wrapped.certificate_.verify(*IRIS)


def test_the_best_and_the_average_are_judged_on_all_rows():
    options = {"kernel": "polynomial", "degree": 3, "gamma": 1.0, "max_passes": 50}
    wrong = {}
    for keep in ("last", "best", "average"):
        with pytest.warns(ConvergenceWarning, match=r"stopped at max_passes=50 .* wrong"):
            model = sx.KernelPerceptron(keep=keep, **options).fit(X, NOISY)
        wrong[keep] = model.result_.facts["wrong"]
        assert wrong[keep] == int((model.predict(X) != NOISY).sum())
    assert wrong["best"] <= min(wrong["last"], 14)


def test_a_certificate_goes_to_json_and_back_and_can_be_broken():
    found = sx.KernelPerceptron(gamma=4.0).fit(X, Y).certificate_
    again = sx.certificate_from_dict(json.loads(found.to_json()))
    assert again.to_json() == found.to_json()
    assert again.verify(X, Y)
    broken = {
        "radius": replace(found, radius=0.999 * found.radius),
        "margin": replace(found, margin=1.01 * found.margin),
        "bound": replace(found, bound=0.9 * found.bound),
        "within": replace(found, bound=9.0),
        "converged": replace(found, coef=-found.coef),
        "run": replace(found, history=found.history[::-1]),
    }
    for name, certificate in broken.items():
        assert name in [check.name for check in certificate.verify(X, Y).checks if not check.holds]
    with pytest.raises(ValueError, match="the history does not list 1000000 updates on 80 rows"):
        replace(found, updates=10**6)
    assert not found.verify(X[:, ::-1] * 2.0, Y)
    assert "X has shape (79, 2)" in str(found.verify(X[1:], Y[1:]))
    with pytest.raises(OptionError, match="cannot be saved"):
        sx.KernelPerceptron(kernel=rbf).fit(X, Y).certificate_.to_json()


def test_the_proof_of_a_run_is_shown_update_by_update_or_refused():
    found = sx.KernelPerceptron(gamma=4.0).fit(X, Y).certificate_
    steps = found.proof(X, Y)
    assert [step.t for step in steps] == list(range(1, found.updates + 1))
    assert all(step.holds for step in steps)
    matrix = found.kernel(X, X) + 1.0
    assert steps[-1].squared_norm == pytest.approx(found.coef @ matrix @ found.coef)
    assert steps[-1].progress == pytest.approx(
        found.separator @ matrix @ found.coef / np.sqrt(found.separator @ matrix @ found.separator)
    )
    assert steps[-1].ceiling == pytest.approx(found.updates * found.radius**2)
    assert steps[-1].floor == pytest.approx(found.updates * found.margin)
    with pytest.raises(DataError, match="this run has no proof to show"):
        replace(found, history=None, updates=None).proof(X, Y)
    with pytest.raises(DataError, match=r"these are not the data of the run: update .* was no mistake"):
        replace(found, history=np.repeat(found.history[:1], found.updates)).proof(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": 0.0}, "gamma=0.0 is out of range; give a finite number above 0"),
        ({"gamma": -1.0}, "gamma=-1.0 is out of range"),
        ({"kernel": "polynomial", "degree": 0}, "degree=0 is out of range"),
        ({"kernel": "rfb"}, "did you mean 'rbf'"),
        ({"kernel": rbf, "gamma": 2.0}, r"takes no \['gamma'\] here"),
        ({"keep": "vote"}, "keep='vote' is not one of 'last', 'best', 'average'"),
        ({"cache_mb": 1e-4}, "cache_mb=0.0001 is too small for 2 kernel rows of 80 numbers"),
        ({"cache_mb": 0.0}, "cache_mb=0.0 is out of range"),
    ],
)
def test_bad_options_are_refused_by_name(options, message):
    with pytest.raises(OptionError, match=message):
        sx.KernelPerceptron(**options).fit(X, Y)


def test_bad_data_are_refused_by_name():
    model = sx.KernelPerceptron()
    with pytest.raises(DataError, match="only one class"):
        model.fit(X, np.zeros(80))
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(DataError, match="column 'x2' has NaN in row 3"):
        model.fit(holed, Y)
    given = sx.KernelPerceptron(kernel="precomputed")
    with pytest.raises(DataError, match=r"shape \(80, 2\), but must be a square matrix"):
        given.fit(X, Y)
    skew = rbf(X, X)
    skew[2, 5] += 0.1
    with pytest.raises(DataError, match=r"not symmetric: .* for rows (2 and 5|5 and 2)"):
        given.fit(skew, Y)
    with pytest.raises(
        DataError, match="the precomputed kernel is no inner product on these rows: the least eigenvalue"
    ):
        given.fit(rbf(X, X) - 0.5 * np.eye(80) * 4.0, Y)
    with pytest.raises(DataError, match="the sigmoid kernel is no inner product"):
        sx.KernelPerceptron(kernel="sigmoid", gamma=1.0, offset=-1.0).fit(X, Y)


def test_a_run_that_ends_at_a_score_of_0_is_no_separator_of_its_own(monkeypatch):
    rows, labels = np.eye(2), [-1, 1]
    looked_for = sx.KernelPerceptron(kernel="linear", fit_intercept=False).fit(rows, labels).certificate_
    assert looked_for.margin == pytest.approx(np.sqrt(0.5))
    monkeypatch.setattr("separatrix.families.kernel.SMALL_DATA", 0)
    model = sx.KernelPerceptron(kernel="linear", fit_intercept=False).fit(rows, labels)
    assert model.result_.status.value == "converged"
    assert model.decision_function(rows).tolist() == [-1.0, 0.0]
    assert model.certificate_.margin is None
    assert model.certificate_.verdict == "no separator known"
    assert model.certificate_.verify(rows, labels)


def test_a_margin_is_claimed_with_room_for_rounding():
    A = np.random.default_rng(0).normal(size=(600, 3))
    b = (A[:, 0] ** 2 + A[:, 1] ** 2 > 1.5).astype(int)
    model = sx.KernelPerceptron(gamma=5.0).fit(A, b)
    assert model.result_.status.value == "converged"
    assert model.certificate_.verify(A, b)
