"""The five assumptions of least squares, checked on the rows: linearity, independence, equal variance, normality, and
existence, of which only large leverages and outliers can be seen.

Cost: some ten passes over the rows, most as dear as a product with the columns; nothing of n × n numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from separatrix.inference.diagnosis import checks
from separatrix.inference.diagnosis.fitted_rows import FittedRows, rows_of
from separatrix.inference.diagnosis.inflation import Inflation, variance_inflation
from separatrix.inference.diagnosis.influence import Influence
from separatrix.inference.diagnosis.record import Diagnosis, InfluentialRow

NAMED = 5  # rows named as influential
INFLATED = 10.0  # VIF, or squared GVIF^(1/2df), from which a column says little of its own


def diagnose(model: Any, *, terms: Mapping[str, Sequence[str]] | None = None) -> Diagnosis:
    """Return what the rows say of the assumptions under which a least squares fit may be tested.

    Parameters
    ----------
    model : a fitted LinearRegression without a penalty, or a formula's model that has one
    terms : names of terms and their columns, for the inflation of those that have several (as dummies do); a formula
        knows its own

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LinearRegression().fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
    >>> [check.verdict for check in sx.diagnose(model).checks]
    ['consistent', 'consistent', 'consistent', 'consistent', 'consistent']
    """
    return diagnose_rows(Influence(rows_of(model)), terms if terms is not None else getattr(model, "terms_", None))


def diagnose_rows(influence: Influence, terms: Mapping[str, Sequence[str]] | None = None) -> Diagnosis:
    """Return what `diagnose` does, of rows that are at hand."""
    rows, design = influence.rows, influence.rows.problem.design
    found = (
        checks.check_linearity(rows),
        checks.check_independence(rows),
        checks.check_equal_variance(rows),
        checks.check_normality(rows),
        checks.check_existence(influence),
    )
    inflation = variance_inflation(rows.fit, design.names, virtual=design.virtual, terms=terms)
    return Diagnosis(
        rows=rows.seen,
        coefficients=rows.fit.rank,
        degrees_of_freedom=rows.degrees_of_freedom,
        checks=found,
        influential=tuple(_influential_row(influence, row) for row in influence.largest[:NAMED].tolist()),
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
