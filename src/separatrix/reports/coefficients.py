"""Coefficients of a model as text: with their errors where they have any, else plain; the largest where they are many.

By size: the statistic |t| where there is one, else the weight times the spread of its column, so that no unit counts.

The measures of an evaluation by name, in the order that they are read in.
"""

from __future__ import annotations

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
from separatrix.rendering.sheet import Grid, Sheet, number
from separatrix.rendering.text import render_text

MOST_SHOWN = 20
CLASSES_BESIDE = 5
LARGE, LARGEST = 1e4, 1e15  # between which a number is told in full


def render_coefficients(model: Model, table: InferenceTable | None, most: int | None = MOST_SHOWN) -> str:
    """Return the coefficients, with inference where a table has some; `most` of each score, None for all."""
    if table is None or all(term.standard_error is None for term in table.terms):
        return render_weights(model, most)
    kept = largest_terms(table.terms, most)
    text = render_text(coefficient_sheet(replace(table, terms=kept, target=model.target)))
    left = len(table.terms) - len(kept)
    return text + (f"\n  {_left_off(left)}\n" if left else "")


def render_weights(model: Model, most: int | None = MOST_SHOWN) -> str:
    """Return the weights of a model without their errors, and why there are none."""
    return render_text(weight_sheet(model, most))


def weight_sheet(model: Model, most: int | None) -> Sheet:
    """Return the weights of a model without their errors as cells and sentences."""
    scales = model.options.get("scales")
    spreads = None if scales is None else np.asarray(scales, dtype=np.float64)
    sizes = np.abs(model.coef * (1.0 if spreads is None else spreads)).max(axis=0)
    count = len(sizes) if most is None else min(most, len(sizes))
    places = np.argsort(-sizes, kind="stable")[:count] if count < len(sizes) else np.arange(len(sizes))
    lines = [model.no_covariance] if model.no_covariance else []
    if count < len(sizes):
        order = "by weight times spread" if spreads is not None else "by weight"
        lines.append(f"the {count} largest {order}; {_left_off(len(sizes) - count)}")
    grids = _one_score(model, places, spreads) if len(model.coef) == 1 else _several_scores(model, places)
    return Sheet(_rule(model), grids, lines=tuple(lines))


def largest_terms(terms: Sequence[Term], most: int | None) -> tuple[Term, ...]:
    """Return the intercept and the terms of the largest statistics of each output."""
    if most is None:
        return tuple(terms)
    kept: list[Term] = []
    for _, group in groupby(terms, key=lambda term: term.output):
        own = list(group)
        if len(own) > most:
            own.sort(key=lambda term: (term.name != INTERCEPT, -abs(term.statistic or 0.0)))
        kept += own[:most]
    return tuple(kept)


def _one_score(model: Model, places: Indices, spreads: Any) -> tuple[Grid, ...]:
    heads = ("", "weight") if spreads is None else ("", "weight", "times spread")
    rows: list[tuple[str, ...]] = []
    if _has_intercept(model):
        rows.append((INTERCEPT, number(float(model.intercept[0])), *([""] if spreads is not None else [])))
    for place in places.tolist():
        weight = float(model.coef[0, place])
        beside = [] if spreads is None else [number(weight * float(spreads[place]))]
        rows.append((model.encoding.feature_names[place], number(weight), *beside))
    return (Grid(heads, tuple(rows)),)


def _several_scores(model: Model, places: Indices) -> tuple[Grid, ...]:
    """Return a line a feature, a column a class; a few classes a grid."""
    grids = []
    for first in range(0, len(model.coef), CLASSES_BESIDE):
        group = slice(first, first + CLASSES_BESIDE)
        labels = [str(label) for label in (model.classes or ())[group]]
        rows: list[tuple[str, ...]] = []
        if _has_intercept(model):
            rows.append((INTERCEPT, *(number(float(value)) for value in model.intercept[group])))
        for place in places.tolist():
            name = model.encoding.feature_names[place]
            rows.append((name, *(number(float(value)) for value in model.coef[group, place])))
        grids.append(Grid(("", *labels), tuple(rows)))
    return tuple(grids)


def _has_intercept(model: Model) -> bool:
    return model.options.get("intercept") is not False


def _rule(model: Model) -> str:
    if model.classes is None:
        return f"Weights ({model.target} is predicted as the sum of weight times feature)"
    if len(model.classes) == 2:
        negative, positive = model.classes
        return f"Weights (a score above 0 means {model.target} = {positive}, below 0 means {negative})"
    return f"Weights (the {model.target} with the highest score is predicted)"


def _left_off(count: int) -> str:
    return f"{counted(count, 'more coefficient')} left off: separatrix summary MODEL --all shows them"


def measures_of(found: Evaluation) -> Iterator[tuple[str, Estimate]]:
    """Yield each measure that there is, with its interval where it has one."""
    if not isinstance(found, ClassifierEvaluation):
        yield "R²", found.r_squared
        yield "RMSE", found.rmse
        yield "mean absolute error", found.mean_absolute_error
        return
    yield "accuracy", found.accuracy
    yield "of always the commonest", Estimate(found.baseline_accuracy)
    yield "AUC", found.auc
    if found.log_loss.value is not None:
        yield "log loss", found.log_loss
    if found.reliability is not None:
        yield "calibration error", Estimate(found.reliability.error)


def with_interval(found: Estimate) -> str:
    """Return a value with its interval, four digits each, large numbers in full.

    >>> with_interval(Estimate(0.25, lower=0.123456, upper=0.4)), with_interval(Estimate(12345.6))
    ('0.25 (0.1235 to 0.4)', '12,346')
    """
    if found.lower is None or found.upper is None:
        return "—" if found.value is None else _digits(found.value)
    return f"{_digits(found.value or 0.0)} ({_digits(found.lower)} to {_digits(found.upper)})"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if LARGE <= abs(value) < LARGEST else f"{value:.4g}"
