"""Overlap proved by the curvature of the likelihood: what it proves, and forgeries that it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import separatrix as sx
from separatrix.certificates import overlap
from separatrix.certificates.base import PartsCertificate
from separatrix.certificates.curvature import Dependence
from separatrix.certificates.data import data_of
from separatrix.certificates.optimality import LikelihoodCertificate, OptimalityCertificate, bound_within
from separatrix.certificates.overlap import CurvatureProof
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.build import make_design
from separatrix.errors import CertificateError
from separatrix.losses.margin import Logistic
from separatrix.problem import Problem
from separatrix.separability import check
from separatrix.separability.search.search import STOPPED, Separation

N = 80
CLAIM = (
    "the classes overlap: not linearly separable, even in part (the curvature of the likelihood proves its maximum);"
    " the likelihood has a maximum"
)


def rows(classes: int = 2, p: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, p))
    return X, np.digitize(X[:, 0] + rng.logistic(size=N), np.linspace(-1.0, 1.0, classes - 1) if classes > 2 else [0.0])


def claimed(X: np.ndarray, y: np.ndarray, coef: np.ndarray, **proof: Any) -> SeparabilityCertificate:
    """Return the claim that rows of classes 0, 1, … overlap, by the curvature at some coefficients."""
    labels = tuple(range(int(y.max()) + 1))
    targets = np.where(y == 1, 1.0, -1.0) if len(labels) == 2 else y
    data = data_of(make_design(X, intercept=True), labels, targets)
    return SeparabilityCertificate(data=data, n_left=len(y) * (len(labels) - 1), proof=CurvatureProof(coef, **proof))


def doubled() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows whose third column is twice the first, labels, and the coefficients of a fit without that column."""
    X, y = rows()
    model = sx.LogisticRegression().fit(X, y)
    return np.column_stack([X, 2.0 * X[:, 0]]), y, np.array([model.intercept_[0], *model.coef_[0], 0.0])


# What it proves


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_fit_proves_that_its_maximum_exists(classes: int, weighted: bool) -> None:
    X, y = rows(classes)
    weights = np.arange(N) % 3 * 1.0 if weighted else None
    model = sx.LogisticRegression().fit(X, y, sample_weight=weights)
    (existence,) = model.existence_
    assert isinstance(existence.proof, CurvatureProof)
    assert (existence.verdict, existence.claim) == ("overlap", CLAIM)
    assert existence.verify(X, y, weights)
    assert model.certificate_.existence is None
    assert model.certificate_.claim.startswith("the likelihood has a maximum; the objective is at most")
    assert set(existence.coefficient_status.values()) == {"finite"}
    assert existence.divergence_dim == 0
    again = sx.certificate_from_dict(json.loads(existence.to_json()))
    assert again.verify(X, y, weights)
    assert again.to_json() == existence.to_json()


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_each_class_against_the_rest(class_weight: str | None) -> None:
    X, y = rows(3)
    model = sx.LogisticRegression(multiclass="one_vs_rest", class_weight=class_weight).fit(X, y)
    parts = PartsCertificate.of(model.existence_, [0, 1, 2], "one-vs-rest")
    by_class = None if class_weight is None else (N / (3.0 * np.bincount(y)))[y]
    assert parts.verdict == "overlap"
    assert parts.verify(X, y, by_class)
    assert sx.certificate_from_dict(json.loads(parts.to_json())).verify(X, y, by_class)
    assert model.certificate_.verify(X, y)


def test_class_weights_are_those_of_the_fit() -> None:
    X, y = rows()
    model = sx.LogisticRegression(class_weight={0: 1.0, 1: 5.0}).fit(X, y)
    assert model.existence_[0].data.class_weights == (1.0, 5.0)
    assert model.existence_[0].verify(X, y)


@pytest.mark.parametrize("exponent", [3, 6, 9])
def test_nearly_dependent_columns_leave_nothing_undecided(exponent: int) -> None:
    rng = np.random.default_rng(exponent)
    x, z = rng.normal(size=(2, N))
    X, y = np.column_stack([x, x + 10.0**-exponent * z]), (z + rng.logistic(size=N) > 0.0).astype(int)
    model = sx.LogisticRegression().fit(X, y)
    (existence,) = model.existence_
    assert (existence.verdict, model.certificate_.verdict) == ("overlap", "optimal")
    assert isinstance(existence.proof, CurvatureProof)
    assert existence.verify(X, y)
    separated = (z > 0.0).astype(int)
    assert not claimed(X, separated, existence.proof.coef).verify(X, separated)


def test_aliased_columns_need_their_relations() -> None:
    X, y, coef = doubled()
    assert not claimed(X, y, coef).verify(X, y)
    certificate = claimed(X, y, coef, aliased=(3,), relations=({1: Fraction(2)},))
    assert certificate.verify(X, y)
    assert certificate.relations == ({3: -1, 1: 2},)
    assert list(certificate.coefficient_status.values()) == ["finite", "aliased", "finite", "aliased"]
    again = sx.certificate_from_dict(json.loads(certificate.to_json()))
    assert again.verify(X, y)
    assert again.proof.relations == certificate.proof.relations


def test_relations_of_a_softmax_are_those_of_every_class_but_the_first() -> None:
    X, y = rows(3)
    fit = sx.LogisticRegression().fit(X, y).certificate_.optimality
    wide, coef = np.column_stack([X, X[:, 1]]), np.vstack([fit.coef, np.zeros(3)])
    certificate = claimed(wide, y, coef, aliased=(3,), relations=({2: Fraction(1)},))
    assert certificate.verify(wide, y)
    assert certificate.relations == ({3: -1, 2: 1}, {7: -1, 6: 1})


def test_the_curvature_decides_where_the_search_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def undecided(rays: Any, places: Any, *_: Any) -> Separation:
        return Separation(None, places, reason="beyond rational arithmetic")

    monkeypatch.setattr(check, "find_separation", undecided)
    X, y = rows(3)
    weights = np.arange(N) % 4 * 0.5
    for multiclass in ("softmax", "one_vs_rest", "pairs"):
        certificate = sx.check_separability(X, y, sample_weight=weights, multiclass=multiclass)
        assert certificate.verdict == "overlap"
        assert certificate.verify(X, y, weights)
        assert sx.certificate_from_dict(json.loads(certificate.to_json())).verify(X, y, weights)
    apart = (X[:, 0] > 0.0).astype(int)
    found = sx.check_separability(X, apart)
    assert (found.verdict, found.reason) == ("undecided", "beyond rational arithmetic")
    monkeypatch.setattr(check, "find_separation", lambda _, places, *__: Separation(None, places, reason=STOPPED))
    assert sx.check_separability(X, y).verdict == "undecided"


# Forgeries


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["separable", "quasi"])
def test_no_coefficients_prove_overlap_of_separated_rows(kind: str, seed: int) -> None:
    X, _ = rows(seed=seed)
    y = (X[:, 0] > 0.0).astype(int)
    if kind == "quasi":
        X[:6, 0], y[:6] = 0.0, np.arange(6) % 2
    rng = np.random.default_rng(seed)
    ridge = sx.LogisticRegression(strength=1e-6).fit(X, y)
    points = [np.zeros(3), np.array([ridge.intercept_[0], *ridge.coef_[0]])]
    points += [scale * np.array([0.0, 1.0, 0.0]) for scale in (1e-3, 1.0, 30.0, 1e3)]
    points += list(rng.normal(scale=5.0, size=(10, 3)))
    for coef in points:
        plain = claimed(X, y, coef)
        assert plain.verify(X, y).outcome == "not proved"
        for weights in (rng.exponential(size=N), 10.0 ** rng.uniform(-9.0, 9.0, size=N)):
            weighted = plain.about(replace(plain.data, weights=True))
            assert weighted.verify(X, y, weights).outcome == "not proved"


def test_no_coefficients_prove_overlap_of_separated_classes() -> None:
    X, _ = rows()
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    rng = np.random.default_rng(1)
    for scale in (0.0, 1.0, 10.0, 100.0):
        assert not claimed(X, y, scale * rng.normal(size=(3, 3))).verify(X, y)


def test_a_false_alias_is_refused_with_its_row() -> None:
    X, y, coef = doubled()
    X[17, 2] += 2.0**-40
    found = claimed(X, y, coef, aliased=(3,), relations=({1: Fraction(2)},)).verify(X, y)
    assert found.outcome == "not proved"
    assert "row 17 breaks a relation" in str(found)
    separable = np.column_stack([X[:, 1], X[:, 0]]), (X[:, 0] > 0.0).astype(int)
    false = claimed(*separable, np.zeros(3), aliased=(2,), relations=({1: Fraction(1)},))
    assert false.verify(*separable).outcome == "not proved"  # without the column that separates, the others overlap


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"relations": []}, "0 relations are given for 1 columns"),
        ({"aliased": [], "relations": [{"1": 2.0}]}, "1 relations are given for 0 columns"),
        ({"aliased": [4]}, "aliased and held columns are distinct, and below 4"),
        ({"relations": [{"3": 1.0}]}, "a relation has columns that are themselves aliased or held"),
        ({"coef": [0.0, 1.0]}, r"the coefficients have shape \(2,\); \(4,\) is needed"),
        ({"coef": [[0.0, 1.0]] * 4}, r"the coefficients have shape \(4, 2\); \(4,\) is needed"),
        ({"places": [1]}, r"witness.proof.places is unknown; known: 'coef', 'aliased', 'relations'"),
        ({"coef": None}, "witness.proof.coef is null"),
    ],
)
def test_what_is_malformed_is_refused(change: dict[str, Any], complaint: str) -> None:
    X, y, coef = doubled()
    content = json.loads(claimed(X, y, coef, aliased=(3,), relations=({1: Fraction(2)},)).to_json())
    content["witness"]["proof"].update(change)
    with pytest.raises(CertificateError, match=complaint):
        sx.certificate_from_dict(content)


def test_the_curvature_is_that_of_all_rows() -> None:
    certificate = claimed(*rows(), np.zeros(3))
    with pytest.raises(ValueError, match="79 rays are left, where the curvature is that of all 80"):
        replace(certificate, n_left=N - 1)
    with pytest.raises(ValueError, match="there is a direction, where the curvature proves"):
        replace(certificate, weights=(Fraction(1),) * 3)


def test_many_coefficients_are_beyond_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "MAX_WIDTH", 2)
    X, y = rows()
    assert claimed(X, y, np.zeros(3)).verify(X, y).outcome == "beyond limits"


# Held columns


@pytest.mark.parametrize("held_coef", [0.0, 0.25])
def test_a_maximum_over_the_columns_that_are_not_held(held_coef: float) -> None:
    X, y = rows()
    X = np.column_stack([X, 2.2046226218 * X[:, 0]])
    model = sx.LogisticRegression().fit(X[:, :2], y)
    coef = np.array([model.intercept_[0], *model.coef_[0], held_coef])
    coef[1] -= 2.2046226218 * held_coef
    problem = Problem(make_design(X, intercept=True), np.where(y == 1, 1.0, -1.0), Logistic(), labels=(0, 1))
    dependence = Dependence(held=(3,))
    bound = bound_within(problem, coef, None, dependence, slack=3.0)
    assert bound is not None
    optimality = OptimalityCertificate.of(problem, coef, bound, dependence=dependence)
    certificate = LikelihoodCertificate(data=optimality.data, optimality=optimality, existence=None)
    assert (certificate.exists, certificate.verdict) == (True, "optimal within")
    assert certificate.claim.startswith("the likelihood has a maximum over the other columns, with 'x3' held; the obj")
    assert certificate.separability is None
    assert sx.certificate_from_dict(json.loads(certificate.to_json())).verify(X, y)
    with pytest.raises(ValueError, match="nothing proves that the likelihood has a maximum"):
        replace(certificate, optimality=replace(optimality, radii=None, held=()))
