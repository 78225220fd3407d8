"""What pictures of predictions are drawn from: an evaluation, or a model and rows that one is made of.

Whether probabilities come true: a reliability diagram with intervals, and how many rows have which probability.

Losses as functions of the margin.

How well scores rank the rows of a class above the others: ROC, and precision over recall.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from separatrix import losses as all_losses
from separatrix.arrays import Floats
from separatrix.errors import OptionError, counted
from separatrix.reports.display import (
    COLOURS,
    EDGE,
    INK,
    STYLES,
    Display,
    one_panel,
    set_sentence,
    set_title,
    several_panels,
    short,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from separatrix.inference.evaluation import ClassifierEvaluation
    from separatrix.inference.evaluation_curves import Reliability

DRAWN = 4000  # points of a curve, above which those that would fall on one another are left out
FINENESS = 1000  # places along each axis
CALIBRATION_TITLE_WIDTH = 70  # letters of a line of the title
SURROGATES = ("zero-one", "perceptron", "hinge", "squared hinge", "logistic", "squared")
MARGINS = (-2.0, 2.5)
SIZE = (6.0, 5.6)  # inches
RANKING_TITLE_WIDTH = 64  # letters of a line of a title
MARGIN = 0.03


def roc(
    model: Any, X: Any = None, y: Any = None, *, weights: Any = None, level: float = 0.95, ax: Axes | None = None
) -> Display:
    """Draw the share of a class found over the share of the others mistaken for it, at every threshold of the score.

    Takes a fitted classifier with rows and labels, which the model should not have been fitted on, or what
    `sx.evaluate` or `sx.evaluate_classifier` returned. The area has DeLong's interval; of several classes each is drawn
    against the rest. Of two classes a cross marks the threshold that the model predicts by.

    >>> import separatrix as sx
    >>> X, y = sx.load_demo("breast-cancer")
    >>> display = sx.plot.roc(sx.GaussianGenerativeClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> display.ax.get_title()
    'AUC 0.9858 (0.9676 to 0.9939) on 284 rows'
    """
    found = evaluation_of(model, X, y, weights, level)
    with styled():
        axes = one_panel(ax, *SIZE)
        axes.plot([0.0, 1.0], [0.0, 1.0], ":", color=EDGE, label="chance")
        for place, ranking in enumerate(found.rankings):
            line = thinned(ranking.false_positive_rate, ranking.true_positive_rate)
            _curve(axes, place, line, f"{short(ranking.label)}: AUC {ranking.auc}")
        if len(found.rankings) == 1:
            own, others = found.confusion[1], found.confusion[0]
            if own.sum() > 0.0 and others.sum() > 0.0:
                at = [others[1] / others.sum()], [own[1] / own.sum()]
                axes.plot(*at, "x", color=INK, markersize=9.0, label="as predicted")
        axes.set_xlabel(f"share of {_others(found)} taken for it (false positive rate)")
        axes.set_ylabel(f"share of {_class(found)} found (true positive rate)")
        mean = "" if len(found.rankings) == 1 else "mean "
        _finish(axes, f"{mean}AUC {found.auc} on {counted(found.rows, 'row')}", found.auc.absent, "lower right")
        curves = {
            ranking.label: (ranking.false_positive_rate, ranking.true_positive_rate) for ranking in found.rankings
        }
        return Display((axes,), {"evaluation": found, "curves": curves})


def precision_recall(
    model: Any, X: Any = None, y: Any = None, *, weights: Any = None, level: float = 0.95, ax: Axes | None = None
) -> Display:
    """Draw the share of a class among the rows taken for it over the share of it found; takes what `roc` takes.

    The dotted lines are chance: the classes' shares of the rows. Where a class is rare this tells more than ROC.
    """
    found = evaluation_of(model, X, y, weights, level)
    with styled():
        axes = one_panel(ax, *SIZE)
        for place, ranking in enumerate(found.rankings):
            line = thinned(ranking.true_positive_rate, ranking.precision)
            words = f"{short(ranking.label)}: average precision {ranking.average_precision:.4g}"
            _curve(axes, place, line, words, drawstyle="steps-pre")
            colour, words = COLOURS[place % len(COLOURS)], "chance: the class's share of the rows"
            axes.axhline(ranking.prevalence, color=colour, linestyle=":", linewidth=0.8, label=None if place else words)
        axes.set_xlabel(f"share of {_class(found)} found (recall)")
        axes.set_ylabel(f"share of {_class(found)} among those found (precision)")
        _finish(axes, f"Precision and recall on {counted(found.rows, 'row')}", "", "best")
        curves = {ranking.label: (ranking.true_positive_rate, ranking.precision) for ranking in found.rankings}
        return Display((axes,), {"evaluation": found, "curves": curves})


def calibration(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    weights: Any = None,
    level: float = 0.95,
    axes: Sequence[Axes] | None = None,
) -> Display:
    """Draw the share of rows for which a probability came true over the probability, and the number of rows below.

    Takes what `roc` takes; `axes` are two. Of two classes the probability is the second's, of more that of the class
    predicted. Bins hold equally many rows, and have Wilson's intervals; probabilities that come true lie on the
    diagonal.

    >>> import separatrix as sx
    >>> X, y = sx.load_demo("breast-cancer")
    >>> model = sx.LogisticRegression(strength=0.01).fit(X[::2], y[::2])
    >>> display = sx.plot.calibration(model, X[1::2], y[1::2])
    >>> int(display.data["evaluation"].reliability.rows.sum())
    284
    """
    found = evaluation_of(model, X, y, weights, level)
    bins = found.reliability
    if bins is None:
        raise OptionError(f"nothing can be calibrated: {found.log_loss.absent}")
    ratios = {"gridspec_kw": {"height_ratios": [3.0, 1.0]}}
    with styled():
        above, below = several_panels(axes, 2, figsize=(6.0, 6.6), sharex=axes is None, **ratios)
        _bins(above, bins, found.level)
        edges = np.linspace(0.0, 1.0, len(bins.histogram) + 1)
        below.stairs(bins.histogram, edges, fill=True, color=COLOURS[0], alpha=0.5)
        below.set_ylabel("rows")
        two, second = len(found.classes) == 2, short(repr(found.classes[1]))
        below.set_xlabel(f"probability of {second}" if two else "probability of the class predicted")
        above.set_ylabel(f"share of {second}" if two else "share predicted right")
        set_sentence(above, "\n".join(textwrap.wrap(_sentence(found, bins), CALIBRATION_TITLE_WIDTH)))
        return Display((above, below), {"evaluation": found, "reliability": bins})


def losses(ax: Axes | None = None, names: Sequence[str] = SURROGATES) -> Display:
    """Draw losses as functions of the margin y·score: the 0-1 loss and what is minimised in its place."""
    with styled():
        axes = one_panel(ax)
        known = {loss.name: loss for loss in all_losses.ALL}
        margins = np.linspace(*MARGINS, 901)
        drawn = {"margins": margins}
        for place, name in enumerate(names):
            if name not in known or known[name].target == "classes":
                raise OptionError(
                    f"names has {name!r}, which is no loss of a margin; known are {', '.join(SURROGATES)}"
                )
            style = "--" if name == "zero-one" else "-"
            drawn[name] = np.asarray(known[name].value(margins, np.ones_like(margins)))
            axes.plot(margins, drawn[name], style, color=COLOURS[place % len(COLOURS)], label=name)
        axes.set_xlabel("margin y·score")
        axes.set_ylabel("loss")
        set_title(axes, "Losses as functions of the margin")
        axes.legend()
        return Display((axes,), drawn)


def evaluation_of(model: Any, X: Any, y: Any, weights: Any, level: float) -> ClassifierEvaluation:
    """Return the evaluation given, or that of a fitted classifier on rows."""
    from separatrix.inference.evaluation import ClassifierEvaluation, evaluate  # noqa: PLC0415

    if isinstance(model, ClassifierEvaluation):
        return model
    if X is None or y is None:
        raise OptionError("X and y are needed: rows that the model was not fitted on, and their labels")
    if not hasattr(model, "classes_"):
        raise OptionError(
            f"{model!r} has no classes; give a fitted classifier, or what sx.evaluate_classifier returned"
        )
    found = evaluate(model, X, y, weights, level=level)
    assert isinstance(found, ClassifierEvaluation)
    return found


def thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return a curve between 0 and 1 without the points that nobody would see."""
    if len(x) <= DRAWN:
        return x, y
    places = np.round(FINENESS * np.column_stack([x, y]))
    kept = np.append(True, (np.diff(places, axis=0) != 0.0).any(axis=1))
    kept[-1] = True
    return x[kept], y[kept]


def _bins(ax: Axes, bins: Reliability, level: float) -> None:
    ax.plot([0.0, 1.0], [0.0, 1.0], ":", color=EDGE, label="comes true exactly")
    reach = np.maximum([bins.observed - bins.lower, bins.upper - bins.observed], 0.0)
    fewest, most = int(bins.rows.min()), int(bins.rows.max())
    rows = counted(most, "row") if fewest == most else f"{fewest:,} to {most:,} rows"
    words = f"bins of {rows}, {100.0 * level:g} % intervals"
    look: dict[str, Any] = {"color": COLOURS[0], "ecolor": EDGE, "marker": "o", "markersize": 4.5, "linestyle": "none"}
    ax.errorbar(bins.predicted, bins.observed, reach, capsize=2.0, label=words, **look)
    ax.set_xlim(-0.03, 1.03)
    ax.set_ylim(-0.03, 1.03)
    ax.legend(loc="upper left")


def _sentence(found: ClassifierEvaluation, bins: Reliability) -> str:
    bias = bins.bias.value or 0.0
    side = "high" if bias > 0.0 else "low"
    telling = bins.bias.lower is not None and bins.bias.upper is not None and bins.bias.lower * bins.bias.upper > 0.0
    doubt = "" if telling else ", which may be chance"
    return (
        f"Probabilities are on average {abs(bias):.2g} too {side}{doubt}. Brier {found.brier},"
        f" log loss {found.log_loss}; {counted(found.rows, 'row')}."
    )


def _curve(axes: Axes, place: int, line: tuple[Any, Any], words: str, **look: Any) -> None:
    style: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)], "linestyle": STYLES[place % len(STYLES)]}
    axes.plot(*line, label=words, **style, **look)


def _class(found: ClassifierEvaluation) -> str:
    return short(repr(found.rankings[0].label)) if len(found.rankings) == 1 else "a class"


def _others(found: ClassifierEvaluation) -> str:
    return short(repr(found.classes[0])) if len(found.rankings) == 1 else "the others"


def _finish(axes: Axes, title: str, reason: str, legend: Literal["lower right", "best"]) -> None:
    words = f"{title}; no interval: {reason}" if reason else title
    set_title(axes, "\n".join(textwrap.wrap(words, RANKING_TITLE_WIDTH)), "medium")
    axes.set_xlim(-MARGIN, 1.0 + MARGIN)
    axes.set_ylim(-MARGIN, 1.0 + MARGIN)
    axes.legend(loc=legend)
