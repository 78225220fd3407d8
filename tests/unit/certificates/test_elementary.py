"""Elementary functions are as accurate as certificates trust them to be: 8u relative, u = 2⁻⁵³, against mpmath.

    exp     logistic, softmax, and their curvature; the rbf kernel
    expm1   changes of probabilities within an error of the scores; softmax losses
    log     shares of the classes (generative), entropies, determinants
    log1p   logistic losses; rates η/k of a run (of the `math` module)
    tanh    the sigmoid kernel, whose floats are the data: no bound rests on it

`math.hypot` and square roots, which IEEE arithmetic rounds correctly, occur besides. Results below the normal range are
within the absolute `TINY`. NumPy computes arrays by vector instructions that depend on the machine, with other code for
their last entries and for strides, so all lengths from 1 to 17 are tried.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest

import separatrix
from separatrix.certificates.enclosures import TINY, UNIT

pytestmark = pytest.mark.slow

UNITS = 8  # to which the bounds trust elementary functions, in u
LENGTHS = range(1, 18)
HOME = Path(separatrix.__file__).parent
TRUSTED = {"exp", "expm1", "log", "log1p", "tanh", "hypot", "sqrt"}
OTHERS = {
    "exp2", "log2", "log10", "logaddexp", "logaddexp2", "pow", "power", "float_power", "cbrt", "sin", "cos", "tan",
    "sinh", "cosh", "arcsin", "arccos", "arctan", "arctan2", "arcsinh", "arccosh", "arctanh", "asin", "acos", "atan",
    "atan2", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "expit", "logit", "logsumexp", "xlogy", "xlog1py",
}  # fmt: skip


class Reference(NamedTuple):
    """Arguments of a function, and its values as sums of two floats."""

    x: Any
    high: Any
    low: Any

    def __getitem__(self, index: Any) -> Reference:  # type: ignore[override]  # of all three
        return Reference(self.x[index], self.high[index], self.low[index])

    def largest_error(self, values: Any) -> float:
        """Return the largest error in units of u|value|, beyond the underflow that certificates allow for."""
        errors = np.abs((values - self.high) - self.low)
        return float(np.max(np.maximum(errors - TINY, 0.0) / np.maximum(UNIT * np.abs(self.high), TINY)))


def near(x: float, count: int = 40) -> list[float]:
    """Return a number and its neighbours among the floats."""
    above = [x := math.nextafter(x, math.inf) for _ in range(count)]
    below = [x := math.nextafter(x, -math.inf) for _ in range(2 * count)]
    return [*above, *below]


def both_signs(least: float, most: float, count: int = 300) -> list[float]:
    """Return numbers of either sign, of sizes between powers of 10."""
    sizes = 10.0 ** np.random.default_rng(count).uniform(least, most, count)
    return [*sizes.tolist(), *(-sizes).tolist()]


def uniform(low: float, high: float, count: int = 600) -> list[float]:
    """Return random numbers of a range."""
    return np.random.default_rng(count).uniform(low, high, count).tolist()


@cache
def reference(name: str) -> Reference:
    """Return a function on its range: random arguments, near 0 and 1, near overflow and underflow."""
    x = np.array(ARGUMENTS[name]())
    with mpmath.workdps(60):
        values = [getattr(mpmath, name)(mpmath.mpf(each)) for each in x.tolist()]
        high = [float(value) for value in values]
        low = [float(value - each) for value, each in zip(values, high, strict=True)]
    return Reference(x, np.array(high), np.array(low))


LARGEST = math.log(np.finfo(np.float64).max)
SMALL = [5e-324, 1e-320, 2.2250738585072014e-308, 1e-300, 1e-160]
ARGUMENTS: dict[str, Callable[[], list[float]]] = {
    "exp": lambda: [
        *uniform(-745.0, LARGEST), *uniform(-1.0, 1.0), *both_signs(-300, 0), *near(0.0), *uniform(709.0, LARGEST, 200),
        *uniform(-746.0, -660.0, 300), *near(-708.4), *near(math.log(2.0)), *near(-math.log(2.0) / 2.0),
    ],
    "expm1": lambda: [
        *uniform(-745.0, LARGEST), *uniform(-1.0, 1.0), *both_signs(-300, 0), *near(math.log(2.0)), *near(-37.4),
        *uniform(-40.0, 0.0, 300), *uniform(709.0, LARGEST, 200),
    ],
    "log": lambda: [
        *SMALL, *np.exp(uniform(-744.0, 709.0)).tolist(), *uniform(0.5, 2.0), *near(1.0, 60), *uniform(0.0, 1.0, 300),
        *(1.0 + np.array(both_signs(-16, -1))).tolist(), *near(math.sqrt(0.5)), *near(2.0), 1.7976931348623157e308,
    ],
    "log1p": lambda: [
        *SMALL, *both_signs(-300, -1), *uniform(-1.0 + UNIT, 1.0), *np.exp(uniform(-40.0, 709.0)).tolist(),
        *(-1.0 + np.array([2.0**-k for k in range(1, 54)])).tolist(), *near(1.0), *near(math.sqrt(2.0) - 1.0),
        *near(math.sqrt(0.5) - 1.0),
    ],
    "tanh": lambda: [*uniform(-25.0, 25.0), *uniform(-1.0, 1.0), *both_signs(-300, 0), *near(0.549), *near(19.06)],
}  # fmt: skip


def strided(values: Any, step: int) -> Any:
    """Return the values with a stride between them, from the last if it is negative."""
    spread = np.zeros(abs(step) * len(values))
    spread[:: abs(step)] = values[::-1] if step < 0 else values
    return spread[::step] if step > 0 else spread[:: abs(step)][::-1]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arrays(name: str) -> None:
    truth, function = reference(name), getattr(np, name)
    with np.errstate(under="ignore"):
        assert truth.largest_error(function(truth.x)) <= UNITS
        for step in (2, 3, 7, -1, -2):
            assert truth.largest_error(function(strided(truth.x, step))) <= UNITS
        table = np.empty((len(truth.x), 3), order="F")
        table[...] = truth.x[:, np.newaxis]
        assert max(truth.largest_error(column) for column in function(np.ascontiguousarray(table)).T) <= UNITS
        assert max(truth.largest_error(column) for column in function(table).T) <= UNITS


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("length", LENGTHS)
def test_short_arrays(name: str, length: int) -> None:
    truth, function, worst = reference(name), getattr(np, name), 0.0
    with np.errstate(under="ignore"):
        for first in range(0, len(truth.x) - length + 1, length):
            part = truth[first : first + length]
            unaligned = np.append(0.0, part.x)[1:]
            for values in (part.x, unaligned, strided(part.x, 2), strided(part.x, -1)):
                worst = max(worst, part.largest_error(function(values)))
    assert worst <= UNITS


@pytest.mark.parametrize("name", ARGUMENTS)
def test_numbers(name: str) -> None:
    truth = reference(name)
    with np.errstate(under="ignore"):
        assert truth.largest_error(np.array([getattr(np, name)(x) for x in truth.x])) <= UNITS
    assert truth.largest_error(np.array([getattr(math, name)(x) for x in truth.x.tolist()])) <= UNITS


def test_the_measure_finds_errors() -> None:
    truth = reference("log")
    assert truth.largest_error(np.log(truth.x) * (1.0 + 12 * UNIT)) > UNITS
    assert reference("exp").largest_error(np.exp(reference("exp").x) + 1e-12) > UNITS


def test_hypot() -> None:
    rng = np.random.default_rng(0)
    for width in (1, 2, 3, 10, 100):
        for scale in (-300.0, -150.0, 0.0, 150.0, 300.0):
            vector = (rng.normal(size=width) * 10.0**scale).tolist()
            with mpmath.workdps(60):
                truth = mpmath.sqrt(mpmath.fsum(mpmath.mpf(x) ** 2 for x in vector))
                assert abs(mpmath.mpf(math.hypot(*vector)) - truth) <= UNITS * UNIT * truth + TINY


def called(source: str) -> set[str]:
    """Return the elementary functions that a file calls by the name of a library."""
    functions = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return {each.attr for each in functions if isinstance(each, ast.Attribute)} & (TRUSTED | OTHERS)


@pytest.mark.parametrize("place", ["certificates", "losses", "numerics.py", "design/kernels.py"])
def test_only_tested_functions_are_used(place: str) -> None:
    path = HOME / place
    files = [path] if path.suffix else sorted(path.glob("*.py"))
    used = set().union(*(called(file.read_text(encoding="utf-8")) for file in files))
    assert used <= TRUSTED
    assert called("np.log10(x) + math.atan(x)") == {"log10", "atan"}
