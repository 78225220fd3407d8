"""Fitted estimators and models by formula as models of tables, so that every function takes all of them alike.

An estimator becomes a model of plain number columns, named as those of its fit or x1, x2, …; a model by formula, one of
the columns of its design. Such a model has the certificate and the inference of the fit. It knows how many rows there
were, but has no digest of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.design.build import as_array, as_floats, column_names
from separatrix.design.encode.columns import NumberEncoding
from separatrix.design.encode.encoding import Encoding
from separatrix.errors import DataError, ModelFileError, OptionError
from separatrix.families.base import Fitted
from separatrix.families.options import Options
from separatrix.model.predictions import expansion_of
from separatrix.model.record import Model, build_model, versions
from separatrix.model.target import LabelledRows, labelled_rows, open_rows
from separatrix.tables.table import TRUTH_VALUES, Column, Table, TableSource, category_column, unique_names

ARRAYS = "arrays"  # the source of a model whose rows were no table
TARGET = "y"  # of an estimator


def as_model(model: Any) -> Model:
    """Return a fitted estimator, a model by formula or a trained table as a model; a model is returned as it is.

    >>> import separatrix as sx
    >>> model = as_model(sx.LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]))
    >>> model.encoding.feature_names, model.target, model.coef.round(6).tolist()
    (('x1',), 'y', [[2.0]])
    """
    if (own := table_model(model)) is not None:
        return own
    return _adopted(model.model, model.target_) if is_formula(model) else _adopted(model, TARGET)


def table_model(model: Any) -> Model | None:
    """Return the model of a table, None for an estimator and for a model by formula."""
    own = model if isinstance(model, Model) else getattr(model, "model", None)
    return own if isinstance(own, Model) else None


def is_formula(model: Any) -> bool:
    """Tell whether a model is one by formula."""
    return hasattr(model, "formula") and hasattr(model, "matrix")


def _adopted(estimator: Any, target: str) -> Model:
    """Return a fitted estimator as a model of its columns; an OptionError if a map made these."""
    fitted = getattr(estimator, "fitted_", None)  # an estimator before its fit has none
    if not isinstance(fitted, Fitted):
        if isinstance(estimator, Options) or isinstance(getattr(estimator, "estimator", None), Options):
            raise OptionError(f"{type(estimator).__name__} is not fitted; call its fit(X, y) first")
        raise OptionError(
            f"an object of type {type(estimator).__name__} is no model; give what sx.train or sx.load_model returned,"
            " a fitted estimator of separatrix, or a model of sx.from_formula"
        )
    expansion, known = expansion_of(fitted), getattr(estimator, "feature_names_in_", None)
    count, width = int(estimator.n_features_in_), fitted.coef.shape[1]
    if expansion is not None:
        width = expansion.machines[0].vectors.shape[1]
    if width != count:
        raise OptionError(
            f"the fit is of {width} columns that a map makes of {count}, and a model has no maps; fit the matrix that"
            " the map makes"
        )
    names = column_names(count) if known is None else unique_names(map(str, known))
    columns = tuple(NumberEncoding(name, 0.0, False, f"{name!r} is a number") for name in names)
    sparse = expansion is not None and any(hasattr(machine.vectors, "indptr") for machine in expansion.machines)
    encoding = Encoding(columns, missing="error", sparse=sparse)
    described = [{"name": name, "kind": "number", "format": ""} for name in names]
    data = {"source": ARRAYS, "rows": estimator.n_rows_, "columns": described, "versions": versions()}
    model = build_model(fitted, encoding, free_name(target, names), data)
    threshold = getattr(estimator, "threshold", model.rule.threshold)
    return replace(model, rule=replace(model.rule, threshold=threshold))


@contextmanager
def with_rows(model: Any, X: Any, y: Any = None) -> Iterator[tuple[Model, TableSource]]:
    """Open rows for a model of any kind: a table, frame or path; data of a formula; or X and y of an estimator."""
    own = as_model(model)
    if table_model(model) is None:
        yield own, array_table(*arrays_of(model, X, y, fitted=True), own.target, own.encoding.feature_names)
    else:
        with open_for(own, X, y) as source:
            yield own, source


def open_for(model: Model, table: Any, y: Any = None) -> AbstractContextManager[TableSource]:
    """Open a table, frame or path with the column types of a model's training table."""
    if y is not None:
        raise OptionError(f"the target {model.target!r} is a column of the table; leave y out")
    return open_rows(table, {"kinds": model.kinds, "levels": model.levels, "formats": model.formats})


def rows_of(model: Model, source: TableSource, missing: str = "impute", weighted: bool = True) -> LabelledRows:
    """Return the rows of a table that have the target of a model, with the weights of its fit, if it had any."""
    name = model.data.get("weights") if weighted else None
    if name is not None and not isinstance(name, str):
        raise ModelFileError(f"data.weights is {name!r}, where the name of a column should be")
    return labelled_rows(source, model.target, missing=missing, task=model.task, weights=name)


def arrays_of(model: Any, X: Any, y: Any = None, *, fitted: bool = False) -> tuple[Any, Any]:
    """Return the matrix and the target for an estimator: those given, or those that a formula makes of data.

    `fitted`: without the rows that a formula leaves out of the fit, as a cell of theirs is missing.
    """
    if is_formula(model):
        matrix, target = model.matrix(X), model.target_values(X) if y is None else np.asarray(y)
        used = model.used_rows(X) if fitted else slice(None)
        return matrix[used], target[used]
    if y is None:
        raise OptionError(f"{type(model).__name__} was fitted to X and y; give y too")
    return X, y


def array_table(X: Any, y: Any, target: str = TARGET, names: tuple[str, ...] | None = None) -> Table:
    """Return rows X (n, p), an array, a frame of numbers or a sparse matrix, and their targets y (n,) as a table.

    The columns are called as those of a frame, which must be `names` if these are given, or else `names`.
    """
    matrix = X.toarray() if hasattr(X, "toarray") else np.asarray(as_floats(as_array(X), None), float)
    labels, frame_names = np.asarray(y), getattr(X, "columns", None)
    if matrix.ndim != 2 or labels.shape != matrix.shape[:1]:
        raise DataError(f"X has shape {matrix.shape} and y {labels.shape}; give (n, p) and (n,)")
    default = column_names(matrix.shape[1]) if names is None or len(names) != matrix.shape[1] else names
    own = default if frame_names is None else unique_names(map(str, frame_names))
    if names is not None and own != names:
        raise DataError(f"X has the columns {list(own[:5])}; the fit was of {len(names)}, {list(names[:5])}")
    name = free_name(target, own)
    labels = np.asarray(labels.tolist()) if labels.dtype.kind == "O" else labels
    if labels.dtype.kind == "b":
        column = Column(name, "boolean", labels.astype(np.float64), TRUTH_VALUES)
    elif labels.dtype.kind in "iuf":
        column = Column(name, "number", labels.astype(np.float64))
    else:
        column = category_column(name, map(str, labels.tolist()))
    numbers = (Column(each, "number", values) for each, values in zip(own, matrix.T, strict=True))
    return Table((*numbers, column), ARRAYS, name)


def free_name(target: str, names: tuple[str, ...]) -> str:
    """Return the name of a target, another one if a column has it."""
    if target not in names:
        return target
    return "target" if "target" not in names else unique_names((*names, "target"))[-1]
