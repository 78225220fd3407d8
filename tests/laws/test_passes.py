"""The law of passes: a result, its trace and its page count the same ones, and never more than its limit."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from test_alike import ALL, fit, rows

import separatrix as sx

LIMITED = [
    sx.Perceptron(max_passes=30, keep="best"),
    sx.Perceptron(max_passes=30, on_overlap="stop"),
    sx.Perceptron(max_passes=30, update="batch", keep="best"),
    sx.Perceptron(max_passes=30, order="random"),
    sx.LMSClassifier(max_passes=30, tol=1e-15),
    sx.LMSClassifier(max_passes=30, update="stochastic", order="shuffled"),
    sx.KernelPerceptron(max_passes=30, keep="best"),
]


@pytest.mark.parametrize("estimator", [*ALL, *LIMITED], ids=str)
def test_a_result_and_its_trace_count_the_same_passes(estimator: Any) -> None:
    model = fit(estimator, *rows(0 if isinstance(estimator, sx.LinearRegression | sx.LMSRegressor) else 2))
    if isinstance(estimator, sx.OneVsRest):
        return
    steps, passes = model.result_.trace.steps, model.result_.passes
    assert steps["passes"][-1] == passes
    assert (np.diff(steps["passes"]) >= 0.0).all()
    said = re.search(r"after ([\d,]+) pass", model.result_.message)
    assert said is None or float(said[1].replace(",", "")) == passes


@pytest.mark.parametrize("estimator", LIMITED, ids=str)
def test_no_fit_makes_more_passes_than_its_limit(estimator: Any) -> None:
    model = fit(estimator, *rows(2))
    assert model.n_iter_ == np.ceil(model.result_.passes) <= 30
    assert model.result_.facts["reads"] >= 1.0


def test_a_comparison_counts_the_passes_of_the_fit_itself() -> None:
    X, y = rows(2)
    perceptron = sx.compare(X, y).compared[0]
    alone = fit(sx.Perceptron(keep="best", max_passes=1000), X, y)
    assert perceptron.ending.passes == alone.result_.passes == 1000.0
