"""Training: a table in, a model out, with its evaluation on training and held-out rows.

`train` is the public function; `train_table` does the work. It reads the target, chooses a learner, encodes the columns
(`TableFit`), fits them, and evaluates the predictor. Every decision is a sentence of the result. Held-out rows and
folds are encoded by the plan of their training rows, as any later table is. The table may be larger than memory: it is
read by column or by block of rows, and `Storage` decides where its matrix is kept. Memory beside that: vectors with one
entry per row.
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
from separatrix.model.learn.base import Fitted, Learner, LearnOptions, Strength, TrainingRows, ordered_labels
from separatrix.model.provenance import describe_data
from separatrix.model.record import Model, Predictions, Task, join_predictions
from separatrix.model.storage import ClusterStorage, EncodedRows, RowStorage, Storage, as_dask_table
from separatrix.model.target import Target, find_target, known_target, read_target, require_columns
from separatrix.selection.cross_validation import assign_folds
from separatrix.tables.frames import from_frame
from separatrix.tables.open import open_table
from separatrix.tables.source import TableSource, as_source
from separatrix.tables.table import Table

Evaluation = ClassifierEvaluation | RegressorEvaluation

QUANTITIES = {"number", "date"}  # kinds of columns with a unit
MOST_EVALUATED = 1_000_000  # rows that a model is evaluated on: more would not change a digit shown


@dataclass(frozen=True)
class TrainOptions:
    """The options of a training: the learner by name or "auto", the columns, the rows to hold out.

    `holdout` is the share of rows to hold out, `folds` the number of folds that are each held out once.
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
        """Raise a DataError for a table whose column names lack one that the options name."""
        require_columns(source, names, self.target, (*self.drop, *self.text, *self.reference))


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model with its fit, its target, the decisions made, and its evaluations on training and held-out rows."""

    model: Model
    fitted: Fitted
    target: Target
    decisions: tuple[str, ...]
    own: Evaluation
    holdout: Evaluation | None
    holdout_description: str
    predictions: Predictions

    @property
    def training_description(self) -> str:
        """The training rows that `own` is about."""
        used = len(self.predictions) - self.predictions.left_out
        return "on its own rows" if self.own.rows == used else f"on {self.own.rows:,} of its own rows, drawn at random"


def train(  # noqa: PLR0913  # the public options, each by its name
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
    """Learn to predict a column of a table from the others, as `separatrix fit` does, without a report.

    Parameters
    ----------
    table : a path, folder, glob or `demo:NAME`; a pandas, polars, Arrow or Dask frame; or a table from
        `read_table`
    target : the column to predict; demos know theirs
    model : "auto" (least squares for a number, logistic regression for classes), "logistic", "linear", "svm",
        "perceptron", "lms" or "generative"
    drop, text : columns to leave out, and text columns whose words to use
    missing : "impute" fills missing cells and marks them, "drop" leaves such rows out, "error" rejects them
    reference : for categories, the level that the others are compared with, by column
    positive : which of two classes is the positive one, as text
    strength, l1_ratio : of the penalty: a number, "cv" (cross-validated) or "auto" (none unless it is needed)
    memory : how much memory may be used, in bytes or as "1GB"; by default half of what is free. A table that needs more
        is kept on disk during the fit, and gives the same model

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
    if isinstance(table, TableSource):  # which the caller closes
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


def train_table(
    table: Table | TableSource,
    options: TrainOptions = TrainOptions(),  # frozen
    watch: Watch | None = None,
) -> TrainedModel:
    """Learn to predict a column of a table from the others."""
    source = as_source(table)
    name = known_target(source, options.target)
    if name in options.drop:
        raise OptionError(f"--drop {name!r} would drop the target; drop another column, or choose another --target")
    if options.holdout is not None and options.folds is not None:
        raise OptionError("--holdout and --cv each keep rows apart in their own way; give one of them")
    known, lost = without_missing_target(source, name, options.missing)
    learner, target = _choose_learner(read_target(known, name), name, options)
    with options.storage.opened(_identity(source, options)) as storage:
        fit = TableFit(known, target, learner, options, name, storage)
        model, fitted, predictions = fit.learn(watch)
        holdout, description = evaluate_holdout(_with_strength(fit, fitted), watch)
    reasons = (*lost, target.reason, _learner_reason(learner, options, target), *_resumed(storage))
    decisions = (*reasons, *fitted.sentences, *model.encoding.decisions())
    training = fit.evaluate(predictions, target)
    return TrainedModel(model, fitted, target, decisions, training, holdout, description, predictions)


def without_missing_target(source: TableSource, target: str, missing: str) -> tuple[TableSource, tuple[str, ...]]:
    """Return the rows whose target is not missing, and a sentence about the others."""
    is_missing = source.column(target).is_missing
    count = int(np.count_nonzero(is_missing))
    if not count or missing == "error":
        return source, ()
    if count == source.n_rows:
        raise DataError(f"the target {target!r} is missing in every row; choose another --target")
    return source.select(~is_missing), (f"{counted(count, 'row')} without a {target!r} left out",)


def _choose_learner(table: Table, target_name: str, options: TrainOptions) -> tuple[Learner, Target]:
    """Return the requested learner, or the one that suits the target, and the target."""
    name = require_choice("model", options.model, ("auto", *LEARNERS))
    if name == "auto":
        target = find_target(table, target_name, None, options.positive)
        return LEARNERS["linear" if target.task == "regression" else "logistic"], target
    learner = LEARNERS[name]
    task: Task | None = learner.tasks[0] if len(learner.tasks) == 1 else None
    return learner, find_target(table, target_name, task, options.positive)


def _learner_reason(learner: Learner, options: TrainOptions, target: Target) -> str:
    if options.model != "auto":
        return f"{learner.title} was asked for"
    if target.task == "regression":
        return f"{learner.title}, as the target is a number: least squares, with errors of its coefficients"
    assert target.classes is not None  # a classification
    count = len(target.classes.values)
    return f"{learner.title}, as the target has {count} classes: it gives probabilities, and errors of its coefficients"


def _identity(source: TableSource, options: TrainOptions) -> dict[str, str]:
    """Return the settings that a checkpoint must share with this fit."""
    if options.storage.checkpoint is None:
        return {}
    from separatrix.design.journaled import versions  # noqa: PLC0415  # few fits need it

    settings = {**vars(options), **vars(options.learn), "engine": options.storage.engine}
    texts = {name: repr(value) for name, value in settings.items() if name not in {"storage", "learn"}}
    return {"table": source.source, **texts, **versions()}


def _resumed(storage: RowStorage) -> tuple[str, ...]:
    """Return a sentence about the passes found in a checkpoint, if there are any."""
    journal = storage.journal
    if journal is None or not journal.found:
        return ()
    return (f"{counted(journal.replayed, 'pass')} found in the checkpoint, {counted(journal.made, 'pass')} made",)


def _with_strength(fit: TableFit, fitted: Fitted) -> TableFit:
    """Return the fit with the penalty that all rows needed, so that folds do not look for it again."""
    options, strength = fit.options, fitted.options.get("strength")
    if options.learn.strength != "auto" or not strength:
        return fit
    return replace(fit, options=replace(options, learn=replace(options.learn, strength=strength)))


# One fit


class FittedTable(NamedTuple):
    """The result of a fit: the model, its fit, and its predictions of the training rows."""

    model: Model
    fitted: Fitted
    predictions: Predictions


@dataclass(frozen=True, eq=False)
class TableFit:
    """A fit of the rows of a table: columns encoded, rows stored, a learner run, its predictor evaluated."""

    source: TableSource
    target: Target
    learner: Learner
    options: TrainOptions
    target_name: str
    storage: RowStorage

    def learn(self, watch: Watch | None = None) -> FittedTable:
        """Encode the rows, fit them, and predict them."""
        encoding = self._encoding()
        with self.storage.hold(encoding, self.source) as encoded:
            rows = self._rows(encoding, encoded)
            fitted = self.learner.learn(rows, self.options.learn, watch)
            data = describe_data(self.source, self.target_name, encoded.stored, rows.y, seed=self.options.learn.seed)
            model = self._model(fitted, encoding, data)
            return FittedTable(model, fitted, _training_predictions(model, encoded))

    def predictor(self, watch: Watch | None = None) -> Model | None:
        """Encode the rows and fit them; return a model without provenance, None if the fit was interrupted."""
        encoding = self._encoding()
        with self.storage.hold(encoding, self.source) as encoded:
            fitted = self.learner.learn(self._rows(encoding, encoded), self.options.learn, watch)
        return None if fitted.result.status is Status.INTERRUPTED else self._model(fitted, encoding)

    def evaluate(self, predictions: Predictions, target: Target) -> Evaluation:
        """Return how well predictions fit the target of their rows, on a random sample if there are very many."""
        rows = _evaluated_rows(predictions, self.options.learn.seed)
        y, used = (target.y, predictions) if rows is None else (target.y[rows], predictions.take(rows))
        if target.classes is None:
            return evaluate_regressor(y, used.scores)
        labels = ordered_labels(target.classes, target.positive)
        return evaluate_classifier(y, used.probabilities, labels, scores=used.scores, predicted=used.labels)

    def _encoding(self) -> Encoding:
        options = self.options
        return plan_encoding(
            self.source,
            self.target_name,
            drop=options.drop,
            missing=options.missing,
            text=options.text,
            reference=options.reference,
        )

    def _rows(self, encoding: Encoding, encoded: EncodedRows) -> TrainingRows:
        target, quantities = select_target(self.target, encoded.kept), quantities_of(encoding)
        names = encoding.feature_names
        return TrainingRows(encoded.X, names, quantities, target.y, target.classes, target.positive, encoded.divided)

    def _model(self, fitted: Fitted, encoding: Encoding, data: Mapping[str, Any] | None = None) -> Model:
        """Return the predictor as a model; with `data`, also its certificate and inference."""
        result, target, is_final = fitted.result, self.target, data is not None
        table = None if fitted.table is None else replace(fitted.table, target=self.target_name)
        scales = {} if fitted.scales is None else {"scales": fitted.scales.tolist()}
        return Model(
            estimator=self.learner.name,
            task=target.task,
            target=self.target_name,
            classes=None if target.classes is None else ordered_labels(target.classes, target.positive),
            coef=fitted.coef,
            intercept=fitted.intercept,
            rule=fitted.rule,
            encoding=encoding,
            options={**fitted.options, **scales},
            data=data or {},
            certificate=result.certificate.to_dict() if is_final else None,
            summary={} if table is None or not is_final else table.to_dict(),
            status=str(result.status),
            message=result.message,
            covariance=fitted.covariance,
            no_covariance=fitted.no_covariance,
        )


def quantities_of(encoding: Encoding) -> Bools:
    """Return which features have a unit: numbers and dates, but not the indicators of their missing values."""
    marks = np.zeros(len(encoding.feature_names), dtype=np.bool_)
    for column, place in zip(encoding.columns, encoding.places, strict=True):
        if column.kind in QUANTITIES:
            marks[place.start] = True
    return marks


def select_target(target: Target, rows: Bools) -> Target:
    """Return the target of some rows; classes without rows stay."""
    if rows.all():
        return target
    classes = None if target.classes is None else Classes(target.classes.values, target.classes.codes[rows])
    return replace(target, y=target.y[rows], classes=classes)


def _training_predictions(model: Model, encoded: EncodedRows) -> Predictions:
    """Return a model's predictions of its training rows, computed in blocks."""
    places = np.flatnonzero(encoded.kept)
    predictions = []
    for start, X in encoded.blocks():
        first = 0 if start == 0 else int(places[start])
        stop = start + X.shape[0]
        last = len(encoded.kept) if stop == len(places) else int(places[stop])
        predictions.append(model.predict_encoded(Encoded(X, encoded.kept[first:last], ()), intervals=False))
    return replace(join_predictions(predictions), reports=encoded.reports)


def _evaluated_rows(predictions: Predictions, seed: int) -> Indices | None:
    """Return the rows to evaluate on, in order: those with a prediction, or a sample of them; None for all rows."""
    predicted = None if predictions.kept is None else np.flatnonzero(predictions.kept)
    count = len(predictions) if predicted is None else len(predicted)
    if count <= MOST_EVALUATED:
        return predicted
    drawn = np.sort(np.random.default_rng(seed).choice(count, MOST_EVALUATED, replace=False, shuffle=False))
    return drawn if predicted is None else predicted[drawn]


# Evaluation on held-out rows: one part, or each of several folds in turn


def evaluate_holdout(fit: TableFit, watch: Watch | None) -> tuple[Evaluation | None, str]:
    """Return the evaluation of fits to the other rows on held-out rows, and a description of these."""
    options, n = fit.options, fit.source.n_rows
    if options.holdout is None and options.folds is None:
        return None, ""
    codes = None if fit.target.classes is None else fit.target.classes.codes
    if options.holdout is not None:
        if not 0.0 < options.holdout < 1.0:
            raise OptionError(f"holdout={options.holdout!r} is out of range; give a share between 0 and 1")
        rows = assign_folds(n, folds_for_share(options.holdout, n), options.learn.seed, codes) == 0
        description = f"on {counted(int(rows.sum()), 'row')} kept apart from the fit that is judged"
        return _described(_evaluate_folds(fit, [rows], watch), description, int(rows.sum()))
    folds = assign_folds(n, int(options.folds or 0), options.learn.seed, codes)
    masks = [folds == number for number in range(int(folds.max()) + 1)]
    description = f"on each row by a fit of other rows, in {options.folds} folds"
    return _described(_evaluate_folds(fit, masks, watch), description, n)


def folds_for_share(share: float, n: int) -> int:
    """Return the number of folds of n rows of which one is the share to hold out; it needs at least one row."""
    parts = max(2, round(1.0 / share))
    if parts > n:
        raise OptionError(f"holdout={share!r} is less than one of {counted(n, 'row')}; give a larger share, as 0.2")
    return parts


def _described(evaluation: Evaluation | None, description: str, rows: int) -> tuple[Evaluation | None, str]:
    """Return an evaluation and the description of its rows, which says if they are a sample."""
    sampled = evaluation is not None and evaluation.rows == MOST_EVALUATED < rows
    return evaluation, f"{description}, of which {MOST_EVALUATED:,} drawn at random" if sampled else description


def _evaluate_folds(fit: TableFit, folds: list[Bools], watch: Watch | None) -> Evaluation | None:
    """Return the evaluation of each fold's predictions by a fit to the other rows; None if one was interrupted."""
    predictions = []
    for fold in folds:
        others = replace(fit, source=fit.source.select(~fold), target=select_target(fit.target, ~fold))
        model = others.predictor(watch)
        if model is None:
            return None
        blocks = fit.source.select(fold).blocks()
        predictions.append(join_predictions([model.predict(block, intervals=False) for block in blocks]))
    rows = np.concatenate([np.flatnonzero(fold) for fold in folds])
    mask = np.zeros(fit.source.n_rows, dtype=np.bool_)
    mask[rows] = True
    return fit.evaluate(join_predictions(predictions, np.argsort(rows)), select_target(fit.target, mask))
