"""The interface of learners: encoded rows in, a predictor with its certificate and inference out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats
from separatrix.design.array import divide_columns
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
    """The options of all learners; each uses those that concern it.

    `strength` of the penalty: a number, "cv" (chosen by cross-validation) or "auto" (none if the fit exists without).
    `perceptron=None` stands for its defaults with `keep="best"`.
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
    """The design X (n, p), dense, CSR or a `RowSource`, its column names, and the target: classes, or numbers y.

    `quantities` marks the columns with a unit, which are standardised for a penalty. `positive` is the index of the
    positive one of two classes. `divided` returns X with its columns divided by scales, stored as X is.
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
        """The numbers of rows and columns."""
        return int(self.X.shape[0]), int(self.X.shape[1])

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The classes in the order of the scores; of two the positive one is last."""
        assert self.classes is not None  # a classification
        return ordered_labels(self.classes, self.positive)

    def design(self, intercept: bool) -> Design:
        """Return X as a design."""
        return make_design(self.X, intercept=intercept, names=list(self.names))

    def scaled(self, scales: Floats) -> TrainingRows:
        """Return the rows with their columns divided by scales; X itself is not changed."""
        X = divide_columns(self.X, scales) if self.divided is None else self.divided(scales)
        return replace(self, X=X, divided=None)

    def targets(self) -> NDArray[Any]:
        """Return the target for a loss: numbers, ±1 for two classes, or codes for more."""
        if self.classes is None:
            return np.asarray(self.y, dtype=np.float64)
        return self.classes.signs(self.positive) if len(self.labels) == 2 else self.classes.codes


@dataclass(frozen=True, eq=False)
class Fitted:
    """A predictor: coef (K, p) and intercept (K,) in the units of the rows, with its inference.

    Without a `covariance` of the coefficients, `no_covariance` says why. `scales` divided the columns before the fit
    (None: not scaled); the certificate is about the scaled columns.
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
    """A learner of linear predictors."""

    name: ClassVar[str]
    title: ClassVar[str]
    tasks: ClassVar[tuple[Task, ...]] = ("classification",)

    @abstractmethod
    def learn(self, rows: TrainingRows, options: LearnOptions, watch: Watch | None = None) -> Fitted:
        """Fit the rows."""


def ordered_labels(classes: Classes, positive: int) -> tuple[Any, ...]:
    """Return the classes in the order of the scores; of two the positive one is last."""
    plain = classes.plain
    return tuple(plain[::-1] if len(plain) == 2 and positive == 0 else plain)


def as_matrix(coef: Floats, intercept: Any) -> tuple[Floats, Floats]:
    """Return coefficients (K, p) and intercepts (K,), with K = 1 for a single score."""
    return np.atleast_2d(coef), np.atleast_1d(np.asarray(intercept, dtype=np.float64))


def with_intercept(matrix: Floats) -> Floats:
    """Return a covariance with a zero row and column for an intercept fixed at 0."""
    return np.pad(matrix, ((1, 0), (1, 0)))
