"""What a user should know of a fit beside its numbers, and what else to try."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from separatrix.families.perceptron import PerceptronOptions
from separatrix.fit.labels import Classes
from separatrix.fit.result import FitResult

SORTED_RUN = 10  # rows of one class in a row, on average, from which on a table counts as sorted by class


def training_notes(result: FitResult, classes: Classes, options: PerceptronOptions) -> tuple[str, ...]:
    """Return sentences on a fit, often none."""
    return tuple(_notes(result, classes, options))


def _notes(result: FitResult, classes: Classes, options: PerceptronOptions) -> Iterator[str]:
    if options.tie == "correct" and not result.facts["updates"]:
        yield "with --tie correct a score of 0 is never corrected, so zeros stay zeros; try --start random"
    if options.keep == "vote":
        yield "a row's class is voted by all weights of the run; the weights below are only the last"
    in_turn = options.update == "single" and options.order == "cyclic"
    if in_turn and not result.status.reached_goal and _mean_run(classes) >= SORTED_RUN:
        yield "the rows come sorted by class, and visited in turn they teach one class at a time; try --order shuffled"


def _mean_run(classes: Classes) -> float:
    """Return how many rows of one class follow on each other, on average."""
    runs = 1 + int(np.count_nonzero(np.diff(classes.codes)))
    return len(classes.codes) / runs
