"""The space of a kernel: scores and norms of combinations of rows, with bounds on their rounding errors.

The floats of a kernel differ from k(a, b) by at most ε (k(a, a) k(b, b))^½, with u = 2⁻⁵³ and γₖ = ku / (1 − ku):

    linear        γ of p + 2
    polynomial    γ of q (p + 4) + 32, by repeated products (degree q)
    rbf           (736 (p + 4) + 32) u: the exponent t errs by 2000 (p + 4) u t at most, and t exp(−t) < 0.368
    sigmoid       tanh is computed here: the matrix of its floats is the data
    precomputed   the matrix is the data

A combination Σ aⱼ k(xⱼ, ·) of m rows has scores that err by (ε + γ of m + 2) kᵢᵢ^½ Σ|aⱼ| kⱼⱼ^½ in row i. A matrix that
is the data must be an inner product: a Cholesky factorisation of K + δI that ends proves that K + δ′I is positive
semidefinite, δ′ = δ + γ / (1 − γ) trace, γ of n + 1; statements are then about K + δ′I, δ′ at most 1e-8 of the largest
entry on the diagonal, and say so. Cost: n³/3 for such a matrix, and the kernel of every row with each row of a
combination.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats, Ints
from separatrix.certificates.data import MatchedRows, require_work
from separatrix.certificates.enclosures import LARGEST_SHIFT, OUTWARD, TINY, UNIT, gamma
from separatrix.design.base import map_groups
from separatrix.design.build import as_array
from separatrix.design.kernel_matrix import by_rows
from separatrix.design.kernels import RBF, Kernel, Linear, PolynomialKernel, Precomputed
from separatrix.errors import DataError

MAX_MATRIX = 4000  # rows of a matrix that is shown to be positive semidefinite
MAX_PRODUCTS = 1e12  # rows times support rows times columns
MAX_DEGREE = 1000
NUMBERS_AT_ONCE = 2**21


def kernel_words(kernel: Kernel) -> str:
    """Return the kernel that statements are about, in words."""
    if isinstance(kernel, Linear | PolynomialKernel | RBF):
        return f"the {kernel.name} kernel"
    return f"the {kernel.name} kernel (its diagonal raised by up to {LARGEST_SHIFT:g})"


@dataclass(frozen=True, eq=False)
class KernelSpace:
    """Rows in the space of a kernel, to which a constant is added: 1 for a run with an intercept.

    Errors are multiplied by `slack`. A fit states bounds with twice the errors, which machines that round differently
    prove too.
    """

    kernel: Kernel
    X: Any
    constant: float = 0.0
    slack: float = 1.0

    @classmethod
    def of(cls, rows: MatchedRows, constant: float = 0.0, slack: float = 1.0) -> KernelSpace:
        """Return the space of matched rows, which must be finite and not too many for their kernel."""
        kernel = rows.data.kernel
        assert kernel is not None
        X = by_rows(as_array(rows.X))
        if isinstance(kernel, Precomputed) and X.shape[0] != X.shape[1]:
            raise DataError(f"a kernel matrix of {X.shape[0]} rows has shape {X.shape}")
        if not isinstance(kernel, Precomputed):
            _ = rows.design  # raises an error that names an entry that is not finite
        return cls(kernel, X if X.dtype == np.float64 else X.astype(np.float64), constant, slack)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    @property
    def is_data(self) -> bool:
        """Whether the matrix of the kernel's floats is what statements are about."""
        return not isinstance(self.kernel, Linear | PolynomialKernel | RBF)

    @cached_property
    def error(self) -> float:
        """The error ε of entries, relative to the lengths of the two rows."""
        p = int(self.X.shape[1])
        if self.is_data:
            return 4 * UNIT
        if isinstance(self.kernel, RBF):
            return (736 * (p + 4) + 36) * UNIT
        degree = self.kernel.degree if isinstance(self.kernel, PolynomialKernel) else 1
        require_work("the degree of the kernel", degree, MAX_DEGREE)
        return gamma(degree * (p + 4) + 36)

    @cached_property
    def shift(self) -> float:
        """The number δ′ that is added to the diagonal of a matrix that is the data; 0 for the other kernels."""
        if not self.is_data:
            return 0.0
        require_work("rows of a kernel matrix that must be an inner product", self.n, MAX_MATRIX)
        matrix = self.values(np.arange(self.n))
        if not (np.isfinite(matrix).all() and (matrix == matrix.T).all()):
            raise DataError("the kernel matrix has entries that are not finite, or is not symmetric")
        trace, rounding = float(np.abs(np.diag(matrix)).sum()), gamma(self.n + 1)
        if not matrix.any():
            return 0.0
        delta = rounding * trace + TINY
        largest = LARGEST_SHIFT * float(np.abs(np.diag(matrix)).max())
        while delta <= largest:
            shifted = matrix + delta * np.eye(self.n)
            if scipy.linalg.lapack.dpotrf(shifted, lower=1)[1] == 0:
                least = delta + rounding / (1.0 - rounding) * float(np.trace(shifted)) + 2.0 * UNIT * trace
                delta = least * OUTWARD
                break
            delta *= 4.0
        if delta <= largest:
            return delta
        raise DataError("the kernel matrix is not an inner product: it has eigenvalues below 0")

    @cached_property
    def diagonal(self) -> Floats:
        """The kernel of each row with itself, in floats."""
        return np.asarray(self.kernel.diagonal(self.X) + self.constant + self.shift)

    @cached_property
    def lengths(self) -> Floats:
        """An upper bound on the length of each row."""
        return np.asarray(np.sqrt(np.maximum(self.diagonal, 0.0) + TINY) * (1.0 + self.error) * OUTWARD)

    @property
    def radius(self) -> float:
        """An upper bound on the length of the longest row."""
        return float(self.lengths.max())

    def columns(self, rows: Ints) -> Floats:
        """Return the kernel of every row with some rows, (n, k)."""
        values = self.values(rows) + self.constant
        values[rows, np.arange(len(rows))] += self.shift
        return values

    def among(self, rows: Ints) -> Floats:
        """Return the kernel of some rows with each other."""
        if self.is_data:
            return self.columns(rows)[rows]
        return replace(self, X=self.X[rows]).columns(np.arange(len(rows)))

    def scores(self, rows: Ints, coef: Floats) -> tuple[Floats, Floats]:
        """Return Σ aⱼ k(xᵢ, xⱼ) of every row i for coefficients of some rows j, and bounds on the rounding errors."""
        require_work("kernel products", float(self.n) * len(rows) * self.X.shape[1], MAX_PRODUCTS)
        step = max(1, NUMBERS_AT_ONCE // max(1, self.n))
        starts = range(0, len(rows), step)
        relative = self.slack * (self.error + gamma(len(rows) + 2 + len(starts)))
        parts = map_groups(lambda i: self.columns(rows[i : i + step]) @ coef[i : i + step], starts)
        values = np.sum([np.zeros(self.n), *parts], axis=0)
        size = float(np.abs(coef) @ self.lengths[rows])
        return values, np.asarray(relative * OUTWARD * size * self.lengths + TINY)

    def squared_norm(self, rows: Ints, coef: Floats) -> tuple[float, float]:
        """Return a lower and an upper bound on ‖Σ aⱼ φ(xⱼ)‖²."""
        values, errors = self.scores(rows, coef)
        square = float(coef @ values[rows])
        rounding = self.slack * gamma(len(rows) + 2) * np.abs(values[rows])
        error = float(np.abs(coef) @ (errors[rows] + rounding)) * OUTWARD + TINY
        return max(square - error, 0.0), max(square + error, 0.0)

    def values(self, rows: Ints) -> Floats:
        """Return the floats of the kernel of every row with some rows, (n, k), before constant and shift."""
        if not isinstance(self.kernel, Precomputed):
            return np.array(self.kernel(self.X, self.X[rows]))
        chosen = self.X[:, rows]
        return np.array(chosen if isinstance(chosen, np.ndarray) else chosen.toarray(), dtype=np.float64)
