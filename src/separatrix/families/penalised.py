"""Penalised fits: the scale of the columns, and the strength of the penalty.

Columns may be divided by their standard deviation first, so that their units do not matter; coefficients are returned
in the units of the rows, and the certificate knows the divisors. Columns that hold only 0 and 1 keep their scale. The
default strength of tables is 1/n, as much prior information as one of the n rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.certificates.base import Certificate, PartsCertificate
from separatrix.certificates.optimality import OptimalityCertificate
from separatrix.design.base import Block, add_each
from separatrix.design.build import divide_columns
from separatrix.errors import OptionError, counted, require_count
from separatrix.families.base import Fitted, TrainingRows, convex_options, refused_inference
from separatrix.families.options import ElasticNetOptions, SVMOptions
from separatrix.fit.result import FitResult
from separatrix.inference.eligibility import Refusal
from separatrix.inference.fitted import RefusedInference
from separatrix.penalties import make_penalty
from separatrix.problem import Problem
from separatrix.selection import CrossValidation, Path, assign_folds, cross_validate


class ScaledRows(NamedTuple):
    """Rows with their columns divided by `scales`; None if they are as they were."""

    rows: TrainingRows
    scales: Floats | None

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence about the scaled columns, if there are any."""
        count = 0 if self.scales is None else int((self.scales != 1.0).sum())
        were = "was" if count == 1 else "were"
        return (f"{counted(count, 'numeric column')} {were} standardised for the fit",) if count else ()

    def start(self, start: Floats | None) -> Floats | None:
        """Return initial coefficients, (p,) or (p, K), the intercept first if there is one, for the scaled columns."""
        if start is None or self.scales is None:
            return start
        factors = np.ones(len(start))
        factors[len(start) - len(self.scales) :] = self.scales
        return np.asarray((factors * start.T).T)

    def in_units(self, result: FitResult) -> FitResult:
        """Return a fit of the scaled rows in the units of the original columns, its certificate with the scales."""
        scales, trace = self.scales, result.trace
        if scales is None:
            return result
        if trace.coefs is not None:
            intercepts = np.ones(trace.coefs.shape[-1] - len(scales))
            trace = replace(trace, coefs=trace.coefs / np.concatenate([intercepts, scales]))
        return replace(
            result,
            coef=result.coef / scales,
            trace=trace,
            certificate=_with_scales(result.certificate, scales),
            parts=tuple(map(self.in_units, result.parts)),
        )

    def path_in_units(self, path: Path) -> Path:
        """Return a path of the scaled rows in the units of the original columns."""
        if self.scales is None:
            return path
        divisors = np.concatenate([np.ones(int(path.virtual)), self.scales])
        return replace(path, coefs=path.coefs / divisors.reshape(-1, *[1] * (path.coefs.ndim - 2)))


def _with_scales(certificate: Certificate, scales: Floats) -> Certificate:
    if isinstance(certificate, PartsCertificate):
        return replace(certificate, parts=tuple(_with_scales(part, scales) for part in certificate.parts))
    assert isinstance(certificate, OptimalityCertificate)
    return replace(certificate, scales=scales)


def scale_rows(rows: TrainingRows, scaling: str) -> ScaledRows:
    """Return the rows as they are (scaling "none"), or with columns divided by their standard deviation ("spread")."""
    if scaling == "none" or rows.shape[1] == 0:
        return ScaledRows(rows, None)
    scales = standard_deviations(rows)
    if (scales == 1.0).all():
        return ScaledRows(rows, None)
    return ScaledRows(replace(rows, X=divide_columns(rows.X, scales)), scales)


def standard_deviations(rows: TrainingRows) -> Floats:
    """Return the standard deviation of each column that may be scaled, and 1 for the others, in one pass."""
    design = rows.design(intercept=False)
    weights = np.ones(design.shape[0]) if rows.weights is None else rows.weights
    sums, squares, other = design.fold(_moments, rows=(weights,), combine=add_each)
    with np.errstate(over="ignore", invalid="ignore"):  # overflowing columns are rejected by name later
        deviations = np.sqrt(np.maximum(squares / weights.sum() - (sums / weights.sum()) ** 2, 0.0))
    scaled = (deviations > 0.0) & (other > 0) & np.isfinite(deviations)
    return np.where(scaled if rows.quantities is None else scaled & rows.quantities, deviations, 1.0)


def _moments(block: Block, weights: Floats) -> tuple[Floats, Floats, Indices]:
    """Return the weighted sum of each column and of its squares, and the number of its entries other than 0 and 1."""
    return block.rmatvec(weights), block.column_squares(weights), block.other_entries()


class PenalisedProblems(NamedTuple):
    """Penalised problems of scaled rows, their strength, and the cross-validation that chose it, if any.

    `sentences` are about the choice; `needed` is the reason for a penalty that was not requested.
    """

    scaled: ScaledRows
    problems: list[Problem]
    strength: float
    cv: CrossValidation | None
    sentences: tuple[str, ...]
    needed: str

    def starts(self, starts: Sequence[Floats | None]) -> Sequence[Floats | None]:
        """Return the coefficients to start from: those of the cross-validation's path, or the given ones."""
        return starts if self.cv is None else [path.coefs[self.cv.place] for path in self.cv.paths]

    def in_units(self, result: FitResult, options: ElasticNetOptions | SVMOptions) -> FitResult:
        """Return the result in the units of the columns, with the kind of weights and of cross-validation."""
        kind = {"weight_kind": options.weight_kind} if isinstance(options, ElasticNetOptions) else {}
        cv = {} if self.cv is None else {"cv": len(self.cv.fold_losses), "cv_choice": self.cv.choice}
        message = result.message if self.cv is None else result.message + _edge_clause(self.cv)
        return replace(self.scaled.in_units(result), message=message, provenance={**result.provenance, **kind, **cv})

    @property
    def facts(self) -> dict[str, Any]:
        """The part of a `Fitted` about the penalty and the scale of the columns."""
        sentences = (*self.sentences, *self.scaled.sentences)
        own = {"strength": self.strength, "cv": self.cv, "needed": self.needed}
        return {**own, "scales": self.scaled.scales, "sentences": sentences}

    def no_inference(self, fitted: Fitted) -> RefusedInference:
        """Return the inference of a penalised fit: its coefficients, and why they have no standard errors."""
        reason = Refusal.PENALISED(strength=self.strength)
        if self.cv is not None:
            reason = Refusal.CROSS_VALIDATED(strength=self.strength)
        elif self.needed:
            reason = f"{reason.partition(';')[0]}; the penalty is needed, as {self.needed.partition(';')[0]}"
        return refused_inference(fitted, self.problems[0].design, reason)


def penalise(
    scaled: ScaledRows, problems: Sequence[Problem], options: ElasticNetOptions | SVMOptions, needed: str | None = None
) -> PenalisedProblems:
    """Return problems with a penalty of given strength, of 1/n ("auto"; n the sum of the weights) or cross-validated.

    `needed` is the reason for a penalty that was not requested, empty if it was; None if there always is one.
    """
    total, cv, strength = problems[0].total_weight, None, options.strength
    if strength == "cv":
        cv = _cross_validation(problems, options)
        strength = cv.strength
        sentence = (
            f"penalty strength: {strength:.4g}, chosen by cross-validation in {len(cv.fold_losses)} folds:"
            f" {'the best' if cv.choice == 'best' else 'the largest within one standard error of the best'}"
            f"{_edge_clause(cv)}"
        )
    elif strength == "auto":
        strength, sentence = 1.0 / total, f"penalty strength: {1.0 / total:.4g} (1/n, the default)"
    else:
        sentence = f"penalty strength: {strength:g}, as given"
    why = () if needed is None else (f"a penalty is used: {needed}" if needed else "a penalty is used, as given",)
    penalty = make_penalty(float(strength), options.l1_ratio)
    penalised = [replace(problem, penalty=penalty) for problem in problems]
    return PenalisedProblems(scaled, penalised, float(strength), cv, (*why, sentence), needed or "")


def _edge_clause(cv: CrossValidation) -> str:
    """Return a clause if the best strength is at an end of the grid, where a better one may lie beyond it."""
    if cv.is_null:
        return "; the best makes every coefficient 0: no column lowers the held-out loss"
    if cv.edge is None:
        return ""
    slope = "still falls" if cv.is_falling else "is nearly flat"
    return f"; the best, {cv.strengths[cv.best]:.3g}, is the {cv.edge} one tried, and the held-out loss {slope} there"


def _cross_validation(problems: Sequence[Problem], options: ElasticNetOptions | SVMOptions) -> CrossValidation:
    first, count = problems[0], require_count("cv", options.cv)
    if first.design.shape[0] < count:
        rows = f"n_samples={first.design.shape[0]}"
        raise OptionError(f"cv={count} folds are more than there are rows ({rows}); give a strength, as 0.1")
    classes = None if first.loss.target == "numbers" else _strata(problems)
    folds = assign_folds(len(first.y), count, options.random_state, classes)
    solver = convex_options(options)._replace(keep_iterates=False)
    choice, strengths = options.cv_choice, options.strengths
    return cross_validate(problems, options.l1_ratio, folds, choice=choice, strengths=strengths, options=solver)


def _strata(problems: Sequence[Problem]) -> Indices:
    """Return the class of each row: its code, its sign, or the one-vs-rest problem in which it is positive."""
    if problems[0].loss.target == "classes":
        return np.asarray(problems[0].y, dtype=np.intp)
    if len(problems) == 1:
        return (problems[0].y > 0.0).astype(np.intp)
    return np.asarray(np.argmax([problem.y for problem in problems], axis=0))
