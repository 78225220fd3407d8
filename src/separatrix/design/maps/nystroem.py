"""Nyström features: k(x, landmarks) times a root of the landmarks' inverse kernel matrix.

Their inner product is the kernel itself between landmarks, and near it elsewhere. Reference: Williams and Seeger, Using
the Nyström method to speed up kernel machines (2001).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.kernels import Kernel, kernel_from_dict
from separatrix.design.maps.base import FeatureMap, finite_array
from separatrix.errors import DataError

NO_RANK = 1e-12  # of the largest eigenvalue: below, a direction of the landmarks is rounding


@dataclass(frozen=True, eq=False)
class NystroemMap(FeatureMap):
    """A kernel, landmarks (m, p) and the factor (m, r) that the kernel values with them are multiplied by."""

    name: ClassVar[str] = "nystroem"
    exact: ClassVar[bool] = False
    kernel: Kernel
    landmarks: Floats
    factor: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "landmarks", finite_array("landmarks", self.landmarks, 2))
        object.__setattr__(self, "factor", finite_array("factor", self.factor, 2))

    @property
    def inputs(self) -> int:
        """The columns it takes."""
        return int(self.landmarks.shape[1])

    @property
    def outputs(self) -> int:
        """The columns it gives."""
        return int(self.factor.shape[1])

    @property
    def words(self) -> str:
        """The map in a few words."""
        return f"Nyström features of the {self.kernel.name} kernel with {len(self.landmarks)} landmarks"

    def apply(self, X: Floats) -> Floats:
        """Return k(x, landmarks) times the factor."""
        return np.asarray(self.kernel(X, self.landmarks) @ self.factor)

    def names(self, given: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002  # each is made of all columns
        """Return nystroem1, nystroem2, …"""
        return tuple(f"nystroem{k + 1}" for k in range(self.outputs))

    def content(self) -> dict[str, Any]:
        """Return kernel, landmarks and factor as JSON values."""
        return {
            "kernel": self.kernel.to_dict(),
            "landmarks": self.landmarks.tolist(),
            "factor": self.factor.tolist(),
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a map from its content."""
        kernel = kernel_from_dict(content["kernel"])
        return cls(kernel, np.asarray(content["landmarks"]), np.asarray(content["factor"]))


def nystroem_map(kernel: Kernel, landmarks: Any) -> NystroemMap:
    """Return the map of a settled kernel and some landmarks (m, p): U S^(−½) of their kernel matrix U S Uᵗ."""
    values, vectors = np.linalg.eigh(kernel(landmarks, landmarks))
    kept = values > NO_RANK * max(float(values[-1]), 0.0)
    if not kept.any():
        raise DataError(f"the {kernel.name} kernel of the landmarks has no positive eigenvalue; give another kernel")
    return NystroemMap(kernel, landmarks, vectors[:, kept] / np.sqrt(values[kept]))
