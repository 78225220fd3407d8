"""liblinear, the C library, by its own Python package: without an intercept, which it would penalise.

Its own structure of the data is built before the timer starts, in its favour.
"""

from __future__ import annotations

import numpy as np
from liblinear.liblinearutil import parameter, problem, train
from scipy import sparse

from objective import Answer, Method, Task

__all__ = ["NAME", "PACKAGE", "methods"]

NAME, PACKAGE = "liblinear", "liblinear-official"
# The solver's number and name for each loss and each L1 ratio; the numbers are those of its manual.
SOLVERS = {
    ("logistic", 0.0): {0: "primal", 7: "dual"},
    ("logistic", 1.0): {6: "L1"},
    ("hinge", 0.0): {3: "dual"},
}
LADDERS = {
    0: (1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    3: (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    6: (1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    7: (1e-1, 1e-2, 1e-3, 1e-4, 1e-5),
}


def methods(task: Task) -> list[Method]:
    """Return its solvers of a task, none where it has none."""
    if task.intercept or len(task.strengths) > 1 or not sparse.issparse(task.problem.X):
        return []
    numbers = SOLVERS.get((task.loss, task.l1_ratio), {})
    rows = problem(task.problem.y, sparse.csr_matrix(task.problem.X)) if numbers else None
    return [_method(task, rows, number, name) for number, name in numbers.items()]


def _method(task: Task, rows: problem, number: int, name: str) -> Method:
    def run(tolerance: float) -> Answer:
        model = train(rows, parameter(f"-s {number} -c {task.C!r} -e {tolerance!r} -q"))
        coef = np.ctypeslib.as_array(model.w, (model.nr_feature,)).copy()
        return Answer.of(coef * model.label[0])  # the first label that it meets counts as positive

    return Method(f"{NAME} {name}", run, LADDERS[number])
