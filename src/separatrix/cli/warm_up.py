"""`separatrix warm-up`: loops are compiled beforehand, once per machine and release."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from separatrix.cli.flags import Json, say
from separatrix.cli.progress import Progress
from separatrix.errors import counted

if TYPE_CHECKING:
    from separatrix.families.options import Options

ROWS, COLUMNS = 40, 3  # of the data whose fits run every loop


def warm_up(as_json: Json = False) -> None:
    """Compile the loops of all learners, which large data would do when they are first used on this machine.

    Small data never need them. A new release compiles them again.

    Example: separatrix warm-up
    """
    from separatrix import jit

    compiled: list[str] = []
    began = time.perf_counter()
    with Progress("compiling") as progress, jit.warming(), jit.when_compiling(compiled.append):
        for stage in _fits():
            progress.stage(f"compiling, {counted(len(compiled), 'loop')} so far: {stage}")
    seconds = time.perf_counter() - began
    if as_json:
        say(json.dumps({"compiled": len(compiled), "seconds": seconds}))
    elif compiled:
        say(f"compiled {counted(len(compiled), 'loop')} in {seconds:.0f} s; commands on this machine now load them")
    else:
        say("nothing to compile: all loops are in the cache of this machine")


def _fits() -> Iterator[str]:
    """Fit small dense and sparse data by every learner that has loops; yield its name before that."""
    import numpy as np
    import scipy.sparse

    from separatrix.families.base import TrainingRows, fit_family
    from separatrix.fit.labels import find_classes

    generator = np.random.default_rng(0)
    dense = generator.normal(size=(ROWS, COLUMNS))
    y = dense @ np.arange(1.0, COLUMNS + 1.0) + generator.normal(size=ROWS)
    labels = y > 0.0
    for name, options, takes_sparse in _learners():
        yield name
        numbers = options.tasks == ("regression",)
        for X in (dense, np.asfortranarray(dense), scipy.sparse.csr_array(dense))[: 3 if takes_sparse else 1]:
            rows = TrainingRows(X, y) if numbers else TrainingRows(X, labels, find_classes(labels))
            fit_family(rows, options.checked())


def _learners() -> Iterator[tuple[str, Options, bool]]:
    """Yield names and options of fits that together run every loop, and whether they take sparse rows."""
    from separatrix.families import options as families

    yield "perceptron", families.PerceptronOptions(max_passes=5), True
    yield "kernel perceptron", families.KernelPerceptronOptions(max_passes=5), False
    yield "support vector machine", families.SVMOptions(solver="dual_coordinate", max_passes=5), True
    yield "kernel support vector machine", families.KernelSVMOptions(), False
    l1: dict[str, Any] = {"l1_ratio": 1.0, "strength": 0.01, "solver": "coordinate"}
    yield "lasso", families.LinearOptions(**l1), True
    yield "logistic regression with an L1 penalty", families.LogisticOptions(**l1), True
    ridge: dict[str, Any] = {"strength": 0.1, "max_passes": 5}
    yield "logistic regression, dual", families.LogisticOptions(solver="dual_coordinate", **ridge), True
    yield "stochastic logistic regression", families.LogisticOptions(solver="stochastic", **ridge), True
    yield "stochastic linear regression", families.LinearOptions(solver="stochastic", **ridge), True
