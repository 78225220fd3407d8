"""Learners in a kernel's space: the coefficients of the rows, update by update or block by block.

The kernel perceptron's run is the library's, and its record says on which row each update was; the coefficients in
between are the rates of the updates, added up by row. The SVM's are the steps of its solver, a block of few rows each.
"""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates.kernel_mistakes import KernelMistakesCertificate
from separatrix.certificates.kernel_optimality import caps_of
from separatrix.design import make_design
from separatrix.errors import counted
from separatrix.fit.kernel_perceptron import KernelPerceptronOptions, fit_kernel_perceptron
from separatrix.fit.one_vs_rest import BinaryTarget
from separatrix.fit.result import FitResult
from separatrix.fit.stopping import AtLeast, AtMost, Status, first_met
from separatrix.lab.session.history import Ending, Frame, Frames
from separatrix.lab.session.setting import Setting
from separatrix.lab.session.walks.perceptron import perceptron_options, run_words
from separatrix.solvers import KernelDual
from separatrix.solvers.kernel_dual import KernelDualState

__all__ = ["GAP", "kernel_fit", "kernel_perceptron_walk", "kernel_svm_walk"]

Floats = NDArray[np.float64]
GAP = 1e-6  # relative, at which the SVM's walk ends
MOST_HELD = 2**21  # coefficients of all frames together


def kernel_fit(setting: Setting) -> FitResult:
    """Return the library's fit of a kernel perceptron."""
    design = make_design(setting.points.X, intercept=False)
    limit = max(1, min(setting.pane.max_steps, MOST_HELD // len(setting.points)))
    options = KernelPerceptronOptions(
        perceptron_options(setting.pane, update="single", keep="last", start=None, max_updates=limit)
    )
    return fit_kernel_perceptron(setting.kernel_rows(), design, BinaryTarget(setting.y, (-1, 1)), options)


def kernel_perceptron_walk(setting: Setting) -> Frames:
    """Walk with a frame an update."""
    result = kernel_fit(setting)
    updates = result.trace.updates
    assert updates is not None
    rule, constant = perceptron_options(setting.pane).rule, float(setting.pane.fit_intercept)
    coef = np.zeros(len(setting.points))
    yield Frame(0, coef.copy())
    for k, row in enumerate(updates.row.tolist()):
        change = np.zeros(len(coef))
        change[row] = rule.rate_of(k + 1) * setting.y[row]
        coef = coef + change
        yield Frame(
            step=k + 1,
            coef=coef,
            intercept=constant * float(coef.sum()),
            row=row,
            score=float(updates.score[k]),
            mistake=True,
            change=change,
            rate=rule.rate_of(k + 1),
            updates=k + 1,
            visits=int(updates.visit[k]),
        )
    certificate = result.certificate
    assert isinstance(certificate, KernelMistakesCertificate)
    words = run_words(str(result.status), certificate.updates, certificate.bound)
    return Ending(str(result.status), words, result.message, certificate.bound, None, certificate)


def kernel_svm_walk(setting: Setting) -> Frames:
    """Walk with a frame a block of rows."""
    pane, n = setting.pane, len(setting.points)
    state = KernelDualState(setting.kernel_rows(), setting.y.copy(), caps_of(setting.strength, np.ones(n)))
    yield Frame(0, np.zeros(n))
    rules = (AtMost("gap", GAP, Status.OPTIMAL), AtLeast("stalled", 1, Status.STALLED))
    before, status, facts = np.zeros(n), None, {"gap": math.inf, "objective": math.inf, "support": 0.0}
    limit = min(pane.max_steps, MOST_HELD // n)
    for number, step in enumerate(islice(KernelDual(pane.block).steps(setting.problem_of_rows, state), limit), start=1):
        coef, facts = np.array(step.coef), dict(step.facts)
        yield Frame(number, coef, state.intercept, change=coef - before, updates=number, facts=facts)
        before, status = coef, first_met(rules, facts)
        if status is not None:
            break
    support = counted(int(facts["support"]), "support vector")
    words = f"objective {facts['objective']:.6g}, {support}"
    ended = status or Status.MAX_STEPS
    head = "optimal" if ended is Status.OPTIMAL else "stopped"
    return Ending(str(ended), f"{head}: {words}", f"{words}, relative gap {facts['gap']:.2g}")
