"""A check of each of the five assumptions of least squares: what was measured, a verdict, and a sentence in words.

A verdict is a word by the p-value: "consistent" from .05, "doubtful" from .01, "contradicted" below; "not checked"
where no number can be had, and then the sentence says why. A test that finds nothing in few rows has not shown much.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from separatrix.errors import counted
from separatrix.inference.diagnosis.assumptions import Tested, breusch_pagan, jarque_bera, outlier, reset
from separatrix.inference.diagnosis.durbin_watson import durbin_watson
from separatrix.inference.diagnosis.fitted_rows import FittedRows
from separatrix.inference.diagnosis.influence import Influence
from separatrix.inference.diagnosis.record import Check, Judgement
from separatrix.inference.table import Measure

DOUBTFUL, CONTRADICTED = 0.05, 0.01  # p-values below which an assumption is
LEAST_FREEDOM = 2  # for a Durbin–Watson statistic that depends on the targets
FEW = 30  # rows: below, a test of normality is rough
MUCH, VERY_MUCH = 0.5, 1.0  # Cook's distances
ASSUMPTIONS = {
    "linearity": "the mean of the target is a linear function of the columns",
    "independence": "given the columns, the targets do not depend on each other",
    "equal variance": "the variance about the mean is the same everywhere",
    "normality": "about its mean the target is normal",
    "existence": "the target has a finite mean and variance everywhere, so that no row decides alone",
}


def check_linearity(rows: FittedRows) -> Check:
    """Return the check by further columns, squares and cubes of the fitted values."""
    if rows.absent:
        return _unchecked("linearity", "RESET F", rows.absent)
    test = reset(rows)
    if test is None:
        reason = (
            "squares and cubes of the fitted values are no columns beside those there are, as with dummies of groups"
            " or too few rows; give more rows, or columns that measure"
        )
        return _unchecked("linearity", "RESET F", reason)
    found = f"adding squares and cubes of the fitted values (RESET F = {test.statistic:.3g}, {_p(test.p_value)})"
    return _judged(
        "linearity",
        (_measure("RESET F", test),),
        test.p_value,
        {
            "consistent": f"{found} explains no more than chance would: a straight line will do",
            "doubtful": f"{found} explains more than chance often does: the mean may bend; look at residuals against"
            " fitted values, and try a square or a logarithm of a column",
            "contradicted": f"{found} explains much more than chance does: the mean is not linear in these columns;"
            " add a square, a product or a logarithm, or a column that is missing",
        },
    )


def check_independence(rows: FittedRows) -> Check:
    """Return the check by the residuals of neighbouring rows."""
    reason = rows.absent
    if not reason and rows.repeated and rows.problem.weights is not None:
        reason = "rows that stand for several have no order; give each row by itself, in the order it was seen"
    if not reason and rows.degrees_of_freedom < LEAST_FREEDOM:
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
    found = f"Durbin–Watson is {test.statistic:.3g}, where 2 is independence ({_p(test.p_value)}, {how})"
    remedy = (
        'if the rows are in an order of time or place, model it, or use covariance="newey_west"; if they are in no'
        " order, it is by chance, and gone once they are shuffled"
    )
    return _judged(
        "independence",
        measures,
        test.p_value,
        {
            "consistent": f"{found}: residuals do not take after those of the row before",
            "doubtful": f"{found}: residuals seem to {kind} those of the row before; {remedy}",
            "contradicted": f"{found}: residuals {kind} those of the row before; {remedy}",
        },
    )


def check_equal_variance(rows: FittedRows) -> Check:
    """Return the check by what the columns explain of the squared residuals."""
    tests = None if rows.absent else breusch_pagan(rows)
    if tests is None:
        reason = rows.absent or "there is no column that the squared residuals could depend on; give at least one"
        return _unchecked("equal variance", "Breusch–Pagan", reason)
    studentised, original = tests
    measures = (_measure("studentised Breusch–Pagan", studentised), _measure("original Breusch–Pagan", original))
    found = (
        f"regressing the squared residuals on the columns (studentised Breusch–Pagan {studentised.statistic:.3g},"
        f" {_p(studentised.p_value)})"
    )
    remedy = 'use covariance="HC3" for the errors, or weights, or a logarithm of the target'
    return _judged(
        "equal variance",
        measures,
        studentised.p_value,
        {
            "consistent": f"{found} finds nothing: the spread is the same as far as the columns can tell",
            "doubtful": f"{found} finds something: the spread may change with the columns; {remedy}",
            "contradicted": f"{found} finds much: the spread changes with the columns; {remedy}",
        },
    )


def check_normality(rows: FittedRows) -> Check:
    """Return the check by the residuals' skewness and kurtosis."""
    if rows.absent:
        return _unchecked("normality", "Jarque–Bera", rows.absent)
    test, skewness, excess = jarque_bera(rows)
    measures = (
        _measure("Jarque–Bera", test),
        Measure("skewness", skewness, detail="(0 if normal)"),
        Measure("excess kurtosis", excess, detail="(0 if normal)"),
    )
    rough = f"; with {counted(int(rows.seen), 'row')} the test is rough" if rows.seen < FEW else ""
    found = (
        f"the residuals have skewness {skewness:.2g} and excess kurtosis {excess:.2g} (Jarque–Bera"
        f" {test.statistic:.3g}, {_p(test.p_value)})"
    )
    remedy = "intervals of coefficients bear it if the rows are many, those of predictions do not"
    return _judged(
        "normality",
        measures,
        test.p_value,
        {
            "consistent": f"{found}: a normal distribution may have made them{rough}",
            "doubtful": f"{found}: a normal distribution seldom makes such; {remedy}{rough}",
            "contradicted": f"{found}: a normal distribution does not make such; {remedy}; look at the Q–Q picture, and"
            f" try a logarithm of the target{rough}",
        },
    )


def check_existence(influence: Influence) -> Check:
    """Return the check by what single rows do: all that a sample can show of moments that are not finite."""
    rows, leverage = influence.rows, influence.leverage
    steepest = int(leverage.argmax())
    seen = Measure("largest leverage", float(leverage[steepest]), detail=f"({rows.name(steepest)})")
    far = None if rows.absent else outlier(influence)
    if far is None:
        reason = rows.absent or (
            "no row can be compared with what the others say of it, as they leave no degrees of freedom; give more rows"
        )
        return _unchecked("existence", "Cook's distance", reason, seen)
    cook = influence.cooks_distance
    top = int(np.nanargmax(cook))
    measures = (
        seen,
        Measure("largest Cook's distance", float(cook[top]), detail=f"({rows.name(top)})"),
        Measure("largest studentised residual", far.studentised, far.p_value, f"({rows.name(far.row)}; Bonferroni p)"),
    )
    alone = np.flatnonzero(np.isnan(cook))
    found = (
        f"the largest Cook's distance is {cook[top]:.2g} ({rows.name(top)}), the largest studentised residual"
        f" {far.studentised:.3g} ({rows.name(far.row)}, Bonferroni {_p(far.p_value)})"
    )
    verdict = _verdict(max(far.p_value, CONTRADICTED))  # no finite sample refutes a finite variance
    if alone.size or cook[top] > MUCH:
        verdict = "doubtful"
    if alone.size:
        words = f"{found}, and {rows.name(alone[0])} alone decides a coefficient; see whether it belongs here"
    elif verdict == "consistent":
        words = f"{found}: no row decides the fit alone"
    else:
        how = "very much" if cook[top] > VERY_MUCH else "much" if cook[top] > MUCH else "little, but they are far out"
        words = f"{found}: single rows move the fit {how}; see whether they are right, and fit without them to compare"
    return Check("existence", ASSUMPTIONS["existence"], measures, far.p_value, verdict, _sentence(words))


def _judged(name: str, measures: tuple[Measure, ...], p_value: float, words: Mapping[Judgement, str]) -> Check:
    verdict = _verdict(p_value)
    return Check(name, ASSUMPTIONS[name], measures, p_value, verdict, _sentence(words[verdict]))


def _unchecked(name: str, measure: str, reason: str, *others: Measure) -> Check:
    absent = Measure(measure, None, absent=reason)
    return Check(name, ASSUMPTIONS[name], (*others, absent), None, "not checked", _sentence(reason))


def _verdict(p_value: float) -> Judgement:
    if p_value >= DOUBTFUL:
        return "consistent"
    return "doubtful" if p_value >= CONTRADICTED else "contradicted"


def _measure(name: str, test: Tested) -> Measure:
    freedom = f"on {test.freedom:g}" + ("" if test.second is None else f" and {test.second:g}")
    return Measure(name, test.statistic, test.p_value, f"{freedom} degrees of freedom")


def _p(p_value: float) -> str:
    return "p < 0.0001" if p_value < 1e-4 else f"p = {p_value:.2g}"


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
