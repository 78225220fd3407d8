"""Pictures of a run, one state after another: in the plane of the rows, in the space of the weights, as an animation.

A run is the start and the weights after each update of a mistake-driven fit, or after each step of any other fit with
`keep_iterates=True`. `steps` draws some states side by side, `animate` all of them as a GIF or MP4. In the space of two
weights a row y·x is the half-plane y w·x > 0: `weight_space` draws these, the weights that are right on all rows, and
the path of w; `error_surface` draws the objective over two weights as contours, with the path and the minimum. The
regions of weights and minima that are plum are certified. Cost: predictions for a state are a pass over the rows; an
error surface takes SURFACE² of them, in batches.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separatrix import losses as all_losses
from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.base import Design
from separatrix.design.build import INTERCEPT, row_radius
from separatrix.errors import DataError, OptionError, counted, require_count
from separatrix.files import write_atomically
from separatrix.fit.result import FitResult, Trace
from separatrix.inference.evaluation import label_codes
from separatrix.losses.base import Loss
from separatrix.numerics import logit
from separatrix.penalties import Penalty, make_penalty
from separatrix.perceptron_rule import predicted_signs
from separatrix.reports import display as look
from separatrix.reports.display import Display, Range, Theme
from separatrix.reports.plot.boundary import (
    ALIKE,
    DRAWN,
    draw_arrow,
    draw_rows,
    make_rows,
    marker_size,
    places,
    ranges_of,
)
from separatrix.separability.check import check_separability

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PANEL = 2.6  # inches, the side of a panel of `steps`
BESIDE = 3  # panels in a row
ARROW = 0.22  # length of w, of the shorter range
RING = 8.0  # points by which the ring of a row is wider than its marker
TINT = 0.12  # opacity of the sides of a boundary
ROWS_NAMED, ROWS_DRAWN = 8, 60  # lines of rows in a weight space that are labelled, and drawn
ROW_TINT = 0.35  # opacity of the weights that are wrong on a row, shared by the rows
DOTTED = 200  # states up to which each has a dot
SURFACE = 61  # points along each side of an error surface
SURFACE_ENTRIES = 4_000_000  # scores at once
SHADES = 10  # of the objective
LEVELS = 14  # contours, about as many points between any two
NEAR = 0.2  # share of the range of a path that is drawn on each side of it
FRAMES = 60
SECONDS_PER_FRAME, LAST_SECONDS = 0.6, 1.8
KINDS = {"gif": "pillow", "mp4": "ffmpeg"}
GIF_DOTS = 80  # an inch
FRAME_TITLE = 11.0  # points, so that it stays on one line


class States(NamedTuple):
    """The states of a run: weights (T, p), the intercept first if there is one, their numbers, and the rows.

    `rows` (T,) has the row that caused the update to a state, -1 if there is none; `word` is "update" or "step".
    """

    coefs: Floats
    numbers: Indices
    rows: Indices
    word: str

    def pick(self, most: int) -> Indices:
        """Return the indices of at most so many states, the first and the last among them."""
        return np.unique(np.linspace(0, len(self.coefs) - 1, most).round().astype(np.intp))


def run_of(model: Any) -> States:
    """Return the run of a fitted model of one score."""
    result = getattr(model, "result_", None)
    if not isinstance(result, FitResult):
        raise OptionError(f"{model!r} has no run to draw; give a fitted model")
    if result.parts:
        raise OptionError(f"a run of one score is drawn, and this fit has {len(result.parts)}; fit two classes")
    run = _updates(result.trace) or _iterates(result.trace)
    if run is None:
        raise OptionError("the fit stored no iterates; fit it again with keep_iterates=True")
    if run.coefs.ndim != 2:
        raise OptionError(f"a run of one score is drawn, and this fit has {run.coefs.shape[1]}; fit two classes")
    return run


def _updates(trace: Trace) -> States | None:
    """Return the start and the stored updates of a mistake-driven fit, None of another."""
    updates = trace.updates
    if updates is None or not len(updates.weights):
        return None
    by_number = dict(zip(updates.number.tolist(), updates.row.tolist(), strict=True))
    numbers = np.append(0, updates.weight_updates)
    every = updates.weight_stride == 1
    rows = [by_number.get(number, -1) if every else -1 for number in numbers.tolist()]
    return States(np.vstack([updates.start, updates.weights]), numbers, np.array(rows), "update")


def _iterates(trace: Trace) -> States | None:
    if trace.coefs is None:
        return None
    count = len(trace.coefs)
    return States(trace.coefs, np.arange(1, count + 1), np.full(count, -1), "step")


class Plane(NamedTuple):
    """Rows (n, 2) of two classes with their codes, labels and names, the ranges, and the states of a run among them."""

    points: Floats
    codes: Indices
    labels: list[Any]
    names: tuple[str, str]
    ranges: tuple[Range, Range]
    equal: bool
    run: States
    tie: Any
    level: float

    def weights(self, state: int) -> tuple[float, Floats]:
        """Return the intercept, less the score of the model's threshold, and the weights of a state."""
        coef = self.run.coefs[state]
        return (float(coef[0]) - self.level, coef[1:]) if len(coef) == 3 else (-self.level, coef)

    def right(self, state: int) -> Bools:
        """Return which rows a state predicts right."""
        intercept, weights = self.weights(state)
        signs = predicted_signs(self.points @ weights + intercept, self.tie)
        return np.asarray(signs == np.where(self.codes == 1, 1.0, -1.0))


def _plane(model: Any, X: Any, y: Any) -> Plane:
    run, design, codes, labels = run_of(model), _design(model, X), *_classes(model, y)
    if design.shape[1] != 2:
        raise OptionError(f"steps are drawn in the plane of two columns, and the data have {design.shape[1]}")
    _require_weights(run, 2)
    if len(codes) != design.shape[0]:
        raise DataError(f"X has {design.shape[0]} rows and y {len(codes)}; give the rows of the fit")
    points = np.asarray(design.matvec(np.eye(2)))
    names = look.short(design.names[0]), look.short(design.names[1])
    tie = getattr(getattr(model, "fitted_", None), "tie", "positive")
    level = float(logit(getattr(model, "threshold", 0.5)))
    return Plane(points, codes, labels, names, *ranges_of(points), run, tie, level)


def _require_weights(run: States, columns: int) -> int:
    """Return whether the weights of a run have an intercept; without one weight per column, there is no w to draw."""
    intercept = int(run.coefs.shape[1]) - columns
    if intercept not in {0, 1}:
        raise OptionError(
            f"the run has {run.coefs.shape[1]} weights, and the data {columns} columns: there is no w;"
            " fit a linear model"
        )
    return intercept


def _design(model: Any, X: Any) -> Design:
    design = make_rows(model, X)
    row_radius(design)  # refuses NaN and infinity
    return design


def _classes(model: Any, y: Any) -> tuple[Indices, list[Any]]:
    """Return the codes of two classes, and their labels."""
    labels = np.asarray(getattr(model, "classes_", [])).tolist()
    if len(labels) != 2:
        raise OptionError(f"a fit of two classes is drawn, and this one has {len(labels) or 'none'}")
    return np.asarray(label_codes(y, labels, "y")), labels


def steps(
    model: Any, X: Any, y: Any, *, most: int = 9, axes: Sequence[Axes] | None = None, theme: Theme = "light"
) -> Display:
    """Draw a run on two columns as small panels: the boundary and w after each update, and the row that caused it.

    Parameters
    ----------
    model : a fitted classifier of two classes: a perceptron, or any other fitted with ``keep_iterates=True``
    X, y : the rows (n, 2) and labels (n,) of the fit
    most : largest number of panels, the first and last state among them
    axes : axes to draw on, one per panel; None for new ones
    theme : "light" or "dark"

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], [1, 1, -1, -1, -1]
    >>> display = sx.plot.steps(sx.Perceptron(fit_intercept=False).fit(X, y), X, y)
    >>> [panel.get_title() for panel in display][1:3]
    ['Update 1, row 2', 'Update 2, row 3']
    """
    plane = _plane(model, X, y)
    states = plane.run.pick(require_count("most", most))
    beside = min(BESIDE, len(states))
    (left, right), (low, high) = plane.ranges
    height = PANEL * (high - low) / (right - left) if plane.equal else PANEL
    size = (PANEL * beside, (height + 0.15) * -(-len(states) // beside) + 1.0)
    with look.styled(theme):
        panels = look.several_panels(axes, len(states), beside=beside, figsize=size)
        for panel, state in zip(panels, states.tolist(), strict=True):
            _draw_state(panel, plane, state)
            look.set_title(panel, _state_title(plane.run, state), size=look.KEY)
        if axes is None:
            _frame_panels(panels, plane, beside)
        return Display(panels, {"coefs": plane.run.coefs[states], "numbers": plane.run.numbers[states]})


def _frame_panels(panels: Sequence[Axes], plane: Plane, beside: int) -> None:
    """Set the title of the figure, and the names of the columns at its edges."""
    figure, last = panels[0].figure.canvas.figure, len(plane.run.coefs) - 1
    number = counted(int(plane.run.numbers[-1]), plane.run.word)
    sentence = f"After {number}, {_right_phrase(plane, last)}."
    width = 72.0 * float(figure.get_figwidth())
    text = look.wrapped(sentence, width, look.TITLE, look.SERIF_WIDTH)
    figure.suptitle(text, x=0.01, ha="left", family="serif", size=look.TITLE, weight="bold")
    handles, labels = panels[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=3)
    for place, panel in enumerate(panels):
        below, first = place + beside >= len(panels), place % beside == 0
        panel.set(xlabel=plane.names[0] if below else "", ylabel=plane.names[1] if first else "")
        panel.tick_params(labelbottom=below, labelleft=first)


def _right_phrase(plane: Plane, state: int) -> str:
    """Return how many rows a state predicts right."""
    n, right = len(plane.codes), int(plane.right(state).sum())
    return f"all {n:,} rows are right" if right == n else f"{right:,} of {n:,} rows are right"


def _state_title(run: States, state: int) -> str:
    number, row = int(run.numbers[state]), int(run.rows[state])
    if not number:
        return "Start" if run.coefs[state].any() else "Start, w = 0"
    return f"{run.word.capitalize()} {number:,}" + (f", row {row:,}" if row >= 0 else "")


def _draw_state(axes: Axes, plane: Plane, state: int) -> None:
    """Draw the rows, the boundary of a state with its sides, w from it, and a ring around the row that caused it."""
    (x, y), tones = plane.ranges, look.palette()
    axes.set(xlim=x, ylim=y)
    if plane.equal:
        look.set_equal(axes)
    intercept, weights = plane.weights(state)
    if weights.any():
        box = _box(x, y)
        for sign, place in ((1.0, 0), (-1.0, 1)):
            side = cut(box, sign * weights, sign * intercept)
            axes.fill(*side.T, color=tones.of_class(place), alpha=TINT, linewidth=0.0, zorder=0)
        line = _line(box, weights, intercept)
        if len(line):
            axes.plot(*line.T, color=tones.ink, linewidth=2.0)
            reach = ARROW * min(x[1] - x[0], y[1] - y[0])
            if plane.equal:
                draw_arrow(axes, tail := line.mean(axis=0), tail + reach * weights / float(np.hypot(*weights)), "w")
    shown = np.arange(0, len(plane.codes), -(-len(plane.codes) // DRAWN))
    counts = np.bincount(plane.codes, minlength=2)
    draw_rows(axes, plane.points[shown], plane.codes[shown], plane.labels, plane.right(state)[shown], counts)
    row = int(plane.run.rows[state])
    if row >= 0:
        size = (np.sqrt(marker_size(len(plane.codes))) + RING) ** 2
        style: dict[str, Any] = {"facecolors": "none", "edgecolors": tones.ink, "linewidths": 1.4, "zorder": 3}
        axes.scatter(plane.points[row, 0], plane.points[row, 1], s=size, **style)


def _box(x: Range, y: Range) -> Floats:
    """Return the corners of a panel, (4, 2)."""
    return np.array([(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])])


def cut(polygon: Floats, weights: Floats, intercept: float = 0.0) -> Floats:
    """Return the part of a convex polygon (m, 2) where the score w·x + b is at least 0.

    >>> cut(np.array([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]), np.array([1.0, 0.0]), -0.5).tolist()
    [[0.5, 0.0], [1.0, 0.0], [0.5, 0.5]]
    """
    scores = polygon @ weights + intercept
    corners: list[Floats] = []
    for place in range(len(polygon)):
        after = (place + 1) % len(polygon)
        if scores[place] >= 0.0:
            corners.append(polygon[place])
        if min(scores[place], scores[after]) < 0.0 < max(scores[place], scores[after]):
            share = scores[place] / (scores[place] - scores[after])
            corners.append(polygon[place] + share * (polygon[after] - polygon[place]))
    return np.array(corners).reshape(-1, 2)


def _line(box: Floats, weights: Floats, intercept: float) -> Floats:
    """Return the ends of a boundary in a panel, (2, 2); empty if it is outside."""
    side = cut(box, weights, intercept)
    scores = np.abs(side @ weights + intercept)
    scale = np.abs(box @ weights).max() + abs(intercept)
    ends = side[scores <= 1e-9 * scale]
    return ends[:2] if len(ends) >= 2 else np.zeros((0, 2))


@dataclass(frozen=True, eq=False)
class Animation(Display):
    """A run as a picture that moves: `save("run.gif")` or `save("run.mp4")`; other formats have the last state."""

    plane: Plane | None = field(default=None, repr=False)
    states: Indices | None = field(default=None, repr=False)
    theme: Theme = "light"

    def save(self, path: str | PathLike[str], *, dots: int | None = None) -> None:
        """Write the animation, or its last state, to a file whose extension gives the format; whole or not at all."""
        kind = Path(path).suffix[1:].lower()
        if kind in KINDS:
            write_atomically(Path(path), self.image(kind, dots=dots or GIF_DOTS))
        else:
            super().save(path, dots=dots or look.DOTS_PER_INCH)

    def image(self, kind: str = "gif", *, dots: int = GIF_DOTS) -> bytes:
        """Return the animation as the bytes of a gif or mp4 file, or its last state as a png, svg or pdf file."""
        if kind not in KINDS:
            return super().image(kind, dots=dots)
        from matplotlib import animation  # noqa: PLC0415

        if not animation.writers.is_available(KINDS[kind]):
            raise OptionError(f"{kind} needs {KINDS[kind]}, which is not installed; install it, or save as .gif")
        rate: Any = 1.0 / SECONDS_PER_FRAME
        writer = animation.writers[KINDS[kind]](fps=rate)
        with tempfile.TemporaryDirectory() as folder, look.styled(self.theme):
            path = Path(folder) / f"run.{kind}"
            with writer.saving(self.figure, str(path), dots):
                for _ in self._frames():
                    writer.grab_frame()
            return path.read_bytes()

    def _frames(self) -> Iterator[None]:
        """Draw one state after another, the last one several times."""
        assert self.plane is not None  # an animation has a run
        assert self.states is not None
        for state in self.states.tolist():
            _draw_frame(self.ax, self.plane, state)
            yield
        for _ in range(round(LAST_SECONDS / SECONDS_PER_FRAME)):
            yield

    def _repr_html_(self) -> str:
        from base64 import b64encode  # noqa: PLC0415

        return f'<img alt="{self.ax.get_title()}" src="data:image/gif;base64,{b64encode(self.image()).decode()}">'


def animate(
    model: Any, X: Any, y: Any, *, most: int = FRAMES, ax: Axes | None = None, theme: Theme = "light"
) -> Animation:
    """Draw a run on two columns as an animation, one state per frame; takes the same arguments as `plot.steps`.

    ``.save("run.gif")`` writes it, as does ``.save("run.mp4")`` where ffmpeg is installed.

    >>> import separatrix as sx
    >>> X, y = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], [1, 1, -1, -1, -1]
    >>> display = sx.animate(sx.Perceptron(fit_intercept=False).fit(X, y), X, y)
    >>> display.image("gif", dots=30)[:6]
    b'GIF89a'
    """
    plane = _plane(model, X, y)
    states = plane.run.pick(require_count("most", most))
    with look.styled(theme):
        axes = look.one_panel(ax, 5.4, 4.8)
        _draw_frame(axes, plane, int(states[-1]))
        data = {"coefs": plane.run.coefs[states], "numbers": plane.run.numbers[states]}
        return Animation((axes,), data, plane, states, theme)


def _draw_frame(axes: Axes, plane: Plane, state: int) -> None:
    """Draw a state and its sentence in place of the one before."""
    axes.clear()
    _draw_state(axes, plane, state)
    look.set_title(axes, f"{_state_title(plane.run, state)}: {_right_phrase(plane, state)}.", size=FRAME_TITLE)
    look.set_labels(axes, plane.names[0], plane.names[1])
    look.set_key(axes)


class Weights(NamedTuple):
    """Two weights of a run: their path (T, 2), their names, and rows (n, 2) whose scores they give with offsets (n,).

    `fixed` are the weights of all columns, 0 for these two; `note` says which are fixed, and where.
    """

    path: Floats
    names: tuple[str, str]
    rows: Floats
    offsets: Floats
    signs: Floats
    run: States
    fixed: Floats
    design: Design
    note: str


def weight_space(model: Any, X: Any, y: Any, *, ax: Axes | None = None, theme: Theme = "light") -> Display:
    """Draw the space of two weights: each row's line, the weights that are right on all rows, and the path of w.

    A row allows the weights on one side of its line, where y w·x > 0; the other side is tinted in the colour of its
    class. The weights on the right side of every line are hatched, if a certificate proves that there are any.

    Parameters
    ----------
    model : a fitted classifier of two classes and two weights: two columns without an intercept, or one with it
    X, y : the rows and labels of the fit
    ax : axes to draw on; None for new ones
    theme : "light" or "dark"

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]], [1, 1, -1, -1, -1]
    >>> display = sx.plot.weight_space(sx.Perceptron(fit_intercept=False).fit(X, y), X, y)
    >>> display.ax.get_title().replace(chr(10), " ")
    'After 5 updates w is right on all 5 rows.'
    """
    space = _two_weights(model, X, y, None)
    if space.note:
        raise OptionError(
            f"a weight space has two weights, and this fit has {space.run.coefs.shape[1]}; fit two columns with"
            " fit_intercept=False, or one column"
        )
    reflected = space.rows * space.signs[:, np.newaxis]
    certificate = check_separability(X, y, fit_intercept=INTERCEPT in space.names)
    with look.styled(theme) as tones:
        axes = look.one_panel(ax, 5.6, 5.8)
        ranges = _around(space.path, origin=True)
        squared = look.square_up(*ranges, ALIKE)
        x, z = squared or ranges
        box = _box(x, z)
        axes.set(xlim=x, ylim=z)
        if squared:
            look.set_equal(axes)
        region = _region(reflected, box) if certificate.verdict == "separable" else np.zeros((0, 2))
        _draw_half_planes(axes, reflected, space.signs, box)
        if len(region):
            style: dict[str, Any] = {"facecolor": tones.proof_tint, "edgecolor": tones.proof_hatch, "hatch": "//"}
            axes.fill(*region.T, **style, linewidth=0.0, zorder=1, label="right on all rows, proved")
            axes.plot(*np.vstack([region, region[:1]]).T, color=tones.proof, linewidth=1.5, zorder=1.5)
        _draw_path(axes, space)
        right = int((reflected @ space.path[-1] > 0.0).sum())
        look.set_title(axes, _weights_sentence(space, right, certificate.verdict))
        look.set_labels(axes, _weight_name(space.names[0]), _weight_name(space.names[1]))
        n = len(reflected)
        look.set_key(axes, f"The lines of {ROWS_DRAWN} of {n:,} rows are drawn." if n > ROWS_DRAWN else "")
        return Display((axes,), {"path": space.path, "region": region, "certificate": certificate, "rows": reflected})


def _weights_sentence(space: Weights, right: int, verdict: str) -> str:
    n, number = len(space.rows), counted(int(space.run.numbers[-1]), space.run.word)
    if verdict in {"quasi", "overlap"}:
        return f"No weights are right on all {n:,} rows (proved); after {number} w is right on {right:,}."
    which = f"all {n:,} rows" if right == n else f"{right:,} of {n:,} rows"
    return f"After {number} w is right on {which}."


def _weight_name(name: str) -> str:
    return name if name == INTERCEPT else f"weight of {look.short(name)}"


def _region(reflected: Floats, box: Floats) -> Floats:
    """Return the weights in a box that are right on every row, (m, 2); only the two extreme directions matter."""
    angles = np.sort(np.unique(np.arctan2(reflected[:, 1], reflected[:, 0])))
    gaps = np.diff(angles, append=angles[0] + 2.0 * np.pi)
    widest = int(gaps.argmax())
    extremes = angles[widest], angles[(widest + 1) % len(angles)]
    for angle in extremes:
        box = cut(box, np.array([np.cos(angle), np.sin(angle)]))
        if len(box) < 3:
            return np.zeros((0, 2))
    return box


def _draw_half_planes(axes: Axes, reflected: Floats, signs: Floats, box: Floats) -> None:
    """Draw the lines of the rows, the sides that are wrong in the colours of the classes, and the rows' numbers."""
    tones, n = look.palette(), len(reflected)
    shown = np.arange(0, n, -(-n // ROWS_DRAWN))
    taken: list[Floats] = []
    for row in shown.tolist():
        colour = tones.of_class(0 if signs[row] > 0.0 else 1)
        wrong, line = cut(box, -reflected[row]), _line(box, reflected[row], 0.0)
        if len(wrong) > 2:
            axes.fill(*wrong.T, color=colour, alpha=ROW_TINT / max(len(shown), 4), linewidth=0.0, zorder=0)
        if len(line):
            axes.plot(*line.T, color=colour, linewidth=1.0, alpha=0.8, zorder=1)
        if len(line) and n <= ROWS_NAMED:
            _name_line(axes, line, f"row {row}", colour, taken)


def _name_line(axes: Axes, line: Floats, name: str, colour: str, taken: list[Floats]) -> None:
    """Write the name of a line near one of its ends, if there is room."""
    for share in (0.06, 0.94, 0.14, 0.86):
        at = line[0] + share * (line[1] - line[0])
        pixels = axes.transData.transform(at) * 72.0 / axes.figure.dpi
        if all((np.abs(pixels - other) > (40.0, 16.0)).any() for other in taken):
            taken.append(pixels)
            box = {"facecolor": look.palette().card, "edgecolor": "none", "pad": 0.6, "alpha": 0.8}
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": look.NOTE, "bbox": box}
            axes.text(at[0], at[1], name, color=colour, zorder=5, **style)
            return


def _draw_path(axes: Axes, space: Weights) -> None:
    """Draw the path of w: each leg of an update in the colour of its row's class, and a dot per state."""
    tones, path, rows = look.palette(), space.path, space.run.rows
    for leg in range(1, len(path)):
        colour = tones.ink if rows[leg] < 0 else tones.of_class(0 if space.signs[rows[leg]] > 0.0 else 1)
        axes.plot(*path[leg - 1 : leg + 1].T, color=colour, linewidth=2.2, zorder=3)
    marker = "o" if len(path) <= DOTTED else ""
    style: dict[str, Any] = {"linestyle": "none", "marker": marker, "color": tones.ink, "markersize": 4.5, "zorder": 4}
    axes.plot(*path.T, **style, label=f"w after each {space.run.word}" if marker else "_nolegend_")
    axes.plot(*path[-1], "o", color=tones.ink, markersize=8.0, zorder=4, label="last w")


def _around(path: Floats, *, origin: bool) -> tuple[Range, Range]:
    """Return padded ranges of two weights along a path, and of the origin if it is to be seen."""
    points = np.vstack([path, np.zeros((int(origin), 2))])
    low, high = points.min(axis=0), points.max(axis=0)
    reach = (0.5 + NEAR) * (high - low)
    reach = np.where(reach > 0.0, reach, reach.max() or 0.25 * (float(np.abs(high).max()) or 4.0))
    x, y = zip((low + high) / 2.0 - reach, (low + high) / 2.0 + reach, strict=True)
    return (float(x[0]), float(x[1])), (float(y[0]), float(y[1]))


def _two_weights(model: Any, X: Any, y: Any, chosen: Sequence[int | str] | None) -> Weights:
    """Return two weights of a model's run, the others fixed at their last values."""
    run, design = run_of(model), _design(model, X)
    p = design.shape[1]
    intercept = _require_weights(run, p)
    names = [INTERCEPT] * intercept + list(design.names)
    pair = places(chosen, names) if chosen is not None else _leading(names, intercept)
    last, values = run.coefs[-1], np.zeros((p + intercept, 2))
    values[pair, (0, 1)] = 1.0
    others = last.copy()
    others[list(pair)] = 0.0
    rows = np.column_stack([_scores(design, column, intercept) for column in values.T])
    fixed = [
        f"{look.short(name)} = {look.number(last[place])}" for place, name in enumerate(names) if place not in pair
    ]
    note = (
        f"Slice at {', '.join(fixed[:3])}{' …' if fixed[3:] else ''} (last values); w is projected onto it."
        if fixed
        else ""
    )
    numbers: Any = 2.0 * _classes(model, y)[0] - 1.0 if hasattr(model, "classes_") else y
    signs: Floats = np.asarray(numbers, dtype=np.float64)
    if len(signs) != design.shape[0]:
        raise DataError(f"X has {design.shape[0]} rows and y {len(signs)}; give the rows of the fit")
    offsets = _scores(design, others, intercept)
    own = (names[pair[0]], names[pair[1]])
    return Weights(run.coefs[:, pair], own, rows, offsets, signs, run, others[intercept:], design, note)


def _leading(names: Sequence[str], intercept: int) -> tuple[int, int]:
    """Return the first two weights of columns, or the intercept and the weight of the only column."""
    if len(names) < 2:
        raise OptionError("two weights are drawn, and this fit has 1")
    return (0, 1) if len(names) == 2 else (intercept, intercept + 1)


def _scores(design: Design, coef: Floats, intercept: int) -> Floats:
    return np.asarray(design.matvec(coef[intercept:]) + (coef[0] if intercept else 0.0))


def error_surface(
    model: Any,
    X: Any,
    y: Any,
    *,
    loss: str | None = None,
    weights: Sequence[int | str] | None = None,
    ax: Axes | None = None,
    theme: Theme = "light",
) -> Display:
    """Draw the objective over two weights as contours, with the path of the iterates and the minimum.

    Parameters
    ----------
    model : a model of one score, fitted with ``keep_iterates=True``
    X, y : the rows and the target of the fit
    loss : name of the loss; None for that of the fit, with its penalty
    weights : two weights, by index (the intercept, if fitted, is the first) or name; None for the first two columns or,
        of a single column, the intercept and its weight. The others are fixed at their last values.
    ax : axes to draw on; None for new ones
    theme : "light" or "dark"

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "a", "b"]
    >>> model = sx.LogisticRegression(keep_iterates=True).fit(X, y)
    >>> display = sx.plot.error_surface(model, X, y)
    >>> display.ax.get_xlabel(), display.ax.get_ylabel()
    ('intercept', 'weight of x1')
    """
    space, objective = _two_weights(model, X, y, weights), _objective(model, loss)
    with look.styled(theme) as tones:
        axes = look.one_panel(ax, 6.0, 5.4)
        x, z = _around(space.path, origin=False)
        grid = np.linspace(*x, SURFACE), np.linspace(*z, SURFACE)
        values = objective.over(space, np.column_stack([each.ravel() for each in np.meshgrid(*grid)]))
        surface, path = values.reshape(SURFACE, SURFACE), objective.along(space)
        axes.set(xlim=x, ylim=z)
        levels = np.unique(np.quantile(surface, np.linspace(0.0, 1.0, LEVELS) ** 1.5)[1:-1])
        axes.contourf(*grid, surface, SHADES, cmap=_shades(tones), zorder=0)
        if len(levels):
            axes.contour(*grid, surface, levels, colors=tones.edge, linewidths=0.7, zorder=1)
        _draw_path(axes, space)
        if loss is None and _proves_minimum(model):
            style: dict[str, Any] = {"linestyle": "none", "marker": "*", "markersize": 15.0, "zorder": 5}
            axes.plot(*space.path[-1], color=tones.proof, label="minimum, proved", **style)
        look.set_title(axes, _surface_sentence(path, space.run, objective.name))
        look.set_labels(axes, _weight_name(space.names[0]), _weight_name(space.names[1]))
        look.set_key(axes, space.note)
        return Display((axes,), {"x": grid[0], "y": grid[1], "values": surface, "path": space.path, "losses": path})


def _surface_sentence(values: Floats, run: States, name: str) -> str:
    number = counted(int(run.numbers[-1]), run.word)
    first = f", from {values[0]:.4g} at first" if len(values) > 1 else ""
    return f"The {name} objective is {values[-1]:.4g} after {number}{first}."


def _shades(tones: look.Palette) -> Any:
    """Return a colour map from a panel's colour, where the objective is lowest, to that of dividers."""
    from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415

    return LinearSegmentedColormap.from_list("objective", [tones.card, tones.hair])


class SurfaceObjective(NamedTuple):
    """A mean loss plus a penalty, of weights times `scales`; the intercept has no penalty."""

    name: str
    loss: Loss
    penalty: Penalty

    def over(self, space: Weights, points: Floats) -> Floats:
        """Return the objective at some pairs of weights, (m, 2)."""
        size = max(1, SURFACE_ENTRIES // len(space.rows))
        free = np.array([name != INTERCEPT for name in space.names], dtype=np.float64)
        parts = [self._mean(space, points[start : start + size]) for start in range(0, len(points), size)]
        constant = self.penalty.value(space.fixed, np.ones(len(space.fixed)))
        penalties: Floats = np.array([constant + self.penalty.value(point, free) for point in points])
        return np.asarray(np.concatenate(parts) + penalties)

    def along(self, space: Weights) -> Floats:
        """Return the objective at every state of the run, all of whose weights count, (T,)."""
        intercept = space.run.coefs.shape[1] - space.design.shape[1]
        free, values = np.ones(space.design.shape[1]), []
        for coef in space.run.coefs:
            eta = _scores(space.design, coef, intercept)
            values.append(
                float(np.mean(self.loss.value(eta, space.signs))) + self.penalty.value(coef[intercept:], free)
            )
        return np.array(values)

    def _mean(self, space: Weights, points: Floats) -> Floats:
        eta = space.rows @ points.T + space.offsets[:, np.newaxis]
        values: Floats = np.asarray(self.loss.value(eta, space.signs[:, np.newaxis]))
        return np.asarray(values.mean(axis=0))


def _objective(model: Any, loss: str | None) -> SurfaceObjective:
    """Return the objective that the certificate of a fit states, or a loss without a penalty."""
    known = {each.name: each for each in all_losses.ALL if each.target != "classes"}
    if loss is not None and loss not in known:
        raise OptionError(f"loss={loss!r} is not known; give one of {', '.join(known)}")
    stated = getattr(getattr(model, "certificate_", None), "optimality", getattr(model, "certificate_", None))
    name = loss or getattr(stated, "loss", None if hasattr(model, "classes_") else "squared")
    if name not in known:
        raise OptionError(f"the fit states no loss; give one, such as loss='perceptron', of {', '.join(known)}")
    if loss is not None:
        return SurfaceObjective(name, known[name], make_penalty(0.0, 0.0))
    if getattr(stated, "scales", None) is not None:
        raise OptionError("the penalty is of scaled columns; scale the columns before the fit, or give loss=")
    if stated is not None and stated.data.weights:
        raise OptionError("the rows of the fit have weights; give loss=, for the loss of unweighted rows")
    penalty = make_penalty(getattr(stated, "strength", 0.0), getattr(stated, "l1_ratio", 0.0))
    return SurfaceObjective(name, known[name], penalty)


def _proves_minimum(model: Any) -> bool:
    return getattr(getattr(model, "certificate_", None), "verdict", "") == "optimal"
