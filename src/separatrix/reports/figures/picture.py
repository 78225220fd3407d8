"""A picture for a page: drawn small enough for a phone, its title taken off to be told beside it, as svg.

Text stays text, so that the reader's own fonts write every script; more than some hundred points become dots of a
bitmap inside. The same numbers make the same bytes. Figures are made without pyplot: no window, no state.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes


WIDTH, HEIGHT = 4.8, 3.7  # inches: of a phone's width a letter of 10 points takes about 10 pixels
MANY_POINTS = 600  # of a line or a cloud, above which it is a bitmap
TICKS = 5  # of an axis, about
DOTS = 150  # an inch, of bitmaps
UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # for XML
LOOK: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "separatrix",
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.framealpha": 0.8,
}


@dataclass(frozen=True)
class Picture:
    """An svg file, words for who does not see it, and what goes below it."""

    svg: bytes
    alt: str
    caption: str


@contextmanager
def drawing() -> Iterator[None]:
    """Draw inside with the look of a page; letters that matplotlib has no shape for are left to the reader's fonts."""
    from matplotlib import rc_context  # noqa: PLC0415  # half a second that only a picture should cost

    with rc_context(LOOK), warnings.catch_warnings():
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
        panel.set_title("")
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
