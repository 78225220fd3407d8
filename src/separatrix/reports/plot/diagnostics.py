"""Four diagnostic plots of a least squares fit, each titled with what the rows say about an assumption.

Residuals against fitted values (linearity), normal quantiles (normality), scale of residuals against fitted values
(equal variance), residuals against leverage with contours of Cook's distance (outliers). The most influential rows are
numbered. At most `DRAWN` rows are drawn, these among them; the smooth curves use all.

The smooth is a local linear regression with tricube weights on the nearest share `SPAN` of the points (Cleveland 1979,
without robustness iterations); many points are first averaged in runs. Cost: that of `diagnose`, and sorts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.special

from separatrix.arrays import Floats, Indices
from separatrix.reports.display import (
    NOTE,
    SERIF_WIDTH,
    Display,
    Theme,
    palette,
    set_key,
    set_sentence,
    several_panels,
    styled,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from separatrix.inference.diagnosis import Diagnosis
    from separatrix.inference.influence import Influence


SPAN = 2.0 / 3.0
SMOOTH_POINTS = 60
RUNS = 500  # to which many points are averaged before smoothing
DRAWN = 5000  # points per panel, at most
NUMBERED = 3  # rows
DIGIT = 6.0  # points, the width of one of a row's number
SIZE = (10.0, 8.4)  # inches
CONTOURS = (0.5, 1.0)  # Cook's distances
DIAGNOSTIC_PANELS = ("linearity", "normality", "equal variance", "outliers and influence")


def diagnostics(model: Any, axes: Sequence[Axes] | None = None, *, theme: Theme = "light") -> Display:
    """Draw the four diagnostic plots of a fitted LinearRegression without a penalty; `axes`, if given, are four.

    >>> import separatrix as sx
    >>> X, y = sx.load_demo("iris")
    >>> [panel.get_xlabel() for panel in sx.plot.diagnostics(sx.LinearRegression().fit(X[:, :3], X[:, 3]))]
    ['fitted value', 'normal quantile', 'fitted value', 'leverage']
    """
    from separatrix.inference.diagnosis import diagnose_rows  # noqa: PLC0415  # slow to import
    from separatrix.inference.influence import influence  # noqa: PLC0415

    rows = influence(model)
    return draw_diagnostics(rows, diagnose_rows(rows, getattr(model, "terms_", None)), axes, theme)


def draw_diagnostics(
    influence: Influence, diagnosis: Diagnosis, axes: Sequence[Axes] | None = None, theme: Theme = "light"
) -> Display:
    """Draw the four diagnostic plots from a computed influence and diagnosis."""
    with styled(theme):
        panels = several_panels(axes, len(DIAGNOSTIC_PANELS), beside=2, figsize=SIZE)
        n, drawn = len(influence.places), _drawn(influence)
        note = f" {len(drawn):,} of {n:,} rows are drawn." if len(drawn) < n else ""
        drawings = (_residuals, _quantiles, _scale, _leverage)
        for panel, draw, name in zip(panels, drawings, DIAGNOSTIC_PANELS, strict=True):
            draw(panel, influence, drawn)
            sentence = f"{name}: {diagnosis.check(name).sentence}{note}"
            set_sentence(panel, sentence)
        if axes is None:
            sentence = f"independence: {diagnosis.check('independence').sentence}"
            text = wrapped(sentence, 72.0 * SIZE[0], NOTE, SERIF_WIDTH)
            panels[0].figure.suptitle(text, x=0.01, ha="left", family="serif", fontsize=NOTE)
        return Display(panels, {"influence": influence, "diagnosis": diagnosis})


def draw_predictions(observed: Floats, predicted: Floats, axes: Axes) -> None:
    """Draw observed against predicted values, beside the line of exact predictions."""
    both = np.concatenate([predicted, observed])
    ends = [float(both.min()), float(both.max())]
    axes.plot(ends, ends, ":", color=palette().edge, label="exact prediction")
    axes.plot(predicted, observed, ".", color=palette().ink, alpha=0.4, markersize=4.0, label="rows")
    axes.set(xlabel="predicted", ylabel="observed")
    set_key(axes)
    set_sentence(axes, "Observed against predicted values")


def _drawn(influence: Influence) -> Indices:
    """Return evenly spaced rows, and the numbered ones."""
    n = len(influence.places)
    return np.union1d(np.arange(0, n, -(-n // DRAWN)), influence.largest[:NUMBERED])


def _residuals(panel: Axes, rows: Influence, drawn: Indices) -> None:
    panel.axhline(0.0, color=palette().edge, linewidth=0.8)
    _scatter(panel, rows, drawn, rows.fitted, rows.scaled)
    _line(panel, rows.fitted, rows.scaled)
    scaled = rows.problem.weights is not None and not rows.repeated
    panel.set(xlabel="fitted value", ylabel="residual · √weight" if scaled else "residual")


def _quantiles(panel: Axes, rows: Influence, drawn: Indices) -> None:
    values = rows.standardised
    panel.set(xlabel="normal quantile", ylabel="standardised residual")
    known = np.flatnonzero(np.isfinite(values))
    if not known.size:
        return
    order = known[np.argsort(values[known], kind="stable")]
    counts = rows.counts[order]
    normal = np.full(len(values), np.nan)
    normal[order] = scipy.special.ndtri((np.cumsum(counts) - counts / 2.0) / counts.sum())
    quarters = np.interp([0.25, 0.75], scipy.special.ndtr(normal[order]), values[order])
    slope = (quarters[1] - quarters[0]) / (2.0 * float(scipy.special.ndtri(0.75)))
    panel.axline((0.0, float(quarters.mean())), slope=slope, color=palette().edge, linewidth=0.8)
    _scatter(panel, rows, drawn, normal, values)


def _scale(panel: Axes, rows: Influence, drawn: Indices) -> None:
    fitted, sizes = rows.fitted, np.sqrt(np.abs(rows.standardised))
    _scatter(panel, rows, drawn, fitted, sizes)
    _line(panel, fitted, sizes)
    panel.set(xlabel="fitted value", ylabel="√|standardised residual|")


def _leverage(panel: Axes, rows: Influence, drawn: Indices) -> None:
    panel.axhline(0.0, color=palette().edge, linewidth=0.8)
    _scatter(panel, rows, drawn, rows.leverage, rows.standardised)
    limits = panel.get_ylim()
    places = np.linspace(1e-3, 0.999, 400) * min(1.0, 1.1 * float(rows.leverage.max()))
    for distance, style in zip(CONTOURS, ("--", ":"), strict=True):
        height = np.sqrt(distance * rows.fit.rank * (1.0 - places) / places)
        label = f"Cook's distance {distance:g}"
        panel.plot(places, height, style, color=palette().soft, linewidth=0.9, label=label)
        panel.plot(places, -height, style, color=palette().soft, linewidth=0.9)
    panel.set(xlabel="leverage", ylabel="standardised residual", ylim=limits)
    set_key(panel)


def _scatter(panel: Axes, rows: Influence, drawn: Indices, x: Floats, y: Floats) -> None:
    """Draw the points, and number the most influential ones."""
    panel.plot(x[drawn], y[drawn], ".", color=palette().ink, alpha=0.6, label="rows")
    taken: list[Floats] = []
    for row in rows.largest[:NUMBERED].tolist():
        if np.isfinite(y[row]):
            _number_row(panel, str(rows.places[row]), (float(x[row]), float(y[row])), taken)


def _number_row(panel: Axes, text: str, at: tuple[float, float], taken: list[Floats]) -> None:
    """Write a row's number beside its point, where it meets neither the right edge nor a number before it."""
    panel.autoscale_view()
    pixels, width = panel.transData.transform(at) * 72.0 / panel.figure.dpi, DIGIT * len(text)
    corners = panel.get_window_extent().get_points() * 72.0 / panel.figure.dpi
    for beside, above in ((4.0, 3.0), (-4.0 - width, 3.0), (4.0, -9.0), (-4.0 - width, -9.0), (4.0, 13.0)):
        corner = pixels + np.array([beside, above])
        free = all((np.abs(corner - other) > (width, 10.0)).any() for other in taken)
        if free and (corner + np.array([width, DIGIT]) <= corners[1]).all() and (corner >= corners[0]).all():
            break
    taken.append(corner)
    panel.annotate(text, at, xytext=(beside, above), textcoords="offset points", fontsize=NOTE)


def _line(panel: Axes, x: Floats, y: Floats) -> None:
    known = np.isfinite(y)
    if known.sum() > 2:
        panel.plot(*smooth(x[known], y[known]), color=palette().classes[1], label="smooth")


def smooth(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return increasing places along x, and the smooth of y there; empty for fewer than three distinct x."""
    order = np.argsort(x, kind="stable")
    x, y = _averaged(x[order]), _averaged(y[order])
    places = np.unique(np.quantile(x, np.linspace(0.0, 1.0, SMOOTH_POINTS)))
    if len(np.unique(x)) < 3:
        return np.zeros(0), np.zeros(0)
    return places, np.array([_local_line(x, y, place) for place in places])


def _averaged(values: Floats) -> Floats:
    if len(values) <= 2 * RUNS:
        return values
    return np.array([part.mean() for part in np.array_split(values, RUNS)])


def _local_line(x: Floats, y: Floats, place: float) -> float:
    """Return the value at a place of the weighted line through its nearest points."""
    distances, rank = np.abs(x - place), int(SPAN * (len(x) - 1))
    reach = float(np.partition(distances, rank)[rank])
    reach = max(reach, float(distances[distances > 0.0].min())) * (1.0 + 1e-9)
    weights = np.maximum(1.0 - (distances / reach) ** 3, 0.0) ** 3
    total = float(weights.sum())
    mean_x, mean_y = float(weights @ x) / total, float(weights @ y) / total
    spread = float(weights @ (x - mean_x) ** 2)
    slope = float(weights @ ((x - mean_x) * (y - mean_y))) / spread if spread > 0.0 else 0.0
    return mean_y + slope * (place - mean_x)
