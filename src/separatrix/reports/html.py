"""A report as one HTML page: pure functions from the `Report` record to strings.

The module has the page's elements (text, tables, figures), its sections in reading order, and the style sheet. Text
from the data or the record is escaped by the elements and nowhere else. The page works in light and dark mode, on
phones, screens and paper; every text has a contrast of at least 4.5.
"""

from __future__ import annotations

import re
import shlex
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from typing import NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import counted
from separatrix.families.options import FAMILIES
from separatrix.inference.diagnosis import diagnosis_sheet
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.evaluation_curves import Estimate
from separatrix.inference.table import coefficient_sheet
from separatrix.model.train import Evaluation
from separatrix.rendering.html import LOOK
from separatrix.rendering.sheet import Grid, Sheet
from separatrix.reports.coefficients import kernel_sheet, largest_terms, measures_of, weight_sheet, with_interval
from separatrix.reports.pictures import NOT_XML, Picture
from separatrix.reports.plot.diagnostics import DIAGNOSTIC_PANELS
from separatrix.reports.report import Finding, Report, no_intervals
from separatrix.reports.text import KINDS, classes, kinds, question

LONG_TEXT = 500  # characters, above which a text is folded
QUOTED = re.compile(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
HIDDEN_OPTIONS = {"scales"}  # long lists
LONG_TABLE = 15  # rows, above which a table is folded
MOST_COEFFICIENTS = 2000  # in the table, over all outputs
LONG_LIST = 12  # lines, above which a list is folded
TITLES = {
    "exists": "A best predictor exists",
    "unique": "It is the only one: unique",
    "optimal": "It was found: optimal",
    "tested": "Its coefficients may be tested",
}
MOST_CLASSES = 25  # in a confusion matrix
PAIRS_SHOWN = 20  # confusions listed if there are more classes
DEPTH = 0.35  # opacity of a cell that has all rows of its class


def escaped(text: object) -> str:
    """Return a text as HTML that shows it verbatim."""
    return escape(NOT_XML.sub("\N{REPLACEMENT CHARACTER}", str(text)))


def name(text: object) -> str:
    """Return a name from the data, its direction of writing isolated by markup."""
    return f"<bdi>{escaped(text)}</bdi>"


def isolated(text: object) -> str:
    """Return a name from the data, its direction of writing isolated by Unicode marks."""
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"


def sentence(text: str) -> str:
    """Return a text with a capital and a full stop; quoted names keep their direction of writing."""
    whole = text.strip()
    whole = whole[:1].upper() + whole[1:] if whole[:1].isascii() else whole
    whole += "" if whole.endswith((".", "!", "?", ":", "…")) or not whole else "."
    parts = QUOTED.split(whole)
    return "".join(name(part) if place % 2 else escaped(part) for place, part in enumerate(parts))


def paragraph(text: str, kind: str = "") -> str:
    """Return one or more sentences as a paragraph."""
    return f"<p{_class(kind)}>{sentence(text)}</p>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def folded_if_long(lead: str, text: str) -> str:
    """Return a text after its lead as a paragraph, folded if it would fill a phone's screen."""
    if len(text) <= LONG_TEXT:
        return paragraph(f"{lead}: {text}")
    return details(f"{lead[:1].upper()}{lead[1:]}", paragraph(text))


def items(texts: Iterable[str]) -> str:
    """Return sentences as a list, an empty string for none."""
    listed = "".join(f"<li>{sentence(text)}</li>" for text in texts)
    return f"<ul>{listed}</ul>" if listed else ""


def code(text: str) -> str:
    """Return a command to copy."""
    return f"<pre><code>{escaped(text)}</code></pre>"


def details(summary: str, body: str, *, opened: bool = False) -> str:
    """Return a part that is unfolded by a click, and in print."""
    return f"<details{' open' if opened else ''}><summary>{escaped(summary)}</summary>{body}</details>"


def grid(table: Grid, kind: str = "") -> str:
    """Return a table that scrolls if it is wider than the page."""
    caption = f"<caption>{escaped(table.label)}</caption>" if table.label else ""
    heads = "".join(f'<th scope="col">{name(head)}</th>' for head in table.heads)
    body = "".join(_row(row) for row in table.rows)
    inner = f"<table{_class(kind)}>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return _scrolling(inner, escaped(table.label or "table"))


def _scrolling(table: str, label: str) -> str:
    return f'<div class="wide" role="region" tabindex="0" aria-label="{label}">{table}</div>'


def _row(cells: Sequence[str]) -> str:
    first, *rest = cells
    return f'<tr><th scope="row">{name(first)}</th>{"".join(f"<td>{name(cell)}</td>" for cell in rest)}</tr>'


def sheet_parts(sheet: Sheet) -> str:
    """Return a sheet: its title, grids, entries, sentences and numbered reasons."""
    entries = Grid(("", ""), sheet.entries)
    reasons = "".join(f"<li>{sentence(reason)}</li>" for reason in sheet.reasons)
    return (
        paragraph(sheet.title)
        + "".join(grid(each) for each in sheet.grids)
        + (grid(entries, "said") if sheet.entries else "")
        + items(sheet.lines)
        + (f"<ol>{reasons}</ol>" if reasons else "")
    )


def figure(picture: Picture) -> str:
    """Return a picture with its caption."""
    source = f"data:image/svg+xml;base64,{b64encode(picture.svg).decode()}"
    image = f'<img src="{source}" alt="{escaped(picture.alt)}">'
    return f"<figure>{image}<figcaption>{sentence(picture.caption)}</figcaption></figure>"


def figures(pictures: Sequence[Picture]) -> str:
    """Return pictures side by side if there is room."""
    return f'<div class="pictures">{"".join(map(figure, pictures))}</div>' if pictures else ""


def question_section(report: Report) -> str:
    """Return the question, the data and the model."""
    trained = report.trained
    model = trained.model
    rows = int(model.data.get("rows", report.table.n_rows))
    title = FAMILIES[model.estimator].title
    return (
        f'<p class="lead">{sentence(question(trained, isolated))}</p>'
        + paragraph(trained.target.reason)
        + f"<p>{name(title)} was fitted to {escaped(f'{rows:,}')} rows of {name(report.table.source)}."
        f" It predicts by {escaped(kinds(trained))}.</p>"
    )


def answer_section(report: Report) -> str:
    """Return the quality of the model in a sentence or two, and the four findings."""
    trained = report.trained
    evaluation, where = report.quality
    lead = f'<p class="lead">{_how_well(evaluation, where)}</p>'
    if trained.holdout is None:
        lead += paragraph(
            "these are the rows that it was fitted on, where a model does better than on others; --holdout 0.2"
            " or --cv 5 judges it on others",
            "soft",
        )
    badges = "".join(map(_finding, report.findings))
    status = folded_if_long("how the fit ended", trained.fitted.result.message)
    return f'{lead}<div class="answers">{badges}</div>{status}'


def _how_well(evaluation: Evaluation, where: str) -> str:
    if isinstance(evaluation, ClassifierEvaluation):
        share = f"{_percent(evaluation.accuracy)} of rows are predicted right"
        base = f"always the commonest class would get {100.0 * evaluation.baseline_accuracy:.4g} %"
        auc = with_interval(evaluation.auc)
        return sentence(f"{share}, {where}; {base}. Its scores rank the classes with AUC {auc}.")
    rmse, baseline = with_interval(evaluation.rmse), with_interval(Estimate(evaluation.spread))
    return sentence(
        f"R² is {with_interval(evaluation.r_squared)}, {where}: a prediction is off by {rmse} (root of the mean"
        f" square), where always the mean would be off by {baseline}."
    )


def _percent(share: Estimate) -> str:
    if share.value is None or share.lower is None or share.upper is None:
        return "–" if share.value is None else f"{100.0 * share.value:.4g} %"
    return f"{100.0 * share.value:.4g} % ({100.0 * share.lower:.4g} to {100.0 * share.upper:.4g} %)"


def _finding(finding: Finding) -> str:
    badge = f'<span class="badge {finding.word.replace(" ", "-")}">{escaped(finding.word)}</span>'
    evidence = items(finding.evidence) if len(finding.evidence) > 1 else paragraph("".join(finding.evidence))
    heading = f"<h3>{badge}{escaped(TITLES[finding.question])}</h3>"
    return f'<div class="answer" id="{finding.question}">{heading}{evidence}</div>'


def data_section(report: Report) -> str:
    """Return the rows, the columns used and left out, the missing cells, and every decision."""
    trained = report.trained
    model = trained.model
    rows = int(model.data.get("rows", report.table.n_rows))
    left = report.table.n_rows - rows
    overview = f"{rows:,} rows{classes(trained, isolated)}" + (f"; {counted(left, 'row')} left out" if left else "")
    omitted = [f"{column!r}: {reason}" for column, reason in model.encoding.omitted]
    own = {*model.encoding.decisions(), trained.target.reason}
    other = [decision for decision in trained.decisions if decision not in own]
    used = _folded(grid(_columns(report), "said columns"), len(model.encoding.columns), "columns used")
    parts = [
        paragraph(overview),
        _titled("Columns used", used),
        _titled("Columns left out", _list(omitted, "columns left out")),
        _titled("Missing cells", _list(trained.predictions.sentences, "columns with missing or odd cells")),
        _titled("Decisions", _list([*other, *model.encoding.notes, *report.table.notes], "decisions")),
    ]
    return "".join(parts)


def _columns(report: Report) -> Grid:
    encoding = report.trained.model.encoding
    missing = {column.name: column.empty + column.unfit for column in report.trained.predictions.reports}
    rows = tuple(
        (
            column.name,
            KINDS.get(column.kind, column.kind),
            f"{len(column.names):,}",
            f"{missing.get(column.name, 0):,}",
            column.decision,
        )
        for column in encoding.columns
    )
    return Grid(("column", "kind", "features", "missing cells", "decision"), rows)


def _titled(heading: str, body: str) -> str:
    return f"<h3>{escaped(heading)}</h3>{body}" if body else ""


def _folded(body: str, count: int, what: str) -> str:
    return details(f"{count:,} {what}", body) if count > LONG_LIST else body


def _list(sentences: Sequence[str], what: str) -> str:
    return _folded(items(sentences), len(sentences), what) if sentences else ""


def coefficient_section(report: Report) -> str:
    """Return the plot of coefficients, the reason if there are no intervals, and the table; of a kernel its support."""
    if report.trained.model.kernel is not None:
        return sheet_parts(kernel_sheet(report.trained.model))
    table = report.coefficients
    without = all(term.lower is None and term.upper is None for term in table.terms)
    reason = paragraph(f"there are no intervals: {no_intervals(report.trained)}") if without else ""
    forest = "" if report.pictures.forest is None else figure(report.pictures.forest)
    sheet = _sheet(report)
    rows = sum(len(grid.rows) for grid in sheet.grids)
    summary = f"The table: {counted(len(table.terms), 'coefficient')}"
    return reason + forest + details(summary, sheet_parts(sheet), opened=rows <= LONG_TABLE)


def _sheet(report: Report) -> Sheet:
    """Return the coefficients with inference or, if there is none, the weights."""
    model, table = report.trained.model, report.coefficients
    most = max(10, MOST_COEFFICIENTS // len(model.coef))
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


def quality_section(report: Report) -> str:
    """Return measures and plots; for a classifier the confusions, for least squares its assumptions."""
    evaluation, where = report.quality
    head = _measures(report) + figures(report.pictures.quality)
    if not isinstance(evaluation, ClassifierEvaluation):
        return head + _assumptions(report)
    uncalibrated = evaluation.log_loss.value is None
    reason = paragraph(f"there is no calibration: {evaluation.log_loss.absent}") if uncalibrated else ""
    return head + _confusions(evaluation, where) + reason


def _measures(report: Report) -> str:
    """Return the measures on the training rows and, beside them, on held-out rows, with intervals."""
    trained = report.trained
    evaluations = [trained.own] if trained.holdout is None else [trained.own, trained.holdout]
    measures = [tuple(measures_of(each)) for each in evaluations]
    rows = tuple((group[0][0], *(with_interval(value) for _, value in group)) for group in zip(*measures, strict=True))
    heads = ("", f"on its own {trained.own.rows:,} rows", "kept apart")[: 1 + len(evaluations)]
    absent = {f"{label}: no interval: {value.absent}" for each in measures for label, value in each if value.absent}
    if trained.training_description != "on its own rows":
        heads = ("", trained.training_description, *heads[2:])
    notes = [f"{100.0 * trained.own.level:g} % intervals in brackets", *sorted(absent)]
    if trained.holdout is not None:
        notes.append(f"kept apart: {trained.holdout_description}")
    elif trained.holdout_description:
        notes.append(f"interrupted before it was judged {trained.holdout_description}")
    return grid(Grid(heads, rows)) + "".join(paragraph(note, "soft") for note in notes)


def _confusions(evaluation: ClassifierEvaluation, where: str) -> str:
    """Return the confusion matrix or, with many classes, the commonest confusions."""
    heading, classes = f"<h3>{escaped(f'Confusions, {where}')}</h3>", evaluation.classes
    if len(classes) <= MOST_CLASSES:
        return heading + _confusion_matrix(evaluation)
    wrong = evaluation.confusion.copy()
    np.fill_diagonal(wrong, 0.0)
    places = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS_SHOWN]
    pairs = [tuple(map(int, np.unravel_index(place, wrong.shape))) for place in places if wrong.ravel()[place] > 0.0]
    rows = tuple((str(classes[a]), str(classes[b]), f"{wrong[a, b]:,.6g}") for a, b in pairs)
    label = f"The {len(rows)} commonest of {len(wrong):,} classes"
    return heading + grid(Grid(("is", "predicted", "rows"), rows, label))


def _confusion_matrix(evaluation: ClassifierEvaluation) -> str:
    heads = "".join(f'<th scope="col">{name(label)}</th>' for label in evaluation.classes)
    rows = zip(evaluation.classes, evaluation.confusion, strict=True)
    body = "".join(_confusion_row(label, row) for label, row in rows)
    table = f"<thead><tr><th>is ↓ predicted →</th>{heads}</tr></thead><tbody>{body}</tbody>"
    return _scrolling(f'<table class="confusion">{table}</table>', "confusion matrix")


def _confusion_row(label: object, row: Floats) -> str:
    total = float(row.sum()) or 1.0
    cells = (
        f'<td style="background: rgba(var(--tint), {DEPTH * float(count) / total:.3f})">{escaped(f"{count:,.6g}")}</td>'
        for count in row
    )
    return f'<tr><th scope="row">{name(label)}</th>{"".join(cells)}</tr>'


def _assumptions(report: Report) -> str:
    if report.diagnosis is None and report.trained.fitted.result.certificate.kind == "least-squares":
        return paragraph(
            "the five assumptions of least squares were not checked, as the table is large; sx.diagnose does"
        )
    if report.diagnosis is None:
        return ""
    sheet = diagnosis_sheet(report.diagnosis)
    undrawn = tuple(entry for entry in sheet.entries if entry[0] not in DIAGNOSTIC_PANELS)
    sheet = replace(sheet, entries=undrawn)  # the others are the captions of their plots
    return details("The five assumptions of least squares, checked on the rows", sheet_parts(sheet), opened=True)


def boundary_section(report: Report) -> str:
    """Return the decision boundary, or why there is none."""
    if report.pictures.boundary is None:
        return paragraph(f"no picture: {report.pictures.no_boundary}")
    return figure(report.pictures.boundary)


def convergence_section(report: Report) -> str:
    """Return the cost of the fit and its convergence."""
    result = report.trained.fitted.result
    work = f"{result.passes:,.6g} passes over the rows; objective {result.objective:.10g}"
    if not report.pictures.trace:
        return paragraph(f"{work}; it took one step, so that there is no trace to show")
    return paragraph(work) + figures(report.pictures.trace)


def reproduce_section(report: Report) -> str:
    """Return the command, the versions, the options and the digest of the data."""
    model = report.trained.model
    data = model.data
    versions = ", ".join(f"{name} {version}" for name, version in data.get("versions", {}).items())
    options = ", ".join(f"{name} = {value}" for name, value in model.options.items() if name not in HIDDEN_OPTIONS)
    facts = (
        ("table", report.table.source),
        ("rows", f"{data.get('rows', report.table.n_rows):,}"),
        ("digest of the encoded rows (SHA-256)", str(data.get("sha256", ""))),
        ("seed", str(data.get("seed", ""))),
        ("options", options or "none"),
        ("versions", versions),
    )
    again = paragraph("the same table and the same command make the same model")
    return code(report.command) + again + grid(Grid(("", ""), facts), "said")


def check_section(report: Report) -> str:
    """Return the commands that check the certificate from the data alone."""
    certificate = report.trained.fitted.result.certificate
    saved, model = _saved(report.command), "model.json"
    first = "" if saved else code(f"{report.command} --out {model}")
    verify = code(f"separatrix verify {shlex.quote(saved or model)} {shlex.quote(report.table.source)}")
    lead = paragraph(
        "the verdicts above rest on a certificate that is kept in the model file. It is checked from the data alone: no"
        " solver is asked, and nothing in the file is believed"
    )
    return lead + first + verify + folded_if_long(f"it claims ({certificate.kind})", certificate.claim)


def _saved(command: str) -> str:
    """Return the file that a command writes its model to, an empty string if none."""
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


SECTIONS = (
    ("question", "The question", question_section),
    ("answer", "The short answer", answer_section),
    ("data", "The data", data_section),
    ("coefficients", "Coefficients", coefficient_section),
    ("quality", "How well it does", quality_section),
    ("boundary", "The boundary", boundary_section),
    ("training", "How it was fitted", convergence_section),
    ("reproduce", "How to do it again", reproduce_section),
    ("check", "How to check it", check_section),
)


def render_report(report: Report) -> str:
    """Return the HTML file; a regression has no boundary section."""
    numbers = report.trained.model.classes is None
    sections = [Section(anchor, heading, render(report)) for anchor, heading, render in SECTIONS]
    shown = [each for each in sections if not (numbers and each.anchor == "boundary")]
    return render_page(report.title, report.table.source, shown)


class Section(NamedTuple):
    """A section of the page: anchor, heading, and body as HTML."""

    anchor: str
    heading: str
    body: str


def render_page(title: str, source: str, sections: Sequence[Section]) -> str:
    """Return the HTML file; `source` names the data."""
    links = "".join(f'<a href="#{each.anchor}">{escaped(each.heading)}</a> ' for each in sections)
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(title)}, {escaped(source)}</title><style>{LOOK.read_text(encoding='utf-8')}{STYLE}</style>"
    )
    main = "".join(_section(each) for each in sections)
    top = f'<header><h1>{escaped(title)}</h1><p class="soft">{name(source)}</p><nav>{links}</nav></header>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{top}\n<main>{main}</main></body></html>\n'


def _section(section: Section) -> str:
    return f'<section id="{section.anchor}"><h2>{escaped(section.heading)}</h2>\n{section.body}</section>\n'


STYLE = """
:root { --tint: 38, 109, 195; }
@media (prefers-color-scheme: dark) {
  :root { --tint: 78, 164, 247; }
  figure img { filter: invert(0.92) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 var(--sans); overflow-wrap: anywhere; }
h1, h2, .lead { font-family: var(--serif); }
h1 { font-size: 1.55rem; line-height: 1.25; margin: 0.6rem 0 0.3rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 0.6rem; padding-top: 0.7rem; border-top: 1px solid var(--hair); }
h3 { font-size: 1rem; margin: 1.4rem 0 0.4rem; }
p, ul { margin: 0.5rem 0; max-width: 46rem; }
ul { padding-left: 1.2rem; }
a { color: var(--link); }
nav { font-size: 0.9rem; color: var(--soft); }
nav a { margin-right: 0.9rem; white-space: nowrap; }
header p { margin: 0 0 0.4rem; }
.soft { color: var(--soft); font-size: 0.92rem; }
.lead { font-size: 1.12rem; }
.answers { display: grid; gap: 0.7rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 23rem), 1fr));
  padding: 0; margin: 1rem 0; }
.answer { background: var(--card); border: 1px solid var(--hair); border-radius: 0.5rem; padding: 0.7rem 0.9rem;
  min-width: 0; }
.answer h3 { margin: 0 0 0.2rem; }
.answer p, .answer ul { margin: 0.2rem 0 0; font-size: 0.92rem; }
.badge { display: inline-block; border: 2px solid; border-radius: 1rem; padding: 0 0.6rem; font-size: 0.85rem;
  font-weight: 700; margin-right: 0.4rem; }
.yes, .no { color: var(--proof); } .partly, .doubtful, .not-known { color: var(--soft); }
.wide { overflow-x: auto; max-width: 100%; margin: 0.7rem 0; }
.wide:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; font-weight: 600; padding: 0.3rem 0; }
th, td { padding: 0.22rem 0.65rem 0.22rem 0; text-align: right; vertical-align: top; white-space: nowrap;
  border-bottom: 1px solid var(--hair); white-space: nowrap; }
th[scope="row"], th:first-child { text-align: left; font-weight: 500; white-space: normal; min-width: 8rem;
  max-width: 18rem; overflow-wrap: anywhere; }
thead th { color: var(--soft); font-weight: 600; max-width: 12rem; overflow-wrap: break-word; white-space: normal; }
.said th { text-align: left; }
.said td { text-align: left; white-space: normal; min-width: 6rem; max-width: 30rem; overflow-wrap: anywhere; }
.columns td:last-child { min-width: 20rem; }
.confusion td { padding: 0.3rem 0.65rem; border: 1px solid var(--hair); }
.pictures { display: grid; gap: 1.2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
figure { margin: 0.6rem 0; max-width: 34rem; min-width: 0; }
figure img { width: 100%; height: auto; display: block; }
figcaption { font-size: 0.88rem; color: var(--soft); }
pre { background: var(--card); border: 1px solid var(--hair); border-radius: 0.4rem; padding: 0.6rem 0.8rem;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.88rem; }
summary { cursor: pointer; color: var(--link); padding: 0.25rem 0; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  h2 { break-after: avoid; }
  figure, .answer, tr { break-inside: avoid; }
  .wide { overflow: visible; }
  th, td { white-space: normal; }
  details::details-content { content-visibility: visible; height: auto; }
  .pictures { grid-template-columns: 1fr 1fr; }
}
"""
