"""Curves: of a classifier's evaluation (ROC, precision and recall, calibration), of losses, and of theorems.

The theorems, Cover's function-counting theorem and the perceptron's mistake bound, are drawn beside experiments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix import losses as all_losses
from separatrix.arrays import Floats
from separatrix.errors import OptionError, counted
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.evaluation_curves import Reliability
from separatrix.model.evaluate import evaluate
from separatrix.reports import display as look
from separatrix.reports.display import Display, EndLabel, Theme
from separatrix.theory.experiments import CoverExperiment, MarginExperiment
from separatrix.theory.halfspace import capacity, separability_probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DRAWN = 4000  # points of a curve, above which indistinguishable ones are left out
RESOLUTION = 1000  # distinguishable positions along each axis
SURROGATES = ("zero-one", "perceptron", "hinge", "squared hinge", "logistic", "squared")
MARGINS = (-2.0, 2.5)
SIZE = (6.0, 5.4)  # inches
WITH_INTERVALS = 3  # classes, at most, whose measures are written out in the key
UNIT = (-0.03, 1.03)  # the range from 0 to 1, padded


def roc(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    weights: Any = None,
    level: float = 0.95,
    ax: Axes | None = None,
    theme: Theme = "light",
) -> Display:
    """Draw the ROC curve: the true positive rate over the false positive rate, at every threshold of the score.

    Takes a fitted classifier with rows that it was not fitted on and their labels, or the result of `sx.evaluate` or
    `sx.evaluate_classifier`. The area under the curve has DeLong's interval. Of several classes, each is drawn against
    the rest. For two classes, a cross marks the threshold that the model predicts with.

    >>> import separatrix as sx
    >>> X, y = sx.load_demo("breast-cancer")
    >>> display = sx.plot.roc(sx.GaussianGenerativeClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> display
    <Display of 1 panel: 'The AUC is 0.9858 (0.9676 to 0.9939) on 284 rows.'>
    """
    evaluation = evaluation_of(model, X, y, weights, level)
    with look.styled(theme) as tones:
        axes = look.one_panel(ax, *SIZE)
        axes.plot([0.0, 1.0], [0.0, 1.0], ":", color=tones.edge, label="chance")
        few = len(evaluation.rankings) <= WITH_INTERVALS
        for place, ranking in enumerate(evaluation.rankings):
            line = thinned(ranking.false_positive_rate, ranking.true_positive_rate)
            auc = f"AUC {ranking.auc}" if few else str(ranking.auc).partition(" ")[0]
            _curve(axes, place, line, f"{look.short(ranking.label)}: {auc}")
        if len(evaluation.rankings) == 1:
            own, others = evaluation.confusion[1], evaluation.confusion[0]
            if own.sum() > 0.0 and others.sum() > 0.0:
                at = [others[1] / others.sum()], [own[1] / own.sum()]
                axes.plot(*at, "X", color=tones.ink, markersize=9.0, label="threshold of the model", zorder=3)
        which = "The AUC is" if len(evaluation.rankings) == 1 else "The mean AUC is"
        reason = f"; no interval: {evaluation.auc.absent}" if evaluation.auc.absent else ""
        title = f"{which} {evaluation.auc} on {counted(evaluation.rows, 'row')}{reason}."
        _finish(axes, title, "false positive rate", "true positive rate")
        curves = {each.label: (each.false_positive_rate, each.true_positive_rate) for each in evaluation.rankings}
        return Display((axes,), {"evaluation": evaluation, "curves": curves})


def precision_recall(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    weights: Any = None,
    level: float = 0.95,
    ax: Axes | None = None,
    theme: Theme = "light",
) -> Display:
    """Draw precision over recall; takes the same arguments as `roc`.

    The dotted lines are chance: the classes' shares of the rows. If a class is rare, this tells more than ROC.
    """
    evaluation = evaluation_of(model, X, y, weights, level)
    with look.styled(theme) as tones:
        axes = look.one_panel(ax, *SIZE)
        for place, ranking in enumerate(evaluation.rankings):
            line = thinned(ranking.true_positive_rate, ranking.precision)
            measure = "average precision " if len(evaluation.rankings) <= WITH_INTERVALS else ""
            label = f"{look.short(ranking.label)}: {measure}{ranking.average_precision:.4g}"
            _curve(axes, place, line, label, drawstyle="steps-pre")
            chance = None if place else "chance: the class's share of the rows"
            axes.axhline(ranking.prevalence, color=tones.of_class(place), linestyle=":", linewidth=0.8, label=chance)
        _finish(axes, _precision_sentence(evaluation), "recall", "precision")
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
    theme: Theme = "light",
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
    with look.styled(theme) as tones:
        above, below = look.several_panels(axes, 2, figsize=(6.0, 6.6), sharex=axes is None, gridspec_kw=ratios)
        _bins(above, bins, evaluation.level)
        edges = np.linspace(0.0, 1.0, len(bins.histogram) + 1)
        below.stairs(bins.histogram, edges, fill=True, color=tones.classes[0], alpha=0.5)
        look.integers_only(below, "y")
        below.set_ylim(bottom=0.0)
        two, second = len(evaluation.classes) == 2, look.short(repr(evaluation.classes[1]))
        below.set(ylabel="rows", xlabel=f"probability of {second if two else 'the class predicted'}")
        above.set_ylabel(f"share of {second}" if two else "share predicted right")
        look.set_key(below, of=above)
        look.set_sentence(above, " ".join(calibration_sentences(evaluation)))
        return Display((above, below), {"evaluation": evaluation, "reliability": bins})


def losses(ax: Axes | None = None, names: Sequence[str] = SURROGATES, *, theme: Theme = "light") -> Display:
    """Draw losses as functions of the margin y·score: the 0-1 loss and its surrogates.

    >>> import separatrix as sx
    >>> sx.plot.losses(names=["zero-one", "hinge"]).ax.get_title()
    'The hinge loss is nowhere below the 0-1 loss.'
    """
    with look.styled(theme) as tones:
        axes = look.one_panel(ax)
        known = {loss.name: loss for loss in all_losses.ALL}
        margins = np.linspace(*MARGINS, 901)
        drawn = {"margins": margins}
        for place, name in enumerate(names):
            if name not in known or known[name].target == "classes":
                raise OptionError(f"names has {name!r}, which is no loss of a margin; known: {', '.join(SURROGATES)}")
            style = "--" if name == "zero-one" else "-"
            drawn[name] = np.asarray(known[name].value(margins, np.ones_like(margins)))
            axes.plot(margins, drawn[name], style, color=tones.of_class(place), label=name)
        look.finish(axes, _bounds_sentence(drawn), "margin y·score", "loss")
        axes.set_xlim(*MARGINS)
        axes.set_ylim(bottom=0.0)
        ends = [EndLabel(name, tones.of_class(place), float(drawn[name][-1])) for place, name in enumerate(names)]
        look.label_ends(axes, ends)
        return Display((axes,), drawn)


def _bounds_sentence(drawn: Mapping[str, Floats]) -> str:
    """Return which losses are bounds of the 0-1 loss at every margin."""
    margins = drawn["margins"]
    above = [name for name in drawn if name not in {"margins", "zero-one"} and (drawn[name] >= (margins <= 0.0)).all()]
    if not above:
        return "None of these losses is a bound of the 0-1 loss."
    names = f"{', '.join(above[:-1])} and {above[-1]} losses are" if above[1:] else f"{above[0]} loss is"
    return f"The {names} nowhere below the 0-1 loss."


def _precision_sentence(evaluation: ClassifierEvaluation) -> str:
    """Return the average precision beside that of chance, by class if there are several."""
    first, *others = evaluation.rankings
    on = f"on {counted(evaluation.rows, 'row')}"
    if not others:
        return f"The average precision is {first.average_precision:.4g} {on}; by chance it is {first.prevalence:.4g}."
    mean = np.mean([ranking.average_precision for ranking in evaluation.rankings])
    return f"The mean average precision of {len(others) + 1} classes is {mean:.4g} {on}."


def cover(experiment: CoverExperiment, ax: Axes | None = None, *, theme: Theme = "light") -> Display:
    """Draw the share of random labellings that are separable over the number of points, beside Cover's formula.

    >>> import separatrix as sx
    >>> sx.plot.cover(sx.cover_experiment([4, 6, 8], 3, repeats=20)).ax.get_xlabel()
    'points N'
    """
    if not isinstance(experiment, CoverExperiment):
        raise OptionError(f"{experiment!r:.60} is no experiment to draw; give what sx.cover_experiment returned")
    with look.styled(theme) as tones:
        axes = look.one_panel(ax)
        d, edge = experiment.d, capacity(experiment.d)
        sizes = np.arange(1, max(int(experiment.points.max()), edge) + 1)
        formula = np.array([separability_probability(size, d) for size in sizes.tolist()])
        axes.plot(sizes, formula, color=tones.proof, label="Cover: C(N, d) / 2^N")
        reach = np.abs(np.vstack([experiment.ci_lower, experiment.ci_upper]) - experiment.share)
        label = f"counted, with {100 * experiment.level:g} % intervals"
        axes.errorbar(experiment.points, experiment.share, reach, color=tones.ink, fmt="o", capsize=3, label=label)
        axes.axvline(edge, color=tones.proof, linestyle="--", linewidth=1.2, label=f"capacity 2d = {edge}")
        axes.set_ylim(UNIT)
        look.integers_only(axes, "x")
        title = f"{counted(d, 'weight')} can separate half of the labellings of {counted(edge, 'point')}."
        look.finish(axes, title, "points N", "share of labellings separable")
        look.set_key(axes)
        return Display((axes,), {"points": sizes, "formula": formula, "share": experiment.share})


def margin_effect(experiment: MarginExperiment, ax: Axes | None = None, *, theme: Theme = "light") -> Display:
    """Draw a perceptron's number of updates over the margin, beside the bound (R/γ)².

    >>> import separatrix as sx
    >>> sx.plot.margin_effect(sx.margin_experiment([0.4, 0.1], repeats=3)).ax.get_xlabel()
    'margin γ'
    """
    with look.styled(theme) as tones:
        axes = look.one_panel(ax)
        order = np.argsort(experiment.margins)
        margins, updates, bounds = experiment.margins[order], experiment.updates[order], experiment.bounds[order]
        axes.plot(margins, bounds, "--", color=tones.proof, label="bound (R/γ)²")
        places = np.repeat(margins, updates.shape[1])
        axes.plot(
            places, updates.ravel(), ".", color=tones.ink, alpha=0.35, markeredgewidth=0.0, label="updates of a run"
        )
        axes.plot(margins, updates.mean(axis=1), color=tones.ink, label="mean of the runs")
        look.log_scale(axes, "x", float(margins[0]), float(margins[-1]))
        axes.set_yscale("symlog", linthresh=1.0)
        axes.set_ylim(bottom=0.0)
        most, least = float(updates[0].mean()), float(updates[-1].mean())
        mean = f"{most:.4g} updates on average at margin {margins[0]:.3g}"
        title = f"A run makes {mean}, {least:.4g} at {margins[-1]:.3g}."
        look.finish(axes, title, "margin γ", "updates")
        look.set_key(axes)
        return Display((axes,), {"margins": margins, "updates": updates, "bounds": bounds})


def evaluation_of(model: Any, X: Any, y: Any, weights: Any, level: float) -> ClassifierEvaluation:
    """Return `model` if it is an evaluation, else the evaluation of a fitted classifier on rows."""
    if isinstance(model, ClassifierEvaluation):
        return model
    if X is None or y is None:
        raise OptionError("X and y are needed: rows that the model was not fitted on, and their labels")
    if not hasattr(model, "classes_"):
        raise OptionError(f"{model!r} has no classes; give a fitted classifier, or what sx.evaluate returned")
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
    tones = look.palette()
    ax.plot([0.0, 1.0], [0.0, 1.0], ":", color=tones.edge, label="perfectly calibrated")
    reach = np.maximum([bins.observed - bins.lower, bins.upper - bins.observed], 0.0)
    fewest, most = int(bins.rows.min()), int(bins.rows.max())
    rows = counted(most, "row") if fewest == most else f"{fewest:,} to {most:,} rows"
    label = f"bins of {rows}, {100.0 * level:g} % intervals"
    style: dict[str, Any] = {"fmt": "o", "color": tones.classes[0], "ecolor": tones.edge, "markersize": 4.5}
    ax.errorbar(bins.predicted, bins.observed, reach, capsize=2.0, label=label, **style)
    ax.set(xlim=UNIT, ylim=UNIT)


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
    style: dict[str, Any] = {
        "color": look.palette().of_class(place),
        "linestyle": look.STYLES[place % len(look.STYLES)],
    }
    axes.plot(*line, label=label, **style, **options)


def _finish(axes: Axes, title: str, xlabel: str, ylabel: str) -> None:
    look.finish(axes, title, xlabel, ylabel)
    axes.set(xlim=UNIT, ylim=UNIT)
    look.set_key(axes)
