"""Some columns of a design, for solvers that work on few columns at a time.

A `ColumnStore` gives `take(indices)`, columns ready for repeated products, and `correlate`, the product of all columns,
or at least of some, with a vector. Index 0 is the virtual column of ones, where there is one. How columns are stored is
in `column_stores`.

Cost: `times` and `transposed_times` one read of the columns; `gram` k² products a row, for sparse rows the square of
their entries.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from separatrix.arrays import Floats, Indices


class Columns(ABC):
    """Some columns of a design, in ascending order, the virtual one first where it is among them."""

    def __init__(self, indices: Indices, virtual: bool) -> None:
        self.indices = indices
        self.with_ones = bool(virtual and len(indices) and indices[0] == 0)
        self.stored = indices[int(self.with_ones) :] - int(virtual)

    def times(self, coef: Floats) -> Floats:
        """Return the columns times coef: (n,) for (k,), (n, K) for (k, K)."""
        if self.with_ones:
            return np.asarray(self.stored_times(coef[1:]) + coef[0])
        return self.stored_times(coef)

    def transposed_times(self, values: Floats) -> Floats:
        """Return the transposed columns times values: (k,) for (n,), (k, K) for (n, K)."""
        total = self.stored_transposed_times(values)
        if self.with_ones:
            return np.concatenate([values.sum(axis=0)[np.newaxis], total])
        return total

    def gram(self, weights: Floats) -> Floats:
        """Return the columns' Gram matrix with weights for the rows, (k, k)."""
        return np.asarray(self.grams(weights[:, np.newaxis])[0])

    def grams(self, weights: Floats) -> Floats:
        """Return a Gram matrix for each of several weights of the rows, (q, k, k) for (n, q)."""
        inner, border = self.stored_grams(weights)
        if not self.with_ones:
            return inner
        whole = np.empty((len(inner), len(self.indices), len(self.indices)))
        whole[:, 0, 0], whole[:, 1:, 1:] = weights.sum(axis=0), inner
        whole[:, 0, 1:] = whole[:, 1:, 0] = border
        return whole

    def hessian(self, curvature: Floats) -> Floats:
        """Return the Hessian for curvature (n,), (k, k), or (n, K, K), (k·K, k·K) with columns outer."""
        if curvature.ndim == 1:
            return self.gram(curvature)
        size, classes = len(self.indices), curvature.shape[1]
        first, second = np.tril_indices(classes)
        blocks = np.empty((classes, classes, size, size))
        blocks[first, second] = self.grams(curvature[:, first, second])
        blocks[second, first] = blocks[first, second]
        return blocks.transpose(2, 0, 3, 1).reshape(size * classes, size * classes)

    @abstractmethod
    def stored_times(self, coef: Floats) -> Floats:
        """Return the stored columns times coef."""

    @abstractmethod
    def stored_transposed_times(self, values: Floats) -> Floats:
        """Return the transposed stored columns times values."""

    @abstractmethod
    def stored_grams(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the Gram matrices of the stored columns, (q, k, k), and where ones go with them their sums, (q, k)."""


class ColumnStore(ABC):
    """The columns of a design."""

    @abstractmethod
    def take(self, indices: Indices) -> Columns:
        """Return some columns, by ascending index, the virtual one counted."""

    @abstractmethod
    def correlate(self, values: Floats, among: Indices) -> Floats:
        """Return all columns times values, (p,) or (p, K), right at least for the indices asked for."""

    @abstractmethod
    def squares(self, weights: Floats) -> Floats:
        """Return the weighted sum of each column's squares, (p,)."""
