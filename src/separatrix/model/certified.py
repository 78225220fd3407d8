"""A model against its certificate: the rows that the certificate is about, and the coefficients that it certifies.

`verify` re-checks both for a model of any kind.

The rows are rebuilt from a table by the model's own encoding. The certificate is about the columns as fitted; in files
of earlier releases these are divided by the scales in the model's options. For two classes it may have the other class
as the positive one. Softmax coefficients may have been centred over the classes since, which changes no probability.

A certificate of a kernel machine has coefficients of rows of the data by their index, the model has the support vectors
themselves, so both functions are evaluated on the rows: two kernel values per row and support vector. A certificate of
the widest margin is about a function up to a positive factor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Ints
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, OneVsRestCertificate, Verification
from separatrix.certificates.margin import KernelCertificate
from separatrix.certificates.mistakes import KernelMistakesCertificate
from separatrix.certificates.optimality import KernelOptimalityCertificate
from separatrix.certificates.parts import OneVsOneCertificate
from separatrix.codec import Range, Shape, read
from separatrix.design.build import RowSource, as_array, divide_columns
from separatrix.design.kernel_matrix import by_rows
from separatrix.errors import OptionError, counted
from separatrix.model.adopt import arrays_of, as_model, open_for, rows_of, table_model
from separatrix.model.predictions import KernelExpansion, KernelMachine
from separatrix.model.record import Model, data_digest
from separatrix.model.storage import Storage
from separatrix.tables.table import TableSource

Stated = Sequence[tuple[Certificate, object]]  # with the verdict that a file gives
ROUNDING = 1e-9  # tolerance, relative to the largest coefficient of a feature, or to the largest score
NAME = "coefficients"
LAST_ONLY = "not covered: it is of the last {} of a run, and the model keeps the {}"
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


@dataclass(frozen=True)
class CheckedCertificate:
    """A certificate with all checks of it on some data."""

    certificate: Certificate
    verification: Verification

    @property
    def accepted(self) -> bool:
        """Whether something was checked and nothing fails."""
        return self.verification.holds and any(check.holds for check in self.verification.checks)


def check_certificate(
    certificate: Certificate, stated: object, X: Any, y: NDArray[Any], weights: Any = None
) -> CheckedCertificate:
    """Check a certificate on rows, and that its stated verdict is the one that its content implies."""
    checks = certificate.verify(X, y, **({} if weights is None else {"sample_weight": weights})).checks
    if stated != certificate.verdict:
        detail = f"the file says {stated!r}, what it contains says {certificate.verdict!r}"
        checks = (Check("verdict", False, detail), *checks)
    return CheckedCertificate(certificate, Verification(checks))


@dataclass(frozen=True)
class CheckedModel:
    """The checked certificates of a model, the first with the check of its coefficients; true if all are accepted.

    `rows` is the number of rows checked, `same` whether they are those of the fit (None: not known).
    """

    certificates: tuple[CheckedCertificate, ...]
    rows: int
    same: bool | None

    @property
    def holds(self) -> bool:
        """Whether every certificate is accepted."""
        return all(each.accepted for each in self.certificates)

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        lines = (f"{each.certificate.claim}\n{each.verification}" for each in self.certificates)
        return "\n".join((*lines, *self.notes))

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether the rows are those of the fit and, if not, how to use those; and which parts were checked."""
        if self.certificates[0].verification.checks[-1].holds is None:
            extent = "Only the certificate was checked: neither the coefficients nor what else the file says."
        else:
            extent = "The certificate was checked, and the coefficients against it, not what else the file says."
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
        assert own.fitted is not None  # of an estimator
        result = own.fitted.result
        claims = [claim for claim in (result.certificate, result.overlap) if claim is not None]
        return _checked_model(own, [(each, each.verdict) for each in claims], *arrays_of(model, X, y), sample_weight)
    if sample_weight is not None:
        raise OptionError("sample_weight is for the fit of an estimator; a table has its weights in a column")
    stated = [(own.evidence(), (own.certificate or {}).get("verdict"))]
    with open_for(own, X, y) as source:
        return verify_table(own, stated, source)


def verify_table(
    model: Model,
    stated: Stated,
    source: TableSource,
    storage: Storage = Storage(),  # noqa: B008  # frozen
) -> CheckedModel:
    """Check certificates with their stated verdicts on a table, and a model's coefficients against the first."""
    known, target, _ = rows_of(model, source, model.encoding.missing)
    with storage.opened({}) as opened, opened.hold(model.encoding, known) as encoded:
        own, digest, scales = target.select(encoded.kept), model.data.get("sha256"), scales_of(model)
        same = None if digest is None else data_digest(encoded.stored, own.y) == digest
        X = encoded.X if (scales == 1.0).all() else divide_columns(encoded.X, scales)
        return _checked_model(model, stated, named_columns(X, model.encoding.feature_names), own.y, own.weights, same)


def _checked_model(
    model: Model, stated: Stated, X: Any, y: Any, weights: Any = None, same: bool | None = None
) -> CheckedModel:
    first, *others = (check_certificate(*each, X, y, weights) for each in stated)
    if model.kernel is None:
        check = check_coefficients(model, first.certificate)
    elif not first.verification.holds:
        check = Check(NAME, None, "not compared, as the certificate does not hold on these rows")
    else:
        check = check_kernel(model.kernel, first.certificate, X, y, model.options.get("keep"))
    checks = Verification((*first.verification.checks, check))
    return CheckedModel((CheckedCertificate(first.certificate, checks), *others), len(y), same)


def scales_of(model: Model) -> Floats:
    """Return the scales by which the columns must be divided for the certificate: 1 if it knows them itself."""
    width = len(model.encoding.feature_names)
    if model.options.get("scales") is None or has_scales(model.certificate):
        return np.ones(width)
    kind = Annotated[Floats, Shape(width), Range(above=0.0)]
    scales: Floats = read(kind, model.options["scales"], "options.scales")
    return scales


def has_scales(certificate: Mapping[str, Any] | None) -> bool:
    """Tell whether a certificate, or a part of it, divides the columns itself."""
    content = (certificate or {}).get("content", {})
    return "scales" in content or any(map(has_scales, content.get("parts", ())))


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
        both = certified.labels, model.classes
        own, other = ("numbers" if labels is None else f"the classes {list(labels)}" for labels in both)
        return Check(NAME, False, f"the certificate is of {own}, the model of {other}")
    claimed = np.column_stack([ordered.intercept, ordered.coef])
    used = np.column_stack([model.intercept, model.coef * scales_of(model)])
    if claimed.shape != used.shape:
        shapes = claimed.shape, used.shape
        own, other = (f"{counted(scores, 'score')} of {counted(width, 'coefficient')}" for scores, width in shapes)
        return Check(NAME, False, f"the certificate has {own}, intercept included, the model {other}")
    sizes = np.abs(claimed).max(axis=0)
    differs, *shifted = (~(np.abs(used - each) <= ROUNDING * sizes) for each in (claimed, *_shifted(model, claimed)))
    if not differs.any() or not all(each.any() for each in shifted):
        return Check(NAME, True, f"the model's {used.size:,} are the certificate's, to {ROUNDING:g}")
    keep = model.options.get("keep")
    other_kinds = [bool(kinds) and keep in ("best", "average") and keep not in kinds for kinds in ordered.kept]
    wrong = differs & ~np.asarray(other_kinds)[:, np.newaxis]
    if wrong.any():
        return Check(NAME, False, _first_difference(model, used, claimed, wrong))
    return Check(NAME, None, LAST_ONLY.format("weights", keep))


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


def _first_difference(model: Model, used: Floats, claimed: Floats, differs: Bools) -> str:
    """Return a sentence about the first coefficient that differs."""
    score, place = (int(index[0]) for index in np.nonzero(differs))
    name = "the intercept" if place == 0 else f"that of {model.encoding.feature_names[place - 1]!r}"
    of_class = f" of {(model.classes or ())[score]!r}" if len(used) > 1 else ""
    own, other = (each[score, place] / (1.0 if place == 0 else scales_of(model)[place - 1]) for each in (used, claimed))
    numbers = f"{own:.10g} in the model and {other:.10g} by the certificate"
    return f"{name}{of_class} is {numbers}, and {counted(int(differs.sum()), 'number')} of {used.size:,} differ so"


def check_kernel(model: KernelExpansion, certificate: Certificate, X: Any, y: Any, keep: Any) -> Check:
    """Check that the scores of a model are those of the certified machines; undecided if they are not comparable."""
    rows = by_rows(as_array(X))
    machines = list(_machines(certificate, rows, np.asarray(y)))
    used = np.column_stack([machine.scores(rows) for machine in model.machines])
    if len(machines) != used.shape[1]:
        count = counted(len(machines), "function")
        return Check(NAME, False, f"the certificate is of {count}, the model of {used.shape[1]}")
    if not all(machine for machine, _ in machines):
        return Check(NAME, None, "not covered: the certificate leaves rows of weight 0 out, or is of other rows")
    if keep != "last" and any(extent == "last" for _, extent in machines):
        return Check(NAME, None, LAST_ONLY.format("coefficients", keep))
    claimed = np.column_stack([machine.scores(rows) for machine, _ in machines if machine])
    for place in (place for place, (_, extent) in enumerate(machines) if extent == "scaled"):
        own, scores = used[:, place], claimed[:, place]
        claimed[:, place] = scores * max(float(own @ scores) / float(scores @ scores), 0.0)
    error, largest = float(np.abs(used - claimed).max()), float(np.abs(claimed).max())
    vectors = counted(model.support, "support vector")
    detail = f"scores by {vectors} differ by {error:.3g} from certified ones up to {largest:.3g}"
    return Check(NAME, error <= ROUNDING * largest, detail)


def _machines(certificate: Certificate, X: Any, y: NDArray[Any]) -> Iterator[tuple[KernelMachine | None, str]]:
    """Yield the machines that a certificate is about, None if it is about other rows than X; of others, none.

    With each its extent: "exact", "scaled" if it is known up to a factor, "last" if it is the last of a perceptron's.
    """
    if isinstance(certificate, OneVsRestCertificate):
        for part in certificate.parts:
            yield from _machines(part, X, y)
    elif isinstance(certificate, OneVsOneCertificate):
        for pair, part in zip(certificate.pairs, certificate.parts, strict=True):
            own = np.logical_or(*(y == label for label in pair))
            yield from _machines(part, X[own], y[own])
    elif isinstance(certificate, KernelOptimalityCertificate):
        parts = certificate.rows, certificate.multipliers, certificate.intercept
        yield _machine(certificate.kernel, certificate.shape[0], X, *parts), "exact"
    elif isinstance(certificate, KernelCertificate):
        parts = certificate.rows, certificate.coef, certificate.intercept
        yield _machine(certificate.kernel, certificate.n_rows, X, *parts), "scaled"
    elif isinstance(certificate, KernelMistakesCertificate):
        rows, intercept = np.flatnonzero(certificate.coef), float(certificate.coef.sum()) * certificate.fit_intercept
        yield _machine(certificate.kernel, certificate.shape[0], X, rows, certificate.coef[rows], intercept), "last"


def _machine(kernel: Any, count: int, X: Any, rows: Ints, coef: Floats, intercept: float) -> KernelMachine | None:
    """Return a machine whose support vectors are rows of X, None if these are not as many as in the fit."""
    return KernelMachine(kernel, X[rows], coef[np.newaxis], np.asarray([intercept])) if X.shape[0] == count else None
