"""statsmodels: ordinary least squares with its whole summary, by a pseudo-inverse or a QR factorisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import statsmodels.api as sm

from measure import Contender
from problems import Problem

__all__ = ["NAME", "PACKAGE", "least_squares"]

NAME, PACKAGE = "statsmodels", "statsmodels"


def least_squares(problem: Problem, method: str) -> Contender:
    """Return fits with all of their summary; `method` is statsmodels' own word, "pinv" (its default) or "qr"."""

    def fit() -> Mapping[str, Any]:
        results = sm.OLS(problem.y, sm.add_constant(problem.X)).fit(method=method)
        str(results.summary())
        return {"coef": results.params[1:]}

    return fit
