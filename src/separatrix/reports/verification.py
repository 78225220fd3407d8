"""Verified certificates, and learners side by side, as text or as JSON values."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.certificates.base import Certificate, Check, Verification
from separatrix.errors import counted
from separatrix.model.compare import FailedLearner, LearnerRow
from separatrix.rendering.text import WIDTH, table_lines, wrapped

NAMES_SHOWN = 20
OUTCOMES = {True: "holds", False: "FAILS", None: "unchecked"}


@dataclass(frozen=True)
class CheckedCertificate:
    """A certificate with all checks of it on some data."""

    certificate: Certificate
    verification: Verification

    @property
    def accepted(self) -> bool:
        """Whether something was checked and nothing fails."""
        return self.verification.holds and any(check.holds for check in self.verification.checks)

    def with_check(self, check: Check) -> CheckedCertificate:
        """Return it with one more check."""
        return CheckedCertificate(self.certificate, Verification((*self.verification.checks, check)))


def verify_stated(certificate: Certificate, stated: object, X: Any, y: Any) -> CheckedCertificate:
    """Check a certificate on data, and that the verdict stated in the file is the one that its content implies."""
    checks = certificate.verify(X, y).checks
    if stated != certificate.verdict:
        detail = f"the file says {stated!r}, what it contains says {certificate.verdict!r}"
        checks = (Check("verdict", False, detail), *checks)
    return CheckedCertificate(certificate, Verification(checks))


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


def render_comparison(page: Comparison) -> str:
    """Return the page: the update rule and objective of each learner, its results, losses and weights."""
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
    """Return the content of the page as JSON values."""
    return {
        "title": page.title,
        "rows": page.rows,
        "apart": page.held_out,
        "learners": [_learner_dict(each, page) for each in page.compared],
        "refused": [refused._asdict() for refused in page.refused],
        "notes": list(page.notes),
    }


def _learner_dict(each: LearnerRow, page: Comparison) -> dict[str, Any]:
    result = each.fit.result
    return {
        "learner": each.learner,
        "error": each.error,
        "minimises": each.minimises,
        "mistakes": each.mistakes,
        "apart_mistakes": each.held_out,
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


def _rules(compared: Sequence[LearnerRow]) -> Iterator[Sequence[str]]:
    yield "", "error", "minimises"
    for each in compared:
        yield each.learner, each.error, each.minimises


def _results(page: Comparison) -> Iterator[Sequence[str]]:
    heading = [f"apart, of {page.held_out:,}"] if page.held_out else []
    yield "", f"wrong, of {page.rows:,}", *heading, "margin", "passes", "seconds", "status", "evidence"
    for each in page.compared:
        result = each.fit.result
        yield (
            each.learner,
            f"{each.mistakes:,}",
            *([f"{each.held_out:,}"] if page.held_out else []),
            "—" if each.margin is None else f"{each.margin:.4g}",
            f"{result.passes:,.0f}",
            f"{result.seconds:.2g}",
            result.status.value,
            result.certificate.verdict,
        )


def _losses(compared: Sequence[LearnerRow]) -> Iterator[Sequence[str]]:
    names = list(compared[0].losses)
    yield "", *(f"{name} loss" for name in names)
    for each in compared:
        yield each.learner, *(f"{each.losses[name]:.6g}" for name in names)


def _weights(names: Sequence[str], compared: Sequence[LearnerRow]) -> Iterator[Sequence[str]]:
    yield "", *(each.learner for each in compared)
    yield "intercept", *(f"{each.fit.intercept:.6g}" for each in compared)
    for place, name in enumerate(names[:NAMES_SHOWN]):
        yield name, *(f"{each.fit.coef[place]:.6g}" for each in compared)
    if len(names) > NAMES_SHOWN:
        yield f"… and {len(names) - NAMES_SHOWN:,} more, with --json", *("" for _ in compared)
