"""What each row does to a least squares fit: its leverage, its residual in units of its own error, and what leaving it
out would change.

    standardised rᵢ / (σ √(1−hᵢ)),  studentised rᵢ / (σ₍ᵢ₎ √(1−hᵢ)),  (n − p − 1) σ₍ᵢ₎² = RSS − rᵢ²/(1−hᵢ)
    Cook rᵢ² hᵢ / (p σ² (1−hᵢ)²),   DFFITS studentised · √(hᵢ/(1−hᵢ)),   DFBETAS (bⱼ − bⱼ₍ᵢ₎) / (σ₍ᵢ₎ √gⱼⱼ)

with G = (XᵗSX)⁻¹ and residuals scaled by the roots of the weights. Nothing is fitted again. Cost: the two passes of
`FittedRows`; DFBETAS one more and n × p numbers. NaN where a row has leverage 1 (it alone decides a coefficient), and
everywhere where there is no noise to compare with.

Reference: Belsley, Kuh and Welsch, Regression Diagnostics (1980).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.design.base import Block
from separatrix.inference.diagnosis.fitted_rows import FittedRows, rows_of

WHOLE = 1.0 - 1e-10  # a leverage above this is 1 but for rounding


class Influence:
    """The rows of a fit, one number a row, each computed when first asked for; rows of weight 0 are not among them."""

    def __init__(self, rows: FittedRows) -> None:
        self.rows = rows

    @property
    def places(self) -> Indices:
        """The rows' places among those given, (n,)."""
        return self.rows.places

    @property
    def residuals(self) -> Floats:
        """The targets less the fitted values, (n,)."""
        return self.rows.residuals

    @property
    def leverage(self) -> Floats:
        """How far each row draws its own fitted value, (n,)."""
        return self.rows.leverage

    @cached_property
    def standardised(self) -> Floats:
        """The residuals in units of their standard error, (n,)."""
        return self._over(np.full(len(self.places), self._sigma))

    @cached_property
    def studentised(self) -> Floats:
        """The residuals in units of the standard error that the other rows give them, (n,)."""
        return self._over(self._sigma_without)

    @cached_property
    def cooks_distance(self) -> Floats:
        """How far leaving out a row moves all fitted values, (n,); half is much, 1 very much."""
        return np.asarray(self.standardised**2 * self._odds / self.rows.fit.rank)

    @cached_property
    def dffits(self) -> Floats:
        """How far leaving out a row moves its own fitted value, in standard errors, (n,)."""
        return np.asarray(self.studentised * np.sqrt(self._odds))

    @cached_property
    def dfbetas(self) -> Floats:
        """How far leaving out a row moves each coefficient, in standard errors, (n, p); NaN for aliased columns."""
        rows = self.rows
        share = rows.roots * rows.scaled / (self._rest * self._sigma_without)
        inverse = rows.fit.inverse_gram
        spread = np.sqrt(np.diag(inverse))
        spread[list(rows.fit.aliased)] = math.nan
        return rows.problem.design.gather(_moved, inverse / spread, rows=(share,))

    @cached_property
    def largest(self) -> Indices:
        """The rows in the order of their Cook's distance, the largest first, as places in these vectors."""
        return np.argsort(-np.nan_to_num(self.cooks_distance, nan=np.inf), kind="stable")

    @property
    def _sigma(self) -> float:
        return math.nan if self.rows.absent else self.rows.sigma

    @cached_property
    def _rest(self) -> Floats:
        """1 − leverage; NaN where it is 0 but for rounding."""
        leverage = self.rows.leverage
        return np.where(leverage < WHOLE, 1.0 - leverage, math.nan)

    @property
    def _odds(self) -> Floats:
        return self.rows.leverage / self._rest

    @cached_property
    def _sigma_without(self) -> Floats:
        """The residual standard deviation of the other rows, (n,)."""
        rows = self.rows
        freedom = rows.degrees_of_freedom - 1.0
        if rows.absent or freedom <= 0.0:
            return np.full(len(self.places), math.nan)
        left = rows.rss - rows.scaled**2 / self._rest
        return np.sqrt(np.maximum(left, 0.0) / freedom)

    def _over(self, sigma: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.rows.scaled / (sigma * np.sqrt(self._rest))
        return np.where(np.isfinite(ratio), ratio, math.nan)


def influence(model: Any) -> Influence:
    """Return what each row does to a fitted LinearRegression without a penalty.

    >>> import separatrix as sx
    >>> model = sx.LinearRegression().fit([[1], [2], [-1], [3], [4]], [2, 4, 0, 4, 6])
    >>> sx.influence(model).leverage.round(3).tolist()
    [0.243, 0.203, 0.73, 0.297, 0.527]
    """
    return Influence(rows_of(model))


def _moved(block: Block, share: Floats, inverse: Floats) -> Floats:
    return np.asarray(block.matvec(inverse) * share[:, np.newaxis])
