"""What may be said of a population from a fit: estimates with less bias, and intervals.

Names are loaded when first used: together they are dear, and a fit needs few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.inference.diagnosis.diagnose import diagnose
    from separatrix.inference.diagnosis.influence import Influence
    from separatrix.inference.diagnosis.record import Diagnosis
    from separatrix.inference.diagnosis.simple import (
        SimpleRegression,
        simple_regression,
        simple_regression_from_moments,
    )
    from separatrix.inference.evaluation import (
        ClassifierEvaluation,
        Estimate,
        RegressorEvaluation,
        evaluate,
        evaluate_classifier,
        evaluate_regressor,
    )
    from separatrix.inference.likelihood.firth import FirthFit, fit_firth
    from separatrix.inference.likelihood.profile import Interval
    from separatrix.inference.linear.analysis_of_variance import AnovaTable, anova
    from separatrix.inference.linear.intervals import PredictionInterval
    from separatrix.inference.nested import NestedTest, nested_test
    from separatrix.inference.table import InferenceTable
    from separatrix.inference.wald import WaldTest

__all__ = [
    "AnovaTable",
    "ClassifierEvaluation",
    "Diagnosis",
    "Estimate",
    "FirthFit",
    "InferenceTable",
    "Influence",
    "Interval",
    "NestedTest",
    "PredictionInterval",
    "RegressorEvaluation",
    "SimpleRegression",
    "WaldTest",
    "anova",
    "diagnose",
    "evaluate",
    "evaluate_classifier",
    "evaluate_regressor",
    "fit_firth",
    "nested_test",
    "simple_regression",
    "simple_regression_from_moments",
]

# The file that each name lives in.
_HOMES = {
    "AnovaTable": "linear.analysis_of_variance",
    "ClassifierEvaluation": "evaluation",
    "Diagnosis": "diagnosis.record",
    "Estimate": "evaluation",
    "FirthFit": "likelihood.firth",
    "InferenceTable": "table",
    "Influence": "diagnosis.influence",
    "Interval": "likelihood.profile",
    "NestedTest": "nested",
    "PredictionInterval": "linear.intervals",
    "RegressorEvaluation": "evaluation",
    "SimpleRegression": "diagnosis.simple",
    "WaldTest": "wald",
    "anova": "linear.analysis_of_variance",
    "diagnose": "diagnosis.diagnose",
    "evaluate": "evaluation",
    "evaluate_classifier": "evaluation",
    "evaluate_regressor": "evaluation",
    "fit_firth": "likelihood.firth",
    "nested_test": "nested",
    "simple_regression": "diagnosis.simple",
    "simple_regression_from_moments": "diagnosis.simple",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"separatrix.inference.{_HOMES[name]}"), name)
    raise AttributeError(f"separatrix.inference has no name {name!r}")
