"""Certified minima of seven data sets (no intercept, C = 1): each solver that can work on them reaches each.

The references are ½‖w‖² + Σ loss, n times the one objective at strength 1/n.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from data import DATA, needs_data
from sklearn.datasets import load_svmlight_file

from separatrix.design.build import make_design
from separatrix.losses import Hinge, Logistic, Loss, SquaredHinge
from separatrix.penalties import L2
from separatrix.problem import Problem
from separatrix.solvers.base import Solver
from separatrix.solvers.dual_coordinate import DualCoordinate
from separatrix.solvers.newton import NewtonCG

FOLDER = DATA / "classification"
COLUMNS = {
    "heart_scale": ("heart_scale.libsvm.gz", 13),
    "a9a": ("a9a.libsvm.gz", 123),
    "w8a": ("w8a.libsvm.gz", 300),
    "agaricus": ("agaricus.train.libsvm.gz", 126),
    "rcv1_small": ("rcv1_small.train.libsvm.gz", 47236),
}
LOSSES: dict[str, Loss] = {"logistic_l2": Logistic(), "squared_hinge_l2": SquaredHinge(), "hinge_l2": Hinge()}
GAP = 1e-7  # relative, certified

pytestmark = [pytest.mark.slow, needs_data]


@cache
def read(name: str) -> tuple[Any, np.ndarray]:
    """Return the rows and labels of a set, prepared as its references were."""
    if name == "spambase":
        table = pd.read_parquet(FOLDER / "spambase.parquet")
        X = table.drop(columns="type").to_numpy(dtype=float)
        return (X - X.mean(axis=0)) / X.std(axis=0), np.where(table["type"] == "spam", 1.0, -1.0)
    if name == "newsgroups20_comp":
        return read_news()
    file, columns = COLUMNS[name]
    X, y = load_svmlight_file(str(FOLDER / file), n_features=columns)
    return X, np.where(y > 0.0, 1.0, -1.0)


def read_news() -> tuple[Any, np.ndarray]:
    stored = np.load(FOLDER / "newsgroups20_counts.npz")
    counts = stored["train_data"].astype(float), stored["train_indices"], stored["train_indptr"]
    X = sp.csr_array(counts, shape=(len(stored["y_train"]), int(stored["n_features"]))).log1p()
    X = sp.csr_array(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))[:, np.newaxis]))
    computing = np.char.startswith(stored["classes"], "comp.")
    return X, np.where(computing[stored["y_train"]], 1.0, -1.0)


def reference(name: str, key: str) -> float | None:
    entries = json.loads((FOLDER / "reference_optima.json").read_text(encoding="utf-8"))["entries"]
    found = next(entry for entry in entries if entry["name"] == name).get(key)
    return None if found is None else float(found["optimum"])


@pytest.mark.parametrize("name", [*COLUMNS, "spambase", "newsgroups20_comp"])
@pytest.mark.parametrize("key", LOSSES)
@pytest.mark.parametrize("solver", [DualCoordinate(), NewtonCG()], ids=lambda it: type(it).__name__)
def test_the_certified_minimum_is_reached(name: str, key: str, solver: Solver) -> None:
    (X, y), loss, optimum = read(name), LOSSES[key], reference(name, key)
    if optimum is None:
        pytest.skip(f"no {key} reference of {name}")
    if solver.needs.curvature and not loss.has_curvature:
        pytest.skip(f"the {loss.name} loss has no curvature")
    problem = Problem(make_design(X, intercept=False), y, loss, L2(1.0 / len(y)))
    for step in islice(solver.steps(problem, None), 200):
        objective, excess = step.facts["objective"], step.facts["excess"]
        if excess <= GAP * objective:
            break
    assert excess <= GAP * objective
    assert len(y) * objective == pytest.approx(optimum, rel=GAP)
    assert problem.value(step.coef) == pytest.approx(objective, rel=1e-12)
