"""The one fit loop and what comes out of it."""

from separatrix.fit.choose import Choice, choose
from separatrix.fit.convex import SOLVERS, ConvexFit, ConvexOptions, fit_convex
from separatrix.fit.existence import Existence
from separatrix.fit.generative import fit_generative
from separatrix.fit.labels import Classes, binary_signs, find_classes
from separatrix.fit.linear import linear_result
from separatrix.fit.lms import LMSOptions, RateLimits, fit_lms, rate_limits
from separatrix.fit.logistic import LogisticFit, LogisticOptions, fit_logistic
from separatrix.fit.minimise import Minimum, minimise
from separatrix.fit.mistakes import MistakeBound, mistake_bound
from separatrix.fit.one_vs_rest import BinaryTarget, binary_targets, join_results
from separatrix.fit.perceptron import Ballot, PerceptronFit, PerceptronOptions, fit_perceptron
from separatrix.fit.result import FitResult
from separatrix.fit.run import Run, Watch, run
from separatrix.fit.stopping import AtLeast, AtMost, Status
from separatrix.fit.strengths import strength_from, strength_to
from separatrix.fit.trace import Trace, Updates

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
    "Existence",
    "FitResult",
    "LMSOptions",
    "LogisticFit",
    "LogisticOptions",
    "Minimum",
    "MistakeBound",
    "PerceptronFit",
    "PerceptronOptions",
    "RateLimits",
    "Run",
    "Status",
    "Trace",
    "Updates",
    "Watch",
    "binary_signs",
    "binary_targets",
    "choose",
    "find_classes",
    "fit_convex",
    "fit_generative",
    "fit_lms",
    "fit_logistic",
    "fit_perceptron",
    "join_results",
    "linear_result",
    "minimise",
    "mistake_bound",
    "rate_limits",
    "run",
    "strength_from",
    "strength_to",
]
