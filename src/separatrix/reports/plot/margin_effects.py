"""A perceptron's updates against the margin of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separatrix.reports.display import Display, one_panel
from separatrix.reports.palette import COLOURS
from separatrix.theory.experiments import MarginExperiment

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def margin_effect(experiment: MarginExperiment, ax: Axes | None = None) -> Display:
    """Draw a perceptron's updates against the margin, beside the bound (R/γ)².

    >>> import separatrix as sx
    >>> sx.plot.margin_effect(sx.margin_experiment([0.4, 0.1], repeats=3)).ax.get_xlabel()
    'margin γ'
    """
    axes = one_panel(ax)
    order = np.argsort(experiment.margins)
    margins, updates, bounds = experiment.margins[order], experiment.updates[order], experiment.bounds[order]
    axes.plot(margins, bounds, "--", color="0.3", label="bound (R/γ)²")
    axes.plot(np.repeat(margins, updates.shape[1]), updates.ravel(), ".", color=COLOURS[5], alpha=0.6, label="updates")
    axes.plot(margins, updates.mean(axis=1), color=COLOURS[0], label="their mean")
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_xlabel("margin γ")
    axes.set_ylabel("updates")
    axes.set_title("The smaller the margin, the more mistakes")
    axes.legend(fontsize="small")
    return Display((axes,), {"margins": margins, "updates": updates, "bounds": bounds})
