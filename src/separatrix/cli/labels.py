"""Labels as they are typed on a command line."""

from __future__ import annotations

from typing import Any

from separatrix.errors import DataError, OptionError, did_you_mean
from separatrix.fit import Classes

__all__ = ["place_of_label", "refuse_many_classes"]

# What a csv may have written for a truth value.
TRUE_WORDS = {"true", "t", "yes", "y", "1"}
FALSE_WORDS = {"false", "f", "no", "n", "0"}
MANY_CLASSES = 20  # from here on, a label of its own for most rows means that the target names no classes


def place_of_label(text: str, classes: Classes) -> int:
    """Return the place of the class that a text names: `1` names the number 1, `true` the truth value."""
    for place, label in enumerate(classes.plain):
        if _names(text, label):
            return place
    raise OptionError(f"--positive {text!r} is no label of the target{did_you_mean(text, map(str, classes.plain))}")


def refuse_many_classes(classes: Classes, target: str) -> None:
    """Raise a DataError for a target with so many values that it cannot be meant as classes."""
    count, rows = len(classes.values), len(classes.codes)
    if count > MANY_CLASSES and 2 * count > rows:
        raise DataError(
            f"the target {target!r} has {count:,} different values in {rows:,} rows, so it names no classes;"
            " give a column of few values with --target"
        )


def _names(text: str, label: Any) -> bool:
    if isinstance(label, bool):
        return text.lower() in (TRUE_WORDS if label else FALSE_WORDS)
    if isinstance(label, str):
        return text == label
    try:
        return bool(float(text) == label)
    except ValueError:
        return False
