"""Random Fourier features: √(2/D) cos(x·ωₖ + δₖ), whose inner product is near exp(−gamma ‖x − z‖²).

The error is of the order 1/√D. Reference: Rahimi and Recht, Random features for large-scale kernel machines (2007).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.maps.base import FeatureMap, finite_array
from separatrix.errors import OptionError


@dataclass(frozen=True, eq=False)
class FourierMap(FeatureMap):
    """Frequencies ω (p, D) and offsets δ (D,)."""

    name: ClassVar[str] = "fourier"
    exact: ClassVar[bool] = False
    frequencies: Floats
    offsets: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequencies", finite_array("frequencies", self.frequencies, 2))
        object.__setattr__(self, "offsets", finite_array("offsets", self.offsets, 1))
        if self.frequencies.shape[1] != len(self.offsets):
            raise OptionError(f"{self.frequencies.shape[1]} frequencies and {len(self.offsets)} offsets; give as many")

    @property
    def inputs(self) -> int:
        """The columns it takes."""
        return int(self.frequencies.shape[0])

    @property
    def outputs(self) -> int:
        """The columns it gives, D."""
        return len(self.offsets)

    @property
    def words(self) -> str:
        """The map in a few words."""
        return f"{self.outputs} random Fourier features"

    def apply(self, X: Floats) -> Floats:
        """Return √(2/D) cos(x·ω + δ)."""
        mapped = np.asarray(X @ self.frequencies)
        mapped += self.offsets
        np.cos(mapped, out=mapped)
        mapped *= np.sqrt(2.0 / self.outputs)
        return mapped

    def names(self, given: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002  # each is made of all columns
        """Return fourier1, fourier2, …"""
        return tuple(f"fourier{k + 1}" for k in range(self.outputs))

    def content(self) -> dict[str, Any]:
        """Return frequencies and offsets as JSON values."""
        return {"frequencies": self.frequencies.tolist(), "offsets": self.offsets.tolist()}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a map from its content."""
        return cls(np.asarray(content["frequencies"]), np.asarray(content["offsets"]))
