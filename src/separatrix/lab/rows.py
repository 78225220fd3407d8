"""The rows that a page shows: two columns of numbers and the classes, from arrays, a frame or a table.

Of more than two columns the pair is taken along which the class means lie farthest apart relative to the spread within
the classes (Mahalanobis); rows with a gap are left out and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

import separatrix as sx

MOST_ROWS = 50_000
MOST_COLUMNS = 60  # of a table, to look for the best pair among
CLASSES = (2, 3)

Floats = NDArray[np.float64]


def from_arrays(X: Any, y: Any, columns: Sequence[str] | None) -> dict[str, Any]:
    """Return the page's data of rows and labels."""
    names = [str(name) for name in getattr(X, "columns", ())]
    try:
        values = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise sx.errors.DataError(f"X holds more than numbers ({problem}); give the lab a table and its target") from None
    if values.ndim == 1:
        values = values[:, np.newaxis]
    labels = np.asarray(y)
    if values.ndim != 2 or labels.ndim != 1 or len(labels) != len(values):
        raise sx.errors.DataError(f"X has shape {values.shape} and y {labels.shape}; give one label for each row")
    names = names or [f"x{j + 1}" for j in range(values.shape[1])]
    return _data("your data", dict(zip(names, values.T, strict=True)), [str(label) for label in labels], columns)


def from_table(table: Any, target: str | None, columns: Sequence[str] | None) -> dict[str, Any]:
    """Return the page's data of a table: a file's name, demo:NAME, or a table that has been read."""
    read = table if hasattr(table, "columns") and hasattr(table, "source") else sx.read_table(table)
    name = target if target is not None else read.target
    if name is None:
        raise sx.errors.OptionError(f"which column holds the classes? --target takes one of {_list(read.names)}")
    wanted = read.column(name)
    numbers = {c.name: c.values for c in read.columns if c.kind in {"number", "boolean"} and c.name not in {name, read.row_names}}
    if wanted.kind in {"category", "boolean", "text"}:
        labels = list(wanted.words())
    else:
        labels = [None if np.isnan(value) else f"{value:g}" for value in np.asarray(wanted.values, dtype=np.float64)]
    return _data(str(read.source), numbers, labels, columns)


def _data(source: str, numbers: dict[str, Floats], labels: list[str | None], columns: Sequence[str] | None) -> dict[str, Any]:
    """Return what the page reads: rows [x1, x2, label], names, class labels, and how many rows were left out."""
    if len(labels) > MOST_ROWS:
        raise sx.errors.DataError(
            f"{source} has {len(labels):,} rows, and the lab shows at most {MOST_ROWS:,}: fit them with"
            " `separatrix fit TABLE --target COLUMN`, or show a sample"
        )
    if len(numbers) < 2 and columns is None:
        numbers = {**numbers, "": np.zeros(len(labels))} if numbers else numbers
    if not numbers:
        raise sx.errors.DataError(f"{source} has no column of numbers beside the target; the lab shows two")
    codes, classes = _classes(source, labels)
    pair = _chosen(source, numbers, columns) if columns is not None else _best_pair(numbers, codes)
    rows = np.column_stack([numbers[name] for name in pair])
    kept = np.isfinite(rows).all(axis=1) & (codes >= 0)
    if not kept.any():
        raise sx.errors.DataError(f"no row of {source} has {pair[0]!r}, {pair[1]!r} and the target; choose other columns")
    signs = np.array([-1, 1, 2])[codes[kept]]
    points = [[x1, x2, label] for (x1, x2), label in zip(rows[kept].tolist(), signs.tolist(), strict=True)]
    return {"source": source, "points": points, "names": list(pair), "labels": classes, "leftOut": int((~kept).sum())}


def _classes(source: str, labels: list[str | None]) -> tuple[NDArray[np.intp], list[str]]:
    """Return the class of each row, −1 where it has none, and the labels, sorted."""
    known = sorted({label for label in labels if label is not None})
    if len(known) not in CLASSES:
        raise sx.errors.DataError(
            f"the target of {source} has {len(known)} classes ({_list(known)}); the lab shows two or three"
        )
    places = {label: code for code, label in enumerate(known)}
    return np.array([-1 if label is None else places[label] for label in labels], dtype=np.intp), known


def _chosen(source: str, numbers: dict[str, Floats], columns: Sequence[str]) -> tuple[str, str]:
    strange = [name for name in columns if name not in numbers]
    if strange or len(columns) != 2:
        raise sx.errors.OptionError(f"columns={list(columns)!r}: give two of the numeric columns of {source}, {_list(numbers)}")
    return columns[0], columns[1]


def _best_pair(numbers: dict[str, Floats], codes: NDArray[np.intp]) -> tuple[str, str]:
    """Return the two columns along which the classes lie farthest apart."""
    names = list(numbers)[:MOST_COLUMNS]
    return max(combinations(names, 2), key=lambda pair: _distance(np.column_stack([numbers[n] for n in pair]), codes))


def _distance(rows: Floats, codes: NDArray[np.intp]) -> float:
    """Return the squared distance of the class means relative to the spread within, summed over pairs of classes."""
    kept = np.isfinite(rows).all(axis=1) & (codes >= 0)
    rows, codes = rows[kept], codes[kept]
    present = np.unique(codes)
    if len(present) < 2:
        return 0.0
    scale = np.abs(rows).max(axis=0)
    rows = rows / np.where(scale > 0.0, scale, 1.0)
    means = np.array([rows[codes == code].mean(axis=0) for code in present])
    residuals = rows - means[np.searchsorted(present, codes)]
    within = residuals.T @ residuals / len(rows) + 1e-12 * np.eye(2)
    gaps = np.array([first - second for first, second in combinations(means, 2)])
    return float(np.einsum("ij,ij->", gaps, np.linalg.solve(within, gaps.T).T))


def _list(names: Any) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown[:8]) + (", …" if len(shown) > 8 else "")
