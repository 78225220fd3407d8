"""Verified certificates as text or as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from separatrix.errors import counted
from separatrix.model.certified import CheckedCertificate
from separatrix.rendering.text import entry, wrapped

LABEL_WIDTH = 11


def exit_code(certificates: Sequence[CheckedCertificate]) -> int:
    """Return 0 if every certificate is proved, 1 if one is not, 2 if one claims nothing or is beyond limits."""
    outcomes = {each.verification.outcome for each in certificates}
    return 1 if "not proved" in outcomes else int(outcomes != {"proved"}) * 2


def render_verifications(certificates: Sequence[CheckedCertificate], data: str) -> str:
    """Return the page: each claim, its checks, and the conclusion; `data` describes the data."""
    lines: list[str] = []
    for each in certificates:
        lines += [*wrapped(f"Claimed ({each.certificate.kind}): {each.certificate.claim}"), ""]
        for check in each.verification.checks:
            lines += entry("holds" if check.holds else "FAILS", f"{check.name}: {check.detail}", LABEL_WIDTH)
        if each.verification.limit:
            lines += entry("unchecked", each.verification.limit, LABEL_WIDTH)
        lines.append("")
    return "\n".join([*lines, *wrapped(_conclusion(certificates, data))]) + "\n"


def _conclusion(certificates: Sequence[CheckedCertificate], data: str) -> str:
    checks = [check for each in certificates for check in each.verification.checks]
    made, failed = counted(len(checks), "check"), sum(not check.holds for check in checks)
    conclusions = {
        0: f"Proved on {data}: {made} made, all hold.",
        1: f"NOT PROVED on {data}: {failed:,} of {made} failed.",
        2: f"NOTHING PROVED on {data}: nothing is claimed, or the proof is beyond the limits of this program.",
    }
    return conclusions[exit_code(certificates)]


def verifications_dict(certificates: Sequence[CheckedCertificate], data: str) -> dict[str, Any]:
    """Return the content of the page as JSON values."""
    records = [
        {
            "kind": each.certificate.kind,
            "verdict": each.certificate.verdict,
            "claim": each.certificate.claim,
            "outcome": each.verification.outcome,
            "holds": each.verification.holds,
            "checks": list(map(asdict, each.verification.checks)),
        }
        for each in certificates
    ]
    return {"data": data, "holds": exit_code(certificates) == 0, "certificates": records}
