"""A model in one call: a path, a frame or a table in, a model out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from separatrix.design.memory import parse_memory
from separatrix.design.row_source import is_dask
from separatrix.model.learn.base import LearnOptions, Strength
from separatrix.model.on_cluster import ClusterStorage, as_dask_table
from separatrix.model.record import Model
from separatrix.model.storage import Storage
from separatrix.model.train_options import TrainOptions
from separatrix.model.training import train_table
from separatrix.tables.frames import from_frame
from separatrix.tables.open import open_table
from separatrix.tables.source import TableSource, as_source
from separatrix.tables.table import Table


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
