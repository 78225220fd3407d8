"""A separator of rows with very many columns: the logistic fit itself, stopped once every row is right.

With more columns than rows a separator nearly always exists, and a fit finds it in a few passes that never form a dense
matrix. Whether it separates is checked exactly by whoever asks; where it does not, nothing is known.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from separatrix.certificates import Places, Rays
from separatrix.fit.convex import ConvexOptions, fit_convex
from separatrix.fit.stopping import separation_rule
from separatrix.losses import Logistic, Softmax
from separatrix.problem import Problem

__all__ = ["separator_by_fit"]

MAX_PASSES = 200


def separator_by_fit(rays: Rays, places: Places) -> list[Fraction]:
    """Return the weights of a logistic or softmax fit to the rows of some rays."""
    kept = np.zeros(rays.design.shape[0], dtype=np.bool_)
    kept[rays.rows_of(places)] = True
    codes, binary = rays.codes[kept], rays.classes <= 2
    targets = np.where(codes == rays.classes - 1, 1.0, -1.0) if binary else codes
    problem = Problem(rays.design.select(kept), targets, Logistic() if binary else Softmax())
    rules = (separation_rule(problem),)
    coef = fit_convex(problem, ConvexOptions(max_passes=MAX_PASSES), extra_rules=rules).coef
    flat = coef if binary else rays.from_scores(coef)
    return [Fraction(x) for x in np.nan_to_num(flat).tolist()]
