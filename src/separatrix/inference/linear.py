"""What inference of a least squares fit needs beside the fit: numbers of the targets, which outlive the rows.

By which conventions a linear table's numbers hold, in sentences.

The table of a least squares fit: every coefficient with its error, test and interval, and measures of the whole.

    t = b / se,   p = P(|T| > |t|),   b ± t(level) · se,        T of n − rank degrees of freedom (of groups: G − 1)
    R² = 1 − RSS / total,   F = (total − RSS)/(rank − 1) / σ², or Wald's (b·V⁻¹·b)/(rank − 1) of a robust covariance V

The total is about the mean or, without an intercept, about 0 (and then rank − 1 is rank), as R has it. Cost: nothing
but O(p³) of the classical covariance, two passes of others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special

from separatrix.arrays import Floats
from separatrix.design.moments import residual_sums
from separatrix.errors import counted
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference import eligibility
from separatrix.inference.basis import OrthonormalBasis, wald_statistic
from separatrix.inference.covariance import (
    CovarianceChoice,
    WeightMeaning,
    choose_covariance,
    robust_core,
    rows_counted,
)
from separatrix.inference.table import InferenceTable, Measure, Term, f_probability, require_level, t_probability
from separatrix.problem import Problem

TINY = float(np.finfo(np.float64).tiny)  # smaller numbers lose digits
SUSPECT = 1e-16  # of the targets' sum of squares: a smaller RSS may be rounding
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)  # of the sizes that a residual is the difference of


@dataclass(frozen=True)
class LinearFacts:
    """Sums over the rows, each as often as it counts; `names` are the columns', the intercept's first if `virtual`."""

    names: tuple[str, ...]
    virtual: bool
    weighted: bool
    weight_kind: WeightMeaning
    rows: float  # n, how many rows were seen
    log_weights: float  # Σ log s, of precisions
    mean: float  # of the targets
    constant: bool  # whether all targets are the same
    spread: float  # Σ s (y − mean)²
    squares: float  # Σ s y²
    rounding: float  # what the RSS could be by rounding alone

    @property
    def total(self) -> float:
        """What R² is relative to: the spread about the mean or, without an intercept, about 0."""
        return self.spread if self.virtual else self.squares

    def degrees_of_freedom(self, fit: LeastSquaresFit) -> float:
        """Return n − rank."""
        return self.rows - fit.rank

    def log_likelihood(self, fit: LeastSquaresFit) -> float:
        """Return the Gaussian log-likelihood at its largest, where σ² = RSS / n."""
        return 0.5 * (self.log_weights - self.rows * (math.log(2.0 * math.pi * fit.rss / self.rows) + 1.0))

    def objection(self, fit: LeastSquaresFit) -> str:
        """Return why there is nothing to infer from the fit, or nothing where there is."""
        if self.degrees_of_freedom(fit) <= 0.0:
            return eligibility.no_degrees_of_freedom(self.rows, fit.rank)
        if self.virtual and self.constant:
            return eligibility.constant_target(self.mean)
        return eligibility.perfect_fit() if fit.rss <= self.rounding else self._out_of_range(fit)

    def _out_of_range(self, fit: LeastSquaresFit) -> str:
        """Return that floats do not hold a variance, or nothing where they hold all."""
        spread = np.delete(np.diag(fit.inverse_gram), fit.aliased)
        lost = np.flatnonzero(~((spread >= TINY) & (spread < np.inf)))
        if not len(lost):
            return ""
        names = np.delete(np.asarray(self.names, dtype=object), fit.aliased)
        return eligibility.out_of_range(names[lost[0]], small=not spread[lost[0]] < TINY)


def linear_facts(problem: Problem, fit: LeastSquaresFit, weight_kind: WeightMeaning) -> LinearFacts:
    """Return the facts of a fit; no pass over the rows, but where the fit looks perfect."""
    y, weights = np.asarray(problem.y, dtype=np.float64), problem.weights
    seen, counts = (y, None) if weights is None else (y[weights > 0.0], weights[weights > 0.0])
    mean = float(np.average(seen, weights=counts))
    squares = _sum_of_squares(seen, counts)
    return LinearFacts(
        names=tuple(map(str, problem.design.names)),
        virtual=problem.design.virtual,
        weighted=weights is not None,
        weight_kind=weight_kind,
        rows=rows_counted(problem, weight_kind),
        log_weights=0.0 if counts is None or weight_kind == "frequency" else float(np.log(counts).sum()),
        mean=mean,
        constant=bool(seen.min() == seen.max()),
        spread=_sum_of_squares(seen - mean, counts),
        squares=squares,
        rounding=_rounding(problem, fit) if fit.rss <= SUSPECT * squares else 0.0,
    )


def _sum_of_squares(values: Floats, counts: Floats | None) -> float:
    return float(values @ values if counts is None else (counts * values) @ values)


def _rounding(problem: Problem, fit: LeastSquaresFit) -> float:
    sums = residual_sums(problem.design, np.asarray(problem.y, dtype=np.float64), problem.weights, fit.basic_coef)
    return ROUNDING**2 * sums.magnitude


HIGH_CONDITION = 1e6  # at which some six digits of the data do not reach the coefficients
COVARIANCES = {
    "classical": "errors are taken to be independent and of equal variance",
    "HC0": "errors may differ in variance (HC0, White's)",
    "HC1": "errors may differ in variance (HC1: HC0 times n / (n − rank))",
    "HC2": "errors may differ in variance (HC2: squared residuals over 1 − leverage)",
    "HC3": "errors may differ in variance (HC3: squared residuals over (1 − leverage)²)",
    "HC4": "errors may differ in variance (HC4: squared residuals over (1 − leverage)^min(4, n · leverage / rank))",
}


def conventions(facts: LinearFacts, fit: LeastSquaresFit, choice: CovarianceChoice) -> tuple[str, ...]:
    """Return the conventions of a table, the covariance's first."""
    df = facts.degrees_of_freedom(fit)
    return (
        f"standard errors: {_covariance(choice)}",
        *_weights(facts),
        f"σ² = RSS / (n − rank), n = {facts.rows:.12g}, rank = {fit.rank}: {counted(round(df), 'degree')} of freedom",
        "the log-likelihood is Gaussian with σ² = RSS / n; AIC and BIC count σ² as a parameter (k = rank + 1)",
    )


def notes(facts: LinearFacts, fit: LeastSquaresFit) -> tuple[str, ...]:
    """Return what a reader should know of the columns."""
    return tuple(_notes(facts, fit))


def _notes(facts: LinearFacts, fit: LeastSquaresFit) -> Iterator[str]:
    if fit.aliased:
        names = [facts.names[place] for place in fit.aliased]
        few = ", ".join(map(repr, names[:6])) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        yield (
            f"{counted(len(names), 'column')} ({few}) can be written by the others: fitted values, RSS, R² and F are"
            " unique, the coefficients of the columns concerned are not"
        )
    if fit.condition > HIGH_CONDITION:
        yield (
            f"the columns are nearly dependent (condition {fit.condition:.1e}): a change of the data in digit"
            f" {max(1, 16 - len(f'{fit.condition:.0f}') + 1)} can show in the first of a coefficient"
        )


def _covariance(choice: CovarianceChoice) -> str:
    if choice.kind == "newey_west":
        return f"errors may be related over {counted(choice.lag, 'row')} (Newey and West, Bartlett weights)"
    if choice.groups is None:
        return COVARIANCES[choice.kind]
    corrected = "times G/(G − 1) · (n − 1)/(n − rank)" if choice.kind == "clustered" else "not corrected for few groups"
    return f"errors may be related within {choice.group_count:,} groups ({corrected}; t has G − 1 degrees of freedom)"


def _weights(facts: LinearFacts) -> Iterator[str]:
    if facts.weighted and facts.weight_kind == "frequency":
        yield "a row counts as many times as its weight says: n is the sum of the weights"
    elif facts.weighted:
        yield "a row's error has variance σ² / weight: n is the number of rows of weight above 0"


@dataclass(frozen=True)
class CoefficientCovariance:
    """The covariance of `basic_coef`, (p, p), 0 for aliased columns, and the degrees of freedom to test with."""

    matrix: Floats
    degrees_of_freedom: float
    choice: CovarianceChoice
    objection: str = ""  # why nothing may be told by it
    overall: float | None = None  # Wald's form of all coefficients but the intercept, of a robust covariance


def linear_table(
    problem: Problem,
    fit: LeastSquaresFit,
    *,
    covariance: str = "classical",
    groups: Any = None,
    lag: Any = None,
    level: float = 0.95,
    weight_kind: WeightMeaning = "precision",
) -> InferenceTable:
    """Return the table of a fit without a penalty; errors by the covariance named (`covariance`)."""
    facts = linear_facts(problem, fit, weight_kind)
    choice = choose_covariance(covariance, problem, groups, lag)
    return table_of(facts, fit, find_covariance(problem, fit, facts, choice), level)


def classical_covariance(fit: LeastSquaresFit, facts: LinearFacts) -> CoefficientCovariance:
    """Return σ² (XᵗSX)⁻¹."""
    df = facts.degrees_of_freedom(fit)
    variance = fit.rss / df if df > 0.0 else math.nan
    return CoefficientCovariance(variance * fit.inverse_gram, df, CovarianceChoice("classical"), facts.objection(fit))


def find_covariance(
    problem: Problem, fit: LeastSquaresFit, facts: LinearFacts, choice: CovarianceChoice
) -> CoefficientCovariance:
    """Return the covariance chosen, with what it has against it."""
    classical = classical_covariance(fit, facts)
    if choice.kind == "classical" or classical.objection:
        return replace(classical, choice=choice)
    frame, core = robust_core(problem, fit, choice, facts.weight_kind)
    df = choice.group_count - 1.0 if choice.groups is not None else classical.degrees_of_freedom
    if np.isnan(core).any():
        return CoefficientCovariance(core, df, choice, eligibility.leverage_one(choice.kind))
    overall = _overall_form(frame, core, fit)
    return CoefficientCovariance(frame.to_users(core), df, choice, overall=overall)


def _overall_form(frame: OrthonormalBasis, core: Floats, fit: LeastSquaresFit) -> float | None:
    """Return b·V⁻¹·b of all coefficients but the intercept, in coordinates, where it keeps its digits."""
    virtual = int(frame.means is not None)
    kept = np.setdiff1d(np.arange(virtual, len(fit.coef)), fit.aliased)
    if not len(kept):
        return None
    along = scipy.linalg.solve_triangular(frame.factor[kept - virtual], fit.basic_coef[kept])
    return wald_statistic(np.asarray(along), core[virtual:, virtual:])


def table_of(
    facts: LinearFacts, fit: LeastSquaresFit, covariance: CoefficientCovariance, level: float = 0.95
) -> InferenceTable:
    """Return the table of a fit by a covariance of its coefficients."""
    level = require_level(level)
    df = covariance.degrees_of_freedom
    return InferenceTable(
        model="linear",
        target="y",
        rows=facts.rows,
        degrees_of_freedom=df if df > 0.0 else None,
        level=level,
        covariance=covariance.choice.kind,
        statistic="t",
        terms=tuple(_terms(facts, fit, covariance, level)),
        measures=tuple(_measures(facts, fit, covariance)),
        conventions=conventions(facts, fit, covariance.choice),
        notes=notes(facts, fit),
    )


def _terms(facts: LinearFacts, fit: LeastSquaresFit, covariance: CoefficientCovariance, level: float) -> Iterator[Term]:
    df = covariance.degrees_of_freedom
    width = float(scipy.special.stdtrit(df, 0.5 + level / 2.0)) if df > 0.0 else math.nan
    variances = np.diag(covariance.matrix)
    for place, name in enumerate(facts.names):
        estimate = float(fit.coef[place])
        if not fit.estimable[place]:
            yield Term(name, None, absent=not_estimable_reason(facts.names, fit, place))
        elif covariance.objection:
            yield Term(name, estimate, absent=covariance.objection)
        else:
            error = math.sqrt(max(float(variances[place]), 0.0))
            if error > 0.0:
                ends = estimate - width * error, estimate + width * error
                yield Term(name, estimate, error, estimate / error, t_probability(estimate / error, df), *ends)
            else:
                yield Term(name, estimate, error, absent=eligibility.no_variance(name, covariance.choice.kind))


def not_estimable_reason(names: tuple[str, ...], fit: LeastSquaresFit, place: int) -> str:
    """Return why a coefficient is not unique: what its column is, or which columns are made of it."""
    if not fit.relations:
        return eligibility.more_columns()
    if place in fit.aliased:
        relation = fit.relations[fit.aliased.index(place)]
        shares = {names[other]: share for other, share in relation.items()}
        return eligibility.aliased(names[place], shares, rounded=True)
    ties = zip(fit.aliased, fit.relations, strict=True)
    return eligibility.not_estimable(names[place], [names[other] for other, relation in ties if place in relation])


def _measures(facts: LinearFacts, fit: LeastSquaresFit, covariance: CoefficientCovariance) -> Iterator[Measure]:
    n, rank, df = facts.rows, fit.rank, facts.degrees_of_freedom(fit)
    objection, constant = facts.objection(fit), facts.total <= 0.0 or (facts.virtual and facts.constant)
    no_r = eligibility.constant_target(facts.mean) if constant else objection if df <= 0.0 else ""
    unexplained = fit.rss / facts.total if not no_r else math.nan
    yield _measure("R²", 1.0 - unexplained, no_r, "about the mean" if facts.virtual else "about 0, no intercept")
    yield _measure("adjusted R²", 1.0 - unexplained * (n - facts.virtual) / df if df > 0.0 else 0.0, no_r)
    yield _overall_test(facts, fit, covariance)
    yield _measure(
        "σ", math.sqrt(fit.rss / df) if df > 0.0 else 0.0, objection, f"on {counted(round(df), 'degree')} of freedom"
    )
    height = facts.log_likelihood(fit) if not objection else 0.0
    yield _measure("log-likelihood", height, objection)
    yield _measure("AIC", 2.0 * (rank + 1) - 2.0 * height, objection)
    yield _measure("BIC", math.log(n) * (rank + 1) - 2.0 * height, objection)
    yield Measure("RSS", fit.rss)
    yield Measure("condition", fit.condition, detail="of the columns, each scaled to length 1")


def _measure(name: str, value: float, absent: str, detail: str = "") -> Measure:
    return Measure(name, None, absent=absent) if absent else Measure(name, value, detail=detail)


def _overall_test(facts: LinearFacts, fit: LeastSquaresFit, covariance: CoefficientCovariance) -> Measure:
    """Return the F test of all coefficients but the intercept being 0."""
    tested, df = fit.rank - int(facts.virtual), covariance.degrees_of_freedom
    objection = covariance.objection or (eligibility.nothing_to_test() if tested == 0 else "")
    if objection:
        return Measure("F", None, absent=objection)
    if covariance.choice.kind == "classical":
        value: float | None = max(facts.total - fit.rss, 0.0) / tested / (fit.rss / df)
    else:
        value = None if covariance.overall is None else covariance.overall / tested
    if value is None:
        return Measure("F", None, absent=eligibility.singular_covariance(tested, covariance.choice.group_count))
    p_value = f_probability(value, tested, df)
    return Measure("F", value, p_value, detail=f"on {tested:g} and {df:g} degrees of freedom")
