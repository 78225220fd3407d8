"""Wald's test that several coefficients are 0: b·V⁻¹·b, with V their covariance.

As χ² with k degrees of freedom, or divided by k as F, whose second degrees of freedom are those of the residuals (of
groups, G − 1); of a likelihood only χ². Fails, with the reason, where a coefficient is not unique or V is singular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import DataError, OptionError, did_you_mean
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference import eligibility
from separatrix.inference.linear.facts import LinearFacts
from separatrix.inference.linear.quadratic_form import wald_statistic
from separatrix.inference.linear.table import CoefficientCovariance, not_estimable_reason
from separatrix.inference.probabilities import chi2_probability, f_probability
from separatrix.inference.rendering.sheet import number, p_phrase
from separatrix.inference.table import json_values


@dataclass(frozen=True)
class WaldTest:
    """The test that the coefficients named are all 0; `f`, `f_p_value` are None where errors are not estimated by t."""

    names: tuple[str, ...]
    chi2: float
    degrees_of_freedom: int
    p_value: float
    covariance: str
    f: float | None = None
    residual_degrees_of_freedom: float | None = None
    f_p_value: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the test as JSON values."""
        values: dict[str, Any] = json_values(asdict(self))
        return values

    def __str__(self) -> str:
        df, rest = self.degrees_of_freedom, self.residual_degrees_of_freedom
        f = "" if self.f is None else f"; F({df}, {rest:g}) = {number(self.f)}, {p_phrase(self.f_p_value)}"
        names = " = ".join(self.names)
        return f"{names} = 0 ({self.covariance}): χ²({df}) = {number(self.chi2)}, {p_phrase(self.p_value)}{f}"


def linear_wald_test(
    facts: LinearFacts, fit: LeastSquaresFit, covariance: CoefficientCovariance, names: Sequence[str]
) -> WaldTest:
    """Return the test of some coefficients of a least squares fit."""
    places = places_of(names, facts.names)
    for place in places:
        if not fit.estimable[place]:
            raise DataError(not_estimable_reason(facts.names, fit, place))
    if covariance.objection:
        raise DataError(covariance.objection)
    matrix = covariance.matrix[np.ix_(places, places)]
    test = wald_test_of([facts.names[place] for place in places], fit.coef[places], matrix, covariance.choice.kind)
    if test is None:
        raise DataError(eligibility.singular_covariance(len(places), covariance.choice.group_count))
    k, df = len(places), covariance.degrees_of_freedom
    f_p_value = f_probability(test.chi2 / k, k, df)
    return WaldTest(test.names, test.chi2, k, test.p_value, test.covariance, test.chi2 / k, df, f_p_value)


def wald_test_of(names: Sequence[str], coef: Floats, matrix: Floats, covariance: str) -> WaldTest | None:
    """Return the χ² test of coefficients (k,) by their covariance (k, k); None if that is singular."""
    chi2 = wald_statistic(coef, matrix)
    if chi2 is None:
        return None
    return WaldTest(tuple(names), chi2, len(coef), chi2_probability(chi2, len(coef)), covariance)


def places_of(names: Sequence[str], known: Sequence[str]) -> list[int]:
    """Return where the names are among those known, each once; unknown ones are refused with a suggestion."""
    wanted = [names] if isinstance(names, str) else list(names)
    if not wanted:
        raise OptionError("no coefficients are named; give some of " + ", ".join(map(repr, known[:8])))
    for name in wanted:
        if name not in known:
            raise OptionError(f"there is no coefficient {name!r}{did_you_mean(str(name), known)}")
    return list(dict.fromkeys(known.index(name) for name in wanted))
