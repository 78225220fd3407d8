"""Bias-reduced fits against 400-bit Firth estimates, and their intervals against the penalised profile of logistf."""

import pytest
from data import needs_data, reference, references, table

import separatrix as sx
from separatrix.design.build import make_design
from separatrix.inference.firth import fit_firth
from separatrix.losses import Logistic
from separatrix.problem import Problem

WITH_FIRTH = [name for name in references("separation") if "firth" in reference("separation", name)]


@needs_data
@pytest.mark.parametrize("name", WITH_FIRTH)
def test_estimates_errors_and_intervals(name):
    truth = reference("separation", name)
    _, X, y, weights = table("separation", name)
    if weights is not None:
        X, y, weights = X[weights > 0.0], y[weights > 0.0], weights[weights > 0.0]
    signs = 2.0 * (y == "1") - 1.0
    problem = Problem(make_design(X, intercept=truth["intercept"]), signs, Logistic(), weights=weights)
    fit = fit_firth(problem, ("0", "1"))
    firth = truth["firth"]
    assert [interval.estimate for interval in fit.intervals] == pytest.approx(firth["coef"], rel=2e-8)
    assert [interval.standard_error for interval in fit.intervals] == pytest.approx(firth["se"], rel=1e-8)
    assert fit.result.facts["penalised_loglik"] == pytest.approx(firth["penalized_loglik"], rel=1e-10)
    assert fit.result.certificate.verify(X, y, weights)
    if "profile_penalised_ci95" in firth:
        ends = [end for interval in fit.intervals for end in (interval.lower, interval.upper)]
        assert ends == pytest.approx([end for pair in firth["profile_penalised_ci95"] for end in pair], rel=1e-8)
        assert [interval.p_value for interval in fit.intervals] == pytest.approx(firth["plr_p"], rel=1e-7)


@needs_data
def test_the_joint_test_is_that_of_logistf():
    """The likelihood ratio test that the manual of logistf prints for its example sex2, 49.09064 on 6 df."""
    _, X, y, _ = table("separation", "sex2")
    model = sx.LogisticRegression(bias_reduction=True).fit(X, y)
    measure = model.summary().measure("likelihood ratio")
    assert measure.value == pytest.approx(49.09064, abs=5e-6)
    assert measure.p_value == pytest.approx(7.15089e-09, rel=1e-5)
