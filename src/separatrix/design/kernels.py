"""Kernels: k(a, b) = Φ(a)·Φ(b) for a map Φ into some feature space, computed without the map.

    linear       a·b
    polynomial   (gamma a·b + offset)^degree
    rbf          exp(−gamma ‖a − b‖²)
    sigmoid      tanh(gamma a·b + offset), which is not an inner product for every gamma and offset
    precomputed  the kernel matrix is given in place of the rows

A kernel is called with two matrices of rows, dense or sparse, (n, p) and (m, p), and returns (n, m). `gamma="scale"` is
1 / (p · variance of all entries), computed from the training rows by `settled`.

Cost: one matrix product per call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.codec import Tag, read, write
from separatrix.errors import DataError, OptionError, did_you_mean, renamed, require_count, require_number
from separatrix.numerics import squared_distances

__all__ = [
    "ALL",
    "RBF",
    "CustomKernel",
    "Kernel",
    "Linear",
    "PolynomialKernel",
    "Precomputed",
    "Sigmoid",
    "kernel_from_dict",
    "make_kernel",
    "require_gamma",
]

Gamma = float | Literal["scale"]


@dataclass(frozen=True)
class Kernel(ABC):
    """A function from two matrices of rows, (n, p) and (m, p), to the matrix of their kernel values, (n, m)."""

    name: str = field(init=False, repr=False)
    is_inner_product: ClassVar[bool] = True  # for all values of its parameters

    @abstractmethod
    def __call__(self, A: Any, B: Any) -> Floats:
        """Return the kernel of each row of A with each row of B."""

    def diagonal(self, A: Any) -> Floats:
        """Return k(a, a) of each row, (n,)."""
        return np.array([self(A[row : row + 1], A[row : row + 1])[0, 0] for row in range(A.shape[0])])

    def settled(self, X: Any) -> Kernel:  # noqa: ARG002  # only some kernels depend on the rows
        """Return the kernel with numeric parameters, those left open computed from the training rows."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the kernel as JSON values, the input of `kernel_from_dict`."""
        return dict(write(self))


@dataclass(frozen=True)
class Linear(Kernel):
    """a·b: the inner product of the rows themselves.

    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([[11.,  2.]])
    """

    name: Literal["linear"] = field(default="linear", init=False, repr=False)

    def __call__(self, A: Any, B: Any) -> Floats:
        return _products(A, B)

    def diagonal(self, A: Any) -> Floats:
        return _squares(A)


@dataclass(frozen=True)
class _WithGamma(Kernel):
    """A kernel with a factor gamma above 0, or "scale"."""

    gamma: Gamma = "scale"

    def __post_init__(self) -> None:
        if self.gamma != "scale":
            object.__setattr__(self, "gamma", require_gamma(self.gamma))

    def settled(self, X: Any) -> Self:
        return replace(self, gamma=_scale(X)) if self.gamma == "scale" else self

    def _factor(self) -> float:
        if isinstance(self.gamma, str):
            raise OptionError(
                f'gamma="scale" of the {self.name} kernel depends on the training rows;'
                " use kernel.settled(X), or give a number"
            )
        return self.gamma


@dataclass(frozen=True)
class PolynomialKernel(_WithGamma):
    """(gamma a·b + offset)^degree: with a positive offset, all products of at most `degree` columns.

    >>> PolynomialKernel(gamma=1.0, degree=2, offset=1.0)(np.array([[1.0, 1.0]]), np.array([[2.0, 0.0]]))
    array([[9.]])
    """

    name: Literal["polynomial"] = field(default="polynomial", init=False, repr=False)
    degree: int = 3
    offset: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("degree", self.degree)
        require_number("offset", self.offset, least=0.0)

    def __call__(self, A: Any, B: Any) -> Floats:
        return _power(self._factor() * _products(A, B) + self.offset, self.degree)

    def diagonal(self, A: Any) -> Floats:
        return _power(self._factor() * _squares(A) + self.offset, self.degree)


@dataclass(frozen=True)
class RBF(_WithGamma):
    """exp(−gamma ‖a − b‖²): separates any distinct rows.

    >>> RBF(gamma=1.0)(np.array([[0.0], [1.0]]), np.array([[0.0]])).ravel().round(4).tolist()
    [1.0, 0.3679]
    """

    name: Literal["rbf"] = field(default="rbf", init=False, repr=False)

    def __call__(self, A: Any, B: Any) -> Floats:
        return np.asarray(np.exp(-self._factor() * squared_distances(_rows(A), _rows(B))))

    def diagonal(self, A: Any) -> Floats:
        return np.ones(A.shape[0])


@dataclass(frozen=True)
class Sigmoid(_WithGamma):
    """tanh(gamma a·b + offset); not an inner product for every gamma and offset."""

    name: Literal["sigmoid"] = field(default="sigmoid", init=False, repr=False)
    is_inner_product: ClassVar[bool] = False
    offset: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number("offset", self.offset)

    def __call__(self, A: Any, B: Any) -> Floats:
        return np.asarray(np.tanh(self._factor() * _products(A, B) + self.offset))

    def diagonal(self, A: Any) -> Floats:
        return np.asarray(np.tanh(self._factor() * _squares(A) + self.offset))


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The kernel matrix is given in place of the rows: (n, n) to fit, (m, n) against the n training rows to predict."""

    name: Literal["precomputed"] = field(default="precomputed", init=False, repr=False)

    def __call__(self, A: Any, B: Any) -> Floats:
        """Return A, which must have one column per row of B."""
        if A.shape[1] != B.shape[0]:
            raise DataError(
                f"a precomputed kernel needs one column per training row ({B.shape[0]}); this one has shape {A.shape}"
            )
        return dense_floats(A)

    def diagonal(self, A: Any) -> Floats:
        return np.asarray(A.diagonal(), dtype=np.float64)


@dataclass(frozen=True)
class CustomKernel(Kernel):
    """A user-defined function, from (n, p) and (m, p) to (n, m).

    >>> CustomKernel(lambda A, B: A @ B.T + 1.0)(np.eye(2), np.eye(2)).tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """

    name: Literal["own"] = field(default="own", init=False, repr=False)
    is_inner_product: ClassVar[bool] = False
    function: Callable[[Any, Any], Any]

    def __call__(self, A: Any, B: Any) -> Floats:
        """Return the function's result, checked for shape and finiteness."""
        matrix = np.asarray(self.function(A, B), dtype=np.float64)
        if matrix.shape != (A.shape[0], B.shape[0]):
            raise DataError(
                f"the kernel function returned shape {matrix.shape}; for {A.shape[0]} and {B.shape[0]} rows it must be"
                f" {(A.shape[0], B.shape[0])}"
            )
        if not np.isfinite(matrix).all():
            row, column = np.argwhere(~np.isfinite(matrix))[0].tolist()
            raise DataError(f"the kernel function returned {matrix[row, column]} for rows {row} and {column}")
        return matrix

    def to_dict(self) -> dict[str, Any]:
        """Raise an OptionError: a function is not a JSON value."""
        raise OptionError("a custom kernel function cannot be saved; compute its matrix and use Precomputed()")


ALL: tuple[Kernel, ...] = (Linear(), PolynomialKernel(), RBF(), Sigmoid(), Precomputed())
AnyKernel = Annotated[Linear | PolynomialKernel | RBF | Sigmoid | Precomputed, Tag("name")]
_BY_NAME = {kernel.name: kernel for kernel in ALL}


def make_kernel(kernel: Any, **parameters: Any) -> Kernel:
    """Return a kernel from its name and parameters, from a function of two matrices, or a kernel unchanged.

    >>> make_kernel("rbf", gamma=2.0)
    RBF(gamma=2.0)
    """
    if isinstance(kernel, str) and kernel in _BY_NAME:
        try:
            return type(_BY_NAME[kernel])(**parameters)
        except TypeError:
            known = [each.name for each in fields(_BY_NAME[kernel]) if each.init]
            raise OptionError(f"the {kernel} kernel takes {known}, not {list(parameters)}") from None
    if parameters:
        raise OptionError(f"kernel={kernel!r} takes no {list(parameters)} here; give them to the kernel itself")
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return CustomKernel(kernel)
    raise OptionError(f"kernel={kernel!r} is not a kernel{did_you_mean(str(kernel), _BY_NAME)}; or give a function")


def require_gamma(gamma: Any) -> float:
    """Return gamma if it is a positive number, else raise an OptionError that also mentions "scale"."""
    try:
        return require_number("gamma", gamma, above=0.0)
    except OptionError as wrong:
        raise OptionError(f'{wrong}, or "scale" for 1 / (columns · variance)') from None


def kernel_from_dict(data: Mapping[str, Any]) -> Kernel:
    """Make a kernel from the result of its `to_dict`."""
    kernel: Kernel = read(AnyKernel, data, "kernel")
    return kernel


def _rows(A: Any) -> Any:
    return A.astype(np.float64, copy=False)


def _power(base: Floats, degree: int) -> Floats:
    """Return a power by repeated products, whose rounding errors are known."""
    result, square = np.ones_like(base), base
    while degree:
        if degree % 2:
            result = result * square
        square, degree = square * square, degree // 2
    return result


def _products(A: Any, B: Any) -> Floats:
    return dense_floats(_rows(A) @ _rows(B).T)


def dense_floats(A: Any) -> Floats:
    """Return a matrix, dense or sparse, as an array of float64."""
    return np.asarray(A if isinstance(A, np.ndarray) else A.toarray(), dtype=np.float64)


def _squares(A: Any) -> Floats:
    A = _rows(A)
    return np.asarray((A * A if isinstance(A, np.ndarray) else A.multiply(A)).sum(axis=1)).ravel()


def _scale(X: Any) -> float:
    """Return 1 / (p · variance of all entries), or 1 / p if all entries are equal."""
    size = X.shape[0] * X.shape[1]
    dense = isinstance(X, np.ndarray)
    with np.errstate(over="ignore", invalid="ignore"):  # the result is checked below
        variance = float(np.var(X, dtype=np.float64) if dense else _squares(X).sum() / size - X.mean() ** 2)
    if not np.isfinite(variance):
        raise DataError(f'gamma="scale" needs the variance of all entries, which is {variance}; rescale the columns')
    return 1.0 / (float(X.shape[1]) * (variance if variance > 0.0 else 1.0))


def __getattr__(name: str) -> Any:
    return renamed(__name__, {"Own": CustomKernel, "Polynomial": PolynomialKernel}, name)
