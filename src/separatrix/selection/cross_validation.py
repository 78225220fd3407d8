"""Which strength to use, by cross-validation: the path of each fold's other rows, judged on the rows held out.

The folds share one grid of strengths, that of all rows. Rows held out weigh 0, so that no fold copies any data. The
loss of the model itself is what is compared:

    held-out loss of fold k at a strength:  Lₖ = Σ sᵢ loss(ηᵢ, yᵢ) / Σ sᵢ  over its rows,  cₖ = Σ sᵢ
    mean = Σ cₖ Lₖ / Σ cₖ          error² = Σ cₖ (Lₖ − mean)² / Σ cₖ / (folds − 1)

The best strength has the least mean; the one-standard-error choice is the largest strength whose mean is within the
best one's error of it: as good as far as the data can tell, and simpler.

Cost: a path a fold and one of all rows, and one pass a fold to judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

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
CHOICES: tuple[StrengthChoice, ...] = ("one_standard_error", "best")


@dataclass(frozen=True)
class CrossValidation:
    """Held-out losses (folds, m) of m strengths, their mean and standard error (m,), and the path of all rows.

    `best` and `one_standard_error` are places among the strengths; `strength` is the one chosen. Several classes, each
    against the rest, have a path each.
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
        """The place of the largest strength whose mean is within a standard error of the least."""
        return int(np.flatnonzero(self.mean <= self.mean[self.best] + self.error[self.best])[0])

    @property
    def place(self) -> int:
        """The place of the strength chosen."""
        return self.one_standard_error if self.choice == "one_standard_error" else self.best

    @property
    def strength(self) -> float:
        """The strength chosen."""
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
    """Judge strengths on held-out rows; `problems` share their rows (several: each class against the rest).

    `folds` has the number of each row's fold.
    """
    require_choice("choice", choice, CHOICES)
    grid = strength_grid(problems, l1_ratio, strengths)
    paths = tuple(trace_path(problem, l1_ratio, strengths=grid, options=options) for problem in problems)
    numbers = range(int(folds.max()) + 1)
    sums = np.array([_judge_fold(problems, l1_ratio, folds == number, grid, options) for number in numbers])
    counts = np.array([_weight(problems[0], folds == number) for number in numbers])
    losses = sums / counts[:, np.newaxis]
    mean = np.average(losses, axis=0, weights=counts)
    spread = np.average((losses - mean) ** 2, axis=0, weights=counts)
    return CrossValidation(grid, losses, mean, np.sqrt(spread / (len(counts) - 1)), paths, choice)


def assign_folds(n: int, folds: int, seed: int | None, classes: Indices | None = None) -> Indices:
    """Return each row's fold, drawn by a seed (None: the same draw each time), each class spread over all of them.

    >>> assign_folds(6, 3, seed=1).tolist()
    [1, 0, 2, 2, 0, 1]
    """
    if not 2 <= folds <= n:
        limits = f"from 2 to that of the rows (n_samples={n})"
        raise OptionError(f"cv={folds!r} is out of range; give a number of folds {limits}")
    if classes is not None and (rarest := int(np.bincount(classes).min())) < 2:
        raise DataError(
            f"a class has {rarest} row, which cannot be fitted and held out at once; give rows of every class, or a"
            " strength as a number"
        )
    order = np.random.default_rng(0 if seed is None else seed).permutation(n)
    if classes is not None:
        order = order[np.argsort(classes[order], kind="stable")]
    assigned = np.empty(n, dtype=np.intp)
    assigned[order] = np.arange(n) % folds
    return assigned


def _judge_fold(
    problems: Sequence[Problem], l1_ratio: float, held_out: Bools, grid: Floats, options: ConvexOptions
) -> Floats:
    """Return the sums of the held-out rows' losses at each strength, averaged over the problems, (m,)."""
    total = np.zeros(len(grid))
    for problem in problems:
        kept = replace(problem, weights=np.where(held_out, 0.0, _weights(problem)))
        path = trace_path(kept, l1_ratio, strengths=grid, options=options)
        own = np.where(held_out, _weights(problem), 0.0)
        total += problem.design.fold(_losses, path.coefs, problem.loss, rows=(problem.y, own))
    return np.asarray(total / len(problems))


def _losses(block: Block, y: NDArray[Any], weights: Floats, coefs: Floats, loss: Loss) -> Floats:
    """Return Σ sᵢ loss at each strength over a block's rows of weight above 0."""
    eta = block.matvec(coefs.T.reshape(coefs.shape[1], -1) if coefs.ndim == 2 else _side_by_side(coefs))
    if coefs.ndim == 2:
        return np.asarray(weights @ loss.value(eta, y[:, np.newaxis]))
    scores = eta.reshape(len(y), len(coefs), -1)
    return np.array([weights @ loss.value(scores[:, place], y) for place in range(len(coefs))])


def _side_by_side(coefs: Floats) -> Floats:
    """Return coefficients (m, p, K) as columns, (p, m K)."""
    return np.asarray(coefs.transpose(1, 0, 2).reshape(coefs.shape[1], -1))


def _weights(problem: Problem) -> Floats:
    return np.ones(len(problem.y)) if problem.weights is None else problem.weights


def _weight(problem: Problem, chosen: Bools) -> float:
    return float(_weights(problem)[chosen].sum())
