"""A model against its certificate: the rows that the certificate is about, and the coefficients that it certifies.

The rows are rebuilt from a table by the model's own encoding. The certificate is about the columns as fitted, divided
by the scales in the model's options, if any. For two classes it may have the other class as the positive one. Softmax
coefficients may have been centred over the classes since, which changes no probability.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats
from separatrix.certificates.base import Certificate, CertifiedCoef, Check
from separatrix.codec import Record
from separatrix.design.row_source import RowSource
from separatrix.errors import ModelFileError, counted
from separatrix.model.provenance import data_digest
from separatrix.model.record import Model
from separatrix.model.storage import Storage
from separatrix.model.target import find_target, read_target
from separatrix.model.train import without_missing_target
from separatrix.tables.source import TableSource, as_source
from separatrix.tables.table import Table

ROUNDING = 1e-9  # tolerance for scaling and centring, relative to the largest coefficient of a feature
NAME = "coefficients"


class NamedColumns(np.ndarray[Any, np.dtype[np.float64]]):
    """An array (n, p) with column names, as a data frame has them."""

    columns: tuple[str, ...]


class CertifiedRows(NamedTuple):
    """Features (n, p), scaled as in the fit, and the target (n,); `same`: whether they are the rows of the fit."""

    X: Any
    y: NDArray[Any]
    same: bool


@contextmanager
def certified_rows(
    model: Model,
    table: Table | TableSource,
    storage: Storage = Storage(),  # noqa: B008  # frozen
) -> Iterator[CertifiedRows]:
    """Encode the rows of a table as the fit of a model would; rows without a target are left out."""
    known, _ = without_missing_target(as_source(table), model.target, model.encoding.missing)
    target = find_target(read_target(known, model.target), model.target, model.task)
    with storage.opened({}) as row_storage, row_storage.hold(model.encoding, known) as encoded:
        y = target.y[encoded.kept]
        same = data_digest(encoded.stored, y) == model.data.get("sha256")
        scales = scales_of(model)
        X = encoded.X if scales is None else encoded.divided(scales)
        yield CertifiedRows(named_columns(X, model.encoding.feature_names), y, same)


def scales_of(model: Model) -> Floats | None:
    """Return the scales that divided the columns in the fit, if any."""
    if model.options.get("scales") is None:
        return None
    scales = Record(model.options, "options").numbers("scales", len(model.encoding.feature_names))
    if not (scales > 0.0).all():
        raise ModelFileError(f"options.scales has {scales.min()}, where only numbers above 0 should be")
    return scales


def named_columns(X: Any, names: tuple[str, ...]) -> Any:
    """Return a matrix with column names; a `RowSource` has them already."""
    if isinstance(X, RowSource):
        return X
    matrix = X if hasattr(X, "indices") else X.view(NamedColumns)
    matrix.columns = names
    return matrix


def check_coefficients(model: Model, certificate: Certificate) -> Check:
    """Check that a model's coefficients are those that its certificate is about; undecided if it is about none."""
    certified = certificate.certified()
    if certified is None:
        return Check(NAME, None, f"not covered: the proof of {certificate.kind} is about none of them")
    ordered = _reordered(certified, model.classes)
    if ordered is None:
        certified_labels, labels = _labels_text(certified.labels), _labels_text(model.classes)
        return Check(NAME, False, f"the certificate is of {certified_labels}, the model of {labels}")
    claimed = np.column_stack([ordered.intercept, ordered.coef])
    used = np.column_stack([model.intercept, model.coef * _scales(model)])
    if claimed.shape != used.shape:
        message = f"the certificate has {_shape_text(claimed)}, intercept included, the model {_shape_text(used)}"
        return Check(NAME, False, message)
    differs = _differs(used, claimed, claimed)
    centred = claimed - claimed.mean(axis=0) if model.rule.link == "softmax" else claimed
    if not differs.any() or not _differs(used, centred, claimed).any():
        return Check(NAME, True, f"the model's {used.size:,} are the certificate's, to {ROUNDING:g}")
    keep = model.options.get("keep")
    other_kinds = [bool(kinds) and keep in ("best", "average") and keep not in kinds for kinds in ordered.kept]
    wrong = differs & ~np.asarray(other_kinds)[:, np.newaxis]
    if wrong.any():
        return Check(NAME, False, _first_difference(model, used, claimed, wrong))
    return Check(NAME, None, f"not covered: it is of the last weights of a run, and the model keeps the {keep}")


def _reordered(certified: CertifiedCoef, classes: tuple[Any, ...] | None) -> CertifiedCoef | None:
    """Return certified coefficients in the order of a model's classes, None if their classes differ."""
    if certified.labels is None or classes is None:
        return certified if certified.labels is classes else None
    if len(certified.labels) != len(classes) or any(label not in classes for label in certified.labels):
        return None
    if certified.labels == classes:
        return certified
    if len(certified.coef) == 1:
        return certified._replace(coef=-certified.coef, intercept=-certified.intercept)
    order = [certified.labels.index(label) for label in classes]
    kept = tuple(certified.kept[place] for place in order)
    return certified._replace(coef=certified.coef[order], intercept=certified.intercept[order], kept=kept)


def _scales(model: Model) -> Floats:
    scales = scales_of(model)
    return np.ones(model.coef.shape[1]) if scales is None else scales


def _differs(used: Floats, claimed: Floats, sizes: Floats) -> Bools:
    """Return which coefficients differ by more than rounding, relative to sizes."""
    return np.asarray(~(np.abs(used - claimed) <= ROUNDING * np.abs(sizes).max(axis=0)))


def _first_difference(model: Model, used: Floats, claimed: Floats, differs: Bools) -> str:
    """Return a sentence about the first coefficient that differs."""
    score, place = (int(index[0]) for index in np.nonzero(differs))
    name = "the intercept" if place == 0 else f"that of {model.encoding.feature_names[place - 1]!r}"
    of_class = f" of {(model.classes or ())[score]!r}" if len(used) > 1 else ""
    unit = 1.0 if place == 0 else _scales(model)[place - 1]
    numbers = (
        f"{used[score, place] / unit:.10g} in the model and {claimed[score, place] / unit:.10g} by the certificate"
    )
    return f"{name}{of_class} is {numbers}, and {counted(int(differs.sum()), 'number')} of {used.size:,} differ so"


def _labels_text(labels: tuple[Any, ...] | None) -> str:
    return "numbers" if labels is None else f"the classes {list(labels)}"


def _shape_text(numbers: Floats) -> str:
    return f"{counted(len(numbers), 'score')} of {counted(numbers.shape[1], 'coefficient')}"
