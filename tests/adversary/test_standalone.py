"""The second verifier: it runs alone, proves honest certificates of every kind, and refuses false ones with status 1.

Its bounds are compared with minima to 110 digits: none is below the true gap, and the best equals it.
"""

from __future__ import annotations

import copy
import csv
import json
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaign import outcome, standalone_status
from honest import Case, case, cases
from mutations import Mutation, rendered

import oracles
import separatrix as sx
from oracles import mp
from separatrix.certificates import base, standalone
from separatrix.certificates.standalone import Enclosure

pytestmark = pytest.mark.slow

LIKELIHOOD = ("witness", "optimality", "statement")
UNCHECKED = ("precomputed", "mapped", "clashes", "equal rows")  # these limits are named


def alone(document: Any, of: Case, folder: Path) -> tuple[int, str]:
    """Return status and output of the second verifier in a process without any package."""
    header, options = [f"x{j + 1}" for j in range(of.X.shape[1])], ["--target", "y"]
    columns = [*zip(*of.X.tolist(), strict=True), np.asarray(of.y).tolist()]
    header = [*(document["data"]["columns"] or header), "y"]
    if of.weights is not None:
        columns, header, options = [*columns, of.weights.tolist()], [*header, "w"], [*options, "--weight", "w"]
    table, file = folder / "table.csv", folder / "certificate.json"
    with table.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *zip(*columns, strict=True)])
    file.write_text(json.dumps(document), encoding="utf-8")
    command = [sys.executable, "-I", "-S", standalone.__file__, str(file), str(table), *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return ended.returncode, ended.stdout


def status(document: Any, of: Case, folder: Path) -> int:
    """Return the status of a document with the words that follow from it."""
    return standalone_status(Mutation("", json.dumps(rendered(document)), of.X, of.y, of.weights), folder)


@pytest.mark.parametrize("kind", [*base.KINDS, base.MIXED])
def test_it_runs_alone(kind: str, tmp_path: Path) -> None:
    own = next(each for each in cases() if each.kind == kind)
    code, output = alone(own.certificate, own, tmp_path)
    assert (code, output) == (0, ascii(f"proved: {own.certificate['claim']}")[1:-1] + "\n")


def test_honest_certificates_are_proved_or_name_a_limit(tmp_path: Path) -> None:
    for each in cases():
        unchecked = any(word in each.name for word in UNCHECKED)
        assert status(each.certificate, each, tmp_path) == (2 if unchecked else 0), each.name


def test_a_part_has_no_other_keys(tmp_path: Path) -> None:
    honest = case("logistic, quasi")
    document = copy.deepcopy(honest.certificate)
    document["witness"]["existence"]["note"] = 1
    assert outcome(Mutation("", json.dumps(document), honest.X, honest.y, honest.weights))[0] == "malformed"
    assert status(document, honest, tmp_path) == 1


@pytest.mark.parametrize("name", ["logistic", "softmax", "least squares", "squared, classes"])
@pytest.mark.parametrize("held", [[2], [0, 1]])
def test_columns_that_are_held(name: str, held: list[int], tmp_path: Path) -> None:
    honest = case(name)
    document = copy.deepcopy(honest.certificate)
    put(*(LIKELIHOOD if honest.kind == "likelihood" else ("statement",)), "held", value=held)(document)
    document = rendered(document)
    assert document["claim"] != honest.certificate["claim"]
    assert outcome(Mutation("", json.dumps(document), honest.X, honest.y, honest.weights))[0] == "proved"
    assert status(document, honest, tmp_path) == 0


def put(*place: Any, value: Any) -> Any:
    """Return a change that puts a value, or a function of the value there, at a place."""

    def change(document: Any) -> None:
        for key in place[:-1]:
            document = document[key]
        document[place[-1]] = value(document[place[-1]]) if callable(value) else value

    return change


def lower(number: float) -> float:
    return number * (1.0 - 1e-9) if number > 0 else number * (1.0 + 1e-9) - 1e-300


def zeros(numbers: Any) -> Any:
    return [zeros(number) for number in numbers] if isinstance(numbers, list) else 0.0


FORGED: list[tuple[str, Any]] = [
    ("logistic, ridge", put("statement", "primal", value=lower)),
    ("logistic, ridge", put("statement", "gap", value=1e-45)),
    ("logistic, ridge", put("statement", "relative_gap", value=1e-45)),
    ("logistic, ridge", put("witness", "coef", 1, value=lambda w: w + 1e-4)),
    ("logistic, ridge", put("data", "labels", 0, value="other")),
    ("logistic, ridge", put("statement", "strength", value=0.11)),
    ("logistic, l1", put("statement", "gap", value=1e-45)),
    ("logistic, l1", put("statement", "l1_ratio", value=0.9)),
    ("logistic, balanced", put("data", "class_weights", 0, value=lambda w: w * 1.001)),
    ("logistic, scaled", put("statement", "scales", 0, value=lambda s: s * 1.001)),
    ("softmax, ridge", put("witness", "coef", 0, 0, value=lambda w: w + 1e-4)),
    ("softmax, ridge", put("statement", "gap", value=1e-45)),
    ("squared, ridge", put("statement", "gap", value=1e-45)),
    ("hinge", put("statement", "gap", value=1e-45)),
    ("hinge", put("witness", "dual_values", 0, value=lambda a: -a)),
    ("squared hinge", put("statement", "gap", value=1e-45)),
    ("logistic", put(*LIKELIHOOD, "primal", value=lower)),
    ("logistic", put(*LIKELIHOOD, "gap", value=0.0)),
    ("logistic", put(*LIKELIHOOD, "radii", value=zeros)),
    ("logistic", put("witness", "optimality", "witness", "coef", 0, value=lambda w: w + 1e-4)),
    ("softmax", put(*LIKELIHOOD, "radii", value=zeros)),
    ("logistic, pairs of columns", put("witness", "optimality", "witness", "relations", value=[{"1": 1.0, "2": 1.5}])),
    ("logistic, separated", put(*LIKELIHOOD, "primal", value=lower)),
    ("least squares", put("statement", "rss", value=lower)),
    ("least squares", put("statement", "excess", value=1e-40)),
    ("least squares", put("statement", "radii", value=zeros)),
    ("least squares", put("witness", "coef", 0, value=lambda w: w + 1e-6)),
    ("least squares, aliased", put("witness", "relations", value=[{"1": 1.0, "2": 1.5}])),
    ("generative", put("witness", "coef", 0, 0, value=lambda w: w * (1 + 1e-6))),
    ("generative", put("witness", "intercept", 0, value=lambda w: w + 1e-6)),
    ("generative, priors", put("statement", "priors", 0, value=0.26)),
    ("firth", put("statement", "penalised", value=lambda v: v + 1e-9)),
    ("firth", put("statement", "excess", value=1e-30)),
    ("firth", put("statement", "radii", value=zeros)),
    ("firth", put("witness", "coef", 0, value=lambda w: w + 1e-6)),
    ("perceptron", put("statement", "radius", value=lower)),
    ("perceptron", put("statement", "margin", value=lambda m: m * 1.001)),
    ("perceptron", put("statement", "bound", value=lambda b: b - 1)),
    ("perceptron", put("witness", "coef", 0, value=lambda w: w + 1e-6)),
    ("perceptron", put("witness", "history", 0, value=lambda i: (i + 1) % 10)),
    ("perceptron, batch", put("statement", "updates", value=lambda t: t + 1)),
    ("perceptron, stopped", put("statement", "converged", value=True)),
    ("kernel perceptron", put("statement", "radius", value=lambda r: r * 0.999)),
    ("kernel perceptron", put("statement", "margin", value=lambda m: m * 1.001)),
    ("kernel perceptron", put("witness", "coef", 0, value=lambda w: w + 1e-6)),
    ("kernel svm", put("statement", "primal", value=lambda v: v * 0.999)),
    ("kernel svm", put("statement", "dual", value=lambda v: v * 1.001)),
    ("kernel svm", put("witness", "multipliers", 0, value=lambda v: v * 1.5)),
    ("kernel svm", put("data", "kernel", "gamma", value=0.501)),
    ("kernel margin", put("statement", "lower", value=lambda v: v * (1 + 1e-6))),
    ("kernel margin", put("statement", "upper", value=lambda v: v * (1 - 1e-3))),
    ("margin, mixed", put("parts", 0, "statement", value=lambda s: {**s, next(iter(s)): None})),
]


@pytest.mark.parametrize(("name", "change"), FORGED)
def test_false_numbers_are_refused(name: str, change: Any, tmp_path: Path) -> None:
    honest = case(name)
    document = copy.deepcopy(honest.certificate)
    change(document)
    assert document != honest.certificate
    assert status(document, honest, tmp_path) == 1


def test_the_slopes_of_an_l1_penalty_count_in_a_softmax(tmp_path: Path) -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.random.default_rng(1).integers(0, 3, 40)
    document = json.loads(sx.LogisticRegression(strength=0.05).fit(X, y).certificate_.to_json())
    coef = np.array(document["witness"]["coef"])
    document["statement"].update(strength=0.1, l1_ratio=0.5)  # the ridge is the same, and the L1 part is left out
    value = oracles.value_at("softmax", X, y, coef.T.tolist(), True, l1=0.05, l2=0.05)
    least = oracles.minimum("softmax", X, y, True, l1=0.05, l2=0.05).value
    assert value - least > 0.01
    document["statement"].update(primal=float(value) * (1 + 1e-9), gap=1e-9, relative_gap=1e-9)
    forged = Mutation("", json.dumps(rendered(document)), X, y, None)
    assert outcome(forged)[0] == "not proved"
    assert standalone_status(forged, tmp_path) == 1


def test_a_larger_problem_names_its_limit(tmp_path: Path) -> None:
    honest = case("logistic, ridge")
    rows, width = 400, 60
    rng = np.random.default_rng(0)
    data = {**honest.certificate["data"], "rows": rows, "width": width, "counts": [200, 200]}
    large = {**honest.certificate, "data": data, "witness": {**honest.certificate["witness"], "coef": [0.0] * 61}}
    own = Case("large", large, rng.normal(size=(rows, width)), np.repeat(data["labels"], 200))
    code, output = alone(large, own, tmp_path)
    limit = "rows times squared coefficients: 1.49e+06, above the limit of 1e+06"
    assert (code, output) == (2, f"cannot be checked here: {limit}\n")


# Intervals


def contains(interval: Enclosure, value: Any) -> bool:
    return bool(mp.mpf(str(interval.low)) <= value <= mp.mpf(str(interval.high)))


def test_intervals_contain_the_results_and_are_narrow() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        a, b = (Fraction(float(x)) for x in rng.normal(size=2) * 10.0 ** rng.integers(-30, 3, 2))
        x, z = (Enclosure.of(value) for value in (a, b))
        p, q = mp.mpf(a.numerator) / a.denominator, mp.mpf(b.numerator) / b.denominator
        size = Enclosure.of(abs(a))
        results = [
            (x + z, p + q),
            (x - z, p - q),
            (x * z, p * q),
            (x / Enclosure.of(abs(b)), p / abs(q)),
            (x.exp(), mp.exp(p)),
            (size.ln(), mp.log(abs(p))),
            (size.sqrt(), mp.sqrt(abs(p))),
            (size.log1p(), mp.log1p(abs(p))),
            (x.square(), p * p),
            (1 - x, 1 - p),
        ]
        for interval, value in results:
            assert contains(interval, value)
            width = mp.mpf(str(interval.high)) - mp.mpf(str(interval.low))
            assert width <= mp.mpf("1e-19") * abs(value) + mp.mpf("1e-45") * (1 + abs(p) + abs(q))
    assert contains(standalone.PI, mp.pi)
    mixed = Enclosure(Decimal(-2), Decimal(3))
    assert [str(end) for end in ((mixed * mixed).low, (mixed * mixed).high)] == ["-6", "9"]
    assert (mixed.square().low, mixed.square().high, mixed.size().high) == (0, 9, 3)
    with pytest.raises(ArithmeticError, match="divisor"):
        _ = mixed / mixed


# Bounds


def objective(
    X: Any, y: Any, weights: Any, loss: str, penalty: tuple[float, float], intercept: bool, folder: Path
) -> standalone.Objective:
    """Return the objective of some data, read from a table."""
    numbers = loss == "squared"
    labels = [] if numbers else sorted({*y.tolist()})
    counts = [len(y)] if numbers else [int((y == label).sum()) for label in labels]
    task = "numbers" if numbers else "two" if len(labels) == 2 else "several"
    data = {"rows": len(y), "width": X.shape[1], "columns": None, "intercept": intercept, "weights": True}
    data |= {"class_weights": None, "task": task, "labels": labels, "scheme": None, "counts": counts}
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as stream:
        header = [*(f"x{j}" for j in range(X.shape[1])), "y", "w"]
        csv.writer(stream).writerows([header, *np.column_stack([X, y, weights]).tolist()])
    rows = standalone.LabelledRows(str(folder / "t.csv"), {"--target": "y", "--weight": "w"}, data)
    factors = Fraction(penalty[0]), Fraction(penalty[1])
    return standalone.Objective(rows, loss, list(range(X.shape[1] + intercept)), factors, rows.values)


PROBLEMS = [
    ("logistic", (0.0, 0.0)),
    ("logistic", (0.0, 0.25)),
    ("logistic", (0.0, 2.0**-40)),
    ("logistic", (0.125, 0.0)),
    ("logistic", (0.0625, 0.0625)),
    ("softmax", (0.0, 0.0)),
    ("softmax", (0.0, 0.25)),
    ("softmax", (0.0625, 0.0)),
    ("softmax", (0.03125, 0.0625)),
    ("squared", (0.0, 0.0)),
    ("squared", (0.0, 0.25)),
    ("squared", (0.25, 0.0)),
    ("squared hinge", (0.0, 0.25)),
    ("squared hinge", (0.0625, 0.0)),
]


@pytest.mark.parametrize(("loss", "penalty"), PROBLEMS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("distance", [1e-6, 0.5])
def test_the_best_bound_is_the_true_gap(
    loss: str, penalty: tuple[float, float], intercept: bool, distance: float, tmp_path: Path
) -> None:
    rng = np.random.default_rng(len(loss) + int(64 * sum(penalty)) + intercept)
    X = rng.integers(-8, 9, (12, 2)) / 4.0
    y = rng.integers(0, 3 if loss == "softmax" else 2, 12)
    targets: Any = y if loss in ("softmax", "logistic") else 2 * y - 1
    targets = X[:, 0] + rng.integers(-4, 5, 12) / 4.0 if loss == "squared" else targets
    weights = rng.integers(1, 5, 12) / 2.0
    own = objective(X, targets if loss == "squared" else y, weights, loss, penalty, intercept, tmp_path)
    signs = 2 * y - 1 if loss in ("logistic", "squared hinge") else targets
    given: dict[str, Any] = {"weights": weights, "l1": penalty[0], "l2": penalty[1]}
    truth = oracles.minimum(loss, X, signs, intercept, **given)
    if truth.argmin is None:
        pytest.fail("choose other data: these have no minimum")
    best = np.array([[float(w) for w in line] for line in (truth.argmin if loss == "softmax" else [truth.argmin])])
    coef = best + distance * rng.normal(size=best.shape)
    value = oracles.value_at(
        loss, X, signs, coef.tolist() if loss == "softmax" else coef[0].tolist(), intercept, **given
    )
    gap = value - truth.value
    with localcontext(standalone.NEAREST):
        exact = [[Fraction(w) for w in line] for line in coef.tolist()]
        point, gauge = [[Enclosure.of(w) for w in line] for line in exact], standalone.NOTHING
        if loss == "softmax" and own.reference:
            point = standalone._relative(exact)
            sums = [sum(column) for column in zip(*exact, strict=True)]
            gauge = standalone._product(own.quadratic, [Enclosure.of(total**2 / 6) for total in sums])
        bounds = list(own.bounds(point, gauge, None))
    assert all(contains(bound.primal, value) for bound in bounds)
    assert all(mp.mpf(str(bound.gap)) >= gap for bound in bounds)
    assert mp.mpf(str(min(bound.gap for bound in bounds))) <= gap * (1 + mp.mpf("1e-6")) + mp.mpf("1e-30")
    for bound in bounds:
        if bound.radii is not None and own.reference == (loss in ("softmax", "logistic")):
            argmin = (
                [truth.argmin]
                if loss != "softmax"
                else [[w - v for w, v in zip(line, truth.argmin[0], strict=True)] for line in truth.argmin[1:]]
            )
            for (b, j), radius in zip(own.places, bound.radii, strict=True):
                assert abs(argmin[b][j] - mp.mpf(str(point[b][j].middle))) <= mp.mpf(str(radius)) + mp.mpf("1e-40")


def test_a_factor_of_nearly_dependent_columns() -> None:
    """The Hessian Σ C ⊗ xxᵗ of two scores of columns a, a + b/1e13 and a + (b + c)/1e13, C another one in each row."""
    rng = np.random.default_rng(0)
    rows = [
        [Fraction(a), a + Fraction(b, 10**13), a + Fraction(b + c, 10**13)]
        for a, b, c in rng.integers(-9, 10, (12, 3)).tolist()
    ]
    curvatures = [[[2 + a, -1], [-1, 2 + b]] for a, b in rng.integers(0, 5, (12, 2)).tolist()]
    places = [(score, column) for score in range(2) for column in range(3)]
    with localcontext(standalone.NEAREST):
        matrix = [
            [Enclosure.of(sum(C[k][m] * x[i] * x[j] for x, C in zip(rows, curvatures, strict=True))) for m, j in places]
            for k, i in places
        ]
        root = standalone._root(matrix)
        assert root is not None
        assert standalone._defect(root, matrix).high < Decimal("1e-12")


def test_the_baseline_of_a_rare_class(tmp_path: Path) -> None:
    """The entropy of shares of 1e-80 and the rest; the largest share is 1 to 50 digits."""
    X, y, weights = np.zeros((3, 1)), np.array([0, 1, 1]), np.array([1e-80, 0.5, 0.5])
    with localcontext(standalone.NEAREST):
        found = objective(X, y, weights, "logistic", (0.0, 0.25), True, tmp_path).baseline()
    share = mp.mpf(1e-80) / (1 + mp.mpf(1e-80))
    truth = -share * mp.log(share) - (1 - share) * mp.log(1 - share)
    assert contains(found, truth)
    assert found.high / found.low < Decimal("1.0000000001")


def test_a_gap_of_an_objective_of_0(tmp_path: Path) -> None:
    """One row is fitted exactly by the intercept, and the gap is 0."""
    X, y = np.array([[1.0, -2.0]]), np.array([0.3])
    for strength, ratio in [(1.9, 0.6), (282.4, 0.0)]:
        certificate = sx.LinearRegression(strength=strength, l1_ratio=ratio).fit(X, y).certificate_
        assert certificate.relative_gap <= 1e-6
        document = json.loads(certificate.to_json())
        assert outcome(Mutation("", json.dumps(document), X, y, None))[0] == "proved"
        assert status(document, Case("one row", document, X, y), tmp_path) == 2  # 50 digits are too few for 0


def test_steps_to_a_far_minimum_with_an_l1_penalty(tmp_path: Path) -> None:
    """The curvature alone is singular on the way; the minimum is near −83.5 and −41.7, the others 0."""
    X, y = np.array([[-1.0, 0, 1, 0], [0, 0, 1, 0], [3, 1, 3, 1], [-3, -1, 0, 0]]), np.array([0, 0, 0, 1])
    own = objective(X, y, np.ones(4), "logistic", (3.727272727272727e-19, 0.0), True, tmp_path)
    start = [-40.23, -0.005386, -79.87, 0.0, 0.0]
    with localcontext(standalone.NEAREST):
        point = [[Enclosure.of(Fraction(w)) for w in start]]
        gap = min(bound.gap for bound in own.bounds(point, standalone.NOTHING, None))
        excess = own.value(point) - own.value(own.refined(point))
    assert excess.low > 0
    assert gap < excess.high * Decimal("1.000001")


def test_the_information_of_columns_far_from_0(tmp_path: Path) -> None:
    """Columns with an offset of 2^52: the coordinates, and not the columns, have the errors of the curvature."""
    X = 2.0**52 + np.array([[-1.0], [2.0], [-1.0], [-0.5], [0.0], [-1.0], [-1.0]])
    y = np.array([1, 1, 0, 1, 1, 0, 1])
    document = json.loads(sx.LogisticRegression(on_separation="firth").fit(X, y).certificate_.to_json())
    assert document["kind"] == "bias-reduction"
    assert outcome(Mutation("", json.dumps(document), X, y, None))[0] == "proved"
    assert status(document, Case("far", document, X, y), tmp_path) == 0


def test_separable_rows_have_no_bound_but_the_value_itself(tmp_path: Path) -> None:
    X, y = np.array([[1.0], [2.0], [-1.0], [-2.0]]), np.array([1, 1, 0, 0])
    own = objective(X, y, np.ones(4), "logistic", (0.0, 0.0), True, tmp_path)
    with localcontext(standalone.NEAREST):
        for slope in (0, 1, 30):
            point = [[Enclosure.of(0), Enclosure.of(slope)]]
            bounds = list(own.bounds(point, standalone.NOTHING, None))
            assert all(bound.radii is None for bound in bounds)
            assert min(bound.gap for bound in bounds) == bounds[0].primal.high
