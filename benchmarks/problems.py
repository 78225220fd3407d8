"""Seeded problems, built before any timer starts: the same seed gives every library the same rows in the same order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Problem", "dense", "digits", "logistic", "regression", "separation", "text", "text_part"]

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
NEWSGROUPS = SHARED_DATA / "classification" / "newsgroups20_counts.npz"
MNIST = SHARED_DATA / "classification" / "mnist.npz"

Labels = Literal["noisy", "flipped", "separable"]
Separation = Literal["separable", "quasi", "overlap"]
SCORE_NOISE = 0.05  # of the scores' spread: a perceptron then errs on some 2 % of its visits, pass after pass
FLIPPED = 0.02  # of the labels, wherever they lie: a perceptron then errs on some 10 % of its visits
RARE = 10  # one row in so many has the rare event
FEW_ROWS, FEW_FLIPPED = 1000, 0.2  # rows, and the labels flipped among fewer
MARGIN = 0.1  # of the scores' spread
SCALES, SHIFT = (1e-3, 1e3), 3.0  # of unscaled columns, in a random order; the sd of their means, in their own sds
USEFUL, TARGET_NOISE = 20, 1.0  # columns of a regression that matter; the sd of what they do not say
TEXT_SHAPE, TEXT_ROW = (11_314, 56_436), 151  # of the newsgroups: documents, words; words a document


@dataclass(frozen=True)
class Problem:
    """Rows X (n, p), labels y (n,) of −1 and 1 (or classes, or numbers), and what they are in a sentence."""

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


def logistic(rows: int, columns: int = 50, *, unscaled: bool = False, seed: int = 0) -> Problem:
    """Gaussian rows, labels drawn with the logistic probabilities of a hidden score of sd 2; columns in any units."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    normal = rng.standard_normal(columns)
    scores = X @ (2.0 * normal / np.linalg.norm(normal)) - 0.5
    y = np.where(rng.random(rows) < 1.0 / (1.0 + np.exp(-scores)), 1.0, -1.0)
    about = "standard normal columns"
    if unscaled:
        X += SHIFT * rng.standard_normal(columns)
        X *= rng.permutation(np.geomspace(*SCALES, columns))
        about = f"columns of scales {SCALES[0]:g} to {SCALES[1]:g}, means of sd {SHIFT:g} of those"
    return Problem("logistic", X, y, f"dense {rows:,} × {columns} float64, {about}, seed {seed}")


def regression(rows: int, columns: int, seed: int = 0) -> Problem:
    """Centred rows whose neighbouring columns are correlated by ½, a target of few columns and noise, centred too."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    for j in range(1, columns):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    X -= X.mean(axis=0)
    coef = np.zeros(columns)
    coef[rng.choice(columns, size=USEFUL, replace=False)] = rng.standard_normal(USEFUL)
    y = X @ coef + TARGET_NOISE * rng.standard_normal(rows)
    about = (
        f"dense {rows:,} × {columns:,} float64, neighbouring columns correlated, {USEFUL} of them useful, seed {seed}"
    )
    return Problem("regression", X, y - y.mean(), about)


def separation(kind: Separation, rows: int, columns: int, seed: int = 0) -> Problem:
    """Rows that a halfspace separates with a margin, that overlap, or that do but for a rare event's indicator."""
    made = dense("separable" if kind == "separable" else "noisy", rows, columns, seed)
    X, y, about = made.X, made.y, made.about
    if kind != "separable" and rows < FEW_ROWS:  # so few that noise at the border might not suffice
        y = np.where(np.random.default_rng(seed).random(rows) < FEW_FLIPPED, -y, y)
    if kind == "quasi":
        X[:, -1] = np.arange(rows) % RARE == 0
        y = np.where(X[:, -1] > 0.0, 1.0, y)
        about += f", the last column the indicator of every {RARE}th row, all of one class"
    return Problem(f"separation, {kind}", X, y, about)


def digits(rows: int | None = None) -> Problem:
    """MNIST's training images, pixels from 0 to 1; raise a LookupError where they are absent."""
    if not MNIST.exists():
        raise LookupError(f"{MNIST.name} is absent")
    stored = np.load(MNIST)
    images = stored["x_train"][:rows]
    X = images.reshape(len(images), -1) / 255.0
    return Problem("digits", X, stored["y_train"][:rows], f"MNIST, {X.shape[0]:,} × {X.shape[1]} × 10, pixels 0 to 1")


def text_part(documents: int, seed: int = 0) -> Problem:
    """The first documents of the text and the words in them."""
    whole = text(seed)
    X = whole.X[:documents]
    X = X[:, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))]
    about = f"{X.shape[0]:,} documents of: {whole.about}; {X.shape[1]:,} words"
    return Problem("text", X, whole.y[:documents], about)


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
