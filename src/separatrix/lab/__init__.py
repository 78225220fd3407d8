"""The lab: one self-contained HTML file in which linear predictors are trained interactively, with proofs.

The file needs no server and makes no network request; it opens from disk, from a web site, or inside a notebook.
"""

from __future__ import annotations

import html
import os
import tempfile
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from separatrix.errors import OptionError
from separatrix.files import write_atomically
from separatrix.lab.assemble import document
from separatrix.lab.rows import from_arrays, from_table

__all__ = ["LabPage", "page"]

HEIGHT = 900  # pixels of the frame in a notebook


@dataclass(frozen=True)
class LabPage:
    """The page of the lab: `html` is its full text."""

    html: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the file atomically, and return its path."""
        write_atomically(os.fspath(path), self.html)
        return Path(path)

    def open(self) -> Path:
        """Write the file to a temporary folder, open it in the browser, and return its path."""
        path = self.save(Path(tempfile.mkdtemp(prefix="separatrix-lab-")) / "lab.html")
        webbrowser.open(path.as_uri())
        return path

    def _repr_html_(self) -> str:
        inside = html.escape(self.html, quote=True)
        style = f"width:100%;height:{HEIGHT}px;border:0;border-radius:12px"
        return f'<iframe title="separatrix lab" srcdoc="{inside}" style="{style}"></iframe>'

    def __repr__(self) -> str:
        return f"<the lab's page, {len(self.html) / 1024:.0f} kB; .open() shows it, .save(path) writes it>"


def page(X: Any = None, y: Any = None, *, table: Any = None, target: str | None = None) -> LabPage:
    """Return the lab as a page, empty or with your data.

    Parameters
    ----------
    X : array or frame (n, p) of numbers, at most 50,000 rows; of more than two columns the page shows the two that
        separate the classes best, and offers the others
    y : labels of two or three classes, (n,)
    table : a table in place of X and y: a file or demo:NAME, or what `sx.read_table` returned; needs `target` unless
        the table declares its own
    target : the column of `table` that holds the classes

    Examples
    --------
    >>> import separatrix as sx
    >>> lab = sx.lab.page([[1, 4], [1, -2], [-1, -3], [-1, 2]], ["a", "a", "b", "b"])
    >>> "<title>separatrix lab</title>" in lab.html
    True
    """
    if table is not None:
        if X is not None or y is not None:
            raise OptionError("X or y and table are both given; give rows and labels, or a table")
        return LabPage(document(from_table(table, target)))
    if target is not None:
        raise OptionError(f"target={target!r} names a column, but no table is given; give the table too")
    if (X is None) != (y is None):
        raise OptionError(f"{'y' if X is None else 'X'} is given alone; give X and y, or neither")
    return LabPage(document(None if X is None else from_arrays(X, y)))
