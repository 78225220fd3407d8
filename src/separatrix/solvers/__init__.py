"""One algorithm a file, each a generator of steps over a problem; `ALL` is the registry."""

from separatrix.solvers.base import Needs, Solver, Step, check_needs
from separatrix.solvers.batch_perceptron import BatchPerceptron
from separatrix.solvers.gradient import Gradient, descend
from separatrix.solvers.lbfgs import LBFGS
from separatrix.solvers.max_margin import MaxMargin
from separatrix.solvers.newton import Newton
from separatrix.solvers.perceptron import Perceptron, PerceptronState
from separatrix.solvers.stochastic import Stochastic
from separatrix.solvers.updates import UpdateRecord

ALL: tuple[Solver, ...] = (Perceptron(), BatchPerceptron(), MaxMargin(), Newton(), LBFGS(), Gradient(), Stochastic())

__all__ = [
    "ALL",
    "LBFGS",
    "BatchPerceptron",
    "Gradient",
    "MaxMargin",
    "Needs",
    "Newton",
    "Perceptron",
    "PerceptronState",
    "Solver",
    "Step",
    "Stochastic",
    "UpdateRecord",
    "check_needs",
    "descend",
]
