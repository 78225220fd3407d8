"""The rows that a model's certificate is about, made anew from a table by the model's own encoding.

Whether a model predicts with the coefficients that its certificate is about.

A certificate is of the columns as they were fitted, divided by the scales of the options, if there are any; of two
classes it may have the other one as the positive one; and a softmax's coefficients may have been centred over the
classes since, which changes no probability.
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
from separatrix.model.train import with_known_target
from separatrix.tables.source import TableSource, as_source
from separatrix.tables.table import Table


class NamedColumns(np.ndarray[Any, np.dtype[np.float64]]):
    """An array (n, p) whose columns have names, as a data frame's have."""

    columns: tuple[str, ...]


class CertifiedRows(NamedTuple):
    """Features (n, p), divided as the fit's were, and the target (n,); `same` tells whether they are the fit's own."""

    X: Any
    y: NDArray[Any]
    same: bool


@contextmanager
def certified_rows(
    model: Model,
    table: Table | TableSource,
    storage: Storage = Storage(),  # noqa: B008  # frozen
) -> Iterator[CertifiedRows]:
    """Have the rows of a table as the fit of a model would have had them; those without a target are left out."""
    known, _ = with_known_target(as_source(table), model.target, model.encoding.missing)
    goal = find_target(read_target(known, model.target), model.target, model.task)
    with storage.opened({}) as keeper, keeper.hold(model.encoding, known) as held:
        y = goal.y[held.kept]
        same = data_digest(held.stored, y) == model.data.get("sha256")
        scales = scales_of(model)
        X = held.X if scales is None else held.divided(scales)
        yield CertifiedRows(named_columns(X, model.encoding.feature_names), y, same)


def scales_of(model: Model) -> Floats | None:
    """Return what the fit divided the columns by, if anything."""
    if model.options.get("scales") is None:
        return None
    scales = Record(model.options, "options").numbers("scales", len(model.encoding.feature_names))
    if not (scales > 0.0).all():
        raise ModelFileError(f"options.scales has {scales.min()}, where only numbers above 0 should be")
    return scales


def named_columns(X: Any, names: tuple[str, ...]) -> Any:
    """Return the features as a matrix that knows the names of its columns; rows that are no matrix know them."""
    if isinstance(X, RowSource):
        return X
    matrix = X if hasattr(X, "indices") else X.view(NamedColumns)
    matrix.columns = names
    return matrix


ROUNDING = 1e-9  # relative to the largest coefficient of a feature: what dividing and centring may cost
NAME = "coefficients"


def check_coefficients(model: Model, certificate: Certificate) -> Check:
    """Check that a model's coefficients are those that its certificate is about; None holds where it is about none."""
    found = certificate.certified()
    if found is None:
        return Check(NAME, None, f"not covered: the proof of {certificate.kind} is about none of them")
    own = _in_order(found, model.classes)
    if own is None:
        return Check(NAME, False, f"the certificate is of {_of(found.labels)}, the model of {_of(model.classes)}")
    claimed = np.column_stack([own.intercept, own.coef])
    used = np.column_stack([model.intercept, model.coef * _scales(model)])
    if claimed.shape != used.shape:
        words = f"the certificate has {_shape(claimed)}, intercept included, the model {_shape(used)}"
        return Check(NAME, False, words)
    apart = _apart(used, claimed, claimed)
    centred = claimed - claimed.mean(axis=0) if model.rule.link == "softmax" else claimed
    if not apart.any() or not _apart(used, centred, claimed).any():
        return Check(NAME, True, f"the model's {used.size:,} are the certificate's, to {ROUNDING:g}")
    keep = model.options.get("keep")
    others = [bool(ways) and keep in ("best", "average") and keep not in ways for ways in own.kept]
    sure = apart & ~np.asarray(others)[:, np.newaxis]
    if sure.any():
        return Check(NAME, False, _first_apart(model, used, claimed, sure))
    return Check(NAME, None, f"not covered: it is of the last weights of a run, and the model keeps the {keep}")


def _in_order(found: CertifiedCoef, classes: tuple[Any, ...] | None) -> CertifiedCoef | None:
    """Return certified coefficients in the order of a model's classes; None if they are of others."""
    if found.labels is None or classes is None:
        return found if found.labels is classes else None
    if len(found.labels) != len(classes) or any(label not in classes for label in found.labels):
        return None
    if found.labels == classes:
        return found
    if len(found.coef) == 1:
        return found._replace(coef=-found.coef, intercept=-found.intercept)
    order = [found.labels.index(label) for label in classes]
    kept = tuple(found.kept[place] for place in order)
    return found._replace(coef=found.coef[order], intercept=found.intercept[order], kept=kept)


def _scales(model: Model) -> Floats:
    scales = scales_of(model)
    return np.ones(model.coef.shape[1]) if scales is None else scales


def _apart(used: Floats, claimed: Floats, sizes: Floats) -> Bools:
    """Tell which coefficients differ by more than rounding costs numbers of some sizes."""
    return np.asarray(~(np.abs(used - claimed) <= ROUNDING * np.abs(sizes).max(axis=0)))


def _first_apart(model: Model, used: Floats, claimed: Floats, apart: Bools) -> str:
    """Return a sentence that names the first coefficient that differs."""
    score, place = (int(found[0]) for found in np.nonzero(apart))
    name = "the intercept" if place == 0 else f"that of {model.encoding.feature_names[place - 1]!r}"
    whose = f" of {(model.classes or ())[score]!r}" if len(used) > 1 else ""
    unit = 1.0 if place == 0 else _scales(model)[place - 1]
    numbers = (
        f"{used[score, place] / unit:.10g} in the model and {claimed[score, place] / unit:.10g} by the certificate"
    )
    return f"{name}{whose} is {numbers}, and {counted(int(apart.sum()), 'number')} of {used.size:,} differ so"


def _of(labels: tuple[Any, ...] | None) -> str:
    return "numbers" if labels is None else f"the classes {list(labels)}"


def _shape(numbers: Floats) -> str:
    return f"{counted(len(numbers), 'score')} of {counted(numbers.shape[1], 'coefficient')}"
