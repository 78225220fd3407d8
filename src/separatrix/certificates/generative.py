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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Bools, Floats, Indices
from separatrix.certificates.base import Certificate, CertifiedCoef, Check, Verification, register
from separatrix.certificates.data import row_weights
from separatrix.codec import Fields
from separatrix.design.base import Block, Design, add_each
from separatrix.design.build import make_design, row_radius
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
@dataclass(frozen=True)
class GenerativeCertificate(Certificate):
    """Weights (one row per class, or one for two classes) in closed form; `priors` None are the class frequencies."""

    kind: ClassVar[str] = "generative"
    classes: tuple[Any, ...]
    coef: Floats
    intercept: Floats
    priors: Floats | None = None

    @property
    def claim(self) -> str:
        shares = "the shares of the classes" if self.priors is None else "the priors given"
        return f"the weights are those of Gaussian classes with shared variances, by maximum likelihood, and {shares}"

    @property
    def verdict(self) -> str:
        return "closed form"

    def verify(self, X: Any, y: Any, sample_weight: Any = None) -> Verification:
        scores = self._recompute(X, np.asarray(y), sample_weight)
        checks = []
        for name, claimed, recomputed in zip(
            ("weights", "intercept"), (self.coef, self.intercept), scores, strict=True
        ):
            size = max(float(np.abs(recomputed).max()), 1.0 if name == "intercept" else 0.0)
            difference = float(np.abs(recomputed - claimed).max())
            checks.append(
                Check(name, difference <= SLACK * size, f"differ by {difference:.3g}, where the largest is {size:.3g}")
            )
        return Verification(tuple(checks))

    def _recompute(self, X: Any, y: NDArray[Any], sample_weight: Any) -> Scores:
        design = make_design(X, intercept=True)
        codes = _class_codes(y, self.classes)
        if design.shape != (len(codes), self.coef.shape[1] + 1):
            fitted = counted(self.coef.shape[1], "column")
            raise DataError(f"X has shape {(design.shape[0], design.shape[1] - 1)}, y {y.shape}; the fit had {fitted}")
        moments = class_moments(design, codes, len(self.classes), row_weights(sample_weight, len(codes)))
        shares = moments.counts / moments.counts.sum() if self.priors is None else self.priors
        scores = closed_form(moments, shares)
        return scores.against_first() if len(self.coef) == 1 else scores

    def certified(self) -> CertifiedCoef:
        return CertifiedCoef(self.coef, self.intercept, self.classes, ((),) * len(self.coef))

    @classmethod
    def from_content(cls, content: Mapping[str, Any]) -> Self:
        fields = Fields(content)
        classes, coef = fields.labels("classes"), fields.matrix("coef")
        if len(coef) != (1 if len(classes) == 2 else len(classes)):
            raise ValueError(f"content.coef has {len(coef)} rows, not those of {len(classes)} classes")
        priors = fields.or_none("priors", lambda key: fields.numbers(key, len(classes)))
        return cls(classes, coef, fields.numbers("intercept", len(coef)), priors)


def _class_codes(y: NDArray[Any], classes: tuple[Any, ...]) -> Indices:
    known = y[:, np.newaxis] == np.asarray(classes)[np.newaxis, :]
    if not known.any(axis=1).all() or not known.any(axis=0).all():
        raise DataError(f"y must hold the classes {list(classes)}, all of them and no other")
    return np.asarray(known.argmax(axis=1))
