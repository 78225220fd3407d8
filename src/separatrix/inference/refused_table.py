"""The table of a fit that nothing may be inferred from: its coefficients, and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from separatrix.arrays import Floats
from separatrix.inference.table import InferenceTable, Term


def refused_table(
    model: Literal["linear", "logistic", "softmax"],
    names: Sequence[str],
    coefs: Sequence[tuple[Any, Floats]],
    rows: float,
    reason: str,
    level: float = 0.95,
) -> InferenceTable:
    """Return a table of estimates alone; `coefs` are those of each output, (p,), None where there is only one."""
    terms = tuple(
        Term(name, float(value), absent=reason, output=output)
        for output, coef in coefs
        for name, value in zip(names, coef, strict=True)
    )
    return InferenceTable(
        model=model,
        target="y",
        rows=rows,
        degrees_of_freedom=None,
        level=level,
        covariance="",
        statistic="t" if model == "linear" else "z",
        terms=terms,
        measures=(),
    )
