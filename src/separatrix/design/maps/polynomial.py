"""Polynomials: all products of at most `degree` columns, or all powers of single ones.

Columns come by degree and within a degree in the order of scikit-learn's PolynomialFeatures, without the constant,
which is the intercept's. A product of degree k is one column times a product of degree k − 1, so that each costs one
multiplication a row, and the floats are those of that order. p columns have C(p + degree, degree) − 1 products.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.maps.base import FeatureMap
from separatrix.errors import require_count


def count_products(columns: int, degree: int) -> int:
    """Return how many products of at most `degree` columns there are, the empty one not counted.

    >>> count_products(2, 2), count_products(784, 2)
    (5, 308504)
    """
    return math.comb(columns + degree, degree) - 1


@dataclass(frozen=True)
class PolynomialMap(FeatureMap):
    """All products of 1 to `degree` of p columns; without `products` only the powers x, x², … of each.

    >>> PolynomialMap(2, 2).apply(np.array([[2.0, 3.0]])).tolist(), PolynomialMap(2, 2).names(["a", "b"])
    ([[2.0, 3.0, 4.0, 6.0, 9.0]], ('a', 'b', 'a^2', 'a b', 'b^2'))
    """

    name: ClassVar[str] = "polynomial"
    columns: int
    degree: int
    products: bool = True

    def __post_init__(self) -> None:
        require_count("columns", self.columns)
        require_count("degree", self.degree)

    @property
    def inputs(self) -> int:
        """The columns it takes."""
        return self.columns

    @property
    def outputs(self) -> int:
        """The columns it gives."""
        return count_products(self.columns, self.degree) if self.products else self.columns * self.degree

    @property
    def words(self) -> str:
        """The map in a few words."""
        return f"{'polynomial' if self.products else 'powers'} of degree {self.degree}"

    def apply(self, X: Floats) -> Floats:
        """Return the products, stored by columns."""
        transposed = np.ascontiguousarray(X.T)
        mapped = np.empty((self.outputs, len(X)))
        mapped[: self.columns] = transposed
        for place, factor, first, last in self._steps():
            np.multiply(mapped[first:last], transposed[factor], out=mapped[place : place + last - first])
        return mapped.T

    def _steps(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield (place, factor, first, last): from `place` on stand the columns first to last, times the factor's."""
        p = self.columns
        starts = list(range(p))  # of the products of the last degree whose least factor is this column or a later one
        end = p
        for _ in range(1, self.degree):
            place, following = end, []
            for factor in range(p):
                first, last = starts[factor], end if self.products else starts[factor] + 1
                following.append(place)
                yield place, factor, first, last
                place += last - first
            starts, end = following, place

    def names(self, given: Sequence[str]) -> tuple[str, ...]:
        """Return names such as 'a^2 b'."""
        degrees = range(1, self.degree + 1)
        if not self.products:
            return tuple(_term({column: degree}, given) for degree in degrees for column in range(self.columns))
        each = (combinations_with_replacement(range(self.columns), degree) for degree in degrees)
        return tuple(_term(Counter(factors), given) for some in each for factors in some)

    def content(self) -> dict[str, Any]:
        """Return columns and degree as JSON values."""
        return {"columns": self.columns, "degree": self.degree, "products": self.products}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        """Make a map from its content."""
        return cls(int(content["columns"]), int(content["degree"]), bool(content["products"]))


def _term(powers: Mapping[int, int], names: Sequence[str]) -> str:
    return " ".join(names[j] if power == 1 else f"{names[j]}^{power}" for j, power in powers.items())
