"""Likelihood-ratio tests of coefficients, and the table whose tests and intervals are by the likelihood alone.

    LR = 2 (max ℓ − max{ℓ(w): the tested coefficients are 0}),     as χ² with as many degrees of freedom as they add

A supremum replaces a maximum that does not exist. A coefficient without a finite estimate is tested all the same, and a
factor with a separated level by all its levels; with completely separated classes nothing is tested. The tests hold
where Wald's mislead: past the turning point of his statistic (Hauck and Donner 1977), or with few events.

Cost: a fit for each test, some 20 more for each interval.

References: Wilks (1938); Venzon and Moolgavkar, A method for computing profile-likelihood-based confidence intervals
(1988).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from separatrix.errors import DataError, OptionError, SeparationError
from separatrix.inference.covariance import CovarianceChoice
from separatrix.inference.eligibility import Refusal, no_maximum, not_frequencies
from separatrix.inference.hypotheses import LikelihoodRatioTest, coefficient_indices
from separatrix.inference.likelihood import LikelihoodFit, likelihood_table, with_ratios
from separatrix.inference.profile import Interval, likelihood_intervals
from separatrix.inference.restriction import restrict
from separatrix.inference.table import InferenceTable, Term, chi2_probability


def likelihood_ratio_test(fit: LikelihoodFit, names: Sequence[str]) -> LikelihoodRatioTest:
    """Return the test of the named columns; raise an error if there is none."""
    if fit.weighting:
        raise OptionError(not_frequencies(fit.weighting, robust=False))
    if fit.loglik is None:
        raise SeparationError(Refusal.MAXIMUM_NOT_SHOWN())
    if fit.mle is None or fit.too_few_events:
        raise DataError(fit.too_few_events if fit.mle is not None else no_maximum(len(fit.classes)))
    indices = coefficient_indices(names, fit.problem.design.names)
    tested, restriction = [fit.problem.design.names[index] for index in indices], restrict(fit, indices)
    if restriction is None or not restriction.degrees_of_freedom:
        raise DataError(Refusal.NOT_TESTABLE(names=tested))
    if not restriction.maximum.converged:
        raise DataError(Refusal.NO_PROFILE(name=" = ".join(tested)))
    chi2 = max(2.0 * (fit.loglik - restriction.maximum.expansion.loglik), 0.0)
    df = restriction.degrees_of_freedom
    convention = "likelihood ratio" if fit.has_maximum else "likelihood ratio by the supremum"
    return LikelihoodRatioTest(tuple(tested), chi2, df, chi2_probability(chi2, df), convention)


def likelihood_ratio_table(fit: LikelihoodFit, level: float) -> InferenceTable:
    """Return the table of a fit with likelihood-ratio tests, and intervals by the profile of the likelihood."""
    table = likelihood_table(fit, CovarianceChoice("classical"), level, wald=False)
    if fit.mle is None or fit.weighting:
        return table
    if fit.too_few_events:
        terms = tuple(
            Term(
                term.name,
                term.estimate,
                term.standard_error,
                absent=term.absent or fit.too_few_events,
                output=term.output,
            )
            for term in table.terms
        )
        return replace(table, terms=with_ratios(terms, fit.problem.design))
    terms = tuple(map(_term, likelihood_intervals(fit, level)))
    convention = "tests by refits without a coefficient, χ²(1), and intervals by the profile of the likelihood"
    return replace(
        table,
        statistic="likelihood ratio",
        terms=with_ratios(terms, fit.problem.design),
        conventions=(convention, *table.conventions),
    )


def _term(interval: Interval) -> Term:
    """Return a row of the table; a coefficient that the rows tell nothing of has no cells."""
    if math.isnan(interval.estimate) or math.isnan(interval.p_value):
        return Term(interval.name, None, absent=interval.absent, output=interval.output)
    error = None if math.isnan(interval.standard_error) else interval.standard_error
    lower, upper = (None if math.isnan(end) else end for end in (interval.lower, interval.upper))
    numbers = interval.estimate, error, interval.statistic, interval.p_value, lower, upper
    return Term(interval.name, *numbers, absent=interval.absent, output=interval.output)
