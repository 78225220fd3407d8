"""What was asked and of what data, in words that text and pages share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from separatrix.arrays import Bools
from separatrix.errors import counted
from separatrix.model.train import Trained

CLASSES_SHOWN = 10
KINDS = {
    "number": "number",
    "boolean": "truth value",
    "category": "category",
    "date": "date",
    "text": "text",
    "presence": "mark of what is missing",
}


def question(trained: Trained, name: Callable[[object], str] = str) -> str:
    """Return the question that the model answers; `name` makes words of names from the data."""
    model = trained.model
    target = name(model.target)
    if model.classes is None:
        return f"what number is {target}?"
    if len(model.classes) == 2:
        negative, positive = map(name, model.classes)
        return f"is {target} {positive} (+1) or {negative} (−1)?"
    return f"which of {len(model.classes)} classes is {target}?"


def classes(trained: Trained, name: Callable[[object], str] = str) -> str:
    """Return the classes with their rows, or the range of the numbers; `name` makes words of names from the data."""
    target, used = name(trained.model.target), _used(trained)
    if trained.goal.classes is None:
        y = np.asarray(trained.goal.y, dtype=np.float64)[used]
        return f"; {target} from {y.min():.6g} to {y.max():.6g}, mean {y.mean():.6g}"
    counts = np.bincount(trained.goal.classes.codes[used], minlength=len(trained.goal.classes.values)).tolist()
    shown = [f"{name(label)} in {count:,}" for label, count in zip(trained.goal.classes.plain, counts, strict=True)]
    more = len(shown) - CLASSES_SHOWN
    listed = ", ".join(shown[:CLASSES_SHOWN]) + (f", … and {more:,} more" if more > 0 else "")
    return f"; {target} = {listed}"


def _used(trained: Trained) -> slice | Bools:
    """Return which rows with a target were used: all but those left out for a missing cell."""
    kept = trained.predictions.kept
    return slice(None) if kept is None else kept


def columns(trained: Trained) -> str:
    """Return how many columns are used, and of which kinds."""
    return f"{len(trained.model.encoding.columns):,} used: {kinds(trained)}"


def kinds(trained: Trained) -> str:
    """Return how many columns of each kind are used, and how many features they make."""
    encoding = trained.model.encoding
    found = Counter(KINDS.get(column.kind, column.kind) for column in encoding.columns)
    listed = ", ".join(_kind(kind, count) for kind, count in found.items())
    features = len(encoding.feature_names)
    return listed + ("" if features == len(encoding.columns) else f", as {counted(features, 'feature')}")


def _kind(kind: str, count: int) -> str:
    if kind.endswith("y") and count > 1:
        return f"{count:,} {kind[:-1]}ies"
    return counted(count, kind)
