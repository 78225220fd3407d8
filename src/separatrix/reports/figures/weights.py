"""The forest: coefficients with their intervals, in units that can be compared.

A feature that has a unit is shown for one standard deviation more of it, any other for the whole step from 0 to 1, as
from one level to another: coefficient and ends of the interval are multiplied alike. The largest are drawn, of many
classes the first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.design.build import INTERCEPT
from separatrix.inference.table import InferenceTable, Term, refused_table
from separatrix.model.record import Model
from separatrix.model.train import Trained
from separatrix.reports.figures.picture import Picture, finished, new_panels
from separatrix.reports.figures.rows import SampledRows
from separatrix.reports.palette import COLOURS
from separatrix.reports.plot.forest import coefficients

NAMES_DRAWN = 24
CANDIDATES = 2000  # features, up to which the statistics say which are drawn
LINES_DRAWN = 72  # names times classes
UNITS = {"linear": "change of the prediction", "score": "change of the score"}
LOG_ODDS = "change of the log-odds"


def coefficient_table(trained: Trained) -> InferenceTable:
    """Return the table of inference, or of a model that has none its coefficients with the reason."""
    model = trained.model
    if trained.learned.table is not None:
        return replace(trained.learned.table, target=model.target)
    outputs = [None] if len(model.coef) == 1 else list(model.classes or ())
    fitted = bool(model.options.get("intercept", True))
    whole = np.column_stack([model.intercept, model.coef]) if fitted else model.coef
    names = (INTERCEPT, *model.encoding.feature_names) if fitted else model.encoding.feature_names
    pairs = list(zip(outputs, whole, strict=True))
    reason = model.no_covariance or "the fit has no table of inference"
    table = refused_table("linear", names, pairs, float(model.data.get("rows", 0)), reason)
    return replace(table, target=model.target)


def forest_picture(trained: Trained, rows: SampledRows) -> Picture | None:
    """Draw the largest coefficients, for a standard deviation more of what has a unit; None where there are none."""
    model, table = trained.model, coefficient_table(trained)
    if all(term.estimate is None for term in table.terms):
        return None
    outputs = list(dict.fromkeys(term.output for term in table.terms))[: len(COLOURS)]
    names = _candidates(model, rows)
    kept = tuple(term for term in table.terms if term.name in names and term.output in outputs)
    scaled = _scaled(replace(table, terms=kept), model, rows)
    features = len(model.encoding.feature_names)
    drawn = min(features, NAMES_DRAWN, max(4, LINES_DRAWN // len(outputs)))
    (panel,) = new_panels(height=1.1 + (0.24 if len(outputs) < 3 else 0.34) * drawn)
    coefficients(scaled, panel, most=drawn)
    panel.set_xlabel(_unit(trained), fontsize="small")
    panel.locator_params(axis="x", nbins=4)  # long numbers would else run into each other
    panel.tick_params(axis="y", labelsize="small")
    intervals = any(term.lower is not None for term in scaled.terms)
    caption = f"{_many(drawn, features)}: the {_unit(trained)} for one standard deviation more of a number, or for"
    caption += " belonging to a level"
    caption += f"; {100.0 * table.level:g} % intervals" if intervals else "; without intervals"
    left = len({term.output for term in table.terms}) - len(outputs)
    caption += f". {left:,} more classes are not drawn." if left else "."
    alt = "Coefficients with their intervals" if intervals else "Coefficients, without intervals"
    return finished([panel], f"{alt}: the table below has the numbers", caption)


def _candidates(model: Model, rows: SampledRows) -> set[str]:
    """Return the names that may be drawn, the intercept's among them: of very many features those of large weights."""
    names = model.encoding.feature_names
    if len(names) <= CANDIDATES:
        return {INTERCEPT, *names}
    sizes = np.abs(model.coef * rows.spread).max(axis=0)
    return {INTERCEPT, *(names[place] for place in np.argsort(-sizes, kind="stable")[:NAMES_DRAWN].tolist())}


def _many(drawn: int, features: int) -> str:
    if drawn == features:
        return f"{'Its only coefficient' if drawn == 1 else f'All {drawn} coefficients'} but the intercept's"
    return f"The {drawn} coefficients that tell most, of {features:,}"


def _unit(trained: Trained) -> str:
    if trained.model.classes is None:
        return UNITS["linear"]
    return LOG_ODDS if trained.model.rule.link in {"sigmoid", "softmax"} else UNITS["score"]


def _scaled(table: InferenceTable, model: Model, rows: SampledRows) -> InferenceTable:
    """Return the table in units of spreads, the largest coefficients first, after the intercept."""
    factors = dict(zip(model.encoding.feature_names, rows.spread.tolist(), strict=True))
    terms = [_times(term, factors.get(term.name, 1.0)) for term in table.terms]
    first, sizes = terms[0].name, dict.fromkeys(factors, 0.0)
    for term in terms:
        sizes[term.name] = max(sizes.get(term.name, 0.0), abs(term.estimate or 0.0))
    return replace(table, terms=tuple(sorted(terms, key=lambda term: (term.name != first, -sizes[term.name]))))


def _times(term: Term, factor: float) -> Term:
    estimate, lower, upper = (
        None if value is None else factor * value for value in (term.estimate, term.lower, term.upper)
    )
    return replace(term, estimate=estimate, lower=lower, upper=upper, absent="")
