"""The inverse of an information as far as floats see it.

In columns of equal scale, directions whose information is no more than rounding are left out: columns that nearly
depend on each other have such. What has no share in them keeps its variance; what has one has none that floats could
tell. Cost: O(k³).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from separatrix.arrays import Floats

SINGULAR = 1e-12  # of the diagonal 1, in columns of equal scale: less leaves too few digits
SHARE = 1e-10  # of a contrast in a direction left out, from which on its variance is not known


class Inverse(NamedTuple):
    """A generalised inverse (k, k), the columns' scale (k,), and in that scale the directions left out, (k, d)."""

    matrix: Floats
    scale: Floats
    left_out: Floats

    def sees(self, row: Floats) -> bool:
        """Tell whether the variance of a contrast, (k,), is known."""
        scaled = row / self.scale
        return bool(np.linalg.norm(self.left_out.T @ scaled) <= SHARE * np.linalg.norm(scaled))

    @property
    def space(self) -> Floats:
        """A basis of the directions that are seen, (k, k − d)."""
        if not self.left_out.shape[1]:
            return np.eye(len(self.scale))
        return np.asarray(scipy.linalg.null_space(self.left_out.T) / self.scale[:, np.newaxis])


def invert_information(information: Floats) -> Inverse:
    """Return the inverse by Cholesky; where that is singular to floats, by the eigenvectors that are not."""
    scale = np.sqrt(np.maximum(np.diag(information), np.finfo(np.float64).tiny))
    scaled = information / np.outer(scale, scale)
    factor, failed = scipy.linalg.lapack.dpotrf(scaled, lower=1, clean=1)
    if not failed and (np.diag(factor) ** 2 > SINGULAR).all():
        root = scipy.linalg.lapack.dtrtri(factor, lower=1)[0] / scale
        return Inverse(np.asarray(root.T @ root), scale, np.zeros((len(scale), 0)))
    values, vectors = scipy.linalg.eigh(scaled)
    seen = values > SINGULAR
    root = (vectors[:, seen] / np.sqrt(values[seen])).T / scale
    return Inverse(np.asarray(root.T @ root), scale, np.asarray(vectors[:, ~seen]))
