"""The plane that a decision boundary is drawn in: two columns of the rows, the others held where they are told to be.

Of two columns the plane is all there is; of more it is a slice, through the mean of the rows unless told otherwise. The
model is asked at every point of a grid, so any classifier will do. Cost: a pass over the rows for the mean, and
predictions of GRID² rows, made some at a time.

A classifier's decision boundary among the rows: regions, probabilities, margin and support vectors.

Classes differ by colour and by marker. Where the model tells probabilities, regions are the deeper the surer it is,
and of two classes lines of equal probability are numbered. Of more than two columns the picture is a slice, and its
title says so: rows are then seen from the side, and may lie on the other side of the boundary than it seems.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.base import Block, Design
from separatrix.design.build import make_design
from separatrix.errors import DataError, OptionError, did_you_mean
from separatrix.numerics import logit
from separatrix.reports.display import CARD, COLOURS, INK, MARKERS, SOFT, Display, one_panel, set_title, short, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 150  # points along each side
ENTRIES = 2_000_000  # of the rows predicted at once
PADDING = 0.06  # of the range of a column, on both sides
DRAWN = 5000  # rows, at most
MARKER_SIZES = ((12, 228.0), (60, 117.0), (400, 52.0), (DRAWN, 16.0))  # up to so many rows: area in square points
DEPTH = 0.45  # of the colour of a region in which the model is sure
UNSURE = 0.5  # of that depth, where a model tells no probabilities
NUMBERED = (0.1, 0.25, 0.75, 0.9)  # probabilities
ON_THE_MARGIN = 1e-6
HINGES = {"hinge", "squared_hinge"}


def boundary(
    model: Any, X: Any, y: Any, columns: Sequence[int | str] | None = None, *, at: Any = None, ax: Axes | None = None
) -> Display:
    """Draw a fitted classifier's boundary in the plane of two columns, among the rows.

    Parameters
    ----------
    model : any fitted classifier with linear scores or others; X : (n, p) rows; y : (n,) their labels
    columns : two, by place or name; None for those with the largest weights in units of their standard deviations
    at : (p,) where the other columns are held; None for their means
    ax : the axes to draw on; None for new ones

    Examples
    --------
    >>> import separatrix as sx
    >>> X = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]]
    >>> y = [1, 1, -1, -1, -1]
    >>> display = sx.plot.boundary(sx.MaxMarginClassifier().fit(X, y), X, y)
    >>> display.ax.get_title(), display.data["support_vectors"].shape
    ('0 of 5 rows predicted wrong', (4, 2))
    """
    from separatrix.inference.evaluation import codes_of  # noqa: PLC0415  # as dear as the reports together

    if not hasattr(model, "classes_"):
        raise OptionError(f"{model!r} has no classes to draw a boundary of; give a fitted classifier")
    plane = make_slice(model, X, columns, at)
    labels = np.asarray(model.classes_).tolist()
    codes = codes_of(y, labels, "y")
    right = np.asarray(model.predict(X) == np.asarray(y))
    with styled():
        axes = one_panel(ax, 7.0, 5.5)
        _shade(axes, plane)
        lines = _lines(axes, plane)
        margins = _margin(axes, plane) if _has_margin(model) else []
        drawn = _points(axes, plane.points, codes, labels, right)
        support = _support(model, X, codes)[:, list(plane.columns)] if _has_margin(model) else np.zeros((0, 2))
        if len(support):
            ring: dict[str, Any] = {"facecolors": "none", "edgecolors": INK, "s": 150.0, "linewidths": 1.1}
            axes.scatter(support[:, 0], support[:, 1], **ring, label=f"support vectors ({len(support):,})")
        _words(axes, plane, int((~right).sum()), drawn)
        return Display((axes,), {**plane._asdict(), "boundary": lines, "margin": margins, "support_vectors": support})


class Slice(NamedTuple):
    """A plane: its columns and their names, where the other columns are held (p,), and what the model says on a
    grid.

    `points` (n, 2) are the rows seen in the plane; `x`, `y` (g,) the grid; `scores` (g, g, K), of two classes (g, g, 1)
    and 0 on the boundary; `probabilities` (g, g, K) or None; `classes` (g, g) the places of the classes predicted.
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

    @property
    def whole(self) -> bool:
        """Whether the plane is all there is."""
        return len(self.at) == 2


def make_slice(model: Any, X: Any, columns: Sequence[int | str] | None, at: Any) -> Slice:
    """Return the plane of two columns, by place or name; None for the two whose weights matter most."""
    known = getattr(X, "columns", getattr(model, "feature_names_in_", None))
    design = make_design(X, intercept=False, names=None if known is None else list(map(str, known)))
    p = design.shape[1]
    if p < 2:
        raise OptionError(
            "a boundary is drawn in the plane of two columns, and the data have 1; draw predictions of it"
        )
    centre = np.asarray(design.rmatvec(np.ones(design.shape[0]))) / design.shape[0]
    chosen = _heaviest(model, design, centre) if columns is None else _places(columns, design.names)
    middle = centre if at is None else _given(at, p)
    pick = np.zeros((p, 2))
    pick[chosen, (0, 1)] = 1.0
    points = design.matvec(pick)
    across, up = (_range(points[:, side]) for side in (0, 1))
    grid = _Grid(model, X, middle, chosen, np.column_stack([each.ravel() for each in np.meshgrid(across, up)]))
    shape = len(up), len(across), -1
    scores, probabilities = grid.scores(), grid.ask("predict_proba")
    labels = {label: place for place, label in enumerate(np.asarray(model.classes_).tolist())}
    classes = np.array([labels[label] for label in grid.predicted().tolist()], dtype=np.intp)
    return Slice(
        columns=chosen,
        names=(design.names[chosen[0]], design.names[chosen[1]]),
        at=middle,
        held="as given" if at is not None else "at their means" if p > 3 else "at its mean",
        points=points,
        x=across,
        y=up,
        scores=scores.reshape(shape),
        probabilities=None if probabilities is None else probabilities.reshape(shape),
        classes=classes.reshape(shape[:2]),
    )


class _Grid:
    """Points of a plane, (m, 2), at which a model is asked."""

    def __init__(self, model: Any, X: Any, at: Floats, columns: tuple[int, int], points: Floats) -> None:
        self.model, self.frame, self.at, self.columns, self.points = model, X, at, list(columns), points

    def ask(self, method: str) -> Floats | None:
        """Return what a method of the model says at every point, or None if it has no such method."""
        told = getattr(self.model, method, None)
        return None if told is None else self._in_parts(told)

    def predicted(self) -> NDArray[Any]:
        """Return the labels predicted."""
        return self._in_parts(self.model.predict)

    def scores(self) -> Floats:
        """Return scores (m, K), of two classes (m, 1), where 0 is on the boundary."""
        scores, threshold = self.ask("decision_function"), getattr(self.model, "threshold", 0.5)
        if scores is not None:
            level = float(logit(threshold)) if threshold != 0.5 else 0.0
            return scores[:, np.newaxis] - level if scores.ndim == 1 else scores
        shares = self.ask("predict_proba")
        if shares is None:
            raise OptionError(f"{self.model!r} has neither scores nor probabilities to draw a boundary of")
        return shares[:, 1:] - threshold if shares.shape[1] == 2 else shares

    def _in_parts(self, told: Callable[[Any], Any]) -> NDArray[Any]:
        size = max(1, ENTRIES // len(self.at))
        parts = []
        for start in range(0, len(self.points), size):
            points = self.points[start : start + size]
            rows = np.tile(self.at, (len(points), 1))
            rows[:, self.columns] = points
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                parts.append(np.asarray(told(self._as_given(rows))))
        return np.concatenate(parts)

    def _as_given(self, rows: Floats) -> Any:
        return type(self.frame)(rows, columns=self.frame.columns) if hasattr(self.frame, "iloc") else rows


def _heaviest(model: Any, design: Design, centre: Floats) -> tuple[int, int]:
    """Return the two columns with the largest weights in units of their standard deviations, in order."""
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
    """Return the places of two columns given by place or name."""
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


def _given(at: Any, p: int) -> Floats:
    values = np.asarray(at, dtype=np.float64)
    if values.shape != (p,) or not np.isfinite(values).all():
        raise DataError(f"at must be {p} finite numbers, one a column; got shape {values.shape}")
    return values


def _range(values: Floats) -> Floats:
    low, high = float(values.min()), float(values.max())
    reach = PADDING * (high - low) if high > low else 1.0
    return np.linspace(low - reach, high + reach, GRID)


def _has_margin(model: Any) -> bool:
    """Tell whether scores of ±1 mean something: that the model is a support vector machine."""
    return hasattr(model, "support_vectors_") or getattr(model, "loss", None) in HINGES


def _shade(axes: Axes, plane: Slice) -> None:
    """Colour each region by its class, the deeper the surer the model is."""
    from matplotlib.colors import to_rgb  # noqa: PLC0415  # half a second that only a picture should cost

    sure = np.full(plane.classes.shape, UNSURE)
    if plane.probabilities is not None:
        chance = 1.0 / plane.probabilities.shape[2]
        sure = (plane.probabilities.max(axis=2) - chance) / (1.0 - chance)
    colours = np.array([to_rgb(colour) for colour in COLOURS])[plane.classes % len(COLOURS)]
    image = 1.0 - DEPTH * sure[:, :, np.newaxis] * (1.0 - colours)
    extent = (plane.x[0], plane.x[-1], plane.y[0], plane.y[-1])
    axes.imshow(image, origin="lower", extent=extent, aspect="auto", interpolation="nearest", zorder=0)
    if plane.probabilities is not None and plane.probabilities.shape[2] == 2:
        shares = plane.probabilities[:, :, 1]
        inside = [share for share in NUMBERED if shares.min() < share < shares.max()]
        if inside:
            lines = axes.contour(plane.x, plane.y, shares, inside, colors=SOFT, linewidths=0.7, linestyles="dotted")
            axes.clabel(lines, fmt="%g", fontsize="x-small")


def _lines(axes: Axes, plane: Slice) -> list[Floats]:
    """Draw where the class predicted changes; return the lines' points."""
    fields = [plane.scores[:, :, 0]]
    if plane.scores.shape[2] > 1:
        fields = [_lead(plane.scores, place) for place in range(plane.scores.shape[2])]
    found: list[Floats] = []
    for field in fields:
        found += _contour(axes, plane, field, [0.0], linestyles="solid", linewidths=2.0)
    if found:
        axes.plot([], [], "-", color=INK, linewidth=2.0, label="boundary")
    return found


def _margin(axes: Axes, plane: Slice) -> list[Floats]:
    """Draw where the score of two classes is ±1; return the lines' points."""
    if plane.scores.shape[2] > 1:
        return []
    found = _contour(axes, plane, plane.scores[:, :, 0], [-1.0, 1.0], linestyles="dashed", linewidths=1.0)
    if found:
        axes.plot([], [], "--", color=INK, linewidth=1.0, label="margin: score ±1")
    return found


def _contour(axes: Axes, plane: Slice, field: Floats, levels: list[float], **look: Any) -> list[Floats]:
    inside = [level for level in levels if field.min() < level < field.max()]
    if not inside:
        return []
    lines = axes.contour(plane.x, plane.y, field, inside, colors=INK, **look)
    return [np.asarray(part) for level in lines.allsegs for part in level if len(part)]


def _lead(scores: Floats, place: int) -> Floats:
    """Return by how much a class's score is above the highest other."""
    return np.asarray(scores[:, :, place] - np.delete(scores, place, axis=2).max(axis=2))


def _points(axes: Axes, points: Floats, codes: Indices, labels: Sequence[Any], right: Bools) -> int:
    """Draw the rows, hollow if predicted wrong, at most `DRAWN` of them; return how many."""
    shown = np.arange(0, len(points), -(-len(points) // DRAWN))
    size = next(size for rows, size in MARKER_SIZES if len(shown) <= rows)
    for code in np.unique(codes):
        colour, marker = COLOURS[code % len(COLOURS)], MARKERS[code % len(MARKERS)]
        label = f"{short(labels[code])} ({(codes == code).sum():,})"
        own = shown[codes[shown] == code]
        look: dict[str, Any] = {"s": size, "marker": marker, "zorder": 2}
        axes.scatter(*points[own].T, facecolors=colour, edgecolors=CARD, linewidths=1.0, label=label, **look)
        wrong, stroke = points[own[~right[own]]].T, 0.16 * np.sqrt(size)
        axes.scatter(*wrong, facecolors=CARD, edgecolors=colour, linewidths=stroke, **look)
    return len(shown)


def _support(model: Any, X: Any, codes: Indices) -> Floats:
    """Return the features of the rows that decide the boundary: those kept, or those on the margin or beyond it."""
    if hasattr(model, "support_vectors_"):
        return np.asarray(model.support_vectors_)
    scores = np.asarray(model.decision_function(X))
    scores = scores[:, np.newaxis] if scores.ndim == 1 else scores
    sides = np.arange(scores.shape[1]) + (1 if scores.shape[1] == 1 else 0)
    signs = np.where(codes[:, np.newaxis] == sides, 1.0, -1.0)
    rows = np.flatnonzero((signs * scores <= 1.0 + ON_THE_MARGIN).any(axis=1))
    kept: Any = X.iloc[rows] if hasattr(X, "iloc") else X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]
    return np.asarray(kept.toarray() if hasattr(kept, "toarray") else kept, dtype=np.float64)


def _words(axes: Axes, plane: Slice, wrong: int, drawn: int) -> None:
    n, others = len(plane.points), len(plane.at) - 2
    title = f"{wrong:,} of {n:,} rows predicted wrong"
    if not plane.whole:
        held = f"{others} other columns" if others > 1 else "the other column"
        title += f"\na slice, {held} held {plane.held}; rows are seen from the side"
    if drawn < n:
        title += f"\n{drawn:,} of {n:,} rows are drawn"
    set_title(axes, title, "medium")
    axes.set_xlabel(short(plane.names[0]))
    axes.set_ylabel(short(plane.names[1]))
    axes.set_xlim(plane.x[0], plane.x[-1])
    axes.set_ylim(plane.y[0], plane.y[-1])
    axes.legend(frameon=True, facecolor=CARD, framealpha=0.8, edgecolor="none")  # regions are coloured below it
