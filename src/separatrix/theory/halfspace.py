"""Halfspaces: h(x) = sgn(w·x + b), their distances, and the two tricks that make them homogeneous.

distance of x to the hyperplane = |w·x + b| / ‖w‖        augmented [1, x]        reflected y·x
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats, Ints
from separatrix.errors import DataError, OptionError, require_choice
from separatrix.loops.online import Tie
from separatrix.rule import predicted_signs


@dataclass(frozen=True)
class Halfspace:
    """The halfspace of weights w and bias b (0: homogeneous); `tie` says which side a score of exactly 0 is on.

    >>> h = Halfspace([3, 4], -5)
    >>> h.distance_of_origin
    1.0
    >>> h.predict([[3, 4], [0, 0], [1, 0.5]]).tolist()
    [1, -1, 1]
    """

    w: Any
    b: float = 0.0
    tie: Tie = "positive"

    def __post_init__(self) -> None:
        require_choice("tie", self.tie, ("positive", "negative"))
        weights = np.asarray(self.w, dtype=np.float64)
        finite = np.isfinite(weights).all() and np.isfinite(self.b)
        if weights.ndim != 1 or not finite or not np.any(weights):
            raise OptionError(f"w={self.w!r}, b={self.b!r} define no hyperplane; give finite numbers, w not all 0")
        object.__setattr__(self, "w", weights)

    def score(self, X: Any) -> Floats:
        """Return w·x + b of each row, (n,)."""
        points = np.asarray(X, dtype=np.float64)
        if points.shape[-1:] != self.w.shape:
            raise DataError(f"points of {points.shape[-1] if points.ndim else 0} numbers, but w has {self.w.size}")
        return np.asarray(points @ self.w + self.b)

    def predict(self, X: Any) -> Ints:
        """Return +1 or −1 for each row."""
        return predicted_signs(self.score(X), self.tie).astype(np.int64)

    def signed_distance(self, X: Any) -> Floats:
        """Return the distance of each row to the hyperplane, negative on the negative side."""
        return self.score(X) / float(np.linalg.norm(self.w))

    def distance(self, X: Any) -> Floats:
        """Return the distance of each row to the hyperplane."""
        return np.abs(self.signed_distance(X))

    @property
    def distance_of_origin(self) -> float:
        """The distance of the origin to the hyperplane."""
        return float(abs(self.b) / np.linalg.norm(self.w))


def augment(X: Any) -> Floats:
    """Return [1, x] for each row, so that w·x + b becomes (b, w)·[1, x]."""
    points = np.atleast_2d(np.asarray(X, dtype=np.float64))
    return np.column_stack([np.ones(len(points)), points])


def reflect(X: Any, y: Any) -> Floats:
    """Return y·x for each row: a separator of the rows is a w with w·(y x) > 0 for all."""
    labels = np.asarray(y, dtype=np.float64)
    if not np.isin(labels, (-1.0, 1.0)).all():
        raise DataError(f"y has labels {np.unique(labels).tolist()}; reflection needs -1 and 1")
    return np.asarray(labels[:, np.newaxis] * np.asarray(X, dtype=np.float64))
