"""Diagnosis of a least squares fit: the five assumptions, the most influential rows, and variance inflation.

    linearity        RESET: F test of squares and cubes of the fitted values as additional columns
    independence     Durbin–Watson test of the residuals in row order
    equal variance   Breusch–Pagan: the squared residuals explained by the columns, ½ ESS / σ̂⁴, studentised n R²; χ²
    normality        Jarque–Bera: n (S² + K²/4) / 6 with skewness S and excess kurtosis K of the residuals; χ²
    existence        outliers and influence: leverage, Cook's distance, and the largest studentised residual, whose
                     p-value is multiplied by the number of rows (Bonferroni)

Each check has measures, a verdict and a sentence. The verdict is by the p-value: "consistent" from .05, "doubtful" from
.01, "contradicted" below, and "not checked" if there is no statistic; the sentence then says why. A test without a
finding in few rows shows little. Precision weights scale the residuals by their roots; frequency weights repeat rows.

Cost: about ten passes over the rows, most as costly as a product with the columns; no n × n matrix.

References: Ramsey (1969), Breusch and Pagan (1979), Koenker (1981), Jarque and Bera (1980).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.special

from separatrix.arrays import Floats
from separatrix.errors import OptionError, counted, did_you_mean
from separatrix.fit.least_squares import fit_least_squares
from separatrix.inference.durbin_watson import durbin_watson
from separatrix.inference.influence import FittedRows, Inflation, Influence, fitted_rows, variance_inflation
from separatrix.inference.table import Measure, json_values
from separatrix.rendering.html import render_html
from separatrix.rendering.sheet import ABSENT, Grid, Reasons, Sheet, format_number, p_text
from separatrix.rendering.text import render_text

NEGLIGIBLE = 1e-10  # residual of a dependent column, relative to its length
DIGITS = 4
TERMS_SHOWN = 12
Judgement = Literal["consistent", "doubtful", "contradicted", "not checked"]
DOUBTFUL, CONTRADICTED = 0.05, 0.01  # p-values below which an assumption is doubtful or contradicted
MIN_FREEDOM = 2  # degrees of freedom below which Durbin–Watson does not depend on the targets
FEW_ROWS = 30  # below which a test of normality is rough
LARGE_COOK, HUGE_COOK = 0.5, 1.0  # Cook's distances
ASSUMPTIONS = {
    "linearity": "the mean of the target is a linear function of the columns",
    "independence": "given the columns, the targets do not depend on each other",
    "equal variance": "the variance about the mean is the same everywhere",
    "normality": "about its mean the target is normal",
    "existence": "the target has a finite mean and variance everywhere, so that no row decides alone",
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
class Diagnosis:
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
        by_name = {check.name: check for check in self.checks}
        if name not in by_name:
            raise OptionError(f"{name!r} is no assumption{did_you_mean(name, by_name)}")
        return by_name[name]

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        values: dict[str, Any] = json_values(asdict(self))
        return values

    def to_json(self, indent: int | None = 2) -> str:
        """Return the record as JSON."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return render_text(diagnosis_sheet(self))

    def _repr_html_(self) -> str:
        return render_html(diagnosis_sheet(self))


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
    return diagnose_rows(Influence(fitted_rows(model)), terms if terms is not None else getattr(model, "terms_", None))


def diagnose_rows(influence: Influence, terms: Mapping[str, Sequence[str]] | None = None) -> Diagnosis:
    """Return the diagnosis of rows whose influence is known."""
    rows, design = influence.rows, influence.rows.problem.design
    checks = (
        check_linearity(rows),
        check_independence(rows),
        check_equal_variance(rows),
        check_normality(rows),
        check_existence(influence),
    )
    inflation = variance_inflation(rows.fit, design.names, virtual=design.virtual, terms=terms)
    return Diagnosis(
        rows=rows.n,
        coefficients=rows.fit.rank,
        degrees_of_freedom=rows.degrees_of_freedom,
        checks=checks,
        influential=tuple(_influential_row(influence, row) for row in influence.largest[:ROWS_NAMED].tolist()),
        inflation=inflation,
        notes=tuple(_notes(rows, inflation)),
    )


def _influential_row(influence: Influence, row: int) -> InfluentialRow:
    studentised, cook = (float(vector[row]) for vector in (influence.studentised, influence.cooks_distance))
    return InfluentialRow(
        row=int(influence.places[row]),
        leverage=float(influence.leverage[row]),
        residual=float(influence.residuals[row]),
        studentised=None if math.isnan(studentised) else studentised,
        cooks_distance=None if math.isnan(cook) else cook,
    )


def _notes(rows: FittedRows, inflation: Sequence[Inflation]) -> list[str]:
    notes = []
    inflated = [term for term in inflation if term.wider is not None and term.wider**2 >= INFLATED]
    if inflated:
        worst = max(inflated, key=lambda term: float(term.wider or 0.0))
        notes.append(
            f"Intervals of {worst.term!r} are {worst.wider:.3g} times as wide as if it had nothing to do with the other"
            " columns: what it adds can hardly be told from what they do. Drop or combine columns if that matters."
        )
    if inflation and not rows.problem.design.virtual:
        notes.append("There is no intercept, so that inflation is about 0 and not about the columns' means.")
    if rows.problem.weights is not None:
        kind = "repetitions of their rows" if rows.repeated else "precisions: residuals are scaled by their roots"
        notes.append(f"Weights count as {kind}.")
    return notes


def check_linearity(rows: FittedRows) -> AssumptionCheck:
    """Check linearity by RESET."""
    if rows.absent:
        return _unchecked("linearity", "RESET F", rows.absent)
    test = reset(rows)
    if test is None:
        reason = (
            "squares and cubes of the fitted values are no columns beside those there are, as with dummies of groups"
            " or too few rows; give more rows, or columns that measure"
        )
        return _unchecked("linearity", "RESET F", reason)
    finding = (
        f"adding squares and cubes of the fitted values (RESET F = {test.statistic:.3g}, {_p_phrase(test.p_value)})"
    )
    return _assumption_check(
        "linearity",
        (_measure("RESET F", test),),
        test.p_value,
        {
            "consistent": f"{finding} explains no more than chance would: a straight line will do",
            "doubtful": f"{finding} explains more than chance often does: the mean may bend; look at residuals against"
            " fitted values, and try a square or a logarithm of a column",
            "contradicted": f"{finding} explains much more than chance does: the mean is not linear in these columns;"
            " add a square, a product or a logarithm, or a column that is missing",
        },
    )


def check_independence(rows: FittedRows) -> AssumptionCheck:
    """Check independence by the Durbin–Watson test."""
    reason = rows.absent
    if not reason and rows.repeated and rows.problem.weights is not None:
        reason = "rows that stand for several have no order; give each row by itself, in the order it was seen"
    if not reason and rows.degrees_of_freedom < MIN_FREEDOM:
        reason = "with one degree of freedom the statistic is the same whatever the targets; give more rows"
    if reason:
        return _unchecked("independence", "Durbin–Watson", reason)
    test = durbin_watson(rows)
    how = "exact" if test.exact else "normal approximation"
    measures = (
        Measure("Durbin–Watson", test.statistic, test.p_value, f"(2 if independent; two-sided p {how})"),
        Measure("against positive correlation", test.statistic, test.p_positive, f"(one-sided p {how})"),
        Measure("against negative correlation", test.statistic, test.p_negative, f"(one-sided p {how})"),
    )
    kind = "resemble" if test.statistic < 2.0 else "alternate with"
    finding = f"Durbin–Watson is {test.statistic:.3g}, where 2 is independence ({_p_phrase(test.p_value)}, {how})"
    remedy = (
        'if the rows are in an order of time or place, model it, or use covariance="newey_west"; if they are in no'
        " order, it is by chance, and gone once they are shuffled"
    )
    return _assumption_check(
        "independence",
        measures,
        test.p_value,
        {
            "consistent": f"{finding}: residuals do not take after those of the row before",
            "doubtful": f"{finding}: residuals seem to {kind} those of the row before; {remedy}",
            "contradicted": f"{finding}: residuals {kind} those of the row before; {remedy}",
        },
    )


def check_equal_variance(rows: FittedRows) -> AssumptionCheck:
    """Check equal variance by the studentised Breusch–Pagan test."""
    tests = None if rows.absent else breusch_pagan(rows)
    if tests is None:
        reason = rows.absent or "there is no column that the squared residuals could depend on; give at least one"
        return _unchecked("equal variance", "Breusch–Pagan", reason)
    studentised, original = tests
    measures = (_measure("studentised Breusch–Pagan", studentised), _measure("original Breusch–Pagan", original))
    finding = (
        f"regressing the squared residuals on the columns (studentised Breusch–Pagan {studentised.statistic:.3g},"
        f" {_p_phrase(studentised.p_value)})"
    )
    remedy = 'use covariance="HC3" for the errors, or weights, or a logarithm of the target'
    return _assumption_check(
        "equal variance",
        measures,
        studentised.p_value,
        {
            "consistent": f"{finding} finds nothing: the spread is the same as far as the columns can tell",
            "doubtful": f"{finding} finds something: the spread may change with the columns; {remedy}",
            "contradicted": f"{finding} finds much: the spread changes with the columns; {remedy}",
        },
    )


def check_normality(rows: FittedRows) -> AssumptionCheck:
    """Check normality by the Jarque–Bera test."""
    if rows.absent:
        return _unchecked("normality", "Jarque–Bera", rows.absent)
    test, skewness, excess = jarque_bera(rows)
    measures = (
        _measure("Jarque–Bera", test),
        Measure("skewness", skewness, detail="(0 if normal)"),
        Measure("excess kurtosis", excess, detail="(0 if normal)"),
    )
    rough = f"; with {counted(int(rows.n), 'row')} the test is rough" if rows.n < FEW_ROWS else ""
    finding = (
        f"the residuals have skewness {skewness:.2g} and excess kurtosis {excess:.2g} (Jarque–Bera"
        f" {test.statistic:.3g}, {_p_phrase(test.p_value)})"
    )
    remedy = "intervals of coefficients bear it if the rows are many, those of predictions do not"
    return _assumption_check(
        "normality",
        measures,
        test.p_value,
        {
            "consistent": f"{finding}: a normal distribution may have made them{rough}",
            "doubtful": f"{finding}: a normal distribution seldom makes such; {remedy}{rough}",
            "contradicted": f"{finding}: a normal distribution does not make such; {remedy}; look at the Q–Q picture,"
            f" and try a logarithm of the target{rough}",
        },
    )


def check_existence(influence: Influence) -> AssumptionCheck:
    """Check for outliers and influential rows, the only trace of infinite moments in a sample."""
    rows, leverage = influence.rows, influence.leverage
    steepest = int(leverage.argmax())
    leverage_measure = Measure("largest leverage", float(leverage[steepest]), detail=f"({rows.name(steepest)})")
    extreme = None if rows.absent else outlier(influence)
    if extreme is None:
        reason = rows.absent or (
            "no row can be compared with what the others say of it, as they leave no degrees of freedom; give more rows"
        )
        return _unchecked("existence", "Cook's distance", reason, leverage_measure)
    row, studentised, p_value = extreme
    cook = influence.cooks_distance
    top = int(np.nanargmax(cook))
    largest = float(cook[top])
    measures = (
        leverage_measure,
        Measure("largest Cook's distance", largest, detail=f"({rows.name(top)})"),
        Measure("largest studentised residual", studentised, p_value, f"({rows.name(row)}; Bonferroni p)"),
    )
    decisive = np.flatnonzero(np.isnan(cook))
    finding = (
        f"the largest Cook's distance is {largest:.2g} ({rows.name(top)}), the largest studentised residual"
        f" {studentised:.3g} ({rows.name(row)}, Bonferroni {_p_phrase(p_value)})"
    )
    verdict = _verdict(max(p_value, CONTRADICTED))  # no finite sample refutes a finite variance
    if decisive.size or largest > LARGE_COOK:
        verdict = "doubtful"
    if decisive.size:
        text = f"{finding}, and {rows.name(decisive[0])} alone decides a coefficient; see whether it belongs here"
    elif verdict == "consistent":
        text = f"{finding}: no row decides the fit alone"
    else:
        how = "very much" if largest > HUGE_COOK else "much" if largest > LARGE_COOK else "little, but they are far out"
        text = f"{finding}: single rows move the fit {how}; see whether they are right, and fit without them to compare"
    return AssumptionCheck("existence", ASSUMPTIONS["existence"], measures, p_value, verdict, _sentence(text))


def _assumption_check(
    name: str, measures: tuple[Measure, ...], p_value: float, sentences: Mapping[Judgement, str]
) -> AssumptionCheck:
    verdict = _verdict(p_value)
    return AssumptionCheck(name, ASSUMPTIONS[name], measures, p_value, verdict, _sentence(sentences[verdict]))


def _unchecked(name: str, measure: str, reason: str, *others: Measure) -> AssumptionCheck:
    absent = Measure(measure, None, absent=reason)
    return AssumptionCheck(name, ASSUMPTIONS[name], (*others, absent), None, "not checked", _sentence(reason))


def _verdict(p_value: float) -> Judgement:
    if p_value >= DOUBTFUL:
        return "consistent"
    return "doubtful" if p_value >= CONTRADICTED else "contradicted"


def _measure(name: str, test: TestResult) -> Measure:
    freedom = f"on {test.freedom:g}" + ("" if test.residual_freedom is None else f" and {test.residual_freedom:g}")
    return Measure(name, test.statistic, test.p_value, f"{freedom} degrees of freedom")


def _p_phrase(p_value: float) -> str:
    return "p < 0.0001" if p_value < 1e-4 else f"p = {p_value:.2g}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


class TestResult(NamedTuple):
    """A statistic, its degrees of freedom (`residual_freedom` is None for χ²), and its p-value."""

    statistic: float
    freedom: float
    residual_freedom: float | None
    p_value: float


class BreuschPagan(NamedTuple):
    """Both forms of the test; the studentised one does not assume normal errors."""

    studentised: TestResult
    original: TestResult


class JarqueBera(NamedTuple):
    """The test, and the skewness and excess kurtosis it is computed from."""

    test: TestResult
    skewness: float
    excess_kurtosis: float


class Outlier(NamedTuple):
    """The row with the largest studentised residual, and its Bonferroni p-value."""

    row: int
    studentised: float
    p_value: float


def reset(rows: FittedRows) -> TestResult | None:
    """Return the F test of squares and cubes of the fitted values; None if the columns span them."""
    powers = _powers(rows)
    weights = rows.counts * rows.roots**2
    new = rows.project_off(powers)
    lengths, before = (np.sqrt(weights @ (columns * columns)) for columns in (new, powers))
    new = new[:, lengths > NEGLIGIBLE * before]
    added = np.asarray(np.sqrt(weights)[:, np.newaxis] * new)
    basis, triangle = np.linalg.qr(added / np.linalg.norm(added, axis=0)) if added.size else (added, added)
    basis = basis[:, np.abs(np.diag(triangle)) > NEGLIGIBLE]
    count, freedom = basis.shape[1], rows.degrees_of_freedom - basis.shape[1]
    if not count or freedom <= 0.0:
        return None
    residuals = np.sqrt(rows.counts) * rows.scaled
    explained = basis.T @ residuals
    remainder = residuals - basis @ explained
    statistic = float(explained @ explained) / count / (float(remainder @ remainder) / freedom)
    return TestResult(statistic, count, freedom, float(scipy.special.fdtrc(count, freedom, statistic)))


def _powers(rows: FittedRows) -> Floats:
    """Return squares and cubes of the fitted values, centred if there is an intercept (the same test)."""
    fitted = rows.fitted
    centre = float(fitted.mean()) if rows.problem.design.virtual else 0.0
    deviations = fitted - centre
    scale = float(np.abs(deviations).max()) or 1.0
    return np.column_stack([(deviations / scale) ** 2, (deviations / scale) ** 3])


def breusch_pagan(rows: FittedRows) -> BreuschPagan | None:
    """Return the test that the columns do not explain the squared residuals; None without a column."""
    squares = rows.scaled**2
    mean = rows.rss / rows.n
    deviations = squares - mean
    unweighted = _without_precisions(rows)
    unexplained, freedom = _project_off_columns(unweighted, deviations)
    explained = deviations - unexplained
    if not freedom or not deviations.any():
        return None
    gain = float(rows.counts @ (explained * explained))
    studentised = rows.n * gain / float(rows.counts @ (deviations * deviations))
    return BreuschPagan(*(_chi_squared(value, freedom) for value in (studentised, 0.5 * gain / mean**2)))


def _without_precisions(rows: FittedRows) -> FittedRows:
    """Return the rows without precision weights, refitted because the basis depends on the weights."""
    if rows.repeated or rows.problem.weights is None:
        return rows
    problem = replace(rows.problem, weights=None)
    return FittedRows(problem, fit_least_squares(problem), rows.places)


def _project_off_columns(rows: FittedRows, values: Floats) -> tuple[Floats, int]:
    """Return the residuals of a vector on the columns and a constant, and the rank without the constant."""
    rank = rows.fit.rank
    if rows.problem.design.virtual:
        return rows.project_off(values[:, np.newaxis])[:, 0], rank - 1
    residuals, ones = rows.project_off(np.column_stack([values, np.ones_like(values)])).T
    length = float(rows.counts @ (ones * ones))
    if length <= (NEGLIGIBLE * NEGLIGIBLE) * rows.n:
        return residuals, rank - 1
    return residuals - ones * (float(rows.counts @ (ones * residuals)) / length), rank


def jarque_bera(rows: FittedRows) -> JarqueBera:
    """Return the test that the residuals are normal."""
    deviations = rows.scaled - float(rows.counts @ rows.scaled) / rows.n
    squares = deviations * deviations
    powers = squares, squares * deviations, squares**2
    variance, third, fourth = (float(rows.counts @ power) / rows.n for power in powers)
    skewness, excess = third / variance**1.5, fourth / variance**2 - 3.0
    test = _chi_squared(rows.n * (skewness**2 + excess**2 / 4.0) / 6.0, 2)
    return JarqueBera(test, skewness, excess)


def outlier(influence: Influence) -> Outlier | None:
    """Return the row with the largest studentised residual; None if there are no studentised residuals."""
    sizes = np.abs(influence.studentised)
    if np.isnan(sizes).all():
        return None
    row = int(np.nanargmax(sizes))
    rows = influence.rows
    tail = 2.0 * float(scipy.special.stdtr(rows.degrees_of_freedom - 1.0, -float(sizes[row])))
    return Outlier(row, float(influence.studentised[row]), min(1.0, rows.n * tail))


def _chi_squared(statistic: float, freedom: int) -> TestResult:
    p_value = float(scipy.special.chdtrc(freedom, statistic)) if math.isfinite(statistic) else math.nan
    return TestResult(statistic, freedom, None, p_value)


def diagnosis_sheet(diagnosis: Diagnosis) -> Sheet:
    """Return a diagnosis as a sheet: one row per assumption, the influential rows, inflation, and sentences."""
    reasons = Reasons()
    grids = [_check_grid(diagnosis, reasons), _influence_grid(diagnosis), _inflation_grid(diagnosis.inflation, reasons)]
    return Sheet(
        title=_title(diagnosis),
        grids=tuple(grid for grid in grids if grid.rows),
        entries=tuple((check.name, check.sentence) for check in diagnosis.checks if check.verdict != "not checked"),
        lines=(*_omitted_note(diagnosis.inflation), *diagnosis.notes),
        reasons=tuple(reasons.sentences),
    )


def _title(diagnosis: Diagnosis) -> str:
    rows, free = f"{diagnosis.rows:,.12g} rows", counted(diagnosis.coefficients, "coefficient")
    freedom = counted(round(diagnosis.degrees_of_freedom), "degree")
    return f"The five assumptions of least squares: {rows}, {free}, {freedom} of freedom"


def _check_grid(diagnosis: Diagnosis, reasons: Reasons) -> Grid:
    rows = tuple(_check_cells(check, reasons) for check in diagnosis.checks)
    return Grid(("assumption", "measured", "statistic", "p", "verdict"), rows)


def _check_cells(check: AssumptionCheck, reasons: Reasons) -> tuple[str, ...]:
    shown = check.shown
    mark = reasons.mark(shown.absent)
    return check.name + mark, shown.name, format_number(shown.value, DIGITS), p_text(shown.p_value), check.verdict


def _influence_grid(diagnosis: Diagnosis) -> Grid:
    rows = tuple(
        (
            str(row.row),
            *(
                format_number(value, DIGITS)
                for value in (row.leverage, row.residual, row.studentised, row.cooks_distance)
            ),
        )
        for row in diagnosis.influential
    )
    return Grid(("row", "leverage", "residual", "studentised", "Cook's distance"), rows)


def _inflation_grid(terms: tuple[Inflation, ...], reasons: Reasons) -> Grid:
    several = any(len(term.columns) > 1 for term in terms)
    rows = tuple(
        (
            term.term + reasons.mark(term.absent),
            format_number(term.factor, DIGITS),
            ABSENT if term.wider is None else f"{format_number(term.wider, DIGITS)} times as wide",
        )
        for term in _most_inflated(terms)
    )
    return Grid(("term", "GVIF" if several else "VIF", "intervals"), rows)


def _most_inflated(terms: tuple[Inflation, ...]) -> list[Inflation]:
    """Return the most inflated terms, or those of unknown inflation, in their order."""
    largest = sorted(terms, key=lambda term: -math.inf if term.wider is None else -term.wider)[:TERMS_SHOWN]
    return [term for term in terms if term in largest]


def _omitted_note(terms: tuple[Inflation, ...]) -> list[str]:
    more = len(terms) - TERMS_SHOWN
    return [f"{counted(more, 'term')} of less inflation not shown."] if more > 0 else []
