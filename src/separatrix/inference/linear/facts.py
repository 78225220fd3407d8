"""What inference of a least squares fit needs beside the fit: numbers of the targets, which outlive the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.moments import residual_sums
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference import eligibility
from separatrix.inference.linear.covariance import WeightMeaning, rows_counted
from separatrix.problem import Problem

TINY = float(np.finfo(np.float64).tiny)  # smaller numbers lose digits
SUSPECT = 1e-16  # of the targets' sum of squares: a smaller RSS may be rounding
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)  # of the sizes that a residual is the difference of


@dataclass(frozen=True)
class LinearFacts:
    """Sums over the rows, each as often as it counts; `names` are the columns', the intercept's first if `virtual`."""

    names: tuple[str, ...]
    virtual: bool
    weighted: bool
    weight_kind: WeightMeaning
    rows: float  # n, how many rows were seen
    log_weights: float  # Σ log s, of precisions
    mean: float  # of the targets
    constant: bool  # whether all targets are the same
    spread: float  # Σ s (y − mean)²
    squares: float  # Σ s y²
    rounding: float  # what the RSS could be by rounding alone

    @property
    def total(self) -> float:
        """What R² is relative to: the spread about the mean or, without an intercept, about 0."""
        return self.spread if self.virtual else self.squares

    def degrees_of_freedom(self, fit: LeastSquaresFit) -> float:
        """Return n − rank."""
        return self.rows - fit.rank

    def log_likelihood(self, fit: LeastSquaresFit) -> float:
        """Return the Gaussian log-likelihood at its largest, where σ² = RSS / n."""
        return 0.5 * (self.log_weights - self.rows * (math.log(2.0 * math.pi * fit.rss / self.rows) + 1.0))

    def objection(self, fit: LeastSquaresFit) -> str:
        """Return why there is nothing to infer from the fit, or nothing where there is."""
        if self.degrees_of_freedom(fit) <= 0.0:
            return eligibility.no_degrees_of_freedom(self.rows, fit.rank)
        if self.virtual and self.constant:
            return eligibility.constant_target(self.mean)
        return eligibility.perfect_fit() if fit.rss <= self.rounding else self._out_of_range(fit)

    def _out_of_range(self, fit: LeastSquaresFit) -> str:
        """Return that floats do not hold a variance, or nothing where they hold all."""
        spread = np.delete(np.diag(fit.inverse_gram), fit.aliased)
        lost = np.flatnonzero(~((spread >= TINY) & (spread < np.inf)))
        if not len(lost):
            return ""
        names = np.delete(np.asarray(self.names, dtype=object), fit.aliased)
        return eligibility.out_of_range(names[lost[0]], small=not spread[lost[0]] < TINY)


def linear_facts(problem: Problem, fit: LeastSquaresFit, weight_kind: WeightMeaning) -> LinearFacts:
    """Return the facts of a fit; no pass over the rows, but where the fit looks perfect."""
    y, weights = np.asarray(problem.y, dtype=np.float64), problem.weights
    seen, counts = (y, None) if weights is None else (y[weights > 0.0], weights[weights > 0.0])
    mean = float(np.average(seen, weights=counts))
    squares = _sum_of_squares(seen, counts)
    return LinearFacts(
        names=tuple(map(str, problem.design.names)),
        virtual=problem.design.virtual,
        weighted=weights is not None,
        weight_kind=weight_kind,
        rows=rows_counted(problem, weight_kind),
        log_weights=0.0 if counts is None or weight_kind == "frequency" else float(np.log(counts).sum()),
        mean=mean,
        constant=bool(seen.min() == seen.max()),
        spread=_sum_of_squares(seen - mean, counts),
        squares=squares,
        rounding=_rounding(problem, fit) if fit.rss <= SUSPECT * squares else 0.0,
    )


def _sum_of_squares(values: Floats, counts: Floats | None) -> float:
    return float(values @ values if counts is None else (counts * values) @ values)


def _rounding(problem: Problem, fit: LeastSquaresFit) -> float:
    sums = residual_sums(problem.design, np.asarray(problem.y, dtype=np.float64), problem.weights, fit.basic_coef)
    return ROUNDING**2 * sums.magnitude
