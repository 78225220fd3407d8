"""Names from the data as words in a picture: no dollar begins a formula, no name is hidden or fills the page."""

from __future__ import annotations

LONGEST = 40  # letters of a name


def plain(text: object) -> str:
    """Return a text that matplotlib draws as it is, dollars and all."""
    return str(text).replace("$", r"\$")


def short(name: object) -> str:
    """Return a name on one line, cut if it is long; one that begins with _ would be left out of a legend.

    >>> short("cost in $"), short("_id"), len(short("x" * 99))
    ('cost in \\\\$', ' _id', 40)
    """
    words = " ".join(str(name).split())
    words = words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"
    return plain(f" {words}" if words.startswith("_") else words)
