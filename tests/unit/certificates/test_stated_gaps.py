"""A fit is optimal only if its certificate states a gap within the tolerance; claims are true of their numbers."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import separatrix as sx
from separatrix.certificates.margin import MarginCertificate
from separatrix.errors import DataError
from separatrix.fit.result import Status


@pytest.mark.parametrize("seed", [330, 359, 371])
@pytest.mark.filterwarnings("ignore::separatrix.errors.ConvergenceWarning")
def test_the_middle_intercept_keeps_the_tolerance(seed: int) -> None:
    """The bound at the middle of the optimal intercepts is another one, just above the tolerance when widened."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2)) * [1, 10.0 ** rng.integers(-2, 3)]
    y = (X[:, 0] + rng.logistic(size=20) > 0).astype(int)
    statuses = []
    for tol in (1e-9, 1e-10, 1e-11):
        fitted = sx.LinearSVM(strength=10.0 ** rng.uniform(-5, -1), tol=tol).fit(X, y)
        statuses.append(fitted.result_.status)
        assert fitted.result_.status is not Status.OPTIMAL or fitted.certificate_.relative_gap <= tol
    assert Status.OPTIMAL in statuses


@pytest.mark.parametrize("number", [0.0, 3.0, 0.1])
@pytest.mark.parametrize("weights", [None, np.arange(20.0)])
@pytest.mark.parametrize("options", [{}, {"l1_ratio": 1.0}, {"solver": "lbfgs"}, {"scaling": "spread"}])
def test_a_penalised_fit_of_a_constant_is_exact(number: float, weights: Any, options: Any) -> None:
    """The minimum is 0, which no bound with a rounding error shows."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = np.where(np.arange(20) == 0, number + (weights is not None), number)  # a row of weight 0 may be another
    fitted = sx.LinearRegression(strength=0.1, **options).fit(X, y, sample_weight=weights)
    certificate = fitted.certificate_
    assert fitted.result_.status is Status.OPTIMAL
    assert (fitted.intercept_, *fitted.coef_) == (number, 0.0, 0.0)
    assert (certificate.primal, certificate.gap, certificate.relative_gap) == (0.0, 0.0, 0.0)
    assert certificate.verify(X, y, weights)
    assert not certificate.verify(X, y + 1e-9, weights)


@pytest.mark.parametrize("kind", ["least squares", "firth"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_coefficient_beyond_floats_is_refused(kind: str) -> None:
    """Least squares were optimal with a coefficient of inf and a gap of nan; Firth's fit ended in a traceback."""
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.normal(size=(30, 2)), np.full(30, 1e-300)]), rng.random(30)
    model = sx.LinearRegression() if kind == "least squares" else sx.LogisticRegression(bias_reduction=True)
    with pytest.raises(DataError, match=r"'x3' has values of about 1e-300, .*; divide the column by 1e-300 first"):
        model.fit(X, y if kind == "least squares" else y > 0.5)


def test_a_gap_that_is_no_number_is_not_optimal() -> None:
    X = np.random.default_rng(0).normal(size=(9, 1))
    for fitted in (sx.LinearRegression().fit(X, X[:, 0] ** 2), sx.LogisticRegression(strength=1.0).fit(X, X[:, 0] > 0)):
        name = "relative_excess" if hasattr(fitted.certificate_, "relative_excess") else "relative_gap"
        forged = type(fitted.certificate_)(**{**vars(fitted.certificate_), name: float("nan")})
        assert forged.verdict == "stopped"


@pytest.mark.parametrize("end", [1.0, 7.0, 11.0, 13.0])
def test_the_claim_of_a_margin_is_rounded_outward(end: float) -> None:
    """Between 0 and 1/3 the margin is 1/6: rows are not right by 0.1666666667."""
    X, y = np.array([[0.0], [end / 3.0]]), np.array([0, 1])
    certificate = sx.MaxMarginClassifier().fit(X, y).certificate_
    assert isinstance(certificate, MarginCertificate)
    least, most = map(
        Fraction, re.findall(r"at least (\S+); no halfspace has a margin above (\S+) ", certificate.claim)[0]
    )
    assert least <= Fraction(X[1, 0]) / 2 <= most
    assert most - least <= Fraction(3, 10**9)


def test_the_claims_of_kernels_are_rounded_outward() -> None:
    X, y = np.array([[0.0], [1.0], [2.5], [3.0]]), np.array([0, 1, 0, 1])
    margin = sx.check_separability(X, y, kernel="rbf")
    least, most = map(float, re.findall(r"separates by (\S+); none has more than (\S+)$", margin.claim)[0])
    assert least <= margin.lower <= margin.upper <= most
    soft = sx.KernelSVM(strength=0.1, gamma=1.0).fit(X, y).certificate_
    found = re.findall(r"at most (\S+), and at least (\S+) for any weights: a relative gap of (\S+);", soft.claim)[0]
    primal, dual, gap = map(float, found)
    assert dual <= soft.dual <= soft.primal <= primal
    assert soft.relative_gap <= gap
