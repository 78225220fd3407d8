"""The perceptron's page: a neutral summary of the fit, for text or JSON, and its rendering as plain text.

The summary states the data, how the fit ended, the mistakes beside their bound, advice, and the weights. The text is at
most 100 columns wide; long lists of weights are set in two columns, largest first, and cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate
from separatrix.certificates.mistakes import MistakesCertificate
from separatrix.design.build import INTERCEPT
from separatrix.errors import counted
from separatrix.families.options import PerceptronOptions
from separatrix.fit.labels import Classes
from separatrix.fit.result import FitResult
from separatrix.rendering.text import WIDTH, entry, wrapped

if TYPE_CHECKING:
    from separatrix.model.train import TrainedModel
    from separatrix.tables.source import TableSource


SORTED_RUN = 10  # mean length of runs of one class from which a table counts as sorted by class
Label = str | int | float | bool
NO_OPTIONS = {"names", "storage"}  # entries of a result's provenance that are no options
LONG_LIST = 12  # weights, above which they are set in two columns, largest first
MOST_SHOWN = 60
NUMBER_WIDTH = 13  # with the space before it
LONGEST_NAME = 30
NAMES_SHOWN = 8  # of columns in the overview; the list of weights has them all
CLASSES_SHOWN = 10


@dataclass(frozen=True)
class TrainingData:
    """The training data: labels (n,), names of the columns, and the classes; of two, the positive one is last."""

    source: str
    target: str
    names: tuple[str, ...]
    classes: tuple[Label, ...]
    labels: NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    """Predictions for the training rows: labels (n,), the number of rows on a boundary, and advice."""

    predicted: NDArray[Any]
    on_boundary: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClassCount:
    """A class, its number of rows, and its sign if there are two classes."""

    label: Label
    rows: int
    sign: int | None


@dataclass(frozen=True)
class Evidence:
    """A certificate in brief; `margin` if a separator is known, and `bound` if it is a float."""

    kind: str
    verdict: str
    claim: str
    radius: float
    margin: float | None = None
    bound: float | None = None
    textbook: bool = False  # whether the bound is (R/γ)²


@dataclass(frozen=True)
class Predictor:
    """One linear score: its positive and negative class (None: all others), and its weights by name."""

    positive: Label
    negative: Label | None
    status: str
    reached_goal: bool
    message: str
    updates: int
    coefficients: tuple[tuple[str, float], ...]
    evidence: Evidence


@dataclass(frozen=True)
class Summary:
    """A fit at a glance."""

    title: str
    source: str
    target: str
    rows: int
    columns: tuple[str, ...]
    classes: tuple[ClassCount, ...]
    status: str
    reached_goal: bool
    message: str
    updates: int
    passes: float
    seconds: float
    wrong: int
    accuracy: float
    on_boundary: int
    notes: tuple[str, ...]
    options: Mapping[str, Any]
    predictors: tuple[Predictor, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as JSON values."""
        return asdict(self)


def perceptron_summary(trained: TrainedModel, table: TableSource, options: PerceptronOptions) -> Summary:
    """Return the summary of a perceptron trained on a table."""
    model, result, target = trained.model, trained.fitted.result, trained.target
    assert target.classes is not None  # a perceptron is a classifier
    used = slice(None) if trained.predictions.kept is None else trained.predictions.kept
    labels, predicted = np.asarray(target.y)[used], trained.predictions.labels[used]
    data = TrainingData(table.source, model.target, model.encoding.feature_names, model.classes or (), labels)
    notes = (*_notes(result, target.classes, options), *trained.predictions.sentences)
    outcome = Outcome(predicted, _ties(trained.predictions.scores[used]), notes)
    return summarise(result, data, outcome, title="Perceptron")


def _ties(scores: Floats) -> int:
    """Return the number of rows on a boundary: with a score of 0 or, for several classes, two highest scores."""
    if scores.ndim == 1:
        return int(np.sum(scores == 0.0))
    return int(np.sum(np.sum(scores == scores.max(axis=1, keepdims=True), axis=1) > 1))


def _notes(result: FitResult, classes: Classes, options: PerceptronOptions) -> Iterator[str]:
    if options.tie == "correct" and not result.facts["updates"]:
        yield "with --tie correct a score of 0 is never corrected, so zeros stay zeros; try --start random"
    if options.keep == "vote":
        yield "a row's class is voted by all weights of the run; the weights below are only the last"
    in_turn = options.update == "single" and options.order == "cyclic"
    if in_turn and not result.status.reached_goal and _mean_run(classes) >= SORTED_RUN:
        yield "the rows come sorted by class, and visited in turn they teach one class at a time; try --order shuffled"


def _mean_run(classes: Classes) -> float:
    """Return the mean length of runs of rows of one class."""
    runs = 1 + int(np.count_nonzero(np.diff(classes.codes)))
    return len(classes.codes) / runs


def summarise(result: FitResult, data: TrainingData, outcome: Outcome, *, title: str) -> Summary:
    """Return the summary of a fitted classifier."""
    rows = len(data.labels)
    wrong = int(np.sum(outcome.predicted != data.labels))
    return Summary(
        title=title,
        source=data.source,
        target=data.target,
        rows=rows,
        columns=data.names,
        classes=_counts(data),
        status=str(result.status),
        reached_goal=result.status.reached_goal,
        message=result.message,
        updates=int(result.facts["updates"]),
        passes=float(result.passes),
        seconds=float(result.seconds),
        wrong=wrong,
        accuracy=1.0 - wrong / rows,
        on_boundary=outcome.on_boundary,
        notes=outcome.notes,
        options={name: value for name, value in result.provenance.items() if name not in NO_OPTIONS},
        predictors=_predictors(result, data),
    )


def _counts(data: TrainingData) -> tuple[ClassCount, ...]:
    signs: Sequence[int | None] = (-1, 1) if len(data.classes) == 2 else [None] * len(data.classes)
    counts = [int(np.sum(data.labels == label)) for label in data.classes]
    return tuple(ClassCount(*entry) for entry in zip(data.classes, counts, signs, strict=True))


def _predictors(result: FitResult, data: TrainingData) -> tuple[Predictor, ...]:
    if len(data.classes) == 2:
        negative, positive = data.classes
        return (_predictor(result, data.names, positive, negative),)
    pairs = zip(result.parts, data.classes, strict=True)
    return tuple(_predictor(part, data.names, label, None) for part, label in pairs)


def _predictor(part: FitResult, names: tuple[str, ...], positive: Label, negative: Label | None) -> Predictor:
    fitted = len(part.provenance["names"]) > len(names)
    intercept = [(INTERCEPT, float(part.intercept))] if fitted else []
    return Predictor(
        positive=positive,
        negative=negative,
        status=str(part.status),
        reached_goal=part.status.reached_goal,
        message=part.message,
        updates=int(part.facts["updates"]),
        coefficients=(*intercept, *zip(names, part.coef.tolist(), strict=True)),
        evidence=_evidence(part.certificate),
    )


def _evidence(certificate: Certificate) -> Evidence:
    assert isinstance(certificate, MistakesCertificate)
    kind, verdict, claim = certificate.kind, certificate.verdict, certificate.claim
    radius, margin, bound = certificate.radius, certificate.margin, certificate.bound
    if margin is None or bound is None or math.isinf(bound):
        return Evidence(kind, verdict, claim, radius, margin)
    return Evidence(kind, verdict, claim, radius, margin, bound, certificate.is_textbook)


def render_text(summary: Summary) -> str:
    """Return the summary as plain text, ending with a newline."""
    title = shortened(f"{summary.title} on {summary.source}", WIDTH)
    evidence = _each_class(summary) if len(summary.predictors) > 1 else _mistakes(summary)
    return "\n".join([title, *_overview(summary), *evidence, *_weights(summary)]) + "\n"


def _overview(summary: Summary) -> Iterator[str]:
    yield ""
    yield from entry("rows", f"{summary.rows:,}; {summary.target} = {_classes(summary)}")
    names = ", ".join(summary.columns[:NAMES_SHOWN])
    more = len(summary.columns) - NAMES_SHOWN
    yield from entry("columns", f"{len(summary.columns):,}: {names}{f', … and {more:,} more' if more > 0 else ''}")
    if len(summary.predictors) == 1:
        yield from entry("result", summary.message)
    right = summary.rows - summary.wrong
    yield from entry("training", f"{right:,} of {summary.rows:,} rows right ({_percent(right, summary.rows)})")
    work = f"{counted(summary.updates, 'update')}, {_passes(summary.passes)}, {_time(summary.seconds)}"
    yield from entry("work", work)
    for note in [*_boundary(summary), *summary.notes]:
        yield from entry("note", note)


def _classes(summary: Summary) -> str:
    signs = {1: " (+1)", -1: " (−1)", None: ""}
    positive_first = sorted(summary.classes, key=lambda count: -(count.sign or 0))
    shown = [f"{count.label} in {count.rows:,}{signs[count.sign]}" for count in positive_first]
    more = len(shown) - CLASSES_SHOWN
    return ", ".join(shown[:CLASSES_SHOWN]) + (f", … and {more:,} more" if more > 0 else "")


def _boundary(summary: Summary) -> Iterator[str]:
    if summary.on_boundary:
        rows = counted(summary.on_boundary, "row") + (" lies" if summary.on_boundary == 1 else " lie")
        decides = "the first class wins" if len(summary.classes) > 2 else "the tie rule decides"
        yield f"{rows} exactly on a boundary, where {decides}"


def _mistakes(summary: Summary) -> Iterator[str]:
    predictor = summary.predictors[0]
    intercept = len(predictor.coefficients) > len(summary.columns)
    yield ""
    yield from wrapped(f"Mistake bound: {_bound(predictor)}")
    for line in _explained(predictor.evidence, intercept):
        yield from wrapped(line, "  ")


def _bound(predictor: Predictor) -> str:
    """Return the number of mistakes, and their bound."""
    evidence, made = predictor.evidence, counted(predictor.updates, "update")
    if evidence.margin is None:
        return f"{made}; no separator is known, so there is no bound"
    if evidence.bound is None:
        return f"{made}; a separator is known, but the bound it gives is beyond the range of a float"
    if evidence.textbook:
        return f"{counted(predictor.updates, 'mistake')}, at most (R/γ)² = {_count(evidence.bound)} possible"
    return f"{made}, at most {_count(evidence.bound)} possible by this rule from this start"


def _explained(evidence: Evidence, intercept: bool) -> Iterator[str]:
    if evidence.margin is None:
        return
    included = ", the 1 for the intercept included" if intercept else ""
    yield f"R = {evidence.radius:.6g} is the length of the longest row{included}."
    yield f"γ = {evidence.margin:.6g} is the margin of a known separator: no row is on the wrong side or nearer to it."


def _each_class(summary: Summary) -> Iterator[str]:
    yield ""
    yield "Each class against the rest"
    yield ""
    for predictor in summary.predictors:
        yield from wrapped(f"{predictor.positive}: {predictor.message}", "  ", "    ")
        yield from wrapped(_bound(predictor) + _numbers(predictor.evidence), "    ", "    ")


def _numbers(evidence: Evidence) -> str:
    if evidence.margin is None:
        return ""
    return f" (R = {evidence.radius:.6g}, γ = {evidence.margin:.6g})"


def _weights(summary: Summary) -> Iterator[str]:
    first = summary.predictors[0]
    if len(summary.predictors) > 1:
        rule = f"the {summary.target} with the highest score is predicted"
    else:
        rule = f"a score above 0 means {summary.target} = {first.positive}, below 0 means {first.negative}"
    yield ""
    yield from wrapped(f"Weights ({rule})")
    yield ""
    if len(summary.predictors) > 1:
        yield from _table(summary.predictors)
    elif len(first.coefficients) > LONG_LIST:
        yield from _two_columns(first.coefficients)
    else:
        yield from _list(first.coefficients)


def _list(coefficients: Sequence[tuple[str, float]]) -> Iterator[str]:
    names = _aligned([name for name, _ in coefficients])
    for name, (_, weight) in zip(names, coefficients, strict=True):
        yield f"  {name}{weight:>{NUMBER_WIDTH}.6g}"


def _two_columns(coefficients: Sequence[tuple[str, float]]) -> Iterator[str]:
    by_size = sorted(coefficients, key=lambda entry: -abs(entry[1]))
    shown = [*_list(by_size[:MOST_SHOWN]), ""]
    half = len(shown) // 2
    for left, right in zip(shown[:half], shown[half:], strict=False):
        yield f"{left}  {right}".rstrip()
    yield ""
    yield f"  Largest first{_left_off(len(coefficients))}; the size of a weight depends on the unit of its column."


def _table(predictors: Sequence[Predictor]) -> Iterator[str]:
    """Yield one line per weight, one column per class; classes beyond the width go into a further table."""
    rows = [name for name, _ in predictors[0].coefficients]
    names = _aligned(rows[:MOST_SHOWN])
    beside = (WIDTH - 2 - len(names[0])) // NUMBER_WIDTH
    for first in range(0, len(predictors), beside):
        group = predictors[first : first + beside]
        heads = (f"{shortened(str(each.positive), NUMBER_WIDTH - 1):>{NUMBER_WIDTH}}" for each in group)
        yield " " * (2 + len(names[0])) + "".join(heads)
        for k, name in enumerate(names):
            yield f"  {name}" + "".join(f"{each.coefficients[k][1]:>{NUMBER_WIDTH}.6g}" for each in group)
    if _left_off(len(rows)):
        yield ""
        yield f"  In the order of the columns{_left_off(len(rows))}."


def _left_off(count: int) -> str:
    return f", {count - MOST_SHOWN:,} more left off" if count > MOST_SHOWN else ""


def _aligned(names: Sequence[str]) -> list[str]:
    """Return names on one line each, cut and padded to one length."""
    plain = [shortened(" ".join(name.split()), LONGEST_NAME) for name in names]
    length = max(map(len, plain))
    return [f"{name:<{length}}" for name in plain]


def shortened(text: str, length: int) -> str:
    """Return a text of at most `length` characters, cut in the middle, as names differ at their ends."""
    if len(text) <= length:
        return text
    tail = length // 2
    return f"{text[: length - tail - 1]}…{text[-tail:]}"


def _percent(part: int, whole: int) -> str:
    """Return a share, as 100 % only if it is exact."""
    share = 100.0 * part / whole
    return f"{share:.0f} %" if part in {0, whole} else f"{min(share, 99.99):.4g} %"


def _count(bound: float) -> str:
    """Return a bound rounded down or, if it is long, in powers of ten."""
    nearest = round(bound)
    whole = nearest if abs(bound - nearest) <= 1e-9 * bound else int(bound)
    return f"{whole:,}" if bound < 1e9 else f"{bound:.3g}"


def _passes(passes: float) -> str:
    return f"{passes:,.0f} passes over the rows" if passes >= 10 else f"{passes:.3g} passes over the rows"


def _time(seconds: float) -> str:
    return f"{1000.0 * seconds:.2g} ms" if seconds < 0.1 else f"{seconds:,.2f} s"
