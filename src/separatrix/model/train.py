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
from typing import Any, Literal

import numpy as np

from separatrix.arrays import Bools, Indices
from separatrix.design.build import is_dask
from separatrix.design.encode.encoding import Encoded
from separatrix.design.memory import parse_memory
from separatrix.errors import OptionError, counted, require_choice, require_number
from separatrix.families.base import Fitted, checked_weights, fit_family, order_classes, seeded
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
from separatrix.model.storage import EncodedRows, OpenStorage, Storage, dask_table
from separatrix.model.target import ColumnOptions, Target, label_index, labelled_rows, open_rows, training_rows
from separatrix.selection import assign_folds
from separatrix.tables.source import TableSource

Evaluation = ClassifierEvaluation | RegressorEvaluation

MOST_EVALUATED = 1_000_000  # rows that a model is evaluated on: more would not change a digit shown


@dataclass(frozen=True)
class TrainOptions(ColumnOptions):
    """The options of a training: the model, the columns, the rows to hold out.

    `model` is the name of a family, "auto", or the options themselves, as an unfitted estimator is. `given` are options
    of the family by name; `positive` and `reference_class` name classes as text. `holdout` is the share of rows to hold
    out, `folds` the number of folds that are each held out once.
    """

    model: str | Options = "auto"
    given: Mapping[str, Any] = field(default_factory=dict)
    positive: str | None = None
    reference_class: str | None = None
    holdout: float | None = None
    folds: int | None = None
    seed: int = 0
    spelled: Callable[[str], str] = str

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
            options: Any = seeded(self.model.checked())
        else:
            options = table_options(family, self.given, self.spelled)
            if hasattr(options, "random_state"):
                options.random_state = self.seed
        for name, label in (("positive", self.positive), ("reference_class", self.reference_class)):
            if label is not None:
                self._set_class(options, name, label, classes)
        return options

    def _set_class(self, options: Any, name: str, label: str, classes: Classes | None) -> None:
        """Set an option that names a class to the class that a text names."""
        flag = self.spelled(name)
        if classes is None:
            raise OptionError(f"{flag} {label!r} is about classes, but the target is a number; leave it out")
        if not hasattr(options, name):
            raise OptionError(foreign_option(flag, name, options.family))
        setattr(options, name, classes.plain[label_index(label, classes, flag)])


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
        sampled = self.own.rows < used and (self.target.weights is None or used > MOST_EVALUATED)  # or of weight 0
        return f"on {self.own.rows:,} training rows drawn at random" if sampled else "on the training rows"


def train(  # noqa: PLR0913  # the public options, each by its name
    table: Any,
    target: str | None = None,
    *,
    model: Any = "auto",
    drop: str | Sequence[str] = (),
    text: str | Sequence[str] = (),
    missing: str = "impute",
    reference: Mapping[str, Any] | None = None,
    positive: Any = None,
    reference_class: Any = None,
    weights: str | None = None,
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
    reference : the level that the others are compared with, by column, which is read as a category
    positive : which of two classes is the positive one
    reference_class : the class that the others are compared with, of logistic regression
    weights : the column of sample weights, which is no feature
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
        drop=_names(drop),
        text=_names(text),
        missing=missing,
        reference=_levels(reference or {}),
        positive=None if positive is None else str(positive),
        reference_class=None if reference_class is None else str(reference_class),
        weights=weights,
        seed=int(require_number("seed", seed, least=0)),
        storage=Storage(None if memory is None else parse_memory(memory)),
    )
    if is_dask(table):
        table = dask_table(table)
    reading = {"memory": options.storage.table_memory, "expect": options.expect}
    with open_rows(table, {"kinds": options.kinds}, **reading) as source:
        return train_table(source, options).model


def _names(columns: str | Sequence[str]) -> tuple[str, ...]:
    """Return names of columns as a tuple; a text is one name."""
    return (columns,) if isinstance(columns, str) else tuple(columns)


def _levels(reference: Any) -> dict[str, str]:
    """Return reference levels by column, as text."""
    if not isinstance(reference, Mapping):
        raise OptionError(f'reference={reference!r} has no levels; give one for each column, as {{"clinic": "1"}}')
    return {name: str(level).lower() if isinstance(level, bool) else str(level) for name, level in reference.items()}


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


def train_table(
    source: TableSource,
    options: TrainOptions = TrainOptions(),  # frozen
    watch: Watch | None = None,
) -> TrainedModel:
    """Learn to predict a column of a table from the others."""
    name = options.target_of(source)
    if options.holdout is not None and options.folds is not None:
        raise OptionError("--holdout and --cv each keep rows apart in their own way; give one of them")
    tasks = () if options.family == "auto" else FAMILIES[options.family].tasks
    task = tasks[0] if len(tasks) == 1 else None
    known, target, lost = labelled_rows(source, name, missing=options.missing, task=task, weights=options.weights)
    family = options.family
    if family == "auto":
        family = "linear" if target.task == "regression" else "logistic"
    learner = options.of_family(family, target.classes)
    checked_weights(target.weights, learner)
    require_one_predictor(learner)
    require_portable_kernel(getattr(learner, "kernel", None))
    if target.classes is not None:
        order = (getattr(learner, name, None) for name in ("positive", "reference_class"))
        target = replace(target, classes=order_classes(target.classes, *order))
    with options.storage.opened(_identity(source, options, learner)) as storage:
        fit = TableFit(known, target, learner, options, name, storage)
        model, fitted, predictions = fit.learn(watch)
        if getattr(learner, "strength", None) == "auto" and fitted.strength:  # so that folds do not look for it again
            fit = replace(fit, learner=replace(learner, strength=fitted.strength))
        holdout, description = evaluate_holdout(fit, watch)
    weighting = () if options.weights is None else (f"rows are weighted by {options.weights!r}",)
    reasons = (*lost, target.reason, _family_reason(learner, options, target), *weighting, *_resumed(storage))
    decisions = (*reasons, *fitted.sentences, *model.encoding.decisions())
    training = evaluate_predictions(predictions, target, seed=options.seed)
    return TrainedModel(model, fitted, target, decisions, training, holdout, description, predictions)


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


def _resumed(storage: OpenStorage) -> tuple[str, ...]:
    """Return a sentence about the passes found in a checkpoint, if there are any."""
    journal = storage.journal
    if journal is None or not journal.found:
        return ()
    return (f"{counted(journal.replayed, 'pass')} found in the checkpoint, {counted(journal.made, 'pass')} made",)


# One fit


@dataclass(frozen=True, eq=False)
class TableFit:
    """A fit of the rows of a table: columns encoded, rows stored, a learner run, its predictor evaluated."""

    source: TableSource
    target: Target
    learner: Any  # checked options of a family
    options: TrainOptions
    target_name: str
    storage: OpenStorage

    def learn(self, watch: Watch | None = None) -> tuple[Model, Fitted, Predictions]:
        """Encode the rows, fit them, and predict them."""
        encoding = self.options.encoding(self.source, self.target_name)
        with self.storage.hold(encoding, self.source) as encoded:
            rows = training_rows(encoding, encoded, self.target)
            fitted = fit_family(rows, self.learner, watch)
            data = describe_data(self.source, self.target_name, encoded.stored, rows.y, seed=self.options.seed)
            weights = {} if self.options.weights is None else {"weights": self.options.weights}
            model = build_model(fitted, encoding, self.target_name, {**data, **weights})
            return model, fitted, _training_predictions(model, encoded)

    def predictor(self, watch: Watch | None = None) -> Model | None:
        """Encode the rows and fit them; return a model without provenance, None if the fit was interrupted."""
        encoding = self.options.encoding(self.source, self.target_name)
        with self.storage.hold(encoding, self.source) as encoded:
            fitted = fit_family(training_rows(encoding, encoded, self.target), self.learner, watch)
        interrupted = fitted.result.status is Status.INTERRUPTED
        return None if interrupted else build_model(fitted, encoding, self.target_name)


def _training_predictions(model: Model, encoded: EncodedRows) -> Predictions:
    """Return a model's predictions of its training rows, computed in blocks."""
    places = np.flatnonzero(encoded.kept)
    predictions = []
    for start, X in encoded.stored.blocks():
        first = 0 if start == 0 else int(places[start])
        stop = start + X.shape[0]
        last = len(encoded.kept) if stop == len(places) else int(places[stop])
        predictions.append(model.predict_encoded(Encoded(X, encoded.kept[first:last], ()), intervals=False))
    return replace(join_predictions(predictions), reports=encoded.reports)


def evaluate_predictions(
    predictions: Predictions, target: Target, *, seed: int = 0, level: float = LEVEL
) -> Evaluation:
    """Return how well predictions fit the target of their rows, on a random sample if there are very many."""
    rows, y, weights, used = _evaluated_rows(predictions, seed), target.y, target.weights, predictions
    if rows is not None:
        y, weights, used = y[rows], None if weights is None else weights[rows], used.take(rows)
    if used.classes is None:
        return evaluate_regressor(y, used.scores, weights, level=level)
    options: dict[str, Any] = {"scores": used.scores, "predicted": used.labels, "level": level}
    return evaluate_classifier(y, used.probabilities, used.classes, weights, **options)


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
        masks = [assign_folds(n, folds_for_share(options.holdout, n), options.seed, codes) == 0]
        description = f"on {counted(int(masks[0].sum()), 'held-out row')}"
    else:
        folds = assign_folds(n, int(options.folds or 0), options.seed, codes, option="folds")
        masks = [folds == number for number in range(int(folds.max()) + 1)]
        description = f"on all rows by {options.folds}-fold cross-validation"
    evaluation = _evaluate_folds(fit, masks, watch)
    if evaluation is not None and sum(int(mask.sum()) for mask in masks) > MOST_EVALUATED == evaluation.rows:
        description += f", {MOST_EVALUATED:,} of them drawn at random"
    return evaluation, description


def folds_for_share(share: float, n: int) -> int:
    """Return the number of folds of n rows of which one is the share to hold out; it needs at least one row."""
    parts = max(2, round(1.0 / share))
    if parts > n:
        raise OptionError(f"holdout={share!r} is less than one of {counted(n, 'row')}; give a larger share, as 0.2")
    return parts


def _evaluate_folds(fit: TableFit, folds: list[Bools], watch: Watch | None) -> Evaluation | None:
    """Return the evaluation of each fold's predictions by a fit to the other rows; None if one was interrupted."""
    predictions = []
    for fold in folds:
        others = replace(fit, source=fit.source.select(~fold), target=fit.target.select(~fold))
        model = others.predictor(watch)
        if model is None:
            return None
        predictions.append(predict_source(model, fit.source.select(fold)))
    rows = np.concatenate([np.flatnonzero(fold) for fold in folds])
    mask = np.zeros(fit.source.n_rows, dtype=np.bool_)
    mask[rows] = True
    joined = join_predictions(predictions, np.argsort(rows))
    return evaluate_predictions(joined, fit.target.select(mask), seed=fit.options.seed)
