"""The three parts of which the page is made, besides Bokeh's figures: forms, words, and the bridge to the browser."""

from separatrix.lab.page.parts.bridge import Bridge
from separatrix.lab.page.parts.form import Field, Form
from separatrix.lab.page.parts.words import Words

__all__ = ["Bridge", "Field", "Form", "Words"]
