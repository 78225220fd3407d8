"""The table of a least squares fit: coefficients with standard errors, tests and intervals, and measures of the fit.

    t = b / se,   p = P(|T| > |t|),   b ± t(level) · se,        T of n − rank degrees of freedom (G − 1 for G groups)
    R² = 1 − RSS / total,   F = (total − RSS)/(rank − 1) / σ², or Wald's (b·V⁻¹·b)/(rank − 1) of a robust covariance V

As in R, the total sum of squares is about the mean or, without an intercept, about 0 (then rank − 1 is rank).
`LinearFacts` holds the sums over the targets that the table needs, so that a table can be made after the rows are gone.

Cost: O(p³) for the classical covariance, two passes for the others. Fails, with the reason, without degrees of freedom,
with a constant target or a perfect fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats
from separatrix.design.moments import residual_sums
from separatrix.errors import counted
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference.basis import TINY, wald_statistic
from separatrix.inference.covariance import (
    CovarianceChoice,
    RobustCovariance,
    WeightKind,
    count_rows,
    robust_covariance,
    robust_f_test,
)
from separatrix.inference.eligibility import Refusal, aliased, collinear_clause
from separatrix.inference.small_samples import Trust, few_notes, trust
from separatrix.inference.table import InferenceTable, Measure, Term, f_test, freedom_text, require_level, wald_term
from separatrix.problem import Problem

NEAR_PERFECT = 1e-16  # of the targets' sum of squares: a smaller RSS may be rounding error
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)  # relative to the terms of a residual
HIGH_CONDITION = 1e6  # condition number above which a note warns: the coefficients lose six digits
ERROR_ASSUMPTIONS = {
    "classical": "errors are assumed independent and of equal variance",
    "HC0": "errors may differ in variance (HC0, White's)",
    "HC1": "errors may differ in variance (HC1: HC0 times n / (n − rank))",
    "HC2": "errors may differ in variance (HC2: squared residuals over 1 − leverage)",
    "HC3": "errors may differ in variance (HC3: squared residuals over (1 − leverage)²)",
    "HC4": "errors may differ in variance (HC4: squared residuals over (1 − leverage)^min(4, n · leverage / rank))",
    "CR2": "errors may differ in variance (CR2: HC2, and t has Satterthwaite degrees of freedom)",
}


@dataclass(frozen=True)
class LinearFacts:
    """A fit and weighted sums over its targets; `names` are of the columns, the intercept first if `virtual`."""

    fit: LeastSquaresFit
    names: tuple[str, ...]
    virtual: bool
    weighted: bool
    weight_kind: WeightKind
    rows: float  # n
    log_weights: float  # Σ log s of precision weights
    mean: float  # of the targets
    constant: bool  # whether all targets are the same
    spread: float  # Σ s (y − mean)²
    squares: float  # Σ s y²
    rounding: float  # largest RSS explained by rounding error

    @property
    def total(self) -> float:
        """The total sum of squares: about the mean or, without an intercept, about 0."""
        return self.spread if self.virtual else self.squares

    @property
    def degrees_of_freedom(self) -> float:
        """n − rank."""
        return self.rows - self.fit.rank

    @property
    def log_likelihood(self) -> float:
        """The maximum of the Gaussian log-likelihood, at σ² = RSS / n."""
        return 0.5 * (self.log_weights - self.rows * (math.log(2.0 * math.pi * self.fit.rss / self.rows) + 1.0))

    @cached_property
    def objection(self) -> str:
        """Why the fit has no standard errors; empty if it has."""
        fit = self.fit
        if self.degrees_of_freedom <= 0.0:
            return Refusal.NO_FREEDOM(rows=self.rows, rank=fit.rank)
        if self.virtual and self.constant:
            return Refusal.CONSTANT_TARGET(value=self.mean)
        if fit.rss <= self.rounding:
            return Refusal.PERFECT_FIT()
        variances = np.diag(fit.inverse_gram)
        for index in np.flatnonzero(~((variances >= TINY) & (variances < np.inf))).tolist():
            if index not in fit.aliased:
                size, remedy = ("large", "divide") if variances[index] < TINY else ("small", "multiply")
                return Refusal.OUT_OF_RANGE(name=self.names[index], size=size, remedy=remedy)
        return ""


def linear_facts(problem: Problem, fit: LeastSquaresFit, weight_kind: WeightKind) -> LinearFacts:
    """Return the facts of a fit; one pass over the rows if the fit is nearly perfect, else none."""
    y, weights = np.asarray(problem.y, dtype=np.float64), problem.weights
    used, used_weights = (y, None) if weights is None else (y[weights > 0.0], weights[weights > 0.0])
    mean = float(np.average(used, weights=used_weights))
    squares, rounding = _sum_of_squares(used, used_weights), 0.0
    if fit.rss <= NEAR_PERFECT * squares:
        rounding = ROUNDING**2 * residual_sums(problem.design, y, weights, fit.basic_coef).magnitude
    return LinearFacts(
        fit=fit,
        names=tuple(map(str, problem.design.names)),
        virtual=problem.design.virtual,
        weighted=weights is not None,
        weight_kind=weight_kind,
        rows=count_rows(problem, weight_kind),
        log_weights=0.0 if used_weights is None or weight_kind == "frequency" else float(np.log(used_weights).sum()),
        mean=mean,
        constant=bool(used.min() == used.max()),
        spread=_sum_of_squares(used - mean, used_weights),
        squares=squares,
        rounding=rounding,
    )


def _sum_of_squares(values: Floats, weights: Floats | None) -> float:
    return float(values @ values if weights is None else (weights * values) @ values)


@dataclass(frozen=True)
class CoefficientCovariance:
    """The covariance of `basic_coef`, (p, p), 0 for aliased columns, and the degrees of freedom of its tests."""

    matrix: Floats
    degrees_of_freedom: float
    choice: CovarianceChoice
    objection: str = ""  # why it gives no standard errors
    robust: RobustCovariance | None = None

    def trust(self, names: Sequence[str]) -> list[Trust]:
        """Return the reliability of the test of each coefficient."""
        if self.robust is None:
            return [Trust(self.degrees_of_freedom)] * len(names)
        units, contrasts = self.robust.units, self.robust.basis.to_coefficients
        return trust(units, contrasts, names, self.choice.kind, self.choice.unit, self.degrees_of_freedom)


def classical_covariance(facts: LinearFacts) -> CoefficientCovariance:
    """Return σ² (XᵗSX)⁻¹."""
    fit, df = facts.fit, facts.degrees_of_freedom
    matrix = (fit.rss / df if df > 0.0 else math.nan) * fit.inverse_gram
    return CoefficientCovariance(matrix, df, CovarianceChoice("classical"), facts.objection)


def find_covariance(problem: Problem, facts: LinearFacts, choice: CovarianceChoice) -> CoefficientCovariance:
    """Return the chosen covariance, with an objection if it gives no standard errors."""
    classical = classical_covariance(facts)
    if choice.kind == "classical" or classical.objection:
        return replace(classical, choice=choice)
    robust = robust_covariance(problem, facts.fit, choice, facts.weight_kind)
    df = choice.group_count - 1.0 if choice.groups is not None else classical.degrees_of_freedom
    return CoefficientCovariance(robust.basis.coefficient_covariance(robust.core), df, choice, robust=robust)


def _overall_wald(robust: RobustCovariance, fit: LeastSquaresFit) -> float | None:
    """Return b·V⁻¹·b of all coefficients but the intercept, computed in orthonormal coordinates for accuracy."""
    basis, virtual = robust.basis, int(robust.basis.means is not None)
    columns = np.setdiff1d(np.arange(virtual, len(fit.coef)), fit.aliased)
    coordinates = scipy.linalg.solve_triangular(basis.factor[columns - virtual], fit.basic_coef[columns])
    return wald_statistic(np.asarray(coordinates), robust.core[virtual:, virtual:])


def table_of(facts: LinearFacts, covariance: CoefficientCovariance, level: float = 0.95) -> InferenceTable:
    """Return the table of a fit, given the covariance of its coefficients."""
    level = require_level(level)
    df, choice = covariance.degrees_of_freedom, covariance.choice
    trusts = covariance.trust(facts.names)
    groups = 0 if choice.by_row else choice.group_count
    few = () if covariance.robust is None else few_notes(trusts, facts.names, choice.kind, groups)
    return InferenceTable(
        model="linear",
        rows=facts.rows,
        degrees_of_freedom=df if df > 0.0 and choice.kind != "CR2" else None,
        level=level,
        covariance=covariance.choice.kind,
        statistic="t",
        terms=tuple(_terms(facts, covariance, trusts, level)),
        measures=tuple(_measures(facts, covariance)),
        conventions=_conventions(facts, covariance.choice),
        notes=(*_notes(facts), *few),
    )


def _terms(
    facts: LinearFacts, covariance: CoefficientCovariance, trusts: Sequence[Trust], level: float
) -> Iterator[Term]:
    fit, variances = facts.fit, np.diag(covariance.matrix)
    for index, (name, worth) in enumerate(zip(facts.names, trusts, strict=True)):
        estimate, error = float(fit.coef[index]), math.sqrt(max(float(variances[index]), 0.0))
        if not fit.estimable[index]:
            yield Term(name, None, absent=not_estimable_reason(facts, index))
        elif covariance.objection:
            yield Term(name, estimate, absent=covariance.objection)
        elif error == 0.0:
            yield Term(name, estimate, error, absent=Refusal.NO_VARIANCE(name=name))
        elif worth.absent:
            yield Term(name, estimate, None if worth.hidden else error, absent=worth.absent)
        else:
            yield replace(wald_term(name, estimate, error, level, df=worth.df), df=worth.own)


def not_estimable_reason(facts: LinearFacts, index: int) -> str:
    """Return why a coefficient is not identified: its column is aliased, or aliased columns depend on it."""
    names, fit = facts.names, facts.fit
    if not fit.relations:
        return Refusal.MORE_COLUMNS()
    if index in fit.aliased:
        relation = fit.relations[fit.aliased.index(index)]
        return aliased(names[index], {names[other]: share for other, share in relation.items()}, rounded=True)
    tied = [names[other] for other, relation in zip(fit.aliased, fit.relations, strict=True) if index in relation]
    return Refusal.NOT_UNIQUE(name=names[index], tied=tied, names=[names[index], *tied])


def _measures(facts: LinearFacts, covariance: CoefficientCovariance) -> Iterator[Measure]:
    fit, n, rank, df = facts.fit, facts.rows, facts.fit.rank, facts.degrees_of_freedom
    objection, constant = facts.objection, facts.total <= 0.0 or (facts.virtual and facts.constant)
    no_r_squared = Refusal.CONSTANT_TARGET(value=facts.mean) if constant else objection if df <= 0.0 else ""
    explains = rank > int(facts.virtual)  # an intercept alone explains nothing, not even by rounding
    unexplained = math.nan if no_r_squared else fit.rss / facts.total if explains else 1.0
    yield _measure(
        "R²", 1.0 - unexplained, no_r_squared, "about the mean" if facts.virtual else "about 0, no intercept"
    )
    yield _measure("adjusted R²", 1.0 - unexplained * (n - facts.virtual) / df if df > 0.0 else 0.0, no_r_squared)
    yield _overall_test(facts, covariance)
    yield _measure(
        "σ",
        math.sqrt(fit.rss / df) if df > 0.0 else 0.0,
        objection,
        f"on {freedom_text(df)}",
    )
    loglik = facts.log_likelihood if not objection else 0.0
    yield _measure("log-likelihood", loglik, objection)
    yield _measure("AIC", 2.0 * (rank + 1) - 2.0 * loglik, objection)
    yield _measure("BIC", math.log(n) * (rank + 1) - 2.0 * loglik, objection)
    yield Measure("RSS", fit.rss)
    yield Measure("condition", fit.condition, detail="of the columns, each scaled to length 1")


def _measure(name: str, value: float, absent: str, detail: str = "") -> Measure:
    return Measure(name, None, absent=absent) if absent else Measure(name, value, detail=detail)


def _overall_test(facts: LinearFacts, covariance: CoefficientCovariance) -> Measure:
    """Return the F test that all coefficients but the intercept are 0."""
    fit, k, df = facts.fit, facts.fit.rank - int(facts.virtual), covariance.degrees_of_freedom
    objection = covariance.objection or (Refusal.NOTHING_TO_TEST() if k == 0 else "")
    if objection:
        return Measure("F", None, absent=objection)
    if covariance.robust is None:
        return f_test("F", max(facts.total - fit.rss, 0.0) / k / (fit.rss / df), k, df)
    return _robust_overall_test(facts, covariance, covariance.robust, k)


def _robust_overall_test(
    facts: LinearFacts, covariance: CoefficientCovariance, robust: RobustCovariance, count: int
) -> Measure:
    choice, virtual = covariance.choice, int(facts.virtual)
    value = _overall_wald(robust, facts.fit)
    slopes, fit = np.eye(facts.fit.rank)[virtual:], facts.fit
    names = [name for index, name in enumerate(facts.names) if index >= virtual and index not in fit.aliased]
    test = robust_f_test(robust.units, slopes, value, names, choice, covariance.degrees_of_freedom)
    if test.objection or test.df is None:
        return Measure("F", None, absent=test.objection)
    measure = f_test("F", test.f, count, test.df)
    return replace(measure, detail=f"{measure.detail}; {test.note}") if test.note else measure


def _conventions(facts: LinearFacts, choice: CovarianceChoice) -> tuple[str, ...]:
    df, rank = facts.degrees_of_freedom, facts.fit.rank
    meaning = "a row's error has variance σ² / weight: n is the number of rows of weight above 0"
    if facts.weight_kind == "frequency":
        meaning = "a row counts as many times as its weight says: n is the sum of the weights"
    return (
        f"standard errors: {_error_assumption(choice)}",
        *[meaning] * facts.weighted,
        f"σ² = RSS / (n − rank), n = {facts.rows:.12g}, rank = {rank}: {freedom_text(df)}",
        "the log-likelihood is Gaussian with σ² = RSS / n; AIC and BIC count σ² as a parameter (k = rank + 1)",
    )


def _error_assumption(choice: CovarianceChoice) -> str:
    if choice.kind == "newey_west":
        return f"errors may be related over {counted(choice.lag, 'row')} (Newey and West, Bartlett weights)"
    if choice.groups is None or choice.by_row:
        return ERROR_ASSUMPTIONS[choice.kind]
    if choice.kind == "CR2":
        return (
            f"errors may be related within {choice.group_count:,} groups (CR2: residuals times (I − H)^−½ of their"
            " group; t has Satterthwaite degrees of freedom)"
        )
    corrected = "times G/(G − 1) · (n − 1)/(n − rank)" if choice.kind == "clustered" else "not corrected for few groups"
    return f"errors may be related within {choice.group_count:,} groups ({corrected}; t has G − 1 degrees of freedom)"


def _notes(facts: LinearFacts) -> Iterator[str]:
    fit = facts.fit
    if fit.aliased:
        names, relations = facts.names, zip(fit.aliased, fit.relations, strict=bool(fit.relations))
        sets = [[names[place] for place in sorted((index, *shares))] for index, shares in relations]
        collinear = collinear_clause(sets) or f"{counted(len(fit.aliased), 'column')} collinear with others"
        yield f"{collinear}: fitted values, RSS, R² and F are unique, the coefficients concerned are not"
    if fit.condition > HIGH_CONDITION:
        digit = max(1, 16 - len(f"{fit.condition:.0f}") + 1)
        yield f"nearly collinear columns (condition {fit.condition:.1e}): coefficients keep about {digit} digits"
