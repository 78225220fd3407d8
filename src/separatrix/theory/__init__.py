"""The notes' geometry and theorems."""

from separatrix.theory.halfspace import Halfspace, augment, reflect
from separatrix.theory.vc import sample_size, vc_dimension

__all__ = ["Halfspace", "augment", "reflect", "sample_size", "vc_dimension"]
