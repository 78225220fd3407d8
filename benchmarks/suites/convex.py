"""The convex family beside its peers: P1, P2 and P4 to P8 of the performance targets, each a contest at equal gap."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import problems
from objective import Task
from problems import Problem
from report import Measurement
from suites.contest import PACKAGES, Contest, hold

__all__ = ["MEASUREMENTS", "PACKAGES"]

STRENGTHS, SMALLEST, SMALLEST_WIDE = 100, 1e-3, 1e-2  # of a path; the last of them relative to the first
WITHOUT_INTERCEPT = "no intercept, since liblinear would penalise it"
PATH_WITHOUT_INTERCEPT = "no intercept, since the peers' paths have none"


def scaled(quick: bool) -> Measurement:
    """P1: a tall dense logistic fit."""
    problem = problems.logistic(20_000 if quick else 1_000_000)
    question = f"Logistic loss, L2, strength 1/n: {problem.about}."
    return hold(Contest("P1", question, _one(problem, "logistic"), 1e-8, 5.0, passes=8, memory=0.2, repeats=3), quick)


def unscaled(quick: bool) -> Measurement:
    """P2: the same in units of all sizes."""
    problem = problems.logistic(2_000 if quick else 200_000, unscaled=True)
    question = f"Logistic loss, L2, strength 1/n: {problem.about}."
    return hold(Contest("P2", question, _one(problem, "logistic"), 1e-8, 5.0, passes=20), quick)


def softmax(quick: bool) -> Measurement:
    """P4: the digits."""
    try:
        problem = problems.digits(500 if quick else None)
    except LookupError as reason:
        return Measurement("P4", "Softmax of the digits.", skipped=str(reason))
    question = f"Softmax, L2, strength 1/n: {problem.about}."
    return hold(Contest("P4", question, _one(problem, "softmax"), 1e-4, 3.0, sharper=0.1, repeats=1), quick)


def text_l2(quick: bool) -> Measurement:
    """P5: a text, L2."""
    problem = _text(quick)
    question = f"Logistic loss, L2, strength 1/n, {WITHOUT_INTERCEPT}: {problem.about}."
    return hold(Contest("P5", question, _one(problem, "logistic", intercept=False), 1e-6, 2.0), quick)


def text_l1(quick: bool) -> Measurement:
    """P6: a text, L1."""
    problem = _text(quick)
    question = f"Logistic loss, L1, strength 1/n, {WITHOUT_INTERCEPT}: {problem.about}."
    task = _one(problem, "logistic", l1_ratio=1.0, intercept=False)
    return hold(Contest("P6", question, task, 1e-6, 1.5), quick)


def path(name: str, l1_ratio: float, quick: bool) -> Measurement:
    """P7: a path of a penalty on data that are tall, wide or sparse."""
    problem, penalty = PATH_DATA[name](quick), "lasso" if l1_ratio == 1.0 else "elastic net"
    task = _path_task(problem, l1_ratio)
    question = (
        f"Squared loss, {penalty} (l1_ratio {l1_ratio:g}), {len(task.strengths)} strengths down to"
        f" {task.strengths[-1] / task.strength:g} of the largest, {PATH_WITHOUT_INTERCEPT}: {problem.about}."
    )
    title = f"P7-{name}-{penalty.replace(' ', '-')}"
    return hold(Contest(title, question, task, 1e-6, 1.5, repeats=3), quick)


def svm(name: str, gap: float, quick: bool) -> Measurement:
    """P8: the support vector machine of a text, at a gap."""
    problem = _text(quick)
    question = f"Hinge loss, L2, strength 1/n, relative gap {gap:g}, {WITHOUT_INTERCEPT}: {problem.about}."
    return hold(Contest(name, question, _one(problem, "hinge", intercept=False), gap, 1.5), quick)


def _one(problem: Problem, loss: str, *, l1_ratio: float = 0.0, intercept: bool = True) -> Task:
    """Return the task at strength 1/n, scikit-learn's C of 1."""
    return Task(problem, loss, (1.0 / problem.n,), l1_ratio, intercept)


def _path_task(problem: Problem, l1_ratio: float) -> Task:
    """Return the task at strengths from the largest that matters downwards."""
    largest = float(np.max(np.abs(problem.X.T @ problem.y))) / problem.n / l1_ratio
    rows, columns = problem.X.shape
    strengths = largest * np.geomspace(1.0, SMALLEST if rows > columns else SMALLEST_WIDE, STRENGTHS)
    return Task(problem, "squared", tuple(strengths.tolist()), l1_ratio, intercept=False)


def _text(quick: bool) -> Problem:
    return problems.text_part(500) if quick else problems.text()


PATH_DATA: dict[str, Callable[[bool], Problem]] = {
    "tall": lambda quick: problems.regression(*((5_000, 50) if quick else (50_000, 200))),
    "wide": lambda quick: problems.regression(*((200, 500) if quick else (2_000, 5_000))),
    "sparse": lambda quick: problems.text_part(300) if quick else problems.text(),
}
MEASUREMENTS: dict[str, Callable[[bool], Measurement]] = {
    "P1": scaled,
    "P2": unscaled,
    "P5": text_l2,
    "P6": text_l1,
    **{f"P7-{name}-lasso": partial(path, name, 1.0) for name in PATH_DATA},
    **{f"P7-{name}-elastic-net": partial(path, name, 0.5) for name in PATH_DATA},
    "P8": partial(svm, "P8", 1e-4),
    "P8-sharp": partial(svm, "P8-sharp", 1e-6),
    "P4": softmax,  # the last, as its peers take minutes
}
