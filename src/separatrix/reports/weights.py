"""Weights by name as lines of text: one list for a single score, a table for the scores of several classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from separatrix.reports.summary import Predictor


LONG_LIST = 12  # a longer list is set in two columns, the largest weights first
MOST_SHOWN = 60
NUMBER = 13  # columns that a number takes, the space before it included
LONGEST_NAME = 30


def weight_lines(predictors: Sequence[Predictor], width: int) -> Iterator[str]:
    """Yield the weights as lines of at most `width` columns."""
    if len(predictors) > 1:
        yield from _table(predictors, width)
    elif len(predictors[0].coefficients) > LONG_LIST:
        yield from _two_columns(predictors[0].coefficients)
    else:
        yield from _list(predictors[0].coefficients)


def _list(coefficients: Sequence[tuple[str, float]]) -> Iterator[str]:
    names = _aligned([name for name, _ in coefficients])
    for name, (_, weight) in zip(names, coefficients, strict=True):
        yield f"  {name}{weight:>{NUMBER}.6g}"


def _two_columns(coefficients: Sequence[tuple[str, float]]) -> Iterator[str]:
    by_size = sorted(coefficients, key=lambda entry: -abs(entry[1]))
    shown = [*_list(by_size[:MOST_SHOWN]), ""]
    half = len(shown) // 2
    for left, right in zip(shown[:half], shown[half:], strict=False):
        yield f"{left}  {right}".rstrip()
    yield ""
    yield f"  Largest first{_left_off(len(coefficients))}; the size of a weight depends on the unit of its column."


def _table(predictors: Sequence[Predictor], width: int) -> Iterator[str]:
    """Yield a line a weight, a number a class; classes that do not fit the width go into a further table."""
    rows = [name for name, _ in predictors[0].coefficients]
    names = _aligned(rows[:MOST_SHOWN])
    beside = (width - 2 - len(names[0])) // NUMBER
    for first in range(0, len(predictors), beside):
        group = predictors[first : first + beside]
        yield (
            "  "
            + " " * len(names[0])
            + "".join(f"{shortened(str(each.positive), NUMBER - 1):>{NUMBER}}" for each in group)
        )
        for k, name in enumerate(names):
            yield f"  {name}" + "".join(f"{each.coefficients[k][1]:>{NUMBER}.6g}" for each in group)
    if _left_off(len(rows)):
        yield ""
        yield f"  In the order of the columns{_left_off(len(rows))}."


def _left_off(count: int) -> str:
    return f", {count - MOST_SHOWN:,} more left off" if count > MOST_SHOWN else ""


def _aligned(names: Sequence[str]) -> list[str]:
    """Return names on one line each, cut and filled to one length."""
    plain = [shortened(" ".join(name.split()), LONGEST_NAME) for name in names]
    length = max(map(len, plain))
    return [f"{name:<{length}}" for name in plain]


def shortened(text: str, length: int) -> str:
    """Return a text of at most `length` signs; what is cut out is in the middle, as names differ at their ends."""
    if len(text) <= length:
        return text
    tail = length // 2
    return f"{text[: length - tail - 1]}…{text[-tail:]}"
