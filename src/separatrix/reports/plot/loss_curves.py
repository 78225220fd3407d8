"""Losses as functions of the margin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from separatrix import losses as all_losses
from separatrix.errors import OptionError
from separatrix.reports.display import Display, one_panel
from separatrix.reports.palette import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SURROGATES = ("zero-one", "perceptron", "hinge", "squared hinge", "logistic", "squared")
MARGINS = (-2.0, 2.5)


def losses(ax: Axes | None = None, names: Sequence[str] = SURROGATES) -> Display:
    """Draw losses as functions of the margin y·score: the 0-1 loss and what is minimised in its place."""
    axes = one_panel(ax)
    known = {loss.name: loss for loss in all_losses.ALL}
    margins = np.linspace(*MARGINS, 901)
    drawn = {"margins": margins}
    for place, name in enumerate(names):
        if name not in known or known[name].target == "classes":
            raise OptionError(f"names has {name!r}, which is no loss of a margin; known are {', '.join(SURROGATES)}")
        style = "--" if name == "zero-one" else "-"
        drawn[name] = np.asarray(known[name].value(margins, np.ones_like(margins)))
        axes.plot(margins, drawn[name], style, color=COLOURS[place % len(COLOURS)], label=name)
    axes.set_xlabel("margin y·score")
    axes.set_ylabel("loss")
    axes.set_title("Losses as functions of the margin")
    axes.legend(fontsize="small")
    return Display((axes,), drawn)
