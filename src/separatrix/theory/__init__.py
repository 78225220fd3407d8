"""The notes' geometry and theorems."""

from separatrix.theory.cover import capacity, separability_probability, separable_dichotomies
from separatrix.theory.halfspace import Halfspace, augment, reflect
from separatrix.theory.vc import sample_size, vc_dimension

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
