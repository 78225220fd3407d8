"""Tails of the t, F and χ² distributions, to full relative accuracy also where tiny or of many degrees of freedom.

The tail of F(a, b) beyond f is the incomplete beta function of (b/2, a/2) at b/(b + a f), or its complement of
(a/2, b/2) at a f/(b + a f): the smaller of the two arguments has its digits. T² is F(1, b).
"""

from __future__ import annotations

import scipy.special


def t_probability(statistic: float, df: float) -> float:
    """Return P(|T| > |statistic|)."""
    return f_probability(statistic * statistic, 1.0, df)


def f_probability(statistic: float, df: float, residual_df: float) -> float:
    """Return P(F > statistic), for a statistic of at least 0."""
    explained = df * statistic
    whole = residual_df + explained
    if explained < residual_df:
        return float(scipy.special.betaincc(df / 2.0, residual_df / 2.0, explained / whole))
    return float(scipy.special.betainc(residual_df / 2.0, df / 2.0, residual_df / whole))


def chi2_probability(statistic: float, df: float) -> float:
    """Return P(χ² > statistic), 1 for what rounding made negative."""
    return float(scipy.special.chdtrc(df, max(statistic, 0.0)))
