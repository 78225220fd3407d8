"""Feature maps Φ: from a row of `inputs` numbers to one of `outputs`, after which any linear predictor may follow.

A map is settled: it knows its centre, degree or landmarks, and goes to JSON and back, so that whoever holds it maps the
same data alike. Where `exact`, it is made of single float operations in a fixed order: the mapped floats are then the
same in every block and on every machine. Others call on matrix products, cosines or exponentials, whose last digits
may differ.

Random Fourier features: √(2/D) cos(x·ωₖ + δₖ), whose inner product is near exp(−gamma ‖x − z‖²).

The error is of the order 1/√D. Reference: Rahimi and Recht, Random features for large-scale kernel machines (2007).

Nyström features: k(x, landmarks) times a root of the landmarks' inverse kernel matrix.

Their inner product is the kernel itself between landmarks, and near it elsewhere. Reference: Williams and Seeger, Using
the Nyström method to speed up kernel machines (2001).

Polynomials: all products of at most `degree` columns, or all powers of single ones.

Columns come by degree and within a degree in the order of scikit-learn's PolynomialFeatures, without the constant,
which is the intercept's. A product of degree k is one column times a product of degree k − 1, so that each costs one
multiplication a row, and the floats are those of that order. p columns have C(p + degree, degree) − 1 products.

Squares and products: (a, b) ↦ (a², √2 ab, b²), whose inner product is (x·z)². Two columns become three.

The squared distance to a centre, Σ (xⱼ − μⱼ)²: an interval becomes a halfline, a ball a halfspace.

Feature maps as settled, plain objects; `ALL` holds their classes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.kernels import Kernel, kernel_from_dict
from separatrix.errors import DataError, OptionError, did_you_mean, require_count


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
        return int(self.frequencies.shape[0])

    @property
    def outputs(self) -> int:
        return len(self.offsets)

    @property
    def words(self) -> str:
        return f"{self.outputs} random Fourier features"

    def apply(self, X: Floats) -> Floats:
        mapped = np.asarray(X @ self.frequencies)
        mapped += self.offsets
        np.cos(mapped, out=mapped)
        mapped *= np.sqrt(2.0 / self.outputs)
        return mapped

    def names(self, given: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002  # each is made of all columns
        return tuple(f"fourier{k + 1}" for k in range(self.outputs))

    def content(self) -> dict[str, Any]:
        return {"frequencies": self.frequencies.tolist(), "offsets": self.offsets.tolist()}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        return cls(np.asarray(content["frequencies"]), np.asarray(content["offsets"]))


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
        return int(self.landmarks.shape[1])

    @property
    def outputs(self) -> int:
        return int(self.factor.shape[1])

    @property
    def words(self) -> str:
        return f"Nyström features of the {self.kernel.name} kernel with {len(self.landmarks)} landmarks"

    def apply(self, X: Floats) -> Floats:
        return np.asarray(self.kernel(X, self.landmarks) @ self.factor)

    def names(self, given: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002  # each is made of all columns
        return tuple(f"nystroem{k + 1}" for k in range(self.outputs))

    def content(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel.to_dict(),
            "landmarks": self.landmarks.tolist(),
            "factor": self.factor.tolist(),
        }

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        kernel = kernel_from_dict(content["kernel"])
        return cls(kernel, np.asarray(content["landmarks"]), np.asarray(content["factor"]))


def nystroem_map(kernel: Kernel, landmarks: Any) -> NystroemMap:
    """Return the map of a settled kernel and some landmarks (m, p): U S^(−½) of their kernel matrix U S Uᵗ."""
    values, vectors = np.linalg.eigh(kernel(landmarks, landmarks))
    kept = values > NO_RANK * max(float(values[-1]), 0.0)
    if not kept.any():
        raise DataError(f"the {kernel.name} kernel of the landmarks has no positive eigenvalue; give another kernel")
    return NystroemMap(kernel, landmarks, vectors[:, kept] / np.sqrt(values[kept]))


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
        return self.columns

    @property
    def outputs(self) -> int:
        return count_products(self.columns, self.degree) if self.products else self.columns * self.degree

    @property
    def words(self) -> str:
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
        degrees = range(1, self.degree + 1)
        if not self.products:
            return tuple(_term({column: degree}, given) for degree in degrees for column in range(self.columns))
        each = (combinations_with_replacement(range(self.columns), degree) for degree in degrees)
        return tuple(_term(Counter(factors), given) for some in each for factors in some)

    def content(self) -> dict[str, Any]:
        return {"columns": self.columns, "degree": self.degree, "products": self.products}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        return cls(int(content["columns"]), int(content["degree"]), bool(content["products"]))


def _term(powers: Mapping[int, int], names: Sequence[str]) -> str:
    return " ".join(names[j] if power == 1 else f"{names[j]}^{power}" for j, power in powers.items())


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
        return self.columns

    @property
    def outputs(self) -> int:
        return self.columns * (self.columns + 1) // 2

    @property
    def words(self) -> str:
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
        pairs = combinations_with_replacement(given, 2)
        return tuple(f"{a}^2" if a == b else f"sqrt(2) {a} {b}" for a, b in pairs)

    def content(self) -> dict[str, Any]:
        return {"columns": self.columns}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        return cls(int(content["columns"]))


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
        return len(self.centre)

    @property
    def outputs(self) -> int:
        return 1 + self.inputs * self.keep

    @property
    def words(self) -> str:
        shown = ", ".join(f"{value:.6g}" for value in self.centre[:4].tolist()) + (", …" if self.inputs > 4 else "")
        return f"squared distance to ({shown})" + (", columns kept" if self.keep else "")

    def apply(self, X: Floats) -> Floats:
        total = np.zeros(len(X))
        for column, middle in zip(X.T, self.centre, strict=True):
            offset = column - middle
            total += offset * offset
        return np.column_stack([X, total]) if self.keep else total[:, np.newaxis]

    def names(self, given: Sequence[str]) -> tuple[str, ...]:
        return (*(given if self.keep else ()), "squared_distance")

    def content(self) -> dict[str, Any]:
        return {"centre": self.centre.tolist(), "keep": self.keep}

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        return cls(np.asarray(content["centre"]), bool(content["keep"]))


ALL: tuple[type[FeatureMap], ...] = (SquaredDistanceMap, PolynomialMap, ProductsMap, FourierMap, NystroemMap)


def map_from_dict(data: Mapping[str, Any]) -> FeatureMap:
    """Make a map from what `to_dict` returned; an unknown name raises a ValueError."""
    known = {kind.name: kind for kind in ALL}
    name = data["name"]
    if name not in known:
        raise ValueError(f"unknown map {name!r}{did_you_mean(str(name), known)}")
    return known[name].from_content(data)
