"""Verified certificates, and learners side by side, as text or as JSON values."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.errors import counted
from separatrix.model.certified import CheckedCertificate
from separatrix.model.compare import FailedLearner, LearnerRow
from separatrix.rendering.text import WIDTH, table_lines, wrapped

NAMES_SHOWN = 20
OUTCOMES = {True: "holds", False: "FAILS", None: "unchecked"}


def accepted(certificates: Sequence[CheckedCertificate]) -> bool:
    """Return whether every certificate is accepted."""
    return all(each.accepted for each in certificates)


def render_verifications(certificates: Sequence[CheckedCertificate], data: str) -> str:
    """Return the page: each claim, its checks, and the conclusion; `data` describes the data."""
    lines: list[str] = []
    for each in certificates:
        lines += _wrapped(f"Claimed ({each.certificate.kind}): {each.certificate.claim}")
        lines += ["", *_checks(each), ""]
    lines += _wrapped(_conclusion(certificates, data))
    return "\n".join(lines) + "\n"


def verifications_dict(certificates: Sequence[CheckedCertificate], data: str) -> dict[str, Any]:
    """Return the content of the page as JSON values."""
    return {
        "data": data,
        "holds": accepted(certificates),
        "certificates": [_verification_dict(each) for each in certificates],
    }


def _verification_dict(each: CheckedCertificate) -> dict[str, Any]:
    checks = [{"name": check.name, "holds": check.holds, "detail": check.detail} for check in each.verification.checks]
    certificate = each.certificate
    head = {"kind": certificate.kind, "verdict": certificate.verdict, "claim": certificate.claim}
    return {**head, "holds": each.accepted, "checks": checks}


def _checks(each: CheckedCertificate) -> Iterator[str]:
    for check in each.verification.checks:
        yield from _wrapped(f"{check.name}: {check.detail}", f"  {OUTCOMES[check.holds]:<11}", " " * 13)


def _conclusion(certificates: Sequence[CheckedCertificate], data: str) -> str:
    checks = [check for each in certificates for check in each.verification.checks]
    failed = sum(check.holds is False for check in checks)
    if failed:
        return f"REFUSED on {data}: {failed:,} of {counted(len(checks), 'check')} failed."
    if not accepted(certificates):
        return f"NOTHING PROVED on {data}: the certificate has nothing to check."
    unchecked = sum(check.holds is None for check in checks)
    rest = f"; {unchecked:,} could not be checked" if unchecked else ""
    return f"Verified on {data}: {counted(len(checks) - unchecked, 'check')} made, all hold{rest}."


def _wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


@dataclass(frozen=True)
class Comparison:
    """Learners fitted to the same rows; `held_out` is the number of held-out rows."""

    title: str
    names: tuple[str, ...]
    rows: int
    held_out: int
    compared: tuple[LearnerRow, ...]
    refused: tuple[FailedLearner, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return render_comparison(self)


def render_comparison(page: Comparison) -> str:
    """Return the page: the update rule and objective of each learner, its results, losses and weights."""
    lines = [page.title, "", "Update of each: w ← w − rate · error · x, with score s and label y = ±1.", ""]
    lines += table_lines(_rules(page.compared))
    lines += ["", "How each does:", "", *table_lines(_results(page))]
    lines += ["", "Mean of each loss at each one's weights:", "", *table_lines(_losses(page.compared))]
    lines += ["", "Weights:", "", *table_lines(_weights(page.names, page.compared)), ""]
    for each in page.compared:
        lines += wrapped(f"{each.learner}: {each.ending.message}", "", "  ")
    for refused in page.refused:
        lines += wrapped(f"{refused.learner}: {refused.reason}", "", "  ")
    for note in page.notes:
        lines += wrapped(f"note: {note}", "", "  ")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def comparison_dict(page: Comparison) -> dict[str, Any]:
    """Return the content of the page as JSON values."""
    return {
        "title": page.title,
        "rows": page.rows,
        "apart": page.held_out,
        "learners": [_learner_dict(each) for each in page.compared],
        "refused": [refused._asdict() for refused in page.refused],
        "notes": list(page.notes),
    }


def _learner_dict(each: LearnerRow) -> dict[str, Any]:
    return {
        "learner": each.learner,
        "error": each.error,
        "minimises": each.minimises,
        "mistakes": each.mistakes,
        "apart_mistakes": each.held_out,
        "margin": each.margin,
        "losses": {name: loss if math.isfinite(loss) else None for name, loss in each.losses.items()},
        "intercept": each.intercept,
        "weights": dict(each.weights),
        **each.ending._asdict(),
    }


def _rules(compared: Sequence[LearnerRow]) -> Iterator[Sequence[str]]:
    yield "", "error", "minimises"
    for each in compared:
        yield each.learner, each.error, each.minimises


def _results(page: Comparison) -> Iterator[Sequence[str]]:
    heading = [f"apart, of {page.held_out:,}"] if page.held_out else []
    yield "", f"wrong, of {page.rows:,}", *heading, "margin", "passes", "seconds", "status", "evidence"
    for each in page.compared:
        yield (
            each.learner,
            f"{each.mistakes:,}",
            *([_or_dash(each.held_out, ",")] if page.held_out else []),
            _or_dash(each.margin, ".4g"),
            _or_dash(each.ending.passes, ",.0f"),
            _or_dash(each.ending.seconds, ".2g"),
            each.ending.status,
            each.ending.verdict,
        )


def _or_dash(number: float | None, form: str) -> str:
    return "—" if number is None else format(number, form)


def _losses(compared: Sequence[LearnerRow]) -> Iterator[Sequence[str]]:
    names = list(compared[0].losses)
    yield "", *(f"{name} loss" for name in names)
    for each in compared:
        yield each.learner, *(f"{each.losses[name]:.6g}" for name in names)


def _weights(names: Sequence[str], compared: Sequence[LearnerRow]) -> Iterator[Sequence[str]]:
    yield "", *(each.learner for each in compared)
    yield "intercept", *(_or_dash(each.intercept, ".6g") for each in compared)
    for name in names[:NAMES_SHOWN]:
        yield name, *(_or_dash(each.weights.get(name), ".6g") for each in compared)
    if len(names) > NAMES_SHOWN:
        yield f"… and {len(names) - NAMES_SHOWN:,} more, with --json", *("" for _ in compared)
