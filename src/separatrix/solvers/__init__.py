"""One algorithm a file, each a generator of steps over a problem. Names load when used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.solvers.averaged_descent import AveragedDescent
    from separatrix.solvers.averaging import PerceptronMixing
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


__all__ = [
    "LBFGS",
    "AveragedDescent",
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
    "PerceptronMixing",
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

_HOMES = {
    "AveragedDescent": "averaged_descent",
    "BatchPerceptron": "batch_perceptron",
    "Coordinate": "coordinate",
    "DualCoordinate": "dual_coordinate",
    "Factor": "normal_equations",
    "Gradient": "gradient",
    "HalfspaceLP": "halfspace",
    "InteriorPoint": "interior_point",
    "KernelDual": "kernel_dual",
    "KernelPerceptron": "kernel_perceptron",
    "LBFGS": "lbfgs",
    "MaxMargin": "max_margin",
    "Needs": "base",
    "Newton": "newton",
    "NewtonCG": "newton_cg",
    "Perceptron": "perceptron",
    "PerceptronMixing": "averaging",
    "PerceptronState": "perceptron",
    "Solver": "base",
    "Step": "base",
    "Stochastic": "stochastic",
    "UpdateRecord": "updates",
    "ZeroOne": "zero_one",
    "ZeroOneState": "zero_one",
    "check_needs": "base",
    "cholesky": "normal_equations",
    "descend": "gradient",
    "middle_intercept": "kernel_dual",
    "refined_fit": "refined_qr",
    "scaled_triangle": "normal_equations",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"separatrix.solvers.{_HOMES[name]}"), name)
    raise AttributeError(f"separatrix.solvers has no name {name!r}")
