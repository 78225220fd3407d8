"""The fewest mistakes: against enumeration, bounds under a limit, proofs re-checked and tampered with."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import separatrix as sx
from separatrix.certificates.base import certificate_from_dict
from separatrix.certificates.fewest_mistakes import InfeasibleRows, hitting_set_needs, packing_bound
from separatrix.errors import CertificateError, ConvergenceWarning, OptionError
from separatrix.solvers.fewest_mistakes import exact_subsystem


def noisy(n=60, p=3, flipped=0.1, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.sign(X @ rng.normal(size=p))
    y[rng.random(n) < flipped] *= -1
    return X, y


def can_cancel(Z):
    """Tell whether rows of small integers have a convex combination of 0: then no w gets them all right."""
    system = np.vstack([Z.T, np.ones(len(Z))])
    return linprog(np.zeros(len(Z)), A_eq=system, b_eq=np.append(np.zeros(Z.shape[1]), 1.0)).status == 0


def fewest_by_trying(Z):
    """Return the fewest rows to drop so that the rest can all be right."""
    for size in range(len(Z)):
        if any(not can_cancel(np.delete(Z, rows, axis=0)) for rows in combinations(range(len(Z)), size)):
            return size
    return len(Z)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_fewest_mistakes_are_those_found_by_trying(data):
    p, n = data.draw(st.integers(1, 3)), data.draw(st.integers(2, 8))
    entries = st.lists(st.integers(-2, 2), min_size=p, max_size=p)
    X = np.array(data.draw(st.lists(entries, min_size=n, max_size=n)), dtype=float)
    y = np.array([-1, 1, *data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n - 2, max_size=n - 2))])
    intercept = data.draw(st.booleans())
    Z = y[:, np.newaxis] * (np.column_stack([np.ones(n), X]) if intercept else X)
    found = sx.fewest_removals(X, y, fit_intercept=intercept)
    assert found.exact
    assert len(found.rows) == fewest_by_trying(Z)
    assert found.certificate.verify(X, y)


def test_sixty_noisy_rows_and_their_proof():
    X, y = noisy()
    model = sx.ZeroOneClassifier().fit(X, y)
    certificate = model.certificate_
    assert certificate.verdict == "minimum"
    assert certificate.upper == int((model.predict(X) != y).sum()) == 6
    assert certificate.verify(X, y)
    assert max(len(system.rows) for system in certificate.subsystems) <= X.shape[1] + 2
    again = certificate_from_dict(json.loads(certificate.to_json()))
    assert again.to_json() == certificate.to_json()
    sparse = sx.ZeroOneClassifier().fit(sp.csr_array(X), y)
    assert sparse.certificate_.upper == 6
    lower, upper = model.trace_.steps["lower"], model.trace_.steps["upper"]
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(upper) <= 0).all()
    assert lower[-1] == upper[-1] == 6


def test_limits_leave_bounds_that_verify():
    X, y = noisy(150, 4, flipped=0.3, seed=3)
    with pytest.warns(
        ConvergenceWarning, match=r"stopped, as max_steps=20 was reached: \d+ mistakes on 150 rows; every"
    ):
        model = sx.ZeroOneClassifier(max_steps=20).fit(X, y)
    assert model.result_.status == "max_steps"
    assert 0 < model.certificate_.lower < model.certificate_.upper
    assert model.certificate_.verify(X, y)
    assert model.certificate_.verdict == "bounds"
    with pytest.warns(ConvergenceWarning, match="time_limit=0.3 s was reached"):
        model = sx.ZeroOneClassifier(time_limit=0.3).fit(X, y)
    assert model.result_.status == "time_limit"
    assert model.result_.seconds < 5.0


def test_progress_is_told_while_it_searches():
    told = []
    X, y = noisy()
    sx.ZeroOneClassifier(watch=told.append).fit(X, y)
    assert len(told) > 3
    assert {"lower", "upper", "subsystems", "seconds"} <= set(told[0])
    assert told[-1]["lower"] == told[-1]["upper"] == 6
    before = len(told)
    sx.fewest_removals(X, y, watch=told.append)
    assert len(told) > before


def test_separable_rows_need_no_removal():
    found = sx.fewest_removals([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    assert (found.rows.tolist(), found.lower, found.exact) == ([], 0, True)
    assert str(found) == "0 rows to remove, the fewest"
    assert found.certificate.verify([[0.0], [1.0], [2.0]], ["a", "a", "b"])


def test_a_score_of_zero_is_a_mistake():
    X, y = [[0.0], [1.0], [-1.0]], [1, 1, -1]
    found = sx.fewest_removals(X, y, fit_intercept=False)
    assert found.rows.tolist() == [0]
    assert found.exact
    assert found.certificate.subsystems[0].rows == (0,)


def test_repeated_rows_of_both_labels():
    X, y = np.repeat([[1.0, 2.0], [3.0, 1.0]], 4, axis=0), [0, 0, 0, 1, 1, 1, 0, 1]
    found = sx.fewest_removals(X, y)
    assert len(found.rows) == found.lower == 2


def test_several_classes_each_have_their_bounds():
    X, y = sx.load_demo("iris")
    with pytest.warns(ConvergenceWarning, match="'versicolor' against the rest: stopped"):
        model = sx.ZeroOneClassifier(max_steps=30).fit(X, y)
    parts = model.certificate_.parts
    assert (parts[0].upper, parts[0].lower) == (0, 0)
    assert parts[2].upper == parts[2].lower == 1
    assert model.certificate_.verify(X, y)


def test_tampered_certificates_are_refused():
    X, y = noisy()
    certificate = sx.ZeroOneClassifier().fit(X, y).certificate_
    first, *others = certificate.subsystems
    wrong = InfeasibleRows(first.rows, (first.multipliers[0] + 1, *first.multipliers[1:]))
    negative = certificate.to_dict()
    negative["witness"]["subsystems"][0]["multipliers"][0] = str(-first.multipliers[0])
    with pytest.raises(
        CertificateError, match=r"witness.subsystems\[0\].multipliers\[0\] is .*; a .* above 0 is needed"
    ):
        sx.certificate_from_dict(negative)
    strange = InfeasibleRows((*first.rows[:-1], 1000), first.multipliers)
    with pytest.raises(ValueError, match="a subsystem has rows beyond the 60 of the data"):
        replace(certificate, subsystems=(strange, *others))
    tampered = {
        "more than are needed": replace(certificate, lower=7),
        "does not cancel in column": replace(certificate, subsystems=(wrong, *others)),
        "counted": replace(certificate, coef=-certificate.coef),
        "some 5 rows hit every subsystem": replace(certificate, subsystems=(first,), packing=(Fraction(9),)),
    }
    for reason, bad in tampered.items():
        refusal = bad.verify(X, y)
        assert not refusal, reason
        if reason != "more than are needed":
            assert reason in str(refusal)
    assert not certificate.verify(X, -y)
    assert not certificate.verify(X[:-1], y[:-1])


def test_options_are_checked():
    with pytest.raises(OptionError, match="time_limit=0 is out of range; give a finite number above 0"):
        sx.ZeroOneClassifier(time_limit=0).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(sx.errors.DataError, match="X has 2 rows and y has 3 labels"):
        sx.fewest_removals([[0.0], [1.0]], [0, 1, 1])


# Covers


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=4), min_size=1, max_size=8))
def test_the_search_finds_the_size_of_the_smallest_cover(sets):
    sets = [sorted(each) for each in sets]
    least = next(
        size
        for size in range(9)
        if any(all(set(chosen) & set(each) for each in sets) for chosen in combinations(range(8), size))
    )
    assert hitting_set_needs(sets, least) is True
    assert hitting_set_needs(sets, least + 1) is False
    assert hitting_set_needs(sets, least, max_nodes=0) is None


def test_a_packing_counts_only_if_no_row_is_overloaded():
    sets = [(0, 1), (1, 2), (0, 2)]
    assert packing_bound(sets, [Fraction(1, 2)] * 3) == 2
    assert packing_bound(sets, [Fraction(51, 100), Fraction(1, 2), Fraction(1, 2)]) == 0
    assert packing_bound(sets, [Fraction(-1), Fraction(1), Fraction(0)]) == 0


# Subsystems


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_subsystems_are_exact_and_minimal(data):
    p, k = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 6))
    entries = st.lists(st.integers(-2, 2), min_size=p, max_size=p)
    Z = np.array(data.draw(st.lists(entries, min_size=k, max_size=k)), dtype=float)
    found = exact_subsystem(Z * 0.1, range(k))
    assert (found is not None) == can_cancel(Z)
    if found is not None:
        rows = list(found.rows)
        assert min(found.multipliers) > 0
        totals = [
            sum(m * Fraction(z) for m, z in zip(found.multipliers, column, strict=True)) for column in (Z * 0.1)[rows].T
        ]
        assert not any(totals)
        assert all(not can_cancel(np.delete(Z[rows], place, axis=0)) for place in range(len(rows)) if len(rows) > 1)
