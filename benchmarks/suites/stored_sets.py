"""Verdicts with proof on whole stored sets, no column scaled: text of twenty groups, digits, land covers, incomes.

Each verdict is found once, in this process, and re-checked from the data once: they take seconds to a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import separatrix as sx
from measure import once
from problems import MNIST, NEWSGROUPS, SHARED_DATA
from report import Measurement, Row
from separatrix.certificates.separability import SeparabilityCertificate

__all__ = ["STORED"]

OURS = "separatrix"
QUICK_ROWS = 2000
TABLES = SHARED_DATA / "classification"


class Labelled(NamedTuple):
    """Rows and their classes."""

    X: Any
    y: NDArray[Any]


def _newsgroups() -> Labelled:
    stored = np.load(NEWSGROUPS)
    parts = stored["train_data"].astype(float), stored["train_indices"], stored["train_indptr"]
    shape = len(stored["y_train"]), int(stored["n_features"])
    return Labelled(sparse.csr_array(parts, shape=shape), stored["y_train"].astype(int))


def _digits() -> Labelled:
    stored = np.load(MNIST)
    return Labelled(stored["x_train"].reshape(-1, 784).astype(float), stored["y_train"].astype(int))


def _eight_or_not() -> Labelled:
    X, y = _digits()
    return Labelled(X, y == 8)


def _three_or_eight() -> Labelled:
    X, y = _digits()
    kept = (y == 3) | (y == 8)
    return Labelled(X[kept], y[kept])


def _table(file: str, target: str, left_out: tuple[str, ...] = ()) -> Labelled:
    import pandas as pd  # noqa: PLC0415  # nothing else here needs it

    table = pd.read_parquet(TABLES / file)
    features = pd.get_dummies(table.drop(columns=[target, *left_out]), dtype=float)
    return Labelled(features.to_numpy(dtype=float), table[target].to_numpy())


SETS: dict[str, Callable[[], Labelled]] = {
    "newsgroups-20-classes": _newsgroups,
    "mnist-10-classes": _digits,
    "mnist-8-or-not": _eight_or_not,
    "mnist-3-or-8": _three_or_eight,
    "covtype-7-classes": partial(_table, "covtype_20k.parquet", "cover_type"),
    "census-income": partial(_table, "census_income_kdd_train.parquet", "income_gt_50k", ("instance_weight",)),
}


def stored_set(name: str, quick: bool) -> Measurement:
    """The verdict with its proof on a stored set, and the re-check; nothing but a note where the set is absent."""
    title = f"separability-{name}"
    try:
        X, y = SETS[name]()
    except FileNotFoundError as absent:
        return Measurement(title, "Verdict with proof.", notes=[f"skipped: {absent.filename} is absent"])
    if quick:
        X, y = X[:QUICK_ROWS], y[:QUICK_ROWS]
    found: list[SeparabilityCertificate] = []

    def judge() -> Mapping[str, Any]:
        found.append(sx.check_separability(X, y))
        return {}

    def verify() -> Mapping[str, Any]:
        assert found[0].verify(X, y)
        return {}

    rows = [Row.of(OURS, "verdict with proof", once(judge)), Row.of(OURS, "re-check from the data", once(verify))]
    size = len(found[0].to_json()) / 1e6
    notes = [f"verdict: {found[0].verdict}; {found[0].claim}; {size:.1f} MB of JSON"]
    about = f"Verdict with proof on {X.shape[0]:,} × {X.shape[1]:,}, {len(np.unique(y))} classes, as stored."
    return Measurement(title, about, rows=rows, notes=notes)


STORED: dict[str, Callable[[bool], Measurement]] = {f"separability-{name}": partial(stored_set, name) for name in SETS}
