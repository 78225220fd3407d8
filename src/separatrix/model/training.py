"""From a table to a model: goal found, columns encoded, a learner chosen and run, its predictor tried on other rows.

Every decision on the way is a sentence of the result. Rows held out, or folds, are encoded by what their training rows
said, as any later table is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.design.encode import Encoded, Encoding, plan_encoding
from separatrix.errors import DataError, OptionError, counted, require_choice
from separatrix.fit import Classes, Status, Watch
from separatrix.inference.evaluation import (
    ClassifierEvaluation,
    RegressorEvaluation,
    evaluate_classifier,
    evaluate_regressor,
)
from separatrix.model.goal import Goal, find_goal, known_target
from separatrix.model.learn import LEARNERS, Learned, Learner, LearnOptions, TrainingRows
from separatrix.model.predictions import Predictions
from separatrix.model.provenance import describe_data
from separatrix.model.record import Model, Task
from separatrix.tables.table import Table

__all__ = ["Evaluation", "TrainOptions", "Trained", "quantities_of", "train", "with_known_target"]

Evaluation = ClassifierEvaluation | RegressorEvaluation

QUANTITIES = {"number", "date"}  # kinds of columns that have a unit


@dataclass(frozen=True)
class TrainOptions:
    """What a user may ask for: the learner by name, or "auto"; what of the table; what to keep apart.

    `holdout` is the share of rows kept apart, `folds` the number of parts that are each kept apart once.
    """

    model: str = "auto"
    target: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    missing: str = "impute"
    reference: Mapping[str, str] = field(default_factory=dict)
    positive: str | None = None
    holdout: float | None = None
    folds: int | None = None
    learn: LearnOptions = field(default_factory=LearnOptions)


@dataclass(frozen=True, eq=False)
class Trained:
    """A model, how it was learned, what was decided, and how well it does: on its own rows, and on rows kept apart."""

    model: Model
    learned: Learned
    goal: Goal
    decisions: tuple[str, ...]
    own: Evaluation
    apart: Evaluation | None
    apart_words: str
    predictions: Predictions


def train(table: Table, options: TrainOptions = TrainOptions(), watch: Watch | None = None) -> Trained:  # noqa: B008  # frozen
    """Learn to predict a column of a table from the others."""
    target = known_target(table, options.target)
    if target in options.drop:
        raise OptionError(f"--drop {target!r} would drop the target; drop another column, or choose another --target")
    if options.holdout is not None and options.folds is not None:
        raise OptionError("--holdout and --cv each keep rows apart in their own way; give one of them")
    table, lost = with_known_target(table, target, options.missing)
    learner, goal = _choose(table, target, options)
    whole = _Fit(table, goal, learner, options, target)
    learned, encoding, encoded, rows = whole.learn(watch)
    model = whole.model(learned, encoding, rows)
    predictions = model.predict_encoded(encoded, intervals=False)
    apart, words = _kept_apart(_settled(whole, learned), watch)
    decisions = (*lost, goal.reason, _why(learner, options, goal), *learned.sentences, *encoding.decisions())
    return Trained(model, learned, goal, decisions, whole.judge(predictions, goal), apart, words, predictions)


def with_known_target(table: Table, target: str, missing: str) -> tuple[Table, tuple[str, ...]]:
    """Return the rows whose target is known, and a sentence about the others."""
    column = table.column(target)
    if not column.missing or missing == "error":
        return table, ()
    if column.missing == table.n_rows:
        raise DataError(f"the target {target!r} is missing in every row; choose another --target")
    words = f"{counted(column.missing, 'row')} without a {target!r} left out"
    return table.select(~column.is_missing), (words,)


def _choose(table: Table, target: str, options: TrainOptions) -> tuple[Learner, Goal]:
    """Return the learner asked for, or the one that suits the target, and the goal."""
    name = require_choice("model", options.model, ("auto", *LEARNERS))
    if name == "auto":
        goal = find_goal(table, target, None, options.positive)
        return LEARNERS["linear" if goal.task == "regression" else "logistic"], goal
    learner = LEARNERS[name]
    task: Task | None = learner.tasks[0] if len(learner.tasks) == 1 else None
    return learner, find_goal(table, target, task, options.positive)


def _why(learner: Learner, options: TrainOptions, goal: Goal) -> str:
    if options.model != "auto":
        return f"{learner.title} was asked for"
    if goal.task == "regression":
        return f"{learner.title}, as the target is a number: least squares, with errors of its coefficients"
    assert goal.classes is not None  # of a classification
    count = len(goal.classes.values)
    return f"{learner.title}, as the target has {count} classes: it gives probabilities, and errors of its coefficients"


class _Learnt(NamedTuple):
    """What a fit of a table's rows comes to: the predictor, and the rows as it saw them."""

    learned: Learned
    encoding: Encoding
    encoded: Encoded
    rows: TrainingRows


@dataclass(frozen=True, eq=False)
class _Fit:
    """One fit of a table's rows."""

    table: Table
    goal: Goal
    learner: Learner
    options: TrainOptions
    target: str

    def learn(self, watch: Watch | None = None) -> _Learnt:
        """Encode the rows and fit them."""
        options = self.options
        encoding = plan_encoding(
            self.table,
            self.target,
            drop=options.drop,
            missing=options.missing,
            text=options.text,
            reference=options.reference,
        )
        encoded = encoding.apply(self.table)
        goal = _cut(self.goal, encoded.kept)
        rows = TrainingRows(
            encoded.X, encoding.feature_names, quantities_of(encoding), goal.y, goal.classes, goal.positive
        )
        return _Learnt(self.learner.learn(rows, options.learn, watch), encoding, encoded, rows)

    def model(self, learned: Learned, encoding: Encoding, rows: TrainingRows | None = None) -> Model:
        """Return the predictor as a model; with the training rows, with all that tells where it came from."""
        result, known = learned.result, rows is not None
        labels = None if self.goal.classes is None else _labels(self.goal)
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
            data=describe_data(self.table, self.target, rows.X, rows.y, seed=self.options.learn.seed) if rows else {},
            certificate=result.certificate.to_dict() if known else None,
            summary={} if table is None or not known else table.to_dict(),
            status=str(result.status),
            message=result.message,
            covariance=learned.covariance,
            no_covariance=learned.no_covariance,
        )

    def judge(self, predictions: Predictions, goal: Goal) -> Evaluation:
        """Return how well predictions fit the target of their rows."""
        answered = _answered(predictions)
        if goal.classes is None:
            return evaluate_regressor(goal.y[answered], predictions.scores[answered].astype(np.float64))
        probabilities = None if predictions.probabilities is None else predictions.probabilities[answered]
        return evaluate_classifier(
            goal.y[answered],
            probabilities,
            _labels(goal),
            scores=predictions.scores[answered],
            predicted=predictions.labels[answered],
        )


def _answered(predictions: Predictions) -> NDArray[np.bool_]:
    """Return which rows were not left out for a missing cell."""
    if not predictions.left_out:
        return np.ones(len(predictions.labels), dtype=np.bool_)
    if predictions.classes is None:
        return ~np.isnan(predictions.scores)
    return np.asarray([label is not None for label in predictions.labels])


def quantities_of(encoding: Encoding) -> NDArray[np.bool_]:
    """Return which features have a unit: numbers and dates, not the marks of their gaps."""
    marks = np.zeros(len(encoding.feature_names), dtype=np.bool_)
    for column, place in zip(encoding.columns, encoding.places, strict=True):
        if column.kind in QUANTITIES:
            marks[place.start] = True
    return marks


def _labels(goal: Goal) -> tuple[Any, ...]:
    """Return the classes in the order of the scores, of two the positive one last."""
    assert goal.classes is not None  # of a classification
    plain = goal.classes.plain
    return tuple(plain[::-1] if len(plain) == 2 and goal.positive == 0 else plain)


def _cut(goal: Goal, rows: NDArray[np.bool_]) -> Goal:
    """Return the goal of some rows; its classes stay all of them."""
    if rows.all():
        return goal
    classes = None if goal.classes is None else Classes(goal.classes.values, goal.classes.codes[rows])
    return replace(goal, y=goal.y[rows], classes=classes)


def _settled(whole: _Fit, learned: Learned) -> _Fit:
    """Return the fit with the penalty that was found to be needed, which parts of its rows then need not find anew."""
    options, strength = whole.options, learned.options.get("strength")
    if options.learn.strength != "auto" or not strength:
        return whole
    return replace(whole, options=replace(options, learn=replace(options.learn, strength=strength)))


def _kept_apart(whole: _Fit, watch: Watch | None) -> tuple[Evaluation | None, str]:
    """Return how well fits of the other rows do on rows kept apart, and which those were, in words."""
    options, n = whole.options, whole.table.n_rows
    if options.holdout is None and options.folds is None:
        return None, ""
    from separatrix.fit import assign_folds  # noqa: PLC0415  # with all of cross-validation, which few fits need

    codes = None if whole.goal.classes is None else whole.goal.classes.codes
    if options.holdout is not None:
        if not 0.0 < options.holdout < 1.0:
            raise OptionError(f"holdout={options.holdout!r} is out of range; give a share between 0 and 1")
        parts = max(2, round(1.0 / options.holdout))
        rows = assign_folds(n, parts, options.learn.seed, codes) == 0
        words = f"on {counted(int(rows.sum()), 'row')} kept apart from the fit that is judged"
        return _judge_folds(whole, [rows], watch), words
    folds = assign_folds(n, int(options.folds or 0), options.learn.seed, codes)
    words = f"on each row by a fit of other rows, in {options.folds} folds"
    return _judge_folds(whole, [folds == number for number in range(int(folds.max()) + 1)], watch), words


def _judge_folds(whole: _Fit, parts: list[NDArray[np.bool_]], watch: Watch | None) -> Evaluation | None:
    """Return the evaluation of predictions of each part by a fit of the rest; None if one was interrupted."""
    found = []
    for held in parts:
        fit = replace(whole, table=whole.table.select(~held), goal=_cut(whole.goal, ~held))
        learned, encoding, *_ = fit.learn(watch)
        if learned.result.status is Status.INTERRUPTED:
            return None
        found.append(fit.model(learned, encoding).predict(whole.table.select(held), intervals=False))
    rows = np.concatenate([np.flatnonzero(held) for held in parts])
    mask = np.zeros(whole.table.n_rows, dtype=np.bool_)
    mask[rows] = True
    order = np.argsort(rows)
    return whole.judge(_joined(found, order), _cut(whole.goal, mask))


def _joined(parts: list[Predictions], order: NDArray[np.intp]) -> Predictions:
    """Return the predictions of several parts as those of all rows, in the rows' order."""

    def join(name: str) -> Any:
        pieces = [getattr(part, name) for part in parts]
        return None if pieces[0] is None else np.concatenate(pieces)[order]

    return replace(
        parts[0],
        labels=join("labels"),
        scores=join("scores"),
        probabilities=join("probabilities"),
        distance=None,
        intervals=None,
        left_out=sum(part.left_out for part in parts),
    )
