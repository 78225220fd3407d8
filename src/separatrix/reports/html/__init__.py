"""A report as one page of HTML: pure functions from its record to strings."""

from separatrix.reports.html.closing import boundary_section, check_section, reproduce_section, way_section
from separatrix.reports.html.coefficients import coefficient_section
from separatrix.reports.html.opening import answer_section, data_section, question_section
from separatrix.reports.html.page import Section, render_page
from separatrix.reports.html.quality import quality_section
from separatrix.reports.report import Report

SECTIONS = (
    ("question", "The question", question_section),
    ("answer", "The short answer", answer_section),
    ("data", "The data", data_section),
    ("coefficients", "Coefficients", coefficient_section),
    ("quality", "How well it does", quality_section),
    ("boundary", "The boundary", boundary_section),
    ("training", "How it was fitted", way_section),
    ("reproduce", "How to do it again", reproduce_section),
    ("check", "How to check it", check_section),
)


def render_report(report: Report) -> str:
    """Return the page, whole."""
    numbers = report.trained.model.classes is None
    sections = [Section(anchor, heading, render(report)) for anchor, heading, render in SECTIONS]
    kept = [each for each in sections if not (numbers and each.anchor == "boundary")]
    return render_page(report.title, report.table.source, kept)
