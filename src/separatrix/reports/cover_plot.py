"""Cover's theorem in a picture: the share of labellings that are separable, counted and by the formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separatrix.errors import OptionError
from separatrix.reports.display import Display, one_panel
from separatrix.reports.palette import COLOURS
from separatrix.theory.experiments import CoverExperiment
from separatrix.theory.halfspace import capacity, separability_probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def cover(experiment: CoverExperiment, ax: Axes | None = None) -> Display:
    """Draw the share of random labellings that were separable against the number of points, beside Cover's formula.

    >>> import separatrix as sx
    >>> sx.plot.cover(sx.cover_experiment([4, 6, 8], 3, repeats=20)).ax.get_xlabel()
    'points N'
    """
    if not isinstance(experiment, CoverExperiment):
        raise OptionError(f"{experiment!r:.60} is no experiment to draw; give what sx.cover_experiment returned")
    axes = one_panel(ax)
    d, edge = experiment.d, capacity(experiment.d)
    sizes = np.arange(1, max(int(experiment.points.max()), edge) + 1)
    formula = np.array([separability_probability(size, d) for size in sizes.tolist()])
    axes.plot(sizes, formula, color=COLOURS[0], label="Cover: C(N, d) / 2^N")
    reach = np.abs(np.vstack([experiment.lower, experiment.upper]) - experiment.share)
    label = f"counted, with {100 * experiment.level:g} % intervals"
    axes.errorbar(experiment.points, experiment.share, reach, color=COLOURS[1], fmt="o", capsize=3, label=label)
    axes.axvline(edge, color="0.4", linestyle="--", label=f"capacity 2d = {edge}: one half")
    axes.set_xlabel("points N")
    axes.set_ylabel("share of labellings separable")
    axes.set_ylim(-0.03, 1.03)
    axes.set_title(f"How many labellings {d} weights can separate")
    axes.legend(fontsize="small")
    return Display((axes,), {"points": sizes, "formula": formula, "share": experiment.share})
