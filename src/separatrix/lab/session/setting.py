"""What a pane learns on: the points through its feature map, as a design with signs, or the rows of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix import losses
from separatrix.design import Design, make_design
from separatrix.design.kernel_rows import KernelRows
from separatrix.design.kernels import Kernel, make_kernel
from separatrix.design.maps import FeatureMap, PolynomialMap, ProductsMap, SquaredDistanceMap, count_products
from separatrix.errors import DataError
from separatrix.fit.centre import find_centre
from separatrix.fit.convex import ConvexOptions
from separatrix.fit.kernel_rows import settle_kernel
from separatrix.fit.logistic import fit_logistic
from separatrix.fit.perceptron import PerceptronOptions
from separatrix.fit.stopping import Status
from separatrix.lab.session.options import PaneOptions
from separatrix.lab.session.points import Points
from separatrix.losses import Loss
from separatrix.penalties import make_penalty
from separatrix.problem import Problem

__all__ = ["KERNEL_ROWS", "Setting", "make_setting", "refuse_large"]

Floats = NDArray[np.float64]
KERNEL_ROWS = 3000  # points up to which a kernel learner is watched
CACHE_MB = 100.0
MOST_FEATURES = 500
MOST_ENTRIES = 8_000_000


class Stands(Protocol):
    """A frame, as far as scores need it."""

    @property
    def coef(self) -> Floats:
        """The weights, or the coefficients of the rows."""

    @property
    def intercept(self) -> float:
        """The intercept of a kernel learner."""


@dataclass(frozen=True, eq=False)
class Setting:
    """Points, a pane, and the map settled on them (None: the columns as they are)."""

    points: Points
    pane: PaneOptions
    map: FeatureMap | None

    @property
    def y(self) -> Floats:
        """The labels ±1."""
        return self.points.y

    @cached_property
    def features(self) -> Floats:
        """The rows that are learned from, mapped, (n, features)."""
        return self.mapped(self.points.X)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return self.points.names if self.map is None else self.map.names(self.points.names)

    @cached_property
    def design(self) -> Design:
        """The rows as a design, with the intercept if there is one."""
        return make_design(self.features, intercept=self.pane.fit_intercept, names=self.names)

    @property
    def weight_names(self) -> tuple[str, ...]:
        """The names of the weights, the intercept's first if there is one."""
        return (("b",) if self.pane.fit_intercept else ()) + tuple(f"w[{name}]" for name in self.names)

    @property
    def n_weights(self) -> int:
        """The number of weights, of a kernel learner that of the rows."""
        return len(self.points) if self.pane.kind.kernel else self.features.shape[1] + int(self.pane.fit_intercept)

    @cached_property
    def loss(self) -> Loss:
        """The loss that the learner follows."""
        return next(loss for loss in losses.ALL if loss.name == self.pane.kind.loss)

    @cached_property
    def strength(self) -> float:
        """The strength of the penalty, of an SVM 1/n where none is asked for; 0 of learners without one."""
        if "strength" not in self.pane.kind.options:
            return 0.0
        needed = self.pane.kind.loss == "hinge"
        return float(self.pane.strength) or (1.0 / len(self.points) if needed else 0.0)

    @cached_property
    def problem(self) -> Problem:
        """What the learner lowers: the mean loss and the penalty."""
        return Problem(self.design, self.y, self.loss, make_penalty(self.strength, 0.0))

    @cached_property
    def no_maximum(self) -> str:
        """Why a likelihood has no finite maximum on these points, in the library's words; empty where it has one."""
        if self.pane.kind.loss != "logistic" or self.strength:
            return ""
        fit = fit_logistic(self.problem, ConvexOptions(), labels=(-1, 1))
        return fit.result.message if fit.result.status is Status.SEPARATED else ""

    @cached_property
    def problem_of_rows(self) -> Problem:
        """What a kernel SVM lowers, its rows as they are: the kernel goes with the start."""
        penalty = make_penalty(self.strength, 0.0)
        return Problem(make_design(self.points.X, intercept=False), self.y, self.loss, penalty)

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel with every parameter known."""
        pane = self.pane
        gamma: Any = "scale" if pane.gamma is None else float(pane.gamma)
        own = {"linear": {}, "rbf": {"gamma": gamma}, "polynomial": {"gamma": gamma, "degree": pane.degree}}
        return settle_kernel(make_kernel(pane.kernel, **own[pane.kernel]), self.points.X)

    def kernel_rows(self) -> KernelRows:
        """Return the rows of the kernel matrix, with a constant of 1 for the intercept of a perceptron."""
        constant = float(self.pane.fit_intercept and self.pane.learner == "kernel_perceptron")
        return KernelRows(self.kernel, self.points.X, CACHE_MB, constant=constant)

    def start(self, rng: np.random.Generator) -> Floats:
        """Return the weights to start from."""
        given = {"zero": None, "random": "random"}.get(str(self.pane.start), self.pane.start)
        return PerceptronOptions(start=given).start_weights(self.n_weights, rng)

    def mapped(self, X: Floats) -> Floats:
        """Return rows of the points' columns through the map."""
        return X if self.map is None else self.map.apply(np.ascontiguousarray(X))

    def scores(self, frame: Stands) -> Floats:
        """Return the score of each row at a frame."""
        if self.pane.kind.kernel:
            return self.scores_at(self.points.X, frame)
        return self.design.matvec(frame.coef)

    def scores_at(self, X: Floats, frame: Stands) -> Floats:
        """Return the scores of any rows of the points' columns at a frame."""
        if not self.pane.kind.kernel:
            return _linear_scores(self.mapped(X), frame.coef, self.pane.fit_intercept)
        support = np.flatnonzero(frame.coef)
        if not len(support):
            return np.full(len(X), frame.intercept)
        return self.kernel(X, self.points.X[support]) @ frame.coef[support] + frame.intercept

    def score_columns(self, frames: Sequence[Stands]) -> Floats:
        """Return the scores of all rows at several frames, (n, frames)."""
        coefs = np.column_stack([frame.coef for frame in frames])
        if not self.pane.kind.kernel:
            return self.design.matvec(coefs)
        support = np.flatnonzero(coefs.any(axis=1))
        intercepts = np.array([frame.intercept for frame in frames])
        if not len(support):
            return np.tile(intercepts, (len(self.points), 1))
        return np.asarray(self.kernel(self.points.X, self.points.X[support]) @ coefs[support] + intercepts)


def _linear_scores(X: Floats, coef: Floats, intercept: bool) -> Floats:
    return X @ coef[1:] + coef[0] if intercept else X @ coef


def refuse_large(points: Points, pane: PaneOptions) -> None:
    """Raise a DataError if points are too many for a kernel learner, or their mapped features for the lab."""
    if pane.kind.kernel:
        if len(points) > KERNEL_ROWS:
            raise DataError(
                f"{len(points):,} points are too many to watch a kernel learner, which compares each with each;"
                f" take up to {KERNEL_ROWS:,}, or a feature map with a linear learner"
            )
        return
    pairs = points.dimension * (points.dimension + 1) // 2
    made = {"polynomial": count_products(points.dimension, pane.degree), "products": pairs}
    features = made.get(pane.feature_map, 1)
    if features > MOST_FEATURES or features * len(points) > MOST_ENTRIES:
        raise DataError(
            f"the feature map makes {features:,} features of {points.dimension} columns, for {len(points):,} points;"
            f" the lab takes {MOST_FEATURES:,} features and {MOST_ENTRIES:,} numbers in all: take a smaller degree"
        )


def make_setting(points: Points, pane: PaneOptions) -> Setting:
    """Return the setting of a pane on some points; what is too large raises a DataError."""
    refuse_large(points, pane)
    return Setting(points, pane, None if pane.kind.kernel else _settled_map(points, pane))


def _settled_map(points: Points, pane: PaneOptions) -> FeatureMap | None:
    if pane.feature_map == "none":
        return None
    if pane.feature_map == "polynomial":
        return PolynomialMap(points.dimension, pane.degree, True)
    if pane.feature_map == "products":
        return ProductsMap(points.dimension)
    centre = points.X.mean(axis=0) if pane.centre == "mean" else find_centre(points.X, points.y)
    return SquaredDistanceMap(centre, pane.feature_map == "paraboloid")
