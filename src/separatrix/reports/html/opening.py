"""The first sections: the question, the short answer with its verdicts, and the data."""

from __future__ import annotations

from collections.abc import Sequence

from separatrix.errors import counted
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.evaluation_curves import Estimate
from separatrix.model.learn import LEARNERS
from separatrix.model.train import Evaluation
from separatrix.rendering.sheet import Grid
from separatrix.reports.answers import Answer
from separatrix.reports.html.pieces import (
    details,
    folded_if_long,
    grid,
    isolated,
    items,
    name,
    paragraph,
    sentence,
    words,
)
from separatrix.reports.measures import with_interval
from separatrix.reports.report import Report
from separatrix.reports.trained_words import KINDS, classes, kinds, question

LONG_LIST = 12  # lines, above which a list is folded
TITLES = {
    "exists": "A best predictor exists",
    "unique": "It is the only one: unique",
    "optimal": "It was found: optimal",
    "tested": "Its coefficients may be tested",
}


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


def _answer(answer: Answer) -> str:
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
