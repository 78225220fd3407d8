"""`sx.compare`: the linear classifiers of two classes on the same rows, side by side as text or JSON values."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Bools
from separatrix.errors import OptionError, counted, require_number
from separatrix.families.base import TrainingRows
from separatrix.fit.labels import Classes
from separatrix.fit.run import Watch
from separatrix.model.adopt import array_table, as_model, is_formula
from separatrix.model.compare import FailedLearner, LearnerRow, compare_learners, model_row
from separatrix.model.record import Model
from separatrix.model.storage import Storage
from separatrix.model.target import ClassRows, RowsRequest, encoded_classes, label_index, open_rows, split_rows
from separatrix.model.train import folds_for_share
from separatrix.rendering.sheet import ABSENT, Grid, Sheet
from separatrix.rendering.text import one_line, render_text
from separatrix.tables.table import Table, TableSource

FEWEST_ROWS = 20  # below which no rows are held out
NAMES_SHOWN = 20


@dataclass(frozen=True)
class Comparison:
    """Learners fitted to the same rows; `held_out` is the number of held-out rows."""

    title: str
    names: tuple[str, ...]
    rows: int
    held_out: int
    compared: tuple[LearnerRow, ...]
    refused: tuple[FailedLearner, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return render_text(*comparison_page(self))


class CompareOptions(NamedTuple):
    """The positive class, the share of held-out rows, whether scores have a constant, and the seed of the split."""

    positive: str | None = None
    holdout: float = 0.2
    intercept: bool = True
    seed: int = 0


def compare(  # noqa: PLR0913  # the public options, each by its name
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    models: Sequence[Any] | Mapping[str, Any] = (),
    positive: Any = None,
    holdout: float = 0.2,
    fit_intercept: bool = True,
    seed: int = 0,
    drop: Sequence[str] = (),
    missing: str = "impute",
) -> Comparison:
    """Fit perceptron, LMS, logistic regression and more to the same rows of two classes, side by side.

    Parameters
    ----------
    X : rows (n, p) with labels y; or a table, frame or path
    y : (n,) labels; None for a table
    target : the column of a table to predict; a demo knows its own
    models : fitted models of the two classes to set beside them, as they are: a sequence, or a mapping by name
    positive : the class that counts as +1; of more than two classes, against all others
    holdout : share of the rows that a second fit of each learner is judged on, 0 for none
    fit_intercept : whether scores have a constant
    seed : of the rows held out
    drop : columns of a table to leave out
    missing : "impute", "drop" or "error", for a table

    Returns an object that prints as the page of `separatrix compare`.

    Examples
    --------
    >>> import separatrix as sx
    >>> page = sx.compare("demo:five-points")
    >>> [(row.learner, row.mistakes) for row in page.compared][:3]
    [('perceptron', 0), ('LMS', 0), ('logistic', 0)]
    """
    options = CompareOptions(None if positive is None else str(positive), holdout, fit_intercept, seed)
    request = RowsRequest(target=target, drop=tuple(drop), missing=missing, storage=Storage(memory=sys.maxsize))
    with open_rows(X, {}) if y is None else array_table(X, y) as source, encoded_classes(source, request) as data:
        known = ~source.column(data.target.name).is_missing
        own = {name: (as_model(each), _formula_table(each, X, source, known)) for name, each in _named(models).items()}
        return compare_rows(data, request, options, own)


def _named(models: Sequence[Any] | Mapping[str, Any]) -> dict[str, Any]:
    """Return models by name: the given one, or their number and family."""
    if isinstance(models, Mapping):
        return dict(models)
    return {f"model {place}: {as_model(each).estimator}": each for place, each in enumerate(models, start=1)}


def _formula_table(model: Any, X: Any, source: TableSource, known: Bools) -> Table | None:
    """Return the columns that a formula makes of the known rows as a table; None for other models."""
    if not is_formula(model):
        return None
    columns = source.read().columns if isinstance(X, str | Path | TableSource) else ()
    data = {each.name: each.words() if each.levels else each.values for each in columns} or X
    return array_table(model.matrix(data)[known], np.zeros(int(known.sum())))


def compare_rows(
    data: ClassRows,
    request: RowsRequest,
    options: CompareOptions,
    models: Mapping[str, tuple[Model, Table | None]] | None = None,
    watch: Watch | None = None,
) -> Comparison:
    """Fit every learner to encoded rows, and measure the given models on the same rows, of the table or their own."""
    require_number("holdout", options.holdout, least=0.0, most=0.9)
    rows = data.rows
    place = _positive_class(rows, options.positive)
    two, split = _against_rest(rows, place), None
    if options.holdout > 0.0 and rows.shape[0] >= FEWEST_ROWS:
        parts = split_rows(data, request, folds_for_share(options.holdout, data.table.n_rows), options.seed)
        split = _against_rest(parts[0], place), _against_rest(parts[1], place)
    compared, refused = compare_learners(two, intercept=options.intercept, split=split, watch=watch)
    for name, (model, own) in (models or {}).items():
        compared.append(model_row(name, model, data.table.read() if own is None else own, two, data.kept))
    left_out = (f"{name!r} is left out: {reason}" for name, reason in data.encoding.omitted)
    held_out, notes = 0 if split is None else split[1].shape[0], [*data.notes, *left_out]
    if held_out:
        notes.append(f"mistakes: on the {counted(rows.shape[0], 'training row')}")
        notes.append(f"held-out mistakes: on {counted(held_out, 'row')}, after a second fit to the other rows")
    elif options.holdout > 0.0:
        notes.append(f"no rows are held out of fewer than {FEWEST_ROWS}")
    names = tuple(dict.fromkeys((*data.encoding.feature_names, *(name for each in compared for name in each.weights))))
    other = "the rest" if len(rows.labels) > 2 else rows.labels[1 - place]
    title = one_line(f"{rows.labels[place]} against {other}, {data.target.name} of {data.table.source}")
    return Comparison(title, names, rows.shape[0], held_out, tuple(compared), tuple(refused), tuple(notes))


def _positive_class(rows: TrainingRows, positive: str | None) -> int:
    """Return the index of the class that is +1."""
    assert rows.classes is not None  # the target was read as classes
    if positive is not None:
        return label_index(positive, rows.classes)
    count = len(rows.classes.values)
    if count > 2:
        known = ", ".join(map(repr, rows.labels[:NAMES_SHOWN])) + (", …" if count > NAMES_SHOWN else "")
        raise OptionError(
            f"compare needs two classes, and the target has {count}: {known}; choose the one to compare with"
            f" the rest, as in --positive {shlex.quote(str(rows.labels[0]))}"
        )
    return 1


def _against_rest(rows: TrainingRows, place: int) -> TrainingRows:
    """Return the rows with two classes, the given one second."""
    assert rows.classes is not None  # the target was read as classes
    if len(rows.classes.values) == 2:
        return rows.ordered(rows.labels[place])
    codes = (rows.classes.codes == place).astype(np.intp)
    return replace(rows, classes=Classes(np.asarray(["the rest", str(rows.labels[place])]), codes))


def comparison_page(page: Comparison) -> tuple[Sheet, ...]:
    """Return the page: the results of each learner, its update rule and objective, its losses and weights."""
    names = list(page.compared[0].losses)
    rules = tuple((each.learner, each.error, each.minimises) for each in page.compared)
    losses = tuple((each.learner, *(_or_dash(each.losses[name]) for name in names)) for each in page.compared)
    told = [f"{each.learner}: {each.ending.message}" for each in page.compared]
    more = len(page.names) - NAMES_SHOWN
    told += [f"{refused.learner}: {refused.reason}" for refused in page.refused]
    return (
        Sheet(page.title, _results(page)),
        Sheet("How each fit ended", lines=tuple(told)),
        Sheet(
            "Updates: w ← w − rate · error · x, with score s and label y = ±1",
            (Grid(("", "error", "minimises"), rules),),
        ),
        Sheet("Mean losses (columns) at the weights of each learner (rows)", (Grid(("loss", *names), losses),)),
        Sheet("Weights", (_weights(page),), lines=(f"… and {more:,} more, with --json",) if more > 0 else ()),
        *([Sheet("Notes", lines=page.notes)] if page.notes else []),
    )


def _results(page: Comparison) -> tuple[Grid, ...]:
    held_out = ["held-out"] if page.held_out else []
    heads = ("", "mistakes", *held_out, "margin", "passes", "seconds", "evidence")
    rows = (
        (
            each.learner,
            f"{each.mistakes:,}",
            *([ABSENT if each.held_out is None else f"{each.held_out:,}"] if page.held_out else []),
            _or_dash(each.margin),
            _or_dash(each.ending.passes, ",.6g"),
            _or_dash(each.ending.seconds, ".2g"),
            each.ending.verdict,
        )
        for each in page.compared
    )
    return (Grid(heads, tuple(rows)),)


def _weights(page: Comparison) -> Grid:
    rows = [("intercept", *(_or_dash(each.intercept) for each in page.compared))]
    rows += [(name, *(_or_dash(each.weights.get(name)) for each in page.compared)) for name in page.names[:NAMES_SHOWN]]
    return Grid(("", *(each.learner for each in page.compared)), tuple(rows))


def _or_dash(number: float | None, form: str = ".4g") -> str:
    return ABSENT if number is None else format(number, form).replace("-", "−")


def comparison_dict(page: Comparison) -> dict[str, Any]:
    """Return the content of the page as JSON values."""
    learners = [
        {
            "learner": each.learner,
            "error": each.error,
            "minimises": each.minimises,
            "mistakes": each.mistakes,
            "apart_mistakes": each.held_out,
            "margin": each.margin,
            "losses": {name: loss if math.isfinite(loss) else None for name, loss in each.losses.items()},
            "intercept": each.intercept,
            "weights": dict(each.weights),
            **each.ending._asdict(),
        }
        for each in page.compared
    ]
    return {
        "title": page.title,
        "rows": page.rows,
        "apart": page.held_out,
        "learners": learners,
        "refused": [refused._asdict() for refused in page.refused],
        "notes": list(page.notes),
    }
