"""One algorithm a file, each a generator of steps over a problem; `ALL` is the registry."""

from separatrix.solvers.base import Needs, Solver, Step, check_needs
from separatrix.solvers.batch_perceptron import BatchPerceptron
from separatrix.solvers.max_margin import MaxMargin
from separatrix.solvers.perceptron import Perceptron, PerceptronState
from separatrix.solvers.updates import UpdateRecord

ALL: tuple[Solver, ...] = (Perceptron(), BatchPerceptron(), MaxMargin())

__all__ = [
    "ALL",
    "BatchPerceptron",
    "MaxMargin",
    "Needs",
    "Perceptron",
    "PerceptronState",
    "Solver",
    "Step",
    "UpdateRecord",
    "check_needs",
]
