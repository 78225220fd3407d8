"""Fits on independent columns: of each set of collinear columns the later ones are left out, as R does.

A column is left out if it is in the span of the columns before it (`design.rank`, the one decision of all families).
The rest are fitted by themselves, and the fit is then written in all columns: with coefficients of 0, a certificate
that names the dropped columns, and inference by rank.

Cost: one pass, and one more to find which relations are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.certificates.base import Certificate
from separatrix.certificates.curvature import MAX_WIDTH, Dependence
from separatrix.certificates.data import data_of
from separatrix.certificates.rays import Relation
from separatrix.design.base import Design
from separatrix.design.combined import ColumnsMap
from separatrix.design.mapped import MappedRows
from separatrix.design.rank import Aliases, dependent_columns
from separatrix.families.base import Fitted, TrainingRows
from separatrix.fit.collinearity import exact_relations
from separatrix.fit.result import FitResult
from separatrix.inference import eligibility
from separatrix.inference.reduced import ReducedInference

AnyFitted = TypeVar("AnyFitted", bound=Fitted)
AnyCertificate = TypeVar("AnyCertificate", bound=Certificate)


@dataclass(frozen=True, eq=False)
class ReducedColumns:
    """The independent columns of a design, and why the others were left out.

    If the choice among collinear columns is `arbitrary`, none of a relation has a cell in the table.
    """

    design: Design
    aliases: Aliases
    exact: Dependence
    arbitrary: bool = False

    @property
    def retained(self) -> Indices:
        """The retained columns without the intercept, from 0."""
        virtual = int(self.design.virtual)
        return self.aliases.retained[virtual:] - virtual

    @property
    def dropped(self) -> tuple[int, ...]:
        """The columns left out, from 0."""
        return tuple((self.aliases.aliased - int(self.design.virtual)).tolist())

    def rows(self, rows: TrainingRows) -> TrainingRows:
        """Return the rows with the retained columns."""
        quantities = None if rows.quantities is None else rows.quantities[self.retained]
        chosen = ColumnsMap(self.retained, rows.shape[1])
        return replace(rows, X=MappedRows(rows.X, chosen), quantities=quantities)

    def start(self, start: Floats | None) -> Floats | None:
        """Return initial coefficients, (p,) or (p, K), of the retained columns."""
        return start if start is None or len(start) != self.design.shape[1] else start[self.aliases.retained]

    def fitted(self, fitted: AnyFitted) -> AnyFitted:
        """Return a fit of the retained columns as one of all columns."""
        names, inference = self.design.names, fitted.inference
        reduced = None
        if inference is not None:
            virtual, retained = self.design.virtual, self.aliases.retained
            reduced = ReducedInference(inference, names, virtual, retained, self.reasons, self.arbitrary, self._notes)
        result = self._result(fitted.result)
        return replace(fitted, result=result, inference=reduced, sentences=(*fitted.sentences, *self._sentences))

    def certificate(self, certificate: AnyCertificate) -> AnyCertificate:
        """Return a certificate of the retained columns as one of rows from which the others are dropped."""
        columns, before = data_of(self.design).columns, certificate.data.dropped or ()
        dropped = (*self.dropped, *(int(self.retained[place]) for place in before))
        whole = replace(certificate.data, width=self.design.shape[1] - int(self.design.virtual), columns=columns)
        return certificate.about(replace(whole, dropped=tuple(sorted(dropped))))

    def _result(self, result: FitResult) -> FitResult:
        trace, virtual = result.trace, int(self.design.virtual)
        if trace.coefs is not None:
            trace = replace(trace, coefs=_wide(trace.coefs, self.aliases.retained, self.design.shape[1]))
        names = {"names": list(self.design.names)} if "names" in result.provenance else {}
        return replace(
            result,
            coef=_wide(result.coef, self.retained, self.design.shape[1] - virtual),
            certificate=self.certificate(result.certificate),
            trace=trace,
            provenance={**result.provenance, **names},
            parts=tuple(map(self._result, result.parts)),
        )

    @cached_property
    def reasons(self) -> dict[int, str]:
        """Why columns of the design have no cell, by their places."""
        names, reasons = self.design.names, dict[int, str]()
        for column, shares in self._relations.items():
            rounded = column in self.exact.held
            by_name = {names[other]: float(share) for other, share in shares.items()}
            if not self.arbitrary:
                reasons[column] = eligibility.dropped(names[column], by_name, rounded=rounded)
                continue
            relation = {names[column]: -1.0, **by_name}
            for place in (column, *shares):
                own = names[place]
                others = {name: -share / relation[own] for name, share in relation.items() if name != own}
                reasons.setdefault(place, eligibility.aliased(own, others, rounded=rounded))
        return reasons

    @property
    def _relations(self) -> dict[int, Relation] | dict[int, dict[int, float]]:
        """The shares of other columns in each column left out: exact if they are known, else in floats."""
        rounded = dict(zip(self.aliases.aliased.tolist(), self.aliases.relations(), strict=True))
        return {**rounded, **dict(zip(self.exact.aliased, self.exact.relations, strict=True))}

    @property
    def _notes(self) -> tuple[str, ...]:
        """Which columns are collinear to rounding, for a table in which that is not said of a dropped column."""
        names, relations = self.design.names, self._relations
        sets = [[names[place] for place in sorted((column, *relations[column]))] for column in self.exact.held]
        return (eligibility.collinear_clause(sets),) if sets and self.arbitrary else ()

    @property
    def _sentences(self) -> tuple[str, ...]:
        if self.arbitrary:
            return (f"the fit is {self._left_out}, collinear with the other columns",)
        return tuple(self.reasons.values())

    @property
    def _left_out(self) -> str:
        return replace(data_of(self.design), dropped=self.dropped).without


def reduced_columns(design: Design, weights: Floats | None) -> ReducedColumns | None:
    """Return the independent columns of a design on the rows of positive weight; None if that is all of them."""
    if design.shape[1] > MAX_WIDTH:
        return None
    aliases = dependent_columns(design, weights, in_order=True)
    if not len(aliases.aliased):
        return None
    return ReducedColumns(design, aliases, exact_relations(design, weights, aliases))


def _wide(coef: Floats, places: Indices, width: int) -> Floats:
    """Return coefficients along the last axis with 0 for the columns left out."""
    wide = np.zeros((*coef.shape[:-1], width))
    wide[..., places] = coef
    return wide
