"""Models of tables: a fitted predictor with its encoding, certificate and provenance.

The digest in the provenance is the SHA-256 of the encoded matrix and the target. A table that is read and encoded in
the same way has the same digest. There is no date, so that equal fits give equal files.
"""

from __future__ import annotations

import hashlib
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats
from separatrix.certificates.base import Certificate, certificate_from_dict
from separatrix.design.encode.base import ColumnReport, add_reports
from separatrix.design.encode.columns import BooleanEncoding, CategoryEncoding, iso_date
from separatrix.design.encode.encoding import Encoded, Encoding
from separatrix.design.storage import as_storage
from separatrix.errors import CertificateError, DataError, OptionError, did_you_mean
from separatrix.families.base import Fitted
from separatrix.families.options import Task
from separatrix.inference.prediction import Covariance, Intervals, covariance_intervals
from separatrix.model.predictions import DecisionRule, KernelExpansion, Label, Predictions, expansion_of, linear_scores
from separatrix.tables.frames import from_frame
from separatrix.tables.open import read_table
from separatrix.tables.table import BLOCK_ROWS, Column, ColumnKind, Table, TableSource
from separatrix.tables.write import write_columns

BLOCK = 2**16  # labels hashed at a time
LEVEL = 0.95  # of intervals


@dataclass(frozen=True, eq=False)
class Model:
    """A linear predictor of a table's column: score = coef·features + intercept, and a rule from scores to predictions.

    `coef` (K, p) and `intercept` (K,), with K = 1 for two classes and for numbers; p features of the `encoding`.
    A kernel machine has K = 0 and its scores by `kernel`.
    `classes` are in the order of the scores, of two the positive one last; None for numbers. `certificate` is the
    result of its `to_dict`. Without a `covariance`, `no_covariance` says why there are no intervals. `fitted` is the
    fit, without its rows; a model that was read from a file has none.
    """

    estimator: str
    task: Task
    target: str
    classes: tuple[Label, ...] | None
    coef: Floats
    intercept: Floats
    rule: DecisionRule
    encoding: Encoding
    options: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    certificate: Mapping[str, Any] | None = None
    summary: Mapping[str, Any] = field(default_factory=dict)
    status: str = ""
    message: str = ""
    covariance: Covariance | None = None
    no_covariance: str = ""
    kernel: KernelExpansion | None = None
    fitted: Fitted | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "coef", np.atleast_2d(np.asarray(self.coef, dtype=np.float64)))
        object.__setattr__(self, "intercept", np.atleast_1d(np.asarray(self.intercept, dtype=np.float64)))
        scores = 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)
        scores = 0 if self.kernel is not None else scores
        shape = scores, len(self.encoding.feature_names)
        if self.coef.shape != shape or self.intercept.shape != (scores,):
            raise DataError(
                f"coef has shape {self.coef.shape} and intercept {self.intercept.shape}; the encoding and the classes"
                f" ask for {shape} and {(scores,)}"
            )
        if not (np.isfinite(self.coef).all() and np.isfinite(self.intercept).all()):
            raise DataError("a coefficient is not finite; a model needs numbers that can be multiplied with")

    @property
    def fit_intercept(self) -> bool:
        """Whether the intercept was fitted; files of earlier releases have it under another name."""
        return bool(self.options.get("fit_intercept", self.options.get("intercept", True)))

    @property
    def kinds(self) -> dict[str, ColumnKind]:
        """The kinds of the columns used, to be passed to `tables.open_table`."""
        training_kinds = {column["name"]: column["kind"] for column in self.data.get("columns", ())}
        kinds = {column.name: training_kinds.get(column.name, column.kind) for column in self.encoding.columns}
        return {name: "category" if kind == "presence" else kind for name, kind in kinds.items()}

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of categories and booleans, to be passed to `tables.open_table`."""
        with_levels = (each for each in self.encoding.columns if isinstance(each, BooleanEncoding | CategoryEncoding))
        return {each.name: each.words for each in with_levels}

    @property
    def formats(self) -> dict[str, str]:
        """The formats of numbers and dates in the training table, to be passed to `tables.open_table`."""
        used = set(self.encoding.input_names)
        columns = self.data.get("columns", ())
        return {each["name"]: each["format"] for each in columns if each.get("format") and each["name"] in used}

    @property
    def claim(self) -> str:
        """The claim of the certificate, made from its statement; why there is none, if it cannot be read."""
        try:
            return f"{self.evidence().claim} (claimed; separatrix verify checks it)"
        except CertificateError as problem:
            return str(problem)

    def evidence(self) -> Certificate:
        """Return the certificate, which `verify(X, y)` re-checks; a CertificateError if it is malformed or absent."""
        if self.certificate is None:
            raise CertificateError("this model has no certificate; fit it again to have one")
        return certificate_from_dict(self.certificate)

    def predict(
        self, table: Any, *, allow_absent: bool = False, intervals: bool = True, level: float = LEVEL
    ) -> Predictions:
        """Return the predictions for the rows of a table, a pandas, polars or Arrow frame, or a path.

        A column with a nonzero coefficient that the table does not have raises a DataError, unless `allow_absent`: then
        it counts as missing in every row. Missing cells are filled. Missing, new and mistyped cells are counted in
        `reports`, and named for each row in `notes`; a row with a new level has no interval.
        """
        if not isinstance(table, Table):
            read: Any = read_table if isinstance(table, str | Path) else from_frame
            table = read(table, kinds=self.kinds, levels=self.levels, formats=self.formats)
        if not allow_absent:
            self._refuse_absent(table)
        return self.predict_encoded(self.encoding.filling.apply(table), intervals=intervals, level=level)

    def predict_encoded(self, encoded: Encoded, *, intervals: bool = True, level: float = LEVEL) -> Predictions:
        """Return the predictions for encoded rows."""
        X, bounds = encoded.X, None
        with np.errstate(over="ignore", invalid="ignore"):
            if self.kernel is None:
                scores = linear_scores(X, self.coef, self.intercept)
            else:
                scores = self.kernel.scores(X, len(self.classes or ()))
            if intervals and self.covariance is not None and len(self.coef) == 1:
                link = self.rule.link if self.classes else "none"
                bounds = covariance_intervals(self.covariance, X, scores[:, 0], level, link=link)
        flat, kept = scores[:, 0] if scores.shape[1] == 1 else scores, encoded.kept
        if not kept.all():
            flat = _spread(flat, kept)
            bounds = None if bounds is None else Intervals(*(_spread(bound, kept) for bound in bounds))
        marks = tuple(mark for mark in encoded.marks if mark.column in self._weighted)
        if bounds is not None and (unseen := [mark.rows for mark in marks if mark.unseen]):
            bounds = bounds.without(np.concatenate(unseen))
        return Predictions(self.classes, flat, self.rule, self.coef, bounds, encoded.reports, kept, marks)

    @cached_property
    def _weighted(self) -> frozenset[str]:
        """The columns that contribute to a score."""
        parts = zip(self.encoding.columns, self.encoding.places, strict=True)
        return frozenset(column.name for column, place in parts if self.kernel is not None or self.coef[:, place].any())

    def _refuse_absent(self, table: Table) -> None:
        used = (name for name in self.encoding.input_names if name in self._weighted)
        absent = [name for name in used if name not in set(table.names)]
        if absent:
            names = ", ".join(map(repr, absent[:5])) + (f" and {len(absent) - 5} more" if len(absent) > 5 else "")
            raise DataError(
                f"{table.source} has no column {names}, which the model uses; rename or add it, or let it"
                " count as missing in every row: --allow-absent, allow_absent=True"
                f"{did_you_mean(absent[0], table.names)}"
            )


def build_model(fitted: Fitted, encoding: Encoding, target: str, data: Mapping[str, Any] | None = None) -> Model:
    """Return a fit as a model; without `data` about its rows, it has neither a certificate nor inference."""
    require_one_predictor(fitted.options)
    result, is_final, kernel = fitted.result, data is not None, expansion_of(fitted)
    table = fitted.table if is_final else None
    covariance, reason = None, fitted.no_inference
    if is_final and fitted.inference is not None:
        covariance, reason = fitted.inference.score_covariance()
    scales = {} if fitted.scales is None else {"scales": fitted.scales.tolist()}
    strength = {} if fitted.strength is None else {"strength": fitted.strength}
    return Model(
        estimator=fitted.options.family,
        task="regression" if fitted.labels is None else "classification",
        target=target,
        classes=None if fitted.labels is None else tuple(map(_plain_label, fitted.labels)),
        coef=fitted.coef if kernel is None else np.empty((0, len(encoding.feature_names))),
        intercept=fitted.intercept if kernel is None else np.empty(0),
        rule=DecisionRule(fitted.link, fitted.tie, getattr(fitted.options, "threshold", 0.5)),
        encoding=encoding,
        options={**fitted.options.plain(), **strength, **scales},
        data=data or {},
        certificate=result.certificate.to_dict() if is_final else None,
        summary={} if table is None else replace(table, target=target).to_dict(),
        status=str(result.status),
        message=result.message,
        covariance=covariance,
        no_covariance=reason,
        kernel=kernel,
        fitted=copy(fitted) if is_final else None,  # a copy has no rows
    )


def _plain_label(label: Any) -> Label:
    """Return a class as a plain value; one that is no text, number or boolean raises an OptionError."""
    plain = label.item() if isinstance(label, np.generic) else label
    if not isinstance(plain, Label):
        raise OptionError(f"the class {label!r} is a {type(label).__name__}; a model has text, numbers or booleans")
    return plain


def require_one_predictor(options: Any) -> None:
    """Raise an OptionError for a vote of several predictors, which no model holds."""
    if getattr(options, "keep", None) == "vote":
        raise OptionError("keep='vote' is a vote of many predictors, no single one; use 'average' or 'best'")


def _spread(values: Any, kept: Bools) -> Any:
    """Return values of the kept rows at their places among all rows, NaN elsewhere; floats and None as they are."""
    if values is None or isinstance(values, float):
        return values
    result = np.full((len(kept), *values.shape[1:]), np.nan)
    result[kept] = values
    return result


# Files of predictions, written in blocks; memory: one block


@dataclass
class PredictionRun:
    """Counts of a run: rows, rows with a note, rows per label, and irregular cells by column."""

    rows: int = 0
    noted: int = 0
    labels: Counter[Label] = field(default_factory=Counter)
    reports: tuple[ColumnReport, ...] | None = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The irregularities of the table, as sentences."""
        return tuple(sentence for report in self.reports or () for sentence in report.sentences)


def write_predictions(
    model: Model,
    source: TableSource,
    path: str | Path,
    *,
    keep: Sequence[str] = (),
    allow_absent: bool = False,
    rows: int = BLOCK_ROWS,
) -> PredictionRun:
    """Write a model's predictions of a table to a csv, tsv, Parquet or JSON lines file, completely or not at all.

    The table's columns in `keep` come first. Open the table with the model's `kinds`, `levels` and `formats`.
    """
    run = PredictionRun()

    def columns(block: Table) -> dict[str, NDArray[Any]]:
        predictions = model.predict(block, allow_absent=allow_absent)
        run.rows += len(predictions)
        run.noted += predictions.noted
        run.labels.update(predictions.label_counts())
        run.reports = add_reports(run.reports, predictions.reports)
        results = predictions.columns()
        if clashes := [name for name in keep if name in results]:
            raise OptionError(f"column {clashes[0]!r} has the name of a result; do not keep it, or rename it")
        return {**{name: _cells(block.column(name)) for name in keep}, **results}

    blocks = map(columns, source.blocks(rows))
    first = next(blocks)
    types: dict[str, type] = dict.fromkeys(first, float)
    types |= {name: str if first[name].dtype == object else float for name in keep}
    labels = {type(label) for label in model.classes or (0.0,)}
    types["prediction"] = labels.pop() if len(labels) == 1 else str
    types["note"] = str
    write_columns(path, chain([first], blocks), types)
    return run


def _cells(column: Column) -> NDArray[Any]:
    """Return a column's cells as they are written: strings, numbers, dates in ISO 8601."""
    if column.kind == "date":
        dates = [None if np.isnan(days) else iso_date(days) for days in column.values.tolist()]
        return np.asarray(dates, dtype=object)
    return column.words() if column.kind in {"text", "id"} or column.levels else column.values


# Provenance: the table, its columns and kinds, a digest of the encoded rows, versions and the seed


def describe_data(
    source: TableSource, target: str, X: Any, y: NDArray[Any], *, seed: int | None = None
) -> dict[str, Any]:
    """Return the `data` entry of a model file, for a table encoded as X (n, p), in memory or on disk, with target y."""
    columns = {each.name: {"name": each.name, "kind": each.kind, "format": each.format} for each in source.schema}
    return {
        "source": source.source,
        "rows": int(X.shape[0]),
        "rows_in_table": source.n_rows,
        "columns": [each for name, each in columns.items() if name != target],
        "target": columns[target],
        "notes": list(source.notes),
        "sha256": data_digest(X, y),
        "versions": versions(),
        "seed": seed,
    }


def data_digest(X: Any, y: NDArray[Any]) -> str:
    """Return the SHA-256 of a matrix (dense, CSR or on disk) and a target, in hexadecimal.

    A dense matrix has its entries by row; a sparse one the row starts, the column indices, the entries.
    """
    digest, rows = hashlib.sha256(f"{X.shape[0]} {X.shape[1]}".encode()), as_storage(X)
    if rows.sparse:
        digest.update(_bytes(rows.starts, "<i8"))
        for part, kind in (("indices", "<i8"), ("data", "<f8")):
            for _, block in rows.blocks():
                digest.update(_bytes(getattr(block, part), kind))
    else:
        for _, block in rows.blocks():
            digest.update(_bytes(block, "<f8"))
    if y.dtype.kind in "OUS":
        for start in range(0, len(y), BLOCK):
            labels = "\0".join(map(str, y[start : start + BLOCK].tolist()))
            digest.update((labels if start == 0 else f"\0{labels}").encode("utf-8", "surrogatepass"))
    else:
        digest.update(_bytes(y, "<f8"))
    return digest.hexdigest()


def _bytes(numbers: NDArray[Any], kind: str) -> memoryview:
    """Return numbers as bytes in row order, the same on every machine."""
    return np.ascontiguousarray(numbers, dtype=kind).reshape(-1).view(np.uint8).data


def versions() -> dict[str, str]:
    """Return the versions that a fit was made with."""
    return {
        "separatrix": metadata.version("separatrix"),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
