"""Linear predictors that say whether their answer exists, is unique, is optimal, and may be tested.

Public names are loaded when first used: importing the package imports neither scikit-learn nor Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.certificates.base import certificate_from_dict
    from separatrix.design import kernels
    from separatrix.design.blocked import blocked
    from separatrix.design.journaled import checkpointed
    from separatrix.estimators import maps
    from separatrix.estimators.audit import audit
    from separatrix.estimators.formula import from_formula
    from separatrix.estimators.kernel import KernelPerceptron, KernelSVM
    from separatrix.estimators.linear import LinearRegression, LMSClassifier, LMSRegressor
    from separatrix.estimators.logistic import GaussianGenerativeClassifier, LogisticRegression
    from separatrix.estimators.margin import HalfspaceLP, LinearSVM, MaxMarginClassifier, ZeroOneClassifier
    from separatrix.estimators.one_vs_rest import OneVsRest
    from separatrix.estimators.path import path
    from separatrix.estimators.perceptron import Perceptron
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
    from separatrix.selection import strength_from, strength_to
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

# The public names of each module, and the public modules.
_NAMES = {
    "certificates.base": "certificate_from_dict",
    "design.blocked": "blocked",
    "design.journaled": "checkpointed",
    "estimators.audit": "audit",
    "estimators.formula": "from_formula",
    "estimators.kernel": "KernelPerceptron KernelSVM",
    "estimators.linear": "LinearRegression LMSClassifier LMSRegressor",
    "estimators.logistic": "LogisticRegression GaussianGenerativeClassifier",
    "estimators.margin": "HalfspaceLP LinearSVM MaxMarginClassifier ZeroOneClassifier",
    "estimators.one_vs_rest": "OneVsRest",
    "estimators.path": "path",
    "estimators.perceptron": "Perceptron",
    "families.margin": "Removals fewest_removals",
    "fit.minimise": "minimise",
    "fit.plan": "plan_fit",
    "fit.result": "FitResult",
    "inference.anova": "anova",
    "inference.diagnosis": "diagnose",
    "inference.evaluation": "evaluate_classifier evaluate_regressor",
    "inference.hypotheses": "nested_test",
    "inference.influence": "influence",
    "inference.mle": "log_likelihood",
    "inference.simple": "simple_regression simple_regression_from_moments",
    "model.certified": "verify",
    "model.evaluate": "evaluate",
    "model.export.languages": "export",
    "model.file": "load_model save_model",
    "model.record": "Model",
    "model.train": "train",
    "numerics": "cross_entropy entropy logit sigmoid softmax",
    "reports.compare": "compare",
    "reports.report": "report",
    "selection": "strength_from strength_to",
    "separability.check": "check_separability",
    "separability.lift": "lift",
    "separability.margin": "MistakeBound mistake_bound",
    "tables.demos": "load_demo",
    "tables.open": "read_table",
    "theory.experiments": "cover_experiment margin_experiment",
    "theory.halfspace": "Halfspace augment halfspace_program reflect",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
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
