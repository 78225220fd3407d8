"""The section of coefficients: the forest, the reason where there are no intervals, and the whole table."""

from __future__ import annotations

from dataclasses import replace

from separatrix.errors import counted
from separatrix.inference.table import coefficient_sheet
from separatrix.rendering.sheet import Sheet
from separatrix.reports.answers import no_intervals
from separatrix.reports.coefficient_text import largest_terms, weight_sheet
from separatrix.reports.html.pieces import details, figure, paragraph, sheet_parts
from separatrix.reports.report import Report

LONG_TABLE = 15  # rows, above which a table is folded
MOST = 2000  # coefficients of all scores in the table


def coefficient_section(report: Report) -> str:
    """Return the section."""
    table = report.coefficients
    without = all(term.lower is None and term.upper is None for term in table.terms)
    why = paragraph(f"there are no intervals: {no_intervals(report.trained)}") if without else ""
    forest = "" if report.pictures.forest is None else figure(report.pictures.forest)
    sheet = _sheet(report)
    rows = sum(len(grid.rows) for grid in sheet.grids)
    told = counted(len(table.terms), "coefficient")
    return why + forest + details(f"The table: {told}", sheet_parts(sheet), opened=rows <= LONG_TABLE)


def _sheet(report: Report) -> Sheet:
    """Return the coefficients with inference or, where none of them has any, the weights."""
    model, table = report.trained.model, report.coefficients
    most = max(10, MOST // len(model.coef))
    if all(term.standard_error is None and term.lower is None for term in table.terms):
        sheet = weight_sheet(model, most)
        return replace(sheet, lines=tuple(line for line in sheet.lines if line != model.no_covariance))
    terms = largest_terms(table.terms, most)
    sheet = coefficient_sheet(replace(table, terms=terms))
    left = len(table.terms) - len(terms)
    cut = (
        (f"{counted(left, 'coefficient')} of smaller statistics left off; the model file has them all",) if left else ()
    )
    return replace(sheet, lines=(*sheet.lines, *cut))
