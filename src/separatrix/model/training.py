"""From a table to a model: goal found, columns encoded, a learner chosen and run, its predictor tried on other rows.

Every decision on the way is a sentence of the result. Rows held out, or folds, are encoded by what their training rows
said, as any later table is. The table may be larger than memory: it is read a column or a block of rows at a time, and
its matrix is kept as the storage says. In memory are, beside that, vectors with an entry a row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix.errors import DataError, OptionError, counted, require_choice
from separatrix.fit.run import Watch
from separatrix.model.goal import Goal, find_goal, known_target, read_target
from separatrix.model.kept_apart import judge_apart
from separatrix.model.learn import LEARNERS
from separatrix.model.learn.base import Learned, Learner
from separatrix.model.one_fit import Evaluation, OneFit
from separatrix.model.predictions import Predictions
from separatrix.model.record import Model, Task
from separatrix.model.storage import Keeper
from separatrix.model.train_options import TrainOptions
from separatrix.tables.source import TableSource, as_source
from separatrix.tables.table import Table


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

    @property
    def own_words(self) -> str:
        """On which of its rows `own` is."""
        used = len(self.predictions) - self.predictions.left_out
        return "on its own rows" if self.own.rows == used else f"on {self.own.rows:,} of its own rows, drawn at random"


def train_table(
    table: Table | TableSource,
    options: TrainOptions = TrainOptions(),  # noqa: B008  # frozen
    watch: Watch | None = None,
) -> Trained:
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
        whole = OneFit(known, goal, learner, options, target, keeper)
        model, learned, predictions = whole.learn(watch)
        apart, words = judge_apart(_settled(whole, learned), watch)
    found = _resumed(keeper)
    reasons = (*lost, goal.reason, _why(learner, options, goal), *found)
    decisions = (*reasons, *learned.sentences, *model.encoding.decisions())
    return Trained(model, learned, goal, decisions, whole.judge(predictions, goal), apart, words, predictions)


def _identity(source: TableSource, options: TrainOptions) -> dict[str, str]:
    """Return what must be the same for a fit to go on where an earlier one was."""
    if options.storage.checkpoint is None:
        return {}
    from separatrix.design.journaled import versions  # noqa: PLC0415  # few fits need it

    asked = {**vars(options), **vars(options.learn), "engine": options.storage.engine}
    said = {name: repr(value) for name, value in asked.items() if name not in {"storage", "learn"}}
    return {"table": source.source, **said, **versions()}


def _resumed(keeper: Keeper) -> tuple[str, ...]:
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


def _settled(whole: OneFit, learned: Learned) -> OneFit:
    """Return the fit with the penalty that was found to be needed, which parts of its rows then need not find anew."""
    options, strength = whole.options, learned.options.get("strength")
    if options.learn.strength != "auto" or not strength:
        return whole
    return replace(whole, options=replace(options, learn=replace(options.learn, strength=strength)))
