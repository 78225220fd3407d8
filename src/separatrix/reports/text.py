"""A summary as plain text, at most 100 columns wide: the first thing that a new user sees."""

from __future__ import annotations

from collections.abc import Iterator

from separatrix.reports.lines import WIDTH, entry, wrapped
from separatrix.reports.summary import Evidence, Predictor, Summary
from separatrix.reports.weights import shortened, weight_lines

NAMES_SHOWN = 8  # of columns; the weights below name them all
CLASSES_SHOWN = 10


def render_text(summary: Summary) -> str:
    """Return the summary as a report in words, ending with a newline."""
    several = len(summary.predictors) > 1
    evidence = _each_class(summary) if several else _mistakes(summary)
    sections = [
        shortened(f"{summary.title} on {summary.source}", WIDTH),
        *_overview(summary),
        *evidence,
        *_weights(summary),
    ]
    return "\n".join(sections) + "\n"


def _overview(summary: Summary) -> Iterator[str]:
    yield ""
    yield from entry("rows", f"{summary.rows:,}; {summary.target} = {_classes(summary)}")
    names = ", ".join(summary.columns[:NAMES_SHOWN])
    more = len(summary.columns) - NAMES_SHOWN
    yield from entry("columns", f"{len(summary.columns):,}: {names}{f', … and {more:,} more' if more > 0 else ''}")
    if len(summary.predictors) == 1:
        yield from entry("result", summary.message)
    right = summary.rows - summary.wrong
    yield from entry("training", f"{right:,} of {summary.rows:,} rows right ({_percent(right, summary.rows)})")
    yield from entry(
        "work", f"{_counted(summary.updates, 'update')}, {_passes(summary.passes)}, {_time(summary.seconds)}"
    )
    for note in [*_boundary(summary), *summary.notes]:
        yield from entry("note", note)


def _classes(summary: Summary) -> str:
    signs = {1: " (+1)", -1: " (−1)", None: ""}
    positive_first = sorted(summary.classes, key=lambda count: -(count.sign or 0))
    shown = [f"{count.label} in {count.rows:,}{signs[count.sign]}" for count in positive_first]
    more = len(shown) - CLASSES_SHOWN
    return ", ".join(shown[:CLASSES_SHOWN]) + (f", … and {more:,} more" if more > 0 else "")


def _boundary(summary: Summary) -> Iterator[str]:
    if summary.on_boundary:
        rows = _counted(summary.on_boundary, "row") + (" lies" if summary.on_boundary == 1 else " lie")
        decides = "the first class wins" if len(summary.classes) > 2 else "the tie rule decides"
        yield f"{rows} exactly on a boundary, where {decides}"


def _mistakes(summary: Summary) -> Iterator[str]:
    predictor = summary.predictors[0]
    intercept = len(predictor.coefficients) > len(summary.columns)
    yield ""
    yield from wrapped(f"Mistake bound: {_bound(predictor)}")
    for line in _explained(predictor.evidence, intercept):
        yield from wrapped(line, "  ")


def _bound(predictor: Predictor) -> str:
    """Say how many mistakes there were, and how many there can be."""
    evidence, made = predictor.evidence, _counted(predictor.updates, "update")
    if evidence.radius is None:
        return evidence.claim
    if evidence.margin is None:
        return f"{made}; no separator is known, so there is no bound"
    if evidence.bound is None:
        return f"{made}; a separator is known, but the bound it gives is beyond the range of a float"
    if evidence.textbook:
        return f"{_counted(predictor.updates, 'mistake')}, at most (R/γ)² = {_count(evidence.bound)} possible"
    return f"{made}, at most {_count(evidence.bound)} possible by this rule from this start"


def _explained(evidence: Evidence, intercept: bool) -> Iterator[str]:
    if evidence.margin is None or evidence.radius is None:
        return
    counted = ", the 1 for the intercept included" if intercept else ""
    yield f"R = {evidence.radius:.6g} is the length of the longest row{counted}."
    yield f"γ = {evidence.margin:.6g} is the margin of a known separator: no row is on the wrong side or nearer to it."


def _each_class(summary: Summary) -> Iterator[str]:
    yield ""
    yield "Each class against the rest"
    yield ""
    for predictor in summary.predictors:
        yield from wrapped(f"{predictor.positive}: {predictor.message}", "  ", "    ")
        yield from wrapped(_bound(predictor) + _numbers(predictor.evidence), "    ", "    ")


def _numbers(evidence: Evidence) -> str:
    if evidence.margin is None or evidence.radius is None:
        return ""
    return f" (R = {evidence.radius:.6g}, γ = {evidence.margin:.6g})"


def _weights(summary: Summary) -> Iterator[str]:
    first = summary.predictors[0]
    if len(summary.predictors) > 1:
        rule = f"the {summary.target} with the highest score is predicted"
    else:
        rule = f"a score above 0 means {summary.target} = {first.positive}, below 0 means {first.negative}"
    yield ""
    yield from wrapped(f"Weights ({rule})")
    yield ""
    yield from weight_lines(summary.predictors, WIDTH)


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def _percent(part: int, whole: int) -> str:
    """Return a share that says 100 % only if nothing is missing."""
    share = 100.0 * part / whole
    return f"{share:.0f} %" if part in {0, whole} else f"{min(share, 99.99):.4g} %"


def _count(bound: float) -> str:
    """Return a bound as the whole number below it, or in powers of ten once it is too long to read."""
    nearest = round(bound)
    whole = nearest if abs(bound - nearest) <= 1e-9 * bound else int(bound)
    return f"{whole:,}" if bound < 1e9 else f"{bound:.3g}"


def _passes(passes: float) -> str:
    return f"{passes:,.0f} passes over the rows" if passes >= 10 else f"{passes:.3g} passes over the rows"


def _time(seconds: float) -> str:
    return f"{1000.0 * seconds:.2g} ms" if seconds < 0.1 else f"{seconds:,.2f} s"
