"""Random designs with dependent columns: which fits are certified, and whether any statement of theirs is false.

The dependence δ of a design is what rounding errors of the columns are multiplied by: two columns x and x + z/δ, chains
and sums of such columns, powers of a variable of small spread, offsets of 2^k and columns that are nearly constant. The
columns are scaled by powers of ten. The labels follow the independent parts, so that the optimum needs all of them;
some are separable, quasi-separable, or nearly so.

Each design is fitted through the public interface. Its certificate is written, read, verified by both verifiers and
judged by the oracles. Then the coefficients of a fit without one of the dependent columns are stated to be optimal,
where every gradient is small: no such forgery may be proved.
"""

from __future__ import annotations

import copy
import json
import math
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import judge
import numpy as np
from campaign import CLASSES, Result, classified, outcome
from mutations import Mutation, rendered, restate
from sklearn.base import clone

import separatrix as sx
from separatrix.errors import SeparatrixError

DEPENDENCES = (1.0, 1e3, *(10.0**k for k in range(5, 15)))
WANTED = 1e-8  # the relative gap that a fit is certified at
LARGEST_RADIUS = 1e300  # stated of forged optima
BAD = CLASSES[3:]
DISAGREEMENT = "law broken"  # one verifier proves what the other refuses
MOST_EXPECTED = 1e9  # the dependence up to which fits are to be certified
LEAST_SHARE = 0.99  # of the fits with a minimum up to there
SHAPES = ("pair", "chain", "sum", "powers", "offset", "offset and pair", "constant")
MODELS = {
    "logistic": 0.30,
    "logistic, ridge": 0.17,
    "logistic, l1": 0.10,
    "softmax": 0.13,
    "softmax, ridge": 0.05,
    "least squares": 0.10,
    "squared, ridge": 0.07,
    "squared hinge": 0.08,
}
LABELS = {"noisy": 0.7, "nearly separable": 0.1, "separable": 0.1, "quasi": 0.1}
FARTHEST = 150  # of the power of ten of an entry: beyond, products overflow
LARGE = 0.05  # share of designs with up to 300 rows and 8 columns


class Design(NamedTuple):
    """Data and an estimator for them; `name` says how they were made."""

    name: str
    dependence: float
    estimator: Any
    X: Any
    y: Any
    weights: Any


class Judged(NamedTuple):
    """What became of a design: the words of its certificate, true and stated gaps, and what is false."""

    design: Design
    verdict: str
    proved: bool
    attained: bool
    stated: float
    true: float
    faults: tuple[str, ...]

    @property
    def certified(self) -> bool:
        """Whether it is proved to be within 1e-8 of the minimum."""
        return self.proved and self.verdict == "optimal" and self.stated <= WANTED

    @property
    def expected(self) -> bool:
        """Whether a certificate is expected: of a minimum that exists, up to a dependence of 1e9."""
        return self.attained and self.design.dependence <= MOST_EXPECTED


class Maker:
    """Designs drawn by a seeded generator."""

    def __init__(self, seed: int, *, small: bool = False) -> None:
        self.rng, self.small = np.random.default_rng(seed), small

    def design(self, dependence: float) -> Design:
        """Return a design of some dependence."""
        rng = self.rng
        model, shape, labels = self._choice(MODELS), str(rng.choice(SHAPES)), self._choice(LABELS)
        n, p = self._size()
        X, parts = self._columns(shape, dependence, rng.normal(size=(n, p)))
        if labels == "quasi":  # a binary column, 1 in rows of one class only
            binary = (rng.random(n) < 0.4).astype(float)
            X, parts = (np.column_stack([columns, binary]) for columns in (X, parts))
        y = self._target(model, labels, parts)
        weights = self._weights(n)
        scales, divided = self._scales(model, X)
        X = X * scales
        estimator = self._estimator(model, bool(rng.random() < 0.75), divided, labels in {"separable", "quasi"})
        words = (model, shape, labels, "weights" * (weights is not None), "scaled" * bool((scales != 1.0).any()))
        return Design(", ".join(filter(None, words)), dependence, estimator, X, y, weights)

    def _choice(self, shares: dict[str, float]) -> str:
        return str(self.rng.choice(list(shares), p=list(shares.values())))

    def _size(self) -> tuple[int, int]:
        rng = self.rng
        if self.small:
            return int(rng.integers(25, 31)), 2
        if rng.random() < LARGE:
            return int(rng.integers(100, 301)), int(rng.integers(5, 9))
        return int(rng.integers(25, 61)), int(rng.integers(2, 5))

    def _columns(self, shape: str, dependence: float, parts: Any) -> tuple[Any, Any]:
        """Return columns of some dependence, and the independent parts that they are made of."""
        X, p, power = parts.copy(), parts.shape[1], 2.0 ** round(math.log2(dependence))
        if shape == "pair":
            X[:, 1] = X[:, 0] + parts[:, 1] / dependence
        elif shape == "chain":
            for j in range(1, p):
                X[:, j] = X[:, j - 1] + parts[:, j] / dependence
        elif shape == "sum":
            X[:, -1] = parts[:, :-1].sum(axis=1) + parts[:, -1] / dependence
        elif shape == "powers":
            u = self.rng.uniform(-1.0, 1.0, len(X))
            t = 1.0 + u * dependence ** (-1.0 / p)
            X = np.column_stack([t ** (j + 1) for j in range(p)])
            parts = np.column_stack([np.sqrt(2 * j + 3) * np.polynomial.Legendre.basis(j + 1)(u) for j in range(p)])
        elif shape == "offset":
            X[:, : int(self.rng.integers(1, p + 1))] += power
        elif shape == "offset and pair":
            offset = min(2.0**20, power)
            X[:, 0] += offset
            X[:, 1] = X[:, 0] + parts[:, 1] * (offset / dependence)
        else:
            X[:, 0] = 10.0 ** self.rng.integers(-3, 4) * (1.0 + parts[:, 0] / dependence)
        return X, parts

    def _target(self, model: str, labels: str, parts: Any) -> Any:
        """Return numbers, or labels that follow the parts."""
        rng, (n, p) = self.rng, parts.shape
        noise = {"noisy": 1.0, "nearly separable": 0.05, "separable": 0.0, "quasi": 1.0}[labels]
        if model in {"least squares", "squared, ridge"}:
            return parts @ rng.normal(size=p) + 10.0 ** rng.uniform(-1.0, 0.0) * rng.normal(size=n)
        if model.startswith("softmax"):
            scores = parts @ rng.normal(size=(p, 3)) + noise * rng.gumbel(size=(n, 3))
            y = scores.argmax(axis=1)
            y[:3] = np.arange(3) if noise else y[:3]
        else:
            scores = (parts - parts.mean(axis=0)) @ rng.normal(size=p) + noise * rng.logistic(size=n)
            y = (scores > 0).astype(int)
            y[:2] = np.arange(2) if noise else y[:2]
        return np.where(parts[:, -1] == 1.0, 1, y) if labels == "quasi" else y

    def _weights(self, n: int) -> Any:
        kind, rng = self.rng.random(), self.rng
        if kind < 0.6:
            return None
        if kind < 0.8:
            return rng.uniform(0.1, 3.0, n)
        return rng.integers(0, 4, n).astype(float) if kind < 0.95 else 10.0 ** rng.uniform(-3.0, 3.0, n)

    def _scales(self, model: str, X: Any) -> tuple[Any, bool]:
        """Return a power of ten per column, and whether the fit scales them: a penalty needs columns of one size."""
        rng, kind, p = self.rng, self.rng.random(), X.shape[1]
        far = FARTHEST if kind < 0.4 else 6 if kind < 0.6 else 0
        most = FARTHEST - np.ceil(np.log10(np.abs(X).max(axis=0)))
        scales = 10.0 ** np.minimum(rng.integers(-far, far + 1, p), most)
        return scales, bool(far) and model not in {"logistic", "softmax", "least squares"}

    def _estimator(self, model: str, intercept: bool, scaled: bool, separated: bool) -> Any:
        """Return an estimator; of separated rows the penalty sets the conditioning, so that it is not below 1e-12."""
        options: dict[str, Any] = {"fit_intercept": intercept}
        if model in {"logistic", "softmax"}:
            return sx.LogisticRegression(**options)
        if model == "least squares":
            return sx.LinearRegression(**options)
        options |= {"tol": WANTED / 10, "scaling": "spread" if scaled else "none"}
        far = {"logistic, ridge": 26, "softmax, ridge": 8, "squared, ridge": 12}.get(model, 6)
        strength = float(10.0 ** self.rng.uniform(-far, -1.0))
        options["strength"] = max(strength, 1e-12) if separated else strength
        if model == "squared hinge":
            return sx.LinearSVM(loss="squared_hinge", **options)
        kind = sx.LinearRegression if model == "squared, ridge" else sx.LogisticRegression
        return kind(l1_ratio=float(model.endswith("l1")), **options)


def judged(design: Design, folder: Path | None) -> Judged | None:
    """Return what the fit of a design states, and what is false of it; None if the data were refused.

    One class only, or all rows of a class of weight 0, are no data for a classifier. An error is a fault too.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _judged(design, fitted(design, design.X), folder)
        except SeparatrixError:
            return None
        except Exception as error:  # noqa: BLE001  # any other error is a fault
            return Judged(design, "", False, True, math.inf, math.inf, (f"{type(error).__name__}: {error}",))


def fitted(design: Design, X: Any) -> Any:
    """Return the certificate of a fit with some columns."""
    given = {} if design.weights is None else {"sample_weight": design.weights}
    return clone(design.estimator).fit(X, design.y, **given).certificate_


def _judged(design: Design, certificate: Any, folder: Path | None) -> Judged:
    document = json.loads(certificate.to_json())
    rows = judge.matched(document["data"], design.X, design.y, design.weights)
    honest = _mutation(design, document)
    result = classified(honest, folder)
    faults = [] if result.group == "true, proved" else [_words(result)]
    forged = classified(_mutation(design, forgery(design, document, rows)), folder)
    faults += [f"of a forged optimum: {_words(forged)}"] if forged.group in BAD else []
    part = objective_part(document)
    truth = judge.optimum({**part, "statement": {**part["statement"], "held": []}}, rows)
    return Judged(
        design,
        certificate.verdict,
        result.group.endswith(", proved"),
        truth.argmin is not None,
        part["statement"]["relative_gap"],
        float(truth.gap / truth.scale),
        tuple(faults),
    )


def _mutation(design: Design, document: dict[str, Any]) -> Mutation:
    return Mutation(design.name, json.dumps(document), design.X, design.y, design.weights)


def _words(result: Result) -> str:
    """Return what is wrong, with the checks that fail."""
    words = [f"{result.group}: {result.reason}"]
    if result.group.endswith("refused"):
        _, read = outcome(result.mutation)
        checks = () if read is None else read.verify(*result.mutation[2:5]).checks
        words += [str(check) for check in checks if not check.holds]
    return "; ".join(words)


def objective_part(document: dict[str, Any]) -> dict[str, Any]:
    """Return statement and witness of the objective of a certificate, those of least squares with a squared loss."""
    if document["kind"] == "likelihood":
        return dict(document["witness"]["optimality"])
    if document["kind"] == "least-squares":
        return judge.as_objective(document)
    return document


def forgery(design: Design, document: dict[str, Any], rows: judge.Rows) -> dict[str, Any]:
    """Return a certificate of a false optimum, whose gradient is 0 but for one entry of about 1/δ."""
    forged = copy.deepcopy(document)
    part = forged["witness"]["optimality"] if document["kind"] == "likelihood" else forged
    retained = np.delete(design.X, document["data"].get("dropped") or [], axis=1)
    part["witness"].update(coef=false_optimum(design, retained, rows), relations=[])
    part["statement"].update(aliased=[], held=[])
    restate(part, rows, WANTED)
    if part["statement"]["radii"] is not None:
        part["statement"]["radii"] = np.full_like(part["witness"]["coef"], LARGEST_RADIUS).tolist()
    return rendered(forged)


def false_optimum(design: Design, X: Any, rows: judge.Rows) -> Any:
    """Return the coefficients of a fit without one column: that of the direction which the data determine least."""
    sizes = np.abs(rows.X).max(axis=0)
    direction = np.linalg.svd(rows.X / np.where(sizes > 0.0, sizes, 1.0))[2][-1]
    column = int(np.abs(direction).argmax())
    document = json.loads(fitted(design, np.delete(X, column, axis=1)).to_json())
    coef = objective_part(document)["witness"]["coef"]
    nothing = np.zeros_like(coef[0]).tolist()
    for place in [*sorted(document["data"].get("dropped") or []), column]:
        coef.insert(place + rows.intercept, nothing)
    return coef


def run(
    seed: int,
    count: int,
    *,
    small: bool = False,
    dependences: tuple[float, ...] = DEPENDENCES,
    second_verifier: int = 0,
) -> list[Judged]:
    """Return what became of some designs of each dependence.

    One of `second_verifier` designs is checked by the second verifier too, which takes longer than all else; 0: none.
    """
    maker, found = Maker(seed, small=small), list[Judged]()
    with tempfile.TemporaryDirectory() as folder:
        for dependence in dependences:
            before = len(found)
            while len(found) < before + count:
                alone = second_verifier > 0 and len(found) % second_verifier == 0
                result = judged(maker.design(dependence), Path(folder) if alone else None)
                if result is not None:
                    found.append(result)
    return found


def certified_share(results: list[Judged]) -> float:
    """Return the share of fits with a minimum, up to a dependence of 1e9, that are certified at 1e-8."""
    expected = [each for each in results if each.expected]
    return sum(each.certified for each in expected) / len(expected)


def shortfall(result: Judged) -> tuple[str, ...]:
    """Return what a fit that is expected to be certified falls short of."""
    if result.certified or not result.expected:
        return ()
    numbers = f"{result.verdict}, relative gap {result.stated:.3g} stated, {result.true:.3g} true"
    return (f"{numbers}: {' '.join(repr(result.design.estimator).split())}",)


HEADER = (
    "dependence",
    "fits",
    "without a minimum",
    "true gap ≤ 1e-8",
    "certified at 1e-8",
    "“optimal”",
    "“optimal within”",
    "false statements",
    "verifiers disagree",
    "largest true / stated gap",
)


def table(results: list[Judged]) -> list[str]:
    """Return the lines of a table: counts by dependence."""
    groups: dict[float, list[Judged]] = {}
    for each in results:
        groups.setdefault(each.design.dependence, []).append(each)
    lines = [_line(f"{dependence:.0e}", groups[dependence]) for dependence in sorted(groups)]
    return [f"| {' | '.join(HEADER)} |", "|---" * len(HEADER) + "|", *lines, _line("all", results)]


def _line(name: str, results: list[Judged]) -> str:
    global_gaps = [each for each in results if each.proved and each.attained and each.verdict != "optimal within"]
    ratios = [each.true / each.stated for each in global_gaps if each.stated > 0.0]
    cells = (
        len(results),
        sum(not each.attained for each in results),
        sum(each.attained and each.true <= WANTED for each in results),
        sum(each.certified for each in results),
        sum(each.proved and each.verdict == "optimal" for each in results),
        sum(each.proved and each.verdict == "optimal within" for each in results),
        sum(DISAGREEMENT not in fault for each in results for fault in each.faults),
        sum(DISAGREEMENT in fault for each in results for fault in each.faults),
    )
    return f"| {name} | " + " | ".join(f"{cell:,}" for cell in cells) + f" | {max(ratios, default=0.0):.3g} |"
