"""The data that a page carries: a table as csv text, which the page reads as it reads a file dropped on it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from separatrix.errors import DataError, OptionError, counted
from separatrix.tables.formats import is_missing_word
from separatrix.tables.open import read_table

MOST_ROWS = 50_000
CLASSES = (2, 3)


def from_arrays(X: Any, y: Any) -> dict[str, Any]:
    """Return the data of rows and labels."""
    try:
        values = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        values = values.astype(np.float64, casting="same_kind" if np.iscomplexobj(values) else "unsafe")
    except (TypeError, ValueError) as problem:
        raise DataError(f"X has entries that are not numbers ({problem}); give a table and its target") from None
    values, labels = values.reshape(-1, 1) if values.ndim == 1 else values, np.asarray(y)
    if values.ndim != 2 or labels.shape != (len(values),):
        raise DataError(f"X has shape {values.shape} and y {labels.shape}; give one label for each row")
    names = [str(name) for name in getattr(X, "columns", [f"x{j + 1}" for j in range(values.shape[1])])]
    target = "class" if "class" not in names else "class of the row"
    return _data("your data", list(zip(names, values.T, strict=True)), labels.tolist(), target)


def from_table(table: Any, target: str | None) -> dict[str, Any]:
    """Return the data of a table: a file's name, demo:NAME, or a table that has been read."""
    is_read = hasattr(table, "columns") and hasattr(table, "source")
    read = table if is_read else read_table(table)
    name = read.target if target is None else target
    if name is None:
        raise OptionError(f"the column of the classes is not given; choose the target among {_list(read.names)}")
    wanted, left_out = read.column(name), {name, read.row_names}
    labels = wanted.words() if wanted.kind in {"category", "boolean", "text", "id"} else wanted.values
    numeric = (c for c in read.columns if c.kind in {"number", "boolean"} and c.name not in left_out)
    return _data(str(read.source), [(column.name, column.values) for column in numeric], list(labels), name)


def _data(source: str, numbers: Sequence[tuple[str, Any]], labels: Sequence[Any], target: str) -> dict[str, Any]:
    """Return the csv of some columns and the target, with its name; raise an error for data that cannot be shown."""
    if len(labels) > MOST_ROWS:
        raise DataError(
            f"{source} has {len(labels):,} rows, and the lab shows at most {MOST_ROWS:,}: fit them with"
            " `separatrix fit TABLE --target COLUMN`, or show a sample"
        )
    names = [name for name, _ in numbers]
    if not names:
        raise DataError(f"{source} has no numeric column beside {target!r}; the lab shows two")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{source} has two columns called {twice!r}; give the columns different names")
    classes = [_label(label) for label in labels]
    _require_classes(source, target, numbers, classes)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*names, target])
    cells = [["" if not np.isfinite(value) else repr(float(value)) for value in column] for _, column in numbers]
    writer.writerows(zip(*cells, classes, strict=True))
    return {"source": source, "csv": text.getvalue(), "target": target}


def _require_classes(source: str, target: str, numbers: Sequence[tuple[str, Any]], classes: Sequence[str]) -> None:
    """Raise an error for classes that cannot be shown: not two or three, read as missing, or without a complete row."""
    known = sorted(set(classes) - {""})
    if len(known) not in CLASSES:
        raise DataError(
            f"{target!r} has {counted(len(known), 'class')} ({_list(known)}); the lab shows two or three;"
            " choose another target"
        )
    for label in known:
        if is_missing_word(label):
            raise DataError(f"the class {label!r} of {target!r} would be read as missing; give it another name")
    finite = np.isfinite(np.array([column for _, column in numbers], dtype=np.float64))
    complete = {label for label, row in zip(classes, (finite.sum(axis=0) >= min(2, len(numbers))), strict=True) if row}
    if len(complete - {""}) < min(CLASSES):
        raise DataError(f"{source} has rows with numbers in fewer than two classes; fill or drop the missing values")


def _label(label: Any) -> str:
    """Return a label as a cell: whole numbers without a point, nothing for a missing one."""
    if label is None or label != label or str(label) == "<NA>":  # noqa: PLR0124  # NaN
        return ""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _list(names: Iterable[Any]) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown[:8]) + (", …" if len(shown) > 8 else "")
