"""What every plot shares: palettes, matplotlib settings, panels, sentences, labels, and the `Display` it returns.

Plots are made through pyplot, as in other libraries: a notebook shows them by itself, a script by `show`. The palette
in use is `palette()`: inside `styled("dark")` the dark one. The class colours differ for readers with colour-vision
deficiency, and markers and line styles tell the classes apart in print. Plum is reserved for what is proved.

Sentences are wrapped to the width of their panel. What belongs to a panel but would cover its data stands below it: the
class key, then a note. Labels of lines stand beside the lines' ends, pushed apart.
"""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cycler import cycler

from separatrix.errors import OptionError, counted, require_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Theme = Literal["light", "dark"]
Range = tuple[float, float]


class Palette(NamedTuple):
    """The colours of a theme: text and learner, secondary text, axes, dividers, panels, page, proofs, classes."""

    ink: str
    soft: str
    edge: str
    hair: str
    card: str
    paper: str
    proof: str
    proof_tint: str
    proof_hatch: str
    classes: tuple[str, ...]

    def of_class(self, place: int) -> str:
        """Return the colour of a class by its place; there are seven, then they repeat."""
        return self.classes[place % len(self.classes)]


INK, SOFT, EDGE, HAIR, CARD, PAPER = "#16202A", "#55616C", "#808A93", "#E3DFD6", "#FFFFFF", "#FBFAF7"
PROOF = "#8A2F62"
COLOURS = ("#266DC3", "#DF5819", "#3F9A8F", "#4A3812", "#8F80E0", "#221A8C", "#8D5F55")
DARK_COLOURS = ("#4EA4F7", "#FD9A58", "#3FE3D6", "#7F9150", "#7670F8", "#EFE04A", "#C2DDA1")
PALETTES: dict[str, Palette] = {
    "light": Palette(INK, SOFT, EDGE, HAIR, CARD, PAPER, PROOF, "#F6EAF1", "#CDA3BA", COLOURS),
    "dark": Palette(
        *("#E9EDF0", "#A3AFB9", "#6B7883", "#2B3540", "#161D25", "#10161C"),
        *("#F558AA", "#35202D", "#7E4464"),
        DARK_COLOURS,
    ),
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLES = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 3)))
SANS = ["Segoe UI", "Roboto", "Helvetica Neue", "Noto Sans", "DejaVu Sans"]
SERIF = ["Charter", "Bitstream Charter", "Iowan Old Style", "Source Serif 4", "Cambria", "Noto Serif", "DejaVu Serif"]
DOTS_PER_INCH = 200
LONGEST_NAME = 40  # characters
TITLE, LABEL, KEY, NOTE = 13.0, 10.0, 9.0, 8.5  # points
FIGURE_EDGE = 18.0  # points at the right of a figure
SHRINKING_WIDTH = 280.0  # points of a panel, below which its title is smaller
SERIF_WIDTH, SANS_WIDTH = 0.61, 0.55  # of an average character, in its size, with the widest fallback
LINE_HEIGHT = 1.35
KEY_MARKER = 40.0  # square points
BELOW_LABELS = 40.0  # points from a panel to what stands below the labels of its x-axis
FEW_DECADES, PLAIN_FROM, PLAIN_TO = 5.0, 1e-4, 1e6  # of log axes whose ticks are plain numbers
WIDEST = 1.8  # width of a panel of one scale, of its height
LAYOUTS = 8  # at most
KEY_HANDLE = 34.0  # points before the text of an entry of a key

_palette: ContextVar[Palette] = ContextVar("palette", default=PALETTES["light"])


def palette() -> Palette:
    """Return the palette in use."""
    return _palette.get()


def settings(tones: Palette) -> Any:
    """Return the matplotlib settings of a palette.

    Neither marker edges nor cycled markers are set: error bars' caps are all edge, and a curve has no markers.
    """
    return {
        "figure.facecolor": tones.paper,
        "axes.facecolor": tones.card,
        "savefig.facecolor": "auto",
        "figure.dpi": 100,
        "savefig.dpi": DOTS_PER_INCH,
        "font.family": "sans-serif",
        "font.sans-serif": SANS,
        "font.serif": SERIF,
        "font.size": 10,
        "axes.titlesize": TITLE,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.titlepad": 10,
        "axes.labelsize": LABEL,
        "axes.labelcolor": tones.soft,
        "text.color": tones.ink,
        "axes.edgecolor": tones.edge,
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.formatter.use_mathtext": True,
        "axes.formatter.offset_threshold": 6,
        "xtick.color": tones.edge,
        "ytick.color": tones.edge,
        "xtick.labelcolor": tones.soft,
        "ytick.labelcolor": tones.soft,
        "xtick.labelsize": 9,
        "ytick.labelsize": 9,
        "axes.grid": False,
        "grid.color": tones.hair,
        "grid.linewidth": 0.8,
        "lines.linewidth": 2.0,
        "lines.markersize": 7,
        "patch.linewidth": 1.3,
        "hatch.color": tones.proof_hatch,
        "hatch.linewidth": 0.8,
        "legend.frameon": False,
        "legend.fontsize": KEY,
        "mathtext.fontset": "dejavuserif",
        "axes.unicode_minus": True,
        "svg.fonttype": "none",
        "svg.hashsalt": "separatrix",
        "pdf.fonttype": 42,
        "axes.prop_cycle": cycler(color=tones.classes),
    }


@contextmanager
def styled(theme: Theme = "light") -> Iterator[Palette]:
    """Draw inside the block with the palette and the settings of a theme."""
    from matplotlib import rc_context  # noqa: PLC0415  # half a second that only a plot should cost

    tones = PALETTES[require_choice("theme", theme, PALETTES)]
    before = _palette.set(tones)
    try:
        with rc_context(settings(tones)):
            yield tones
    finally:
        _palette.reset(before)


@dataclass(frozen=True)
class Display:
    """A plot: `axes` are matplotlib's, one per panel; `data` has the plotted numbers by name.

    >>> import separatrix as sx
    >>> display = sx.plot.losses()
    >>> display
    <Display of 1 panel: 'The hinge and squared hinge losses are nowhere below the 0-1 loss.'>
    >>> display.ax.get_xlabel(), sorted(display.data)[:3]
    ('margin y·score', ['hinge', 'logistic', 'margins'])
    """

    axes: tuple[Axes, ...]
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ax(self) -> Axes:
        """The first panel, which is the only one of most plots."""
        return self.axes[0]

    @property
    def figure(self) -> Figure:
        """The figure that contains the panels."""
        return self.ax.figure.canvas.figure

    def save(self, path: str | PathLike[str], *, dots: int = DOTS_PER_INCH) -> None:
        """Write the plot to a file whose extension gives the format: png, svg or pdf."""
        with styled():
            self.figure.savefig(path, dpi=dots)

    def image(self, kind: str = "png", *, dots: int = DOTS_PER_INCH) -> bytes:
        """Return the plot as the bytes of a png, svg or pdf file; the same plot gives the same bytes."""
        buffer = io.BytesIO()
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {"Software": None})
        with styled():
            self._settle()
            self.figure.savefig(buffer, format=kind, dpi=dots, metadata=undated)
        return buffer.getvalue()

    def _settle(self) -> None:
        """Lay out the figure until its panels stay where they are: the first layout is an approximation."""
        places: list[Any] | None = None
        for _ in range(LAYOUTS):
            before, places = places, [axes.get_position(original=True).bounds for axes in self.axes]
            if before == places:
                return
            self.figure.draw_without_rendering()

    def show(self) -> None:
        """Open a window with this plot and all others not yet closed, and wait until they are closed."""
        _pyplot().show()

    def close(self) -> None:
        """Close the figure and free its memory."""
        _pyplot().close(self.figure)

    def __iter__(self) -> Iterator[Axes]:
        return iter(self.axes)

    def __len__(self) -> int:
        return len(self.axes)

    def __getitem__(self, place: int) -> Axes:
        return self.axes[place]

    def __repr__(self) -> str:
        title = (self.ax.get_title() or self.ax.get_title(loc="left")).replace("\n", " ")
        return f"<Display of {counted(len(self.axes), 'panel')}: {title!r}>"


def _pyplot() -> Any:
    from matplotlib import pyplot  # noqa: PLC0415

    return pyplot


def one_panel(ax: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    """Return `ax`, or new axes if it is None."""
    return ax or _pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def several_panels(axes: Sequence[Axes] | None, count: int, *, beside: int = 1, **options: Any) -> tuple[Axes, ...]:
    """Return `axes`, which must be `count`, or new ones in rows of `beside`; `options` are those of pyplot.subplots."""
    if axes is None:
        rows = -(-count // beside)
        grid = _pyplot().subplots(rows, beside, layout="constrained", squeeze=False, **options)[1].ravel()
        for empty in grid[count:]:
            empty.remove()
        axes = grid[:count]
    if len(axes) != count:
        raise OptionError(f"axes has {len(axes)} axes to draw on; give {count}, or None for new ones")
    return tuple(axes)


def panel_size(axes: Axes, indent: float = 0.0) -> tuple[float, float]:
    """Return the width and height in points of the place of a panel, as far as it is laid out.

    With an indent the width is that of the figure, as texts then begin so many points to the left of the panel.
    """
    figure, place = axes.figure.canvas.figure, axes.get_position(original=True)
    width, height = (72.0 * float(side) for side in figure.get_size_inches())
    return (width - FIGURE_EDGE if indent else place.width * width), place.height * height


def wrapped(text: str, points: float, size: float, character: float = SANS_WIDTH) -> str:
    """Return a text in lines that are at most so many points wide, in a size in points."""
    width = max(12, int(points / (character * size)))
    return "\n".join(line for part in text.split("\n") for line in textwrap.wrap(part, width) or [""])


def set_title(axes: Axes, sentence: str, *, indent: float = 0.0, size: float = TITLE) -> None:
    """Set the title, a sentence, at the left edge, or so many points to the left of it.

    It is the centre title moved there, so that `get_title()` returns it.
    """
    width, _ = panel_size(axes, indent)
    size = size if width > SHRINKING_WIDTH else min(size, TITLE - 2.0)
    text = wrapped(sentence, width, size, SERIF_WIDTH)
    title = axes.set_title(text, loc="center", x=0.0, ha="left", family="serif", size=size)
    title.set_transform(title.get_transform() + _shift(axes, -indent, 0.0))


def set_labels(axes: Axes, xlabel: str, ylabel: str) -> None:
    """Set the labels of both axes, in lines that are no longer than the axes."""
    width, height = panel_size(axes)
    axes.set(xlabel=wrapped(xlabel, width, LABEL), ylabel=wrapped(ylabel, height, LABEL))


def set_sentence(axes: Axes, sentence: str, most: int = 6) -> None:
    """Set a long title, several sentences, in small type; it is cut after so many lines."""
    lines = wrapped(sentence, panel_size(axes)[0], NOTE).split("\n")
    text = "\n".join([*lines[: most - 1], f"{lines[most - 1]} …"] if len(lines) > most else lines)
    axes.set_title(text, loc="left", family="serif", fontsize=NOTE, fontweight="normal")


def finish(axes: Axes, title: str, xlabel: str, ylabel: str) -> None:
    """Set the title and the labels of a panel."""
    set_title(axes, title)
    set_labels(axes, xlabel, ylabel)


def set_key(axes: Axes, note: str = "", *, indent: float = 0.0, of: Axes | None = None) -> None:
    """Set the key of the labelled artists below a panel, where it covers no data, and a note below the key.

    Both begin `indent` points to the left of the panel. The artists are those of the panel, or `of` another one.
    """
    handles, labels = (of or axes).get_legend_handles_labels()
    width, _ = panel_size(axes, indent)
    below = BELOW_LABELS + axes.get_xlabel().count("\n") * LABEL * LINE_HEIGHT
    if handles:
        labels = [wrapped(label, width - KEY_HANDLE, KEY) for label in labels]
        lines = [line for label in labels for line in label.split("\n")]
        columns = max(1, min(len(handles), int(width / (KEY_HANDLE + SANS_WIDTH * KEY * max(map(len, lines))))))
        place = axes.transAxes + _shift(axes, -indent, -below)
        style: dict[str, Any] = {"borderaxespad": 0.0, "columnspacing": 1.2, "handletextpad": 0.5, "ncols": columns}
        legend = axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=place, **style)
        drawn: list[Any] = list(legend.legend_handles)
        for handle in drawn:
            if hasattr(handle, "set_sizes"):
                handle.set_sizes([min(KEY_MARKER, float(handle.get_sizes()[0]))])
        below += math.ceil(len(lines) / columns) * KEY * 1.75 + 4.0
    if note:
        text, at = wrapped(note, width, NOTE), axes.transAxes + _shift(axes, -indent, -below)
        axes.text(0.0, 0.0, text, transform=at, va="top", fontsize=NOTE, color=palette().soft)


def _shift(axes: Axes, right: float, up: float) -> Any:
    """Return the transform that moves by so many points."""
    from matplotlib.transforms import ScaledTranslation  # noqa: PLC0415

    return ScaledTranslation(right / 72.0, up / 72.0, axes.figure.dpi_scale_trans)


def lay_out(axes: Axes) -> None:
    """Lay out the figure, so that places in a panel are known in points."""
    axes.figure.canvas.figure.draw_without_rendering()


class EndLabel(NamedTuple):
    """The label of a line: its text and colour, and the height of the line's end in units of the data."""

    text: str
    colour: str
    height: float


def label_ends(axes: Axes, labels: Sequence[EndLabel]) -> None:
    """Write labels at the right of a panel, beside the ends of their lines, pushed apart where they would collide."""
    inside = axes.transAxes.inverted()
    step = LINE_HEIGHT * KEY * axes.figure.dpi / 72.0 / axes.get_window_extent().height
    heights = [
        float(inside.transform(axes.transData.transform((axes.get_xlim()[1], each.height)))[1]) for each in labels
    ]
    for place, height in zip(*_apart(heights, step), strict=True):
        label = labels[place]
        axes.text(1.015, height, label.text, color=label.colour, transform=axes.transAxes, va="center", fontsize=KEY)


def _apart(heights: Sequence[float], step: float) -> tuple[list[int], list[float]]:
    """Return the order of some heights, and the heights in that order, at least a step apart and from 0 to 1."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    placed: list[float] = []
    for place in order:
        lowest = placed[-1] + step if placed else 0.0
        placed.append(max(lowest, min(heights[place], 1.0)))
    highest = max(1.0, (len(placed) - 1) * step)
    for place in reversed(range(len(placed))):
        placed[place] = min(placed[place], highest)
        highest = placed[place] - step
    return order, placed


def square_up(x: Range, y: Range, most: float) -> tuple[Range, Range] | None:
    """Return two ranges of like length, the shorter widened, for equal aspect; None if one is `most` times as long."""
    reach = [x[1] - x[0], y[1] - y[0]]
    if max(reach) > most * min(reach):
        return None
    shortest = [max(reach[0], reach[1]), max(reach[1], reach[0] / WIDEST)]
    pads = [0.5 * max(0.0, least - own) for least, own in zip(shortest, reach, strict=True)]
    return (x[0] - pads[0], x[1] + pads[0]), (y[0] - pads[1], y[1] + pads[1])


def set_equal(axes: Axes) -> None:
    """Draw both axes to one scale; a constrained layout is compressed, or it would cut the title off."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: PLC0415

    axes.set_aspect("equal")
    figure = axes.figure.canvas.figure
    if isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
        figure.set_layout_engine("compressed")


def integers_only(axes: Axes, axis: Literal["x", "y"]) -> None:
    """Put the ticks of an axis at whole numbers: those of a count."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    getattr(axes, f"{axis}axis").set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))


def log_scale(axes: Axes, axis: Literal["x", "y"], low: float, high: float) -> None:
    """Set a log axis from a positive `low` to `high`, with plain numbers at its ticks if they span few decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415

    getattr(axes, f"set_{axis}scale")("log")
    own, decades = getattr(axes, f"{axis}axis"), math.log10(max(high / low, 1.0))
    if decades <= FEW_DECADES and low >= PLAIN_FROM and high <= PLAIN_TO:
        own.set_major_locator(LogLocator(subs=(1.0,) if decades > 2.0 else (1.0, 2.0, 5.0)))
        own.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    own.set_minor_formatter(NullFormatter())


def class_places(classes: int) -> list[int]:
    """Return the place of each class among colours and markers: of two, the second is +1, a blue disc."""
    return [1, 0] if classes == 2 else list(range(classes))


def marker_of(place: int) -> str:
    """Return the marker of a class: no two of 49 classes have the same colour and marker."""
    return MARKERS[(place + place // len(MARKERS)) % len(MARKERS)]


def number(value: float) -> str:
    """Return a number with four digits and a true minus sign.

    >>> number(-45.2678), number(-1e-30 * 0.0), number(1e-6)
    ('−45.27', '0', '1e−6')
    """
    return re.sub(r"e([+-])0*", r"e\1", f"{value + 0.0:.4g}").replace("-", "−").replace("e+", "e")


def plain(text: object) -> str:
    """Return a text that matplotlib draws as it is, dollar signs included."""
    return str(text).replace("$", r"\$")


def short(name: object, most: int = LONGEST_NAME) -> str:
    """Return a name on one line, cut if it is longer than `most`; a leading _ would keep it out of a legend.

    >>> short("cost in $"), short("_id"), len(short("x" * 99))
    ('cost in \\\\$', ' _id', 40)
    """
    line = " ".join(str(name).split())
    line = line if len(line) <= most else line[: most - 1] + "…"
    return plain(f" {line}" if line.startswith("_") else line)
