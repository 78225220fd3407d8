"""The laws of mapped designs: what the mapped matrix in memory would give, without its being there."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from test_designs import Streamed, capabilities

from separatrix import losses
from separatrix.design import mapped, maps
from separatrix.design.array import DenseDesign
from separatrix.design.build import make_design, map_rows
from separatrix.design.mapped import MappedDesign, MappedRows
from separatrix.errors import NeedsError
from separatrix.families.lms import LMSOptions, fit_lms, rate_limits
from separatrix.families.margin import fit_halfspace
from separatrix.families.perceptron import PerceptronOptions, fit_perceptron
from separatrix.families.svm import fit_svm
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.least_squares import fit_least_squares
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.separability.margin import MarginOptions, fit_max_margin
from separatrix.solvers.interior_point import InteriorPoint
from separatrix.solvers.lbfgs import LBFGS
from separatrix.solvers.newton import Newton, NewtonCG

RELATIVE = 1e-12  # to the largest entry of the answer
QUADRATIC = maps.PolynomialMap(3, 2)


def close(found: np.ndarray, expected: np.ndarray, tolerance: float = RELATIVE) -> None:
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max(initial=0.0))


def both(X: np.ndarray, feature_map: maps.FeatureMap, virtual: bool = True) -> tuple[MappedDesign, DenseDesign]:
    """Return the rows seen through a map, and mapped into memory."""
    lazy = make_design(MappedRows(X, feature_map), intercept=virtual)
    dense = make_design(np.ascontiguousarray(feature_map.apply(X)), intercept=virtual, names=lazy.names[virtual:])
    assert isinstance(lazy, MappedDesign)
    assert isinstance(dense, DenseDesign)
    return lazy, dense


def rings(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows inside and outside of a sphere, none near it, so that squares separate them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3 * n, 3))
    radius = np.linalg.norm(X, axis=1)
    X = X[np.abs(radius - 1.5) > 0.1][:n]
    return X, np.where(np.linalg.norm(X, axis=1) < 1.5, 1.0, -1.0)


def noisy(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Draw such rows with a tenth of the labels wrong."""
    X, y = rings(n)
    return X, np.where(np.random.default_rng(9).uniform(size=n) < 0.1, -y, y)


# Products


@given(st.integers(1, 60), st.integers(1, 4), st.integers(1, 3), st.booleans(), st.integers(1, 300))
@settings(max_examples=40, deadline=None)
def test_a_mapped_design_is_the_mapped_matrix(n: int, p: int, degree: int, virtual: bool, elements: int) -> None:
    rng = np.random.default_rng([n, p, degree])
    X = rng.normal(size=(n, p))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapped, "PART_ELEMENTS", elements)
        lazy, dense = both(X, maps.PolynomialMap(p, degree), virtual)
        assert (lazy.shape, lazy.names) == (dense.shape, dense.names)
        edges = [(block.start, block.stop) for block in lazy.blocks()]
        assert [start for start, _ in edges] == [0, *(stop for _, stop in edges[:-1])]
        assert edges[-1][1] == n
        coef, values, weights = rng.normal(size=dense.shape[1]), rng.normal(size=n), rng.uniform(size=n)
        for task in (
            lambda design: design.matvec(coef),
            lambda design: design.rmatvec(values),
            lambda design: design.gram(weights),
            lambda design: design.squared_norms(),
        ):
            close(task(lazy), task(dense))
        assert lazy.passes == dense.passes == 4.0
        np.testing.assert_array_equal(lazy.take([n - 1, 0, 0]), dense.take([n - 1, 0, 0]))


def test_parts_centres_and_samples_are_mapped_alike() -> None:
    X, _ = rings()
    lazy, dense = both(X, QUADRATIC)
    coef, centre, kept = np.arange(10.0), np.linspace(-1.0, 1.0, 9), np.arange(300) % 3 > 0
    for part in (lambda d: d.subsample(7), lambda d: d.select(kept), lambda d: d.centred(centre)):
        close(part(lazy).matvec(coef), part(dense).matvec(coef))
        assert part(lazy).names == lazy.names
    close(lazy.centred(centre).take([5, 2]), dense.centred(centre).take([5, 2]))
    close(lazy.centred(centre).stored_rows().values, dense.centred(centre).stored_rows().values)
    assert lazy.needed_centre() is None
    far_lazy, far_dense = both(X + 1000.0, QUADRATIC)
    close(far_lazy.needed_centre(), far_dense.needed_centre())


def test_sparse_rows_are_mapped_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "PART_ELEMENTS", 100)
    X = np.where(rings()[0] > 0.5, rings()[0], 0.0)
    coef = np.arange(10.0)
    for store in (sp.csr_array, sp.csc_array, sp.coo_array):
        lazy = make_design(MappedRows(store(X), QUADRATIC), intercept=True)
        assert len(list(lazy.blocks())) == 28
        close(lazy.matvec(coef), both(X, QUADRATIC)[1].matvec(coef))
    float32 = make_design(MappedRows(X.astype(np.float32), QUADRATIC), intercept=True)
    close(float32.matvec(coef), both(X.astype(np.float32).astype(float), QUADRATIC)[1].matvec(coef))


def test_rows_that_stream_are_mapped_as_they_come() -> None:
    X, y = noisy()
    streamed = MappedDesign(Streamed(X, False), QUADRATIC, ["one", *QUADRATIC.names("abc")], True)
    assert capabilities(streamed) == (False, False, False, False)
    close(streamed.rmatvec(y), both(X, QUADRATIC)[1].rmatvec(y))
    assert streamed.needed_centre() is None
    with pytest.raises(NeedsError, match="Streamed has no access to single rows"):
        streamed.take([0])


def test_all_rows_at_once() -> None:
    X, _ = rings()
    np.testing.assert_array_equal(map_rows(MappedRows(X, QUADRATIC)), QUADRATIC.apply(X))


# Fits


@pytest.mark.parametrize("solver", [Newton(), NewtonCG(), LBFGS()], ids=lambda solver: type(solver).__name__)
def test_convex_fits_are_those_of_the_mapped_matrix(solver) -> None:
    X, y = noisy()
    fits = [
        fit_convex(
            Problem(design, y, losses.Logistic(), make_penalty(1e-3, 0.0)), ConvexOptions(tol=1e-12, solver=solver)
        )
        for design in both(X, QUADRATIC)
    ]
    close(fits[0].coef, fits[1].coef, 1e-6)
    assert fits[0].bound.primal == pytest.approx(fits[1].bound.primal, rel=1e-12)
    assert fits[0].walk.passes == fits[1].walk.passes


def test_a_hinge_fit_is_that_of_the_mapped_matrix() -> None:
    X, y = noisy()
    results = [
        fit_svm(
            Problem(design, y, losses.Hinge(), make_penalty(1e-2, 0.0), labels=(-1, 1)),
            ConvexOptions(tol=1e-9, solver=InteriorPoint()),
        )
        for design in both(X, QUADRATIC)
    ]
    assert results[0].objective == pytest.approx(results[1].objective, rel=1e-8)


def test_least_squares_and_lms_are_those_of_the_mapped_matrix() -> None:
    X, y = noisy()
    problems, options = (
        [Problem(design, y, losses.Squared()) for design in both(X, QUADRATIC)],
        LMSOptions(max_passes=50),
    )
    exact = [fit_least_squares(each).coef for each in problems]
    close(exact[0], exact[1], 1e-9)
    steps = [fit_lms(each, options, rate_limits(each.design)).coef for each in problems]
    close(steps[0], steps[1], 1e-9)


@pytest.mark.parametrize("update", ["single", "batch"])
def test_perceptrons_make_the_same_updates_on_the_mapped_matrix(update) -> None:
    X, y = rings()
    options, loss = PerceptronOptions(update=update), losses.PerceptronLoss()
    problems = [Problem(design, y, loss, labels=(-1, 1)) for design in both(X, QUADRATIC)]
    fits = [fit_perceptron(problem, options)[0] for problem in problems]
    close(fits[0].coef, fits[1].coef, 1e-9)
    assert fits[0].facts["updates"] == fits[1].facts["updates"] >= 10
    assert fits[0].certificate.verify(MappedRows(X, QUADRATIC), y)


def test_the_widest_margin_and_the_linear_program_separate_the_mapped_rows() -> None:
    X, y = rings()
    results = [fit_max_margin(design, y, MarginOptions(), labels=(-1, 1)) for design in both(X, QUADRATIC)]
    assert results[0].facts["margin"] == pytest.approx(results[1].facts["margin"], rel=1e-9)
    assert results[0].certificate.verify(MappedRows(X, QUADRATIC), y)
    lazy, _ = both(X, QUADRATIC)
    result = fit_halfspace(Problem(lazy, y, losses.PerceptronLoss(), labels=(-1, 1)), MarginOptions())
    assert (y * lazy.matvec(np.append(result.intercept, result.coef)) > 0.0).all()


# Memory


def peak(task) -> int:
    tracemalloc.start()
    try:
        task()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_bounded_by_the_blocks_not_by_the_mapped_matrix() -> None:
    n, feature_map = 20_000, maps.PolynomialMap(6, 4)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    size = 8 * n * feature_map.outputs
    lazy = make_design(MappedRows(X, feature_map), intercept=True)
    options = ConvexOptions(tol=1e-3, solver=NewtonCG())

    def fit() -> None:
        fit_convex(Problem(lazy, y, losses.Logistic(), make_penalty(1e-2, 0.0)), options)

    assert size > 33_000_000
    assert peak(fit) < size / 3
    assert peak(lambda: lazy.stored) > size
