"""Models exported to SQL, Python source and ONNX; each gives the predictions of `Model.predict`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from separatrix.errors import require_choice
from separatrix.model.adopt import as_model
from separatrix.model.export.onnx import to_onnx
from separatrix.model.export.python import to_python
from separatrix.model.export.sql import to_sql

LANGUAGES = ("sql", "python", "onnx")


def export(model: Any, to: str, *, table: str = "data", keep: Sequence[str] = ()) -> str | bytes:
    """Return a model of a table, a fitted estimator or a model by formula in another language.

    Columns must have their types, which the first lines of SQL and Python name: text is not parsed into numbers and
    dates, and words are trimmed.

    Parameters
    ----------
    to : "sql", one SELECT; "python", a function that needs nothing else; "onnx", the bytes of a graph
    table : SQL: the name of the table to select from
    keep : SQL: columns to select too

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> "x1" in sx.export(model, to="sql", table="points")
    True
    """
    language, own = require_choice("to", to, LANGUAGES), as_model(model)
    if language == "sql":
        return to_sql(own, table, keep=tuple(keep))
    return to_python(own) if language == "python" else to_onnx(own)
