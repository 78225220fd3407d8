"""CR2, Satterthwaite's degrees of freedom and false rejections, against dense textbook formulas and simulation."""

import re

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
import statsmodels.api as sm

import separatrix as sx
from separatrix.errors import DataError, OptionError
from separatrix.inference import small_samples
from separatrix.inference.covariance import choose_covariance, robust_covariance
from separatrix.inference.small_samples import RowUnits, exact_rate, low_rank_rate


def clustered_rows(sizes, seed=0, columns=3):
    """Draw rows of groups: a column of the groups, and columns that vary within them."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.standard_normal((len(groups), columns))
    X[:, 0] = rng.standard_normal(len(sizes))[groups]
    y = X[:, 1] + rng.standard_normal(len(sizes))[groups] + rng.standard_normal(len(groups))
    return X, y, groups


def dense_cr2(rows, residuals, groups, weights):
    """Return the CR2 covariance, and the Satterthwaite degrees of freedom of each column, n × n matrices and all.

    clubSandwich's definition for rows times the roots of their weights, with an identity as the working model:
    B = (I − H)[g, g], A = B^−½ (a pseudo-inverse), and the moments of Σ (pᵗ e)² with p = (I − H)[:, g] A X[g] M c.
    """
    rows, residuals = rows * np.sqrt(weights)[:, None], residuals * np.sqrt(weights)
    bread = np.linalg.inv(rows.T @ rows)
    left = np.eye(len(rows)) - rows @ bread @ rows.T
    meat, vectors = np.zeros_like(bread), []
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        values, basis = np.linalg.eigh(left[np.ix_(own, own)])
        inverse = np.where(values > 1e-9, np.maximum(values, 1e-9) ** -0.5, 0.0)
        adjusted = rows[own].T @ (basis * inverse) @ basis.T
        score = adjusted @ residuals[own]
        meat += np.outer(score, score)
        vectors.append(left[:, own] @ adjusted.T @ bread)
    p = np.array(vectors)  # (groups, n, columns)
    freedoms = []
    for column in range(rows.shape[1]):
        products = p[:, :, column] @ p[:, :, column].T
        freedoms.append(np.trace(products) ** 2 / (products**2).sum())
    return bread @ meat @ bread, np.array(freedoms), p


def dense_htz(p, chosen):
    """Return the degrees of freedom of Pustejovsky and Tipton's test of some columns, η, by all pairs of groups."""
    chosen_p = p[:, :, chosen]
    expected = np.einsum("gns,gnt->st", chosen_p, chosen_p)
    standard = chosen_p @ scipy.linalg.sqrtm(np.linalg.inv(expected)).real
    pairs = np.einsum("gns,hnt->ghst", standard, standard)
    q = len(chosen)
    # Var(V_st) = Σ over groups g, h of (P_ss P_tt + P_st P_ts)
    total = np.einsum("ghss,ghtt->", pairs, pairs) + np.einsum("ghst,ghts->", pairs, pairs)
    return q * (q + 1.0) / total


@pytest.mark.parametrize("sizes", [[8] * 12, [2, 3, 4, 5, 6, 7, 20, 30], [1] * 9 + [25, 30]])
@pytest.mark.parametrize("weighted", [False, True])
def test_cr2_is_the_dense_formula(sizes, weighted):
    X, y, groups = clustered_rows(sizes)
    weights = np.random.default_rng(1).uniform(0.3, 3.0, len(y)) if weighted else np.ones(len(y))
    model = sx.LinearRegression().fit(X, y, sample_weight=weights if weighted else None)
    rows = np.column_stack([np.ones(len(y)), X])
    coef = np.array([model.intercept_, *model.coef_])
    matrix, freedoms, p = dense_cr2(rows, y - rows @ coef, groups, weights)
    choice = choose_covariance("CR2", model._problem, groups)
    basis, core, units = robust_covariance(model._problem, model.least_squares_, choice)
    np.testing.assert_allclose(basis.coefficient_covariance(core), matrix, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(units.moments(basis.to_coefficients).freedom, freedoms, rtol=1e-9)
    np.testing.assert_allclose(units.joint(basis.to_coefficients[[1, 2]]).freedom, dense_htz(p, [1, 2]), rtol=1e-8)
    table = model.summary(covariance="CR2", groups=groups)
    for place, term in enumerate(table.terms):
        if freedoms[place] < 4.0:
            assert "Satterthwaite degrees of freedom are too few" in term.absent or "one group gives" in term.absent
            continue
        assert term.df == pytest.approx(freedoms[place], rel=1e-9)
        ratio = abs(term.estimate) / np.sqrt(matrix[place, place])
        assert term.p_value == pytest.approx(2.0 * scipy.stats.t.sf(ratio, freedoms[place]), rel=1e-8)


def test_the_joint_test_of_cr2_is_pustejovsky_and_tiptons():
    X, y, groups = clustered_rows([8] * 20)
    model = sx.LinearRegression().fit(X, y)
    rows = np.column_stack([np.ones(len(y)), X])
    coef = np.array([model.intercept_, *model.coef_])
    matrix, _, p = dense_cr2(rows, y - rows @ coef, groups, np.ones(len(y)))
    test = model.wald_test(["x1", "x2"], covariance="CR2", groups=groups)
    eta = dense_htz(p, [1, 2])
    statistic = coef[1:3] @ np.linalg.solve(matrix[1:3, 1:3], coef[1:3])
    assert test.f == pytest.approx(statistic * (eta - 1.0) / (2.0 * eta), rel=1e-8)
    assert test.residual_degrees_of_freedom == pytest.approx(eta - 1.0, rel=1e-8)
    assert test.p_value == pytest.approx(scipy.stats.f.sf(test.f, 2, eta - 1.0), rel=1e-8)
    assert str(test).startswith(f"x1 = x2 = 0 (CR2): F(2, {eta - 1.0:.4g}) = ")
    one = model.wald_test(["x2"], covariance="CR2", groups=groups)
    assert one.f_p_value == pytest.approx(model.summary(covariance="CR2", groups=groups).term("x2").p_value, rel=1e-9)


def test_cr2_without_groups_is_hc2_with_bell_and_mccaffreys_degrees_of_freedom():
    X, y, _ = clustered_rows([4] * 15)
    model = sx.LinearRegression().fit(X, y)
    by_row, hc2 = model.summary(covariance="CR2"), model.summary(covariance="HC2")
    rows = np.column_stack([np.ones(60), X])
    _, freedoms, _ = dense_cr2(rows, np.ones(60), np.arange(60), np.ones(60))
    for term, other, freedom in zip(by_row.terms, hc2.terms, freedoms, strict=True):
        assert term.standard_error == pytest.approx(other.standard_error, rel=1e-10)
        assert term.df == pytest.approx(freedom, rel=1e-9)
    peer = sm.OLS(y, rows).fit(cov_type="HC2")
    assert [term.standard_error for term in by_row.terms] == pytest.approx(peer.bse, rel=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_cr2_of_a_logistic_fit_is_that_of_its_working_rows(weighted):
    X, y, groups = clustered_rows([8] * 20, seed=2)
    labels = (y > 0.0).astype(int)
    counts = np.random.default_rng(3).integers(1, 3, len(y)) if weighted else np.ones(len(y), dtype=int)
    options = {"sample_weight": counts} if weighted else {}
    model = sx.LogisticRegression(weight_kind="frequency").fit(X, labels, **options)
    rows, truth = np.repeat(X, counts, axis=0), np.repeat(labels, counts)
    rows, repeated = np.column_stack([np.ones(len(rows)), rows]), np.repeat(groups, counts)
    mean = 1.0 / (1.0 + np.exp(-rows @ np.array([model.intercept_[0], *model.coef_[0]])))
    working = mean * (1.0 - mean)
    matrix, freedoms, _ = dense_cr2(rows, (truth - mean) / working, repeated, working)
    table = model.summary("CR2", groups=groups)
    assert table.statistic == "t"
    for place, term in enumerate(table.terms):
        assert term.standard_error == pytest.approx(np.sqrt(matrix[place, place]), rel=1e-6)
        assert term.df == pytest.approx(freedoms[place], rel=1e-6)


def test_clusters_and_rows_as_statsmodels_has_them():
    X, y, groups = clustered_rows([6] * 60, seed=4)
    model, rows = sx.LinearRegression().fit(X, y), sm.add_constant(X)
    for ours, theirs in (("HC0", "HC0"), ("HC1", "HC1"), ("HC2", "HC2"), ("HC3", "HC3"), ("clustered", "cluster")):
        given = {"groups": groups} if theirs == "cluster" else {}
        peer = sm.OLS(y, rows).fit(cov_type=theirs, cov_kwds=given or None, use_t=True)
        found = model.summary(covariance=ours, **given)
        assert [term.standard_error for term in found.terms] == pytest.approx(peer.bse, rel=1e-9)
        assert [term.p_value for term in found.terms] == pytest.approx(peer.pvalues, rel=1e-7)


def test_rates_are_those_of_simulation():
    """An exact rate of the quadratic form, against 200,000 draws."""
    rng = np.random.default_rng(5)
    factor = 0.4 * np.linalg.qr(rng.standard_normal((12, 3)))[0]
    diagonal = rng.uniform(0.2, 2.0, 12)
    matrix = np.diag(diagonal) - factor @ factor.T
    draws = rng.standard_normal((200_000, 12))
    variance = np.einsum("ij,jk,ik->i", draws, matrix, draws, optimize=True) / 9.0
    rejected = float((rng.standard_normal(200_000) ** 2 > 2.1**2 * variance).mean())
    assert exact_rate(matrix, 9.0, 2.1) == pytest.approx(rejected, abs=0.005)
    assert low_rank_rate(diagonal, factor, 9.0, 2.1) == pytest.approx(exact_rate(matrix, 9.0, 2.1), rel=1e-9)


def test_a_rate_of_equal_errors_is_students():
    """Σ λ χ²₁ of 7 equal λ is σ² χ²₇ / 7, as of the classical covariance."""
    assert exact_rate(np.eye(7) / 7.0, 1.0, 2.0) == pytest.approx(2.0 * scipy.stats.t.sf(2.0, 7), rel=1e-7)


@pytest.mark.parametrize("kind", ["HC1", "HC3", "clustered", "CR2"])
def test_many_units_have_moments_that_never_overstate(kind, monkeypatch):
    X, y, groups = clustered_rows([5] * 20, seed=6)
    model = sx.LinearRegression().fit(X, y)
    options = {"groups": groups} if kind in {"clustered", "CR2"} else {}

    def units():
        choice = choose_covariance(kind, model._problem, **options)
        return robust_covariance(model._problem, model.least_squares_, choice)

    few = units()
    contrasts = few.basis.to_coefficients
    exact, joint = few.units.moments(contrasts), few.units.joint(contrasts[1:])
    if kind == "CR2":
        monkeypatch.setattr(small_samples, "CHUNK_CELLS", 40)  # three groups at a time
        many = units()
        np.testing.assert_allclose(many.core, few.core, rtol=1e-12)
        np.testing.assert_allclose(many.units.moments(contrasts).freedom, exact.freedom, rtol=1e-12)
        return
    monkeypatch.setattr(small_samples, "EXACT_UNITS", 10)
    monkeypatch.setattr(small_samples, "MATRIX_CELLS", 10)
    many = units()
    assert isinstance(many.units, RowUnits)
    np.testing.assert_allclose(many.core, few.core, rtol=1e-10)
    bound, jointly = many.units.moments(contrasts), many.units.joint(contrasts[1:])
    np.testing.assert_allclose(bound.share, exact.share, rtol=1e-9)
    if kind != "clustered":  # groups without matrices are taken to have no leverage
        np.testing.assert_allclose(bound.bias, exact.bias, rtol=1e-9)
        assert (bound.freedom <= exact.freedom * (1.0 + 1e-9)).all()
        assert jointly.freedom <= joint.freedom * (1.0 + 1e-9)
    np.testing.assert_allclose(bound.freedom, exact.freedom, rtol=0.25)
    assert jointly.excess == pytest.approx(joint.excess, rel=0.3)


def test_cr2_without_room_says_what_to_use(monkeypatch):
    X, y, groups = clustered_rows([5] * 20)
    monkeypatch.setattr(small_samples, "MATRIX_CELLS", 100)
    with pytest.raises(
        OptionError, match=r"needs 4² numbers for each of 20 groups, which is too many; use .*clustered"
    ):
        sx.LinearRegression().fit(X, y).summary(covariance="CR2", groups=groups)
    with pytest.raises(OptionError, match="not for frequencies"):
        sx.LinearRegression(weight_kind="frequency").fit(X, y, sample_weight=np.full(100, 2)).summary(covariance="CR2")


@pytest.mark.parametrize("estimator", [sx.LinearRegression(), sx.LogisticRegression()], ids=["linear", "logistic"])
@pytest.mark.parametrize("kind", ["clustered", "CR2"])
def test_one_treated_group_has_no_error(estimator, kind):
    X, y, groups = clustered_rows([10] * 20, seed=7)
    X[:, 0] = groups == 3
    y = y > 0.0 if isinstance(estimator, sx.LogisticRegression) else y
    table = estimator.fit(X, y).summary(covariance=kind, groups=groups)
    treated = table.term("x1")
    assert (treated.standard_error, treated.p_value) == (None, None)
    assert treated.absent.startswith("one group gives 95% of the variance of 'x1', and its error cannot be estimated")
    assert table.term("x3").p_value is not None
    assert any(note.startswith("20 groups are few") for note in table.notes)


@pytest.mark.parametrize("kind", ["clustered", "clustered_HC0", "CR2"])
def test_a_group_for_each_level_leaves_only_the_columns_that_vary_within(kind):
    """As the errors of a level add up to 0 in its group, a standard error would be one of rounding."""
    X, y, groups = clustered_rows([10] * 12, seed=8)
    dummies = (groups[:, None] == np.arange(1, 12)).astype(float)
    model = sx.LinearRegression().fit(np.column_stack([X[:, 1:], dummies]), y)
    table = model.summary(covariance=kind, groups=groups)
    assert table.term("x1").p_value is not None or kind == "clustered_HC0"
    for term in table.terms:
        if term.name not in {"x1", "x2"}:
            assert (term.standard_error, term.p_value) == (None, None)
            assert re.match(
                rf"one group gives \d+% of the variance of {term.name!r}, and its error cannot", term.absent
            )
    assert table.measure("F").value is None
    with pytest.raises(DataError, match="the covariance of 12 groups cannot test 13 coefficients at once"):
        model.wald_test([f"x{place}" for place in range(1, 14)], covariance=kind, groups=groups)


def test_groups_that_differ_in_size_are_judged_by_what_they_share():
    """Independent errors would let the test pass, errors that groups share would not."""
    X, y, groups = clustered_rows([20] * 10, seed=9)
    X[:, 1] = 0.8 * X[:, 1] + 0.6 * np.random.default_rng(1).standard_normal(10)[groups]
    absent = sx.LinearRegression().fit(X, y).summary(covariance="clustered", groups=groups).term("x1").absent
    assert "a clustered test of 'x1' at 5 % would reject a true null in" in absent
    assert 'use covariance="CR2"' in absent


def test_clustered_tests_of_a_logistic_fit_are_by_t():
    X, y, groups = clustered_rows([10] * 40, seed=10)
    model = sx.LogisticRegression().fit(X, y > 0.0)
    table = model.summary("clustered", groups=groups)
    peer = sm.Logit(y > 0.0, sm.add_constant(X)).fit(
        disp=0, method="newton", tol=1e-14, cov_type="cluster", cov_kwds={"groups": groups}
    )
    assert (table.statistic, table.degrees_of_freedom) == ("t", 39.0)
    for term, estimate, error in zip(table.terms, peer.params, peer.bse, strict=True):
        if term.p_value is not None:
            assert term.p_value == pytest.approx(2.0 * scipy.stats.t.sf(abs(estimate / error), 39), rel=1e-7)
    test = model.wald_test(["x2", "x3"], "clustered", groups)
    wald = peer.params[2:] @ np.linalg.solve(peer.cov_params()[2:, 2:], peer.params[2:])
    assert test.chi2 == pytest.approx(wald, rel=1e-7)
    assert test.f_p_value == test.p_value == pytest.approx(scipy.stats.f.sf(wald / 2.0, 2, 39), rel=1e-6)


def test_softmax_has_cr2_too():
    X, y, groups = clustered_rows([10] * 30, seed=11)
    model = sx.LogisticRegression().fit(X, np.digitize(y, [-0.8, 0.8]))
    table = model.summary("CR2", groups=groups)
    clustered = model.summary("clustered_HC0", groups=groups)
    within = [term for term in table.terms if term.name in {"x2", "x3"}]
    assert all(term.p_value is not None and 4.0 < term.df < 30.0 for term in within)
    for term in within:
        plain = clustered.term(term.name, term.output)
        assert term.standard_error == pytest.approx(plain.standard_error, rel=0.2)
        assert term.standard_error > plain.standard_error


@pytest.mark.parametrize("kind", ["HC1", "clustered", "clustered_HC0", "CR2"])
@pytest.mark.parametrize("treated", [1, 3])
@pytest.mark.parametrize("estimator", [sx.LinearRegression(), sx.LogisticRegression()], ids=["linear", "logistic"])
def test_one_coefficient_is_tested_by_name_as_in_the_table(estimator, treated, kind):
    """The joint test of one coefficient is the square of its t: the same p-value, or the same reason."""
    logistic = isinstance(estimator, sx.LogisticRegression)
    X, y, groups = clustered_rows([6] * 10, seed=7)
    X[:, 0] = groups < treated
    given = {} if kind == "HC1" else {"groups": groups}
    model = estimator.fit(X, y > 0.0 if logistic else y)
    table = model.summary(covariance=kind, **given)
    for term in table.terms:
        if term.absent:
            with pytest.raises(DataError) as refused:
                model.wald_test([term.name], covariance=kind, **given)
            assert str(refused.value) == term.absent
            continue
        test = model.wald_test([term.name], covariance=kind, **given)
        assert (test.f_p_value or test.p_value) == pytest.approx(term.p_value, rel=1e-9)
        assert bool(test.note) == any(repr(term.name) in note for note in table.notes)
    assert table.term("x1").absent or kind == "HC1"


def test_the_overall_f_of_one_column_is_its_cell():
    X, y, _ = clustered_rows([1] * 30, seed=12, columns=2)
    X[:, 1] = np.eye(30)[4]
    for place in (0, 1):
        table = sx.LinearRegression().fit(X[:, [place]], y).summary(covariance="HC3")
        cell, overall = table.term("x1"), table.measure("F")
        assert overall.absent == cell.absent
        assert bool(cell.absent) == (place == 1)
        assert overall.p_value == (None if place else pytest.approx(cell.p_value, rel=1e-9))


def test_the_likelihood_is_not_compared_where_rows_are_in_groups():
    """χ² takes rows to be independent: here it rejects a true null in most samples."""
    X, y, groups = clustered_rows([20] * 40, seed=13)
    model = sx.LogisticRegression().fit(X[:, :1], y > 0.0)
    assert model.summary().measure("likelihood ratio").p_value is not None
    assert model.summary("CR2").measure("likelihood ratio").p_value is not None
    for kind in ("clustered", "clustered_HC0", "CR2"):
        measure = model.summary(kind, groups=groups).measure("likelihood ratio")
        assert (measure.value, measure.p_value) == (None, None)
        assert "rows of a group need not be; use wald_test with the same covariance" in measure.absent
