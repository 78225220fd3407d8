"""Least squares certificates against exact rational arithmetic: numbers are bounds, and forged ones are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import oracles
import separatrix as sx
from separatrix.certificates.least_squares import LeastSquaresCertificate
from separatrix.errors import CertificateError, ConvergenceWarning
from separatrix.fit import least_squares

RNG = np.random.default_rng(11)
ROWS, NOISE = RNG.normal(size=(40, 3)), RNG.normal(size=40)
Y = ROWS @ [1.0, -2.0, 0.5] + NOISE
DUMMIES = np.eye(4)[np.arange(40) % 4]
CELSIUS = RNG.normal(15.0, 8.0, size=40)


def fitted(X: Any, y: Any, weights: Any = None, **options: Any) -> LeastSquaresCertificate:
    """Return the certificate of a fit, which must be proved."""
    certificate = sx.LinearRegression(**options).fit(X, y, weights).certificate_
    assert certificate.verify(X, y, weights), str(certificate.verify(X, y, weights))
    return certificate


def require_true(certificate: LeastSquaresCertificate, X: Any, y: Any, weights: Any = None) -> None:
    """Compare every number with exact arithmetic."""
    intercept = certificate.data.intercept
    varying = [j for j in range(len(certificate.coef)) if j not in (*certificate.aliased, *certificate.held)]
    design = np.column_stack([np.ones(len(y)), X])[:, int(not intercept) :]
    fixed = design[:, list(certificate.held)] @ certificate.coef[list(certificate.held)] if certificate.held else 0.0
    own = oracles.residual_sum(X, y, certificate.coef, intercept, weights)
    constant = oracles.least_squares(np.ones((len(y), int(intercept))), y, False, weights).rss
    least = oracles.least_squares(design[:, varying], y - fixed, False, weights)
    assert own <= Fraction(certificate.rss)
    assert own - least.rss <= Fraction(certificate.excess)
    assert own - least.rss <= Fraction(certificate.relative_excess) * max(own, constant / 10**8)
    if certificate.radii is not None and not certificate.aliased and not certificate.held:
        assert not least.relations
        for value, radius, truth in zip(certificate.coef, certificate.radii, least.coef, strict=True):
            assert abs(Fraction(value) - truth) <= Fraction(radius)


def failing(certificate: LeastSquaresCertificate, X: Any, y: Any) -> list[str]:
    return [check.name for check in certificate.verify(X, y).checks if not check.holds]


@pytest.mark.parametrize("passes", [False, True])
@pytest.mark.parametrize("dependence", [1.0, *(10.0**k for k in range(5, 12))])
def test_dependent_columns_are_certified_against_exact_arithmetic(dependence, passes, monkeypatch) -> None:
    if passes:
        monkeypatch.setattr(least_squares, "SMALL", 0)
    X = np.column_stack([ROWS, ROWS[:, 0] + ROWS[:, 1] + NOISE[::-1] / dependence])
    certificate = fitted(X, Y)
    assert certificate.verdict == "optimal"
    assert certificate.unique
    assert certificate.relative_excess <= 1e-8
    require_true(certificate, X, Y)


@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20, 1e150])
@pytest.mark.parametrize("what", ["columns", "one column", "weights", "targets"])
def test_units_do_not_matter(scale: float, what: str) -> None:
    X, y, weights = ROWS.copy(), Y, np.linspace(1.0, 2.0, 40)
    if what == "columns":
        X = X * scale
    elif what == "one column":
        X[:, 1] *= scale
    elif what == "weights":
        weights = weights * scale
    else:
        y = y * (scale if abs(np.log10(scale)) < 100.0 else scale**0.8)  # others are refused
    certificate = fitted(X, y, weights)
    assert certificate.verdict == "optimal"
    assert certificate.relative_excess <= 1e-8
    require_true(certificate, X, y, weights)


def test_rows_of_weight_0_do_not_count() -> None:
    weights = np.arange(40) % 3 * 1.0
    X, y = ROWS.copy(), Y.copy()
    X[::3] = 1e100
    y[::3] = -1e10
    certificate = fitted(X, y, weights)
    assert certificate.verdict == "optimal"
    require_true(certificate, X, y, weights)


def test_targets_far_from_0_are_optimal_only_if_their_own_variation_is_fitted() -> None:
    y = Y + 1e9
    certificate = fitted(ROWS, y)
    require_true(certificate, ROWS, y)
    assert certificate.relative_excess <= 1e-8
    coef = certificate.coef.copy()
    coef[0] += 11.0  # the sum of squares grows by 40 · 11², 1e-16 of that of the targets
    forged = replace(certificate, coef=coef, rss=certificate.rss + 5000.0)
    assert failing(forged, ROWS, y) == ["excess", "radii"]


def test_a_column_far_from_0_is_no_constant() -> None:
    x = ROWS[:, 0]
    X, y = np.column_stack([x, x + 2.0**32 + NOISE]), 3.0 * NOISE + ROWS[:, 2] / 5.0
    certificate = fitted(X, y)
    assert certificate.unique
    require_true(certificate, X, y)
    assert certificate.rss < 2.0 < np.var(y) * 40
    shares = np.linalg.lstsq(np.column_stack([np.ones(40), x]), y, rcond=None)[0]
    without = float(((y - shares[0] - shares[1] * x) ** 2).sum())
    forged = replace(
        certificate,
        coef=np.asarray([*shares, 0.0]),
        rss=without * 1.001,
        aliased=(2,),
        relations=({0: Fraction(2**32), 1: Fraction(1)},),
        radii=np.full(3, 1e-6),
    )
    assert failing(forged, X, y) == ["aliases"]


def test_dummies_of_all_categories_are_exactly_aliased() -> None:
    X = np.column_stack([DUMMIES, ROWS])
    certificate = fitted(X, Y)
    assert certificate.aliased == (4,)
    assert certificate.relations == ({0: Fraction(1), 1: Fraction(-1), 2: Fraction(-1), 3: Fraction(-1)},)
    assert (certificate.held, certificate.unique, certificate.verdict) == ((), False, "optimal")
    assert "and the minimiser is not unique, as 'x4' is a combination of other columns" in certificate.claim
    require_true(certificate, X, Y)


@pytest.mark.parametrize("rounded", [False, True])
def test_units_of_temperature_are_held(rounded: bool) -> None:
    celsius = CELSIUS.round(1) if rounded else CELSIUS
    X = np.column_stack([celsius, ROWS[:, 0], celsius * 1.8 + 32.0])
    certificate = fitted(X, Y)
    message = sx.LinearRegression().fit(X, Y).result_.message
    assert "'x3' depends on other columns up to rounding" in message
    assert (certificate.aliased, certificate.held, certificate.unique) == ((), (3,), None)
    assert certificate.verdict == "optimal within"
    assert "of its minimum over the other columns, with 'x3' held" in certificate.claim
    require_true(certificate, X, Y)


def test_relations_that_would_take_too_long_are_not_sought(monkeypatch) -> None:
    monkeypatch.setattr("separatrix.fit.collinearity.SIMPLIFIED", 0)
    monkeypatch.setattr("separatrix.fit.collinearity.SOLVED_WORK", 0)
    X = np.column_stack([DUMMIES, ROWS])
    certificate = fitted(X, Y)
    assert (certificate.aliased, certificate.held, certificate.verdict) == ((), (4,), "optimal within")
    require_true(certificate, X, Y)


@pytest.mark.parametrize("scales", [(1e-100, 1e100), (1e140, 1e-140)])
def test_coefficients_of_least_norm_fit_as_well_where_units_differ_much(scales: tuple[float, float]) -> None:
    whole = np.round(4.0 * ROWS)
    X = np.column_stack([whole[:, 0] * 2.0**300, whole[:, 1] * scales[0], whole[:, 2] * scales[1], whole[:, 0]])
    certificate = fitted(X, Y)
    assert (certificate.aliased, certificate.verdict) == ((4,), "optimal")
    require_true(certificate, X, Y)


def test_one_weighted_row_of_several_is_met() -> None:
    X, y = np.asarray([[-1.2e49, 1e145, -3.9e82], [6.0e48, -1.9e144, 5.8e82]]), np.asarray([1.0, 0.3])
    certificate = fitted(X, y, np.asarray([0.0, 3.0]))
    assert (certificate.verdict, certificate.unique, certificate.rss) == ("optimal", False, 0.0)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_more_columns_than_rows_fit_every_row(fit_intercept: bool) -> None:
    X, y = RNG.normal(size=(12, 300)), RNG.normal(size=12)
    certificate = fitted(X, y, fit_intercept=fit_intercept)
    assert (certificate.verdict, certificate.unique, certificate.radii) == ("optimal", False, None)
    assert certificate.rss <= 1e-20
    assert "as there are more coefficients than rows" in certificate.claim


def test_more_columns_than_rows_where_rows_contradict_each_other() -> None:
    X, y = np.repeat(RNG.integers(-9, 9, size=(3, 7)), 2, axis=0) / 1.0, RNG.normal(size=6)
    certificate = fitted(X, y)
    assert (len(certificate.aliased), certificate.unique, certificate.verdict) == (5, False, "optimal")
    require_true(certificate, X, y)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("constant", [0.3, 0.0])
def test_targets_that_are_all_the_same_are_met_exactly(constant: float, fit_intercept: bool) -> None:
    y = np.full(40, constant)
    certificate = fitted(ROWS, y, fit_intercept=fit_intercept)
    assert certificate.verdict == "optimal"
    if fit_intercept or not constant:
        assert certificate.coef.tolist() == [constant, 0.0, 0.0, 0.0][int(not fit_intercept) :]
        assert (certificate.rss, certificate.excess, certificate.relative_excess) == (0.0, 0.0, 0.0)
    require_true(certificate, ROWS, y)


@pytest.mark.parametrize("difference", [1e-15, 0.0])
def test_columns_too_nearly_dependent_are_named_with_a_remedy(difference: float, monkeypatch) -> None:
    monkeypatch.setattr("separatrix.design.rank.ROUNDING", 0.0)  # x3 then counts as independent
    X = np.column_stack([ROWS[:, :2], ROWS[:, 0] * (1.0 + difference * NOISE)])
    with pytest.warns(ConvergenceWarning, match="the columns 'x1', 'x3' are nearly linearly dependent: drop one"):
        certificate = sx.LinearRegression().fit(X, Y).certificate_
    assert certificate.verdict == "stopped"
    assert certificate.unique is (True if difference else None)
    assert certificate.verify(X, Y)
    require_true(certificate, X, Y)


@pytest.mark.parametrize("field", ["rss", "excess", "relative_excess", "radii"])
def test_numbers_below_the_truth_are_refused(field: str) -> None:
    certificate = fitted(ROWS, Y)
    coef = certificate.coef + np.asarray([1e-3, 0.0, 0.0, 0.0])
    rss = oracles.residual_sum(ROWS, Y, coef)
    excess = float(rss - oracles.least_squares(ROWS, Y).rss)
    true = {"rss": float(rss) * 1.001, "excess": excess * 1.001, "relative_excess": excess / float(rss) * 1.001}
    honest = replace(certificate, coef=coef, **true, radii=np.full(4, 0.1))
    assert honest.verify(ROWS, Y)
    forged = replace(honest, **{field: getattr(honest, field) / (1.01 if field != "radii" else 1000.0)})
    name = {"rss": "sum of squares", "radii": "radii"}.get(field, "excess")
    assert failing(forged, ROWS, Y) == [name]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"aliased": [1], "relations": []}, "0 relations are given for 1 columns"),
        ({"aliased": [1], "relations": [{"1": "1"}]}, "a relation has columns that are themselves aliased or held"),
        (
            {"aliased": [1, 2], "relations": [{"2": "1"}, {"1": "1"}]},
            "a relation has columns that are themselves aliased",
        ),
        ({"aliased": [9], "relations": [{"1": "1"}]}, "aliased and held columns are distinct, and below 4"),
        ({"aliased": [1], "relations": [{"2": "1"}], "held": [1]}, "aliased and held columns are distinct"),
        ({"held": [1], "radii": None}, "columns are aliased or held, where no radius is stated"),
        ({"radii": [1.0]}, "there are 1 radii for 4 coefficients"),
    ],
)
def test_dependence_that_is_no_dependence_is_refused(changes: dict[str, Any], words: str) -> None:
    content = json.loads(fitted(ROWS, Y).to_json())
    for name, value in changes.items():
        content["witness" if name == "relations" else "statement"][name] = value
    with pytest.raises(CertificateError, match=words):
        sx.certificate_from_dict(content)


def test_independent_columns_are_not_proved_dependent() -> None:
    certificate = fitted(ROWS, Y)
    forged = replace(certificate, aliased=(1,), relations=({2: Fraction(1)},))
    assert "aliases" in failing(forged, ROWS, Y)
    with pytest.raises(CertificateError, match="claim does not follow from the statement; the file was altered"):
        sx.certificate_from_dict({**forged.to_dict(), "claim": certificate.claim})


def test_dependent_columns_are_not_proved_independent() -> None:
    X = np.column_stack([DUMMIES, ROWS])
    forged = replace(fitted(X, Y), aliased=(), relations=())
    assert forged.unique
    assert failing(forged, X, Y) == ["bound"]
