"""Random points of random objectives: bounds on the objective, the gap and the distances, against the oracles.

Unlike `dependence`, the points are not those of fits: optima that are rounded and moved by up to 1 along one column or
along the direction that the data determine least, of few rows with weights of very different size, with offsets and
penalty factors, which certificates may state in a later format.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import oracles
from oracles import mp, real
from separatrix import losses
from separatrix.certificates.curvature import Conditions, GapBound, curvature_bound
from separatrix.certificates.dual import gap_bound
from separatrix.design.build import make_design
from separatrix.penalties import make_penalty
from separatrix.problem import Problem

LOSSES = ("logistic", "softmax", "squared", "squared hinge", "hinge")


class Point(NamedTuple):
    """An objective and coefficients, (p,) or (p, K)."""

    name: str
    problem: Problem
    X: Any
    coef: Any
    conditions: Conditions
    l1: Any
    l2: Any

    @property
    def intercept(self) -> bool:
        return bool(self.problem.design.virtual)

    def options(self) -> dict[str, Any]:
        """Return what the oracles need besides loss, X and y."""
        return {"weights": self.problem.weights, "offset": self.conditions.offset, "l1": self.l1, "l2": self.l2}


def points(seed: int) -> list[Point]:
    """Return some points of one random objective."""
    rng = np.random.default_rng(seed)
    loss = str(rng.choice(LOSSES, p=[0.4, 0.2, 0.15, 0.15, 0.1]))
    n, p = int(rng.integers(4, 16)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, p)) if rng.random() < 0.7 else rng.integers(-2, 3, (n, p)).astype(float)
    dependence = 10.0 ** rng.integers(0, 13)
    if p > 1 and rng.random() < 0.6:
        X[:, 1] = X[:, 0] + X[:, 1] / dependence
    X = (X + 2.0 ** rng.integers(0, 33) * (rng.random() < 0.2)) * 10.0 ** (
        rng.integers(-20, 21, p) * (rng.random() < 0.3)
    )
    intercept = bool(rng.random() < 0.7)
    weights = (
        None if rng.random() < 0.5 else 10.0 ** rng.uniform(-6, 6, n) if rng.random() < 0.4 else rng.uniform(0, 3, n)
    )
    y = _target(loss, n, rng)
    strength, ratio = _penalty(loss, rng)
    classes = 3 if loss == "softmax" else 1
    offset = (
        rng.normal(size=(n, 3) if classes == 3 else n) * 10.0 ** rng.integers(-1, 2) if rng.random() < 0.3 else None
    )
    factors = np.array([1.0] * intercept + rng.uniform(0.5, 2.0, p).tolist()) if rng.random() < 0.3 else None
    problem = Problem(
        make_design(X, intercept=intercept),
        y,
        next(each for each in losses.ALL if each.name == loss),
        make_penalty(strength, ratio),
        weights,
    )
    own = np.ones(p) if factors is None else factors[int(intercept) :]
    quadratic, absolute = problem.penalty.quadratic * own, problem.penalty.absolute * own
    blank = Point(
        f"{seed}: {loss}, strength {strength:.3g}, l1_ratio {ratio:g}, {n} x {p}, dependence {dependence:.0e}",
        problem,
        X,
        np.zeros((p + intercept, 3) if classes == 3 else p + intercept),
        Conditions(offset=offset, factors=factors),
        absolute,
        quadratic,
    )
    best = oracles.minimum(_name(blank), X, y, intercept, **blank.options()).argmin
    if best is None:
        return [blank, blank._replace(coef=rng.normal(size=blank.coef.shape))]
    optimum = np.array(best, dtype=np.float64).T
    sizes = np.abs(optimum) + 1.0 / np.maximum(np.abs(_ones(blank)).max(axis=0), 1e-300).reshape(
        -1, *[1] * (optimum.ndim - 1)
    )
    moves = [10.0 ** rng.uniform(-16, 0) * rng.normal(size=optimum.shape) * sizes for _ in range(3)]
    return [blank._replace(coef=optimum), *(blank._replace(coef=optimum + move) for move in moves)]


def _name(point: Point) -> Any:
    return point.problem.loss.name


def _ones(point: Point) -> Any:
    return np.column_stack([np.ones(len(point.X)), point.X]) if point.intercept else point.X


def _target(loss: str, n: int, rng: Any) -> Any:
    if loss == "squared":
        return rng.normal(size=n) * 10.0 ** rng.integers(-3, 4) + 10.0 ** rng.integers(0, 10) * (rng.random() < 0.2)
    if loss == "softmax":
        return np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    return np.concatenate([[1.0, -1.0], np.where(rng.random(n - 2) < 0.5, 1.0, -1.0)])


def _penalty(loss: str, rng: Any) -> tuple[float, float]:
    """Return strength and l1_ratio; a hinge needs a penalty."""
    if loss != "hinge" and rng.random() < 0.4:
        return 0.0, 0.0
    return float(10.0 ** rng.uniform(-20, 0)), float(rng.choice([0.0, 0.0, 1.0, 0.5]))


def fault(point: Point) -> tuple[str, int]:
    """Return which bound is below the truth, and how many bounds were found."""
    loss, X, y, options = _name(point), point.X, point.problem.y, point.options()
    given = point.coef.T.tolist()
    value = oracles.value_at(loss, X, y, given, point.intercept, **options)
    best = oracles.minimum(loss, X, y, point.intercept, start=given, **options)
    gap = value - best.value if value - best.value > mp.mpf("1e-80") * value else mp.mpf(0)
    bounds = [
        gap_bound(point.problem, point.coef, conditions=point.conditions),
        curvature_bound(point.problem, point.coef, conditions=point.conditions),
    ]
    found = [each for each in bounds if each is not None]
    faults = (_fault(each, point, value, gap, best) for each in found)
    return next(filter(None, faults), ""), sum(each.gap < each.primal for each in found)


def _fault(bound: GapBound, point: Point, value: Any, gap: Any, best: Any) -> str:
    if not bound.objective - bound.error <= value <= bound.primal:
        return f"the objective is {float(value):.17g}, not {bound.objective:.17g} ± {bound.error:.3g}"
    if not gap <= bound.gap:
        return f"the gap is {float(gap):.6g}, the bound {bound.gap:.6g}"
    if bound.radii is None:
        return ""
    if best.argmin is None:
        return "a minimum is said to exist"
    own, truth = np.atleast_2d(point.coef.T), best.argmin if point.coef.ndim == 2 else [best.argmin]
    for j in range(own.shape[1]):
        apart = [real(float(w[j])) - b[j] for w, b in zip(own, truth, strict=True)]
        base = apart[0] if point.coef.ndim == 2 else 0
        radii = np.atleast_2d(bound.radii.T)[:, j].tolist()
        if any(not abs(d - base) <= r for d, r in zip(apart, radii, strict=True)):
            return f"coefficient {j} is {[float(d - base) for d in apart]} from the minimiser, the radii {radii}"
    return ""
