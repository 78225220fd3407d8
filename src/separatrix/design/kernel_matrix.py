"""Rows of a kernel matrix on demand: computed many at once by matrix products on all cores, kept under a memory cap.

    K[i, j] = k(xᵢ, xⱼ) + constant        (constant 1: a column of ones beside the features)

The matrix (n, n) is never formed whole unless it fits. Rows that were used longest ago make way for new ones; a solver
that no longer needs some columns drops them (`restrict`), and more rows fit. Cost: a matrix product of the rows asked
for with all others, and n numbers a row kept. The RBF kernel is taken from products and squared lengths known
beforehand wherever that keeps its digits, else by its own formula.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.design.base import map_groups, one_blas_thread
from separatrix.design.kernels import RBF, Kernel, Precomputed
from separatrix.errors import DataError, OptionError

MEGABYTE = 2**20
ROWS_AT_ONCE = 128  # of a matrix product, a core
NUMBERS_AT_ONCE = 2**21  # held beside the cache while kernel values are being made
LEAST_ROWS = 2  # that a solver needs at a time
NO_RANK = 1e-13  # of the largest eigenvalue: below, it is rounding
DIGITS = 1e-11  # absolute, of the exponent of an RBF kernel, that must be left


class KernelAgainst:
    """A kernel of any rows against fixed ones, what can be known of those worked out once."""

    def __init__(self, kernel: Kernel, rows: Any) -> None:
        self.kernel, self.rows = kernel, rows
        self.factor, self.lengths = 0.0, np.zeros(0)
        if isinstance(kernel, RBF) and not isinstance(kernel.gamma, str):
            lengths = _squared_lengths(rows)
            if kernel.gamma * float(lengths.max(initial=0.0)) * np.finfo(np.float64).eps * 8 <= DIGITS:
                self.factor, self.lengths = kernel.gamma, kernel.gamma * lengths

    def __call__(self, A: Any) -> Floats:
        """Return the kernel of each row of A with each fixed row, (m, n)."""
        if not self.factor:
            return self.kernel(A, self.rows)
        product = A @ self.rows.T
        values = np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float64)
        values *= 2.0 * self.factor
        values -= (self.factor * _squared_lengths(A))[:, np.newaxis]
        values -= self.lengths
        np.minimum(values, 0.0, out=values)
        return np.exp(values, out=values)


def kernel_scores(kernel: Kernel, X: Any, support: Any, places: Ints, coefs: Floats) -> Floats:
    """Return Σⱼ cⱼ k(x, sⱼ) of each row, (m, K) for coefficients (K, s); of a precomputed X, its columns `places`."""
    if not len(places):
        return np.zeros((X.shape[0], len(coefs)))
    given = isinstance(kernel, Precomputed)
    against = None if given else KernelAgainst(kernel, _floats(support))
    step = _rows_at_once(len(places))

    def score(first: int) -> Floats:
        some = X[first : first + step]
        values = _dense(some[:, places]) if against is None else against(_floats(some))
        return np.asarray(values @ coefs.T)

    return np.concatenate(list(map_groups(score, range(0, X.shape[0], step))))


def training_scores(kernel: Kernel, X: Any, coef: Floats) -> Floats:
    """Return Σⱼ cⱼ k(xᵢ, xⱼ) of each training row from coefficients (n,), most of them 0."""
    X = by_rows(X)
    places = np.flatnonzero(coef)
    return kernel_scores(kernel, X, X[places], places, coef[np.newaxis, places])[:, 0]


class Embedding(NamedTuple):
    """The kernel matrix (n, n), rows of finitely many columns with the same inner products, and the way back.

    Weights w of those columns are the coefficients `back @ w` of the rows.
    """

    matrix: Floats
    features: Floats
    back: Floats


class KernelRows:
    """The rows of a kernel matrix; `table[slots[i]]` is row i while `slots[i]` is not −1.

    Attributes: `columns`, those that the table has (None: all); `computed`, the rows computed so far; `full`, whether
    rows had to make way.
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
                f"cache_mb={megabytes:g} holds no {need} kernel rows of {self.n:,} numbers; give at least {least:.3g}"
            )
        self.diagonal = np.asarray(kernel.diagonal(self.X) + constant)
        if not np.isfinite(self.diagonal).all():
            row = int(np.flatnonzero(~np.isfinite(self.diagonal))[0])
            raise DataError(f"the kernel of row {row} with itself is {self.diagonal[row]}; rescale the columns")
        self._empty(None)

    def fetch(self, rows: Ints) -> Ints:
        """Return the slots of some rows, at most `capacity`, computing those that are not kept."""
        missing = rows[self.slots[rows] < 0]
        self.clock += 1
        self.used[self.slots[rows[self.slots[rows] >= 0]]] = self.clock
        if len(missing):
            self._compute(np.unique(missing))
        return self.slots[rows]

    @property
    def capacity(self) -> int:
        """How many rows the table holds at most."""
        return len(self.table)

    def restrict(self, columns: Ints | None) -> None:
        """Keep only some columns (None: all anew); rows kept stay where the new columns are among the old."""
        if columns is None or self.columns is not None:
            self._empty(columns)
            return
        owners, old = self.owners[self.owners >= 0], self.table
        kept = owners[np.argsort(-self.used[self.slots[owners]], kind="stable")]
        values = [old[slot, columns] for slot in self.slots[kept]]
        self._empty(columns)
        for place, (row, value) in enumerate(zip(kept[: self.capacity].tolist(), values, strict=False)):
            self.table[place], self.owners[place], self.slots[row] = value, row, place

    @cached_property
    def embedding(self) -> Embedding:
        """The whole matrix, K = Q Λ Qᵗ, as rows Q Λ^½; n³ operations, for few rows."""
        given = isinstance(self.kernel, Precomputed)
        matrix = (_dense(self.X) if given else KernelAgainst(self.kernel, self.X)(self.X)) + self.constant
        with one_blas_thread():
            values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
        kept = values > NO_RANK * values[-1]
        sizes = np.sqrt(values[kept])
        return Embedding(matrix, vectors[:, kept] * sizes, vectors[:, kept] / sizes)

    def position(self, rows: Ints) -> Ints:
        """Return the places of rows among the table's columns."""
        return rows if self.columns is None else np.searchsorted(self.columns, rows)

    def times(self, coef: Floats, wanted: Ints) -> Floats:
        """Return K[wanted] @ coef, computed anew."""
        places = np.flatnonzero(coef)
        scores = kernel_scores(self.kernel, self.X[wanted], self.X[places], places, coef[np.newaxis, places])[:, 0]
        return np.asarray(scores + self.constant * float(coef.sum()))

    def combine(self, coef: Floats) -> Floats:
        """Return K @ coef, (n,), from the rows in the table and, computed anew, those that are not."""
        places = np.flatnonzero(coef)
        kept = places[self.slots[places] >= 0] if self.columns is None else places[:0]
        total = np.zeros(self.n)
        for first in range(0, len(kept), ROWS_AT_ONCE):
            some = kept[first : first + ROWS_AT_ONCE]
            total += coef[some] @ self.table[self.slots[some]]
        rest = coef.copy()
        rest[kept] = 0.0
        return total + self.times(rest, np.arange(self.n)) if rest.any() else total

    def _empty(self, columns: Ints | None) -> None:
        self.columns = columns
        self.table = np.empty((0, 0))
        width = self.n if columns is None else len(columns)
        self.table = np.empty((min(self.n, self.bytes // (8 * max(width, 1))), width))
        self.slots = np.full(self.n, -1, dtype=np.int64)
        self.owners = np.full(len(self.table), -1, dtype=np.int64)
        self.used = np.zeros(len(self.table), dtype=np.int64)
        self.against: KernelAgainst | None = None
        if not isinstance(self.kernel, Precomputed):
            self.against = KernelAgainst(self.kernel, self.X if columns is None else self.X[columns])

    def _compute(self, missing: Ints) -> None:
        slots = self._make_room(len(missing))
        step = _rows_at_once(self.table.shape[1])
        groups = range(0, len(missing), step)
        for first, values in zip(
            groups, map_groups(lambda at: self._values(missing[at : at + step]), groups), strict=True
        ):
            self.table[slots[first : first + step]] = values
        self.owners[slots], self.slots[missing], self.used[slots] = missing, slots, self.clock
        self.computed += len(missing)

    def _make_room(self, count: int) -> Ints:
        """Return free slots, those of the rows used longest ago where there are too few."""
        slots = np.argsort(np.where(self.owners < 0, -1, self.used), kind="stable")[:count]
        owned = self.owners[slots]
        gone = owned[owned >= 0]
        self.slots[gone] = -1
        self.full = self.full or len(gone) > 0
        return slots

    def _values(self, rows: Ints) -> Floats:
        some = self.X[rows]
        if self.against is None:
            values = _dense(some if self.columns is None else some[:, self.columns])
        else:
            values = self.against(some)
        return values + self.constant if self.constant else values


def by_rows(X: Any) -> Any:
    """Return a matrix whose rows can be taken: arrays as they are, sparse ones by rows."""
    if isinstance(X, np.ndarray):
        return X
    return X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)


def select_rows(kernel: Kernel, X: Any, rows: Ints) -> Any:
    """Return some rows of a matrix that `by_rows` gave; of a precomputed kernel, these rows and columns."""
    return X[rows][:, rows] if isinstance(kernel, Precomputed) else X[rows]


def _rows_at_once(width: int) -> int:
    return max(1, min(ROWS_AT_ONCE, NUMBERS_AT_ONCE // max(width, 1)))


def _floats(A: Any) -> Any:
    return A.astype(np.float64, copy=False)


def _dense(A: Any) -> Floats:
    return np.asarray(A if isinstance(A, np.ndarray) else A.toarray(), dtype=np.float64)


def _squared_lengths(A: Any) -> Floats:
    if isinstance(A, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", A, A))
    return np.asarray(A.multiply(A).sum(axis=1)).ravel()
