"""A trained model as one page of text: the question, the data, the verdicts, the coefficients, the quality.

The sentences about question and data are shared with the HTML report.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from separatrix.errors import counted
from separatrix.families.options import FAMILIES
from separatrix.model.train import Evaluation, TrainedModel
from separatrix.rendering.text import WIDTH, entry, table_lines, wrapped
from separatrix.reports.coefficients import measures_of, render_coefficients, with_interval
from separatrix.reports.perceptron import shortened
from separatrix.tables.source import TableSource
from separatrix.tables.table import Table

CLASSES_SHOWN = 10
KINDS = {
    "number": "number",
    "boolean": "truth value",
    "category": "category",
    "date": "date",
    "text": "text",
    "presence": "mark of what is missing",
}
SENTENCES_SHOWN = 6  # of one kind; the rest are counted


def render_trained(
    trained: TrainedModel, table: Table | TableSource, *, saved: str | None = None, report: str | None = None
) -> str:
    """Return the page, at most 100 columns wide; `saved` and `report` are the files of model and report."""
    model = trained.model
    title = f"{FAMILIES[model.estimator].title} of {model.target}, {table.source}"
    lines = [shortened(title, WIDTH), "", *_data(trained, table), *_verdicts(trained)]
    lines += ["", *evaluation_lines(trained), ""]
    lines += render_coefficients(model, trained.fitted.table).splitlines()
    lines += ["", *next_lines(saved, report)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _data(trained: TrainedModel, table: Table | TableSource) -> Iterator[str]:
    model = trained.model
    yield from entry("question", question(trained))
    yield from entry("target", trained.target.reason)
    rows = int(model.data["rows"])
    left = table.n_rows - rows
    yield from entry("rows", f"{rows:,}{classes(trained)}" + (f"; {left:,} left out" if left else ""))
    yield from entry("columns", f"{len(model.encoding.columns):,} used: {kinds(trained)}")
    omitted = [f"{name!r}: {reason}" for name, reason in model.encoding.omitted]
    gaps = [sentence.removeprefix("column ") for sentence in trained.predictions.sentences]
    for label, sentences in (("left out", omitted), ("missing", gaps), ("note", list(table.notes))):
        yield from _several(label, sentences)


def _several(label: str, sentences: Sequence[str]) -> Iterator[str]:
    for place, sentence in enumerate(sentences[:SENTENCES_SHOWN]):
        yield from entry("" if place else label, sentence)
    if len(sentences) > SENTENCES_SHOWN:
        yield from entry("", f"… and {len(sentences) - SENTENCES_SHOWN:,} more; --json has all")


def _verdicts(trained: TrainedModel) -> Iterator[str]:
    own = {*trained.model.encoding.decisions(), trained.target.reason}
    for place, sentence in enumerate(sentence for sentence in trained.decisions if sentence not in own):
        yield from entry("" if place else "model", sentence)
    result = trained.fitted.result
    yield from entry("result", result.message)
    if result.certificate.claim not in result.message:
        yield from entry("evidence", result.certificate.claim)


def evaluation_lines(trained: TrainedModel) -> list[str]:
    """Return the measures on training rows and on held-out rows, with intervals."""
    evaluations: list[Evaluation] = [trained.own]
    heads = ["", "on its own rows"]
    note = "On its own rows a model does better than on others; --holdout 0.2 or --cv 5 judges it on others."
    if trained.training_description != heads[1]:
        note = f"It was judged {trained.training_description}. {note}"
    if trained.holdout is not None:
        evaluations.append(trained.holdout)
        heads.append("kept apart")
        note = f"Kept apart: {trained.holdout_description}."
    elif trained.holdout_description:
        note = f"Interrupted before it was judged {trained.holdout_description}."
    measures = zip(*(measures_of(each) for each in evaluations), strict=True)
    rows = [(group[0][0], *(with_interval(value) for _, value in group)) for group in measures]
    return ["How well it does", "", *table_lines([heads, *rows]), "", *wrapped(note, "  ")]


def next_lines(saved: str | None, report: str | None = None) -> list[str]:
    """Return which files were written, and the commands that use the model."""
    lines = [f"Report written to {report}."] if report else []
    if saved is None:
        also = "" if report else ", --report report.html tells it with pictures"
        return [*lines, *wrapped(f"Next: --out model.json keeps the model{also}.")]
    name = shlex.quote(saved)
    verbs = (f"predict {name} TABLE --out predictions.csv", f"verify {name} TABLE", f"export {name} --to sql")
    return [*lines, f"Model written to {saved}. Next:", *(f"  separatrix {verb}" for verb in verbs)]


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
    used = slice(None) if trained.predictions.kept is None else trained.predictions.kept
    if trained.target.classes is None:
        y = np.asarray(trained.target.y, dtype=np.float64)[used]
        return f"; {target} from {y.min():.6g} to {y.max():.6g}, mean {y.mean():.6g}"
    counts = np.bincount(trained.target.classes.codes[used], minlength=len(trained.target.classes.values)).tolist()
    shown = [f"{name(label)} in {count:,}" for label, count in zip(trained.target.classes.plain, counts, strict=True)]
    more = len(shown) - CLASSES_SHOWN
    listed = ", ".join(shown[:CLASSES_SHOWN]) + (f", … and {more:,} more" if more > 0 else "")
    return f"; {target} = {listed}"


def kinds(trained: TrainedModel) -> str:
    """Return the number of columns of each kind, and the number of features."""
    encoding = trained.model.encoding
    counts = Counter(KINDS.get(column.kind, column.kind) for column in encoding.columns)
    listed = ", ".join(_plural(kind, count) for kind, count in counts.items())
    features = len(encoding.feature_names)
    return listed + ("" if features == len(encoding.columns) else f", as {counted(features, 'feature')}")


def _plural(kind: str, count: int) -> str:
    return f"{count:,} {kind[:-1]}ies" if kind.endswith("y") and count > 1 else counted(count, kind)
