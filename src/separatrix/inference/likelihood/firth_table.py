"""The table of a bias-reduced fit: intervals and tests by the profile of the penalised likelihood.

The statistic of a coefficient is twice the fall of the penalised log-likelihood to where it is 0, tested by χ² of 1;
Wald's would be misleading, as that likelihood is far from a parabola where the classes are separated.

Reference: Heinze and Schemper, A solution to the problem of separation in logistic regression (2002).
"""

from __future__ import annotations

import math
from typing import Any

from separatrix.inference import eligibility
from separatrix.inference.likelihood.firth import FirthFit
from separatrix.inference.likelihood.profile import Interval
from separatrix.inference.likelihood.table import with_ratios
from separatrix.inference.linear.covariance import rows_counted
from separatrix.inference.table import InferenceTable, Measure, Term
from separatrix.problem import Problem


def firth_table(fit: FirthFit, problem: Problem, labels: tuple[Any, Any], weighting: str = "") -> InferenceTable:
    """Return the table of a fit; `weighting` names what rows count by where that is not how often they were seen."""
    absent = eligibility.weights_not_counts(weighting).split(", or covariance")[0] if weighting else ""
    rows, facts = rows_counted(problem, "precision" if weighting else "frequency"), fit.result.facts
    return InferenceTable(
        model="firth",
        target="y",
        rows=rows,
        degrees_of_freedom=rows - len(fit.intervals),
        level=fit.level,
        covariance="classical",
        statistic="profile likelihood",
        terms=with_ratios((_term(interval, absent) for interval in fit.intervals), problem.design),
        measures=(
            Measure("log-likelihood", facts["loglik"], detail="at the bias-reduced estimates"),
            Measure("penalised log-likelihood", facts["penalised_loglik"], detail="ℓ + ½ log det I"),
            Measure("deviance", -2.0 * facts["loglik"], detail="at the bias-reduced estimates"),
        ),
        conventions=(
            "bias-reduced estimates (Firth); standard errors from the inverse of the information at them",
            "intervals and p-values by the profile of the penalised likelihood, χ² of 1",
            f"ratios are of the odds of {labels[1]!r}",
        ),
    )


def _term(interval: Interval, absent: str) -> Term:
    if absent:
        return Term(interval.name, interval.estimate, absent=absent)
    lower, upper = (end if math.isfinite(end) else None for end in (interval.lower, interval.upper))
    numbers = interval.standard_error, interval.statistic, interval.p_value
    return Term(interval.name, interval.estimate, *numbers, lower, upper)
