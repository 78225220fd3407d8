"""Squares and products: (a, b) ↦ (a², √2 ab, b²), whose inner product is (x·z)². Two columns become three."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.maps.base import FeatureMap
from separatrix.errors import require_count

ROOT_TWO = math.sqrt(2.0)


@dataclass(frozen=True)
class ProductsMap(FeatureMap):
    """Squares of p columns and √2 times the products of two, p (p + 1) / 2 in all.

    >>> ProductsMap(2).names(["a", "b"]), ProductsMap(2).apply(np.array([[3.0, 0.0]])).tolist()
    (('a^2', 'sqrt(2) a b', 'b^2'), [[9.0, 0.0, 0.0]])
    """

    name: ClassVar[str] = "products"
    columns: int

    def __post_init__(self) -> None:
        require_count("columns", self.columns)

    @property
    def inputs(self) -> int:
        """The columns it takes."""
        return self.columns

    @property
    def outputs(self) -> int:
        """The columns it gives."""
        return self.columns * (self.columns + 1) // 2

    @property
    def words(self) -> str:
        """The map in a few words."""
        return f"squares and products of {self.columns} columns"

    def apply(self, X: Floats) -> Floats:
        """Return the products, stored by columns."""
        transposed = np.ascontiguousarray(X.T)
        mapped = np.empty((self.outputs, len(X)))
        place = 0
        for column in range(self.columns):
            following = place + self.columns - column
            np.multiply(transposed[column:], transposed[column], out=mapped[place:following])
            mapped[place + 1 : following] *= ROOT_TWO
            place = following
        return mapped.T

    def names(self, given: Sequence[str]) -> tuple[str, ...]:
        """Return names such as 'a^2' and 'sqrt(2) a b'."""
        pairs = combinations_with_replacement(given, 2)
        return tuple(f"{a}^2" if a == b else f"sqrt(2) {a} {b}" for a, b in pairs)

    def content(self) -> dict[str, Any]:
        """Return the number of columns."""
        return {"columns": self.columns}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a map from its content."""
        return cls(int(content["columns"]))
