"""The sheet of a table of coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from separatrix.errors import counted
from separatrix.inference.rendering.sheet import Grid, Reasons, Sheet, number, p_phrase, p_text

if TYPE_CHECKING:
    from separatrix.inference.table import InferenceTable, Measure, Term


STATISTIC_DIGITS = 4
MODELS = {
    "linear": "Linear regression",
    "logistic": "Logistic regression",
    "softmax": "Softmax regression",
    "firth": "Bias-reduced logistic regression (Firth)",
}


def coefficient_sheet(table: InferenceTable) -> Sheet:
    """Return a table of inference as cells and sentences."""
    reasons = Reasons()
    return Sheet(
        title=_title(table),
        grids=tuple(_grids(table, reasons)),
        entries=tuple((measure.name, _said(measure, reasons)) for measure in table.measures),
        lines=(*table.conventions, *table.notes),
        reasons=tuple(reasons.given),
    )


def _title(table: InferenceTable) -> str:
    df = table.degrees_of_freedom
    freedom = "" if df is None else f", {counted(round(df), 'degree')} of freedom"
    covariance = f", {table.covariance} covariance" if table.covariance else ""
    return f"{MODELS[table.model]} of {table.target}: {counted(round(table.rows), 'row')}{freedom}{covariance}"


def _grids(table: InferenceTable, reasons: Reasons) -> Iterator[Grid]:
    statistic = table.statistic if any(term.statistic is not None for term in table.terms) else ""
    heads = ("", "estimate", "std. error", *([statistic] if statistic else []), "p", *_ends(table.level))
    for output, group in groupby(table.terms, key=lambda term: term.output):
        terms = list(group)
        rows = tuple(_row(term, bool(statistic), reasons) for term in terms)
        yield Grid(heads, rows, "" if output is None else f"{table.target} = {output}")
        if any(term.ratio is not None for term in terms):
            yield _ratios(terms, table.level)


def _row(term: Term, with_statistic: bool, reasons: Reasons) -> tuple[str, ...]:
    return (
        term.name + reasons.mark(term.absent),
        number(term.estimate),
        number(term.standard_error),
        *([number(term.statistic, STATISTIC_DIGITS)] if with_statistic else []),
        p_text(term.p_value),
        number(term.lower),
        number(term.upper),
    )


def _ratios(terms: Sequence[Term], level: float) -> Grid:
    told = [term for term in terms if term.ratio is not None]
    rows = [(term.name, number(term.ratio), number(term.ratio_lower), number(term.ratio_upper)) for term in told]
    return Grid(("", "odds ratio", *_ends(level)), tuple(rows))


def _ends(level: float) -> tuple[str, str]:
    return f"{100.0 * level:g} % from", "to"


def _said(measure: Measure, reasons: Reasons) -> str:
    tail = "" if measure.p_value is None else f", {p_phrase(measure.p_value)}"
    detail = f" ({measure.detail})" if measure.detail else ""
    return f"{number(measure.value)}{reasons.mark(measure.absent)}{detail}{tail}"
