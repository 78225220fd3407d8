"""Fits of ordinary size: what is computed once, and that the short ways give what the long ones give."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

import separatrix as sx
from separatrix.design import base
from separatrix.design.build import make_design
from separatrix.errors import OptionError
from separatrix.fit.convex import ConvexOptions, candidates, fit_convex
from separatrix.losses import Logistic
from separatrix.problem import Problem
from separatrix.solvers.lbfgs import HessianLBFGS
from separatrix.solvers.newton import Newton


def make_rows(n: int, p: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, p))
    return X, (X @ rng.normal(size=p) / np.sqrt(p) + rng.logistic(size=n) > 0.0).astype(int)


def test_plain_arrays_and_frames_give_the_same_fit() -> None:
    X, y = make_rows(200, 4)
    plain = sx.LogisticRegression().fit(X, y)
    frame = sx.LogisticRegression().fit(pd.DataFrame(X, columns=list("abcd")), y)
    assert (plain.coef_ == frame.coef_).all()
    assert (plain.n_features_in_, plain.n_rows_) == (4, 200)
    assert not hasattr(plain, "feature_names_in_")
    assert plain.fit(pd.DataFrame(X, columns=list("abcd")), y).feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize(("entry", "message"), [(np.nan, "contains NaN"), (np.inf, "contains infinity")])
def test_a_prediction_of_an_entry_that_is_not_finite_is_refused(entry: float, message: str) -> None:
    X, y = make_rows(50, 3)
    model = sx.LogisticRegression(strength=0.1).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict(np.where(np.arange(3) == 1, entry, X[:2]))
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(X[:, :2])


def test_options_are_checked_each_time_and_may_have_no_hash() -> None:
    X, y = make_rows(50, 3)
    for _ in range(2):
        with pytest.raises(OptionError, match=r"tol=-1\.0"):
            sx.LogisticRegression(tol=-1.0).fit(X, y)
    weighted = sx.LogisticRegression(strength=0.1, class_weight={0: 1.0, 1: 2.0})
    first, second = (weighted.fit(X, y).coef_.copy() for _ in range(2))
    assert (first == second).all()
    kinds = [type(sx.LogisticRegression(fit_intercept=value)._options().fit_intercept) for value in (True, 1)]
    assert kinds == [bool, bool]


def test_a_small_design_is_read_by_one_core_and_a_large_one_by_groups() -> None:
    small, large = (make_design(np.ones((n, 10)), intercept=True) for n in (40_000, 60_000))
    assert (len(small.groups()), len(list(small.blocks()))) == (1, 4)
    assert len(large.groups()) == len(list(large.blocks())) == 5


def test_one_blas_thread_is_nested_and_is_lifted_where_it_was_set() -> None:
    def threads() -> set[int]:
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    before, entered, leave = threads(), threading.Event(), threading.Event()

    def other() -> None:
        with base.one_blas_thread():
            entered.set()
            leave.wait(10.0)

    thread = threading.Thread(target=other)
    with base.one_blas_thread():
        thread.start()
        assert entered.wait(10.0)
        with base.one_blas_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == before  # though the other thread is inside
    leave.set()
    thread.join()
    assert threads() == before


def test_middle_size_takes_two_hessians_and_the_digits_of_newton(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_rows(3_000, 90)
    problem = Problem(make_design(X, intercept=True), np.where(y > 0, 1.0, -1.0), Logistic())
    assert isinstance(candidates(problem)[0], HessianLBFGS)
    orders: list[int] = []
    expand = Problem.expand

    def counted(self: Problem, coef: Any, order: int = 1) -> Any:
        orders.append(order)
        return expand(self, coef, order)

    by_newton = fit_convex(problem, ConvexOptions(solver=Newton()))
    monkeypatch.setattr(Problem, "expand", counted)
    fit = fit_convex(problem, ConvexOptions())
    assert orders.count(2) == 2
    assert orders.count(1) <= 9
    assert fit.bound.relative_gap <= 1e-12
    assert fit.bound.radii is not None  # the likelihood has a maximum, and exactly one
    np.testing.assert_allclose(fit.coef, by_newton.coef, rtol=0.0, atol=1e-9)


def test_bounds_on_third_derivatives_hold_and_settle_most_coefficients() -> None:
    X, y = make_rows(2_000, 30)
    model = sx.LogisticRegression().fit(X, y)
    mle = model.fitted_.inference.fits[0].mle
    directions = mle.covariance / np.sqrt(np.diag(mle.covariance))
    squares = np.ones(31)  # dᵗId of a column of I⁻¹ divided by the root of its diagonal entry
    thirds = mle.log_likelihood.third_derivatives(mle.maximum.coef, directions)
    bounds = mle.log_likelihood.largest_third(directions, squares)
    assert (np.abs(thirds) <= bounds).all()
    assert (bounds <= 2.0).all()
    assert np.isinf(mle.log_likelihood.largest_third(directions[:, :16], squares[:16])).all()
