"""How well scores rank the rows of a class above the others: ROC, and precision over recall."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Literal

from separatrix.errors import counted
from separatrix.reports.display import Display, one_panel
from separatrix.reports.labels import short
from separatrix.reports.palette import COLOURS, STYLES
from separatrix.reports.plot.evaluated import evaluation_of, thinned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from separatrix.inference.evaluation import ClassifierEvaluation


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
    axes = one_panel(ax, *SIZE)
    axes.plot([0.0, 1.0], [0.0, 1.0], ":", color="0.5", label="chance")
    for place, ranking in enumerate(found.rankings):
        line = thinned(ranking.false_positive_rate, ranking.true_positive_rate)
        _curve(axes, place, line, f"{short(ranking.label)}: AUC {ranking.auc}")
    if len(found.rankings) == 1:
        own, others = found.confusion[1], found.confusion[0]
        if own.sum() > 0.0 and others.sum() > 0.0:
            at = [others[1] / others.sum()], [own[1] / own.sum()]
            axes.plot(*at, "x", color="black", markersize=9.0, label="as predicted")
    axes.set_xlabel(f"share of {_others(found)} taken for it (false positive rate)")
    axes.set_ylabel(f"share of {_class(found)} found (true positive rate)")
    mean = "" if len(found.rankings) == 1 else "mean "
    _finish(axes, f"{mean}AUC {found.auc} on {counted(found.rows, 'row')}", found.auc.absent, "lower right")
    curves = {ranking.label: (ranking.false_positive_rate, ranking.true_positive_rate) for ranking in found.rankings}
    return Display((axes,), {"evaluation": found, "curves": curves})


def precision_recall(
    model: Any, X: Any = None, y: Any = None, *, weights: Any = None, level: float = 0.95, ax: Axes | None = None
) -> Display:
    """Draw the share of a class among the rows taken for it over the share of it found; takes what `roc` takes.

    The dotted lines are chance: the classes' shares of the rows. Where a class is rare this tells more than ROC.
    """
    found = evaluation_of(model, X, y, weights, level)
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


def _curve(axes: Axes, place: int, line: tuple[Any, Any], words: str, **look: Any) -> None:
    style: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)], "linestyle": STYLES[place % len(STYLES)]}
    axes.plot(*line, label=words, **style, **look)


def _class(found: ClassifierEvaluation) -> str:
    return short(repr(found.rankings[0].label)) if len(found.rankings) == 1 else "a class"


def _others(found: ClassifierEvaluation) -> str:
    return short(repr(found.classes[0])) if len(found.rankings) == 1 else "the others"


def _finish(axes: Axes, title: str, reason: str, legend: Literal["lower right", "best"]) -> None:
    words = f"{title}; no interval: {reason}" if reason else title
    axes.set_title("\n".join(textwrap.wrap(words, RANKING_TITLE_WIDTH)), fontsize="medium")
    axes.set_xlim(-MARGIN, 1.0 + MARGIN)
    axes.set_ylim(-MARGIN, 1.0 + MARGIN)
    axes.legend(fontsize="small", loc=legend)
