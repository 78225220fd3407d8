"""The classification sets as they are stored: no column scaled, categories as indicators, words as counts."""

from __future__ import annotations

import re
from functools import cache
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
    """Return a set, or as many rows of it, evenly spread."""
    X, classes = _read(name)
    if rows is not None and rows < len(classes):
        kept = np.linspace(0, len(classes) - 1, rows).astype(int)
        X, classes = X[kept], classes[kept]
    two = classes == SEVERAL_CLASSES[name] if name in SEVERAL_CLASSES else classes == np.unique(classes)[-1]
    return Set(X, classes, np.where(two, 1.0, -1.0))


@cache
def _read(name: str) -> tuple[Any, np.ndarray]:
    if name in SPARSE:
        file, columns = SPARSE[name]
        X, y = load_svmlight_file(str(FOLDER / file), n_features=columns)
        return sp.csr_array(X), y
    if name in TABLES:
        return _read_table(*TABLES[name])
    return {"mnist": _read_mnist, "newsgroups": _read_newsgroups, "sms_spam": _read_sms}[name]()


def _read_table(file: str, target: str, left_out: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    table = pd.read_parquet(FOLDER / file)
    features = table.drop(columns=[target, *left_out])
    return pd.get_dummies(features, dtype=float).to_numpy(dtype=float), table[target].to_numpy()


def _read_mnist() -> tuple[np.ndarray, np.ndarray]:
    stored = np.load(FOLDER / "mnist.npz")
    return stored["x_train"].reshape(60_000, 784).astype(float), stored["y_train"].astype(int)


def _read_newsgroups() -> tuple[Any, np.ndarray]:
    stored = np.load(FOLDER / "newsgroups20_counts.npz")
    counts = stored["train_data"].astype(float), stored["train_indices"], stored["train_indptr"]
    return sp.csr_array(counts, shape=(len(stored["y_train"]), int(stored["n_features"]))), stored["y_train"].astype(
        int
    )


def _read_sms() -> tuple[Any, np.ndarray]:
    table = pd.read_parquet(FOLDER / "sms_spam.parquet")
    words: dict[str, int] = {}
    places = [[words.setdefault(w, len(words)) for w in re.findall(r"\w+", text.lower())] for text in table["text"]]
    rows = np.repeat(np.arange(len(places)), [len(row) for row in places])
    entries = np.ones(len(rows)), (rows, np.concatenate(places))
    return sp.coo_array(entries, shape=(len(places), len(words))).tocsr(), table["label"].to_numpy()
