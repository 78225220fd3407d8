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
from problems import Problem

__all__ = ["COMPILE", "command", "perceptron"]

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
