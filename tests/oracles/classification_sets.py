"""The classification sets as they are stored: no column scaled, categories as indicators, words as counts."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from data import DATA
from sklearn.datasets import load_svmlight_file

FOLDER = DATA / "classification"
SPARSE = {
    "heart_scale": ("heart_scale.libsvm.gz", 13),
    "a9a": ("a9a.libsvm.gz", 123),
    "w8a": ("w8a.libsvm.gz", 300),
    "agaricus": ("agaricus.train.libsvm.gz", 126),
    "rcv1_small": ("rcv1_small.train.libsvm.gz", 47236),
}
TABLES = {
    "adult": ("adult_train.parquet", "income", ()),
    "census": ("census_income_kdd_train.parquet", "income_gt_50k", ("instance_weight",)),
    "covtype": ("covtype_20k.parquet", "cover_type", ()),
    "higgs": ("higgs_sample_train.parquet", "y", ()),
    "spambase": ("spambase.parquet", "type", ()),
}
NAMES = (*SPARSE, *TABLES, "mnist", "newsgroups", "sms_spam")
SEVERAL_CLASSES = {"covtype": 2, "mnist": 8, "newsgroups": 0}  # and the class that stands against the rest


class Set(NamedTuple):
    """Rows, the labels of all classes, and labels of two."""

    X: Any
    classes: np.ndarray
    y: np.ndarray


@cache
def read(name: str, rows: int | None = None) -> Set:
    """Return a set, or as many rows of it, evenly spread and cut before they are encoded."""
    X, classes = READERS[name](rows)
    two = classes == SEVERAL_CLASSES[name] if name in SEVERAL_CLASSES else classes == np.unique(classes)[-1]
    if sp.issparse(X):
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return Set(X, classes, np.where(two, 1.0, -1.0))


def _kept(of: int, rows: int | None) -> np.ndarray:
    return np.linspace(0, of - 1, of if rows is None else min(rows, of)).astype(int)


def _read_sparse(rows: int | None, file: str, columns: int) -> tuple[Any, np.ndarray]:
    X, y = load_svmlight_file(str(FOLDER / file), n_features=columns)
    kept = _kept(len(y), rows)
    return sp.csr_array(X)[kept], y[kept]


def _read_table(rows: int | None, file: str, target: str, left_out: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    table = pd.read_parquet(FOLDER / file)
    table = table.iloc[_kept(len(table), rows)]
    features = table.drop(columns=[target, *left_out])
    return pd.get_dummies(features, dtype=float).to_numpy(dtype=float), table[target].to_numpy()


def _read_mnist(rows: int | None) -> tuple[np.ndarray, np.ndarray]:
    stored = np.load(FOLDER / "mnist.npz")
    kept = _kept(60_000, rows)
    return stored["x_train"][kept].reshape(-1, 784).astype(float), stored["y_train"][kept].astype(int)


def _read_newsgroups(rows: int | None) -> tuple[Any, np.ndarray]:
    stored = np.load(FOLDER / "newsgroups20_counts.npz")
    y = stored["y_train"].astype(int)
    counts = stored["train_data"].astype(float), stored["train_indices"], stored["train_indptr"]
    kept = _kept(len(y), rows)
    return sp.csr_array(counts, shape=(len(y), int(stored["n_features"])))[kept], y[kept]


def _read_sms(rows: int | None) -> tuple[Any, np.ndarray]:
    table = pd.read_parquet(FOLDER / "sms_spam.parquet")
    table = table.iloc[_kept(len(table), rows)]
    words: dict[str, int] = {}
    places = [[words.setdefault(w, len(words)) for w in re.findall(r"\w+", text.lower())] for text in table["text"]]
    lines = np.repeat(np.arange(len(places)), [len(line) for line in places])
    entries = np.ones(len(lines)), (lines, np.concatenate(places))
    return sp.coo_array(entries, shape=(len(places), len(words))).tocsr(), table["label"].to_numpy()


Reader = Callable[[int | None], tuple[Any, np.ndarray]]
READERS: dict[str, Reader] = {
    **{name: partial(_read_sparse, file=file, columns=columns) for name, (file, columns) in SPARSE.items()},
    **{name: partial(_read_table, file=f, target=t, left_out=out) for name, (f, t, out) in TABLES.items()},
    "mnist": _read_mnist,
    "newsgroups": _read_newsgroups,
    "sms_spam": _read_sms,
}
