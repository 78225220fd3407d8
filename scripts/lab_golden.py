#!/usr/bin/env python
"""Golden traces of the lab, written by the library: `scripts/lab_golden.py` fills tests/golden/lab.

Each case has points, a learner as the page has it, and what the library makes of them: weights as hexadecimal floats,
random orders as drawn. Batch rules run on sparse rows, whose products are sums from first to last, so that they can be
compared to the last bit on every machine. The points of the stories are asked of the stories themselves, by node.
"""

from __future__ import annotations

import json
import subprocess
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import separatrix as sx

ROOT = Path(__file__).parent.parent
OUT = ROOT / "tests" / "golden" / "lab"
STEPS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
MOST_UPDATES = 120
SHOWN = 24  # updates whose weights and scores are written, beside the last
Case = dict[str, Any]


def story_points() -> dict[str, Any]:
    """Return the stories' points and learners, by id."""
    index = (ROOT / "src/separatrix/lab/page/stories/index.js").as_uri()
    script = f"import {{ STORIES }} from {json.dumps(index)}; console.log(JSON.stringify(STORIES));"
    done = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    return {story["id"]: story for story in json.loads(done.stdout)}


def data_sets() -> dict[str, Any]:
    """Return presets and a few more: overlapping, not on tenths, far from 0, large."""
    rng = np.random.default_rng(17)
    sets = {name: np.array(story["points"], dtype=np.float64) for name, story in story_points().items()}

    def clouds(n: int, gap: float, digits: int, shift: float = 0.0) -> Any:
        signs = np.where(np.arange(n) % 2, 1.0, -1.0)
        places = rng.normal(size=(n, 2)) + shift
        places[:, 0] += gap * signs
        return np.column_stack([places.round(digits), signs])

    sets["apart"] = clouds(24, 3.0, 1)
    sets["mixed"] = clouds(24, 0.7, 1)
    sets["floats"] = clouds(15, 2.5, 16)
    sets["far"] = clouds(12, 3.0, 3, shift=40.0)
    sets["many"] = clouds(150, 1.0, 2)
    return sets


def hexes(values: Any) -> list[str]:
    """Return floats as hexadecimal texts."""
    return [float(value).hex() for value in np.ravel(values)]


def draws(learner: Case, n: int, passes: int) -> list[int] | None:
    """Return the rows in the order in which the library will draw them."""
    if learner.get("order", "cyclic") == "cyclic":
        return None
    rng, planned, rows = np.random.default_rng(learner["seed"]), 0, list[int]()
    while planned < passes:
        step = max(1, planned // 64) if learner["kind"] != "lms" else 1
        planned += step
        if learner["order"] == "random":
            rows += rng.integers(0, n, size=step * n).tolist()
        else:
            rows += [row for _ in range(step) for row in rng.permutation(n).tolist()]
    return rows


def perceptron_learners() -> Iterator[Case]:
    """Yield the perceptron with each option."""
    base = {"kind": "perceptron", "intercept": True, "maxUpdates": MOST_UPDATES}
    for intercept in (True, False):
        yield {**base, "intercept": intercept}
        yield {**base, "intercept": intercept, "update": "batch"}
    for tie in ("negative", "mistake", "correct"):
        yield {**base, "tie": tie}
        yield {**base, "tie": tie, "update": "batch"}
    for rate, schedule in ((0.1, "constant"), (2.5, "inverse"), (0.3, "inverse")):
        yield {**base, "rate": rate, "schedule": schedule, "start": [0.25, -1.0, 0.5]}
        yield {**base, "rate": rate, "schedule": schedule, "start": [0.25, -1.0, 0.5], "update": "batch"}
    for keep in ("best", "average", "vote"):
        yield {**base, "keep": keep}
        yield {**base, "keep": keep, "update": "batch"}
    yield {**base, "margin": 0.5, "rate": 0.2}
    yield {**base, "margin": 0.5, "rate": 0.2, "update": "batch"}
    for order in ("random", "shuffled"):
        yield {**base, "order": order, "seed": 5}
        yield {**base, "order": order, "seed": 6, "keep": "best", "intercept": False}


def perceptron_case(name: str, data: Any, learner: Case) -> Case:
    """Return the library's run of a perceptron."""
    X, y = data[:, :2], data[:, 2]
    named = {"rate", "schedule", "start", "tie", "keep", "margin", "update", "order"}
    options = {key: value for key, value in learner.items() if key in named}
    batch = learner.get("update") == "batch"
    if options.get("start") is not None and not learner["intercept"]:
        options["start"] = options["start"][1:]
    model = sx.Perceptron(
        **options, fit_intercept=learner["intercept"], max_updates=MOST_UPDATES, random_state=learner.get("seed")
    ).fit(scipy.sparse.csr_array(X) if batch else X, y)
    updates = model.trace_.updates
    passes = int(np.ceil(model.result_.facts["visits"] / len(y))) + 1
    kept = model.intercept_.tolist() + model.coef_[0].tolist() if learner["intercept"] else model.coef_[0]
    case = {
        "data": name,
        "learner": {**learner, "draws": draws(learner, len(y), passes)},
        "status": str(model.result_.status),
        "updates": model.n_updates_,
        "visits": int(model.result_.facts["visits"]),
        "rows": updates.row.tolist(),
        "at": updates.visit.tolist(),
        "scores": hexes(updates.score[:SHOWN]),
        "weights": [hexes(row) for row in updates.weights[:SHOWN]],
        "kept": hexes(kept),
        "wrong": model.result_.facts["wrong"],
    }
    if learner.get("keep") == "vote":
        case["counts"] = model.votes_[0].counts.tolist()
    bound = model.certificate_
    case["bound"] = None if bound.margin is None else [bound.radius, bound.margin, _finite(bound.bound)]
    return case


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def perceptron_cases(sets: dict[str, Any]) -> Iterator[Case]:
    """Yield every option on some sets, and the stories' own learners on theirs."""
    for name in ("no-line", "five-points", "floats", "mixed", "apart", "far"):
        for learner in perceptron_learners():
            yield perceptron_case(name, sets[name], learner)
    for name, story in story_points().items():
        for learner in story["learners"]:
            if learner["kind"] == "perceptron" and learner["lift"] == "none":
                kept = {
                    k: v for k, v in learner.items() if k in {"kind", "intercept", "start", "tie"} and v is not None
                }
                yield perceptron_case(name, sets[name], {**kept, "maxUpdates": MOST_UPDATES})


def lms_cases(sets: dict[str, Any]) -> Iterator[Case]:
    """Yield LMS by batch and row by row."""
    for name in ("far-point", "outlier", "floats", "mixed"):
        X, y = sets[name][:, :2], sets[name][:, 2]
        for intercept in (True, False):
            learner = {"kind": "lms", "update": "batch", "intercept": intercept, "rate": 0.02, "maxSteps": max(STEPS)}
            rows = scipy.sparse.csr_array(X)
            weights = {k: _lms(rows, y, learner, k) for k in STEPS}
            yield {"data": name, "learner": learner, "steps": weights}
        for order, keep, schedule in (
            ("cyclic", "last", "constant"),
            ("cyclic", "average", "constant"),
            ("random", "last", "inverse"),
            ("shuffled", "average", "inverse"),
        ):
            learner = {
                "kind": "lms",
                "update": "stochastic",
                "order": order,
                "keep": keep,
                "seed": 3,
                "intercept": True,
            }
            learner |= {"schedule": schedule, "rate": 0.004, "draws": draws({**learner, "order": order}, len(y), 9)}
            learner |= {"maxSteps": 9 * len(y), "decay": 0.004 * _least(X) if schedule == "inverse" else 0}
            weights = {k * len(y): _lms(X, y, learner, k) for k in (1, 2, 3, 4, 8)}
            yield {"data": name, "learner": learner, "steps": weights}


def _lms(X: Any, y: Any, learner: Case, passes: int) -> list[str]:
    options = {key: learner[key] for key in ("update", "rate", "order", "keep", "schedule") if key in learner}
    model = sx.LMSClassifier(
        **options, fit_intercept=learner["intercept"], max_passes=passes, tol=0.0, random_state=learner.get("seed")
    ).fit(X, y)
    return hexes([*model.intercept_, *model.coef_[0]] if learner["intercept"] else model.coef_[0])


def _least(X: Any) -> float:
    """Return the least eigenvalue of XᵗX/n that is not 0, of rows with their 1, summed as the library sums it."""
    n = len(X)
    shares = np.full(n, 1.0 / n)
    inner, border = (X * shares[:, np.newaxis]).T @ X, X.T @ shares
    values = np.linalg.eigvalsh(np.vstack([np.concatenate([[shares.sum()], border]), np.column_stack([border, inner])]))
    return float(values[values > 1e-12 * values[-1]][0])


def logistic_cases(sets: dict[str, Any]) -> Iterator[Case]:
    """Yield logistic regression by gradient, row by row and by Newton's method."""
    loss = sx.losses.Logistic()
    for name in ("runs-off", "outlier", "mixed", "floats"):
        X, y = sets[name][:, :2], sets[name][:, 2]
        Z = np.column_stack([np.ones(len(X)), X])

        def value(w: Any, Z: Any = Z, y: Any = y) -> float:
            return float(loss.value(Z @ w, y).mean())

        def slope(w: Any, Z: Any = Z, y: Any = y) -> Any:
            return Z.T @ loss.slope(Z @ w, y) / len(y)

        learner = {"kind": "logistic", "update": "batch", "rate": 0.1, "maxSteps": max(STEPS)}
        found = {k: sx.minimise(value, slope, np.zeros(3), rate=0.1, tol=0.0, max_steps=k).x.tolist() for k in STEPS}
        yield {"data": name, "learner": learner, "steps": found}
        w, found = np.zeros(3), {}
        for visit in range(200):
            i = visit % len(y)
            w = w - 0.05 * float(loss.slope(Z[i] @ w, y[i])) * Z[i]
            if visit + 1 in STEPS:
                found[visit + 1] = w.tolist()
        learner = {"kind": "logistic", "update": "stochastic", "rate": 0.05, "maxSteps": 200}
        yield {"data": name, "learner": learner, "steps": found}
        for strength in (0.0, 0.1):
            if strength == 0.0 and name in {"runs-off", "floats"}:
                continue
            found = {k - 1: _newton(X, y, strength, k) for k in (2, 3, 4, 5)}
            learner = {"kind": "logistic", "update": "newton", "strength": strength, "maxSteps": 30}
            final = sx.LogisticRegression(strength=strength, tol=1e-12).fit(X, y)
            yield {"data": name, "learner": learner, "steps": found, "final": [*final.intercept_, *final.coef_[0]]}


def _newton(X: Any, y: Any, strength: float, passes: int) -> list[float]:
    model = sx.LogisticRegression(
        solver="newton", strength=strength, max_passes=passes, tol=1e-15, on_separation="ignore"
    ).fit(X, y)
    return [*model.intercept_.tolist(), *model.coef_[0].tolist()]


def other_cases(sets: dict[str, Any]) -> Iterator[Case]:
    """Yield final answers: SVM, widest margin, fewest mistakes, softmax."""
    for name in ("outlier", "mixed", "apart", "floats", "far-point"):
        X, y = sets[name][:, :2], sets[name][:, 2]
        for loss in ("hinge", "squared_hinge"):
            for price, intercept in ((1.0, True), (0.2, False), (10.0, True)):
                model = sx.LinearSVM(strength=1 / (price * len(y)), loss=loss, fit_intercept=intercept, tol=1e-9)
                model.fit(X, y)
                learner = {"kind": "svm", "loss": loss, "C": price, "intercept": intercept, "maxSteps": 100000}
                certificate = model.certificate_
                bounds = [certificate.primal - certificate.gap, certificate.primal]
                yield {"data": name, "learner": learner, "objective": [price * len(y) * each for each in bounds]}
        for intercept in (True, False):
            fewest = sx.fewest_removals(X, y, fit_intercept=intercept)
            learner = {"kind": "zero-one", "intercept": intercept}
            yield {"data": name, "learner": learner, "mistakes": [fewest.lower, len(fewest.rows)]}
            if sx.check_separability(X, y, fit_intercept=intercept).verdict == "separable":
                model = sx.MaxMarginClassifier(fit_intercept=intercept).fit(X, y)
                learner = {"kind": "margin", "intercept": intercept}
                w = [*model.intercept_, *model.coef_[0]] if intercept else model.coef_[0].tolist()
                yield {"data": name, "learner": learner, "final": w, "gap": model.certificate_.relative_gap}
                program = sx.HalfspaceLP(fit_intercept=intercept).fit(X, y)
                reached = float((y * program.decision_function(X)).min())
                sizes = 2.0 ** np.round(0.5 * np.log2(np.square(X - intercept * X.mean(axis=0)).mean(axis=0)))
                learner = {"kind": "halfspace", "intercept": intercept}
                value = reached / float((np.abs(program.coef_[0]) * sizes).max())
                yield {"data": name, "learner": learner, "program": value}
    three = np.column_stack([np.random.default_rng(3).normal(size=(30, 2)).round(1), np.arange(30) % 3])
    three[:, 0] += np.array([0.0, 1.5, -1.0])[three[:, 2].astype(int)]
    points = three.copy()
    points[:, 2] = np.array([-1, 1, 2])[three[:, 2].astype(int)]
    for strength in (0.0, 0.05):
        model = sx.LogisticRegression(strength=strength, tol=1e-13).fit(three[:, :2], three[:, 2])
        learner = {"kind": "softmax", "update": "newton", "strength": strength, "maxSteps": 60}
        final = np.column_stack([model.intercept_, model.coef_])
        yield {"points": points.tolist(), "learner": learner, "final": final.ravel().tolist()}


def kernel_cases(sets: dict[str, Any]) -> Iterator[Case]:
    """Yield kernel perceptrons and perceptrons on lifted rows."""
    for name in ("rings", "xor", "mixed", "apart", "no-line"):
        X, y = sets[name][:, :2], sets[name][:, 2]
        for kernel, gamma, degree, intercept in (
            ("rbf", 0.25, 2, True),
            ("rbf", 1.0, 2, False),
            ("polynomial", 0.5, 2, True),
            ("linear", 1.0, 2, True),
        ):
            options = {"kernel": kernel} if kernel == "linear" else {"kernel": kernel, "gamma": gamma}
            if kernel == "polynomial":
                options |= {"degree": degree, "offset": 1.0}
            model = sx.KernelPerceptron(**options, fit_intercept=intercept, max_updates=MOST_UPDATES).fit(X, y)
            learner = {"kind": "kernel", "kernel": kernel, "gamma": gamma, "degree": degree, "intercept": intercept}
            learner |= {"maxUpdates": MOST_UPDATES, "shift": 1}
            updates = model.trace_.updates
            yield {"data": name, "learner": learner, "rows": updates.row.tolist(), "alpha": model.alpha_.tolist()}
        for lift, features in lifts(X):
            model = sx.Perceptron(max_updates=MOST_UPDATES).fit(features, y)
            learner = {"kind": "perceptron", "lift": lift, "centre": 0.5, "maxUpdates": MOST_UPDATES}
            updates = model.trace_.updates
            weights = [hexes(row) for row in updates.weights[:SHOWN]]
            verdict = sx.check_separability(features, y).verdict
            case = {"data": name, "learner": learner, "rows": updates.row.tolist(), "weights": weights}
            yield {**case, "verdict": verdict}


def lifts(X: Any) -> Iterator[tuple[str, Any]]:
    """Yield the maps of the page, made by the library's."""
    yield "distance", sx.maps.SquaredDistance([0.5]).fit_transform(X[:, :1])
    yield "rings", sx.maps.SquaredDistance(None, keep=True).fit_transform(X)
    yield "degree2", sx.maps.Polynomial(2).fit_transform(X)
    yield "product", sx.maps.Polynomial(2).fit_transform(X)[:, [0, 1, 3]]


def verdict_cases() -> Iterator[Case]:
    """Yield verdicts and bounds of many small data sets: ties, collinear, repeated, huge and tiny coordinates."""
    rng = np.random.default_rng(2026)
    for k in range(500):
        n = int(rng.integers(1, 9))
        scale = (1.0, 0.1, 1e-160, 1e150, 1 / 3)[k % 5]
        grid = int(rng.integers(1, 5))
        X = rng.integers(-grid, grid + 1, size=(n, 2)) * scale
        if k % 7 == 0:
            X[:, 1] = X[:, 0] * 3 + scale  # collinear, but for rounding
        if k % 11 == 0:
            X[:, 1] = 0.0
        y = np.where(rng.random(n) < 0.5, 1, -1)
        yield _verdict(X, y)
    for k in range(80):
        n = int(rng.integers(8, 40))
        y = np.where(rng.random(n) < 0.5, 1, -1)
        X = rng.normal(size=(n, 2)) + y[:, np.newaxis] * rng.uniform(0, 3)
        yield _verdict(X.round(int(rng.integers(0, 4))) if k % 2 else X, y)


def _verdict(X: Any, y: Any) -> Case:
    verdicts = []
    for intercept in (True, False):
        certificate = sx.check_separability(X, y, fit_intercept=intercept)
        verdicts.append([certificate.verdict, certificate.n_left])
    points = [
        [float(a).hex(), float(b).hex(), int(label)] for (a, b), label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    return {"points": points, "verdicts": verdicts}


def bound_cases(sets: dict[str, Any]) -> Iterator[Case]:
    """Yield R, γ and (R/γ)² of every set that is separable."""
    for name, data in sets.items():
        for intercept in (True, False):
            found = sx.mistake_bound(data[:, :2], np.where(data[:, 2] == 1, 1, -1), fit_intercept=intercept)
            values = None if found.margin is None else [found.radius, found.margin, found.bound]
            yield {"data": name, "intercept": intercept, "bound": values}


def write(name: str, cases: Sequence[Case]) -> None:
    """Write a file of cases, one per line."""
    lines = ",\n".join(json.dumps(case, separators=(",", ":"), allow_nan=False) for case in cases)
    (OUT / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main() -> None:
    """Write all files."""
    warnings.simplefilter("ignore")
    OUT.mkdir(parents=True, exist_ok=True)
    sets = data_sets()
    write(
        "data",
        [{"name": name, "points": [[*hexes(row[:2]), int(row[2])] for row in rows]} for name, rows in sets.items()],
    )
    write("perceptron", list(perceptron_cases(sets)))
    write("lms", list(lms_cases(sets)))
    write("logistic", list(logistic_cases(sets)))
    write("answers", list(other_cases(sets)))
    write("kernel", list(kernel_cases(sets)))
    write("verdicts", list(verdict_cases()))
    write("bounds", list(bound_cases(sets)))


if __name__ == "__main__":
    main()
