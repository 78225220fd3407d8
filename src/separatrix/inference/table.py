"""The table of inference of a fit, as a neutral record: every cell is a number, or absent with the reason.

Text, HTML and JSON are made from this record alone. The tail probabilities of t, F and χ² keep full relative accuracy,
also for tiny values and many degrees of freedom: the tail of F(a, b) beyond f is the incomplete beta function of
(b/2, a/2) at b/(b + a f), or its complement of (a/2, b/2) at a f/(b + a f), whichever argument is smaller. T² is
F(1, b).
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import groupby
from typing import Any, Literal, TypeVar, cast

import scipy.special

from separatrix.arrays import Floats
from separatrix.errors import OptionError, counted, did_you_mean, require_number
from separatrix.rendering.html import render_html
from separatrix.rendering.sheet import DIGITS, Grid, Reasons, Sheet, format_number, p_brief, p_phrase, p_text
from separatrix.rendering.text import render_text

STATISTIC_DIGITS = 4
MODEL_TITLES = {
    "linear": "Linear regression",
    "logistic": "Logistic regression",
    "softmax": "Softmax regression",
    "firth": "Bias-reduced logistic regression (Firth)",
}
Statistic = Literal["t", "z", "likelihood ratio", "profile likelihood"]
Named = TypeVar("Named", bound=Any)


@dataclass(frozen=True)
class Term:
    """A coefficient; `absent` says why a number is `None`, and what to do.

    `output` is the class of the coefficient, if there are several. `ratio` is the odds ratio or, for a class against
    the reference, the relative risk ratio, for one more unit of the column: the exponential of the estimate. `df` are
    the degrees of freedom of its t, if it has its own.
    """

    name: str
    estimate: float | None
    standard_error: float | None = None
    statistic: float | None = None
    p_value: float | None = None
    lower: float | None = None
    upper: float | None = None
    absent: str = ""
    output: Any = None
    ratio: float | None = None
    ratio_lower: float | None = None
    ratio_upper: float | None = None
    df: float | None = field(default=None, metadata={"optional": True})


@dataclass(frozen=True)
class Measure:
    """A measure of the whole fit, such as R²; `detail` states its degrees of freedom or convention."""

    name: str
    value: float | None
    p_value: float | None = None
    detail: str = ""
    absent: str = ""


class JsonRecord:
    """A dataclass as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON values; non-finite numbers become None."""
        return json_values(asdict(cast(Any, self)))

    def to_json(self, indent: int | None = 2) -> str:
        """Return the record as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


class SheetRecord(JsonRecord, ABC):
    """A dataclass as JSON, text and HTML."""

    @abstractmethod
    def sheet(self) -> Sheet:
        """Return the record as a sheet."""

    def __str__(self) -> str:
        return render_text(self.sheet())

    def _repr_html_(self) -> str:
        return render_html(self.sheet())


@dataclass(frozen=True, kw_only=True)
class InferenceTable(SheetRecord):
    """The coefficients and measures of a fit, with the conventions behind them."""

    model: Literal["linear", "logistic", "softmax", "firth"]
    target: str = "y"
    rows: float
    degrees_of_freedom: float | None = None
    level: float
    covariance: str = ""
    statistic: Statistic
    terms: tuple[Term, ...]
    measures: tuple[Measure, ...] = ()
    conventions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def term(self, name: str, output: Any = None) -> Term:
        """Return a term by name and, if there are several classes, by class."""
        matches = [term for term in self.terms if term.name == name]
        for term in matches:
            if output is None or term.output == output:
                return term
        if matches:
            raise OptionError(f"{name!r} has no coefficient of {output!r}; known: {[term.output for term in matches]}")
        return find_named("coefficient", name, self.terms)

    def measure(self, name: str) -> Measure:
        """Return a measure by name."""
        return find_named("measure", name, self.measures)

    def sheet(self, *, brief: bool = False) -> Sheet:
        """Return the table as a sheet, where a dash marks an absent number and a note below says why.

        `brief` has four digits, p-values of at least 0.001, and the first of the conventions.
        """
        reasons, df = Reasons(), self.degrees_of_freedom
        freedom = "" if df is None else f", {freedom_text(df)}"
        covariance = f", {self.covariance} covariance" if self.covariance else ""
        size = f"{counted(round(self.rows), 'row')}{freedom}{covariance}"
        return Sheet(
            title=f"{MODEL_TITLES[self.model]} of {self.target}: {size}",
            grids=tuple(coefficient_grids(self.terms, reasons, self.level, self.statistic, self.target, brief=brief)),
            entries=tuple((measure.name, _measure_text(measure, reasons, brief=brief)) for measure in self.measures),
            lines=(*self.conventions[: 1 if brief else None], *self.notes),
            reasons=tuple(reasons.sentences),
        )

    def to_text(self) -> str:
        """Return the table as text."""
        return str(self)


def estimates_only_table(
    model: Literal["linear", "logistic", "softmax"],
    names: Sequence[str],
    coefs: Sequence[tuple[Any, Floats]],
    rows: float,
    reason: str,
    level: float = 0.95,
) -> InferenceTable:
    """Return a table of estimates only, with the reason; `coefs` are (output, coef (p,)), output None if only one."""
    terms = tuple(
        Term(name, float(value), absent=reason, output=output)
        for output, coef in coefs
        for name, value in zip(names, coef, strict=True)
    )
    statistic: Statistic = "t" if model == "linear" else "z"
    return InferenceTable(model=model, rows=rows, level=level, statistic=statistic, terms=terms)


def freedom_text(df: float) -> str:
    """Return "9 degrees of freedom", or that there are none.

    >>> freedom_text(9.0), freedom_text(1.0), freedom_text(-11.0)
    ('9 degrees of freedom', '1 degree of freedom', 'no degrees of freedom')
    """
    return f"{counted(round(df), 'degree')} of freedom" if df > 0.0 else "no degrees of freedom"


def find_named(kind: str, name: str, records: Iterable[Named]) -> Named:
    """Return the record of a name; an OptionError suggests a known name."""
    by_name = {record.name: record for record in records}
    if name not in by_name:
        raise OptionError(f"there is no {kind} {name!r}{did_you_mean(name, by_name)}")
    return by_name[name]


def json_values(record: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a nested record as JSON values: lists for tuples, plain for NumPy numbers, None for non-finite ones."""
    return {str(key): _json_value(value) for key, value in record.items()}


def _json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return json_values(value)
    if isinstance(value, list | tuple):
        return [_json_value(entry) for entry in value]
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def wald_term(name: str, estimate: float, error: float, level: float, *, df: float | None = None) -> Term:
    """Return a coefficient with its test and interval, by Student's t or, without degrees of freedom, the normal."""
    statistic = estimate / error
    if df is None:
        p_value, quantile = float(scipy.special.erfc(abs(statistic) / math.sqrt(2.0))), normal_quantile(level)
    else:
        p_value, quantile = t_probability(statistic, df), student_quantile(level, df)
    return Term(name, estimate, error, statistic, p_value, estimate - quantile * error, estimate + quantile * error)


def f_test(name: str, statistic: float, df: float, residual_df: float) -> Measure:
    """Return an F statistic with its degrees of freedom and p-value."""
    detail = f"on {df:g} and {residual_df:g} degrees of freedom"
    return Measure(name, statistic, f_probability(statistic, df, residual_df), detail)


def require_level(level: object) -> float:
    """Return the level of an interval, a number between 0 and 1, exclusive."""
    value = require_number("level", level, above=0.0, most=1.0)
    return require_number("level", level, above=0.0, most=math.nextafter(1.0, 0.0)) if value == 1.0 else value


def t_probability(statistic: float, df: float) -> float:
    """Return P(|T| > |statistic|)."""
    return f_probability(statistic * statistic, 1.0, df)


def f_probability(statistic: float, df: float, residual_df: float) -> float:
    """Return P(F > statistic), for a statistic of at least 0."""
    explained = df * statistic
    whole = residual_df + explained
    if explained < residual_df:
        return float(scipy.special.betaincc(df / 2.0, residual_df / 2.0, explained / whole))
    return float(scipy.special.betainc(residual_df / 2.0, df / 2.0, residual_df / whole))


def chi2_probability(statistic: float, df: float) -> float:
    """Return P(χ² > statistic); 1 for a negative statistic, which is rounding error."""
    return float(scipy.special.chdtrc(df, max(statistic, 0.0)))


def normal_quantile(level: float) -> float:
    """Return z such that a normal variable is within ±z with probability `level`."""
    return float(scipy.special.ndtri(0.5 + level / 2.0))


def student_quantile(level: float, df: float) -> float:
    """Return t such that a variable of Student's distribution is within ±t with probability `level`."""
    return float(scipy.special.stdtrit(df, 0.5 + level / 2.0))


def coefficient_grids(
    terms: Sequence[Term],
    reasons: Reasons,
    level: float,
    statistic: Statistic = "t",
    target: str = "",
    *,
    brief: bool = False,
) -> Iterator[Grid]:
    """Yield the coefficients of each class and, if they have any, their odds ratios; `brief` has fewer digits."""
    with_statistic, with_df = (any(getattr(term, key) is not None for term in terms) for key in ("statistic", "df"))
    number = partial(format_number, digits=STATISTIC_DIGITS if brief else DIGITS)
    ends = (f"{100.0 * level:g} % CI", "") if brief else (f"{100.0 * level:g} % CI lower", "upper")
    heads = ("", "estimate", "std. error", *[statistic] * with_statistic, *["df"] * with_df, "p", *ends)
    for output, group in groupby(terms, key=lambda term: term.output):
        own = list(group)
        rows = tuple(
            (
                term.name + reasons.mark(term.absent),
                *map(number, (term.estimate, term.standard_error)),
                *[format_number(term.statistic, STATISTIC_DIGITS)] * with_statistic,
                *[format_number(term.df, STATISTIC_DIGITS)] * with_df,
                p_brief(term.p_value) if brief else p_text(term.p_value),
                *map(number, (term.lower, term.upper)),
            )
            for term in own
        )
        yield Grid(heads, rows, "" if output is None else f"{target} = {output}")
        ratios = tuple(
            (term.name, *map(number, (term.ratio, term.ratio_lower, term.ratio_upper)))
            for term in own
            if term.ratio is not None
        )
        if ratios:
            yield Grid(("", "odds ratio", *ends), ratios)


def _measure_text(measure: Measure, reasons: Reasons, *, brief: bool) -> str:
    tail = "" if measure.p_value is None else f", {p_phrase(measure.p_value, brief=brief)}"
    detail = f" ({measure.detail})" if measure.detail else ""
    value = format_number(measure.value, STATISTIC_DIGITS if brief else DIGITS)
    return f"{value}{reasons.mark(measure.absent)}{detail}{tail}"
