"""What was asked and of what data, in words that text and pages share.

A trained model as one page of text: the question, the data, the verdicts, the coefficients, how well it does.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from separatrix.arrays import Bools
from separatrix.errors import counted
from separatrix.model.learn import LEARNERS
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
SHOWN = 6  # entries of one kind; the rest are counted


def render_trained(
    trained: TrainedModel, table: Table | TableSource, *, saved: str | None = None, report: str | None = None
) -> str:
    """Return the page, at most 100 columns wide, ending with a newline; `saved` and `report` are files written."""
    model = trained.model
    title = f"{LEARNERS[model.estimator].title} of {model.target}, {table.source}"
    lines = [shortened(title, WIDTH), "", *_data(trained, table), *_verdicts(trained)]
    lines += ["", *evaluation_lines(trained), ""]
    lines += render_coefficients(model, trained.learned.table).splitlines()
    lines += ["", *next_lines(saved, report)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _data(trained: TrainedModel, table: Table | TableSource) -> Iterator[str]:
    model = trained.model
    yield from entry("question", question(trained))
    yield from entry("target", trained.goal.reason)
    rows = int(model.data["rows"])
    left = table.n_rows - rows
    yield from entry("rows", f"{rows:,}{classes(trained)}" + (f"; {left:,} left out" if left else ""))
    yield from entry("columns", columns(trained))
    omitted = [f"{name!r}: {reason}" for name, reason in model.encoding.omitted]
    gaps = [sentence.removeprefix("column ") for sentence in trained.predictions.sentences]
    for word, said in (("left out", omitted), ("missing", gaps), ("note", list(table.notes))):
        yield from _several(word, said)


def _several(word: str, said: Sequence[str]) -> Iterator[str]:
    for place, sentence in enumerate(said[:SHOWN]):
        yield from entry("" if place else word, sentence)
    if len(said) > SHOWN:
        yield from entry("", f"… and {len(said) - SHOWN:,} more; --json has all")


def _verdicts(trained: TrainedModel) -> Iterator[str]:
    own = {*trained.model.encoding.decisions(), trained.goal.reason}
    for place, sentence in enumerate(sentence for sentence in trained.decisions if sentence not in own):
        yield from entry("" if place else "model", sentence)
    result = trained.learned.result
    yield from entry("result", result.message)
    if result.certificate.claim not in result.message:
        yield from entry("evidence", result.certificate.claim)


def evaluation_lines(trained: TrainedModel) -> list[str]:
    """Return how well a model does, on its own rows and on rows kept apart, with intervals."""
    found: list[Evaluation] = [trained.own]
    heads = ["", "on its own rows"]
    words = "On its own rows a model does better than on others; --holdout 0.2 or --cv 5 judges it on others."
    if trained.own_words != heads[1]:
        words = f"It was judged {trained.own_words}. {words}"
    if trained.apart is not None:
        found.append(trained.apart)
        heads.append("kept apart")
        words = f"Kept apart: {trained.apart_words}."
    elif trained.apart_words:
        words = f"Interrupted before it was judged {trained.apart_words}."
    lines = wrapped(words, "  ")
    measures = zip(*(measures_of(each) for each in found), strict=True)
    rows = [(group[0][0], *(with_interval(value) for _, value in group)) for group in measures]
    return ["How well it does", "", *table_lines([heads, *rows]), "", *lines]


def next_lines(saved: str | None, report: str | None = None) -> list[str]:
    """Return what was written, and what may be done with a model next."""
    lines = [f"Report written to {report}."] if report else []
    if saved is None:
        told = "" if report else ", --report report.html tells it with pictures"
        return [*lines, *wrapped(f"Next: --out model.json keeps the model{told}.")]
    name = shlex.quote(saved)
    verbs = (f"predict {name} TABLE --out predictions.csv", f"verify {name} TABLE", f"export {name} --to sql")
    return [*lines, f"Model written to {saved}. Next:", *(f"  separatrix {verb}" for verb in verbs)]


def question(trained: TrainedModel, name: Callable[[object], str] = str) -> str:
    """Return the question that the model answers; `name` makes words of names from the data."""
    model = trained.model
    target = name(model.target)
    if model.classes is None:
        return f"what number is {target}?"
    if len(model.classes) == 2:
        negative, positive = map(name, model.classes)
        return f"is {target} {positive} (+1) or {negative} (−1)?"
    return f"which of {len(model.classes)} classes is {target}?"


def classes(trained: TrainedModel, name: Callable[[object], str] = str) -> str:
    """Return the classes with their rows, or the range of the numbers; `name` makes words of names from the data."""
    target, used = name(trained.model.target), _used(trained)
    if trained.goal.classes is None:
        y = np.asarray(trained.goal.y, dtype=np.float64)[used]
        return f"; {target} from {y.min():.6g} to {y.max():.6g}, mean {y.mean():.6g}"
    counts = np.bincount(trained.goal.classes.codes[used], minlength=len(trained.goal.classes.values)).tolist()
    shown = [f"{name(label)} in {count:,}" for label, count in zip(trained.goal.classes.plain, counts, strict=True)]
    more = len(shown) - CLASSES_SHOWN
    listed = ", ".join(shown[:CLASSES_SHOWN]) + (f", … and {more:,} more" if more > 0 else "")
    return f"; {target} = {listed}"


def _used(trained: TrainedModel) -> slice | Bools:
    """Return which rows with a target were used: all but those left out for a missing cell."""
    kept = trained.predictions.kept
    return slice(None) if kept is None else kept


def columns(trained: TrainedModel) -> str:
    """Return how many columns are used, and of which kinds."""
    return f"{len(trained.model.encoding.columns):,} used: {kinds(trained)}"


def kinds(trained: TrainedModel) -> str:
    """Return how many columns of each kind are used, and how many features they make."""
    encoding = trained.model.encoding
    found = Counter(KINDS.get(column.kind, column.kind) for column in encoding.columns)
    listed = ", ".join(_kind(kind, count) for kind, count in found.items())
    features = len(encoding.feature_names)
    return listed + ("" if features == len(encoding.columns) else f", as {counted(features, 'feature')}")


def _kind(kind: str, count: int) -> str:
    if kind.endswith("y") and count > 1:
        return f"{count:,} {kind[:-1]}ies"
    return counted(count, kind)
