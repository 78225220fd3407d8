"""Which coefficients of a likelihood can be estimated, by its certificate of existence, and why the others cannot.

A coefficient is a contrast: a linear function of the flat coefficients (`summit`), one entry of 1 or, of
a class against a reference, a 1 and a −1. It can be estimated, exactly, if no relation between the columns of the rows
that are left has it: then every direction along which the likelihood runs off, or stays as it is, leaves it in place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.inference.eligibility import aliased, likelihood_without_maximum, maximum_not_shown

Relation = dict[int, Fraction]
EITHER_WAY = "not estimable"
LIMITS = {"+inf": math.inf, "-inf": -math.inf}


@dataclass(frozen=True)
class Contrast:
    """A coefficient by name and, of several classes, the class it belongs to; its entries by flat place."""

    name: str
    entries: dict[int, int]
    output: Any = None

    def in_relation(self, relations: Sequence[Relation]) -> Relation | None:
        """Return the first relation that has it."""
        for relation in relations:
            share = Fraction(0)
            for place, sign in self.entries.items():
                share += sign * relation.get(place, 0)
            if share:
                return relation
        return None


@dataclass(frozen=True)
class Estimability:
    """What a certificate says of contrasts."""

    existence: SeparabilityCertificate

    @property
    def aliases(self) -> Sequence[Relation]:
        """The relations that hold on every row."""
        if self.existence.weights is not None:
            return () if self.existence.divergence is None else self.existence.divergence.aliases
        return () if self.existence.proof is None else self.existence.proof.relations

    def refused_nowhere(self, contrast: Contrast) -> bool:
        """Tell whether every value is as likely as any other: it is aliased, or the likelihood runs off either way."""
        if contrast.in_relation(self.aliases) is not None:
            return True
        return any(self._statuses[place] == EITHER_WAY for place in contrast.entries) if self._statuses else False

    def reason(self, contrast: Contrast) -> str:
        """Return why a contrast cannot be estimated, nothing where it can."""
        existence = self.existence
        if existence.verdict == "undecided" or existence.clashes:  # clashes tell of some rows only
            return maximum_not_shown()
        tie = contrast.in_relation(self.aliases)
        if tie is not None:
            return self._tied(contrast, tie)
        if existence.proof is not None and contrast.in_relation(existence.proof.relations) is None:
            return ""
        reason = likelihood_without_maximum(contrast.name, self._limit(contrast))
        return reason if contrast.output is None else f"{reason.split(';')[0]}; use a penalty (strength above 0)"

    def _limit(self, contrast: Contrast) -> float:
        """Return ±∞ where a contrast is proved to run there, else nan."""
        if not self._statuses or len(contrast.entries) > 1:
            return math.nan
        ((place, sign),) = contrast.entries.items()
        return sign * LIMITS.get(self._statuses[place], math.nan)

    @cached_property
    def _statuses(self) -> tuple[str, ...]:
        """What each flat coefficient of separated classes does; empty where that was not worked out."""
        existence = self.existence
        if existence.weights is None or existence.divergence is None:
            return ()
        relations = None if existence.proof is None else existence.proof.relations
        return existence.divergence.statuses(existence.weights, relations)

    def _tied(self, contrast: Contrast, relation: Relation) -> str:
        """Return in words which columns a column depends on."""
        names, place = self.existence.names, next(place for place in contrast.entries if relation.get(place))
        p = len(names)
        used = {j % p: value for j, value in relation.items() if value and j // p == place // p}
        own = used.pop(place % p)
        return aliased(contrast.name, {names[j]: float(-value / own) for j, value in used.items()})


def binary_contrasts(names: Sequence[str]) -> tuple[Contrast, ...]:
    """Return the coefficients of two classes."""
    return tuple(Contrast(name, {place: 1}) for place, name in enumerate(names))


def softmax_contrasts(names: Sequence[str], classes: Sequence[Any], reference: int) -> tuple[Contrast, ...]:
    """Return the coefficients of each class against the one in the place of the reference."""
    p = len(names)

    def entries(code: int, column: int) -> dict[int, int]:
        both = {(code - 1) * p + column: 1, (reference - 1) * p + column: -1}
        return {place: sign for place, sign in both.items() if place >= 0}

    return tuple(
        Contrast(name, entries(code, column), label)
        for code, label in enumerate(classes)
        if code != reference
        for column, name in enumerate(names)
    )
