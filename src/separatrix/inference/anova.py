"""The analysis of variance of a least squares fit, by terms in their order (type I).

The sum of squares of a term is the reduction of the RSS beyond the terms before it: the squared length of the target
along the part of its columns that is orthogonal to theirs. It is computed in the coordinates of `basis`,
orthonormalised once more over the rows, which keeps nearly dependent columns accurate. Cost: two passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats, Indices
from separatrix.design.base import Block, add_each
from separatrix.errors import OptionError, did_you_mean
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference.basis import (
    OrthonormalBasis,
    coordinates,
    count_passes,
    make_basis,
    pair_products,
    qr_inverse,
)
from separatrix.inference.hypotheses import tested_model
from separatrix.inference.table import SheetRecord, f_probability, find_named
from separatrix.problem import Problem
from separatrix.rendering.sheet import Grid, Sheet, format_number, p_text

RESIDUALS = "residuals"


@dataclass(frozen=True)
class AnovaRow:
    """A term: its degrees of freedom, its sum of squares, and the test that its coefficients are 0."""

    name: str
    degrees_of_freedom: float
    sum_of_squares: float
    f: float | None = None
    p_value: float | None = None

    @property
    def mean_square(self) -> float:
        """The sum of squares per degree of freedom."""
        return self.sum_of_squares / self.degrees_of_freedom


@dataclass(frozen=True)
class AnovaTable(SheetRecord):
    """The rows of an analysis of variance: the terms in order, then the residuals."""

    rows: tuple[AnovaRow, ...]
    conventions: tuple[str, ...] = (
        "sums of squares are sequential (type I): each term after those above it",
        "F is against the mean square of the residuals",
    )

    def row(self, name: str) -> AnovaRow:
        """Return a row by name."""
        return find_named("row", name, self.rows)

    def sheet(self) -> Sheet:
        """Return the table as a sheet."""
        heads = ("", "df", "sum of squares", "mean square", "F", "p")
        rows = tuple(
            (
                row.name,
                f"{row.degrees_of_freedom:g}",
                *map(format_number, (row.sum_of_squares, row.mean_square)),
                "" if row.f is None else format_number(row.f, 4),
                "" if row.p_value is None else p_text(row.p_value),
            )
            for row in self.rows
        )
        return Sheet("Analysis of variance", (Grid(heads, rows),), lines=self.conventions)


def anova(model: Any, terms: Mapping[str, Sequence[str]] | None = None) -> AnovaTable:
    """Return the analysis of variance of a fitted LinearRegression without a penalty.

    Parameters
    ----------
    model : a fitted LinearRegression, or a formula's model with one
    terms : the columns of each term, in order; None for the terms of a formula or, without one, one term per column

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LinearRegression().fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
    >>> row = sx.anova(model).row("x1")
    >>> round(row.sum_of_squares, 4), round(row.p_value, 4)
    (19.9892, 0.0033)
    """
    tested = tested_model(model)
    if tested.facts is None and not tested.objection:
        raise OptionError(f"an analysis of variance is of least squares, not of a {tested.family} model")
    problem, facts = tested.eligible_rows("an analysis of variance"), tested.facts
    assert facts is not None  # an eligible linear model has them
    fit, df = facts.fit, facts.degrees_of_freedom
    terms = getattr(model, "terms_", None) if terms is None else terms
    groups = _groups(problem.design.names, int(problem.design.virtual), terms)
    effects = _effects(problem, fit, [column for columns in groups.values() for column in columns])
    rows = []
    for name, columns in groups.items():
        own = np.array([effects[column] for column in columns if column in effects])
        if len(own):
            squares = float(np.square(own).sum())
            f = squares / len(own) / (fit.rss / df)
            rows.append(AnovaRow(name, len(own), squares, f, f_probability(f, len(own), df)))
    return AnovaTable((*rows, AnovaRow(RESIDUALS, df, fit.rss)))


def _groups(names: tuple[str, ...], virtual: int, terms: Mapping[str, Sequence[str]] | None) -> dict[str, list[int]]:
    """Return the column indices of each term; every column but the intercept must be in exactly one."""
    columns = names[virtual:]
    if terms is None:
        return {name: [index + virtual] for index, name in enumerate(columns)}
    listed = [name for group in terms.values() for name in group]
    for name in listed:
        if name not in columns:
            raise OptionError(f"terms have a column {name!r} that the model has not{did_you_mean(name, columns)}")
    missing = [name for name in columns if listed.count(name) != 1]
    if missing:
        raise OptionError(f"the column {missing[0]!r} is in {listed.count(missing[0])} terms; name every column once")
    return {term: [names.index(name, virtual) for name in group] for term, group in terms.items()}


def _effects(problem: Problem, fit: LeastSquaresFit, order: Sequence[int]) -> dict[int, float]:
    """Return the effect of each column, by index: the target along its part orthogonal to the columns before it."""
    columns = [index for index in order if index not in fit.aliased]
    if fit.aliased and columns != sorted(columns):
        raise OptionError("terms out of the columns' order need independent columns; drop the aliased ones")
    if not columns:
        return {}
    virtual = int(problem.design.virtual)
    basis = _reordered(make_basis(problem, fit), np.asarray(columns, dtype=np.intp) - virtual)
    centred, transform = basis.transform(problem.design)
    shift = float(problem.mean(problem.y)) if virtual else 0.0
    rows = (np.asarray(problem.y, dtype=np.float64) - shift, problem.row_weights)
    gram, products = centred.fold(_sums, transform, rows=rows, combine=add_each)
    count_passes(problem, centred)
    factor = scipy.linalg.cholesky(gram, lower=True)
    effects = scipy.linalg.solve_triangular(factor, products, lower=True)
    return dict(zip(columns, effects[virtual:].tolist(), strict=True))


def _reordered(basis: OrthonormalBasis, indices: Indices) -> OrthonormalBasis:
    """Return the basis with its columns in the order of `indices`."""
    triangle = np.asarray(np.linalg.inv(basis.factor[np.sort(indices)]), dtype=np.float64)
    factor = np.zeros_like(basis.factor)
    factor[indices] = qr_inverse(triangle[:, np.argsort(np.argsort(indices))])
    return OrthonormalBasis(basis.means, factor, basis.total_weight)


def _sums(block: Block, y: Floats, weights: Floats, transform: Floats) -> tuple[Floats, Floats]:
    products = [part.T @ (weights * y) for _, part in coordinates(block, transform)]
    return pair_products(block, transform, lambda _: weights), np.concatenate(products)
