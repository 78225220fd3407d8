"""Kernel machines against their certificates: the certified functions are evaluated on the rows, as the model's are.

A certificate has coefficients of rows of the data by their index; the model has the support vectors themselves. A
certificate of the widest margin is about a function up to a positive factor. Cost: two kernel values per row and
support vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Ints
from separatrix.certificates.base import Certificate, OneVsRestCertificate
from separatrix.certificates.margin import KernelCertificate
from separatrix.certificates.mistakes import KernelMistakesCertificate
from separatrix.certificates.optimality import KernelOptimalityCertificate
from separatrix.certificates.parts import OneVsOneCertificate
from separatrix.design.build import as_array
from separatrix.design.kernel_matrix import by_rows, kernel_scores
from separatrix.design.kernels import Kernel
from separatrix.errors import counted
from separatrix.model.expansion import KernelExpansion

ROUNDING = 1e-9  # tolerance of a score, relative to the largest one


class CertifiedFunction(NamedTuple):
    """Σ coef_j k(x, x_j) + intercept over `rows` among the `own` rows of the data, which were `n_rows` in the fit.

    `kept` is the option `keep` of a perceptron that it is the result of; with `scaled` it is known up to a factor.
    """

    kernel: Kernel
    rows: Ints
    coef: Floats
    intercept: float
    n_rows: int
    own: Ints
    kept: str | None = None
    scaled: bool = False

    def scores(self, X: Any, used: Floats) -> Floats:
        """Return the scores (n,) of rows; a function up to a factor has that of the scores `used` (n,)."""
        places = self.own[self.rows]
        values = kernel_scores(self.kernel, X, X[places], places, self.coef[np.newaxis])[:, 0] + self.intercept
        if not self.scaled:
            return np.asarray(values)
        return np.asarray(values * max(float(used @ values) / float(values @ values), 0.0))


def check_kernel(
    model: KernelExpansion, certificate: Certificate, X: Any, y: Any, keep: Any
) -> tuple[bool | None, str]:
    """Tell whether the scores of a model are those of the certified functions, None if that is not known, and why."""
    rows = by_rows(as_array(X))
    functions = list(_functions(certificate, np.arange(rows.shape[0]), np.asarray(y)))
    used = np.column_stack([machine.scores(rows) for machine in model.machines])
    if len(functions) != used.shape[1]:
        return False, f"the certificate is of {counted(len(functions), 'function')}, the model of {used.shape[1]}"
    if any(each.n_rows != len(each.own) for each in functions):
        return None, "not covered: the certificate leaves rows of weight 0 out, or is of other rows"
    if any(each.kept not in {None, keep} for each in functions):
        return None, f"not covered: it is of the last coefficients of a run, and the model keeps the {keep}"
    claimed = np.column_stack([each.scores(rows, own) for each, own in zip(functions, used.T, strict=True)])
    error, largest = float(np.abs(used - claimed).max()), float(np.abs(claimed).max())
    support = counted(model.support, "support vector")
    detail = f"scores by {support} differ by {error:.3g} from certified ones up to {largest:.3g}"
    return error <= ROUNDING * largest, detail


def _functions(certificate: Certificate, own: Ints, y: NDArray[Any]) -> Iterator[CertifiedFunction]:
    """Yield the functions that a certificate is about, for some rows of the data, by their index; none of others."""
    if isinstance(certificate, OneVsRestCertificate):
        for part in certificate.parts:
            yield from _functions(part, own, y)
    elif isinstance(certificate, OneVsOneCertificate):
        for pair, part in zip(certificate.pairs, certificate.parts, strict=True):
            yield from _functions(part, own[np.logical_or(*(y[own] == label for label in pair))], y)
    elif isinstance(certificate, KernelOptimalityCertificate):
        parts = certificate.rows, certificate.multipliers, certificate.intercept
        yield CertifiedFunction(certificate.kernel, *parts, certificate.shape[0], own)
    elif isinstance(certificate, KernelCertificate):
        parts = certificate.rows, certificate.coef, certificate.intercept
        yield CertifiedFunction(certificate.kernel, *parts, certificate.n_rows, own, scaled=True)
    elif isinstance(certificate, KernelMistakesCertificate):
        rows, intercept = np.flatnonzero(certificate.coef), float(certificate.coef.sum()) * certificate.fit_intercept
        parts = rows, certificate.coef[rows], intercept
        yield CertifiedFunction(certificate.kernel, *parts, certificate.shape[0], own, kept="last")
