"""Can labelled rows be separated by a hyperplane, and has their likelihood a maximum? A verdict with its proof.

`check_separability` searches a separating direction (`search`) and returns the certificate. Where the search leaves it
undecided, the curvature at the maximum of the likelihood may prove that there is none. With more than two classes
`multiclass` chooses between the scores of a softmax, each class against the rest, and each pair of classes.

A fit that needs separable rows, such as the hard margin, raises the `overlap_error`, which contains the proof.

Cost: about ten passes; see `search` for when the verdict is "undecided".
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal, overload

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.certificates.base import Certificate, PartsCertificate
from separatrix.certificates.curvature import MAX_WIDTH, width
from separatrix.certificates.data import checked_weights, data_of, require_finite
from separatrix.certificates.margin import KernelCertificate, least_margin_bound
from separatrix.certificates.overlap import CurvatureProof
from separatrix.certificates.rays import Rays
from separatrix.certificates.separability import SeparabilityCertificate
from separatrix.design.base import Design
from separatrix.design.build import make_design, naming_scales
from separatrix.errors import OverlapError, require_choice
from separatrix.fit.convex import ConvexFit, ConvexOptions, fit_convex
from separatrix.fit.labels import known_labels
from separatrix.fit.progress import shown_progress
from separatrix.fit.result import Status, separation_rule
from separatrix.fit.run import Watch
from separatrix.losses.margin import Logistic
from separatrix.losses.softmax import Softmax
from separatrix.numerics import distinct
from separatrix.problem import Problem
from separatrix.separability.search.divergence import find_divergence
from separatrix.separability.search.search import STOPPED, Separation, find_separation

LIMITS = {"+inf": "+∞", "-inf": "−∞"}
NAMED = 5  # columns listed in a message
REASONS = {
    "quasi": "every hyperplane with no row on the wrong side has rows of both classes on it",
    "overlap": "not even in part",
}
THIN = "the rows are separable, but by so little that no floats tried separate them"
MULTIPLES = 32  # of a rational direction that are tried, since rounding decides which of them separate
REMEDY = (
    "LinearSVM penalises mistakes, ZeroOneClassifier minimises their number, on_overlap='soft' fits a LinearSVM instead"
)
Multiclass = Literal["softmax", "one_vs_rest", "pairs"]


@overload
def check_separability(
    X: Any, y: Any, *, fit_intercept: bool = ..., sample_weight: Any = ..., watch: Watch | None = ...
) -> SeparabilityCertificate: ...


@overload
def check_separability(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = ...,
    sample_weight: Any = ...,
    multiclass: Multiclass,
    watch: Watch | None = None,
) -> SeparabilityCertificate | PartsCertificate: ...


@overload
def check_separability(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    multiclass: Multiclass = "softmax",
    map: Any,
) -> SeparabilityCertificate | PartsCertificate: ...


@overload
def check_separability(X: Any, y: Any, *, fit_intercept: bool = ..., kernel: Any) -> KernelCertificate: ...


def check_separability(  # noqa: PLR0913  # every parameter is a keyword that users give
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    multiclass: Multiclass = "softmax",
    map: Any = None,
    kernel: Any = None,
    watch: Watch | None = None,
) -> Certificate:
    """Return whether labelled rows can be separated by a hyperplane, with a proof that `verify` re-checks.

    Parameters
    ----------
    X : array or sparse matrix (n, p)
    y : labels (n,) of two or more classes
    fit_intercept : whether the hyperplane may miss the origin
    sample_weight : rows of weight 0 are ignored; other weights change nothing
    multiclass : with more than two classes, whether scores of a softmax can be largest for every row's own class
        ("softmax"), each class can be separated from the rest ("one_vs_rest"), or each from each other ("pairs")
    map : a feature map of `sx.maps`: the verdict and, for two classes, the margin are those of the mapped rows; the
        certificate contains the map and verifies from the unmapped rows
    kernel : a kernel of `sx.kernels`, its name, or a function: bounds on the widest margin of two classes in its space,
        for up to some thousand rows; the verdict is "separable", "no margin" (above rounding) or "undecided"
    watch : called with `{"passes": …}` in each round of the search; if it returns True, the search ends and the verdict
        is "undecided"; not called with a map or a kernel

    Returns a certificate: `verdict` is "separable" (completely), "quasi", "overlap" or "undecided"; `direction`,
    `coefficient_status` and `divergence_dim` say which coefficients have no finite estimate. With a single class the
    verdict is "separable". With very many columns the verdict "quasi" may rest on some of the remaining rows only:
    `n_overlap` of the `n_left` are proved to overlap.

    Examples
    --------
    >>> import separatrix as sx
    >>> sx.check_separability([[0], [1], [2], [3]], [0, 0, 1, 1]).verdict
    'separable'
    >>> sx.check_separability([[0], [1], [1], [3]], [0, 0, 1, 1]).verdict
    'quasi'
    >>> sx.check_separability([[0], [1], [2], [3]], [0, 1, 0, 1]).verdict
    'overlap'

    Reference: Albert and Anderson, On the existence of maximum likelihood estimates in logistic regression (1984).
    """
    if map is not None or kernel is not None:
        from separatrix.separability.kernel import check_in_space  # noqa: PLC0415  # it builds on this file

        return check_in_space(X, y, map, kernel, fit_intercept, sample_weight, multiclass)
    multiclass = require_choice("multiclass", multiclass, ("softmax", "one_vs_rest", "pairs"))
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    design, watch = make_design(X, intercept=fit_intercept, names=names), shown_progress(watch)
    require_finite(design)
    weights, n = checked_weights(sample_weight, design.shape[0]), design.shape[0]
    used = np.ones(n, dtype=np.bool_) if weights is None else weights > 0.0
    values, codes = distinct(known_labels(y, n, used)[used])
    design, labels = design if used.all() else design.select(used), tuple(values.tolist())
    counting = None if weights is None else weights[used]
    if len(labels) <= 2 or multiclass == "softmax":
        certificate: Certificate = _decide(_rows_of(design, codes, labels, counting), watch)
    elif multiclass == "one_vs_rest":
        parts = [
            _decide(_rows_of(design, (codes == code).astype(np.intp), (None, label), counting), watch)
            for code, label in enumerate(labels)
        ]
        certificate = PartsCertificate.of(parts, labels, "one-vs-rest")
    else:
        pairs = combinations(range(len(labels)), 2)
        parts = [_decide(_rows_of_pair(design, codes, labels, pair, counting), watch) for pair in pairs]
        certificate = PartsCertificate.of(parts, labels, "pairs")
    return certificate.about(replace(certificate.data, rows=n, weights=weights is not None))


def _rows_of(design: Design, codes: Indices, labels: tuple[Any, ...], weights: Floats | None) -> Problem:
    """Return the likelihood of rows with class codes; of two labels, the first is None for one against the rest."""
    if len(labels) == 2:
        return Problem(design, np.where(codes == 1, 1.0, -1.0), Logistic(), weights=weights, labels=labels)
    return Problem(design, codes, Softmax(), weights=weights, labels=labels)


def _rows_of_pair(
    design: Design, codes: Indices, labels: tuple[Any, ...], pair: tuple[int, int], weights: Floats | None
) -> Problem:
    """Return the likelihood of the rows of two classes."""
    first, second = pair
    own = (codes == first) | (codes == second)
    weights = None if weights is None else weights[own]
    of_second = (codes[own] == second).astype(np.intp)
    return _rows_of(design.select(own), of_second, (labels[first], labels[second]), weights)


def _decide(problem: Problem, watch: Watch | None) -> SeparabilityCertificate:
    """Return the certificate of a likelihood's rows: by the search or, where it fails, by the curvature."""
    certificate = check_existence(problem, problem.labels, watch=watch)
    stopped = certificate.reason == STOPPED or certificate.weights is not None
    if not certificate.undecided or stopped or width(problem, problem.zero_coef()) > MAX_WIDTH:
        return certificate
    fit = fit_convex(problem, ConvexOptions(), watch=watch, extra_rules=(separation_rule(problem),))
    if fit.bound.radii is None or fit.dependence.held:
        return certificate
    proof = CurvatureProof(fit.coef, fit.dependence.aliased, fit.dependence.relations)
    return replace(certificate, undecided=False, proof=proof, reason="")


def certify_rows(
    design: Design,
    codes: Indices,
    labels: tuple[Any, ...],
    hint: Floats | None = None,
    watch: Watch | None = None,
) -> SeparabilityCertificate:
    """Return the certificate of rows with class codes; `hint` is a weight vector near the boundary.

    Of two labels, the first is None for one class against the rest.
    """
    rays = Rays(design, codes, len(labels))
    with naming_scales(lambda: design):
        return _certificate(rays, find_separation(rays, np.arange(rays.count), hint, watch), labels)


def _certificate(rays: Rays, separation: Separation, labels: tuple[Any, ...]) -> SeparabilityCertificate:
    targets = np.where(rays.codes == 1, 1.0, -1.0) if len(labels) == 2 else rays.codes - (len(labels) == 1)
    diverging = None if separation.direction is None else find_divergence(rays, np.arange(rays.count), separation)
    return SeparabilityCertificate(
        data=data_of(rays.design, labels, targets),
        n_left=len(separation.remaining),
        undecided=separation.reason is not None,
        weights=separation.direction,
        proof=separation.proof,
        divergence=diverging,
        reason=separation.reason or "",
        clashes=separation.pair_overlaps,
    )


def check_existence(
    problem: Problem, labels: tuple[Any, ...], fit: ConvexFit | None = None, watch: Watch | None = None
) -> SeparabilityCertificate:
    """Return the separability certificate of rows: targets ±1 of two labels (None: the rest), or codes of several.

    If given, a fit of the rows tells where to search: a total loss below log 2 classifies every row correctly, so its
    coefficients prove complete separation; the residuals of an optimum are the multipliers of a proof of overlap.
    """
    design, several = problem.design, problem.loss.target == "classes"
    codes = problem.y if several else (problem.y > 0.0).astype(np.intp)
    if fit is None:
        return certify_rows(design, codes, labels, watch=watch)
    weights = (fit.coef[:, 1:] - fit.coef[:, :1]).T.ravel() if several else fit.coef
    if fit.walk.status is Status.SEPARATED:
        rays, exact = Rays(design, codes, len(labels)), tuple(map(Fraction, weights.tolist()))
        places = np.arange(rays.count)
        if (rays.signs(exact, places) > 0).all():
            return _certificate(rays, Separation(exact, places[:0]), labels)
    return certify_rows(design, codes, labels, weights, watch)


def describe_divergence(existence: SeparabilityCertificate) -> str:
    """Return a clause that names the diverging coefficients and their limits; empty if they are not known."""
    limits = [f"{name} → {LIMITS[own]}" for name, own in existence.coefficient_status.items() if own in LIMITS]
    if not limits:
        return ""
    more = len(limits) - NAMED
    return f"; no finite estimate: {', '.join(limits[:NAMED])}" + (f" and {more:,} more" if more > 0 else "")


def check_signs(
    design: Design, signs: Floats, labels: tuple[Any, Any], hint: Floats | None = None
) -> SeparabilityCertificate:
    """Return whether rows of signs ±1 can be separated; of one class against the rest, the first label is None."""
    return certify_rows(design, (signs > 0.0).astype(np.intp), labels, hint)


def float_separator(design: Design, signs: Floats, certificate: SeparabilityCertificate) -> Floats | None:
    """Return floats that separate the rows exactly, near the certificate's rational weights; None if none do."""
    if certificate.verdict != "separable" or certificate.weights is None:
        return None
    largest = max(abs(value) for value in certificate.weights)
    for multiple in range(1, 2 * MULTIPLES, 2):
        coef = np.array([float(multiple * value / largest) for value in certificate.weights])
        if least_margin_bound(design, signs, coef) > 0:
            return coef
    return None


def overlap_error(labels: tuple[Any, Any], certificate: SeparabilityCertificate) -> OverlapError:
    """Return the error for rows that cannot be separated, with the proof."""
    negative, positive = labels
    if certificate.verdict == "separable":
        certificate = replace(certificate, undecided=True, reason=THIN)
    between = f"class {positive!r} and the rest" if negative is None else f"{negative!r} and {positive!r}"
    if certificate.verdict == "undecided":
        message = f"no halfspace was found that separates {between}: {certificate.reason}"
    else:
        message = f"no halfspace separates {between}: {REASONS[certificate.verdict]} (error.certificate proves it)"
    return OverlapError(f"{message}; {REMEDY}", certificate)
