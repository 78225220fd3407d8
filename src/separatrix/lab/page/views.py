"""The views of a pane, by name: what the page can show of a learner, and what it shows at first."""

from __future__ import annotations

__all__ = ["FIRST_VIEWS", "VIEWS", "views_of"]

VIEWS = {
    "input": "Input space",
    "weights": "Weight space",
    "mistakes": "Mistakes and bound",
    "losses": "Losses",
    "lifted": "Lifted",
    "table": "Updates",
    "explain": "This step",
    "code": "Code",
}
FIRST_VIEWS = ("input", "weights", "mistakes", "explain")


def views_of(words: str) -> tuple[str, ...]:
    """Return the views that a list in a permalink names; of none that is known, the first ones."""
    named = tuple(name for name in VIEWS if name in words.split("."))
    return named or FIRST_VIEWS
