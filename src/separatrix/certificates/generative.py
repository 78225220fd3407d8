"""The Gaussian generative classifier: logistic weights in closed form from class means and shared variances.

With P(xⱼ | class k) = N(μₖⱼ, σⱼ²), columns independent given the class, and P(class k) = πₖ, Bayes' rule gives

    P(k | x) ∝ exp(wₖ·x + bₖ),        wₖⱼ = μₖⱼ/σⱼ²,        bₖ = ln πₖ − Σⱼ μₖⱼ²/(2σⱼ²)

and for two classes P(1 | x) = σ(w·x + b) with w = (μ₁ − μ₀)/σ², b = ln(π₁/π₀) + Σⱼ (μ₀ⱼ² − μ₁ⱼ²)/(2σⱼ²). Only
differences between classes matter; the weights are normalised to sum to 0 over the classes. Means, within-class
variances (divided by n) and class frequencies are the maximum likelihood estimates. They are in closed form, so the
certificate claims that recomputing the weights from the data gives the same numbers.

Cost: one pass. Fails on a column without variance inside the classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, Stated, register
from separatrix.certificates.data import MatchedRows
from separatrix.codec import Range, Shape
from separatrix.design.base import Block, Design, add_each
from separatrix.design.build import row_radius
from separatrix.errors import DataError, counted

NO_SPREAD = 1e-13  # relative to the mean square of a column: a smaller variance counts as 0
SLACK = 1e-8  # relative rounding error of a sum over many rows
MAX_LISTED = 5  # columns that an error names


class ClassMoments(NamedTuple):
    """The total weight of each class (K,), the class means (K, p), and the within-class variances (p,)."""

    counts: Floats
    means: Floats
    variances: Floats


class Scores(NamedTuple):
    """Coefficients (K, p) and intercepts (K,) of one linear score per class; each sums to 0 over the classes."""

    coef: Floats
    intercept: Floats

    def against_first(self) -> Scores:
        """Return the score of the second of two classes against the first, (1, p) and (1,)."""
        return Scores(self.coef[1:] - self.coef[:1], self.intercept[1:] - self.intercept[:1])


def class_moments(design: Design, codes: Indices, classes: int, weights: Floats | None = None) -> ClassMoments:
    """Return the weighted moments of rows with class codes 0, …, K−1, in one pass."""
    weights = np.ones(len(codes)) if weights is None else weights
    centre = design.needed_centre()
    centred = design if centre is None else design.centred(centre)
    with np.errstate(over="ignore", invalid="ignore"):
        sums, squares = centred.fold(_class_sums, classes, rows=(codes.astype(np.float64), weights), combine=add_each)
    if centred is not design:
        design.passes += centred.passes
    counts = np.asarray(np.bincount(codes, weights=weights, minlength=classes), dtype=np.float64)
    if not (np.isfinite(sums).all() and np.isfinite(squares).all()):
        row_radius(design)  # raises an error that names the entry
    virtual = int(design.virtual)
    means = sums[virtual:].T / counts[:, np.newaxis]
    mean_squares = squares[virtual:] / counts.sum()
    variances = mean_squares - (counts / counts.sum()) @ (means * means)
    _refuse_no_spread(design.names[virtual:], variances <= NO_SPREAD * mean_squares)
    return ClassMoments(counts, means if centre is None else means + centre, variances)


def closed_form(moments: ClassMoments, priors: Floats) -> Scores:
    """Return the scores of Gaussian classes with shared variances."""
    middle = moments.means.mean(axis=0)
    coef = (moments.means - middle) / moments.variances
    intercept = np.log(priors) - ((moments.means + middle) * coef).sum(axis=1) / 2.0
    return Scores(coef, intercept - intercept.mean())


def _class_sums(block: Block, codes: Floats, weights: Floats, classes: int) -> tuple[Floats, Floats]:
    """Return the weighted sums of the rows of each class, (p, K), and of all squares, (p,)."""
    of_class = np.where(codes[:, np.newaxis] == np.arange(classes), weights[:, np.newaxis], 0.0)
    return block.rmatvec(of_class), block.column_squares(weights)


def _refuse_no_spread(names: Sequence[str], constant: Bools) -> None:
    if not constant.any():
        return
    flat = [name for name, is_constant in zip(names, constant, strict=True) if is_constant]
    listed = ", ".join(map(repr, flat[:MAX_LISTED])) + (", …" if len(flat) > MAX_LISTED else "")
    raise DataError(
        f"{counted(len(flat), 'column')} without any spread inside the classes: {listed}; a Gaussian needs a variance"
        " above 0: drop such a column if it is constant, and if it differs between classes it decides them by itself"
    )


@register
@dataclass(frozen=True, kw_only=True)
class GenerativeCertificate(Certificate):
    """Weights (one row per class, or one for two classes) in closed form; `priors` None are the class frequencies.

    They equal the closed form to within 1e-8 (1/σⱼ + |wⱼ|), σⱼ the standard deviation of column j within the classes.
    """

    kind: ClassVar[str] = "generative"
    priors: Stated[Annotated[Floats, Shape(None), Range(above=0.0)] | None] = None
    coef: Annotated[Floats, Shape("scores", "columns")]
    intercept: Annotated[Floats, Shape("scores")]

    def __post_init__(self) -> None:
        self.data.require_labels("two", "several", "rest")
        scores = 1 if self.data.n_classes == 2 else self.data.n_classes
        shape = scores, self.data.n_scores - 1
        if not self.data.intercept or self.coef.shape != shape:
            raise ValueError(f"the weights have shape {self.coef.shape}; {shape} is needed")
        if self.priors is not None and len(self.priors) != self.data.n_classes:
            raise ValueError(f"there are {len(self.priors)} priors for {self.data.n_classes} classes")

    @property
    def claim(self) -> str:
        shares = "the shares of the classes" if self.priors is None else f"the priors {self.priors.tolist()}"
        return f"the weights are those of Gaussian classes with shared variances, by maximum likelihood, and {shares}"

    @property
    def verdict(self) -> str:
        return "closed form"

    def checks(self, rows: MatchedRows) -> Iterator[Check]:
        moments = class_moments(rows.design, rows.codes, self.data.n_classes, rows.weights)
        shares = moments.counts / moments.counts.sum() if self.priors is None else self.priors
        scores = closed_form(moments, shares)
        scores = scores.against_first() if len(self.coef) == 1 else scores
        allowed = SLACK * (1.0 / np.sqrt(moments.variances) + np.abs(scores.coef))
        yield _closeness("weights", self.coef - scores.coef, allowed)
        sizes = 1.0 + np.abs(scores.intercept) + (np.abs(moments.means) @ np.abs(scores.coef.T)).max(axis=0)
        yield _closeness("intercept", self.intercept - scores.intercept, SLACK * sizes)

    def certified(self) -> CertifiedCoef:
        return CertifiedCoef(self.coef, self.intercept, self.data.labels, ((),) * len(self.coef))


def _closeness(name: str, differences: Floats, allowed: Floats) -> Check:
    largest = float((np.abs(differences) / allowed).max())
    return Check(name, largest <= 1.0, f"they differ by at most {largest:.3g} of the error allowed")
