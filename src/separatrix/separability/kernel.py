"""Separability in a feature space: that of a kernel, by its matrix, or that of a feature map.

A kernel matrix K = Q Λ Qᵗ gives rows Q Λ^½ of finitely many columns with the same inner products. Their widest margin
is the kernel's, and its multipliers are coefficients on the rows. With an intercept the rows are centred first, which
changes no margin. If the rows overlap, the multipliers of the proof bound the margin. Cost: n² numbers, and n³
operations for the eigenvectors; so at most some thousand rows.

A feature map is fitted to the rows and applied as they are read (`design.mapped`), so the mapped matrix is not stored.
For two separable classes the widest margin follows, in a bounded number of passes. Cost: that of `check_separability`
on the mapped rows, and of the margin.

`with_scale` fixes a kernel's data-dependent parameters on the training rows, and refuses functions that are no kernel:
not square, not symmetric, or not positive semidefinite.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats
from separatrix.certificates.base import Certificate, PartsCertificate
from separatrix.certificates.data import MatchedRows, data_of, mapped_rows, require_finite
from separatrix.certificates.margin import KernelCertificate, MarginCertificate
from separatrix.certificates.overlap import OverlapProof
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.certificates.spaces import KernelSpace
from separatrix.design.build import as_array, as_floats, make_design, row_radius
from separatrix.design.kernel_matrix import by_rows
from separatrix.design.kernels import CustomKernel, Kernel, Precomputed, make_kernel
from separatrix.design.maps import FeatureMap
from separatrix.errors import DataError, OptionError, OverlapError
from separatrix.fit.labels import binary_signs
from separatrix.separability.check import Multiclass, check_separability
from separatrix.separability.margin import MarginOptions, fit_max_margin

SAMPLE_ROWS = 1000  # rows on which the kernel matrix is shown to be positive semidefinite
NEGATIVE_EIGENVALUE = {4: 1e-5, 8: 1e-8}  # by bytes per number: rounding error of eigenvalues relative to the largest
MOST_COMPARED = 1000  # rows on which a kernel function's symmetry is checked
SYMMETRIC = 1e-6  # relative to the largest entry
MOST_ROWS = 4000  # whose matrix and eigenvectors are computed
NO_RANK = 1e-13  # relative to the largest eigenvalue: smaller ones are rounding errors
NO_LENGTH = 1e-7  # relative to the largest singular value: smaller columns of the centred rows are rounding errors
INDEFINITE = 1e-8  # relative to the largest eigenvalue: more negative ones are no rounding errors
SAME_POINT = 1e-14  # relative to the squared lengths: smaller squared distances are rounding errors
KERNEL_MARGIN = MarginOptions(tol=1e-6, max_passes=1000)
ROUNDED = 1e-9  # relative allowance in a margin where mapping again may change the last digits
MAP_MARGIN = MarginOptions(tol=1e-6, max_passes=200)


def with_scale(kernel: Kernel, X: Any) -> Kernel:
    """Return the kernel with all parameters fixed; rows that are not finite, or no kernel, raise a DataError."""
    row_radius(make_design(X, intercept=False))
    if isinstance(kernel, Precomputed):
        if X.shape[0] != X.shape[1]:
            raise DataError(f"the precomputed kernel has shape {X.shape}, but must be a square matrix of all rows")
        refuse_asymmetric(X, kernel.name)
    fixed = kernel.settled(X)
    if isinstance(fixed, CustomKernel):
        rows = X[:MOST_COMPARED]
        refuse_asymmetric(fixed(rows, rows), fixed.name)
    if not fixed.is_inner_product or isinstance(kernel, Precomputed):
        least, count = _least_eigenvalue(fixed, by_rows(X))
        if least < -NEGATIVE_EIGENVALUE[4 if X.dtype == np.float32 else 8]:
            raise DataError(
                f"the {kernel.name} kernel is no inner product on these rows: the least eigenvalue of its matrix is"
                f" {least:.3g} of the largest, on {count:,} rows; choose other parameters or another kernel"
            )
    return fixed


def _least_eigenvalue(kernel: Kernel, X: Any) -> tuple[float, int]:
    """Return the least eigenvalue of the kernel matrix over the largest, and the number of rows sampled for it."""
    rows = np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], SAMPLE_ROWS)).astype(np.int64))
    values = scipy.linalg.eigvalsh(KernelSpace(kernel, X.astype(np.float64)).values(rows)[rows])
    return float(values[0] / max(abs(values[-1]), np.finfo(np.float64).tiny)), len(rows)


def refuse_asymmetric(matrix: Any, name: str) -> None:
    """Raise a DataError that names two rows whose kernel depends on their order."""
    asymmetry = abs(matrix - matrix.T)
    if asymmetry.max() > SYMMETRIC * abs(matrix).max():
        row, column = np.unravel_index(int(asymmetry.argmax()), matrix.shape)
        raise DataError(
            f"the {name} kernel is not symmetric: {matrix[row, column]:.10g} for rows {row} and {column},"
            f" {matrix[column, row]:.10g} the other way round"
        )


def check_kernel(X: Any, y: Any, kernel: Any, fit_intercept: bool = True) -> KernelCertificate:
    """Return whether two classes can be separated in the feature space of a kernel, with the widest margin there."""
    rows: Any = as_floats(as_array(X), None)
    make_design(rows, intercept=False)
    signs, labels = binary_signs(y, rows.shape[0])
    if len(signs) > MOST_ROWS:
        raise DataError(
            f"{len(signs):,} rows have a kernel matrix of {len(signs):,} columns, and {MOST_ROWS:,} are the most; take"
            " fewer rows, or map=sx.maps.Nystroem(...)"
        )
    with np.errstate(over="ignore", invalid="ignore"):  # non-finite entries are refused below
        fixed = make_kernel(kernel).settled(rows)
        matrix = fixed(rows, rows)
    features = _features(matrix, fit_intercept)
    refuse_asymmetric(matrix, fixed.name)
    multipliers = _equal_rows(matrix, signs)
    if multipliers is None:
        multipliers = _multipliers(features, signs, labels, fit_intercept)
    coef = multipliers * signs
    scores = matrix @ coef
    intercept = -0.5 * float(scores[signs > 0.0].min() + scores[signs < 0.0].max()) if fit_intercept else 0.0
    design = make_design(rows, intercept=False)
    data = replace(data_of(design, labels, signs), intercept=fit_intercept, kernel=cast("Any", fixed))
    matched = replace(MatchedRows.of(data, design, signs), X=rows)
    return KernelCertificate.of(matched, coef=coef, intercept=intercept, multipliers=multipliers)


def _equal_rows(matrix: Floats, signs: Floats) -> Floats | None:
    """Return 1 on two rows of different classes that coincide in feature space, 0 elsewhere; None if there are none."""
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
    """Return multipliers (n,) of the widest margin or, if rows overlap, of the proof; all 1 without a proof."""
    multipliers = np.zeros(len(signs))
    try:
        design = make_design(features, intercept=intercept)
        widest = fit_max_margin(design, signs, KERNEL_MARGIN, labels=labels).certificate
    except OverlapError as error:
        overlap = error.certificate
        if not isinstance(overlap, SeparabilityCertificate) or not isinstance(overlap.proof, OverlapProof):
            return np.ones(len(signs))
        multipliers[list(overlap.proof.places)] = [float(value) for value in overlap.proof.multipliers]
        return np.asarray(multipliers / multipliers.max())
    assert isinstance(widest, MarginCertificate)
    multipliers[widest.rows] = widest.multipliers
    return multipliers


def _features(matrix: Floats, centred: bool) -> Floats:
    """Return rows with these inner products, centred or not; an indefinite matrix raises a DataError."""
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0].tolist()
        raise DataError(f"the kernel of rows {row} and {column} is {matrix[row, column]}; drop or rescale such rows")
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    if values[0] < -INDEFINITE * max(values[-1], 0.0) or values[-1] <= 0.0:
        raise DataError(
            f"the kernel matrix has eigenvalues from {values[0]:.3g} to {values[-1]:.3g}, so it is none of inner"
            " products in any space; take another kernel, or other parameters"
        )
    positive = values > NO_RANK * values[-1]
    features = np.asarray(vectors[:, positive] * np.sqrt(values[positive]))
    if not centred:
        return features
    left, sizes, _ = np.linalg.svd(features - features.mean(axis=0), full_matrices=False)
    return np.asarray((left * sizes)[:, sizes > NO_LENGTH * max(float(sizes[0]), np.sqrt(values[-1]))])


def fit_map(map: Any, X: Any, y: Any) -> FeatureMap:
    """Return a map with all parameters fixed, fitted to the rows where necessary."""
    if isinstance(map, FeatureMap):
        return map
    if isinstance(map, type) or not hasattr(map, "feature_map"):
        raise OptionError(
            f"map={map!r:.60} is none of sx.maps, made with its options, which a certificate could write down; for a"
            " map of your own give the mapped rows in place of X"
        )
    require_finite(make_design(X, intercept=False))
    fitted: FeatureMap = map.feature_map(X, y)
    return fitted


def check_in_space(
    X: Any, y: Any, map: Any, kernel: Any, fit_intercept: bool, sample_weight: Any, multiclass: Multiclass
) -> Certificate:
    """Return whether labelled rows can be separated after a map, or in the feature space of a kernel."""
    if kernel is not None:
        if map is not None or sample_weight is not None or multiclass != "softmax":
            raise OptionError("kernel= goes with neither map=, sample_weight= nor multiclass=; give it by itself")
        return check_kernel(X, y, kernel, fit_intercept)
    mapped = certify_mapped(X, y, fit_map(map, X, y), fit_intercept, sample_weight, multiclass)
    if not isinstance(mapped, SeparabilityCertificate) or sample_weight is not None:
        return mapped
    return replace(mapped, widest=_widest_margin(X, y, mapped))


def certify_mapped(
    X: Any,
    y: Any,
    feature_map: FeatureMap,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    multiclass: Multiclass = "softmax",
) -> SeparabilityCertificate | PartsCertificate:
    """Return the verdict on the rows after a fitted map, without the margin."""
    names = tuple(str(name) for name in X.columns) if hasattr(X, "columns") else None
    certificate = check_separability(
        mapped_rows(X, feature_map),
        y,
        fit_intercept=fit_intercept,
        sample_weight=sample_weight,
        multiclass=multiclass,
    )
    if isinstance(certificate, SeparabilityCertificate) and not feature_map.exact:
        certificate = replace(certificate, divergence=None)  # it rests on equalities that other last digits would break
    changed: Any = {"width": feature_map.inputs, "columns": names, "map": feature_map}
    return certificate.about(replace(certificate.data, **changed))


def _widest_margin(X: Any, y: Any, mapped: SeparabilityCertificate) -> MarginCertificate | None:
    """Return the widest margin of two classes; None if there is none, or floats show none."""
    feature_map, data = mapped.data.map, mapped.data
    assert feature_map is not None
    if mapped.verdict != "separable" or data.task != "two":
        return None
    signs = np.where(np.asarray(y) == data.labels[1], 1.0, -1.0)
    design = make_design(mapped_rows(X, feature_map), intercept=data.intercept)
    try:
        widest = fit_max_margin(design, signs, MAP_MARGIN, labels=(data.labels[0], data.labels[1])).certificate
    except OverlapError:
        return None
    assert isinstance(widest, MarginCertificate)
    allowance = 0.0 if feature_map.exact else ROUNDED
    lower, upper = widest.lower * (1.0 - allowance), widest.upper * (1.0 + allowance)
    return replace(widest, data=data, lower=lower, upper=upper)
