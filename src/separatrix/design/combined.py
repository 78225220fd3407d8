"""Maps that choose or combine columns: how fits see some columns, or other coordinates, of rows in any storage.

They are applied as the rows are read (`design.mapped`) and, unlike the feature maps of users, have no JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.design.maps import FeatureMap
from separatrix.numerics import compensated_dots


@dataclass(frozen=True, eq=False)
class ColumnsMap(FeatureMap):
    """Some of the input columns.

    >>> ColumnsMap(np.array([0, 2]), 3).names(["a", "b", "c"])
    ('a', 'c')
    """

    chosen: Indices
    columns: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.columns, len(self.chosen)

    @property
    def words(self) -> str:
        return f"{len(self.chosen)} of {self.columns} columns"

    def apply(self, X: Floats) -> Floats:
        return np.asarray(X[:, self.chosen])

    def names(self, inputs: Sequence[str]) -> tuple[str, ...]:
        return tuple(inputs[column] for column in self.chosen)


@dataclass(frozen=True, eq=False)
class AffineMap(FeatureMap):
    """The rows, after a 1, times a matrix (1 + inputs, outputs); if `careful`, rounded from twice the precision."""

    exact: ClassVar[bool] = False
    matrix: Floats
    careful: bool

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.matrix) - 1, self.matrix.shape[1]

    @property
    def words(self) -> str:
        return f"{self.outputs} combinations of columns"

    def apply(self, X: Floats) -> Floats:
        if not self.careful:
            return np.asarray(X @ self.matrix[1:] + self.matrix[0])
        columns, mapped = np.column_stack([np.ones(len(X)), X]), np.empty((len(X), self.outputs))
        for place, each in enumerate(self.matrix.T):
            mapped[:, place] = sum(compensated_dots(np.asfortranarray(columns), each))
        return mapped
