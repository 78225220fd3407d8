"""Newton's method with 110 digits for Σ s log(1 + Σ exp(−z·θ − o)) + Σ (a|θ| + qθ²/2 + cθ).

An L1 penalty is smoothed to

    min over t of a t − μ log(t² − θ²) = a t − μ log(2μt/a),  t = (μ + √(μ² + a²θ²))/a,

whose minimiser is at most 2μ per penalised coefficient above the minimum; μ falls to 1e-60 of the value. Before that,
the signs of the optimum in floats are tried: if they satisfy the conditions of the optimum, they give it exactly. If
they do not, the sign that violates them most is changed, some times.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import mpmath
import numpy as np
from oracle_rational import solve

mp = mpmath.MPContext()  # its own precision, whatever the rest of the process sets
mp.dps = 110
MOST_STEPS = 5000
FEW_STEPS = 60  # of a guess of signs, whose objective may have no minimum
FARTHEST = 10  # that a step changes a score at first: farther, the second derivatives say nothing
LEAST_EXPONENT = -100_000
MOST_SIGNS = 20  # patterns of signs that are tried from a guess
SMOOTHING = mp.mpf("1e-60")  # relative to the value: the last μ of a smoothed L1 penalty


class LossRow(NamedTuple):
    """A row of weight s with loss s·log(1 + Σ exp(−z·θ − o)) over its rays, given as (place, entry) of the nonzeros."""

    weight: Any
    rays: list[list[tuple[int, Any]]]
    offsets: list[Any]

    def terms(self, theta: list[Any]) -> tuple[Any, Any, list[Any]]:
        """Return M = max(0, −m), e^−M and each e^(−m − M) of the margins m = z·θ + o."""
        exponents = [-mp.fsum(m) for m in self.products(theta)]
        exponents = [m - o for m, o in zip(exponents, self.offsets, strict=True)]
        largest = max(mp.mpf(0), *exponents)
        return largest, _exp(-largest), [_exp(m - largest) for m in exponents]

    def products(self, theta: list[Any]) -> list[list[Any]]:
        return [[z * theta[j] for j, z in ray] for ray in self.rays]

    def value(self, theta: list[Any]) -> Any:
        largest, one, terms = self.terms(theta)
        rest = mp.fsum(terms)
        return self.weight * (mp.log1p(rest) if not largest else largest + mp.log(one + rest))


def _exp(exponent: Any) -> Any:
    """Return exp of a number ≤ 0; 0 below 1e-43000, which no sum of 110 digits shows."""
    return mp.exp(exponent) if exponent > LEAST_EXPONENT else mp.mpf(0)


class Smooth(NamedTuple):
    """Σ s log(1 + Σ exp(−z·θ − o)) + Σ (a|θ| + qθ²/2 + cθ), with |θ| smoothed by μ.

    `gauges` are groups of coefficients with one q > 0 that no loss changes by if a constant is added to all of a group:
    their sum is 0 at the minimum. However small q is, the Hessian is then regular with a constant added to the group.
    """

    rows: list[LossRow]
    l1: list[Any]
    l2: list[Any]
    linear: list[Any]
    gauges: list[list[int]]

    def centred(self, theta: list[Any]) -> list[Any]:
        """Return coefficients whose sums over the groups are 0."""
        moved = list(theta)
        for group in self.gauges:
            mean = mp.fsum(theta[j] for j in group) / len(group)
            for j in group:
                moved[j] = theta[j] - mean
        return moved

    def value(self, theta: list[Any], mu: Any) -> Any:
        """Return the objective; with |θ| itself if μ is 0."""
        total = mp.fsum(row.value(theta) for row in self.rows)
        for w, a, q, c in zip(theta, self.l1, self.l2, self.linear, strict=True):
            total += (q * w / 2 + c) * w
            if a and mu:
                t = (mu + mp.sqrt(mu * mu + a * a * w * w)) / a
                total += a * t - mu * mp.log(2 * mu * t / a)
            elif a:
                total += a * abs(w)
        return total

    def derivatives(self, theta: list[Any], mu: Any) -> tuple[list[Any], list[list[Any]]]:
        """Return gradient and Hessian; without the L1 penalty if μ is 0."""
        size = len(theta)
        gradient = [q * w + c for q, w, c in zip(self.l2, theta, self.linear, strict=True)]
        hessian = [[self.l2[j] if j == k else mp.mpf(0) for k in range(size)] for j in range(size)]
        for row in self.rows:
            _add_row(row, theta, gradient, hessian)
        for j, (w, a) in enumerate(zip(theta, self.l1, strict=True)):
            if a and mu:
                root = mp.sqrt(mu * mu + a * a * w * w)
                t = (mu + root) / a
                gradient[j] += a * w / t
                hessian[j][j] += mu * a * (1 + mu / root) / (t * root) if w else a * a / (2 * mu)
        for j in range(size):
            for k in range(j):
                hessian[k][j] = hessian[j][k]
        for group in self.gauges:
            constant = max(hessian[j][j] for j in group)
            for j in group:
                for k in group:
                    hessian[j][k] += constant
        return gradient, hessian


def _add_row(row: LossRow, theta: list[Any], gradient: list[Any], hessian: list[list[Any]]) -> None:
    """Add the derivatives of a row to the gradient and to the lower triangle of the Hessian."""
    _, one, terms = row.terms(theta)
    whole = one + mp.fsum(terms)
    if len(terms) == 1:
        (ray,), share = row.rays, row.weight * terms[0] / whole
        for j, z in ray:
            gradient[j] -= share * z
            change = share * one / whole * z
            for k, other in ray:
                if k <= j:
                    hessian[j][k] += change * other
        return
    mean: dict[int, Any] = {}
    for term, ray in zip(terms, row.rays, strict=True):
        share = term / whole
        for j, z in ray:
            mean[j] = mean.get(j, 0) + share * z
            change = row.weight * share * z
            for k, other in ray:
                if k <= j:
                    hessian[j][k] += change * other
    for j, z in mean.items():
        change = row.weight * z
        gradient[j] -= change
        for k, other in mean.items():
            if k <= j:
                hessian[j][k] -= change * other


def minimiser(smooth: Smooth, start: list[Any] | None = None) -> list[Any]:
    """Return a minimiser: by Newton's method from a start or the optimum in floats, whose signs L1 tries first.

    The best of the start, the optimum in floats and 0 is taken, so that any start will do.
    """
    zero = [mp.mpf(0)] * len(smooth.l1)
    if not zero:
        return zero
    guess, signs = _float_minimum(smooth)
    guesses = [zero, guess] if start is None else [zero, guess, start]
    guess = min(map(smooth.centred, guesses), key=lambda theta: smooth.value(theta, 0))
    if start is not None:
        signs = [[int(mp.sign(w)) if a else 0 for w, a in zip(start, smooth.l1, strict=True)], *signs]
    if not any(smooth.l1):
        try:
            return _newton(smooth, guess, 0, 0)
        except ArithmeticError:
            return _by_ridges(smooth, zero)
    tried: list[list[int]] = []
    waiting = signs[::-1]
    while waiting and len(tried) < MOST_SIGNS:
        pattern = waiting.pop()
        if pattern not in tried:
            tried.append(pattern)
            theta, better = _of_signs(smooth, guess, pattern)
            if theta is not None:
                return theta
            waiting.append(better)
    theta, mu = guess, smooth.value(zero, 0) / 10
    while mu > SMOOTHING * smooth.value(theta, 0):
        theta = _newton(smooth, theta, mu, mu / 100)
        mu /= 1000
    return _newton(smooth, theta, mu, mu / 100)


def _by_ridges(smooth: Smooth, theta: list[Any]) -> list[Any]:
    """Return the minimiser by ridges that fall to 1e-60, each from the minimiser of the one before."""
    for exponent in range(0, 64, 4):
        ridge = mp.mpf(10) ** -exponent
        theta = _newton(smooth._replace(l2=[q + ridge for q in smooth.l2]), theta, 0, ridge / 100)
    return _newton(smooth, theta, 0, 0)


def _of_signs(smooth: Smooth, guess: list[Any], signs: list[int]) -> tuple[list[Any] | None, list[int]]:
    """Return the minimiser if it has these signs of the penalised coefficients; else None, and other signs to try.

    With a nonzero coefficient's own sign, and slopes between −a and a where it is 0 (up to a relative 1e-60, for
    ties), 0 is a subgradient.
    """
    active = [j for j, a in enumerate(smooth.l1) if signs[j] or not a]
    places = {j: k for k, j in enumerate(active)}
    rows = [
        row._replace(rays=[[(places[j], z) for j, z in ray if j in places] for ray in row.rays]) for row in smooth.rows
    ]
    none = [mp.mpf(0)] * len(active)
    reduced = Smooth(rows, none, [smooth.l2[j] for j in active], [smooth.l1[j] * signs[j] for j in active], [])
    try:
        found = _newton(reduced, [guess[j] for j in active], 0, 0, most=FEW_STEPS) if active else []
    except (ArithmeticError, ZeroDivisionError):
        return None, signs
    theta = [found[places[j]] if j in places else mp.mpf(0) for j in range(len(guess))]
    crossed = {j: -theta[j] * signs[j] for j, a in enumerate(smooth.l1) if a and signs[j] and theta[j] * signs[j] <= 0}
    if crossed:
        worst = max(crossed, key=lambda j: crossed[j])
        return None, [0 if j == worst else sign for j, sign in enumerate(signs)]
    slopes, _ = smooth.derivatives(theta, 0)
    steep = {j: abs(slopes[j]) / a for j, a in enumerate(smooth.l1) if a and not signs[j]}
    worst = max(steep, key=lambda j: steep[j], default=None)
    if worst is None or steep[worst] <= 1 + SMOOTHING:
        return theta, signs
    return None, [-int(mp.sign(slopes[j])) if j == worst else sign for j, sign in enumerate(signs)]


def _float_minimum(smooth: Smooth) -> tuple[list[Any], list[list[int]]]:
    """Return an approximate minimiser in floats, zeros if floats do not reach, and guesses of the optimum's signs."""
    size, rays = len(smooth.l1), [ray for row in smooth.rows for ray in row.rays]
    Z = np.zeros((len(rays), size))
    for place, ray in enumerate(rays):
        for j, z in ray:
            Z[place, j] = float(z)
    offsets = np.array([float(o) for row in smooth.rows for o in row.offsets])
    weights = np.array([float(row.weight) for row in smooth.rows])
    owner = np.repeat(np.arange(len(smooth.rows)), [len(row.rays) for row in smooth.rows])
    l1, l2 = (np.array([float(a) for a in penalty]) for penalty in (smooth.l1, smooth.l2))
    theta = np.zeros(size)

    def expand(theta: Any, mu: float) -> tuple[float, Any, Any]:
        margins = Z @ theta + offsets
        largest = np.zeros(len(weights))
        np.maximum.at(largest, owner, -margins)
        terms = np.exp(-margins - largest[owner])
        others = np.bincount(owner, terms, len(weights))
        whole = np.exp(-largest) + others
        shares = terms / whole[owner]
        mean = np.zeros((len(weights), size))
        np.add.at(mean, owner, shares[:, None] * Z)
        root = np.sqrt(mu * mu + (l1 * theta) ** 2)
        t = (mu + root) / np.where(l1 > 0, l1, 1.0)
        smoothed = np.where(l1 > 0, l1 * t - mu * np.log(2 * mu * t / np.where(l1 > 0, l1, 1.0)), 0.0)
        losses = np.where(largest > 0, largest + np.log(whole), np.log1p(others))
        value = weights @ losses + smoothed.sum() + 0.5 * (l2 @ theta**2)
        gradient = -(weights @ mean) + l2 * theta + np.where(l1 > 0, l1 * theta / t, 0.0)
        hessian = Z.T @ ((weights[owner] * shares)[:, None] * Z) - mean.T @ (weights[:, None] * mean)
        hessian += np.diag(l2 + np.where(l1 > 0, l1 * mu * (1 + mu / root) / (t * root), 0.0))
        return float(value), gradient, hessian

    with np.errstate(all="ignore"):
        for mu in 10.0 ** np.arange(-1, -40, -1) if l1.any() else (1.0,):
            for _ in range(100):
                value, gradient, hessian = expand(theta, mu)
                if not np.isfinite(hessian).all():
                    return [mp.mpf(0)] * size, []
                step = np.linalg.lstsq(hessian, -gradient, rcond=None)[0]
                if not -(gradient @ step) > 1e-3 * mu * l1.any() + 1e-15 * value:
                    break
                length = 1.0
                while not expand(theta + length * step, mu)[0] < value and length > 1e-9:
                    length /= 2
                theta = theta + length * step
                if length <= 1e-9:
                    break
            if mu < 1e-9 * min(value, np.min(l1, where=l1 > 0, initial=1.0)):
                break
        t = (mu + np.sqrt(mu * mu + (l1 * theta) ** 2)) / np.where(l1 > 0, l1, 1.0)
    clear, large = (np.abs(theta) > 0.999 * t), np.abs(theta) > 1e-3 * np.abs(theta).max()
    guesses = ((clear, l2), (clear & large, l2), (clear, np.where(l2 > 1e-6, l2, 0.0)))  # ties, and ridges too small
    signs = [_independent_signs(Z, l1, ridge, np.where((l1 > 0) & chosen, theta, 0.0)) for chosen, ridge in guesses]
    return [mp.mpf(value) for value in theta.tolist()], signs


def _independent_signs(Z: Any, l1: Any, l2: Any, theta: Any) -> list[int]:
    """Return the signs of coefficients; of dependent columns some are 0 at some minimiser, the smallest first."""
    signs = np.sign(theta).astype(int)
    chosen = np.flatnonzero((l1 == 0) & (l2 == 0)).tolist()
    for j in sorted(np.flatnonzero((signs != 0) & (l2 == 0)).tolist(), key=lambda j: -abs(theta[j])):
        if np.linalg.matrix_rank(Z[:, [*chosen, j]]) <= len(chosen):
            signs[j] = 0
        else:
            chosen.append(j)
    return [int(sign) for sign in signs]


def _newton(smooth: Smooth, theta: list[Any], mu: Any, enough: Any, most: int = MOST_STEPS) -> list[Any]:
    """Return the point where the squared Newton decrement is at most `enough`, or 1e-85 of the value."""
    value, precise = smooth.value(theta, mu), mp.mpf("1e-85")
    for _ in range(most):
        gradient, hessian = smooth.derivatives(theta, mu)
        step = solve(hessian, [-g for g in gradient])
        decrement = -mp.fsum(g * d for g, d in zip(gradient, step, strict=True))
        if decrement <= max(enough, abs(value) * precise):
            return smooth.centred([w + s for w, s in zip(theta, step, strict=True)])
        theta, value = _line_search(smooth, smooth.centred(theta), smooth.centred(step), decrement, value, mu)
    raise ArithmeticError(f"Newton's method took more than {most} steps")


def _line_search(smooth: Smooth, theta: list[Any], step: list[Any], decrement: Any, value: Any, mu: Any) -> Any:
    """Return a point along a Newton step and its value; the step is shortened, then lengthened while that is better."""

    def trial(length: Any) -> tuple[list[Any], Any]:
        point = [w + length * s for w, s in zip(theta, step, strict=True)]
        return point, smooth.value(point, mu)

    farthest = max((abs(mp.fsum(m)) for row in smooth.rows for m in row.products(step)), default=mp.mpf(0))
    length = min(mp.mpf(1), FARTHEST / farthest) if farthest else mp.mpf(1)
    best = trial(length)
    while not best[1] <= value - length * decrement / 4:
        length /= 2
        if length < 1e-60:
            raise ArithmeticError("the line search of Newton's method failed")
        best = trial(length)
    while length < 1:
        length = min(2 * length, mp.mpf(1))
        longer = trial(length)
        if not longer[1] < best[1]:
            break
        best = longer
    return best
