"""The table of inference of a fit, as a neutral record: every cell is a number, or absent with the reason.

Text, HTML and JSON are made from this record alone. The tail probabilities of t, F and χ² keep full relative accuracy,
also for tiny values and many degrees of freedom: the tail of F(a, b) beyond f is the incomplete beta function of
(b/2, a/2) at b/(b + a f), or its complement of (a/2, b/2) at a f/(b + a f), whichever argument is smaller. T² is
F(1, b).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Literal

import scipy.special

from separatrix.arrays import Floats
from separatrix.errors import OptionError, counted, did_you_mean, require_number
from separatrix.rendering.html import render_html
from separatrix.rendering.sheet import Grid, Reasons, Sheet, format_number, p_phrase, p_text
from separatrix.rendering.text import render_text

STATISTIC_DIGITS = 4
MODEL_TITLES = {
    "linear": "Linear regression",
    "logistic": "Logistic regression",
    "softmax": "Softmax regression",
    "firth": "Bias-reduced logistic regression (Firth)",
}
Statistic = Literal["t", "z", "profile likelihood"]


@dataclass(frozen=True)
class Term:
    """A coefficient; `absent` says why a number is `None`, and what to do.

    `output` is the class of the coefficient, if there are several. `ratio` is the odds ratio or, for a class against
    the reference, the relative risk ratio, for one more unit of the column: the exponential of the estimate.
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


@dataclass(frozen=True)
class Measure:
    """A measure of the whole fit, such as R²; `detail` states its degrees of freedom or convention."""

    name: str
    value: float | None
    p_value: float | None = None
    detail: str = ""
    absent: str = ""


@dataclass(frozen=True)
class InferenceTable:
    """The coefficients and measures of a fit, with the conventions behind them."""

    model: Literal["linear", "logistic", "softmax", "firth"]
    target: str
    rows: float
    degrees_of_freedom: float | None
    level: float
    covariance: str
    statistic: Statistic
    terms: tuple[Term, ...]
    measures: tuple[Measure, ...]
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
        raise OptionError(f"there is no coefficient {name!r}{did_you_mean(name, [term.name for term in self.terms])}")

    def measure(self, name: str) -> Measure:
        """Return a measure by name."""
        for measure in self.measures:
            if measure.name == name:
                return measure
        raise OptionError(f"there is no measure {name!r}{did_you_mean(name, [one.name for one in self.measures])}")

    def to_dict(self) -> dict[str, Any]:
        """Return the table as JSON values; non-finite numbers become None."""
        values: dict[str, Any] = json_values(asdict(self))
        return values

    def to_json(self, indent: int | None = 2) -> str:
        """Return the table as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_text(self) -> str:
        """Return the table as text; a dash marks an absent number, and a note below says why."""
        return render_text(coefficient_sheet(self))

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return render_html(coefficient_sheet(self))


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
    return InferenceTable(
        model=model,
        target="y",
        rows=rows,
        degrees_of_freedom=None,
        level=level,
        covariance="",
        statistic="t" if model == "linear" else "z",
        terms=terms,
        measures=(),
    )


def json_values(value: Any) -> Any:
    """Return a nested record as JSON values: lists for tuples, plain for NumPy numbers, None for non-finite ones."""
    if isinstance(value, dict):
        return {str(key): json_values(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [json_values(entry) for entry in value]
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


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


def coefficient_sheet(table: InferenceTable) -> Sheet:
    """Return a table of inference as a sheet."""
    reasons = Reasons()
    return Sheet(
        title=_title(table),
        grids=tuple(_grids(table, reasons)),
        entries=tuple((measure.name, _measure_text(measure, reasons)) for measure in table.measures),
        lines=(*table.conventions, *table.notes),
        reasons=tuple(reasons.sentences),
    )


def _title(table: InferenceTable) -> str:
    df = table.degrees_of_freedom
    freedom = "" if df is None else f", {counted(round(df), 'degree')} of freedom"
    covariance = f", {table.covariance} covariance" if table.covariance else ""
    return f"{MODEL_TITLES[table.model]} of {table.target}: {counted(round(table.rows), 'row')}{freedom}{covariance}"


def _grids(table: InferenceTable, reasons: Reasons) -> Iterator[Grid]:
    statistic = table.statistic if any(term.statistic is not None for term in table.terms) else ""
    heads = ("", "estimate", "std. error", *([statistic] if statistic else []), "p", *_interval_heads(table.level))
    for output, group in groupby(table.terms, key=lambda term: term.output):
        terms = list(group)
        rows = tuple(_row(term, bool(statistic), reasons) for term in terms)
        yield Grid(heads, rows, "" if output is None else f"{table.target} = {output}")
        if any(term.ratio is not None for term in terms):
            yield _ratio_grid(terms, table.level)


def _row(term: Term, with_statistic: bool, reasons: Reasons) -> tuple[str, ...]:
    return (
        term.name + reasons.mark(term.absent),
        format_number(term.estimate),
        format_number(term.standard_error),
        *([format_number(term.statistic, STATISTIC_DIGITS)] if with_statistic else []),
        p_text(term.p_value),
        format_number(term.lower),
        format_number(term.upper),
    )


def _ratio_grid(terms: Sequence[Term], level: float) -> Grid:
    shown = [term for term in terms if term.ratio is not None]
    rows = [
        (term.name, format_number(term.ratio), format_number(term.ratio_lower), format_number(term.ratio_upper))
        for term in shown
    ]
    return Grid(("", "odds ratio", *_interval_heads(level)), tuple(rows))


def _interval_heads(level: float) -> tuple[str, str]:
    return f"{100.0 * level:g} % from", "to"


def _measure_text(measure: Measure, reasons: Reasons) -> str:
    tail = "" if measure.p_value is None else f", {p_phrase(measure.p_value)}"
    detail = f" ({measure.detail})" if measure.detail else ""
    return f"{format_number(measure.value)}{reasons.mark(measure.absent)}{detail}{tail}"
