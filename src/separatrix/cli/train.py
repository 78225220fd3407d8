"""The perceptron on the classes of a table, and what it says of the rows it was fitted on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.cli.notes import training_notes
from separatrix.cli.progress import Progress
from separatrix.design import Design
from separatrix.fit import (
    Classes,
    FitResult,
    PerceptronOptions,
    binary_targets,
    fit_perceptron,
    join_results,
)
from separatrix.reports import Outcome
from separatrix.rule import predicted_signs

__all__ = ["Trained", "train"]

Floats = NDArray[np.float64]


class Trained(NamedTuple):
    """A fit and its outcome on the rows it was fitted on."""

    result: FitResult
    outcome: Outcome


def train(design: Design, classes: Classes, options: PerceptronOptions, positive: int | None) -> Trained:
    """Fit the class in place `positive` against the other or, with None, each class against the rest."""
    with Progress() as progress:
        fits = [
            fit_perceptron(design, signs, options, labels=labels, watch=progress.watch(_title(labels)))
            for signs, labels in binary_targets(classes, 1 if positive is None else positive)
        ]
    result = join_results([fitted.result for fitted in fits], classes.plain)
    scores = np.column_stack([fitted.scores(design) for fitted in fits])
    codes, ties = _judge(scores) if positive is None else _judge_two(scores[:, 0], options, positive)
    return Trained(result, Outcome(classes.values[codes], ties, training_notes(result, classes, options)))


def _title(labels: tuple[Any, Any]) -> str:
    negative, positive = labels
    return f"{positive} against {'the rest' if negative is None else negative}"


def _judge_two(scores: Floats, options: PerceptronOptions, positive: int) -> tuple[NDArray[np.intp], int]:
    """Return the class that each score predicts, by place, and how many scores are exactly 0."""
    codes = np.where(predicted_signs(scores, options.tie) > 0.0, positive, 1 - positive)
    return codes, int(np.sum(scores == 0.0))


def _judge(scores: Floats) -> tuple[NDArray[np.intp], int]:
    """Return the class of the highest score of each row, by place, and how many rows have more than one."""
    highest = np.sum(scores == scores.max(axis=1, keepdims=True), axis=1)
    return scores.argmax(axis=1), int(np.sum(highest > 1))
