"""A model against its certificate: the rows that the certificate is about, and the coefficients that it certifies.

`verify` re-checks both for a model of any kind.

The rows are rebuilt from a table by the model's own encoding. For two classes the certificate may have the other class
as the positive one. Softmax coefficients may have been centred over the classes since, which changes no probability.

A certificate of bias reduction is about the maximum of the penalised likelihood. The intercept of the model may be that
of maximum likelihood given the other coefficients (FLIC) instead, which is checked on the rows: the mean probability
passes the rate of the second class within the tolerance of the intercept.

A certificate of a kernel machine has coefficients of rows of the data by their index, the model has the support vectors
themselves, so both functions are evaluated on the rows: two kernel values per row and support vector. A certificate of
the widest margin is about a function up to a positive factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, PartsCertificate, Verification
from separatrix.certificates.bias_reduction import BiasReductionCertificate
from separatrix.certificates.data import Data, MatchedRows, in_order, match
from separatrix.certificates.margin import KernelCertificate
from separatrix.certificates.mistakes import KernelMistakesCertificate
from separatrix.certificates.optimality import KernelOptimalityCertificate
from separatrix.design.build import RowSource, as_array
from separatrix.design.kernel_matrix import by_rows, kernel_scores
from separatrix.design.kernels import Kernel
from separatrix.errors import OptionError, counted
from separatrix.model.adopt import arrays_of, as_model, is_formula, open_for, rows_of, table_model
from separatrix.model.predictions import KernelExpansion
from separatrix.model.record import Model, data_digest
from separatrix.model.storage import Storage
from separatrix.numerics import sigmoid
from separatrix.tables.table import TableSource

ROUNDING = 1e-9  # tolerance, relative to the largest coefficient of a feature, or to the largest score
NAME = "coefficients"
SAME_ROWS = {
    True: ("These are the rows that it was fitted on.",),
    None: ("It is not known whether these are the rows that it was fitted on: the model has no digest of them.",),
    False: (
        "These are not the rows that it was fitted on.",
        "For those, give the same file, its rows in the same order, and the --where or --sql of the fit.",
    ),
}


class NamedColumns(np.ndarray[Any, np.dtype[np.float64]]):
    """An array (n, p) with column names, as a data frame has them."""

    columns: tuple[str, ...]


class CertifiedRows(NamedTuple):
    """Features (n, p), the target (n,), and the sample weights (n,), if the fit had any.

    `same`: whether they are the rows of the fit, None if the model has no digest of these.
    """

    X: Any
    y: NDArray[Any]
    weights: Any = None
    same: bool | None = None

    def verify(self, certificate: Certificate) -> CheckedCertificate:
        """Check a certificate on the rows."""
        return CheckedCertificate(certificate, certificate.verify(self.X, self.y, self.weights))


class CheckedCertificate(NamedTuple):
    """A certificate with all checks of it on some data."""

    certificate: Certificate
    verification: Verification


@dataclass(frozen=True)
class CheckedModel:
    """The checked certificates of a model, the first with the check of its coefficients; true if all are proved.

    `rows` is the number of rows checked, `same` whether they are those of the fit (None: not known). `uncovered` says
    why the coefficients were not compared; it is empty if they were.
    """

    certificates: tuple[CheckedCertificate, ...]
    rows: int
    same: bool | None
    uncovered: str

    @property
    def holds(self) -> bool:
        """Whether every certificate is proved."""
        return all(each.verification.holds for each in self.certificates)

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        lines = (f"{each.certificate.claim}\n{each.verification}" for each in self.certificates)
        return "\n".join((*lines, *self.notes))

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether the rows are those of the fit and, if not, how to use those; and which parts were checked."""
        extent = "The certificate was checked, and the coefficients against it; the rest of the file was not."
        if self.uncovered:
            extent = f"Only the certificate was checked, not the coefficients: {self.uncovered}."
        return (*SAME_ROWS[self.same], extent)


def verify(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> CheckedModel:
    """Re-check the certificate of a model from the data alone, and that the coefficients are the certified ones.

    Parameters
    ----------
    model : a model of a table, fresh or loaded; a fitted estimator; or a model by formula
    X : a table, frame or path; for an estimator the rows of its fit; for a formula its data
    y : targets of an estimator
    sample_weight : weights of an estimator's fit, if it had any

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> model = sx.LogisticRegression().fit(X, y)
    >>> sx.verify(model, X, y).holds, sx.verify(model, X, [1, 1, 0, 0]).holds
    (True, False)
    """
    own = as_model(model)
    if table_model(model) is None:
        if sample_weight is not None and is_formula(model):
            sample_weight = np.asarray(sample_weight)[model.used_rows(X)]
        rows = CertifiedRows(*arrays_of(model, X, y, fitted=True), sample_weight)
        assert own.fitted is not None  # of an estimator
        result = own.fitted.result
        claims = [claim for claim in (result.certificate, result.overlap) if claim is not None]
        return _checked_model(own, list(map(rows.verify, claims)), rows)
    if sample_weight is not None:
        raise OptionError("sample_weight is for the fit of an estimator; a table has its weights in a column")
    with open_for(own, X, y) as source:
        return verify_table(own, [own.evidence()], source)


def verify_table(
    model: Model,
    certificates: Sequence[Certificate],
    source: TableSource,
    storage: Storage = Storage(),  # noqa: B008  # frozen
) -> CheckedModel:
    """Check certificates on a table, and a model's coefficients against the first."""
    known, target, _ = rows_of(model, source, model.encoding.missing)
    with storage.opened({}) as opened, opened.hold(model.encoding, known) as encoded:
        own, digest = target.select(encoded.kept), model.data.get("sha256")
        same = None if digest is None else data_digest(encoded.stored, own.y) == digest
        rows = CertifiedRows(named_columns(encoded.X, model.encoding.feature_names), own.y, own.weights, same)
        return _checked_model(model, list(map(rows.verify, certificates)), rows)


def _checked_model(model: Model, checked: list[CheckedCertificate], rows: CertifiedRows) -> CheckedModel:
    certificate, verification = checked[0]
    if model.kernel is None:
        check: Check | str = check_coefficients(model, certificate, rows, proved=verification.holds)
    elif not verification.holds:
        check = "the certificate is not proved on these rows"
    else:
        check = check_kernel(model.kernel, certificate, rows, model.options.get("keep"))
    if isinstance(check, str):
        return CheckedModel(tuple(checked), len(rows.y), rows.same, check)
    own = CheckedCertificate(certificate, replace(verification, checks=(*verification.checks, check)))
    return CheckedModel((own, *checked[1:]), len(rows.y), rows.same, "")


def named_columns(X: Any, names: tuple[str, ...]) -> Any:
    """Return a matrix with column names; a `RowSource` has them already."""
    if isinstance(X, RowSource):
        return X
    matrix = X if hasattr(X, "indices") else X.view(NamedColumns)
    matrix.columns = names
    return matrix


def check_coefficients(model: Model, certificate: Certificate, rows: CertifiedRows, *, proved: bool) -> Check | str:
    """Check that a model's coefficients are those that its certificate is about; if it is about none, return why.

    Of a certificate that is proved on the rows, they may have another intercept, if that is checked on the rows.
    """
    certified = certificate.certified()
    if certified is None:
        return f"the {certificate.kind} certificate is about none of them"
    ordered = _reordered(certified, model.classes)
    if ordered is None:
        own, other = (
            "numbers" if labels is None else f"the classes {list(labels)}"
            for labels in (certified.labels, model.classes)
        )
        return Check(NAME, False, f"the certificate is of {own}, the model of {other}")
    claimed = np.column_stack([ordered.intercept, _all_columns(ordered.coef, certificate.data)])
    used = np.column_stack([model.intercept, model.coef])
    if claimed.shape != used.shape:
        own, other = (
            f"{counted(len(each), 'score')} of {counted(each.shape[1], 'coefficient')}" for each in (claimed, used)
        )
        return Check(NAME, False, f"the certificate has {own}, intercept included, the model {other}")
    differs = _differs(used, claimed, claimed)
    calibrated = differs[:, 0] & (_calibrated(model, used, certificate, rows) if proved else False)
    differs[:, 0] &= ~calibrated
    if not differs.any() or not all(_differs(used, each, claimed).any() for each in _shifted(model, claimed)):
        but = (
            ", except an intercept that makes the mean probability equal the observed frequency"
            if calibrated.any()
            else ""
        )
        return Check(NAME, True, f"the model's {used.size:,} agree with the certificate, to {ROUNDING:g}{but}")
    keep = model.options.get("keep")
    other_kinds = [bool(kinds) and keep in ("best", "average") and keep not in kinds for kinds in ordered.kept]
    wrong = differs & ~np.asarray(other_kinds)[:, np.newaxis]
    if wrong.any():
        return Check(NAME, False, _first_difference(model, used, claimed, wrong))
    return f"the certificate is about the last weights of a run, and the model keeps the {keep}"


def _all_columns(coef: Floats, data: Data) -> Floats:
    """Return certified coefficients (K, p) of all columns: 0 for those that were dropped."""
    for column in sorted(data.dropped or ()):
        coef = np.insert(coef, column, 0.0, axis=1)
    return coef


def _calibrated(model: Model, used: Floats, certificate: Certificate, data: CertifiedRows) -> Bools:
    """Return for each score whether it is bias-reduced with an intercept that makes the mean probability the rate."""
    parts = certificate.parts if isinstance(certificate, PartsCertificate) else (certificate,)
    result, classes = np.zeros(len(used), dtype=np.bool_), model.classes or ()
    if len(parts) != len(used) or not any(isinstance(part, BiasReductionCertificate) for part in parts):
        return result
    matched, labels = match(certificate.data, data.X, data.y, data.weights), certificate.data.labels
    for k, part in enumerate(parts):
        place = classes.index(labels[k]) if len(parts) > 1 else 0
        coef = -used[place] if len(parts) == 1 and labels == classes[::-1] else used[place]
        rows = matched.part(k) if len(parts) > 1 else matched
        if isinstance(part, BiasReductionCertificate) and part.data.intercept:
            result[place] = _passes_rate(rows, coef)
    return result


def _passes_rate(rows: MatchedRows, coef: Floats) -> bool:
    """Tell whether the mean probability passes the rate within the tolerance of an intercept, the first coefficient."""
    scores, reach = rows.finite_design.matvec(coef), ROUNDING * max(1.0, abs(float(coef[0])))
    weights = np.ones(len(scores)) if rows.weights is None else rows.weights
    below, above = (math.fsum(weights * (sigmoid(scores + move) - rows.codes)) for move in (-reach, reach))
    return below <= 0.0 <= above


def _shifted(model: Model, claimed: Floats) -> Iterator[Floats]:
    """Yield softmax coefficients with the same probabilities: centred, and relative to the model's reference class."""
    if model.rule.link == "softmax":
        yield claimed - claimed.mean(axis=0)
        reference = model.options.get("reference_class")
        if reference is not None and reference in (classes := model.classes or ()):
            yield claimed - claimed[classes.index(reference)]


def _reordered(certified: CertifiedCoef, classes: tuple[Any, ...] | None) -> CertifiedCoef | None:
    """Return certified coefficients in the order of a model's classes, None if their classes differ."""
    if certified.labels is None or classes is None:
        return certified if certified.labels is classes else None
    if len(classes) == 2 and certified.labels == classes[1:]:
        return certified  # of the second class against the rest
    if len(certified.labels) != len(classes) or any(label not in classes for label in certified.labels):
        return None
    if certified.labels == classes:
        return certified
    if len(certified.coef) == 1:
        return certified._replace(coef=-certified.coef, intercept=-certified.intercept)
    order = [certified.labels.index(label) for label in classes]
    kept = tuple(certified.kept[place] for place in order)
    return certified._replace(coef=certified.coef[order], intercept=certified.intercept[order], kept=kept)


def _differs(used: Floats, claimed: Floats, sizes: Floats) -> Bools:
    """Return which coefficients differ by more than rounding, relative to sizes."""
    return np.asarray(~(np.abs(used - claimed) <= ROUNDING * np.abs(sizes).max(axis=0)))


def _first_difference(model: Model, used: Floats, claimed: Floats, differs: Bools) -> str:
    """Return a sentence about the first coefficient that differs."""
    score, place = (int(index[0]) for index in np.nonzero(differs))
    name = "the intercept" if place == 0 else f"that of {model.encoding.feature_names[place - 1]!r}"
    of_class = f" of {(model.classes or ())[score]!r}" if len(used) > 1 else ""
    numbers = f"{used[score, place]:.10g} in the model and {claimed[score, place]:.10g} by the certificate"
    return f"{name}{of_class} is {numbers}, and {counted(int(differs.sum()), 'number')} of {used.size:,} differ so"


class CertifiedFunction(NamedTuple):
    """Σ coef_j k(x, x_j) + intercept over some rows of the data.

    `kept` is the option `keep` of a perceptron that it is the result of; with `scaled` it is known up to a factor.
    """

    kernel: Kernel
    rows: Indices
    coef: Floats
    intercept: float
    kept: str | None = None
    scaled: bool = False

    def scores(self, X: Any, used: Floats) -> Floats:
        """Return the scores (n,) of rows; a function up to a factor has that of the scores `used` (n,)."""
        values = kernel_scores(self.kernel, X, X[self.rows], self.rows, self.coef[np.newaxis])[:, 0] + self.intercept
        if not self.scaled:
            return np.asarray(values)
        return np.asarray(values * max(float(used @ values) / float(values @ values), 0.0))


def check_kernel(model: KernelExpansion, certificate: Certificate, data: CertifiedRows, keep: Any) -> Check | str:
    """Check that the scores of a model are those of the certified functions; if they are not comparable, return why."""
    rows = by_rows(as_array(in_order(data.X, certificate.data)))
    functions = list(_functions(certificate, match(certificate.data, data.X, data.y, data.weights)))
    used = np.column_stack([machine.scores(rows) for machine in model.machines])
    if len(functions) != used.shape[1]:
        count = counted(len(functions), "function")
        return Check(NAME, False, f"the certificate is of {count}, the model of {used.shape[1]}")
    if any(each.kept not in {None, keep} for each in functions):
        return f"the certificate is about the last coefficients of a run, and the model keeps the {keep}"
    claimed = np.column_stack([each.scores(rows, own) for each, own in zip(functions, used.T, strict=True)])
    error, largest = float(np.abs(used - claimed).max()), float(np.abs(claimed).max())
    support = counted(model.support, "support vector")
    detail = f"scores by {support} differ by {error:.3g} from certified ones up to {largest:.3g}"
    return Check(NAME, error <= ROUNDING * largest, detail)


def _functions(certificate: Certificate, rows: MatchedRows) -> Iterator[CertifiedFunction]:
    """Yield the functions that a certificate of matched rows is about, by the rows of the data; none of others."""
    if isinstance(certificate, PartsCertificate):
        for k, part in enumerate(certificate.parts):
            yield from _functions(part, rows.part(k))
    elif isinstance(certificate, KernelOptimalityCertificate):
        own = rows.original(certificate.rows)
        yield CertifiedFunction(certificate.kernel, own, certificate.multipliers, certificate.intercept)
    elif isinstance(certificate, KernelCertificate):
        own = rows.original(certificate.rows)
        yield CertifiedFunction(certificate.kernel, own, certificate.coef, certificate.intercept, scaled=True)
    elif isinstance(certificate, KernelMistakesCertificate):
        used = np.flatnonzero(certificate.coef)
        intercept = float(certificate.coef.sum()) * certificate.data.intercept
        yield CertifiedFunction(certificate.kernel, rows.original(used), certificate.coef[used], intercept, kept="last")
