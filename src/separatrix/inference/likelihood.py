"""Inference for a logistic or softmax fit by maximum likelihood: table of coefficients, measures and Wald tests.

    z = estimate / error,   p = P(|N(0, 1)| > |z|),   interval estimate ± z(level) · error,   ratio exp(estimate)
    deviance −2ℓ,   McFadden's R² = 1 − ℓ/ℓ₀,   AIC 2k − 2ℓ,   BIC k·log n − 2ℓ,   likelihood ratio 2(ℓ − ℓ₀)

k is the number of free coefficients, ℓ₀ the intercept-only log-likelihood. The likelihood ratio is tested by χ² with
k − k₀ degrees of freedom. If the classes are separated, ℓ is the supremum; AIC, BIC and the test need a maximum and are
absent, and only coefficients with a finite limit have an estimate and an error. A one-vs-rest model has one table for
all its fits. A Wald test of a column covers the coefficients of every class.

A test is absent past the turning point of Wald's statistic, which there falls as the estimate grows, and a robust one
if events are few.

Cost: that of `find_mle`, one pass for the turning points, and two for a robust covariance.

References: McFadden, Conditional logit analysis of qualitative choice behavior (1974); Hosmer, Lemeshow and Sturdivant,
Applied Logistic Regression (2013); Yee, On the Hauck–Donner effect in Wald tests (2022).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.special

from separatrix.arrays import Floats
from separatrix.certificates.rays import Relation
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Design
from separatrix.errors import DataError, OptionError
from separatrix.inference.covariance import (
    LIKELIHOOD_KINDS,
    CovarianceChoice,
    LikelihoodCovariance,
    count_rows,
    sandwich,
)
from separatrix.inference.eligibility import (
    Contrast,
    Estimability,
    Refusal,
    collinear_clause,
    contrasts_of,
    no_maximum,
    not_frequencies,
)
from separatrix.inference.hypotheses import WaldTest, coefficient_indices, robust_wald_test, wald_test_of
from separatrix.inference.mle import MaximumLikelihood, find_mle, information_rank, limit_log_likelihood, variance
from separatrix.inference.small_samples import Trust, few_notes, trust
from separatrix.inference.table import InferenceTable, Measure, Term, chi2_probability, wald_term
from separatrix.problem import Problem

INFINITE = {"+inf", "-inf"}  # statuses of coefficients that diverge, as float() reads them
FEW_EVENTS = 10.0  # per free coefficient, below which tests are approximate
FEW_EFFECTIVE = 5.0  # the same of effective events, which the estimates themselves move
LEAST_EVENTS = 2.0  # per parameter; with fewer, χ² rejects a true null in some 9 % of fits at 5 %
LEAST_ROBUST_EVENTS = 3.0  # the same of robust tests, which with fewer reject a true null in 9 to 20 %
FAR_FROM_MAXIMUM = 1e-3  # standard errors between fit and maximum above which a note says so


@dataclass(frozen=True)
class LikelihoodFit:
    """An unpenalised fit: its problem, whether its maximum exists, and its flat coefficients.

    `weighting` names the weights if they are not frequencies; `reference` is the index of the reference class, for more
    than two classes. `collinear` are relations, to rounding, of columns that are held; the maximum is then that over
    the other columns.
    """

    problem: Problem
    existence: SeparabilityCertificate
    coef: Floats
    classes: tuple[Any, ...]
    weighting: str = ""
    reference: int = 0
    collinear: tuple[Relation, ...] = ()

    @property
    def has_maximum(self) -> bool:
        """Whether the likelihood is proved to have a maximum, over the columns that are not held."""
        return self.existence.verdict == "overlap" or bool(self.collinear)

    @cached_property
    def mle(self) -> MaximumLikelihood | None:
        """The maximum of the likelihood or its limit; None if the classes are separated or that is undecided."""
        return find_mle(self.problem, self.existence, self.coef, self.collinear)

    @cached_property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The coefficients, in the order of the table."""
        return contrasts_of(self.problem.design.names, self.classes, self.reference)

    @cached_property
    def estimability(self) -> Estimability:
        """Which coefficients are estimable, and why others are not."""
        return Estimability(self.existence, self.collinear)

    @property
    def rows(self) -> float:
        """The number of rows, or the sum of frequency weights."""
        return count_rows(self.problem, "precision" if self.weighting else "frequency")

    @property
    def loglik(self) -> float | None:
        """The maximum of the log-likelihood, or its supremum; None if unknown."""
        if self.mle is not None:
            return self.mle.loglik
        return 0.0 if self.existence.verdict == "separable" else None

    @cached_property
    def null_loglik(self) -> float:
        """The intercept-only log-likelihood or, without an intercept, that of equal class probabilities."""
        if not self.problem.design.virtual:
            return -self.problem.total_weight * math.log(len(self.classes))
        return float(scipy.special.xlogy(self.class_weights, self.class_weights / self.class_weights.sum()).sum())

    @cached_property
    def class_weights(self) -> Floats:
        """The total weight of each class, (K,)."""
        y, count = self.problem.y, len(self.classes)
        codes = y.astype(np.intp) if count > 2 else (y > 0.0).astype(np.intp)
        return np.bincount(codes, weights=self.problem.weights, minlength=count).astype(np.float64)

    @property
    def events_per_parameter(self) -> float:
        """The rows of the rarest class for each free coefficient."""
        return float(self.class_weights.min()) / max(self.free, 1)

    @cached_property
    def effective_events(self) -> float:
        """The number of events, of classes of one size, that tell as much as the rows: Σ π(1 − π) · K/(K − 1).

        They are few if most rows are predicted with near certainty. Infinite without an intercept or a maximum.
        """
        mle, p, count = self.mle, self.problem.design.shape[1], len(self.classes)
        if mle is None or not self.problem.design.virtual:
            return math.inf
        places = np.arange(0, len(self.coef), p)
        variances = mle.maximum.expansion.information[np.ix_(places, places)]
        return min(float(np.diag(variances).min()), float(variances.sum())) * count / (count - 1.0)

    @property
    def free(self) -> int:
        """The number of free coefficients: aliased and held columns do not count."""
        return len(self.coef) - len(self.estimability.aliases) - len(self.collinear)

    def limits(self) -> dict[str, float]:
        """Return the limit of each coefficient by name: a number, ±inf, or nan if it is not identified.

        For several classes they are those of differences from the first class.
        """
        statuses, finite = self.existence.coefficient_status, self.coef
        if self.collinear:
            dependent = {column for relation in (*self.existence.relations, *self.collinear) for column in relation}
            known = ["aliased" if column in dependent else "finite" for column in range(len(finite))]
            statuses = self.existence.by_name(known)
        if self.existence.weights is not None and "finite" in statuses.values():
            finite = np.full(len(self.coef), np.nan) if self.mle is None else self.mle.coef
        return {
            name: float(number if status == "finite" else status if status in INFINITE else "nan")
            for (name, status), number in zip(statuses.items(), finite, strict=False)
        }

    @property
    def too_few_events(self) -> str:
        """Why no likelihood ratio of it is χ²: there are too few events; empty if there are enough."""
        events = self.events_per_parameter
        return Refusal.TOO_FEW_EVENTS(events=events) if events < LEAST_EVENTS else ""

    def too_few_for(self, choice: CovarianceChoice) -> str:
        """Why a robust covariance tests nothing of it: there are too few events; empty if there are enough.

        Weights that are not frequencies do not count as rows.
        """
        events = min(self.events_per_parameter, self.effective_events / max(self.free, 1))
        if self.weighting:
            used = self.problem.row_weights > 0.0
            events = np.unique(self.problem.y[used], return_counts=True)[1].min() / max(self.free, 1)
        if choice.kind == "classical" or events >= LEAST_ROBUST_EVENTS:
            return ""
        remedy = "fewer columns" if self.weighting or choice.unit == "group" else 'covariance="classical"'
        return Refusal.TOO_FEW_FOR_ROBUST(events=events, covariance=choice.kind, remedy=remedy)

    @cached_property
    def past_turning(self) -> list[Contrast]:
        """The coefficients past the turning point of Wald's statistic (Hauck–Donner effect); one pass."""
        mle = self.mle
        if mle is None:
            return []
        tested = [contrast for contrast in self.contrasts if not self.estimability.reason(contrast)]
        rows = [mle.row(contrast.entries)[np.newaxis] for contrast in tested]
        return [contrast for contrast, past in zip(tested, mle.past_turning(rows), strict=True) if past]

    def ratio_to(self, smaller: LikelihoodFit) -> tuple[float, int]:
        """Return the likelihood ratio to a nested model, and its degrees of freedom, by suprema.

        They are those on the rows that the smaller model does not separate.
        """
        assert self.loglik is not None  # callers have checked
        assert smaller.loglik is not None
        df = self.free - smaller.free
        if not smaller.has_maximum:
            remaining = limit_log_likelihood(self.problem.centred()[0], smaller.problem, smaller.existence)
            df = information_rank(remaining) - len(smaller.coef) + len(smaller.existence.relations)
        return max(2.0 * (self.loglik - smaller.loglik), 0.0), df

    def covariance(self, choice: CovarianceChoice) -> tuple[Floats | None, str]:
        """Return the chosen covariance of the flat coefficients of centred columns, or None and the reason."""
        covariance, reason = self.errors(choice)
        return None if covariance is None else covariance.matrix, reason

    def errors(self, choice: CovarianceChoice) -> tuple[LikelihoodCovariance | None, str]:
        """Return the chosen covariance with what judges its tests, or None and the reason."""
        if choice.kind not in LIKELIHOOD_KINDS:
            known = ", ".join(map(repr, LIKELIHOOD_KINDS))
            raise OptionError(f"covariance={choice.kind!r} is for least squares; of a likelihood, use one of {known}")
        mle = self.mle
        if mle is None:
            return None, Refusal.MAXIMUM_NOT_SHOWN() if self.loglik is None else no_maximum(len(self.classes))
        if choice.kind == "classical":
            classical = LikelihoodCovariance(mle.covariance, mle.root)
            return (None, not_frequencies(self.weighting)) if self.weighting else (classical, "")
        if choice.kind in {"HC1", "clustered"} and self.rows <= len(mle.independent):
            return None, Refusal.NO_FREEDOM(rows=self.rows, rank=len(mle.independent))
        return sandwich(mle, choice, self.rows, repeated=not self.weighting), ""


def likelihood_table(
    fit: LikelihoodFit, choice: CovarianceChoice, level: float, *, wald: bool = True
) -> InferenceTable:
    """Return the table of coefficients of a fit; without `wald`, that for other tests."""
    errors = fit.errors(choice)
    trusts = _trusts(fit, choice, errors[0])
    terms = [_term(fit, contrast, errors, worth, level) for contrast, worth in zip(fit.contrasts, trusts, strict=True)]
    if wald:
        terms = [_withhold_past_turning(fit, *pair) for pair in zip(terms, fit.contrasts, strict=True)]
    labels, groups = [contrast.label for contrast in fit.contrasts], 0 if choice.by_row else choice.group_count
    df = t_freedom(choice)
    return InferenceTable(
        model="softmax" if len(fit.classes) > 2 else "logistic",
        rows=fit.rows,
        degrees_of_freedom=_freedom(fit, choice, df),
        level=level,
        covariance=choice.kind,
        statistic="z" if df is None else "t",
        terms=with_ratios(terms, fit.problem.design),
        measures=fit_measures(fit, choice),
        conventions=_conventions(fit, choice, wald=wald),
        notes=(
            *_notes(fit, wald=wald),
            *(few_notes(trusts, labels, choice.kind, groups) if choice.kind != "classical" else ()),
        ),
    )


def t_freedom(choice: CovarianceChoice) -> float | None:
    """Return the degrees of freedom of t, for covariances by groups, or None: tests by the normal distribution."""
    return None if choice.groups is None else choice.group_count - 1.0


def _trusts(fit: LikelihoodFit, choice: CovarianceChoice, errors: LikelihoodCovariance | None) -> list[Trust]:
    """Return the reliability of the test of each coefficient."""
    if errors is None or errors.units is None or fit.mle is None:
        return [Trust(t_freedom(choice))] * len(fit.contrasts)
    contrasts = np.array([fit.mle.row(contrast.entries) for contrast in fit.contrasts]) @ errors.root
    labels = [contrast.label for contrast in fit.contrasts]
    worth = trust(errors.units, contrasts, labels, choice.kind, choice.unit, t_freedom(choice))
    few = fit.too_few_for(choice)
    return [replace(each, absent=each.absent or few) for each in worth]


def _freedom(fit: LikelihoodFit, choice: CovarianceChoice, clustered: float | None) -> float | None:
    """Return the degrees of freedom of all tests; None if each has its own, or none are left."""
    if choice.kind == "CR2":
        return None
    return (fit.rows - fit.free if fit.rows > fit.free else None) if clustered is None else clustered


def each_class_table(tables: Sequence[InferenceTable], classes: Sequence[Any]) -> InferenceTable:
    """Return one table for the one-vs-rest fits, with terms and measures by class."""
    pairs = list(zip(classes, tables, strict=True))
    terms = tuple(replace(term, output=label) for label, table in pairs for term in table.terms)
    measures = (
        replace(measure, name=f"{label}: {measure.name}") for label, table in pairs for measure in table.measures
    )
    notes = tuple(f"{label}: {note}" for label, table in pairs for note in table.notes)
    caveat = "one fit per class (one-vs-rest): no joint likelihood, and tests of several classes are not independent"
    conventions = (caveat, *tables[0].conventions[:-1], "ratios are of the odds of a class")
    return replace(tables[0], terms=terms, measures=tuple(measures), conventions=conventions, notes=notes)


def _term(
    fit: LikelihoodFit,
    contrast: Contrast,
    errors: tuple[LikelihoodCovariance | None, str],
    worth: Trust,
    level: float,
) -> Term:
    reason, mle, (covariance, absent) = fit.estimability.reason(contrast), fit.mle, errors
    term = partial(Term, contrast.name, output=contrast.output)
    if reason or mle is None:
        return term(None, absent=reason)
    row = mle.row(contrast.entries)
    estimate = float(row @ mle.maximum.coef)
    if not mle.is_estimable(row):
        return term(None, absent=Refusal.NEARLY_DEPENDENT())
    if covariance is None:
        return term(estimate, absent=absent)
    error = math.sqrt(variance(row, covariance.matrix))
    if error == 0.0:
        return term(estimate, error, absent=Refusal.NO_VARIANCE(name=contrast.name))
    if worth.absent:
        return term(estimate, None if worth.hidden else error, absent=worth.absent)
    return replace(wald_term(contrast.name, estimate, error, level, df=worth.df), output=contrast.output, df=worth.own)


def _withhold_past_turning(fit: LikelihoodFit, term: Term, contrast: Contrast) -> Term:
    """Return a term without its test and interval if it is past the turning point of Wald's statistic."""
    if term.statistic is None or contrast not in fit.past_turning:
        return term
    reason = Refusal.PAST_TURNING(name=contrast.name)
    return Term(term.name, term.estimate, term.standard_error, absent=reason, output=term.output)


def with_ratios(terms: Iterable[Term], design: Design) -> tuple[Term, ...]:
    """Return terms with odds ratios and their intervals; the intercept has none."""
    constant = design.names[0] if design.virtual else None
    return tuple(
        term
        if term.name == constant or term.estimate is None
        else replace(term, ratio=_exp(term.estimate), ratio_lower=_exp(term.lower), ratio_upper=_exp(term.upper))
        for term in terms
    )


def _exp(value: float | None) -> float | None:
    return None if value is None else math.exp(value) if value < 709.0 else math.inf


def _conventions(fit: LikelihoodFit, choice: CovarianceChoice, *, wald: bool) -> tuple[str, ...]:
    kinds = {
        "classical": "standard errors from the inverse of the information at the maximum",
        "HC0": "HC0: A M A with A the inverse information and M the sum of the rows' score products",
        "HC1": "HC1: HC0 times n/(n − k)",
        "clustered": "clustered: by groups, times G/(G − 1) · (n − 1)/(n − k)",
        "clustered_HC0": "clustered: by groups, without a correction",
        "CR2": "CR2: scores of a row or group times (I − its information · A)^−½",
    }
    n = "the sum of the weights" if fit.problem.weights is not None and not fit.weighting else "the number of rows"
    odds = f"ratios are of the odds of {fit.classes[1]!r}"
    if len(fit.classes) > 2:
        odds = f"each class against {fit.classes[fit.reference]!r}, and ratios are of the odds of the two"
    reference = "z against the normal distribution"
    if choice.groups is not None:
        reference = (
            "t with G − 1 degrees of freedom" if choice.kind != "CR2" else "t with Satterthwaite degrees of freedom"
        )
    errors = kinds[choice.kind] + (f"; {reference}" if wald else "")
    return errors, f"n is {n}, k the number of free coefficients", odds


def _notes(fit: LikelihoodFit, *, wald: bool) -> tuple[str, ...]:
    notes = []
    if fit.collinear:
        names = fit.existence.names
        sets = dict.fromkeys(
            tuple(names[place] for place in sorted({j % len(names) for j in relation})) for relation in fit.collinear
        )
        notes.append(f"{collinear_clause(list(sets))}: their coefficients are not identified, the others are")
    if fit.existence.verdict in {"separable", "quasi"}:
        notes.append(fit.existence.claim)
        if len(fit.classes) == 2:
            see = 'profile_intervals() or summary(test="lr")' if wald else "profile_intervals()"
            notes.append(f'see {see}, or use on_separation="firth" for finite estimates')
    if fit.rows <= fit.free:
        notes.append(Refusal.NO_FREEDOM(rows=fit.rows, rank=fit.free))
    few = "" if fit.mle is None or fit.weighting else _few_events(fit)
    if few:
        remedy = "see profile_intervals()" if len(fit.classes) == 2 else 'see summary(test="lr")'
        notes.append(f"{few}: " + (f"Wald tests are unreliable; {remedy}" if wald else "tests are approximate"))
    mle = fit.mle
    if mle is not None and mle.distance > FAR_FROM_MAXIMUM:
        notes.append(f"this table is at the maximum, {mle.distance:.2g} standard errors from where the fit stopped")
    return tuple(notes)


def _few_events(fit: LikelihoodFit) -> str:
    """Return that there are few events per parameter, counted or effective; empty if there are enough."""
    events, effective = fit.events_per_parameter, fit.effective_events / max(fit.free, 1)
    if events < FEW_EVENTS:
        return _per_parameter(events)
    sharp = "most rows are predicted with near certainty, which leaves an effective"
    return f"{sharp} {_per_parameter(effective)}" if effective < FEW_EFFECTIVE else ""


def _per_parameter(events: float) -> str:
    shown = f"{events:.2g}"
    return f"{shown} {'event' if shown == '1' else 'events'} per parameter"


def fit_measures(fit: LikelihoodFit, choice: CovarianceChoice) -> tuple[Measure, ...]:
    """Return the measures of a fit; all absent if its weights are not frequencies, or its maximum is undecided."""
    loglik = math.nan if fit.loglik is None else fit.loglik
    null_loglik, free, virtual = fit.null_loglik, fit.free, fit.problem.design.virtual
    exists = fit.has_maximum
    supremum, infimum = (
        "" if exists else f"its {bound}; no coefficients attain it" for bound in ("supremum", "infimum")
    )
    smaller = "intercept-only" if virtual else "null"
    by = "" if exists else ", by the supremum"
    shares = "" if virtual else "equal class probabilities, as there is no intercept"
    tested, ratio = free - (len(fit.classes) - 1) * virtual, max(2.0 * (loglik - null_loglik), 0.0)
    measures = (
        Measure("log-likelihood", loglik, detail=supremum),
        Measure(f"{smaller} log-likelihood", null_loglik, detail=shares),
        Measure("deviance", -2.0 * loglik, detail=infimum),
        Measure(f"{smaller} deviance", -2.0 * null_loglik, detail=shares),
        Measure("McFadden R²", 1.0 - loglik / null_loglik if tested else 0.0, detail="1 − ℓ/ℓ₀"),
        Measure("AIC", 2.0 * free - 2.0 * loglik, detail="2k − 2ℓ"),
        Measure("BIC", free * math.log(fit.rows) - 2.0 * loglik, detail="k·log n − 2ℓ"),
        _ratio_test(fit, choice, ratio, tested, f"test against the {smaller} model, χ²({tested}){by}"),
    )
    known: set[str] = {measure.name for measure in measures}
    reason = "" if exists else no_maximum(len(fit.classes))
    if not exists:  # a supremum is compared with others, but no model of a family attains it
        known -= {"AIC", "BIC"} if fit.mle is not None else {"AIC", "BIC", "likelihood ratio"}
    if fit.weighting or fit.loglik is None:
        known, reason = set(), not_frequencies(fit.weighting) if fit.weighting else Refusal.MAXIMUM_NOT_SHOWN()
    return tuple(
        measure if measure.name in known else Measure(measure.name, None, absent=reason) for measure in measures
    )


def _ratio_test(fit: LikelihoodFit, choice: CovarianceChoice, ratio: float, tested: int, detail: str) -> Measure:
    if not tested:
        return Measure("likelihood ratio", None, absent=Refusal.NOTHING_TO_TEST())
    if choice.unit == "group":
        return Measure("likelihood ratio", None, absent=Refusal.RELATED_ROWS())
    if fit.too_few_events:
        return Measure("likelihood ratio", None, absent=fit.too_few_events)
    return Measure("likelihood ratio", ratio, p_value=chi2_probability(ratio, tested), detail=detail)


def likelihood_wald_test(fit: LikelihoodFit, choice: CovarianceChoice, names: Sequence[str]) -> WaldTest:
    """Return the Wald test of the named coefficients; raise a DataError if one has no estimate or no variance."""
    known = fit.problem.design.names
    selected = {known[index] for index in coefficient_indices(names, known)}
    contrasts = [contrast for contrast in fit.contrasts if contrast.name in selected]
    (errors, absent), mle = fit.errors(choice), fit.mle
    if mle is None:
        raise DataError(absent)
    reason = next(filter(None, map(fit.estimability.reason, contrasts)), "")
    if reason:
        raise DataError(f"{reason}, or lr_test")
    if errors is None:
        raise DataError(absent)
    rows = np.array([mle.row(contrast.entries) for contrast in contrasts])
    if not all(mle.is_estimable(row) for row in rows):
        raise DataError(Refusal.NEARLY_DEPENDENT())
    labels = [contrast.label for contrast in contrasts]
    coef, matrix = rows @ mle.maximum.coef, rows @ errors.matrix @ rows.T
    if fit.too_few_for(choice):
        raise DataError(fit.too_few_for(choice))
    if errors.units is None:
        test = wald_test_of(labels, coef, matrix, choice)
    else:
        test = robust_wald_test(labels, coef, matrix, choice, errors.units, rows @ errors.root, t_freedom(choice))
    if mle.past_turning([rows])[0]:
        alone = len(contrasts) == 1
        raise DataError(Refusal.PAST_TURNING(name=labels[0]) if alone else Refusal.PAST_TURNING_JOINTLY(names=labels))
    return test
