"""The report of a trained model, one HTML page: its findings, tables and figures, which a template sets out.

Cost: some seconds of drawing, the encoding of a sample of the rows and, for least squares, of all rows and about ten
passes. Long tables and large samples are cut, and the page says so.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.errors import counted
from separatrix.files import write_atomically
from separatrix.inference.diagnosis import Diagnosis
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.evaluation_curves import Estimate
from separatrix.inference.fitted import RefusedInference
from separatrix.inference.table import InferenceTable
from separatrix.model.adopt import ARRAYS, with_rows
from separatrix.model.evaluate import Evaluation
from separatrix.model.file import model_to_dict
from separatrix.model.train import TrainedModel, evaluated_fit
from separatrix.rendering.html import LOOK, render_template
from separatrix.rendering.sheet import ABSENT, Grid, Sheet, digits, percent
from separatrix.reports import pictures, text
from separatrix.reports.effects import Forest, effect_sentence, make_forest, why_sentence
from separatrix.reports.findings import Finding, findings_of, no_intervals
from separatrix.reports.perceptron import mistake_bars, mistake_sentences, perceptron_notes
from separatrix.reports.plot.diagnostics import DIAGNOSTIC_PANELS
from separatrix.reports.scale import number_cell, p_cell
from separatrix.tables.table import Table, TableSource

HIDDEN_OPTIONS = {"scales"}  # long lists
LONG_TABLE = 14  # rows, above which a table of effects may go on to the next page
VERDICTS = {"exists": "Exists", "unique": "Unique", "optimal": "Optimal", "tested": "Testable"}
MOST_CLASSES = 25  # in a confusion matrix
DARKEST = 35.0  # percent of the colour of a cell with all rows
LEADING = 3  # diverging coefficients named at the top
PAIRS_SHOWN = 20  # confusions listed if there are more classes


@dataclass(frozen=True, eq=False)
class Report:
    """The content of the page; without estimates `forest` is None, for the reason `no_boundary` `boundary` is."""

    trained: TrainedModel
    table: Table | TableSource
    command: str
    findings: tuple[Finding, ...]
    coefficients: InferenceTable
    diagnosis: Diagnosis | None
    forest: Forest | None
    profiles: tuple[pictures.Picture, ...]
    quality: tuple[pictures.Picture, ...]
    trace: tuple[pictures.Picture, ...]
    boundary: pictures.Picture | None
    no_boundary: str


def make_report(trained: TrainedModel, table: Table | TableSource, command: str) -> Report:
    """Return the report of a trained model, its figures drawn."""
    influence = pictures.influence_of(trained, table)
    diagnosis = None if influence is None else influence[1]
    evaluation, where = quality_of(trained)
    with pictures.drawing():
        rows, reason = pictures.sample_rows(trained, table), pictures.no_boundary(trained)
        if isinstance(evaluation, ClassifierEvaluation):
            quality = tuple(pictures.classifier_pictures(evaluation, where))
        else:
            diagnostics = () if influence is None else pictures.diagnostic_pictures(*influence)
            quality = (pictures.prediction_picture(trained), *diagnostics)
        forest = make_forest(trained, table, rows)
        return Report(
            trained=trained,
            table=table,
            command=command,
            findings=findings_of(trained, diagnosis),
            coefficients=pictures.coefficient_table(trained),
            diagnosis=diagnosis,
            forest=forest,
            profiles=tuple(_profiles(forest)),
            quality=quality,
            trace=tuple(pictures.trace_pictures(trained)),
            boundary=None if reason else pictures.boundary_picture(trained, rows),
            no_boundary=reason,
        )


def _profiles(forest: Forest | None) -> Iterator[pictures.Picture]:
    """Draw the curves of coefficients without a finite estimate."""
    for effect in [] if forest is None else forest.diverging:
        if effect.curve is not None:
            name, curve = effect.term.name, effect.curve
            yield pictures.profile_picture(name, curve.values, curve.logliks, curve.supremum, curve.limit)


def quality_of(trained: TrainedModel) -> tuple[Evaluation, str]:
    """Return the evaluation on held-out rows if there are any, else on training rows, and which rows these are."""
    if trained.holdout is not None:
        return trained.holdout, trained.holdout_description
    return trained.own, trained.training_description


def write_report(trained: TrainedModel, table: Table | TableSource, path: str, command: str) -> None:
    """Write the HTML report of a model trained on a table; `command` reproduces the model."""
    write_atomically(path, render_report(make_report(trained, table, command)))


def report(model: Any, X: Any, y: Any = None, *, path: str | Path) -> None:
    """Write the HTML report of a model on the rows that it was fitted on.

    Parameters
    ----------
    model : what `sx.train` returned, a fitted estimator, or a model by formula
    X : the table, frame or path; for an estimator the rows; for a formula its data
    y : targets of an estimator
    path : the file to write
    """
    with with_rows(model, X, y) as (own, source):
        write_report(evaluated_fit(own, source), source, str(path), f"sx.report(model, path={str(path)!r})")


def trained_dict(trained: TrainedModel) -> dict[str, Any]:
    """Return a trained model as JSON values: a superset of the model file, so that it can be saved as one."""
    result = trained.fitted.result
    overlap = {} if result.overlap is None else {"overlap": result.overlap.to_dict()}
    return {
        **model_to_dict(trained.model),
        "decisions": list(trained.decisions),
        "evaluation": {
            "own": trained.own.to_dict(),
            "apart": None if trained.holdout is None else trained.holdout.to_dict(),
            "apart_words": trained.holdout_description,
        },
        "work": {"passes": float(result.passes), "seconds": float(result.seconds), "objective": result.objective},
        **overlap,
    }


def render_report(report: Report) -> str:
    """Return the HTML file."""
    trained, command = report.trained, report.command
    model, result, source = trained.model, trained.fitted.result, report.table.source
    (evaluation, where), (answer, facts) = quality_of(trained), _answer(trained)
    used, saved = int(model.data.get("rows", report.table.n_rows)), _saved(command)
    with_ends = any(term.lower is not None or term.upper is not None for term in report.coefficients.terms)
    perceptron = model.estimator == "perceptron"
    return render_template(
        "reports/page.html.j2",
        look=LOOK.read_text(encoding="utf-8"),
        report=report,
        title=text.model_title(model),
        rows=used,
        target=model.target,
        answer=answer,
        lead=_lead(report),
        facts=facts,
        flattering="" if trained.holdout_description else text.FLATTERING,
        verdicts=[(each, VERDICTS[each.question], _glyph(each)) for each in report.findings],
        forest=report.forest,
        long_table=LONG_TABLE,
        heading=_heading(report),
        reading=_reading(report),
        number=number_cell,
        p=p_cell,
        why=why_sentence,
        level=f"{100.0 * report.coefficients.level:g}",
        coefficients=_coefficients(report),
        no_intervals="" if with_ends else f"there are no intervals: {no_intervals(trained)}",
        measures=_measures(trained),
        quality=_quality(trained),
        confusion=_confusion(evaluation) if isinstance(evaluation, ClassifierEvaluation) else None,
        where=where,
        assumptions=_assumptions(report),
        classes=text.classes(trained, repr),
        left_out=report.table.n_rows - used,
        columns=_columns(report),
        decisions=[*text.other_decisions(trained), *model.encoding.notes, *report.table.notes],
        bars=mistake_bars(trained) if perceptron else [],
        mistakes=mistake_sentences(trained) if perceptron else [],
        notes=perceptron_notes(trained) if perceptron else [],
        work=f"{result.passes:,.6g} passes over the rows; objective {result.objective:.10g}",
        provenance=_provenance(report),
        options=", ".join(f"{name} = {value}" for name, value in model.options.items() if name not in HIDDEN_OPTIONS),
        save="" if saved else f"{command} --out model.json",
        verify=f"separatrix verify {shlex.quote(saved or 'model.json')} {shlex.quote(source)}",
    )


def _lead(report: Report) -> list[str]:
    """Return the model, its target, and the columns that matter."""
    trained, forest = report.trained, report.forest
    model = trained.model
    used = int(model.data.get("rows", report.table.n_rows))
    columns, kinds = text.columns_of(model), text.kinds(trained)
    columns += f" ({kinds})" if "," in kinds else ""
    source = "" if report.table.source == ARRAYS else f" of {report.table.source}"
    what = f"{text.model_title(model)}, fitted to {counted(used, 'row')}{source} with {columns}"
    what += f" and a penalty of strength {trained.fitted.strength:.3g}" if trained.fitted.strength else ""
    effects = ""
    if forest is not None:
        event = repr((model.classes or ("",))[-1])
        effects = effect_sentence(forest, event, report.coefficients.level)
    left = report.table.n_rows - used
    missing = (
        f"{left:,} of {counted(report.table.n_rows, 'row')} {'is' if left == 1 else 'are'} left out" if left else ""
    )
    absent = [f"{each.term.name!r} has no finite estimate" for each in (forest.diverging if forest else [])]
    return [each for each in (what, effects, *absent[:LEADING], missing) if each]


def _heading(report: Report) -> str:
    """Return the meaning of the coefficients, as a title."""
    forest, model = report.forest, report.trained.model
    if model.kernel is not None:
        vectors = sum(each.coef.shape[1] for each in model.kernel.machines)
        return f"The predictor has {counted(vectors, 'support vector')} and no coefficients"
    if forest is None:
        return "No coefficient has an estimate" if model.encoding.columns else "The intercept is the only coefficient"
    shown = len({effect.term.name for effect in forest.effects})
    which = f"the {shown} largest of {forest.total:,} are shown" if shown < forest.total else ""
    if not forest.tested:
        return "; ".join(filter(None, ["The coefficients have no standard errors", which]))
    null = int(forest.ratios)
    told = sum(effect.side != 0 for effect in forest.effects)
    word = counted(len(forest.effects), forest.unit)
    some = f"{told:,} of {word} differ from {null}"
    if forest.diverging:
        some += f"; {len(forest.diverging):,} {'has' if len(forest.diverging) == 1 else 'have'} no finite estimate"
    return "; ".join(filter(None, [some, which]))


def _reading(report: Report) -> list[str]:
    """Return how the table of the forest is read."""
    forest, model = report.forest, report.trained.model
    if forest is None:
        return []
    of = "changes of the prediction" if model.classes is None else "changes of the score"
    if forest.ratios:
        of = "odds ratios of " + (repr((model.classes or ("",))[-1]) if len(model.coef) == 1 else "each class")
    units = [effect.unit for effect in forest.effects]
    scales = {
        "per standard deviation (SD) of a number": any(unit.endswith("(1 SD)") for unit in units),
        "for a level against its reference level": any("against " in unit for unit in units),
        "per unit of a word's tf-idf weight": "" in units,
    }
    undrawn = [f"{forest.undrawn:,} more classes are not drawn"] if forest.undrawn else []
    marks = f"filled: the {100.0 * report.coefficients.level:g} % CI excludes {int(forest.ratios)}; hollow: it does not"
    meaning = ", ".join([of, *(scale for scale, used in scales.items() if used), "in the order of the model"])
    return [meaning, marks if forest.tested else no_intervals(report.trained), *undrawn]


def _quality(trained: TrainedModel) -> str:
    """Return how well the model predicts, as a title."""
    evaluation, _ = quality_of(trained)
    rows = "training rows" if trained.holdout is None else "held-out rows"
    if not isinstance(evaluation, ClassifierEvaluation):
        return (
            f"On {evaluation.rows:,} {rows} predictions are off by {digits(evaluation.rmse.value)} (root mean square)"
        )
    correct = float(np.trace(evaluation.confusion))
    return f"{correct:,.6g} of {evaluation.confusion.sum():,.6g} {rows} are predicted correctly"


def _answer(trained: TrainedModel) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the end of the title, after the target's name, and facts: measure, value and interpretation."""
    rows = "training rows" if trained.holdout is None else "held-out rows"
    evaluation = quality_of(trained)[0]
    level = evaluation.level
    size = "Training rows", f"{int(trained.model.data.get('rows', 0)):,}", text.classes(trained, repr)
    if not isinstance(evaluation, ClassifierEvaluation):
        fit, error = evaluation.r_squared, evaluation.rmse
        spread = f"{_interval(error, level)}standard deviation of the target {digits(evaluation.spread)}"
        first = f"R², {rows}", digits(fit.value), f"{_interval(fit, level)}the mean alone has 0"
        second = f"Root-mean-square error, {rows}", digits(error.value), spread
        return f"is predicted with an R² of {digits(fit.value)} on {rows}", [first, second, size]
    accuracy, auc = evaluation.accuracy, evaluation.auc
    baseline = _percent(evaluation.baseline_accuracy)
    correct, interval = _percent(accuracy.value), _interval(accuracy, level, share=True)
    first = f"Correct predictions, {rows}", correct, f"{interval}majority-class baseline {baseline}"
    second = f"Area under the ROC curve, {rows}", digits(auc.value), f"{_interval(auc, level)}chance is 0.5"
    if trained.model.estimator == "perceptron" and len(evaluation.classes) == 2:
        mistakes = f"{int(trained.fitted.result.facts['updates']):,}"
        second = "Mistakes in learning", mistakes, mistake_sentences(trained)[0]
    return f"is predicted correctly for {correct} of {rows}; the majority-class baseline is {baseline}", [
        first,
        second,
        size,
    ]


def _interval(estimate: Estimate, level: float, *, share: bool = False) -> str:
    if estimate.lower is None or estimate.upper is None:
        return ""
    number = _percent if share else digits
    return f"{100.0 * level:g} % CI {number(estimate.lower)} to {number(estimate.upper)}; "


def _percent(share: float | None) -> str:
    return ABSENT if share is None else percent(share)


def _glyph(finding: Finding) -> str:
    if finding.word in {"partly", "doubtful"}:
        return "arrow" if finding.proved else "half"
    return {"yes": "check", "no": "arrow" if finding.proved else "bar"}.get(finding.word, "ring")


def _coefficients(report: Report) -> Sheet:
    """Return the coefficients with inference or, if there is none, the weights; of a kernel its support vectors."""
    model, table = report.trained.model, report.coefficients
    most = max(10, text.MOST_REPORTED // len(model.coef)) if model.kernel is None else None
    if model.kernel is not None or all(term.standard_error is None and term.lower is None for term in table.terms):
        sheet = text.weight_sheet(model, most)
        return replace(sheet, lines=tuple(line for line in sheet.lines if line != model.no_covariance))
    return text.coefficient_sheet(model, table, most)


def _measures(trained: TrainedModel) -> tuple[Grid, list[str]]:
    """Return the measures, and notes on their rows and on absent intervals."""
    table, notes = text.measure_grid(trained)
    evaluations = [trained.own] if trained.holdout is None else [trained.own, trained.holdout]
    measures = [measure for each in evaluations for measure in text.measures_of(each)]
    reasons: dict[str, list[str]] = {}
    for label, value in measures:
        if value.absent:
            reasons.setdefault(value.absent, []).append(label)
    absent = [f"{', '.join(labels)}: no interval: {reason}" for reason, labels in reasons.items()]
    evaluation, _ = quality_of(trained)
    if isinstance(evaluation, ClassifierEvaluation) and evaluation.log_loss.value is None:
        absent.append(f"there is no calibration: {evaluation.log_loss.absent}")
    return table, [*notes, *absent]


def _confusion(evaluation: ClassifierEvaluation) -> tuple[Grid, Sequence[Sequence[str]] | None]:
    """Return the confusion matrix and its shares of each row or, with many classes, the commonest confusions."""
    labels, counts = evaluation.classes, evaluation.confusion
    if len(labels) <= MOST_CLASSES:
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        rows = tuple(
            (str(label), *(f"{count:,.6g}" for count in row)) for label, row in zip(labels, counts, strict=True)
        )
        heads = ("actual", *(f"predicted {label}" for label in labels))
        return Grid(heads, rows), [[f"{DARKEST * share:.1f}%" for share in row] for row in shares]
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0.0)
    places = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS_SHOWN]
    pairs = [divmod(int(place), len(wrong)) for place in places if wrong.ravel()[place] > 0.0]
    rows = tuple((str(labels[a]), str(labels[b]), f"{wrong[a, b]:,.6g}") for a, b in pairs)
    return Grid(("actual", "predicted", "rows"), rows, f"The {len(rows)} commonest of {len(wrong):,} classes"), None


def _assumptions(report: Report) -> Sheet | str:
    """Return the assumptions of least squares that no figure shows, or why they were not checked."""
    if report.diagnosis is not None:
        sheet = report.diagnosis.sheet()
        return replace(sheet, entries=tuple(entry for entry in sheet.entries if entry[0] not in DIAGNOSTIC_PANELS))
    fitted = report.trained.fitted
    if isinstance(fitted.inference, RefusedInference) and fitted.result.certificate.kind == "least-squares":
        return f"the assumptions of least squares are not checked: {fitted.inference.reason}"
    large = fitted.result.certificate.kind == "least-squares"
    return "the table is too large to check the assumptions of least squares here; use sx.diagnose" if large else ""


def _columns(report: Report) -> Grid:
    missing = {column.name: column.empty + column.unfit for column in report.trained.predictions.reports}
    rows = tuple(
        (
            column.name,
            text.KINDS.get(column.kind, column.kind),
            f"{len(column.names):,}",
            f"{missing.get(column.name, 0):,}",
            column.decision,
        )
        for column in report.trained.model.encoding.columns
    )
    return Grid(("column", "read as", "features", "missing", "decision"), rows)


def _provenance(report: Report) -> list[tuple[str, str]]:
    model = report.trained.model
    data: Any = model.data
    return [
        ("Table", report.table.source),
        ("Rows", f"{report.table.n_rows:,} read, {data.get('rows', report.table.n_rows):,} used"),
        ("Digest of the encoded rows", f"sha256 {data.get('sha256', '')}"),
        ("Seed", str(data.get("seed", ""))),
        ("Software", ", ".join(f"{name} {version}" for name, version in data.get("versions", {}).items())),
    ]


def _saved(command: str) -> str:
    """Return the file that a command writes its model to, an empty string if none."""
    try:
        parts = shlex.split(command)
    except ValueError:
        return ""
    for part, following in zip(parts, [*parts[1:], ""], strict=True):
        if part.startswith("--out="):
            return part.removeprefix("--out=")
        if part == "--out":
            return following
    return ""
