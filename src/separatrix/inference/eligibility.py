"""Eligibility for inference: the reasons for absent numbers, and which coefficients of a likelihood are estimable.

Every cell of a table is valid, or absent with a reason: a sentence, with the remedy after a semicolon. A reason that
concerns the whole fit takes precedence over those of single coefficients.

A coefficient of a logistic or softmax model is a contrast of flat coefficients: a single 1 or, for a class against a
reference, a 1 and a −1. It is estimable if and only if no relation between the columns of the rows that remain in the
likelihood involves it. Relations are exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from string import Formatter
from typing import Any

from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.errors import counted

NAMES_SHOWN = 6
CLASS_WEIGHTS = "class weights"
FIRTH_OR_PENALTY = 'on_separation="firth" or a penalty'
PENALTY = "a penalty (strength above 0)"
NOT_ESTIMABLE = "not estimable"
LIMITS = {"+inf": math.inf, "-inf": -math.inf}
Relation = dict[int, Fraction]


class _Sentence(Formatter):
    """Formats numbers with their noun, as {n:#row}, and lists of names."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        if format_spec.startswith("#"):
            return counted(int(value), format_spec[1:])
        return super().format_field(listed(value) if isinstance(value, list) else value, format_spec)


class Refusal(StrEnum):
    """A template of each reason, filled in by a call: `Refusal.CONSTANT_TARGET(value=7.0)`."""

    # least squares
    ZERO_COLUMN = "{name!r} is 0 in every row, so its coefficient is not identified; drop the column"
    ALIASED = "{name!r} is {relation} in every row ({kind}), so its coefficient is not identified; drop one of {names}"
    DROPPED = "dropped: collinear with {others} ({name!r} is {relation} in every row{kind})"
    DROPPED_ZERO = "dropped: {name!r} is 0 in every row"
    BROKEN_RELATION = (
        "row {row} breaks a relation that held in every row of the fit, {name!r} being {relation}, so its prediction is"
        " not unique; drop the row, or fit without one of these columns"
    )
    NOT_UNIQUE = "{name!r} is collinear with {tied}, so its coefficient is not identified; drop one of {names}"
    OUT_OF_RANGE = (
        "the numbers of {name!r} are so {size} that the variance of its coefficient overflows or underflows;"
        " {remedy} the column by a number of that size"
    )
    NO_FREEDOM = "{rows:#row} and {rank:#free coefficient} leave no degrees of freedom; add rows, or drop columns"
    PERFECT_FIT = (
        "the residuals are 0 up to rounding, so there is no error variance; see if a column gives the target away"
    )
    CONSTANT_TARGET = (
        "the target is {value:g} in every row, so it has no variance to explain; give a target that varies"
    )
    MORE_COLUMNS = "the rows do not identify so many coefficients; drop columns, give more rows, or use a penalty"
    NOTHING_TO_TEST = "the model has only an intercept, so there is nothing to test; give columns that vary"
    TOO_WIDE = "standard errors need a factorisation, and there are too many columns for one; fit fewer columns"
    ITERATIVE = 'solver={solver!r} is iterative and gives no standard errors; use solver="auto"'
    # penalties and weights
    PENALISED = (
        "the fit has a penalty (strength={strength:.4g}), which biases the coefficients towards 0 by an unknown amount;"
        " fit with strength=0"
    )
    CROSS_VALIDATED = "the strength ({strength:g}) was chosen by cross-validation on these rows; fit with strength=0"
    NOT_FREQUENCIES = "standard errors need frequency weights, and the rows have {kind}; use {remedy}"
    IMPUTED = (
        'missing values were imputed ({names}), and tests would take them as observed; use missing="drop", or leave out'
        " columns"
    )
    # robust covariances
    TOO_FEW_GROUPS = "the covariance of {groups:#group} cannot test {count:#coefficient} at once; test fewer"
    SINGULAR = "this covariance is singular, so {count:#coefficient} cannot be tested at once; test fewer"
    NO_VARIANCE = 'the rows that decide {name!r} are all fitted exactly, without variance; use covariance="classical"'
    ONE_UNIT = (
        "one {unit} gives {share:.0%} of the variance of {name!r}, and its error cannot be estimated; drop the"
        ' column, or use covariance="classical"'
    )
    LIBERAL = (
        "a {covariance} test of {name!r} at 5 % would reject a true null in {rate:.0%} of samples like this one;"
        " use {remedy}"
    )
    FEW_FREEDOM = (
        "{freedom:.1f} Satterthwaite degrees of freedom are too few to test {name!r} with {covariance}; give more"
        ' {unit}s, or use covariance="classical"'
    )
    LIBERAL_JOINTLY = (
        "a {covariance} test of {count:#coefficient} at once would reject a true null in {rate:.0%} of samples like"
        " this one; test fewer, or use {remedy}"
    )
    # likelihoods
    DIVERGES = (
        "the likelihood has no maximum: the coefficient of {name!r} has no finite estimate (→ {limit}); use {remedy}"
    )
    NO_LIMIT = "the likelihood has no maximum, so the coefficient of {name!r} has no standard error; use {remedy}"
    NO_MAXIMUM = "the likelihood has no maximum, only a supremum; use {remedy}"
    MAXIMUM_NOT_SHOWN = f"it could not be shown that the likelihood has a maximum; rescale, or use {FIRTH_OR_PENALTY}"
    NEARLY_DEPENDENT = "the columns are nearly dependent (collinear to rounding), so variances are unknown; drop some"
    PAST_TURNING = (
        "the Wald statistic of {name!r} falls as its estimate grows (Hauck–Donner effect), so its test and interval"
        ' mislead; use summary(test="lr")'
    )
    PAST_TURNING_JOINTLY = (
        "the Wald statistic of {names} falls as the estimates grow (Hauck–Donner effect), so its test misleads; use"
        " lr_test"
    )
    TOO_FEW_EVENTS = (
        "{events:.3g} events per parameter are too few for likelihood-ratio tests, which reject too often there; use"
        " fewer columns"
    )
    TOO_FEW_FOR_ROBUST = (
        "{events:.3g} events per parameter are too few for {covariance} tests, which reject too often there; use"
        " {remedy}"
    )
    RELATED_ROWS = (
        "the likelihood takes rows to be independent, which rows of a group need not be; use wald_test with the same"
        " covariance and groups"
    )
    NOT_TESTABLE = (
        "{names} cannot be tested, being collinear with other columns on the overlapping rows; test other columns"
    )
    TOO_LARGE = (
        "{rows:#row} of {columns:#column} are too many to copy, as a test of separated classes needs; fit a"
        " random sample of the rows"
    )
    NO_PROFILE = "the profile likelihood of {name!r} could not be followed far enough; rescale the columns"
    NOT_IDENTIFIED = "some coefficients are not identified"
    BIAS_REDUCED = "the fit is bias-reduced, so its likelihood does not compare models; use lr_test"
    NO_JOINT_LIKELIHOOD = 'the separate fits of {fits} classes have no joint likelihood; use multiclass="softmax"'
    TWO_CLASSES = "intervals of probabilities are available for two classes only"
    # fits without their rows or residuals
    ROWS_NOT_SAVED = "{task} needs the training rows, which a saved model does not contain; fit again"
    NOT_LEAST_SQUARES = "this is not a fitted least squares model; give a fitted LinearRegression()"
    # diagnosis
    NO_VARIANCE_INFLATION = "{name!r} is collinear with other columns, so it has no variance; drop it"
    POWERS_SPANNED = "the columns span powers of the fitted values, as dummies of groups do; add numeric columns"
    REPEATED_ROWS = "rows with frequencies have no order; give each row by itself, in the order of observation"
    ONE_DEGREE = "with one degree of freedom the statistic is the same whatever the targets; give more rows"
    NO_COLUMN = "there is no column that the squared residuals could depend on; give at least one"
    NO_STUDENTISED = "leaving out a row leaves no degrees of freedom, so residuals are not studentised; give more rows"
    # evaluation
    NO_PROBABILITIES = "the model gives scores and no probabilities; use one with predict_proba, as LogisticRegression"
    ZERO_PROBABILITY = "the label had probability 0 in {rows:#row}, and its logarithm is infinite"
    TRAINING_ROWS = "these are training rows, which each further column fits better; evaluate it on held-out rows"
    ONE_VALUE = "the target is the same in every row, so it has no variance to explain"
    EQUAL_VALUES = "every row has the same value, so its variance is unknown; give more rows"
    ONE_ROW = "{rows:#row} cannot give a standard error; give more rows"
    ONE_SIDE = "all rows are of one class, so there are no pairs to rank; give rows of both classes"
    FEW_IN_CLASS = "a class has {rows:#row}, too few for a standard error; give more"
    EQUAL_RANKING = "the scores rank every pair of rows in the same way, so DeLong's variance is 0; give more rows"

    def __call__(self, **values: Any) -> str:
        """Return the sentence with its values."""
        return _Sentence().vformat(self.value, (), values)


def aliased(name: str, shares: Mapping[str, float], *, rounded: bool = False) -> str:
    """Return why a column that is a combination of others, by share, is not identified; `rounded`: up to rounding."""
    if not shares:
        return Refusal.ZERO_COLUMN(name=name)
    kind = "collinear to rounding" if rounded else "perfectly collinear"
    return Refusal.ALIASED(name=name, relation=combination(shares), kind=kind, names=[name, *shares])


def dropped(name: str, shares: Mapping[str, float], *, rounded: bool) -> str:
    """Return why a column was dropped: it is a combination of others, by share; `rounded`: up to rounding."""
    if not shares:
        return Refusal.DROPPED_ZERO(name=name)
    kind = ", to rounding" if rounded else ""
    return Refusal.DROPPED(name=name, others=[*shares], relation=combination(shares), kind=kind)


def collinear_clause(sets: Sequence[Sequence[str]]) -> str:
    """Return which columns are collinear, as "'a' and 'b' are collinear to rounding, as are 'c' and 'd'"."""
    several = [names for names in sets if len(names) > 1]
    zero = [names[0] for names in sets if len(names) == 1]
    clauses = [f"{listed(several[0])} are collinear to rounding"] if several else []
    clauses += [f"as are {listed(names)}" for names in several[1:NAMES_SHOWN]]
    if len(several) > NAMES_SHOWN:
        clauses.append(f"and {len(several) - NAMES_SHOWN} more sets")
    if zero:
        clauses.append(f"{listed(zero)} {'is' if len(zero) == 1 else 'are'} 0 in every row")
    return ", ".join(clauses)


def not_factored(solver: str) -> str:
    """Return why a least squares fit was made without a factorisation."""
    return Refusal.TOO_WIDE() if solver == "auto" else Refusal.ITERATIVE(solver=solver)


def singular_covariance(coefficients: int, groups: int) -> str:
    """Return why a robust covariance is singular; `groups` is 0 if it is not clustered."""
    if groups:
        return Refusal.TOO_FEW_GROUPS(groups=groups, count=coefficients)
    return Refusal.SINGULAR(count=coefficients)


def no_maximum(classes: int) -> str:
    """Return why a fit of separated classes has no errors; bias reduction exists for two classes only."""
    return Refusal.NO_MAXIMUM(remedy=FIRTH_OR_PENALTY if classes == 2 else PENALTY)


def not_frequencies(kind: str, *, robust: bool = True) -> str:
    """Return why weights of this kind give no classical errors; `robust`: whether a robust covariance is a remedy."""
    remedy = "no class_weight" if kind == CLASS_WEIGHTS else 'weight_kind="frequency" if they are counts'
    return Refusal.NOT_FREQUENCIES(kind=kind, remedy=remedy + (', or covariance="HC0"' if robust else ""))


def combination(shares: Mapping[str, float]) -> str:
    """Return a linear combination of columns, as "2 · 'a' − 'b'"; "0" without columns."""
    text = ""
    for name, share in list(shares.items())[:NAMES_SHOWN]:
        sign = f" {'−' if share < 0.0 else '+'} " if text else "−" if share < 0.0 else ""
        factor = "" if abs(abs(share) - 1.0) < 1e-9 else f"{abs(share):.6g} · "
        text += f"{sign}{factor}{name!r}"
    more = len(shares) - NAMES_SHOWN
    return (text or "0") + (f" + … ({more} more)" if more > 0 else "")


def listed(names: Sequence[str]) -> str:
    """Return names as "'a', 'b' and 'c'", the first six of many."""
    shown, more = [repr(name) for name in names[:NAMES_SHOWN]], len(names) - NAMES_SHOWN
    if more > 0:
        return f"{', '.join(shown)} and {more} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


@dataclass(frozen=True)
class Contrast:
    """A coefficient by name and, if there are several classes, its class; `entries` maps flat indices to signs."""

    name: str
    entries: dict[int, int]
    output: Any = None

    @property
    def label(self) -> str:
        """The name, after the class if there are several."""
        return self.name if self.output is None else f"{self.output}: {self.name}"

    def find_relation(self, relations: Sequence[Relation]) -> Relation | None:
        """Return the first relation that involves the contrast."""
        for relation in relations:
            if sum(sign * relation.get(index, Fraction(0)) for index, sign in self.entries.items()):
                return relation
        return None


def contrasts_of(names: Sequence[str], classes: Sequence[Any], reference: int) -> tuple[Contrast, ...]:
    """Return the coefficients of two classes, or those of each class against the reference, the index of a class."""
    if len(classes) == 2:
        return tuple(Contrast(name, {index: 1}) for index, name in enumerate(names))
    p = len(names)

    def entries(code: int, column: int) -> dict[int, int]:
        both = {(code - 1) * p + column: 1, (reference - 1) * p + column: -1}
        return {index: sign for index, sign in both.items() if index >= 0}

    return tuple(
        Contrast(name, entries(code, column), label)
        for code, label in enumerate(classes)
        if code != reference
        for column, name in enumerate(names)
    )


@dataclass(frozen=True)
class Estimability:
    """Which contrasts are estimable, according to an existence certificate, and to relations that hold to rounding."""

    existence: SeparabilityCertificate
    collinear: Sequence[Relation] = ()

    @property
    def aliases(self) -> Sequence[Relation]:
        """The relations between columns that hold on every row."""
        if self.existence.weights is not None:
            return () if self.existence.divergence is None else self.existence.divergence.aliases
        return self.existence.relations

    def is_flat(self, contrast: Contrast) -> bool:
        """Tell whether the profile of a contrast is flat: it is aliased, or diverges in both directions."""
        if contrast.find_relation(self.aliases) is not None:
            return True
        return any(self._statuses[index] == NOT_ESTIMABLE for index in contrast.entries) if self._statuses else False

    def reason(self, contrast: Contrast) -> str:
        """Return why a contrast is not estimable; empty if it is."""
        existence = self.existence
        undecided = existence.verdict == "undecided" and not self.collinear
        if undecided or existence.clashes:  # clashes concern some rows only
            return Refusal.MAXIMUM_NOT_SHOWN()
        exact = contrast.find_relation(self.aliases)
        relation = contrast.find_relation(self.collinear) if exact is None else exact
        if relation is not None:
            names, index = existence.names, next(index for index in contrast.entries if relation.get(index))
            p = len(names)
            shares = {j % p: value for j, value in relation.items() if value and j // p == index // p}
            own = shares.pop(index % p)
            others = {names[j]: float(-value / own) for j, value in shares.items()}
            return aliased(contrast.name, others, rounded=exact is None)
        if (existence.proof is not None or self.collinear) and contrast.find_relation(existence.relations) is None:
            return ""
        limit, remedy = self._limit(contrast), FIRTH_OR_PENALTY if contrast.output is None else PENALTY
        if math.isnan(limit):
            return Refusal.NO_LIMIT(name=contrast.name, remedy=remedy)
        return Refusal.DIVERGES(name=contrast.name, limit="+∞" if limit > 0.0 else "−∞", remedy=remedy)

    def _limit(self, contrast: Contrast) -> float:
        """Return ±∞ if a contrast provably diverges there, else NaN."""
        if not self._statuses or len(contrast.entries) > 1:
            return math.nan
        ((index, sign),) = contrast.entries.items()
        return sign * LIMITS.get(self._statuses[index], math.nan)

    @cached_property
    def _statuses(self) -> tuple[str, ...]:
        """The status of each flat coefficient of separated classes; empty if not known."""
        existence = self.existence
        if existence.weights is None or existence.divergence is None:
            return ()
        relations = None if existence.proof is None else existence.relations
        return existence.divergence.statuses(existence.weights, relations)
