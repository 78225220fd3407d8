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

from separatrix.design.build import is_dask
from separatrix.design.encode.encoding import Encoded, Encoding
from separatrix.design.memory import parse_memory
from separatrix.errors import OptionError, counted, require_choice, require_number
from separatrix.families.base import Fitted, checked_weights, fit_family, order_classes, refuse_imputed, seeded
from separatrix.families.familiar import naming_options
from separatrix.families.options import FAMILIES, Options, foreign_option, table_options
from separatrix.fit.labels import Classes
from separatrix.fit.result import Status
from separatrix.fit.run import Watch
from separatrix.model.adopt import rows_of
from separatrix.model.evaluate import (
    MOST_EVALUATED,
    Evaluation,
    evaluate_predictions,
    is_sampled,
    predict_source,
    without_intervals,
)
from separatrix.model.predictions import Predictions, join_predictions, require_portable_kernel
from separatrix.model.record import Model, build_model, describe_data, require_one_predictor
from separatrix.model.storage import EncodedRows, Storage, dask_table
from separatrix.model.target import ColumnOptions, Target, label_index, labelled_rows, open_rows, training_rows
from separatrix.selection import assign_folds
from separatrix.tables.table import TableSource


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
            if label is None:
                continue
            flag = self.spelled(name)
            if classes is None:
                raise OptionError(f"{flag} {label!r} is about classes, but the target is a number; leave it out")
            if not hasattr(options, name):
                raise OptionError(foreign_option(flag, name, options.family))
            setattr(options, name, classes.plain[label_index(label, classes, flag)])
        return options


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A model with its fit, its target, the decisions made, and its evaluations on training and held-out rows."""

    model: Model
    target: Target
    decisions: tuple[str, ...]
    own: Evaluation
    holdout: Evaluation | None
    holdout_description: str
    predictions: Predictions

    @property
    def fitted(self) -> Fitted:
        """The fit, without its rows."""
        assert self.model.fitted is not None  # it was not read from a file
        return self.model.fitted

    @property
    def training_description(self) -> str:
        """The training rows that `own` is about."""
        drawn = f"on {self.own.rows:,} training rows drawn at random"
        return drawn if is_sampled(self.predictions) else "on the training rows"


@naming_options
def train(  # noqa: PLR0913  # the public options, each by its name
    table: Any,
    target: str | None = None,
    *,
    model: Any = "auto",
    drop: str | Sequence[str] = (),
    text: str | Sequence[str] = (),
    missing: Literal["auto", "drop", "impute", "error"] = "auto",
    reference: Mapping[str, Any] | None = None,
    category: str | Sequence[str] = (),
    number: str | Sequence[str] = (),
    date: str | Sequence[str] = (),
    positive: Any = None,
    reference_class: Any = None,
    weights: str | None = None,
    strength: float | Literal["auto", "cv"] | None = None,
    l1_ratio: float | None = None,
    scaling: Literal["none", "spread"] | None = None,
    aliased: Literal["keep", "drop"] | None = None,
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
    missing : "drop" leaves out rows with a missing cell, "impute" fills missing cells and marks them, "error" rejects
        them. "auto" drops where coefficients may be tested (no penalty), as tests of filled cells are not valid, unless
        this would leave out more than half of the rows; else it imputes. New rows are filled in any case
    reference : the level that the others are compared with, by column, which is read as a category
    category, number, date : columns to read as such, whatever they look like; a cell that cannot be is an error
    positive : which of two classes is the positive one
    reference_class : the class that the others are compared with, of logistic regression
    weights : the column of sample weights, which is no feature
    strength, l1_ratio, scaling, aliased, intercept : options of the named family. Two defaults differ from those of
        estimators: strength "auto" (no penalty unless it is needed) and scaling "spread" (columns of a table have
        units)
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
    given = {"strength": strength, "l1_ratio": l1_ratio, "scaling": scaling, "aliased": aliased}
    given["fit_intercept"] = intercept
    options = TrainOptions(
        model=unwrap(model),
        given={name: value for name, value in given.items() if value is not None},
        target=target,
        drop=_names(drop),
        text=_names(text),
        missing=missing,
        reference=_levels(reference or {}),
        category=_names(category),
        number=_names(number),
        date=_names(date),
        positive=None if positive is None else str(positive),
        reference_class=None if reference_class is None else str(reference_class),
        weights=weights,
        seed=int(require_number("seed", seed, least=0)),
        storage=Storage(None if memory is None else parse_memory(memory)),
    )
    reading = {"memory": options.storage.table_memory, "expect": options.expect}
    with open_rows(
        dask_table(table, options.kinds) if is_dask(table) else table, {"kinds": options.kinds}, **reading
    ) as source:
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
    options.require_kinds(source)
    if options.holdout is not None and options.folds is not None:
        raise OptionError("--holdout and --cv each keep rows apart in their own way; give one of them")
    tasks = () if options.family == "auto" else FAMILIES[options.family].tasks
    task = tasks[0] if len(tasks) == 1 else None
    known, target, lost = labelled_rows(source, name, missing=options.missing, task=task, weights=options.weights)
    family, why = options.family, "as given"
    if family == "auto" and target.classes is None:
        family, why = "linear", "as the target is a number"
    elif family == "auto" and target.classes is not None:
        family, why = "logistic", f"as the target has {len(target.classes.values)} classes"
    learner = options.of_family(family, target.classes)
    checked_weights(target.weights, learner)
    require_one_predictor(learner)
    require_portable_kernel(getattr(learner, "kernel", None))
    if target.classes is not None:
        order = (getattr(learner, name, None) for name in ("positive", "reference_class"))
        target = replace(target, classes=order_classes(target.classes, *order))
    with options.storage.opened(_identity(source, options, learner)) as storage:
        fit = TableFit(known, target, learner, options, storage)
        model, fitted, predictions = fit.learn(watch)
        if getattr(learner, "strength", None) == "auto" and fitted.strength:  # so that folds do not look for it again
            fit = replace(fit, learner=replace(learner, strength=fitted.strength))
        fit = replace(fit, options=replace(options, missing=model.encoding.missing))
        holdout, description = evaluate_holdout(fit, watch)
        journal = storage.journal
    reasons = [*lost, target.reason, f"{learner.title}, {why}"]
    if options.weights is not None:
        reasons.append(f"rows are weighted by {options.weights!r}")
    if journal is not None and journal.loaded:
        passes = counted(journal.replayed, "pass"), counted(journal.made, "pass")
        reasons.append(f"{passes[0]} found in the checkpoint, {passes[1]} made")
    decisions = (*reasons, *fitted.sentences, *model.encoding.decisions())
    training = without_intervals(evaluate_predictions(predictions, target, seed=options.seed))
    return TrainedModel(model, target, decisions, training, holdout, description, predictions)


def _identity(source: TableSource, options: TrainOptions, learner: Options) -> dict[str, str]:
    """Return the settings that a checkpoint must share with this fit."""
    if options.storage.checkpoint is None:
        return {}
    from separatrix.design.journaled import versions  # noqa: PLC0415  # few fits need it

    settings = {**vars(options), **learner.plain(), "model": learner.family, "engine": options.storage.engine}
    texts = {name: repr(value) for name, value in settings.items() if name not in {"storage", "given", "spelled"}}
    return {"table": source.source, **texts, **versions()}


# One fit


@dataclass(frozen=True, eq=False)
class TableFit:
    """A fit of the rows of a table: columns encoded, rows stored, a learner run, its predictor evaluated."""

    source: TableSource
    target: Target
    learner: Any  # checked options of a family
    options: TrainOptions
    storage: Storage

    def encoding(self) -> Encoding:
        """Return how the columns are encoded; some must be left, unless the learner fits an intercept alone."""
        alone = self.learner.fits_intercept_alone and self.learner.fit_intercept
        tested = self.learner.may_be_tested
        return self.options.encoding(self.source, self.target.name, tested=tested, may_be_empty=alone)

    def learn(self, watch: Watch | None = None) -> tuple[Model, Fitted, Predictions]:
        """Encode the rows, fit them, and predict them."""
        encoding = self.encoding()
        with self.storage.hold(encoding, self.source) as encoded:
            rows = training_rows(encoding, encoded, self.target)
            fitted = fit_family(rows, self.learner, watch)
            if encoding.missing == "impute":
                imputed = [report.name for report in encoded.reports if report.empty or report.unfit]
                refuse_imputed(fitted, rows.X, encoding.feature_names, imputed)
            data = describe_data(self.source, self.target.name, encoded.stored, rows.y, seed=self.options.seed)
            weights = {} if self.options.weights is None else {"weights": self.options.weights}
            model = build_model(fitted, encoding, self.target.name, {**data, **weights})
            return model, fitted, _training_predictions(model, encoded)

    def predictor(self, watch: Watch | None = None) -> Model | None:
        """Encode the rows and fit them; return a model without provenance, None if the fit was interrupted."""
        encoding = self.encoding()
        with self.storage.hold(encoding, self.source) as encoded:
            fitted = fit_family(training_rows(encoding, encoded, self.target), self.learner, watch)
        interrupted = fitted.result.status is Status.INTERRUPTED
        return None if interrupted else build_model(fitted, encoding, self.target.name)


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


def evaluated_fit(model: Model, source: TableSource) -> TrainedModel:
    """Return a model with its fit and its evaluation on the rows that it was fitted on."""
    if model.fitted is None:
        raise OptionError(
            "a model that was read from a file has no record of its fit; report the model that sx.train returned, or"
            " use separatrix fit --report"
        )
    known, target, _ = rows_of(model, source, model.encoding.missing)
    if target.classes is not None:
        positive = model.classes[1] if model.classes is not None and len(model.classes) == 2 else None
        target = replace(target, classes=order_classes(target.classes, positive))
    predictions = _fitted_predictions(model, known)
    decisions = (target.reason, *model.fitted.sentences, *model.encoding.decisions())
    own = without_intervals(evaluate_predictions(predictions, target))
    return TrainedModel(model, target, decisions, own, None, "", predictions)


def _fitted_predictions(model: Model, source: TableSource) -> Predictions:
    """Return a model's predictions of the rows of its fit."""
    blocks = map(model.encoding.apply, source.blocks())
    return join_predictions([model.predict_encoded(block, intervals=False) for block in blocks])


# Evaluation on held-out rows: one part, or each of several folds in turn


def evaluate_holdout(fit: TableFit, watch: Watch | None) -> tuple[Evaluation | None, str]:
    """Return the evaluation of fits to the other rows on held-out rows, and a description of these.

    There is no evaluation if a fit was interrupted.
    """
    options, n, target, count = fit.options, fit.source.n_rows, fit.target, 1
    if options.holdout is None and options.folds is None:
        return None, ""
    parts = int(options.folds or 0) if options.holdout is None else folds_for_share(options.holdout, n)
    codes = None if target.classes is None else target.classes.codes
    folds = assign_folds(n, parts, options.seed, codes, option="folds")
    if options.holdout is None:
        count, description = parts, f"on all rows by {parts}-fold cross-validation"
    else:
        description = f"on {counted(int(np.count_nonzero(folds == 0)), 'held-out row')}"
    predictions, held_out = [], [folds == fold for fold in range(count)]
    for rows in held_out:
        model = replace(fit, source=fit.source.select(~rows), target=target.select(~rows)).predictor(watch)
        if model is None:
            return None, description
        predictions.append(predict_source(model, fit.source.select(rows)))
    order = np.argsort(np.concatenate([np.flatnonzero(rows) for rows in held_out]))
    joined = join_predictions(predictions, order)
    if is_sampled(joined):
        description += f", {MOST_EVALUATED:,} of them drawn at random"
    return evaluate_predictions(joined, target.select(folds < count), seed=options.seed), description


def folds_for_share(share: float, n: int) -> int:
    """Return the number of folds of n rows of which one is the share to hold out; it needs at least one row."""
    if not 0.0 < share < 1.0:
        raise OptionError(f"holdout={share!r} is out of range; give a share between 0 and 1")
    parts = max(2, round(1.0 / share))
    if parts > n:
        raise OptionError(f"holdout={share!r} is less than one of {counted(n, 'row')}; give a larger share, as 0.2")
    return parts
