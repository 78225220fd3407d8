"""Support vector machines in a kernel's space beside LIBSVM to the same duality gap; what they gain over a softmax."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import problems
import separatrix as sx
from libraries import libsvm
from measure import Contender, Timing, again, once
from report import Measurement, Row, Target

__all__ = ["MEASUREMENTS"]

OURS = "separatrix"
ROWS, QUICK_ROWS = 10_000, 1_000
GAP, CACHE_MB, C = 1e-3, 200.0, 10.0
PAIR_ROWS = 0.2  # of all rows, about, that two of ten classes have


class Digits(NamedTuple):
    """Rows of MNIST between 0 and 1, their digits, and as many to test on as there are."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def read(rows: int) -> Digits:
    """Return an even sample of the training rows, and all test rows."""
    stored = np.load(problems.MNIST)
    kept = np.linspace(0, len(stored["y_train"]) - 1, rows).astype(int)
    X, X_test = (stored[name].reshape(-1, 784) / 255.0 for name in ("x_train", "x_test"))
    return Digits(X[kept], stored["y_train"][kept].astype(int), X_test, stored["y_test"].astype(int))


def ours(X: np.ndarray, y: np.ndarray, gamma: float, strength: float) -> Contender:
    """Return fits to the certified gap."""

    def fit() -> Mapping[str, Any]:
        model = sx.KernelSVM(gamma=gamma, strength=strength, tol=GAP, cache_mb=CACHE_MB).fit(X, y)
        parts = model.result_.parts or (model.result_,)
        return {"gap": max(part.facts["relative_gap"] for part in parts), "support": len(model.support_)}

    return fit


def contest(classes: int, quick: bool) -> Measurement:
    """Fits of odd against even digits, or of all ten, to a gap; the peer at its loosest tolerance that does."""
    if not problems.MNIST.exists():
        return Measurement(f"kernel-mnist-{classes}", "", skipped="the digits are not beside this clone")
    digits = read(QUICK_ROWS if quick else ROWS)
    X, y = digits.X, digits.y % 2 if classes == 2 else digits.y
    gamma = sx.kernels.RBF().settled(X).gamma
    strength = 1.0 / (C * len(y) * (1.0 if classes == 2 else PAIR_ROWS))
    mine = ours(X, y, gamma, strength)
    mine()  # loads or compiles the loops
    timings, peer, gap = {OURS: once(mine)}, "", np.inf
    for tolerance in libsvm.LADDER:
        fit = libsvm.fits(X, y, gamma, C, tolerance, CACHE_MB)
        timings[libsvm.NAME], peer = once(fit), f"at tolerance {tolerance:g}"
        gap = libsvm.worst_gap(timings[libsvm.NAME].facts[0]["model"], X, y)
        if gap <= GAP:
            break
    again({OURS: mine}, timings, 1 if quick else 2)
    return _told(classes, len(y), timings, peer, gap)


def _told(classes: int, rows: int, timings: Mapping[str, Timing], peer: str, gap: float) -> Measurement:
    faster = timings[libsvm.NAME].best / timings[OURS].best
    facts = timings[OURS].facts[0]
    found = Measurement(
        f"kernel-mnist-{classes}",
        f"RBF kernel, C = {C:g}, {rows:,} digits, {classes} classes, to a relative duality gap of {GAP:g}.",
        "the peer's time over this one, best to best",
        notes=[f"{facts['support']:,} support vectors; a cache of {CACHE_MB:g} MB each"],
    )
    found.rows.append(Row.of(OURS, "certified", timings[OURS], gap=facts["gap"], ratio=faster))
    found.rows.append(Row.of(libsvm.NAME, peer, timings[libsvm.NAME], gap=gap, ratio=1.0))
    found.targets.append(Target("≥ 1 × LIBSVM's speed", f"{faster:.1f} ×", faster >= 1.0))
    found.targets.append(Target(f"gap ≤ {GAP:g}", f"{facts['gap']:.1e}", facts["gap"] <= GAP))
    return found


def errors(quick: bool) -> Measurement:
    """The test errors of a linear softmax and of kernels on the same rows, ten classes."""
    if not problems.MNIST.exists():
        return Measurement("kernel-mnist-errors", "", skipped="the digits are not beside this clone")
    digits = read(QUICK_ROWS if quick else ROWS)
    n = len(digits.y)
    pairs = 1.0 / (C * PAIR_ROWS * n)
    models = {
        "linear softmax, strength 1e-3": sx.LogisticRegression(strength=1e-3, tol=1e-4),
        "linear softmax, strength 1e-2": sx.LogisticRegression(strength=1e-2, tol=1e-4),
        "KernelSVM, RBF, two at a time": sx.KernelSVM(gamma=0.02, strength=pairs),
        "KernelSVM, degree 3, two at a time": sx.KernelSVM(kernel="polynomial", gamma=0.02, degree=3, strength=pairs),
        "OneVsRest of KernelSVM, RBF": sx.OneVsRest(sx.KernelSVM(gamma=0.02, strength=1.0 / (C * n))),
        "KernelPerceptron, degree 3, average": sx.KernelPerceptron(
            kernel="polynomial", gamma=0.02, keep="average", max_passes=5
        ),
    }
    found = Measurement("kernel-mnist-errors", f"Errors on 10,000 test digits after fits on {n:,}.")
    wrong = {}
    for name, model in models.items():
        timing = once(partial(_fit, model, digits))
        wrong[name] = 100.0 * float(np.mean(model.predict(digits.X_test) != digits.y_test))
        found.rows.append(Row.of(OURS, f"{name}: {wrong[name]:.2f} % wrong", timing))
    linear = min(error for name, error in wrong.items() if name.startswith("linear"))
    curved = {name: error for name, error in wrong.items() if not name.startswith("linear")}
    best = min(curved, key=curved.__getitem__)
    reached = f"{best}: {curved[best]:.2f} % against {linear:.2f} %"
    found.targets.append(Target("fewer errors than the linear softmax", reached, curved[best] < linear))
    return found


def _fit(model: Any, digits: Digits) -> Mapping[str, Any]:
    model.fit(digits.X, digits.y)
    return {}


MEASUREMENTS: dict[str, Callable[[bool], Measurement]] = {
    "kernel-mnist-2": partial(contest, 2),
    "kernel-mnist-10": partial(contest, 10),
    "kernel-mnist-errors": errors,
}
