"""Separability in the space of a kernel: the widest margin there, from the kernel matrix alone.

K = Q Λ Qᵗ gives rows Q Λ^½ of finitely many columns with the same inner products; their widest margin is the kernel's,
and its multipliers are coefficients on the rows. With an intercept the rows are centred first, which changes nothing
but keeps it apart from the columns. Where the rows overlap, the multipliers of the proof bound the margin.

Cost: the matrix, n² numbers, and its eigenvectors, n³ operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.margin import KernelCertificate, MarginCertificate
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.build import make_design
from separatrix.design.kernels import make_kernel
from separatrix.design.row_source import array_of
from separatrix.errors import DataError, OverlapError
from separatrix.fit.kernel_rows import refuse_asymmetric
from separatrix.fit.labels import binary_signs
from separatrix.fit.max_margin import MarginOptions, fit_max_margin

MOST_ROWS = 4000  # beyond which the matrix and its eigenvectors are not worth waiting for
NO_RANK = 1e-13  # of the largest eigenvalue: below, it is rounding
NO_LENGTH = 1e-7  # of the largest singular value: below, a column of the centred rows is rounding
INDEFINITE = 1e-8  # of the largest eigenvalue: a negative one beyond is no rounding
SAME_POINT = 1e-14  # of their squared lengths: a squared distance below is rounding
KERNEL_MARGIN = MarginOptions(tol=1e-6, max_passes=1000)


def check_kernel(X: Any, y: Any, kernel: Any, fit_intercept: bool = True) -> KernelCertificate:
    """Return whether two classes can be separated in the space of a kernel, with the widest margin there."""
    signs, labels = binary_signs(y)
    X = array_of(X)
    rows: Any = X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
    make_design(rows, intercept=False)
    if rows.shape[0] != len(signs):
        raise DataError(f"X has {rows.shape[0]} rows and y {len(signs)} labels; give one label a row")
    if len(signs) > MOST_ROWS:
        raise DataError(
            f"{len(signs):,} rows have a kernel matrix of {len(signs):,} columns, and {MOST_ROWS:,} are the most; take"
            " fewer rows, or map=sx.maps.Nystroem(...)"
        )
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite shows in the matrix
        settled = make_kernel(kernel).settled(rows)
        matrix = settled(rows, rows)
    features = _features(matrix, fit_intercept)
    refuse_asymmetric(matrix, settled.name)
    multipliers = _equal_rows(matrix, signs)
    if multipliers is None:
        multipliers = _multipliers(features, signs, labels, fit_intercept)
    coef = multipliers * signs
    return KernelCertificate.of(
        settled,
        rows,
        y,
        labels,
        coef=coef,
        intercept=_middle(matrix @ coef, signs) if fit_intercept else 0.0,
        multipliers=multipliers,
        fit_intercept=fit_intercept,
    )


def _equal_rows(matrix: Floats, signs: Floats) -> Floats | None:
    """Return 1 on two rows of different classes that are one point of the space, 0 elsewhere; None without such."""
    positive, negative = np.flatnonzero(signs > 0.0), np.flatnonzero(signs < 0.0)
    lengths = np.diagonal(matrix)
    both = lengths[positive, None] + lengths[negative]
    equal = both - 2.0 * matrix[np.ix_(positive, negative)] <= SAME_POINT * both
    if not equal.any():
        return None
    row, column = np.unravel_index(int(equal.argmax()), equal.shape)
    multipliers = np.zeros(len(signs))
    multipliers[[positive[row], negative[column]]] = 1.0
    return multipliers


def _multipliers(features: Floats, signs: Floats, labels: tuple[Any, Any], intercept: bool) -> Floats:
    """Return multipliers (n,) of the widest margin or, where rows overlap, of the proof; all 1 without one."""
    multipliers = np.zeros(len(signs))
    try:
        proved = fit_max_margin(
            make_design(features, intercept=intercept), signs, KERNEL_MARGIN, labels=labels
        ).certificate
    except OverlapError as overlap:
        found = overlap.certificate
        if not isinstance(found, SeparabilityCertificate) or found.proof is None:
            return np.ones(len(signs))
        multipliers[list(found.proof.places)] = [float(value) for value in found.proof.multipliers]
        return np.asarray(multipliers / multipliers.max())
    assert isinstance(proved, MarginCertificate)
    multipliers[proved.rows] = proved.multipliers
    return multipliers


def _middle(scores: Floats, signs: Floats) -> float:
    """Return the intercept that brings 0 midway between the nearest scores of the classes."""
    return -0.5 * float(scores[signs > 0.0].min() + scores[signs < 0.0].max())


def _features(matrix: Floats, centred: bool) -> Floats:
    """Return rows with these inner products, centred or not; a matrix of none in any space raises a DataError."""
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0].tolist()
        raise DataError(f"the kernel of rows {row} and {column} is {matrix[row, column]}; drop or rescale such rows")
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    if values[0] < -INDEFINITE * max(values[-1], 0.0) or values[-1] <= 0.0:
        raise DataError(
            f"the kernel matrix has eigenvalues from {values[0]:.3g} to {values[-1]:.3g}, so it is none of inner"
            " products in any space; take another kernel, or other parameters"
        )
    kept = values > NO_RANK * values[-1]
    features = np.asarray(vectors[:, kept] * np.sqrt(values[kept]))
    if not centred:
        return features
    left, sizes, _ = np.linalg.svd(features - features.mean(axis=0), full_matrices=False)
    return np.asarray((left * sizes)[:, sizes > NO_LENGTH * max(float(sizes[0]), np.sqrt(values[-1]))])
