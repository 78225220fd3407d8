"""Geometry and theorems of halfspaces."""

from separatrix.theory.halfspace import (
    Halfspace,
    augment,
    capacity,
    reflect,
    sample_size,
    separability_probability,
    separable_dichotomies,
    vc_dimension,
)

__all__ = [
    "Halfspace",
    "augment",
    "capacity",
    "reflect",
    "sample_size",
    "separability_probability",
    "separable_dichotomies",
    "vc_dimension",
]
