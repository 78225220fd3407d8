"""From scores to predictions: linear and kernel scores, decision rules, and predictions of tables.

Two classes have one score, and the second class is predicted if it reaches the boundary: 0, or the log-odds of a
threshold. More classes have one score each, and the highest wins, the first one on ties. A predicted number is its
score.

    link        probabilities of the classes
    sigmoid     σ(score) of the second of two
    softmax     exp(score_k) / Σ exp(score_j)
    one_vs_rest σ(score_k) / Σ σ(score_j)
    none        none: a score is no probability

The distance to the boundary is that from a row, in the units of the encoded features, to the nearest point with
another prediction: |score − boundary| / ‖w‖ for two classes, the least (score_k − score_j) / ‖w_k − w_j‖ for more.

Kernel machines have the scores Σ cⱼ k(x, xⱼ) + b over support vectors xⱼ. Several classes have one machine with a score
for each, or for each pair of them, whose votes are counted; `OneVsRest` has one machine for each class. Cost of a
score: one kernel value per support vector.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, get_args

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.codec import Items, Range, Shape, Tag
from separatrix.design.build import as_row_source, make_design
from separatrix.design.kernel_matrix import by_rows, kernel_scores
from separatrix.design.kernels import RBF, CustomKernel, Kernel, Linear, PolynomialKernel, Precomputed, Sigmoid
from separatrix.design.mapped import MappedRows
from separatrix.errors import OptionError, require_choice
from separatrix.families.base import Fitted, Link, Side, pair_votes
from separatrix.inference.prediction import Intervals
from separatrix.numerics import log_sum_exp, logit, sigmoid, softmax, softplus

if TYPE_CHECKING:
    from separatrix.design.encode.base import ColumnReport, Mark

Label = str | int | float | bool
NAMES = ("linear", "polynomial", "rbf", "sigmoid")
PortableKernel = Annotated[Linear | PolynomialKernel | RBF | Sigmoid, Tag("name")]


def linear_scores(X: Any, coef: Floats, intercept: Floats) -> Floats:
    """Return the scores X·coefᵗ + intercept, (n, K), of rows X (n, p) in any storage; coef (K, p), intercept (K,).

    Arrays are multiplied in row order, so that equal rows have equal bits, however they were stored.
    """
    if isinstance(X, MappedRows) or as_row_source(X) is not None:
        return make_design(X, intercept=True).matvec(np.vstack([intercept, coef.T]))
    rows = np.ascontiguousarray(X, dtype=np.float64) if isinstance(X, np.ndarray) else X
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(rows @ np.ascontiguousarray(coef).T, dtype=np.float64) + intercept


@dataclass(frozen=True)
class DecisionRule:
    """The link, the side of a score on the boundary, and the least probability that predicts the second class."""

    link: Link = "none"
    tie: Side = "positive"
    threshold: Annotated[float, Range(above=0.0, below=1.0)] = 0.5

    def __post_init__(self) -> None:
        require_choice("link", self.link, get_args(Link))
        require_choice("tie", self.tie, get_args(Side))
        if not 0.0 < self.threshold < 1.0:
            raise OptionError(f"threshold={self.threshold!r} is out of range; give a number between 0 and 1")

    @property
    def boundary(self) -> float:
        """The score of two classes at which the label changes."""
        return float(logit(self.threshold)) if self.link == "sigmoid" and self.threshold != 0.5 else 0.0

    def classes(self, scores: Floats) -> Indices:
        """Return the index of the class predicted by scores (n, 1) or (n, K); NaN predicts the first."""
        if scores.shape[1] > 1:
            return np.asarray(scores.argmax(axis=1))
        above = scores[:, 0] >= self.boundary if self.tie == "positive" else scores[:, 0] > self.boundary
        return np.asarray(above.astype(np.intp))

    def probabilities(self, scores: Floats) -> Floats | None:
        """Return the probabilities (n, K) of the classes, None if the link has none."""
        if self.link == "sigmoid":
            return np.column_stack([sigmoid(-scores[:, 0]), sigmoid(scores[:, 0])])
        return None if self.link == "none" else softmax(self._logits(scores))

    def log_probabilities(self, scores: Floats) -> Floats | None:
        """Return the logarithms of the probabilities, finite wherever the scores are."""
        if self.link == "sigmoid":
            return -np.column_stack([softplus(scores[:, 0]), softplus(-scores[:, 0])])
        if self.link == "none":
            return None
        logits = self._logits(scores)
        return np.asarray(logits - log_sum_exp(logits)[:, np.newaxis])

    def _logits(self, scores: Floats) -> Floats:
        """Return scores whose softmax has the probabilities."""
        return scores if self.link == "softmax" else -np.asarray(softplus(-scores))

    def distances(self, scores: Floats, coef: Floats) -> Floats:
        """Return the distance of each row to the boundary, (n,); infinite if all points are predicted alike."""
        if scores.shape[1] == 1:
            length = math.sqrt(float(coef[0] @ coef[0]))
            gaps = np.abs(scores[:, 0] - self.boundary)
            return gaps / length if length > 0.0 else np.full(len(gaps), np.inf)
        rows, predicted = np.arange(len(scores)), scores.argmax(axis=1)
        nearest = np.full(len(scores), np.inf)
        for other in range(scores.shape[1]):
            lengths = np.sqrt(np.sum((coef - coef[other]) ** 2, axis=1))[predicted]
            differs = lengths > 0.0
            gaps = scores[rows, predicted] - scores[:, other]
            nearest[differs] = np.minimum(nearest[differs], gaps[differs] / lengths[differs])
        return nearest


# Kernel machines


@dataclass(frozen=True, eq=False)
class KernelMachine:
    """A kernel, support vectors (m, p), dense or CSR, their coefficients (K, m), and intercepts (K,)."""

    kernel: PortableKernel
    vectors: Annotated[Any, Shape("vectors", "features")]
    coef: Annotated[Floats, Shape("scores", "vectors")]
    intercept: Annotated[Floats, Shape("scores")]

    def __post_init__(self) -> None:
        if getattr(self.kernel, "gamma", None) == "scale":
            raise ValueError('kernel.gamma is "scale"; a number is needed')

    def scores(self, X: Any) -> Floats:
        """Return the scores (n, K) of rows X (n, p), dense or sparse."""
        places = np.arange(self.coef.shape[1])
        return kernel_scores(self.kernel, by_rows(X), self.vectors, places, self.coef) + self.intercept


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """The machines of a model; with `votes` they have a score for each pair of classes."""

    votes: bool
    machines: Annotated[tuple[KernelMachine, ...], Items(1)]

    @property
    def support(self) -> int:
        """The number of support vectors of all machines."""
        return sum(machine.coef.shape[1] for machine in self.machines)

    def scores(self, X: Any, n_classes: int) -> Floats:
        """Return one score per class, (n, K), or (n, 1) for two classes."""
        scores = np.column_stack([machine.scores(X) for machine in self.machines])
        return pair_votes(scores, n_classes) if self.votes else scores

    def check(self, n_features: int, n_classes: int) -> None:
        """Raise a ValueError unless the machines have a score for each class or pair, of so many features."""
        one_score = 1 if n_classes == 2 else n_classes
        expected = n_classes * (n_classes - 1) // 2 if self.votes else one_score
        count = sum(len(machine.coef) for machine in self.machines)
        if n_classes < 2 or count != expected:
            raise ValueError(f"kernel has {count} rows of coef, where the classes ask for {expected}")
        if any(len(each.vectors) and each.vectors.shape[1] != n_features for each in self.machines):
            raise ValueError(f"kernel has vectors whose length is not {n_features}, the number of features")

    def as_sparse(self) -> KernelExpansion:
        """Return the machines with sparse support vectors, for a model of sparse rows."""
        from scipy.sparse import csr_array  # noqa: PLC0415  # a tenth of a second, which dense tables save

        machines = (replace(machine, vectors=csr_array(machine.vectors)) for machine in self.machines)
        return replace(self, machines=tuple(machines))


def require_portable_kernel(kernel: Any) -> None:
    """Raise an OptionError for a kernel that a model of columns cannot hold."""
    if isinstance(kernel, Precomputed) or kernel == "precomputed":
        problem = "kernel='precomputed' is a matrix of rows against rows, which a model of columns cannot compute"
    elif isinstance(kernel, CustomKernel) or (callable(kernel) and not isinstance(kernel, Kernel)):
        problem = "a kernel function of your own cannot be written to a model file"
    else:
        return
    raise OptionError(f"{problem}; name a kernel, as {', '.join(map(repr, NAMES))}, or give one of sx.kernels")


def expansion_of(fitted: Fitted) -> KernelExpansion | None:
    """Return the machines of a fit, None for a linear one."""
    machines = []
    for part in (*fitted.details.get("parts", ()), fitted):  # one-vs-rest fits have parts
        kernel = part.details.get("kernel")
        if kernel is not None:
            require_portable_kernel(kernel)
            coef = part.coef[:, part.coef.any(axis=0)]
            machines.append(KernelMachine(kernel, part.details["support_vectors"], coef, part.intercept))
    votes = fitted.labels is not None and len(fitted.labels) > 2 and len(machines) == 1
    votes = votes and fitted.options.plain().get("multiclass") == "one_vs_one"
    return KernelExpansion(votes, tuple(machines)) if machines else None


# Predictions of tables


@dataclass(frozen=True, eq=False)
class Predictions:
    """Scores (n,) or (n, K) of `classes` (None for numbers), and what follows from them by the model's rule.

    `intervals` are those of the second class's probability, of the score or of the number, if a covariance is known.
    `kept` is the mask of the rows with a prediction; training rows left out for a missing cell have the label None and
    NaN elsewhere. `marks` say which rows have cells that were filled, or levels that training did not have: these have
    no interval. Only the scores are stored: the rest is computed on access.
    """

    classes: tuple[Label, ...] | None
    scores: Floats
    rule: DecisionRule
    coef: Floats
    intervals: Intervals | None
    reports: tuple[ColumnReport, ...]
    kept: Bools
    marks: tuple[Mark, ...] = ()

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def left_out(self) -> int:
        """The number of rows without a prediction."""
        return int(np.count_nonzero(~self.kept))

    @property
    def notes(self) -> NDArray[np.object_]:
        """What was filled, or not seen in training, in each row, (n,); None where nothing was."""
        notes = np.full(len(self), None, dtype=object)
        for mark in self.marks:
            notes[mark.rows] = [mark.note if note is None else f"{note}; {mark.note}" for note in notes[mark.rows]]
        return notes

    @property
    def noted(self) -> int:
        """The number of rows with a note."""
        return len(np.unique(np.concatenate([mark.rows for mark in self.marks]))) if self.marks else 0

    @property
    def labels(self) -> NDArray[Any]:
        """The predicted classes, (n,); for numbers the scores."""
        if self.classes is None:
            return self.scores
        labels = label_array(self.classes)[self.rule.classes(self._columns)]
        return labels if self.kept.all() else np.where(self.kept, labels.astype(object), np.asarray(None))

    def label_counts(self) -> dict[Label, int]:
        """Return the number of rows per predicted class."""
        if self.classes is None:
            return {}
        counts = np.bincount(self.rule.classes(self._columns)[self.kept], minlength=len(self.classes))
        return {label: count for label, count in zip(self.classes, counts.tolist(), strict=True) if count}

    @property
    def probabilities(self) -> Floats | None:
        """The probabilities of the classes, (n, K), if the model has them."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.rule.probabilities(self._columns) if self.classes else None

    @property
    def distance(self) -> Floats | None:
        """The distance (n,) to the boundary in units of the encoded features; None for numbers and kernels."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.rule.distances(self._columns, self.coef) if self.classes and len(self.coef) else None

    @property
    def _columns(self) -> Floats:
        return self.scores.reshape(len(self.scores), -1)

    def take(self, rows: Indices) -> Predictions:
        """Return the predictions of some rows, by index, without intervals and notes."""
        return replace(self, scores=self.scores[rows], intervals=None, kept=self.kept[rows], marks=())

    @property
    def sentences(self) -> tuple[str, ...]:
        """The irregularities of the table, as sentences."""
        return tuple(sentence for report in self.reports for sentence in report.sentences)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all results as named columns (n,), in the order of a file of predictions."""
        result: dict[str, NDArray[Any]] = {"prediction": self.labels}
        if (probabilities := self.probabilities) is not None:
            result |= self._by_class("probability", probabilities)
        if self.classes is not None:
            result |= self._by_class("score", self.scores) if self.scores.ndim == 2 else {"score": self.scores}
        if (distance := self.distance) is not None:
            result["distance"] = np.where(np.isfinite(distance), distance, np.nan)
        if self.intervals is not None:
            result |= {"lower": self.intervals.lower, "upper": self.intervals.upper}
            if self.intervals.new_lower is not None and self.intervals.new_upper is not None:
                result |= {"new_lower": self.intervals.new_lower, "new_upper": self.intervals.new_upper}
        return {**result, "note": self.notes}

    def _by_class(self, prefix: str, values: Floats) -> dict[str, NDArray[Any]]:
        return {f"{prefix}_{label}": values[:, place] for place, label in enumerate(self.classes or ())}


def join_predictions(parts: Sequence[Predictions], order: Indices | None = None) -> Predictions:
    """Return the predictions of several parts as one, in the given order of rows, without intervals and notes."""
    scores, kept = (np.concatenate(each) for each in zip(*((part.scores, part.kept) for part in parts), strict=True))
    joined = replace(parts[0], scores=scores, intervals=None, kept=kept, marks=())
    return joined if order is None else joined.take(order)


def label_array(labels: tuple[Label, ...]) -> NDArray[Any]:
    """Return labels as an array of their common type: integers, floats, booleans, or else objects."""
    types = {type(label) for label in labels}
    if types == {int} and all(abs(label) < 2**62 for label in labels if isinstance(label, int)):
        return np.asarray(labels, dtype=np.int64)
    if types == {bool}:
        return np.asarray(labels, dtype=np.bool_)
    return np.asarray(labels, dtype=np.float64 if types == {float} else object)
