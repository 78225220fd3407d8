"""Plots of fits: convergence, coefficients with intervals, regularisation path, cross-validated losses.

The convergence plot has one panel per fact in the trace, and one line per class of a one-vs-rest fit. Mistakes are
those of a pass, on average over the passes of a step. A gap has a log axis, an objective if it falls by more than a
factor of ten, passes if there are hundreds. Coefficients are read off an inference table, so that estimates and
intervals absent there are not drawn; the reasons are printed below. An interval without an end runs to the edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.build import INTERCEPT
from separatrix.errors import OptionError, counted, require_count
from separatrix.fit.result import FitResult
from separatrix.inference.table import InferenceTable, Term, estimates_only_table
from separatrix.reports import display as look
from separatrix.reports.display import Display, EndLabel, Theme
from separatrix.selection import CrossValidation, Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PATHS_NAMED = len(look.COLOURS)  # coefficients labelled in a plot of a path, the largest ones
MARKED = 40  # steps up to which each has a marker
MANY_PASSES = 200.0  # from which passes have a log axis
FLOOR = 1e-17  # of gaps on a log axis: less is 0 to floating-point precision
CHARACTER = 5.2  # points of an average one in a tick's label
NAME_SHARE = 0.46  # of the width of a figure, at most, for names
REASONS_SHOWN = 6
PATH_NAME = 22  # characters of a name beside a line
EDGE_SPACE = 1.08  # factor by which an axis of strengths goes beyond them
COUNTS = {"mistakes", "wrong"}  # facts that are counts
SPREAD = 0.6  # share of the distance between two names that the classes of one name occupy


class _Panel(NamedTuple):
    """Facts of the steps that share a panel, which exists if the trace has the first of them."""

    facts: tuple[str, ...]
    label: str
    log: bool = False


TRACE_PANELS = (
    _Panel(("objective",), "objective"),
    _Panel(("relative_excess",), "duality gap, relative", log=True),
    _Panel(("mistakes",), "mistakes per pass"),
    _Panel(("wrong",), "rows wrong"),
    _Panel(("lower", "upper"), "lower and upper bound"),
)


def trace(model: Any, axes: Sequence[Axes] | None = None, *, theme: Theme = "light") -> Display:
    """Draw the convergence of a fitted model, or of its `result_`; `axes`, if given, are one per panel.

    >>> import separatrix as sx
    >>> X, y = sx.load_demo("iris")
    >>> display = sx.plot.trace(sx.LogisticRegression(strength=0.1).fit(X, y))
    >>> [panel.get_ylabel() for panel in display]
    ['objective', 'duality gap, relative']
    """
    result = model if isinstance(model, FitResult) else getattr(model, "result_", None)
    if not isinstance(result, FitResult):
        raise OptionError(f"{model!r} has no trace to draw; give a fitted model, or its result_")
    steps, kinds = trace_panels(result)
    if not kinds:
        facts = ", ".join(panel.facts[0] for panel in TRACE_PANELS)
        raise OptionError(f"the fit kept none of {facts}; nothing to draw")
    tolerance = getattr(model, "tol", None)
    with look.styled(theme) as tones:
        panels = look.several_panels(axes, len(kinds), figsize=(6.4, 1.4 + 2.0 * len(kinds)), sharex=axes is None)
        for ax, panel in zip(panels, kinds, strict=True):
            _draw_panel(ax, panel, steps)
            if panel.facts[0] == "relative_excess" and tolerance:
                ax.axhline(tolerance, color=tones.soft, linestyle=":", linewidth=1.2)
                look.label_ends(ax, [EndLabel(f"tolerance\n{look.number(tolerance)}", tones.soft, tolerance)])
        panels[-1].set_xlabel("passes over the rows")
        look.set_sentence(panels[0], look.plain(result.message), most=4)
        for ax, after in zip(panels, [*panels[1:], None], strict=True):
            if after is None or after.figure is not ax.figure:  # the lowest panel of a figure
                look.set_key(ax)
        return Display(panels, {str(label): dict(each) for label, each in steps.items()})


def trace_panels(result: FitResult) -> tuple[dict[Any, Mapping[str, Floats]], list[_Panel]]:
    """Return the columns of the trace by class, under "fit" if there is one fit, and the panels that show them."""
    data = result.certificate.data
    names = data.labels if data.scheme == "one-vs-rest" else [data.part_name(k) for k in range(len(result.parts))]
    parts = zip(names, result.parts, strict=False) if result.parts else [("fit", result)]
    steps = {name: part.trace.steps for name, part in parts}
    return steps, [panel for panel in TRACE_PANELS if any(_is_drawable(panel, each) for each in steps.values())]


def _is_drawable(panel: _Panel, columns: Mapping[str, Floats]) -> bool:
    """Whether a fact has a value that its axis can show: all gaps may be infinite where no minimum exists."""
    values = columns.get(panel.facts[0], np.zeros(0))
    return bool((np.isfinite(values) & ((values > 0.0) | (not panel.log))).any())


def _draw_panel(ax: Axes, panel: _Panel, steps: Mapping[Any, Mapping[str, Floats]]) -> None:
    """Draw one line per class or, for two facts, a solid and a dashed one."""
    several, paired, tones = len(steps) > 1, len(panel.facts) > 1, look.palette()
    for place, (label, columns) in enumerate(steps.items()):
        for fact, dashes in zip(panel.facts, ("-", "--"), strict=False):
            if fact in columns:
                name = f"{look.short(label)}, {fact}" if several and paired else look.short(label) if several else fact
                style: dict[str, Any] = {
                    "color": tones.of_class(place) if several else tones.ink,
                    "linestyle": look.STYLES[place % len(look.STYLES)] if several and not paired else dashes,
                    "marker": "." if len(columns[fact]) <= MARKED else "",
                    "label": name if several or paired else None,
                }
                values = _values(columns, fact)
                shown = np.isfinite(values) & ((values > 0.0) | (not panel.log))  # others are gaps
                ax.plot(columns["passes"], np.where(shown, values, np.nan), **style)
    drawn = np.concatenate([_values(each, panel.facts[0]) for each in steps.values() if panel.facts[0] in each])
    ax.set_yscale("log" if panel.log or _falls_far(drawn) else "linear")
    if panel.log:
        ax.set_ylim(bottom=max(FLOOR, ax.get_ylim()[0]))
    if ax.get_yscale() == "linear":
        ax.ticklabel_format(axis="y", useOffset=False)  # no offset to be added mentally
    ax.set_ylabel(panel.label)
    if max(float(columns["passes"][-1]) for columns in steps.values()) >= MANY_PASSES:
        ax.set_xscale("log")
    else:
        ax.locator_params(axis="x", integer=True)
    if panel.facts[0] in COUNTS:
        look.integers_only(ax, "y")
        ax.set_ylim(bottom=0.0)
    elif ax.get_yscale() == "linear" and np.nanmin(drawn, initial=0.0) >= 0.0:
        ax.set_ylim(bottom=max(0.0, ax.get_ylim()[0]))


def _values(steps: Mapping[str, Floats], fact: str) -> Floats:
    """Return a fact of the steps; mistakes per pass, as late steps of a long run make several passes."""
    if fact != "mistakes":
        return steps[fact]
    return np.asarray(steps["mistakes"] / np.maximum(np.diff(steps["passes"], prepend=0.0), 1.0))


def _falls_far(values: Floats) -> bool:
    known = values[np.isfinite(values)]
    return bool(known.size and known.min() > 0.0 and known.max() > 10.0 * known.min())


def coefficients(
    model: Any,
    ax: Axes | None = None,
    *,
    level: float = 0.95,
    ratios: bool = False,
    intercept: bool = False,
    most: int = 30,
    theme: Theme = "light",
) -> Display:
    """Draw the coefficients of a fitted model, or of its `summary()`, with their intervals or why there are none.

    Parameters
    ----------
    model : a fitted model, or the table that its `summary` returned
    level : confidence level of the intervals, if a model is given
    ratios : whether to draw the exponentials, which are odds ratios, on a log axis
    intercept : whether to draw the intercept as well
    most : largest number of names; the first ones are drawn, in the order of the model
    theme : "light" or "dark"

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = sx.load_demo("iris")
    >>> display = sx.plot.coefficients(sx.LinearRegression().fit(X[:, :3], X[:, 3]))
    >>> [label.get_text() for label in display.ax.get_yticklabels()]
    ['x1', 'x2', 'x3']
    """
    table = _table_of(model, level)
    first = table.terms[0].name
    hidden = first if not intercept and first.strip("()").casefold() == INTERCEPT else None
    terms = [term for term in table.terms if term.name != hidden]
    first_names = _distinct(term.name for term in terms)[: require_count("most", most)]
    drawn = [term for term in terms if term.name in first_names]
    if ratios and not any(term.ratio is not None for term in drawn):
        raise OptionError("ratios=True needs the table of a logistic model; these coefficients are no log-odds")
    names, outputs = _distinct(term.name for term in drawn), _distinct(term.output for term in drawn)
    reasons = _distinct(term.absent for term in drawn if term.absent)
    lines = _reason_lines(reasons)
    cells = [(each.ratio, each.ratio_lower, each.ratio_upper) for each in drawn] if ratios else None
    numbers = np.array(cells or [(each.estimate, each.lower, each.upper) for each in drawn], dtype=np.float64)
    classes = np.array([outputs.index(term.output) for term in drawn], dtype=np.intp)
    heights = np.array([names.index(term.name) for term in drawn])
    heights = heights + SPREAD * ((classes + 0.5) / len(outputs) - 0.5)
    with look.styled(theme) as tones:
        axes = look.one_panel(ax, 6.4, 1.7 + 0.3 * len(names) + 0.16 * sum(len(line) // 60 + 1 for line in lines))
        for place, output in enumerate(outputs):
            marker = (look.marker_of(place), tones.of_class(place)) if outputs[1:] else ("s", tones.ink)
            _draw_class(axes, heights[classes == place], numbers[classes == place], look.short(output), *marker)
        axes.axvline(1.0 if ratios else 0.0, color=tones.edge, linewidth=0.8, zorder=0)
        if ratios:
            look.log_scale(axes, "x", float(np.nanmin(numbers)), float(np.nanmax(numbers)))
        _open_intervals(axes, heights, numbers, list(map(tones.of_class, classes)) if outputs[1:] else None)
        letters = int(NAME_SHARE * 72.0 * axes.figure.canvas.figure.get_figwidth() / CHARACTER)
        labels = [look.short(name, min(look.LONGEST_NAME, letters)) + _marks(name, drawn, reasons) for name in names]
        axes.set_yticks(range(len(names)), labels)
        if not np.isfinite(numbers).any():
            axes.set_xticks([])
        axes.set_ylim(len(names) - 0.4, -0.6)
        unit = "odds ratio" if ratios else "coefficient" if table.model == "linear" else "coefficient, in log-odds"
        axes.set_xlabel(f"{unit}, per unit of the column" if letters >= look.LONGEST_NAME else unit)
        total = len({term.name for term in terms})
        which = f" The first {len(names)} of {total:,} coefficients are drawn." if len(names) < total else ""
        indent = CHARACTER * max(map(len, labels))
        sentence = _interval_sentence(numbers, 1.0 if ratios else 0.0, table.level)
        look.set_title(axes, sentence + which, indent=indent)
        if len(outputs) < 2 or not np.isfinite(numbers[:, 0]).any():
            for handle in axes.lines:
                handle.set_label("_nolegend_")
        look.set_key(axes, "\n".join(lines), indent=indent)
        return Display((axes,), {"terms": tuple(drawn), "table": table})


def _interval_sentence(numbers: Floats, null: float, level: float) -> str:
    """Return how many intervals exclude the value of no effect."""
    lower, upper = numbers[:, 1], numbers[:, 2]
    known = int(np.isfinite(numbers[:, 1:]).any(axis=1).sum())
    if not known:
        return "No coefficient has a confidence interval."
    excluded = int(((lower > null) | (upper < null)).sum())
    verb = "excludes" if excluded == 1 else "exclude"
    return f"{excluded} of {counted(known, 'interval')} ({100.0 * level:g} %) {verb} {null:g}."


def _table_of(model: Any, level: float) -> InferenceTable:
    """Return the model's inference table, or its bare coefficients with the reason."""
    if isinstance(model, InferenceTable):
        return model
    if hasattr(model, "summary"):
        table = model.summary(level=level)
        assert isinstance(table, InferenceTable)
        return table
    if not hasattr(model, "coef_"):
        raise OptionError(f"{model!r} has no coefficients to draw; give a fitted model, or what its summary() returned")
    reason = (
        f"{type(model).__name__} has no standard errors, being no maximum of a likelihood;"
        " use LinearRegression or LogisticRegression without a penalty"
    )
    rows = np.atleast_2d(model.coef_)
    outputs = [None] if len(rows) == 1 else np.asarray(model.classes_).tolist()
    named = getattr(model, "feature_names_in_", [f"x{place + 1}" for place in range(rows.shape[1])])
    return estimates_only_table("linear", list(map(str, named)), list(zip(outputs, rows, strict=True)), 0.0, reason)


def _draw_class(axes: Axes, heights: Floats, numbers: Floats, label: str, marker: str, colour: str) -> None:
    """Draw estimates and interval ends (m, 3) of one class: filled markers with intervals, hollow ones without."""
    estimates, lower, upper = numbers.T
    known, both = np.isfinite(numbers[:, 1:]).any(axis=1), np.isfinite(numbers[:, 1:]).all(axis=1)
    axes.hlines(heights[both], lower[both], upper[both], color=colour, linewidth=1.6)
    style: dict[str, Any] = {"linestyle": "none", "marker": marker, "color": colour, "markersize": 5.5}
    for chosen, fill in ((known, colour), (~known, look.palette().card)):
        if chosen.any():
            axes.plot(estimates[chosen], heights[chosen], **style, markerfacecolor=fill, label=label)
            label = "_nolegend_"
    for height in heights[~np.isfinite(estimates)]:
        transform = axes.get_yaxis_transform()
        axes.text(0.5, height, "no estimate", transform=transform, ha="center", va="center", fontsize="small")


def _open_intervals(axes: Axes, heights: Floats, numbers: Floats, colours: Sequence[str] | None) -> None:
    """Draw intervals with one end up to the edge; where no finite estimate exists, which is proved, in plum."""
    edges, tones = axes.get_xlim(), look.palette()
    for row in np.flatnonzero(np.isfinite(numbers[:, 1:]).sum(axis=1) == 1).tolist():
        above = np.isfinite(numbers[row, 1])  # the lower end is known
        line = [numbers[row, 1 if above else 2], edges[int(above)]], [heights[row]] * 2
        colour = tones.proof if np.isnan(numbers[row, 0]) else tones.ink if colours is None else colours[row]
        axes.plot(*line, color=colour, linewidth=1.6, marker=">" if above else "<", markevery=[1])
    axes.set_xlim(edges)


def _marks(name: str, terms: Sequence[Term], reasons: Sequence[str]) -> str:
    """Return the numbers of the reasons why a name has no interval; none if all names share one."""
    if len(reasons) == 1 and all(term.absent for term in terms):
        return ""
    places = sorted({reasons.index(term.absent) + 1 for term in terms if term.name == name and term.absent})
    return "".join(f" [{place}]" for place in places)


def _reason_lines(reasons: Sequence[str]) -> list[str]:
    """Return the reasons for absent intervals, as lines below the plot."""
    lines = []
    for place, reason in enumerate(reasons[:REASONS_SHOWN], start=1):
        number = f"[{place}] " if len(reasons) > 1 else ""
        lines.append(look.plain(f"{number}no interval: {reason}"))
    more = len(reasons) - REASONS_SHOWN
    return [*lines, f"… and {counted(more, 'more reason')}, see summary()"] if more > 0 else lines


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def path(path: Path, ax: Axes | None = None, *, output: int = 0, theme: Theme = "light") -> Display:
    """Draw the coefficients along the strengths of the penalty; `output` selects the class if each has its own.

    >>> import separatrix as sx
    >>> X, y = sx.load_demo("iris")
    >>> display = sx.plot.path(sx.path(sx.LinearRegression(l1_ratio=1.0), X[:, :3], X[:, 3], strengths=20))
    >>> display.ax.get_xlabel(), display.data["weights"].shape
    ('strength', (20, 3))
    """
    if not isinstance(path, Path):
        raise OptionError(f"{path!r} is no path; give what sx.path returned")
    with look.styled(theme) as tones:
        axes = look.one_panel(ax)
        weights = path.weights if path.weights.ndim == 2 else path.weights[:, :, output]
        names = path.names[int(path.virtual) :]
        largest = np.argsort(-np.abs(weights).max(axis=0), kind="stable")[:PATHS_NAMED]
        axes.axhline(0.0, color=tones.edge, linewidth=0.8, zorder=0)
        axes.plot(path.strengths, np.delete(weights, largest, axis=1), color=tones.hair, linewidth=0.8)
        for place, column in enumerate(largest):
            style: dict[str, Any] = {"color": tones.of_class(place), "linestyle": look.STYLES[place % len(look.STYLES)]}
            axes.plot(path.strengths, weights[:, column], label=look.short(names[column]), **style)
        used = np.count_nonzero(path.weights[-1].reshape(weights.shape[1], -1).any(axis=1))
        have = f"{counted(weights.shape[1], 'column')} {'has' if used == 1 else 'have'}"
        title = f"{used} of {have} a weight at the smallest strength."
        _finish_strengths(axes, path.strengths, title, "coefficient")
        ends = [
            EndLabel(look.short(names[column])[:PATH_NAME], tones.of_class(place), float(weights[-1, column]))
            for place, column in enumerate(largest)
        ]
        look.label_ends(axes, ends)
        return Display((axes,), {"strengths": path.strengths, "weights": weights, "names": names})


def cross_validation(model: Any, ax: Axes | None = None, *, theme: Theme = "light") -> Display:
    """Draw the held-out loss of each strength with its standard error, the best and the chosen strength.

    Takes a model fitted with ``strength="cv"``, or its `cv_`.
    """
    cv = model if isinstance(model, CrossValidation) else getattr(model, "cv_", None)
    if not isinstance(cv, CrossValidation):
        raise OptionError(f'{model!r} has no cross-validation to draw; fit it with strength="cv"')
    with look.styled(theme) as tones:
        axes = look.one_panel(ax)
        style: dict[str, Any] = {
            "color": tones.ink,
            "ecolor": tones.edge,
            "fmt": "o",
            "markersize": 4.5,
            "capsize": 2.0,
        }
        label = "mean of the folds ± standard error"
        if len(cv.strengths) <= MARKED:
            axes.errorbar(cv.strengths, cv.mean, cv.error, label=label, **style)
        else:
            band: dict[str, Any] = {"color": tones.edge, "alpha": 0.35, "linewidth": 0.0}
            axes.fill_between(cv.strengths, cv.mean - cv.error, cv.mean + cv.error, **band)
            axes.plot(cv.strengths, cv.mean, color=tones.ink, label=label)
        marks = (("best", cv.best, ":"), ("within one standard error of it", cv.one_standard_error, "--"))
        for name, place, dashes in marks:
            strength = float(cv.strengths[place])
            axes.axvline(
                strength, color=tones.ink, linestyle=dashes, linewidth=1.2, label=f"{name}: {look.number(strength)}"
            )
        folds = counted(len(cv.fold_losses), "fold")
        title = f"Strength {look.number(cv.strength)} is chosen by the held-out loss of {folds}."
        _finish_strengths(axes, cv.strengths, title, "held-out loss")
        look.set_key(axes)
        return Display((axes,), {"strengths": cv.strengths, "losses": cv.mean, "standard_errors": cv.error})


def _finish_strengths(axes: Axes, strengths: Floats, title: str, ylabel: str) -> None:
    positive = strengths[strengths > 0.0]
    look.log_scale(axes, "x", float(positive.min()), float(positive.max()))
    axes.set_xlim(float(positive.max()) * EDGE_SPACE, float(positive.min()) / EDGE_SPACE)
    look.finish(axes, title, "strength", ylabel)
