"""The section that says how well a model does: measures, curves, confusions; of least squares its assumptions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.inference.diagnosis import diagnosis_sheet
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.rendering.sheet import Grid
from separatrix.reports.diagnostic_plots import DIAGNOSTIC_PANELS
from separatrix.reports.html.pieces import details, figures, grid, name, paragraph, sheet_parts, words
from separatrix.reports.measures import measures_of, with_interval
from separatrix.reports.report import Report

MOST_CLASSES = 25  # of a confusion matrix
PAIRS = 20  # confusions listed where there are more classes
DEPTH = 0.35  # of the tint of a cell that has all rows of its class


def quality_section(report: Report) -> str:
    """Return the section."""
    found, where = report.judged
    parts = [_measures(report)]
    if isinstance(found, ClassifierEvaluation):
        parts += [figures(report.pictures.judged), _confusions(found, where)]
        if found.log_loss.value is None:
            parts.append(paragraph(f"there is no calibration: {found.log_loss.absent}"))
    else:
        parts += [figures(report.pictures.judged), _assumptions(report)]
    return "".join(parts)


def _measures(report: Report) -> str:
    """Return the measures on its own rows, and beside them on rows kept apart, with intervals."""
    trained = report.trained
    found = [trained.own] if trained.apart is None else [trained.own, trained.apart]
    columns = zip(*(measures_of(each) for each in found), strict=True)
    rows = tuple((group[0][0], *(with_interval(value) for _, value in group)) for group in columns)
    heads = ("", f"on its own {trained.own.rows:,} rows", "kept apart")[: 1 + len(found)]
    absent = {
        f"{named}: no interval: {value.absent}" for each in found for named, value in measures_of(each) if value.absent
    }
    if trained.own_words != "on its own rows":
        heads = ("", trained.own_words, *heads[2:])
    notes = [f"{100.0 * trained.own.level:g} % intervals in brackets", *sorted(absent)]
    if trained.apart is not None:
        notes.append(f"kept apart: {trained.apart_words}")
    elif trained.apart_words:
        notes.append(f"interrupted before it was judged {trained.apart_words}")
    return grid(Grid(heads, rows)) + "".join(paragraph(note, "soft") for note in notes)


def _confusions(found: ClassifierEvaluation, where: str) -> str:
    """Return the confusion matrix or, of many classes, the commonest confusions."""
    heading = f"<h3>{words(f'Confusions, {where}')}</h3>"
    if len(found.classes) <= MOST_CLASSES:
        return heading + _matrix(found)
    wrong = found.confusion.copy()
    np.fill_diagonal(wrong, 0.0)
    places = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS]
    pairs = [tuple(map(int, np.unravel_index(place, wrong.shape))) for place in places if wrong.ravel()[place] > 0.0]
    rows = tuple((str(found.classes[a]), str(found.classes[b]), f"{wrong[a, b]:,.6g}") for a, b in pairs)
    return heading + grid(
        Grid(("is", "predicted", "rows"), rows, f"The {len(rows)} commonest of {len(wrong):,} classes")
    )


def _matrix(found: ClassifierEvaluation) -> str:
    heads = "".join(f'<th scope="col">{name(label)}</th>' for label in found.classes)
    body = "".join(_line(label, row) for label, row in zip(found.classes, found.confusion, strict=True))
    table = f"<thead><tr><th>is ↓ predicted →</th>{heads}</tr></thead><tbody>{body}</tbody>"
    return (
        '<div class="wide" role="region" tabindex="0" aria-label="confusion matrix">'
        f'<table class="confusion">{table}</table></div>'
    )


def _line(label: object, row: Floats) -> str:
    total = float(row.sum()) or 1.0
    cells = (
        f'<td style="background: rgba(var(--tint), {DEPTH * float(count) / total:.3f})">{words(f"{count:,.6g}")}</td>'
        for count in row
    )
    return f'<tr><th scope="row">{name(label)}</th>{"".join(cells)}</tr>'


def _assumptions(report: Report) -> str:
    if report.diagnosis is None and report.trained.learned.result.certificate.kind == "least-squares":
        return paragraph(
            "the five assumptions of least squares were not checked, as the table is large; sx.diagnose does"
        )
    if report.diagnosis is None:
        return ""
    sheet = diagnosis_sheet(report.diagnosis)
    undrawn = tuple(entry for entry in sheet.entries if entry[0] not in DIAGNOSTIC_PANELS)
    sheet = replace(sheet, entries=undrawn)  # the others are told below their pictures
    return details("The five assumptions of least squares, checked on the rows", sheet_parts(sheet), opened=True)
