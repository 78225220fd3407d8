"""The regularisation path of an estimator: its fits at a sequence of strengths, each with its certified gap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from separatrix.errors import OptionError
from separatrix.estimators.base import Penalised
from separatrix.fit.convex import ConvexOptions
from separatrix.selection.path import Path, join_paths, strength_grid, trace_path


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
    if not isinstance(model, Penalised):
        raise OptionError(
            f"model={model!r} has no strength; give a LogisticRegression, LinearRegression or LinearSVM of separatrix"
        )
    model = clone(model)
    problems = model.problems(X, y, sample_weight)
    options = ConvexOptions.named(model.solver, model.tol, model.max_passes)
    grid = strength_grid(problems, model.l1_ratio, strengths, ratio)
    return join_paths([trace_path(problem, model.l1_ratio, strengths=grid, options=options) for problem in problems])
