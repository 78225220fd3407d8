"""Strengths chosen by cross-validation: what is held out, what is compared, what is chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LassoCV
from sklearn.model_selection import PredefinedSplit

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.losses import Hinge, Logistic, Loss, Softmax, Squared, SquaredHinge
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.selection import CrossValidation, assign_folds, cross_validate, trace_path

OPTIONS = ConvexOptions(tol=1e-8)
LOSSES: tuple[Loss, ...] = (Squared(), Logistic(), SquaredHinge(), Hinge(), Softmax())
N = 60


def make_data(target: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 5))
    scores = X[:, :2] @ [2.0, -1.0] + rng.normal(size=N)
    y = {"numbers": scores, "labels": np.where(scores > 0.0, 1.0, -1.0), "classes": np.digitize(scores, [-1.0, 1.0])}
    return X, y[target]


@pytest.mark.parametrize(
    "loss", [Squared(), Logistic(), SquaredHinge(), Hinge(), Softmax()], ids=lambda loss: loss.name
)
@pytest.mark.parametrize("l1_ratio", [0.0, 0.7])
def test_rows_held_out_are_as_if_they_were_not_there(loss: Loss, l1_ratio: float) -> None:
    if loss.name == "hinge" and l1_ratio > 0.0:
        pytest.skip("no solver takes the hinge with an L1 penalty")
    X, y = make_data(loss.target)
    weights = np.random.default_rng(4).uniform(0.5, 2.0, size=N)
    folds = assign_folds(N, 3, seed=None)
    problem = Problem(make_design(X, intercept=True), y, loss, weights=weights)
    found = cross_validate([problem], l1_ratio, folds, strengths=[0.3, 0.03], options=OPTIONS)
    for number in range(3):
        kept, out = folds != number, folds == number
        alone = Problem(make_design(X[kept], intercept=True), y[kept], loss, weights=weights[kept])
        path = trace_path(alone, l1_ratio, strengths=[0.3, 0.03], options=OPTIONS)
        for place in range(2):
            scores = X[out] @ path.weights[place] + path.intercepts[place]
            expected = np.average(loss.value(scores, y[out]), weights=weights[out])
            assert found.fold_losses[number, place] == pytest.approx(expected, rel=1e-4)
    assert (found.paths[0].relative_gaps <= 1e-8).all()


def test_the_losses_are_those_of_scikit_learns_lasso() -> None:
    X, y = make_data("numbers")
    folds, grid = assign_folds(N, 4, seed=7), [0.5, 0.1, 0.02]
    problem = Problem(make_design(X, intercept=True), y, Squared())
    found = cross_validate([problem], 1.0, folds, strengths=grid, options=OPTIONS, choice="best")
    peer = LassoCV(alphas=grid, cv=PredefinedSplit(folds), tol=1e-10).fit(X, y)
    np.testing.assert_allclose(2.0 * found.fold_losses.T, peer.mse_path_, rtol=1e-7)
    assert found.strength == peer.alpha_


def test_the_mean_and_its_error_weigh_the_folds_by_their_rows() -> None:
    X, y = make_data("numbers")
    folds = assign_folds(N, 7, seed=1)
    found = cross_validate([Problem(make_design(X, intercept=True), y, Squared())], 0.0, folds, strengths=[0.1])
    counts, losses = np.bincount(folds), found.fold_losses[:, 0]
    mean = (counts * losses).sum() / N
    assert found.mean[0] == pytest.approx(mean, rel=1e-14)
    assert found.error[0] == pytest.approx(np.sqrt((counts * (losses - mean) ** 2).sum() / N / 6), rel=1e-12)


def test_one_standard_error_takes_the_largest_strength_that_is_as_good() -> None:
    mean, error = np.array([3.0, 1.25, 1.0, 1.1]), np.array([0.1, 0.1, 0.3, 0.1])
    numbers = {"strengths": np.array([4.0, 3.0, 2.0, 1.0]), "fold_losses": np.zeros((2, 4)), "paths": ()}
    found = CrossValidation(mean=mean, error=error, choice="one_standard_error", **numbers)
    assert (found.best, found.place, found.strength) == (2, 1, 3.0)
    assert CrossValidation(mean=mean, error=error, choice="best", **numbers).strength == 2.0


def test_a_grid_whose_best_is_at_its_end_is_widened_and_the_rest_is_told() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 60))
    exact = sx.LinearRegression(strength="cv", l1_ratio=1.0).fit(X, X[:, :3].sum(axis=1) + 0.01 * rng.normal(size=30))
    cv = exact.cv_
    assert len(cv.strengths) == 199  # 100 down to 1 % of the largest, and 99 more
    assert (np.diff(cv.strengths) < 0.0).all()
    assert cv.strengths[-1] == pytest.approx(1e-4 * cv.strengths[0])
    assert (cv.edge, 100 < cv.best < 198) == (None, True)
    assert cv.fold_losses.shape == (5, 199) == (5, len(cv.paths[0]))
    assert cv.paths[0].statuses.count("optimal") == 199

    dense = sx.LinearRegression(strength="cv").fit(X, X.sum(axis=1))
    assert (dense.cv_.edge, dense.cv_.is_falling, len(dense.cv_.strengths)) == ("smallest", True, 298)
    (told,) = (each for each in dense.fitted_.sentences if "cross-validation" in each)
    assert told.endswith("is the smallest one tried, and the held-out loss still falls there")

    noise = sx.LinearRegression(strength="cv", l1_ratio=1.0).fit(X, np.random.default_rng(5).normal(size=30))
    assert noise.cv_.best == 0
    assert noise.fitted_.sentences[1].endswith("the best makes every coefficient 0: no column lowers the held-out loss")


@pytest.mark.parametrize("loss", [Squared(), Logistic(), SquaredHinge(), Softmax()], ids=lambda loss: loss.name)
def test_shared_factors_give_the_coefficients_of_separate_fits(loss: Loss) -> None:
    X, y = make_data(loss.target)
    problem, grid = Problem(make_design(X, intercept=True), y, loss), np.geomspace(1.0, 1e-3, 12)
    tight = ConvexOptions(tol=1e-11)
    path = trace_path(problem, 0.0, strengths=grid, options=tight, certified=False)
    for strength, coef in zip(grid, path.coefs, strict=True):
        alone = fit_convex(replace(problem, penalty=make_penalty(strength, 0.0)), tight)
        np.testing.assert_allclose(coef[1:], alone.coef[1:], rtol=0.0, atol=1e-5 * np.abs(alone.coef).max())
    assert path.statuses.count("optimal") == len(grid)


def test_a_path_of_ridges_reads_the_rows_once_and_others_make_few_hessians(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_data("numbers")
    ridges = Problem(make_design(X, intercept=True), y, Squared())
    trace_path(ridges, 0.0, strengths=np.geomspace(1.0, 1e-3, 50), certified=False)
    assert ridges.design.passes <= 5.0

    hessians: list[int] = []
    expand = Problem.expand

    def counted(self: Problem, coef: Any, order: int = 1) -> Any:
        hessians.extend([order] * (order == 2))
        return expand(self, coef, order)

    monkeypatch.setattr(Problem, "expand", counted)
    X, y = make_data("labels")
    path = trace_path(
        Problem(make_design(X, intercept=True), y, Logistic()),
        0.0,
        strengths=np.geomspace(1.0, 1e-3, 50),
        certified=False,
    )
    assert len(hessians) <= 20  # of 50 fits; by Newton's method some 150
    assert path.passes.sum() <= 50 * 5


def test_folds_in_threads_give_what_they_give_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_data("labels")
    shared = sx.LogisticRegression(strength="cv", strengths=20).fit(X, y)
    monkeypatch.setattr("separatrix.selection.SHARED_ENTRIES", 0)
    alone = sx.LogisticRegression(strength="cv", strengths=20).fit(X, y)
    assert (shared.cv_.fold_losses == alone.cv_.fold_losses).all()
    assert (shared.coef_ == alone.coef_).all()
    assert shared.result_.passes == alone.result_.passes


def test_a_given_grid_stays_as_it_is() -> None:
    X, y = make_data("numbers")
    model = sx.LinearRegression(strength="cv", strengths=[10.0, 5.0]).fit(X, y)
    assert model.cv_.strengths.tolist() == [10.0, 5.0]
    told = "the best, 5, is the smallest one tried, and the held-out loss still falls there"
    assert told in model.fitted_.sentences[1]
    assert model.result_.message.endswith(f"; {told}")


def test_folds_spread_every_class_and_are_the_same_each_time() -> None:
    classes = np.repeat([0, 1, 2], [30, 12, 7])
    folds = assign_folds(49, 5, seed=None, classes=classes)
    assert folds.tolist() == assign_folds(49, 5, seed=None, classes=classes).tolist()
    assert folds.tolist() != assign_folds(49, 5, seed=1, classes=classes).tolist()
    for number in range(3):
        counts = np.bincount(folds[classes == number], minlength=5)
        assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (sx.LinearRegression(strength="cv", l1_ratio=1.0, strengths=15), "numbers"),
        (sx.LogisticRegression(strength="cv", l1_ratio=0.5, strengths=8, tol=1e-6), "labels"),
        (sx.LogisticRegression(strength="cv", strengths=8), "classes"),
        (sx.LogisticRegression(strength="cv", strengths=8, multiclass="one_vs_rest"), "classes"),
        (sx.LinearSVM(strength="cv", strengths=5), "labels"),
    ],
    ids=str,
)
def test_an_estimator_is_refitted_at_the_strength_chosen(model: Any, target: str) -> None:
    X, y = make_data(target)
    model.fit(X, y)
    assert model.strength_ == model.cv_.strength == model.cv_.strengths[model.cv_.one_standard_error]
    assert model.cv_.strengths[0] > model.strength_ >= model.cv_.strengths[-1]
    assert model.result_.provenance["cv"] == 5
    assert all((path.relative_gaps <= model.tol).all() for path in model.cv_.paths)
    again = type(model)(**{**model.get_params(), "strength": model.strength_}).fit(X, y)
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-3)
    assert model.result_.objective == pytest.approx(again.result_.objective, rel=1e-6)
    assert again.cv_ is None
    assert model.certificate_.verify(X, y)


def test_a_path_is_that_of_the_estimators_own_fits() -> None:
    X, y = make_data("classes")
    for model in (sx.LogisticRegression(l1_ratio=1.0), sx.LogisticRegression(l1_ratio=1.0, multiclass="one_vs_rest")):
        path = sx.path(model, X, y, strengths=[0.05, 0.01])
        assert path.coefs.shape == (2, 6, 3)
        for place, strength in enumerate(path.strengths):
            fit = sx.LogisticRegression(strength=strength, l1_ratio=1.0, multiclass=model.multiclass).fit(X, y)
            assert path.objectives[place] == pytest.approx(fit.result_.objective, rel=1e-7)
            assert path.active[place] == np.count_nonzero(fit.coef_)
    assert not hasattr(model, "classes_"), "the estimator handed in is left as it was"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strength": "CV"}, "strength='CV' is not known; give a number of at least 0, or \"cv\""),
        ({"strength": "cv", "cv": 1}, "cv=1 is out of range; give a number of folds from 2 to"),
        ({"strength": "cv", "cv_choice": "min"}, "choice='min'"),
        ({"strength": "cv", "strengths": []}, "are out of range; give finite numbers"),
    ],
)
def test_wrong_options_are_named(change: dict[str, Any], message: str) -> None:
    X, y = make_data("labels")
    with pytest.raises(OptionError) as refusal:
        sx.LogisticRegression(**change).fit(X, y)
    assert message in str(refusal.value)


def test_a_class_of_one_row_cannot_be_held_out() -> None:
    X, y = make_data("classes")
    y = y.copy()
    y[y == 2] = 0
    y[3] = 2
    with pytest.raises(DataError, match="a class has only one row, too few to cross-validate"):
        sx.LogisticRegression(strength="cv").fit(X, y)


def test_a_path_needs_an_estimator_with_a_strength() -> None:
    X, y = make_data("labels")
    with pytest.raises(OptionError, match="has no strength; give a LogisticRegression"):
        sx.path(sx.Perceptron(), X, y)
