"""The pictures of a report: what a trained model is, how it does, how it came about.

A picture for a page: drawn small enough for a phone, its title taken off to be told beside it, as svg.

Text stays text, so that the reader's own fonts write every script; more than some hundred points become dots of a
bitmap inside. The same numbers make the same bytes. Figures are made without pyplot: no window, no state.

A sample of a table's rows as a model sees them: encoded, with what they were predicted to be.

Cost: the encoding of the rows taken, `MOST` at most, evenly over the table.

How well a model does, in pictures: curves of a classifier, predictions and residuals of a regression.

A model as a classifier in the plane of two of its features, the others held at their means.

What is held goes into the intercept, so that a plane of a million features costs as much as one of two.

The way of a fit in pictures, one a fact that it kept: objective, gap, mistakes.

The forest: coefficients with their intervals, in units that can be compared.

A feature that has a unit is shown for one standard deviation more of it, any other for the whole step from 0 to 1, as
from one level to another: coefficient and ends of the interval are multiplied alike. The largest are drawn, of many
classes the first.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.base import OneVsRestCertificate
from separatrix.design.base import Design
from separatrix.design.build import INTERCEPT, make_design
from separatrix.design.encode.blocks import encode_source
from separatrix.errors import counted
from separatrix.fit.least_squares import fit_least_squares
from separatrix.fit.result import FitResult
from separatrix.inference.diagnosis import Diagnosis, diagnose_rows
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.influence import FittedRows, Influence
from separatrix.inference.table import InferenceTable, Term, refused_table
from separatrix.losses.squared import Squared
from separatrix.model.learn.penalty import spreads
from separatrix.model.record import Model, label_array
from separatrix.model.train import TrainedModel, quantities_of, with_known_target
from separatrix.problem import Problem
from separatrix.reports.display import COLOURS, EDGE, INK, styled
from separatrix.reports.plot.boundary import boundary
from separatrix.reports.plot.curves import calibration, precision_recall, roc
from separatrix.reports.plot.diagnostics import DIAGNOSTIC_PANELS, draw_diagnostics
from separatrix.reports.plot.fits import TRACE_PANELS, coefficients, trace
from separatrix.tables.source import TableSource, as_source
from separatrix.tables.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 4.8, 3.7  # inches: of a phone's width a letter of 10 points takes about 10 pixels
MANY_POINTS = 600  # of a line or a cloud, above which it is a bitmap
TICKS = 5  # of an axis, about
DOTS = 150  # an inch, of bitmaps
UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # for XML
MOST = 20_000
DRAWN_RESIDUALS = 3000  # rows
MOST_ENTRIES = 30_000_000  # of a matrix that is encoded once more for the diagnostics
DRAWN_POINTS = 1500  # rows
NAMES_DRAWN = 24
CANDIDATES = 2000  # features, up to which the statistics say which are drawn
LINES_DRAWN = 72  # names times classes
UNITS = {"linear": "change of the prediction", "score": "change of the score"}
LOG_ODDS = "change of the log-odds"


@dataclass(frozen=True)
class Picture:
    """An svg file, words for who does not see it, and what goes below it."""

    svg: bytes
    alt: str
    caption: str


@contextmanager
def drawing() -> Iterator[None]:
    """Draw inside the block; glyphs that matplotlib lacks are left to the reader's fonts."""
    with styled(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*Glyph .* missing from")
        warnings.filterwarnings("ignore", message=r".*does not support .* natively")
        yield


def new_panels(count: int = 1, height: float = HEIGHT, ratios: Sequence[float] | None = None) -> list[Axes]:
    """Return the panels of a new figure, above each other."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    panels = figure.subplots(count, 1, squeeze=False, sharex=count > 1, height_ratios=ratios)
    return list(panels[:, 0])


def finished(panels: Sequence[Axes], alt: str, caption: str = "") -> Picture:
    """Return the figure of some panels as a picture; without a caption, the panels' own titles are it."""
    titles = []
    for panel in panels:
        titles.append(" ".join((panel.get_title() or panel.get_title(loc="left")).replace(r"\$", "$").split()))
        panel.set_title("", loc="center")
        panel.set_title("", loc="left")
        panel.patch.set_alpha(0.0)
        _make_bitmaps(panel)
        _space_ticks(panel)
    buffer = io.StringIO()
    figure = panels[0].figure.canvas.figure
    nothing: Any = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(buffer, format="svg", dpi=DOTS, metadata=nothing, facecolor="none")
    svg = UNFIT.sub("\N{REPLACEMENT CHARACTER}", buffer.getvalue())
    return Picture(svg.encode(), alt, caption or " ".join(title for title in titles if title))


def _make_bitmaps(panel: Axes) -> None:
    for line in panel.lines:
        line.set_rasterized(len(np.asarray(line.get_xdata())) > MANY_POINTS)
    for cloud in panel.collections:
        cloud.set_rasterized(len(np.asarray(cloud.get_offsets())) > MANY_POINTS)


def _space_ticks(panel: Axes) -> None:
    """Leave room between the numbers of an axis."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    for axis in (panel.xaxis, panel.yaxis):
        locator = axis.get_major_locator()
        if isinstance(locator, MaxNLocator):
            locator.set_params(nbins=TICKS)


@dataclass(frozen=True, eq=False)
class SampledRows:
    """`X` (m, p), dense or CSR, of the rows at `places` among those with a known target; the features' mean, spread.

    `spread` (p,) is the standard deviation of a feature that has a unit, and 1 of others; `quantities` (p,) says which.
    """

    X: Any
    places: Indices
    mean: Floats
    spread: Floats
    quantities: Bools


def sample_rows(trained: TrainedModel, table: Table | TableSource) -> SampledRows:
    """Return rows of the table that the model was trained on."""
    model = trained.model
    known = with_known_target(as_source(table), model.target, "impute")[0]
    taken = evenly(known.n_rows, MOST)
    mask = np.zeros(known.n_rows, dtype=np.bool_)
    mask[taken] = True
    encoded = encode_source(model.encoding, known.select(mask))
    design: Design = make_design(encoded.X, intercept=False)
    quantities = quantities_of(model.encoding)
    mean = np.asarray(design.rmatvec(np.ones(design.shape[0]))) / design.shape[0]
    kept = model.options.get("scales")
    spread = spreads(design, quantities) if kept is None else np.asarray(kept, dtype=np.float64)
    return SampledRows(encoded.X, taken[encoded.kept], mean, spread, quantities)


def evenly(count: int, most: int) -> Indices:
    """Return the places of at most `most` of `count` things, at equal distances."""
    return np.arange(0, count, max(1, -(-count // most)), dtype=np.intp)


def coefficient_table(trained: TrainedModel) -> InferenceTable:
    """Return the table of inference, or of a model that has none its coefficients with the reason."""
    model = trained.model
    if trained.learned.table is not None:
        return replace(trained.learned.table, target=model.target)
    outputs = [None] if len(model.coef) == 1 else list(model.classes or ())
    fitted = bool(model.options.get("intercept", True))
    whole = np.column_stack([model.intercept, model.coef]) if fitted else model.coef
    names = (INTERCEPT, *model.encoding.feature_names) if fitted else model.encoding.feature_names
    pairs = list(zip(outputs, whole, strict=True))
    reason = model.no_covariance or "the fit has no table of inference"
    table = refused_table("linear", names, pairs, float(model.data.get("rows", 0)), reason)
    return replace(table, target=model.target)


def forest_picture(trained: TrainedModel, rows: SampledRows) -> Picture | None:
    """Draw the largest coefficients, for a standard deviation more of what has a unit; None where there are none."""
    model, table = trained.model, coefficient_table(trained)
    if all(term.estimate is None for term in table.terms):
        return None
    outputs = list(dict.fromkeys(term.output for term in table.terms))[: len(COLOURS)]
    names = _candidates(model, rows)
    kept = tuple(term for term in table.terms if term.name in names and term.output in outputs)
    scaled = _scaled(replace(table, terms=kept), model, rows)
    features = len(model.encoding.feature_names)
    drawn = min(features, NAMES_DRAWN, max(4, LINES_DRAWN // len(outputs)))
    (panel,) = new_panels(height=1.1 + (0.24 if len(outputs) < 3 else 0.34) * drawn)
    coefficients(scaled, panel, most=drawn)
    panel.set_xlabel(_unit(trained), fontsize="small")
    panel.locator_params(axis="x", nbins=4)  # long numbers would else run into each other
    panel.tick_params(axis="y", labelsize="small")
    intervals = any(term.lower is not None for term in scaled.terms)
    caption = f"{_many(drawn, features)}: the {_unit(trained)} for one standard deviation more of a number, or for"
    caption += " belonging to a level"
    caption += f"; {100.0 * table.level:g} % intervals" if intervals else "; without intervals"
    left = len({term.output for term in table.terms}) - len(outputs)
    caption += f". {left:,} more classes are not drawn." if left else "."
    alt = "Coefficients with their intervals" if intervals else "Coefficients, without intervals"
    return finished([panel], f"{alt}: the table below has the numbers", caption)


def _candidates(model: Model, rows: SampledRows) -> set[str]:
    """Return the names that may be drawn, the intercept's among them: of very many features those of large weights."""
    names = model.encoding.feature_names
    if len(names) <= CANDIDATES:
        return {INTERCEPT, *names}
    sizes = np.abs(model.coef * rows.spread).max(axis=0)
    return {INTERCEPT, *(names[place] for place in np.argsort(-sizes, kind="stable")[:NAMES_DRAWN].tolist())}


def _many(drawn: int, features: int) -> str:
    if drawn == features:
        return f"{'Its only coefficient' if drawn == 1 else f'All {drawn} coefficients'} but the intercept's"
    return f"The {drawn} coefficients that tell most, of {features:,}"


def _unit(trained: TrainedModel) -> str:
    if trained.model.classes is None:
        return UNITS["linear"]
    return LOG_ODDS if trained.model.rule.link in {"sigmoid", "softmax"} else UNITS["score"]


def _scaled(table: InferenceTable, model: Model, rows: SampledRows) -> InferenceTable:
    """Return the table in units of spreads, the largest coefficients first, after the intercept."""
    factors = dict(zip(model.encoding.feature_names, rows.spread.tolist(), strict=True))
    terms = [_times(term, factors.get(term.name, 1.0)) for term in table.terms]
    first, sizes = terms[0].name, dict.fromkeys(factors, 0.0)
    for term in terms:
        sizes[term.name] = max(sizes.get(term.name, 0.0), abs(term.estimate or 0.0))
    return replace(table, terms=tuple(sorted(terms, key=lambda term: (term.name != first, -sizes[term.name]))))


def _times(term: Term, factor: float) -> Term:
    estimate, lower, upper = (
        None if value is None else factor * value for value in (term.estimate, term.lower, term.upper)
    )
    return replace(term, estimate=estimate, lower=lower, upper=upper, absent="")


def classifier_pictures(found: ClassifierEvaluation, where: str) -> Iterator[Picture]:
    """Draw ROC, precision and recall, and calibration where there are probabilities; `where` says on which rows."""
    fewer = replace(found, rankings=found.rankings[: len(COLOURS)])
    left = len(found.rankings) - len(fewer.rankings)
    more = f" {left:,} more classes are not drawn." if left else ""
    (panel,) = new_panels(height=4.2)
    roc(fewer, ax=panel)
    words = f"ROC {where}: AUC {found.auc}. The share of a class found over the share of others mistaken for it.{more}"
    yield finished([panel], f"ROC curve, area {found.auc}", words)
    (panel,) = new_panels(height=4.2)
    precision_recall(fewer, ax=panel)
    precisions = ", ".join(f"{ranking.average_precision:.4g}" for ranking in fewer.rankings)
    words = f"Precision and recall {where}; dotted is chance. Average precision {precisions}.{more}"
    yield finished([panel], f"Precision over recall, average precision {precisions}", words)
    if found.reliability is not None:
        panels = new_panels(2, 4.8, (3.0, 1.0))
        calibration(found, axes=panels)
        yield finished(panels, f"Calibration curve, calibration error {found.reliability.error:.4g}")


def prediction_picture(trained: TrainedModel) -> Picture:
    """Draw the numbers observed over those predicted."""
    predicted = np.asarray(trained.predictions.scores, dtype=np.float64)
    known = np.flatnonzero(np.isfinite(predicted))
    rows = known[evenly(len(known), DRAWN_RESIDUALS)]
    observed = np.asarray(trained.goal.y, dtype=np.float64)
    (panel,) = new_panels()
    both = np.concatenate([predicted[rows], observed[rows]])
    ends = [float(both.min()), float(both.max())]
    panel.plot(ends, ends, ":", color=EDGE, label="predicted exactly")
    panel.plot(predicted[rows], observed[rows], ".", color=INK, alpha=0.4, markersize=4.0, label="rows")
    panel.set_xlabel("predicted")
    panel.set_ylabel("observed")
    panel.legend()
    words = f"Observed over predicted, of its own rows: on the dotted line a prediction is exact. {len(rows):,} of"
    return finished([panel], "Observed over predicted numbers", f"{words} {counted(len(known), 'row')} are drawn.")


def influence_of(trained: TrainedModel, table: Table | TableSource) -> tuple[Influence, Diagnosis] | None:
    """Return the rows of a least squares fit with their diagnosis; None of another fit, or one too large to repeat."""
    model = trained.model
    entries = int(model.data.get("rows", 0)) * (1 + len(model.encoding.feature_names))
    if trained.learned.result.certificate.kind != "least-squares" or entries > MOST_ENTRIES:
        return None
    encoded = encode_source(model.encoding, with_known_target(as_source(table), model.target, "impute")[0])
    y = np.asarray(trained.goal.y, dtype=np.float64)[encoded.kept]
    names = list(model.encoding.feature_names)
    design = make_design(encoded.X, intercept=bool(model.options["intercept"]), names=names)
    problem = Problem(design, y, Squared())
    rows = Influence(FittedRows(problem, fit_least_squares(problem), np.flatnonzero(encoded.kept)))
    terms = {
        column.name: model.encoding.feature_names[place]
        for column, place in zip(model.encoding.columns, model.encoding.places, strict=True)
    }
    return rows, diagnose_rows(rows, terms)


def diagnostic_pictures(rows: Influence, diagnosis: Diagnosis) -> Iterator[Picture]:
    """Draw the four pictures of a least squares fit."""
    panels = [new_panels()[0] for _ in DIAGNOSTIC_PANELS]
    draw_diagnostics(rows, diagnosis, panels)
    for panel, name in zip(panels, DIAGNOSTIC_PANELS, strict=True):
        yield finished([panel], f"Residuals, to judge {name}: {diagnosis.check(name).verdict}")


@dataclass(frozen=True, eq=False)
class Plane:
    """What `boundary` asks of a classifier of two columns; `predict_proba` is None of a model without probabilities."""

    classes_: NDArray[Any]
    feature_names_in_: tuple[str, str]
    threshold: float
    loss: str
    decision_function: Callable[[Any], Floats]
    predict: Callable[[Any], NDArray[Any]]
    predict_proba: Callable[[Any], Floats] | None


def no_boundary(trained: TrainedModel) -> str:
    """Return why no boundary can be drawn, nothing where one can."""
    classes = trained.model.classes
    if classes is None:
        return "a number has no boundary"
    numbers = sum(column.kind in {"number", "date"} for column in trained.model.encoding.columns)
    if numbers < 2:
        return f"a boundary is drawn along two columns of numbers, and the model uses {counted(numbers, 'such column')}"
    if len(classes) > len(COLOURS):
        return f"{len(classes):,} classes are too many to tell apart by colour"
    return ""


def boundary_picture(trained: TrainedModel, rows: SampledRows) -> Picture:
    """Draw the boundary along the two columns of numbers that matter most."""
    model = trained.model
    pair = _heaviest(model, rows)
    names = model.encoding.feature_names[pair[0]], model.encoding.feature_names[pair[1]]
    shown = evenly(rows.X.shape[0], DRAWN_POINTS)
    points = rows.X[shown][:, list(pair)]
    points = np.asarray(points.toarray() if hasattr(points, "toarray") else points)
    (panel,) = new_panels(height=4.0)
    boundary(_plane(model, rows, pair, names), points, trained.goal.y[rows.places[shown]], ax=panel)
    caption = f"The boundary along {names[0]!r} and {names[1]!r}, the columns of numbers that matter most{_held(rows)}."
    used = int(model.data.get("rows", len(shown)))
    if len(shown) < used:
        caption += f" {len(shown):,} of {counted(used, 'row')} are drawn."
    return finished([panel], f"Rows by class, and the regions predicted, along {names[0]} and {names[1]}", caption)


def _held(rows: SampledRows) -> str:
    others = len(rows.mean) - 2
    if not others:
        return ""
    return (
        f": a slice, {counted(others, 'other feature')} held at the mean; rows are seen from the side, and may lie on"
        " the other side of the boundary than it seems"
    )


def _heaviest(model: Model, rows: SampledRows) -> tuple[int, int]:
    """Return the two features with a unit whose weights times spread are largest, in their order."""
    sizes = np.abs(model.coef - model.coef.mean(axis=0) if len(model.coef) > 1 else model.coef).max(axis=0)
    sizes = np.where(rows.quantities, sizes * rows.spread, -1.0)
    first, second = np.sort(np.argsort(-sizes, kind="stable")[:2]).tolist()
    return first, second


def _plane(model: Model, rows: SampledRows, pair: tuple[int, int], names: tuple[str, str]) -> Plane:
    """Return the model in the plane; score ±1 is a margin where the plane is all there is."""
    coef, mean = model.coef[:, list(pair)], rows.mean.copy()
    mean[list(pair)] = 0.0
    intercept = model.intercept + model.coef @ mean
    labels = label_array(model.classes or ())

    def scores(points: Any) -> Floats:
        return np.asarray(points @ coef.T + intercept)

    def shares(points: Any) -> Floats:
        found = model.rule.probabilities(scores(points))
        assert found is not None  # of a link
        return found

    return Plane(
        classes_=labels,
        feature_names_in_=names,
        threshold=model.rule.threshold,
        loss=str(model.options.get("loss", "")) if len(mean) == 2 else "",
        decision_function=lambda points: scores(points)[:, 0] if len(coef) == 1 else scores(points),
        predict=lambda points: labels[model.rule.classes(scores(points))],
        predict_proba=None if model.rule.link == "none" else shares,
    )


@dataclass(frozen=True, eq=False)
class _Traced:
    """What `trace` asks of a model."""

    result_: FitResult
    tol: float | None


def trace_pictures(trained: TrainedModel) -> Iterator[Picture]:
    """Draw the way of a fit that took more than one step."""
    result = _few_classes(trained.learned.result)
    steps = [part.trace.steps for part in result.parts] or [result.trace.steps]
    kept = [panel for panel in TRACE_PANELS if any(panel.facts[0] in each for each in steps)]
    if not kept or max(len(each["passes"]) for each in steps) < 2:
        return
    panels = [new_panels(height=2.9)[0] for _ in kept]
    trace(_Traced(result, getattr(result.certificate, "tolerance", None)), panels)
    left = len(trained.learned.result.parts) - len(result.parts)
    for panel, kind in zip(panels, kept, strict=True):
        panel.set_xlabel("passes over the rows")
        words = f"{kind.words[0].upper()}{kind.words[1:]} over passes"
        yield finished([panel], words, f"{words}." + (f" {left:,} more classes are not drawn." if left else ""))


def _few_classes(result: FitResult) -> FitResult:
    """Return a fit with as many of its classes as there are colours."""
    certificate, most = result.certificate, len(COLOURS)
    if len(result.parts) <= most or not isinstance(certificate, OneVsRestCertificate):
        return result
    fewer = replace(certificate, classes=certificate.classes[:most], parts=certificate.parts[:most])
    return replace(result, parts=result.parts[:most], certificate=fewer)
