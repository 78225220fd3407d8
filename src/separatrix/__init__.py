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
        HalfspaceLP,
        LinearRegression,
        LinearSVM,
        LMSClassifier,
        LMSRegressor,
        LogisticRegression,
        MaxMarginClassifier,
        OneVsRest,
        Perceptron,
        ZeroOneClassifier,
        audit,
        path,
    )
    from separatrix.fit import (
        FitResult,
        MistakeBound,
        Removals,
        fewest_removals,
        margin_experiment,
        mistake_bound,
        strength_from,
        strength_to,
    )
    from separatrix.fit.minimise import minimise
    from separatrix.fit.separability import check_separability
    from separatrix.reports import plot
    from separatrix.tables import load_demo
    from separatrix.theory import Halfspace, augment, reflect

__version__ = "0.1.0"

__all__ = [
    "FitResult",
    "GaussianGenerativeClassifier",
    "Halfspace",
    "HalfspaceLP",
    "LMSClassifier",
    "LMSRegressor",
    "LinearRegression",
    "LinearSVM",
    "LogisticRegression",
    "MaxMarginClassifier",
    "MistakeBound",
    "OneVsRest",
    "Perceptron",
    "Removals",
    "ZeroOneClassifier",
    "__version__",
    "audit",
    "augment",
    "certificate_from_dict",
    "check_separability",
    "errors",
    "fewest_removals",
    "load_demo",
    "losses",
    "margin_experiment",
    "minimise",
    "mistake_bound",
    "path",
    "penalties",
    "plot",
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
    "HalfspaceLP": "estimators",
    "LMSClassifier": "estimators",
    "LMSRegressor": "estimators",
    "LogisticRegression": "estimators",
    "LinearRegression": "estimators",
    "LinearSVM": "estimators",
    "OneVsRest": "estimators",
    "strength_from": "fit",
    "strength_to": "fit",
    "MaxMarginClassifier": "estimators",
    "MistakeBound": "fit",
    "Perceptron": "estimators",
    "Removals": "fit",
    "ZeroOneClassifier": "estimators",
    "audit": "estimators",
    "augment": "theory",
    "certificate_from_dict": "certificates",
    "check_separability": "fit",
    "fewest_removals": "fit",
    "load_demo": "tables",
    "margin_experiment": "fit",
    "minimise": "fit",
    "mistake_bound": "fit",
    "path": "estimators",
    "plot": "reports",
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
