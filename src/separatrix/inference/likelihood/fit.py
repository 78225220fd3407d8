"""A maximum likelihood fit as inference sees it: its rows, whether its maximum exists, and where that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.special

from separatrix.arrays import Floats
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.inference import eligibility
from separatrix.inference.likelihood.estimable import Contrast, Estimability, binary_contrasts, softmax_contrasts
from separatrix.inference.likelihood.sandwich import refuse_others, sandwich
from separatrix.inference.likelihood.summit import Summit, find_summit
from separatrix.inference.linear.covariance import CovarianceChoice, rows_counted
from separatrix.problem import Problem


@dataclass(frozen=True)
class Errors:
    """The covariance of the flat coefficients of centred columns; None, and why, where there is none."""

    covariance: Floats | None
    absent: str = ""


@dataclass(frozen=True)
class LikelihoodFit:
    """A fit without a penalty: its problem, whether its maximum exists, and its flat coefficients.

    `weighting` names what the rows count by where that is not how often they were seen; `reference` is the place of the
    class that others are set against, of more than two.
    """

    problem: Problem
    existence: SeparabilityCertificate
    coef: Floats
    classes: tuple[Any, ...]
    weighting: str = ""
    reference: int = 0

    @cached_property
    def summit(self) -> Summit | None:
        """The maximum of the likelihood or what it tends to; None where all is separated, or nothing is known."""
        return find_summit(self.problem, self.existence, self.coef)

    @cached_property
    def contrasts(self) -> tuple[Contrast, ...]:
        """The coefficients, in the order of the table."""
        names = self.problem.design.names
        if len(self.classes) == 2:
            return binary_contrasts(names)
        return softmax_contrasts(names, self.classes, self.reference)

    @cached_property
    def estimability(self) -> Estimability:
        """Which coefficients can be estimated, and why others cannot."""
        return Estimability(self.existence)

    @property
    def rows(self) -> float:
        """The number of rows, each as often as it was seen."""
        return rows_counted(self.problem, "precision" if self.weighting else "frequency")

    @property
    def loglik(self) -> float | None:
        """The largest log-likelihood, its supremum, or None where neither is known."""
        if self.summit is not None:
            return self.summit.loglik
        return 0.0 if self.existence.verdict == "separable" else None

    @cached_property
    def null_loglik(self) -> float:
        """The log-likelihood of a model without columns: the classes' shares or, without an intercept, equal shares."""
        if not self.problem.design.virtual:
            return -self.problem.total_weight * math.log(len(self.classes))
        return float(scipy.special.xlogy(self._sizes, self._sizes / self._sizes.sum()).sum())

    @property
    def rarest(self) -> float:
        """How much weight the rarest class has."""
        return float(self._sizes.min())

    @cached_property
    def _sizes(self) -> Floats:
        """The weight of each class, (K,)."""
        y, count = self.problem.y, len(self.classes)
        codes = y.astype(np.intp) if count > 2 else (y > 0.0).astype(np.intp)
        return np.bincount(codes, weights=self.problem.weights, minlength=count).astype(np.float64)

    @property
    def free(self) -> int:
        """How many coefficients are free: those of columns that depend on others are not."""
        return len(self.coef) - len(self.estimability.aliases)

    def errors(self, choice: CovarianceChoice) -> Errors:
        """Return the covariance chosen, or why there is none."""
        refuse_others(choice)
        summit = self.summit
        if summit is None:
            known = self.loglik is not None
            return Errors(None, eligibility.no_maximum(len(self.classes)) if known else eligibility.maximum_not_shown())
        if self.weighting and choice.kind == "classical":
            return Errors(None, eligibility.weights_not_counts(self.weighting))
        if choice.kind == "classical":
            return Errors(summit.covariance)
        if choice.kind in {"HC1", "clustered"} and self.rows <= len(summit.kept):
            return Errors(None, eligibility.no_degrees_of_freedom(self.rows, len(summit.kept)))
        return Errors(sandwich(summit, summit.covariance, choice, self.rows, repeated=not self.weighting))
