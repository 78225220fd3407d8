"""Kernel machines in a model: scores Σ cⱼ k(x, xⱼ) + b over support vectors xⱼ, and their part of a model file.

Several classes have one machine with a score for each, or for each pair of them, whose votes are counted; `OneVsRest`
has one machine for each class. Cost of a score: one kernel value per support vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.codec import Items, Shape, Tag
from separatrix.design.kernel_matrix import by_rows, kernel_scores
from separatrix.design.kernels import RBF, CustomKernel, Kernel, Linear, PolynomialKernel, Precomputed, Sigmoid
from separatrix.errors import OptionError
from separatrix.families.base import Fitted, pair_votes

NAMES = ("linear", "polynomial", "rbf", "sigmoid")
PortableKernel = Annotated[Linear | PolynomialKernel | RBF | Sigmoid, Tag("name")]


@dataclass(frozen=True, eq=False)
class KernelMachine:
    """A kernel, support vectors (m, p), dense or CSR, their coefficients (K, m), and intercepts (K,)."""

    kernel: PortableKernel
    vectors: Annotated[Any, Shape("vectors", "features")]
    coef: Annotated[Floats, Shape("scores", "vectors")]
    intercept: Annotated[Floats, Shape("scores")]

    def __post_init__(self) -> None:
        if getattr(self.kernel, "gamma", None) == "scale":
            raise ValueError('kernel.gamma is "scale"; a number is needed')

    def scores(self, X: Any) -> Floats:
        """Return the scores (n, K) of rows X (n, p), dense or sparse."""
        places = np.arange(self.coef.shape[1])
        return kernel_scores(self.kernel, by_rows(X), self.vectors, places, self.coef) + self.intercept


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """The machines of a model; with `votes` they have a score for each pair of classes."""

    votes: bool
    machines: Annotated[tuple[KernelMachine, ...], Items(1)]

    @property
    def support(self) -> int:
        """The number of support vectors of all machines."""
        return sum(machine.coef.shape[1] for machine in self.machines)

    def scores(self, X: Any, n_classes: int) -> Floats:
        """Return one score per class, (n, K), or (n, 1) for two classes."""
        scores = np.column_stack([machine.scores(X) for machine in self.machines])
        return pair_votes(scores, n_classes) if self.votes else scores

    def check(self, n_features: int, n_classes: int) -> None:
        """Raise a ValueError unless the machines have a score for each class or pair, of so many features."""
        one_score = 1 if n_classes == 2 else n_classes
        expected = n_classes * (n_classes - 1) // 2 if self.votes else one_score
        count = sum(len(machine.coef) for machine in self.machines)
        if n_classes < 2 or count != expected:
            raise ValueError(f"kernel has {count} rows of coef, where the classes ask for {expected}")
        if any(len(each.vectors) and each.vectors.shape[1] != n_features for each in self.machines):
            raise ValueError(f"kernel has vectors whose length is not {n_features}, the number of features")

    def as_sparse(self) -> KernelExpansion:
        """Return the machines with sparse support vectors, for a model of sparse rows."""
        from scipy.sparse import csr_array  # noqa: PLC0415  # a tenth of a second, which dense tables save

        machines = (replace(machine, vectors=csr_array(machine.vectors)) for machine in self.machines)
        return replace(self, machines=tuple(machines))


def require_portable_kernel(kernel: Any) -> None:
    """Raise an OptionError for a kernel that a model of columns cannot hold."""
    if isinstance(kernel, Precomputed) or kernel == "precomputed":
        problem = "kernel='precomputed' is a matrix of rows against rows, which a model of columns cannot compute"
    elif isinstance(kernel, CustomKernel) or (callable(kernel) and not isinstance(kernel, Kernel)):
        problem = "a kernel function of your own cannot be written to a model file"
    else:
        return
    raise OptionError(f"{problem}; name a kernel, as {', '.join(map(repr, NAMES))}, or give one of sx.kernels")


def expansion_of(fitted: Fitted) -> KernelExpansion | None:
    """Return the machines of a fit, None for a linear one."""
    machines = tuple(_machines(fitted))
    votes = fitted.labels is not None and len(fitted.labels) > 2 and len(machines) == 1
    votes = votes and fitted.options.plain().get("multiclass") == "one_vs_one"
    return KernelExpansion(votes, machines) if machines else None


def _machines(fitted: Fitted) -> Iterator[KernelMachine]:
    """Yield the machine of a fit, or those of the fits that were joined to it."""
    for part in fitted.details.get("parts", ()):
        yield from _machines(part)
    kernel = fitted.details.get("kernel")
    if kernel is not None:
        require_portable_kernel(kernel)
        coef = fitted.coef[:, fitted.coef.any(axis=0)]
        yield KernelMachine(kernel, fitted.details["support_vectors"], coef, fitted.intercept)
