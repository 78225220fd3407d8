"""Tables of inference as text and as HTML, made of their records alone."""

from separatrix.inference.rendering.html import render_html
from separatrix.inference.rendering.sheet import Grid, Sheet, number, p_phrase, p_text
from separatrix.inference.rendering.text import render_text

__all__ = ["Grid", "Sheet", "number", "p_phrase", "p_text", "render_html", "render_text"]
