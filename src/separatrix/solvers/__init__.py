"""One algorithm a file, each a generator of steps over a problem; `ALL` is the registry."""

from separatrix.solvers.base import Needs, Solver, Step, check_needs
from separatrix.solvers.batch_perceptron import BatchPerceptron
from separatrix.solvers.coordinate import Coordinate
from separatrix.solvers.dual_coordinate import DualCoordinate
from separatrix.solvers.gradient import Gradient, descend
from separatrix.solvers.halfspace import HalfspaceLP
from separatrix.solvers.interior_point import InteriorPoint
from separatrix.solvers.kernel_dual import KernelDual, middle_intercept
from separatrix.solvers.kernel_perceptron import KernelPerceptron
from separatrix.solvers.lbfgs import LBFGS
from separatrix.solvers.max_margin import MaxMargin
from separatrix.solvers.newton import Newton
from separatrix.solvers.newton_cg import NewtonCG
from separatrix.solvers.normal_equations import Factor, cholesky, scaled_triangle
from separatrix.solvers.perceptron import Perceptron, PerceptronState
from separatrix.solvers.refined_qr import refined_fit
from separatrix.solvers.stochastic import Stochastic
from separatrix.solvers.updates import UpdateRecord
from separatrix.solvers.zero_one import ZeroOne, ZeroOneState

ALL: tuple[Solver, ...] = (
    Perceptron(),
    BatchPerceptron(),
    MaxMargin(),
    HalfspaceLP(),
    ZeroOne(),
    Newton(),
    NewtonCG(),
    LBFGS(),
    Coordinate(),
    DualCoordinate(),
    InteriorPoint(),
    Gradient(),
    Stochastic(),
    KernelPerceptron(),
    KernelDual(),
)

__all__ = [
    "ALL",
    "LBFGS",
    "BatchPerceptron",
    "Coordinate",
    "DualCoordinate",
    "Factor",
    "Gradient",
    "HalfspaceLP",
    "InteriorPoint",
    "KernelDual",
    "KernelPerceptron",
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
    "ZeroOne",
    "ZeroOneState",
    "check_needs",
    "cholesky",
    "descend",
    "middle_intercept",
    "refined_fit",
    "scaled_triangle",
]
