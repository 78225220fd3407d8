"""The walks of all learners: generators of frames, by the learner's name."""

from __future__ import annotations

from collections.abc import Callable

from separatrix.lab.session.history import Frames
from separatrix.lab.session.setting import Setting
from separatrix.lab.session.walks.descent import descent_walk
from separatrix.lab.session.walks.kernel import kernel_perceptron_walk, kernel_svm_walk
from separatrix.lab.session.walks.perceptron import perceptron_walk
from separatrix.lab.session.walks.separating import separating_walk
from separatrix.lab.session.walks.visits import visit_walk

__all__ = ["WALKS", "walk_of"]

WALKS: dict[str, Callable[[Setting], Frames]] = {
    "perceptron": perceptron_walk,
    "lms": descent_walk,
    "lms_stochastic": visit_walk,
    "logistic_gradient": descent_walk,
    "logistic_sgd": visit_walk,
    "logistic_newton": descent_walk,
    "svm": descent_walk,
    "svm_sgd": visit_walk,
    "lp": separating_walk,
    "max_margin": separating_walk,
    "kernel_perceptron": kernel_perceptron_walk,
    "kernel_svm": kernel_svm_walk,
}


def walk_of(setting: Setting) -> Frames:
    """Return the walk of a setting's learner."""
    return WALKS[setting.pane.learner](setting)
