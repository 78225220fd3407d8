"""The lines of code that follow a learner up to a frame, by the library's own names; they end in w, or in c and b.

X and y are there already, X mapped. Estimators are used where one has the frame in its trace; else the solver itself,
a generator of steps, is asked for as many as the pane has made.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix.lab.session.history import Frame, History
from separatrix.lab.session.setting import Setting
from separatrix.lab.session.walks.descent import rate_of
from separatrix.lab.session.walks.perceptron import perceptron_options
from separatrix.lab.session.walks.visits import decay_of

__all__ = ["learner_lines"]

SOLVER_IMPORTS = [
    "from itertools import islice",
    "",
    "from separatrix.design import make_design",
    "from separatrix.problem import Problem",
]
# What fits the same in one call, to its end.
ESTIMATORS = {
    "lms": "sx.LMSClassifier(fit_intercept={intercept})",
    "lms_stochastic": 'sx.LMSClassifier(update="stochastic", fit_intercept={intercept})',
    "logistic_gradient": "sx.LogisticRegression(strength={strength!r}, fit_intercept={intercept})",
    "logistic_sgd": "sx.LogisticRegression(strength={strength!r}, fit_intercept={intercept})",
    "logistic_newton": 'sx.LogisticRegression(strength={strength!r}, fit_intercept={intercept}, solver="newton")',
    "svm": "sx.LinearSVM(strength={strength!r}, fit_intercept={intercept})",
    "svm_sgd": "sx.LinearSVM(strength={strength!r}, fit_intercept={intercept})",
    "lp": "sx.HalfspaceLP(fit_intercept={intercept})",
    "max_margin": "sx.MaxMarginClassifier(fit_intercept={intercept})",
    "kernel_svm": "sx.KernelSVM(kernel=kernel, strength={strength!r})",
}


def learner_lines(history: History, frame: Frame) -> list[str]:
    """Return the code of a pane's learner up to a frame."""
    return _WRITERS[history.pane.learner](history, frame)


def _in_one_call(setting: Setting) -> str:
    form = ESTIMATORS[setting.pane.learner]
    return form.format(intercept=setting.pane.fit_intercept, strength=setting.strength)


def _perceptron(history: History, frame: Frame) -> list[str]:
    plain = perceptron_options(history.pane).plain()
    names = ("update", "order", "rate", "schedule", "start", "tie", "keep", "margin", "max_updates", "max_passes")
    options = [f"    {name}={plain[name]!r}," for name in names]
    fitted = [f"    fit_intercept={history.pane.fit_intercept},", f"    random_state={history.pane.seed},"]
    which = f"weights[{frame.updates - 1}]" if frame.updates else "start"
    return [
        "model = sx.Perceptron(",
        *options,
        *fitted,
        ").fit(X, y)",
        "print(model.result_.message)",
        f"w = model.trace_.updates.{which}",
    ]


def _problem(setting: Setting, rows: str = "") -> list[str]:
    loss = type(setting.loss).__name__
    penalty = f", sx.penalties.L2({setting.strength!r})" if setting.strength else ""
    design = f"make_design(X{rows}, intercept={setting.pane.fit_intercept})"
    return [f"problem = Problem({design}, y{rows}, sx.losses.{loss}(){penalty})"]


def _start(setting: Setting) -> str:
    return f"start = np.array({setting.start(np.random.default_rng(setting.pane.seed)).tolist()!r})"


def _ended(setting: Setting, solver: str, start: str, step: int) -> list[str]:
    return [
        f"w = next(islice({solver}.steps(problem, {start}), {step}, None)).coef",
        f"# In one call, to its end: {_in_one_call(setting)}.fit(X, y)",
    ]


def _descent(history: History, frame: Frame) -> list[str]:
    setting, learner = history.setting, history.pane.learner
    name = {"logistic_newton": "Newton", "svm": "InteriorPoint"}.get(learner, "Gradient")
    solver = f"Gradient(rate={rate_of(setting)!r})" if name == "Gradient" else f"{name}()"
    imports = [*SOLVER_IMPORTS, f"from separatrix.solvers import {name}", ""]
    if learner == "svm":
        return [*imports, *_problem(setting), *_ended(setting, solver, "None", frame.step)]
    return [*imports, *_problem(setting), _start(setting), *_ended(setting, solver, "start", frame.step)]


def _visits(history: History, frame: Frame) -> list[str]:
    setting, pane, n = history.setting, history.pane, len(history.setting.points)
    decay = f", decay={decay_of(setting)!r}" if pane.schedule == "inverse" else ""
    options = f"{rate_of(setting)!r}, schedule={pane.schedule!r}{decay}"
    lines = [
        *SOLVER_IMPORTS,
        "from separatrix.solvers import Stochastic",
        "",
        f"rng = np.random.default_rng({pane.seed})",
    ]
    if pane.start == "random":
        lines.append(f"rng.normal(size={setting.n_weights})  # the start was drawn first")
    lines.append(_start(setting))
    if pane.step_unit == "pass":
        solver = f"Stochastic({options}, order={pane.order!r}, seed=rng)"
        return [*lines, *_problem(setting), *_ended(setting, solver, "start", frame.step)]
    if not frame.step:
        return [*lines, "w = start"]
    passes = -(-frame.step // n)
    drawn = {
        "cyclic": f"np.tile(np.arange({n}), {passes})",
        "random": f"np.concatenate([rng.integers(0, {n}, size={n}) for _ in range({passes})])",
        "shuffled": f"np.concatenate([rng.permutation({n}) for _ in range({passes})])",
    }[pane.order]
    lines.append(f"visited = {drawn}[:{frame.step}]  # the rows in the order of their visits: one pass over them")
    return [*lines, *_problem(setting, "[visited]"), *_ended(setting, f"Stochastic({options})", "start", 1)]


def _separating(history: History, frame: Frame) -> list[str]:
    setting = history.setting
    if not frame.step:
        return [f"w = np.zeros({setting.n_weights})", f"# To its end: {_in_one_call(setting)}.fit(X, y)"]
    weights = "np.append(model.intercept_, model.coef_[0])" if history.pane.fit_intercept else "model.coef_[0]"
    return [f"model = {_in_one_call(setting)}.fit(X, y)", "print(model.result_.message)", f"w = {weights}"]


def _kernel_perceptron(history: History, frame: Frame) -> list[str]:
    if not frame.updates:
        return [f"c, b = np.zeros({len(frame.coef)}), 0.0"]
    plain = perceptron_options(history.pane).plain()
    options = [f"    {name}={plain[name]!r}," for name in ("order", "rate", "schedule", "tie", "margin")]
    return [
        "model = sx.KernelPerceptron(",
        f"    kernel=sx.kernels.{history.setting.kernel!r},",
        *options,
        f"    fit_intercept={history.pane.fit_intercept},",
        f"    max_updates={frame.updates},",
        f"    random_state={history.pane.seed},",
        ").fit(X, y)",
        "print(model.result_.message)",
        "c, b = model.result_.coef, float(model.result_.intercept)",
    ]


def _kernel_svm(history: History, frame: Frame) -> list[str]:
    setting = history.setting
    lines = [
        *SOLVER_IMPORTS,
        "from separatrix.certificates.kernel_optimality import caps_of",
        "from separatrix.design.kernel_rows import KernelRows",
        "from separatrix.solvers import KernelDual",
        "from separatrix.solvers.kernel_dual import KernelDualState",
        "",
        f"kernel = sx.kernels.{setting.kernel!r}",
        f"state = KernelDualState(KernelRows(kernel, X, 100.0), y, caps_of({setting.strength!r}, np.ones(len(y))))",
        f"penalty = sx.penalties.L2({setting.strength!r})",
        "problem = Problem(make_design(X, intercept=False), y, sx.losses.Hinge(), penalty)",
    ]
    if frame.step:
        lines.append(f"for _ in islice(KernelDual({history.pane.block}).steps(problem, state), {frame.step}):")
        lines.append("    pass")
    return [*lines, "c, b = state.point, state.intercept", f"# In one call: {_in_one_call(setting)}.fit(X, y)"]


_WRITERS: dict[str, Callable[[History, Frame], list[str]]] = {
    "perceptron": _perceptron,
    "lms": _descent,
    "lms_stochastic": _visits,
    "logistic_gradient": _descent,
    "logistic_sgd": _visits,
    "logistic_newton": _descent,
    "svm": _descent,
    "svm_sgd": _visits,
    "lp": _separating,
    "max_margin": _separating,
    "kernel_perceptron": _kernel_perceptron,
    "kernel_svm": _kernel_svm,
}
