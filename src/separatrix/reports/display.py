"""What every picture returns: its panels, and the numbers drawn in them.

Pictures are made by pyplot, as those of other libraries are: a notebook shows them by itself, a script by `show`.

Names from the data as words in a picture: no dollar begins a formula, no name is hidden or fills the page.

Colours that people who do not tell red from green tell apart, and markers and lines that tell as much in print.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

from separatrix.errors import OptionError, counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


DOTS = 150  # an inch


@dataclass(frozen=True)
class Display:
    """A picture: `axes` are matplotlib's, one a panel; `data` has by name the numbers that were drawn.

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
        """The first panel, of most pictures the only one."""
        return self.axes[0]

    @property
    def figure(self) -> Figure:
        """The figure that the panels are on."""
        return self.ax.figure.canvas.figure

    def save(self, path: str | PathLike[str], *, dots: int = DOTS) -> None:
        """Write the picture to a file; its ending says the format: png, svg, pdf."""
        self.figure.savefig(path, dpi=dots)

    def image(self, kind: str = "png", *, dots: int = DOTS) -> bytes:
        """Return the picture as the bytes of a png, svg or pdf file, the same ones each time."""
        from matplotlib import rc_context  # noqa: PLC0415  # half a second that only a picture should cost

        buffer = io.BytesIO()
        undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {"Software": None})
        with rc_context({"svg.hashsalt": "separatrix"}):
            self.figure.savefig(buffer, format=kind, dpi=dots, metadata=undated)
        return buffer.getvalue()

    def show(self) -> None:
        """Open a window with this picture and all others not yet closed, and wait until they are."""
        from matplotlib import pyplot  # noqa: PLC0415

        pyplot.show()

    def close(self) -> None:
        """Let go of the figure."""
        from matplotlib import pyplot  # noqa: PLC0415

        pyplot.close(self.figure)

    def __iter__(self) -> Iterator[Axes]:
        return iter(self.axes)

    def __len__(self) -> int:
        return len(self.axes)

    def __getitem__(self, place: int) -> Axes:
        return self.axes[place]

    def __repr__(self) -> str:
        title = (self.ax.get_title() or self.ax.get_title(loc="left")).replace("\n", " ")
        return f"<Display of {counted(len(self.axes), 'panel')}: {title!r}>"


def one_panel(ax: Axes | None, width: float = 7.0, height: float = 4.5) -> Axes:
    """Return the axes given, or new ones."""
    if ax is not None:
        return ax
    from matplotlib import pyplot  # noqa: PLC0415

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def several_panels(axes: Sequence[Axes] | None, count: int, **options: Any) -> tuple[Axes, ...]:
    """Return the axes given, `count` of them, or new ones above each other; `options` are those of pyplot.subplots."""
    if axes is None:
        from matplotlib import pyplot  # noqa: PLC0415

        axes = pyplot.subplots(count, 1, layout="constrained", squeeze=False, **options)[1].ravel()
    if len(axes) != count:
        raise OptionError(f"axes has {len(axes)} axes to draw on; give {count}, or None for new ones")
    return tuple(axes)


LONGEST = 40  # letters of a name


def plain(text: object) -> str:
    """Return a text that matplotlib draws as it is, dollars and all."""
    return str(text).replace("$", r"\$")


def short(name: object) -> str:
    """Return a name on one line, cut if it is long; one that begins with _ would be left out of a legend.

    >>> short("cost in $"), short("_id"), len(short("x" * 99))
    ('cost in \\\\$', ' _id', 40)
    """
    words = " ".join(str(name).split())
    words = words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"
    return plain(f" {words}" if words.startswith("_") else words)


COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
STYLES = ("-", "--", "-.", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (7, 3)), (0, (5, 2, 1, 2)))
