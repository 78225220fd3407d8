"""Intervals of a least squares prediction: of the mean at x, and of a new observation there.

    mean ± t(level) · σ √(x·A·x),        observation ± t(level) · σ √(x·A·x + 1/w)

with A = (XᵗSX)⁻¹ and w the new observation's weight. Cost: one pass over the new rows. Fails, with the reason, where
the fit says nothing of its noise, or a row's prediction is not unique (it breaks a relation of the columns fitted).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import scipy.special

from separatrix.arrays import Bools, Floats
from separatrix.design.base import Block, Design
from separatrix.errors import DataError
from separatrix.fit.least_squares import LeastSquaresFit
from separatrix.inference import eligibility
from separatrix.inference.linear.facts import LinearFacts
from separatrix.inference.linear.frame import Frame
from separatrix.inference.linear.projection import squared_lengths

IntervalKind = Literal["confidence", "prediction"]
BROKEN = 1e-8  # of the sizes in a relation of columns: a row further off breaks it


class PredictionInterval(NamedTuple):
    """Predictions, the standard errors of their means, and the intervals' ends, each (n,)."""

    mean: Floats
    standard_error: Floats
    lower: Floats
    upper: Floats


class LinearPredictor(NamedTuple):
    """A fit with what its predictions' errors need."""

    fit: LeastSquaresFit
    facts: LinearFacts
    frame: Frame


def prediction_interval(
    design: Design, predictor: LinearPredictor, kind: IntervalKind, level: float, weights: Floats | None = None
) -> PredictionInterval:
    """Return the predictions of a design's rows with their intervals; `weights` (n,) of new observations, 1 if None."""
    fit, facts, frame = predictor
    objection = facts.objection(fit)
    if objection:
        raise DataError(objection)
    _refuse_broken(design, fit)
    df = facts.degrees_of_freedom(fit)
    variance = fit.rss / df
    near, basis = frame.basis(design)
    spread = variance * near.gather(squared_lengths, basis)
    noise = 0.0 if kind == "confidence" else variance / (1.0 if weights is None else weights)
    reach = float(scipy.special.stdtrit(df, 0.5 + level / 2.0)) * np.sqrt(spread + noise)
    mean = design.matvec(fit.coef)
    return PredictionInterval(mean, np.sqrt(spread), mean - reach, mean + reach)


def _refuse_broken(design: Design, fit: LeastSquaresFit) -> None:
    if not fit.aliased:
        return
    if not fit.relations:
        raise DataError(eligibility.more_columns())
    relations = np.zeros((design.shape[1], len(fit.aliased)))
    for place, (column, shares) in enumerate(zip(fit.aliased, fit.relations, strict=True)):
        relations[column, place] = -1.0
        for other, share in shares.items():
            relations[other, place] = share
    broken = design.gather(_breaks, relations)
    if broken.any():
        row, place = (int(found[0]) for found in np.nonzero(broken))
        named = {str(design.names[other]): share for other, share in fit.relations[place].items()}
        raise DataError(eligibility.breaks_relation(row, str(design.names[fit.aliased[place]]), named))


def _breaks(block: Block, relations: Floats) -> Bools:
    return np.abs(block.matvec(relations)) > BROKEN * block.magnitudes(relations)
