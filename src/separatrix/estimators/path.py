"""The regularisation path of an estimator: its fits at a sequence of strengths, each with its certified gap."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from sklearn.base import clone

from separatrix.errors import OptionError
from separatrix.estimators.base import LinearModel
from separatrix.families.base import convex_options
from separatrix.families.options import PenalisedOptions
from separatrix.families.penalised import scale_rows
from separatrix.selection import Path, join_paths, strength_grid, trace_path


def path(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    strengths: int | Sequence[float] = 100,
    ratio: float | None = None,
) -> Path:
    """Fit an estimator at a decreasing sequence of strengths, each started by extrapolation from the previous fits.

    Parameters
    ----------
    model : a LogisticRegression, LinearRegression or LinearSVM with its options; its own strength is not used
    X, y, sample_weight : the data, as in `fit`
    strengths : number of strengths, or the strengths themselves; they begin at the largest that matters, with an L1
        penalty the smallest at which all weights are 0
    ratio : smallest strength relative to the largest; by default 0.0001, or 0.01 with more columns than rows

    Returns
    -------
    Path : strengths, `weights` and `intercepts` at each, objective and certified gap, number of nonzero columns, passes
        and status; `sx.plot.path` draws it

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = sx.load_demo("breast-cancer")
    >>> path = sx.path(sx.LogisticRegression(l1_ratio=1.0, tol=1e-6), X, y, strengths=5)
    >>> path.active.tolist()
    [0, 1, 2, 4, 5]
    >>> bool((path.relative_gaps <= 1e-6).all())
    True

    Reference: Friedman, Hastie and Tibshirani, Regularization paths for generalized linear models (2010).
    """
    if not isinstance(model, PenalisedOptions) or not isinstance(model, LinearModel):
        raise OptionError(f"model={model!r} has no strength; give a LogisticRegression, LinearRegression or LinearSVM")
    model = clone(model)
    options = model._options()
    scaled = scale_rows(model._rows(X, y, sample_weight), options.scaling)
    problems = import_module(f"separatrix.families.{options.module}").problems(scaled.rows, options)
    grid = strength_grid(problems, options.l1_ratio, strengths, ratio)
    paths = [
        trace_path(problem, options.l1_ratio, strengths=grid, options=convex_options(options)) for problem in problems
    ]
    return scaled.path_in_units(join_paths(paths))
