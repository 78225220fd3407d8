"""Pieces of a page, as strings of HTML; whatever comes from the data or a record is escaped here, and only here.

The last sections: the way of the fit, the boundary, how to do it again, and how to check it.

The section of coefficients: the forest, the reason where there are no intervals, and the whole table.

The first sections: the question, the short answer with its verdicts, and the data.

The look of a page: light and dark, on phone, screen and paper; every text has a contrast of 4.5 or more.

A page of sections: a title, links to the sections, the sections.

The section that says how well a model does: measures, curves, confusions; of least squares its assumptions.

A report as one page of HTML: pure functions from its record to strings.
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
from separatrix.inference.diagnosis import diagnosis_sheet
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.evaluation_curves import Estimate
from separatrix.inference.table import coefficient_sheet
from separatrix.model.learn import LEARNERS
from separatrix.model.train import Evaluation
from separatrix.rendering.sheet import Grid, Sheet
from separatrix.reports.coefficients import largest_terms, measures_of, weight_sheet, with_interval
from separatrix.reports.pictures import UNFIT, Picture
from separatrix.reports.plot.diagnostics import DIAGNOSTIC_PANELS
from separatrix.reports.report import Finding, Report, no_intervals
from separatrix.reports.text import KINDS, classes, kinds, question

LONG_TEXT = 500  # letters
QUOTED = re.compile(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
UNTOLD = {"scales"}  # options that are long lists
LONG_TABLE = 15  # rows, above which a table is folded
MOST = 2000  # coefficients of all scores in the table
LONG_LIST = 12  # lines, above which a list is folded
TITLES = {
    "exists": "A best predictor exists",
    "unique": "It is the only one: unique",
    "optimal": "It was found: optimal",
    "tested": "Its coefficients may be tested",
}
MOST_CLASSES = 25  # of a confusion matrix
PAIRS = 20  # confusions listed where there are more classes
DEPTH = 0.35  # of the tint of a cell that has all rows of its class


def words(text: object) -> str:
    """Return a text as HTML that shows it as it is."""
    return escape(UNFIT.sub("\N{REPLACEMENT CHARACTER}", str(text)))


def name(text: object) -> str:
    """Return a name from the data: its direction of writing stays its own."""
    return f"<bdi>{words(text)}</bdi>"


def isolated(text: object) -> str:
    """Return a name in the marks that keep its direction of writing inside a longer text."""
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"


def sentence(text: str) -> str:
    """Return a sentence with a capital and a full stop; names in quotes keep their direction of writing."""
    whole = text.strip()
    whole = whole[:1].upper() + whole[1:] if whole[:1].isascii() else whole
    whole += "" if whole.endswith((".", "!", "?", ":", "…")) or not whole else "."
    parts = QUOTED.split(whole)
    return "".join(name(part) if place % 2 else words(part) for place, part in enumerate(parts))


def paragraph(text: str, kind: str = "") -> str:
    """Return a sentence or more as a paragraph."""
    look = f' class="{kind}"' if kind else ""
    return f"<p{look}>{sentence(text)}</p>"


def folded_if_long(lead: str, text: str) -> str:
    """Return a text after its lead as a paragraph, folded where it would fill a phone's screen."""
    if len(text) <= LONG_TEXT:
        return paragraph(f"{lead}: {text}")
    return details(f"{lead[:1].upper()}{lead[1:]}", paragraph(text))


def items(texts: Iterable[str]) -> str:
    """Return sentences as a list; nothing for none."""
    listed = "".join(f"<li>{sentence(text)}</li>" for text in texts)
    return f"<ul>{listed}</ul>" if listed else ""


def code(text: str) -> str:
    """Return a command to copy."""
    return f"<pre><code>{words(text)}</code></pre>"


def details(summary: str, body: str, *, opened: bool = False) -> str:
    """Return a part that opens at a click, and in print."""
    return f"<details{' open' if opened else ''}><summary>{words(summary)}</summary>{body}</details>"


def grid(table: Grid, kind: str = "") -> str:
    """Return a table that scrolls in a box of its own where it is wider than the page."""
    caption = f"<caption>{words(table.label)}</caption>" if table.label else ""
    heads = "".join(f'<th scope="col">{name(head)}</th>' for head in table.heads)
    body = "".join(_row(row) for row in table.rows)
    look = f' class="{kind}"' if kind else ""
    inside = f"<table{look}>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    label = words(table.label or "table")
    return f'<div class="wide" role="region" tabindex="0" aria-label="{label}">{inside}</div>'


def _row(cells: Sequence[str]) -> str:
    first, *rest = cells
    return f'<tr><th scope="row">{name(first)}</th>{"".join(f"<td>{name(cell)}</td>" for cell in rest)}</tr>'


def sheet_parts(sheet: Sheet) -> str:
    """Return a sheet: its title, its grids, its entries, sentences, and reasons by their numbers."""
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
    """Return a picture with its words."""
    source = f"data:image/svg+xml;base64,{b64encode(picture.svg).decode()}"
    image = f'<img src="{source}" alt="{words(picture.alt)}">'
    return f"<figure>{image}<figcaption>{sentence(picture.caption)}</figcaption></figure>"


def figures(pictures: Sequence[Picture]) -> str:
    """Return pictures beside each other where there is room."""
    inside = "".join(map(figure, pictures))
    return f'<div class="pictures">{inside}</div>' if pictures else ""


def question_section(report: Report) -> str:
    """Return what was asked, of which rows, and what answers it."""
    trained = report.trained
    model = trained.model
    rows = int(model.data.get("rows", report.table.n_rows))
    title = LEARNERS[model.estimator].title
    return (
        f'<p class="lead">{sentence(question(trained, isolated))}</p>'
        + paragraph(trained.goal.reason)
        + f"<p>{name(title)} was fitted to {words(f'{rows:,}')} rows of {name(report.table.source)}."
        f" It predicts by {words(kinds(trained))}.</p>"
    )


def answer_section(report: Report) -> str:
    """Return how well the model does, in a sentence or two, and the four verdicts."""
    trained = report.trained
    found, where = report.judged
    said = f'<p class="lead">{_how_well(found, where)}</p>'
    if trained.apart is None:
        said += paragraph(
            "these are the rows that it was fitted on, where a model does better than on others; --holdout 0.2"
            " or --cv 5 judges it on others",
            "soft",
        )
    badges = "".join(map(_answer, report.answers))
    status = folded_if_long("how the fit ended", trained.learned.result.message)
    return f'{said}<div class="answers">{badges}</div>{status}'


def _how_well(found: Evaluation, where: str) -> str:
    if isinstance(found, ClassifierEvaluation):
        share = f"{_percent(found.accuracy)} of rows are predicted right"
        base = f"always the commonest class would get {100.0 * found.baseline_accuracy:.4g} %"
        return sentence(f"{share}, {where}; {base}. Its scores rank the classes with AUC {with_interval(found.auc)}.")
    off, mean = with_interval(found.rmse), with_interval(Estimate(found.spread))
    return sentence(
        f"R² is {with_interval(found.r_squared)}, {where}: a prediction is off by {off} (root of the mean square),"
        f" where always the mean would be off by {mean}."
    )


def _percent(share: Estimate) -> str:
    if share.value is None or share.lower is None or share.upper is None:
        return "–" if share.value is None else f"{100.0 * share.value:.4g} %"
    return f"{100.0 * share.value:.4g} % ({100.0 * share.lower:.4g} to {100.0 * share.upper:.4g} %)"


def _answer(answer: Finding) -> str:
    kind = answer.word.replace(" ", "-")
    badge = f'<span class="badge {kind}">{words(answer.word)}</span>'
    evidence = items(answer.evidence) if len(answer.evidence) > 1 else paragraph("".join(answer.evidence))
    return (
        f'<div class="answer" id="{answer.question}"><h3>{badge}{words(TITLES[answer.question])}</h3>{evidence}</div>'
    )


def data_section(report: Report) -> str:
    """Return the rows, the columns used and left out, what is missing, and every decision."""
    trained = report.trained
    model = trained.model
    rows = int(model.data.get("rows", report.table.n_rows))
    left = report.table.n_rows - rows
    told = f"{rows:,} rows{classes(trained, isolated)}" + (f"; {counted(left, 'row')} left out" if left else "")
    omitted = [f"{column!r}: {reason}" for column, reason in model.encoding.omitted]
    own = {*model.encoding.decisions(), trained.goal.reason}
    other = [decision for decision in trained.decisions if decision not in own]
    used = _folded(grid(_columns(report), "said columns"), len(model.encoding.columns), "columns used")
    parts = [
        paragraph(told),
        _titled("Columns used", used),
        _titled("Columns left out", _list(omitted, "columns left out")),
        _titled("Missing cells", _list(trained.predictions.sentences, "columns with missing or odd cells")),
        _titled("Decisions", _list([*other, *model.encoding.notes, *report.table.notes], "decisions")),
    ]
    return "".join(parts)


def _columns(report: Report) -> Grid:
    encoding = report.trained.model.encoding
    missing = {found.name: found.empty + found.unfit for found in report.trained.predictions.reports}
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
    return f"<h3>{words(heading)}</h3>{body}" if body else ""


def _folded(body: str, count: int, what: str) -> str:
    return details(f"{count:,} {what}", body) if count > LONG_LIST else body


def _list(said: Sequence[str], what: str) -> str:
    return _folded(items(said), len(said), what) if said else ""


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


def boundary_section(report: Report) -> str:
    """Return the boundary, or why there is none."""
    if report.pictures.boundary is None:
        return paragraph(f"no picture: {report.pictures.no_boundary}")
    return figure(report.pictures.boundary)


def convergence_section(report: Report) -> str:
    """Return how the fit went: what it cost and, step by step, where it was."""
    result = report.trained.learned.result
    work = f"{result.passes:,.6g} passes over the rows; objective {result.objective:.10g}"
    if not report.pictures.trace:
        return paragraph(f"{work}; it took one step, so that there is no trace to show")
    return paragraph(work) + figures(report.pictures.trace)


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
    """Return the page, whole."""
    numbers = report.trained.model.classes is None
    sections = [Section(anchor, heading, render(report)) for anchor, heading, render in SECTIONS]
    kept = [each for each in sections if not (numbers and each.anchor == "boundary")]
    return render_page(report.title, report.table.source, kept)


class Section(NamedTuple):
    """A part of the page: its anchor, its heading, and its body as HTML."""

    anchor: str
    heading: str
    body: str


def render_page(title: str, source: str, sections: Sequence[Section]) -> str:
    """Return the whole file; `source` is where the data came from."""
    links = "".join(f'<a href="#{each.anchor}">{words(each.heading)}</a> ' for each in sections)
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{words(title)}, {words(source)}</title><style>{STYLE}</style>"
    )
    main = "".join(_section(each) for each in sections)
    top = f'<header><h1>{words(title)}</h1><p class="soft">{name(source)}</p><nav>{links}</nav></header>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{top}\n<main>{main}</main></body></html>\n'


def _section(section: Section) -> str:
    return f'<section id="{section.anchor}"><h2>{words(section.heading)}</h2>\n{section.body}</section>\n'


STYLE = """
:root { color-scheme: light dark; --ink: #1c2127; --soft: #545d68; --page: #ffffff; --box: #f4f6f8; --line: #d4dae0;
  --link: #00588a; --yes: #0b6b4b; --no: #a33a00; --unknown: #545d68; --tint: 38, 109, 195; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7eaee; --soft: #aab4bf; --page: #14181c; --box: #1e242a; --line: #3a434d;
    --link: #7cc4f0; --yes: #5fd0a5; --no: #ff9d6b; --unknown: #aab4bf; --tint: 78, 164, 247; }
  figure img { filter: invert(0.92) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem 1rem 4rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.55rem; line-height: 1.25; margin: 0.6rem 0 0.3rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 0.6rem; padding-top: 0.7rem; border-top: 1px solid var(--line); }
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
.answer { background: var(--box); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.7rem 0.9rem;
  min-width: 0; }
.answer h3 { margin: 0 0 0.2rem; }
.answer p, .answer ul { margin: 0.2rem 0 0; font-size: 0.92rem; }
.badge { display: inline-block; border: 2px solid; border-radius: 1rem; padding: 0 0.6rem; font-size: 0.85rem;
  font-weight: 700; margin-right: 0.4rem; }
.yes { color: var(--yes); } .no { color: var(--no); } .partly, .doubtful, .not-known { color: var(--unknown); }
.wide { overflow-x: auto; max-width: 100%; margin: 0.7rem 0; }
.wide:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: left; font-weight: 600; padding: 0.3rem 0; }
th, td { padding: 0.22rem 0.65rem 0.22rem 0; text-align: right; vertical-align: top; white-space: nowrap;
  border-bottom: 1px solid var(--line); white-space: nowrap; }
th[scope="row"], th:first-child { text-align: left; font-weight: 500; white-space: normal; min-width: 8rem;
  max-width: 18rem; overflow-wrap: anywhere; }
thead th { color: var(--soft); font-weight: 600; max-width: 12rem; overflow-wrap: break-word; white-space: normal; }
.said th { text-align: left; }
.said td { text-align: left; white-space: normal; min-width: 6rem; max-width: 30rem; overflow-wrap: anywhere; }
.columns td:last-child { min-width: 20rem; }
.confusion td { padding: 0.3rem 0.65rem; border: 1px solid var(--line); }
.pictures { display: grid; gap: 1.2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
figure { margin: 0.6rem 0; max-width: 34rem; min-width: 0; }
figure img { width: 100%; height: auto; display: block; }
figcaption { font-size: 0.88rem; color: var(--soft); }
pre { background: var(--box); border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.6rem 0.8rem;
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
