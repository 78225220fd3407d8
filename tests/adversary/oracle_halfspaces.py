"""Oracles of halfspaces in rational arithmetic: the widest margin, mistakes and the fewest of them, perceptron runs.

Labels of two classes: the larger one is +1. Coefficients have the intercept first, if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from oracle_rational import Vector, cone_alternative, dot, nearest_point, rational_rows, rationals
from oracle_separability import positive_rows, signs_of

Tie = Literal["positive", "negative", "mistake", "correct"]
MOST_ROWS = 18  # of a search over all subsets


class Margin(NamedTuple):
    """The exact square of the widest margin, 0 if there is none, and coefficients that attain it (intercept first)."""

    squared: Fraction
    coef: Vector | None


def widest_margin(X: Any, y: Any, fit_intercept: bool = True) -> Margin:
    """Return the widest margin, the most of min yᵢ(w·xᵢ + b)/‖w‖ over all w (and b), squared and exact.

    It is the distance of 0 from the hull of the points yx or, with an intercept, half the distance of the two hulls.
    """
    rows, signs = rational_rows(X), signs_of(y)
    if fit_intercept:
        points = _differences(rows, signs)
        if not points:
            raise ValueError("the margin of a single class has no bound")
    else:
        points = [[sign * x for x in row] for row, sign in zip(rows, signs, strict=True)]
    products: dict[tuple[int, int], Fraction] = {}

    def gram(i: int, j: int) -> Fraction:
        key = (min(i, j), max(i, j))
        if key not in products:
            products[key] = dot(points[i], points[j])
        return products[key]

    multipliers, square = nearest_point(gram, len(points))
    if not square:
        return Margin(Fraction(0), None)
    weights = [sum((m * points[i][k] for i, m in multipliers.items()), Fraction(0)) for k in range(len(points[0]))]
    if not fit_intercept:
        assert min(dot(weights, point) for point in points) == square == dot(weights, weights)
        return Margin(square, weights)
    least = min(dot(weights, row) for row, sign in zip(rows, signs, strict=True) if sign > 0)
    most = max(dot(weights, row) for row, sign in zip(rows, signs, strict=True) if sign < 0)
    assert least - most == square == dot(weights, weights)
    return Margin(square / 4, [-(least + most) / 2, *weights])


def _differences(rows: Sequence[Vector], signs: Sequence[int]) -> list[Vector]:
    """Return every row of the positive class minus every row of the negative one."""
    positive, negative = ([row for row, s in zip(rows, signs, strict=True) if s == sign] for sign in (1, -1))
    return [[a - b for a, b in zip(up, down, strict=True)] for up in positive for down in negative]


def squared_margin_of(X: Any, y: Any, coef: Any, fit_intercept: bool = True) -> Fraction:
    """Return sign(m)·m²/‖w‖² of the least margin m = min yᵢ(w·xᵢ + b) of some weights; the intercept has no norm."""
    values = rationals(coef)
    rows = rational_rows(X, intercept=fit_intercept)
    least = min(sign * dot(row, values) for row, sign in zip(rows, signs_of(y), strict=True))
    weights = values[int(fit_intercept) :]
    norm = dot(weights, weights)
    if not norm:
        raise ValueError("weights of norm 0 have no margin")
    return least * abs(least) / norm


def squared_radius(X: Any, fit_intercept: bool = True) -> Fraction:
    """Return the largest squared norm of a row, with its leading 1 if there is an intercept."""
    return max(dot(row, row) for row in rational_rows(X, intercept=fit_intercept))


def mistaken_rows(
    X: Any, y: Any, coef: Any, fit_intercept: bool = True, *, tie: Tie = "mistake", margin: float = 0.0
) -> list[int]:
    """Return the rows that some weights get wrong, by exact signs; `tie` says how a score of 0 counts."""
    values, signs = rationals(coef), signs_of(y)
    rows = rational_rows(X, intercept=fit_intercept)
    return [i for i, row in enumerate(rows) if is_mistake(dot(row, values), signs[i], tie, margin)]


def is_mistake(score: Any, sign: int, tie: Tie, margin: float = 0.0) -> bool:
    """Return whether a score is a mistake: y·score < 0, a score of 0 as `tie` says; with a margin, y·score < margin."""
    if margin > 0:
        return bool(sign * score < margin)
    if score == 0:
        return {"positive": sign < 0, "negative": sign > 0, "mistake": True, "correct": False}[tie]
    return bool(sign * score < 0)


class Fewest(NamedTuple):
    """The least number (or weight) of mistakes of any halfspace, the rows of one such choice, and its weights."""

    mistakes: Fraction
    rows: tuple[int, ...]
    coef: Vector


def fewest_mistakes(X: Any, y: Any, fit_intercept: bool = True, weights: Any = None) -> Fewest:
    """Return the fewest mistakes over all halfspaces; a score of 0 is a mistake. All subsets of at most 18 rows.

    The mistakes of any w meet every set of rows that cancel (λ > 0, Σ λ y x = 0). The cheapest subset of rows that
    meets the sets known so far is either the answer, or the other rows cancel in a further set.
    """
    rows, signs = rational_rows(X, intercept=fit_intercept), signs_of(y)
    kept = positive_rows(weights, len(rows))
    costs = [Fraction(1)] * len(rows) if weights is None else rationals(np.asarray(weights, dtype=np.float64))
    zs = {i: [signs[i] * x for x in rows[i]] for i in kept}
    if len(kept) > MOST_ROWS:
        raise ValueError(f"{len(kept)} rows have too many subsets; at most {MOST_ROWS}")
    subsets = sorted(
        (sum((costs[i] for i in subset), Fraction(0)), subset)
        for size in range(len(kept) + 1)
        for subset in combinations(kept, size)
    )
    cancelling: list[frozenset[int]] = []
    for cost, subset in subsets:
        wrong = frozenset(subset)
        if any(wrong.isdisjoint(rows_) for rows_ in cancelling):
            continue
        others = [i for i in kept if i not in wrong]
        found, separator = _cancelling([zs[i] for i in others])
        if separator is not None:
            return Fewest(cost, subset, separator or [Fraction(0)] * len(rows[0]))
        cancelling.append(frozenset(others[k] for k in found))
    raise AssertionError("the subset of all rows is always enough")


def _cancelling(zs: Sequence[Vector]) -> tuple[list[int], Vector | None]:
    """Return places of rays with Σ λ z = 0 and λ > 0, or weights with z·w > 0 on all rays (Gordan)."""
    if not zs:
        return [], []
    zero = [Fraction(0)] * len(zs[0])
    multipliers, alternative = cone_alternative([[*z, Fraction(1)] for z in zs], [*zero, Fraction(1)])
    if multipliers is not None:
        return [k for k, value in enumerate(multipliers) if value > 0], None
    assert alternative is not None  # v·z + t ≥ 0 and t < 0
    assert all(dot(alternative[:-1], z) > 0 for z in zs)
    return [], alternative[:-1]


class Replay(NamedTuple):
    """A perceptron run replayed in exact arithmetic.

    `margins` has y·score before each update on one row (with the batch rule: the least over all rows), `mistakes` the
    number of rows that each update sums. `legitimate` says whether each was on a mistake under the tie rule, exactly.
    `coef` are the last weights (of a kernel: one coefficient per row), `wrong` the rows that are mistakes at the end.
    """

    legitimate: bool
    margins: list[Any]
    mistakes: list[int]
    coef: list[Any]
    wrong: list[int]


class PerceptronRule(NamedTuple):
    """The k-th update adds η y x with η = rate, or rate/k; a mistake is `is_mistake`."""

    tie: Tie = "positive"
    margin: float = 0.0
    rate: float = 1.0
    inverse: bool = False


TEXTBOOK = PerceptronRule()


def replay_perceptron(
    X: Any,
    y: Any,
    history: Sequence[int] | int,
    fit_intercept: bool = True,
    *,
    rule: PerceptronRule = TEXTBOOK,
    start: Any = None,
    earlier: int = 0,
) -> Replay:
    """Replay a run: `history` has the row of each update, or it is the number of batch updates.

    `earlier` updates were made before, which matters for the rate/k. Floats would round after each update; here
    nothing is rounded, so the weights of a float run differ by its rounding.
    """
    rows = rational_rows(X, intercept=fit_intercept)
    begin = [Fraction(0)] * len(rows[0]) if start is None else rationals(start)
    gram = [[dot(a, b) for b in rows] for a in rows]
    coefficients, replay = _replay(gram, signs_of(y), history, rule, [dot(row, begin) for row in rows], earlier)
    added = [sum((c * row[k] for c, row in zip(coefficients, rows, strict=True)), begin[k]) for k in range(len(begin))]
    return replay._replace(coef=added)


def replay_kernel_perceptron(
    K: Sequence[Sequence[Any]],
    y: Any,
    history: Sequence[int] | int,
    fit_intercept: bool = True,
    *,
    rule: PerceptronRule = TEXTBOOK,
) -> Replay:
    """Replay a run from 0 in the space of a kernel matrix (plus 1 for an intercept)."""
    gram = [[value + int(fit_intercept) for value in row] for row in K]
    return _replay(gram, signs_of(y), history, rule, [gram[0][0] * 0] * len(gram), 0)[1]


def _replay(
    gram: Sequence[Sequence[Any]],
    signs: Sequence[int],
    history: Sequence[int] | int,
    rule: PerceptronRule,
    scores: list[Any],
    earlier: int,
) -> tuple[list[Any], Replay]:
    coef = [gram[0][0] * 0] * len(signs)
    margins, mistakes, legitimate = [], [], True
    batch = isinstance(history, int | np.integer)
    if not batch and not all(0 <= row < len(signs) for row in history):
        raise ValueError(f"the history names rows other than 0, …, {len(signs) - 1}")
    for t in range(history if batch else len(history)):
        wrong = [i for i, s in enumerate(scores) if is_mistake(s, signs[i], rule.tie, rule.margin)]
        rows = wrong if batch else [int(history[t])]
        every = range(len(signs)) if batch else rows
        legitimate = legitimate and bool(rows) and set(rows) <= set(wrong)
        margins.append(min(signs[i] * scores[i] for i in every))
        mistakes.append(len(rows))
        rate = Fraction(rule.rate) / (earlier + t + 1 if rule.inverse else 1)
        for row in rows:
            change = signs[row] * rate.numerator * (gram[0][0] * 0 + 1) / rate.denominator
            coef[row] += change
            scores = [score + change * gram[row][i] for i, score in enumerate(scores)]
    wrong = [i for i, s in enumerate(scores) if is_mistake(s, signs[i], rule.tie, rule.margin)]
    return coef, Replay(legitimate, margins, mistakes, coef, wrong)
