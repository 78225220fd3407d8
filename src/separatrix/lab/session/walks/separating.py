"""Learners that settle all rows at once: the linear program and the hard margin, a single step to the end.

The step is the fit's answer, scaled to yᵢ(w·xᵢ + b) ≥ 1 and certified. Points that no halfspace separates are refused
by the fit, with its words.
"""

from __future__ import annotations

import numpy as np

from separatrix.errors import OverlapError
from separatrix.fit.halfspace import fit_halfspace
from separatrix.fit.max_margin import MarginOptions, fit_max_margin
from separatrix.lab.session.history import Ending, Frame, Frames
from separatrix.lab.session.setting import Setting

__all__ = ["separating_walk"]


def separating_walk(setting: Setting) -> Frames:
    """Walk to the certified answer in one step."""
    yield Frame(0, np.zeros(setting.n_weights))
    fit = fit_halfspace if setting.pane.learner == "lp" else fit_max_margin
    try:
        result = fit(setting.design, setting.y, MarginOptions())
    except OverlapError as refusal:
        return Ending("infeasible", "no halfspace separates the points, which is proved", str(refusal))
    virtual = [float(result.intercept)] if setting.pane.fit_intercept else []
    answer = np.append(virtual, result.coef)
    yield Frame(1, answer, change=answer, updates=1, facts=dict(result.facts))
    words = f"every point is right, margin {result.facts['margin']:.6g}"
    if setting.pane.learner == "max_margin":
        widest = "the widest there is" if result.status.reached_goal else "the widest found"
        words = f"margin γ = {result.facts['margin']:.6g}, {widest}"
    return Ending(str(result.status), words, result.message, certificate=result.certificate)
