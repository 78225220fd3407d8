"""Diagnosis of a least squares fit: the five assumptions, the most influential rows, and variance inflation.

Linearity is checked by RESET, independence by Durbin and Watson's test in row order, equal variance by Breusch and
Pagan's, normality by Jarque and Bera's, and outliers and influence by leverage, Cook's distance and the largest
studentised residual (`assumption_tests`, `influence`).

Each check has measures, a verdict and a sentence. The verdict is by the p-value: "consistent" from .05, "doubtful" from
.01, "contradicted" below, and "not checked" if there is no statistic; the sentence then says why. A test without a
finding in few rows shows little. Precision weights scale the residuals by their roots; frequency weights repeat rows.

Cost: about ten passes over the rows, most as costly as a product with the columns; no n × n matrix.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Literal

import numpy as np

from separatrix.errors import counted
from separatrix.inference.assumption_tests import breusch_pagan, durbin_watson, jarque_bera, outlier, reset
from separatrix.inference.eligibility import Refusal
from separatrix.inference.influence import Inflation, Influence, influence, variance_inflation
from separatrix.inference.table import Measure, SheetRecord, find_named, freedom_text
from separatrix.rendering.sheet import ABSENT, Grid, Reasons, Sheet, format_number, p_text

DIGITS = 4
TERMS_SHOWN = 12
Judgement = Literal["consistent", "doubtful", "contradicted", "not checked"]
DOUBTFUL, CONTRADICTED = 0.05, 0.01  # p-values below which an assumption is doubtful or contradicted
FEW_ROWS = 30  # below which a test of normality is rough
LARGE_COOK, HUGE_COOK = 0.5, 1.0  # Cook's distances
OUTLIERS = "outliers and influence"  # "existence" in texts that ask for a finite mean and variance
ASSUMPTIONS = {
    "linearity": "the mean of the target is a linear function of the columns",
    "independence": "given the columns, the targets do not depend on each other",
    "equal variance": "the variance about the mean is the same everywhere",
    "normality": "about its mean the target is normal",
    OUTLIERS: "the target has a finite mean and variance everywhere, so that no row decides alone",
}
SENTENCES: Mapping[str, Mapping[Judgement, str]] = {
    "linearity": {
        "consistent": "{finding} explains no more than chance: a linear mean fits",
        "doubtful": "{finding} explains more than chance often does: the mean may be nonlinear; plot residuals against"
        " fitted values, and try a square or a logarithm of a column",
        "contradicted": "{finding} explains much more than chance: the mean is not linear in these columns; add a"
        " square, a product, a logarithm or a missing column",
    },
    "independence": {
        "consistent": "{finding}: adjacent residuals are not correlated",
        "doubtful": "{finding}: adjacent residuals seem to be {sign} correlated; {remedy}",
        "contradicted": "{finding}: adjacent residuals are {sign} correlated; {remedy}",
    },
    "equal variance": {
        "consistent": "{finding} finds nothing: the variance does not depend on the columns",
        "doubtful": "{finding} finds something: the variance may depend on the columns; {remedy}",
        "contradicted": "{finding} finds much: the variance depends on the columns; {remedy}",
    },
    "normality": {
        "consistent": "{finding}: consistent with a normal distribution{rough}",
        "doubtful": "{finding}: unusual for a normal distribution; {remedy}{rough}",
        "contradicted": "{finding}: not normal; {remedy}; see the Q–Q plot, and try a logarithm of the target{rough}",
    },
}
TESTS = {
    "linearity": ("RESET F", reset),
    "independence": ("Durbin–Watson", durbin_watson),
    "equal variance": ("Breusch–Pagan", breusch_pagan),
    "normality": ("Jarque–Bera", jarque_bera),
}
FINDINGS = {  # of the measures, by number
    "linearity": "adding squares and cubes of the fitted values (RESET F = {0.value:.3g}, {p})",
    "independence": "Durbin–Watson is {0.value:.3g}, where 2 is independence ({p}, {0.detail})",
    "equal variance": "regressing the squared residuals on the columns (studentised Breusch–Pagan {0.value:.3g}, {p})",
    "normality": "the residuals have skewness {1.value:.2g} and excess kurtosis {2.value:.2g} (Jarque–Bera"
    " {0.value:.3g}, {p})",
}
REMEDIES = {
    "independence": 'for rows in an order of time or place, model it, or use covariance="newey_west"; otherwise it is'
    " chance, and gone once the rows are shuffled",
    "equal variance": 'use covariance="HC3", weights, or a logarithm of the target',
    "normality": "with many rows the intervals of coefficients stay valid, those of predictions do not",
}
ROWS_NAMED = 5  # number of influential rows in a diagnosis
INFLATED = 10.0  # VIF, or squared GVIF^(1/2df), from which a note warns


@dataclass(frozen=True)
class AssumptionCheck:
    """An assumption, its measures, the p-value behind the verdict, and a sentence."""

    name: str
    assumption: str
    measures: tuple[Measure, ...]
    p_value: float | None
    verdict: Judgement
    sentence: str

    @property
    def shown(self) -> Measure:
        """The measure with the p-value, or the absent one."""
        return next(measure for measure in self.measures if measure.p_value is not None or measure.value is None)


@dataclass(frozen=True)
class InfluentialRow:
    """A row by its index in the data, and its influence; None if a number is not available."""

    row: int
    leverage: float
    residual: float
    studentised: float | None
    cooks_distance: float | None


@dataclass(frozen=True)
class Diagnosis(SheetRecord):
    """The five checks, the most influential rows, and the variance inflation of the terms."""

    rows: float
    coefficients: int
    degrees_of_freedom: float
    checks: tuple[AssumptionCheck, ...]
    influential: tuple[InfluentialRow, ...]
    inflation: tuple[Inflation, ...]
    notes: tuple[str, ...] = ()

    def check(self, name: str) -> AssumptionCheck:
        """Return a check by its name, as "linearity"."""
        return find_named("assumption", OUTLIERS if name == "existence" else name, self.checks)

    def sheet(self) -> Sheet:
        """Return the diagnosis as a sheet: one row per assumption, the influential rows, inflation, and sentences."""
        reasons, terms = Reasons(), self.inflation
        grids = [_check_grid(self.checks, reasons), _influence_grid(self.influential), _inflation_grid(terms, reasons)]
        more = len(terms) - TERMS_SHOWN
        omitted = [f"{counted(more, 'term')} of less inflation not shown."] if more > 0 else []
        rows, free = f"{self.rows:,.12g} rows", counted(self.coefficients, "coefficient")
        return Sheet(
            title=f"The five assumptions of least squares: {rows}, {free}, {freedom_text(self.degrees_of_freedom)}",
            grids=tuple(grid for grid in grids if grid.rows),
            entries=tuple((check.name, check.sentence) for check in self.checks if check.verdict != "not checked"),
            lines=(*omitted, *self.notes),
            reasons=tuple(reasons.sentences),
        )


def diagnose(model: Any, *, terms: Mapping[str, Sequence[str]] | None = None) -> Diagnosis:
    """Check the assumptions of a least squares fit on its rows.

    Parameters
    ----------
    model : a fitted LinearRegression without a penalty, or a formula's model with one
    terms : the columns of each term, for the variance inflation of terms with several columns (dummies, for instance);
        None for the terms of a formula or, without one, one term per column

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LinearRegression().fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
    >>> [check.verdict for check in sx.diagnose(model).checks]
    ['consistent', 'consistent', 'consistent', 'consistent', 'consistent']
    """
    return diagnose_rows(influence(model), terms if terms is not None else getattr(model, "terms_", None))


def diagnose_rows(rows: Influence, terms: Mapping[str, Sequence[str]] | None = None) -> Diagnosis:
    """Return the diagnosis of rows whose influence is known."""
    design = rows.problem.design
    inflation = variance_inflation(rows.fit, design.names, virtual=design.virtual, terms=terms)
    return Diagnosis(
        rows=rows.n,
        coefficients=rows.fit.rank,
        degrees_of_freedom=rows.degrees_of_freedom,
        checks=(*(check_assumption(name, rows) for name in TESTS), check_outliers(rows)),
        influential=tuple(_influential_row(rows, row) for row in rows.largest[:ROWS_NAMED].tolist()),
        inflation=inflation,
        notes=tuple(_notes(rows, inflation)),
    )


def _influential_row(rows: Influence, row: int) -> InfluentialRow:
    numbers = (rows.leverage, rows.residuals, rows.studentised, rows.cooks_distance)
    leverage, residual, *others = (float(vector[row]) for vector in numbers)
    studentised, cook = (None if math.isnan(value) else value for value in others)
    return InfluentialRow(int(rows.places[row]), leverage, residual, studentised, cook)


def _notes(rows: Influence, inflation: Sequence[Inflation]) -> list[str]:
    notes = []
    inflated = [term for term in inflation if term.wider is not None and term.wider**2 >= INFLATED]
    if inflated:
        worst = max(inflated, key=lambda term: float(term.wider or 0.0))
        notes.append(
            f"Intervals of {worst.term!r} are {worst.wider:.3g} times as wide as with orthogonal columns."
            " Drop or combine columns if that matters."
        )
    if inflation and not rows.problem.design.virtual:
        notes.append("There is no intercept, so inflation is about 0 and not about the columns' means.")
    if rows.problem.weights is not None:
        kind = "repetitions of their rows" if rows.repeated else "precisions: residuals are scaled by their roots"
        notes.append(f"Weights count as {kind}.")
    return notes


def check_assumption(name: str, rows: Influence) -> AssumptionCheck:
    """Check an assumption by its test; the verdict is by the p-value of the first measure."""
    statistic, test = TESTS[name]
    measures = rows.absent or test(rows)
    if isinstance(measures, str):
        return _unchecked(name, statistic, measures)
    value, p_value = (float(number or 0.0) for number in (measures[0].value, measures[0].p_value))
    words = {
        "finding": FINDINGS[name].format(*measures, p=_p(p_value)),
        "remedy": REMEDIES.get(name),
        "sign": "positively" if value < 2.0 else "negatively",
        "rough": f"; with {counted(int(rows.n), 'row')} the test is rough" if rows.n < FEW_ROWS else "",
    }
    verdict = _verdict(p_value)
    sentence = _sentence(SENTENCES[name][verdict].format(**words))
    return AssumptionCheck(name, ASSUMPTIONS[name], measures, p_value, verdict, sentence)


def check_outliers(rows: Influence) -> AssumptionCheck:
    """Check for outliers and influential rows, the only trace of infinite moments in a sample."""
    steepest = int(rows.leverage.argmax())
    leverage = Measure("largest leverage", float(rows.leverage[steepest]), detail=rows.name(steepest))
    extreme = None if rows.absent else outlier(rows)
    if extreme is None:
        return _unchecked(OUTLIERS, "Cook's distance", rows.absent or Refusal.NO_STUDENTISED(), leverage)
    row, residual = extreme
    cook = rows.cooks_distance
    top, decisive = int(np.nanargmax(cook)), np.flatnonzero(np.isnan(cook))
    largest, p_value = float(cook[top]), float(residual.p_value or 0.0)
    measures = leverage, Measure("largest Cook's distance", largest, detail=rows.name(top)), residual
    text = (
        f"the largest Cook's distance is {largest:.2g} ({rows.name(top)}), the largest studentised residual"
        f" {residual.value:.3g} ({rows.name(row)}, Bonferroni {_p(p_value)})"
    )
    verdict = _verdict(max(p_value, CONTRADICTED))  # no finite sample refutes a finite variance
    if decisive.size or largest > LARGE_COOK:
        verdict = "doubtful"
    if decisive.size:
        text += f", and {rows.name(decisive[0])} alone decides a coefficient; see whether it belongs here"
    elif verdict == "consistent":
        text += ": no row decides the fit alone"
    else:
        how = "very much" if largest > HUGE_COOK else "much" if largest > LARGE_COOK else "little, but they are far out"
        text += f": single rows move the fit {how}; see whether they are right, and fit without them to compare"
    return AssumptionCheck(OUTLIERS, ASSUMPTIONS[OUTLIERS], measures, p_value, verdict, _sentence(text))


def _unchecked(name: str, measure: str, reason: str, *others: Measure) -> AssumptionCheck:
    absent = Measure(measure, None, absent=reason)
    return AssumptionCheck(name, ASSUMPTIONS[name], (*others, absent), None, "not checked", _sentence(reason))


def _verdict(p_value: float) -> Judgement:
    if p_value >= DOUBTFUL:
        return "consistent"
    return "doubtful" if p_value >= CONTRADICTED else "contradicted"


def _p(p_value: float) -> str:
    return "p < 0.0001" if p_value < 1e-4 else f"p = {p_value:.2g}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _check_grid(checks: Sequence[AssumptionCheck], reasons: Reasons) -> Grid:
    rows = tuple(
        (
            check.name + reasons.mark(check.shown.absent),
            check.shown.name,
            format_number(check.shown.value, DIGITS),
            p_text(check.shown.p_value),
            check.verdict,
        )
        for check in checks
    )
    return Grid(("assumption", "measured", "statistic", "p", "verdict"), rows)


def _influence_grid(influential: Sequence[InfluentialRow]) -> Grid:
    heads = ("row", "leverage", "residual", "studentised", "Cook's distance")
    rows = (astuple(row) for row in influential)
    return Grid(heads, tuple((str(row), *(format_number(value, DIGITS) for value in values)) for row, *values in rows))


def _inflation_grid(terms: Sequence[Inflation], reasons: Reasons) -> Grid:
    """Return the most inflated terms, or those of unknown inflation, in their order."""
    largest = sorted(terms, key=lambda term: -math.inf if term.wider is None else -term.wider)[:TERMS_SHOWN]
    rows = tuple(
        (
            term.term + reasons.mark(term.absent),
            format_number(term.factor, DIGITS),
            ABSENT if term.wider is None else f"{format_number(term.wider, DIGITS)} times as wide",
        )
        for term in terms
        if term in largest
    )
    return Grid(("term", "GVIF" if any(len(term.columns) > 1 for term in terms) else "VIF", "intervals"), rows)
