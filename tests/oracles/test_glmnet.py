"""Paths and L1 fits against glmnet's problems solved in 200 bits, and against certified minima of larger sets."""

from __future__ import annotations

import csv
import gzip
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from data import DATA, needs_data, reference, references

from separatrix.design.build import make_design
from separatrix.fit.convex import ConvexOptions
from separatrix.fit.result import AtMost, Status
from separatrix.fit.run import run
from separatrix.losses import Logistic, Loss, Softmax, Squared
from separatrix.penalties import L1, make_penalty
from separatrix.problem import Problem
from separatrix.selection import trace_path
from separatrix.solvers.coordinate import Coordinate

pytestmark = pytest.mark.slow

OBJECTIVE = 1e-6  # relative; some 1e-11 is reached
COEFFICIENTS = 1e-6  # relative to the largest of the path
SCORES = 1e-5  # relative to the largest, or to 1; an elastic net's move by the root of the gap
FAMILIES: dict[str, Loss] = {"gaussian": Squared(), "binomial": Logistic(), "multinomial": Softmax()}
SPARSE = ("heart_scale", "a9a", "w8a", "agaricus", "rcv1_small")


def rows_of(truth: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return features and target: numbers, labels ±1 or classes."""
    with (DATA / "glmnet_refs" / truth["data_file"]).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[row[feature] for feature in truth["features"]] for row in rows], dtype=float)
    y = [row[truth["response"]] for row in rows]
    if truth["family"] == "gaussian":
        return X, np.array(y, dtype=float)
    if truth["family"] == "binomial":
        return X, np.where(np.array(y) == max(y), 1.0, -1.0)
    return X, np.array([truth["classes"].index(label) for label in y])


def true_coefs(truth: dict[str, Any], scale: np.ndarray) -> np.ndarray:
    """Return the reference's coefficients in columns divided by their scale, the intercept first where there is one."""
    if truth["family"] == "multinomial":
        beta = np.stack([truth["beta_by_class"][label] for label in truth["classes"]], axis=-1)
        return np.concatenate([np.array(truth["a0"]).T[:, np.newaxis], beta * scale[:, np.newaxis]], axis=1)
    beta = np.array(truth["beta"]) * scale
    return np.column_stack([truth["a0"], beta]) if truth["intercept"] else beta


@needs_data
@pytest.mark.parametrize("name", references("glmnet_refs"))
def test_paths_are_glmnets(name: str) -> None:
    truth = reference("glmnet_refs", name)
    X, y = rows_of(truth)
    scale = X.std(axis=0) if truth["standardize"] else np.ones(X.shape[1])
    # glmnet: lambda · (alpha |b| + (1 − alpha)/2 · b² / sd_y), sd_y only of the gaussian family
    absolute = truth["alpha"]
    quadratic = (1.0 - absolute) / (truth["sd_y"] if truth["family"] == "gaussian" else 1.0)
    strengths, l1_ratio = np.array(truth["lambda"]) * (absolute + quadratic), absolute / (absolute + quadratic)
    loss = FAMILIES[truth["family"]]
    design = make_design(X / scale, intercept=truth["intercept"])
    tol = 1e-11 if l1_ratio == 1.0 else 1e-14
    path = trace_path(Problem(design, y, loss), l1_ratio, strengths=strengths, options=ConvexOptions(tol=tol))
    best = true_coefs(truth, scale)
    for place, strength in enumerate(strengths):
        least = Problem(design, y, loss, make_penalty(strength, l1_ratio)).value(best[place])
        assert path.objectives[place] == pytest.approx(least, rel=OBJECTIVE)
        assert path.gaps[place] <= 10.0 * tol * abs(least)
        scores, best_scores = (design.matvec(coef) for coef in (path.coefs[place], best[place]))
        if truth["family"] == "multinomial":  # free up to a constant for each row
            scores, best_scores = (eta - eta.mean(axis=1, keepdims=True) for eta in (scores, best_scores))
        np.testing.assert_allclose(scores, best_scores, atol=SCORES * max(1.0, np.abs(best_scores).max()))
    columns = slice(int(truth["intercept"]), None)
    largest = np.abs(best[:, columns]).max()
    np.testing.assert_allclose(path.coefs[:, columns], best[:, columns], atol=COEFFICIENTS * largest)


def libsvm(path: str, columns: int) -> tuple[sp.csr_array, np.ndarray]:
    labels, data, places, starts = [], [], [], [0]
    with gzip.open(DATA / "classification" / path, "rt") as file:
        for line in file:
            label, *entries = line.split()
            labels.append(1.0 if float(label) > 0.0 else -1.0)
            pairs = [entry.split(":") for entry in entries]
            places += [int(column) for column, _ in pairs]
            data += [float(value) for _, value in pairs]
            starts.append(len(data))
    shift = int(min(places) > 0)  # columns are counted from 1, unless there is a column 0
    return sp.csr_array((data, np.array(places) - shift, starts), shape=(len(labels), columns)), np.array(labels)


def certified(name: str) -> dict[str, Any]:
    entries = reference("classification", "reference_optima")["entries"]
    return next(entry for entry in entries if entry["name"] == name)


def least_by_coordinate(X: Any, y: np.ndarray) -> float:
    """Return the least ‖w‖₁ + Σ loss (C = 1) by a fit of relative gap 1e-9."""
    n = len(y)
    problem = Problem(make_design(X, intercept=False), y, Logistic(), L1(1.0 / n))
    walk = run(problem, Coordinate(), [AtMost("relative_excess", 1e-9, Status.OPTIMAL)])
    assert problem.value(walk.coef) == pytest.approx(walk.facts["objective"], rel=1e-12)
    return n * walk.facts["objective"]


@needs_data
@pytest.mark.parametrize("name", SPARSE)
def test_l1_optima_of_sparse_sets(name: str) -> None:
    truth = certified(name)
    file = f"{name}.train" if name in {"agaricus", "rcv1_small"} else name
    X, y = libsvm(f"{file}.libsvm.gz", truth["p"])
    assert least_by_coordinate(X, y) == pytest.approx(truth["logistic_l1"]["optimum"], rel=1e-7)


@needs_data
def test_l1_optimum_of_a_dense_set() -> None:
    duckdb = pytest.importorskip("duckdb")
    file = DATA / "classification" / "spambase.parquet"
    columns = duckdb.sql(f"select * from '{file}'").fetchnumpy()
    y = np.where(columns.pop("type") == "spam", 1.0, -1.0)
    X = np.column_stack([np.asarray(column, dtype=float) for column in columns.values()])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert least_by_coordinate(X, y) == pytest.approx(certified("spambase")["logistic_l1"]["optimum"], rel=1e-7)


@needs_data
def test_l1_optimum_of_text() -> None:
    arrays = np.load(DATA / "classification" / "newsgroups20_counts.npz", allow_pickle=True)
    shape = (len(arrays["train_indptr"]) - 1, int(arrays["n_features"]))
    X = sp.csr_array((np.log1p(arrays["train_data"]), arrays["train_indices"], arrays["train_indptr"]), shape=shape)
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    X = sp.csr_array(sp.diags_array(1.0 / lengths) @ X)
    comp = [place for place, name in enumerate(arrays["classes"]) if str(name).startswith("comp.")]
    y = np.where(np.isin(arrays["y_train"], comp), 1.0, -1.0)
    least = certified("newsgroups20_comp")["logistic_l1"]["optimum"]
    assert least_by_coordinate(X, y) == pytest.approx(least, rel=1e-7)
