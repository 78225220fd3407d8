"""The figures of a report, as SVG: quality, decision boundary, convergence, drawn by `plot`.

Text stays text, so that the reader's fonts render every script; lines and scatters of many points are rasterised. The
same numbers give the same bytes. Figures are made without pyplot: no window, no global state.

The boundary is drawn in the plane of two features; the others, at their means or most frequent levels, go into the
intercept, so that a million features cost as much as two. Cost: the encoding of at most `MOST_SAMPLED` rows, evenly
spaced in the table.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.base import Design
from separatrix.design.build import INTERCEPT, make_design
from separatrix.design.encode.encoding import encode_source
from separatrix.errors import counted
from separatrix.families.base import TrainingRows
from separatrix.families.penalised import standard_deviations
from separatrix.fit.least_squares import fit_least_squares
from separatrix.inference.diagnosis import Diagnosis, diagnose_rows
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.fitted import RefusedInference
from separatrix.inference.influence import Influence
from separatrix.inference.table import InferenceTable, estimates_only_table
from separatrix.losses.squared import Squared
from separatrix.model.predictions import label_array
from separatrix.model.record import Model
from separatrix.model.target import without_missing_target
from separatrix.model.train import TrainedModel
from separatrix.problem import Problem
from separatrix.rendering.html import markup_text
from separatrix.rendering.sheet import digits, percent
from separatrix.reports.display import CARD, COLOURS, EDGE, HAIR, INK, PAPER, PROOF, SOFT, styled
from separatrix.reports.plot.boundary import boundary
from separatrix.reports.plot.curves import calibration, calibration_sentences, precision_recall, roc
from separatrix.reports.plot.diagnostics import DIAGNOSTIC_PANELS, draw_diagnostics, draw_predictions
from separatrix.reports.plot.fits import trace, trace_panels
from separatrix.tables.table import Table, TableSource

if TYPE_CHECKING:
    from matplotlib.axes import Axes


WIDTH, HEIGHT = 4.2, 3.3  # inches: on a phone, text of 10 points is then about 12 pixels high
MANY_POINTS = 600  # of a line or a scatter, above which it is rasterised
LABELLED_POINTS = 200  # of a line or a scatter, up to which each has its numbers as a title
TICKS = 5  # per axis, about
DOTS_PER_INCH = 150  # of rasterised parts
COLOUR, FONT = re.compile("#[0-9a-f]{6}"), re.compile("font-family: [^;]*;? ?")
DECIMALS = re.compile(r"(\d+\.\d)\d+")  # of coordinates: a tenth of a point is seen by nobody
COORDINATES = {"d", "x", "y", "transform", "width", "height"}
NAMED_COLOURS = {
    **{"ink": INK, "soft": SOFT, "edge": EDGE, "hair": HAIR, "card": CARD, "paper": PAPER, "proof": PROOF},
    **dict(zip(("plus", "minus", "third", "fourth", "fifth", "sixth", "seventh"), COLOURS, strict=True)),
}
TOKENS = {colour.lower(): f"var(--{name})" for name, colour in NAMED_COLOURS.items()}
MOST_SAMPLED = 20_000  # rows
DRAWN_RESIDUALS = 3000  # rows
MOST_ENTRIES = 30_000_000  # of the design matrix, above which the diagnostics are left out
DRAWN_POINTS = 1500  # rows
TINIEST = 1e-16  # relative gap
UNCHANGED = 1e-6  # relative change of a fact that is not drawn
TRACED = {
    "objective": "the objective",
    "relative_excess": "the relative duality gap",
    "mistakes": "the number of mistakes",
    "wrong": "the number of rows predicted wrongly",
    "lower": "the lower bound",
}
QUANTITIES = {"number", "date"}  # kinds of columns with a unit


@dataclass(frozen=True)
class Picture:
    """An `svg` element to stand inside HTML, the title above it, and a note below."""

    svg: str
    title: str
    note: str = ""


@contextmanager
def drawing() -> Iterator[None]:
    """Draw inside the block; glyphs that matplotlib lacks are left to the reader's fonts."""
    with styled(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*Glyph .* missing from")
        warnings.filterwarnings("ignore", message=r".*does not support .* natively")
        yield


def new_panels(count: int = 1, height: float = HEIGHT, ratios: Sequence[float] | None = None) -> list[Axes]:
    """Return the panels of a new figure, in a column."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    panels = figure.subplots(count, 1, squeeze=False, sharex=count > 1, height_ratios=ratios)
    return list(panels[:, 0])


def finished(panels: Sequence[Axes], alt: str, title: str = "", note: str = "") -> Picture:
    """Return the figure of the panels as a picture; the default title is that of the panels."""
    from matplotlib import rc_context  # noqa: PLC0415
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    titles = []
    for panel in panels:
        titles.append(" ".join((panel.get_title() or panel.get_title(loc="left")).replace(r"\$", "$").split()))
        panel.set_title("", loc="center")
        panel.set_title("", loc="left")
        panel.patch.set_alpha(0.0)
        for line in panel.lines:
            line.set_rasterized(len(np.asarray(line.get_xdata())) > MANY_POINTS)
        for scatter in panel.collections:
            scatter.set_rasterized(len(np.asarray(scatter.get_offsets())) > MANY_POINTS)
        for axis in (panel.xaxis, panel.yaxis):
            locator = axis.get_major_locator()
            if isinstance(locator, MaxNLocator):
                locator.set_params(nbins=TICKS)
    buffer = io.StringIO()
    none: Any = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    labels = _label_marks(panels)
    with rc_context({"svg.hashsalt": alt}):  # no two figures of a page share an id
        panels[0].figure.canvas.figure.savefig(buffer, format="svg", dpi=DOTS_PER_INCH, metadata=none, facecolor="none")
    return Picture(_inline(buffer.getvalue(), alt, labels), title or " ".join(filter(None, titles)), note)


def _label_marks(panels: Sequence[Axes]) -> dict[str, list[str]]:
    """Give an id to lines and scatters of few points, and return the numbers of their points by id."""
    labels: dict[str, list[str]] = {}
    for panel in panels:
        names = panel.get_xlabel() or panels[-1].get_xlabel(), panel.get_ylabel()
        artists: list[Any] = [*panel.lines, *panel.collections]
        for artist in artists:
            offsets = artist.get_xydata() if hasattr(artist, "get_xydata") else artist.get_offsets()
            points = np.ma.filled(np.ma.asarray(offsets, dtype=np.float64), np.nan)
            known = points[np.isfinite(points).all(axis=1)]
            if 0 < len(known) <= LABELLED_POINTS:
                artist.set_gid(f"marks-{len(labels)}")
                labels[f"marks-{len(labels)}"] = [f"{names[0]} {x:.4g}, {names[1]} {y:.4g}" for x, y in known]
    return labels


def _inline(source: str, alt: str, labels: Mapping[str, Sequence[str]]) -> str:
    """Return an SVG file as an element of HTML: without namespaces, with the fonts and colours of the page.

    Marks have their `labels`, by the id of their group, as titles, which a browser shows under the mouse.
    """
    root = ElementTree.fromstring(markup_text(source))
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        attributes = {name.rpartition("}")[2]: value for name, value in element.items()}
        if element.tag == "g":
            own = labels.get(attributes.pop("id", ""), ())  # numbers that the figures of a page would share
            marks = [each for each in element.iter() if each.tag.endswith("}use")]
            for mark, label in zip(marks, own, strict=True) if len(marks) == len(own) else ():
                ElementTree.SubElement(mark, "title").text = label
        for name in COORDINATES & attributes.keys():
            attributes[name] = DECIMALS.sub(r"\1", attributes[name])
        if "style" in attributes:
            style = FONT.sub("", attributes["style"])
            attributes["style"] = COLOUR.sub(lambda found: TOKENS.get(found[0], found[0]), style)
        element.attrib.clear()
        element.attrib.update(attributes)
    for definitions in root.findall("defs"):
        for style_sheet in definitions.findall("style"):  # of all elements, those of the page as well
            definitions.remove(style_sheet)
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-label": alt}
    return ElementTree.tostring(root, encoding="unicode")


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Encoded rows `X` (m, p), dense or CSR, at `places` among the rows with a known target; `mean` (p,) of features.

    `spread` (p,) is the standard deviation of features with a unit, 1 for all others; `quantities` (p,) says which.
    """

    X: Any
    places: Indices
    mean: Floats
    spread: Floats
    quantities: Bools


def sample_rows(trained: TrainedModel, table: Table | TableSource) -> SampledRows:
    """Return evenly spaced rows of the table that the model was trained on."""
    model = trained.model
    known = without_missing_target(table, model.target, "impute")[0]
    sampled = evenly(known.n_rows, MOST_SAMPLED)
    mask = np.zeros(known.n_rows, dtype=np.bool_)
    mask[sampled] = True
    encoded = encode_source(model.encoding, known.select(mask))
    kept = sampled[encoded.kept]
    if not model.encoding.columns:
        return SampledRows(encoded.X, kept, np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.bool_))
    design: Design = make_design(encoded.X, intercept=False)
    quantities = np.zeros(len(model.encoding.feature_names), dtype=np.bool_)
    for column, place in zip(model.encoding.columns, model.encoding.places, strict=True):
        quantities[place.start] = column.kind in QUANTITIES  # not the indicators of missing values
    mean = np.asarray(design.rmatvec(np.ones(design.shape[0]))) / design.shape[0]
    scales = model.options.get("scales")
    rows = TrainingRows(encoded.X, kept, quantities=quantities)
    spread = standard_deviations(rows) if scales is None else np.asarray(scales, dtype=np.float64)
    return SampledRows(encoded.X, kept, mean, spread, quantities)


def evenly(count: int, most: int) -> Indices:
    """Return at most `most` equally spaced indices below `count`."""
    return np.arange(0, count, max(1, -(-count // most)), dtype=np.intp)


def coefficient_table(trained: TrainedModel) -> InferenceTable:
    """Return the table of inference, or the bare coefficients with the reason why there is none."""
    model = trained.model
    if trained.fitted.table is not None:
        return replace(trained.fitted.table, target=model.target)
    outputs = [None] if len(model.coef) == 1 else list(model.classes or ())[: len(model.coef)]
    fitted = model.fit_intercept
    coefs = np.column_stack([model.intercept, model.coef]) if fitted else model.coef
    names = (INTERCEPT, *model.encoding.feature_names) if fitted else model.encoding.feature_names
    pairs = list(zip(outputs, coefs, strict=True))
    reason = model.no_covariance or "the fit has no table of inference"
    table = estimates_only_table("linear", names, pairs, float(model.data.get("rows", 0)), reason)
    return replace(table, target=model.target)


def _undrawn(classes: int) -> str:
    return f" {classes:,} more classes are not drawn." if classes else ""


def profile_picture(name: str, values: Floats, logliks: Floats, supremum: float, limit: float) -> Picture:
    """Draw the log-likelihood of a coefficient without a finite estimate, and which values the data reject."""
    (panel,) = new_panels(height=2.9)
    rises = bool(logliks[-1] > logliks[0])
    ends = sorted([float(values[0] if rises else values[-1]), limit])
    panel.axvspan(*ends, color=PROOF, alpha=0.14, linewidth=0.0)
    panel.axvline(limit, color=PROOF, linewidth=2.0)
    panel.axhline(supremum, color=PROOF, linewidth=1.5, linestyle="--")
    panel.plot(values, logliks, color=INK, linewidth=2.5)
    panel.set(xlabel="coefficient", ylabel="log-likelihood", xlim=(float(values[0]), float(values[-1])))
    way = "rises" if rises else "falls"
    title = f"The log-likelihood grows as the coefficient of {name!r} {way}, and never turns"
    reached = f"{supremum:.4g}".replace("-", "−")
    note = f"Dashed: the supremum, {reached}, which is never reached. Shaded: values outside the confidence interval."
    return finished([panel], f"The profile of the log-likelihood of {name}", title, note)


def classifier_pictures(evaluation: ClassifierEvaluation, where: str) -> Iterator[Picture]:
    """Draw ROC, precision and recall, and calibration if there are probabilities; `where` says on which rows."""
    fewer, auc = replace(evaluation, rankings=evaluation.rankings[: len(COLOURS)]), evaluation.auc
    left = len(evaluation.rankings) - len(fewer.rankings)
    note = f"Evaluated {where}.{_undrawn(left)}"
    (panel,) = new_panels(height=3.8)
    roc(fewer, ax=panel)
    yield finished([panel], f"ROC curve, area {auc}", _auc_sentence(evaluation), note)
    (panel,) = new_panels(height=3.8)
    precision_recall(fewer, ax=panel)
    precisions = ", ".join(f"{ranking.average_precision:.3g}" for ranking in fewer.rankings)
    alt = f"Precision over recall, average precision {precisions}"
    yield finished([panel], alt, f"Average precision is {precisions}, over all recalls", note)
    if evaluation.reliability is not None:
        panels = new_panels(2, 4.4, (3.0, 1.0))
        calibration(evaluation, axes=panels)
        alt = f"Calibration curve, calibration error {evaluation.reliability.error:.4g}"
        yield finished(panels, alt, *calibration_sentences(evaluation))


def _auc_sentence(evaluation: ClassifierEvaluation) -> str:
    """Return the meaning of the area under the ROC curve."""
    auc, count = evaluation.auc, len(evaluation.classes)
    if auc.value is None:
        return f"there is no area under the ROC curve: {auc.absent}"
    if count > 2:
        return f"AUC {auc.value:.3g}, the mean of {count} classes, each against the rest"
    negative, positive = map(repr, evaluation.classes)
    return f"AUC {auc.value:.3g}: in {percent(auc.value)} of pairs, {positive} has a higher score than {negative}"


def prediction_picture(trained: TrainedModel) -> Picture:
    """Draw observed against predicted values."""
    predicted = np.asarray(trained.predictions.scores, dtype=np.float64)
    known = np.flatnonzero(np.isfinite(predicted))
    rows = known[evenly(len(known), DRAWN_RESIDUALS)]
    (panel,) = new_panels()
    draw_predictions(np.asarray(trained.target.y, dtype=np.float64)[rows], predicted[rows], panel)
    note = f"{len(rows):,} of {counted(len(known), 'training row')} are drawn."
    off = float(np.sqrt(np.mean((predicted[known] - np.asarray(trained.target.y, dtype=np.float64)[known]) ** 2)))
    title = f"Predictions of training rows are off by {digits(off)} (root mean square)"
    return finished([panel], "Observed against predicted values", title, note)


def influence_of(trained: TrainedModel, table: Table | TableSource) -> tuple[Influence, Diagnosis] | None:
    """Return the influence and diagnosis of a least squares fit that may be tested; None if too large to repeat."""
    model = trained.model
    entries = int(model.data.get("rows", 0)) * (1 + len(model.encoding.feature_names))
    refused = isinstance(trained.fitted.inference, RefusedInference)
    if trained.fitted.result.certificate.kind != "least-squares" or refused or entries > MOST_ENTRIES:
        return None
    encoded = encode_source(model.encoding, without_missing_target(table, model.target, "impute")[0])
    target = trained.target.select(encoded.kept)
    names = list(model.encoding.feature_names)
    design = make_design(encoded.X, intercept=model.fit_intercept, names=names)
    problem = Problem(design, np.asarray(target.y, dtype=np.float64), Squared(), weights=target.weights)
    rows = Influence(problem, fit_least_squares(problem), np.flatnonzero(encoded.kept))
    terms = {
        column.name: model.encoding.feature_names[place]
        for column, place in zip(model.encoding.columns, model.encoding.places, strict=True)
    }
    return rows, diagnose_rows(rows, terms)


def diagnostic_pictures(rows: Influence, diagnosis: Diagnosis) -> Iterator[Picture]:
    """Draw the four diagnostic plots of a least squares fit."""
    panels = [new_panels()[0] for _ in DIAGNOSTIC_PANELS]
    draw_diagnostics(rows, diagnosis, panels)
    for panel, name in zip(panels, DIAGNOSTIC_PANELS, strict=True):
        sentence = " ".join(panel.get_title(loc="left").split()).removeprefix(f"{name}: ")
        yield finished([panel], f"Residuals, to check {name}", f"{name}: {diagnosis.check(name).verdict}", sentence)


def no_boundary(trained: TrainedModel) -> str:
    """Return why no boundary can be drawn, an empty string if one can."""
    classes = trained.model.classes
    if classes is None:
        return "a number has no boundary"
    if trained.model.kernel is not None:
        return "the boundary of a kernel machine is not drawn here; sx.plot.boundary draws it"
    numbers = sum(column.kind in QUANTITIES for column in trained.model.encoding.columns)
    if numbers < 2:
        return f"a boundary needs two numeric columns, and the model uses {counted(numbers, 'such column')}"
    if len(classes) > len(COLOURS):
        return f"{len(classes):,} classes are too many to tell apart by colour"
    return ""


def boundary_picture(trained: TrainedModel, rows: SampledRows) -> Picture:
    """Draw the boundary in the plane of the two numeric columns with the largest weights."""
    model = trained.model
    pair = _heaviest(model, rows)
    names = model.encoding.feature_names[pair[0]], model.encoding.feature_names[pair[1]]
    shown = evenly(rows.X.shape[0], DRAWN_POINTS)
    points = rows.X[shown][:, list(pair)]
    points = np.asarray(points.toarray() if hasattr(points, "toarray") else points)
    (panel,) = new_panels(height=4.0)
    plane, labels = _plane(model, rows, pair, names), trained.target.y[rows.places[shown]]
    boundary(plane, points, labels, ax=panel)
    others, used = len(rows.mean) - 2, int(model.data.get("rows", len(shown)))
    note = f"{names[0]!r} and {names[1]!r} are the numeric columns with the largest weights per standard deviation."
    if others:
        fixed = "at the mean, or at the level of most rows"
        note += f" A slice: {counted(others, 'other feature')} fixed {fixed}; rows are projected onto it."
    if len(shown) < used:
        note += f" {len(shown):,} of {counted(used, 'row')} are drawn."
    alt = f"Rows by class, and the predicted regions, along {names[0]} and {names[1]}"
    right = int(np.sum(plane.predict(points) == labels))
    of = counted(len(shown), "row")
    title = f"Along {names[0]!r} and {names[1]!r}, {right:,} of {of} lie in the region of their class"
    return finished([panel], alt, title, note)


def _heaviest(model: Model, rows: SampledRows) -> tuple[int, int]:
    """Return the two features with a unit that have the largest weights per standard deviation, in their order."""
    sizes = np.abs(model.coef - model.coef.mean(axis=0) if len(model.coef) > 1 else model.coef).max(axis=0)
    sizes = np.where(rows.quantities, sizes * rows.spread, -1.0)
    first, second = np.sort(np.argsort(-sizes, kind="stable")[:2]).tolist()
    return first, second


def _plane(model: Model, rows: SampledRows, pair: tuple[int, int], names: tuple[str, str]) -> SimpleNamespace:
    """Return the model in the plane, as `boundary` expects it; a margin is drawn only without other features."""
    coef, mean = model.coef[:, list(pair)], np.where(rows.quantities, rows.mean, np.round(rows.mean))
    mean[list(pair)] = 0.0
    intercept, labels = model.intercept + model.coef @ mean, label_array(model.classes or ())

    def scores(points: Any) -> Floats:
        return np.asarray(points @ coef.T + intercept)

    plane = SimpleNamespace(
        classes_=labels,
        feature_names_in_=names,
        threshold=model.rule.threshold,
        loss=str(model.options.get("loss", "")) if len(mean) == 2 else "",
        decision_function=lambda points: scores(points)[:, 0] if len(coef) == 1 else scores(points),
        predict=lambda points: labels[model.rule.classes(scores(points))],
    )
    if model.rule.link != "none":
        plane.predict_proba = lambda points: model.rule.probabilities(scores(points))
    return plane


def trace_pictures(trained: TrainedModel) -> Iterator[Picture]:
    """Draw the convergence of a fit that took more than one step, of at most as many classes as there are colours."""
    result, most = trained.fitted.result, len(COLOURS)
    left = max(0, len(result.parts) - most)
    result = replace(result, parts=result.parts[:most])
    steps, kinds = trace_panels(result)
    if not kinds or max(len(each["passes"]) for each in steps.values()) < 2:
        return
    panels = [new_panels(height=2.9)[0] for _ in kinds]
    trace(result, panels)
    for panel, kind in zip(panels, kinds, strict=True):
        panel.set_xlabel("passes over the rows")
        if values := _changing(kind.facts[0], steps):
            sentence = _trace_sentence(kind.facts[0], values)
            yield finished([panel], f"Convergence: {kind.label}", sentence, _undrawn(left))


def _changing(fact: str, steps: Mapping[Any, Mapping[str, Floats]]) -> list[Floats]:
    """Return the finite values of a fact in each fit; none if they are all the same."""
    known = [each[fact][np.isfinite(each[fact])] for each in steps.values() if fact in each]
    values = [column for column in known if len(column)]
    changes = (float(np.ptp(column)) > UNCHANGED * float(np.abs(column).max()) for column in values)
    return values if any(changes) else []


def _trace_sentence(fact: str, values: Sequence[Floats]) -> str:
    """Return how a fact changed, of several fits the largest."""
    first, last = (max(float(column[place]) for column in values) for place in (0, -1))
    end = f"{last:.3g}" if last > TINIEST or fact != "relative_excess" else f"below {TINIEST:g}"
    moved = f"{'fell' if last < first else 'rose' if last > first else 'moved'} from {first:.3g} to {end}"
    return f"{TRACED[fact]} {moved}" + (f" (the largest of {len(values)} classes)" if len(values) > 1 else "")
