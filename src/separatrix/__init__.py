"""Linear predictors that say whether their answer exists, is unique, is optimal, and may be tested.

Public names are loaded when first used: importing the package imports neither scikit-learn nor Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix import errors, lab, losses, penalties, theory
    from separatrix.certificates import certificate_from_dict
    from separatrix.design import kernels
    from separatrix.design.checkpoint.journaled import checkpointed
    from separatrix.design.disk.chunks import blocked
    from separatrix.estimators import (
        GaussianGenerativeClassifier,
        HalfspaceLP,
        KernelPerceptron,
        KernelSVM,
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
        from_formula,
        maps,
        path,
    )
    from separatrix.fit import (
        FitResult,
        MistakeBound,
        Removals,
        cover_experiment,
        fewest_removals,
        lift,
        margin_experiment,
        mistake_bound,
        strength_from,
        strength_to,
    )
    from separatrix.fit.minimise import minimise
    from separatrix.fit.planning import plan_fit
    from separatrix.fit.separability import check_separability
    from separatrix.inference import (
        anova,
        diagnose,
        evaluate,
        evaluate_classifier,
        evaluate_regressor,
        nested_test,
        simple_regression,
        simple_regression_from_moments,
    )
    from separatrix.inference.diagnosis.influence import influence
    from separatrix.model import Model, load_model, save_model
    from separatrix.model.one_call import train
    from separatrix.reports import plot
    from separatrix.tables import load_demo, read_table
    from separatrix.theory import Halfspace, augment, reflect

__version__ = "0.1.0"

__all__ = [
    "FitResult",
    "GaussianGenerativeClassifier",
    "Halfspace",
    "HalfspaceLP",
    "KernelPerceptron",
    "KernelSVM",
    "LMSClassifier",
    "LMSRegressor",
    "LinearRegression",
    "LinearSVM",
    "LogisticRegression",
    "MaxMarginClassifier",
    "MistakeBound",
    "Model",
    "OneVsRest",
    "Perceptron",
    "Removals",
    "ZeroOneClassifier",
    "__version__",
    "anova",
    "audit",
    "augment",
    "blocked",
    "certificate_from_dict",
    "check_separability",
    "checkpointed",
    "cover_experiment",
    "diagnose",
    "errors",
    "evaluate",
    "evaluate_classifier",
    "evaluate_regressor",
    "fewest_removals",
    "from_formula",
    "influence",
    "kernels",
    "lab",
    "lift",
    "load_demo",
    "load_model",
    "losses",
    "maps",
    "margin_experiment",
    "minimise",
    "mistake_bound",
    "nested_test",
    "path",
    "penalties",
    "plan_fit",
    "plot",
    "read_table",
    "reflect",
    "save_model",
    "simple_regression",
    "simple_regression_from_moments",
    "strength_from",
    "strength_to",
    "theory",
    "train",
]

# Where each public name lives; a name that is its own module has no home but itself.
_HOMES = {
    "FitResult": "fit",
    "GaussianGenerativeClassifier": "estimators",
    "Halfspace": "theory",
    "HalfspaceLP": "estimators",
    "KernelPerceptron": "estimators",
    "KernelSVM": "estimators",
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
    "Model": "model",
    "Perceptron": "estimators",
    "Removals": "fit",
    "ZeroOneClassifier": "estimators",
    "anova": "inference",
    "audit": "estimators",
    "augment": "theory",
    "blocked": "design.disk.chunks",
    "certificate_from_dict": "certificates",
    "check_separability": "fit",
    "checkpointed": "design.checkpoint.journaled",
    "cover_experiment": "fit",
    "diagnose": "inference",
    "evaluate": "inference",
    "evaluate_classifier": "inference",
    "evaluate_regressor": "inference",
    "fewest_removals": "fit",
    "from_formula": "estimators",
    "influence": "inference.diagnosis.influence",
    "kernels": "design",
    "lift": "fit",
    "load_demo": "tables",
    "load_model": "model",
    "maps": "estimators",
    "margin_experiment": "fit",
    "minimise": "fit",
    "mistake_bound": "fit",
    "nested_test": "inference",
    "path": "estimators",
    "plan_fit": "fit.planning",
    "plot": "reports",
    "read_table": "tables",
    "reflect": "theory",
    "save_model": "model",
    "simple_regression": "inference",
    "simple_regression_from_moments": "inference",
    "train": "model.one_call",
}
_MODULES = {"errors", "lab", "losses", "penalties", "theory"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"separatrix.{name}")
    if name in _HOMES:
        return getattr(import_module(f"separatrix.{_HOMES[name]}"), name)
    raise AttributeError(f"separatrix has no public name {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
