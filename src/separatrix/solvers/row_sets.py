"""Working sets of rows: which to start with, which to add, so that few passes settle what only few rows decide."""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Bools, Floats, Indices


def rows_within(p: int, entries: int, least: int) -> int:
    """Return how many rows of p columns have so many entries, but at least so many rows."""
    return max(least, entries // p)


def spread_rows(y: Floats, wanted: int) -> Indices:
    """Return rows of either sign, evenly spread, about so many; all of them if there are no more."""
    if len(y) <= wanted:
        return np.arange(len(y))
    groups = [np.flatnonzero(y > 0.0), np.flatnonzero(y < 0.0)]
    return np.sort(np.concatenate([group[:: max(1, -(-2 * len(group) // wanted))] for group in groups]))


def lowest_rows(margins: Floats, group: Bools, inside: Indices, most: int) -> Indices:
    """Return the lowest rows of a group, at most so many, that lie below all of those that are in the set."""
    own = inside[group[inside]]
    ceiling = float(margins[own].min()) if len(own) else np.inf
    below = np.flatnonzero(group & (margins < ceiling))
    return below if len(below) <= most else below[np.argpartition(margins[below], most)[:most]]
