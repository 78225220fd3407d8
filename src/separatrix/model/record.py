"""A fitted linear predictor with all that it takes to use it, check it and tell where it came from.

What a model says of the rows of a table, as columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.design.encode.base import ColumnReport
from separatrix.design.encode.encoding import Encoded, Encoding
from separatrix.errors import CertificateError, DataError, did_you_mean
from separatrix.inference.prediction import Covariance, Intervals, covariance_intervals
from separatrix.model.decision_rule import DecisionRule
from separatrix.tables.table import ColumnKind, Table

if TYPE_CHECKING:
    from separatrix.certificates.base import Certificate


Label = str | int | float | bool


@dataclass(frozen=True, eq=False)
class Predictions:
    """Scores (n,) or (n, K), and what follows from them by the model's rule; of `classes`, None for numbers.

    `intervals` of the second class's probability, of the score or of the number, where a covariance is known. Rows that
    were left out for a missing cell, those not `kept` (None: all are), have the label None and NaN elsewhere. Nothing
    but the scores is held: the rest is made when it is asked for.
    """

    classes: tuple[Label, ...] | None
    scores: Floats
    rule: DecisionRule
    coef: Floats
    intervals: Intervals | None
    reports: tuple[ColumnReport, ...]
    kept: Bools | None = None

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def left_out(self) -> int:
        """How many rows have no answer."""
        return 0 if self.kept is None else int(np.count_nonzero(~self.kept))

    @property
    def labels(self) -> NDArray[Any]:
        """The classes predicted, (n,); of numbers the scores."""
        if self.classes is None:
            return self.scores
        labels = label_array(self.classes)[self.rule.classes(self._columns)]
        if self.kept is not None:
            labels = labels.astype(object)
            labels[~self.kept] = None
        return labels

    def label_counts(self) -> dict[Label, int]:
        """Return how many rows each class was predicted for."""
        if self.classes is None:
            return {}
        places = self.rule.classes(self._columns)
        counts = np.bincount(places if self.kept is None else places[self.kept], minlength=len(self.classes))
        return {label: count for label, count in zip(self.classes, counts.tolist(), strict=True) if count}

    @property
    def probabilities(self) -> Floats | None:
        """The classes' probabilities, (n, K), where the model has them."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.rule.probabilities(self._columns) if self.classes else None

    @property
    def distance(self) -> Floats | None:
        """The distance (n,) to the boundary in units of the encoded features; None for numbers."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.rule.distances(self._columns, self.coef) if self.classes else None

    @property
    def _columns(self) -> Floats:
        return self.scores.reshape(len(self.scores), -1)

    def take(self, rows: Indices) -> Predictions:
        """Return those of some rows, by place, without intervals."""
        kept = None if self.kept is None else self.kept[rows]
        return replace(self, scores=self.scores[rows], intervals=None, kept=kept)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was odd about the table, in words."""
        return tuple(sentence for report in self.reports for sentence in report.sentences)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return all of it as named columns (n,), in the order of a file of predictions."""
        found: dict[str, NDArray[Any]] = {"prediction": self.labels}
        if (probabilities := self.probabilities) is not None:
            found |= self._by_class("probability", probabilities)
        if self.classes is not None:
            found |= self._by_class("score", self.scores) if self.scores.ndim == 2 else {"score": self.scores}
        if (distance := self.distance) is not None:
            found["distance"] = np.where(np.isfinite(distance), distance, np.nan)
        if self.intervals is not None:
            found |= {"lower": self.intervals.lower, "upper": self.intervals.upper}
            if self.intervals.new_lower is not None and self.intervals.new_upper is not None:
                found |= {"new_lower": self.intervals.new_lower, "new_upper": self.intervals.new_upper}
        return found

    def _by_class(self, word: str, values: Floats) -> dict[str, NDArray[Any]]:
        return {f"{word}_{label}": values[:, place] for place, label in enumerate(self.classes or ())}


def join_predictions(parts: Sequence[Predictions], order: Indices | None = None) -> Predictions:
    """Return the predictions of several parts as those of all rows, in the order given, without intervals."""
    scores = np.concatenate([part.scores for part in parts])
    kept = None
    if any(part.kept is not None for part in parts):
        kept = np.concatenate(
            [np.ones(len(part), dtype=np.bool_) if part.kept is None else part.kept for part in parts]
        )
    joined = replace(parts[0], scores=scores, intervals=None, kept=kept)
    return joined if order is None else joined.take(order)


def label_array(labels: tuple[Label, ...]) -> NDArray[Any]:
    """Return labels as an array of their common type: whole numbers, numbers, truth values, or else objects."""
    types = {type(label) for label in labels}
    if types == {int} and all(abs(label) < 2**62 for label in labels if isinstance(label, int)):
        return np.asarray(labels, dtype=np.int64)
    if types == {bool}:
        return np.asarray(labels, dtype=np.bool_)
    return np.asarray(labels, dtype=np.float64 if types == {float} else object)


Task = Literal["classification", "regression"]
TASKS: tuple[Task, ...] = ("classification", "regression")
LEVEL = 0.95  # of intervals


@dataclass(frozen=True, eq=False)
class Model:
    """A linear predictor of a table's column: score = coef·features + intercept, and a rule from score to answer.

    `coef` (K, p) and `intercept` (K,), one row for two classes or for numbers; p features of the `encoding`. `classes`
    in the order of the scores, of two the positive one last; None for numbers. `certificate` is what its `to_dict`
    gave. Without a `covariance`, `no_covariance` says why there are no intervals.
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "coef", np.atleast_2d(np.asarray(self.coef, dtype=np.float64)))
        object.__setattr__(self, "intercept", np.atleast_1d(np.asarray(self.intercept, dtype=np.float64)))
        scores = 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)
        shape = scores, len(self.encoding.feature_names)
        if self.coef.shape != shape or self.intercept.shape != (scores,):
            raise DataError(
                f"coef has shape {self.coef.shape} and intercept {self.intercept.shape}; the encoding and the classes"
                f" ask for {shape} and {(scores,)}"
            )
        if not (np.isfinite(self.coef).all() and np.isfinite(self.intercept).all()):
            raise DataError("a coefficient is not finite; a model needs numbers that can be multiplied with")

    @property
    def kinds(self) -> dict[str, ColumnKind]:
        """The kind that each column used is to be read as, for `tables.open_table`."""
        said = {column["name"]: column["kind"] for column in self.data.get("columns", ())}
        own = {column.name: said.get(column.name, column.kind) for column in self.encoding.columns}
        return {name: "category" if kind == "presence" else kind for name, kind in own.items()}

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The words that categories and truth values are to be read with, for `tables.open_table`."""
        return {each.name: each.levels for each in self.encoding.columns if each.levels}

    @property
    def formats(self) -> dict[str, str]:
        """How numbers and dates are written, for `tables.open_table`, where the training table had a way of its own."""
        used = set(self.encoding.input_names)
        columns = self.data.get("columns", ())
        return {each["name"]: each["format"] for each in columns if each.get("format") and each["name"] in used}

    def evidence(self) -> Certificate:
        """Return the certificate, which `verify(X, y)` re-checks; a CertificateError if it is malformed or absent."""
        from separatrix.certificates.base import certificate_from_dict  # noqa: PLC0415  # only a check needs it

        if self.certificate is None:
            raise CertificateError("this model has no certificate; fit it again to have one")
        return certificate_from_dict(self.certificate)

    def predict(
        self, table: Table, *, allow_absent: bool = False, intervals: bool = True, level: float = LEVEL
    ) -> Predictions:
        """Return what the model says of each row of a table.

        A column that has weight but is not in the table raises a DataError, unless `allow_absent`: then it counts as
        missing in every row. What was missing, new or of the wrong type is counted in `reports`.
        """
        if not allow_absent:
            self._refuse_absent(table)
        return self.predict_encoded(self.encoding.apply(table), intervals=intervals, level=level)

    def predict_encoded(self, encoded: Encoded, *, intervals: bool = True, level: float = LEVEL) -> Predictions:
        """Return what the model says of rows that its encoding has encoded."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.asarray(encoded.X @ self.coef.T) + self.intercept
            ends = self._intervals(encoded.X, scores[:, 0], level) if intervals else None
        flat, kept = scores[:, 0] if scores.shape[1] == 1 else scores, None
        if not encoded.kept.all():
            kept, flat = encoded.kept, _spread(flat, encoded.kept)
            ends = None if ends is None else Intervals(*(_spread(end, encoded.kept) for end in ends))
        return Predictions(self.classes, flat, self.rule, self.coef, ends, encoded.reports, kept)

    def _refuse_absent(self, table: Table) -> None:
        present = set(table.names)
        parts = zip(self.encoding.columns, self.encoding.places, strict=True)
        absent = [each.name for each, place in parts if each.name not in present and self.coef[:, place].any()]
        if absent:
            names = ", ".join(map(repr, absent[:5])) + (f" and {len(absent) - 5} more" if len(absent) > 5 else "")
            raise DataError(
                f"{table.source} has no column {names}, which the model gives weight to; rename or add it, or let it"
                " count as missing in every row: --allow-absent, allow_absent=True"
                f"{did_you_mean(absent[0], table.names)}"
            )

    def _intervals(self, X: Any, scores: Floats, level: float) -> Intervals | None:
        if self.covariance is None or len(self.coef) > 1:
            return None
        return covariance_intervals(self.covariance, X, scores, level, link=self.rule.link if self.classes else "none")


def _spread(part: Any, kept: Bools) -> Any:
    """Return numbers of the rows kept in the places of all rows, NaN elsewhere; what is no array stays."""
    if part is None or isinstance(part, float):
        return part
    spread = np.full((len(kept), *part.shape[1:]), np.nan)
    spread[kept] = part
    return spread
