"""The one fit loop and what comes out of it."""

from separatrix.fit.choose import Choice, choose
from separatrix.fit.labels import Classes, binary_signs, find_classes
from separatrix.fit.mistakes import MistakeBound, mistake_bound
from separatrix.fit.one_vs_rest import BinaryTarget, binary_targets, join_results
from separatrix.fit.perceptron import Ballot, PerceptronFit, PerceptronOptions, fit_perceptron
from separatrix.fit.result import FitResult
from separatrix.fit.run import Run, Watch, run
from separatrix.fit.stopping import AtLeast, AtMost, Status
from separatrix.fit.trace import Trace, Updates

__all__ = [
    "AtLeast",
    "AtMost",
    "Ballot",
    "BinaryTarget",
    "Choice",
    "Classes",
    "FitResult",
    "MistakeBound",
    "PerceptronFit",
    "PerceptronOptions",
    "Run",
    "Status",
    "Trace",
    "Updates",
    "Watch",
    "binary_signs",
    "binary_targets",
    "choose",
    "find_classes",
    "fit_perceptron",
    "join_results",
    "mistake_bound",
    "run",
]
