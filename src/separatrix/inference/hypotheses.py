"""What tests of several models need of each: the protocol by which estimators tell it.

An estimator has a method `outline()`; a test that needs the rows asks for them by `rows_for`.

Tests of two models, one of which is the other with some coefficients held at 0 (its columns span less).

    F     = ((RSS₀ − RSS₁)/k) / (RSS₁/(n − rank₁)),      k = rank₁ − rank₀,      least squares only
    LR    = 2 (ℓ₁ − ℓ₀), as χ² with k degrees of freedom;  n log(RSS₀/RSS₁) of least squares
    Wald  = of the larger fit alone, that the coefficients which the smaller has not are 0

Refuses, with the reason, models of different rows, targets, weights or families, and columns that the larger cannot
write. Cost: a pass a few columns to compare them; a least squares fit for each column that goes by another name.

References: Fisher (1922); Wilks (1938); Wald (1943).

Wald's test that several coefficients are 0: b·V⁻¹·b, with V their covariance.

As χ² with k degrees of freedom, or divided by k as F, whose second degrees of freedom are those of the residuals (of
groups, G − 1); of a likelihood only χ². Fails, with the reason, where a coefficient is not unique or V is singular.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Protocol, get_args

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import DataError, OptionError, did_you_mean, require_choice
from separatrix.fit.least_squares import LeastSquaresFit, fit_least_squares
from separatrix.inference import eligibility
from separatrix.inference.basis import wald_statistic
from separatrix.inference.linear import CoefficientCovariance, LinearFacts, not_estimable_reason
from separatrix.inference.table import chi2_probability, f_probability, json_values
from separatrix.losses.squared import Squared
from separatrix.penalties import NoPenalty
from separatrix.problem import Problem
from separatrix.rendering.sheet import number, p_phrase


@dataclass(frozen=True)
class TestedModel:
    """A fitted model: its family, free coefficients and likelihood; `objection` says why it may not be tested."""

    family: Literal["linear", "logistic", "softmax"]
    names: tuple[str, ...]  # of the columns, the intercept's first if there is one
    rank: int  # free coefficients, of all classes together
    log_likelihood: float
    problem: Problem | None = None
    objection: str = ""
    least_squares: LeastSquaresFit | None = None
    facts: LinearFacts | None = None

    def rows_for(self, what: str) -> Problem:
        """Return the rows of the fit, or raise a DataError that says what needs them."""
        if self.problem is None:
            raise DataError(eligibility.no_rows_kept(what))
        return self.problem

    def require_eligible(self) -> None:
        """Raise a DataError if the model may not be tested."""
        if self.objection:
            raise DataError(self.objection)


class Outlined(Protocol):
    """A fitted estimator that tells what tests need."""

    def outline(self) -> TestedModel:
        """Return the model's outline."""
        ...


def tested_model(model: Any) -> TestedModel:
    """Return the outline of a fitted estimator, or of a formula's model that is one."""
    inner = getattr(model, "model", model)
    if not hasattr(inner, "outline"):
        raise OptionError(f"{model!r} has no tests; give a fitted LinearRegression or LogisticRegression of separatrix")
    outline: TestedModel = inner.outline()
    return outline


NestedKind = Literal["f", "likelihood_ratio", "wald"]
COLUMNS_AT_ONCE = 16
EXPLAINED = 1e-9  # of a column's length: what may be left of it once the larger model's columns are taken off


@dataclass(frozen=True)
class NestedTest:
    """The test that what the larger model has beyond the smaller is 0."""

    kind: NestedKind
    statistic: float
    degrees_of_freedom: int
    residual_degrees_of_freedom: float | None
    p_value: float
    convention: str

    def to_dict(self) -> dict[str, Any]:
        """Return the test as JSON values."""
        values: dict[str, Any] = json_values(asdict(self))
        return values

    def __str__(self) -> str:
        df, rest = self.degrees_of_freedom, self.residual_degrees_of_freedom
        name = f"χ²({df})" if rest is None else f"F({df}, {rest:g})"
        return f"{name} = {number(self.statistic)}, {p_phrase(self.p_value)} ({self.convention})"


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
    few, many = tested_model(smaller), tested_model(larger)
    if few.family != many.family:
        raise OptionError(f"a {few.family} model cannot be nested in a {many.family} one; give two of one family")
    if kind == "f" and many.family != "linear":
        raise OptionError(f'kind="f" is for least squares, not for a {many.family} model; use kind="likelihood_ratio"')
    for outline in (few, many):
        outline.require_eligible()
    _refuse_other_meanings(few, many)
    _refuse_other_rows(few.rows_for("a test of nested models"), many.rows_for("a test of nested models"))
    if many.rank <= few.rank:
        raise OptionError(
            f"the larger model has {many.rank} free coefficients and the smaller {few.rank}; give the smaller one first"
        )
    _refuse_other_columns(few, many)
    if kind == "wald":
        return _wald(few, many, larger)
    return _f(few, many) if kind == "f" else _likelihood_ratio(few, many)


def _f(few: TestedModel, many: TestedModel) -> NestedTest:
    assert few.least_squares is not None and many.least_squares is not None and many.facts is not None  # noqa: PT018
    k, df = many.rank - few.rank, many.facts.degrees_of_freedom(many.least_squares)
    fall = max(few.least_squares.rss - many.least_squares.rss, 0.0)
    statistic = fall / k / (many.least_squares.rss / df)
    p_value = f_probability(statistic, k, df)
    return NestedTest("f", statistic, k, df, p_value, "F test, σ² = RSS / (n − rank) of the larger model")


def _likelihood_ratio(few: TestedModel, many: TestedModel) -> NestedTest:
    k = many.rank - few.rank
    if few.least_squares is not None and many.least_squares is not None and many.facts is not None:
        statistic = many.facts.rows * math.log(few.least_squares.rss / many.least_squares.rss)
    else:
        statistic = 2.0 * (many.log_likelihood - few.log_likelihood)
    p_value = chi2_probability(statistic, k)
    return NestedTest("likelihood_ratio", statistic, k, None, p_value, "likelihood ratio, χ² of large samples")


def _wald(few: TestedModel, many: TestedModel, larger: Any) -> NestedTest:
    inner, outer = few.rows_for("the test"), many.rows_for("the test")
    strange = [name for place, name in enumerate(few.names) if not _has(outer, many.names, name, _column(inner, place))]
    if strange:
        other = "f" if many.family == "linear" else "likelihood_ratio"
        raise OptionError(
            f'kind="wald" tests coefficients by name, and the larger model has no column {strange[0]!r} with the same'
            f' numbers; name the columns alike, or use kind="{other}"'
        )
    fitted = getattr(larger, "model", larger)  # of a formula
    test = fitted.wald_test([name for name in many.names if name not in few.names])
    if test.f is None:
        return NestedTest("wald", test.chi2, test.degrees_of_freedom, None, test.p_value, "Wald, χ² of large samples")
    convention = f"Wald, {test.covariance} covariance of the larger model"
    return NestedTest(
        "wald", test.f, test.degrees_of_freedom, test.residual_degrees_of_freedom, test.f_p_value, convention
    )


def _refuse_other_rows(few: Problem, many: Problem) -> None:
    if len(few.y) != len(many.y):
        raise DataError(
            f"the models were fitted on {len(few.y)} and {len(many.y)} rows, and only fits of the same rows compare;"
            " fit both on the rows that have all columns"
        )
    for what, one, other in (("targets", few.y, many.y), ("weights", _weights(few), _weights(many))):
        if not np.array_equal(one, other):
            row = int(np.flatnonzero(one != other)[0])
            raise DataError(
                f"the models have different {what} in row {row} ({one[row]:g} and {other[row]:g}); fit both on the same"
                " rows in the same order"
            )


def _refuse_other_meanings(few: TestedModel, many: TestedModel) -> None:
    """Refuse least squares fits whose weights mean repetitions in one and precisions in the other."""
    if few.facts is None or many.facts is None or not (few.facts.weighted and many.facts.weighted):
        return
    if few.facts.weight_kind != many.facts.weight_kind:
        raise OptionError(
            f"the models have weight_kind={few.facts.weight_kind!r} and {many.facts.weight_kind!r}, which count their"
            " rows differently; fit both with the same"
        )


def _weights(problem: Problem) -> Floats:
    return np.ones(len(problem.y)) if problem.weights is None else problem.weights


def _refuse_other_columns(few: TestedModel, many: TestedModel) -> None:
    """Refuse columns of the smaller model that the larger one's do not span."""
    inner, outer = few.rows_for("the test"), many.rows_for("the test")
    places = list(range(len(few.names)))
    for first in range(0, len(places), COLUMNS_AT_ONCE):
        columns = _columns(inner, places[first : first + COLUMNS_AT_ONCE])
        for place, column in zip(places[first:], columns.T, strict=False):
            if not _is_spanned(column, few.names[place], many.names, outer):
                raise OptionError(
                    f"the models are not nested: the smaller has the column {few.names[place]!r}, which the larger"
                    " one's columns cannot write; add it to the larger, or compare AIC or BIC"
                )


def _is_spanned(column: Floats, name: str, names: tuple[str, ...], outer: Problem) -> bool:
    if _has(outer, names, name, column):
        return True
    fit = fit_least_squares(replace(outer, y=column, loss=Squared(), penalty=NoPenalty()))
    squares = float(_weights(outer) @ (column * column))
    return fit.rss <= EXPLAINED**2 * squares


def _has(problem: Problem, names: tuple[str, ...], name: str, column: Floats) -> bool:
    """Tell whether a problem has a column of that name and the same numbers."""
    return name in names and np.array_equal(column, _column(problem, names.index(name)))


def _column(problem: Problem, place: int) -> Floats:
    return _columns(problem, [place])[:, 0]


def _columns(problem: Problem, places: list[int]) -> Floats:
    """Return some columns of a design, (n, k)."""
    return problem.design.matvec(np.eye(problem.design.shape[1])[:, places])


@dataclass(frozen=True)
class WaldTest:
    """The test that the coefficients named are all 0; `f`, `f_p_value` are None where errors are not estimated by t."""

    names: tuple[str, ...]
    chi2: float
    degrees_of_freedom: int
    p_value: float
    covariance: str
    f: float | None = None
    residual_degrees_of_freedom: float | None = None
    f_p_value: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the test as JSON values."""
        values: dict[str, Any] = json_values(asdict(self))
        return values

    def __str__(self) -> str:
        df, rest = self.degrees_of_freedom, self.residual_degrees_of_freedom
        f = "" if self.f is None else f"; F({df}, {rest:g}) = {number(self.f)}, {p_phrase(self.f_p_value)}"
        names = " = ".join(self.names)
        return f"{names} = 0 ({self.covariance}): χ²({df}) = {number(self.chi2)}, {p_phrase(self.p_value)}{f}"


def linear_wald_test(
    facts: LinearFacts, fit: LeastSquaresFit, covariance: CoefficientCovariance, names: Sequence[str]
) -> WaldTest:
    """Return the test of some coefficients of a least squares fit."""
    places = places_of(names, facts.names)
    for place in places:
        if not fit.estimable[place]:
            raise DataError(not_estimable_reason(facts.names, fit, place))
    if covariance.objection:
        raise DataError(covariance.objection)
    matrix = covariance.matrix[np.ix_(places, places)]
    test = wald_test_of([facts.names[place] for place in places], fit.coef[places], matrix, covariance.choice.kind)
    if test is None:
        raise DataError(eligibility.singular_covariance(len(places), covariance.choice.group_count))
    k, df = len(places), covariance.degrees_of_freedom
    f_p_value = f_probability(test.chi2 / k, k, df)
    return WaldTest(test.names, test.chi2, k, test.p_value, test.covariance, test.chi2 / k, df, f_p_value)


def wald_test_of(names: Sequence[str], coef: Floats, matrix: Floats, covariance: str) -> WaldTest | None:
    """Return the χ² test of coefficients (k,) by their covariance (k, k); None if that is singular."""
    chi2 = wald_statistic(coef, matrix)
    if chi2 is None:
        return None
    return WaldTest(tuple(names), chi2, len(coef), chi2_probability(chi2, len(coef)), covariance)


def places_of(names: Sequence[str], known: Sequence[str]) -> list[int]:
    """Return where the names are among those known, each once; unknown ones are refused with a suggestion."""
    wanted = [names] if isinstance(names, str) else list(names)
    if not wanted:
        raise OptionError("no coefficients are named; give some of " + ", ".join(map(repr, known[:8])))
    for name in wanted:
        if name not in known:
            raise OptionError(f"there is no coefficient {name!r}{did_you_mean(str(name), known)}")
    return list(dict.fromkeys(known.index(name) for name in wanted))
