"""The interface of losses: functions of a score and a target, `(eta, y)`, independent of the design matrix.

    value ℓ(eta, y)    slope ∂ℓ/∂eta    curvature ∂²ℓ/∂eta²    conjugate ℓ*(s, y) = sup over eta of s·eta − ℓ(eta, y)

For labels y = ±1 the margin is m = y·eta. Value, slope and curvature take numbers, or arrays of any shape elementwise;
a `ScalarLoss` also has them as machine code (`Hinge.slope.compiled`) for compiled loops. They are finite wherever the
exact result is in the range of a float; a conjugate is +inf outside its domain. A classification loss raises an
error for y other than ±1 when it is called; `expand` and `function`, for passes and loops over a checked target, do not
check. Cost: O(1) per row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np

from separatrix.errors import DataError, NeedsError
from separatrix.jit import Arguments, Elementwise, Result, Scalar, scalar
from separatrix.loops.sweep import terms_of

Target = Literal["labels", "numbers", "classes"]


class Loss(ABC):
    """The cost of a prediction, with the properties of the loss that solvers and certificates use.

    `target` says what y is: labels ±1, real numbers, or classes 0, …, K−1. `kinks` are the margins at which the slope
    jumps; there `slope` is one of the subgradients. `curvature_bound` is an upper bound on the curvature (on the
    largest eigenvalue, if it is a matrix) over all eta; None if it is unbounded or does not exist. `quadratic` means
    that the curvature is constant. `entropic` means that the conjugate is minus the entropy of |slope|, between 0 and
    1, so that the curvature is at most |slope| and 1 − |slope|.
    """

    name: ClassVar[str]
    target: ClassVar[Target] = "labels"
    convex: ClassVar[bool] = True
    kinks: ClassVar[tuple[float, ...]] = ()
    has_curvature: ClassVar[bool]
    curvature_bound: ClassVar[float | None] = None
    quadratic: ClassVar[bool] = False
    entropic: ClassVar[bool] = False

    @staticmethod
    @abstractmethod
    def value(eta: Any, y: Any) -> Any:
        """Return the loss of each row."""

    @staticmethod
    @abstractmethod
    def slope(eta: Any, y: Any) -> Any:
        """Return the derivative of the value in eta; at a kink, a subgradient."""

    @classmethod
    def curvature(cls, eta: Any, y: Any) -> Any:  # noqa: ARG003  # for losses that have one
        """Return the second derivative of the value in eta; raise a NeedsError if the loss has none."""
        places = ", ".join(f"{kink:g}" for kink in cls.kinks)
        raise NeedsError(
            f"the {cls.name} loss has no curvature: it has a kink at margin {places}; "
            "use a solver that needs only slopes, or the squared hinge or logistic loss"
        )

    def expand(self, eta: Any, y: Any, order: int) -> tuple[Any, ...]:
        """Return (value,), (value, slope) or (value, slope, curvature) for order 0, 1 or 2; losses may share work."""
        functions = (self.value, self.slope, self.curvature)[: order + 1]
        return tuple(getattr(each, "function", each)(eta, y) for each in functions)

    @staticmethod
    @abstractmethod
    def conjugate(slope: Any, y: Any) -> Any:
        """Return the supremum over eta of slope·eta − value(eta, y), +inf outside its domain."""

    @classmethod
    def of_margin(cls, margin: Any) -> Any:
        """Return the loss as a function of the margin alone; raise a NeedsError if y is not a label."""
        if cls.target != "labels":
            raise NeedsError(
                f"the {cls.name} loss is not a function of the margin: its y are {cls.target}, not labels ±1; "
                "call value(eta, y), or use a classification loss such as the logistic loss"
            )
        return cls.value(margin, 1.0)


class ScalarLoss(Loss):
    """A loss with one score per row, whose value, slope and (if any) curvature also exist compiled."""

    @staticmethod
    @scalar
    @abstractmethod
    def value(eta: Any, y: Any) -> Any:
        """Return the loss of each row."""

    @staticmethod
    @scalar
    @abstractmethod
    def slope(eta: Any, y: Any) -> Any:
        """Return the derivative of the value in eta; at a kink, a subgradient."""

    @property
    def row_terms(self) -> Elementwise[..., None]:
        """Value, slope and curvature of many rows as a compiled loop."""
        return terms_of(self.value, self.slope, *([self.curvature] if self.has_curvature else []))


class OfLabels(Scalar[Arguments, Result]):
    """A scalar of a score, or a slope, and a label y; a call raises an error for labels other than ±1."""

    def __call__(self, *arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        require_signs(options["y"] if "y" in options else arguments[1])
        return self.function(*arguments, **options)


of_labels = OfLabels  # its name as a decorator


def require_signs(y: Any) -> None:
    """Raise a DataError if a label is not −1 or +1."""
    try:
        labels = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        labels = np.asarray(np.nan)
    wrong = np.abs(labels) != 1.0
    if wrong.any():
        value = np.asarray(y)[wrong].flat[0].item()
        raise DataError(
            f"y has the label {value!r:.60}; classification losses take −1 and +1 (for labels 0 and 1, pass 2·y − 1)"
        )


def in_domain(domain: Any, formula: Any) -> Any:
    """Return the formula inside the domain and +inf outside; a scalar for scalars."""
    return np.where(domain, formula, np.inf)[()]
