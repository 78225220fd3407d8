"""Seeded problems, built before any timer starts: the same seed gives every library the same rows in the same order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Problem", "dense", "text"]

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
NEWSGROUPS = SHARED_DATA / "classification" / "newsgroups20_counts.npz"

Labels = Literal["noisy", "flipped", "separable"]
SCORE_NOISE = 0.05  # of the scores' spread: a perceptron then errs on some 2 % of its visits, pass after pass
FLIPPED = 0.02  # of the labels, wherever they lie: a perceptron then errs on some 10 % of its visits
MARGIN = 0.1  # of the scores' spread
TEXT_SHAPE, TEXT_ROW = (11_314, 56_436), 151  # of the newsgroups: documents, words; words a document


@dataclass(frozen=True)
class Problem:
    """Rows X (n, p), labels y (n,) of −1 and 1, and what they are in a sentence."""

    name: str
    X: Any
    y: NDArray[np.float64]
    about: str

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])


def dense(labels: Labels, rows: int = 1_000_000, columns: int = 50, seed: int = 0) -> Problem:
    """Gaussian rows labelled by a halfspace: with noise at its border, with some labels flipped, or with a margin."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    normal = rng.standard_normal(columns)
    normal /= np.linalg.norm(normal)
    scores = X @ normal
    side = np.where(scores > 0.0, 1.0, -1.0)
    if labels == "noisy":
        y, about = np.sign(scores + SCORE_NOISE * rng.standard_normal(rows)), f"score noise of sd {SCORE_NOISE}"
    elif labels == "flipped":
        y, about = np.where(rng.random(rows) < FLIPPED, -side, side), f"{FLIPPED:.0%} of the labels flipped"
    else:
        X += MARGIN * np.outer(side, normal)
        y, about = side, f"separable with margin {MARGIN}"
    return Problem(f"dense, {labels}", X, y, f"dense {rows:,} × {columns} float64, halfspace, {about}, seed {seed}")


@cache
def text(seed: int = 0) -> Problem:
    """The comp.* newsgroups against the rest, log1p of counts in rows of unit length; made up where they are absent."""
    counts, y, about = _newsgroups() if NEWSGROUPS.exists() else _made_up_text(seed)
    X = sparse.csr_array((np.log1p(counts.data), counts.indices, counts.indptr), shape=counts.shape)
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
    order = np.random.default_rng(seed).permutation(X.shape[0])
    X = X[order]
    X.sort_indices()
    return Problem("text", X, y[order], f"{about}; {X.shape[0]:,} × {X.shape[1]:,}, {X.nnz:,} nonzeros, seed {seed}")


def _newsgroups() -> tuple[Any, NDArray[np.float64], str]:
    stored = np.load(NEWSGROUPS)
    shape = (len(stored["train_indptr"]) - 1, int(stored["n_features"]))
    arrays = (stored["train_data"].astype(np.float64), stored["train_indices"], stored["train_indptr"])
    is_comp = np.char.startswith(stored["classes"], "comp.")
    return sparse.csr_array(arrays, shape=shape), np.where(is_comp[stored["y_train"]], 1.0, -1.0), "20 newsgroups"


def _made_up_text(seed: int) -> tuple[Any, NDArray[np.float64], str]:
    """Counts of words drawn by Zipf's law, labelled by a hidden halfspace."""
    rng = np.random.default_rng(seed)
    (rows, columns), drawn = TEXT_SHAPE, TEXT_SHAPE[0] * TEXT_ROW * 10 // 9  # a tenth falls on words drawn before
    share = 1.0 / np.arange(10, columns + 10)
    words = rng.permutation(columns)[rng.choice(columns, size=drawn, p=share / share.sum())]
    documents = rng.integers(0, rows, size=drawn)
    documents[:rows] = np.arange(rows)
    counts = sparse.coo_array((np.ones(drawn), (documents, words)), shape=TEXT_SHAPE).tocsr()
    scores = counts @ rng.standard_normal(columns)
    y = np.where(scores > np.quantile(scores, 0.75), 1.0, -1.0)
    return counts, y, f"made-up text: {NEWSGROUPS.name} is absent"
