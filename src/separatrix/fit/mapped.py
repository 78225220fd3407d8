"""Separability after a feature map: the map is settled on the rows, and they are judged through it.

Rows are mapped as they are read (`design.mapped`), so the mapped matrix is not stored. Of two classes that can be
separated the widest margin follows, in a bounded number of passes. Cost: that of `check_separability` on the mapped
rows, and of the margin.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from separatrix.certificates.base import Certificate
from separatrix.certificates.margin import KernelCertificate, MarginCertificate
from separatrix.certificates.separability import (
    MappedCertificate,
    SeparabilityCertificate,
    kept_rows,
    mapped_rows,
    refuse_infinite,
)
from separatrix.design.build import column_names, make_design
from separatrix.design.maps import FeatureMap
from separatrix.errors import OptionError, OverlapError
from separatrix.fit.kernel_space import check_kernel
from separatrix.fit.max_margin import MarginOptions, fit_max_margin
from separatrix.fit.separability import Multiclass, check_separability

ROUNDED = 1e-9  # relative: by what a margin is given away where mapping again may change the last digits
MAP_MARGIN = MarginOptions(tol=1e-6, max_passes=200)


@runtime_checkable
class _Settles(Protocol):
    """A map that takes its centre, landmarks or the like from the rows."""

    def feature_map(self, X: Any, y: Any) -> FeatureMap:
        """Return the map settled on some rows."""


def settle_map(map: Any, X: Any, y: Any) -> FeatureMap:
    """Return a map with all it needs known, taken from the rows where it was left open."""
    if isinstance(map, FeatureMap):
        return map
    if isinstance(map, type) or not isinstance(map, _Settles):
        raise OptionError(
            f"map={map!r:.60} is none of sx.maps, made with its options, which a certificate could write down; for a"
            " map of your own give the mapped rows in place of X"
        )
    refuse_infinite(make_design(X, intercept=False))
    return map.feature_map(X, y)


def check_elsewhere(
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
    found = judge_mapped(X, y, settle_map(map, X, y), fit_intercept, sample_weight, multiclass)
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
    if not kept_rows(sample_weight, len(labels)).all():
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
