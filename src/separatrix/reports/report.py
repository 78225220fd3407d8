"""A report as a neutral record: what was trained, on which table, by which command, with its answers and pictures."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.inference.diagnosis import Diagnosis
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.table import InferenceTable
from separatrix.model.learn import LEARNERS
from separatrix.model.train import Evaluation, Trained
from separatrix.reports.answers import Answer, answers_of
from separatrix.reports.figures.judged import classifier_pictures, diagnostic_pictures, influence_of, prediction_picture
from separatrix.reports.figures.picture import Picture, drawing
from separatrix.reports.figures.plane import boundary_picture, no_boundary
from separatrix.reports.figures.rows import sample_rows
from separatrix.reports.figures.way import trace_pictures
from separatrix.reports.figures.weights import coefficient_table, forest_picture
from separatrix.tables.source import TableSource
from separatrix.tables.table import Table


@dataclass(frozen=True)
class Pictures:
    """The pictures of a report; `boundary` is None where `no_boundary` says why, `forest` without any coefficient."""

    forest: Picture | None
    judged: tuple[Picture, ...]
    trace: tuple[Picture, ...]
    boundary: Picture | None
    no_boundary: str


@dataclass(frozen=True, eq=False)
class Report:
    """All that a page tells."""

    trained: Trained
    table: Table | TableSource
    command: str
    answers: tuple[Answer, ...]
    coefficients: InferenceTable
    diagnosis: Diagnosis | None
    pictures: Pictures

    @property
    def title(self) -> str:
        """The model and the target."""
        model = self.trained.model
        return f"{LEARNERS[model.estimator].title} of {model.target}"

    @property
    def judged(self) -> tuple[Evaluation, str]:
        """The evaluation that counts, on rows kept apart if there are any, and on which rows it is."""
        if self.trained.apart is not None:
            return self.trained.apart, self.trained.apart_words
        return self.trained.own, self.trained.own_words


def make_report(trained: Trained, table: Table | TableSource, command: str) -> Report:
    """Return the report of a trained model; the pictures are drawn."""
    found = influence_of(trained, table)
    evaluation = trained.own if trained.apart is None else trained.apart
    where = trained.own_words if trained.apart is None else trained.apart_words
    with drawing():
        rows = sample_rows(trained, table)
        if isinstance(evaluation, ClassifierEvaluation):
            judged = tuple(classifier_pictures(evaluation, where))
        else:
            judged = (prediction_picture(trained), *(() if found is None else diagnostic_pictures(*found)))
        reason = no_boundary(trained)
        pictures = Pictures(
            forest_picture(trained, rows),
            judged,
            tuple(trace_pictures(trained)),
            None if reason else boundary_picture(trained, rows),
            reason,
        )
    diagnosis = None if found is None else found[1]
    answers = answers_of(trained, diagnosis)
    return Report(trained, table, command, answers, coefficient_table(trained), diagnosis, pictures)
