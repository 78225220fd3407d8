"""Intervals of a likelihood fit: of its coefficients by the profile, and of the probabilities that it predicts.

A coefficient that runs to infinity has an interval that is open on that side (`profile`); one that the data
say nothing of, the whole line. The score of a new row x has the variance xᵗCx; through the sigmoid the ends of its
interval are the probability's. Cost: a profile some 20 steps a coefficient, predictions two passes over their rows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.special

from separatrix.arrays import Floats
from separatrix.design.base import Block, Design
from separatrix.errors import DataError, OptionError, SeparationError
from separatrix.inference import eligibility
from separatrix.inference.likelihood.climb import Climb
from separatrix.inference.likelihood.estimable import Contrast
from separatrix.inference.likelihood.fit import LikelihoodFit
from separatrix.inference.likelihood.profile import Interval, Peak, flat_interval, profile_interval, unbounded_interval
from separatrix.inference.likelihood.summit import LikelihoodHill, Summit, contrast_row, independent_columns, variance
from separatrix.inference.linear.frame import upper_factor
from separatrix.inference.linear.projection import squared_lengths

ROUNDING = 1e-9  # relative to the sizes of a row's parts: a relation between columns that holds


class ScoreInterval(NamedTuple):
    """Scores of some rows, (n,), and the ends of their intervals."""

    score: Floats
    lower: Floats
    upper: Floats


def likelihood_intervals(fit: LikelihoodFit, level: float) -> tuple[Interval, ...]:
    """Return the profile-likelihood interval of every coefficient of two classes; nan where floats cannot tell it."""
    if len(fit.classes) > 2:
        raise OptionError(f"profile intervals are for two classes, not {len(fit.classes)}; see summary()")
    if fit.weighting:
        raise OptionError(eligibility.weights_not_counts(fit.weighting).split(", or covariance")[0])
    if fit.existence.verdict == "undecided":
        raise SeparationError(eligibility.maximum_not_shown())
    return tuple(_interval(fit, contrast, level) for contrast in fit.contrasts)


def _interval(fit: LikelihoodFit, contrast: Contrast, level: float) -> Interval:
    summit = fit.summit
    if fit.estimability.refused_nowhere(contrast):
        return flat_interval(contrast.name)
    if summit is None or fit.estimability.reason(contrast):
        peak, centre = _whole(fit)
        row = contrast_row(contrast.entries, fit.problem.design.shape[1], len(fit.coef), centre)
        return unbounded_interval(peak, row, contrast.name, level)
    row = summit.row(contrast.entries)
    if not summit.sees(row):
        return Interval(contrast.name, *[math.nan] * 6)
    peak = Peak(summit.hill, summit.loglik, summit.top, summit.space)
    return profile_interval(peak, row, contrast.name, math.sqrt(variance(row, summit.covariance)), level)


def _whole(fit: LikelihoodFit) -> tuple[Peak, Floats]:
    """Return the likelihood of all rows below its supremum, seen from 0, and the centre of its columns."""
    near, centre = fit.problem.centred()
    hill, zero, p = LikelihoodHill(near), np.zeros(len(fit.coef)), fit.problem.design.shape[1]
    space = np.eye(len(zero))[:, independent_columns(fit.estimability.aliases, len(zero), p, centre)]
    here, height = hill.look(zero), fit.loglik
    assert here is not None  # at scores of 0 all rows count
    assert height is not None
    return Peak(hill, height, Climb(zero, here, []), space), centre


def score_intervals(fit: LikelihoodFit, covariance: Floats, design: Design, level: float) -> ScoreInterval:
    """Return the scores of a design's rows with intervals; `covariance` is in the coordinates of the fit's summit."""
    summit = fit.summit
    assert summit is not None  # whoever has a covariance
    if not summit.sees_all:
        raise DataError(eligibility.nearly_dependent())
    _refuse_strangers(fit, design)
    near = design.centred(summit.centre) if len(summit.centre) else design
    score = near.matvec(summit.top.coef)
    reach = float(scipy.special.ndtri(0.5 + level / 2.0)) * np.sqrt(
        near.gather(squared_lengths, _root(summit, covariance))
    )
    return ScoreInterval(score, score - reach, score + reach)


def _root(summit: Summit, covariance: Floats) -> Floats:
    """Return a root R of a covariance in the columns kept, RRᵗ."""
    root = np.zeros((len(covariance), len(summit.kept)))
    root[summit.kept] = upper_factor(covariance[np.ix_(summit.kept, summit.kept)])
    return root


def _refuse_strangers(fit: LikelihoodFit, design: Design) -> None:
    """Raise a DataError for a row that breaks a relation between columns which the rows of the fit all have."""
    proof, names = fit.existence.proof, design.names
    for relation in () if proof is None else proof.relations:
        largest = max(abs(value) for value in relation.values())
        vector = np.zeros(design.shape[1])
        for column, value in relation.items():
            vector[column] = float(value / largest)
        broken = np.flatnonzero(np.abs(design.matvec(vector)) > ROUNDING * design.gather(_magnitudes, vector))
        if len(broken):
            tied = ", ".join(repr(names[j]) for j in relation)
            raise DataError(
                f"row {broken[0]} has {tied} in a relation that no row of the fit had, so that its score cannot be"
                " estimated; drop one of these columns and fit again"
            )


def _magnitudes(block: Block, vector: Floats) -> Floats:
    return block.magnitudes(vector)
