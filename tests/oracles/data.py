"""Where the reference data are: beside the repository, or absent, and then the tests that need them are skipped."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).parents[3] / "shared" / "data"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the reference data are not beside this clone")


def references(folder):
    """Return the names of the references in a folder, none where the data are absent."""
    return sorted(path.stem for path in (DATA / folder).glob("*.json") if path.stem != "large_sets")


def reference(folder, name):
    return json.loads((DATA / folder / f"{name}.json").read_text(encoding="utf-8"))


def table(folder, name):
    """Return a csv as feature names, X, y (as text) and weights (None without a column of them)."""
    with (DATA / folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    features = [column for column in header if column not in {"y", "weight"}]
    X = np.array([columns[feature] for feature in features], dtype=float).T
    weights = np.array(columns["weight"], dtype=float) if "weight" in columns else None
    return features, X, np.array(columns["y"]), weights
