"""Faces of too many columns to be solved densely: scores found row by row, equal rows, and rows of two classes."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.certificates import standalone
from separatrix.certificates.base import certificate_from_dict
from separatrix.certificates.overlap import CurvatureProof, OverlapProof, exact_residual
from separatrix.certificates.rays import Rays
from separatrix.design.build import make_design
from separatrix.separability import check
from separatrix.separability.search import search
from separatrix.separability.search.proof import find_relations, sparse_multipliers, whiten
from separatrix.separability.search.wide import equal_rows, equalise_scores, passive_aggressive


@pytest.fixture
def all_wide(monkeypatch):
    """Have every problem taken for one of too many columns."""
    monkeypatch.setattr(search, "DENSE_ENTRIES", 0)


def texts(rows=300, words=900, classes=5):
    """Counts of words, a few a row, each class preferring its own."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, classes, rows)
    own = rng.integers(0, words // classes, (rows, 12)) * classes + y[:, np.newaxis]
    chosen = np.where(rng.random((rows, 12)) < 0.4, own, rng.integers(0, words, (rows, 12)))
    entries = np.ones(chosen.size), (np.repeat(np.arange(rows), 12), chosen.ravel())
    return sp.coo_array(entries, shape=(rows, words)).tocsr(), y


def overlapping(rows=400):
    """Two classes that overlap, a third apart by a column that only it has."""
    rng = np.random.default_rng(3)
    X = rng.integers(-4, 5, (rows, 4)).astype(float)
    y = rng.integers(0, 3, rows)
    X[:, 3] = np.where(y == 2, np.abs(X[:, 3]) + 1.0, 0.0)
    return X, y


@pytest.mark.parametrize("store", [sp.csr_array, sp.csc_array, lambda X: X.toarray()])
@pytest.mark.parametrize("intercept", [True, False])
def test_texts_of_several_classes_are_separated(all_wide, store, intercept):
    X, y = texts()
    certificate = sx.check_separability(store(X), y, fit_intercept=intercept)
    assert certificate.verdict == "separable"
    assert certificate.n_left == 0
    assert all(weight.denominator == 1 for weight in certificate.weights)
    assert certificate.verify(X, y)
    assert not certificate.verify(X, np.roll(y, 1))


def test_a_wide_problem_goes_the_wide_way_by_itself():
    X, y = texts(rows=1500, words=6000, classes=4)
    X = sp.vstack([X, X[:1]]).tocsr()
    y = np.append(y, (y[0] + 1) % 4)
    certificate = sx.check_separability(X, y)
    assert (certificate.verdict, certificate.n_left, certificate.n_overlap) == ("quasi", 2, 2)
    assert certificate.divergence_dim is None
    assert certificate.verify(X, y)


def test_equal_rows_are_all_that_is_left(all_wide):
    X, y = texts()
    X = sp.vstack([X, X[[0, 0, 5, 9]]]).tocsr()
    others = [(y[0] + 1) % 5, (y[0] + 2) % 5, (y[5] + 1) % 5, y[9]]  # the last is of the same class: no clash
    y = np.append(y, others)
    certificate = sx.check_separability(X, y)
    assert certificate.verdict == "quasi"
    assert certificate.n_left == certificate.n_overlap == 6 + 2
    assert certificate.left_rows(X, y).tolist() == [0, 5, 300, 301, 302]
    assert "all but 8 row-and-class pairs are perfectly separated, and the rest overlap" in certificate.claim
    assert certificate.verify(X, y)
    assert certificate_from_dict(json.loads(certificate.to_json())) == certificate


def test_equal_rows_of_two_classes(all_wide):
    X, y = texts(classes=2)
    X, y = sp.vstack([X, X[[4, 4]]]).tocsr(), np.append(y, [1 - y[4], 1 - y[4]])
    certificate = sx.check_separability(X, y)
    assert (certificate.verdict, certificate.n_left) == ("quasi", 3)
    assert sorted(certificate.clashes[0].proof.multipliers) == [Fraction(1, 2), Fraction(1, 2), Fraction(1)]
    assert certificate.verify(X, y)


def test_empty_rows_without_an_intercept_are_left(all_wide):
    X, y = texts()
    X, y = sp.vstack([X, sp.csr_array((2, 900))]).tocsr(), np.append(y, [3, 3])
    certificate = sx.check_separability(X, y, fit_intercept=False)
    assert (certificate.verdict, certificate.n_left, certificate.n_overlap) == ("quasi", 8, 8)
    assert certificate.verify(X, y)
    assert sx.check_separability(X, y).verdict == "separable"


def test_levels_hold_exactly_and_do_not_undo_each_other():
    X = np.array([[3.0, 1.0, 0.1], [3.0, 1.0, 0.1], [3.0, 0.0, 0.7], [3.0, 0.0, 0.7], [0.0, 0.0, 1.0]])
    rays = Rays(make_design(X, intercept=True), np.array([0, 1, 1, 2, 0]), 3)
    found = equal_rows(rays, np.arange(rays.count))
    scores = np.random.default_rng(0).normal(size=(4, 3))
    scores = np.array([[Fraction(x) for x in row] for row in scores.tolist()], dtype=object)
    exact = equalise_scores(rays, scores, found.constraints)
    for row, (a, b) in found.constraints:
        x = [Fraction(1), *map(Fraction, X[row])]
        assert sum(value * (exact[j, a] - exact[j, b]) for j, value in enumerate(x)) == 0
    assert equalise_scores(rays, scores, found.constraints * 3) is None  # no weight is left to change


def test_two_classes_that_cancel_show_that_not_all_can_be_separated(all_wide):
    X, y = overlapping()
    certificate = sx.check_separability(X, y)
    assert certificate.verdict == "quasi"
    (clash,) = certificate.clashes
    assert clash.pair == (0, 1)
    assert 0 < certificate.n_overlap == len(clash.proof.places) < certificate.n_left
    assert f"and at least {certificate.n_overlap} of the rest overlap" in certificate.claim
    assert certificate.coefficient_status == {}
    assert certificate.verify(X, y)
    assert certificate_from_dict(json.loads(certificate.to_json())) == certificate


def basis_alone(proof: OverlapProof) -> OverlapProof:
    """Return a proof with the rows of its basis only, which are independent and cannot cancel."""
    rho = len(proof.columns)
    assert rho < len(proof.places)
    return replace(proof, places=proof.places[:rho], multipliers=proof.multipliers[:rho])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda clash: replace(clash, pair=(0, 2)), "is of neither class of a clash"),
        (lambda clash: replace(clash, pair=(0, 7)), "do not fit the data"),
        (lambda clash: replace(clash, proof=basis_alone(clash.proof)), "multipliers"),
        (lambda clash: replace(clash, proof=OverlapProof(clash.proof.places, clash.proof.multipliers, ())), "cancel"),
        (lambda clash: replace(clash, proof=OverlapProof((), (), ())), "0 rows of the classes"),
    ],
)
def test_tampered_clashes_are_refused(all_wide, change, message):
    X, y = overlapping()
    certificate = sx.check_separability(X, y)
    tampered = replace(certificate, clashes=(change(certificate.clashes[0]),))
    verification = tampered.verify(X, y)
    assert not verification
    assert message in str(verification)


def test_a_clash_twice_or_beside_what_it_does_not_show_is_refused(all_wide):
    X, y = overlapping()
    certificate = sx.check_separability(X, y)
    assert not replace(certificate, clashes=certificate.clashes * 2).verify(X, y)
    for changes, complaint in (
        ({"proof": certificate.clashes[0].proof}, "clashes take the place of a proof of overlap"),
        ({"weights": None, "n_left": 800}, "neither a direction nor a proof of overlap"),
    ):
        with pytest.raises(ValueError, match=complaint):
            replace(certificate, **changes)


def test_the_second_verifier_says_that_it_cannot_check_clashes(all_wide, tmp_path, capsys):
    X, y = overlapping()
    (tmp_path / "c.json").write_text(sx.check_separability(X, y).to_json(), encoding="utf-8")
    lines = ["a,b,c,d,y", *(",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y, strict=True))]
    (tmp_path / "d.csv").write_text("\n".join(lines), encoding="utf-8")
    assert standalone.main([str(tmp_path / "c.json"), str(tmp_path / "d.csv"), "--target", "y"]) == 2
    assert "cannot be checked here: separability that is undecided, or proved by clashes" in capsys.readouterr().out


def test_overlap_of_all_classes_stays_undecided_where_columns_are_too_many(all_wide, monkeypatch):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 3, 200)
    assert isinstance(sx.check_separability(X, y).proof, CurvatureProof)
    monkeypatch.setattr(check, "MAX_WIDTH", 2)
    certificate = sx.check_separability(X, y)
    assert certificate.verdict == "undecided"
    assert "columns are too many to decide it" in certificate.reason


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
def test_the_wide_way_never_contradicts_the_other(seed, classes, intercept):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 16)), int(rng.integers(2, 9))
    X, y = rng.integers(-1, 3, (n, p)).astype(float), rng.integers(0, classes, n)
    known = sx.check_separability(X, y, fit_intercept=intercept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "DENSE_ENTRIES", 0)
        found = sx.check_separability(X, y, fit_intercept=intercept)
    assert found.verdict in {known.verdict, "undecided"}
    assert found.verify(X, y).outcome == ("nothing claimed" if found.verdict == "undecided" else "proved")
    if found.clashes:
        assert found.n_overlap <= known.n_left <= found.n_left


@pytest.mark.parametrize(
    ("seed", "classes", "verdicts"), [(3667, 3, {"quasi", "undecided"}), (4003, 2, {"overlap", "undecided"})]
)
def test_rows_that_all_equal_rows_of_other_classes_are_no_error(monkeypatch, seed, classes, verdicts):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(4, 16)), int(rng.integers(2, 9))
    X, y = rng.integers(-1, 3, (n, p)).astype(float), rng.integers(0, classes, n)
    monkeypatch.setattr(search, "DENSE_ENTRIES", 0)
    certificate = sx.check_separability(X, y, fit_intercept=False)
    assert certificate.verdict in verdicts
    outcome = "nothing claimed" if certificate.verdict == "undecided" else "proved"
    assert certificate.verify(X, y).outcome == outcome


def test_scores_give_up_early_on_classes_that_overlap():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(500, 3)), rng.integers(0, 3, 500)
    rays = Rays(make_design(X, intercept=True), y, 3)
    _, margins = passive_aggressive(rays, np.arange(rays.count), ())
    assert (margins <= 0.0).mean() > 0.2
    assert rays.design.passes < 10


def test_rays_that_cannot_cancel_give_the_direction_that_forbids_it():
    rng = np.random.default_rng(4)
    rays = rng.normal(size=(300, 6))
    rays[:, 0] = np.where(np.arange(300) < 40, np.abs(rays[:, 0]), 0.0)  # the first 40 can be separated
    white = whiten(rays)
    found = sparse_multipliers(rays, white, np.ones(300), find_relations(rays, white))
    direction, active = found
    products = white.basis @ direction
    assert products.min() > -1e-10 * products.max()
    assert np.abs(products[active]).max() < 1e-10 * products.max()
    assert set(np.flatnonzero(products > 1e-3 * products.max())) <= set(range(40))


def test_the_exact_residual_skips_zeros():
    values = np.array([[0.1, 0.0, 0.0], [0.0, 0.25, 0.0], [-0.2, 3.0, 0.0]])
    found = exact_residual(values, (Fraction(2, 3), Fraction(1), Fraction(1, 3)))
    assert found == [Fraction(0.1) * Fraction(2, 3) - Fraction(0.2) / 3, Fraction(5, 4), Fraction(0)]
