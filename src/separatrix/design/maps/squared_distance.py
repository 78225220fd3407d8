"""The squared distance to a centre, Σ (xⱼ − μⱼ)²: an interval becomes a halfline, a ball a halfspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.maps.base import FeatureMap, finite_array


@dataclass(frozen=True, eq=False)
class SquaredDistanceMap(FeatureMap):
    """One column, the squared distance to `centre` (p,); with `keep` the columns themselves before it.

    >>> SquaredDistanceMap([1.0]).apply(np.array([[0.0], [1.0], [3.0]])).ravel().tolist()
    [1.0, 0.0, 4.0]
    """

    name: ClassVar[str] = "squared distance"
    centre: Floats
    keep: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", finite_array("centre", self.centre, 1))

    @property
    def inputs(self) -> int:
        """As many as the centre has."""
        return len(self.centre)

    @property
    def outputs(self) -> int:
        """One, or one more than inputs."""
        return 1 + self.inputs * self.keep

    @property
    def words(self) -> str:
        """The map in a few words."""
        shown = ", ".join(f"{value:.6g}" for value in self.centre[:4].tolist()) + (", …" if self.inputs > 4 else "")
        return f"squared distance to ({shown})" + (", columns kept" if self.keep else "")

    def apply(self, X: Floats) -> Floats:
        """Return the squared distances, summed column by column."""
        total = np.zeros(len(X))
        for column, middle in zip(X.T, self.centre, strict=True):
            offset = column - middle
            total += offset * offset
        return np.column_stack([X, total]) if self.keep else total[:, np.newaxis]

    def names(self, given: Sequence[str]) -> tuple[str, ...]:
        """Return the name of the distance, after those of the columns kept."""
        return (*(given if self.keep else ()), "squared_distance")

    def content(self) -> dict[str, Any]:
        """Return the centre as JSON values."""
        return {"centre": self.centre.tolist(), "keep": self.keep}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a map from its content."""
        return cls(np.asarray(content["centre"]), bool(content["keep"]))
