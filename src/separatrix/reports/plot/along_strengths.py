"""Coefficients and held-out losses along the strengths of a penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.errors import OptionError
from separatrix.reports.display import Display, one_panel
from separatrix.reports.labels import short
from separatrix.reports.palette import COLOURS
from separatrix.selection.cross_validation import CrossValidation
from separatrix.selection.path import Path

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NAMED = 8  # coefficients labelled in a picture of a path, the largest ones


def path(path: Path, ax: Axes | None = None, *, output: int = 0) -> Display:
    """Draw how the coefficients grow as the strength falls; `output` is the class drawn, where each has its own.

    >>> import separatrix as sx
    >>> X, y = sx.load_demo("iris")
    >>> display = sx.plot.path(sx.path(sx.LinearRegression(l1_ratio=1.0), X[:, :3], X[:, 3], strengths=20))
    >>> display.ax.get_xlabel(), display.data["weights"].shape
    ('strength', (20, 3))
    """
    if not isinstance(path, Path):
        raise OptionError(f"{path!r} is no path; give what sx.path returned")
    axes = one_panel(ax)
    weights = path.weights if path.weights.ndim == 2 else path.weights[:, :, output]
    names = path.names[int(path.virtual) :]
    largest = np.argsort(-np.abs(weights).max(axis=0), kind="stable")[:NAMED]
    axes.plot(path.strengths, np.delete(weights, largest, axis=1), color="0.75", linewidth=0.8)
    for place, column in enumerate(largest):
        axes.plot(path.strengths, weights[:, column], color=COLOURS[place], label=short(names[column]))
    _strength_axis(axes)
    axes.set_ylabel("coefficient")
    used = np.count_nonzero(path.weights[-1].reshape(weights.shape[1], -1).any(axis=1))
    axes.set_title(f"{used} of {weights.shape[1]} columns in use at the smallest strength")
    axes.legend(fontsize="small")
    return Display((axes,), {"strengths": path.strengths, "weights": weights, "names": names})


def cross_validation(model: Any, ax: Axes | None = None) -> Display:
    """Draw the held-out loss of each strength with its standard error, the best strength and the one chosen.

    Takes a model fitted with ``strength="cv"``, or its `cv_`.
    """
    found = model if isinstance(model, CrossValidation) else getattr(model, "cv_", None)
    if not isinstance(found, CrossValidation):
        raise OptionError(f'{model!r} has no cross-validation to draw; fit it with strength="cv"')
    axes = one_panel(ax)
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
    return Display((axes,), {"strengths": found.strengths, "losses": found.mean, "standard_errors": found.error})


def _strength_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.set_xlabel("strength")
