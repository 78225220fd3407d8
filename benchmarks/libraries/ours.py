"""separatrix, as its users call it: the trace is on, the certificate is made."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import separatrix as sx
from measure import Contender
from objective import Answer, Method, Task
from problems import Problem

__all__ = ["COMPILE", "NAME", "command", "convex", "least_squares", "method", "perceptron", "separability", "verified"]

NAME = "separatrix"
MAX_PASSES = 10_000

# The seconds that a first large fit spends on machine code, dense or sparse by the argument: compiling or loading it.
COMPILE = """
import sys, time, warnings
import numpy as np
from scipy import sparse
from separatrix import Perceptron
warnings.simplefilter("ignore")
X = np.random.default_rng(0).standard_normal((100_000, 20))
y = np.where(X[:, 0] > 0.0, 1, -1)
X = sparse.csr_array(X) if sys.argv[1] == "sparse" else X
def fit():
    began = time.perf_counter()
    Perceptron(max_passes=1).fit(X, y)
    return time.perf_counter() - began
first = fit()
assert "numba" in sys.modules
print(first - fit())
"""


def perceptron(problem: Problem, max_passes: int) -> Contender:
    """Return fits of the perceptron, rows in turn, that end when no row is wrong or at `max_passes`."""

    def fit() -> Mapping[str, Any]:
        result = sx.Perceptron(max_passes=max_passes).fit(problem.X, problem.y).result_
        return {
            "epochs": result.facts["visits"] / problem.n,
            "passes": result.passes,
            "updates": result.facts["updates"],
            "walk": result.seconds,
            "epoch_seconds": np.diff(result.trace.steps["seconds"], prepend=0.0),
            "epoch_mistakes": result.trace.steps["mistakes"],
            "converged": result.status == "converged",
        }

    return fit


def command() -> str:
    """Return the path of the `separatrix` command of this environment; raise a LookupError where there is none."""
    beside = Path(sys.executable).with_name("separatrix")
    found = str(beside) if beside.exists() else shutil.which("separatrix")
    if found is None:
        raise LookupError("the command separatrix is not installed here")
    return found


def method(task: Task, tolerance: float) -> Method:
    """Return our way to do a task: the solver is chosen, the certified relative gap is the tolerance."""
    return Method(NAME, lambda asked: convex(task, asked), (tolerance,))


def convex(task: Task, tolerance: float) -> Answer:
    """Do a task; among the facts are lower bounds of the objective, one a strength, and the certified relative gap."""
    if task.loss == "squared":
        return _path(task, tolerance)
    options = {"strength": task.strength, "fit_intercept": task.intercept, "tol": tolerance, "max_passes": MAX_PASSES}
    model = (
        sx.LinearSVM(**options) if task.loss == "hinge" else sx.LogisticRegression(l1_ratio=task.l1_ratio, **options)
    )
    result = model.fit(task.problem.X, task.problem.y).result_
    facts = {
        "lower": np.array([result.objective - result.certificate.gap]),
        "certified": result.certificate.relative_gap,
        "walk": result.seconds,
        "solver": result.provenance["solver"].split(" ")[0],
    }
    return Answer.of(model.coef_, model.intercept_, passes=result.passes, facts=facts)


def _path(task: Task, tolerance: float) -> Answer:
    """Trace a path at the strengths of the task, without an intercept."""
    model = sx.LinearRegression(
        l1_ratio=task.l1_ratio, fit_intercept=task.intercept, tol=tolerance, max_passes=MAX_PASSES
    )
    found = sx.path(model, task.problem.X, task.problem.y, strengths=task.strengths)
    facts = {
        "lower": found.objectives - found.gaps,
        "certified": float(np.max(found.gaps / found.objectives)),
        "solver": "Coordinate",
    }
    return Answer.path(found.weights, passes=float(found.passes.sum()), facts=facts)


def least_squares(problem: Problem, covariance: str | None) -> Contender:
    """Return fits, each with its whole table of inference by a kind of covariance (None: no table)."""

    def fit() -> Mapping[str, Any]:
        model = sx.LinearRegression().fit(problem.X, problem.y)
        if covariance is not None:
            str(model.summary(covariance=covariance))
        return {"coef": model.coef_, "passes": model.result_.passes, "solver": model.least_squares_.method}

    return fit


def separability(problem: Problem) -> Contender:
    """Return verdicts with proof."""

    def check() -> Mapping[str, Any]:
        certificate = sx.check_separability(problem.X, problem.y)
        rows = 0 if certificate.proof is None else len(certificate.proof.places)
        return {"verdict": certificate.verdict, "rows": rows}

    return check


def verified(problem: Problem) -> Contender:
    """Return re-checks of a verdict from the data."""
    certificate = sx.check_separability(problem.X, problem.y)

    def verify() -> Mapping[str, Any]:
        assert certificate.verify(problem.X, problem.y)
        return {}

    return verify
