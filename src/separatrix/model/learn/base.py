"""The learner seam: rows that were encoded, in; a predictor with its evidence and its inference, out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats
from separatrix.design.array import divide
from separatrix.design.base import Design
from separatrix.design.build import make_design
from separatrix.errors import require_number
from separatrix.fit.convex import ConvexOptions
from separatrix.fit.labels import Classes
from separatrix.fit.result import FitResult
from separatrix.fit.run import Watch
from separatrix.inference.prediction import Covariance
from separatrix.inference.table import InferenceTable
from separatrix.model.decision_rule import DecisionRule
from separatrix.model.record import Task

if TYPE_CHECKING:
    from separatrix.families.perceptron import PerceptronOptions


Strength = float | Literal["auto", "cv"]


@dataclass(frozen=True)
class LearnOptions:
    """What a user may ask of a learner; each takes what concerns it.

    `strength` of the penalty: a number, "cv" (chosen by cross-validation) or "auto" (none where that has an answer).
    `perceptron` None stands for its defaults, with the best weights kept.
    """

    strength: Strength = "auto"
    l1_ratio: float = 0.0
    intercept: bool = True
    folds: int = 5
    seed: int = 0
    convex: ConvexOptions = field(default_factory=ConvexOptions)
    perceptron: PerceptronOptions | None = None

    def __post_init__(self) -> None:
        require_number("l1_ratio", self.l1_ratio, least=0.0, most=1.0)
        require_number("seed", self.seed, least=0)


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """A matrix (n, p), dense or CSR, or a `RowSource`, the names of its columns, and the target: classes, or numbers y.

    `quantities` marks the columns that have a unit, which a penalty must not depend on. Of two classes the positive one
    is in the place `positive`. `divided` returns the matrix with its columns divided, kept where the matrix is.
    """

    X: Any
    names: tuple[str, ...]
    quantities: Bools
    y: NDArray[Any]
    classes: Classes | None = None
    positive: int = 1
    divided: Callable[[Floats], Any] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.X.shape[0]), int(self.X.shape[1])

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The classes in the order of the scores, of two the positive one last."""
        assert self.classes is not None  # of numbers nobody asks
        plain = self.classes.plain
        return tuple(plain[::-1] if len(plain) == 2 and self.positive == 0 else plain)

    def design(self, intercept: bool) -> Design:
        """Return the rows as a design."""
        return make_design(self.X, intercept=intercept, names=list(self.names))

    def scaled(self, scales: Floats) -> TrainingRows:
        """Return the rows with their columns divided; the matrix given stays as it is."""
        X = divide(self.X, scales) if self.divided is None else self.divided(scales)
        return replace(self, X=X, divided=None)

    def targets(self) -> NDArray[Any]:
        """Return the target as a loss takes it: numbers, signs ±1 of two classes, or the places of more."""
        if self.classes is None:
            return np.asarray(self.y, dtype=np.float64)
        return self.classes.signs(self.positive) if len(self.labels) == 2 else self.classes.codes


@dataclass(frozen=True, eq=False)
class Fitted:
    """A predictor: coef (K, p) and intercept (K,) in the units of the rows, and what is known of it.

    `table` is its inference. Without a `covariance` of the coefficients, `no_covariance` says why. `scales` are what
    columns were divided by before the fit, which the certificate is about; None: nothing.
    """

    result: FitResult
    coef: Floats
    intercept: Floats
    rule: DecisionRule
    options: Mapping[str, Any]
    table: InferenceTable | None = None
    covariance: Covariance | None = None
    no_covariance: str = ""
    scales: Floats | None = None
    sentences: tuple[str, ...] = ()


class Learner(ABC):
    """A way to learn a linear predictor."""

    name: ClassVar[str]
    title: ClassVar[str]
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    @abstractmethod
    def learn(self, rows: TrainingRows, options: LearnOptions, watch: Watch | None = None) -> Fitted:
        """Fit the rows."""


def one_row_each(coef: Floats, intercept: Any) -> tuple[Floats, Floats]:
    """Return coefficients (K, p) and intercepts (K,), K = 1 of a single score."""
    return np.atleast_2d(coef), np.atleast_1d(np.asarray(intercept, dtype=np.float64))


def with_intercept(matrix: Floats) -> Floats:
    """Return a covariance with a row and a column of 0 for an intercept that is always 0."""
    return np.pad(matrix, ((1, 0), (1, 0)))
