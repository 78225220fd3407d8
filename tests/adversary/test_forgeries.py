"""Forgeries made by hand from honest certificates: JSON texts that must not be proved, and must end at once."""

from __future__ import annotations

import copy
import json
import sys
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import dependence
import judge
import numpy as np
import pytest
from campaign import MOST_SECONDS, limited, outcome, standalone_status
from honest import APART, GRAM, NUMBERS, OVERLAP, SEPARATED, THREE, X, cases, names
from honest import case as honest_case
from mutations import Mutation, rendered, restate

import oracles
import separatrix as sx
from separatrix.certificates.base import Certificate, certificate_from_dict
from separatrix.certificates.data import Data
from separatrix.errors import CertificateError, SeparatrixError

Forged = Callable[[dict[str, Any]], None]


def of(name: str, forge: Forged, **data: Any) -> Mutation:
    """Return a forgery of a case, with the words that follow from it."""
    case = honest_case(name)
    document = copy.deepcopy(case.certificate)
    forge(document)
    given = {"X": case.X, "y": case.y, "weights": case.weights, **data}
    return Mutation(name, json.dumps(rendered(document)), **given)


def refused(mutation: Mutation, tmp_path: Path) -> str:
    """Assert that no verifier proves a forgery, and that both end at once; return the outcome."""
    with limited(MOST_SECONDS):
        said, _ = outcome(mutation)
        assert said != "proved"
        assert standalone_status(mutation, tmp_path) != 0
    return said


def put(*place: Any, value: Any) -> Forged:
    """Return a forgery that puts a value at a place."""

    def forge(document: dict[str, Any]) -> None:
        for key in place[:-1]:
            document = document[key]
        document[place[-1]] = value

    return forge


def also(*forgeries: Forged) -> Forged:
    """Return several forgeries as one."""

    def forge(document: dict[str, Any]) -> None:
        for each in forgeries:
            each(document)

    return forge


def test_the_cases_are_honest() -> None:
    for case in cases():
        mutation = Mutation(case.name, json.dumps(case.certificate), case.X, case.y, case.weights)
        assert outcome(mutation)[0] == "proved", case.name


# Labels


def no_row_has_it(document: dict[str, Any]) -> None:
    document["data"].update(labels=["zzz"], task="rest", counts=[0, 10])


def empty_class(document: dict[str, Any]) -> None:
    document["data"]["labels"].append("zzz")
    document["data"]["counts"].append(0)
    document["data"]["task"] = "several"


LABELS: dict[str, tuple[str, Forged]] = {
    "separability of a label that no row has": ("separability, overlap", no_row_has_it),
    "fewest mistakes of a label that no row has": ("zero-one", no_row_has_it),
    "margin of a label that no row has": ("margin", no_row_has_it),
    "run for a label that no row has": ("perceptron", no_row_has_it),
    "optimum for a label that no row has": ("logistic, ridge", no_row_has_it),
    "two labels, one of no row": ("zero-one", put("data", "labels", value=["no", "zzz"])),
    "a label that is null": ("zero-one", put("data", "labels", value=[None, "zzz"])),
    "an empty class": ("separability, several, overlap", empty_class),
    "an empty class of two": ("separability, overlap", empty_class),
    "an empty class of a likelihood": ("softmax", empty_class),
    "a label as a list": ("kernel svm", put("data", "labels", value=[["no"], "yes"])),
    "a label as a list, of a run": ("kernel perceptron", put("data", "labels", 1, value=["yes"])),
    "a label twice": ("zero-one", put("data", "labels", value=["no", "no"])),
    "text for numbers": ("separability, several, separable", put("data", "labels", value=["1", "3", "7"])),
    "booleans for numbers": ("separability, quasi", put("data", "labels", value=[False, True])),
    "labels swapped": ("perceptron", put("data", "labels", value=["yes", "no"])),
    "labels and counts swapped": (
        "perceptron",
        also(put("data", "labels", value=["yes", "no"]), lambda d: d["data"]["counts"].reverse()),
    ),
    "a label beyond every float": ("generative", put("data", "labels", 0, value=10**400)),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_those_of_the_data(name: str, tmp_path: Path) -> None:
    case, forge = LABELS[name]
    refused(of(case, forge), tmp_path)


@pytest.mark.parametrize("kind", ["zero-one", "separability, overlap", "perceptron", "logistic, ridge"])
def test_class_weights_do_not_hide_rows_of_other_labels(kind: str, tmp_path: Path) -> None:
    row = int(np.flatnonzero(OVERLAP == "yes")[0])
    y = np.where(np.arange(10) == row, "other", OVERLAP)
    counts = [int((y == label).sum()) for label in ("no", "yes")]
    forge = also(put("data", "class_weights", value=[1.0, 1.0]), put("data", "counts", value=counts))
    mutation = of(kind, forge, X=X, y=y)
    refused(mutation, tmp_path)
    if kind != "zero-one":  # which names rows beyond those that would count
        checked = certificate_from_dict(json.loads(mutation.text)).verify(X, y)
        assert f"row {row} has label 'other'" in str(checked)


def test_integers_above_2_53_are_compared_exactly(tmp_path: Path) -> None:
    y = np.where(np.arange(10) < 5, 2**53, 2**53 + 1)
    case = sx.check_separability(X, y)
    document = json.loads(case.to_json())
    assert case.verify(X, y)
    document["data"]["labels"] = [float(2**53), 2**53 + 1]
    assert outcome(Mutation("equal values", json.dumps(rendered(document)), X, y, None))[0] == "proved"
    document["data"]["labels"] = [2**53, 2**53 + 2]
    refused(Mutation("other values", json.dumps(rendered(document)), X, y, None), tmp_path)


# Parts


def swap_intercept(document: dict[str, Any]) -> None:
    other = honest_case("separability, overlap, no intercept").certificate
    document["witness"]["existence"] = {"statement": other["statement"], "witness": other["witness"]}


PARTS: dict[str, tuple[str, Forged]] = {
    "existence without an intercept beside optimality with one": ("logistic", swap_intercept),
    "one part under three names": ("one-vs-rest", lambda d: d.update(parts=[d["parts"][0]] * 3)),
    "one part under three names, of mistakes": ("zero-one, several", lambda d: d.update(parts=[d["parts"][0]] * 3)),
    "one part under three names, of kernels": ("kernel svm, pairs", lambda d: d.update(parts=[d["parts"][0]] * 3)),
    "a class dropped": ("zero-one, several", lambda d: d["parts"].pop()),
    "a pair dropped": ("separability, several, pairs", lambda d: d["parts"].pop()),
    "a class dropped with its label": (
        "separability, several, one-vs-rest",
        also(lambda d: d["parts"].pop(), lambda d: d["data"]["labels"].pop(), lambda d: d["data"]["counts"].pop()),
    ),
    "parts without a scheme": ("separability, several, pairs", put("data", "scheme", value=None)),
    "another scheme": ("separability, several, pairs", put("data", "scheme", value="one-vs-rest")),
    "another scheme of kernels": ("kernel svm, pairs", put("data", "scheme", value="one-vs-rest")),
    "parts reordered": ("separability, several, pairs", lambda d: d["parts"].reverse()),
    "no parts": ("separability, several, pairs", put("parts", value=[])),
    "a part of another kind": ("one-vs-rest", put("parts", 0, value={"upper": 1, "lower": 1})),
    "existence null, of separable rows": ("logistic, separated", put("witness", "existence", value=None)),
    "existence null, of quasi-separable rows": ("logistic, quasi", put("witness", "existence", value=None)),
    "optimality null": ("logistic", put("witness", "optimality", value=None)),
    "a statement null": ("perceptron", put("statement", value=None)),
    "a witness as a list": ("margin", put("witness", value=[])),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_belong_together(name: str, tmp_path: Path) -> None:
    case, forge = PARTS[name]
    refused(of(case, forge), tmp_path)


# Fields


def vacuous_proof(document: dict[str, Any]) -> None:
    width = len(document["witness"]["weights"])
    relations = [{str(j): 1.0} for j in range(width)]
    document["witness"].update(
        proof={"places": [], "multipliers": [], "columns": [], "relations": relations}, divergence=None
    )


def aliased_by_zero(document: dict[str, Any]) -> None:
    document["witness"]["proof"]["relations"][0]["0"] = 0.0


def repeated(*names: str) -> Forged:
    def forge(document: dict[str, Any]) -> None:
        for name in names:
            document["witness"][name] = [*document["witness"][name], document["witness"][name][0]]

    return forge


def invented(document: dict[str, Any]) -> None:
    document["witness"].update(history=None, coef=[1.0, 2.0, 3.0])
    document["statement"].update(converged=False)


FIELDS: dict[str, tuple[str, Forged]] = {
    "a coefficient inf": ("kernel svm", put("witness", "multipliers", 0, value="inf")),
    "a coefficient of a run inf": ("kernel perceptron", put("witness", "coef", 0, value="inf")),
    "a radius inf": ("kernel perceptron", put("statement", "radius", value="inf")),
    "a radius Infinity": ("perceptron", put("statement", "radius", value=float("inf"))),
    "an upper bound NaN": ("kernel margin", put("statement", "upper", value=float("nan"))),
    "support rows twice": ("kernel margin", repeated("rows", "coef", "multipliers")),
    "support rows of a machine twice": ("kernel svm", repeated("rows", "multipliers")),
    "support rows of a margin twice": ("margin", repeated("rows", "multipliers")),
    "a multiplier below 0": ("margin", put("witness", "multipliers", 0, value=-1.0)),
    "a row beyond int64": ("margin", put("witness", "rows", 0, value=10**40)),
    "a tolerance of 1": ("kernel svm", put("statement", "tolerance", value=1)),
    "a tolerance of 1e9": ("logistic, ridge", put("tolerance", value=1e9)),
    "-1e9 as a bound": ("kernel svm", put("statement", "dual", value=-1e9)),
    "-1e9 as an upper bound": ("margin", put("statement", "upper", value=-1e9)),
    "-1e9 as an objective": ("logistic, ridge", put("statement", "primal", value=-1e9)),
    "-1e9 updates": ("perceptron", put("statement", "bound", value=-1e9)),
    "weights all 0 that converged": (
        "perceptron",
        also(
            put("witness", "coef", value=[0.0] * 3),
            put("statement", "updates", value=None),
            put("witness", "history", value=None),
        ),
    ),
    "weights all 0 of a kernel that converged": (
        "kernel perceptron",
        also(
            put("witness", "coef", value=[0.0] * 10),
            put("statement", "updates", value=None),
            put("witness", "history", value=None),
        ),
    ),
    "updates where nothing was wrong": ("perceptron, batch", put("statement", "updates", value=85)),
    "one batch update more": (
        "perceptron, batch",
        lambda d: d["statement"].update(updates=d["statement"]["updates"] + 1),
    ),
    "updates on a row that is right": (
        "perceptron",
        also(
            lambda d: d["witness"]["history"].append(0),
            lambda d: d["statement"].update(updates=len(d["witness"]["history"])),
        ),
    ),
    "a history that is null": ("perceptron", invented),
    "a history that is null, of a kernel": ("kernel perceptron", put("witness", "history", value=None)),
    "a batch run with invented weights and a wide radius": (
        "perceptron, batch stopped",
        also(put("statement", "radius", value=1e300), put("witness", "coef", 0, value=5.0)),
    ),
    "a rate that overflows": (
        "perceptron, stopped",
        also(put("statement", "rule", "rate", value=1e308), put("witness", "coef", 0, value=5.0)),
    ),
    "earlier updates beyond every rounding bound": (
        "perceptron, margin",
        also(put("statement", "earlier", value=2**53), put("statement", "bound", value=3.0)),
    ),
    "squared hinge of numbers": ("squared, ridge", put("statement", "loss", value="squared hinge")),
    "squared hinge without labels": (
        "squared hinge",
        also(put("data", "labels", value=[]), put("data", "task", value="numbers"), put("data", "counts", value=[9])),
    ),
    "a generative sign": ("generative", lambda d: d["witness"]["coef"][0].__setitem__(0, -d["witness"]["coef"][0][0])),
    "a generative weight altered beyond its error": (
        "generative, several",
        lambda d: d["witness"]["coef"][1].__setitem__(1, d["witness"]["coef"][1][1] * (1.0 + 1e-6)),
    ),
    "a generative intercept of other priors": ("generative", put("statement", "priors", value=[0.25, 0.75])),
    "generative priors that do not count": ("generative, priors", put("statement", "priors", value=None)),
    "quasi, of separable rows": ("separability, separable", vacuous_proof),
    "quasi, of separable rows of a likelihood": (
        "logistic, separated",
        lambda d: vacuous_proof(d["witness"]["existence"]),
    ),
    "gamma scale": ("kernel svm", put("data", "kernel", "gamma", value="scale")),
    "a kernel of one's own": ("kernel svm", put("data", "kernel", value={"name": "own"})),
    "a kernel of linear scores": ("margin", put("data", "kernel", value={"name": "linear"})),
    "no kernel": ("kernel margin", put("data", "kernel", value=None)),
    "a map of a run": (
        "perceptron",
        put("data", "map", value={"name": "polynomial", "columns": 2, "degree": 1, "products": True}),
    ),
    "weights that were not given": ("zero-one", put("data", "weights", value=True)),
    "weights that are not named": ("separability, overlap, weights", put("data", "weights", value=False)),
    "an intercept of a machine without one": ("kernel svm", put("data", "intercept", value=False)),
    "an objective and a scale of 0": (
        "logistic, ridge",
        also(
            put("statement", "primal", value=0), put("statement", "scale", value=0), put("statement", "dual", value=0)
        ),
    ),
    "another verdict": ("perceptron", put("kind", value="margin")),
}


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_is_checked(name: str, tmp_path: Path) -> None:
    case, forge = FIELDS[name]
    refused(of(case, forge), tmp_path)


def test_a_column_is_aliased_only_by_a_number() -> None:
    mutation = of("separability, overlap, aliased", aliased_by_zero)
    said, certificate = outcome(mutation)
    assert said == "proved"
    assert certificate.coefficient_status["intercept"] == "finite"


@pytest.mark.parametrize("word", ["verdict", "claim"])
@pytest.mark.parametrize("name", names()[::3])
def test_altered_words_are_refused(name: str, word: str) -> None:
    document = {**honest_case(name).certificate, word: "altered"}
    with pytest.raises(CertificateError, match=f"{word} does not follow from the statement"):
        certificate_from_dict(document)


def test_a_false_alias_of_the_wrong_column_is_refused() -> None:
    twice = np.column_stack([X, X[:, 1]])
    document = json.loads(sx.LinearRegression().fit(twice, NUMBERS).certificate_.to_json())
    coef = np.linalg.lstsq(np.column_stack([np.ones(10), X[:, 1]]), NUMBERS, rcond=None)[0]
    document["witness"].update(coef=[coef[0], 0.0, coef[1], 0.0], aliased=[1], relations=[], independent=None)
    residuals = NUMBERS - coef[0] - coef[1] * X[:, 1]
    document["statement"].update(rss=float(residuals @ residuals), relative_excess=0.0)
    assert outcome(Mutation("wrong column", json.dumps(rendered(document)), twice, NUMBERS, None))[0] != "proved"


# False optima


def optimum_of(estimator: Any, rows: Any, y: Any) -> dict[str, Any]:
    """Return the certificate of a fit as JSON values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(json.loads(estimator.fit(rows, y).certificate_.to_json()))


def assert_refused_optimum(
    document: dict[str, Any], rows: Any, y: Any, coef: Any, least_gap: float, folder: Path
) -> None:
    """Assert that coefficients are not proved to be optimal, whichever columns are said to be aliased or held.

    They are above the minimum by `least_gap` or more, which the judge confirms of each forgery.
    """
    counted, radii = judge.matched(document["data"], rows, y, None), np.full_like(coef, 1e9).tolist()
    variants: list[tuple[Any, list[int], list[Any]]] = [(None, [], []), (radii, [], [])]
    variants += [(radii, [j], [{str((j + 1) % len(coef)): "1"}]) for j in range(len(coef))]
    for stated_radii, aliased, relations in variants:
        forgery = copy.deepcopy(document)
        part = forgery
        if forgery["kind"] == "likelihood":
            part = forgery["witness"]["optimality"]
            forgery["witness"]["existence"] = None if stated_radii else document["witness"]["existence"]
        part["witness"].update(coef=np.asarray(coef).tolist(), relations=relations)
        part["statement"].update(radii=stated_radii, held=[], aliased=aliased)
        restate(part, counted, 1e-9)
        assert judge.fault(forgery, rows, y), "the forgery is true"
        assert judge.optimum(dependence.objective_part(forgery), counted).gap >= least_gap
        mutation = Mutation("false optimum", json.dumps(rendered(forgery)), rows, y, None)
        if stated_radii and not aliased:
            assert refused(mutation, folder) == "not proved"
        else:
            assert outcome(mutation)[0] != "proved"


def nearly_equal_columns(seed: int, dependence: float) -> tuple[Any, Any]:
    """Return columns x and x + z/dependence, and labels that follow x and z."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, 24))
    y = np.where(x + 2.0 * z + rng.logistic(size=24) > 0, "yes", "no")
    return np.column_stack([x, x + z / dependence]), y


@pytest.mark.parametrize(
    ("dependence", "strength"), [(1e6, 0.0), (1e9, 0.0), (1e12, 0.0), (1e14, 0.0), (1e6, 1e-22), (1e9, 1e-22)]
)
def test_an_optimum_without_a_dependent_column_is_refused(dependence: float, strength: float, tmp_path: Path) -> None:
    """The optimum of x alone, 0.66 or so, where x and z reach 0.4: the gradient of the other column is 1e-9."""
    rows, y = nearly_equal_columns(5, dependence)
    document = optimum_of(sx.LogisticRegression(strength=strength), rows, y)
    best = oracles.minimum("logistic", rows[:, :1], y).argmin
    coef = np.array([*(best or ()), 0.0], dtype=np.float64)
    assert_refused_optimum(document, rows, y, coef, 0.1, tmp_path)


@pytest.mark.parametrize("power", [20, 32, 40])
def test_a_column_far_from_0_is_not_aliased_with_the_intercept(power: int, tmp_path: Path) -> None:
    """An offset of 2^32: the sum of squares of the mean is 1,000 times that of the line."""
    rng = np.random.default_rng(6)
    x = rng.integers(-(2**8), 2**8, 40) / 64.0
    rows, y = (x + 2.0**power)[:, np.newaxis], 3.0 * x + 0.2 * rng.normal(size=40)
    document = optimum_of(sx.LinearRegression(), rows, y)
    assert_refused_optimum(document, rows, y, [float(y.mean()), 0.0], 1.0, tmp_path)
    document["witness"].update(coef=[float(y.mean()), 0.0], relations=[{"0": str(2**power)}])
    document["statement"].update(aliased=[1], held=[], radii=[1e-9, 0.0])
    restate(document, judge.matched(document["data"], rows, y, None), 1e-9)
    assert refused(Mutation("alias", json.dumps(rendered(document)), rows, y, None), tmp_path) == "not proved"
    document["statement"].update(excess=1e9, relative_excess=1e9)
    assert "rank" in judge.fault(document, rows, y)
    assert refused(Mutation("alias", json.dumps(rendered(document)), rows, y, None), tmp_path) == "not proved"


@pytest.mark.parametrize("dependence", [1.0, 1e9])
def test_separable_rows_have_no_least_value(dependence: float, tmp_path: Path) -> None:
    """The optimum of x alone, where x and z separate the classes: the infimum is 0, and no coefficients reach it."""
    rng = np.random.default_rng(7)
    x, z = rng.normal(size=(2, 24))
    rows, y = np.column_stack([x, x + z / dependence]), np.where(z > 0, "yes", "no")
    assert oracles.separability_verdict(rows, y) == "separable"
    document = optimum_of(sx.LogisticRegression(), rows, y)
    best = oracles.minimum("logistic", rows[:, :1], y).argmin
    assert_refused_optimum(document, rows, y, np.array([*(best or ()), 0.0], dtype=np.float64), 0.5, tmp_path)


def test_equal_columns_are_not_aliased_under_a_penalty(tmp_path: Path) -> None:
    """One of two equal columns dropped costs more: with a ridge of 0.1, half of the coefficient on each is better."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=20)
    rows, y = np.column_stack([x, x]), np.where(x + 0.3 * rng.normal(size=20) > 0, "yes", "no")
    document = optimum_of(sx.LogisticRegression(strength=0.1), rows, y)
    best = oracles.minimum("logistic", rows[:, :1], y, l2=0.1).argmin
    coef = np.array([*(best or ()), 0.0], dtype=np.float64)
    assert_refused_optimum(document, rows, y, coef, 0.01, tmp_path)
    document["witness"].update(coef=coef.tolist(), relations=[{"1": "1"}])
    document["statement"].update(aliased=[2], radii=[1.0, 1.0, 0.0])
    restate(document, judge.matched(document["data"], rows, y, None), 1e-9)
    refused(Mutation("alias", json.dumps(rendered(document)), rows, y, None), tmp_path)


def test_a_class_of_a_softmax_is_no_reference_under_a_penalty(tmp_path: Path) -> None:
    """Coefficients of one class are 5, and those of the others as much larger: no probability changes."""
    rng = np.random.default_rng(8)
    rows, y = rng.normal(size=(30, 1)), np.array(["a", "b", "c"])[rng.integers(0, 3, 30)]
    document = optimum_of(sx.LogisticRegression(strength=0.1), rows, y)
    coef = np.array(document["witness"]["coef"])
    coef[1] += 5.0 - coef[1, 0]
    assert_refused_optimum(document, rows, y, coef, 1.0, tmp_path)


def test_a_gap_is_relative_to_the_variance_of_the_targets(tmp_path: Path) -> None:
    """Targets near 1e9: a gap of 5,000 is 1e-14 of the mean square, and not optimal."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(40, 1))
    y = 1e9 + rows[:, 0] + rng.normal(size=40)
    for strength in (0.0, 1e-6):
        document = optimum_of(sx.LinearRegression(strength=strength), rows, y)
        coef = np.array(document["witness"]["coef"]) + np.array([100.0, 0.0])
        assert_refused_optimum(document, rows, y, coef, 4999.0, tmp_path)
        document["witness"]["coef"] = coef.tolist()
        restate(document, judge.matched(document["data"], rows, y, None), 1e-9)
        document["statement"].update({"excess": 1e9} if strength == 0.0 else {"gap": 1e9}, radii=None)
        assert refused(Mutation("mean", json.dumps(rendered(document)), rows, y, None), tmp_path) == "not proved"


def test_a_residual_that_rounds_to_0_is_not_0(tmp_path: Path) -> None:
    """0.1 · 3 is not the float 0.3: the sum of squares is 7.7e-34, whatever else is stated."""
    rows, y = np.array([[0.1]]), np.array([0.3])
    document = optimum_of(sx.LinearRegression(fit_intercept=False), rows, y)
    document["witness"]["coef"] = [3.0]
    for rss, said in ((0.0, "not proved"), (1e-40, "not proved"), (1.0, "proved")):
        document["statement"].update(rss=rss, excess=1.0, relative_excess=1e30, radii=None)
        assert bool(judge.fault(document, rows, y)) == (said != "proved")
        mutation = Mutation("residual", json.dumps(rendered(document)), rows, y, None)
        assert outcome(mutation)[0] == said
        assert (standalone_status(mutation, tmp_path) == 0) == (said == "proved")


@pytest.mark.parametrize("column", [np.full(10, 0.1), np.where(OVERLAP == "yes", 0.1, 0.7), np.full(10, 2.0**32)])
@pytest.mark.parametrize("weight", [0.0, 1.0, -1e8, 1e300])
def test_a_generative_class_without_variance_proves_no_weight(column: Any, weight: float, tmp_path: Path) -> None:
    forge = put("witness", "coef", 0, 1, value=weight)
    refused(of("generative", forge, X=np.column_stack([X[:, 0], column])), tmp_path)


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**-10])
def test_a_generative_variance_in_the_last_place_does_not_hide_a_weight(unit: float, tmp_path: Path) -> None:
    rows = np.column_stack([X[:, 0], 2.0**32 + unit * (np.arange(10) % 3)])
    document = json.loads(sx.GaussianGenerativeClassifier().fit(rows, OVERLAP).certificate_.to_json())
    honest = document["witness"]["coef"][0][1]
    assert outcome(Mutation("honest", json.dumps(document), rows, OVERLAP, None))[0] == "proved"
    for factor in (-1.0, 0.0, 1.0 + 1e-6, 2.0):
        document["witness"]["coef"][0][1] = honest * factor
        refused(Mutation("forged", json.dumps(rendered(document)), rows, OVERLAP, None), tmp_path)


@pytest.mark.filterwarnings("ignore")
def test_tiny_weights_do_not_hide_rounding() -> None:
    """The exact product of the last row with the weights is below 0, that of floats above."""
    rng, tried = np.random.default_rng(0), []
    w, row = np.ones(3), np.ones(3)
    while not tried or not tried[-1] < 0 < float(row @ w):
        w, row = rng.integers(1, 1000, 3) / 8.0, rng.normal(size=3)
        row[2] = -(row[0] * w[0] + row[1] * w[1]) / w[2]
        tried.append(sum(Fraction(a) * Fraction(b) for a, b in zip(row.tolist(), w.tolist(), strict=True)))
    rows, y = np.array([[1.0, 0.0, 0.0], row, [-1.0, 0.0, 0.0]]), np.array([1, 1, -1])
    document = json.loads(sx.Perceptron(fit_intercept=False, max_passes=5).fit(rows, y).certificate_.to_json())
    document["statement"].update(updates=None, converged=True, bound=None, margin=None)
    document["witness"].update(coef=(w * 2.0**-560).tolist(), history=None, separator=None)
    assert outcome(Mutation("tiny weights", json.dumps(rendered(document)), rows, y, None))[0] == "not proved"


# Work and hangs


def polynomial(**values: Any) -> dict[str, Any]:
    return {"name": "polynomial", "columns": 2, "degree": 10**9, "products": True, **values}


WORK: dict[str, tuple[str, Forged, set[str]]] = {
    "batch updates": ("perceptron, batch", put("statement", "updates", value=2**53), {"beyond limits", "not proved"}),
    "batch updates of an endless run": (
        "perceptron, batch stopped",
        put("statement", "updates", value=2**53),
        {"beyond limits"},
    ),
    "a map of degree 1e9": ("separability, separable, mapped", put("data", "map", value=polynomial()), {"malformed"}),
    "powers of degree 1e9": (
        "separability, separable, mapped",
        put("data", "map", value=polynomial(products=False)),
        {"malformed"},
    ),
    "a map of 1e9 columns": (
        "separability, separable, mapped",
        also(put("data", "map", value=polynomial(columns=10**9)), put("data", "width", value=10**9)),
        {"malformed"},
    ),
    "a kernel of degree 1e9": (
        "kernel perceptron, polynomial",
        put("data", "kernel", "degree", value=10**9),
        {"beyond limits"},
    ),
    "a kernel of degree 1e400": (
        "kernel margin, polynomial",
        put("data", "kernel", "degree", value=10**400),
        {"beyond limits", "malformed"},
    ),
    "2^53 columns, one of them dropped": (
        "logistic",
        also(put("data", "width", value=2**53 - 1), put("data", "dropped", value=[0])),
        {"malformed"},
    ),
    "2^53 mistakes": ("zero-one", put("statement", "lower", value=2**53), {"not proved"}),
    "2^53 rays": ("separability, quasi", put("statement", "n_left", value=2**53), {"not proved"}),
    "2^53 rows": ("margin", put("data", "rows", value=2**53), {"malformed"}),
    "a bound of 1e308": ("perceptron", put("statement", "bound", value=1e308), {"not proved"}),
}


@pytest.mark.parametrize("name", WORK)
def test_work_is_bounded_before_it_starts(name: str, tmp_path: Path) -> None:
    case, forge, allowed = WORK[name]
    assert refused(of(case, forge), tmp_path) in allowed


@pytest.mark.parametrize("name", ["perceptron, stopped", "kernel perceptron, stopped"])
@pytest.mark.parametrize("radius", [1e160, sys.float_info.max])
def test_a_radius_whose_square_is_beyond_floats(name: str, radius: float, tmp_path: Path) -> None:
    """Every row is within it, and no bound is claimed."""
    larger = of(name, put("statement", "radius", value=radius))
    assert outcome(larger)[0] == "proved"
    assert standalone_status(larger, tmp_path) == 0


@pytest.mark.parametrize("value", [5e-324, sys.float_info.max])
def test_multipliers_whose_ratio_is_beyond_floats(value: float, tmp_path: Path) -> None:
    """The rounded bound on the exact multipliers fails; exact arithmetic decides."""
    place = ("witness", "existence", "witness", "proof", "multipliers", 0)
    changed = of("logistic, quasi", put(*place, value=value))
    said, status = outcome(changed)[0], standalone_status(changed, tmp_path)
    assert (said, status) == ("proved", 0)


def test_a_polynomial_map_of_many_columns_is_beyond_limits() -> None:
    rows = np.ones((4, 30))
    data = json.loads(sx.check_separability(rows * np.arange(4)[:, np.newaxis], [0, 0, 1, 1]).to_json())
    data["data"]["map"] = polynomial(columns=30, degree=8)
    data["witness"].update(weights=None, proof=None, divergence=None)
    data["statement"].update(n_left=4, undecided=True)
    assert (
        outcome(Mutation("map", json.dumps(rendered(data)), rows, np.array([0, 0, 1, 1]), None))[0] == "beyond limits"
    )


@pytest.mark.parametrize("matrix", [np.zeros((10, 10)), -GRAM, np.where(np.eye(10), 0.0, GRAM), GRAM * 1e307])
def test_a_matrix_that_is_no_inner_product_ends_at_once(matrix: Any) -> None:
    case = honest_case("kernel svm, precomputed")
    assert outcome(Mutation("matrix", json.dumps(case.certificate), matrix, case.y, None))[0] != "proved"


def test_rationals_of_many_digits_end_at_once() -> None:
    """Denominators without a common factor make sums of millions of digits."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(600, 3)), rng.integers(0, 2, 600)
    document = json.loads(sx.check_separability(rows, y).to_json())
    proof = document["witness"]["proof"]
    others = [place for place in range(600) if place not in proof["places"]]
    proof["places"] += others
    proof["multipliers"] += [f"1/{10**3990 + 2 * k + 1}" for k in range(len(others))]
    with limited(MOST_SECONDS):
        assert outcome(Mutation("digits", json.dumps(rendered(document)), rows, y, None))[0] in {
            "proved",
            "not proved",
            "beyond limits",
        }


# Control characters


@pytest.mark.parametrize("text", ["\x1b[2J\x1b[32mproved", "a\rproved", "\u202eproved", "\u0085proved", "a\x00"])
def test_control_characters_are_escaped(text: str) -> None:
    y = np.where(np.arange(10) % 2 == 0, "no", text).astype(object)
    separable = sx.check_separability(X, y, multiclass="one_vs_rest")
    shown = [separable.claim, *map(str, separable.verify(X, y[::-1]).checks)]
    document = copy.deepcopy(honest_case("zero-one").certificate)
    document["data"]["columns"] = [text, f"{text}2"]
    document["witness"]["subsystems"][0]["multipliers"][0] = "7/3"
    renamed = certificate_from_dict(rendered(document)).verify(X, honest_case("zero-one").y)
    assert not renamed
    shown += [separable.verdict, str(renamed), str(certificate_from_dict(document).verify(X[:, :1], OVERLAP))]
    with pytest.raises(SeparatrixError) as wrong:
        certificate_from_dict({**document, text: 1})
    shown.append(str(wrong.value))
    for each in shown:
        assert all(character.isprintable() or character == "\n" for character in each), each


@pytest.mark.parametrize("shape", [(0, 2), (10, 0)])
def test_data_without_rows_or_columns(shape: tuple[int, int]) -> None:
    for case in cases():
        certificate: Certificate = certificate_from_dict(case.certificate)
        assert certificate.verify(np.zeros(shape), case.y[: shape[0]]).outcome == "not proved"
    with pytest.raises(ValueError, match="no row counts"):
        Data(rows=0, width=2, intercept=True, task="two", labels=("a", "b"), counts=(0, 0))


def test_no_columns_but_an_intercept() -> None:
    nothing = np.zeros((10, 0))
    certificate = Data(rows=10, width=0, intercept=True, task="two", labels=("no", "yes"), counts=(5, 5))
    assert certificate.n_scores == 1
    for case in (honest_case("zero-one"), honest_case("margin"), honest_case("logistic, ridge")):
        document = {**case.certificate, "data": {**case.certificate["data"], "width": 0}}
        assert outcome(Mutation("no columns", json.dumps(rendered(document)), nothing, case.y, None))[0] != "proved"


@pytest.mark.parametrize("y", [SEPARATED[:9], THREE, np.where(APART[:, 0] > 0, 1, 0), np.full(10, None), ["no"] * 10])
def test_other_labels_are_refused_with_words(y: Any) -> None:
    for name in ("perceptron", "margin", "firth", "logistic, separated", "generative", "kernel svm"):
        case = honest_case(name)
        checked = certificate_from_dict(case.certificate).verify(case.X, y)
        assert checked.outcome == "not proved"
        assert checked.checks[0].name == "data"


def test_a_case_is_not_that_of_another() -> None:
    """A witness moved to other data of the same shape proves nothing false."""
    for case in cases():
        other = honest_case("separability, separable")
        if case.X.shape == other.X.shape and case.y.dtype == other.y.dtype and not (case.X == other.X).all():
            assert not certificate_from_dict(case.certificate).verify(other.X, other.y, case.weights), case.name
