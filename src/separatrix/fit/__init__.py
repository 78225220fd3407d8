"""The one fit loop and what comes out of it.

Most names are loaded when first used: a fit needs few of them. Those that share their name with a file are loaded at
once, or else the file would hide them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from separatrix.fit.choose import Choice, choose
from separatrix.fit.minimise import Minimum, minimise
from separatrix.fit.run import Run, Watch, run

if TYPE_CHECKING:
    from separatrix.fit.convex import SOLVERS, ConvexFit, ConvexOptions, fit_convex
    from separatrix.fit.cover_effect import CoverExperiment, cover_experiment
    from separatrix.fit.cross_validation import CrossValidation, StrengthChoice, assign_folds, cross_validate
    from separatrix.fit.existence import judge_existence, runaways
    from separatrix.fit.generative import fit_generative
    from separatrix.fit.halfspace import fit_halfspace
    from separatrix.fit.labels import Classes, binary_signs, find_classes
    from separatrix.fit.least_squares import LeastSquaresFit, can_solve_directly, fit_least_squares
    from separatrix.fit.lifting import Lift, LiftStep, lift
    from separatrix.fit.linear import least_squares_result, linear_result
    from separatrix.fit.lms import LMSOptions, RateLimits, fit_lms, rate_limits
    from separatrix.fit.logistic import LogisticFit, fit_logistic, logistic_problem
    from separatrix.fit.margin_effect import MarginExperiment, margin_experiment, sample_with_margin
    from separatrix.fit.max_margin import MarginOptions, fit_max_margin
    from separatrix.fit.mistakes import MistakeBound, mistake_bound
    from separatrix.fit.one_vs_rest import BinaryTarget, binary_targets, join_results
    from separatrix.fit.path import Path, join_paths, strength_grid, trace_path
    from separatrix.fit.perceptron import Ballot, PerceptronFit, PerceptronOptions, fit_perceptron
    from separatrix.fit.result import FitResult
    from separatrix.fit.separability import check_separability
    from separatrix.fit.stopping import AtLeast, AtMost, Status
    from separatrix.fit.strengths import strength_from, strength_to
    from separatrix.fit.svm import fit_svm
    from separatrix.fit.targets import real_targets
    from separatrix.fit.trace import Trace, Updates
    from separatrix.fit.zero_one import Removals, ZeroOneOptions, fewest_removals, fit_zero_one

__all__ = [
    "SOLVERS",
    "AtLeast",
    "AtMost",
    "Ballot",
    "BinaryTarget",
    "Choice",
    "Classes",
    "ConvexFit",
    "ConvexOptions",
    "CoverExperiment",
    "CrossValidation",
    "FitResult",
    "LMSOptions",
    "LeastSquaresFit",
    "Lift",
    "LiftStep",
    "LogisticFit",
    "MarginExperiment",
    "MarginOptions",
    "Minimum",
    "MistakeBound",
    "Path",
    "PerceptronFit",
    "PerceptronOptions",
    "RateLimits",
    "Removals",
    "Run",
    "Status",
    "StrengthChoice",
    "Trace",
    "Updates",
    "Watch",
    "ZeroOneOptions",
    "assign_folds",
    "binary_signs",
    "binary_targets",
    "can_solve_directly",
    "check_separability",
    "choose",
    "cover_experiment",
    "cross_validate",
    "fewest_removals",
    "find_classes",
    "fit_convex",
    "fit_generative",
    "fit_halfspace",
    "fit_least_squares",
    "fit_lms",
    "fit_logistic",
    "fit_max_margin",
    "fit_perceptron",
    "fit_svm",
    "fit_zero_one",
    "join_paths",
    "join_results",
    "judge_existence",
    "least_squares_result",
    "lift",
    "linear_result",
    "logistic_problem",
    "margin_experiment",
    "minimise",
    "mistake_bound",
    "rate_limits",
    "real_targets",
    "run",
    "runaways",
    "sample_with_margin",
    "strength_from",
    "strength_grid",
    "strength_to",
    "trace_path",
]

# The file that each name lives in.
_HOMES = {
    "AtLeast": "stopping",
    "AtMost": "stopping",
    "Ballot": "perceptron",
    "BinaryTarget": "one_vs_rest",
    "Classes": "labels",
    "ConvexFit": "convex",
    "ConvexOptions": "convex",
    "CoverExperiment": "cover_effect",
    "CrossValidation": "cross_validation",
    "FitResult": "result",
    "LMSOptions": "lms",
    "LeastSquaresFit": "least_squares",
    "Lift": "lifting",
    "LiftStep": "lifting",
    "LogisticFit": "logistic",
    "MarginExperiment": "margin_effect",
    "MarginOptions": "max_margin",
    "MistakeBound": "mistakes",
    "Path": "path",
    "PerceptronFit": "perceptron",
    "PerceptronOptions": "perceptron",
    "RateLimits": "lms",
    "Removals": "zero_one",
    "SOLVERS": "convex",
    "Status": "stopping",
    "StrengthChoice": "cross_validation",
    "Trace": "trace",
    "Updates": "trace",
    "ZeroOneOptions": "zero_one",
    "assign_folds": "cross_validation",
    "binary_signs": "labels",
    "binary_targets": "one_vs_rest",
    "can_solve_directly": "least_squares",
    "check_separability": "separability",
    "cover_experiment": "cover_effect",
    "cross_validate": "cross_validation",
    "fewest_removals": "zero_one",
    "find_classes": "labels",
    "fit_convex": "convex",
    "fit_generative": "generative",
    "fit_halfspace": "halfspace",
    "fit_least_squares": "least_squares",
    "fit_lms": "lms",
    "fit_logistic": "logistic",
    "fit_max_margin": "max_margin",
    "fit_perceptron": "perceptron",
    "fit_svm": "svm",
    "fit_zero_one": "zero_one",
    "join_paths": "path",
    "join_results": "one_vs_rest",
    "judge_existence": "existence",
    "least_squares_result": "linear",
    "lift": "lifting",
    "linear_result": "linear",
    "logistic_problem": "logistic",
    "margin_experiment": "margin_effect",
    "mistake_bound": "mistakes",
    "rate_limits": "lms",
    "real_targets": "targets",
    "runaways": "existence",
    "sample_with_margin": "margin_effect",
    "strength_from": "strengths",
    "strength_grid": "path",
    "strength_to": "strengths",
    "trace_path": "path",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"separatrix.fit.{_HOMES[name]}"), name)
    raise AttributeError(f"separatrix.fit has no name {name!r}")
