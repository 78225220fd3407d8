"""Penalised fits: columns with a unit are divided by their standard deviation first, so that no unit matters.

Coefficients are returned in the units of the rows; the certificate is about the scaled columns. The default strength
is 1/n, as much prior information as one of the n rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.arrays import Bools, Floats
from separatrix.design.base import Block, Design, add_each
from separatrix.errors import OptionError, counted
from separatrix.inference import eligibility
from separatrix.model.learn.base import LearnOptions, TrainingRows
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.selection.cross_validation import assign_folds, cross_validate

STRENGTHS = 30  # candidates of a cross-validation


def standard_deviations(design: Design, quantities: Bools) -> Floats:
    """Return the standard deviation of each stored column that is a quantity, and 1 for the others, in one pass."""
    sums, squares = design.fold(_sums, combine=add_each)
    n = design.shape[0]
    with np.errstate(over="ignore", invalid="ignore"):  # overflowing columns are rejected by name later
        variances = np.maximum(squares / n - (sums / n) ** 2, 0.0)[int(design.virtual) :]
    deviations = np.sqrt(variances)
    return np.where(quantities & (deviations > 0.0), deviations, 1.0)


def _sums(block: Block) -> tuple[Floats, Floats]:
    ones = np.ones(block.stop - block.start)
    return block.rmatvec(ones), block.column_squares(ones)


def scale_quantities(rows: TrainingRows, intercept: bool) -> tuple[TrainingRows, Floats]:
    """Return the rows with quantities divided by their standard deviations, and all scales."""
    scales = standard_deviations(rows.design(intercept), rows.quantities)
    if (scales == 1.0).all():
        return rows, scales
    return rows.scaled(scales), scales


def choose_strength(problems: Sequence[Problem], options: LearnOptions, codes: Any) -> tuple[list[Problem], float, str]:
    """Return the problems with their penalty, its strength, and a sentence about how it was chosen."""
    n = problems[0].design.shape[0]
    if options.strength == "cv":
        if n < options.folds:
            message = f"strength='cv' takes {options.folds} folds, and there are {counted(n, 'row')}"
            raise OptionError(f"{message}; give a number, as 0.1")
        folds = assign_folds(n, options.folds, options.seed, codes)
        strength = cross_validate(
            problems, options.l1_ratio, folds, strengths=STRENGTHS, options=options.convex
        ).strength
        note = (
            f"the strength {strength:.3g} was chosen by cross-validation in {options.folds} folds: the largest as good"
            " as the best, to a standard error"
        )
    elif options.strength == "auto":
        strength, note = 1.0 / n, f"the strength is 1/n = {1.0 / n:.3g}, as no other was asked for"
    else:
        strength, note = float(options.strength), f"the strength {options.strength:g} was asked for"
    penalty = make_penalty(strength, options.l1_ratio)
    return [replace(problem, penalty=penalty) for problem in problems], strength, note


def may_be_unpenalised(options: LearnOptions) -> bool:
    """Return whether the fit is to have no penalty, or none if it exists without."""
    return options.strength == "auto" or (not isinstance(options.strength, str) and math.isclose(options.strength, 0.0))


def no_inference_reason(options: LearnOptions, strength: float, reason: str) -> str:
    """Return why a penalised fit has no inference, with the reason for a penalty that was not requested."""
    if reason:
        needed = reason.partition(";")[0]
        return (
            f"a penalty (strength={strength:.3g}) draws the coefficients towards 0 by an unknown amount, so nothing"
            f" tells their errors; it is needed, as {needed}"
        )
    if options.strength == "cv":
        return eligibility.chosen_by_cross_validation(strength)
    return eligibility.penalised(strength)


def scaling_note(scales: Floats) -> tuple[str, ...]:
    """Return a sentence about the scaled columns, if any."""
    count = int((scales != 1.0).sum())
    were = "was" if count == 1 else "were"
    return (f"for the penalty {counted(count, 'column')} with a unit {were} divided by the spread",) if count else ()
