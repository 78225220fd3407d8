"""Linear predictors that say whether their answer exists, is unique, is optimal, and may be tested.

Public names are loaded when first used: importing the package imports neither scikit-learn nor Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.certificates.base import certificate_from_dict as certificate_from_dict
    from separatrix.design import kernels as kernels
    from separatrix.design.build import blocked as blocked
    from separatrix.design.journaled import checkpointed as checkpointed
    from separatrix.estimators import maps as maps
    from separatrix.estimators.audit import audit as audit
    from separatrix.estimators.formula import from_formula as from_formula
    from separatrix.estimators.kernel import KernelPerceptron as KernelPerceptron
    from separatrix.estimators.kernel import KernelSVM as KernelSVM
    from separatrix.estimators.linear import LinearRegression as LinearRegression
    from separatrix.estimators.linear import LMSClassifier as LMSClassifier
    from separatrix.estimators.linear import LMSRegressor as LMSRegressor
    from separatrix.estimators.logistic import GaussianGenerativeClassifier as GaussianGenerativeClassifier
    from separatrix.estimators.logistic import LogisticRegression as LogisticRegression
    from separatrix.estimators.margin import HalfspaceLP as HalfspaceLP
    from separatrix.estimators.margin import LinearSVM as LinearSVM
    from separatrix.estimators.margin import MaxMarginClassifier as MaxMarginClassifier
    from separatrix.estimators.margin import ZeroOneClassifier as ZeroOneClassifier
    from separatrix.estimators.one_vs_rest import OneVsRest as OneVsRest
    from separatrix.estimators.path import path as path
    from separatrix.estimators.perceptron import Perceptron as Perceptron
    from separatrix.families.margin import Removals as Removals
    from separatrix.families.margin import fewest_removals as fewest_removals
    from separatrix.fit.minimise import minimise as minimise
    from separatrix.fit.plan import plan_fit as plan_fit
    from separatrix.fit.progress import progress as progress
    from separatrix.fit.result import FitResult as FitResult
    from separatrix.inference.anova import anova as anova
    from separatrix.inference.diagnosis import diagnose as diagnose
    from separatrix.inference.evaluation import evaluate_classifier as evaluate_classifier
    from separatrix.inference.evaluation import evaluate_regressor as evaluate_regressor
    from separatrix.inference.hypotheses import nested_test as nested_test
    from separatrix.inference.influence import influence as influence
    from separatrix.inference.mle import log_likelihood as log_likelihood
    from separatrix.inference.simple import simple_regression as simple_regression
    from separatrix.inference.simple import simple_regression_from_moments as simple_regression_from_moments
    from separatrix.model.certified import verify as verify
    from separatrix.model.evaluate import evaluate as evaluate
    from separatrix.model.export import export as export
    from separatrix.model.file import load_model as load_model
    from separatrix.model.file import save_model as save_model
    from separatrix.model.record import Model as Model
    from separatrix.model.train import train as train
    from separatrix.numerics import cross_entropy as cross_entropy
    from separatrix.numerics import entropy as entropy
    from separatrix.numerics import logit as logit
    from separatrix.numerics import sigmoid as sigmoid
    from separatrix.numerics import softmax as softmax
    from separatrix.reports import plot as plot
    from separatrix.reports.compare import compare as compare
    from separatrix.reports.plot.runs import animate as animate
    from separatrix.reports.report import report as report
    from separatrix.selection import strength_from as strength_from
    from separatrix.selection import strength_to as strength_to
    from separatrix.separability.check import check_separability as check_separability
    from separatrix.separability.lift import lift as lift
    from separatrix.separability.margin import MistakeBound as MistakeBound
    from separatrix.separability.margin import mistake_bound as mistake_bound
    from separatrix.tables.demos import load_demo as load_demo
    from separatrix.tables.open import read_table as read_table
    from separatrix.theory.experiments import cover_experiment as cover_experiment
    from separatrix.theory.experiments import margin_experiment as margin_experiment
    from separatrix.theory.halfspace import Halfspace as Halfspace
    from separatrix.theory.halfspace import augment as augment
    from separatrix.theory.halfspace import halfspace_program as halfspace_program
    from separatrix.theory.halfspace import reflect as reflect


__version__ = "0.1.0"

# The public names of each module, and the public modules.
_NAMES = {
    "certificates.base": "certificate_from_dict",
    "design.build": "blocked",
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
    "fit.progress": "progress",
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
    "model.export": "export",
    "model.file": "load_model save_model",
    "model.record": "Model",
    "model.train": "train",
    "numerics": "cross_entropy entropy logit sigmoid softmax",
    "reports.compare": "compare",
    "reports.plot.runs": "animate",
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
__all__ = sorted(["__version__", *_HOMES, *_MODULES])  # noqa: PLE0605  # the names imported above for type checkers


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"separatrix.{_MODULES[name]}")
    if name in _HOMES:
        globals()[name] = value = getattr(import_module(f"separatrix.{_HOMES[name]}"), name)
        return value
    from separatrix.families.familiar import unknown_name  # noqa: PLC0415  # only the message needs it

    raise AttributeError(unknown_name(name, __all__))


def __dir__() -> list[str]:
    return __all__
