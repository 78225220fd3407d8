"""The last sections: the way of the fit, the boundary, how to do it again, and how to check it."""

from __future__ import annotations

import shlex

from separatrix.rendering.sheet import Grid
from separatrix.reports.html.pieces import code, figure, figures, folded_if_long, grid, paragraph
from separatrix.reports.report import Report

UNTOLD = {"scales"}  # options that are long lists


def way_section(report: Report) -> str:
    """Return how the fit went: what it cost and, step by step, where it was."""
    result = report.trained.learned.result
    work = f"{result.passes:,.6g} passes over the rows; objective {result.objective:.10g}"
    if not report.pictures.trace:
        return paragraph(f"{work}; it took one step, so that there is no trace to show")
    return paragraph(work) + figures(report.pictures.trace)


def boundary_section(report: Report) -> str:
    """Return the boundary, or why there is none."""
    if report.pictures.boundary is None:
        return paragraph(f"no picture: {report.pictures.no_boundary}")
    return figure(report.pictures.boundary)


def reproduce_section(report: Report) -> str:
    """Return the command, the versions, the options and the digest of the data."""
    model = report.trained.model
    data = model.data
    versions = ", ".join(f"{name} {version}" for name, version in data.get("versions", {}).items())
    options = ", ".join(f"{name} = {value}" for name, value in model.options.items() if name not in UNTOLD)
    facts = [
        ("table", report.table.source),
        ("rows", f"{data.get('rows', report.table.n_rows):,}"),
        ("digest of the encoded rows (SHA-256)", str(data.get("sha256", ""))),
        ("seed", str(data.get("seed", ""))),
        ("options", options or "none"),
        ("versions", versions),
    ]
    table = Grid(("", ""), tuple((word, said) for word, said in facts))
    again = paragraph("the same table and the same command make the same model")
    return code(report.command) + again + grid(table, "said")


def check_section(report: Report) -> str:
    """Return how anyone may check the certificate from the data alone."""
    certificate = report.trained.learned.result.certificate
    saved, model = _saved(report.command), "model.json"
    first = "" if saved else code(f"{report.command} --out {model}")
    verify = code(f"separatrix verify {shlex.quote(saved or model)} {shlex.quote(report.table.source)}")
    words = (
        "the verdicts above rest on a certificate that is kept in the model file. It is checked from the data alone: no"
        " solver is asked, and nothing in the file is believed"
    )
    return paragraph(words) + first + verify + folded_if_long(f"it claims ({certificate.kind})", certificate.claim)


def _saved(command: str) -> str:
    """Return the file that a command writes its model to, nothing if it writes none."""
    try:
        parts = shlex.split(command)
    except ValueError:
        return ""
    for place, part in enumerate(parts):
        if part.startswith("--out="):
            return part.removeprefix("--out=")
        if part == "--out" and place + 1 < len(parts):
            return parts[place + 1]
    return ""
