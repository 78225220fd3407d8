"""No two texts of a picture overlap, and none leaves the canvas: every plot, several kinds of data, three widths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from matplotlib.text import Text

import separatrix as sx

matplotlib.use("agg")
from matplotlib import pyplot  # after the backend is chosen

TOUCH = 1.0  # pixels by which boxes may overlap
WIDTHS = {"phone": (3.9, 4.6), "page": (10.24, 6.4), "screen": (14.4, 8.0)}  # inches, at 100 dots an inch


@pytest.fixture(autouse=True)
def _close_all():
    yield
    pyplot.close("all")


def drawn_texts(figure: Any) -> Iterator[Text]:
    """Yield the visible texts of a figure, of ticks those within the limits of their axis."""
    ticks: set[Text] = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            shown = {tick.label1 for tick in axis._update_ticks()}
            ticks |= {tick.label1 for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())} - shown
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and text not in ticks:
            yield text


def collisions(figure: Any) -> list[str]:
    """Return which texts of a figure overlap, and which leave the canvas."""
    figure.canvas.draw()
    canvas, faults = figure.bbox, []
    boxes = [(text, text.get_window_extent()) for text in drawn_texts(figure)]
    for text, box in boxes:
        if box.x0 < -TOUCH or box.y0 < -TOUCH or box.x1 > canvas.x1 + TOUCH or box.y1 > canvas.y1 + TOUCH:
            faults.append(f"{text.get_text()!r} leaves the canvas")
    for (one, a), (other, b) in combinations(boxes, 2):
        wide, high = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        if wide > TOUCH and high > TOUCH:
            faults.append(f"{one.get_text()!r} overlaps {other.get_text()!r}")
    return faults


def test_the_check_finds_overlaps_and_texts_beyond_the_canvas():
    figure, axes = pyplot.subplots(layout="constrained")
    assert collisions(figure) == []
    axes.text(0.5, 0.5, "one")
    axes.text(0.52, 0.5, "other")
    assert collisions(figure) == ["'one' overlaps 'other'"]
    figure.text(0.95, 0.01, "much too long a text")
    assert "'much too long a text' leaves the canvas" in collisions(figure)


RNG = np.random.default_rng(0)
FLOWERS, KINDS = sx.load_demo("iris")
LONG = [
    "a name of a column that goes on and on, and says everything about its origin",
    "another name, in dollars per square metre and year",
    "$\\frac{1}{2}$ of it",
    "x",
]
FRAME = pd.DataFrame(FLOWERS, columns=LONG)
CELLS, DIAGNOSIS = sx.load_demo("breast-cancer")
FIVE = [[1, 4], [1, -2], [-1, -3], [-1, 2], [-2, 0]]
SIGNS = [1, 1, -1, -1, -1]
MANY = RNG.normal(size=(270, 2)) + 4.0 * np.column_stack([np.arange(270) // 30 % 3, np.arange(270) // 90])
NINE = np.array([f"class number {code}" for code in range(9)])[np.arange(270) // 30]
BIG = RNG.normal(size=(50_000, 3))
FAR = FLOWERS[:, 2:] * [1e-6, 1e7] + [1e3, -4e9]
TWO = KINDS != "setosa"


def one(model: Any, X: Any, y: Any, **options: Any) -> Callable[..., Any]:
    """Return a plot of one panel that fits a model when it is drawn."""
    return lambda plot, ax: plot(model.fit(X, y), X, y, ax=ax, **options)


def fitted(model: Any, X: Any, y: Any, **options: Any) -> Callable[..., Any]:
    return lambda plot, ax: plot(model.fit(X, y), ax=ax, **options)


def logistic(**options: Any) -> Any:
    return sx.LogisticRegression(strength=0.01, **options)


PICTURES: dict[str, tuple[Any, Callable[..., Any]]] = {
    "boundary": (sx.plot.boundary, one(logistic(), FLOWERS[TWO, 2:], KINDS[TWO])),
    "boundary of long names": (sx.plot.boundary, one(logistic(), FRAME[TWO], KINDS[TWO])),
    "boundary of three classes": (sx.plot.boundary, one(logistic(), FLOWERS, KINDS)),
    "boundary of nine classes": (sx.plot.boundary, one(sx.GaussianGenerativeClassifier(), MANY, NINE)),
    "boundary of a margin": (sx.plot.boundary, one(sx.MaxMarginClassifier(), FIVE, SIGNS)),
    "boundary of an SVM": (sx.plot.boundary, one(sx.LinearSVM(strength=0.01), FLOWERS[TWO], KINDS[TWO])),
    "boundary of sparse rows": (sx.plot.boundary, one(logistic(), scipy.sparse.csr_array(FLOWERS[TWO]), KINDS[TWO])),
    "boundary of many rows": (sx.plot.boundary, one(logistic(), BIG, BIG[:, 0] > RNG.normal(size=50_000))),
    "boundary of far columns": (sx.plot.boundary, one(sx.GaussianGenerativeClassifier(), FAR[TWO], KINDS[TWO])),
    "boundary beside a constant": (
        sx.plot.boundary,
        one(logistic(), np.column_stack([FLOWERS[TWO, 2], np.ones(100)]), KINDS[TWO]),
    ),
    "weight space": (sx.plot.weight_space, one(sx.Perceptron(fit_intercept=False), FIVE, SIGNS)),
    "weight space of an intercept": (sx.plot.weight_space, one(sx.Perceptron(), CELLS[:40, :1], CELLS[:40, 0] > 13.0)),
    "error surface": (sx.plot.error_surface, one(logistic(keep_iterates=True), FRAME[TWO], KINDS[TWO])),
    "error surface of least squares": (
        sx.plot.error_surface,
        one(sx.LinearRegression(keep_iterates=True), FLOWERS[:, :1], FLOWERS[:, 1]),
    ),
    "animation": (sx.animate, one(sx.Perceptron(fit_intercept=False), FIVE, SIGNS)),
    "ROC": (sx.plot.roc, one(logistic(), CELLS, DIAGNOSIS)),
    "ROC of three classes": (sx.plot.roc, one(logistic(), FRAME, KINDS)),
    "ROC of nine classes": (sx.plot.roc, one(logistic(), MANY, NINE)),
    "precision and recall": (sx.plot.precision_recall, one(logistic(), CELLS, DIAGNOSIS)),
    "precision and recall of nine": (sx.plot.precision_recall, one(logistic(), MANY, NINE)),
    "coefficients": (sx.plot.coefficients, fitted(sx.LinearRegression(), FRAME.iloc[:, :3], FLOWERS[:, 3])),
    "coefficients of three classes": (sx.plot.coefficients, fitted(logistic(), FRAME, KINDS)),
    "odds ratios": (
        sx.plot.coefficients,
        fitted(sx.LogisticRegression(), FLOWERS[TWO], KINDS[TWO], ratios=True),
    ),
    "coefficients without estimates": (
        sx.plot.coefficients,
        fitted(sx.LogisticRegression(on_separation="ignore"), FLOWERS[:100, :2], KINDS[:100]),
    ),
    "losses": (sx.plot.losses, lambda plot, ax: plot(ax)),
    "path": (
        sx.plot.path,
        lambda plot, ax: plot(sx.path(sx.LinearRegression(l1_ratio=1.0), CELLS[:, :12], CELLS[:, 12], strengths=9), ax),
    ),
    "cross-validation": (
        sx.plot.cross_validation,
        fitted(sx.LinearRegression(strength="cv", strengths=9), CELLS[:, :5], CELLS[:, 12]),
    ),
    "Cover's theorem": (sx.plot.cover, lambda plot, ax: plot(sx.cover_experiment([4, 8, 12], 3, repeats=20), ax)),
    "margins": (sx.plot.margin_effect, lambda plot, ax: plot(sx.margin_experiment([0.4, 0.1], repeats=3), ax)),
}
SEVERAL: dict[str, Callable[..., Any]] = {
    "steps": lambda **more: sx.plot.steps(sx.Perceptron(fit_intercept=False).fit(FIVE, SIGNS), FIVE, SIGNS, **more),
    "steps of Newton": lambda **more: sx.plot.steps(
        logistic(keep_iterates=True).fit(FRAME.iloc[TWO, 2:], KINDS[TWO]), FRAME.iloc[TWO, 2:], KINDS[TWO], **more
    ),
    "trace": lambda **more: sx.plot.trace(sx.LinearSVM(strength=0.01).fit(FLOWERS[:, :2], KINDS), **more),
    "trace of mistakes": lambda **more: sx.plot.trace(sx.Perceptron(max_updates=100).fit(FLOWERS, KINDS), **more),
    "calibration": lambda **more: sx.plot.calibration(logistic().fit(CELLS, DIAGNOSIS), CELLS, DIAGNOSIS, **more),
    "diagnostics": lambda **more: sx.plot.diagnostics(
        sx.LinearRegression().fit(FRAME.iloc[:, :3], FLOWERS[:, 3]), **more
    ),
}
pytestmark = pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning", "ignore:.*Glyph")


def test_every_plot_is_here():
    here = {plot.__name__ for plot, _ in PICTURES.values()} | {name.split()[0] for name in SEVERAL}
    assert here == {*sx.plot.__all__, "animate"} - {"Display"}


@pytest.mark.slow
@pytest.mark.parametrize("width", [None, *WIDTHS])
@pytest.mark.parametrize("name", PICTURES)
def test_texts_of_one_panel_neither_overlap_nor_leave_the_canvas(name, width):
    plot, draw = PICTURES[name]
    ax = None if width is None else pyplot.subplots(figsize=WIDTHS[width], layout="constrained")[1]
    assert collisions(draw(plot, ax).figure) == []


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", SEVERAL)
def test_texts_of_several_panels_neither_overlap_nor_leave_the_canvas(name, theme):
    assert collisions(SEVERAL[name](theme=theme).figure) == []
