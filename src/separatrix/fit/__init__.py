"""The one fit loop and what comes out of it."""

from separatrix.fit.choose import Choice, choose
from separatrix.fit.comparison import Compared, compare_learners
from separatrix.fit.convex import SOLVERS, ConvexFit, ConvexOptions, fit_convex
from separatrix.fit.cross_validation import CrossValidation, StrengthChoice, assign_folds, cross_validate
from separatrix.fit.existence import runaways
from separatrix.fit.generative import fit_generative
from separatrix.fit.halfspace import fit_halfspace
from separatrix.fit.labels import Classes, binary_signs, find_classes
from separatrix.fit.least_squares import LeastSquaresFit, can_solve_directly, fit_least_squares
from separatrix.fit.linear import least_squares_result, linear_result
from separatrix.fit.lms import LMSOptions, RateLimits, fit_lms, rate_limits
from separatrix.fit.logistic import LogisticFit, fit_logistic, logistic_problem
from separatrix.fit.margin_effect import MarginExperiment, margin_experiment, sample_with_margin
from separatrix.fit.max_margin import MarginOptions, fit_max_margin
from separatrix.fit.minimise import Minimum, minimise
from separatrix.fit.mistakes import MistakeBound, mistake_bound
from separatrix.fit.one_vs_rest import BinaryTarget, binary_targets, join_results
from separatrix.fit.path import Path, join_paths, strength_grid, trace_path
from separatrix.fit.perceptron import Ballot, PerceptronFit, PerceptronOptions, fit_perceptron
from separatrix.fit.result import FitResult
from separatrix.fit.run import Run, Watch, run
from separatrix.fit.separability import check_separability
from separatrix.fit.stopping import AtLeast, AtMost, Status
from separatrix.fit.strengths import strength_from, strength_to
from separatrix.fit.svm import fit_svm
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
    "Compared",
    "ConvexFit",
    "ConvexOptions",
    "CrossValidation",
    "FitResult",
    "LMSOptions",
    "LeastSquaresFit",
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
    "compare_learners",
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
    "least_squares_result",
    "linear_result",
    "logistic_problem",
    "margin_experiment",
    "minimise",
    "mistake_bound",
    "rate_limits",
    "run",
    "runaways",
    "sample_with_margin",
    "strength_from",
    "strength_grid",
    "strength_to",
    "trace_path",
]
