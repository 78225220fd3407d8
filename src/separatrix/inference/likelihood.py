"""A maximum likelihood fit as inference sees it: its rows, whether its maximum exists, and where that is.

What describes a whole likelihood fit; k counts its free coefficients, ℓ₀ is that of a model without columns.

    deviance −2ℓ,   McFadden's R² = 1 − ℓ/ℓ₀,   AIC 2k − 2ℓ,   BIC k·log n − 2ℓ,   likelihood ratio 2(ℓ − ℓ₀)

The last is tested by χ² of k − k₀. Where the classes are separated ℓ is the supremum, and AIC, BIC and the test, which
need a maximum, are absent. Reference: McFadden, Conditional logit analysis of qualitative choice behavior (1974).

The table of a logistic or softmax fit by maximum likelihood: estimates, errors, tests, and where there are none.

    z = estimate / error,   p = P(|N(0, 1)| > |z|),   interval estimate ± z(level) · error,   ratio exp(estimate)

Where the classes are separated, coefficients with a limit get that and its error. Of classes each against the rest the
table has all the fits. Cost: as `find_summit`, and two passes for a robust covariance.

Reference: Hosmer, Lemeshow and Sturdivant, Applied Logistic Regression (2013).

Wald's test that several coefficients of a likelihood fit are 0, of every class that has them: χ² of their number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.special

from separatrix.arrays import Floats
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Design
from separatrix.errors import DataError
from separatrix.inference import eligibility
from separatrix.inference.covariance import CovarianceChoice, refuse_others, rows_counted, sandwich
from separatrix.inference.hypotheses import WaldTest, places_of, wald_test_of
from separatrix.inference.mle import (
    Contrast,
    Estimability,
    MaximumLikelihood,
    binary_contrasts,
    find_mle,
    softmax_contrasts,
    variance,
)
from separatrix.inference.table import InferenceTable, Measure, Term
from separatrix.problem import Problem


@dataclass(frozen=True)
class StandardErrors:
    """The covariance of the flat coefficients of centred columns; None, and why, where there is none."""

    covariance: Floats | None
    absent: str = ""


@dataclass(frozen=True)
class LikelihoodFit:
    """A fit without a penalty: its problem, whether its maximum exists, and its flat coefficients.

    `weighting` names what the rows count by where that is not how often they were seen; `reference` is the place of the
    class that others are set against, of more than two.
    """

    problem: Problem
    existence: SeparabilityCertificate
    coef: Floats
    classes: tuple[Any, ...]
    weighting: str = ""
    reference: int = 0

    @cached_property
    def summit(self) -> MaximumLikelihood | None:
        """The maximum of the likelihood or what it tends to; None where all is separated, or nothing is known."""
        return find_mle(self.problem, self.existence, self.coef)

    @cached_property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The coefficients, in the order of the table."""
        names = self.problem.design.names
        if len(self.classes) == 2:
            return binary_contrasts(names)
        return softmax_contrasts(names, self.classes, self.reference)

    @cached_property
    def estimability(self) -> Estimability:
        """Which coefficients can be estimated, and why others cannot."""
        return Estimability(self.existence)

    @property
    def rows(self) -> float:
        """The number of rows, each as often as it was seen."""
        return rows_counted(self.problem, "precision" if self.weighting else "frequency")

    @property
    def loglik(self) -> float | None:
        """The largest log-likelihood, its supremum, or None where neither is known."""
        if self.summit is not None:
            return self.summit.loglik
        return 0.0 if self.existence.verdict == "separable" else None

    @cached_property
    def null_loglik(self) -> float:
        """The log-likelihood of a model without columns: the classes' shares or, without an intercept, equal shares."""
        if not self.problem.design.virtual:
            return -self.problem.total_weight * math.log(len(self.classes))
        return float(scipy.special.xlogy(self._sizes, self._sizes / self._sizes.sum()).sum())

    @property
    def rarest(self) -> float:
        """How much weight the rarest class has."""
        return float(self._sizes.min())

    @cached_property
    def _sizes(self) -> Floats:
        """The weight of each class, (K,)."""
        y, count = self.problem.y, len(self.classes)
        codes = y.astype(np.intp) if count > 2 else (y > 0.0).astype(np.intp)
        return np.bincount(codes, weights=self.problem.weights, minlength=count).astype(np.float64)

    @property
    def free(self) -> int:
        """How many coefficients are free: those of columns that depend on others are not."""
        return len(self.coef) - len(self.estimability.aliases)

    def errors(self, choice: CovarianceChoice) -> StandardErrors:
        """Return the covariance chosen, or why there is none."""
        refuse_others(choice)
        summit = self.summit
        if summit is None:
            known = self.loglik is not None
            return StandardErrors(
                None, eligibility.no_maximum(len(self.classes)) if known else eligibility.maximum_not_shown()
            )
        if self.weighting and choice.kind == "classical":
            return StandardErrors(None, eligibility.weights_not_counts(self.weighting))
        if choice.kind == "classical":
            return StandardErrors(summit.covariance)
        if choice.kind in {"HC1", "clustered"} and self.rows <= len(summit.kept):
            return StandardErrors(None, eligibility.no_degrees_of_freedom(self.rows, len(summit.kept)))
        return StandardErrors(sandwich(summit, summit.covariance, choice, self.rows, repeated=not self.weighting))


NAMES = (
    "log-likelihood",
    "null log-likelihood",
    "deviance",
    "null deviance",
    "McFadden R²",
    "AIC",
    "BIC",
    "likelihood ratio",
)


def measures(fit: LikelihoodFit) -> tuple[Measure, ...]:
    """Return what describes a fit; all absent where its weights are no counts, or nothing is known of its maximum."""
    height, null = fit.loglik, fit.null_loglik
    if fit.weighting or height is None:
        reason = eligibility.weights_not_counts(fit.weighting) if fit.weighting else eligibility.maximum_not_shown()
        return tuple(Measure(name, None, absent=reason) for name in NAMES)
    exists = fit.existence.verdict == "overlap"
    reached = "" if exists else "its supremum, which no coefficients attain"
    shares = "the classes' shares" if fit.problem.design.virtual else "equal shares, as there is no intercept"
    return (
        Measure("log-likelihood", height, detail=reached),
        Measure("null log-likelihood", null, detail=shares),
        Measure("deviance", -2.0 * height, detail=reached),
        Measure("null deviance", -2.0 * null, detail=shares),
        Measure("McFadden R²", 1.0 - height / null, detail="1 − ℓ/ℓ₀"),
        *_of_a_maximum(fit, height, "" if exists else eligibility.no_maximum(len(fit.classes))),
    )


def _of_a_maximum(fit: LikelihoodFit, height: float, absent: str) -> tuple[Measure, ...]:
    free = fit.free
    tested = free - (len(fit.classes) - 1 if fit.problem.design.virtual else 0)
    if absent:
        return tuple(Measure(name, None, absent=absent) for name in NAMES[5:])
    ratio = max(2.0 * (height - fit.null_loglik), 0.0)
    return (
        Measure("AIC", 2.0 * free - 2.0 * height, detail="2k − 2ℓ"),
        Measure("BIC", free * math.log(fit.rows) - 2.0 * height, detail="k·log n − 2ℓ"),
        Measure(
            "likelihood ratio",
            ratio,
            p_value=float(scipy.special.chdtrc(tested, ratio)) if tested else None,
            detail=f"χ² of {tested} against the model without columns",
            absent="" if tested else eligibility.nothing_to_test(),
        ),
    )


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


def _term(fit: LikelihoodFit, contrast: Contrast, errors: StandardErrors, kind: str, level: float) -> Term:
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


def likelihood_wald_test(fit: LikelihoodFit, choice: CovarianceChoice, names: Sequence[str]) -> WaldTest:
    """Return the test of some coefficients by name; a DataError where one cannot be estimated, or has no covariance."""
    known = fit.problem.design.names
    wanted = {known[place] for place in places_of(names, known)}
    contrasts = [contrast for contrast in fit.contrasts if contrast.name in wanted]
    reasons = [reason for contrast in contrasts if (reason := fit.estimability.reason(contrast))]
    errors, summit = fit.errors(choice), fit.summit
    if reasons or errors.covariance is None or summit is None:
        raise DataError(reasons[0] if reasons else errors.absent)
    rows = np.array([summit.row(contrast.entries) for contrast in contrasts])
    if not all(summit.sees(row) for row in rows):
        raise DataError(eligibility.nearly_dependent())
    labels = [c.name if c.output is None else f"{c.output}: {c.name}" for c in contrasts]
    test = wald_test_of(labels, rows @ summit.top.coef, rows @ errors.covariance @ rows.T, choice.kind)
    if test is None:
        raise DataError(eligibility.singular_covariance(len(contrasts), choice.group_count))
    return test
