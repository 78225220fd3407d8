"""Rows of a kernel matrix, computed on demand on all cores and cached under a memory limit.

    K[i, j] = k(xᵢ, xⱼ) + constant        (constant 1: an intercept column beside the features)

The cache evicts the least recently used rows. A solver that no longer needs some columns drops them (`restrict`), and
more rows fit. The RBF kernel is computed from inner products and precomputed squared norms where that keeps its digits,
else by its own formula.

Cost: a matrix product of the requested rows with all rows, and n numbers per cached row. The whole matrix is formed
only by `embedding`, for few rows.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.design.base import map_groups, one_blas_thread
from separatrix.design.kernels import RBF, Kernel, Precomputed, dense_floats
from separatrix.errors import DataError, OptionError

MEGABYTE = 2**20
ROWS_AT_ONCE = 128  # of a matrix product on one core
NUMBERS_AT_ONCE = 2**21  # most kernel values of such a product
LEAST_ROWS = 2  # that a solver needs at the same time
NO_RANK = 1e-13  # relative to the largest eigenvalue: smaller ones are rounding
EXPONENT_ERROR = 1e-11  # largest absolute rounding error of the exponent of an RBF kernel


class KernelAgainst:
    """A kernel against fixed rows, whose squared norms are computed once; a precomputed one has them at `places`."""

    def __init__(self, kernel: Kernel, rows: Any, places: Ints | None = None) -> None:
        self.kernel, self.rows, self.places = kernel, rows, places
        self.factor, self.squares = 0.0, np.zeros(0)  # gamma and gamma ‖row‖², where the fast formula is accurate
        if isinstance(kernel, RBF) and not isinstance(kernel.gamma, str):
            squares = _squared_norms(rows)
            if kernel.gamma * float(squares.max(initial=0.0)) * np.finfo(np.float64).eps * 8 <= EXPONENT_ERROR:
                self.factor, self.squares = kernel.gamma, kernel.gamma * squares

    def __call__(self, A: Any) -> Floats:
        """Return the kernel of each row of A with each fixed row, (m, n)."""
        if isinstance(self.kernel, Precomputed):
            return dense_floats(A if self.places is None else A[:, self.places])
        if not self.factor:
            return self.kernel(A, self.rows)
        values = dense_floats(A @ self.rows.T)
        values *= 2.0 * self.factor
        values -= (self.factor * _squared_norms(A))[:, np.newaxis]
        values -= self.squares
        np.minimum(values, 0.0, out=values)
        return np.exp(values, out=values)


def kernel_scores(kernel: Kernel, X: Any, support: Any, places: Ints, coefs: Floats) -> Floats:
    """Return Σⱼ cⱼ k(x, sⱼ) of each row, (m, K) for coefficients (K, s); a precomputed X has its values at `places`."""
    if not len(places):
        return np.zeros((X.shape[0], len(coefs)))
    support = None if isinstance(kernel, Precomputed) else _floats(support)
    against, step = KernelAgainst(kernel, support, places), _rows_at_once(len(places))

    def score(first: int) -> Floats:
        return np.asarray(against(_floats(X[first : first + step])) @ np.ascontiguousarray(coefs).T)

    return np.concatenate(list(map_groups(score, range(0, X.shape[0], step))))


def training_scores(kernel: Kernel, X: Any, coef: Floats, rows: Ints | None = None) -> Floats:
    """Return Σⱼ cⱼ k(xᵢ, xⱼ) of training rows, all by default, for dual coefficients (n,), most of them 0."""
    X, places = by_rows(X), np.flatnonzero(coef)
    scored = X if rows is None else X[rows]
    return kernel_scores(kernel, scored, X[places], places, coef[np.newaxis, places])[:, 0]


class KernelRows:
    """A cache of the rows of a kernel matrix; `table[slots[i]]` is row i while `slots[i]` is not −1.

    Attributes: `columns`, the columns of the table (None: all); `computed`, the number of rows computed so far; `full`,
    whether rows were evicted.
    """

    def __init__(self, kernel: Kernel, X: Any, megabytes: float, *, constant: float = 0.0) -> None:
        self.kernel, self.X, self.constant = kernel, _floats(by_rows(X)), constant
        self.n = int(X.shape[0])
        self.bytes = int(megabytes * MEGABYTE)
        self.computed, self.full, self.clock = 0, False, 0
        need = min(LEAST_ROWS, self.n)
        if self.bytes < 8 * self.n * need:
            least = 8 * self.n * need / MEGABYTE
            raise OptionError(
                f"cache_mb={megabytes:g} is too small for {need} kernel rows of {self.n:,} numbers;"
                f" give at least {least:.3g}"
            )
        self.diagonal = np.asarray(kernel.diagonal(self.X) + constant)
        if not np.isfinite(self.diagonal).all():
            row = int(np.flatnonzero(~np.isfinite(self.diagonal))[0])
            raise DataError(f"the kernel of row {row} with itself is {self.diagonal[row]}; rescale the columns")
        self._clear(None)

    def fetch(self, rows: Ints) -> Ints:
        """Return the slots of at most `capacity` rows, computing those that are not cached."""
        missing = rows[self.slots[rows] < 0]
        self.clock += 1
        self.used[self.slots[rows[self.slots[rows] >= 0]]] = self.clock
        if len(missing):
            self._compute(np.unique(missing))
        return self.slots[rows]

    @property
    def capacity(self) -> int:
        """The number of rows that the table can hold."""
        return len(self.table)

    def restrict(self, columns: Ints | None) -> None:
        """Keep only some columns (None: all); cached rows are kept where they have these columns."""
        if columns is None or self.columns is not None:
            self._clear(columns)
            return
        owners, old = self.owners[self.owners >= 0], self.table
        cached = owners[np.argsort(-self.used[self.slots[owners]], kind="stable")]
        values = [old[slot, columns] for slot in self.slots[cached]]
        self._clear(columns)
        for slot, (row, value) in enumerate(zip(cached[: self.capacity].tolist(), values, strict=False)):
            self.table[slot], self.owners[slot], self.slots[row] = value, row, slot

    @cached_property
    def embedding(self) -> tuple[Floats, Floats, Floats]:
        """K, (n, n), features F with K = F Fᵗ, (n, r), and the factor D with which D w are dual coefficients of F w.

        From K = Q Λ Qᵗ these are F = Q Λ^½ and D = Q Λ^(−½): n³ operations, for few rows.
        """
        matrix = KernelAgainst(self.kernel, self.X)(self.X) + self.constant
        with one_blas_thread():
            values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
        positive = values > NO_RANK * values[-1]
        roots = np.sqrt(values[positive])
        return matrix, vectors[:, positive] * roots, vectors[:, positive] / roots

    def position(self, rows: Ints) -> Ints:
        """Return the positions of rows among the table's columns."""
        return rows if self.columns is None else np.searchsorted(self.columns, rows)

    def times(self, coef: Floats, rows: Ints) -> Floats:
        """Return K[rows] @ coef, computed without the cache."""
        return np.asarray(training_scores(self.kernel, self.X, coef, rows) + self.constant * float(coef.sum()))

    def combine(self, coef: Floats) -> Floats:
        """Return K @ coef, (n,), from the cached rows and, computed without storing them, the others."""
        places = np.flatnonzero(coef)
        cached = places[self.slots[places] >= 0] if self.columns is None else places[:0]
        total = np.zeros(self.n)
        for first in range(0, len(cached), ROWS_AT_ONCE):
            rows = cached[first : first + ROWS_AT_ONCE]
            total += coef[rows] @ self.table[self.slots[rows]]
        rest = coef.copy()
        rest[cached] = 0.0
        return total + self.times(rest, np.arange(self.n)) if rest.any() else total

    def _clear(self, columns: Ints | None) -> None:
        self.columns = columns
        self.table = np.empty((0, 0))
        width = self.n if columns is None else len(columns)
        self.table = np.empty((min(self.n, self.bytes // (8 * max(width, 1))), width))
        self.slots = np.full(self.n, -1, dtype=np.int64)
        self.owners = np.full(len(self.table), -1, dtype=np.int64)
        self.used = np.zeros(len(self.table), dtype=np.int64)
        self.against = KernelAgainst(self.kernel, self.X if columns is None else self.X[columns], columns)

    def _compute(self, missing: Ints) -> None:
        slots = self._make_room(len(missing))
        step = _rows_at_once(self.table.shape[1])
        starts = range(0, len(missing), step)
        values = map_groups(lambda start: self.against(self.X[missing[start : start + step]]) + self.constant, starts)
        for start, rows in zip(starts, values, strict=True):
            self.table[slots[start : start + step]] = rows
        self.owners[slots], self.slots[missing], self.used[slots] = missing, slots, self.clock
        self.computed += len(missing)

    def _make_room(self, count: int) -> Ints:
        """Return free slots, evicting the least recently used rows where there are too few."""
        slots = np.argsort(np.where(self.owners < 0, -1, self.used), kind="stable")[:count]
        owners = self.owners[slots]
        evicted = owners[owners >= 0]
        self.slots[evicted] = -1
        self.full = self.full or len(evicted) > 0
        return slots


def by_rows(X: Any) -> Any:
    """Return a matrix whose rows can be indexed: arrays unchanged, sparse matrices as CSR."""
    if isinstance(X, np.ndarray):
        return X
    return X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)


def select_rows(kernel: Kernel, X: Any, rows: Ints) -> Any:
    """Return rows of a matrix from `by_rows`; of a precomputed kernel matrix, these rows and columns."""
    return X[rows][:, rows] if isinstance(kernel, Precomputed) else X[rows]


def _rows_at_once(width: int) -> int:
    return max(1, min(ROWS_AT_ONCE, NUMBERS_AT_ONCE // max(width, 1)))


def _floats(A: Any) -> Any:
    """Return floats in row order: products of equal matrices then have equal bits, however they were stored."""
    return np.ascontiguousarray(A, dtype=np.float64) if isinstance(A, np.ndarray) else A.astype(np.float64, copy=False)


def _squared_norms(A: Any) -> Floats:
    if isinstance(A, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", A, A))
    return np.asarray(A.multiply(A).sum(axis=1)).ravel()
