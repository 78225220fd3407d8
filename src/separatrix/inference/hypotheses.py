"""Tests of nested models, where the smaller is the larger with some coefficients at 0, and Wald tests by name.

    F     = ((RSS₀ − RSS₁)/k) / (RSS₁/(n − rank₁)),      k = rank₁ − rank₀,      least squares only
    LR    = 2 (ℓ₁ − ℓ₀), as χ² with k degrees of freedom;  n log(RSS₀/RSS₁) for least squares
    Wald  = b·V⁻¹·b from the larger fit alone, for the k coefficients b that the smaller model lacks, V their covariance

Wald's statistic is χ² with k degrees of freedom, or F when divided by k, with the residual degrees of freedom (G − 1
for G groups; CR2 has its own); for a likelihood χ², or F for groups. Refuses, with the reason, models with different
rows, targets, weights or families, columns of the smaller model outside the span of the larger one's, coefficients that
are not identified, a singular V, and a robust V of so few rows or groups that the test would reject too many true
nulls. Cost: one pass per few columns to compare them, and a least squares fit for each column of a different name.

References: Fisher (1922); Wilks (1938); Wald (1943).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.rank import is_spanned
from separatrix.errors import DataError, OptionError, did_you_mean, require_choice
from separatrix.inference.basis import wald_statistic
from separatrix.inference.covariance import CovarianceChoice, robust_f_test
from separatrix.inference.eligibility import Refusal, singular_covariance
from separatrix.inference.linear import CoefficientCovariance, LinearFacts, not_estimable_reason
from separatrix.inference.small_samples import Units
from separatrix.inference.table import JsonRecord, chi2_probability, f_probability
from separatrix.problem import Problem
from separatrix.rendering.sheet import format_number, p_phrase

if TYPE_CHECKING:
    from separatrix.inference.likelihood import LikelihoodFit

NestedKind = Literal["f", "likelihood_ratio", "wald"]
COLUMNS_PER_PASS = 16


@dataclass(frozen=True)
class TestedModel:
    """A fitted model as tests need it; `objection` says why it cannot be tested, empty if it can."""

    family: Literal["linear", "logistic", "softmax"]
    rank: int  # number of free coefficients, of all classes
    log_likelihood: float
    problem: Problem | None = None
    objection: str = ""
    facts: LinearFacts | None = None
    likelihood: LikelihoodFit | None = None

    def eligible_rows(self, task: str) -> Problem:
        """Return the rows of the fit, or raise a DataError if it cannot be tested, or lacks its rows for the task."""
        if self.objection or self.problem is None:
            raise DataError(self.objection or Refusal.ROWS_NOT_SAVED(task=task))
        return self.problem


def tested_model(model: Any) -> TestedModel:
    """Return a fitted estimator, or the estimator of a formula's model, as a `TestedModel`."""
    inner = getattr(model, "model", model)
    if not hasattr(inner, "tested_model"):
        raise OptionError(f"{model!r} has no tests; give a fitted LinearRegression or LogisticRegression of separatrix")
    tested: TestedModel = inner.tested_model()
    return tested


@dataclass(frozen=True)
class NestedTest(JsonRecord):
    """The test that the additional coefficients of the larger model are 0."""

    kind: NestedKind
    statistic: float
    degrees_of_freedom: int
    residual_degrees_of_freedom: float | None
    p_value: float
    convention: str

    def __str__(self) -> str:
        df, rest = self.degrees_of_freedom, self.residual_degrees_of_freedom
        name = f"χ²({df})" if rest is None else f"F({df}, {rest:g})"
        return f"{name} = {format_number(self.statistic)}, {p_phrase(self.p_value)} ({self.convention})"


def nested_test(smaller: Any, larger: Any, *, kind: NestedKind = "f") -> NestedTest:
    """Test a fitted model against a larger one of the same rows.

    Parameters
    ----------
    smaller, larger : fitted LinearRegression or LogisticRegression, both without a penalty
    kind : "f" (least squares), "likelihood_ratio", or "wald" (by the larger fit alone)

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[1, 5], [2, 3], [-1, 1], [3, 4], [4, 2]], [2, 4, 0, 4, 6]
    >>> small = sx.LinearRegression().fit([[row[0]] for row in X], y)
    >>> test = sx.nested_test(small, sx.LinearRegression().fit(X, y))
    >>> round(test.statistic, 4), round(test.p_value, 4)
    (0.8176, 0.4613)
    """
    kind = require_choice("kind", kind, get_args(NestedKind))
    small, large = tested_model(smaller), tested_model(larger)
    if small.family != large.family:
        raise OptionError(f"a {small.family} model cannot be nested in a {large.family} one; give two of one family")
    if kind == "f" and large.family != "linear":
        raise OptionError(f'kind="f" is for least squares, not for a {large.family} model; use kind="likelihood_ratio"')
    rows, wide = (tested.eligible_rows("a test of nested models") for tested in (small, large))
    _refuse_other_rows(small, large, rows, wide)
    if large.rank <= small.rank:
        raise OptionError(
            f"the larger model has {large.rank} free coefficients and the smaller {small.rank}; swap them"
        )
    _refuse_other_columns(rows, wide)
    if kind == "wald":
        return _wald(rows, wide, larger, "f" if large.family == "linear" else "likelihood_ratio")
    k, statistic = large.rank - small.rank, 2.0 * (large.log_likelihood - small.log_likelihood)
    if small.facts is not None and large.facts is not None:  # of least squares
        if kind == "f":
            return _f(small.facts, large.facts, k)
        statistic = large.facts.rows * math.log(small.facts.fit.rss / large.facts.fit.rss)
    convention = "likelihood ratio, χ² of large samples"
    if small.likelihood is not None and large.likelihood is not None:
        statistic, k = large.likelihood.ratio_to(small.likelihood)
        convention += "" if large.likelihood.has_maximum else ", by suprema"
    if k < 1:
        raise DataError(
            Refusal.NOT_TESTABLE(names=[name for name in wide.design.names if name not in rows.design.names])
        )
    return NestedTest("likelihood_ratio", statistic, k, None, chi2_probability(statistic, k), convention)


def _f(small: LinearFacts, large: LinearFacts, k: int) -> NestedTest:
    df, rss = large.degrees_of_freedom, large.fit.rss
    statistic = max(small.fit.rss - rss, 0.0) / k / (rss / df)
    p_value = f_probability(statistic, k, df)
    return NestedTest("f", statistic, k, df, p_value, "F test, σ² = RSS / (n − rank) of the larger model")


def _wald(rows: Problem, wide: Problem, larger: Any, otherwise: str) -> NestedTest:
    names = rows.design.names
    for index, name in enumerate(names):
        if not _has_column(wide, name, _columns(rows, [index])[:, 0]):
            raise OptionError(
                f'kind="wald" tests coefficients by name, and the larger model has no column {name!r} with the same'
                f' numbers; name the columns alike, or use kind="{otherwise}"'
            )
    fitted = getattr(larger, "model", larger)  # of a formula
    test: WaldTest = fitted.wald_test([name for name in wide.design.names if name not in names])
    k, df = test.degrees_of_freedom, test.residual_degrees_of_freedom
    if test.f is None or test.f_p_value is None:
        return NestedTest("wald", test.chi2, k, None, test.p_value, "Wald, χ² of large samples")
    return NestedTest("wald", test.f, k, df, test.f_p_value, f"Wald, {test.covariance} covariance of the larger model")


def _refuse_other_rows(small: TestedModel, large: TestedModel, first: Problem, second: Problem) -> None:
    kinds = [model.facts.weight_kind for model in (small, large) if model.facts is not None and model.facts.weighted]
    if len(set(kinds)) > 1:
        raise OptionError(f"the models have weight_kind={kinds[0]!r} and {kinds[1]!r}; fit both with the same")
    if len(first.y) != len(second.y):
        raise DataError(f"the models were fitted on {len(first.y)} and {len(second.y)} rows; fit both on the same rows")
    pairs = {"targets": (first.y, second.y), "weights": (first.row_weights, second.row_weights)}
    for kind, (one, other) in pairs.items():
        if not np.array_equal(one, other):
            row = int(np.flatnonzero(one != other)[0])
            values = f"{one[row]:g} and {other[row]:g}"
            raise DataError(f"the models have different {kind} in row {row} ({values}); fit both on the same rows")


def _refuse_other_columns(rows: Problem, wide: Problem) -> None:
    """Refuse columns of the smaller model that are not in the span of the larger one's."""
    for first in range(0, rows.design.shape[1], COLUMNS_PER_PASS):
        names = rows.design.names[first : first + COLUMNS_PER_PASS]
        columns = _columns(rows, list(range(first, first + len(names))))
        for name, column in zip(names, columns.T, strict=True):
            if not (_has_column(wide, name, column) or is_spanned(column, wide.design, wide.weights)):
                raise OptionError(
                    f"the models are not nested: the smaller has the column {name!r}, which the larger one's columns"
                    " cannot write; add it to the larger, or compare AIC or BIC"
                )


def _has_column(problem: Problem, name: str, column: Floats) -> bool:
    """Tell whether a problem has a column of that name and the same values."""
    names = problem.design.names
    return name in names and np.array_equal(column, _columns(problem, [names.index(name)])[:, 0])


def _columns(problem: Problem, indices: list[int]) -> Floats:
    """Return columns of a design, (n, k)."""
    return problem.design.matvec(np.eye(problem.design.shape[1])[:, indices])


@dataclass(frozen=True)
class WaldTest(JsonRecord):
    """The test that the named coefficients are all 0; `f` and `f_p_value` are None for a likelihood fit without groups.

    With groups `p_value` is that of F, as χ² is only valid for many groups.
    """

    names: tuple[str, ...]
    chi2: float
    degrees_of_freedom: int
    p_value: float
    covariance: str
    f: float | None = None
    residual_degrees_of_freedom: float | None = None
    f_p_value: float | None = None
    note: str = ""  # that it rejects a true null too often, in a small sample

    def __str__(self) -> str:
        df, rest, names = self.degrees_of_freedom, self.residual_degrees_of_freedom, " = ".join(self.names)
        chi2 = f"χ²({df}) = {format_number(self.chi2)}, {p_phrase(self.p_value)}"
        f = "" if self.f is None else f"F({df}, {rest:.4g}) = {format_number(self.f)}, {p_phrase(self.f_p_value)}"
        shown = [f] if self.f is not None and self.p_value == self.f_p_value else [chi2, *[f] * bool(f)]
        return f"{names} = 0 ({self.covariance}): {'; '.join(shown)}{f' ({self.note})' if self.note else ''}"


@dataclass(frozen=True)
class LikelihoodRatioTest(JsonRecord):
    """The test by a likelihood, which the convention names, that the named coefficients are all 0."""

    names: tuple[str, ...]
    chi2: float
    degrees_of_freedom: int
    p_value: float
    convention: str

    def __str__(self) -> str:
        statistic = f"χ²({self.degrees_of_freedom}) = {format_number(self.chi2)}, {p_phrase(self.p_value)}"
        return f"{' = '.join(self.names)} = 0 ({self.convention}): {statistic}"


def linear_wald_test(facts: LinearFacts, covariance: CoefficientCovariance, names: Sequence[str]) -> WaldTest:
    """Return the test of the named coefficients of a least squares fit."""
    fit, indices = facts.fit, coefficient_indices(names, facts.names)
    for index in indices:
        if not fit.estimable[index]:
            raise DataError(not_estimable_reason(facts, index))
    if covariance.objection:
        raise DataError(covariance.objection)
    matrix, robust = covariance.matrix[np.ix_(indices, indices)], covariance.robust
    labels, df, k = [facts.names[index] for index in indices], covariance.degrees_of_freedom, len(indices)
    if robust is not None:
        contrasts = robust.basis.to_coefficients[indices]
        return robust_wald_test(labels, fit.coef[indices], matrix, covariance.choice, robust.units, contrasts, df)
    test = wald_test_of(labels, fit.coef[indices], matrix, covariance.choice)
    f = test.chi2 / k
    return replace(test, f=f, residual_degrees_of_freedom=df, f_p_value=f_probability(f, k, df))


def wald_test_of(names: Sequence[str], coef: Floats, matrix: Floats, choice: CovarianceChoice) -> WaldTest:
    """Return the χ² test of coefficients (k,) by their covariance (k, k); raise a DataError if that is singular."""
    chi2 = wald_statistic(coef, matrix)
    if chi2 is None:
        alone = len(coef) == 1
        raise DataError(
            Refusal.NO_VARIANCE(name=names[0]) if alone else singular_covariance(len(coef), choice.group_count)
        )
    return WaldTest(tuple(names), chi2, len(coef), chi2_probability(chi2, len(coef)), choice.kind)


def robust_wald_test(
    names: Sequence[str],
    coef: Floats,
    matrix: Floats,
    choice: CovarianceChoice,
    units: Units,
    contrasts: Floats,
    df: float | None,
) -> WaldTest:
    """Return the test by a robust covariance, whose `contrasts` are in orthonormal coordinates.

    Raises a DataError if the covariance is singular, or the test would reject too many true nulls.
    """
    test, k = wald_test_of(names, coef, matrix, choice), len(coef)
    f, rest, objection, note = robust_f_test(units, contrasts, test.chi2, names, choice, df)
    if objection:
        raise DataError(objection)
    if rest is None:
        return replace(test, note=note)
    p_value = f_probability(f, k, rest)
    test = replace(test, f=f, residual_degrees_of_freedom=rest, f_p_value=p_value, note=note)
    return replace(test, p_value=p_value) if choice.groups is not None else test


def coefficient_indices(names: Sequence[str], known: Sequence[str]) -> list[int]:
    """Return the index of each name, without repeats; raise an OptionError with a suggestion for an unknown name."""
    requested = [names] if isinstance(names, str) else list(names)
    if not requested:
        raise OptionError("no coefficients are named; give some of " + ", ".join(map(repr, known[:8])))
    for name in requested:
        if name not in known:
            raise OptionError(f"there is no coefficient {name!r}{did_you_mean(str(name), known)}")
    return list(dict.fromkeys(known.index(name) for name in requested))
