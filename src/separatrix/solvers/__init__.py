"""One algorithm a file, each a generator of steps over a problem; `ALL` is the registry."""

from separatrix.solvers.base import Needs, Solver, Step, check_needs
from separatrix.solvers.batch_perceptron import BatchPerceptron
from separatrix.solvers.coordinate import Coordinate
from separatrix.solvers.dual_coordinate import DualCoordinate
from separatrix.solvers.gradient import Gradient, descend
from separatrix.solvers.lbfgs import LBFGS
from separatrix.solvers.max_margin import MaxMargin
from separatrix.solvers.newton import Newton
from separatrix.solvers.newton_cg import NewtonCG
from separatrix.solvers.perceptron import Perceptron, PerceptronState
from separatrix.solvers.stochastic import Stochastic
from separatrix.solvers.updates import UpdateRecord

ALL: tuple[Solver, ...] = (
    Perceptron(),
    BatchPerceptron(),
    MaxMargin(),
    Newton(),
    NewtonCG(),
    LBFGS(),
    Coordinate(),
    DualCoordinate(),
    Gradient(),
    Stochastic(),
)

__all__ = [
    "ALL",
    "LBFGS",
    "BatchPerceptron",
    "Coordinate",
    "DualCoordinate",
    "Gradient",
    "MaxMargin",
    "Needs",
    "Newton",
    "NewtonCG",
    "Perceptron",
    "PerceptronState",
    "Solver",
    "Step",
    "Stochastic",
    "UpdateRecord",
    "check_needs",
    "descend",
]
