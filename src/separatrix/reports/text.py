"""A trained model as one page of text: the question, the data, the verdicts, the quality, the coefficients.

The sentences and tables are shared with the HTML report. Coefficients are in the order of the model. Long lists are cut
to the first ones, never by size or significance, and the page says how to see them all.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from typing import Any

import numpy as np

from separatrix.arrays import Indices
from separatrix.design.build import INTERCEPT
from separatrix.design.encode.columns import CategoryEncoding
from separatrix.errors import counted
from separatrix.families.options import FAMILIES
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.evaluation_curves import Estimate
from separatrix.inference.table import InferenceTable, Term
from separatrix.model.evaluate import Evaluation
from separatrix.model.record import Model
from separatrix.model.train import TrainedModel
from separatrix.rendering.sheet import Grid, Sheet, format_number
from separatrix.rendering.text import WIDTH, entry, render_text, shortened, table_lines, wrapped
from separatrix.reports.perceptron import mistake_sentences, perceptron_notes
from separatrix.tables.table import Table, TableSource

CLASSES_SHOWN = 10
KINDS = {"boolean": "binary", "presence": "indicator of missing values"}  # others are called by their name
PLURALS = {"binary": "binary", "category": "categories", "text": "texts"}
FLATTERING = (
    "Training rows flatter a model, so there are no intervals; --holdout 0.2 or --cv 5 evaluates it on held-out rows"
)
SENTENCES_SHOWN = 6  # of one kind; the rest are counted
MOST_SHOWN = 20
REFERENCES_SHOWN = 12  # levels
MOST_REPORTED = 2000  # coefficients in a report, over all outputs
SHOWING_ALL = "separatrix summary MODEL --all, --json"
CLASSES_BESIDE = 5  # columns of a table


def render_trained(
    trained: TrainedModel, table: Table | TableSource, *, saved: str | None = None, report: str | None = None
) -> str:
    """Return the page, at most 100 columns wide; `saved` and `report` are the files of model and report."""
    title = shortened(f"{model_title(trained.model)}, {table.source}", WIDTH)
    lines = [title, "", *_data(trained, table), *_verdicts(trained), "", *_evaluation(trained), ""]
    lines += render_coefficients(trained.model, trained.fitted.table).splitlines()
    lines += ["", *_next_lines(saved, report)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _data(trained: TrainedModel, table: Table | TableSource) -> Iterator[str]:
    encoding = trained.model.encoding
    yield from entry("question", question(trained))
    yield from entry("target", trained.target.reason)
    rows = int(trained.model.data["rows"])
    left = table.n_rows - rows
    yield from entry("rows", f"{rows:,}; {classes(trained)}" + (f"; {left:,} left out" if left else ""))
    yield from entry("columns", f"{len(encoding.columns):,} used: {kinds(trained)}")
    yield from _several("left out", [f"{name!r}: {reason}" for name, reason in encoding.omitted])
    yield from _several("missing", [sentence.removeprefix("column ") for sentence in trained.predictions.sentences])
    yield from _several("note", [*table.notes, *encoding.notes])


def _several(label: str, sentences: Sequence[str], most: int = SENTENCES_SHOWN) -> Iterator[str]:
    for place, sentence in enumerate(sentences[:most]):
        yield from entry("" if place else label, sentence)
    if len(sentences) > most:
        yield from entry("", f"… and {len(sentences) - most:,} more; --json has all")


def _verdicts(trained: TrainedModel) -> Iterator[str]:
    result, decisions = trained.fitted.result, other_decisions(trained)
    yield from _several("model", decisions, len(decisions))
    yield from entry("result", result.message)
    if trained.model.estimator == "perceptron":
        yield from _several("mistakes", mistake_sentences(trained))
        yield from _several("note", perceptron_notes(trained))
    elif result.certificate.claim not in result.message:
        yield from entry("evidence", result.certificate.claim)


def other_decisions(trained: TrainedModel) -> list[str]:
    """Return the decisions that are neither about the target nor about the encoding of a column."""
    own = {*trained.model.encoding.decisions(), trained.target.reason}
    return [sentence for sentence in trained.decisions if sentence not in own]


def _evaluation(trained: TrainedModel) -> list[str]:
    table, notes = measure_grid(trained)
    if not trained.holdout_description:
        notes.append(FLATTERING)
    lines = [line for note in notes for line in wrapped(f"{note}.", "  ")]
    return ["How well it predicts", "", *table_lines([table.heads, *table.rows]), "", *lines]


def measure_grid(trained: TrainedModel) -> tuple[Grid, list[str]]:
    """Return the measures on training rows and, beside them, on held-out rows, with notes on these rows."""
    evaluations = [trained.own] if trained.holdout is None else [trained.own, trained.holdout]
    measures = zip(*(measures_of(each) for each in evaluations), strict=True)
    rows = tuple((group[0][0], *(str(value) for _, value in group)) for group in measures)
    level = f"{100.0 * trained.own.level:g} %"
    notes = [] if trained.holdout is None else [f"In parentheses: {level} confidence intervals, of held-out rows only"]
    if trained.training_description != "on the training rows":
        notes.append(f"The training column is measured {trained.training_description}")
    if trained.holdout is not None:
        notes.append(f"The model is evaluated {trained.holdout_description}")
    elif trained.holdout_description:
        notes.append(f"Interrupted before the evaluation {trained.holdout_description}")
    return Grid(("", "training rows", "held-out rows")[: 1 + len(evaluations)], rows), notes


def _next_lines(saved: str | None, report: str | None) -> list[str]:
    lines = [f"Report written to {report}."] if report else []
    if saved is None:
        also = "" if report else ", --report report.html writes a report with figures"
        return [*lines, *wrapped(f"Next: --out model.json saves the model{also}.")]
    name = shlex.quote(saved)
    verbs = (f"predict {name} TABLE --out predictions.csv", f"verify {name} TABLE", f"export {name} --to sql")
    return [*lines, f"Model written to {saved}. Next:", *(f"  separatrix {verb}" for verb in verbs)]


def model_title(model: Model) -> str:
    """Return the family and its target, of two classes with probabilities the event."""
    if model.classes is not None and len(model.classes) == 2 and model.rule.link != "none":
        return f'{FAMILIES[model.estimator].title}: P({model.target} = "{model.classes[1]}")'
    return f"{FAMILIES[model.estimator].title}: {model.target}"


def question(trained: TrainedModel, name: Callable[[object], str] = str) -> str:
    """Return the question that the model answers; `name` formats names from the data."""
    model = trained.model
    target = name(model.target)
    if model.classes is None:
        return f"what number is {target}?"
    if len(model.classes) == 2:
        negative, positive = map(name, model.classes)
        return f"is {target} {positive} (+1) or {negative} (−1)?"
    return f"which of {len(model.classes)} classes is {target}?"


def classes(trained: TrainedModel, name: Callable[[object], str] = str) -> str:
    """Return the classes with their numbers of rows, or the range of the target; `name` formats names from the data."""
    target = name(trained.model.target)
    used = trained.predictions.kept
    if trained.target.classes is None:
        y = np.asarray(trained.target.y, dtype=np.float64)[used]
        return f"{target} from {y.min():.6g} to {y.max():.6g}, mean {y.mean():.6g}"
    labels = trained.target.classes.plain
    counts = np.bincount(trained.target.classes.codes[used], minlength=len(labels)).tolist()
    shown = [f"{name(label)} in {count:,}" for label, count in zip(labels, counts, strict=True)]
    more = len(shown) - CLASSES_SHOWN
    return f"{target} = {', '.join(shown[:CLASSES_SHOWN])}" + (f", … and {more:,} more" if more > 0 else "")


def kinds(trained: TrainedModel) -> str:
    """Return the number of columns of each kind, and the number of features."""
    encoding = trained.model.encoding
    if not encoding.columns:
        return "an intercept alone"
    counts = Counter(KINDS.get(column.kind, column.kind) for column in encoding.columns)
    listed = ", ".join(
        f"{count:,} {PLURALS[kind]}" if count > 1 and kind in PLURALS else counted(count, kind)
        for kind, count in counts.items()
    )
    features = len(encoding.feature_names)
    return listed + ("" if features == len(encoding.columns) else f", as {counted(features, 'feature')}")


def render_coefficients(model: Model, table: InferenceTable | None, most: int | None = MOST_SHOWN) -> str:
    """Return the coefficients, with inference if the table has any; at most `most` per output, None for all."""
    if table is None or all(term.standard_error is None for term in table.terms):
        return render_text(weight_sheet(model, most))
    return render_text(coefficient_sheet(model, table, most))


def coefficient_sheet(model: Model, table: InferenceTable, most: int | None) -> Sheet:
    """Return the table of inference, cut to the first `most` terms per output."""
    shown = first_terms(table.terms, most)
    sheet = replace(table, terms=shown, target=model.target).sheet()
    return replace(sheet, lines=(*_meaning(model), *sheet.lines, *_cut(len(shown), len(table.terms))))


def weight_sheet(model: Model, most: int | None) -> Sheet:
    """Return the weights of a model without standard errors, and why there are none; of a kernel, its support."""
    lines = [model.no_covariance] if model.no_covariance else []
    if model.kernel is not None:
        machines = tuple((f"{each.coef.shape[1]:,}", str(each.kernel)) for each in model.kernel.machines)
        return Sheet("Support vectors", (Grid(("support vectors", "kernel"), machines),), lines=tuple(lines))
    scales = model.options.get("scales")
    spreads = None if scales is None else np.asarray(scales, dtype=np.float64)
    features = model.coef.shape[1]
    places = np.arange(features if most is None else min(most, features))
    lines = [*_meaning(model), *lines, *_cut(len(places), features)]
    return Sheet(_rule(model), tuple(_score_grids(model, places, spreads)), lines=tuple(lines))


def first_terms(terms: Sequence[Term], most: int | None) -> tuple[Term, ...]:
    """Return the first terms of each output, in the order of the model."""
    groups = groupby(terms, key=lambda term: term.output)
    return tuple(term for _, group in groups for term in islice(group, most))


def _meaning(model: Model) -> Iterator[str]:
    """Yield the class whose probability is modelled, of two, and the reference levels of categories."""
    if model.classes is not None and len(model.classes) == 2 and model.rule.link != "none":
        yield f'the class modelled is {model.target} = "{model.classes[1]}"'
    levels = [
        f'{column.name} = "{column.reference}"'
        for column in model.encoding.columns
        if isinstance(column, CategoryEncoding)
    ]
    if levels:
        more = len(levels) - REFERENCES_SHOWN
        listed = ", ".join(levels[:REFERENCES_SHOWN]) + (f", … and {more:,} more" if more > 0 else "")
        yield f"{'reference level' if len(levels) == 1 else 'reference levels'}: {listed}"


def _cut(shown: int, total: int) -> Iterator[str]:
    """Yield, if not all coefficients are shown, how many are, and what shows the others."""
    if shown < total:
        all_of_them = SHOWING_ALL + (" and --report show all" if total <= MOST_REPORTED else " show all")
        yield f"the first {shown:,} of {total:,} coefficients, in the order of the model; {all_of_them}"


def _score_grids(model: Model, places: Indices, spreads: Any) -> Iterator[Grid]:
    """Yield grids with one row per feature and one column per class, for a few classes each."""
    one = len(model.coef) == 1
    for first in range(0, len(model.coef), CLASSES_BESIDE):
        group = slice(first, first + CLASSES_BESIDE)
        columns = np.column_stack([model.intercept[group], model.coef[group][:, places]])
        heads = ("weight",) if one else tuple(map(str, (model.classes or ())[group]))
        if one and spreads is not None:
            heads += ("per standard deviation",)
            columns = np.vstack([columns, np.append(np.nan, model.coef[0, places] * spreads[places])])
        names = (INTERCEPT, *(model.encoding.feature_names[place] for place in places.tolist()))
        rows = tuple((name, *map(_cell, values)) for name, values in zip(names, columns.T.tolist(), strict=True))
        yield Grid(("", *heads), rows if model.fit_intercept else rows[1:])


def _cell(value: float) -> str:
    return "" if math.isnan(value) else format_number(value)


def _rule(model: Model) -> str:
    if model.classes is None:
        return f"Weights ({model.target} is predicted as the sum of weight times feature)"
    if len(model.classes) == 2:
        negative, positive = model.classes
        return f"Weights (a score above 0 means {model.target} = {positive}, below 0 means {negative})"
    return f"Weights (the {model.target} with the highest score is predicted)"


def measures_of(evaluation: Evaluation) -> Iterator[tuple[str, Estimate]]:
    """Yield the name and estimate of each measure, in reading order."""
    if not isinstance(evaluation, ClassifierEvaluation):
        yield "R²", evaluation.r_squared
        yield "RMSE", evaluation.rmse
        yield "mean absolute error", evaluation.mean_absolute_error
        return
    yield "accuracy", evaluation.accuracy
    yield "majority-class baseline", Estimate(evaluation.baseline_accuracy)
    yield "AUC", evaluation.auc
    if evaluation.log_loss.value is not None:
        yield "log loss", evaluation.log_loss
    if evaluation.reliability is not None:
        yield "calibration error", Estimate(evaluation.reliability.error)
