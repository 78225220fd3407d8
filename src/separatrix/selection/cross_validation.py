"""Cross-validation of the strength: the path of each fold's training rows, evaluated on its held-out rows.

The folds share one grid of strengths, that of all rows. Held-out rows have weight 0, so no fold copies any data. The
model's own loss is compared:

    held-out loss of fold k at a strength:  Lₖ = Σ sᵢ loss(ηᵢ, yᵢ) / Σ sᵢ  over its rows,  cₖ = Σ sᵢ
    mean = Σ cₖ Lₖ / Σ cₖ          error² = Σ cₖ (Lₖ − mean)² / Σ cₖ / (folds − 1)

The best strength has the least mean. The one-standard-error choice is the largest strength whose mean is within one
standard error of the best: a simpler model that is not significantly worse.

Cost: one path per fold and one of all rows, and one pass per fold for the evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.base import Block
from separatrix.errors import DataError, OptionError, require_choice
from separatrix.fit.convex import ConvexOptions
from separatrix.losses.base import Loss
from separatrix.problem import Problem
from separatrix.selection.path import Path, strength_grid, trace_path

StrengthChoice = Literal["one_standard_error", "best"]


@dataclass(frozen=True)
class CrossValidation:
    """Held-out losses (folds, m) of m strengths, their mean and standard error (m,), and the path of all rows.

    `best` and `one_standard_error` are places among the strengths; `strength` is the chosen one. With several classes,
    each against the rest, there is one path per class.
    """

    strengths: Floats
    fold_losses: Floats
    mean: Floats
    error: Floats
    paths: tuple[Path, ...]
    choice: StrengthChoice

    @property
    def best(self) -> int:
        """The place of the strength with the least mean held-out loss."""
        return int(self.mean.argmin())

    @property
    def one_standard_error(self) -> int:
        """The place of the largest strength whose mean is within one standard error of the least."""
        return int(np.flatnonzero(self.mean <= self.mean[self.best] + self.error[self.best])[0])

    @property
    def place(self) -> int:
        """The place of the chosen strength."""
        return self.one_standard_error if self.choice == "one_standard_error" else self.best

    @property
    def strength(self) -> float:
        """The chosen strength."""
        return float(self.strengths[self.place])


def cross_validate(
    problems: Sequence[Problem],
    l1_ratio: float,
    folds: Indices,
    *,
    choice: StrengthChoice = "one_standard_error",
    strengths: int | Sequence[float] | Floats = 100,
    options: ConvexOptions = ConvexOptions(),  # noqa: B008  # frozen
) -> CrossValidation:
    """Evaluate strengths on held-out rows; `problems` share their rows (several: each class against the rest).

    `folds` has the fold number of each row.
    """
    require_choice("choice", choice, get_args(StrengthChoice))
    grid = strength_grid(problems, l1_ratio, strengths)
    paths = tuple(trace_path(problem, l1_ratio, strengths=grid, options=options) for problem in problems)
    numbers = range(int(folds.max()) + 1)
    sums = np.array([_fold_losses(problems, l1_ratio, folds == number, grid, options) for number in numbers])
    counts = np.array([float(problems[0].row_weights[folds == number].sum()) for number in numbers])
    losses = sums / counts[:, np.newaxis]
    mean = np.average(losses, axis=0, weights=counts)
    spread = np.average((losses - mean) ** 2, axis=0, weights=counts)
    return CrossValidation(grid, losses, mean, np.sqrt(spread / (len(counts) - 1)), paths, choice)


def assign_folds(n: int, folds: int, seed: int | None, classes: Indices | None = None, option: str = "cv") -> Indices:
    """Return each row's fold, drawn by a seed (None: the same draw each time), each class spread evenly over the folds.

    >>> assign_folds(6, 3, seed=1).tolist()
    [1, 0, 2, 2, 0, 1]
    """
    if not 2 <= folds <= n:
        limits = f"from 2 to that of the rows (n_samples={n})"
        raise OptionError(f"{option}={folds!r} is out of range; give a number of folds {limits}")
    if classes is not None and (rarest := int(np.bincount(classes).min())) < 2:
        raise DataError(f"a class has {rarest} row, too few to cross-validate; give more, or a strength as a number")
    order = np.random.default_rng(0 if seed is None else seed).permutation(n)
    if classes is not None:
        order = order[np.argsort(classes[order], kind="stable")]
    assigned = np.empty(n, dtype=np.intp)
    assigned[order] = np.arange(n) % folds
    return assigned


def _fold_losses(
    problems: Sequence[Problem], l1_ratio: float, held_out: Bools, grid: Floats, options: ConvexOptions
) -> Floats:
    """Return the summed losses of the held-out rows at each strength, averaged over the problems, (m,)."""
    total = np.zeros(len(grid))
    for problem in problems:
        training = replace(problem, weights=np.where(held_out, 0.0, problem.row_weights))
        path = trace_path(training, l1_ratio, strengths=grid, options=options)
        weights = np.where(held_out, problem.row_weights, 0.0)
        total += problem.design.fold(_losses, path.coefs, problem.loss, rows=(problem.y, weights))
    return np.asarray(total / len(problems))


def _losses(block: Block, y: NDArray[Any], weights: Floats, coefs: Floats, loss: Loss) -> Floats:
    """Return Σ sᵢ loss over a block's rows at each strength."""
    if coefs.ndim == 2:
        eta = block.matvec(coefs.T.reshape(coefs.shape[1], -1))
        return np.asarray(weights @ loss.value(eta, y[:, np.newaxis]))
    eta = block.matvec(coefs.transpose(1, 0, 2).reshape(coefs.shape[1], -1))  # from (m, p, K) to (p, m K)
    scores = eta.reshape(len(y), len(coefs), -1)
    return np.array([weights @ loss.value(scores[:, place], y) for place in range(len(coefs))])
