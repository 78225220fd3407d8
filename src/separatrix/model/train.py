"""Training: a table in, a model out, with its evaluation on training and held-out rows.

`train` is the public function; `train_table` does the work. It reads the target, chooses a learner, encodes the columns
(`TableFit`), fits them, and evaluates the predictor. Every decision is a sentence of the result. Held-out rows and
folds are encoded by the plan of their training rows, as any later table is. The table may be larger than memory: it is
read by column or by block of rows, and `Storage` decides where its matrix is kept. Memory beside that: vectors with one
entry per row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from separatrix.arrays import Bools, Indices
from separatrix.design.encode.encoding import Encoded, Encoding
from separatrix.design.encode.plan import plan_encoding
from separatrix.design.memory import parse_memory
from separatrix.design.row_source import is_dask
from separatrix.errors import DataError, OptionError, counted, require_choice, require_number
from separatrix.families.base import Fitted, TrainingRows, fit_family, order_classes
from separatrix.families.options import FAMILIES, Options, foreign_option, table_options
from separatrix.fit.labels import Classes
from separatrix.fit.result import Status
from separatrix.fit.run import Watch
from separatrix.inference.evaluation import (
    ClassifierEvaluation,
    RegressorEvaluation,
    evaluate_classifier,
    evaluate_regressor,
)
from separatrix.model.expansion import require_portable_kernel
from separatrix.model.provenance import describe_data
from separatrix.model.record import LEVEL, Model, Predictions, build_model, join_predictions, require_one_predictor
from separatrix.model.storage import ClusterStorage, EncodedRows, RowStorage, Storage, as_dask_table
from separatrix.model.target import Target, find_target, known_target, label_index, read_target, require_columns
from separatrix.selection.cross_validation import assign_folds
from separatrix.tables.frames import from_frame
from separatrix.tables.open import open_table
from separatrix.tables.source import TableSource, as_source
from separatrix.tables.table import Table

Evaluation = ClassifierEvaluation | RegressorEvaluation

MOST_EVALUATED = 1_000_000  # rows that a model is evaluated on: more would not change a digit shown


@dataclass(frozen=True)
class TrainOptions:
    """The options of a training: the model, the columns, the rows to hold out.

    `model` is the name of a family, "auto", or the options themselves, as an unfitted estimator is. `given` are options
    of the family by name; `positive` and `reference_class` name classes as text. `holdout` is the share of rows to hold
    out, `folds` the number of folds that are each held out once.
    """

    model: str | Options = "auto"
    given: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    missing: str = "impute"
    reference: Mapping[str, str] = field(default_factory=dict)
    positive: str | None = None
    reference_class: str | None = None
    holdout: float | None = None
    folds: int | None = None
    seed: int = 0
    storage: Storage = field(default_factory=Storage)
    spelled: Callable[[str], str] = str

    def expect(self, source: str, names: tuple[str, ...]) -> None:
        """Raise a DataError for a table whose column names lack one that the options name."""
        require_columns(source, names, self.target, (*self.drop, *self.text, *self.reference))

    @property
    def family(self) -> str:
        """The name of the family, or "auto"."""
        if isinstance(self.model, Options):
            return self.model.family
        return require_choice("model", self.model, ("auto", *FAMILIES))

    def of_family(self, family: str, classes: Classes | None) -> Any:
        """Return the checked options of the family, classes named by their values."""
        if isinstance(self.model, Options):
            if self.given:
                raise OptionError(f"{next(iter(self.given))} is an option of the estimator; set it there")
            options: Any = self.model.checked()
        else:
            options = table_options(family, self.given, self.spelled)
            if hasattr(options, "random_state"):
                options.random_state = self.seed
        for name, label in (("positive", self.positive), ("reference_class", self.reference_class)):
            if label is not None:
                _set_class(options, name, label, classes, self.spelled)
        return options


def _set_class(options: Any, name: str, label: str, classes: Classes | None, spelled: Callable[[str], str]) -> None:
    """Set an option that names a class to the class that a text names."""
    if classes is None:
        raise OptionError(f"{spelled(name)} {label!r} is about classes, but the target is a number; leave it out")
    if not hasattr(options, name):
        raise OptionError(foreign_option(spelled(name), name, options.family))
    setattr(options, name, classes.plain[label_index(label, classes, spelled(name))])


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
        return (
            "on the training rows" if self.own.rows == used else f"on {self.own.rows:,} training rows drawn at random"
        )


def train(  # noqa: PLR0913  # the public options, each by its name
    table: Any,
    target: str | None = None,
    *,
    model: Any = "auto",
    drop: Sequence[str] = (),
    text: Sequence[str] = (),
    missing: str = "impute",
    reference: Mapping[str, str] | None = None,
    positive: Any = None,
    reference_class: Any = None,
    strength: float | Literal["auto", "cv"] | None = None,
    l1_ratio: float | None = None,
    scaling: Literal["none", "spread"] | None = None,
    intercept: bool | None = None,
    seed: int = 0,
    memory: str | float | None = None,
) -> Model:
    """Learn to predict a column of a table from the others, as `separatrix fit` does, without a report.

    Parameters
    ----------
    table : a path, folder, glob or `demo:NAME`; a pandas, polars, Arrow or Dask frame; or a table from
        `read_table`
    target : the column to predict; demos know theirs
    model : "auto" (least squares for a number, logistic regression for classes), the name of a family such as
        "logistic", "linear", "svm", "perceptron", "lms" or "generative", or an unfitted estimator, whose options are
        taken as they are
    drop, text : columns to leave out, and text columns whose words to use
    missing : "impute" fills missing cells and marks them, "drop" leaves such rows out, "error" rejects them
    reference : for categories, the level that the others are compared with, by column
    positive : which of two classes is the positive one
    reference_class : the class that the others are compared with, of logistic regression
    strength, l1_ratio, scaling, intercept : options of the named family. Two defaults differ from those of estimators:
        strength "auto" (no penalty unless it is needed) and scaling "spread" (columns of a table have units)
    seed : seeds folds, held-out rows, and random orders
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
    aliases = {"strength": strength, "l1_ratio": l1_ratio, "scaling": scaling, "fit_intercept": intercept}
    options = TrainOptions(
        model=unwrap(model),
        given={name: value for name, value in aliases.items() if value is not None},
        target=target,
        drop=tuple(drop),
        text=tuple(text),
        missing=missing,
        reference=dict(reference or {}),
        positive=None if positive is None else str(positive),
        reference_class=None if reference_class is None else str(reference_class),
        seed=int(require_number("seed", seed, least=0)),
        storage=Storage(None if memory is None else parse_memory(memory)),
    )
    if is_dask(table):
        options = replace(options, storage=ClusterStorage())
    if isinstance(table, TableSource):  # which the caller closes
        return train_table(table, options).model
    with _as_source(table, options) as source:
        return train_table(source, options).model


def unwrap(model: Any) -> str | Options:
    """Return a name, or the options of an unfitted estimator; `OneVsRest` sets the option of its estimator."""
    if isinstance(model, str | Options):
        return model
    inner = getattr(model, "estimator", None)
    if not isinstance(inner, Options):
        raise OptionError(f"model={model!r} is not known; give the name of a family or an estimator of separatrix")
    options = inner.checked()
    if hasattr(options, "multiclass"):
        options.multiclass = "one_vs_rest"
    return options


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
    target = _find_target(read_target(known, name), name, options.family)
    family = _choose_family(options.family, target)
    learner = options.of_family(family, target.classes)
    require_one_predictor(learner)
    require_portable_kernel(getattr(learner, "kernel", None))
    target = _in_order(target, learner)
    with options.storage.opened(_identity(source, options, learner)) as storage:
        fit = TableFit(known, target, learner, options, name, storage)
        model, fitted, predictions = fit.learn(watch)
        holdout, description = evaluate_holdout(_with_strength(fit, fitted), watch)
    reasons = (*lost, target.reason, _family_reason(learner, options, target), *_resumed(storage))
    decisions = (*reasons, *fitted.sentences, *model.encoding.decisions())
    training = evaluate_predictions(predictions, target, seed=options.seed)
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


def _find_target(table: Table, name: str, family: str) -> Target:
    tasks = () if family == "auto" else FAMILIES[family].tasks
    return find_target(table, name, tasks[0] if len(tasks) == 1 else None)


def _choose_family(family: str, target: Target) -> str:
    """Return the requested family, or the one that suits the target."""
    if family != "auto":
        return family
    return "linear" if target.task == "regression" else "logistic"


def _in_order(target: Target, options: Any) -> Target:
    """Return the target with its classes in the order of the scores."""
    if target.classes is None:
        return target
    reference = getattr(options, "reference_class", None)
    return replace(target, classes=order_classes(target.classes, getattr(options, "positive", None), reference))


def _family_reason(learner: Options, options: TrainOptions, target: Target) -> str:
    if options.family != "auto":
        return f"{learner.title}, as given"
    if target.task == "regression":
        return f"{learner.title}, as the target is a number"
    assert target.classes is not None  # a classification
    return f"{learner.title}, as the target has {len(target.classes.values)} classes"


def _identity(source: TableSource, options: TrainOptions, learner: Options) -> dict[str, str]:
    """Return the settings that a checkpoint must share with this fit."""
    if options.storage.checkpoint is None:
        return {}
    from separatrix.design.journaled import versions  # noqa: PLC0415  # few fits need it

    settings = {**vars(options), **learner.plain(), "model": learner.family, "engine": options.storage.engine}
    texts = {name: repr(value) for name, value in settings.items() if name not in {"storage", "given", "spelled"}}
    return {"table": source.source, **texts, **versions()}


def _resumed(storage: RowStorage) -> tuple[str, ...]:
    """Return a sentence about the passes found in a checkpoint, if there are any."""
    journal = storage.journal
    if journal is None or not journal.found:
        return ()
    return (f"{counted(journal.replayed, 'pass')} found in the checkpoint, {counted(journal.made, 'pass')} made",)


def _with_strength(fit: TableFit, fitted: Fitted) -> TableFit:
    """Return the fit with the penalty that all rows needed, so that folds do not look for it again."""
    if getattr(fit.learner, "strength", None) != "auto" or not fitted.strength:
        return fit
    return replace(fit, learner=replace(fit.learner, strength=fitted.strength))


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
    learner: Any  # checked options of a family
    options: TrainOptions
    target_name: str
    storage: RowStorage

    def learn(self, watch: Watch | None = None) -> FittedTable:
        """Encode the rows, fit them, and predict them."""
        encoding = self._encoding()
        with self.storage.hold(encoding, self.source) as encoded:
            rows = self._rows(encoding, encoded)
            fitted = fit_family(rows, self.learner, watch)
            data = describe_data(self.source, self.target_name, encoded.stored, rows.y, seed=self.options.seed)
            model = self._model(fitted, encoding, data)
            return FittedTable(model, fitted, _training_predictions(model, encoded))

    def predictor(self, watch: Watch | None = None) -> Model | None:
        """Encode the rows and fit them; return a model without provenance, None if the fit was interrupted."""
        encoding = self._encoding()
        with self.storage.hold(encoding, self.source) as encoded:
            fitted = fit_family(self._rows(encoding, encoded), self.learner, watch)
        return None if fitted.result.status is Status.INTERRUPTED else self._model(fitted, encoding)

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
        return training_rows(encoding, encoded.X, select_target(self.target, encoded.kept))

    def _model(self, fitted: Fitted, encoding: Encoding, data: Mapping[str, Any] | None = None) -> Model:
        """Return the predictor as a model; with `data`, also its certificate and inference."""
        return build_model(fitted, encoding, self.target_name, data)


def training_rows(encoding: Encoding, X: Any, target: Target) -> TrainingRows:
    """Return encoded rows with their target."""
    names, scalable = encoding.feature_names, ~_text_columns(encoding)
    return TrainingRows(X, target.y, target.classes, names=names, quantities=scalable)


def _text_columns(encoding: Encoding) -> Bools:
    """Return which features are the words of a text, which are not scaled."""
    marks = np.zeros(len(encoding.feature_names), dtype=np.bool_)
    for column, place in zip(encoding.columns, encoding.places, strict=True):
        if column.kind == "text":
            marks[place] = True
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


def evaluate_predictions(
    predictions: Predictions, target: Target, *, seed: int = 0, level: float = LEVEL
) -> Evaluation:
    """Return how well predictions fit the target of their rows, on a random sample if there are very many."""
    rows = _evaluated_rows(predictions, seed)
    y, used = (target.y, predictions) if rows is None else (target.y[rows], predictions.take(rows))
    if used.classes is None:
        return evaluate_regressor(y, used.scores, level=level)
    return evaluate_classifier(
        y, used.probabilities, used.classes, scores=used.scores, predicted=used.labels, level=level
    )


def predict_source(model: Model, source: TableSource) -> Predictions:
    """Return a model's predictions for all rows of an opened table, without intervals."""
    return join_predictions([model.predict(block, intervals=False) for block in source.blocks()])


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
        rows = assign_folds(n, folds_for_share(options.holdout, n), options.seed, codes) == 0
        description = f"on {counted(int(rows.sum()), 'held-out row')}"
        return _described(_evaluate_folds(fit, [rows], watch), description, int(rows.sum()))
    folds = assign_folds(n, int(options.folds or 0), options.seed, codes, option="folds")
    masks = [folds == number for number in range(int(folds.max()) + 1)]
    description = f"on all rows by {options.folds}-fold cross-validation"
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
    return evaluation, f"{description}, {MOST_EVALUATED:,} of them drawn at random" if sampled else description


def _evaluate_folds(fit: TableFit, folds: list[Bools], watch: Watch | None) -> Evaluation | None:
    """Return the evaluation of each fold's predictions by a fit to the other rows; None if one was interrupted."""
    predictions = []
    for fold in folds:
        others = replace(fit, source=fit.source.select(~fold), target=select_target(fit.target, ~fold))
        model = others.predictor(watch)
        if model is None:
            return None
        predictions.append(predict_source(model, fit.source.select(fold)))
    rows = np.concatenate([np.flatnonzero(fold) for fold in folds])
    mask = np.zeros(fit.source.n_rows, dtype=np.bool_)
    mask[rows] = True
    joined = join_predictions(predictions, np.argsort(rows))
    return evaluate_predictions(joined, select_target(fit.target, mask), seed=fit.options.seed)
