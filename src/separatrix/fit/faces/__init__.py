"""The search for the face of a cone of rays: the vector that separates all that can be separated, and its proof."""

from separatrix.fit.faces.divergence import find_divergence
from separatrix.fit.faces.search import Face, find_face

__all__ = ["Face", "find_divergence", "find_face"]
