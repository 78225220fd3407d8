"""Pictures, drawn by matplotlib: each takes what a fit returned and, if given, the axes to draw on, and returns them.

Colours are told apart by people who do not tell red from green; what matters is labelled in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix import losses as all_losses
from separatrix.errors import OptionError
from separatrix.fit import CrossValidation, MarginExperiment, Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["cross_validation", "losses", "margin_effect", "path"]

NAMED = 8  # coefficients labelled in a picture of a path, the largest ones
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933")
SURROGATES = ("zero-one", "perceptron", "hinge", "squared hinge", "logistic", "squared")
MARGINS = (-2.0, 2.5)


def path(path: Path, ax: Axes | None = None, *, output: int = 0) -> Axes:
    """Draw how the coefficients grow as the strength falls; `output` is the class drawn, where each has its own.

    >>> import separatrix as sx
    >>> X, y = sx.load_demo("iris")
    >>> axes = sx.plot.path(sx.path(sx.LinearRegression(l1_ratio=1.0), X[:, :3], X[:, 3], strengths=20))
    >>> axes.get_xlabel()
    'strength'
    """
    if not isinstance(path, Path):
        raise OptionError(f"{path!r} is no path; give what sx.path returned")
    axes = _axes(ax)
    weights = path.weights if path.weights.ndim == 2 else path.weights[:, :, output]
    names = path.names[int(path.virtual) :]
    largest = np.argsort(-np.abs(weights).max(axis=0), kind="stable")[:NAMED]
    axes.plot(path.strengths, np.delete(weights, largest, axis=1), color="0.75", linewidth=0.8)
    for place, column in enumerate(largest):
        axes.plot(path.strengths, weights[:, column], color=COLOURS[place], label=names[column])
    _strength_axis(axes)
    axes.set_ylabel("coefficient")
    used = np.count_nonzero(path.weights[-1].reshape(weights.shape[1], -1).any(axis=1))
    axes.set_title(f"{used} of {weights.shape[1]} columns in use at the smallest strength")
    axes.legend(fontsize="small")
    return axes


def cross_validation(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the held-out loss of each strength with its standard error, the best strength and the one chosen.

    Takes a model fitted with ``strength="cv"``, or its `cv_`.
    """
    found = model if isinstance(model, CrossValidation) else getattr(model, "cv_", None)
    if not isinstance(found, CrossValidation):
        raise OptionError(f'{model!r} has no cross-validation to draw; fit it with strength="cv"')
    axes = _axes(ax)
    axes.errorbar(
        found.strengths, found.mean, found.error, color=COLOURS[0], ecolor="0.7", marker=".", linestyle="none"
    )
    marks = (("best", found.best, ":"), ("within one standard error of it", found.one_standard_error, "--"))
    for words, place, style in marks:
        strength = float(found.strengths[place])
        axes.axvline(strength, color="0.2", linestyle=style, label=f"{words}: {strength:.3g}")
    _strength_axis(axes)
    axes.set_ylabel("held-out loss")
    axes.set_title(f"{len(found.fold_losses)} folds; strength {found.strength:.3g} chosen")
    axes.legend(fontsize="small")
    return axes


def margin_effect(experiment: MarginExperiment, ax: Axes | None = None) -> Axes:
    """Draw a perceptron's updates against the margin, beside the bound (R/γ)².

    >>> import separatrix as sx
    >>> sx.plot.margin_effect(sx.margin_experiment([0.4, 0.1], repeats=3)).get_xlabel()
    'margin γ'
    """
    axes = _axes(ax)
    order = np.argsort(experiment.margins)
    margins, updates = experiment.margins[order], experiment.updates[order]
    axes.plot(margins, experiment.bounds[order], "--", color="0.3", label="bound (R/γ)²")
    axes.plot(np.repeat(margins, updates.shape[1]), updates.ravel(), ".", color=COLOURS[5], alpha=0.6, label="updates")
    axes.plot(margins, updates.mean(axis=1), color=COLOURS[0], label="their mean")
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_xlabel("margin γ")
    axes.set_ylabel("updates")
    axes.set_title("The smaller the margin, the more mistakes")
    axes.legend(fontsize="small")
    return axes


def losses(ax: Axes | None = None, names: Sequence[str] = SURROGATES) -> Axes:
    """Draw losses as functions of the margin y·score: the 0-1 loss and what is minimised in its place."""
    axes = _axes(ax)
    known = {loss.name: loss for loss in all_losses.ALL}
    margins = np.linspace(*MARGINS, 901)
    for place, name in enumerate(names):
        if name not in known or known[name].target == "classes":
            raise OptionError(f"names has {name!r}, which is no loss of a margin; known are {', '.join(SURROGATES)}")
        style = "--" if name == "zero-one" else "-"
        values = known[name].value(margins, np.ones_like(margins))
        axes.plot(margins, values, style, color=COLOURS[place % len(COLOURS)], label=name)
    axes.set_xlabel("margin y·score")
    axes.set_ylabel("loss")
    axes.set_title("Losses as functions of the margin")
    axes.legend(fontsize="small")
    return axes


def _axes(ax: Axes | None) -> Axes:
    """Return the axes given, or new ones."""
    if ax is not None:
        return ax
    from matplotlib import pyplot  # noqa: PLC0415  # half a second that only a picture should cost

    return pyplot.subplots(figsize=(7.0, 4.5), layout="constrained")[1]


def _strength_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.set_xlabel("strength")
