"""The notes' geometry and theorems."""

from separatrix.theory.halfspace import Halfspace, augment, reflect

__all__ = ["Halfspace", "augment", "reflect"]
