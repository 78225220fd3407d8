"""A kernel settled on training rows, and refused where it is none: not square, not symmetric, no inner product.

Separability in the space of a kernel: the widest margin there, from the kernel matrix alone.

K = Q Λ Qᵗ gives rows Q Λ^½ of finitely many columns with the same inner products; their widest margin is the kernel's,
and its multipliers are coefficients on the rows. With an intercept the rows are centred first, which changes nothing
but keeps it apart from the columns. Where the rows overlap, the multipliers of the proof bound the margin.

Cost: the matrix, n² numbers, and its eigenvectors, n³ operations.

Separability after a feature map: the map is settled on the rows, and they are judged through it.

Rows are mapped as they are read (`design.mapped`), so the mapped matrix is not stored. Of two classes that can be
separated the widest margin follows, in a bounded number of passes. Cost: that of `check_separability` on the mapped
rows, and of the margin.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate
from separatrix.certificates.data import NEGATIVE, most_negative
from separatrix.certificates.margin import KernelCertificate, MarginCertificate
from separatrix.certificates.separability import (
    MappedCertificate,
    SeparabilityCertificate,
    mapped_rows,
    require_finite,
    weighted_rows,
)
from separatrix.design.build import column_names, make_design, row_radius
from separatrix.design.kernel_matrix import by_rows
from separatrix.design.kernels import CustomKernel, Kernel, Precomputed, make_kernel
from separatrix.design.maps import FeatureMap
from separatrix.design.row_source import array_of
from separatrix.errors import DataError, OptionError, OverlapError
from separatrix.fit.labels import binary_signs
from separatrix.separability.check import Multiclass, check_separability
from separatrix.separability.margin import MarginOptions, fit_max_margin

MOST_COMPARED = 1000  # rows of which a kernel function's matrix is looked at
SYMMETRIC = 1e-6  # relative to the largest entry


def with_scale(kernel: Kernel, X: Any) -> Kernel:
    """Return the kernel with every parameter known; data that are not finite, or no kernel, raise a DataError."""
    row_radius(make_design(X, intercept=False))
    if isinstance(kernel, Precomputed):
        _refuse_oblong(X)
        refuse_asymmetric(X, kernel.name)
    settled = kernel.settled(X)
    if isinstance(settled, CustomKernel):
        some = X[:MOST_COMPARED]
        refuse_asymmetric(settled(some, some), settled.name)
    if not settled.is_inner_product or isinstance(kernel, Precomputed):
        least, rows = most_negative(settled, by_rows(X))
        if least < -NEGATIVE[4 if X.dtype == np.float32 else 8]:
            raise DataError(
                f"the {kernel.name} kernel is no inner product on these rows: the least eigenvalue of its matrix is"
                f" {least:.3g} of the largest, on {rows:,} rows; choose other parameters or another kernel"
            )
    return settled


def _refuse_oblong(X: Any) -> None:
    if X.shape[0] != X.shape[1]:
        raise DataError(
            f"the precomputed kernel has shape {X.shape}, but must be a square matrix: a row and a column for each row"
            " of the data"
        )


def refuse_asymmetric(matrix: Any, name: str) -> None:
    """Raise a DataError that names two rows if the kernel of one and the other depends on their order."""
    off = abs(matrix - matrix.T)
    if off.max() > SYMMETRIC * abs(matrix).max():
        row, column = np.unravel_index(int(off.argmax()), matrix.shape)
        raise DataError(
            f"the {name} kernel is not symmetric: {matrix[row, column]:.10g} for rows {row} and {column},"
            f" {matrix[column, row]:.10g} the other way round"
        )


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


ROUNDED = 1e-9  # relative: by what a margin is given away where mapping again may change the last digits
MAP_MARGIN = MarginOptions(tol=1e-6, max_passes=200)


@runtime_checkable
class _Settles(Protocol):
    """A map that takes its centre, landmarks or the like from the rows."""

    def feature_map(self, X: Any, y: Any) -> FeatureMap:
        """Return the map settled on some rows."""


def fit_map(map: Any, X: Any, y: Any) -> FeatureMap:
    """Return a map with all it needs known, taken from the rows where it was left open."""
    if isinstance(map, FeatureMap):
        return map
    if isinstance(map, type) or not isinstance(map, _Settles):
        raise OptionError(
            f"map={map!r:.60} is none of sx.maps, made with its options, which a certificate could write down; for a"
            " map of your own give the mapped rows in place of X"
        )
    require_finite(make_design(X, intercept=False))
    return map.feature_map(X, y)


def check_in_space(
    X: Any, y: Any, map: Any, kernel: Any, fit_intercept: bool, sample_weight: Any, multiclass: Multiclass
) -> MappedCertificate | KernelCertificate:
    """Return whether labelled rows can be separated after a map, or in the space of a kernel."""
    if kernel is None:
        return check_mapped(X, y, map, fit_intercept, sample_weight, multiclass)
    if map is not None or sample_weight is not None or multiclass != "softmax":
        raise OptionError("kernel= goes with neither map=, sample_weight= nor multiclass=; give it by itself")
    return check_kernel(X, y, kernel, fit_intercept)


def check_mapped(
    X: Any, y: Any, map: Any, fit_intercept: bool, sample_weight: Any, multiclass: Multiclass
) -> MappedCertificate:
    """Return whether labelled rows can be separated after a map; of two classes that can, with the widest margin."""
    found = judge_mapped(X, y, fit_map(map, X, y), fit_intercept, sample_weight, multiclass)
    widest = _widest_margin(X, y, found, fit_intercept, sample_weight)
    return MappedCertificate(found.map, found.columns, found.separability, widest)


def judge_mapped(
    X: Any,
    y: Any,
    feature_map: FeatureMap,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    multiclass: Multiclass = "softmax",
) -> MappedCertificate:
    """Return the verdict on the rows after a settled map, without the margin."""
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    rows = mapped_rows(X, feature_map)
    found: Certificate = check_separability(
        rows, y, fit_intercept=fit_intercept, sample_weight=sample_weight, multiclass=multiclass
    )
    if isinstance(found, SeparabilityCertificate) and not feature_map.exact:
        found = replace(found, divergence=None)  # it rests on equalities that other last digits would break
    return MappedCertificate(feature_map, column_names(feature_map.inputs, names), found)


def _widest_margin(
    X: Any, y: Any, found: MappedCertificate, fit_intercept: bool, sample_weight: Any
) -> MarginCertificate | None:
    """Return the widest margin of two classes; None where there is none, or floats show none."""
    proved, labels = found.separability, np.asarray(y)
    if not isinstance(proved, SeparabilityCertificate) or proved.verdict != "separable" or len(proved.classes) != 2:
        return None
    if not weighted_rows(sample_weight, len(labels)).all():
        return None
    negative, positive = proved.classes
    signs = np.where(labels == positive, 1.0, -1.0)
    design = make_design(mapped_rows(X, found.map), intercept=fit_intercept)
    try:
        result = fit_max_margin(design, signs, MAP_MARGIN, labels=(negative, positive))
    except OverlapError:
        return None
    found_margin = result.certificate
    assert isinstance(found_margin, MarginCertificate)
    if found.map.exact:
        return found_margin
    return replace(found_margin, lower=found_margin.lower * (1.0 - ROUNDED), upper=found_margin.upper * (1.0 + ROUNDED))
