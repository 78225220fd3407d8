"""Tables with every kind of column, and models of them with coefficients drawn at random."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from separatrix.certificates.data import Data
from separatrix.codec import write
from separatrix.design.encode.plan import plan_encoding
from separatrix.inference.prediction import Covariance
from separatrix.model.predictions import DecisionRule
from separatrix.model.record import Model
from separatrix.tables.table import Column, Table, category_column

LABELS: dict[str, tuple[Any, ...] | None] = {
    "sigmoid": ("no", "yes"),
    "softmax": ("setosa", "it's", "üñí"),
    "one_vs_rest": (1, 2, 7),
    "none": (-1, 1),
    "number": None,
}
WORDS = ["free", "win", "call", "now", "lunch", "home", "later", "prize", "claim", "thanks"]


def mixed_table(seed: int, n: int = 60, *, gaps: bool = True, text: bool = False) -> Table:
    """Return a table with a number, a truth value, a category, a date, with gaps, and a target `y`."""
    rng = np.random.default_rng(seed)
    holes = rng.random((5, n)) < (0.15 if gaps else 0.0)
    number = np.where(holes[0], np.nan, rng.normal(50.0, 20.0, n).round(3))
    truth = np.where(holes[1], np.nan, rng.integers(0, 2, n).astype(float))
    levels = rng.choice(["Fair", "Good", 'it\'s "Ideal"; --', "nä\nive"], n)
    date = np.where(holes[3], np.nan, rng.integers(10_000, 20_000, n) + rng.choice([0.0, 0.25], n))
    columns = [
        Column('age; "years"', "number", number),
        Column("bought", "boolean", truth, ("no", "yes")),
        category_column("cut", [None if hole else str(word) for word, hole in zip(levels, holes[2], strict=True)]),
        Column("since", "date", date),
        Column("plain", "number", rng.normal(size=n)),
        Column("y", "number", rng.normal(size=n)),
    ]
    if text:
        said = [None if hole else " ".join(rng.choice(WORDS, 5)) for hole in holes[4]]
        columns.insert(0, Column("message", "text", np.asarray(said, dtype=object)))
    return Table(tuple(columns), "made")


def made_model(table: Table, link: str = "sigmoid", *, seed: int = 0, covariance: bool = False, **plan: Any) -> Model:
    """Return a model of the table's column `y` with random coefficients; link "number" is a regression."""
    rng = np.random.default_rng(seed)
    encoding = plan_encoding(table, "y", **plan)
    classes = LABELS[link]
    scores, p = 1 if classes is None or len(classes) == 2 else len(classes), len(encoding.feature_names)
    half = rng.normal(size=(p + 1, p + 1))
    return Model(
        estimator="logistic" if link != "number" else "linear",
        task="regression" if classes is None else "classification",
        target="y",
        classes=classes,
        coef=rng.normal(size=(scores, p)) / (1.0 + np.abs(encoding.apply(table).X).max(axis=0)),
        intercept=rng.normal(size=scores),
        rule=DecisionRule() if classes is None else DecisionRule(link, threshold=0.3 if link == "sigmoid" else 0.5),  # type: ignore[arg-type]
        encoding=encoding,
        options={"strength": 0.1},
        data={"source": table.source, "rows": table.n_rows},
        certificate=_made_certificate(table.n_rows, classes),
        summary={"title": "made up"},
        status="converged",
        message="made up",
        covariance=Covariance(half @ half.T / p, 12.0, 0.5) if covariance else None,
        no_covariance="" if covariance else "the coefficients were drawn",
    )


def _made_certificate(rows: int, classes: tuple[Any, ...] | None) -> dict[str, Any]:
    """Return the outline of a certificate, with a statement of nothing."""
    if classes is None:
        data = Data(rows=rows, width=1, intercept=True, task="numbers", counts=(rows,))
    else:
        task, counts = ("two" if len(classes) == 2 else "several"), (rows, *[0] * (len(classes) - 1))
        data = Data(rows=rows, width=1, intercept=True, task=task, labels=classes, counts=counts)
    words = {"verdict": "optimal", "claim": "made up"}
    return {
        "format": 2,
        "kind": "optimality",
        "data": write(data),
        "statement": {},
        "witness": {},
        "parts": [],
        **words,
    }


def rows_of(table: Table) -> list[dict[str, Any]]:
    """Return a table as rows with typed cells: dates as datetimes, truth values by their words."""
    columns = {}
    for column in table.columns:
        worded = column.kind == "text" or len(column.levels) > 0
        cells = column.words().tolist() if worded else column.values.tolist()
        gaps = column.is_missing.tolist()
        spell = as_datetime if column.kind == "date" else (lambda cell: cell)
        columns[column.name] = [None if gap else spell(cell) for cell, gap in zip(cells, gaps, strict=True)]
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def as_datetime(days: float) -> datetime.datetime:
    """Return days since 1970-01-01 as a datetime."""
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(days=days)
