"""Coordinate descent for L1 and elastic net, with working sets and a duality gap at every step.

    P(w) = Σ sᵢ loss(xᵢ·w, yᵢ) / Σ sᵢ + Σⱼ weightⱼ · ( absolute·|wⱼ| + quadratic/2 · wⱼ² )

A quadratic loss with few columns is held by its covariances (`covariance`): one pass for all of a path of strengths.
Any other loss with a curvature, one score a row or one a class, goes by proximal Newton steps on working sets
(`working_set`). Both minimise the same kind of quadratic with kinks (`kinked`). Columns' units do not matter to the
steps, only to the penalty. Without any penalty it still descends, but there is no dual point, so `excess` is inf.

References: Friedman, Hastie and Tibshirani, Regularization paths for generalized linear models via coordinate descent
(2010); Lee, Sun and Saunders, Proximal Newton-type methods (2014); Johnson and Guestrin, Blitz (2015).
Cost: see there. Fails for losses without curvature, and on designs that only stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.columns import ColumnStore, column_store
from separatrix.problem import Problem
from separatrix.solvers.base import Needs, Step
from separatrix.solvers.covariance import Covariances, covariance_walk
from separatrix.solvers.models import RememberedGram
from separatrix.solvers.standing import row_shares
from separatrix.solvers.working_set import WorkingSetWalk, has_constant_curvature

Fact = TypeVar("Fact")
COVARIANCE_COLUMNS = 1500  # up to which the Gram matrix of all columns is formed


class Memory:
    """What one run learns of its data that the next, of another penalty on the same data, need not learn again."""

    def __init__(self) -> None:
        self._data: tuple[Any, ...] = ()
        self._facts: dict[str, Any] = {}

    def store(self, problem: Problem) -> ColumnStore:
        """Return the columns of the design."""
        return self._recall(problem, "store", lambda: column_store(problem.design))

    def covariances(self, problem: Problem) -> Covariances:
        """Return the covariances of a quadratic loss."""
        store = self.store(problem)
        return self._recall(problem, "covariances", lambda: Covariances.of(problem, store))

    def column_norms(self, problem: Problem) -> Floats:
        """Return the root of the weighted mean of each column's squares."""
        store = self.store(problem)
        return self._recall(problem, "norms", lambda: np.sqrt(store.squares(row_shares(problem))))

    def gram(self, problem: Problem) -> RememberedGram:
        """Return the products of columns met so far."""
        store = self.store(problem)
        return self._recall(problem, "gram", lambda: RememberedGram(store))

    def _recall(self, problem: Problem, name: str, learn: Callable[[], Fact]) -> Fact:
        data = (problem.design, problem.y, problem.loss, problem.weights)
        if len(self._data) != len(data) or any(old is not new for old, new in zip(self._data, data, strict=True)):
            self._data, self._facts = data, {}
        if name not in self._facts:
            self._facts[name] = learn()
        fact: Fact = self._facts[name]
        return fact


@dataclass(frozen=True)
class Coordinate:
    """Coordinate descent; runs that share a `memory` compute Gram matrix and column norms once."""

    memory: Memory | None = field(default=None, compare=False, repr=False)

    needs: ClassVar[Needs] = Needs(
        curvature=True,
        column_access=True,
        otherwise={
            "curvature": "Use a loss that has one: SquaredHinge, Logistic.",
            "column_access": "Hold the data in memory, as an array or a sparse matrix (CSC; CSR is rearranged once).",
        },
    )

    def steps(self, problem: Problem, start: Floats | None = None) -> Iterator[Step]:
        """Walk from a start (zeros if None): a working set, or a descent by covariances, a step."""
        memory = self.memory or Memory()
        coef = problem.zero_coef() if start is None else np.array(start, dtype=np.float64)
        if has_constant_curvature(problem.loss) and len(coef) <= COVARIANCE_COLUMNS:
            coef = yield from covariance_walk(problem, memory.covariances(problem), coef)
        store, norms, gram = memory.store(problem), memory.column_norms(problem), memory.gram(problem)
        yield from WorkingSetWalk(problem, store, coef, norms, gram).walk()
