"""Regression of one column on another, from the data or from their moments.

    slope = s_xy / s_x²,   intercept = ȳ − slope · x̄,   r = s_xy / (s_x s_y),   RSS = Σ (yᵢ − fittedᵢ)²

Floats are integers times a power of 2, so that sums, slope, intercept, RSS and residuals are rationals until they are
returned: every digit holds, however far from 0 the columns lie.

Cost: about 2 µs per row. Fails, with the value named, if x does not vary, if a number is missing, or if the moments
contradict each other.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import DataError, OptionError, counted, require_count, require_number
from separatrix.fit.labels import real_targets
from separatrix.inference.eligibility import Refusal
from separatrix.inference.table import SheetRecord, Term, coefficient_grids, json_values, require_level, wald_term
from separatrix.rendering.sheet import Reasons, Sheet, format_number

MOMENT_ROUNDING = 1e-12  # relative excess of |cov_xy| over √(var_x · var_y) that rounded moments may have
PERFECT = 1e-28  # of the target's sum of squares: a smaller RSS is rounding error


@dataclass(frozen=True)
class SimpleRegression(SheetRecord):
    """A line through (x, y); its terms have estimate, standard error, t, p-value and interval at `level`.

    `fitted` and `residuals` are None for a line from moments, `r` is None if y does not vary, and `absent` says why
    there are no standard errors.
    """

    n: int
    intercept_term: Term
    slope_term: Term
    r: float | None
    rss: float
    degrees_of_freedom: int
    level: float
    fitted: Floats | None = None
    residuals: Floats | None = None
    absent: str = ""

    @property
    def slope(self) -> float:
        """How much y grows as x grows by 1."""
        return float(self.slope_term.estimate or 0.0)

    @property
    def intercept(self) -> float:
        """The value of the line at x = 0."""
        return float(self.intercept_term.estimate or 0.0)

    @property
    def r_squared(self) -> float | None:
        """The share of y's sum of squares that the line explains."""
        return None if self.r is None else self.r * self.r

    @property
    def sigma(self) -> float | None:
        """The residual standard deviation √(RSS / (n − 2)); None without degrees of freedom."""
        return math.sqrt(self.rss / self.degrees_of_freedom) if self.degrees_of_freedom else None

    def to_dict(self) -> dict[str, Any]:
        """Return the line as JSON values, without the rows."""
        measures = {name: getattr(self, name) for name in ("n", "r", "r_squared", "rss", "sigma", "degrees_of_freedom")}
        terms = {"intercept": asdict(self.intercept_term), "slope": asdict(self.slope_term)}
        return json_values({**measures, "level": self.level, "absent": self.absent, **terms})

    def sheet(self) -> Sheet:
        """Return the line as a sheet."""
        sign = "−" if self.slope < 0.0 else "+"
        equation = f"y = {format_number(self.intercept)} {sign} {format_number(abs(self.slope))} · x"
        reasons, terms = Reasons(), (self.intercept_term, replace(self.slope_term, name="slope"))
        measures = (("r", self.r), ("r²", self.r_squared), ("RSS", self.rss), ("σ", self.sigma))
        return Sheet(
            title=f"{equation}: {self.n:,} rows, {counted(self.degrees_of_freedom, 'degree')} of freedom",
            grids=tuple(coefficient_grids(terms, reasons, self.level)),
            entries=tuple((name, format_number(value)) for name, value in measures),
            reasons=tuple(reasons.sentences),
        )


def simple_regression(x: Any, y: Any, *, level: float = 0.95) -> SimpleRegression:
    """Return the least squares line through pairs of numbers.

    Parameters
    ----------
    x, y : (n,) numbers, at least two, and x not all equal
    level : of the intervals

    Examples
    --------
    >>> import separatrix as sx
    >>> line = sx.simple_regression([1, 2, -1, 3, 4], [2, 4, 0, 4, 6])
    >>> round(line.intercept, 4), round(line.slope, 4), round(line.r, 5), round(line.rss, 5)
    (1.1081, 1.1622, 0.98032, 0.81081)

    Reference: Galton, Regression towards mediocrity in hereditary stature (1886).
    """
    x_values, y_values = _numbers("x", x), _numbers("y", y)
    if len(x_values) != len(y_values):
        raise DataError(f"x has {len(x_values)} numbers and y has {len(y_values)}; give pairs")
    if len(x_values) < 2:
        raise DataError(f"x and y have {len(x_values)} number; a line needs at least 2 pairs")
    if (x_values == x_values[0]).all():
        raise DataError(f"x is {x_values[0]:g} in every pair, so no line is better than another; give x that vary")
    moments, residuals = _exact_line(x_values, y_values)
    return _make_line(moments, level, y_values - residuals, residuals)


def simple_regression_from_moments(
    n: int, mean_x: float, mean_y: float, var_x: float, var_y: float, cov_xy: float, *, level: float = 0.95
) -> SimpleRegression:
    """Return the least squares line from sample moments, whose divisor is n − 1.

    Examples
    --------
    >>> import separatrix as sx
    >>> line = sx.simple_regression_from_moments(30, 45.13, 142.53, 233.91, 509.91, 227.10)
    >>> round(line.slope, 4), round(line.intercept, 2)
    (0.9709, 98.71)
    """
    rows = require_count("n", n)
    if rows < 2:
        raise OptionError(f"n={n} is too few; a line needs at least 2 pairs")
    arguments = {"mean_x": mean_x, "mean_y": mean_y, "var_x": var_x, "var_y": var_y, "cov_xy": cov_xy}
    least = {"var_x": 0.0, "var_y": 0.0}
    floats = {name: require_number(name, value, least=least.get(name)) for name, value in arguments.items()}
    if floats["var_x"] == 0.0:
        raise DataError("var_x=0: x does not vary, so no line is better than another; give x that vary")
    most = math.sqrt(floats["var_x"]) * math.sqrt(floats["var_y"])
    if abs(floats["cov_xy"]) > most * (1.0 + MOMENT_ROUNDING):
        raise DataError(
            f"cov_xy={cov_xy:g} is larger than √(var_x · var_y) = {most:g}, which no data have;"
            " give variances and covariance of the same rows with the same divisor n − 1"
        )
    moments = PairMoments(
        rows,
        Fraction(floats["mean_x"]),
        Fraction(floats["mean_y"]),
        *((rows - 1) * Fraction(floats[name]) for name in ("var_x", "var_y", "cov_xy")),
    )
    return _make_line(moments, level)


class PairMoments(NamedTuple):
    """Means, and sums of squares and products about the means, as rationals."""

    n: int
    mean_x: Fraction
    mean_y: Fraction
    xx: Fraction
    yy: Fraction
    xy: Fraction


def _exact_line(x: Floats, y: Floats) -> tuple[PairMoments, Floats]:
    """Return the moments of pairs of numbers, and the residuals of their line, (n,)."""
    (a, a_scale), (b, b_scale), n = _integers(x), _integers(y), len(x)
    sum_a, sum_b = sum(a), sum(b)
    aa, bb, ab = (n * sum(map(mul, u, v)) - sum(u) * sum(v) for u, v in ((a, a), (b, b), (a, b)))
    moments = PairMoments(
        n,
        Fraction(sum_a, n * a_scale),
        Fraction(sum_b, n * b_scale),
        Fraction(aa, n * a_scale * a_scale),
        Fraction(bb, n * b_scale * b_scale),
        Fraction(ab, n * a_scale * b_scale),
    )
    rise, run, level, divisor = n * ab, n * aa, aa * sum_b - ab * sum_a, n * aa * b_scale
    return moments, np.array([(run * v - rise * u - level) / divisor for u, v in zip(a, b, strict=True)])


def _integers(values: Floats) -> tuple[list[int], int]:
    """Return finite numbers as integers over a common denominator, a power of 2."""
    ratios = [value.as_integer_ratio() for value in values.tolist()]
    scale = max(denominator for _, denominator in ratios)
    return [numerator * (scale // denominator) for numerator, denominator in ratios], scale


def _make_line(
    moments: PairMoments, level: float, fitted: Floats | None = None, residuals: Floats | None = None
) -> SimpleRegression:
    level = require_level(level)
    n, slope = moments.n, moments.xy / moments.xx
    freedom, rss = n - 2, max(float(moments.yy - moments.xy * slope), 0.0)
    absent = _absent_reason(moments, rss)
    intercept, share = moments.mean_y - slope * moments.mean_x, 1 / moments.xx
    shares = {"intercept": (intercept, Fraction(1, n) + moments.mean_x**2 * share), "x": (slope, share)}  # of σ²
    intercept_term, slope_term = (
        Term(name, float(estimate), absent=absent)
        if absent
        else wald_term(name, float(estimate), math.sqrt(rss / freedom) * math.sqrt(float(own)), level, df=freedom)
        for name, (estimate, own) in shares.items()
    )
    spread = math.sqrt(float(moments.xx)) * math.sqrt(float(moments.yy))
    r = max(-1.0, min(1.0, float(moments.xy) / spread)) if moments.yy else None
    return SimpleRegression(n, intercept_term, slope_term, r, rss, freedom, level, fitted, residuals, absent)


def _absent_reason(moments: PairMoments, rss: float) -> str:
    if moments.n == 2:
        return Refusal.NO_FREEDOM(rows=2, rank=2)
    if not moments.yy:
        return Refusal.CONSTANT_TARGET(value=float(moments.mean_y))
    return Refusal.PERFECT_FIT() if rss <= PERFECT * float(moments.yy) else ""


def _numbers(name: str, values: Any) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} has entries that are no numbers; give a list or column of numbers") from None
    if array.ndim != 1:
        raise DataError(f"{name} has shape {array.shape}; give one column of numbers, as {name}.ravel()")
    return real_targets(array, name)
