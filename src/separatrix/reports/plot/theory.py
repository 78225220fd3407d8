"""Experiments beside their theorems: Cover's function-counting theorem, and the perceptron's mistake bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separatrix.errors import OptionError
from separatrix.reports.display import INK, PROOF, Display, one_panel, set_title, styled
from separatrix.theory.experiments import CoverExperiment, MarginExperiment
from separatrix.theory.halfspace import capacity, separability_probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def cover(experiment: CoverExperiment, ax: Axes | None = None) -> Display:
    """Draw the share of random labellings that are separable over the number of points, beside Cover's formula.

    >>> import separatrix as sx
    >>> sx.plot.cover(sx.cover_experiment([4, 6, 8], 3, repeats=20)).ax.get_xlabel()
    'points N'
    """
    if not isinstance(experiment, CoverExperiment):
        raise OptionError(f"{experiment!r:.60} is no experiment to draw; give what sx.cover_experiment returned")
    with styled():
        axes = one_panel(ax)
        d, edge = experiment.d, capacity(experiment.d)
        sizes = np.arange(1, max(int(experiment.points.max()), edge) + 1)
        formula = np.array([separability_probability(size, d) for size in sizes.tolist()])
        axes.plot(sizes, formula, color=PROOF, label="Cover: C(N, d) / 2^N")
        reach = np.abs(np.vstack([experiment.lower, experiment.upper]) - experiment.share)
        label = f"counted, with {100 * experiment.level:g} % intervals"
        axes.errorbar(experiment.points, experiment.share, reach, color=INK, fmt="o", capsize=3, label=label)
        axes.axvline(edge, color=PROOF, linestyle="--", label=f"capacity 2d = {edge}: one half")
        axes.set_xlabel("points N")
        axes.set_ylabel("share of labellings separable")
        axes.set_ylim(-0.03, 1.03)
        set_title(axes, f"How many labellings {d} weights can separate")
        axes.legend()
        return Display((axes,), {"points": sizes, "formula": formula, "share": experiment.share})


def margin_effect(experiment: MarginExperiment, ax: Axes | None = None) -> Display:
    """Draw a perceptron's number of updates over the margin, beside the bound (R/γ)².

    >>> import separatrix as sx
    >>> sx.plot.margin_effect(sx.margin_experiment([0.4, 0.1], repeats=3)).ax.get_xlabel()
    'margin γ'
    """
    with styled():
        axes = one_panel(ax)
        order = np.argsort(experiment.margins)
        margins, updates, bounds = experiment.margins[order], experiment.updates[order], experiment.bounds[order]
        axes.plot(margins, bounds, "--", color=PROOF, label="bound (R/γ)²")
        axes.plot(np.repeat(margins, updates.shape[1]), updates.ravel(), ".", color=INK, alpha=0.4, label="updates")
        axes.plot(margins, updates.mean(axis=1), color=INK, label="their mean")
        axes.set_xscale("log")
        axes.set_yscale("symlog", linthresh=1.0)
        axes.set_xlabel("margin γ")
        axes.set_ylabel("updates")
        set_title(axes, "The smaller the margin, the more mistakes")
        axes.legend()
        return Display((axes,), {"margins": margins, "updates": updates, "bounds": bounds})
