"""The way of a fit: its objective, duality gap, bounds and mistakes, over the passes that it made.

Which panels there are is what the fit kept. Of one fit a class there is a line each. A gap is on a log axis, an
objective where it falls by more than a factor of ten, passes where there are hundreds. Cost: the trace is drawn, no
data are read.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import OptionError
from separatrix.fit.result import FitResult
from separatrix.reports.display import Display, several_panels
from separatrix.reports.labels import plain, short
from separatrix.reports.palette import COLOURS, STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MARKED = 40  # steps up to which each is marked
MANY_PASSES = 200.0  # at which they are drawn on a log axis
TITLE = 90  # letters of a line of the title


class _Panel(NamedTuple):
    """Facts of the steps that share a panel, the first of which decides whether there is one."""

    facts: tuple[str, ...]
    words: str
    log: bool = False


TRACE_PANELS = (
    _Panel(("objective",), "objective"),
    _Panel(("relative_excess",), "duality gap, relative", log=True),
    _Panel(("mistakes",), "mistakes in a pass"),
    _Panel(("wrong",), "rows wrong"),
    _Panel(("lower", "upper"), "lower and upper bound"),
)


def trace(model: Any, axes: Sequence[Axes] | None = None) -> Display:
    """Draw the way of a fitted model, or of what its `result_` is; `axes` are as many as there are panels.

    >>> import separatrix as sx
    >>> X, y = sx.load_demo("iris")
    >>> display = sx.plot.trace(sx.LogisticRegression(strength=0.1).fit(X, y))
    >>> [panel.get_ylabel() for panel in display]
    ['objective', 'duality gap, relative']
    """
    result = model if isinstance(model, FitResult) else getattr(model, "result_", None)
    if not isinstance(result, FitResult):
        raise OptionError(f"{model!r} has no trace to draw; give a fitted model, or its result_")
    steps = _steps(result)
    kept = [panel for panel in TRACE_PANELS if any(panel.facts[0] in each for each in steps.values())]
    if not kept:
        raise OptionError(
            f"the fit kept none of {', '.join(panel.facts[0] for panel in TRACE_PANELS)}; nothing to draw"
        )
    panels = several_panels(axes, len(kept), figsize=(7.0, 1.2 + 2.2 * len(kept)), sharex=axes is None)
    for ax, panel in zip(panels, kept, strict=True):
        _draw_panel(ax, panel, steps)
        if panel.facts[0] == "relative_excess":
            _mark_tolerance(ax, model)
    panels[-1].set_xlabel("passes over the rows")
    lines = textwrap.wrap(plain(result.message), TITLE, max_lines=4, placeholder=" …")
    panels[0].set_title("\n".join(lines), fontsize="small", loc="left")
    return Display(panels, {str(label): dict(each) for label, each in steps.items()})


def _steps(result: FitResult) -> dict[Any, Mapping[str, Floats]]:
    """Return the columns of each fit's trace by its class; of one fit by the word "fit"."""
    if not result.parts:
        return {"fit": result.trace.steps}
    labels = getattr(result.certificate, "classes", range(len(result.parts)))
    return {label: part.trace.steps for label, part in zip(labels, result.parts, strict=True)}


def _draw_panel(ax: Axes, panel: _Panel, steps: Mapping[Any, Mapping[str, Floats]]) -> None:
    """Draw a line a fit or, of two facts, a full and a dashed one."""
    several, paired = len(steps) > 1, len(panel.facts) > 1
    for place, (label, columns) in enumerate(steps.items()):
        for fact, dashes in zip(panel.facts, ("-", "--"), strict=False):
            if fact in columns:
                name = f"{short(label)}, {fact}" if several and paired else short(label) if several else fact
                look: dict[str, Any] = {
                    "color": COLOURS[place % len(COLOURS)],
                    "linestyle": STYLES[place % len(STYLES)] if several and not paired else dashes,
                    "marker": "." if len(columns[fact]) <= MARKED else "",
                    "label": name if several or paired else None,
                }
                ax.plot(columns["passes"], _drawable(columns[fact], panel.log), **look)
    drawn = np.concatenate([columns[panel.facts[0]] for columns in steps.values() if panel.facts[0] in columns])
    ax.set_yscale("log" if panel.log or _falls_far(drawn) else "linear")
    if ax.get_yscale() == "linear":
        ax.ticklabel_format(axis="y", useOffset=False)  # whole numbers on the axis, none to be added in the head
    ax.set_ylabel(panel.words)
    if max(float(columns["passes"][-1]) for columns in steps.values()) >= MANY_PASSES:
        ax.set_xscale("log")
    else:
        ax.locator_params(axis="x", integer=True)
    if several or paired:
        ax.legend(fontsize="small")


def _drawable(values: Floats, log: bool) -> Floats:
    """Return values with NaN, a gap in the line, for what a log axis cannot show."""
    return np.where(np.isfinite(values) & ((values > 0.0) | (not log)), values, np.nan)


def _falls_far(values: Floats) -> bool:
    known = values[np.isfinite(values)]
    return bool(known.size and known.min() > 0.0 and known.max() > 10.0 * known.min())


def _mark_tolerance(ax: Axes, model: Any) -> None:
    asked = getattr(model, "tol", None)
    if isinstance(asked, float) and asked > 0.0:
        ax.axhline(asked, color="0.3", linestyle=":", label=f"asked for: {asked:g}")
        ax.legend(fontsize="small")
