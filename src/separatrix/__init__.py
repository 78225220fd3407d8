"""Linear predictors that say whether their answer exists, is unique, is optimal, and may be tested.

Public names are loaded when first used: importing the package imports neither scikit-learn nor Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.certificates.base import certificate_from_dict
    from separatrix.design import kernels
    from separatrix.design.build import blocked
    from separatrix.design.journaled import checkpointed
    from separatrix.estimators import maps
    from separatrix.estimators.audit import audit
    from separatrix.estimators.formula import from_formula
    from separatrix.estimators.generative import GaussianGenerativeClassifier
    from separatrix.estimators.kernel import KernelPerceptron, KernelSVM
    from separatrix.estimators.linear import LinearRegression
    from separatrix.estimators.lms import LMSClassifier, LMSRegressor
    from separatrix.estimators.logistic import LogisticRegression
    from separatrix.estimators.margin import HalfspaceLP, MaxMarginClassifier, ZeroOneClassifier
    from separatrix.estimators.one_vs_rest import OneVsRest
    from separatrix.estimators.path import path
    from separatrix.estimators.perceptron import Perceptron
    from separatrix.estimators.svm import LinearSVM
    from separatrix.families.margin import Removals, fewest_removals
    from separatrix.fit.minimise import minimise
    from separatrix.fit.plan import plan_fit
    from separatrix.fit.result import FitResult
    from separatrix.inference.anova import anova
    from separatrix.inference.diagnosis import diagnose
    from separatrix.inference.evaluation import evaluate_classifier, evaluate_regressor
    from separatrix.inference.hypotheses import nested_test
    from separatrix.inference.influence import influence
    from separatrix.inference.mle import log_likelihood
    from separatrix.inference.simple import simple_regression, simple_regression_from_moments
    from separatrix.model.certified import verify
    from separatrix.model.evaluate import evaluate
    from separatrix.model.export.languages import export
    from separatrix.model.file import load_model, save_model
    from separatrix.model.record import Model
    from separatrix.model.train import train
    from separatrix.numerics import cross_entropy, entropy, logit, sigmoid, softmax
    from separatrix.reports import plot
    from separatrix.reports.compare import compare
    from separatrix.reports.report import report
    from separatrix.selection.path import strength_from, strength_to
    from separatrix.separability.check import check_separability
    from separatrix.separability.lift import lift
    from separatrix.separability.margin import MistakeBound, mistake_bound
    from separatrix.tables.demos import load_demo
    from separatrix.tables.open import read_table
    from separatrix.theory.experiments import cover_experiment, margin_experiment
    from separatrix.theory.halfspace import Halfspace, augment, halfspace_program, reflect


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
    "compare",
    "cover_experiment",
    "cross_entropy",
    "diagnose",
    "entropy",
    "errors",
    "evaluate",
    "evaluate_classifier",
    "evaluate_regressor",
    "export",
    "fewest_removals",
    "from_formula",
    "halfspace_program",
    "influence",
    "kernels",
    "lab",
    "lift",
    "load_demo",
    "load_model",
    "log_likelihood",
    "logit",
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
    "report",
    "save_model",
    "sigmoid",
    "simple_regression",
    "simple_regression_from_moments",
    "softmax",
    "strength_from",
    "strength_to",
    "theory",
    "train",
    "verify",
]

# The module of each public name, and of each public module.
_HOMES = {
    "FitResult": "fit.result",
    "GaussianGenerativeClassifier": "estimators.generative",
    "Halfspace": "theory.halfspace",
    "HalfspaceLP": "estimators.margin",
    "KernelPerceptron": "estimators.kernel",
    "KernelSVM": "estimators.kernel",
    "LMSClassifier": "estimators.lms",
    "LMSRegressor": "estimators.lms",
    "LinearRegression": "estimators.linear",
    "LinearSVM": "estimators.svm",
    "LogisticRegression": "estimators.logistic",
    "MaxMarginClassifier": "estimators.margin",
    "MistakeBound": "separability.margin",
    "Model": "model.record",
    "OneVsRest": "estimators.one_vs_rest",
    "Perceptron": "estimators.perceptron",
    "Removals": "families.margin",
    "ZeroOneClassifier": "estimators.margin",
    "anova": "inference.anova",
    "audit": "estimators.audit",
    "augment": "theory.halfspace",
    "blocked": "design.build",
    "certificate_from_dict": "certificates.base",
    "check_separability": "separability.check",
    "checkpointed": "design.journaled",
    "compare": "reports.compare",
    "cover_experiment": "theory.experiments",
    "cross_entropy": "numerics",
    "diagnose": "inference.diagnosis",
    "entropy": "numerics",
    "evaluate": "model.evaluate",
    "evaluate_classifier": "inference.evaluation",
    "evaluate_regressor": "inference.evaluation",
    "export": "model.export.languages",
    "fewest_removals": "families.margin",
    "from_formula": "estimators.formula",
    "halfspace_program": "theory.halfspace",
    "influence": "inference.influence",
    "lift": "separability.lift",
    "load_demo": "tables.demos",
    "load_model": "model.file",
    "log_likelihood": "inference.mle",
    "logit": "numerics",
    "margin_experiment": "theory.experiments",
    "minimise": "fit.minimise",
    "mistake_bound": "separability.margin",
    "nested_test": "inference.hypotheses",
    "path": "estimators.path",
    "plan_fit": "fit.plan",
    "read_table": "tables.open",
    "reflect": "theory.halfspace",
    "report": "reports.report",
    "save_model": "model.file",
    "sigmoid": "numerics",
    "simple_regression": "inference.simple",
    "simple_regression_from_moments": "inference.simple",
    "softmax": "numerics",
    "strength_from": "selection.path",
    "strength_to": "selection.path",
    "train": "model.train",
    "verify": "model.certified",
}
_MODULES = {
    "errors": "errors",
    "kernels": "design.kernels",
    "lab": "lab",
    "losses": "losses",
    "maps": "estimators.maps",
    "penalties": "penalties",
    "plot": "reports.plot",
    "theory": "theory",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"separatrix.{_MODULES[name]}")
    if name in _HOMES:
        globals()[name] = value = getattr(import_module(f"separatrix.{_HOMES[name]}"), name)
        return value
    raise AttributeError(f"separatrix has no public name {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
