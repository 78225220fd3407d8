"""Coefficients and quality measures of a model as text.

Coefficients come with standard errors where available. Long lists are cut to the largest: by statistic |t| or, without
one, by weight per standard deviation of the column, which no change of units alters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from separatrix.arrays import Indices
from separatrix.design.build import INTERCEPT
from separatrix.errors import counted
from separatrix.inference.evaluation import ClassifierEvaluation
from separatrix.inference.evaluation_curves import Estimate
from separatrix.inference.table import InferenceTable, Term, coefficient_sheet
from separatrix.model.record import Model
from separatrix.model.train import Evaluation
from separatrix.rendering.sheet import Grid, Sheet, format_number
from separatrix.rendering.text import render_text

MOST_SHOWN = 20
CLASSES_BESIDE = 5  # columns of a table
NEARLY_ALL = 0.9999
LARGE, LARGEST = 1e4, 1e15  # between which all digits before the point are printed


def render_coefficients(model: Model, table: InferenceTable | None, most: int | None = MOST_SHOWN) -> str:
    """Return the coefficients, with inference if the table has any; at most `most` per output, None for all."""
    if table is None or all(term.standard_error is None for term in table.terms):
        return render_text(weight_sheet(model, most))
    shown = largest_terms(table.terms, most)
    text = render_text(coefficient_sheet(replace(table, terms=shown, target=model.target)))
    left = len(table.terms) - len(shown)
    return text + (f"\n  {_left_off(left)}\n" if left else "")


def weight_sheet(model: Model, most: int | None) -> Sheet:
    """Return the weights of a model without standard errors, and why there are none; of a kernel, its support."""
    if model.kernel is not None:
        return kernel_sheet(model)
    scales = model.options.get("scales")
    spreads = None if scales is None else np.asarray(scales, dtype=np.float64)
    sizes = np.abs(model.coef * (1.0 if spreads is None else spreads)).max(axis=0)
    count = len(sizes) if most is None else min(most, len(sizes))
    places = np.argsort(-sizes, kind="stable")[:count] if count < len(sizes) else np.arange(len(sizes))
    lines = [model.no_covariance] if model.no_covariance else []
    if count < len(sizes):
        order = "by weight per standard deviation" if spreads is not None else "by weight"
        lines.append(f"the {count} largest {order}; {_left_off(len(sizes) - count)}")
    return Sheet(_rule(model), tuple(_score_grids(model, places, spreads)), lines=tuple(lines))


def kernel_sheet(model: Model) -> Sheet:
    """Return the kernels of a model, and the number of support vectors of each machine."""
    assert model.kernel is not None
    rows = tuple((f"{machine.coef.shape[1]:,}", str(machine.kernel)) for machine in model.kernel.machines)
    lines = (model.no_covariance,) if model.no_covariance else ()
    return Sheet("Support vectors", (Grid(("support vectors", "kernel"), rows),), lines=lines)


def largest_terms(terms: Sequence[Term], most: int | None) -> tuple[Term, ...]:
    """Return, for each output, the intercept and the terms with the largest statistics."""
    if most is None:
        return tuple(terms)
    largest: list[Term] = []
    for _, group in groupby(terms, key=lambda term: term.output):
        own = list(group)
        if len(own) > most:
            own.sort(key=lambda term: (term.name != INTERCEPT, -abs(term.statistic or 0.0)))
        largest += own[:most]
    return tuple(largest)


def _score_grids(model: Model, places: Indices, spreads: Any) -> Iterator[Grid]:
    """Yield grids with one row per feature and one column per class, for a few classes each."""
    one = len(model.coef) == 1
    for first in range(0, len(model.coef), CLASSES_BESIDE):
        group = slice(first, first + CLASSES_BESIDE)
        columns = np.column_stack([model.intercept[group], model.coef[group][:, places]])
        heads = ("weight",) if one else tuple(map(str, (model.classes or ())[group]))
        if one and spreads is not None:
            heads += ("per standard deviation",)
            columns = np.vstack([columns, np.append(np.nan, model.coef[0, places] * spreads[places])])
        names = (INTERCEPT, *(model.encoding.feature_names[place] for place in places.tolist()))
        rows = tuple((name, *map(_cell, values)) for name, values in zip(names, columns.T.tolist(), strict=True))
        yield Grid(("", *heads), rows if model.fit_intercept else rows[1:])


def _cell(value: float) -> str:
    return "" if math.isnan(value) else format_number(value)


def _rule(model: Model) -> str:
    if model.classes is None:
        return f"Weights ({model.target} is predicted as the sum of weight times feature)"
    if len(model.classes) == 2:
        negative, positive = model.classes
        return f"Weights (a score above 0 means {model.target} = {positive}, below 0 means {negative})"
    return f"Weights (the {model.target} with the highest score is predicted)"


def _left_off(count: int) -> str:
    return f"{counted(count, 'more coefficient')} left off: separatrix summary MODEL --all shows them"


def measures_of(evaluation: Evaluation) -> Iterator[tuple[str, Estimate]]:
    """Yield the name and estimate of each measure, in reading order."""
    if not isinstance(evaluation, ClassifierEvaluation):
        yield "R²", evaluation.r_squared
        yield "RMSE", evaluation.rmse
        yield "mean absolute error", evaluation.mean_absolute_error
        return
    yield "accuracy", evaluation.accuracy
    yield "majority-class baseline", Estimate(evaluation.baseline_accuracy)
    yield "AUC", evaluation.auc
    if evaluation.log_loss.value is not None:
        yield "log loss", evaluation.log_loss
    if evaluation.reliability is not None:
        yield "calibration error", Estimate(evaluation.reliability.error)


def with_interval(estimate: Estimate) -> str:
    """Return a value with its interval, to four digits, large numbers in full.

    >>> with_interval(Estimate(0.25, lower=0.123456, upper=0.4)), with_interval(Estimate(12345.6))
    ('0.25 (0.1235 to 0.4)', '12,346')
    """
    if estimate.lower is None or estimate.upper is None:
        return "—" if estimate.value is None else _digits(estimate.value)
    return f"{_digits(estimate.value or 0.0)} ({_digits(estimate.lower)} to {_digits(estimate.upper)})"


def _digits(value: float) -> str:
    if NEARLY_ALL < value < 1.0:  # never rounded to 1
        return f"{NEARLY_ALL}"
    return f"{value:,.0f}" if LARGE <= abs(value) < LARGEST else f"{value:.4g}"
