"""What a user may ask of a training, and nothing of how it is done.

One fit of a table's rows: columns encoded, rows kept as the storage says, a learner run, its predictor tried.

How well a model does on rows that it was not fitted on: a share kept apart, or each part of several in turn.

From a table to a model: goal found, columns encoded, a learner chosen and run, its predictor tried on other rows.

Every decision on the way is a sentence of the result. Rows held out, or folds, are encoded by what their training rows
said, as any later table is. The table may be larger than memory: it is read a column or a block of rows at a time, and
its matrix is kept as the storage says. In memory are, beside that, vectors with an entry a row.

A model in one call: a path, a frame or a table in, a model out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Bools, Indices
from separatrix.design.encode.encoding import Encoded, Encoding
from separatrix.design.encode.plan import plan_encoding
from separatrix.design.memory import parse_memory
from separatrix.design.row_source import is_dask
from separatrix.errors import DataError, OptionError, counted, require_choice
from separatrix.fit.labels import Classes
from separatrix.fit.result import Status
from separatrix.fit.run import Watch
from separatrix.inference.evaluation import (
    ClassifierEvaluation,
    RegressorEvaluation,
    evaluate_classifier,
    evaluate_regressor,
)
from separatrix.model.learn import LEARNERS
from separatrix.model.learn.base import Fitted, Learner, LearnOptions, Strength, TrainingRows
from separatrix.model.provenance import describe_data
from separatrix.model.record import Model, Predictions, Task, join_predictions
from separatrix.model.storage import ClusterStorage, EncodedRows, RowStorage, Storage, as_dask_table
from separatrix.model.target import Target, find_target, known_target, read_target, refuse_unknown
from separatrix.tables.frames import from_frame
from separatrix.tables.open import open_table
from separatrix.tables.source import TableSource, as_source
from separatrix.tables.table import Table


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
    storage: Storage = field(default_factory=Storage)

    def expect(self, source: str, names: tuple[str, ...]) -> None:
        """Refuse a table, by the names of its columns, that lacks one of those asked for."""
        refuse_unknown(source, names, self.target, (*self.drop, *self.text, *self.reference))


Evaluation = ClassifierEvaluation | RegressorEvaluation

QUANTITIES = {"number", "date"}  # kinds of columns that have a unit
MOST_JUDGED = 1_000_000  # rows that tell how well a model does: more would change no digit that is shown


class FittedTable(NamedTuple):
    """What a fit of a table's rows comes to: the predictor, how it was learned, and what it says of its own rows."""

    model: Model
    learned: Fitted
    predictions: Predictions


@dataclass(frozen=True, eq=False)
class TableFit:
    """One fit of a table's rows."""

    source: TableSource
    goal: Target
    learner: Learner
    options: TrainOptions
    target: str
    keeper: RowStorage

    def learn(self, watch: Watch | None = None) -> FittedTable:
        """Encode the rows, fit them, and predict them."""
        encoding = self._encoding()
        with self.keeper.hold(encoding, self.source) as held:
            rows = self._rows(encoding, held)
            learned = self.learner.learn(rows, self.options.learn, watch)
            data = describe_data(self.source, self.target, held.stored, rows.y, seed=self.options.learn.seed)
            model = self._model(learned, encoding, data)
            return FittedTable(model, learned, _own_predictions(model, held))

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

    def _rows(self, encoding: Encoding, held: EncodedRows) -> TrainingRows:
        goal, quantities = cut_target(self.goal, held.kept), quantities_of(encoding)
        names = encoding.feature_names
        return TrainingRows(held.X, names, quantities, goal.y, goal.classes, goal.positive, held.divided)

    def _model(self, learned: Fitted, encoding: Encoding, data: Mapping[str, Any] | None = None) -> Model:
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

    def judge(self, predictions: Predictions, goal: Target) -> Evaluation:
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


def labels_of(goal: Target) -> tuple[Any, ...]:
    """Return the classes in the order of the scores, of two the positive one last."""
    assert goal.classes is not None  # of a classification
    plain = goal.classes.plain
    return tuple(plain[::-1] if len(plain) == 2 and goal.positive == 0 else plain)


def cut_target(goal: Target, rows: Bools) -> Target:
    """Return the goal of some rows; its classes stay all of them."""
    if rows.all():
        return goal
    classes = None if goal.classes is None else Classes(goal.classes.values, goal.classes.codes[rows])
    return replace(goal, y=goal.y[rows], classes=classes)


def _own_predictions(model: Model, held: EncodedRows) -> Predictions:
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


def evaluate_holdout(whole: TableFit, watch: Watch | None) -> tuple[Evaluation | None, str]:
    """Return how well fits of the other rows do on rows kept apart, and which those were, in words."""
    options, n = whole.options, whole.source.n_rows
    if options.holdout is None and options.folds is None:
        return None, ""
    from separatrix.selection.cross_validation import assign_folds  # noqa: PLC0415  # with all of cross-validation, which few fits need

    codes = None if whole.goal.classes is None else whole.goal.classes.codes
    if options.holdout is not None:
        if not 0.0 < options.holdout < 1.0:
            raise OptionError(f"holdout={options.holdout!r} is out of range; give a share between 0 and 1")
        rows = assign_folds(n, parts_of(options.holdout, n), options.learn.seed, codes) == 0
        words = f"on {counted(int(rows.sum()), 'row')} kept apart from the fit that is judged"
        return _told(_evaluate_folds(whole, [rows], watch), words, int(rows.sum()))
    folds = assign_folds(n, int(options.folds or 0), options.learn.seed, codes)
    words = f"on each row by a fit of other rows, in {options.folds} folds"
    return _told(_evaluate_folds(whole, [folds == number for number in range(int(folds.max()) + 1)], watch), words, n)


def parts_of(share: float, n: int) -> int:
    """Return how many parts n rows have of which one is a share to keep apart; it must be a row at least."""
    parts = max(2, round(1.0 / share))
    if parts > n:
        raise OptionError(f"holdout={share!r} is less than one of {counted(n, 'row')}; give a larger share, as 0.2")
    return parts


def _told(found: Evaluation | None, words: str, rows: int) -> tuple[Evaluation | None, str]:
    """Return an evaluation with the words for its rows, and whether they were drawn from more."""
    drawn = found is not None and found.rows == MOST_JUDGED < rows
    return found, f"{words}, of which {MOST_JUDGED:,} drawn at random" if drawn else words


def _evaluate_folds(whole: TableFit, parts: list[Bools], watch: Watch | None) -> Evaluation | None:
    """Return the evaluation of predictions of each part by a fit of the rest; None if one was interrupted."""
    found = []
    for held in parts:
        fit = replace(whole, source=whole.source.select(~held), goal=cut_target(whole.goal, ~held))
        model = fit.predictor(watch)
        if model is None:
            return None
        blocks = whole.source.select(held).blocks()
        found.append(join_predictions([model.predict(block, intervals=False) for block in blocks]))
    rows = np.concatenate([np.flatnonzero(held) for held in parts])
    mask = np.zeros(whole.source.n_rows, dtype=np.bool_)
    mask[rows] = True
    return whole.judge(join_predictions(found, np.argsort(rows)), cut_target(whole.goal, mask))


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model, how it was learned, what was decided, and how well it does: on its own rows, and on rows kept apart."""

    model: Model
    learned: Fitted
    goal: Target
    decisions: tuple[str, ...]
    own: Evaluation
    apart: Evaluation | None
    apart_words: str
    predictions: Predictions

    @property
    def own_words(self) -> str:
        """On which of its rows `own` is."""
        used = len(self.predictions) - self.predictions.left_out
        return "on its own rows" if self.own.rows == used else f"on {self.own.rows:,} of its own rows, drawn at random"


def train_table(
    table: Table | TableSource,
    options: TrainOptions = TrainOptions(),  # frozen
    watch: Watch | None = None,
) -> TrainedModel:
    """Learn to predict a column of a table from the others."""
    source = as_source(table)
    target = known_target(source, options.target)
    if target in options.drop:
        raise OptionError(f"--drop {target!r} would drop the target; drop another column, or choose another --target")
    if options.holdout is not None and options.folds is not None:
        raise OptionError("--holdout and --cv each keep rows apart in their own way; give one of them")
    known, lost = with_known_target(source, target, options.missing)
    learner, goal = _choose(read_target(known, target), target, options)
    with options.storage.opened(_identity(source, options)) as keeper:
        whole = TableFit(known, goal, learner, options, target, keeper)
        model, learned, predictions = whole.learn(watch)
        apart, words = evaluate_holdout(_settled(whole, learned), watch)
    found = _resumed(keeper)
    reasons = (*lost, goal.reason, _why(learner, options, goal), *found)
    decisions = (*reasons, *learned.sentences, *model.encoding.decisions())
    return TrainedModel(model, learned, goal, decisions, whole.judge(predictions, goal), apart, words, predictions)


def _identity(source: TableSource, options: TrainOptions) -> dict[str, str]:
    """Return what must be the same for a fit to go on where an earlier one was."""
    if options.storage.checkpoint is None:
        return {}
    from separatrix.design.journaled import versions  # noqa: PLC0415  # few fits need it

    asked = {**vars(options), **vars(options.learn), "engine": options.storage.engine}
    said = {name: repr(value) for name, value in asked.items() if name not in {"storage", "learn"}}
    return {"table": source.source, **said, **versions()}


def _resumed(keeper: RowStorage) -> tuple[str, ...]:
    """Return a sentence about the passes that a checkpoint spared, if there were any."""
    journal = keeper.journal
    if journal is None or not journal.found:
        return ()
    return (f"{counted(journal.replayed, 'pass')} found in the checkpoint, {counted(journal.made, 'pass')} made",)


def with_known_target(source: TableSource, target: str, missing: str) -> tuple[TableSource, tuple[str, ...]]:
    """Return the rows whose target is known, and a sentence about the others."""
    gaps = source.column(target).is_missing
    count = int(np.count_nonzero(gaps))
    if not count or missing == "error":
        return source, ()
    if count == source.n_rows:
        raise DataError(f"the target {target!r} is missing in every row; choose another --target")
    return source.select(~gaps), (f"{counted(count, 'row')} without a {target!r} left out",)


def _choose(table: Table, target: str, options: TrainOptions) -> tuple[Learner, Target]:
    """Return the learner asked for, or the one that suits the target, and the goal."""
    name = require_choice("model", options.model, ("auto", *LEARNERS))
    if name == "auto":
        goal = find_target(table, target, None, options.positive)
        return LEARNERS["linear" if goal.task == "regression" else "logistic"], goal
    learner = LEARNERS[name]
    task: Task | None = learner.tasks[0] if len(learner.tasks) == 1 else None
    return learner, find_target(table, target, task, options.positive)


def _why(learner: Learner, options: TrainOptions, goal: Target) -> str:
    if options.model != "auto":
        return f"{learner.title} was asked for"
    if goal.task == "regression":
        return f"{learner.title}, as the target is a number: least squares, with errors of its coefficients"
    assert goal.classes is not None  # of a classification
    count = len(goal.classes.values)
    return f"{learner.title}, as the target has {count} classes: it gives probabilities, and errors of its coefficients"


def _settled(whole: TableFit, learned: Fitted) -> TableFit:
    """Return the fit with the penalty that was found to be needed, which parts of its rows then need not find anew."""
    options, strength = whole.options, learned.options.get("strength")
    if options.learn.strength != "auto" or not strength:
        return whole
    return replace(whole, options=replace(options, learn=replace(options.learn, strength=strength)))


def train(  # noqa: PLR0913  # what a user may ask for, each by its name
    table: Any,
    target: str | None = None,
    *,
    model: str = "auto",
    drop: Sequence[str] = (),
    text: Sequence[str] = (),
    missing: str = "impute",
    reference: Mapping[str, str] | None = None,
    positive: str | None = None,
    strength: Strength = "auto",
    l1_ratio: float = 0.0,
    intercept: bool = True,
    seed: int = 0,
    memory: str | float | None = None,
) -> Model:
    """Learn to predict a column of a table from the others; what `separatrix fit` does, without its page.

    Parameters
    ----------
    table : a path, folder, glob or `demo:NAME`; a frame of pandas, polars, Arrow or Dask; or what
        `read_table` returned
    target : the column to predict; a demo knows its own
    model : "auto" (least squares of a number, logistic regression of classes), "logistic", "linear", "svm",
        "perceptron", "lms" or "generative"
    drop, text : columns to leave out, and those whose words to use
    missing : "impute" fills gaps and marks them, "drop" leaves such rows out, "error" refuses them
    reference : the level that the others of a category are compared with, by column
    positive : which of two classes is the second, as text
    strength, l1_ratio : of the penalty: a number, "cv" (cross-validated) or "auto" (none unless there is need)
    memory : how much of it may be used, in bytes or as "1GB"; half of what is free if not said. A table that needs more
        is kept on disk meanwhile, and gives the same model

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.train("demo:iris", drop=["petal_length", "petal_width"])
    >>> model.estimator, model.classes
    ('logistic', ('setosa', 'versicolor', 'virginica'))
    >>> model.predict(sx.read_table("demo:iris")).labels[:2]
    array(['setosa', 'setosa'], dtype=object)
    """
    learn = LearnOptions(strength=strength, l1_ratio=l1_ratio, intercept=intercept, seed=seed)
    options = TrainOptions(
        model=model,
        target=target,
        drop=tuple(drop),
        text=tuple(text),
        missing=missing,
        reference=dict(reference or {}),
        positive=positive,
        learn=learn,
        storage=Storage(None if memory is None else parse_memory(memory)),
    )
    if is_dask(table):
        options = replace(options, storage=ClusterStorage())
    if isinstance(table, TableSource):  # which its owner closes
        return train_table(table, options).model
    with _as_source(table, options) as source:
        return train_table(source, options).model


def _as_source(table: Any, options: TrainOptions) -> TableSource:
    if isinstance(table, Table):
        return as_source(table)
    if is_dask(table):
        return as_dask_table(table)
    if not isinstance(table, str | Path):
        return as_source(from_frame(table))
    return open_table(str(table), memory=options.storage.table_memory, expect=options.expect)
