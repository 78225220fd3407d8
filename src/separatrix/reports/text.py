"""A trained model as one page: what was fitted, how well it predicts, the coefficients, the evidence, what to do next.

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
from separatrix.certificates.bias_reduction import BiasReductionCertificate
from separatrix.design.build import INTERCEPT
from separatrix.design.encode.columns import CategoryEncoding
from separatrix.errors import counted
from separatrix.families.options import FAMILIES
from separatrix.fit.result import Status
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.evaluation_curves import Estimate
from separatrix.inference.table import STATISTIC_DIGITS, InferenceTable, Term
from separatrix.model.evaluate import Evaluation
from separatrix.model.record import Model
from separatrix.model.train import TrainedModel
from separatrix.rendering.sheet import Grid, Sheet, format_number
from separatrix.rendering.text import shortened
from separatrix.reports.evidence import evidence_sheet
from separatrix.reports.perceptron import perceptron_notes
from separatrix.tables.table import Table, TableSource

CLASSES_SHOWN = 10
KINDS = {"boolean": "binary", "presence": "indicator of missing values"}  # others are called by their name
PLURALS = {"binary": "binary", "category": "categories", "text": "texts"}
FLATTERING = "training rows flatter a model; --holdout 0.2 or --cv 5 evaluates it on held-out rows"
SENTENCES_SHOWN = 6  # of one kind; the rest are counted
MOST_SHOWN = 20
REFERENCES_SHOWN = 12  # levels
MOST_REPORTED = 2000  # coefficients in a report, over all outputs
SHOWING_ALL = "separatrix summary MODEL --all, --json"
ABSENT = "no standard errors: "
SAID = ("no penalty: the likelihood has a maximum", "no penalty: least squares")  # by the headline and the evidence
LONGEST_TITLE = 72
CLASSES_BESIDE = 5  # columns of a table


def trained_page(  # what the command line knows about the fit
    trained: TrainedModel,
    table: Table | TableSource,
    *,
    saved: str | None = None,
    report: str | None = None,
    verified: bool | None = None,
) -> tuple[Sheet, ...]:
    """Return the page of a fit: what was fitted, how well it predicts, coefficients, evidence, notes, what to do next.

    `saved` and `report` are the files of model and report; `verified` says whether the certificate was re-checked on
    the data (None: it was not).
    """
    return (
        Sheet(_headline(trained)),
        _evaluation(trained),
        _coefficients(trained),
        evidence_sheet(trained, verified),
        Sheet("Notes", lines=tuple(_notes(trained, table))),
        Sheet("Next", lines=tuple(_next_lines(trained, table, saved, report))),
    )


def _headline(trained: TrainedModel) -> str:
    """Return the heading of a fit: the family and its target, the rows, the columns, the penalty."""
    model = trained.model
    facts = counted(int(model.data["rows"]), "row"), columns_of(model), _penalty(trained)
    words = (each.replace(" ", "\N{NO-BREAK SPACE}") for each in facts if each)
    return ", ".join((shortened(model_title(model), LONGEST_TITLE), *words))


def columns_of(model: Model) -> str:
    """Return the number of columns of a model in words."""
    width = len(model.encoding.columns)
    return counted(width, "column") if width else "an intercept alone"


def _penalty(trained: TrainedModel) -> str:
    """Return the penalty of a fit in a few words, empty if its family has none."""
    options, strength = trained.fitted.options, trained.fitted.strength
    if strength is None:
        return ""
    if not strength:
        firth = isinstance(trained.fitted.result.certificate, BiasReductionCertificate)
        return "bias reduction (Firth)" if firth else "no penalty"
    return {0.0: "ridge penalty", 1.0: "lasso penalty"}.get(getattr(options, "l1_ratio", 0.0), "elastic-net penalty")


def _evaluation(trained: TrainedModel) -> Sheet:
    grid, notes = measure_grid(trained)
    if not trained.holdout_description:
        notes.append(FLATTERING)
    return Sheet("How well it predicts", (grid,), lines=tuple(notes))


def _coefficients(trained: TrainedModel) -> Sheet:
    """Return the coefficients; why a penalty is needed is said by the evidence."""
    sheet = coefficients_sheet(trained.model, trained.fitted.table)
    if not trained.fitted.needed:
        return sheet
    short = (each.partition("; ")[0] if each.startswith(ABSENT) else each for each in sheet.lines)
    return replace(sheet, lines=tuple(short))


def _notes(trained: TrainedModel, table: Table | TableSource) -> Iterator[str]:
    """Yield the decisions that were taken: the classes, rows and columns left out, penalty, scale, filled cells."""
    encoding = trained.model.encoding
    yield trained.target.reason
    yield classes(trained)
    if len(encoding.feature_names) != len(encoding.columns):
        yield f"columns: {kinds(trained)}"
    needed, said = trained.fitted.needed, (*SAID, f"{FAMILIES[trained.model.estimator].title}, ")
    yield from (each for each in other_decisions(trained) if not (each.startswith(said) or (needed and needed in each)))
    if trained.model.estimator == "perceptron":
        yield from perceptron_notes(trained)
    yield from _first([f"{name!r} is left out: {reason}" for name, reason in encoding.omitted])
    yield from _first(trained.predictions.sentences)
    yield from _first([*table.notes, *encoding.notes])


def _first(sentences: Sequence[str]) -> Iterator[str]:
    """Yield the first sentences of a kind, and how many more there are."""
    yield from sentences[:SENTENCES_SHOWN]
    if len(sentences) > SENTENCES_SHOWN:
        yield f"… and {len(sentences) - SENTENCES_SHOWN:,} more; --json has all"


def other_decisions(trained: TrainedModel) -> list[str]:
    """Return the decisions that are neither about the target nor about the encoding of a column."""
    own = {*trained.model.encoding.decisions(), trained.target.reason}
    return [sentence for sentence in trained.decisions if sentence not in own]


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


def _next_lines(
    trained: TrainedModel, table: Table | TableSource, saved: str | None, report: str | None
) -> Iterator[str]:
    if report:
        yield f"report written to {report}"
    if saved is None:
        yield "--out model.json saves the model" + ("" if report else "; --report report.html writes a report")
    else:
        name, source = shlex.quote(saved), shlex.quote(table.source)
        yield f"model written to {saved}"
        verbs = f"predict {name} TABLE --out predictions.csv", f"verify {name} {source}", f"export {name} --to sql"
        yield from (f"separatrix {verb}".replace(" ", "\N{NO-BREAK SPACE}") for verb in verbs)
    separated = trained.fitted.needed or trained.fitted.result.status is Status.SEPARATED
    if separated and trained.model.estimator == "logistic" and len(trained.model.classes or ()) == 2:
        yield "--firth gives finite, bias-reduced estimates with standard errors and intervals"


def model_title(model: Model) -> str:
    """Return the family and its target: of two classes the event, of more their number."""
    title, labels = FAMILIES[model.estimator].title, model.classes
    if labels is None:
        return f"{title}: {model.target}"
    if len(labels) > 2:
        return f"{title}: {model.target}, {len(labels)} classes"
    event = f'{model.target} = "{labels[1]}"'
    return f"{title}: P({event})" if model.rule.link != "none" else f'{title}: {event} or "{labels[0]}"'


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
    shown = [f"{name(label)} in {counted(count, 'row')}" for label, count in zip(labels, counts, strict=True)]
    more = len(shown) - CLASSES_SHOWN
    return f"{target}: {', '.join(shown[:CLASSES_SHOWN])}" + (f", … and {more:,} more" if more > 0 else "")


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


def coefficients_sheet(model: Model, table: InferenceTable | None, most: int | None = MOST_SHOWN) -> Sheet:
    """Return the coefficients, with inference if the table has any; at most `most` per output, None for all."""
    if table is None or all(term.standard_error is None for term in table.terms):
        sheet, reason = weight_sheet(model, most), model.no_covariance
        return replace(sheet, lines=tuple(f"{ABSENT}{each}" if each == reason else each for each in sheet.lines))
    sheet = coefficient_sheet(model, table, most, brief=most is not None)
    return replace(sheet, title=_rule(model))


def coefficient_sheet(model: Model, table: InferenceTable, most: int | None, *, brief: bool = False) -> Sheet:
    """Return the table of inference, cut to the first `most` terms per output."""
    shown = first_terms(table.terms, most)
    sheet = replace(table, terms=shown, target=model.target).sheet(brief=brief)
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
    """Yield the reference levels of categories."""
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
        heads = (
            ("coefficient" if model.rule.link != "none" or model.classes is None else "weight",)
            if one
            else tuple(map(str, (model.classes or ())[group]))
        )
        if one and spreads is not None:
            heads += ("per standard deviation",)
            columns = np.vstack([columns, np.append(np.nan, model.coef[0, places] * spreads[places])])
        names = (INTERCEPT, *(model.encoding.feature_names[place] for place in places.tolist()))
        rows = tuple((name, *map(_cell, values)) for name, values in zip(names, columns.T.tolist(), strict=True))
        yield Grid(("", *heads), rows if model.fit_intercept else rows[1:])


def _head(model: Model) -> str:
    return "weight" if model.classes is not None and model.rule.link == "none" else "coefficient"


def _cell(value: float) -> str:
    return "" if math.isnan(value) else format_number(value, STATISTIC_DIGITS)


def _rule(model: Model) -> str:
    """Return the unit of the coefficients, for the title of their table."""
    target, labels, probabilities = model.target, model.classes, model.rule.link != "none"
    if labels is None:
        return f"Coefficients: change in {target} per unit of each column"
    if len(labels) > 2:
        return f"Coefficients: score of each {target} per unit of each column; the highest wins"
    event = f'{target} = "{labels[1]}"'
    if probabilities:
        return f"Coefficients: log-odds of {event} per unit of each column"
    return f'Weights: a score above 0 predicts {event}, below 0 "{labels[0]}"'


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
