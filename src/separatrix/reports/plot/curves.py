"""Curves of a classifier's evaluation (ROC, precision and recall, calibration), and losses over the margin."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from separatrix import losses as all_losses
from separatrix.arrays import Floats
from separatrix.errors import OptionError, counted
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.evaluation_curves import Reliability
from separatrix.model.evaluate import evaluate
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


DRAWN = 4000  # points of a curve, above which indistinguishable ones are left out
RESOLUTION = 1000  # distinguishable positions along each axis
CALIBRATION_TITLE_WIDTH = 70  # characters
SURROGATES = ("zero-one", "perceptron", "hinge", "squared hinge", "logistic", "squared")
MARGINS = (-2.0, 2.5)
SIZE = (6.0, 5.6)  # inches
RANKING_TITLE_WIDTH = 64  # characters
PADDING = 0.03  # on both sides of the range from 0 to 1


def roc(
    model: Any, X: Any = None, y: Any = None, *, weights: Any = None, level: float = 0.95, ax: Axes | None = None
) -> Display:
    """Draw the ROC curve: the true positive rate over the false positive rate, at every threshold of the score.

    Takes a fitted classifier with rows that it was not fitted on and their labels, or the result of `sx.evaluate` or
    `sx.evaluate_classifier`. The area under the curve has DeLong's interval. Of several classes, each is drawn against
    the rest. For two classes, a cross marks the threshold that the model predicts with.

    >>> import separatrix as sx
    >>> X, y = sx.load_demo("breast-cancer")
    >>> display = sx.plot.roc(sx.GaussianGenerativeClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> display.ax.get_title()
    'AUC 0.9858 (0.9676 to 0.9939) on 284 rows'
    """
    evaluation = evaluation_of(model, X, y, weights, level)
    with styled():
        axes = one_panel(ax, *SIZE)
        axes.plot([0.0, 1.0], [0.0, 1.0], ":", color=EDGE, label="chance")
        for place, ranking in enumerate(evaluation.rankings):
            line = thinned(ranking.false_positive_rate, ranking.true_positive_rate)
            _curve(axes, place, line, f"{short(ranking.label)}: AUC {ranking.auc}")
        if len(evaluation.rankings) == 1:
            own, others = evaluation.confusion[1], evaluation.confusion[0]
            if own.sum() > 0.0 and others.sum() > 0.0:
                at = [others[1] / others.sum()], [own[1] / own.sum()]
                axes.plot(*at, "x", color=INK, markersize=9.0, label="threshold of the model")
        axes.set_xlabel("false positive rate")
        axes.set_ylabel("true positive rate")
        auc = f"AUC {evaluation.auc}" if len(evaluation.rankings) == 1 else f"mean AUC {evaluation.auc}"
        reason = f"; no interval: {evaluation.auc.absent}" if evaluation.auc.absent else ""
        _finish(axes, f"{auc} on {counted(evaluation.rows, 'row')}{reason}", "lower right")
        curves = {
            ranking.label: (ranking.false_positive_rate, ranking.true_positive_rate) for ranking in evaluation.rankings
        }
        return Display((axes,), {"evaluation": evaluation, "curves": curves})


def precision_recall(
    model: Any, X: Any = None, y: Any = None, *, weights: Any = None, level: float = 0.95, ax: Axes | None = None
) -> Display:
    """Draw precision over recall; takes the same arguments as `roc`.

    The dotted lines are chance: the classes' shares of the rows. If a class is rare, this tells more than ROC.
    """
    evaluation = evaluation_of(model, X, y, weights, level)
    with styled():
        axes = one_panel(ax, *SIZE)
        for place, ranking in enumerate(evaluation.rankings):
            line = thinned(ranking.true_positive_rate, ranking.precision)
            label = f"{short(ranking.label)}: average precision {ranking.average_precision:.4g}"
            _curve(axes, place, line, label, drawstyle="steps-pre")
            chance = None if place else "chance: the class's share of the rows"
            colour = COLOURS[place % len(COLOURS)]
            axes.axhline(ranking.prevalence, color=colour, linestyle=":", linewidth=0.8, label=chance)
        axes.set_xlabel("recall")
        axes.set_ylabel("precision")
        _finish(axes, f"Precision and recall on {counted(evaluation.rows, 'row')}", "best")
        curves = {ranking.label: (ranking.true_positive_rate, ranking.precision) for ranking in evaluation.rankings}
        return Display((axes,), {"evaluation": evaluation, "curves": curves})


def calibration(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    weights: Any = None,
    level: float = 0.95,
    axes: Sequence[Axes] | None = None,
) -> Display:
    """Draw a reliability diagram: observed shares over predicted probabilities, with a histogram of these below.

    Takes the same arguments as `roc`, but two `axes`. For two classes the probability is that of the second, for more
    that of the predicted class. Bins hold equally many rows and have Wilson's intervals; calibrated probabilities lie
    on the diagonal.

    >>> import separatrix as sx
    >>> X, y = sx.load_demo("breast-cancer")
    >>> model = sx.LogisticRegression(strength=0.01).fit(X[::2], y[::2])
    >>> display = sx.plot.calibration(model, X[1::2], y[1::2])
    >>> int(display.data["evaluation"].reliability.rows.sum())
    284
    """
    evaluation = evaluation_of(model, X, y, weights, level)
    bins = evaluation.reliability
    if bins is None:
        raise OptionError(f"nothing can be calibrated: {evaluation.log_loss.absent}")
    ratios = {"height_ratios": [3.0, 1.0]}
    with styled():
        above, below = several_panels(axes, 2, figsize=(6.0, 6.6), sharex=axes is None, gridspec_kw=ratios)
        _bins(above, bins, evaluation.level)
        edges = np.linspace(0.0, 1.0, len(bins.histogram) + 1)
        below.stairs(bins.histogram, edges, fill=True, color=COLOURS[0], alpha=0.5)
        below.set_ylabel("rows")
        two, second = len(evaluation.classes) == 2, short(repr(evaluation.classes[1]))
        below.set_xlabel(f"probability of {second}" if two else "probability of the class predicted")
        above.set_ylabel(f"share of {second}" if two else "share predicted right")
        title = " ".join(calibration_sentences(evaluation))
        set_sentence(above, "\n".join(textwrap.wrap(title, CALIBRATION_TITLE_WIDTH)))
        return Display((above, below), {"evaluation": evaluation, "reliability": bins})


def losses(ax: Axes | None = None, names: Sequence[str] = SURROGATES) -> Display:
    """Draw losses as functions of the margin y·score: the 0-1 loss and its surrogates."""
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
    """Return `model` if it is an evaluation, else the evaluation of a fitted classifier on rows."""
    if isinstance(model, ClassifierEvaluation):
        return model
    if X is None or y is None:
        raise OptionError("X and y are needed: rows that the model was not fitted on, and their labels")
    if not hasattr(model, "classes_"):
        raise OptionError(
            f"{model!r} has no classes; give a fitted classifier, or what sx.evaluate_classifier returned"
        )
    evaluation = evaluate(model, X, y, weights, level=level)
    assert isinstance(evaluation, ClassifierEvaluation)
    return evaluation


def thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return a curve between 0 and 1 without points that cannot be told from their predecessors."""
    if len(x) <= DRAWN:
        return x, y
    pixels = np.round(RESOLUTION * np.column_stack([x, y]))
    distinct = np.append(True, (np.diff(pixels, axis=0) != 0.0).any(axis=1))
    distinct[-1] = True
    return x[distinct], y[distinct]


def _bins(ax: Axes, bins: Reliability, level: float) -> None:
    ax.plot([0.0, 1.0], [0.0, 1.0], ":", color=EDGE, label="perfectly calibrated")
    reach = np.maximum([bins.observed - bins.lower, bins.upper - bins.observed], 0.0)
    fewest, most = int(bins.rows.min()), int(bins.rows.max())
    rows = counted(most, "row") if fewest == most else f"{fewest:,} to {most:,} rows"
    label = f"bins of {rows}, {100.0 * level:g} % intervals"
    style: dict[str, Any] = {"color": COLOURS[0], "ecolor": EDGE, "marker": "o", "markersize": 4.5, "linestyle": "none"}
    ax.errorbar(bins.predicted, bins.observed, reach, capsize=2.0, label=label, **style)
    ax.set_xlim(-0.03, 1.03)
    ax.set_ylim(-0.03, 1.03)
    ax.legend(loc="upper left")


def calibration_sentences(evaluation: ClassifierEvaluation) -> tuple[str, str]:
    """Return whether the probabilities are right on average, and their measures."""
    assert evaluation.reliability is not None  # there are probabilities
    bias = evaluation.reliability.bias
    measures = f"Brier score {evaluation.brier}, log loss {evaluation.log_loss}; {counted(evaluation.rows, 'row')}."
    if bias.lower is None or bias.upper is None or bias.lower <= 0.0 <= bias.upper:
        return "Well calibrated on average.", measures
    side = "high" if bias.lower > 0.0 else "low"
    return f"Probabilities are too {side} by {abs(bias.value or 0.0):.2g} on average.", measures


def _curve(axes: Axes, place: int, line: tuple[Any, Any], label: str, **options: Any) -> None:
    style: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)], "linestyle": STYLES[place % len(STYLES)]}
    axes.plot(*line, label=label, **style, **options)


def _finish(axes: Axes, title: str, legend: Literal["lower right", "best"]) -> None:
    set_title(axes, "\n".join(textwrap.wrap(title, RANKING_TITLE_WIDTH)), "medium")
    axes.set_xlim(-PADDING, 1.0 + PADDING)
    axes.set_ylim(-PADDING, 1.0 + PADDING)
    axes.legend(loc=legend)
