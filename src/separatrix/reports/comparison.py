"""Learners side by side as one page of text, or as JSON values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.model.compare import Compared, Refused
from separatrix.reports.lines import wrapped
from separatrix.reports.plain_table import table_lines

NAMES_SHOWN = 20


@dataclass(frozen=True)
class Comparison:
    """Learners on the same rows; `apart` is the number of rows that were kept apart, 0 for none."""

    title: str
    names: tuple[str, ...]
    rows: int
    apart: int
    compared: tuple[Compared, ...]
    refused: tuple[Refused, ...] = ()
    notes: tuple[str, ...] = ()


def render_comparison(page: Comparison) -> str:
    """Return the page: the update that most share, what each minimises, how each does, and its weights."""
    lines = [page.title, "", "Update of each: w ← w − rate · error · x, with score s and label y = ±1.", ""]
    lines += table_lines(_rules(page.compared))
    lines += ["", "How each does:", "", *table_lines(_results(page))]
    lines += ["", "Mean of each loss at each one's weights:", "", *table_lines(_losses(page.compared))]
    lines += ["", "Weights:", "", *table_lines(_weights(page.names, page.compared)), ""]
    for each in page.compared:
        lines += wrapped(f"{each.learner}: {each.fit.result.message}", "", "  ")
    for refused in page.refused:
        lines += wrapped(f"{refused.learner}: {refused.reason}", "", "  ")
    for note in page.notes:
        lines += wrapped(f"note: {note}", "", "  ")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def comparison_dict(page: Comparison) -> dict[str, Any]:
    """Return what the page says as JSON values."""
    return {
        "title": page.title,
        "rows": page.rows,
        "apart": page.apart,
        "learners": [_learner_dict(each, page) for each in page.compared],
        "refused": [refused._asdict() for refused in page.refused],
        "notes": list(page.notes),
    }


def _learner_dict(each: Compared, page: Comparison) -> dict[str, Any]:
    result = each.fit.result
    return {
        "learner": each.learner,
        "error": each.error,
        "minimises": each.minimises,
        "mistakes": each.mistakes,
        "apart_mistakes": each.apart,
        "margin": each.margin,
        "losses": {name: loss if math.isfinite(loss) else None for name, loss in each.losses.items()},
        "intercept": each.fit.intercept,
        "weights": dict(zip(page.names, each.fit.coef.tolist(), strict=True)),
        "passes": float(result.passes),
        "seconds": float(result.seconds),
        "status": result.status.value,
        "message": result.message,
        "verdict": result.certificate.verdict,
        "claim": result.certificate.claim,
    }


def _rules(compared: Sequence[Compared]) -> Iterator[Sequence[str]]:
    yield "", "error", "minimises"
    for each in compared:
        yield each.learner, each.error, each.minimises


def _results(page: Comparison) -> Iterator[Sequence[str]]:
    apart = [f"apart, of {page.apart:,}"] if page.apart else []
    yield "", f"wrong, of {page.rows:,}", *apart, "margin", "passes", "seconds", "status", "evidence"
    for each in page.compared:
        result = each.fit.result
        yield (
            each.learner,
            f"{each.mistakes:,}",
            *([f"{each.apart:,}"] if page.apart else []),
            "—" if each.margin is None else f"{each.margin:.4g}",
            f"{result.passes:,.0f}",
            f"{result.seconds:.2g}",
            result.status.value,
            result.certificate.verdict,
        )


def _losses(compared: Sequence[Compared]) -> Iterator[Sequence[str]]:
    names = list(compared[0].losses)
    yield "", *(f"{name} loss" for name in names)
    for each in compared:
        yield each.learner, *(f"{each.losses[name]:.6g}" for name in names)


def _weights(names: Sequence[str], compared: Sequence[Compared]) -> Iterator[Sequence[str]]:
    yield "", *(each.learner for each in compared)
    yield "intercept", *(f"{each.fit.intercept:.6g}" for each in compared)
    for place, name in enumerate(names[:NAMES_SHOWN]):
        yield name, *(f"{each.fit.coef[place]:.6g}" for each in compared)
    if len(names) > NAMES_SHOWN:
        yield f"… and {len(names) - NAMES_SHOWN:,} more, with --json", *("" for _ in compared)
