"""The perceptron's own page: its mistakes beside their bound, and what else to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separatrix.cli.notes import training_notes
from separatrix.reports.summary import Outcome, Summary, TrainingData, summarise

if TYPE_CHECKING:
    from separatrix.families.perceptron import PerceptronOptions
    from separatrix.model.train import Trained
    from separatrix.tables.source import TableSource


def perceptron_summary(trained: Trained, table: TableSource, options: PerceptronOptions) -> Summary:
    """Return the summary of a perceptron that was trained on a table."""
    model, result, goal = trained.model, trained.learned.result, trained.goal
    assert goal.classes is not None  # a perceptron tells classes apart
    answered = slice(None) if trained.predictions.kept is None else trained.predictions.kept
    labels, predicted = np.asarray(goal.y)[answered], trained.predictions.labels[answered]
    data = TrainingData(table.source, model.target, model.encoding.feature_names, model.classes or (), labels)
    notes = (*training_notes(result, goal.classes, options), *trained.predictions.sentences)
    outcome = Outcome(predicted, _ties(trained.predictions.scores[answered]), notes)
    return summarise(result, data, outcome, title="Perceptron")


def _ties(scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int:
    """Return how many rows lie on a boundary: a score of 0, or of several classes the highest score twice."""
    if scores.ndim == 1:
        return int(np.sum(scores == 0.0))
    return int(np.sum(np.sum(scores == scores.max(axis=1, keepdims=True), axis=1) > 1))
