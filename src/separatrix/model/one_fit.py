"""One fit of a table's rows: columns encoded, rows kept as the storage says, a learner run, its predictor tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Bools, Indices
from separatrix.design.encode.encoding import Encoded, Encoding
from separatrix.design.encode.plan import plan_encoding
from separatrix.fit.labels import Classes
from separatrix.fit.result import Status
from separatrix.fit.run import Watch
from separatrix.inference.evaluation import (
    ClassifierEvaluation,
    RegressorEvaluation,
    evaluate_classifier,
    evaluate_regressor,
)
from separatrix.model.goal import Goal
from separatrix.model.learn.base import Learned, Learner, TrainingRows
from separatrix.model.predictions import Predictions, join_predictions
from separatrix.model.provenance import describe_data
from separatrix.model.record import Model
from separatrix.model.storage import HeldRows, Keeper
from separatrix.model.train_options import TrainOptions
from separatrix.tables.source import TableSource

Evaluation = ClassifierEvaluation | RegressorEvaluation

QUANTITIES = {"number", "date"}  # kinds of columns that have a unit
MOST_JUDGED = 1_000_000  # rows that tell how well a model does: more would change no digit that is shown


class Learnt(NamedTuple):
    """What a fit of a table's rows comes to: the predictor, how it was learned, and what it says of its own rows."""

    model: Model
    learned: Learned
    predictions: Predictions


@dataclass(frozen=True, eq=False)
class OneFit:
    """One fit of a table's rows."""

    source: TableSource
    goal: Goal
    learner: Learner
    options: TrainOptions
    target: str
    keeper: Keeper

    def learn(self, watch: Watch | None = None) -> Learnt:
        """Encode the rows, fit them, and predict them."""
        encoding = self._encoding()
        with self.keeper.hold(encoding, self.source) as held:
            rows = self._rows(encoding, held)
            learned = self.learner.learn(rows, self.options.learn, watch)
            data = describe_data(self.source, self.target, held.stored, rows.y, seed=self.options.learn.seed)
            model = self._model(learned, encoding, data)
            return Learnt(model, learned, _own_predictions(model, held))

    def predictor(self, watch: Watch | None = None) -> Model | None:
        """Encode the rows and fit them; return a model that does not tell of its rows, None if it was interrupted."""
        encoding = self._encoding()
        with self.keeper.hold(encoding, self.source) as held:
            learned = self.learner.learn(self._rows(encoding, held), self.options.learn, watch)
        return None if learned.result.status is Status.INTERRUPTED else self._model(learned, encoding)

    def _encoding(self) -> Encoding:
        options = self.options
        return plan_encoding(
            self.source,
            self.target,
            drop=options.drop,
            missing=options.missing,
            text=options.text,
            reference=options.reference,
        )

    def _rows(self, encoding: Encoding, held: HeldRows) -> TrainingRows:
        goal, quantities = cut_goal(self.goal, held.kept), quantities_of(encoding)
        names = encoding.feature_names
        return TrainingRows(held.X, names, quantities, goal.y, goal.classes, goal.positive, held.divided)

    def _model(self, learned: Learned, encoding: Encoding, data: Mapping[str, Any] | None = None) -> Model:
        """Return the predictor as a model; with the data that it is of, with all that tells where it came from."""
        result, known = learned.result, data is not None
        labels = None if self.goal.classes is None else labels_of(self.goal)
        table = None if learned.table is None else replace(learned.table, target=self.target)
        scales = {} if learned.scales is None else {"scales": learned.scales.tolist()}
        return Model(
            estimator=self.learner.name,
            task=self.goal.task,
            target=self.target,
            classes=labels,
            coef=learned.coef,
            intercept=learned.intercept,
            rule=learned.rule,
            encoding=encoding,
            options={**learned.options, **scales},
            data=data or {},
            certificate=result.certificate.to_dict() if known else None,
            summary={} if table is None or not known else table.to_dict(),
            status=str(result.status),
            message=result.message,
            covariance=learned.covariance,
            no_covariance=learned.no_covariance,
        )

    def judge(self, predictions: Predictions, goal: Goal) -> Evaluation:
        """Return how well predictions fit the target of their rows; of very many rows some, drawn at random, tell."""
        rows = _judged_rows(predictions, self.options.learn.seed)
        y, judged = (goal.y, predictions) if rows is None else (goal.y[rows], predictions.take(rows))
        if goal.classes is None:
            return evaluate_regressor(y, judged.scores)
        return evaluate_classifier(
            y, judged.probabilities, labels_of(goal), scores=judged.scores, predicted=judged.labels
        )


def quantities_of(encoding: Encoding) -> Bools:
    """Return which features have a unit: numbers and dates, not the marks of their gaps."""
    marks = np.zeros(len(encoding.feature_names), dtype=np.bool_)
    for column, place in zip(encoding.columns, encoding.places, strict=True):
        if column.kind in QUANTITIES:
            marks[place.start] = True
    return marks


def labels_of(goal: Goal) -> tuple[Any, ...]:
    """Return the classes in the order of the scores, of two the positive one last."""
    assert goal.classes is not None  # of a classification
    plain = goal.classes.plain
    return tuple(plain[::-1] if len(plain) == 2 and goal.positive == 0 else plain)


def cut_goal(goal: Goal, rows: Bools) -> Goal:
    """Return the goal of some rows; its classes stay all of them."""
    if rows.all():
        return goal
    classes = None if goal.classes is None else Classes(goal.classes.values, goal.classes.codes[rows])
    return replace(goal, y=goal.y[rows], classes=classes)


def _own_predictions(model: Model, held: HeldRows) -> Predictions:
    """Return what a model says of the rows it was fitted on, a block at a time."""
    places = np.flatnonzero(held.kept)
    found = []
    for start, X in held.blocks():
        first = 0 if start == 0 else int(places[start])
        stop = start + X.shape[0]
        last = len(held.kept) if stop == len(places) else int(places[stop])
        found.append(model.predict_encoded(Encoded(X, held.kept[first:last], ()), intervals=False))
    return replace(join_predictions(found), reports=held.reports)


def _judged_rows(predictions: Predictions, seed: int) -> Indices | None:
    """Return which rows to judge by, in order: those that were not left out, or as many of them as tell enough."""
    answered = None if predictions.kept is None else np.flatnonzero(predictions.kept)
    count = len(predictions) if answered is None else len(answered)
    if count <= MOST_JUDGED:
        return answered
    drawn = np.sort(np.random.default_rng(seed).choice(count, MOST_JUDGED, replace=False, shuffle=False))
    return drawn if answered is None else answered[drawn]
