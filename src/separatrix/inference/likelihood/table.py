"""The table of a logistic or softmax fit by maximum likelihood: estimates, errors, tests, and where there are none.

    z = estimate / error,   p = P(|N(0, 1)| > |z|),   interval estimate ± z(level) · error,   ratio exp(estimate)

Where the classes are separated, coefficients with a limit get that and its error. Of classes each against the rest the
table has all the fits. Cost: as `find_summit`, and two passes for a robust covariance.

Reference: Hosmer, Lemeshow and Sturdivant, Applied Logistic Regression (2013).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import scipy.special

from separatrix.design.base import Design
from separatrix.inference import eligibility
from separatrix.inference.likelihood.estimable import Contrast
from separatrix.inference.likelihood.fit import Errors, LikelihoodFit
from separatrix.inference.likelihood.measures import measures
from separatrix.inference.likelihood.summit import variance
from separatrix.inference.linear.covariance import CovarianceChoice
from separatrix.inference.table import InferenceTable, Term

FEW = 10.0  # rows of the rarest class for each free coefficient, below which normal intervals are rough
FAR = 1e-3  # standard errors that a fit may be from the maximum without its being told


def likelihood_table(fit: LikelihoodFit, choice: CovarianceChoice, level: float) -> InferenceTable:
    """Return the table of a fit."""
    errors = fit.errors(choice)
    terms = [_term(fit, contrast, errors, choice.kind, level) for contrast in fit.contrasts]
    return InferenceTable(
        model="softmax" if len(fit.classes) > 2 else "logistic",
        target="y",
        rows=fit.rows,
        degrees_of_freedom=fit.rows - fit.free,
        level=level,
        covariance=choice.kind,
        statistic="z",
        terms=with_ratios(terms, fit.problem.design),
        measures=measures(fit),
        conventions=_conventions(fit, choice),
        notes=_notes(fit),
    )


def each_class_table(tables: Sequence[InferenceTable], classes: Sequence[Any]) -> InferenceTable:
    """Return one table of the fits of each class against the rest, rows and measures by class."""
    pairs = list(zip(classes, tables, strict=True))
    terms = tuple(replace(term, output=label) for label, table in pairs for term in table.terms)
    named = (replace(one, name=f"{label}: {one.name}") for label, table in pairs for one in table.measures)
    notes = tuple(f"{label}: {note}" for label, table in pairs for note in table.notes)
    separate = (
        "one fit a class, against the rest: no joint likelihood, and tests of several classes are not independent"
    )
    conventions = (separate, *tables[0].conventions[:-1], "ratios are of the odds of a class")
    return replace(tables[0], terms=terms, measures=tuple(named), conventions=conventions, notes=notes)


def _coefficient_term(contrast: Contrast, estimate: float, error: float, level: float) -> Term:
    """Return the row of a coefficient by its estimate and standard error."""
    reach = float(scipy.special.ndtri(0.5 + level / 2.0)) * error
    z = estimate / error
    return Term(
        name=contrast.name,
        estimate=estimate,
        standard_error=error,
        statistic=z,
        p_value=float(scipy.special.erfc(abs(z) / math.sqrt(2.0))),
        lower=estimate - reach,
        upper=estimate + reach,
        output=contrast.output,
    )


def with_ratios(terms: Iterable[Term], design: Design) -> tuple[Term, ...]:
    """Return rows with the exponentials of their estimates and ends; the intercept's has none."""
    constant = design.names[0] if design.virtual else None
    return tuple(term if term.name == constant else _with_ratio(term) for term in terms)


def _with_ratio(term: Term) -> Term:
    if term.estimate is None:
        return term
    ends = [None if end is None else _exponential(end) for end in (term.lower, term.upper)]
    return replace(term, ratio=_exponential(term.estimate), ratio_lower=ends[0], ratio_upper=ends[1])


def _exponential(value: float) -> float:
    return math.exp(value) if value < 709.0 else math.inf


def _term(fit: LikelihoodFit, contrast: Contrast, errors: Errors, kind: str, level: float) -> Term:
    reason, summit = fit.estimability.reason(contrast), fit.summit
    if reason or summit is None:
        return Term(contrast.name, None, absent=reason, output=contrast.output)
    row = summit.row(contrast.entries)
    estimate = float(row @ summit.top.coef)
    if not summit.sees(row):
        return Term(contrast.name, None, absent=eligibility.nearly_dependent(), output=contrast.output)
    if errors.covariance is None:
        return Term(contrast.name, estimate, absent=errors.absent, output=contrast.output)
    error = math.sqrt(variance(row, errors.covariance))
    if error == 0.0:
        reason = eligibility.no_variance(contrast.name, kind)
        return Term(contrast.name, estimate, error, absent=reason, output=contrast.output)
    return _coefficient_term(contrast, estimate, error, level)


def _conventions(fit: LikelihoodFit, choice: CovarianceChoice) -> tuple[str, ...]:
    kinds = {
        "classical": "standard errors from the inverse of the information at the maximum",
        "HC0": "HC0: A M A with A the inverse information and M the sum of the rows' score products",
        "HC1": "HC1: HC0 times n/(n − k)",
        "clustered": "clustered: by groups, times G/(G − 1) · (n − 1)/(n − k)",
        "clustered_HC0": "clustered: by groups, without a correction",
    }
    n = "the sum of the weights" if fit.problem.weights is not None and not fit.weighting else "the number of rows"
    lines = [f"{kinds[choice.kind]}; z against the normal distribution", f"n is {n}, k the number of free coefficients"]
    if len(fit.classes) > 2:
        lines.append(f"each class against {fit.classes[fit.reference]!r}, and ratios are of the odds of the two")
    else:
        lines.append(f"ratios are of the odds of {fit.classes[1]!r}")
    return tuple(lines)


def _notes(fit: LikelihoodFit) -> tuple[str, ...]:
    notes = []
    if fit.existence.verdict in {"separable", "quasi"}:
        notes.append(fit.existence.claim)
        if len(fit.classes) == 2:
            notes.append(
                "profile_intervals() gives each coefficient the values that the data do not refuse, also where it runs"
                ' to infinity; on_separation="firth" gives finite estimates'
            )
    rarer = fit.rarest / max(fit.free, 1)
    if fit.existence.verdict == "overlap" and not fit.weighting and rarer < FEW:
        notes.append(
            f"{rarer:.2g} rows of the rarest class for each free coefficient are few for the normal distribution"
            + ("; see profile_intervals()" if len(fit.classes) == 2 else "")
        )
    if fit.summit is not None and fit.summit.short > FAR:
        notes.append(
            f"the fit had stopped {fit.summit.short:.2g} standard errors from the maximum; this table is at the maximum"
        )
    return tuple(notes)
