"""The axis of a forest plot, in percent of its width, with round ticks, and its numbers as text.

The axis holds every finite number; an infinite one is at its end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from separatrix.rendering.sheet import ABSENT, LARGE, digits

SMALL_P = 0.001
ENDS = (3.0, 97.0)  # percent of the width of the axis
OPEN = 12.0  # percent of the width for each infinite end
LEAST_TICKS, MOST_TICKS = 3, 7


def p_cell(value: float | None) -> str:
    """Return a p-value as in journals.

    >>> p_cell(0.0212), p_cell(0.26), p_cell(1e-9), p_cell(None)
    ('0.021', '0.26', '< 0.001', '—')
    """
    if value is None:
        return ABSENT
    return f"< {SMALL_P:g}" if value < SMALL_P else f"{value:.{3 if value < 0.1 else 2}f}"


def number_cell(value: float | None, *, ratio: bool) -> str:
    """Return an effect as text, or the ratio whose logarithm it is.

    >>> number_cell(0.7, ratio=True), number_cell(-0.004, ratio=True), number_cell(-1.25, ratio=False)
    ('2.01', '0.996', '−1.25')
    >>> number_cell(math.inf, ratio=True), number_cell(-math.inf, ratio=True), number_cell(12.5, ratio=True)
    ('∞', '0', '268\\u202f337')
    """
    if value is None or math.isnan(value):
        return ABSENT
    if math.isinf(value):
        return "∞" if value > 0.0 else "0" if ratio else "−∞"
    return _ratio_cell(value) if ratio else _spaced(digits(value)).replace("-", "−")


def _ratio_cell(logarithm: float) -> str:
    if abs(logarithm) > math.log(1e6):
        power = math.floor(logarithm / math.log(10.0))
        return f"{math.exp(logarithm - power * math.log(10.0)):.1f}·10{str(power).translate(RAISED)}"
    value = math.exp(logarithm)
    if value < 0.1 or (logarithm and f"{value:.2f}" == "1.00"):
        return f"{value:.4g}" if value > 0.1 else f"{value:.2g}"
    return f"{value:.2f}" if value < 10.0 else f"{value:.1f}" if value < 100.0 else _spaced(f"{value:,.0f}")


RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _spaced(text: str) -> str:
    """Return a number with narrow spaces for thousands, none below 10,000."""
    return text.replace(",", "\N{NARROW NO-BREAK SPACE}" if len(text.partition(".")[0]) > len("9,999") else "")


@dataclass(frozen=True)
class Axis:
    """A linear scale: values `low` and `high` at the percentages `start` and `stop`."""

    low: float
    high: float
    start: float
    stop: float
    ticks: tuple[tuple[float, str], ...]

    @staticmethod
    def over(ends: Sequence[float], ratios: bool) -> Axis:
        """Return the axis that holds 0 and every finite one of some numbers."""
        finite = [0.0, *filter(math.isfinite, ends)]
        low, high = min(finite), max(finite)
        if low == high:
            low, high = -1.0, 1.0
        start = ENDS[0] + OPEN * (-math.inf in ends)
        stop = ENDS[1] - OPEN * (math.inf in ends)
        bare = Axis(low, high, start, stop, ())
        ticks = [(bare.place(value), label) for value, label in (ratio_ticks if ratios else _ticks)(low, high)]
        if math.inf in ends:
            ticks.append((ENDS[1], "∞"))
        if -math.inf in ends:
            ticks.insert(0, (ENDS[0], "0" if ratios else "−∞"))
        return replace(bare, ticks=tuple(ticks))

    def place(self, value: float) -> float:
        """Return the place of a value in percent; of an infinite one, the end of the axis."""
        if math.isinf(value):
            return ENDS[int(value > 0.0)]
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.stop - self.start), 2)


def _ticks(low: float, high: float) -> Iterator[tuple[float, str]]:
    """Yield round values within the ends, with their labels."""
    step = _step(high - low)
    for index in range(math.ceil(low / step), math.floor(high / step) + 1):
        yield index * step, f"{index * step:.6g}".replace("-", "−")


def _step(span: float) -> float:
    """Return the least of 1, 2, 5, 10, … that divides a span into at most as many parts as there are ticks."""
    power = 10.0 ** math.floor(math.log10(span / MOST_TICKS))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if span / (factor * power) <= MOST_TICKS)


def ratio_ticks(low: float, high: float) -> Iterator[tuple[float, str]]:
    """Yield the logarithms of round ratios: powers of 2, 4 or 10, or linear steps on a narrow axis."""
    for base in (2.0, 4.0, 10.0):
        unit = math.log(base)
        powers = range(math.ceil(low / unit), math.floor(high / unit) + 1)
        if len(powers) < LEAST_TICKS and base == 2.0:
            yield from ((math.log(value), label) for value, label in _ticks(math.exp(low), math.exp(high)))
            return
        if len(powers) <= MOST_TICKS:
            break
    stride = math.ceil(len(powers) / MOST_TICKS)
    yield from ((power * unit, _power(base, power)) for power in powers if power % stride == 0)


def _power(base: float, power: int) -> str:
    value = base**power
    if 1.0 / LARGE < value < LARGE:
        return f"{value:g}"
    return f"10{str(power).translate(RAISED)}"
