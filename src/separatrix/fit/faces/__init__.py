"""The search for the face of a cone of rays: the vector that separates all that can be separated, and its proof."""
