"""The scripts and styles that come with the package, as text: the page asks for no file of another machine."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["source"]


@cache
def source(name: str) -> str:
    """Return the text of a file beside the page's modules: `parts/form.js`, `look.css`."""
    return files("separatrix.lab.page").joinpath(name).read_text(encoding="utf-8")
