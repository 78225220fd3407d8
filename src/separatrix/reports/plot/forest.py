"""Coefficients with their intervals, one a line; where there is no interval, the reason is below.

Read off a table of inference, so that what the table refuses is not drawn. An interval without an end runs to the edge.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.build import INTERCEPT
from separatrix.errors import OptionError, require_count
from separatrix.reports.display import Display, one_panel
from separatrix.reports.labels import plain, short
from separatrix.reports.palette import COLOURS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from separatrix.inference.table import InferenceTable, Term


LINE = 100  # letters of a line of reasons
TOLD = 6  # reasons, at most
SPREAD = 0.6  # of the distance of two lines, shared by the classes of one


class _Group(NamedTuple):
    """The coefficients of one class: their heights, estimates and interval ends, (m,), NaN for what there is not."""

    label: str
    heights: Floats
    estimates: Floats
    lower: Floats
    upper: Floats


def coefficients(
    model: Any,
    ax: Axes | None = None,
    *,
    level: float = 0.95,
    ratios: bool = False,
    intercept: bool = False,
    most: int = 30,
) -> Display:
    """Draw the coefficients of a fitted model, or of its `summary()`, with their intervals or the reason for none.

    Parameters
    ----------
    model : a fitted model, or a table that `summary` returned
    level : of the intervals, where a model is given
    ratios : whether to draw the exponentials, which are ratios of odds, on a log axis
    intercept : whether to draw it as well; most : names, at most, those of the largest t or z, else of the largest size

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = sx.load_demo("iris")
    >>> display = sx.plot.coefficients(sx.LinearRegression().fit(X[:, :3], X[:, 3]))
    >>> [label.get_text() for label in display.ax.get_yticklabels()]
    ['x1', 'x2', 'x3']
    """
    table = _table_of(model, level)
    terms = [term for term in table.terms if intercept or not _is_intercept(term, table)]
    kept = _largest(terms, require_count("most", most))
    if ratios and not any(term.ratio is not None for term in kept):
        raise OptionError("ratios=True needs the table of a logistic model; these coefficients are no log-odds")
    names, told = _distinct(term.name for term in kept), _told(_reasons(kept))
    axes = one_panel(ax, 7.0, 1.6 + 0.32 * len(names) + 0.15 * told.count("\n"))
    groups = _groups(kept, names, ratios)
    for place, group in enumerate(groups):
        _draw_group(axes, place, group)
    axes.axvline(1.0 if ratios else 0.0, color="0.6", linewidth=0.8, zorder=0)
    axes.set_xscale("log" if ratios else "linear")
    _run_to_the_edge(axes, groups)
    axes.set_yticks(range(len(names)), [short(name) + _marks(name, kept) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    intervals = any(np.isfinite([group.lower, group.upper]).any() for group in groups)
    axes.set_xlabel(_unit(table, ratios, intervals) + told, fontsize="small")
    total = len({term.name for term in terms})
    axes.set_title(f"{len(names)} of {total:,} coefficients" if len(names) < total else "Coefficients")
    if len(groups) > 1 and any(np.isfinite(group.estimates).any() for group in groups):
        axes.legend(fontsize="small")
    return Display((axes,), {"terms": tuple(kept), "table": table})


def _table_of(model: Any, level: float) -> InferenceTable:
    """Return a model's table; of one that has none, its coefficients with the reason."""
    from separatrix.inference.table import InferenceTable, refused_table  # noqa: PLC0415

    if isinstance(model, InferenceTable):
        return model
    if hasattr(model, "summary"):
        found = model.summary(level=level)
        assert isinstance(found, InferenceTable)
        return found
    if not hasattr(model, "coef_"):
        raise OptionError(f"{model!r} has no coefficients to draw; give a fitted model, or what its summary() returned")
    reason = (
        f"{type(model).__name__} has no standard errors, being no maximum of a likelihood;"
        " use LinearRegression or LogisticRegression without a penalty"
    )
    rows = np.atleast_2d(model.coef_)
    outputs = [None] if len(rows) == 1 else np.asarray(model.classes_).tolist()
    named = getattr(model, "feature_names_in_", [f"x{place + 1}" for place in range(rows.shape[1])])
    return refused_table("linear", list(map(str, named)), list(zip(outputs, rows, strict=True)), 0.0, reason)


def _is_intercept(term: Term, table: InferenceTable) -> bool:
    return term.name == table.terms[0].name and term.name.strip("()").casefold() == INTERCEPT


def _largest(terms: Sequence[Term], most: int) -> list[Term]:
    """Return the terms of the names that are largest in some class, in their order."""
    sizes: dict[str, float] = {}
    tested = any(term.statistic is not None for term in terms)
    for term in terms:
        size = abs((term.statistic if tested else term.estimate) or 0.0)
        sizes[term.name] = max(sizes.get(term.name, 0.0), size)
    chosen = sorted(sizes, key=lambda name: -sizes[name])[:most]
    return [term for term in terms if term.name in chosen]


def _groups(terms: Sequence[Term], names: list[str], ratios: bool) -> list[_Group]:
    outputs = _distinct(term.output for term in terms)
    found = []
    for place, output in enumerate(outputs):
        own = [term for term in terms if term.output == output]
        shift = SPREAD * ((place + 0.5) / len(outputs) - 0.5)
        cells = [
            (term.ratio, term.ratio_lower, term.ratio_upper) if ratios else (term.estimate, term.lower, term.upper)
            for term in own
        ]
        numbers = np.array(cells, dtype=np.float64).reshape(-1, 3)
        found.append(_Group(short(output), np.array([names.index(term.name) + shift for term in own]), *numbers.T))
    return found


def _draw_group(axes: Axes, place: int, group: _Group) -> None:
    """Draw a class: full markers with intervals, hollow ones without."""
    colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
    known = np.isfinite(group.lower) | np.isfinite(group.upper)
    both = np.isfinite(group.lower) & np.isfinite(group.upper)
    axes.hlines(group.heights[both], group.lower[both], group.upper[both], color=colour, linewidth=1.6)
    look: dict[str, Any] = {"linestyle": "none", "marker": marker, "color": colour, "markersize": 5.5}
    fills, label = ((known, colour), (~known, "white")), group.label
    for chosen, fill in fills:
        if chosen.any():
            axes.plot(group.estimates[chosen], group.heights[chosen], **look, markerfacecolor=fill, label=label)
            label = "_nolegend_"
    for height in group.heights[~np.isfinite(group.estimates)]:
        place_of = axes.get_yaxis_transform()
        axes.text(0.5, height, "no estimate", transform=place_of, ha="center", va="center", fontsize="small")


def _run_to_the_edge(axes: Axes, groups: Sequence[_Group]) -> None:
    """Draw the intervals that have one end only."""
    edges = axes.get_xlim()
    for place, group in enumerate(groups):
        for ends, others, edge, arrow in (
            (group.lower, group.upper, edges[0], "<"),
            (group.upper, group.lower, edges[1], ">"),
        ):
            for row in np.flatnonzero(~np.isfinite(ends) & np.isfinite(others)):
                line = [others[row], edge], [group.heights[row]] * 2
                axes.plot(*line, color=COLOURS[place % len(COLOURS)], linewidth=1.6, marker=arrow, markevery=[1])
    axes.set_xlim(edges)


def _reasons(terms: Sequence[Term]) -> list[str]:
    return _distinct(term.absent for term in terms if term.absent)


def _marks(name: str, terms: Sequence[Term]) -> str:
    """Return the numbers of the reasons that a name's numbers are absent for; none where all have the same."""
    reasons = _reasons(terms)
    if len(reasons) == 1 and all(term.absent for term in terms):
        return ""
    places = sorted({reasons.index(term.absent) + 1 for term in terms if term.name == name and term.absent})
    return "".join(f" [{place}]" for place in places)


def _unit(table: InferenceTable, ratios: bool, intervals: bool) -> str:
    unit = "ratio of odds" if ratios else "coefficient" if table.model == "linear" else "coefficient, in log-odds"
    return f"{unit}, for one unit more of the column" + (f"; {100.0 * table.level:g} % intervals" if intervals else "")


def _told(reasons: Sequence[str]) -> str:
    """Return the reasons for intervals that are not there, as lines to come after the axis's label."""
    lines = []
    for place, reason in enumerate(reasons[:TOLD], start=1):
        number = f"[{place}] " if len(reasons) > 1 else ""
        lines += textwrap.wrap(plain(f"{number}no interval: {reason}"), LINE)
    if len(reasons) > TOLD:
        lines.append(f"… and {len(reasons) - TOLD} more reasons, see summary()")
    return "".join(f"\n{line}" for line in lines)


def _distinct(values: Any) -> list[Any]:
    return list(dict.fromkeys(values))
