"""A classifier's decision boundary in the plane of two columns: regions, probabilities, margin, support vectors.

With two columns the plane is the whole space; with more it is a slice through the mean of the rows, or through a given
point, and the title says so: rows are projected onto it and may appear on the wrong side of the boundary. The model is
evaluated on a grid, so that any classifier can be drawn. Classes differ by colour and marker: of two, the second, which
is +1, is a blue disc and the first an orange square. Wrongly predicted rows are hollow. Where the model has
probabilities, regions are shaded by them and, for two classes, contours are labelled. Cost: a pass over the rows for
the mean, and predictions for GRID² rows, in batches.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.base import Block, Design
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError, did_you_mean
from separatrix.inference.evaluation import label_codes
from separatrix.numerics import logit
from separatrix.reports.display import (
    CARD,
    COLOURS,
    INK,
    MARKERS,
    SOFT,
    Display,
    class_places,
    one_panel,
    set_title,
    short,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


GRID = 150  # points along each side
BATCH_ENTRIES = 2_000_000  # of the rows predicted at once
PADDING = 0.06  # of the range of a column, on both sides
DRAWN = 5000  # rows, at most
MARKER_SIZES = ((12, 228.0), (60, 117.0), (400, 52.0), (DRAWN, 16.0))  # most rows, area in square points
RING = 7.0  # points by which the ring of a support vector is wider than its marker
DEPTH = 0.45  # opacity of a region where the model is certain
FLAT = 0.5  # share of that depth if the model has no probabilities
CONTOURS = (0.1, 0.25, 0.75, 0.9)  # probabilities
MARGIN_TOLERANCE = 1e-6
HINGES = {"hinge", "squared_hinge"}


def boundary(
    model: Any, X: Any, y: Any, columns: Sequence[int | str] | None = None, *, at: Any = None, ax: Axes | None = None
) -> Display:
    """Draw a fitted classifier's boundary in the plane of two columns, among the rows.

    Parameters
    ----------
    model : any fitted classifier, linear or not
    X : (n, p) rows
    y : (n,) their labels
    columns : two columns, by index or name; None for those with the largest weights per standard deviation
    at : (p,) values at which the other columns are fixed; None for their means
    ax : axes to draw on; None for new ones

    Examples
    --------
    >>> import separatrix as sx
    >>> X = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]]
    >>> y = [1, 1, -1, -1, -1]
    >>> display = sx.plot.boundary(sx.MaxMarginClassifier().fit(X, y), X, y)
    >>> display.ax.get_title(), display.data["support_vectors"].shape
    ('0 of 5 rows predicted wrong', (4, 2))
    """
    if not hasattr(model, "classes_"):
        raise OptionError(f"{model!r} has no classes to draw a boundary of; give a fitted classifier")
    plane = make_slice(model, X, columns, at)
    labels = np.asarray(model.classes_).tolist()
    codes = label_codes(y, labels, "y")
    right = np.asarray(model.predict(X) == np.asarray(y))
    with styled():
        axes = one_panel(ax, 7.0, 5.5)
        _shade(axes, plane, len(labels))
        lines = _lines(axes, plane)
        margins: list[Floats] = []
        if _has_margin(model) and plane.scores.shape[2] == 1:
            margins = _contours(axes, plane, [plane.scores[:, :, 0]], [-1.0, 1.0], "--", 1.0, "margin: score ±1")
        drawn = _points(axes, plane.points, codes, labels, right)
        support = _support(model, X, codes)[:, list(plane.columns)] if _has_margin(model) else np.zeros((0, 2))
        if len(support):
            size = (math.sqrt(_marker_size(len(plane.points))) + RING) ** 2
            ring: dict[str, Any] = {"facecolors": "none", "edgecolors": INK, "s": size, "linewidths": 1.1, "zorder": 3}
            axes.scatter(support[:, 0], support[:, 1], **ring, label=f"support vectors ({len(support):,})")
        _label(axes, plane, int((~right).sum()), drawn)
        return Display((axes,), {**plane._asdict(), "boundary": lines, "margin": margins, "support_vectors": support})


class Slice(NamedTuple):
    """A plane: its two columns, the point `at` (p,) where the others are fixed, and the model on a grid.

    `points` (n, 2) are the rows projected on the plane; `x`, `y` (g,) the grid; `scores` (g, g, K), for two classes
    (g, g, 1) and 0 on the boundary; `probabilities` (g, g, K) or None; `classes` (g, g) indices of predicted classes.
    """

    columns: tuple[int, int]
    names: tuple[str, str]
    at: Floats
    held: str
    points: Floats
    x: Floats
    y: Floats
    scores: Floats
    probabilities: Floats | None
    classes: Indices


def make_slice(model: Any, X: Any, columns: Sequence[int | str] | None, at: Any) -> Slice:
    """Return the plane of two columns, by index or name; None for the two with the largest weights."""
    names = getattr(X, "columns", getattr(model, "feature_names_in_", None))
    design = make_design(X, intercept=False, names=None if names is None else list(map(str, names)))
    p = design.shape[1]
    if p < 2:
        raise OptionError("a boundary is drawn in the plane of two columns, and the data have 1")
    centre = np.asarray(design.rmatvec(np.ones(design.shape[0]))) / design.shape[0]
    chosen = _heaviest(model, design, centre) if columns is None else _places(columns, design.names)
    fixed = centre if at is None else np.asarray(at, dtype=np.float64)
    if fixed.shape != (p,) or not np.isfinite(fixed).all():
        raise DataError(f"at must be {p} finite numbers, one per column; got shape {fixed.shape}")
    projection = np.zeros((p, 2))
    projection[chosen, (0, 1)] = 1.0
    points = design.matvec(projection)
    x, y = (_range(points[:, side]) for side in (0, 1))
    grid = np.column_stack([each.ravel() for each in np.meshgrid(x, y)])

    def evaluate(name: str) -> NDArray[Any] | None:
        method = getattr(model, name, None)
        return None if method is None else _in_batches(method, X, fixed, chosen, grid)

    probabilities, labels = evaluate("predict_proba"), evaluate("predict")
    assert labels is not None  # a classifier predicts
    codes = {label: code for code, label in enumerate(np.asarray(model.classes_).tolist())}
    classes = np.array([codes[label] for label in labels.tolist()], dtype=np.intp)
    shape = len(y), len(x), -1
    return Slice(
        columns=chosen,
        names=(design.names[chosen[0]], design.names[chosen[1]]),
        at=fixed,
        held="as given" if at is not None else "at their means" if p > 3 else "at its mean",
        points=points,
        x=x,
        y=y,
        scores=_scores(model, evaluate("decision_function"), probabilities).reshape(shape),
        probabilities=None if probabilities is None else probabilities.reshape(shape),
        classes=classes.reshape(shape[:2]),
    )


def _in_batches(method: Any, X: Any, at: Floats, columns: tuple[int, int], grid: Floats) -> NDArray[Any]:
    """Return the values of a model's method at the points (m, 2) of a plane."""
    size = max(1, BATCH_ENTRIES // len(at))
    parts = []
    for start in range(0, len(grid), size):
        points = grid[start : start + size]
        rows = np.tile(at, (len(points), 1))
        rows[:, list(columns)] = points
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            parts.append(np.asarray(method(type(X)(rows, columns=X.columns) if hasattr(X, "iloc") else rows)))
    return np.concatenate(parts)


def _scores(model: Any, scores: Floats | None, probabilities: Floats | None) -> Floats:
    """Return scores (m, K), for two classes (m, 1) and 0 on the boundary."""
    threshold = getattr(model, "threshold", 0.5)
    if scores is not None:
        level = float(logit(threshold)) if threshold != 0.5 else 0.0
        return scores[:, np.newaxis] - level if scores.ndim == 1 else scores
    if probabilities is None:
        raise OptionError(f"{model!r} has neither scores nor probabilities to draw a boundary of")
    return probabilities[:, 1:] - threshold if probabilities.shape[1] == 2 else probabilities


def _heaviest(model: Any, design: Design, centre: Floats) -> tuple[int, int]:
    """Return the two columns with the largest weights per standard deviation, in their order."""
    p = design.shape[1]
    if p == 2:
        return 0, 1
    parts = getattr(model, "estimators_", [model])
    if not all(hasattr(part, "coef_") for part in parts):
        raise OptionError(f"the model has no weights to choose columns by; give two of {p} as columns=")
    weights = np.abs(np.vstack([part.coef_ for part in parts])).max(axis=0)
    squares = np.asarray(design.fold(_squares, centre)) / design.shape[0]
    first, second = np.sort(np.argsort(-weights * np.sqrt(squares), kind="stable")[:2]).tolist()
    return first, second


def _squares(block: Block, centre: Floats) -> Floats:
    ones = np.ones(block.stop - block.start)
    return np.maximum(block.column_squares(ones) - 2.0 * centre * block.rmatvec(ones) + len(ones) * centre**2, 0.0)


def _places(columns: Sequence[int | str], names: Sequence[str]) -> tuple[int, int]:
    """Return the indices of two columns given by index or name."""
    if isinstance(columns, str) or len(columns) != 2 or columns[0] == columns[1]:
        raise OptionError(f"columns={columns!r} is no pair; give two different columns, by place or name")
    places = []
    for column in columns:
        place = names.index(column) if isinstance(column, str) and column in names else column
        if isinstance(place, str):
            raise OptionError(f"there is no column {place!r}{did_you_mean(place, names)}")
        if not 0 <= place < len(names):
            raise OptionError(f"there is no column {place}; give places from 0 to {len(names) - 1}, or names")
        places.append(int(place))
    return places[0], places[1]


def _range(values: Floats) -> Floats:
    low, high = float(values.min()), float(values.max())
    reach = PADDING * (high - low) if high > low else 1.0
    return np.linspace(low - reach, high + reach, GRID)


def _has_margin(model: Any) -> bool:
    """Return whether the model is a support vector machine, whose scores of ±1 are its margin."""
    return hasattr(model, "support_vectors_") or getattr(model, "loss", None) in HINGES


def _shade(axes: Axes, plane: Slice, classes: int) -> None:
    """Colour each region by its class and the model's certainty."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415  # half a second that only a plot should cost

    certainty = np.full(plane.classes.shape, FLAT)
    if plane.probabilities is not None:
        chance = 1.0 / plane.probabilities.shape[2]
        certainty = (plane.probabilities.max(axis=2) - chance) / (1.0 - chance)
    places = np.array(class_places(classes))[plane.classes] % len(COLOURS)
    colours = np.array([to_rgb(colour) for colour in COLOURS])[places]
    image = np.concatenate([colours, DEPTH * certainty[:, :, np.newaxis]], axis=2)
    extent = (plane.x[0], plane.x[-1], plane.y[0], plane.y[-1])
    axes.imshow(image, origin="lower", extent=extent, aspect="auto", interpolation="nearest", zorder=0)
    if plane.probabilities is not None and plane.probabilities.shape[2] == 2:
        second = plane.probabilities[:, :, 1]
        levels = [level for level in CONTOURS if second.min() < level < second.max()]
        if levels:
            lines = axes.contour(plane.x, plane.y, second, levels, colors=SOFT, linewidths=0.7, linestyles="dotted")
            axes.clabel(lines, fmt="%g", fontsize="x-small")


def _lines(axes: Axes, plane: Slice) -> list[Floats]:
    """Draw the lines where the predicted class changes; return their points."""
    scores = plane.scores
    fields = [scores[:, :, 0]]
    if scores.shape[2] > 1:  # each class's score minus the highest other score
        places = range(scores.shape[2])
        fields = [scores[:, :, place] - np.delete(scores, place, axis=2).max(axis=2) for place in places]
    return _contours(axes, plane, fields, [0.0], "-", 2.0, "boundary")


def _contours(
    axes: Axes, plane: Slice, fields: Sequence[Floats], levels: Sequence[float], style: str, width: float, label: str
) -> list[Floats]:
    lines: list[Floats] = []
    for field in fields:
        inside = [level for level in levels if field.min() < level < field.max()]
        if inside:
            drawn = axes.contour(plane.x, plane.y, field, inside, colors=INK, linestyles=style, linewidths=width)
            lines += [np.asarray(part) for level in drawn.allsegs for part in level if len(part)]
    if lines:
        axes.plot([], [], style, color=INK, linewidth=width, label=label)
    return lines


def _points(axes: Axes, points: Floats, codes: Indices, labels: Sequence[Any], right: Bools) -> int:
    """Draw the rows, hollow if predicted wrong, at most `DRAWN` of them; return how many."""
    shown = np.arange(0, len(points), -(-len(points) // DRAWN))
    size = _marker_size(len(points))
    places = class_places(len(labels))
    for code in np.unique(codes):
        fill, marker = COLOURS[places[code] % len(COLOURS)], MARKERS[places[code] % len(MARKERS)]
        label = f"{short(labels[code])} ({(codes == code).sum():,})"
        own = shown[codes[shown] == code]
        style: dict[str, Any] = {"s": size, "marker": marker, "zorder": 2}
        halo = min(1.0, size / 50.0)
        axes.scatter(*points[own].T, facecolors=fill, edgecolors=CARD, linewidths=halo, label=label, **style)
        wrong, stroke = points[own[~right[own]]].T, 0.16 * np.sqrt(size)
        axes.scatter(*wrong, facecolors=CARD, edgecolors=fill, linewidths=stroke, **style)
    return len(shown)


def _marker_size(rows: int) -> float:
    """Return the area of the marker of a row, in square points."""
    return next((size for most, size in MARKER_SIZES if rows <= most), MARKER_SIZES[-1][1])


def _support(model: Any, X: Any, codes: Indices) -> Floats:
    """Return the features of the support vectors: the model's own, or the rows on or inside the margin."""
    if hasattr(model, "support_vectors_"):
        return np.asarray(model.support_vectors_)
    scores = np.asarray(model.decision_function(X))
    scores = scores[:, np.newaxis] if scores.ndim == 1 else scores
    sides = np.arange(scores.shape[1]) + (1 if scores.shape[1] == 1 else 0)
    signs = np.where(codes[:, np.newaxis] == sides, 1.0, -1.0)
    rows = np.flatnonzero((signs * scores <= 1.0 + MARGIN_TOLERANCE).any(axis=1))
    support: Any = X.iloc[rows] if hasattr(X, "iloc") else X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]
    return np.asarray(support.toarray() if hasattr(support, "toarray") else support, dtype=np.float64)


def _label(axes: Axes, plane: Slice, wrong: int, drawn: int) -> None:
    n, others = len(plane.points), len(plane.at) - 2
    title = f"{wrong:,} of {n:,} rows predicted wrong"
    if others:
        columns = f"{others} other columns" if others > 1 else "the other column"
        title += f"\na slice, {columns} held {plane.held}; rows are seen from the side"
    if drawn < n:
        title += f"\n{drawn:,} of {n:,} rows are drawn"
    set_title(axes, title, "medium")
    axes.set(xlabel=short(plane.names[0]), ylabel=short(plane.names[1]))
    axes.set(xlim=plane.x[[0, -1]], ylim=plane.y[[0, -1]])
    axes.legend(frameon=True, facecolor=CARD, framealpha=0.8, edgecolor="none")  # regions are coloured below it
