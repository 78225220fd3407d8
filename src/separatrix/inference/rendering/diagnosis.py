"""The sheet of a diagnosis: a row an assumption, the rows that matter most, inflation, and a sentence a check."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from separatrix.errors import counted
from separatrix.inference.rendering.sheet import ABSENT, Grid, Reasons, Sheet, number, p_text

if TYPE_CHECKING:
    from separatrix.inference.diagnosis.inflation import Inflation
    from separatrix.inference.diagnosis.record import Check, Diagnosis


DIGITS = 4
TERMS_SHOWN = 12


def diagnosis_sheet(diagnosis: Diagnosis) -> Sheet:
    """Return a diagnosis as cells and sentences."""
    reasons = Reasons()
    grids = [_checks(diagnosis, reasons), _influence_grid(diagnosis), _inflation(diagnosis.inflation, reasons)]
    return Sheet(
        title=_title(diagnosis),
        grids=tuple(grid for grid in grids if grid.rows),
        entries=tuple((check.name, check.sentence) for check in diagnosis.checks if check.verdict != "not checked"),
        lines=(*_omitted(diagnosis.inflation), *diagnosis.notes),
        reasons=tuple(reasons.given),
    )


def _title(diagnosis: Diagnosis) -> str:
    rows, free = f"{diagnosis.rows:,.12g} rows", counted(diagnosis.coefficients, "coefficient")
    freedom = counted(round(diagnosis.degrees_of_freedom), "degree")
    return f"The five assumptions of least squares: {rows}, {free}, {freedom} of freedom"


def _checks(diagnosis: Diagnosis, reasons: Reasons) -> Grid:
    rows = tuple(_check(check, reasons) for check in diagnosis.checks)
    return Grid(("assumption", "measured", "statistic", "p", "verdict"), rows)


def _check(check: Check, reasons: Reasons) -> tuple[str, ...]:
    shown = check.shown
    mark = reasons.mark(shown.absent)
    return check.name + mark, shown.name, number(shown.value, DIGITS), p_text(shown.p_value), check.verdict


def _influence_grid(diagnosis: Diagnosis) -> Grid:
    rows = tuple(
        (
            str(row.row),
            *(number(value, DIGITS) for value in (row.leverage, row.residual, row.studentised, row.cooks_distance)),
        )
        for row in diagnosis.influential
    )
    return Grid(("row", "leverage", "residual", "studentised", "Cook's distance"), rows)


def _inflation(terms: tuple[Inflation, ...], reasons: Reasons) -> Grid:
    several = any(len(term.columns) > 1 for term in terms)
    rows = tuple(
        (
            term.term + reasons.mark(term.absent),
            number(term.factor, DIGITS),
            ABSENT if term.wider is None else f"{number(term.wider, DIGITS)} times as wide",
        )
        for term in _worst(terms)
    )
    return Grid(("term", "GVIF" if several else "VIF", "intervals"), rows)


def _worst(terms: tuple[Inflation, ...]) -> list[Inflation]:
    """Return the terms in their order, of many only those most inflated, or not known."""
    largest = sorted(terms, key=lambda term: -math.inf if term.wider is None else -term.wider)[:TERMS_SHOWN]
    return [term for term in terms if term in largest]


def _omitted(terms: tuple[Inflation, ...]) -> list[str]:
    more = len(terms) - TERMS_SHOWN
    return [f"{counted(more, 'term')} of less inflation not shown."] if more > 0 else []
