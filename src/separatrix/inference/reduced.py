"""Inference of a fit on some of its columns, where the others are combinations of these.

The fit of the retained columns is of full rank, so its tables, tests and intervals are those of the reduced model, and
parameters are counted by rank. A column that was dropped has no cell, and the reason instead. A column that was left
out because some column of a relation must be has no cell either, nor have the others of that relation: which of them is
left out is arbitrary.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.design.base import Design
from separatrix.design.combined import ColumnsMap
from separatrix.design.mapped import MappedDesign
from separatrix.errors import DataError
from separatrix.inference.eligibility import Refusal
from separatrix.inference.fitted import Inference
from separatrix.inference.hypotheses import LikelihoodRatioTest, TestedModel, WaldTest, coefficient_indices
from separatrix.inference.prediction import Covariance
from separatrix.inference.profile import Interval
from separatrix.inference.table import InferenceTable, Term
from separatrix.problem import Problem

Estimate = TypeVar("Estimate", Term, Interval)


@dataclass(frozen=True, eq=False)
class ReducedInference(Inference):
    """The inference of a fit on some columns.

    `names` are of all columns of the design, the intercept first if `virtual`; `retained` are the columns of the fit.
    `absent` has the reasons of the columns without a cell: those dropped or, if the choice of these is `arbitrary`, all
    that take part in a relation. `notes` say which columns are collinear.
    """

    inner: Inference
    names: tuple[str, ...]
    virtual: bool
    retained: Indices
    absent: Mapping[int, str]
    arbitrary: bool = False
    notes: tuple[str, ...] = ()

    def table(
        self,
        covariance: str = "classical",
        groups: Any = None,
        level: float = 0.95,
        lag: int | None = None,
        test: str | None = None,
    ) -> InferenceTable:
        table = self.inner.table(covariance, groups, level, lag, test)
        terms = self._of_all_columns(
            table.terms, lambda name, reason, output: Term(name, None, absent=reason, output=output)
        )
        return replace(table, terms=terms, notes=(*self.notes, *table.notes))

    def _of_all_columns(
        self, known: Sequence[Estimate], without: Callable[[str, str, Any], Estimate]
    ) -> tuple[Estimate, ...]:
        """Return the estimates of all columns, class by class, given those of the retained ones.

        `without` makes that of a column without a cell from its name, the reason and the class.
        """
        estimates, width = [], len(self.retained)
        for first in range(0, len(known), max(width, 1)):
            own = dict(zip(self.retained.tolist(), known[first : first + width], strict=True))
            output = known[first].output
            estimates += [
                without(name, self.absent[place], output) if place in self.absent else own[place]
                for place, name in enumerate(self.names)
            ]
        return tuple(estimates)

    def wald_test(
        self, names: Sequence[str], covariance: str = "classical", groups: Any = None, lag: int | None = None
    ) -> WaldTest:
        return self.inner.wald_test(self._tested(names), covariance, groups, lag)

    def lr_test(self, names: Sequence[str]) -> LikelihoodRatioTest:
        return self.inner.lr_test(self._tested(names))

    def _tested(self, names: Sequence[str]) -> list[str]:
        """Return the names of the tested columns; dropped columns among them add no degree of freedom."""
        chosen = coefficient_indices(names, self.names)
        tested = [self.names[place] for place in chosen if place not in self.absent]
        if not tested or (self.arbitrary and len(tested) < len(chosen)):
            raise DataError(next(self.absent[place] for place in chosen if place in self.absent))
        return tested

    def tested_model(self) -> TestedModel:
        return self.inner.tested_model()

    def intervals(self, level: float) -> tuple[Interval, ...]:
        nothing = Interval("", math.nan, math.nan, math.nan, math.nan, math.nan, math.nan)
        return self._of_all_columns(
            self.inner.intervals(level),
            lambda name, reason, output: nothing._replace(name=name, absent=reason, output=output),
        )

    def predictions(
        self, design: Design, kind: str, level: float, covariance: str = "classical", weights: Floats | None = None
    ) -> Any:
        return self.inner.predictions(self._reduced(design), kind, level, covariance, weights)

    def score_covariance(self) -> tuple[Covariance | None, str]:
        covariance, reason = self.inner.score_covariance()
        if covariance is None or self.arbitrary:
            return None, reason or Refusal.NOT_IDENTIFIED()
        stored = len(self.names) - self.virtual
        places = np.concatenate([[0], 1 + self._retained_columns])
        matrix = np.zeros((1 + stored, 1 + stored))
        matrix[np.ix_(places, places)] = covariance.matrix
        return replace(covariance, matrix=matrix), ""

    def limits(self) -> list[dict[str, float]] | None:
        """Return the limits of all coefficients by name: nan for those without a cell."""
        inner = self.inner.limits()
        return None if inner is None else [self._all_limits(each) for each in inner]

    def without_rows(self) -> Inference:
        return replace(self, inner=self.inner.without_rows())

    @property
    def problem(self) -> Problem | None:
        """The problem of the reduced model, None without its rows."""
        return getattr(self.inner, "problem", None)

    @property
    def _retained_columns(self) -> Indices:
        """The retained columns without the intercept, from 0."""
        return self.retained[int(self.virtual) :] - int(self.virtual)

    def _reduced(self, design: Design) -> Design:
        """Return the retained columns of a design."""
        names = [self.names[place] for place in self.retained]
        chosen = ColumnsMap(self._retained_columns, len(self.names) - self.virtual)
        return MappedDesign(design, chosen, names, self.virtual)

    def _all_limits(self, limits: Mapping[str, float]) -> dict[str, float]:
        """Return the limits of all columns, class by class, given those of the retained ones."""
        labels, values, width = list(limits), list(limits.values()), len(self.retained)
        every: dict[str, float] = {}
        for first in range(0, len(values), max(width, 1)):
            known = dict(zip(self.retained.tolist(), values[first : first + width], strict=True))
            prefix = labels[first].removesuffix(self.names[self.retained[0]])
            for place, name in enumerate(self.names):
                every[prefix + name] = math.nan if place in self.absent else known[place]
        return every
