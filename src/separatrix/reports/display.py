"""What every plot shares: the palette, the matplotlib settings, new panels, labels, and the `Display` it returns.

Plots are made through pyplot, as in other libraries: a notebook shows them by itself, a script by `show`. The class
colours differ for readers with colour-vision deficiency, and markers and line styles tell the classes apart in print.
Plum is reserved for what is proved: bounds, theorems, coefficients without a finite estimate.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from cycler import cycler

from separatrix.errors import OptionError, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK, SOFT, EDGE, HAIR, CARD, PAPER = "#16202A", "#55616C", "#808A93", "#E3DFD6", "#FFFFFF", "#FBFAF7"
PROOF = "#8A2F62"
COLOURS = ("#266DC3", "#DF5819", "#3F9A8F", "#4A3812", "#8F80E0", "#221A8C", "#8D5F55")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLES = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 3)))
SANS = ["Segoe UI", "Roboto", "Helvetica Neue", "Noto Sans", "DejaVu Sans"]
SERIF = ["Charter", "Bitstream Charter", "Iowan Old Style", "Source Serif 4", "Cambria", "Noto Serif", "DejaVu Serif"]
DOTS_PER_INCH = 200
LONGEST_NAME = 40  # characters
LegendPlace = Literal["best", "lower right"]

# Neither marker edges nor cycled markers are set: error bars' caps are all edge, and a curve has no markers.
LOOK: Any = {
    "figure.facecolor": PAPER,
    "axes.facecolor": CARD,
    "savefig.facecolor": PAPER,
    "figure.dpi": 100,
    "savefig.dpi": DOTS_PER_INCH,
    "font.family": "sans-serif",
    "font.sans-serif": SANS,
    "font.serif": SERIF,
    "font.size": 10,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.labelsize": 10,
    "axes.labelcolor": SOFT,
    "text.color": INK,
    "axes.edgecolor": EDGE,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": EDGE,
    "ytick.color": EDGE,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": SOFT,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "axes.grid": False,
    "grid.color": HAIR,
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.0,
    "lines.markersize": 7,
    "patch.linewidth": 1.3,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "mathtext.fontset": "dejavuserif",
    "axes.unicode_minus": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "separatrix",
    "pdf.fonttype": 42,
    "axes.prop_cycle": cycler(color=COLOURS),
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw inside the block with the settings of `LOOK`."""
    from matplotlib import rc_context  # noqa: PLC0415  # half a second that only a plot should cost

    with rc_context(LOOK):
        yield


@dataclass(frozen=True)
class Display:
    """A plot: `axes` are matplotlib's, one per panel; `data` has the plotted numbers by name.

    >>> import separatrix as sx
    >>> display = sx.plot.losses()
    >>> display
    <Display of 1 panel: 'Losses as functions of the margin'>
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
            self.figure.savefig(buffer, format=kind, dpi=dots, metadata=undated)
        return buffer.getvalue()

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


def one_panel(ax: Axes | None, width: float = 7.0, height: float = 4.5) -> Axes:
    """Return `ax`, or new axes if it is None."""
    return ax or _pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def several_panels(axes: Sequence[Axes] | None, count: int, *, beside: int = 1, **options: Any) -> tuple[Axes, ...]:
    """Return `axes`, which must be `count`, or new ones in rows of `beside`; `options` are those of pyplot.subplots."""
    if axes is None:
        axes = _pyplot().subplots(count // beside, beside, layout="constrained", squeeze=False, **options)[1].ravel()
    if len(axes) != count:
        raise OptionError(f"axes has {len(axes)} axes to draw on; give {count}, or None for new ones")
    return tuple(axes)


def set_title(axes: Axes, title: str, size: str | None = None) -> None:
    """Set the title at the left edge; it is the centre title moved there, so that `get_title()` returns it."""
    axes.set_title(title, loc="center", x=0.0, ha="left", family="serif", fontsize=size)


def finish(
    axes: Axes, title: str, xlabel: str, ylabel: str, *, size: str | None = None, legend: LegendPlace = "best"
) -> None:
    """Set the title, the labels and the legend of a panel."""
    set_title(axes, title, size)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.legend(loc=legend)


def set_sentence(axes: Axes, sentence: str) -> None:
    """Set a long title, a sentence or more, in small type."""
    axes.set_title(sentence, loc="left", family="serif", fontsize="small", fontweight="normal")


def colour(place: int) -> str:
    """Return the colour of a class by its index; there are seven, then they repeat."""
    return COLOURS[place % len(COLOURS)]


def class_places(classes: int) -> list[int]:
    """Return the place of each class among colours and markers: of two, the second is +1, a blue disc."""
    return [1, 0] if classes == 2 else list(range(classes))


def plain(text: object) -> str:
    """Return a text that matplotlib draws as it is, dollar signs included."""
    return str(text).replace("$", r"\$")


def short(name: object) -> str:
    """Return a name on one line, cut if it is long; a leading _ would keep it out of a legend.

    >>> short("cost in $"), short("_id"), len(short("x" * 99))
    ('cost in \\\\$', ' _id', 40)
    """
    line = " ".join(str(name).split())
    line = line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"
    return plain(f" {line}" if line.startswith("_") else line)
