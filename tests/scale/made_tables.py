"""Tables made for the tests of scale: numbers, gaps, categories, truth values, dates, texts, and what to predict."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np

from separatrix.tables.write import write_columns

WORDS = ("the", "blue", "house", "by", "sea", "is", "cold", "red", "boat", "far", "old", "stone")
FIRST_DAY = date(2020, 1, 1)


def made_columns(rows, seed=0, streets=25):
    """Return columns by name, as a csv would have them: numbers as floats, all else as words, None where missing."""
    rng = np.random.default_rng(seed)
    columns = {f"x{k}": np.round(rng.normal(size=rows), 4) for k in range(6)}
    columns["x0"][rng.random(rows) < 0.03] = np.nan
    town = rng.choice(["Rome", "Oslo", "Lima", "Cairo", "Quito"], rows, p=[0.4, 0.3, 0.15, 0.1, 0.05]).astype(object)
    town[rng.random(rows) < 0.02] = None
    columns["town"] = town
    columns["street"] = np.asarray([f"s{k:03d}" for k in rng.integers(0, streets, rows)], dtype=object)
    columns["member"] = np.where(rng.random(rows) < 0.3, "yes", "no").astype(object)
    days = rng.integers(0, 900, rows)
    columns["since"] = np.asarray([(FIRST_DAY + timedelta(days=int(k))).isoformat() for k in days], dtype=object)
    texts = [" ".join(rng.choice(WORDS, 6).tolist()) for _ in range(min(rows, 500))]
    columns["note"] = np.asarray([f"{texts[k % len(texts)]} {k % 97}" for k in range(rows)], dtype=object)
    columns["name"] = np.asarray([f"row-{k:07d}" for k in range(rows)], dtype=object)
    score = columns["x1"] - 0.5 * columns["x2"] + 0.8 * (town == "Oslo") + 0.001 * days + rng.logistic(size=rows)
    columns["price"] = np.round(score, 3)
    columns["sold"] = np.where(score > 0.4, "good", "bad").astype(object)
    third = np.where(score > 1.4, "high", np.where(score > -0.2, "middle", "low")).astype(object)
    columns["grade"] = third
    return columns


def write_table(path: Path, columns) -> str:
    """Write columns to a csv or Parquet file, and return its path."""
    types = {name: float if values.dtype.kind == "f" else str for name, values in columns.items()}
    write_columns(path, iter([columns]), types)
    return str(path)
