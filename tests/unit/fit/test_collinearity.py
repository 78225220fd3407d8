"""Exact relations between dependent columns, and columns that are dependent only to rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from separatrix.certificates.curvature import INDEPENDENT, Dependence
from separatrix.design.build import make_design
from separatrix.fit import convex
from separatrix.fit.collinearity import find_collinearity
from separatrix.losses.margin import Logistic
from separatrix.problem import Problem

N = 60


def columns(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(N, count))


def test_independent_columns_cost_one_pass():
    design = make_design(columns(0, 4), intercept=True)
    assert find_collinearity(design, None) == INDEPENDENT
    assert design.passes == 1.0


@pytest.mark.parametrize("exponent", [-500, 0, 500])
@pytest.mark.parametrize("offset", [0.0, 2.0**32])
def test_relations_are_exact_in_any_unit(exponent: int, offset: float):
    whole = np.random.default_rng(1).integers(-50, 50, size=(N, 2)).astype(float)
    X = np.column_stack([whole[:, 0] + offset, whole[:, 1], 3.0 * (whole[:, 0] + offset) - 0.5 * whole[:, 1] + 32.0])
    unit = Fraction(2) ** exponent
    X[:, 2] = np.ldexp(X[:, 2], exponent)
    relation = {0: 32 * unit, 1: 3 * unit, 2: -unit / 2}
    assert find_collinearity(make_design(X, intercept=True), None) == Dependence((3,), (relation,))


def test_a_set_of_indicators_and_a_column_of_zeros():
    codes = np.random.default_rng(2).integers(0, 3, size=N)
    X = np.column_stack([np.eye(3)[codes], np.zeros(N)])
    expected = Dependence((3, 4), ({0: Fraction(1), 1: Fraction(-1), 2: Fraction(-1)}, {}))
    assert find_collinearity(make_design(X, intercept=True), None) == expected
    assert find_collinearity(make_design(scipy.sparse.csr_array(X), intercept=True), None) == expected


def test_shares_that_are_no_simple_fractions_are_solved_for():
    x = np.random.default_rng(3).integers(-8, 9, size=(N, 2)).astype(float)
    shares = np.array([1234567891.0 / 2**34, 987654321.0 / 2**40])  # of few digits, so that the sum is exact
    found = find_collinearity(make_design(np.column_stack([x, x @ shares]), intercept=False), None)
    assert found == Dependence((2,), ({0: Fraction(shares[0]), 1: Fraction(shares[1])},))


def test_a_column_that_is_dependent_to_rounding_only_is_held():
    celsius = np.random.default_rng(4).uniform(-20.0, 40.0, size=N).round(1)
    X = np.column_stack([celsius, 1.8 * celsius + 32.0])
    assert find_collinearity(make_design(X, intercept=True), None) == Dependence(held=(2,))
    kilograms = columns(5, 1)
    X = np.hstack([kilograms, 2.2046226218 * kilograms, kilograms])
    expected = Dependence((2,), ({0: Fraction(1)},), held=(1,))
    assert find_collinearity(make_design(X, intercept=False), None) == expected


def test_rows_of_weight_zero_do_not_count():
    x = columns(6, 1)
    X, weights = np.hstack([x, 2.0 * x]), np.ones(N)
    X[7, 1] += 1.0
    assert find_collinearity(make_design(X, intercept=True), weights) == INDEPENDENT
    weights[7] = 0.0
    assert find_collinearity(make_design(X, intercept=True), weights) == Dependence((2,), ({1: Fraction(2)},))


@pytest.mark.parametrize("offset", [0.0, 2.0**20, 2.0**32, 2.0**40])
def test_an_offset_makes_no_column_dependent(offset: float):
    X = columns(7, 2) + offset
    assert find_collinearity(make_design(X, intercept=True), None) == INDEPENDENT


def test_more_columns_than_rows():
    X = np.random.default_rng(8).integers(-3, 4, size=(4, 6)).astype(float)
    found = find_collinearity(make_design(X, intercept=True), None)
    assert len(found.aliased) == 7 - np.linalg.matrix_rank(np.column_stack([np.ones(4), X]))
    assert not found.held
    for column, relation in zip(found.aliased, found.relations, strict=True):
        rows = [[Fraction(1), *map(Fraction, row)] for row in X.tolist()]
        assert all(row[column] == sum(share * row[j] for j, share in relation.items()) for row in rows)


def test_the_solvers_of_a_fit_share_the_relations(monkeypatch: pytest.MonkeyPatch):
    """A tolerance that no solver reaches: each computes the bound over the independent columns."""
    rng, designs = np.random.default_rng(0), []

    def counted(design, weights):
        designs.append(design)
        return find_collinearity(design, weights)

    monkeypatch.setattr(convex, "find_collinearity", counted)
    x, z = rng.normal(size=(2, 60))
    design = make_design(np.column_stack([x, x + z * 1e-15]), intercept=True)
    problem = Problem(design, np.where(x + rng.logistic(size=60) > 0.0, 1.0, -1.0), Logistic())
    fit = convex.fit_convex(problem, convex.ConvexOptions(tol=1e-30))
    assert ", then " in fit.reason
    assert len(designs) == 1
