"""Oracles of separability in rational arithmetic: the verdict, the rays left, and which coefficients diverge.

Data are float64 arrays, taken as exact rationals. Coefficients have the intercept first, if there is one. Labels are
numbers or texts; in their sorted order the first of two is the negative class, and of several the class whose scores
are 0. Rows of weight 0 count nowhere, and a label that no row of positive weight has does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from oracle_rational import Vector, cone_alternative, dot, null_space, rank, rational_rows

Verdict = Literal["separable", "quasi", "overlap"]


class Ray(NamedTuple):
    """A row compared with one other class: z·v ≥ 0 if v puts the row on its own side."""

    row: int
    other: Any
    z: Vector


def signs_of(y: Any) -> list[int]:
    """Return ±1 for each label: the larger of two labels is +1, and so is a single label unless it is at most 0."""
    labels = np.asarray(y)
    classes = np.unique(labels)
    if len(classes) > 2:
        raise ValueError(f"{len(classes)} classes, where two are meant")
    if len(classes) == 1:
        return [-1 if labels.dtype.kind in "bif" and classes[0] <= 0 else 1] * len(labels)
    return [1 if positive else -1 for positive in (labels == classes[1]).tolist()]


def positive_rows(weights: Any, count: int) -> list[int]:
    """Return the rows of positive weight; no weights are all 1."""
    values = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    if values.shape != (count,) or not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise ValueError("weights are one finite number ≥ 0 for each row, not all 0")
    return np.flatnonzero(values > 0).tolist()


def rays_of(X: Any, labels: Any, fit_intercept: bool, weights: Any = None) -> list[Ray]:
    """Return the rays of labelled rows: y(1, x) for at most two classes, (e_y − e_k) ⊗ (1, x) for several.

    The rays of several classes have the coefficients of all classes but the first, class by class.
    """
    rows, y = rational_rows(X, intercept=fit_intercept), np.asarray(labels)
    if len(rows) != len(y):
        raise ValueError(f"{len(rows)} rows and {len(y)} labels")
    kept = positive_rows(weights, len(rows))
    classes = np.unique(y[kept])
    if len(classes) <= 2:
        signs = signs_of(y[kept])
        other = {1: classes[0].item(), -1: classes[-1].item()}
        return [Ray(i, other[sign], [sign * x for x in rows[i]]) for i, sign in zip(kept, signs, strict=True)]
    codes = {label: code for code, label in enumerate(classes.tolist())}
    rays = []
    for i in kept:
        own = codes[y[i].item()]
        for label, code in codes.items():
            if code != own:
                blocks = [[x * ((k == own) - (k == code)) for x in rows[i]] for k in range(1, len(codes))]
                rays.append(Ray(i, label, [x for block in blocks for x in block]))
    return rays


def separated_rays(zs: Sequence[Vector]) -> list[bool]:
    """Return for each ray whether some v with z·v ≥ 0 on all rays has z·v > 0 on it.

    If minus the sum of some rays lies in the cone of all rays, no such v is above 0 on any of them; otherwise one is.
    """
    zs, separated = _scaled(zs), [False] * len(zs)
    while not all(separated):
        rest = [z for z, done in zip(zs, separated, strict=True) if not done]
        direction = cone_alternative(zs, [-sum(column, Fraction(0)) for column in zip(*rest, strict=True)])[1]
        if direction is None:
            break
        separated = [done or dot(direction, z) > 0 for z, done in zip(zs, separated, strict=True)]
    return separated


def _scaled(zs: Sequence[Vector]) -> list[Vector]:
    """Return the rays with columns divided by powers of two, so that integers stay short; no sign of z·v changes."""
    scales = [power_of_two(column) for column in zip(*zs, strict=True)]
    return [[x / scale for x, scale in zip(z, scales, strict=True)] for z in zs]


def power_of_two(values: Iterable[Fraction]) -> Fraction:
    """Return a power of two near the largest value, 1 if all are 0."""
    largest = max(map(abs, values))
    if not largest:
        return Fraction(1)
    return Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length())


def verdict_of(zs: Sequence[Vector]) -> Verdict:
    """Return the verdict on some rays."""
    separated = separated_rays(zs)
    if all(separated):
        return "separable"
    return "quasi" if any(separated) else "overlap"


def separability_verdict(X: Any, labels: Any, fit_intercept: bool = True, weights: Any = None) -> Verdict:
    """Return "separable" (some v has z·v > 0 on all rays), "quasi" (≥ 0 on all, > 0 on some), else "overlap"."""
    return verdict_of([ray.z for ray in rays_of(X, labels, fit_intercept, weights)])


def rays_left(X: Any, labels: Any, fit_intercept: bool = True, weights: Any = None) -> list[tuple[int, Any]]:
    """Return (row, other class) of each ray that no direction of recession separates."""
    rays = rays_of(X, labels, fit_intercept, weights)
    separated = separated_rays([ray.z for ray in rays])
    return [(ray.row, ray.other) for ray, done in zip(rays, separated, strict=True) if not done]


class Divergence(NamedTuple):
    """A status for each coefficient, and the number of independent directions along which the likelihood grows."""

    statuses: tuple[str, ...]
    dimension: int


def divergence(X: Any, labels: Any, fit_intercept: bool = True, weights: Any = None) -> Divergence:
    """Return what the maximum likelihood does to each coefficient.

    'aliased' (the data do not identify it), 'finite' (no direction of recession moves it), '+inf' or '-inf' (all that
    move it have this sign), 'not estimable' (both signs occur). Of several classes: class by class, without the first.
    """
    zs = _scaled([ray.z for ray in rays_of(X, labels, fit_intercept, weights)])
    width = len(zs[0])
    aliased = {j for vector in null_space(zs, width) for j, value in enumerate(vector) if value}
    statuses = tuple("aliased" if j in aliased else _status(zs, width, j) for j in range(width))
    left = [z for z, done in zip(zs, separated_rays(zs), strict=True) if not done]
    return Divergence(statuses, rank(zs) - rank(left))


def _status(zs: Sequence[Vector], width: int, column: int) -> str:
    moves = []
    for sign in (1, -1):
        target = [Fraction(-sign if j == column else 0) for j in range(width)]
        moves.append(cone_alternative(zs, target)[1] is not None)
    return {(True, True): "not estimable", (True, False): "+inf", (False, True): "-inf", (False, False): "finite"}[
        moves[0], moves[1]
    ]
