"""Kernel machines in a model: scores Σ cⱼ k(x, xⱼ) + b over support vectors xⱼ, and their part of a model file.

Several classes have one machine with a score for each, or for each pair of them, whose votes are counted; `OneVsRest`
has one machine for each class. Cost of a score: one kernel value per support vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.codec import Record
from separatrix.design.encode.encoding import Encoding
from separatrix.design.kernel_matrix import by_rows, kernel_scores
from separatrix.design.kernels import ALL, CustomKernel, Kernel, Precomputed, make_kernel
from separatrix.errors import ModelFileError, OptionError
from separatrix.families.base import Fitted, pair_votes

NAMED = {kernel.name: kernel for kernel in ALL if not isinstance(kernel, Precomputed)}


@dataclass(frozen=True, eq=False)
class KernelMachine:
    """A kernel, support vectors (m, p), dense or CSR, their coefficients (K, m), and intercepts (K,)."""

    kernel: Kernel
    vectors: Any
    coef: Floats
    intercept: Floats

    def scores(self, X: Any) -> Floats:
        """Return the scores (n, K) of rows X (n, p), dense or sparse."""
        places = np.arange(self.coef.shape[1])
        return kernel_scores(self.kernel, by_rows(X), self.vectors, places, self.coef) + self.intercept

    def to_dict(self) -> dict[str, Any]:
        """Return the machine as JSON values, floats exact."""
        vectors = self.vectors.toarray() if hasattr(self.vectors, "toarray") else self.vectors
        return {
            "kernel": self.kernel.to_dict(),
            "vectors": np.asarray(vectors, dtype=np.float64).tolist(),
            "coef": self.coef.tolist(),
            "intercept": self.intercept.tolist(),
        }


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """The machines of a model; with `votes` they have a score for each pair of classes."""

    machines: tuple[KernelMachine, ...]
    votes: bool

    @property
    def support(self) -> int:
        """The number of support vectors of all machines."""
        return sum(machine.coef.shape[1] for machine in self.machines)

    def scores(self, X: Any, n_classes: int) -> Floats:
        """Return one score per class, (n, K), or (n, 1) for two classes."""
        scores = np.column_stack([machine.scores(X) for machine in self.machines])
        return pair_votes(scores, n_classes) if self.votes else scores

    def to_dict(self) -> dict[str, Any]:
        """Return the entry `kernel` of a model file."""
        return {"votes": self.votes, "machines": [machine.to_dict() for machine in self.machines]}


def require_portable_kernel(kernel: Any) -> None:
    """Raise an OptionError for a kernel that a model of columns cannot hold."""
    if isinstance(kernel, Precomputed) or kernel == "precomputed":
        problem = "kernel='precomputed' is a matrix of rows against rows, which a model of columns cannot compute"
    elif isinstance(kernel, CustomKernel) or (callable(kernel) and not isinstance(kernel, Kernel)):
        problem = "a kernel function of your own cannot be written to a model file"
    else:
        return
    raise OptionError(f"{problem}; name a kernel, as {', '.join(map(repr, NAMED))}, or give one of sx.kernels")


def expansion_of(fitted: Fitted) -> KernelExpansion | None:
    """Return the machines of a fit, None for a linear one."""
    machines = tuple(_machines(fitted))
    votes = fitted.labels is not None and len(fitted.labels) > 2 and len(machines) == 1
    return (
        KernelExpansion(machines, votes and fitted.options.plain().get("multiclass") == "one_vs_one")
        if machines
        else None
    )


def _machines(fitted: Fitted) -> Iterator[KernelMachine]:
    """Yield the machine of a fit, or those of the fits that were joined to it."""
    for part in fitted.details.get("parts", ()):
        yield from _machines(part)
    kernel = fitted.details.get("kernel")
    if kernel is not None:
        require_portable_kernel(kernel)
        coef = fitted.coef[:, fitted.coef.any(axis=0)]
        yield KernelMachine(kernel, fitted.details["support_vectors"], coef, fitted.intercept)


def read_expansion(record: Record, encoding: Encoding, n_classes: int) -> KernelExpansion | None:
    """Return the kernel machines of a model file, None if it has none; a ModelFileError names the place of a fault."""
    if not record.has("kernel"):
        return None
    entry = record.record("kernel")
    expansion = KernelExpansion(
        tuple(_read_machine(each, encoding) for each in entry.records("machines")), entry.flag("votes")
    )
    one_score = 1 if n_classes == 2 else n_classes
    expected = n_classes * (n_classes - 1) // 2 if expansion.votes else one_score
    count = sum(len(machine.coef) for machine in expansion.machines)
    if n_classes < 2 or count != expected:
        raise ModelFileError(f"kernel has {count} rows of coef, where the classes ask for {expected}")
    return expansion


def _read_machine(record: Record, encoding: Encoding) -> KernelMachine:
    vectors: Any = record.matrix("vectors", len(encoding.feature_names))
    coef = record.matrix("coef", len(vectors))
    if encoding.sparse:
        from scipy.sparse import csr_array  # noqa: PLC0415  # a tenth of a second, which dense tables save

        vectors = csr_array(vectors)
    return KernelMachine(_read_kernel(record.record("kernel")), vectors, coef, record.numbers("intercept", len(coef)))


def _read_kernel(record: Record) -> Kernel:
    name = record.text("name", NAMED)
    known: Any = NAMED[name]
    values = {
        each.name: record.whole(each.name, least=1) if each.name == "degree" else record.number(each.name)
        for each in fields(known)
    }
    try:
        return make_kernel(name, **values)
    except OptionError as problem:
        raise ModelFileError(f"{record.place}: {problem}") from None
