"""A model in one call: a path, a frame or a table in, a model out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from separatrix.model.learn import LearnOptions
from separatrix.model.learn.base import Strength
from separatrix.model.record import Model
from separatrix.model.training import TrainOptions
from separatrix.model.training import train as train_table
from separatrix.tables import Table, from_frame, read_table

__all__ = ["train"]


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
) -> Model:
    """Learn to predict a column of a table from the others; what `separatrix fit` does, without its page.

    Parameters
    ----------
    table : a path, folder, glob or `demo:NAME`; a frame of pandas, polars or Arrow; or what `read_table` returned
    target : the column to predict; a demo knows its own
    model : "auto" (least squares of a number, logistic regression of classes), "logistic", "linear", "svm",
        "perceptron", "lms" or "generative"
    drop, text : columns to leave out, and those whose words to use
    missing : "impute" fills gaps and marks them, "drop" leaves such rows out, "error" refuses them
    reference : the level that the others of a category are compared with, by column
    positive : which of two classes is the second, as text
    strength, l1_ratio : of the penalty: a number, "cv" (cross-validated) or "auto" (none unless there is need)

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
    )
    return train_table(_as_table(table), options).model


def _as_table(table: Any) -> Table:
    if isinstance(table, Table):
        return table
    return read_table(str(table)) if isinstance(table, str | Path) else from_frame(table)
