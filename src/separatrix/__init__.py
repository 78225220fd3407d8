"""Linear predictors that say whether their answer exists, is unique, is optimal, and may be tested.

Public names are loaded when first used: importing the package imports neither scikit-learn nor Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix import errors, losses, penalties, theory
    from separatrix.certificates import certificate_from_dict
    from separatrix.estimators import (
        GaussianGenerativeClassifier,
        LinearRegression,
        LinearSVM,
        LMSClassifier,
        LMSRegressor,
        LogisticRegression,
        OneVsRest,
        Perceptron,
    )
    from separatrix.fit import FitResult, MistakeBound, mistake_bound, strength_from, strength_to
    from separatrix.fit.minimise import minimise
    from separatrix.tables import load_demo
    from separatrix.theory import Halfspace, augment, reflect

__version__ = "0.1.0"

__all__ = [
    "FitResult",
    "GaussianGenerativeClassifier",
    "Halfspace",
    "LMSClassifier",
    "LMSRegressor",
    "LinearRegression",
    "LinearSVM",
    "LogisticRegression",
    "MistakeBound",
    "OneVsRest",
    "Perceptron",
    "__version__",
    "augment",
    "certificate_from_dict",
    "errors",
    "load_demo",
    "losses",
    "minimise",
    "mistake_bound",
    "penalties",
    "reflect",
    "strength_from",
    "strength_to",
    "theory",
]

# Where each public name lives; a name that is its own module has no home but itself.
_HOMES = {
    "FitResult": "fit",
    "GaussianGenerativeClassifier": "estimators",
    "Halfspace": "theory",
    "LMSClassifier": "estimators",
    "LMSRegressor": "estimators",
    "LogisticRegression": "estimators",
    "LinearRegression": "estimators",
    "LinearSVM": "estimators",
    "OneVsRest": "estimators",
    "strength_from": "fit",
    "strength_to": "fit",
    "MistakeBound": "fit",
    "Perceptron": "estimators",
    "augment": "theory",
    "certificate_from_dict": "certificates",
    "load_demo": "tables",
    "minimise": "fit",
    "mistake_bound": "fit",
    "reflect": "theory",
}
_MODULES = {"errors", "losses", "penalties", "theory"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"separatrix.{name}")
    if name in _HOMES:
        return getattr(import_module(f"separatrix.{_HOMES[name]}"), name)
    raise AttributeError(f"separatrix has no public name {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
