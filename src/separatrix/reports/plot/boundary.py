"""A classifier's decision boundary in the plane of two columns: regions, probabilities, margin, support vectors.

With two columns the plane is the whole space. With more it is a slice at the mean of the other columns, or at a given
point: rows are projected onto it and may appear on the wrong side of the boundary. The note below says which columns
were chosen, why, and where the others are fixed. The model is evaluated on a grid, so that any classifier can be drawn.
Classes differ by colour and marker: of two, the second, which is +1, is a blue disc and the first an orange square.
Wrongly predicted rows are hollow. Where the model has probabilities, regions are shaded by them and, for two classes,
contours are labelled. If the ranges of both columns are alike, they have one scale, and w is drawn as an arrow. Plum is
the widest margin, where a certificate proves it. Cost: a pass over the rows for the mean, and predictions for GRID²
rows, in batches.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from types import SimpleNamespace
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
    KEY,
    NOTE,
    TITLE,
    Display,
    Range,
    Theme,
    class_places,
    lay_out,
    marker_of,
    number,
    one_panel,
    palette,
    set_equal,
    set_key,
    set_labels,
    set_title,
    short,
    square_up,
    styled,
)
from separatrix.theory.halfspace import Halfspace

if TYPE_CHECKING:
    from matplotlib.axes import Axes


WIDTH, AROUND = 6.4, 1.4  # inches, of a new figure, and of what is above and below its panel
GRID = 150  # points along each side
BATCH_ENTRIES = 2_000_000  # of the rows predicted at once
PADDING = 0.12  # of the range of a column, on both sides
ALIKE = 4.0  # largest ratio of two ranges that are drawn to one scale
DRAWN = 5000  # rows, at most
MARKER_SIZES = ((12, 180.0), (60, 90.0), (400, 42.0), (DRAWN, 14.0))  # most rows, area in square points
RING = 7.0  # points by which the ring of a support vector is wider than its marker
DEPTH = 0.45  # opacity of a region where the model is certain
FLAT = 0.4  # share of that depth if the model has no probabilities
CONTOURS = (0.1, 0.25, 0.75, 0.9)  # probabilities
LABEL_PLACE = 0.9  # of the length of a contour
LABEL_ROOM = 30.0  # points between two labels
REGION_LETTER = 6.0  # points, the width of a letter of a region's name
ARROW, ARROW_PLACE = 0.2, 0.3  # its length, of the shorter range, and its tail, of the boundary's length
CONSTANT = 1e-7  # of the mean of a column: a smaller standard deviation is rounding
TINY = 1e-300
NAMED_FIXED = 3  # columns of a slice whose values are named
MARGIN_TOLERANCE = 1e-6
MARGIN = "margin: score ±1"
HINGES = {"hinge", "squared_hinge"}


def boundary(
    model: Any,
    X: Any,
    y: Any,
    columns: Sequence[int | str] | None = None,
    *,
    at: Any = None,
    ax: Axes | None = None,
    theme: Theme = "light",
) -> Display:
    """Draw a fitted classifier's boundary, or a `Halfspace`, in the plane of two columns, among the rows.

    Parameters
    ----------
    model : any fitted classifier, linear or not; or a `Halfspace`, whose labels are -1 and 1
    X : (n, p) rows
    y : (n,) their labels
    columns : two columns, by index or name; None for those with the largest weights per standard deviation or, of a
        model without weights, those in which the classes differ most
    at : (p,) values at which the other columns are fixed; None for their means
    ax : axes to draw on; None for new ones
    theme : "light" or "dark"

    Examples
    --------
    >>> import separatrix as sx
    >>> X = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]]
    >>> y = [1, 1, -1, -1, -1]
    >>> display = sx.plot.boundary(sx.MaxMarginClassifier().fit(X, y), X, y)
    >>> display.ax.get_title(), display.data["support_vectors"].shape
    ('All 5 rows are predicted right.', (4, 2))
    """
    model = _as_classifier(model)
    codes = label_codes(y, (labels := np.asarray(model.classes_).tolist()), "y")
    right = np.asarray(model.predict(X) == np.asarray(y))  # refuses rows that are not the model's
    plane = make_slice(model, X, codes, columns, at)
    with styled(theme):
        axes = one_panel(ax, WIDTH, _height(plane))
        axes.set(xlim=plane.x[[0, -1]], ylim=plane.y[[0, -1]])
        _shade(axes, plane, len(labels))
        if plane.equal:
            set_equal(axes)
        widest = _is_widest(model) and len(plane.at) == 2
        if widest:
            _slab(axes, plane)
        lines = _lines(axes, plane)
        margins = _margins(axes, plane, widest) if _has_margin(model) else []
        shown = np.arange(0, len(codes), -(-len(codes) // DRAWN))
        draw_rows(axes, plane.points[shown], codes[shown], labels, right[shown], np.bincount(codes))
        support = _support(model, X, codes)[:, list(plane.columns)] if _has_margin(model) else np.zeros((0, 2))
        _ring(axes, support, len(codes), palette().proof if widest else palette().ink)
        _arrow(axes, plane, lines, model)
        _finish(axes, plane, int((~right).sum()), len(shown))
        if plane.probabilities is not None or len(labels) > len(palette().classes):
            lay_out(axes)
            _label_probabilities(axes, plane)
            _label_regions(axes, plane, labels)
        return Display((axes,), {**plane._asdict(), "boundary": lines, "margin": margins, "support_vectors": support})


def _height(plane: Slice) -> float:
    """Return the height of a new figure in inches: less for a wide panel of one scale."""
    shape = (plane.y[-1] - plane.y[0]) / (plane.x[-1] - plane.x[0]) if plane.equal else 1.0
    note = 0.15 * (len(plane.note) // 80 + bool(plane.note))
    return float(AROUND + note + min(0.85 * WIDTH * shape, 0.65 * WIDTH))


def _as_classifier(model: Any) -> Any:
    """Return a classifier as it is, and a halfspace as a classifier of -1 and 1."""
    if isinstance(model, Halfspace):
        signs, weights = np.array([-1, 1]), np.atleast_2d(model.w)
        return SimpleNamespace(classes_=signs, coef_=weights, predict=model.predict, decision_function=model.score)
    if not hasattr(model, "classes_"):
        raise OptionError(f"{model!r} has no classes to draw a boundary of; give a fitted classifier or a Halfspace")
    return model


class Slice(NamedTuple):
    """A plane: its two columns, the point `at` (p,) where the others are fixed, and the model on a grid.

    `points` (n, 2) are the rows projected on the plane; `x`, `y` (g,) the grid, to one scale if `equal`; `scores`
    (g, g, K), for two classes (g, g, 1) and 0 on the boundary; `probabilities` (g, g, K) or None; `classes` (g, g)
    indices of predicted classes. `note` says which slice this is, and why; it is empty if the plane is all.
    """

    columns: tuple[int, int]
    names: tuple[str, str]
    at: Floats
    note: str
    points: Floats
    x: Floats
    y: Floats
    equal: bool
    scores: Floats
    probabilities: Floats | None
    classes: Indices


def make_rows(model: Any, X: Any) -> Design:
    """Return the rows as a design of columns named as in the frame or, without one, in the fit."""
    names = getattr(X, "columns", getattr(model, "feature_names_in_", None))
    return make_design(X, intercept=False, names=None if names is None else list(map(str, names)))


def make_slice(model: Any, X: Any, codes: Indices, columns: Sequence[int | str] | None, at: Any) -> Slice:
    """Return the plane of two columns, by index or name; None for the two that show most."""
    design = make_rows(model, X)
    p = design.shape[1]
    if p < 2:
        raise OptionError(
            "a boundary is drawn in the plane of two columns, and the data have 1; sx.plot.weight_space draws the two"
            " weights of one column"
        )
    centre = np.asarray(design.rmatvec(np.ones(design.shape[0]))) / design.shape[0]
    chosen, reason = (
        choose_columns(model, design, codes, centre) if columns is None else (places(columns, design.names), "")
    )
    fixed = centre if at is None else np.asarray(at, dtype=np.float64)
    if fixed.shape != (p,) or not np.isfinite(fixed).all():
        raise DataError(f"at must be {p} finite numbers, one per column; got shape {fixed.shape}")
    points = columns_of(design, chosen)
    ranges, equal = ranges_of(points)
    x, y = (np.linspace(*each, GRID) for each in ranges)
    grid = np.column_stack([each.ravel() for each in np.meshgrid(x, y)])

    def evaluate(name: str) -> NDArray[Any] | None:
        method = getattr(model, name, None)
        return None if method is None else _in_batches(method, X, fixed, chosen, grid)

    probabilities, labels = evaluate("predict_proba"), evaluate("predict")
    assert labels is not None  # a classifier predicts
    by_label = {label: code for code, label in enumerate(np.asarray(model.classes_).tolist())}
    classes = np.array([by_label[label] for label in labels.tolist()], dtype=np.intp)
    shape = len(y), len(x), -1
    return Slice(
        columns=chosen,
        names=(design.names[chosen[0]], design.names[chosen[1]]),
        at=fixed,
        note=_slice_note(design.names, chosen, fixed, reason, at is None),
        points=points,
        x=x,
        y=y,
        equal=equal,
        scores=_scores(model, evaluate("decision_function"), probabilities).reshape(shape),
        probabilities=None if probabilities is None else probabilities.reshape(shape),
        classes=classes.reshape(shape[:2]),
    )


def _slice_note(names: Sequence[str], chosen: tuple[int, int], at: Floats, reason: str, is_mean: bool) -> str:
    """Return where the other columns are fixed, and why the two were chosen; an empty text if there are no others."""
    others = [place for place in range(len(at)) if place not in chosen]
    if not others:
        return ""
    values = [f"{short(names[place])} = {number(at[place])}" for place in others[:NAMED_FIXED]]
    more = f" and {len(others) - NAMED_FIXED} more" if len(others) > NAMED_FIXED else ""
    which = " (mean)" if is_mean and len(others) == 1 else " (means)" if is_mean else ""
    return f"Slice at {', '.join(values)}{more}{which}; rows are projected onto it.{reason}"


def columns_of(design: Design, chosen: tuple[int, int]) -> Floats:
    """Return two columns of all rows, (n, 2)."""
    projection = np.zeros((design.shape[1], 2))
    projection[chosen, (0, 1)] = 1.0
    return np.asarray(design.matvec(projection))


def ranges_of(points: Floats) -> tuple[tuple[Range, Range], bool]:
    """Return padded ranges of two columns, and whether they are drawn to one scale."""
    ranges = _range(points[:, 0]), _range(points[:, 1])
    squared = square_up(*ranges, ALIKE)
    return squared or ranges, squared is not None


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


def choose_columns(model: Any, design: Design, codes: Indices, centre: Floats) -> tuple[tuple[int, int], str]:
    """Return the two columns that show most, in their order, and the reason."""
    p = design.shape[1]
    if p == 2:
        return (0, 1), ""
    squares = np.sqrt(np.asarray(design.fold(_squares, centre)) / design.shape[0])
    parts = getattr(model, "estimators_", [model])
    if all(hasattr(part, "coef_") for part in parts):
        sizes = np.abs(np.vstack([part.coef_ for part in parts])).max(axis=0) * squares
        reason = " These two columns have the largest weights per standard deviation."
    else:
        varying = squares > CONSTANT * np.abs(centre)
        sizes = np.where(varying, _separation(design, codes, centre) / np.where(varying, squares, 1.0), 0.0)
        reason = " In these two columns the means of the classes differ most."
    first, second = np.sort(np.argsort(-sizes, kind="stable")[:2]).tolist()
    return (first, second), reason


def _separation(design: Design, codes: Indices, centre: Floats) -> Floats:
    """Return the spread of the classes' means in each column, (p,)."""
    present = np.unique(codes)
    shares = np.column_stack([(codes == code) / np.sum(codes == code) for code in present])
    means = np.column_stack([design.rmatvec(share) for share in shares.T])
    return np.asarray(np.abs(means - centre[:, np.newaxis]).max(axis=1))


def _squares(block: Block, centre: Floats) -> Floats:
    ones = np.ones(block.stop - block.start)
    return np.maximum(block.column_squares(ones) - 2.0 * centre * block.rmatvec(ones) + len(ones) * centre**2, 0.0)


def places(columns: Sequence[int | str], names: Sequence[str]) -> tuple[int, int]:
    """Return the indices of two columns given by index or name."""
    if isinstance(columns, str) or len(columns) != 2 or columns[0] == columns[1]:
        raise OptionError(f"columns={columns!r} is no pair; give two different columns, by place or name")
    found = []
    for column in columns:
        place = names.index(column) if isinstance(column, str) and column in names else column
        if isinstance(place, str):
            raise OptionError(f"there is no column {place!r}{did_you_mean(place, names)}")
        if not 0 <= place < len(names):
            raise OptionError(f"there is no column {place}; give places from 0 to {len(names) - 1}, or names")
        found.append(int(place))
    return found[0], found[1]


def _range(values: Floats) -> Range:
    low, high = float(values.min()), float(values.max())
    reach = PADDING * (high - low) if high > low else 1.0
    return low - reach, high + reach


def _has_margin(model: Any) -> bool:
    """Return whether the model is a support vector machine, whose scores of ±1 are its margin."""
    return hasattr(model, "support_vectors_") or getattr(model, "loss", None) in HINGES


def _is_widest(model: Any) -> bool:
    """Return whether a certificate proves that the margin is the widest."""
    return getattr(getattr(model, "certificate_", None), "verdict", "") == "widest margin"


def _slab(axes: Axes, plane: Slice) -> None:
    """Hatch the widest margin."""
    tones, field = palette(), plane.scores[:, :, 0]
    inside = axes.contourf(plane.x, plane.y, field, [-1.0, 1.0], colors=[tones.proof_tint], hatches=["//"], zorder=1)
    inside.set(edgecolor=tones.proof_hatch, linewidth=0.0)


def _shade(axes: Axes, plane: Slice, classes: int) -> None:
    """Colour each region by its class and the model's certainty."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415  # half a second that only a plot should cost

    certainty = np.full(plane.classes.shape, FLAT)
    if plane.probabilities is not None:
        chance = 1.0 / plane.probabilities.shape[2]
        certainty = (plane.probabilities.max(axis=2) - chance) / (1.0 - chance)
    colours = np.array([to_rgb(palette().of_class(place)) for place in class_places(classes)])[plane.classes]
    image = np.concatenate([colours, DEPTH * certainty[:, :, np.newaxis]], axis=2)
    extent = (plane.x[0], plane.x[-1], plane.y[0], plane.y[-1])
    axes.imshow(image, origin="lower", extent=extent, aspect="auto", interpolation="nearest", zorder=0)


def _label_probabilities(axes: Axes, plane: Slice) -> None:
    """Draw contours of equal probability of two classes, labelled towards their ends where there is room."""
    if plane.probabilities is None or plane.probabilities.shape[2] != 2:
        return
    second = plane.probabilities[:, :, 1]
    levels = [level for level in CONTOURS if second.min() < level < second.max()]
    if not levels:
        return
    style: dict[str, Any] = {"colors": palette().soft, "linewidths": 0.7, "linestyles": "dotted"}
    drawn = axes.contour(plane.x, plane.y, second, levels, **style)
    taken: list[Floats] = []
    outermost = sorted(zip(drawn.levels, drawn.allsegs, strict=True), key=lambda each: -abs(each[0] - 0.5))
    for level, parts in outermost:
        line = max(parts, key=len)
        at = line[int(LABEL_PLACE * (len(line) - 1))]
        pixels = axes.transData.transform(at) * 72.0 / axes.figure.dpi
        if all((np.abs(pixels - other) > LABEL_ROOM).any() for other in taken) and _inside(axes, pixels, LABEL_ROOM):
            taken.append(pixels)
            box = {"facecolor": palette().card, "edgecolor": "none", "pad": 0.8, "alpha": 0.75}
            centred: dict[str, Any] = {"ha": "center", "va": "center", "bbox": box}
            axes.text(at[0], at[1], f"{100.0 * level:g} %", fontsize=NOTE, color=palette().soft, **centred)


def _inside(axes: Axes, points: Floats, room: float | Floats) -> bool:
    """Return whether a label that needs some room at a place, in points of the figure, is within the panel."""
    corners = axes.get_window_extent().get_points() * 72.0 / axes.figure.dpi
    return bool((points > corners[0] + room / 2.0).all() and (points < corners[1] - room / 2.0).all())


def _lines(axes: Axes, plane: Slice) -> list[Floats]:
    """Draw the lines where the predicted class changes; return their points."""
    scores = plane.scores
    fields = [scores[:, :, 0]]
    if scores.shape[2] > 1:  # each class's score minus the highest other score
        places = range(scores.shape[2])
        fields = [scores[:, :, place] - np.delete(scores, place, axis=2).max(axis=2) for place in places]
    return _contours(axes, plane, fields, [0.0], (palette().ink, "-", 2.0, "boundary"))


def _contours(
    axes: Axes, plane: Slice, fields: Sequence[Floats], levels: Sequence[float], style: tuple[str, str, float, str]
) -> list[Floats]:
    """Draw contours in a colour, style and width, with a label; return their points."""
    lines: list[Floats] = []
    ink, dashes, width, label = style
    for field in fields:
        inside = [level for level in levels if field.min() < level < field.max()]
        if inside:
            drawn = axes.contour(plane.x, plane.y, field, inside, colors=ink, linestyles=dashes, linewidths=width)
            lines += [np.asarray(part) for level in drawn.allsegs for part in level if len(part)]
    if lines:
        axes.plot([], [], dashes, color=ink, linewidth=width, label=label)
    return lines


def _arrow(axes: Axes, plane: Slice, lines: Sequence[Floats], model: Any) -> None:
    """Draw w as an arrow from the boundary, where one scale shows that it is perpendicular."""
    weights = np.asarray(getattr(model, "coef_", np.zeros((0, 0))))
    if not plane.equal or not lines or weights.shape != (1, len(plane.at)):
        return
    normal, line = weights[0, list(plane.columns)], max(lines, key=len)
    tail = line[int(ARROW_PLACE * (len(line) - 1))]
    reach = ARROW * min(plane.x[-1] - plane.x[0], plane.y[-1] - plane.y[0])
    if normal.any():
        draw_arrow(axes, tail, tail + reach * normal / float(np.hypot(*normal)), "w")


def draw_arrow(axes: Axes, tail: Floats, head: Floats, label: str) -> None:
    """Draw an arrow in ink, with its label in italics beyond the head."""
    style: dict[str, Any] = {"arrowstyle": "-|>", "color": palette().ink, "linewidth": 2.0, "mutation_scale": 13.0}
    end, start = (float(head[0]), float(head[1])), (float(tail[0]), float(tail[1]))
    axes.annotate("", end, start, arrowprops={**style, "shrinkA": 0.0, "shrinkB": 0.0}, zorder=4)
    direction = head - tail
    beyond: Any = tuple(8.0 * direction / max(float(np.hypot(*direction)), TINY))
    text: dict[str, Any] = {"family": "serif", "style": "italic", "fontsize": TITLE - 1.0, "zorder": 5}
    text["path_effects"] = [halo()]
    text |= {"xytext": beyond, "textcoords": "offset points", "ha": "center", "va": "center"}
    axes.annotate(label, end, **text)


def halo() -> Any:
    """Return the effect of a text that stays readable on marks."""
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    return withStroke(linewidth=2.5, foreground=palette().card)


def draw_rows(
    axes: Axes, points: Floats, codes: Indices, labels: Sequence[Any], right: Bools, counts: Indices | None = None
) -> None:
    """Draw rows (n, 2) by class, hollow if predicted wrong; `counts` of all rows by class are in the key."""
    by_class, tones = class_places(len(labels)), palette()
    counts = np.bincount(codes) if counts is None else counts
    size = marker_size(int(counts.sum()))
    for code in np.unique(codes):
        fill, own = tones.of_class(by_class[code]), codes == code
        style: dict[str, Any] = {"s": size, "marker": marker_of(by_class[code]), "zorder": 2.5}
        edge = min(1.0, size / 50.0)
        label = f"{short(labels[code])} ({counts[code]:,})"
        axes.scatter(*points[own].T, facecolors=fill, edgecolors=tones.card, linewidths=edge, label=label, **style)
        wrong, stroke = points[own & ~right].T, 0.16 * np.sqrt(size)
        axes.scatter(*wrong, facecolors=tones.card, edgecolors=fill, linewidths=stroke, **style)


def marker_size(rows: int) -> float:
    """Return the area of the marker of a row, in square points."""
    return next((size for most, size in MARKER_SIZES if rows <= most), MARKER_SIZES[-1][1])


def _margins(axes: Axes, plane: Slice, widest: bool) -> list[Floats]:
    """Draw the margin of two classes, in plum if it is proved to be the widest; return its points."""
    if plane.scores.shape[2] > 1:
        return []
    proved = (palette().proof, "-", 1.5, "widest margin, proved")
    style = proved if widest else (palette().ink, "--", 1.0, MARGIN)
    return _contours(axes, plane, [plane.scores[:, :, 0]], [-1.0, 1.0], style)


def _ring(axes: Axes, support: Floats, rows: int, colour: str) -> None:
    """Draw rings around the support vectors."""
    if len(support):
        size = (math.sqrt(marker_size(rows)) + RING) ** 2
        label = f"support vectors ({len(support):,})"
        style: dict[str, Any] = {"facecolors": "none", "edgecolors": colour, "linewidths": 1.1, "zorder": 3}
        axes.scatter(support[:, 0], support[:, 1], s=size, label=label, **style)


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


def _label_regions(axes: Axes, plane: Slice, labels: Sequence[Any]) -> None:
    """Name the regions of more classes than there are colours, where there is room."""
    if len(labels) <= len(palette().classes):
        return
    taken: list[Floats] = []
    for code in np.unique(plane.classes):
        rows, columns = np.nonzero(plane.classes == code)
        at = np.array([plane.x[int(np.median(columns))], plane.y[int(np.median(rows))]])
        pixels = axes.transData.transform(at) * 72.0 / axes.figure.dpi
        room = np.array([REGION_LETTER * len(short(labels[code])) + KEY, 2.0 * KEY])
        if all((np.abs(pixels - other) > room).any() for other in taken) and _inside(axes, pixels, room):
            taken.append(pixels)
            box = {"facecolor": palette().card, "edgecolor": "none", "pad": 1.5, "alpha": 0.8}
            axes.text(at[0], at[1], short(labels[code]), ha="center", va="center", fontsize=KEY, bbox=box, zorder=6)


def _finish(axes: Axes, plane: Slice, wrong: int, drawn: int) -> None:
    n = len(plane.points)
    set_title(axes, wrong_sentence(wrong, n))
    set_labels(axes, short(plane.names[0]), short(plane.names[1]))
    thinned = f"{drawn:,} of {n:,} rows are drawn." if drawn < n else ""
    set_key(axes, " ".join(filter(None, [plane.note, thinned])))


def wrong_sentence(wrong: int, rows: int) -> str:
    """Return how many rows are predicted wrong."""
    if not wrong:
        return f"All {rows:,} rows are predicted right."
    return f"{wrong:,} of {rows:,} rows {'is' if wrong == 1 else 'are'} predicted wrong."
