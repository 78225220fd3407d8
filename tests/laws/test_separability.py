"""Separability on random whole numbers against a brute-force rational program, in any units, and tampered proofs."""

from __future__ import annotations

import copy
import json
import random
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.certificates import standalone
from separatrix.certificates.overlap import dense_relation
from separatrix.certificates.rays import Rays
from separatrix.design.build import make_design
from separatrix.errors import CertificateError

COMMON = settings(max_examples=70, deadline=None)


def in_cone(rays, target):
    """Tell whether a target is a nonnegative combination of rays: phase one of the simplex method, Bland's rule."""
    rows = [[Fraction(ray[k]) for ray in rays] + [Fraction(target[k])] for k in range(len(target))]
    rows = [row if row[-1] >= 0 else [-x for x in row] for row in rows]
    size = len(rows)
    rows = [row[:-1] + [Fraction(int(i == k)) for i in range(size)] + row[-1:] for k, row in enumerate(rows)]
    basis = list(range(len(rays), len(rays) + size))
    cost = [-sum(row[j] for row in rows) for j in range(len(rays))] + [Fraction(0)] * size + [-sum(r[-1] for r in rows)]
    while (entering := next((j for j in range(len(rays)) if cost[j] < 0), None)) is not None:
        ratios = [(row[-1] / row[entering], basis[k], k) for k, row in enumerate(rows) if row[entering] > 0]
        k = min(ratios)[2]
        rows[k] = [x / rows[k][entering] for x in rows[k]]
        for i in range(size):
            if i != k:
                rows[i] = [x - rows[i][entering] * z for x, z in zip(rows[i], rows[k], strict=True)]
        cost = [x - cost[entering] * z for x, z in zip(cost, rows[k], strict=True)]
        basis[k] = entering
    return cost[-1] == 0


def brute_force(X, y, intercept):
    """Return the verdict and the rows left: those whose negative ray is a combination of the others."""
    signs = np.where(np.asarray(y) == max(y), 1, -1)
    rays = [[s * x for x in ([1, *row] if intercept else row)] for s, row in zip(signs.tolist(), X, strict=True)]
    others = [[ray for k, ray in enumerate(rays) if k != i] for i in range(len(rays))]
    left = [i for i, ray in enumerate(rays) if in_cone(others[i], [-x for x in ray])]
    return ("separable" if not left else "overlap" if len(left) == len(rays) else "quasi"), left


@st.composite
def labelled_rows(draw, most=12):
    n, p = draw(st.integers(2, most)), draw(st.integers(2, 4))
    spread = draw(st.sampled_from([1, 2, 5]))
    X = draw(st.lists(st.lists(st.integers(-spread, spread), min_size=p, max_size=p), min_size=n, max_size=n))
    if draw(st.booleans()):
        w = draw(st.lists(st.integers(-2, 2), min_size=p, max_size=p))
        noise = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
        y = [int(np.dot(w, row) > 0) if np.dot(w, row) else extra for row, extra in zip(X, noise, strict=True)]
    else:
        y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return X, y if len(set(y)) == 2 else [0, 1, *y[2:]]


def second_opinion(written, X, y):
    """Check the JSON of a certificate with the verifier that shares no code with the first, from a table."""
    lines = [",".join([*(repr(float(x)) for x in row), str(label)]) for row, label in zip(X, y, strict=True)]
    with TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        header = ",".join([*(f"x{j + 1}" for j in range(len(X[0]))), "label"])
        table.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
        standalone.check(json.loads(json.dumps(written)), str(table), {"--target": "label"})


@COMMON
@given(labelled_rows(), st.booleans())
def test_the_verdict_is_that_of_a_rational_program(data, intercept):
    X, y = data
    certificate = sx.check_separability(X, y, fit_intercept=intercept)
    verdict, left = brute_force(X, y, intercept)
    assert certificate.verdict == verdict
    assert certificate.left_rows(X, y).tolist() == left
    assert sx.certificate_from_dict(json.loads(certificate.to_json())) == certificate
    verification = certificate.verify(X, y)
    assert verification, str(verification)
    second_opinion(certificate.to_dict(), X, y)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(labelled_rows(), st.randoms(use_true_random=False))
def test_units_order_and_reflection_change_nothing(data, chance):
    X, y = np.array(data[0], dtype=float), np.array(data[1])
    before = sx.check_separability(X, y)
    scales = np.array([2.0 ** chance.randint(-400, 400) for _ in range(X.shape[1])])
    shifts = np.array([float(chance.randint(-1000, 1000)) for _ in range(X.shape[1])])
    order = list(range(len(y)))
    chance.shuffle(order)
    changed = {
        "rescaled": (X * scales, y),
        "shifted": (X + shifts, y),
        "permuted": (X[order], y[order]),
        "columns permuted": (X[:, ::-1], y),
        "reflected": (-X, y),
        "classes exchanged": (X, 1 - y),
        "doubled": (np.vstack([X, X]), np.concatenate([y, y])),
        "a column copied": (np.column_stack([X, X[:, 0]]), y),
        "a column of ones": (np.column_stack([X, np.ones(len(y))]), y),
    }
    for what, (moved, labels) in changed.items():
        after = sx.check_separability(moved, labels)
        assert after.verdict == before.verdict, what
        assert after.divergence_dim == before.divergence_dim, what
        assert after.verify(moved, labels), what


def flips(value, path=()):
    """Yield the places of all numbers in JSON values."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flips(inner, (*path, key))
    elif isinstance(value, list):
        for key, inner in enumerate(value):
            yield from flips(inner, (*path, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def value_at(content, path):
    return content if not path else value_at(content[path[0]], path[1:])


def tampered(content, path):
    changed = copy.deepcopy(content)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = -place[path[-1]] if place[path[-1]] else 1
    return changed


@COMMON
@given(labelled_rows(), st.integers(0, 10**6))
def test_a_flipped_number_is_refused_by_both_or_proves_the_same(data, seed):
    X, y = data
    honest = sx.check_separability(X, y).to_dict()
    numbers = {key: honest[key] for key in ("data", "statement", "witness")}
    path = random.Random(seed).choice(list(flips(numbers)))
    false = {**honest, **tampered(numbers, path)}
    try:
        held = bool(sx.certificate_from_dict(false).verify(X, y))
    except CertificateError:
        held = False
    try:
        second_opinion(false, X, y)
        second = True
    except (ValueError, LookupError, TypeError, ArithmeticError):
        second = False
    assert held == second
    # A direction may still be one with an entry turned round, a relation's only entry has no sign, and row or
    # column 1 may do as well as row or column 0; nothing else.
    turned = bool({"weights", "relations", "aliases", "opposites"} & set(path))
    harmless = turned or (bool({"places", "spanning", "columns"} & set(path)) and value_at(numbers, path) == 0)
    assert not held or harmless, path


@pytest.mark.parametrize("multiclass", ["pairs", "one_vs_rest"])
def test_the_second_verifier_knows_several_classes(multiclass):
    X, y = sx.load_demo("iris")
    certificate = sx.check_separability(X[::5], y[::5], multiclass=multiclass)
    second_opinion(certificate.to_dict(), X[::5], y[::5])
    with pytest.raises(ValueError, match=r"wrong side|label|claimed|cancel"):
        second_opinion(certificate.to_dict(), X[::5], np.roll(y[::5], 11))


@pytest.mark.parametrize("text", ["{}", "[1]", "7", '{"kind": ', '{"kind": "mistakes"}', "", "NaN", '{"a": 1, "a": 2}'])
def test_the_second_verifier_refuses_what_is_no_certificate(text, tmp_path, capsys):
    (tmp_path / "c.json").write_text(text, encoding="utf-8")
    (tmp_path / "t.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    assert standalone.main([str(tmp_path / "c.json"), str(tmp_path / "t.csv"), "--target", "y"]) == 1
    assert capsys.readouterr().out.startswith("not proved: ")


@pytest.mark.parametrize(
    "certificate",
    [
        {"format": 1, "kind": "separability"},
        sx.KernelSVM(kernel="precomputed").fit([[2.0, 0.0], [0.0, 2.0]], [0, 1]).certificate_.to_dict(),
        sx.check_separability([[1.0], [2.0]], [0, 1], map=sx.maps.Polynomial(2)).to_dict(),
    ],
    ids=["format 1", "precomputed", "map"],
)
def test_the_second_verifier_says_what_it_cannot_check(certificate, tmp_path, capsys):
    (tmp_path / "c.json").write_text(json.dumps(certificate), encoding="utf-8")
    (tmp_path / "t.csv").write_text("x,y\n1,0\n2,1\n", encoding="utf-8")
    assert standalone.main([str(tmp_path / "c.json"), str(tmp_path / "t.csv"), "--target", "y"]) == 2
    assert capsys.readouterr().out.startswith("cannot be checked here: ")
    assert standalone.main([str(tmp_path / "absent.json"), str(tmp_path / "t.csv"), "--target", "y"]) == 2


@pytest.mark.parametrize("gap", [0, 1, -1])
@pytest.mark.parametrize("unit", [1.0, 1e-150, 1e150, 0.1, 1e4])
def test_a_gap_of_one_unit_in_the_last_place(gap, unit):
    middle = 0.3 * unit
    low = middle if gap == 0 else float(np.nextafter(middle, gap * np.inf))
    X = [[0.1 * unit], [0.2 * unit], [middle], [low], [0.5 * unit], [0.7 * unit]]
    certificate = sx.check_separability(X, [0, 0, 0, 1, 1, 1])
    assert certificate.verdict == {0: "quasi", 1: "separable", -1: "overlap"}[gap]
    assert certificate.verify(X, [0, 0, 0, 1, 1, 1])
    second_opinion(certificate.to_dict(), X, [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("rows", [12, 40, 300])
def test_columns_that_only_floats_take_for_collinear(rows):
    rng = np.random.default_rng(rows)
    first, event = rng.integers(1, 4, rows).astype(float), rng.integers(0, 2, rows)
    X = np.column_stack([first, first + event * 2.0**-46])  # the difference, below a QR's tolerance, is the event
    apart = sx.check_separability(X, event)
    assert apart.verdict == "separable"
    assert apart.verify(X, event)
    other = rng.integers(0, 2, rows)
    mixed = sx.check_separability(X, other)
    plain = sx.check_separability(np.column_stack([first, event]), other)  # the same rows in columns far from collinear
    assert mixed.verdict == plain.verdict
    assert mixed.n_left == plain.n_left
    assert mixed.verify(X, other)


@pytest.mark.parametrize("unit", [1.0, 2.0**-7, 0.1])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("stored", [np.asarray, scipy.sparse.csr_array])
def test_relations_tried_together_are_tried_exactly(stored, classes, unit):
    rng = np.random.default_rng(classes)
    X = rng.integers(-3, 4, size=(60, 4)) * unit
    X[:, 2] = X[:, 0]
    X[17, 2] += 2.0**-40 * unit  # by so little that only an exact sum sees it
    X[:, 3] = 2 * X[:, 0] + 3 * X[:, 1] if unit < 1.0 else X[:, 0] + X[:, 1] - 5
    rays = Rays(make_design(stored(X), intercept=True), rng.integers(0, classes, 60), classes)
    vectors = ({1: 1, 3: -1}, {1: 2, 2: 3, 4: -1}, {1: 1, 2: 1, 0: -5, 4: -1}, {2: 1}, {1: Fraction(1, 3), 2: 1, 4: 1})
    relations = [{column: Fraction(value) for column, value in vector.items()} for vector in vectors]
    places = rays.places_of(np.arange(60) != 5)
    for relation, found in zip(relations, rays.violating(relations, places, 7), strict=True):
        signs = rays.signs(dense_relation(relation, rays.width), places)
        assert found.tolist() == places[np.flatnonzero(signs)][:7].tolist()
        exact = [sum(Fraction(x) * relation.get(j, 0) for j, x in enumerate(ray)) for ray in rays.take(places).tolist()]
        assert found.tolist() == [place for place, total in zip(places.tolist(), exact, strict=True) if total][:7]


def test_a_single_class_is_the_second_of_two() -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    design, places = make_design(X, intercept=True), np.arange(6)
    rays = Rays(design, np.zeros(6, dtype=np.intp), 1)
    assert (rays.classes, rays.count, rays.width) == (2, 6, 4)
    np.testing.assert_array_equal(rays.take(places), design.take(places))
    np.testing.assert_array_equal(rays.other_class(places), np.zeros(6))
