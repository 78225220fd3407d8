"""Fits of the rows of a trained model again, for its report: joint tests, and profiles of diverging coefficients.

Cost: one fit, one more per joint test, and some 60 per coefficient that diverges, for tables of at most `MOST_ENTRIES`
cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.design.encode.encoding import encode_source
from separatrix.errors import SeparatrixError
from separatrix.families.base import fit_family
from separatrix.inference.eligibility import Contrast
from separatrix.inference.fitted import Inference, LogisticModel
from separatrix.inference.likelihood import LikelihoodFit
from separatrix.inference.profile import Interval, likelihood_interval, profile_curve
from separatrix.inference.table import Term
from separatrix.model.target import training_rows, without_missing_target
from separatrix.model.train import TrainedModel
from separatrix.reports.scale import p_cell
from separatrix.tables.table import Table, TableSource

MOST_ENTRIES = 2_000_000  # rows times features, above which nothing is fitted again
MOST_TESTS = 12  # joint tests
MOST_PROFILES = 30  # of coefficients that diverge
CURVES, CURVE_POINTS, CURVE_REACH = 2, 41, 3.0  # curves at most, points of each, and log odds beyond the finite end


@dataclass(frozen=True, eq=False)
class Curve:
    """The log-likelihood of a diverging coefficient at `values`, its supremum, and the `limit` of the interval."""

    values: Floats
    logliks: Floats
    supremum: float
    limit: float


def tested_inference(trained: TrainedModel, table: Table | TableSource, terms: Sequence[Term]) -> Inference | None:
    """Return the inference object, with rows for a likelihood; None if nothing is tested or there are too many rows."""
    fitted = trained.fitted
    if fitted.table is None or all(term.p_value is None for term in terms):
        return None
    if fitted.result.certificate.kind == "least-squares":
        return fitted.inference
    entries = int(trained.model.data.get("rows", 0)) * len(trained.model.encoding.feature_names)
    if entries > MOST_ENTRIES or not _needs_rows(trained, terms):
        return None
    encoding = trained.model.encoding
    encoded = encode_source(encoding, without_missing_target(table, trained.model.target, "impute")[0])
    again: Inference | None = fit_family(training_rows(encoding, encoded, trained.target), fitted.options).inference
    return again


def _needs_rows(trained: TrainedModel, terms: Sequence[Term]) -> bool:
    several = any(len(column.names) > 1 for column in trained.model.encoding.columns)
    return several or any(term.estimate is None for term in terms)


def diverging_intervals(
    inference: Inference | None, terms: Sequence[Term], level: float
) -> Iterator[tuple[tuple[Any, str], tuple[Interval, Curve | None]]]:
    """Yield the profile-likelihood interval of each coefficient of two classes without an estimate, with its curve."""
    absent = {term.name for term in terms if term.estimate is None}
    if not isinstance(inference, LogisticModel) or len(inference.fits) > 1 or not absent:
        return
    (fit,) = inference.fits
    if fit.weighting or fit.loglik is None or inference.firth is not None:
        return
    wanted: list[Contrast] = [each for each in fit.contrasts if each.name in absent and each.output is None]
    for place, contrast in enumerate(wanted[:MOST_PROFILES]):
        interval = likelihood_interval(fit, contrast, level)
        curve = _curve(fit, contrast, interval) if place < CURVES else None
        yield (contrast.output, contrast.name), (interval, curve)


def _curve(fit: LikelihoodFit, contrast: Contrast, interval: Interval) -> Curve | None:
    """Return the curve from below 0 or the finite end of the interval to well beyond it; None without such an end."""
    up = interval.upper == math.inf
    limit = interval.lower if up else interval.upper
    if not math.isfinite(limit):
        return None
    reach = max(abs(limit), CURVE_REACH)
    first, last = (
        (min(0.0, limit - reach / 2.0), limit + reach) if up else (limit - reach, max(0.0, limit + reach / 2.0))
    )
    values = np.linspace(first, last, CURVE_POINTS)
    supremum = float(fit.loglik or 0.0)
    logliks = supremum - profile_curve(fit, contrast, values)
    return Curve(values, logliks, supremum, limit) if np.isfinite(logliks).all() else None


def joint_tests(trained: TrainedModel, inference: Inference | None) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the joint test of each column with several coefficients: by F, or by the likelihood ratio."""
    if inference is None or len(trained.model.coef) > 1:
        return
    columns = [column for column in trained.model.encoding.columns if len(column.names) > 1]
    for column in columns[:MOST_TESTS]:
        place = trained.model.encoding.places[trained.model.encoding.columns.index(column)]
        names = trained.model.encoding.feature_names[place]
        try:
            yield column.name, _joint_test(inference, names)
        except SeparatrixError:
            continue  # the notes of its coefficients say why


def _joint_test(inference: Inference, names: Sequence[str]) -> tuple[str, str]:
    if isinstance(inference, LogisticModel):
        ratio = inference.lr_test(names)
        return f"likelihood ratio χ²({ratio.degrees_of_freedom}) = {ratio.chi2:.4g}", p_cell(ratio.p_value)
    wald = inference.wald_test(names)
    rest = f"{wald.residual_degrees_of_freedom:.4g}"
    return f"F({wald.degrees_of_freedom}, {rest}) = {wald.f:.4g}", p_cell(wald.f_p_value)
