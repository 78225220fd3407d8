"""Feature maps Φ: from a row of `inputs` numbers to one of `outputs`, before any linear predictor.

    squared distance  Σ (xⱼ − μⱼ)² to a centre μ: an interval becomes a half-line, a ball a half-space
    polynomial        all products of at most `degree` columns, or all powers of single columns
    products          (a, b) ↦ (a², √2 ab, b²), whose inner product is (x·z)²
    fourier           √(2/D) cos(x·ωₖ + δₖ), whose inner product approximates exp(−gamma ‖x − z‖²)
    nystroem          k(x, landmarks) S^(−½), whose inner product approximates the kernel k

A map has all its parameters (centre, degree, landmarks) and converts to and from JSON. An `exact` map consists of
single floating-point operations in a fixed order, so its output is the same in every block and on every machine. The
others use matrix products, cosines or exponentials, whose last digits may differ.

Polynomial columns are ordered as in scikit-learn's PolynomialFeatures, without the constant, which is the intercept.

Cost: one multiplication per row and product (p columns have C(p + degree, degree) − 1 products); a matrix product for
Fourier features, whose error is of the order 1/√D, and for Nyström features, which are exact between landmarks.

References: Rahimi and Recht, Random features for large-scale kernel machines (2007); Williams and Seeger, Using the
Nyström method to speed up kernel machines (2001).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from separatrix.arrays import Floats
from separatrix.codec import Shape, Tag, read, write
from separatrix.design.kernels import AnyKernel, Kernel
from separatrix.errors import DataError, OptionError, require_count

NO_RANK = 1e-12  # relative to the largest eigenvalue of the landmarks' kernel matrix: smaller ones are rounding
ROOT_TWO = math.sqrt(2.0)
MOST_FACTORS = 50  # more columns and a higher degree make over 2^50 products


@dataclass(frozen=True, eq=False)
class FeatureMap(ABC):
    """A map of rows: `apply` maps (m, inputs) to (m, outputs)."""

    name: str = field(init=False, repr=False)
    exact: ClassVar[bool] = True

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The numbers of input and output columns."""

    @property
    def inputs(self) -> int:
        """The number of input columns."""
        return self.shape[0]

    @property
    def outputs(self) -> int:
        """The number of output columns."""
        return self.shape[1]

    @property
    @abstractmethod
    def words(self) -> str:
        """A short description of the map."""

    @abstractmethod
    def apply(self, X: Floats) -> Floats:
        """Return the mapped rows, (m, outputs)."""

    def names(self, inputs: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002  # unless each uses all columns
        """Return the names of the output columns, from those of the input columns."""
        return tuple(f"{self.name}{k + 1}" for k in range(self.outputs))

    def to_dict(self) -> dict[str, Any]:
        """Return the map as JSON values, the input of `map_from_dict`."""
        return dict(write(self))

    def require_width(self, columns: int) -> None:
        """Raise a DataError unless the number of columns is that of the map's inputs."""
        if columns != self.inputs:
            raise DataError(f"X has {columns} columns; the map ({self.words}) takes {self.inputs}")


def finite_array(option: str, values: Any, dimensions: int) -> Floats:
    """Return finite numbers as a read-only array with `dimensions` axes, else raise an OptionError."""
    try:
        array = np.array(values, dtype=np.float64, order="C")  # products round differently in Fortran order
    except (TypeError, ValueError):
        raise OptionError(f"{option}={values!r:.60} is not an array of numbers") from None
    if array.ndim != dimensions or not np.isfinite(array).all():
        shape = "a row of" if dimensions == 1 else "rows of"
        raise OptionError(f"{option} has shape {array.shape}; give {shape} finite numbers")
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class FourierMap(FeatureMap):
    """Random Fourier features with frequencies ω (p, D) and offsets δ (D,)."""

    name: Literal["fourier"] = field(default="fourier", init=False, repr=False)
    exact: ClassVar[bool] = False
    frequencies: Annotated[Floats, Shape("inputs", "outputs")]
    offsets: Annotated[Floats, Shape("outputs")]

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequencies", finite_array("frequencies", self.frequencies, 2))
        object.__setattr__(self, "offsets", finite_array("offsets", self.offsets, 1))
        if self.frequencies.shape[1] != len(self.offsets):
            raise OptionError(
                f"{self.frequencies.shape[1]} frequencies and {len(self.offsets)} offsets; give one for each frequency"
            )

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.frequencies), len(self.offsets)

    @property
    def words(self) -> str:
        return f"{self.outputs} random Fourier features"

    def apply(self, X: Floats) -> Floats:
        mapped = np.asarray(X @ self.frequencies)
        mapped += self.offsets
        np.cos(mapped, out=mapped)
        mapped *= np.sqrt(2.0 / self.outputs)
        return mapped


@dataclass(frozen=True, eq=False)
class NystroemMap(FeatureMap):
    """Nyström features: the kernel with landmarks (m, p), times a factor (m, r)."""

    name: Literal["nystroem"] = field(default="nystroem", init=False, repr=False)
    exact: ClassVar[bool] = False
    kernel: AnyKernel
    landmarks: Annotated[Floats, Shape("landmarks", "inputs")]
    factor: Annotated[Floats, Shape("landmarks", "outputs")]

    def __post_init__(self) -> None:
        object.__setattr__(self, "landmarks", finite_array("landmarks", self.landmarks, 2))
        object.__setattr__(self, "factor", finite_array("factor", self.factor, 2))

    @property
    def shape(self) -> tuple[int, int]:
        return self.landmarks.shape[1], self.factor.shape[1]

    @property
    def words(self) -> str:
        return f"Nyström features of the {self.kernel.name} kernel with {len(self.landmarks)} landmarks"

    def apply(self, X: Floats) -> Floats:
        return np.asarray(self.kernel(X, self.landmarks) @ self.factor)


def nystroem_map(kernel: Kernel, landmarks: Any) -> NystroemMap:
    """Return the map of a kernel and landmarks (m, p); its factor is U S^(−½) for their kernel matrix U S Uᵗ."""
    values, vectors = np.linalg.eigh(kernel(landmarks, landmarks))
    positive = values > NO_RANK * max(float(values[-1]), 0.0)
    if not positive.any():
        raise DataError(f"the {kernel.name} kernel of the landmarks has no positive eigenvalue; give another kernel")
    factor = vectors[:, positive] / np.sqrt(values[positive])
    return NystroemMap(kernel, landmarks, factor)  # type: ignore[arg-type]  # a CustomKernel too, which JSON lacks


def count_products(columns: int, degree: int) -> int:
    """Return the number of products of 1 to `degree` columns.

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

    name: Literal["polynomial"] = field(default="polynomial", init=False, repr=False)
    columns: int
    degree: int
    products: bool = True

    def __post_init__(self) -> None:
        require_count("columns", self.columns)
        require_count("degree", self.degree)
        most = 2**MOST_FACTORS
        if min(self.columns, self.degree) > MOST_FACTORS or max(self.columns, self.degree) > most:  # at least 2^min
            raise OptionError(
                f"degree={self.degree:.3g} for {self.columns:.3g} columns gives over 2^{MOST_FACTORS} products"
            )

    @property
    def shape(self) -> tuple[int, int]:
        p, degree = self.columns, self.degree
        return p, count_products(p, degree) if self.products else p * degree

    @property
    def words(self) -> str:
        return f"{'polynomial' if self.products else 'powers'} of degree {self.degree}"

    def apply(self, X: Floats) -> Floats:
        """Return the products in column-major order."""
        transposed = np.ascontiguousarray(X.T)
        mapped = np.empty((self.outputs, len(X)))
        mapped[: self.columns] = transposed
        for place, factor, first, last in self._steps():
            np.multiply(mapped[first:last], transposed[factor], out=mapped[place : place + last - first])
        return mapped.T

    def _steps(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield (place, factor, first, last): outputs `place`, … are outputs first to last times column `factor`."""
        p = self.columns
        starts = list(range(p))  # first product of the last degree whose smallest factor is this column or a later one
        end = p
        for _ in range(1, self.degree):
            place, following = end, []
            for factor in range(p):
                first, last = starts[factor], end if self.products else starts[factor] + 1
                following.append(place)
                yield place, factor, first, last
                place += last - first
            starts, end = following, place

    def names(self, inputs: Sequence[str]) -> tuple[str, ...]:
        degrees = range(1, self.degree + 1)
        if not self.products:
            return tuple(_term({column: degree}, inputs) for degree in degrees for column in range(self.columns))
        by_degree = (combinations_with_replacement(range(self.columns), degree) for degree in degrees)
        return tuple(_term(Counter(factors), inputs) for products in by_degree for factors in products)


def _term(powers: Mapping[int, int], names: Sequence[str]) -> str:
    return " ".join(names[j] if power == 1 else f"{names[j]}^{power}" for j, power in powers.items())


@dataclass(frozen=True)
class ProductsMap(FeatureMap):
    """Squares of p columns and √2 times the products of two columns, p (p + 1) / 2 in all.

    >>> ProductsMap(2).names(["a", "b"]), ProductsMap(2).apply(np.array([[3.0, 0.0]])).tolist()
    (('a^2', 'sqrt(2) a b', 'b^2'), [[9.0, 0.0, 0.0]])
    """

    name: Literal["products"] = field(default="products", init=False, repr=False)
    columns: int

    def __post_init__(self) -> None:
        require_count("columns", self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        return self.columns, self.columns * (self.columns + 1) // 2

    @property
    def words(self) -> str:
        return f"squares and products of {self.columns} columns"

    def apply(self, X: Floats) -> Floats:
        """Return the products in column-major order."""
        transposed = np.ascontiguousarray(X.T)
        mapped = np.empty((self.outputs, len(X)))
        place = 0
        for column in range(self.columns):
            following = place + self.columns - column
            np.multiply(transposed[column:], transposed[column], out=mapped[place:following])
            mapped[place + 1 : following] *= ROOT_TWO
            place = following
        return mapped.T

    def names(self, inputs: Sequence[str]) -> tuple[str, ...]:
        pairs = combinations_with_replacement(inputs, 2)
        return tuple(f"{a}^2" if a == b else f"sqrt(2) {a} {b}" for a, b in pairs)


@dataclass(frozen=True, eq=False)
class SquaredDistanceMap(FeatureMap):
    """The squared distance to `centre` (p,) as one column; with `keep`, after the input columns.

    >>> SquaredDistanceMap([1.0]).apply(np.array([[0.0], [1.0], [3.0]])).ravel().tolist()
    [1.0, 0.0, 4.0]
    """

    name: Literal["squared distance"] = field(default="squared distance", init=False, repr=False)
    centre: Annotated[Floats, Shape("inputs")]
    keep: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", finite_array("centre", self.centre, 1))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.centre), 1 + len(self.centre) * self.keep

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

    def names(self, inputs: Sequence[str]) -> tuple[str, ...]:
        return (*(inputs if self.keep else ()), "squared_distance")


ALL: tuple[type[FeatureMap], ...] = (SquaredDistanceMap, PolynomialMap, ProductsMap, FourierMap, NystroemMap)
AnyMap = Annotated[SquaredDistanceMap | PolynomialMap | ProductsMap | FourierMap | NystroemMap, Tag("name")]


def map_from_dict(data: Mapping[str, Any]) -> FeatureMap:
    """Make a map from the result of its `to_dict`."""
    feature_map: FeatureMap = read(AnyMap, data, "map")
    return feature_map
