"""Feature maps Φ: from a row of `inputs` numbers to one of `outputs`, after which any linear predictor may follow.

A map is settled: it knows its centre, degree or landmarks, and goes to JSON and back, so that whoever holds it maps the
same data alike. Where `exact`, it is made of single float operations in a fixed order: the mapped floats are then the
same in every block and on every machine. Others call on matrix products, cosines or exponentials, whose last digits
may differ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import DataError, OptionError


class FeatureMap(ABC):
    """A map of rows; `apply` takes (m, inputs) to (m, outputs)."""

    name: ClassVar[str]
    exact: ClassVar[bool] = True

    @property
    @abstractmethod
    def inputs(self) -> int:
        """How many columns it takes."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """How many columns it gives."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The map in a few words."""

    @abstractmethod
    def apply(self, X: Floats) -> Floats:
        """Return the rows mapped, (m, outputs)."""

    @abstractmethod
    def names(self, given: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the columns it gives, by those of the columns it takes."""

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """Return all that the map is made of, as JSON values."""

    @classmethod
    @abstractmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a map from its content."""

    def to_dict(self) -> dict[str, Any]:
        """Return the map as JSON values, from which `map_from_dict` makes it again."""
        return {"name": self.name, **self.content()}

    def require_width(self, columns: int) -> None:
        """Refuse rows of another number of columns."""
        if columns != self.inputs:
            raise DataError(f"X has {columns} columns; the map ({self.words}) takes {self.inputs}")


def finite_array(option: str, values: Any, dimensions: int) -> Floats:
    """Return finite numbers as a read-only array of some dimensions, else raise an OptionError."""
    try:
        array = np.array(values, dtype=np.float64, order="C")  # one order: products round alike
    except (TypeError, ValueError):
        raise OptionError(f"{option}={values!r:.60} is no array of numbers") from None
    if array.ndim != dimensions or not np.isfinite(array).all():
        shape = "a row of" if dimensions == 1 else "rows of"
        raise OptionError(f"{option} has shape {array.shape}; give {shape} finite numbers")
    array.setflags(write=False)
    return array
